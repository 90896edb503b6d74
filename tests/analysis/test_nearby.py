"""Designs with one decision taken otherwise: each can be planned, and says what it changes."""

from __future__ import annotations

from approved import has_approved, is_approved

from gpuplan import Plan
from gpuplan.analysis.nearby import nearby, told
from gpuplan.catalog import Catalog


def test_one_decision_is_taken_otherwise(example: Plan, catalog: Catalog) -> None:
    found = dict(nearby(example.scenario, catalog))
    failures = example.scenario.availability.host_failures
    assert 2 <= len(found) <= 3
    safer = found[f"N+{failures + 1}"]
    assert safer == example.scenario.with_value("availability.host_failures", failures + 1)
    boards = [each for each in found.values() if each.hardware.gpu != example.scenario.hardware.gpu]
    assert len(boards) == 1
    assert boards[0].availability == example.scenario.availability


def test_what_changes_is_said(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    safer = dict(nearby(plan.scenario, catalog))["N+2"]
    said = told(plan, safer)
    assert has_approved(said, "9 hosts")
    assert "GPUs" not in said
    assert is_approved(told(plan, plan.scenario))
