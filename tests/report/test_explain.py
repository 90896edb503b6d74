"""Why this number? For every line of every example."""

from __future__ import annotations

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, check_plan, load_catalog, make_plan
from gpuplan.facts import BASES
from gpuplan.report import plan_text
from gpuplan.report.explain import BASIS_TEXT, explain, formula_text
from gpuplan.scenario import ScenarioError, from_dict
from gpuplan.wording import amount, bare_amount


def test_every_line_can_be_explained(example: Plan) -> None:
    for key, line in example.lines.items():
        why = explain(example, key)
        assert (why.key, why.label, why.sentence) == (key, line.label, line.sentence)
        assert amount(line.value, line.unit) in why.value
        assert bare_amount(line.value, line.unit) in why.formula
        assert "{" not in why.formula + why.label
        assert why.basis_text == BASIS_TEXT[line.basis]
        assert len(why.inputs) == len(line.inputs)
        assert [s.id for s in why.sources] == list(line.sources)
        for row in why.inputs:
            assert row.label
            assert row.value
            assert row.known
            assert not row.key or row.key in example.lines
        for source in why.sources:
            assert source.title


def test_braces_in_a_name_are_text() -> None:
    name = "{value} {hosts_u} {pool}"
    plan = make_plan(from_dict({"groups": [{"id": "a", "name": name, "people": 4}]}), load_catalog())
    labels = {line.label for key, line in plan.lines.items() if key.startswith("groups.a.")}
    assert f"{name}: VMs" in labels
    assert all(label.startswith(f"{name}: ") for label in labels if "{" in label)
    assert all(name in message.text for message in check_plan(plan) if "{" in message.text)
    assert all(explain(plan, key).formula for key in plan.lines)
    assert name in plan_text(plan)


def test_why_eight(plans: dict[str, Plan]) -> None:
    why = explain(plans["enterprise"], "totals.hosts")
    assert why.value == "8 hosts"
    assert is_approved(why.formula, "7", "1", "8")
    assert [row.value for row in why.inputs] == ["7 hosts", "1 host"]
    needed = explain(plans["enterprise"], why.inputs[0].key)
    assert has_approved(needed.formula, "28 GPUs", "4", "7")
    assert "vmware-sharing-gpus-2020" in {s.id for s in why.sources}


def test_the_trail_ends_at_inputs_and_sources(example: Plan) -> None:
    """Following the inputs from the answer leads to every part of the demand, without a circle."""
    seen: set[str] = set()

    def follow(key: str, above: tuple[str, ...]) -> None:
        assert key not in above
        seen.add(key)
        for row in explain(example, key).inputs:
            if row.key:
                follow(row.key, (*above, key))

    follow("totals.hosts", ())
    for group in example.groups:
        assert f"groups.{group.id}.demand_gpus" in seen
        assert f"groups.{group.id}.active" in seen


def test_a_failure_s_input_has_a_name(example: Plan) -> None:
    why = explain(example, "totals.unplaced_vms_after_failure")
    assert [row.label for row in why.inputs] == ["VMs not placed", "Worst host failure"]


def test_assumed_inputs_are_not_called_stated(plans: dict[str, Plan]) -> None:
    why = explain(plans["current"], "groups.developers.active")
    assert why.basis == "assumed"
    assert is_approved({row.known for row in why.inputs})
    assert "Stated" not in {s.title.split()[0] for s in why.sources}


def test_every_basis_has_words() -> None:
    assert set(BASIS_TEXT) == set(BASES)


def test_an_unknown_line(plans: dict[str, Plan]) -> None:
    with pytest.raises(ScenarioError, match="did you mean totals"):
        explain(plans["starter"], "totals.unicorns")


def test_formula_text_of_a_sum(plans: dict[str, Plan]) -> None:
    line = plans["enterprise"].lines["demand.groups_gpus"]
    assert formula_text(line) == "12 + 8 + 2 + 2 + 4 = 28"
