"""Build a scenario from plain data, with every field checked; find the errors of one that was made in Python."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from gpuplan.facts import BASES, did_you_mean
from gpuplan.scenario.hosts_and_vms import OTHER_VMS
from gpuplan.scenario.inputs import FIELDS, GROUP_FIELD_BY_NAME, GROUP_FIELDS, INPUTS, field_of
from gpuplan.scenario.kinds import Field, parse_value
from gpuplan.scenario.problems import Problem, ScenarioError, show, show_key
from gpuplan.scenario.scenario import (
    DEFAULTS,
    FIELDS_OF,
    MAPS,
    SECTIONS,
    UNASSIGNED,
    Group,
    Note,
    Origin,
    Scenario,
)
from gpuplan.scenario.versions import up_to_date

MAX_GROUPS = 100
MAX_VMS = 200_000
MAX_ENTRIES = 2_000
MAX_ORIGINS = MAX_ENTRIES + len(FIELDS) + MAX_GROUPS * len(GROUP_FIELDS)
"""Most origins: a file also records for each input that it is a default."""
MAX_UNKNOWN = 5_000
"""Fields that there are not, of which each is named."""
MAX_NAMED = 20
"""Paths of origins that are refused one by one: each is compared with every input there is."""
AS_OF = field_of("cost.as_of")

_Problems = list[Problem]


def _name(spec: Field) -> str:
    return spec.path.rpartition(".")[2]


_NAMES = {head: tuple(map(_name, specs)) for head, specs in FIELDS_OF.items()}
_GROUP_NAMES = tuple(GROUP_FIELD_BY_NAME)


def from_dict(data: Any) -> Scenario:
    """A scenario from plain data; a ScenarioError names each field that is unknown, missing or out of bounds.

    Fields that are left out take their default and are recorded as assumed.
    """
    if not isinstance(data, Mapping):
        wanted = "a scenario is a mapping of fields to values, such as 'name: My design'"
        raise ScenarioError([Problem("", show(data), f"{wanted}; this file holds {_kind(data)}")])
    data = up_to_date(data)
    problems: _Problems = []
    origins = _origins(data.get("origins", {}), problems)
    names = {"schema", "name", "customer", "groups", "notes", "origins", *MAPS, *SECTIONS}
    _name_unknown(data, names, "", problems)
    top, _ = _values(FIELDS_OF[""], data, "", problems)
    sections = {head: _section(head, data.get(head, {}), origins, problems) for head in SECTIONS}
    for head in SECTIONS:
        if isinstance(section := data.get(head, {}), Mapping):
            _name_unknown(section, set(_NAMES[head]), f"{head}.", problems)
    groups = _groups(data.get("groups", []), origins, problems)
    notes = _notes(data.get("notes", []), problems)
    prices, ranges = (_map(data.get(name, {}), name, problems) for name in MAPS)
    if problems:
        raise ScenarioError(problems)
    scenario = Scenario(
        groups=groups,
        prices=prices,
        ranges=ranges,
        notes=notes,
        origins=tuple(origins.items()),
        **top,
        **{head: SECTIONS[head](**values) for head, values in sections.items()},
    )
    for path in origins:
        try:
            scenario.check_origin(path)
        except ScenarioError as error:
            problems += [replace(problem, path="origins", value=show(path)) for problem in error.problems]
            if len(problems) == MAX_NAMED:
                break
    if problems:
        raise ScenarioError(problems)
    return scenario


def _kind(data: Any) -> str:
    return {"list": "a list", "str": "only text", "NoneType": "nothing"}.get(type(data).__name__, show(data))


def _parsed(spec: Field, given: Any, path: str, problems: _Problems) -> Any:
    """The value of a field; None, with a new problem, if it cannot be read."""
    try:
        return parse_value(spec, given, path)
    except ScenarioError as error:
        problems += error.problems
        return None


def _values(
    specs: Iterable[Field], given: Mapping[Any, Any], prefix: str, problems: _Problems
) -> tuple[dict[str, Any], dict[str, Origin]]:
    """(stated values, origins by path of the inputs that are not stated and have a default)."""
    values: dict[str, Any] = {}
    left_out = {}
    for spec in specs:
        name = _name(spec)
        if name in given:
            values[name] = _parsed(spec, given[name], prefix + name, problems)
        elif not spec.optional:
            left_out[prefix + name] = DEFAULTS[spec.basis or "assumed"]
    return values, left_out


def _section(head: str, given: Any, origins: dict[str, Origin], problems: _Problems) -> dict[str, Any]:
    """Return the values of a section; omitted inputs are recorded as defaults."""
    if not isinstance(given, Mapping):
        problems.append(Problem(head, show(given), "a mapping of fields to values"))
        return {}
    values, left_out = _values(FIELDS_OF[head], given, f"{head}.", problems)
    for path, origin in left_out.items():
        origins.setdefault(path, origin)
    return values


def _groups(given: Any, origins: dict[str, Origin], problems: _Problems) -> tuple[Group, ...]:
    if not isinstance(given, list):
        problems.append(Problem("groups", show(given), "a list of groups"))
        return ()
    if len(given) > MAX_GROUPS:
        problems.append(Problem("groups", f"{len(given)} groups", f"at most {MAX_GROUPS} groups"))
        return ()
    groups: dict[str, Group] = {}
    for number, item in enumerate(given, 1):
        if not isinstance(item, Mapping):
            problems.append(Problem(f"groups.{number}", show(item), "a mapping of fields to values"))
        elif wrong := _wrong_id(item.get("id"), groups):
            problems.append(Problem(f"groups.{number}.id", show(item.get("id")), wrong))
        else:
            groups[item["id"]] = _group(item["id"], item, origins, problems)
    return tuple(groups.values())


def _wrong_id(given: Any, taken: Iterable[str]) -> str:
    """Say what the id of a group must be instead; empty if it is right."""
    if not isinstance(given, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", given):
        return "1 to 40 lower-case letters, digits and hyphens"
    if given == UNASSIGNED or given.startswith(OTHER_VMS):
        return "another id; this one stands for what is of no group"
    return "each group has an id of its own" if given in taken else ""


def _group(id: str, given: Mapping[Any, Any], origins: dict[str, Origin], problems: _Problems) -> Group:
    _name_unknown(given, {"id", *GROUP_FIELD_BY_NAME}, f"groups.{id}.", problems)
    values, left_out = _values(GROUP_FIELDS, given, f"groups.{id}.", problems)
    if not {"groups", f"groups.{id}"} & origins.keys():
        for path, origin in left_out.items():
            origins.setdefault(path, origin)
    return Group(id=id, **values)


def _name_unknown(data: Mapping[Any, Any], known: set[str], prefix: str, problems: _Problems) -> None:
    """Name the fields that there are not."""
    if len(problems) >= MAX_UNKNOWN:
        return
    if len(data) > MAX_UNKNOWN:
        many, allowed = f"{len(data):,} fields", f"there are {len(known)}"
        whole = f"the file holds {many}, and {allowed} in a scenario"
        problems.append(Problem(prefix.rstrip("."), many, allowed) if prefix else Problem("", "", whole))
        return
    known_are = "there is no such field; known are " + ", ".join(sorted(known))
    for key in data:
        if key not in known:
            near = did_you_mean(key, known)
            message = f"there is no such field{near}" if near else known_are
            problems.append(Problem(prefix + show_key(key), show(data[key]), message))


def _entries(given: Any, name: str, wanted: str, most: int, problems: _Problems) -> list[tuple[Any, Any]]:
    """(key or number, value) of each entry of a list or a mapping that is not too long."""
    kind = list if wanted == "a list" else Mapping
    if not isinstance(given, kind):
        problems.append(Problem(name, show(given), wanted))
        return []
    if len(given) > most:
        problems.append(Problem(name, f"{len(given)} entries", f"at most {most} entries"))
        return []
    return list(given.items() if isinstance(given, Mapping) else enumerate(given, 1))


def _map(given: Any, name: str, problems: _Problems) -> tuple[tuple[str, Any], ...]:
    """(key, value) of each entry of ``prices`` or ``ranges``."""
    entries = _entries(given, name, "a mapping of what it is for to the value", MAX_ENTRIES, problems)
    named = ((show_key(key), value) for key, value in entries)
    spec = INPUTS[f"{name}.*"]
    pairs = [(key, _parsed(spec, value, f"{name}.{key}", problems)) for key, value in named]
    return tuple((key, value) for key, value in pairs if value is not None)


def _text_fields(
    entries: Iterable[tuple[Any, Any]], name: str, allowed: tuple[str, ...], problems: _Problems
) -> list[tuple[str, dict[str, str]]]:
    """(key, fields) of each note or origin, all fields being short text."""
    rows = []
    for key, item in entries:
        if isinstance(item, Mapping) and isinstance(item.get("as_of"), datetime.date):
            item = {**item, "as_of": item["as_of"].isoformat()}  # YAML reads a day without quotes as one
        if isinstance(item, Mapping) and all(
            k in allowed and isinstance(v, str) and len(v) <= 500 and v.isprintable() for k, v in item.items()
        ):
            rows.append((show_key(key), dict(item)))
        else:
            problems.append(
                Problem(f"{name}.{show_key(key)}", show(item), "text fields " + ", ".join(allowed))
            )
    return rows


def _origins(given: Any, problems: _Problems) -> dict[str, Origin]:
    origins: dict[str, Origin] = {}
    entries = _entries(given, "origins", "a mapping", MAX_ORIGINS, problems)
    for path, item in _text_fields(entries, "origins", Origin.__slots__, problems):
        if wrong := _wrong_origin(item):
            field, value, allowed = wrong
            problems.append(Problem(f"origins.{path}.{field}", show(value), allowed))
        else:
            origins[path] = Origin(**item)
    stated = sum(origin not in DEFAULTS.values() for origin in origins.values())
    if stated > MAX_ENTRIES:
        problems.append(Problem("origins", f"{stated} entries", f"at most {MAX_ENTRIES} beside defaults"))
    return origins


def _wrong_origin(item: Mapping[str, str]) -> tuple[str, str | None, str] | None:
    """(field of an origin that is wrong, its value, its allowed values)."""
    if item.get("basis") not in BASES:
        return "basis", item.get("basis"), "one of " + ", ".join(BASES)
    if item.get("as_of") and _parsed(AS_OF, item["as_of"], "as_of", []) is None:
        return "as_of", item["as_of"], AS_OF.allowed()
    return None if item.get("source") else ("source", "", "the id of a source, or 'scenario'")


def _notes(given: Any, problems: _Problems) -> tuple[Note, ...]:
    notes = []
    entries = _entries(given, "notes", "a list", MAX_ENTRIES, problems)
    for number, item in _text_fields(entries, "notes", Note.__slots__, problems):
        if item.get("text") and item.get("source"):
            notes.append(Note(**item))
        else:
            problems.append(Problem(f"notes.{number}", show(item), "a text and the id of a source"))
    return tuple(notes)


# ---- a scenario that was made in Python


def wrong_values(scenario: Scenario) -> list[Problem]:
    """Inputs that are out of bounds in a scenario that was not read from a file but made in Python."""
    ids = Counter(g.id for g in scenario.groups)
    problems = [
        Problem(f"groups.{i}.id", show(i), "an id of its own for each group")
        for i, n in ids.items()
        if n > 1 or i == UNASSIGNED
    ]
    for head, names in _NAMES.items():
        record, prefix = (getattr(scenario, head), f"{head}.") if head else (scenario, "")
        problems += _wrong_record(prefix, names, record)
    for group in scenario.groups:
        problems += _wrong_record(f"groups.{group.id}.", _GROUP_NAMES, group)
    for name in MAPS:
        for key, value in getattr(scenario, name):
            path = f"{name}.{key}"
            problems += _wrong(path, field_of(path), value)
    return problems


def _wrong_record(prefix: str, names: tuple[str, ...], record: Any) -> Iterable[Problem]:
    """Find the errors in the fields of one section or group of a scenario."""
    values = tuple(getattr(record, name) for name in names)
    try:
        return _wrong_fields(prefix, names, values, tuple(map(type, values)))
    except TypeError:  # a list or the like, which cannot be remembered
        return _wrong_fields.__wrapped__(prefix, names, values, ())


@lru_cache(maxsize=4096)
def _wrong_fields(
    prefix: str, names: tuple[str, ...], values: tuple[Any, ...], _types: tuple[type, ...]
) -> tuple[Problem, ...]:
    """The same, remembered by the types too, because 1 and True are the same to a dictionary."""
    paths = [prefix + name for name in names]
    return tuple(
        problem
        for path, value in zip(paths, values, strict=True)
        for problem in _wrong(path, field_of(path), value)
    )


def _wrong(path: str, spec: Field, given: Any) -> tuple[Problem, ...]:
    """Find the error of a value: it must equal the value read from a file."""
    try:
        read = parse_value(spec, given, path)
    except ScenarioError as error:
        return error.problems
    if spec.kind not in ("text", "area") and (
        read != given or (spec.kind == "int" and type(read) is not type(given))
    ):
        return (
            Problem(path, f"{show(given)} of type {type(given).__name__}", f"in Python it is {show(read)}"),
        )
    return ()
