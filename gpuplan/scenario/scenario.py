"""The customer's question: a frozen, validated, versioned scenario; YAML and JSON in and out."""

from __future__ import annotations

import datetime
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from gpuplan.facts import BASES, Fact, data_root
from gpuplan.scenario.inputs import (
    FIELDS,
    GROUP_FIELD_BY_NAME,
    GROUP_FIELDS,
    PRICE,
    RANGE,
    Field,
    Problem,
    ScenarioError,
    field_of,
    field_schema,
    one_line,
    parse_value,
    show,
)
from gpuplan.units import exact

SCHEMA_VERSION = 1
MAX_FILE_BYTES = 1_000_000
MAX_GROUPS = 100
MAX_VMS = 200_000
MAX_ENTRIES = 2_000
MAX_ORIGINS = MAX_ENTRIES + len(FIELDS) + MAX_GROUPS * len(GROUP_FIELDS)
"""A file also says of each input that it is a default."""
MAX_VALUES = 100_000
"""Keys, values, lists and mappings in a file; a scenario of the largest size has 64 000."""
MAX_DEPTH = 20
MAX_UNKNOWN = 5_000
"""Fields that there are not, of which each is named."""
MAX_SIXTIES = 10
"""Parts of a number such as 1:30:00, which YAML counts in sixties."""
UNASSIGNED = "unassigned"
"""Id of the part of a stated total that no group asks for; no group can have it."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an input is known from, when it is not simply the customer's statement."""

    basis: str
    source: str
    locator: str = ""
    note: str = ""
    as_of: str = ""
    """Day from which a price is known, such as that of a quote."""


@dataclass(frozen=True, slots=True)
class Note:
    """A remark on a source that travels with the scenario into every plan made from it."""

    text: str
    source: str
    locator: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A workload group: people of one kind, and what one of their VMs needs."""

    id: str
    name: str = "New group"
    use_case: str = "ds-workstation"
    people: int = 1
    active_share: float = 1.0
    vms_each: int = 1
    gpus_each: float = 1.0
    vgpus_each: int = 1
    workload: str | None = None
    vcpus_each: int | None = None
    memory_gib_each: int | None = None
    remote_allowed: bool = True
    low_latency: bool = False
    isolation: bool = False
    access: str = "auto"
    sites: str | None = None
    hours: str | None = None
    days: str | None = None
    off_hours_share: float | None = None
    work_h: float | None = None
    jobs_per_day: float | None = None
    growth: float | None = None


@dataclass(frozen=True, slots=True)
class Demand:
    """The customer's stated total, where there is one, and how many GPUs are enough where there is none."""

    stated_gpus: int | None = None
    rule: str = "sum"
    chance: float = 0.05
    wait_min: float = 10
    for_whom: str = "each"
    method: str = "auto"
    peakedness: float | None = None
    peakedness_low: float | None = None
    peakedness_high: float | None = None
    years: int = 3


@dataclass(frozen=True, slots=True)
class Hardware:
    """The GPU host: one GPU model in one server model."""

    gpu: str = "l40s-48gb"
    server: str | None = None
    gpus_per_host: int = 4
    vcpus_per_host: int | None = None
    memory_gib_per_host: int | None = None
    existing_hosts: int = 0
    existing_gpus_per_host: int | None = None


@dataclass(frozen=True, slots=True)
class Availability:
    """What the design must survive."""

    host_failures: int = 1
    maintenance_failure_accepted: bool = True
    mtbf_h: int | None = None
    repair_h: int | None = None
    maintenance_h_per_host: int | None = None
    stun_limit_s: int | None = None


@dataclass(frozen=True, slots=True)
class Platform:
    """The virtualisation platform and what it may use."""

    vsphere: str = "8.0u3"
    vgpu_sizes: str = "equal"
    bitfusion: bool = False
    bitfusion_servers: str = "auto"
    assignment: str = "pack"


@dataclass(frozen=True, slots=True)
class Network:
    """The network between compute hosts and GPU hosts."""

    link_gbit_s: int = 25
    transport: str = "tcp"
    mtu_bytes: int = 9000
    latency_us: float | None = None
    users_per_link: int | None = None
    tcp_gbit_s: float | None = None
    other_gbit_s: float = 10
    compute_hosts: int | None = None
    oversubscription: float | None = None
    leaf: str | None = None
    spine: str | None = None


