"""The scenario: paths, origins, changes, and plain data out."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import yaml
from approved import is_approved
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import scenario_data

from gpuplan import Scenario, load_scenario, make_plan
from gpuplan.scenario import (
    DEFAULT,
    STATED,
    Group,
    Hardware,
    Origin,
    ScenarioError,
    from_dict,
    json_schema,
    parse_scenario,
)
from gpuplan.scenario.sections import SECTIONS

FULL = """
name: A design
groups:
- {id: a, name: Team A, people: 10, active_share: 0.5, gpus_each: 1/7}
- {id: b, name: Team B, use_case: horovod, vms_each: 4}
hardware: {gpu: l40s-48gb, gpus_per_host: 4}
origins:
  groups.a: {basis: assumed, source: scenario, note: a guess}
"""


@pytest.mark.parametrize("share", ["1/7", "1/3", "2/3", "5/97", "0.123456789", "0.1", "1/8", "1/64"])
def test_fractions_stay_what_they_are(share: str) -> None:
    scenario = from_dict({"groups": [{"id": "a", "gpus_each": share}]})
    again = from_dict(scenario.to_dict())
    assert again.groups[0].gpus_each == scenario.groups[0].gpus_each
    written = scenario.to_dict()["groups"][0]["gpus_each"]
    if "/" in share and share not in ("1/8", "1/64"):
        assert written == share


@given(st.floats(0.01, 1))
def test_any_fraction_of_a_gpu_goes_through_a_file_unchanged(share: float) -> None:
    scenario = from_dict({"groups": [{"id": "a", "gpus_each": share, "active_share": share}]})
    assert parse_scenario(scenario.to_yaml()) == scenario


def test_prices_ranges_and_the_day_go_through_a_file_unchanged() -> None:
    text = """
cost: {as_of: 2026-11-21, currency: eur, usd_rate: 0.92, hardware_discount: 20 %}
prices: {gpus/v100-pcie-32gb: 7000, rack-year: 0, electricity-kwh: 0.21}
ranges: {cost.pue: [1.2, 1.8], prices.rack-year: 5000 to 9000}
origins:
  prices.gpus/v100-pcie-32gb: {basis: quoted, source: scenario, as_of: 2026-10-01}
