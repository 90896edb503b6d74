"""Build a scenario from plain data, with every field checked; find the errors of one that was made in Python."""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from functools import lru_cache
from typing import Any

from gpuplan.facts import BASES
from gpuplan.scenario.hosts_and_vms import OTHER_VMS
from gpuplan.scenario.inputs import FIELDS, GROUP_FIELD_BY_NAME, GROUP_FIELDS, field_of
from gpuplan.scenario.kinds import Field, parse_value
from gpuplan.scenario.problems import Problem, ScenarioError, name_unknown, problem, show, show_key
from gpuplan.scenario.scenario import EMPTY, LEFT_OUT, MAPS, READ, UNASSIGNED, Scenario
from gpuplan.scenario.sections import DEFAULTS, FIELDS_OF, SECTIONS, Group, Note, Origin
from gpuplan.scenario.versions import SCHEMA_VERSION, up_to_date
from gpuplan.wording import said

MAX_GROUPS = 100
MAX_VMS = 200_000
MAX_ENTRIES = 2_000
MAX_ORIGINS = MAX_ENTRIES + len(FIELDS) + MAX_GROUPS * len(GROUP_FIELDS)
"""Most origins: a file also records for each input that it is a default."""
MAX_NAMED = 20
"""Paths of origins that are refused one by one: each is compared with every input there is."""
AS_OF = field_of("cost.as_of")

_Problems = list[Problem]
_GROUP_NAMES = tuple(GROUP_FIELD_BY_NAME)


def _name(spec: Field) -> str:
    return spec.path.rpartition(".")[2]


_NAMES = {head: tuple(map(_name, specs)) for head, specs in FIELDS_OF.items()}


def from_dict(data: Any) -> Scenario:
    """A scenario from plain data; a ScenarioError names each field that is unknown, missing or out of bounds.

    Fields that are left out take their default and are recorded as assumed.
    """
    if not isinstance(data, Mapping):
        raise ScenarioError([problem("", show(data), "file.no mapping", kind=_kind(data))])
    data = up_to_date(data)
    problems: _Problems = []
    origins = _origins(data.get("origins", {}), problems)
    names = {"schema", "name", "customer", "groups", "notes", "origins", *MAPS, *SECTIONS}
    name_unknown(data, names, "", problems)
    top, _ = _values(FIELDS_OF[""], data, "", problems)
    paid = _currency(data.get("cost"))
    sections = {head: _section(head, data.get(head, {}), origins, problems, paid) for head in SECTIONS}
    for head in SECTIONS:
        if isinstance(section := data.get(head, {}), Mapping):
            name_unknown(section, set(_NAMES[head]), f"{head}.", problems)
    groups = _groups(data.get("groups", []), origins, problems)
    notes = _notes(data.get("notes", []), problems)
    maps: dict[str, Any] = {name: _map(data.get(name, {}), name, problems) for name in MAPS}
    if problems:
        raise ScenarioError(problems)
    scenario = Scenario(
        groups=groups,
        notes=notes,
        origins=tuple(origins.items()),
        **maps,
        **top,
        **{head: replace(EMPTY[head], **values) for head, values in sections.items()},
    )
    for path in origins:
        try:
            scenario.check_origin(path)
        except ScenarioError as error:
            problems += [replace(wrong, path="origins", value=show(path)) for wrong in error.problems]
            if len(problems) == MAX_NAMED:
                break
    if problems:
        raise ScenarioError(problems)
    return scenario


def _currency(cost: Any) -> str:
    """The currency of a scenario by its section of cost, which may be wrong."""
    spec = field_of("cost.currency")
    given = cost.get("currency", spec.default) if isinstance(cost, Mapping) else spec.default
    return str(_parsed(spec, given, spec.path, []) or spec.default)


def _kind(data: Any) -> str:
    return {"list": "a list", "str": "only text", "NoneType": "nothing"}.get(type(data).__name__, show(data))


def _parsed(spec: Field, given: Any, path: str, problems: _Problems, currency: str = "") -> Any:
    """The value of a field; None, with a new problem, if it cannot be read."""
    try:
        return parse_value(spec, given, path, currency)
    except ScenarioError as error:
        problems += error.problems
        return None