@dataclass(frozen=True, slots=True)
class Training:
    """A training job on several hosts, to look at with the network of the design."""

    workload: str = "resnet-50-train-256"
    hosts: int = 4
    gpus_per_host: int | None = None
    batch: int | None = None
    gpu_samples_per_s: float | None = None
    samples: int | None = None
    epochs: float | None = None
    aggregation: str = "ring"


@dataclass(frozen=True, slots=True)
class Cost:
    """What the money is counted with. What is empty takes the planning value of the catalog."""

    years: int = 5
    as_of: str | None = None
    currency: str = "USD"
    usd_rate: float | None = None
    discount_rate: float | None = None
    hardware_discount: float = 0.0
    licence_discount: float = 0.0
    platform_licence: str = "vcf"
    gpu_licence: str = "year"
    sockets: int | None = None
    cores_per_socket: int | None = None
    support_share: float | None = None
    residual_share: float | None = None
    pue: float | None = None
    grid_kg_kwh: float | None = None
    host_base_w: float | None = None
    rack_kw: float | None = None
    utilisation: float | None = None
    spare_gpus: int = 0
    storage_tb: float = 0
    compute_hosts_bought: bool = False
    management_hosts: int = 0


@dataclass(frozen=True, slots=True)
class Internal:
    """What only the seller's own people see; the customer's version of a scenario has nothing of it."""

    notes: str | None = None
    margin: float | None = None
    """Share of the selling price of what the seller sells; prices are then what the seller pays."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """The customer's question. Frozen: a change makes a new scenario."""

    name: str = "Untitled design"
    customer: str = ""
    groups: tuple[Group, ...] = ()
    demand: Demand = field(default_factory=Demand)
    hardware: Hardware = field(default_factory=Hardware)
    availability: Availability = field(default_factory=Availability)
    platform: Platform = field(default_factory=Platform)
    network: Network = field(default_factory=Network)
    training: Training = field(default_factory=Training)
    cost: Cost = field(default_factory=Cost)
    internal: Internal = field(default_factory=Internal)
    prices: tuple[tuple[str, float], ...] = ()
    """(what is priced, price in the currency of the scenario): these win over the catalog."""
    ranges: tuple[tuple[str, tuple[float, float]], ...] = ()
    """(path of an input, its low and high): between what it may turn out to be."""
    notes: tuple[Note, ...] = ()
    origins: tuple[tuple[str, Origin], ...] = ()

    def get(self, path: str) -> Any:
        """The value of the input at ``path``, such as ``hardware.gpu`` or ``groups.research.people``."""
        return _follow(self, path)

    def fact(self, path: str) -> Fact:
        """The input at ``path`` as a value with its origin: stated by the customer unless recorded otherwise."""
        origin = self.origin(path)
        spec = field_of(path)
        unit = {"share": "1"}.get(
            spec.kind, spec.unit or ("1" if spec.kind in ("int", "gpus", "number") else "")
        )
        return Fact(
            key=path,
            value=self.get(path),
            unit=unit,
            low=None,
            high=None,
            basis=origin.basis,
            sources=(origin.source,),
            locator=origin.locator,
            note=origin.note,
        )

    def origin(self, path: str) -> Origin:
        """Where the input at ``path`` is known from; a record for a prefix covers all below it."""
        known = dict(self.origins)
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            if found := known.get(".".join(parts[:end])):
                return found
        return STATED

    def with_value(self, path: str, value: Any) -> Scenario:
        """A new scenario with ``value`` at ``path``, from now on known as stated by the customer."""
        known = {p: o for p, o in self.origins if p != path}
        if any(path.startswith(p + ".") for p in known):
            known[path] = STATED
        parts = path.split(".")
        if parts[0] in _MAPS:
            held = dict(getattr(self, parts[0]))
            held[path.partition(".")[2]] = value
            kept: dict[str, Any] = {parts[0]: tuple((k, v) for k, v in held.items() if v is not None)}
            changed = replace(self, **kept)
        elif parts[0] == "groups":
            groups = tuple(replace(g, **{parts[2]: value}) if g.id == parts[1] else g for g in self.groups)
            changed = replace(self, groups=groups)
        elif len(parts) == 1:
            changed = replace(self, **{parts[0]: value})
        else:
            changed = replace(self, **{parts[0]: replace(getattr(self, parts[0]), **{parts[1]: value})})
        return replace(changed, origins=tuple(known.items()))

    def with_origin(self, path: str, origin: Origin) -> Scenario:
        """A new scenario in which all at or below ``path`` is known from ``origin``."""
        known = {p: o for p, o in self.origins if p != path and not p.startswith(path + ".")}
        return replace(self, origins=(*known.items(), (path, origin)))

    def with_groups(self, groups: Iterable[Group]) -> Scenario:
        """A new scenario with these groups; what was recorded about groups no longer there is dropped."""
        groups = tuple(groups)
        gone = {g.id for g in self.groups} - {g.id for g in groups}

        def lost(path: str) -> bool:
            parts = path.removeprefix("ranges.").split(".")
            return parts[0] == "groups" and len(parts) > 1 and parts[1] in gone

        return replace(
            self,
            groups=groups,
            ranges=tuple((p, ends) for p, ends in self.ranges if not lost(p)),
            origins=tuple((p, o) for p, o in self.origins if not lost(p)),
        )

    def new_group_id(self, name: str) -> str:
        """An id for a new group, unique in this scenario, made from its name."""
        stem = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:32] or "group"
        taken, candidate, count = {UNASSIGNED, *(g.id for g in self.groups)}, stem, 1
        while candidate in taken:
            count += 1
            candidate = f"{stem}-{count}"
        return candidate

    def to_dict(self) -> dict[str, Any]:
        """Plain data that ``from_dict`` reads back to the same scenario; empty optional fields are left out."""
        data: dict[str, Any] = {"schema": SCHEMA_VERSION, "name": self.name, "customer": self.customer}
        data["groups"] = [
            {
                "id": g.id,
                **{f.path: _plain_value(v, f) for f in GROUP_FIELDS if (v := getattr(g, f.path)) is not None},
            }
            for g in self.groups
        ]
        for spec in FIELDS:
            if "." in spec.path:
                section, key = spec.path.split(".")
                if (value := self.get(spec.path)) is not None:
                    data.setdefault(section, {})[key] = value
        if self.prices:
            data["prices"] = dict(self.prices)
        if self.ranges:
            data["ranges"] = {path: list(ends) for path, ends in self.ranges}
        data["notes"] = [_plain(n) for n in self.notes]
        data["origins"] = {path: _plain(o) for path, o in self.origins}
        return data

    def to_yaml(self) -> str:
        """The scenario as a YAML file."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=100)


STATED = Origin(basis="quoted", source="scenario", note="stated by the customer")
DEFAULT = Origin(basis="assumed", source="scenario", note="default of gpuplan, not yet confirmed")

_SECTIONS: Mapping[str, type[Any]] = {
    "demand": Demand,
    "hardware": Hardware,
    "availability": Availability,
    "platform": Platform,
    "network": Network,
    "training": Training,
    "cost": Cost,
    "internal": Internal,
}
_MAPS = ("prices", "ranges")
"""Parts of a scenario that hold one value for each of any number of keys."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    head: tuple(f.path.rpartition(".")[2] for f in FIELDS if f.path.rpartition(".")[0] == head)
    for head in ("", *_SECTIONS)
}
"""Fields of the scenario itself, and of each of its sections."""
_GROUP_NAMES = tuple(f.path for f in GROUP_FIELDS)


