"""The plan: both worked designs to the last number, the trail of every number, and random scenarios."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import math
import os
import pickle
import subprocess
import sys
from collections import Counter
from functools import cached_property
from typing import Any

import pytest
from approved import has_approved
from hypothesis import given, settings
from hypothesis import strategies as st
from own_catalog import without_profiles
from random_cases import examples
from strategies import CATALOG, HEADS, scenario_data

from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.analysis.demand import gpus_by_rule
from gpuplan.catalog import Catalog
from gpuplan.facts import BASES
from gpuplan.plan import fail_hosts
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import LEVELS
from gpuplan.plan.trail import call
from gpuplan.report import explain, plan_dict, plan_text
from gpuplan.report.explain import formula_text
from gpuplan.scenario import FIELD_BY_PATH, field_of, from_dict


def planned(catalog: Catalog, **data: Any) -> Plan:
    return make_plan(from_dict(data), catalog)


def groups(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"id": f"g{number}", **item} for number, item in enumerate(items, 1)]


# ---- the two worked designs: the table of the reference architecture


def test_starter(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    totals = plan.totals
    assert totals.gpus_demanded == 14
    assert plan.scenario.hardware.gpus_per_host == 2
    assert (totals.hosts_for_demand, totals.hosts_for_failures, totals.hosts) == (7, 1, 8)  # 14 / 2 + 1
    assert (totals.gpus, totals.gpus_after_failure) == (16, 14)  # 8 x 2, 7 x 2
    assert (totals.unplaced_vms, totals.unplaced_vms_after_failure) == (0, 0)
    assert {g.mode for g in plan.groups} == {"bitfusion"}
    (pool,) = plan.pools
    assert (pool.id, pool.gpu_mode, pool.access) == ("bitfusion", "passthrough", ("bitfusion",))
    assert (plan.scenario.network.link_gbit_s, plan.scenario.network.transport) == (10, "tcp")
    assert pool.method == "volume"


def test_enterprise(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    totals = plan.totals
    assert totals.gpus_demanded == 28
    assert plan.scenario.hardware.gpus_per_host == 4
    assert (totals.hosts_for_demand, totals.hosts_for_failures, totals.hosts) == (7, 1, 8)  # 28 / 4 + 1
    assert (totals.gpus, totals.gpus_after_failure) == (32, 28)  # 8 x 4, 7 x 4
    assert (totals.unplaced_vms, totals.unplaced_vms_after_failure) == (0, 0)
    assert {g.id: g.mode for g in plan.groups} == {
        "researchers": "vgpu",
        "data-scientists": "bitfusion",
        "hpc": "bitfusion",
        "developers": "bitfusion",
        "distributed": "bitfusion",
    }
    (pool,) = plan.pools
    assert (pool.id, pool.gpu_mode) == ("vgpu", "vgpu")  # Bitfusion is one more consumer of vComputeServer
    assert plan.scenario.network.transport == "pvrdma"


def test_the_demand_of_the_enterprise_groups(plans: dict[str, Plan]) -> None:
    # 3 x 4; 32 x 0.5 active x 1/2; 2 x 1; 40 x 0.4 x 1/8; 4 workers x 1
    assert [g.demand_gpus for g in plans["enterprise"].groups] == [12, 8, 2, 2, 4]


def test_fractions_of_any_kind_add_up(catalog: Catalog) -> None:
    shares = [f"1/{n}" for n in (97, 89, 83, 79, 73, 71, 67, 61, 59, 53)]
    plan = planned(catalog, groups=groups(*[{"people": 11, "gpus_each": s} for s in shares]))
    assert plan.totals.unplaced_vms == 0
    assert all(not g.unplaced for g in plan.groups)


def test_nobody_asks(catalog: Catalog) -> None:
    for plan in (planned(catalog), planned(catalog, groups=groups({"people": 0}))):
        totals = plan.totals
        assert (totals.hosts, totals.gpus, totals.gpus_after_failure, totals.unplaced_vms) == (0, 0, 0, 0)
        assert plan.pools == plan.decisions == ()
        assert "nothing-demanded" in {m.code for m in check_plan(plan)}
        assert plan_text(plan)


# ---- access and pools


def test_no_mode_is_possible(catalog: Catalog) -> None:
    plan = planned(
        without_profiles(catalog, "l40s-48gb"),
        groups=groups({"people": 4, "gpus_each": 0.5, "remote_allowed": False}),
        hardware={"gpu": "l40s-48gb"},
    )
    assert plan.groups[0].mode == ""
    assert plan.totals.unplaced_vms == 4
    assert plan.pools == ()
    message = next(m for m in check_plan(plan) if m.code == "no-access-mode")
    assert message.level == "stop"
    assert has_approved(message.text)


def test_a_decided_mode_that_is_impossible_is_not_called_a_lack_of_modes(catalog: Catalog) -> None:
    plan = planned(catalog, groups=groups({"people": 4, "gpus_each": 0.5, "access": "passthrough"}))
    message = next(m for m in check_plan(plan) if m.code == "decided-mode-impossible")
    assert has_approved(message.text)
    assert "No access mode" not in message.text
    assert has_approved(message.text) and "Possible, but" not in message.text
    assert message.change == "Choose vGPU."
    assert plan.groups[0].unplaced[0].reason in message.text


def test_bitfusion_servers_by_vgpu_need_a_whole_gpu_profile(catalog: Catalog) -> None:
    data: dict[str, Any] = {
        "groups": groups({"people": 4}),
        "platform": {"bitfusion": True, "bitfusion_servers": "vgpu", "vsphere": "8.0u3"},
        "hardware": {"gpu": "l40s-48gb"},
    }
    bare = without_profiles(catalog, "l40s-48gb")
    for known, code in [(catalog, "bitfusion-fed-by-vgpu"), (bare, "bitfusion-no-profile")]:
        codes = {m.code for m in check_plan(planned(known, **data))}
        assert {"bitfusion-fed-by-vgpu", "bitfusion-no-profile"} & codes == {code}


def test_versions_decide(catalog: Catalog) -> None:
    asked = groups({"people": 2, "gpus_each": 8, "remote_allowed": False, "vmotion": "needed"})
    modes = {}
    for version in catalog.vsphere:
        plan = planned(catalog, groups=asked, hardware={"gpus_per_host": 8}, platform={"vsphere": version})
        modes[version] = plan.groups[0].mode
    # up to 4 vGPUs per VM before vSphere 8, 8 from then on
    assert modes == {
        "6.7u3": "passthrough",
        "7.0": "passthrough",
        "7.0u1": "passthrough",
        "7.0u2": "passthrough",
        "7.0u3": "passthrough",
        "8.0": "vgpu",
        "8.0u1": "vgpu",
        "8.0u2": "vgpu",
        "8.0u3": "vgpu",
        "9.0": "vgpu",
        "9.0.1": "vgpu",
        "9.1": "vgpu",
    }
    remote = groups({"people": 2})
    for version in ("6.7u3", "9.0"):
        on = {"vsphere": version, "bitfusion": True}
        plan = planned(catalog, groups=remote, platform=on, hardware={"gpu": "v100-pcie-32gb"})
        assert plan.groups[0].mode == "vgpu"
        assert "bitfusion-version" in {r.reason.code for r in plan.groups[0].ruled_out}


def test_mig_profiles_wait_for_their_version(catalog: Catalog) -> None:
    asked = groups({"people": 4, "gpus_each": 0.14, "isolation": True})
    plan = planned(catalog, groups=asked, hardware={"gpu": "h100-nvl-94gb"}, platform={"vsphere": "7.0u3"})
    assert plan.groups[0].profile == "H100L-1-12C"


def test_letters_are_unique(catalog: Catalog) -> None:
    plan = planned(catalog, groups=groups(*[{"name": "Developers", "use_case": "dev-test"}] * 20))
    letters = [g.letter for g in plan.groups]
    assert len(set(letters)) == 20
    assert all(len(letter) == 1 for letter in letters)


# ---- determinism


def test_the_same_inputs_give_the_same_plan(catalog: Catalog) -> None:
    for name in ("starter", "enterprise", "current"):
        plans = [make_plan(load_scenario(name), catalog) for _ in range(2)]
        assert plans[0] == plans[1]
        assert plans[0].lines == plans[1].lines
        assert plan_dict(plans[0]) == plan_dict(plans[1])


def test_the_same_plan_in_another_process(catalog: Catalog) -> None:
    """Another process salts its hashes anew, so its sets have another order."""
    groups = [
        {"id": f"g{n}", "people": n, "gpus_each": gpus}
        for n, gpus in enumerate([4, 2, 1, 0.5, 0.3, 0.125] * 4, 1)
    ]
    data = {
        "groups": groups,
        "demand": {"rule": "stated", "stated_gpus": 21},
        "platform": {"bitfusion": True},
    }
    code = (
        "import json, sys; from gpuplan import *; from gpuplan.scenario import from_dict\n"
        "print(json.dumps(plan_dict(make_plan(from_dict(json.load(sys.stdin)), load_catalog()))))"
    )
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    other = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(data),
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert json.loads(other) == json.loads(json.dumps(plan_dict(make_plan(from_dict(data), catalog))))


# ---- the trail


def check_trail(plan: Plan) -> None:
    """Every line can say where it comes from."""
    for key, line in plan.lines.items():
        assert line.key == key
        assert key not in FIELD_BY_PATH or key == "cost.utilisation"  # else an input and its line are one
        assert line.label
        module, _, name = line.function.rpartition(".")
        assert callable(getattr(importlib.import_module(f"gpuplan.{module}"), name))
        assert line.sentence.endswith(".")
        text = formula_text(line)
        assert "{" not in text
        assert line.sources
        assert all(s == "scenario" or s in plan.catalog.sources for s in line.sources)
        weakest = max((BASES.index(i.basis) for i in line.inputs), default=BASES.index("derived"))
        assert line.basis == BASES[weakest]
        for one in line.inputs:
            assert one.label, (key, one)
            assert all(s == "scenario" or s in plan.catalog.sources for s in one.sources)
            if one.key in plan.lines:
                assert list(plan.lines).index(one.key) < list(plan.lines).index(key)
                assert plan.lines[one.key].value == one.value
        assert explain(plan, key).formula == text


def test_every_line_of_the_examples_can_be_explained(example: Plan) -> None:
    check_trail(example)
    assert {f"totals.{name}" for name in example.totals.__slots__} - set(example.lines) == {
        "totals.gpus_demanded"
    }
    assert example.lines["demand.gpus"].value == example.totals.gpus_demanded


class _Once(dict[str, Any]):
    """A mapping in which nothing is written over."""

    def __setitem__(self, key: str, value: Any) -> None:
        assert key not in self or self[key] == value, key
        super().__setitem__(key, value)


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
@pytest.mark.parametrize("rule", ["sum", "wait", "denied"])
def test_no_line_is_written_over_by_another(
    monkeypatch: pytest.MonkeyPatch, catalog: Catalog, name: str, rule: str
) -> None:
    def known(plan: Plan) -> _Once:
        return _Once()

    once = cached_property(known)
    once.__set_name__(Plan, "_known")
    monkeypatch.setattr(Plan, "_known", once)
    assert make_plan(load_scenario(name).with_value("demand.rule", rule), catalog).lines


@pytest.mark.parametrize("first", ["costs", "decisions", "postures", "power", "pools", "hosts_by_pool"])
def test_chapters_may_be_read_in_any_order(catalog: Catalog, example: Plan, first: str) -> None:
    plan = make_plan(example.scenario, catalog)
    assert "costs" not in vars(plan)  # nothing is worked out that nobody has read
    read = getattr(plan, first)
    if callable(read):
        assert sum(read().values()) == plan.totals.hosts
    assert list(plan.lines) == list(example.lines)
    assert plan.lines == example.lines
    assert plan_dict(plan) == plan_dict(example)


def test_a_plan_is_neither_changed_nor_sent_elsewhere(example: Plan) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        example.totals = None  # type: ignore[misc,assignment]
    with pytest.raises(TypeError, match="send its scenario"):
        pickle.dumps(example)
    named = example.but(scenario=dataclasses.replace(example.scenario, name="other"))
    assert (named.scenario.name, named.totals) == ("other", example.totals)
    assert example.scenario.name != "other"


def test_lines_are_recomputed_from_their_inputs(example: Plan) -> None:
    """Where the inputs are the arguments of the function, calling it again gives the value."""
    again = 0
    for line in example.lines.values():
        module, _, name = line.function.rpartition(".")
        function = getattr(importlib.import_module(f"gpuplan.{module}"), name)
        if line.key.endswith((".knee_hosts", ".distributed_switches")):  # tried for many hosts; 1 more than
            continue
        if name in (
            "place",
            "place_mixed",
            "after_failure",
            "power_on_orders",
            "smallest_profile",
            "admitted_vms",
            "gpus_without_largest",
            "closed_wait_chance",
            "hayward_c",
            "leaf_spine",
            "rack_units_u",
            "allocated_cost",
            "ordered_cores",
            "ordered_memory_gib",
        ):
            continue
        given = [i.value for i in line.inputs]
        if name in (
            "total_demand_gpus",
            "sum_over_pools",
            "chance_over_pools",
            "hours_over_pools_h",
            "total_power_w",
            "total_cost",
        ):
            value = function(*given)
        elif name == "net_present_cost":
            value = function(given[:-1], rate=given[-1])
        else:
            value = call(function, {i.name: i.value for i in line.inputs})
        assert value == line.value, line.key
        again += 1
    assert again > 10


# ---- any scenario


def check_numbers(value: Any) -> None:
    if isinstance(value, dict):
        for inner in value.values():
            check_numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            check_numbers(inner)
    elif isinstance(value, float):
        assert math.isfinite(value)
    else:
        assert value is None or isinstance(value, str | int | bool)


def check_consistency(plan: Plan) -> None:
    """The totals are those of the pools, the pools those of the placement, and nobody is lost."""
    totals = plan.totals
    for name in ("hosts", "hosts_for_demand", "hosts_for_failures", "gpus"):
        assert getattr(totals, name) == sum(getattr(p, name) for p in plan.pools)
        assert plan.lines[f"totals.{name}"].value == getattr(totals, name)
    assert 0 <= totals.gpus_after_failure <= totals.gpus
    seen: Counter[str] = Counter()
    groups = {group.id for group in plan.groups}
    for pool in plan.pools:
        assert pool.hosts == pool.hosts_for_demand + pool.hosts_for_failures == len(pool.placement)
        assert pool.hosts_at_best <= min(pool.hosts_for_demand, pool.hosts_without_spare)
        assert pool.hosts_without_spare <= pool.hosts
        assert pool.gpus == sum(room.gpus for room in pool.rooms)
        assert pool.bound <= pool.hosts_without_spare
        assert (pool.method == "heuristic") == (pool.bound < pool.hosts_without_spare)
        assert pool.existing_hosts or pool.hosts_without_spare == pool.hosts_at_best
        by_orders = plan.scenario.availability.sized_for == "orders"
        assert by_orders or pool.hosts_at_best == pool.hosts_for_demand
        used = [sum(load.gpus for load in host) for host in pool.placement]
        assert all(gpus <= room.gpus for gpus, room in zip(used, pool.rooms, strict=True))
        # MIG gives a share to the nearest slice, so a VM may hold half a slice less than it asked for: of 4 or of 7
        vms = {(s.group, s.vm) for host in pool.placement for load in host for s in load.slots}
        sliced = sum(plan.group(group).mode == "mig" for group, _ in vms if group in groups)
        assert sum(used) == pool.gpus_occupied >= pool.gpus_demanded - sliced / 8 - 1e-6
        seen.update(group for group, _ in vms)
        assert sum(failure.alike for failure in pool.failures) == pool.hosts
        tolerated = plan.scenario.availability.host_failures
        for failure in pool.failures:
            assert failure.unplaced == 0 or tolerated == 0
            outcome = fail_hosts(plan, pool.id, [failure.hosts[0]])
            assert (failure.restarted, failure.unplaced) == (len(outcome.restarted), len(outcome.unplaced))
        assert [level.lost for level in pool.losses[:3]] == [0, 1, 2]
        assert pool.survived >= tolerated
        assert all(level.fits for level in pool.losses if level.lost <= tolerated)
        for level in pool.losses:
            assert not (level.without_moving and level.fits is False)
            if level.lost == 1:
                worst = max((f.unplaced for f in pool.failures), default=0)
                assert level.fits is None or level.fits == (worst == 0)
        assert pool.gpus_after_failure == pool.losses[max(1, tolerated)].gpus_left
    for less, more in itertools.pairwise(plan.postures):
        assert less.hosts <= more.hosts
        # hours of each cluster add up, and more spare hosts can take another cluster
        if plan.scenario.availability.hosts_per_cluster is None:
            assert less.short_h >= more.short_h - 1e-9
        if plan.lines["availability.host_up"].value > 0.99:  # else the hours of one more host may outweigh it
            assert less.chance >= more.chance - 1e-9
    assert [p.hosts for p in plan.postures if p.chosen] == ([totals.hosts] if plan.pools else [])
    for group in plan.groups:
        assert group.vms == group.vms_placed + sum(u.vms for u in group.unplaced)
        assert seen[group.id] == group.vms_placed
        assert bool(group.pool) == bool(group.mode)
        assert group.reasons
    assert totals.unplaced_vms == sum(u.vms for g in plan.groups for u in g.unplaced)
    placed = sum((p.gpus_demanded for p in plan.pools), 0.0)
    if plan.scenario.deciding_total_gpus is None:
        missing = sum(u.gpus for g in plan.groups for u in g.unplaced)
        assert placed + missing == pytest.approx(totals.gpus_demanded)
    else:
        assert totals.gpus_demanded - 1 < placed + 1e-9
        assert placed <= totals.gpus_demanded + 1e-9


def check_messages(plan: Plan) -> None:
    messages = check_plan(plan)
    assert [LEVELS.index(m.level) for m in messages] == sorted(LEVELS.index(m.level) for m in messages)
    for message in messages:
        assert message.text
        assert all(s in plan.catalog.sources for s in message.sources), message
        if message.level == "stop":
            assert message.change
        if message.path:
            head = message.path.split(".")[0]
            assert head in (*HEADS, "groups", "prices", "ranges")
            assert "." not in message.path or field_of(message.path).label


@settings(max_examples=examples(200, few=40))
@given(scenario_data())
def test_any_scenario_gives_a_consistent_plan_or_a_clear_error(data: dict[str, Any]) -> None:
    scenario = from_dict(data)
    try:
        plan = make_plan(scenario, CATALOG)
    except ScenarioError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.path
            assert problem.value
            assert problem.message
        return
    check_consistency(plan)
    check_trail(plan)
    check_messages(plan)
    plain = plan_dict(plan)
    check_numbers(plain)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    assert plan_text(plan)
    assert [d.number for d in plan.decisions] == list(range(1, len(plan.decisions) + 1))
    alone = make_plan(scenario, CATALOG)
    assert (alone.costs, alone.totals) == (plan.costs, plan.totals)
    rule = "sum" if scenario.demand.rule == "stated" else scenario.demand.rule
    own = gpus_by_rule(plan).get(rule)
    assert own == plan.lines["demand.groups_gpus"].value


@settings(max_examples=examples(40, few=6))
@given(scenario_data(), st.integers(0, 3))
def test_other_failures_to_tolerate_are_planned_as_if_from_the_start(
    data: dict[str, Any], failures: int
) -> None:
    """What is taken over from the plan is what would be worked out again."""
    scenario = from_dict(data)
    try:
        taken = make_plan(scenario, CATALOG).tolerating(failures)
    except ScenarioError:
        return
    anew = make_plan(scenario.with_value("availability.host_failures", failures), CATALOG)
    assert dict(taken.lines) == dict(anew.lines)
    assert (taken.pools, taken.postures, taken.costs) == (anew.pools, anew.postures, anew.costs)


def test_a_share_that_mig_rounds_down_is_consistent() -> None:
    """0.3 of an H100 gets 2 slices of 7: with five sevenths beside it the GPU is full, though 1.014 are asked for."""
    groups = [
        {"id": "a", "people": 1, "gpus_each": 0.3, "isolation": True},
        {"id": "b", "people": 5, "gpus_each": "1/7", "isolation": True},
    ]
    data = {"groups": groups, "hardware": {"gpu": "h100-nvl-94gb"}, "platform": {"vsphere": "8.0u3"}}
    plan = make_plan(from_dict(data), CATALOG)
    assert [g.mode for g in plan.groups] == ["mig", "mig"]
    assert (plan.pools[0].gpus_occupied, round(plan.pools[0].gpus_demanded, 3)) == (1, 1.014)
    check_consistency(plan)


def test_the_examples_are_consistent(example: Plan) -> None:
    check_consistency(example)
    check_messages(example)


@settings(max_examples=examples(40, few=6))
@given(scenario_data())
def test_more_of_anything_never_needs_fewer_hosts(data: dict[str, Any]) -> None:
    data.pop("demand", None)
    scenario = from_dict(data)
    try:
        plan = make_plan(scenario, CATALOG)
    except ScenarioError:
        return
    failures = scenario.availability.host_failures
    if failures < 4:
        more = make_plan(scenario.with_value("availability.host_failures", failures + 1), CATALOG)
        if not any(p.existing_hosts for p in (*plan.pools, *more.pools)) and len(more.pools) == len(
            plan.pools
        ):
            assert more.totals.hosts == plan.totals.hosts + len(plan.pools)
        assert more.totals.hosts >= plan.totals.hosts
    for group in scenario.groups:
        more = make_plan(scenario.with_value(f"groups.{group.id}.people", group.people + 1), CATALOG)
        if all(p.method != "heuristic" for p in (*plan.pools, *more.pools)):
            assert more.totals.hosts >= plan.totals.hosts


@pytest.mark.parametrize(
    ("version", "mode"), [("6.7u3", ""), ("7.0", "vgpu"), ("7.0u3", "mig"), ("8.0u3", "mig")]
)
def test_mig_needs_a_vsphere_that_supports_it(catalog: Catalog, version: str, mode: str) -> None:
    # 6.7 serves only V100 and T4, 7.0 had a technical preview, 7.0 Update 3 lists A100; before, the fixed-share scheduler
    data = {
        "groups": [{"id": "a", "name": "Inference", "gpus_each": 0.25, "isolation": True}],
        "hardware": {"gpu": "a100-pcie-80gb"},
        "platform": {"vsphere": version},
    }
    assert make_plan(from_dict(data), catalog).groups[0].mode == mode


def test_a_plan_gives_the_group_with_an_id_and_shows_itself_without_its_catalog(example: Plan) -> None:
    for group in example.groups:
        assert example.group(group.id) is group
    assert "catalog=" not in repr(example)


def test_a_plan_is_made_of_whatever_has_a_scenario(catalog: Catalog) -> None:
    plan = make_plan("starter", catalog)
    assert plan.scenario == load_scenario("starter") == make_plan(plan).scenario
    with pytest.raises(ScenarioError, match="did you mean starter"):
        make_plan("startr")


def test_what_is_no_scenario_is_refused(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError, match="a dict"):
        make_plan({"name": "x"}, catalog)  # type: ignore[arg-type]
    with pytest.raises(ScenarioError, match="catalog"):
        make_plan(load_scenario("starter"), "starter")  # type: ignore[arg-type]


def test_the_shipped_catalog_is_taken_where_none_is_given(catalog: Catalog) -> None:
    assert make_plan(load_scenario("starter")).catalog is catalog


def test_unknown_ids_are_refused_with_the_nearest(catalog: Catalog) -> None:
    """They were an empty StopIteration and a bare KeyError."""
    plan = make_plan(load_scenario("enterprise"), catalog)
    with pytest.raises(ScenarioError, match="did you mean researchers"):
        plan.group("researcher")
    with pytest.raises(ScenarioError, match='there is no pool "vgpus"; did you mean vgpu'):
        plan.pool("vgpus")
    with pytest.raises(ScenarioError, match=r"did you mean totals\.hosts"):
        plan.line("totals.host")
    with pytest.raises(ScenarioError, match="there is no figure"):
        explain(plan, "x")
    with pytest.raises(ScenarioError, match="there is no pool"):
        fail_hosts(plan, "hosts", [1])
