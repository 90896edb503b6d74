"""The verdict in words: one statement, which agrees with proof, power-on orders and rehearsed restarts."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest
from approved import is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import fail_hosts
from gpuplan.plan.verdict import Placed, Restart, Verdict, placed_of, restarts_of, tolerance
from gpuplan.scenario import Scenario, from_dict


def changed(**values: Any) -> Scenario:
    scenario = load_scenario("enterprise")
    for path, value in values.items():
        scenario = scenario.with_value(path.replace("__", "."), value)
    return scenario


@pytest.mark.parametrize(
    ("scenario", "state", "figures"),
    [
        (changed(), "yes", ("41",)),
        (
            changed(availability__host_failures=2),
            "yes",
            ("41",),
        ),
        (
            changed(availability__host_failures=0),
            "yes",
            ("41", "N+0", "18 VMs"),
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
            "yes",
            (),
        ),
    ],
)
def test_the_sentence_says_what_the_plan_has(
    catalog: Catalog, scenario: Scenario, state: str, figures: tuple[str, ...]
) -> None:
    found = make_plan(scenario, catalog).verdict
    assert found.fits == state
    assert is_approved(found.proof, *figures)


def test_a_design_is_green_only_if_its_vms_also_start_and_restart(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    found = plan.verdict
    assert (found.fits, found.starts, found.survives, found.state) == ("yes", "no", "no", "amber")
    assert is_approved(found.sentence, "63", "N+1", "of 10")
    assert is_approved(found.note)
    every = {id: Restart("yes", hosts=10) for id in plan.restarts or {}}
    unordered = replace(found, power_on={})
    assert replace(unordered, restarts=every).state == "green"
    assert unordered.state == "amber"


@pytest.mark.parametrize(
    ("restart", "state"),
    [
        (Restart("yes"), "green"),
        (Restart("no", 1, 4, way="priority"), "amber"),
        (Restart("no", 1, 4, way="host"), "amber"),
        (Restart("static", 0, 4, 3), "amber"),
        (Restart("untried"), ""),
        (None, ""),
    ],
)
def test_what_was_not_tried_has_no_colour(catalog: Catalog, restart: Restart | None, state: str) -> None:
    plan = alike(catalog)
    restarts = None if restart is None else dict.fromkeys(plan.power_on, restart)
    found = replace(plan.verdict, restarts=restarts)
    assert found.state == state
    assert is_approved(found.note, "N+1") and is_approved(found.restart_sentence)


def alike(catalog: Catalog, **availability: Any) -> Plan:
    """A plan of VMs that are all alike."""
    group = {"id": "a", "people": 8, "gpus_each": 0.5, "access": "vgpu"}
    return make_plan(from_dict({"groups": [group], "availability": availability}), catalog)


def test_what_is_not_claimed_has_no_colour(catalog: Catalog) -> None:
    found = alike(catalog, host_failures=0, maintenance_failure_accepted=True).verdict
    assert (found.survives, found.tolerance) == ("", "N+0")
    assert replace(found, restarts=None).state == found.state == "green"


@pytest.mark.parametrize("failures", [0, 1, 2])
def test_the_tolerance_is_the_promise(catalog: Catalog, failures: int) -> None:
    accepted = alike(catalog, host_failures=failures, maintenance_failure_accepted=True)
    too = alike(catalog, host_failures=failures, maintenance_failure_accepted=False)
    assert tolerance(accepted.scenario) == f"N+{failures}"
    assert is_approved(too.verdict.tolerance, f"N+{failures}")
    assert is_approved(tolerance(too.scenario, 2), f"N+{failures}")


def test_a_promise_that_is_not_proven_is_not_green(catalog: Catalog) -> None:
    plan = alike(catalog)
    (pool,) = plan.pools
    for fits, state, lost in ((False, "red", 2), (None, "amber", 2)):
        pools = [replace(pool, losses=tuple(replace(level, fits=fits) for level in pool.losses))]
        placed = Placed(vms=8, missing=0, lost=lost, known=fits is False, clusters=1)
        found = Verdict(plan.scenario, placed, pools, plan.power_on, plan.restarts)
        assert found.state == state
        assert is_approved(found.sentence, "2 VMs") and is_approved(found.note, "N+1")


def test_restarts_go_to_another_process(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("assistant"), catalog)
    assert pickle.loads(pickle.dumps(plan.restarts)) == restarts_of(plan.rehearsed)
    assert plan.unchecked().verdict.survives == "unchecked" != plan.verdict.survives


def test_several_clusters_lose_a_host_each(catalog: Catalog) -> None:
    groups = [{"id": "a", "people": 4, "access": "passthrough"}, {"id": "b", "people": 4, "access": "vgpu"}]
    plan = make_plan(from_dict({"groups": groups}), catalog)
    assert plan.placed.clusters == 2
    assert is_approved(plan.verdict.tolerance, "N+1")


def test_clusters_survive_together_what_the_weakest_survives(catalog: Catalog) -> None:
    one, three = (make_plan(changed(availability__host_failures=n), catalog) for n in (1, 2))
    assert one.pools[0].survived < three.pools[0].survived
    pools = (*one.pools, *three.pools)
    for plan, fits in ((one, "yes"), (three, "lost")):
        assert replace(plan.verdict, pools=pools, placed=placed_of(one.groups, pools)).fits == fits


@pytest.mark.parametrize("failures", [3, 4])
@pytest.mark.parametrize("accepted", [True, False])
def test_all_failures_that_are_tolerated_are_said(catalog: Catalog, failures: int, accepted: bool) -> None:
    scenario = load_scenario("enterprise").with_value("availability.host_failures", failures)
    plan = make_plan(scenario.with_value("availability.maintenance_failure_accepted", accepted), catalog)
    assert plan.verdict.fits == "yes"
    assert [pool.survived for pool in plan.pools] == [failures + (not accepted)]
    assert plan.totals.unplaced_vms_after_failure == 0
    assert not fail_hosts(plan, plan.pools[0].id, range(1, failures + 1)).unplaced