def _plain(record: Origin | Note) -> dict[str, str]:
    return {k: v for k in record.__slots__ if (v := getattr(record, k))}


def _plain_value(value: Any, spec: Field) -> Any:
    """The value as a file holds it: a fraction such as 1/7 that no short decimal can write stays a fraction."""
    if spec.kind != "gpus" or len(str(value)) <= 8:
        return value
    share = exact(value)
    return str(share) if share.denominator <= 10_000 and float(share) == value else value


def _follow(scenario: Scenario, path: str) -> Any:
    parts = path.split(".")
    if parts[0] in _MAPS:
        return dict(getattr(scenario, parts[0])).get(path.partition(".")[2])
    if parts[0] == "groups":
        for group in scenario.groups:
            if group.id == parts[1]:
                return getattr(group, parts[2])
        raise KeyError(parts[1])
    value: Any = scenario
    for part in parts:
        value = getattr(value, part)
    return value


def from_dict(data: Any) -> Scenario:
    """A scenario from plain data, every field checked.

    Fields that are left out take their default and are recorded as assumed.

    Raises
    ------
    ScenarioError
        With one problem per field that is unknown, missing or out of bounds.
    """
    if not isinstance(data, Mapping):
        raise ScenarioError(
            [
                Problem(
                    "",
                    show(data),
                    "a scenario is a mapping of fields to values, such as "
                    "'name: My design'; this file holds " + _kind(data),
                )
            ]
        )
    version = data.get("schema", SCHEMA_VERSION)
    if version != SCHEMA_VERSION or isinstance(version, bool):
        raise ScenarioError(
            [Problem("schema", show(version), f"this version of gpuplan reads schema {SCHEMA_VERSION}")]
        )
    problems: list[Problem] = []
    origins = _origins(data.get("origins", {}), problems)
    known = {"schema", "name", "customer", "groups", "notes", "origins", *_MAPS, *_SECTIONS}
    _unknown(data, known, "", problems)
    values: dict[str, Any] = {}
    for spec in FIELDS:
        head, _, tail = spec.path.partition(".")
        section = data.get(head, {} if tail else None)
        if tail and not isinstance(section, Mapping):
            if not any(p.path == head for p in problems):
                problems.append(Problem(head, show(section), "a mapping of fields to values"))
            continue
        holder, key = (section, tail) if tail else (data, head)
        if key in holder:
            try:
                values[spec.path] = parse_value(spec, holder[key], spec.path)
            except ScenarioError as error:
                problems.extend(error.problems)
        elif tail and not (spec.optional and spec.default is None):
            origins.setdefault(spec.path, DEFAULT)
    for head, cls in _SECTIONS.items():
        if isinstance(data.get(head, {}), Mapping):
            _unknown(data.get(head, {}), {f.name for f in fields(cls)}, head + ".", problems)
    groups = _groups(data.get("groups", []), origins, problems)
    notes = _notes(data.get("notes", []), problems)
    prices, ranges = (_map(data.get(name, {}), name, problems) for name in _MAPS)
    if problems:
        raise ScenarioError(problems)
    sections = {
        head: cls(**{p.partition(".")[2]: v for p, v in values.items() if p.startswith(head + ".")})
        for head, cls in _SECTIONS.items()
    }
    top = {p: v for p, v in values.items() if "." not in p}
    return Scenario(
        groups=groups,
        prices=prices,
        ranges=ranges,
        notes=notes,
        origins=tuple(origins.items()),
        **top,
        **sections,
    )


