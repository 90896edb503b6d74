"""The customer's question: a frozen scenario of sections and groups, each input at its path."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import yaml

from gpuplan.facts import Brief, Fact
from gpuplan.scenario.inputs import (
    FIELD_BY_PATH,
    GROUP_FIELD_BY_NAME,
    GROUP_FIELDS,
    MAP_FIELDS,
    TABLE,
    defaults,
    field_of,
)
from gpuplan.scenario.kinds import KINDS, Field, as_python
from gpuplan.scenario.problems import pick
from gpuplan.scenario.sections import (
    CONFIRMED,
    DEFAULT,
    DEFAULTS,
    FIELDS_OF,
    SECTIONS,
    STATED,
    Availability,
    Cost,
    Demand,
    Format,
    Given,
    Group,
    Hardware,
    Internal,
    Limits,
    Management,
    Network,
    Note,
    Origin,
    Paper,
    Part,
    Platform,
    Training,
)
from gpuplan.scenario.versions import SCHEMA_VERSION

DAY = r"\d{4}-\d\d-\d\d"
CONFIRMATION = re.compile(
    rf"(?:^|; )(?:withdrawn on (?P<withdrawn>{DAY}): )?{CONFIRMED.note}(?:, (?P<by>(?!{DAY}(?:$|; )).+?))?"
    rf"(?:, (?P<day>{DAY}))?(?=$|; withdrawn on {DAY}: {CONFIRMED.note})"
)
"""A confirmation in the note of an origin; those that were withdrawn before it follow."""


class Confirmation(NamedTuple):
    """The customer's word that an assumption holds: by whom, and on which day."""

    path: str
    by: str
    day: str
    withdrawn: str
    """Day on which it was withdrawn; empty while it holds."""


UNASSIGNED = "unassigned"
"""Id of the part of a stated total that no group asks for; no group can have it."""
MAPS = tuple(spec.path for spec in MAP_FIELDS)
"""Parts of a scenario that map any number of keys to one value each."""
LEFT_OUT: Any = None
NONE: Any = ()
EMPTY = {head: kind() for head, kind in SECTIONS.items()}
READ: dict[str, Callable[[Scenario], Scenario]] = {}
"""``python``: how a scenario that was made in Python is read, set by ``checking``."""


@lru_cache(maxsize=4096)  # without it a plan takes a tenth longer
def _fact(path: str, value: Any, _type: str, origin: Origin) -> Fact:
    """Return an input as a value with its origin, remembered by its type too: 1 and True are the same to a dictionary."""
    spec = field_of(path)
    count = "1" if spec.kind in ("int", "gpus", "number") else ""
    return Fact(
        key=path,
        value=value,
        unit="1" if spec.kind == "share" else spec.unit or count,
        low=None,
        high=None,
        basis=origin.basis,
        sources=(origin.source,),
        locator=origin.locator,
        note=origin.note,
    )


