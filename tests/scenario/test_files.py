"""Scenario files: examples, round trips, and files that are none."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from mistakes import problem, problems
from random_cases import examples
from strategies import scenario_data

from gpuplan import Scenario, ScenarioError, load_scenario
from gpuplan.scenario import (
    MAX_ENTRIES,
    MAX_FILE_BYTES,
    MAX_GROUPS,
    MAX_VALUES,
    Group,
    decode_scenario,
    example_names,
    from_dict,
    json_schema,
    parse_scenario,
    reading,
    scenario_path,
)

SCHEMA = jsonschema.Draft202012Validator(json_schema())
"""Made once: whether the schema itself is valid takes longer to check than a scenario, and is checked with the schema."""


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
    SCHEMA.validate(scenario.to_dict())


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
    assert set(example_names()) == {"starter", "enterprise", "current", "assistant"}
    (tmp_path / "mine.yaml").write_text("name: Mine", encoding="utf-8")
    assert load_scenario("mine.yaml").name == "Mine"


@settings(max_examples=examples(150, few=30))
@given(st.text(max_size=200) | st.text("{}[]:,-\n &*!'\"0x1ae.", max_size=60))
def test_any_text_is_a_scenario_or_a_scenario_error(text: str) -> None:
    try:
        scenario = parse_scenario(text)
    except ScenarioError as error:
        assert str(error)
    else:
        assert from_dict(scenario.to_dict()) == scenario


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
            "origins": {f"prices.p{n}": origin for n in range(MAX_ENTRIES)},
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
    values = sum(isinstance(event, yaml.NodeEvent) for event in yaml.parse(text, Loader=reading._Loader))
    assert 0.6 * MAX_VALUES < values < MAX_VALUES


def test_the_place_of_a_mistake_is_shown_with_its_line() -> None:
    assert '(line 2, column 9: "custo: x: y")' in problem("name: x\ncusto: x: y").message


SCHEMA = jsonschema.Draft202012Validator(json_schema())
"""Made once: whether the schema itself is valid takes longer to check than a scenario."""


def test_the_schema_is_one_and_accepts_the_examples() -> None:
    jsonschema.Draft202012Validator.check_schema(json_schema())
    for name in example_names():
        SCHEMA.validate(load_scenario(name).to_dict())
    SCHEMA.validate({})
    json.dumps(json_schema(), allow_nan=False)


@pytest.mark.parametrize(
    "data",
    [
        [],
        {"colour": "red"},
        {"schema": 3},
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
        SCHEMA.validate(data)
    with pytest.raises(ScenarioError):
        from_dict(data)