def _map(given: Any, name: str, problems: list[Problem]) -> tuple[tuple[str, Any], ...]:
    """(key, value) of each entry of ``prices`` or ``ranges``."""
    if not isinstance(given, Mapping):
        problems.append(Problem(name, show(given), "a mapping of what it is for to the value"))
        return ()
    if len(given) > MAX_ENTRIES:
        problems.append(Problem(name, f"{len(given)} entries", f"at most {MAX_ENTRIES} entries"))
        return ()
    found = []
    for key, value in given.items():
        path = f"{name}.{_key(key)}"
        try:
            found.append((_key(key), parse_value(field_of(path), value, path)))
        except ScenarioError as error:
            problems.extend(error.problems)
    return tuple((key, value) for key, value in found if value is not None)


def wrong_values(scenario: Scenario) -> list[Problem]:
    """Inputs that are out of bounds in a scenario that was not read from a file but made in Python."""
    problems: list[Problem] = []
    ids = Counter(g.id for g in scenario.groups)
    problems += [
        Problem(f"groups.{i}.id", show(i), "an id of its own for each group")
        for i, n in ids.items()
        if n > 1 or i == UNASSIGNED
    ]
    for head, names in _NAMES.items():
        problems += _wrong_part(
            f"{head}." if head else "", names, getattr(scenario, head) if head else scenario
        )
    for group in scenario.groups:
        problems += _wrong_part(f"groups.{group.id}.", _GROUP_NAMES, group)
    for name in _MAPS:
        for key, given in getattr(scenario, name):
            path = f"{name}.{key}"
            problems += _wrong(path, field_of(path), given)
    return problems


