"""Placement in words: one statement, which agrees with the numbers of the plan."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import fail_hosts
from gpuplan.plan.placed import Placed, placed_of
from gpuplan.scenario import Scenario, from_dict


def placed(catalog: Catalog, scenario: Scenario) -> Placed:
    return make_plan(scenario, catalog).placed


def changed(**values: Any) -> Scenario:
    scenario = load_scenario("enterprise")
    for path, value in values.items():
        scenario = scenario.with_value(path.replace("__", "."), value)
    return scenario


@pytest.mark.parametrize(
    ("scenario", "state", "figures"),
    [
        (changed(), "all", ("41",)),
        (
            changed(availability__host_failures=2),
            "all",
            ("41",),
        ),
        (
            changed(availability__host_failures=0),
            "lost",
            ("41", "18 VMs"),
        ),
        (
            changed(demand__rule="stated", demand__stated_gpus=20),
            "missing",
            ("22", "41"),
        ),
        (
            changed(demand__rule="stated", demand__stated_gpus=20, availability__host_failures=0),
            "missing",
            ("22", "41", "30"),
        ),
        (from_dict({}), "none", ()),
        (
            from_dict({"groups": [{"id": "a", "people": 1}]}),
            "all",
            (),
        ),
    ],
)
def test_the_sentence_says_what_the_plan_has(
    catalog: Catalog, scenario: Scenario, state: str, figures: tuple[str, ...]
) -> None:
    found = placed(catalog, scenario)
    assert found.state == state
    assert is_approved(found.sentence, *figures)


def test_short_and_note(catalog: Catalog) -> None:
    found = placed(catalog, changed())
    assert (found.short, found.tone) == ("All placed", "good")
    assert is_approved(found.note)
    lost = placed(catalog, changed(availability__host_failures=0))
    assert (lost.short, lost.tone) == ("All placed", "bad")
    assert is_approved(lost.note, "18 VMs")


def test_several_clusters_lose_a_host_each(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 4, "access": "passthrough"}, {"id": "b", "people": 4, "access": "vgpu"}]
    found = placed(catalog, from_dict({"groups": groups}))
    assert found.clusters == 2
    assert is_approved(found.failures, "1 host")


def test_clusters_survive_together_what_the_weakest_survives(catalog: Catalog) -> None:
    one, three = (make_plan(changed(availability__host_failures=n), catalog) for n in (1, 3))
    weakest = min(one.placed.survived, three.placed.survived)
    assert weakest < max(one.placed.survived, three.placed.survived)
    assert placed_of(one.groups, (*one.pools, *three.pools)).survived == weakest


@pytest.mark.parametrize("failures", [3, 4])
@pytest.mark.parametrize("accepted", [True, False])
def test_all_failures_that_are_tolerated_are_said(catalog: Catalog, failures: int, accepted: bool) -> None:
    scenario = load_scenario("enterprise").with_value("availability.host_failures", failures)
    plan = make_plan(scenario.with_value("availability.maintenance_failure_accepted", accepted), catalog)
    assert plan.placed.survived == failures + (not accepted)
    assert plan.totals.unplaced_vms_after_failure == 0
    assert not fail_hosts(plan, plan.pools[0].id, range(1, failures + 1)).unplaced


def test_what_is_not_known_is_not_said_to_be_lost() -> None:
    found = Placed(vms=9, missing=0, lost=2, survived=0, known=False, clusters=1)
    assert (found.state, found.tone) == ("unknown", "warn")
    assert has_approved(found.sentence)
    assert "have no GPU" not in found.sentence