def _values(
    specs: Iterable[Field], given: Mapping[Any, Any], prefix: str, problems: _Problems, currency: str = ""
) -> tuple[dict[str, Any], dict[str, Origin]]:
    """(stated values, origins by path of the inputs that are not stated and have a default)."""
    values: dict[str, Any] = {}
    left_out = {}
    for spec in specs:
        name = _name(spec)
        if name in given:
            values[name] = _parsed(spec, given[name], prefix + name, problems, currency)
        elif not spec.optional:
            left_out[prefix + name] = DEFAULTS[spec.basis or "assumed"]
    return values, left_out


def _section(
    head: str, given: Any, origins: dict[str, Origin], problems: _Problems, currency: str
) -> dict[str, Any]:
    """Return the values of a section; omitted inputs are recorded as defaults."""
    if not isinstance(given, Mapping):
        problems.append(problem(head, show(given), "file.no section"))
        return {}
    values, left_out = _values(FIELDS_OF[head], given, f"{head}.", problems, currency)
    for path, origin in left_out.items():
        origins.setdefault(path, origin)
    return values


def _groups(given: Any, origins: dict[str, Origin], problems: _Problems) -> tuple[Group, ...]:
    if not isinstance(given, list):
        problems.append(problem("groups", show(given), "file.no groups"))
        return ()
    if len(given) > MAX_GROUPS:
        many = said("file.groups", many=len(given))
        problems.append(problem("groups", many, "file.most groups", most=MAX_GROUPS))
        return ()
    groups: dict[str, Group] = {}
    for number, item in enumerate(given, 1):
        if not isinstance(item, Mapping):
            problems.append(problem(f"groups.{number}", show(item), "file.no section"))
        elif wrong := _wrong_id(item.get("id"), groups):
            problems.append(problem(f"groups.{number}.id", show(item.get("id")), wrong))
        else:
            groups[item["id"]] = _group(item["id"], item, origins, problems)
    return tuple(groups.values())