def _wrong_part(prefix: str, names: tuple[str, ...], part: Any) -> Iterable[Problem]:
    """What is wrong with the fields of one part of a scenario."""
    values = tuple(getattr(part, name) for name in names)
    try:
        return _wrong_plain(prefix, names, values, tuple(map(type, values)))
    except TypeError:  # a list or the like, which cannot be remembered
        return _wrong_plain.__wrapped__(prefix, names, values, ())


@lru_cache(maxsize=4096)
def _wrong_plain(
    prefix: str, names: tuple[str, ...], values: tuple[Any, ...], _types: tuple[type, ...]
) -> tuple[Problem, ...]:
    """The same, remembered by the types too, because 1 and True are the same to a dictionary."""
    paths = [prefix + name for name in names]
    return tuple(
        problem
        for path, given in zip(paths, values, strict=True)
        for problem in _wrong(path, field_of(path), given)
    )


def _wrong(path: str, spec: Field, given: Any) -> tuple[Problem, ...]:
    try:
        read = parse_value(spec, given, path)
    except ScenarioError as error:
        return error.problems
    if spec.kind not in ("text", "area") and (
        read != given or (spec.kind == "int" and type(read) is not type(given))
    ):
        return (Problem(path, f"{show(given)} of type {type(given).__name__}", spec.allowed()),)
    return ()


def _kind(data: Any) -> str:
    return {"list": "a list", "str": "only text", "NoneType": "nothing"}.get(type(data).__name__, show(data))


def _key(key: Any) -> str:
    """A key of a file as it appears in a message."""
    return one_line(key[:60]) if isinstance(key, str) else show(key)


def _unknown(data: Mapping[Any, Any], known: set[str], prefix: str, problems: list[Problem]) -> None:
    if len(problems) >= MAX_UNKNOWN:
        return
    if len(data) > MAX_UNKNOWN:
        many = f"{len(data):,} fields"
        there = f"there are {len(known)}"
        whole = f"the file holds {many}, and {there} in a scenario"
        problems.append(Problem(prefix.rstrip("."), many, there) if prefix else Problem("", "", whole))
        return
    message = "there is no such field; known are " + ", ".join(sorted(known))
    problems += [Problem(prefix + _key(key), show(data[key]), message) for key in data if key not in known]


def _groups(given: Any, origins: dict[str, Origin], problems: list[Problem]) -> tuple[Group, ...]:
    if not isinstance(given, list):
        problems.append(Problem("groups", show(given), "a list of groups"))
        return ()
    if len(given) > MAX_GROUPS:
        problems.append(Problem("groups", f"{len(given)} groups", f"at most {MAX_GROUPS} groups"))
        return ()
    groups: list[Group] = []
    for number, item in enumerate(given, 1):
        if not isinstance(item, Mapping):
            problems.append(Problem(f"groups.{number}", show(item), "a mapping of fields to values"))
            continue
        group_id = item.get("id")
        if not isinstance(group_id, str) or not re.fullmatch(r"[a-z0-9][a-z0-9-]{0,39}", group_id):
            problems.append(
                Problem(
                    f"groups.{number}.id", show(group_id), "1 to 40 lower-case letters, digits and hyphens"
                )
            )
            continue
        if group_id == UNASSIGNED:
            problems.append(
                Problem(
                    f"groups.{number}.id", show(group_id), "another id; this one stands for GPUs of no group"
                )
            )
            continue
        if any(g.id == group_id for g in groups):
            problems.append(Problem(f"groups.{number}.id", show(group_id), "each group has an id of its own"))
            continue
        _unknown(item, {"id", *GROUP_FIELD_BY_NAME}, f"groups.{group_id}.", problems)
        values: dict[str, Any] = {}
        for spec in GROUP_FIELDS:
            path = f"groups.{group_id}.{spec.path}"
            if spec.path in item:
                try:
                    values[spec.path] = parse_value(spec, item[spec.path], path)
                except ScenarioError as error:
                    problems.extend(error.problems)
            elif not spec.optional and not any(path.startswith(p + ".") for p in origins):
                origins.setdefault(path, DEFAULT)
        groups.append(Group(id=group_id, **values))
    return tuple(groups)


