"""Plain data in: each mistake is named, and what is made in Python is checked, too."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved
from hypothesis import given
from hypothesis import strategies as st
from mistakes import problem, problems
from strategies import scenario_data

from gpuplan import Scenario, ScenarioError, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import (
    MAX_ENTRIES,
    MAX_ORIGINS,
    Group,
    from_dict,
    parse_scenario,
)

FULL = """
name: A design
groups:
- {id: a, name: Team A, people: 10, active_share: 0.5, gpus_each: 1/7}
- {id: b, name: Team B, use_case: horovod, vms_each: 4}
hardware: {gpu: l40s-48gb, gpus_per_host: 4}
origins:
  groups.a: {basis: assumed, source: scenario, note: a guess}
"""


@pytest.mark.parametrize(
    ("path", "given", "taken"),
    [
        ("hardware.existing", [{"hosts": 3}], "3 hosts"),
        ("hardware.existing", "3", "3 hosts"),
        ("groups.a.hours", "9-18", "09:00-18:00"),
        ("groups.a.people", "64", 64),
    ],
)
def test_what_is_named_instead_is_taken(catalog: Catalog, path: str, given: object, taken: object) -> None:
    """What a file may hold in several forms has one in Python: a refusal names it."""
    scenario = parse_scenario(FULL)
    with pytest.raises(ScenarioError) as caught:
        make_plan(scenario.with_value(path, given), catalog)
    assert has_approved(str(caught.value), json.dumps(taken))
    assert make_plan(scenario.with_value(path, taken), catalog).scenario.get(path) == taken


def test_html_in_names_is_text() -> None:
    name = "<script>alert('x')</script> & <b>Co</b>"
    scenario = from_dict({"name": name, "customer": name, "groups": [{"id": "a", "name": "<i>R&D</i>"}]})
    assert (scenario.name, scenario.customer, scenario.groups[0].name) == (name, name, "<i>R&D</i>")
    assert parse_scenario(scenario.to_yaml()) == scenario


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ("colour: red", "colour", '"red"'),
        ("hardware: {gpux: 1}", "hardware.gpux", "1"),
        ("groups: [{id: a, peple: 3}]", "groups.a.peple", "3"),
        ("prices: [1]", "prices", "[1]"),
        ("prices: {rack-year: -1}", "prices.rack-year", "-1"),
        ("prices: {rack-year: .inf}", "prices.rack-year", "inf"),
        ("ranges: {cost.pue: 3}", "ranges.cost.pue", "3"),
        ("cost: {as_of: soon}", "cost.as_of", '"soon"'),
        ("cost: {colour: 3}", "cost.colour", "3"),
        ("groups: [{id: a, people: -3}]", "groups.a.people", "-3"),
        ("groups: [{id: a, people: 1000000}]", "groups.a.people", "1000000"),
        ("groups: [{id: a, people: .nan}]", "groups.a.people", "nan"),
        ("groups: [{id: a, active_share: .inf}]", "groups.a.active_share", "inf"),
        ("groups: [{id: a, gpus_each: 2.5}]", "groups.a.gpus_each", "2.5"),
        ("hardware: {gpus_per_host: 0}", "hardware.gpus_per_host", "0"),
        ("groups: {a: 1}", "groups", "{'a': 1}"),
        ("groups: [3]", "groups.1", "3"),
        ("groups: [{name: A}]", "groups.1.id", "None"),
        ("groups: [{id: A b}]", "groups.1.id", '"A b"'),
        ("groups: [{id: a}, {id: a}]", "groups.2.id", '"a"'),
        ("groups: [{id: unassigned}]", "groups.1.id", '"unassigned"'),
        ("hardware: 4", "hardware", "4"),
        ("schema: 3", "schema", "3"),
        ("schema: true", "schema", "True"),
        ("notes: text", "notes", '"text"'),
        ("notes: [{text: x}]", "notes.1", "{'text': 'x'}"),
        ("notes: [{text: 3, source: x}]", "notes.1", "{'text': 3, 'source': 'x'}"),
        ("origins: [x]", "origins", "['x']"),
        ("origins: {hardware: {basis: sure, source: x}}", "origins.hardware.basis", '"sure"'),
        ("origins: {hardware: {basis: assumed}}", "origins.hardware.source", '""'),
        ("origins: {hardwar.gpu: {basis: quoted, source: s}}", "origins", '"hardwar.gpu"'),
        ("name: !!binary aGVsbG8=", "name", "b'hello'"),
        ("name: 2024-01-01", "name", "2024-01-01"),
        ("name: {a: 1}", "name", "{'a': 1}"),
        ("name: x\nname: y", "name", "given 2 times"),
        ("groups: [{id: a, people: 1, people: 2}]", "people", "given 2 times"),
        ("? {a: 1}\n: 2", "", ""),
        ("1: 2", "1", "2"),
    ],
)
def test_each_mistake_has_one_message_with_field_value_and_what_is_allowed(
    text: str, path: str, value: str
) -> None:
    found = problem(text)
    assert (found.path, found.value) == (path, value)
    assert len(found.message) > 5


def test_all_mistakes_of_a_file_are_named_at_once() -> None:
    found = problems(
        "colour: red\nhardware: {gpus_per_host: 99}\ngroups: [{id: a, people: -1, active_share: 2}, {id: b, x: 1}]"
    )
    assert {p.path for p in found} == {
        "colour",
        "hardware.gpus_per_host",
        "groups.a.people",
        "groups.a.active_share",
        "groups.b.x",
    }


def test_too_many_groups_and_notes() -> None:
    assert problem("groups: [" + ",".join(f"{{id: g{n}}}" for n in range(101)) + "]").value == "101 workloads"
    assert problem("notes: [" + ",".join("{}" for _ in range(2001)) + "]").value == "2001 entries"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(scenario_data(), st.data())
def test_wrong_types_anywhere_are_a_scenario_error(data: dict[str, Any], random: st.DataObject) -> None:
    places = [(data, key) for key in (*data, "notes", "origins", "schema")]
    places += [(part, key) for part in data.values() if isinstance(part, dict) for key in part]
    places += [(group, key) for group in data["groups"] for key in group]
    places += [(data["groups"], n) for n in range(len(data["groups"]))]
    holder, key = random.draw(st.sampled_from(places))
    holder[key] = random.draw(JSON)
    try:
        scenario = from_dict(data)
    except ScenarioError as error:
        assert error.problems
        str(error).encode("utf-8")
    else:
        assert from_dict(scenario.to_dict()) == scenario


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("groups.a.people", -3),
        ("groups.a.people", 2.5),
        ("groups.a.people", "3"),
        ("groups.a.people", True),
        ("groups.a.gpus_each", float("nan")),
        ("groups.a.gpus_each", 1.5),
        ("groups.a.gpus_each", None),
        ("hardware.gpus_per_host", 0),
        ("hardware.gpu", 5),
        ("demand.stated_gpus", -1),
        ("network.link_gbit_s", "25"),
        ("availability.maintenance_failure_accepted", 1),
    ],
)
def test_a_scenario_made_in_python_is_checked_when_it_is_planned(
    catalog: Catalog, path: str, value: Any
) -> None:
    scenario = parse_scenario(FULL).with_value(path, value)
    with pytest.raises(ScenarioError) as caught:
        make_plan(scenario, catalog)
    assert [p.path for p in caught.value.problems] == [path]


def test_two_groups_of_one_id_made_in_python(catalog: Catalog) -> None:
    for ids in (("a", "a"), ("unassigned",)):
        with pytest.raises(ScenarioError, match=r"groups\."):
            make_plan(Scenario(groups=tuple(Group(i) for i in ids)), catalog)


def test_origins_are_counted_without_defaults() -> None:
    for most, count in ((MAX_ENTRIES, MAX_ENTRIES + 1), (MAX_ORIGINS, MAX_ORIGINS + 1)):
        origins = {f"x{n}": {"basis": "quoted", "source": "s"} for n in range(count)}
        found = problem(json.dumps({"origins": origins}))
        assert (found.value, str(most) in found.message) == (f"{count} entries", True)


def test_a_file_of_very_many_fields_is_said_once() -> None:
    found = problem(json.dumps({f"k{n}": 1 for n in range(6_000)}))
    assert has_approved(found.message, "6,000")
    many = {"groups": [{"id": "a", **{f"k{n}": 1 for n in range(6_000)}}]}
    assert problem(json.dumps(many)).path == "groups.a"
