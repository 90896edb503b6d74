"""What a plan is made of: frozen records, and the trail that explains every number.

A ``Line`` is one number of the plan with the model function that made it, its inputs, its sources
and the weakest basis among them. "Why this number?" is a view of its line.
"""

from __future__ import annotations

import inspect
import itertools
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

from gpuplan.facts import Fact, weakest
from gpuplan.models.availability.failover import Idle, Loss
from gpuplan.models.placement import Host, Request, Room, Shared
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.units import SUFFIX


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a line: a scenario input, a catalog fact, or an earlier line (by its key)."""

    name: str
    key: str
    label: str
    value: Any
    unit: str
    basis: str
    sources: tuple[str, ...]
    locator: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One number of the plan and where it comes from."""

    key: str
    label: str
    value: Any
    unit: str
    function: str
    sentence: str
    formula: str
    """Template of the formula: {input name} and {value} stand for the numbers, {input name_u} and {value_u} for the numbers
    with their unit."""
    inputs: tuple[Input, ...]
    sources: tuple[str, ...]
    basis: str


@dataclass(frozen=True, slots=True)
class Reason:
    """Why, in words, and where it is written."""

    code: str
    text: str
    basis: str
    sources: tuple[str, ...]
    locator: str = ""


@dataclass(frozen=True, slots=True)
class RuledOut:
    """An access mode that was not taken; ``possible`` if it would have worked."""

    mode: str
    possible: bool
    reason: Reason


@dataclass(frozen=True, slots=True)
class Trait:
    """What an access mode keeps or gives up: vMotion, DRS, HA restart and so on."""

    feature: str
    verdict: str
    text: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unplaced:
    """VMs that have no GPU, and why."""

    group: str
    vms: int
    gpus: float
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class GroupPlan:
    """A workload group with its access mode and what it asks for."""

    id: str
    name: str
    letter: str
    use_case: str
    mode: str
    reasons: tuple[Reason, ...]
    ruled_out: tuple[RuledOut, ...]
    traits: tuple[Trait, ...]
    active: int
    vms: int
    vms_placed: int
    gpus_each: float
    vgpus_each: int
    demand_gpus: float
    profile: str
    profile_reason: str
    backing: str
    """How the profile shares a GPU: ``timesliced`` or ``mig``; empty without a profile."""
    frame_buffer_mb: int
    """Frame buffer of all vGPUs of one VM; 0 where the mode has none."""
    stun_s: float | None
    """Longest stun of one VM while vMotion moves it; None where it cannot be moved."""
    pool: str
    unplaced: tuple[Unplaced, ...]


@dataclass(frozen=True, slots=True)
class SharingMode:
    """One way to share GPUs, and whether this GPU on this vSphere version has it."""

    id: str
    name: str
    verdict: str
    """``yes``, ``no`` or ``unknown``."""
    text: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LossLevel:
    """What is left when any so many hosts of a pool are down at once."""

    lost: int
    gpus_left: int
    fits: bool | None
    """Whether everything has a place again, whichever hosts are lost; None if no place was found, and no bound says
    that there is none."""
    without_moving: bool | None
    """Whether it does by restarts alone, nobody else being moved; None if that was not worked out."""


@dataclass(frozen=True, slots=True)
class Posture:
    """The design with so many host failures to tolerate: hosts, and the hours a year in which it is at risk."""

    host_failures: int
    chosen: bool
    hosts: int
    gpus: int
    short_h: float
    """Expected hours a year in which failures leave somebody without a GPU."""
    exposed_h: float
    """Hours a year of maintenance in which one failure more does."""
    maintenance_short_h: float
    """Expected hours a year in which a failure in maintenance does."""
    chance: float
    """Chance that it happens in a year of maintenance."""


@dataclass(frozen=True, slots=True)
class Pool:
    """Equal GPU hosts that back each other up."""

    id: str
    name: str
    access: tuple[str, ...]
    gpu_mode: str
    server: str
    gpu: str
    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    existing_hosts: int
    gpus_per_host: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    gpus_occupied: int
    requests: tuple[Request, ...]
    rooms: tuple[Room, ...]
    """What each host offers, in the order of ``placement``; those already there first."""
    new_room: Room
    """What a new host offers."""
    placement: tuple[Host, ...]
    bound: int
    """No design without spare hosts has fewer, those already there included."""
    hosts_without_spare: int
    """Hosts of the design without spare ones, those already there included."""
    new_needed: tuple[int, ...]
    """New hosts that carry the demand when 0, 1, 2, ... of those already there are down, if they have other GPUs than
    new ones; otherwise one number, the hosts that carry it."""
    method: str
    shared: tuple[Shared, ...]
    idle: tuple[Idle, ...]
    unplaced: tuple[Unplaced, ...]
    failures: tuple[Loss, ...]
    """The loss of each host, those filled alike once, the worst first."""
    losses: tuple[LossLevel, ...]

    @property
    def varied(self) -> bool:
        """Whether hosts differ, or CPU or memory is counted: then the placement is a heuristic with a bound."""
        return bool(self.existing_hosts or self.new_room.vcpus or self.new_room.memory_gib)


@dataclass(frozen=True, slots=True)
class Totals:
    """The answer in a few numbers."""

    hosts: int
    hosts_for_demand: int
    hosts_for_failures: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    unplaced_vms: int
    unplaced_vms_after_failure: int