def _records(given: Any, name: str, problems: list[Problem]) -> list[tuple[str, dict[str, str]]]:
    """(path, fields) of a list of notes or a mapping of origins, all fields being short text."""
    cls: type[Origin] | type[Note] = Origin if name == "origins" else Note
    items: list[tuple[Any, Any]]
    if cls is Origin and isinstance(given, Mapping):
        items = list(given.items())
    elif cls is Note and isinstance(given, list):
        items = list(enumerate(given, 1))
    else:
        problems.append(Problem(name, show(given), "a mapping" if cls is Origin else "a list"))
        return []
    most = MAX_ORIGINS if cls is Origin else MAX_ENTRIES
    if len(items) > most:
        problems.append(Problem(name, f"{len(items)} entries", f"at most {most} entries"))
        return []
    found = []
    for key, item in items:
        path = f"{name}.{_key(key)}"
        if isinstance(item, Mapping) and isinstance(item.get("as_of"), datetime.date):
            item = {**item, "as_of": item["as_of"].isoformat()}  # YAML reads a day without quotes as one
        if not isinstance(item, Mapping) or not all(
            k in cls.__slots__ and isinstance(v, str) and len(v) <= 500 and v.isprintable()
            for k, v in item.items()
        ):
            problems.append(Problem(path, show(item), "text fields " + ", ".join(cls.__slots__)))
            continue
        found.append((_key(key), dict(item)))
    return found


def _origins(given: Any, problems: list[Problem]) -> dict[str, Origin]:
    origins: dict[str, Origin] = {}
    for path, item in _records(given, "origins", problems):
        if item.get("basis") not in BASES:
            problems.append(
                Problem(f"origins.{path}.basis", show(item.get("basis")), "one of " + ", ".join(BASES))
            )
        elif item.get("as_of") and not _is_day(item["as_of"]):
            problems.append(Problem(f"origins.{path}.as_of", show(item["as_of"]), AS_OF.allowed()))
        elif not item.get("source"):
            problems.append(Problem(f"origins.{path}.source", show(""), "the id of a source, or 'scenario'"))
        else:
            origins[path] = Origin(**item)
    stated = sum(origin != DEFAULT for origin in origins.values())
    if stated > MAX_ENTRIES:
        problems.append(Problem("origins", f"{stated} entries", f"at most {MAX_ENTRIES} beside defaults"))
    return origins


AS_OF = field_of("cost.as_of")


def _is_day(text: str) -> bool:
    """Whether a text is a day such as 2026-11-21."""
    try:
        return parse_value(AS_OF, text, "as_of") is not None
    except ScenarioError:
        return False


def _notes(given: Any, problems: list[Problem]) -> tuple[Note, ...]:
    notes = []
    for number, item in _records(given, "notes", problems):
        if not item.get("text") or not item.get("source"):
            problems.append(Problem(f"notes.{number}", show(item), "a text and the id of a source"))
        else:
            notes.append(Note(**item))
    return tuple(notes)


_Loader: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The loader of PyYAML, by its library in C where that is there."""


def _refusal(message: str) -> ScenarioError:
    return ScenarioError([Problem("", "", message)])


def _read_json(text: str) -> Any:
    """The data of a text that is JSON, which is YAML too but faster to read; ValueError if it is none."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        _check_once(key for key, _ in pairs)
        return dict(pairs)

    def no_number(name: str) -> Any:
        raise ValueError(name)

    if not text.lstrip().startswith("{"):
        raise ValueError("no mapping")
    return json.loads(text, object_pairs_hook=once, parse_constant=no_number)


def _read_yaml(text: str) -> Any:
    """The data of a YAML text: its events are counted before anything is made of them."""
    if re.search(r"^%TAG", text, re.MULTILINE):
        raise _refusal("tags (%TAG) are not allowed in a scenario file")
    values = depth = documents = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.AliasEvent):
            raise _refusal("anchors and aliases ('&' and '*') are not allowed in a scenario file")
        documents += isinstance(event, yaml.DocumentStartEvent)
        values += isinstance(event, yaml.NodeEvent)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if values > MAX_VALUES:
            raise _refusal(f"the file holds more than {MAX_VALUES:,} values; a scenario has fewer")
        if depth > MAX_DEPTH:
            raise _refusal("the file is nested too deeply")
        if documents > 1:
            raise _refusal("the file holds several documents ('---'); a scenario is one")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        _check_node(node)
        return loader.construct_document(node) if node is not None else None
    finally:
        loader.dispose()


