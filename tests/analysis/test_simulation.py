"""Plans simulated on their own hosts: what goes in, and that exact answers come out where there are any."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.demand import methods
from gpuplan.analysis.simulation import hosts_to_simulate, request_streams, simulate_pool, simulation_dict
from gpuplan.catalog import Catalog
from gpuplan.models.demand.closed_groups import closed_blocking
from gpuplan.models.demand.queueing import erlang_c
from gpuplan.scenario import from_dict
from gpuplan.simulation.jobs import Progress


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


def test_groups_become_streams(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise"), catalog)
    streams = {s.name: s for s in request_streams(plan, "vgpu", "busiest")}
    assert (streams["researchers"].gpus, streams["researchers"].people) == (4, 3)
    assert streams["researchers"].rates_per_h == (1.0,)
    assert streams["data-scientists"].rates_per_h == (0.5,)
    assert streams["distributed"].vms == 4
    assert streams["data-scientists"].family == streams["developers"].family == "bitfusion"
    assert all(s.duration_h == 3 for s in streams.values())  # the planning value
    current = make_plan(load_scenario("current"), catalog)
    week = request_streams(current, "vgpu", "week")
    scientists = [s for s in week if s.name == "data-scientists"]
    assert [s.people for s in scientists] == [25, 15]  # each place with its own hours
    assert all(len(s.rates_per_h) == 672 and set(s.rates_per_h) == {0.4, 0.05} for s in scientists)
    by_name = {s.name: s for s in week}
    assert by_name["inference"].rates_per_h == (1.0,)
    assert by_name["developers"].per_gpu == 8


def test_jobs_on_whole_gpus_wait_as_erlang_says(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 1, "jobs_per_day": 96, "work_h": 2},
        demand={"rule": "wait", "method": "poisson"},
        hardware={"gpus_per_host": 4},
    )
    found = simulate_pool(plan, "vgpu", hosts=3)
    assert found.gpus == 12
    assert found.half_width is not None
    assert abs(found.disappointed - erlang_c(12, load=8)) < 2 * found.half_width
    assert methods(plan, "vgpu").load_gpus == pytest.approx(8)


def test_people_denied_as_engset_says(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 20, "active_share": 0.4},
        {"people": 6, "active_share": 0.5},
        demand={"rule": "denied"},
        hardware={"gpus_per_host": 1},
    )
    found = simulate_pool(plan, "vgpu", hosts=11)
    exact = closed_blocking(11, people=[20, 6], shares=[0.4, 0.5], sizes=[1, 1])[-1]
    for outcome, chance in zip(found.simulated.streams, exact, strict=True):
        figure = outcome.denied
        assert figure.half_width is not None
        assert abs(figure.value - chance) < 2 * figure.half_width
        assert outcome.waited.value == 0
    assert found.disappointed == max(o.denied.value for o in found.simulated.streams)


def test_places_with_other_hours_are_people_of_their_own(catalog: Catalog) -> None:
    """Fifty people at 95 % beside fifty at 2 % are not a hundred at 48.5 %."""
    group = {
        "people": 100,
        "active_share": 0.95,
        "off_hours_share": 0.02,
        "sites": "Berlin 50, Tokyo 50",
        "hours": "08:00-12:00",
        "work_h": 1,
    }
    plan = planned(catalog, group, demand={"rule": "wait"}, hardware={"gpus_per_host": 4})
    found = simulate_pool(plan, "vgpu", hosts=13)
    assert [s.rates_per_h for s in request_streams(plan, "vgpu", "busiest")] == [(0.95,), (0.02,)]
    assert len(simulation_dict(found)["groups"]) == 1
    assert found.disappointed < 0.06
    requests = sum(s.requests for s in found.simulated.streams)
    assert simulation_dict(found)["groups"][0]["requests"] == requests
    waited = sum(s.requests * s.waited.value for s in found.simulated.streams) / requests
    assert found.disappointed == pytest.approx(waited)


def test_the_host_boundary_is_seen(catalog: Catalog) -> None:
    """Two VMs of 3 GPUs need two hosts of 4: the two single GPUs left are no third place."""
    plan = planned(catalog, {"people": 3, "gpus_each": 3, "active_share": 0.5}, hardware={"gpus_per_host": 4})
    formula = methods(plan, "passthrough").answers[0]
    assert formula.gpus is not None
    assert formula.gpus <= 9
    found = simulate_pool(plan, "passthrough", hosts=2)
    assert found.disappointed > 0.2  # a third of the time both others are active
    assert simulate_pool(plan, "passthrough", hosts=3).disappointed == 0


def test_hosts_that_are_down_and_more_hosts(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter"), catalog)
    assert hosts_to_simulate(plan, "bitfusion") == (5, 6, 7, 8, 9, 10)
    full, down, more = (
        simulate_pool(plan, "bitfusion"),
        simulate_pool(plan, "bitfusion", down=1),
        simulate_pool(plan, "bitfusion", hosts=9),
    )
    assert (full.hosts, down.hosts, more.hosts) == (8, 7, 9)
    assert (full.gpus, down.gpus, more.gpus) == (16, 14, 18)
    assert down.disappointed > full.disappointed > more.disappointed


def test_it_is_the_same_again_and_can_be_stopped(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("starter"), catalog)
    assert simulate_pool(plan, "bitfusion") == simulate_pool(plan, "bitfusion")
    assert simulate_pool(plan, "bitfusion", seed=2) != simulate_pool(plan, "bitfusion")
    told: list[Progress] = []

    def stop(progress: Progress) -> bool:
        told.append(progress)
        return False

    found = simulate_pool(plan, "bitfusion", when="week", progress=stop)
    assert found.simulated.ended == ("cancelled" if told else "tight")


def test_as_plain_data(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    found = simulation_dict(simulate_pool(plan, "vgpu", when="week", hosts=8))
    text = json.dumps(found, allow_nan=False)
    again = json.loads(text)
    assert again["chance"]["value"] == max(g["waited"]["value"] for g in again["groups"])
    assert {g["group"] for g in again["groups"]} == {g.id for g in plan.groups}
    assert again["overall"]["requests"] == sum(g["requests"] for g in again["groups"])
    assert math.isfinite(again["utilisation"]["value"])


def test_what_does_not_fit_is_said(catalog: Catalog) -> None:
    with pytest.raises(ValueError, match="hosts"):
        simulate_pool(planned(catalog, {"people": 1}), "vgpu", hosts=1, down=1)


def test_groups_of_other_hours_keep_their_profile(catalog: Catalog) -> None:
    """By night nobody of the day is on the hosts, and still two of them share a GPU, not three and a third."""
    plan = planned(
        catalog,
        {"people": 4, "gpus_each": 0.3, "access": "vgpu", "hours": "08:00-18:00"},
        {"people": 5, "gpus_each": 4, "hours": "20:00-06:00"},
        demand={"rule": "hours"},
        hardware={"gpu": "h100-nvl-94gb", "gpus_per_host": 4},
    )
    assert [g.vms for g in plan.groups] == [0, 5]
    week = {s.name: s for s in request_streams(plan, "vgpu", "week")}
    assert (week["g1"].per_gpu, week["g1"].family) == (2, plan.groups[0].profile)