@dataclass(frozen=True, slots=True)
class Decision:
    """A numbered design decision with its justification and implication."""

    number: int
    title: str
    decision: str
    justification: str
    implication: str
    lines: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Message:
    """Something to know about a plan. ``level`` is stop, warn or note; ``change`` says what to change, ``path`` where."""

    code: str
    level: str
    text: str
    change: str = ""
    path: str = ""
    sources: tuple[str, ...] = ()
    locator: str = ""


class Trail:
    """Collects the lines of a plan in the order in which they are computed.

    With ``values_only`` they have no inputs, words and sources: for plans of which nobody sees more than some numbers.
    """

    def __init__(self, *, values_only: bool = False) -> None:
        self.lines: dict[str, Line] = {}
        self.values_only = values_only

    def compute(
        self,
        key: str,
        label: str,
        unit: str,
        function: Callable[..., Any],
        formula: str,
        **inputs: Fact | Line,
    ) -> Line:
        """Call a model function with the values of its inputs, and record the line."""
        value = function(**{name: given.value for name, given in inputs.items()})
        return self.record(key, label, unit, function, formula, value, inputs)

    def add_up(
        self, key: str, label: str, unit: str, function: Callable[..., Any], parts: Mapping[str, Fact | Line]
    ) -> Line:
        """Call a model function that sums any number of parts, and record the line."""
        value = function(*(part.value for part in parts.values()))
        named = {f"part{number}": part for number, part in enumerate(parts.values(), 1)}
        formula = " + ".join(f"{{{name}}}" for name in named) or "0"
        return self.record(key, label, unit, function, formula + " = {value}", value, named)

    def record(
        self,
        key: str,
        label: str,
        unit: str,
        function: Callable[..., Any],
        formula: str,
        value: Any,
        inputs: Mapping[str, Fact | Line],
    ) -> Line:
        """Record a line whose value a model function has given."""
        if self.values_only:
            self.lines[key] = Line(key, label, value, unit, "", "", "", (), (), "derived")
            return self.lines[key]
        seen = tuple(_input(name, given) for name, given in inputs.items())
        sentence, cited = _doc(function)
        sources = dict.fromkeys(itertools.chain.from_iterable(i.sources for i in seen))
        sources.update(dict.fromkeys(cited))
        line = Line(
            key=key,
            label=label,
            value=value,
            unit=unit,
            function=f"{function.__module__.removeprefix('gpuplan.')}.{function.__name__}",
            sentence=sentence,
            formula=formula,
            inputs=seen,
            sources=tuple(sources),
            basis=weakest(i.basis for i in seen) if seen else "derived",
        )
        self.lines[key] = line
        return line

    def repeat(self, key: str, label: str, line: Line) -> Line:
        """Record the same number under another key: a total of one part is that part."""
        self.lines[key] = replace(line, key=key, label=label)
        return self.lines[key]


def _input(name: str, given: Fact | Line) -> Input:
    if isinstance(given, Line):
        return Input(name, given.key, given.label, given.value, given.unit, given.basis, given.sources)
    return Input(
        name,
        given.key,
        _label(given.key),
        given.value,
        given.unit,
        given.basis,
        given.sources,
        given.locator,
        given.note,
    )


@lru_cache(maxsize=4096)
def _label(key: str) -> str:
    """How an input is called on the screen, from its scenario path or catalog key."""
    if key in FIELD_BY_PATH or key.startswith(("groups.", "prices.")):
        return field_of(key).label
    words = " ".join(_plain_words(part) for part in key.split("/")[1:])
    return words[:1].upper() + words[1:]


PLAIN_NAMES = {
    "compute_s": "computing time",
    "grid_kg_kwh": "CO\u2082 of a kWh",
    "host_base_w": "power of a host without GPUs",
    "host_u": "height of a host",
    "maintenance_h_per_host": "hours of maintenance of a host",
    "mtbf_h": "time between failures",
    "native_s": "time without the network",
    "nic_w": "power of an adapter",
    "psu_efficiency": "efficiency of the power supply",
    "pue": "power usage effectiveness (PUE)",
    "rack_kw": "power limit of a rack",
    "tdp_w": "board power",
    "up_gbit_s": "speed of an uplink",
}
"""Names of the catalog and of intermediate values that are not words -> how they read."""
SHORT_WORDS = {"gpu": "GPU", "gpus": "GPUs", "rdma": "RDMA", "tcp": "TCP", "vcf": "VCF", "vgpu": "vGPU"}
UNITS_AT_END = SUFFIX.keys() - {"gpus", "hosts", "vms"}


def _plain_words(name: str) -> str:
    """A name of the catalog or of an intermediate value as words; the unit at its end stands at the value."""
    if name in PLAIN_NAMES or name != name.lower():
        return PLAIN_NAMES.get(name, name).replace("_", " ")
    words = name.replace("-", "_").split("_")
    for size in (2, 1):
        if len(words) > size and "_".join(words[-size:]) in UNITS_AT_END:
            words = words[:-size]
            break
    return " ".join(SHORT_WORDS.get(word, word) for word in words)


@cache
def _doc(function: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """First sentence and cited sources of a model function."""
    doc = inspect.getdoc(function) or ""
    first = " ".join(doc.split("\n\n", 1)[0].split())
    return first, tuple(re.findall(r"^\.\. \[\d+\] (\S+)", doc, re.M))