@dataclass(frozen=True, slots=True, repr=False)
@defaults("")
class Scenario(Part, Brief):
    """The customer's question, as in a file: what is left out is assumed. Frozen: a change makes a new scenario.

    >>> design = Scenario(groups=[Group("analysts", people=40, gpus_each="1/2")])
    >>> design.groups[0].gpus_each, design.origin("hardware.gpu").basis
    (0.5, 'assumed')
    """

    name: str = TABLE
    customer: str = TABLE
    groups: Given[tuple[Group, ...], Iterable[Group | Mapping[str, Any]]] = NONE
    demand: Given[Demand, Mapping[str, Any]] = EMPTY["demand"]
    hardware: Given[Hardware, Mapping[str, Any]] = EMPTY["hardware"]
    availability: Given[Availability, Mapping[str, Any]] = EMPTY["availability"]
    platform: Given[Platform, Mapping[str, Any]] = EMPTY["platform"]
    management: Given[Management, Mapping[str, Any]] = EMPTY["management"]
    network: Given[Network, Mapping[str, Any]] = EMPTY["network"]
    training: Given[Training, Mapping[str, Any]] = EMPTY["training"]
    cost: Given[Cost, Mapping[str, Any]] = EMPTY["cost"]
    limits: Given[Limits, Mapping[str, Any]] = EMPTY["limits"]
    format: Given[Format, Mapping[str, Any]] = EMPTY["format"]
    document: Given[Paper, Mapping[str, Any]] = EMPTY["document"]
    internal: Given[Internal, Mapping[str, Any]] = EMPTY["internal"]
    prices: Given[tuple[tuple[str, float], ...], Mapping[str, float | str]] = NONE
    """(priced item, price in the currency of the scenario): these win over the catalog."""
    ranges: Given[tuple[tuple[str, tuple[float, float]], ...], Mapping[str, Sequence[float] | str]] = NONE
    """(path of an input, its low and high): the range of its possible values."""
    valid_until: Given[tuple[tuple[str, str], ...], Mapping[str, str | datetime.date]] = NONE
    """(priced item, last day on which its stated price holds)."""
    models: Given[tuple[tuple[str, tuple[tuple[str, Any], ...]], ...], Mapping[str, Mapping[str, Any]]] = NONE
    """(id of a language model, columns of ``llm_models`` with their values): these win over the catalog."""
    site: Given[tuple[tuple[str, str | int], ...], Mapping[str, str | int]] = NONE
    """(key of ``site_fields.csv``, value): names and addresses at the customer's site; no number of the plan depends on them."""
    notes: Given[tuple[Note, ...], Iterable[Note | Mapping[str, str]]] = NONE
    origins: Given[tuple[tuple[str, Origin], ...], Mapping[str, Origin | Mapping[str, str]]] = LEFT_OUT
    """(path, origin): left out, inputs that equal their default are assumed; ``()``: the customer stated all."""

    def __post_init__(self) -> None:
        """Read mappings and lists as the parts of a file are read; a ScenarioError names each input that is wrong."""
        if _read(self):
            return
        read = READ["python"](self)
        for name in self.__slots__:
            object.__setattr__(self, name, getattr(read, name))

    @property
    def deciding_total_gpus(self) -> int | None:
        """The stated total where it sizes the design: without groups, or by the rule ``stated``; else None."""
        decides = self.demand.rule == "stated" or not self.groups
        return self.demand.stated_gpus if decides else None

    def only(self, *parts: str, **others: Any) -> Scenario:
        """A scenario with these parts of this one, and defaults: what a result depends on that is remembered."""
        return Scenario(**{name: getattr(self, name) for name in parts}, **others, origins=())

    def get(self, path: str) -> Any:
        """The value of the input at ``path``, such as ``hardware.gpu`` or ``groups.research.people``."""
        group = self._check(path)
        head, _, rest = path.partition(".")
        if group is not None:
            return getattr(group, rest.partition(".")[2])
        if head in MAPS:
            return dict(getattr(self, head)).get(rest)
        return getattr(getattr(self, head), rest) if rest else getattr(self, head)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every input that there is, for `get` and `with_value`; prices and ranges have names of their own."""
        groups = (f"groups.{group.id}.{name}" for group in self.groups for name in GROUP_FIELD_BY_NAME)
        return (*FIELD_BY_PATH, *groups)

    def __getitem__(self, path: str) -> Any:
        return self.get(path)

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.paths)

    def _check(self, path: str) -> Group | None:
        """Refuse a path at which this scenario has no input, and name the nearest; else return its group, if it is of one."""
        head, _, rest = str(path).partition(".")
        if head == "ranges" and not rest.startswith("prices."):
            self._check(rest)
            return None
        id, _, name = rest.partition(".")
        group = next((g for g in self.groups if g.id == id), None) if head == "groups" else None
        if head == "groups":
            exists = name in GROUP_FIELD_BY_NAME and group is not None
        else:
            exists = path in FIELD_BY_PATH or (head in MAPS and bool(rest))
        if not exists:
            pick(dict.fromkeys(self.paths), path, "input")
        return group

    def fact(self, path: str) -> Fact:
        """The input at ``path`` as a value with its origin: stated by the customer unless recorded otherwise."""
        value = self.get(path)
        if field_of(path).kind == "money":
            return replace(_fact(path, value, "", self.origin(path)), unit=self.cost.currency)
        try:
            return _fact(path, value, type(value).__name__, self.origin(path))
        except TypeError:  # a list or the like, which cannot be remembered
            return _fact.__wrapped__(path, value, "", self.origin(path))

    def given(self, head: str, *names: str) -> dict[str, Fact]:
        """The inputs of a section or a group by their names, as the inputs of a line."""
        return {name: self.fact(f"{head}.{name}") for name in names}

    def label(self, path: str) -> str:
        """The input at ``path`` in words, with the group, the price or the range that it belongs to."""
        head, _, rest = path.partition(".")
        if head == "groups":
            return f"{self.get(path.rpartition('.')[0] + '.name')}: {field_of(path).label}"
        return f"{field_of(path).label}: {rest}" if head in MAPS else field_of(path).label

    def origin(self, path: str) -> Origin:
        """Return the origin of the input at ``path``; a record for a prefix covers all below it."""
        if not self.origins:
            return STATED
        origins = dict(self.origins)
        parts = path.split(".")
        for end in range(len(parts), 0, -1):
            if record := origins.get(".".join(parts[:end])):
                return record
        return STATED

    def with_value(self, path: str, value: Any) -> Scenario:
        """A new scenario with ``value`` at ``path``, from now on stated by the customer; a new price has no last day."""
        self._check(path)
        value = as_python(field_of(path), value)
        origins = {p: o for p, o in self.origins if p != path}
        if any(path.startswith(p + ".") for p in origins):
            origins[path] = STATED
        head, _, rest = path.partition(".")
        here = getattr(self, head)
        if head in MAPS:
            new = tuple((k, v) for k, v in (dict(here) | {rest: value}).items() if v is not None)
        elif head == "groups":
            group, _, name = rest.partition(".")
            new = tuple(replace(g, **{name: value}) if g.id == group else g for g in here)
        else:
            new = replace(here, **{rest: value}) if rest else value
        changes: dict[str, Any] = {head: new, "origins": tuple(origins.items())}
        if head == "prices":
            changes["valid_until"] = tuple((k, day) for k, day in self.valid_until if k != rest)
        return replace(self, **changes)

    def with_origin(self, path: str, origin: Origin) -> Scenario:
        """A new scenario in which all inputs at or below ``path`` have this ``origin``."""
        self.check_origin(path)
        origins = {p: o for p, o in self.origins if p != path and not p.startswith(path + ".")}
        return replace(self, origins=(*origins.items(), (path, origin)))

    def confirmed(self, path: str, by: str = "") -> Scenario:
        """A new scenario in which the customer has confirmed all at or below ``path``; ``by`` says who, and when."""
        on_record = CONFIRMATION.finditer(self.origin(path).note)
        withdrawn = [match[0].removeprefix("; ") for match in on_record if match["withdrawn"]]
        note = "; ".join([f"{CONFIRMED.note}, {by}" if by else CONFIRMED.note, *withdrawn])
        return self.with_origin(path, replace(CONFIRMED, note=note))

    def doubted(self, path: str, day: str = "") -> Scenario:
        """Return a scenario in which ``path`` is no longer confirmed: known as its prefix is, or else assumed.

        With a ``day`` it stays on record who had confirmed it, and that this was withdrawn.
        """
        bare = replace(self, origins=tuple((p, o) for p, o in self.origins if p != path))
        assumed = bare.origin(path).basis == "assumed"
        known, was = bare.origin(path) if assumed else DEFAULT, self.origin(path).note
        if day and self.is_confirmed(path):
            note = f"{known.note}; withdrawn on {day}: {was}".removeprefix("; ")
            return bare.with_origin(path, replace(known, note=note))
        return bare if assumed else bare.with_origin(path, DEFAULT)

    @property
    def confirmations(self) -> tuple[Confirmation, ...]:
        """The customer's confirmations on record, the latest first."""
        found = ((path, CONFIRMATION.finditer(origin.note)) for path, origin in self.origins)
        parts = [(path, match.groupdict(default="")) for path, matches in found for match in matches]
        return tuple(sorted((Confirmation(p, **of) for p, of in parts), key=lambda c: c.day, reverse=True))

    def is_confirmed(self, path: str) -> bool:
        """True if the customer has confirmed the assumption at ``path``."""
        origin = self.origin(path)
        return origin.source == CONFIRMED.source and origin.note.startswith(CONFIRMED.note)

    def check_origin(self, path: str) -> None:
        """Refuse a path at or below which this scenario has no input, and name the nearest."""
        if path not in {*SECTIONS, *MAPS, "groups", *(f"groups.{g.id}" for g in self.groups)}:
            self._check(path)

    def with_groups(self, groups: Iterable[Group]) -> Scenario:
        """Return a scenario with these groups; records of removed groups are dropped, defaults of new ones assumed."""
        groups = tuple(groups)
        before = {g.id for g in self.groups}
        gone = before - {g.id for g in groups}

        def lost(path: str) -> bool:
            parts = path.removeprefix("ranges.").split(".")
            return parts[0] == "groups" and len(parts) > 1 and parts[1] in gone

        return replace(
            self,
            groups=groups,
            ranges=tuple((p, ends) for p, ends in self.ranges if not lost(p)),
            origins=(
                *((p, o) for p, o in self.origins if not lost(p)),
                *(known for g in groups if g.id not in before for known in assumed(g)),
            ),
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
        data["groups"] = [{"id": g.id} | _written(GROUP_FIELDS, g) for g in self.groups]
        for head in SECTIONS:
            if section := _written(FIELDS_OF[head], getattr(self, head)):
                data[head] = section
        data |= {
            name: dict(getattr(self, name))
            for name in ("prices", "valid_until", "site")
            if getattr(self, name)
        }
        if self.ranges:
            data["ranges"] = {path: list(ends) for path, ends in self.ranges}
        if self.models:
            data["models"] = {id: dict(cells) for id, cells in self.models}
        data["notes"] = [_plain(n) for n in self.notes]
        data["origins"] = {path: _plain(o) for path, o in self.origins}
        return data

    def to_yaml(self) -> str:
        """The scenario as a YAML file."""
        return yaml.safe_dump(self.to_dict(), sort_keys=False, allow_unicode=True, width=100)


def assumed(group: Group) -> Iterable[tuple[str, Origin]]:
    """The origin of each input of a group that has its default."""
    for name, spec in GROUP_FIELD_BY_NAME.items():
        if not spec.optional and getattr(group, name) == spec.default:
            yield f"groups.{group.id}.{name}", DEFAULTS[spec.basis or "assumed"]


def _read(scenario: Scenario) -> bool:
    """True if every part has its own type, and the origins are known."""
    series = (scenario.groups, scenario.notes, scenario.origins, *(getattr(scenario, head) for head in MAPS))
    return (
        all(type(part) is tuple for part in series)
        and all(type(group) is Group for group in scenario.groups)
        and all(isinstance(getattr(scenario, head), kind) for head, kind in SECTIONS.items())
    )


def _written(specs: Iterable[Field], record: Any) -> dict[str, Any]:
    """Return the values that a file stores for a section or a group, without empty inputs."""
    named = ((spec, spec.path.rpartition(".")[2]) for spec in specs)
    return {
        name: KINDS[spec.kind].written(value)
        for spec, name in named
        if (value := getattr(record, name)) is not None
    }


def _plain(record: Origin | Note) -> dict[str, str]:
    return {k: v for k in record.__slots__ if (v := getattr(record, k))}
