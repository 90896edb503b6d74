"""Comparison of two to four plans in columns, with their differences and a sentence for each result that differs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.analysis.differences import Difference, caveats, differences
from gpuplan.analysis.variants import COMPARED, changed_inputs, figure, has_input
from gpuplan.catalog import Catalog
from gpuplan.facts import Brief
from gpuplan.plan import Asked, Plan, planned
from gpuplan.scenario import field_of
from gpuplan.wording import NAMES, said

FEWEST, MOST = 2, 4
THIS = "This design"
"""The one that others are compared with, where it needs no name."""


@dataclass(frozen=True, slots=True)
class CompareRow:
    """One input or result across all plans."""

    key: str
    label: str
    unit: str
    """Unit of the numbers; ``currency`` where each plan has its own."""
    values: tuple[Any, ...]
    """Values in the order of the plans; None where a plan has none."""
    differs: bool


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Brief):
    """Plans beside each other."""

    names: tuple[str, ...]
    rows: tuple[CompareRow, ...]
    notes: tuple[str, ...]
    """Notes on how GPUs of different models are counted, and on what makes the costs of the plans incomparable."""
    differences: tuple[Difference, ...]

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return all sentences: the notes, then one for each result that differs."""
        return (*self.notes, *(difference.sentence for difference in self.differences))


def compare(*designs: Asked, catalog: Catalog | None = None) -> Comparison:
    """Compare two to four designs: plans, scenarios, designs of a notebook, or examples and files by their names."""
    return compare_plans([planned(design, catalog) for design in designs])


def compare_plans(plans: Sequence[Plan]) -> Comparison:
    """Compare two to four plans in columns, the others with the first; a ValueError if they are fewer or more."""
    if not FEWEST <= len(plans) <= MOST:
        raise ValueError(said("compared.most", n=len(plans), fewest=FEWEST, most=MOST))
    names = _names(plans)
    rows = (*_inputs(plans), *_results(plans))
    return Comparison(names, rows, tuple(caveats(plans, names)), differences(plans, names))


def named(plan: Plan, name: str) -> Plan:
    """Return a plan under another name."""
    return plan.but(scenario=replace(plan.scenario, name=name))


def _names(plans: Sequence[Plan]) -> tuple[str, ...]:
    names = [plan.scenario.name for plan in plans]
    numbered = ((name, names[: at + 1].count(name)) for at, name in enumerate(names))
    return tuple(f"{name} ({n})" if names.count(name) > 1 else name for name, n in numbered)


NOT_COMPARED = ("name", "customer", "internal.notes")


def _inputs(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    """Yield inputs that differ between the plans; for a group that not all have, only its size."""
    scenarios = [plan.set_up for plan in plans]
    for changed in changed_inputs(scenarios):
        group = changed.startswith("groups.") and changed.count(".") == 1
        for path in (f"{changed}.people", f"{changed}.gpus_each") if group else (changed,):
            having = [scenario for scenario in scenarios if has_input(scenario, path)]
            values = tuple(scenario.get(path) if scenario in having else None for scenario in scenarios)
            if path not in NOT_COMPARED:
                spec = field_of(path)
                unit = "1" if spec.kind == "share" else spec.unit
                unit = "currency" if path.startswith("prices.") else unit
                yield CompareRow(path, having[0].label(path), unit, values, True)


RESULTS = COMPARED["result"]


def _results(plans: Sequence[Plan]) -> Iterator[CompareRow]:
    currencies = {plan.scenario.cost.currency for plan in plans}
    currency = currencies.pop() if len(currencies) == 1 else "currency"
    for key, unit in RESULTS.items():
        values = tuple(figure(plan, key) for plan in plans)
        shown = currency if unit == "currency" else unit
        yield CompareRow(key, NAMES["result"][key], shown, values, len(set(values)) > 1)
