"""Scenarios: round trips, and one clear message for everything that is wrong."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import scenario_data

from gpuplan import Scenario, ScenarioError, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import (
    DEFAULT,
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_GROUPS,
    MAX_ORIGINS,
    MAX_VALUES,
    STATED,
    Group,
    Origin,
    Problem,
    decode_scenario,
    example_names,
    from_dict,
    json_schema,
    parse_scenario,
    scenario_path,
)
from gpuplan.scenario import scenario as scenario_module

FULL = """
name: A design
groups:
- {id: a, name: Team A, people: 10, active_share: 0.5, gpus_each: 1/7}
- {id: b, name: Team B, use_case: horovod, vms_each: 4}
hardware: {gpu: l40s-48gb, gpus_per_host: 4}
origins:
  groups.a: {basis: assumed, source: scenario, note: a guess}
"""


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(ScenarioError) as caught:
        parse_scenario(text)
    assert caught.value.problems
    for line in str(caught.value).splitlines():
        assert line.isprintable()
    assert len(str(caught.value).splitlines()) == len(caught.value.problems)
    return caught.value.problems


def problem(text: str) -> Problem:
    found = problems(text)
    assert len(found) == 1, found
    return found[0]


# ---- round trips


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_examples_go_through_yaml_and_json_unchanged(name: str) -> None:
    scenario = load_scenario(name)
    assert parse_scenario(scenario.to_yaml()) == scenario
    assert parse_scenario(json.dumps(scenario.to_dict())) == scenario
    assert from_dict(json.loads(json.dumps(scenario.to_dict(), allow_nan=False))) == scenario
    # the file says everything that the scenario says, and nothing else
    text = scenario_path(name).read_text(encoding="utf-8")
    assert yaml.safe_load(text) == json.loads(json.dumps(scenario.to_dict()))


@given(scenario_data())
def test_random_scenarios_go_through_yaml_and_json_unchanged(data: dict[str, Any]) -> None:
    scenario = from_dict(data)
    assert parse_scenario(scenario.to_yaml()) == scenario
    assert parse_scenario(json.dumps(scenario.to_dict(), allow_nan=False)) == scenario
    jsonschema.validate(scenario.to_dict(), json_schema())


@pytest.mark.parametrize("share", ["1/7", "1/3", "2/3", "5/97", "0.123456789", "0.1", "1/8", "1/64"])
def test_fractions_stay_what_they_are(share: str) -> None:
    scenario = from_dict({"groups": [{"id": "a", "gpus_each": share}]})
    again = from_dict(scenario.to_dict())
    assert again.groups[0].gpus_each == scenario.groups[0].gpus_each
    written = scenario.to_dict()["groups"][0]["gpus_each"]
    if "/" in share and share not in ("1/8", "1/64"):
        assert written == share


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
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


def test_html_in_names_is_text() -> None:
    name = "<script>alert('x')</script> & <b>Co</b>"
    scenario = from_dict({"name": name, "customer": name, "groups": [{"id": "a", "name": "<i>R&D</i>"}]})
    assert (scenario.name, scenario.customer, scenario.groups[0].name) == (name, name, "<i>R&D</i>")
    assert parse_scenario(scenario.to_yaml()) == scenario


def test_names_that_yaml_could_take_for_something_else() -> None:
    for name in (
        "yes",
        "null",
        "1.5",
        "2024-01-01",
        "- x",
        "a: b",
        "# no comment",
        "&a",
        "*a",
        "0x10",
        "~",
        "\u00e9\u6f22",
    ):
        scenario = from_dict({"name": name})
        assert scenario.name == name
        assert parse_scenario(scenario.to_yaml()).name == name


# ---- what is left out, and where it is known from


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


# ---- what a form gives


# ---- files


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
        ("schema: 2", "schema", "2"),
        ("schema: true", "schema", "True"),
        ("notes: text", "notes", '"text"'),
        ("notes: [{text: x}]", "notes.1", "{'text': 'x'}"),
        ("notes: [{text: 3, source: x}]", "notes.1", "{'text': 3, 'source': 'x'}"),
        ("origins: [x]", "origins", "['x']"),
        ("origins: {hardware: {basis: sure, source: x}}", "origins.hardware.basis", '"sure"'),
        ("origins: {hardware: {basis: assumed}}", "origins.hardware.source", '""'),
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "holds nothing"),
        ("just text", "only text"),
        ("- a\n- b", "a list"),
        ("3", "a scenario is a mapping"),
        ("a: [", "not valid YAML (line"),
        ("a: b: c", "not valid YAML (line 1"),
        ("\tname: x", "not valid YAML"),
        ("name: \0", "not text"),
        ("[" * 100_000, "nested too deeply"),
        ("{a: " * 5000, "nested too deeply"),
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("!!python/object/apply:os.system ['true']", "not valid YAML"),
        ("name: !!bool perhaps", "cannot be read"),
        ("name: !!int ''", "cannot be read"),
        ("name: !!float ''", "cannot be read"),
        ("name: !!timestamp soon", "cannot be read"),
        ("name: 9999-99-99", "cannot be read"),
        ("groups: [{id: a, people: " + "9" * 5000 + "}]", "cannot be read"),
        ("x" * (MAX_FILE_BYTES + 1), "at most 1,000,000"),
    ],
)
def test_files_that_are_no_scenario(text: str, said: str) -> None:
    assert said in problem(text).message


@pytest.mark.parametrize(
    "text",
    [
        "groups: [{id: a, people: 0x" + "f" * 20_000 + "}]",
        "groups: [0x" + "f" * 20_000 + "]",
        "schema: 0x" + "f" * 20_000,
        "0x" + "f" * 800 + ": 1",
        'name: "\\ud800"',
        '"\\ud800": 1',
        '"a\\nb\\e[31m": "\\e[31m"',
        'notes: [{text: "\\ud800", source: x}]',
        'notes: [{text: "a\\e[31mb", source: x}]',
        'origins: {"\\n": {basis: x}}',
        "name: [" * 200 + "]" * 200,
    ],
)
def test_values_that_are_hard_to_print_are_refused_in_one_line(text: str) -> None:
    str(problem(text)).encode("utf-8")


def test_a_billion_laughs() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join(['*' + chr(97 + n)] * 9)}]" for n in range(9)]
    assert "anchors and aliases" in problem("\n".join(lines)).message


def test_very_many_keys_are_refused_soon() -> None:
    assert len(problems("\n".join(f"k{n}: 1" for n in range(5000)))) == 5000
    assert problem("\n".join(["k: 1"] * 5000)).value == "given 5000 times"


def test_characters_beyond_16_bits_are_read_from_json_too() -> None:
    name = "\U0001f680 design"
    assert "\\ud83d" in json.dumps({"name": name})
    assert parse_scenario(json.dumps({"name": name})).name == name
    assert parse_scenario(json.dumps({"name": name}, ensure_ascii=False)).name == name


def test_too_many_groups_and_notes() -> None:
    assert problem("groups: [" + ",".join(f"{{id: g{n}}}" for n in range(101)) + "]").value == "101 groups"
    assert problem("notes: [" + ",".join("{}" for _ in range(2001)) + "]").value == "2001 entries"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00x", "not UTF-8"),
        (bytes(range(256)), "not UTF-8"),
        (b"\x89PNG\r\n\x1a\n", "not UTF-8"),
        (b"name: x" + b" " * MAX_FILE_BYTES, "at most 1,000,000 bytes"),
    ],
)
def test_files_that_are_no_text(content: bytes, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        decode_scenario(content)


def test_a_byte_order_mark_is_no_mistake() -> None:
    assert decode_scenario(b"\xef\xbb\xbfname: x").name == "x"


def test_a_file_of_50_mb_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    with pytest.raises(ScenarioError, match="at most 1,000,000 bytes"):
        load_scenario(path)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no endless file on this system")
def test_a_file_without_end_is_not_read() -> None:
    with pytest.raises(ScenarioError, match="at most 1,000,000 bytes"):
        load_scenario("/dev/zero")


@pytest.mark.parametrize("name", ["no-such-example", "/", "a\0b", "x" * 5000, ""])
def test_files_that_cannot_be_read(name: str) -> None:
    with pytest.raises(ScenarioError, match="cannot read") as caught:
        load_scenario(name)
    assert str(caught.value).isprintable()


def test_examples_are_known_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert set(example_names()) == {"starter", "enterprise", "current"}
    (tmp_path / "mine.yaml").write_text("name: Mine", encoding="utf-8")
    assert load_scenario("mine.yaml").name == "Mine"


@settings(max_examples=300)
@given(st.text(max_size=200) | st.text("{}[]:,-\n &*!'\"0x1ae.", max_size=60))
def test_any_text_is_a_scenario_or_a_scenario_error(text: str) -> None:
    try:
        scenario = parse_scenario(text)
    except ScenarioError as error:
        assert str(error)
    else:
        assert from_dict(scenario.to_dict()) == scenario


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


# ---- scenarios made in Python


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
        ("hardware.gpus_per_host", 4.0),
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


def test_a_path_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        parse_scenario(FULL).get("groups.nobody.people")
    with pytest.raises(AttributeError):
        parse_scenario(FULL).get("hardware.colour")


def test_scenarios_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Scenario().name = "x"  # type: ignore[misc]


# ---- JSON Schema


def test_the_schema_is_one_and_accepts_the_examples() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for name in example_names():
        jsonschema.validate(load_scenario(name).to_dict(), json_schema())
    jsonschema.validate({}, json_schema())
    json.dumps(json_schema(), allow_nan=False)


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"colour": "red"},
        {"schema": 2},
        {"name": ""},
        {"name": []},
        {"hardware": {"gpus_per_host": 17}},
        {"hardware": {"gpus_per_host": 2.5}},
        {"hardware": {"x": 1}},
        {"availability": {"maintenance_failure_accepted": "yes"}},
        {"network": {"link_gbit_s": 26}},
        {"demand": {"stated_gpus": 0}},
        {"groups": {}},
        {"groups": [{}]},
        {"groups": [{"id": "A"}]},
        {"groups": [{"id": "unassigned"}]},
        {"groups": [{"id": "a", "people": -1}]},
        {"groups": [{"id": "a", "active_share": 1.5}]},
        {"groups": [{"id": "a", "gpus_each": 1.5}]},
        {"groups": [{"id": "a", "gpus_each": "x"}]},
        {"groups": [{"id": "a", "access": "magic"}]},
        {"groups": [{"id": f"g{n}"} for n in range(101)]},
        {"notes": [{"text": "x"}]},
        {"origins": {"hardware": {"basis": "sure", "source": "x"}}},
    ],
)
def test_the_schema_refuses_what_the_reader_refuses(data: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(data, json_schema())
    with pytest.raises(ScenarioError):
        from_dict(data)


def test_what_is_internal_is_kept_and_leaves_no_trace_where_there_is_none() -> None:
    scenario = load_scenario("starter")
    assert "internal" not in scenario.to_dict()
    held = scenario.with_value("internal.notes", "Ask Bob:\n  - he knows\n\n'why'").with_value(
        "internal.margin", 0.18
    )
    assert parse_scenario(held.to_yaml()) == held
    assert held.to_dict()["internal"] == {"notes": "Ask Bob:\n  - he knows\n\n'why'", "margin": 0.18}
    assert json_schema()["properties"]["internal"]["properties"]["notes"]["anyOf"][0]["maxLength"] == 4_000


def largest() -> Scenario:
    """A scenario with as much in it as there may be."""
    group = Group(
        id="a", workload="resnet-50-train-256", vcpus_each=8, memory_gib_each=64, sites="A 1", hours="09:00-18:00", days="weekdays",
        off_hours_share=0.1, work_h=1.5, jobs_per_day=2.5, growth=0.2,
    )  # fmt: skip
    origin = {"basis": "quoted", "source": "s", "locator": "l", "note": "n", "as_of": "2026-01-01"}
    scenario = from_dict(
        {
            "prices": {f"p{n}": 1 for n in range(MAX_ENTRIES)},
            "ranges": {f"hardware.x{n}": [1, 2] for n in range(MAX_ENTRIES)},
            "notes": [{"text": "t", "source": "s", "locator": "l"}] * MAX_ENTRIES,
            "origins": {f"x{n}": origin for n in range(MAX_ENTRIES)},
            "groups": [{"id": f"g{n}"} for n in range(MAX_GROUPS)],
        }
    )
    groups = tuple(dataclasses.replace(group, id=f"g{n}") for n in range(MAX_GROUPS))
    return dataclasses.replace(scenario, groups=groups)


def test_the_largest_scenario_is_opened_again() -> None:
    scenario = largest()
    text = scenario.to_yaml()
    assert len(text) < MAX_FILE_BYTES
    assert parse_scenario(text) == scenario
    assert parse_scenario(json.dumps(scenario.to_dict())) == scenario
    values = sum(
        isinstance(event, yaml.NodeEvent) for event in yaml.parse(text, Loader=scenario_module._Loader)
    )
    assert 0.6 * MAX_VALUES < values < MAX_VALUES


def test_origins_are_counted_without_defaults() -> None:
    for most, count in ((MAX_ENTRIES, MAX_ENTRIES + 1), (MAX_ORIGINS, MAX_ORIGINS + 1)):
        origins = {f"x{n}": {"basis": "quoted", "source": "s"} for n in range(count)}
        found = problem(json.dumps({"origins": origins}))
        assert (found.value, str(most) in found.message) == (f"{count} entries", True)


@pytest.mark.parametrize("loader", [yaml.SafeLoader, getattr(yaml, "CSafeLoader", yaml.SafeLoader)])
def test_both_loaders_of_yaml_stop_at_the_same_limits(loader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenario_module, "_Loader", loader)
    monkeypatch.setattr(scenario_module, "MAX_VALUES", 100)
    assert parse_scenario("name: x\nhardware: {gpus_per_host: 2}").name == "x"
    for text, said in (
        ("notes: [" + "a," * 100 + "a]", "more than 100 values"),
        ("[" * 30, "nested too deeply"),
        ("a: &x 1\nb: *x", "anchors and aliases"),
        ("---\na: 1\n---\nb: 1", "several documents"),
        ("%TAG ! tag:x:\n---\na: 1", "%TAG"),
        ("name: " + "1:" * 20 + "1", "cannot be read"),
        ("a: 1\na: 2", "each field once"),
    ):
        assert said in problem(text).message, text


def test_a_file_of_very_many_fields_is_said_once() -> None:
    found = problem(json.dumps({f"k{n}": 1 for n in range(6_000)}))
    assert found.message.startswith("the file holds 6,000 fields")
    many = {"groups": [{"id": "a", **{f"k{n}": 1 for n in range(6_000)}}]}
    assert problem(json.dumps(many)).path == "groups.a"


def test_the_place_of_a_mistake_is_shown_with_its_line() -> None:
    assert '(line 2, column 9: "custo: x: y")' in problem("name: x\ncusto: x: y").message
