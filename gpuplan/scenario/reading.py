"""Files from outside in YAML or JSON as plain data, within limits that no hostile file gets past."""

import json
import re
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import yaml

from gpuplan.scenario.problems import ScenarioError, problem, refusal, show, show_key
from gpuplan.wording import said

MAX_SIXTIES = 10
"""Parts of a number such as 1:30:00, which YAML counts in base 60."""

_Loader: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of PyYAML, by its library in C where that is there."""


class FileLimits(NamedTuple):
    """The largest file of a kind."""

    kind: str
    """What a file holds, such as ``scenario``."""
    bytes: int
    values: int
    """Keys, values, lists and mappings."""
    depth: int


def read_data(content: bytes, limits: FileLimits) -> Any:
    """Return the data of a file; a ScenarioError if it is too large, no UTF-8, or holds what a reader would not expect."""
    if len(content) > limits.bytes:
        raise refusal(said("file.too large", most=f"{limits.bytes:,}", kind=limits.kind))
    try:
        return read_text(content.decode("utf-8-sig"), limits)
    except UnicodeDecodeError:
        raise refusal(said("file.no UTF-8")) from None


def read_text(text: str, limits: FileLimits) -> Any:
    """Return the data of the text of a file."""
    if len(text) > limits.bytes:
        many, most = f"{len(text):,}", f"{limits.bytes:,}"
        raise refusal(said("file.characters", many=many, most=most, kind=limits.kind))
    if "\0" in text:
        raise refusal(said("file.no text"))
    try:
        return _read_json(text)
    except ScenarioError:
        raise
    except RecursionError:
        raise refusal(said("file.nested")) from None
    except ValueError:  # no JSON, or with a number that only YAML has
        return _parsed_yaml(text, limits)


def _read_json(text: str) -> Any:
    """Return the data of a text that is JSON, which is YAML too but faster to read; ValueError if it is not."""
    if not text.lstrip().startswith("{"):
        raise ValueError("no mapping")
    return strict_json(text)


def strict_json(text: str) -> Any:
    """Return the data of a JSON text that every reader takes alike; ValueError for a field given twice, NaN and the like."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _check_once(key for key, _ in pairs)
        return dict(pairs)

    def no_number(name: str) -> Any:
        raise ValueError(name)

    return json.loads(text, object_pairs_hook=once, parse_constant=no_number)


def _read_yaml(text: str, limits: FileLimits) -> Any:
    """Return the data of a YAML text: its events are counted before any object is built."""
    if re.search(r"^%TAG", text, re.MULTILINE):
        raise refusal(said("file.tags", kind=limits.kind))
    values = depth = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise refusal(said("file.anchors", kind=limits.kind))
        documents += isinstance(event, yaml.DocumentStartEvent)
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if values > limits.values:
            raise refusal(said("file.values", most=f"{limits.values:,}", kind=limits.kind))
        if depth > limits.depth:
            raise refusal(said("file.nested"))
        if documents > 1:
            raise refusal(said("file.documents", kind=limits.kind))
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


def _parsed_yaml(text: str, limits: FileLimits) -> Any:
    """Return the data of a YAML text, or raise a ScenarioError with the position of the error."""
    try:
        return _read_yaml(text, limits)
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