def _check_node(node: Any) -> None:
    """Refuse keys that are given twice, and numbers in sixties that take long to read."""
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
            raise ScenarioError([Problem(_key(key), f"given {times} times", "each field once")])


def _parsed_yaml(text: str) -> Any:
    """The data of a YAML text, or a ScenarioError that says where it is wrong."""
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
        what = getattr(error, "problem", None) or "it cannot be read"
        raise _refusal(f"the file is not valid YAML{where}: {what}") from None
    except RecursionError:
        raise _refusal("the file is nested too deeply") from None
    except ScenarioError:
        raise
    except (ValueError, LookupError, ArithmeticError, AttributeError, TypeError):
        # PyYAML, on values it cannot make
        raise _refusal("the file holds a value that cannot be read, such as a date or a tag") from None


def parse_scenario(text: str) -> Scenario:
    """A scenario from the text of a YAML or JSON file.

    Raises
    ------
    ScenarioError
        If the text is no YAML, is too large, or holds a field that is not allowed.
    """
    if len(text) > MAX_FILE_BYTES:
        raise _refusal(f"the file has {len(text):,} characters; a scenario has at most {MAX_FILE_BYTES:,}")
    if "\0" in text:
        raise _refusal("the file is not text")
    try:
        data = _read_json(text)
    except ScenarioError:
        raise
    except RecursionError:
        raise _refusal("the file is nested too deeply") from None
    except ValueError:  # no JSON, or with a number that only YAML has
        data = _parsed_yaml(text)
    return from_dict(data)


def decode_scenario(content: bytes) -> Scenario:
    """A scenario from the bytes of a file: at most 1 MB, UTF-8.

    Raises
    ------
    ScenarioError
        If the file is too large, not UTF-8, or not a scenario.
    """
    if len(content) > MAX_FILE_BYTES:
        raise _refusal(f"the file is too large; a scenario has at most {MAX_FILE_BYTES:,} bytes")
    try:
        return parse_scenario(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise _refusal("the file is not UTF-8 text; save it with that encoding") from None


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
        raise _refusal(f"cannot read {one_line(str(path))}: {why}") from None
    return decode_scenario(content)


def scenario_path(name: str | Path) -> Path:
    """The file of a scenario: of the example with this name, else the path itself."""
    if isinstance(name, str) and name in example_names():
        return data_root() / "scenarios" / f"{name}.yaml"
    return Path(name)


def example_names() -> tuple[str, ...]:
    """Names of the example scenarios shipped with gpuplan."""
    return tuple(sorted(p.stem for p in (data_root() / "scenarios").glob("*.yaml")))


def json_schema() -> dict[str, Any]:
    """JSON Schema of a scenario file, made from the same field table that validates it."""
    properties: dict[str, Any] = {"schema": {"const": SCHEMA_VERSION}}
    for spec in FIELDS:
        head, _, tail = spec.path.partition(".")
        if tail:
            section = properties.setdefault(
                head, {"type": "object", "additionalProperties": False, "properties": {}}
            )
            section["properties"][tail] = field_schema(spec)
        else:
            properties[head] = field_schema(spec)
    group: dict[str, Any] = {
        "id": {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,39}$", "not": {"const": UNASSIGNED}}
    }
    group |= {spec.path: field_schema(spec) for spec in GROUP_FIELDS}
    text = {"type": "string", "maxLength": 500}
    for spec in (PRICE, RANGE):
        properties[spec.path] = {"type": "object", "additionalProperties": field_schema(spec)}
    properties["groups"] = {
        "type": "array",
        "maxItems": MAX_GROUPS,
        "items": {"type": "object", "additionalProperties": False, "required": ["id"], "properties": group},
    }
    properties["notes"] = {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "required": ["text", "source"],
            "properties": dict.fromkeys(Note.__slots__, text),
        },
    }
    properties["origins"] = {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "additionalProperties": False,
            "required": ["basis", "source"],
            "properties": {k: ({"enum": list(BASES)} if k == "basis" else text) for k in Origin.__slots__},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "gpuplan scenario",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }
