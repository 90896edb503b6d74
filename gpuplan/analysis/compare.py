"""Compare: two to four plans in columns, what differs between them, and a sentence for each result that does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.analysis.differences import Difference, caveats, differences
from gpuplan.analysis.variants import figure
from gpuplan.catalog import Catalog
from gpuplan.facts import Brief
from gpuplan.plan import Asked, Plan, planned
from gpuplan.scenario import FIELDS, GROUP_FIELD_BY_NAME, Scenario, field_of
from gpuplan.wording import NAMES

FEWEST, MOST = 2, 4
"""Plans that are compared at once."""
THIS = "This design"
"""The one that others are compared with, where it needs no name."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One input or result in every plan."""

    key: str
    """Path of the input, or key of the result."""
    label: str
    unit: str
    """Of the numbers; ``currency`` where each plan has its own."""
    values: tuple[Any, ...]
    """In the order of the plans; None where one does not have it."""
    differs: bool


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Brief):
    """Plans beside each other."""

    names: tuple[str, ...]
    rows: tuple[CompareRow, ...]
    """Inputs that differ, then the results."""
    notes: tuple[str, ...]
    """How GPUs of different models are counted, and what makes the money of the plans incomparable."""
    differences: tuple[Difference, ...]
    """Results that differ, each with its sentence."""

    @property
    def sentences(self) -> tuple[str, ...]:
        """All that is said of them: the notes, then one for each result that differs."""
        return (*self.notes, *(each.sentence for each in self.differences))


def compare(*designs: Asked, catalog: Catalog | None = None) -> Comparison:
    """Two to four designs beside each other: plans, scenarios, designs of a notebook, or examples and files by their names."""
    return compare_plans([planned(each, catalog) for each in designs])


def compare_plans(plans: Sequence[Plan]) -> Comparison:
    """Two to four plans in columns, the others compared with the first; a ValueError if they are fewer or more."""
    if not FEWEST <= len(plans) <= MOST:
        raise ValueError(
            f"plans has {len(plans)}; from {FEWEST} to {MOST} can be compared with each other at once"
        )
    names = _names(plans)
    rows = (*_inputs(plans), *_results(plans))
    return Comparison(names, rows, tuple(caveats(plans, names)), differences(plans, names))


def named(plan: Plan, name: str) -> Plan:
    """A plan under another name."""
    return plan.but(scenario=replace(plan.scenario, name=name))


def _names(plans: Sequence[Plan]) -> tuple[str, ...]:
    """Names of the designs, numbered where two have the same."""
    given = [plan.scenario.name for plan in plans]
    return tuple(
        f"{name} ({given[: at + 1].count(name)})" if given.count(name) > 1 else name
        for at, name in enumerate(given)
    )


NOT_COMPARED = ("name", "customer", "internal.notes")


def _inputs(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    """Inputs that are not the same in all plans."""
    scenarios = [plan.scenario for plan in plans]
    for path in _paths(scenarios):
        having = [scenario for scenario in scenarios if _has(scenario, path)]
        values = tuple(scenario.get(path) if scenario in having else None for scenario in scenarios)
        if any(value != values[0] for value in values):
            unit = "currency" if path.startswith("prices.") else field_of(path).unit
            share = field_of(path).kind == "share"
            yield CompareRow(path, having[0].label(path), "1" if share else unit, values, True)


def _paths(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Paths of the inputs to compare, of a group that not all have only how large it is; without parts that are the same in all."""
    for spec in FIELDS:
        head = spec.path.partition(".")[0]
        if spec.path not in NOT_COMPARED and _differ(getattr(scenario, head) for scenario in scenarios):
            yield spec.path
    yield from _group_paths(scenarios)
    for name in ("prices", "ranges"):
        for key in dict.fromkeys(key for scenario in scenarios for key, _ in getattr(scenario, name)):
            yield f"{name}.{key}"


def _group_paths(scenarios: Sequence[Scenario]) -> Iterator[str]:
    having = [{group.id: group for group in scenario.groups} for scenario in scenarios]
    for group in dict.fromkeys(id for groups in having for id in groups):
        if _differ(groups.get(group) for groups in having):
            in_all = all(group in groups for groups in having)
            for name in GROUP_FIELD_BY_NAME if in_all else ("people", "gpus_each"):
                yield f"groups.{group}.{name}"


def _differ(parts: Iterable[object]) -> bool:
    """Whether not all are the same."""
    return len(set(parts)) > 1


def _has(scenario: Scenario, path: str) -> bool:
    """Whether a scenario has the group that an input belongs to."""
    head, _, rest = path.partition(".")
    return head != "groups" or rest.partition(".")[0] in {group.id for group in scenario.groups}


RESULTS: Mapping[str, str] = {
    "totals.hosts": "host",
    "totals.gpus": "GPU",
    "totals.gpus_after_failure": "GPU",
    "totals.unplaced_vms": "VM",
    "totals.unplaced_vms_after_failure": "VM",
    "short_h": "h",
    "totals.waiting": "%",
    "kept": "1",
    "power.peak": "W",
    "power.typical": "W",
    "power.racks": "1",
    "cost.years.0": "currency",
    "cost.total": "currency",
    "cost.net_present": "currency",
    "cost.gpu_hour_used": "currency",
    "cost.excludes": "",
}
"""Results in columns, each with its unit."""


def _results(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    """The headline numbers of all plans."""
    currencies = {plan.scenario.cost.currency for plan in plans}
    currency = currencies.pop() if len(currencies) == 1 else "currency"
    for key, unit in RESULTS.items():
        values = tuple(figure(plan, key) for plan in plans)
        shown = currency if unit == "currency" else unit
        yield CompareRow(key, NAMES["result"][key], shown, values, len(set(values)) > 1)
