"""What a plan is made of: frozen records, and the trail that explains every number.

A ``Line`` is one number of the plan with the model function that made it, its inputs, its sources
and the weakest basis among them. "Why this number?" is a view of its line.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from gpuplan.facts import Fact, weakest
from gpuplan.fields import FIELD_BY_PATH, field_of
from gpuplan.models.placement import Host


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
    """Template of the formula: {input name} and {value} stand for the numbers."""
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
    demand_gpus: float
    profile: str
    profile_reason: str
    pool: str
    unplaced: tuple[Unplaced, ...]


@dataclass(frozen=True, slots=True)
class HostFailure:
    """What the loss of one host (numbered from 1) does."""

    host: int
    restarted: int
    moved: int
    unplaced: int


def failure_runs(failures: Sequence[HostFailure]) -> list[tuple[HostFailure, HostFailure]]:
    """Runs of neighbouring hosts whose loss does the same: (first, last) of each."""
    runs: list[tuple[HostFailure, HostFailure]] = []
    for failure in failures:
        if runs and replace(failure, host=0) == replace(runs[-1][0], host=0):
            runs[-1] = (runs[-1][0], failure)
        else:
            runs.append((failure, failure))
    return runs


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
    gpus_per_host: int
    gpus: int
    gpus_after_failure: int
    gpus_demanded: float
    gpus_occupied: int
    placement: tuple[Host, ...]
    bound: int
    method: str
    shared: tuple[tuple[str, int, int, str], ...]
    unplaced: tuple[Unplaced, ...]
    failures: tuple[HostFailure, ...]


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
    """Collects the lines of a plan in the order in which they are computed."""

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}

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
        seen = tuple(_input(name, given) for name, given in inputs.items())
        sentence, cited = _doc(function)
        sources = dict.fromkeys(s for i in seen for s in i.sources)
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


def _label(key: str) -> str:
    """How an input is called on the screen, from its scenario path or catalog key."""
    if key in FIELD_BY_PATH or key.startswith("groups."):
        return field_of(key).label
    return " ".join(key.split("/")[1:]).replace("_", " ")


@cache
def _doc(function: Callable[..., Any]) -> tuple[str, tuple[str, ...]]:
    """First sentence and cited sources of a model function."""
    doc = inspect.getdoc(function) or ""
    first = " ".join(doc.split("\n\n", 1)[0].split())
    return first, tuple(re.findall(r"^\.\. \[\d+\] (\S+)", doc, re.M))