"""
    scenario = parse_scenario(text)
    assert (scenario.cost.as_of, scenario.cost.currency) == ("2026-11-21", "EUR")
    assert dict(scenario.prices) == {"gpus/v100-pcie-32gb": 7000, "rack-year": 0, "electricity-kwh": 0.21}
    assert dict(scenario.ranges) == {"cost.pue": (1.2, 1.8), "prices.rack-year": (5000, 9000)}
    assert scenario.origin("prices.gpus/v100-pcie-32gb").as_of == "2026-10-01"
    for again in (parse_scenario(scenario.to_yaml()), from_dict(json.loads(json.dumps(scenario.to_dict())))):
        assert again == scenario


def test_prices_and_ranges_are_set_and_removed_by_their_paths() -> None:
    scenario = Scenario().with_value("prices.gpus/t4-16gb", 1_500).with_value("ranges.cost.pue", (1, 2))
    assert (scenario.get("prices.gpus/t4-16gb"), scenario.get("ranges.cost.pue")) == (1_500, (1, 2))
    assert scenario.get("prices.rack-year") is None
    assert scenario.origin("prices.gpus/t4-16gb") == STATED
    bare = scenario.with_value("prices.gpus/t4-16gb", None).with_value("ranges.cost.pue", None)
    assert (bare.prices, bare.ranges) == ((), ())


def test_defaults_are_known_as_assumed_and_changes_as_stated() -> None:
    blank = from_dict({})
    assert (blank.hardware, blank.groups) == (Scenario().hardware, ())
    assert blank.origin("hardware.gpu") == DEFAULT
    changed = blank.with_value("hardware.gpu", "t4-16gb")
    assert changed.origin("hardware.gpu") == STATED
    assert changed.origin("hardware.gpus_per_host") == DEFAULT
    assert blank.hardware.gpu != "t4-16gb"  # the one before is as it was


def test_an_origin_covers_what_is_below_it() -> None:
    scenario = parse_scenario(FULL)
    guess = Origin("assumed", "scenario", "", "a guess")
    assert scenario.origin("groups.a.people") == scenario.origin("groups.a.isolation") == guess
    assert scenario.origin("groups.b.people") == DEFAULT
    assert scenario.origin("groups.b.vms_each") == STATED
    stated = scenario.with_value("groups.a.people", 12)
    assert stated.origin("groups.a.people") == STATED
    assert stated.origin("groups.a.gpus_each") == guess
    covered = stated.with_origin("groups.a", STATED)
    assert covered.origin("groups.a.gpus_each") == STATED
    assert len([p for p, _ in covered.origins if p.startswith("groups.a")]) == 1
    assert from_dict(covered.to_dict()) == covered
    fact = scenario.fact("groups.a.active_share")
    assert (fact.value, fact.unit, fact.basis, fact.note) == (0.5, "1", "assumed", "a guess")


def test_groups_that_go_take_their_origins_with_them() -> None:
    scenario = parse_scenario(FULL)
    left = scenario.with_groups(g for g in scenario.groups if g.id == "b")
    assert [g.id for g in left.groups] == ["b"]
    assert not any(p.startswith("groups.a") for p, _ in left.origins)
    assert from_dict(left.to_dict()) == left


def test_new_group_ids_are_unique_and_valid() -> None:
    scenario = Scenario()
    for name in ("Team", "Team", "<b>!</b>", "", "\u6f22\u5b57", "x" * 100, "Unassigned"):
        group_id = scenario.new_group_id(name)
        scenario = scenario.with_groups((*scenario.groups, Group(group_id, name=name or "none")))
    ids = [g.id for g in scenario.groups]
    assert len(set(ids)) == 7
    assert "unassigned" not in ids  # stands for GPUs of no group
    from_dict({"groups": [{"id": i} for i in ids]})


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ScenarioError):
        parse_scenario(FULL).get("groups.nobody.people")
    with pytest.raises(ScenarioError):
        parse_scenario(FULL).get("hardware.colour")


def test_scenarios_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scenario().name = "x"  # type: ignore[misc]


def test_what_is_internal_is_kept_and_leaves_no_trace_where_there_is_none() -> None:
    scenario = load_scenario("starter")
    assert "internal" not in scenario.to_dict()
    held = scenario.with_value("internal.notes", "Ask Bob:\n  - he knows\n\n'why'").with_value(
        "internal.margin", 0.18
    )
    assert parse_scenario(held.to_yaml()) == held
    assert is_approved(held.to_dict()["internal"], "notes", "'why'", "margin", "0.18")
    assert json_schema()["properties"]["internal"]["properties"]["notes"]["anyOf"][0]["maxLength"] == 4_000


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("groups.data-scientist.people", "groups.data-scientists.people"),
        ("groups.data-scientists.poeple", "groups.data-scientists.people"),
        ("hardware.gpus_per_hosts", "hardware.gpus_per_host"),
        ("hardwear.gpu", "hardware.gpu"),
        ("ranges.groups.data-scientist.people", "groups.data-scientists.people"),
        ("nmae", "name"),
    ],
)
def test_a_misspelt_path_is_refused_with_the_nearest_one(path: str, nearest: str) -> None:
    """It was taken, changed nothing, and was recorded as stated by the customer."""
    scenario = load_scenario("enterprise")
    for use in (
        lambda: scenario.with_value(path, 500),
        lambda: scenario.with_origin(path, STATED),
        lambda: scenario.get(path),
        lambda: scenario.fact(path),
    ):
        with pytest.raises(ScenarioError) as refused:
            use()
        assert f"did you mean {nearest}" in str(refused.value)


def test_what_is_no_path_is_refused() -> None:
    for path in (None, 3, "", "groups", "groups.", "prices"):
        with pytest.raises(ScenarioError, match="there is no input"):
            load_scenario("enterprise").with_value(path, 1)  # type: ignore[arg-type]
        with pytest.raises(ScenarioError, match="there is no input"):
            load_scenario("enterprise").get(path)  # type: ignore[arg-type]


def test_a_path_that_is_there_is_taken() -> None:
    scenario = load_scenario("enterprise")
    for path, value in (
        ("groups.data-scientists.people", 500),
        ("prices.gpus/v100-pcie-32gb", 5000),
        ("ranges.groups.data-scientists.people", (20, 60)),
        ("ranges.prices.electricity-kwh", (0.1, 0.3)),
        ("name", "Another"),
    ):
        assert scenario.with_value(path, value).get(path) == value
    for path in ("groups", "groups.hpc", "hardware", "prices", "cost.pue"):
        assert scenario.with_origin(path, STATED).origin(path) == STATED


def test_numbers_of_numpy_and_whole_floats_are_taken_as_what_they_are() -> None:
    scenario = load_scenario("enterprise")
    for each in (np.int64(2), np.float32(2.0), 2.0, np.array(2)):
        taken = scenario.with_value("availability.host_failures", each).availability.host_failures
        assert taken == 2 and type(taken) is int
    assert (
        scenario.with_value("groups.researchers.remote_allowed", np.bool_(True)).groups[0].remote_allowed
        is True
    )
    assert from_dict(scenario.to_dict() | {"demand": {"years": np.int64(3)}}).demand.years == 3
    for path, number, taken in (("cost.pue", np.float32(1.3), 1.3), ("network.link_gbit_s", 100.0, 100)):
        assert make_plan(scenario.with_value(path, number)).scenario.get(path) == taken
    assert scenario.with_value("cost.pue", np.nan).cost.pue is None
    for wrong in (2.5, np.float64("nan"), np.array([2, 3])):
        with pytest.raises(ScenarioError, match="host_failures"):
            make_plan(scenario.with_value("availability.host_failures", wrong))


def test_a_fact_is_remembered_by_type_and_a_wrong_value_has_one_too() -> None:
    starter = load_scenario("starter")
    for value in (1, 1.0, True, ["x"]):
        found = replace(starter, hardware=replace(starter.hardware, server=value)).fact("hardware.server")
        assert (found.value, type(found.value)) == (value, type(value))


def in_python(data: dict[str, Any]) -> Scenario:
    """The scenario that a file holds, as it is written in Python."""
    sections = {head: kind(**data[head]) for head, kind in SECTIONS.items() if head in data}
    return Scenario(**{**data, **sections, "groups": [Group(**group) for group in data["groups"]]})


WAYS: tuple[Callable[[dict[str, Any]], Scenario], ...] = (
    from_dict,
    in_python,
    lambda data: Scenario(**data),
    lambda data: parse_scenario(yaml.safe_dump(data, sort_keys=False)),
)


@given(scenario_data())
@settings(deadline=None)
def test_python_a_mapping_and_a_file_give_the_same_scenario(data: dict[str, Any]) -> None:
    read, *others = (way(data) for way in WAYS)
    for scenario in others:
        assert scenario == read
        assert {path: scenario.origin(path) for path in read.paths} == {
            path: read.origin(path) for path in read.paths
        }
    assert dataclasses.replace(read) == read
    assert dataclasses.replace(read, groups=data["groups"]).groups == read.groups


@given(scenario_data(), st.data())
@settings(deadline=None, max_examples=30)
def test_python_a_mapping_and_a_file_are_refused_alike(data: dict[str, Any], random: st.DataObject) -> None:
    parts = [part for head in SECTIONS if (part := data.get(head))] + data["groups"]
    part = random.draw(st.sampled_from(parts))
    name = random.draw(st.sampled_from([name for name in part if name != "id"] or ["gpu"]))
    part[name] = random.draw(st.sampled_from([-1, "x" * 300, True, None, [], "1/0", {"a": 3}]))
    refusals = []
    for way in WAYS:
        try:
            refusals.append(way(data).to_dict())
        except ScenarioError as error:
            refusals.append({"refused": str(error)})
    assert refusals == [refusals[0]] * len(WAYS)


def test_an_unknown_input_is_refused_when_it_is_written() -> None:
    for made, path in (
        (lambda: Group("a", peple=3), "groups.a.peple"),  # type: ignore[call-arg]
        (lambda: Hardware(board="l4-24gb"), "hardware.board"),  # type: ignore[call-arg]
        (lambda: Scenario(nme="x"), "nme"),  # type: ignore[call-arg]
    ):
        with pytest.raises(ScenarioError) as caught:
            made()
        head, _, name = path.rpartition(".")
        file = (
            {"groups": [{"id": "a", name: 3}]}
            if "." in head
            else {head: {name: "l4-24gb"}}
            if head
            else {name: "x"}
        )
        with pytest.raises(ScenarioError) as read:
            from_dict(file)
        assert [found.path for found in caught.value.problems] == [path]
        assert str(read.value).startswith(str(caught.value)[:60])


def test_a_default_that_is_written_is_stated() -> None:
    stated = Scenario(groups=[Group("a", people=1)], hardware=Hardware(gpus_per_host=4))
    assert stated.origin("groups.a.people") == stated.origin("hardware.gpus_per_host") == STATED
    assert stated.origin("groups.a.gpus_each") == stated.origin("hardware.gpu") == DEFAULT
    for copied in (dataclasses.replace(Group("a", people=3), vms_each=2), copy.copy(Group("a", people=3))):
        copy_ = Scenario(groups=[copied])
        assert copy_.groups[0].people == 3
        assert copy_.origin("groups.a.people") == STATED
        assert copy_.origin("groups.a.gpus_each") == DEFAULT
    read = load_scenario("enterprise")  # its file records each default as assumed
    again = Scenario(groups=read.groups, hardware=read.hardware)
    assert again.origin(f"groups.{read.groups[0].id}.vms_each") == DEFAULT


def test_nobody_stated_what_was_left_out() -> None:
    scenario = Scenario(groups=[Group("a", people=3)])
    assert scenario.groups[0].name == "a"
    assert scenario.origin("groups.a.people") == STATED
    assert scenario.origin("groups.a.gpus_each") == scenario.origin("hardware.gpu") == DEFAULT
    more = scenario.with_groups((*scenario.groups, Group("b", name="B", people=2)))
    assert more.origin("groups.b.people") == STATED
    assert more.origin("groups.b.gpus_each") == DEFAULT
    assert Scenario(origins=()).origin("hardware.gpu") == STATED


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("groups", {"groups": None}),
        ("groups", {"groups": "a"}),
        ("groups.1", {"groups": ["a"]}),
        ("groups.1", {"groups": [Hardware()]}),
        ("groups.2.id", {"groups": [Group("a"), Group("a")]}),
        ("groups.a.people", {"groups": [Group("a", people=-5)]}),
        ("groups.a.people", {"groups": [Group("a", people="many")]}),
        ("groups.a.people", {"groups": [Group("a", people=True)]}),
        ("hardware", {"hardware": None}),
        ("hardware", {"hardware": "l40s"}),
        ("hardware.gpus_per_host", {"hardware": Hardware(gpus_per_host=float("nan"))}),  # type: ignore[arg-type]
        ("hardware.boards", {"hardware": {"boards": 4}}),
        ("demand", {"demand": Hardware()}),
        ("name", {"name": None}),
        ("prices", {"prices": 5}),
        ("prices.x", {"prices": {"x": "dear"}}),
        ("ranges", {"ranges": "wide"}),
        ("notes.1", {"notes": ["a"]}),
        ("origins.hardware.gpu.source", {"origins": {"hardware.gpu": {"basis": "quoted"}}}),
    ],
)
def test_a_wrong_part_is_refused_when_it_is_given(path: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError) as caught:
        Scenario(**wrong)
    assert [found.path for found in caught.value.problems] == [path]
    if not path.startswith("groups.a") and path not in ("name", "hardware.gpus_per_host"):
        with pytest.raises(ScenarioError):
            dataclasses.replace(from_dict({}), **wrong)
