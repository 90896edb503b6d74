"""Scenario files: YAML and JSON in, within limits that no hostile file gets past."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from gpuplan.facts import data_root, did_you_mean_file
from gpuplan.scenario.checking import from_dict
from gpuplan.scenario.problems import ScenarioError, one_line, problem, refusal, show, show_key
from gpuplan.scenario.scenario import Scenario
from gpuplan.wording import said

MAX_FILE_BYTES = 1_000_000
MAX_VALUES = 100_000
"""Keys, values, lists and mappings in a file; a scenario of the largest size has 64 000."""
MAX_DEPTH = 20
MAX_SIXTIES = 10
"""Parts of a number such as 1:30:00, which YAML counts in base 60."""

_Loader: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of PyYAML, by its library in C where that is there."""


def _read_json(text: str) -> Any:
    """Return the data of a text that is JSON, which is YAML too but faster to read; ValueError if it is not."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _check_once(key for key, _ in pairs)
        return dict(pairs)

    def no_number(name: str) -> Any:
        raise ValueError(name)

    if not text.lstrip().startswith("{"):
        raise ValueError("no mapping")
    return json.loads(text, object_pairs_hook=once, parse_constant=no_number)


def _read_yaml(text: str) -> Any:
    """Return the data of a YAML text: its events are counted before any object is built."""
    if re.search(r"^%TAG", text, re.MULTILINE):
        raise refusal(said("file.tags"))
    values = depth = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise refusal(said("file.anchors"))
        documents += isinstance(event, yaml.DocumentStartEvent)
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if values > MAX_VALUES:
            raise refusal(said("file.values", most=f"{MAX_VALUES:,}"))
        if depth > MAX_DEPTH:
            raise refusal(said("file.nested"))
        if documents > 1:
            raise refusal(said("file.documents"))
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        _check_node(node)
        return loader.construct_document(node) if node is not None else None
    finally:
        loader.dispose()


def _check_node(node: Any) -> None:
    """Reject duplicate keys, and numbers in base 60 that take long to read."""
    if isinstance(node, yaml.MappingNode):
        _check_once(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
        for key, value in node.value:
            _check_node(key)
            _check_node(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            _check_node(item)
    elif node is not None and node.tag.endswith((":int", ":float")) and node.value.count(":") > MAX_SIXTIES:
        raise ValueError("a number of very many parts")


def _check_once(keys: Iterable[str]) -> None:
    for key, times in Counter(keys).items():
        if times > 1:
            given = said("file.each once", times=times)
            raise ScenarioError([problem(show_key(key), given, "file.once")])


def _parsed_yaml(text: str) -> Any:
    """Return the data of a YAML text, or raise a ScenarioError with the position of the error."""
    try:
        return _read_yaml(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = ""
        if mark:
            line = next(iter(text.splitlines()[mark.line : mark.line + 1]), "").strip()
            where = (
                f" (line {mark.line + 1}, column {mark.column + 1}{': ' + show(line, 40) if line else ''})"
            )
        what = getattr(error, "problem", None) or said("file.cannot be read")
        raise refusal(said("file.no YAML", where=where, what=what)) from None
    except RecursionError:
        raise refusal(said("file.nested")) from None
    except ScenarioError:
        raise
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError):
        # PyYAML, on values it cannot make
        raise refusal(said("file.value")) from None


def parse_scenario(text: str) -> Scenario:
    """A scenario from the text of a YAML or JSON file."""
    if len(text) > MAX_FILE_BYTES:
        raise refusal(said("file.characters", many=f"{len(text):,}", most=f"{MAX_FILE_BYTES:,}"))
    if "\0" in text:
        raise refusal(said("file.no text"))
    try:
        data = _read_json(text)
    except ScenarioError:
        raise
    except RecursionError:
        raise refusal(said("file.nested")) from None
    except ValueError:  # no JSON, or with a number that only YAML has
        data = _parsed_yaml(text)
    return from_dict(data)


def decode_scenario(content: bytes) -> Scenario:
    """A scenario from the bytes of a file: at most 1 MB, UTF-8."""
    if len(content) > MAX_FILE_BYTES:
        raise refusal(said("file.too large", most=f"{MAX_FILE_BYTES:,}"))
    try:
        return parse_scenario(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise refusal(said("file.no UTF-8")) from None


BETWEEN = "...\n---\n"
"""Separator of scenarios in one text."""


def load_scenario(path: str | Path) -> Scenario:
    """A scenario from a file, or by name one of the examples shipped with gpuplan.

    Parameters
    ----------
    path : str or Path
        A YAML or JSON file, or ``starter``, ``enterprise``, ``current``.

    Raises
    ------
    ScenarioError
        If the file is missing, too large, or not a scenario.
    """
    path = scenario_path(path)
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        meant = did_you_mean_file(path, example_names())
        shown = one_line(str(path))
        raise refusal(said("file.unreadable", path=shown, why=why, meant=meant)) from None
    return decode_scenario(content)


def scenario_path(name: str | Path) -> Path:
    """The file of a scenario: of the example with this name, else the path itself."""
    if isinstance(name, str) and name in example_names():
        return data_root() / "scenarios" / f"{name}.yaml"
    return Path(name)


def example_names() -> tuple[str, ...]:
    """Names of the example scenarios shipped with gpuplan."""
    return tuple(sorted(p.stem for p in (data_root() / "scenarios").glob("*.yaml")))