def _wrong_id(given: Any, taken: Iterable[str]) -> str:
    """The key of what the id of a group must be instead; empty if it is right."""
    if not isinstance(given, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", given):
        return "file.id"
    if given == UNASSIGNED or given.startswith(OTHER_VMS):
        return "file.id taken"
    return "file.id twice" if given in taken else ""


def _group(id: str, given: Mapping[Any, Any], origins: dict[str, Origin], problems: _Problems) -> Group:
    name_unknown(given, {"id", *GROUP_FIELD_BY_NAME}, f"groups.{id}.", problems)
    values, left_out = _values(GROUP_FIELDS, given, f"groups.{id}.", problems)
    if not {"groups", f"groups.{id}"} & origins.keys():
        for path, origin in left_out.items():
            origins.setdefault(path, origin)
    return replace(Group(id), **{"name": id, **values})  # the origins say what was stated


def _entries(given: Any, name: str, wanted: str, most: int, problems: _Problems) -> list[tuple[Any, Any]]:
    """(key or number, value) of each entry of a list or a mapping that is not too long."""
    kind = list if wanted == "file.a list" else Mapping
    if not isinstance(given, kind):
        problems.append(problem(name, show(given), wanted))
        return []
    if len(given) > most:
        problems.append(problem(name, said("file.entries", many=len(given)), "file.most entries", most=most))
        return []
    return list(given.items() if isinstance(given, Mapping) else enumerate(given, 1))


def _map(given: Any, name: str, problems: _Problems) -> tuple[tuple[str, Any], ...]:
    """(key, value) of each entry of ``prices``, ``ranges`` or ``models``."""
    entries = _entries(given, name, "file.no map", MAX_ENTRIES, problems)
    named = ((show_key(key), value) for key, value in entries)
    pairs = [(key, _entry(f"{name}.{key}", value, problems)) for key, value in named]
    return tuple((key, value) for key, value in pairs if value is not None)


def _entry(path: str, value: Any, problems: _Problems) -> Any:
    """The value of an entry of a map; None, with a new problem, if there is no such entry or it cannot be read."""
    try:
        return parse_value(field_of(path), value, path)
    except ScenarioError as error:
        problems += error.problems
        return None


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
            path, names = f"{name}.{show_key(key)}", ", ".join(allowed)
            problems.append(problem(path, show(item), "file.text fields", names=names))
    return rows


def _origins(given: Any, problems: _Problems) -> dict[str, Origin]:
    origins: dict[str, Origin] = {}
    entries = _entries(given, "origins", "file.a mapping", MAX_ORIGINS, problems)
    for path, item in _text_fields(entries, "origins", Origin.__slots__, problems):
        if wrong := _wrong_origin(item):
            field, value, allowed = wrong
            problems.append(Problem(f"origins.{path}.{field}", show(value), allowed))
        else:
            origins[path] = Origin(**item)
    stated = sum(origin not in DEFAULTS.values() for origin in origins.values())
    if stated > MAX_ENTRIES:
        many = said("file.entries", many=stated)
        problems.append(problem("origins", many, "file.most beside defaults", most=MAX_ENTRIES))
    return origins


def _wrong_origin(item: Mapping[str, str]) -> tuple[str, str | None, str] | None:
    """(field of an origin that is wrong, its value, its allowed values)."""
    if item.get("basis") not in BASES:
        return "basis", item.get("basis"), said("file.one of", names=", ".join(BASES))
    if item.get("as_of") and _parsed(AS_OF, item["as_of"], "as_of", []) is None:
        return "as_of", item["as_of"], AS_OF.allowed()
    return None if item.get("source") else ("source", "", said("file.no source"))


def _notes(given: Any, problems: _Problems) -> tuple[Note, ...]:
    notes = []
    entries = _entries(given, "notes", "file.a list", MAX_ENTRIES, problems)
    for number, item in _text_fields(entries, "notes", Note.__slots__, problems):
        if item.get("text") and item.get("source"):
            notes.append(Note(**item))
        else:
            problems.append(problem(f"notes.{number}", show(item), "file.note"))
    return tuple(notes)


# ---- a scenario that was made in Python


def completed(scenario: Scenario) -> Scenario:
    """A scenario as it is read from a file that holds what its parts were given."""
    given = {name: getattr(scenario, name) for name in Scenario.__slots__}
    data = {
        name: _as_in_file(part, SECTIONS.get(name, (Group, Note, Origin))) for name, part in given.items()
    }
    for name in (*MAPS, "origins"):
        pairs = data[name]
        if isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            data[name] = {str(key): value for key, value in pairs}
    if scenario.origins is LEFT_OUT:
        del data["origins"]
    return from_dict({"schema": SCHEMA_VERSION, **data})


READ["python"] = completed


def _as_in_file(part: Any, kind: Any) -> Any:
    """A part of a scenario as plain data, if it is of its kind."""
    if isinstance(part, kind):
        stated = getattr(part, "_stated", ())
        values = {spec.name: (getattr(part, spec.name), spec.default) for spec in fields(part)}
        return {
            name: value
            for name, (value, default) in values.items()
            if name in stated or value != default or isinstance(value, bool) != isinstance(default, bool)
        }
    if isinstance(part, Iterable) and not isinstance(part, str | Mapping):
        return [_as_in_file(one, kind) for one in part]
    return part


def wrong_values(scenario: Scenario) -> list[Problem]:
    """Inputs that are out of bounds in a scenario that was not read from a file but made in Python."""
    ids = Counter(g.id for g in scenario.groups)
    problems = [
        problem(f"groups.{i}.id", show(i), "file.own id") for i, n in ids.items() if n > 1 or i == UNASSIGNED
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
    values = tuple(getattr(record, name) for name in names)
    try:
        return _wrong_fields(prefix, names, values, tuple(map(type, values)))
    except TypeError:  # a list or the like, which cannot be remembered
        fields = ((prefix + name, value) for name, value in zip(names, values, strict=True))
        return [wrong for path, value in fields for wrong in _wrong_at.__wrapped__(path, value)]


@lru_cache(maxsize=4096)
def _wrong_fields(
    prefix: str, names: tuple[str, ...], values: tuple[Any, ...], _types: tuple[type, ...]
) -> tuple[Problem, ...]:
    """The same, remembered by the types too, because 1 and True are the same to a dictionary."""
    return tuple(
        wrong for name, value in zip(names, values, strict=True) for wrong in _wrong_at(prefix + name, value)
    )


@lru_cache(maxsize=4096, typed=True)  # of a record that is changed, most fields are as they were
def _wrong_at(path: str, given: Any) -> tuple[Problem, ...]:
    return _wrong(path, field_of(path), given)


def _wrong(path: str, spec: Field, given: Any) -> tuple[Problem, ...]:
    """Find the error of a value: it must equal the value read from a file."""
    try:
        read = parse_value(spec, given, path)
    except ScenarioError as error:
        return error.problems
    if spec.kind not in ("text", "area") and (
        read != given or (spec.kind == "int" and type(read) is not type(given))
    ):
        shown = said("file.type", value=show(given), type=type(given).__name__)
        return (problem(path, shown, "file.in Python", value=show(read)),)
    return ()
