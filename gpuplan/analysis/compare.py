"""Compare: two to four plans in columns, what differs between them, and a sentence for each result that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpuplan.plan import Plan
from gpuplan.scenario import FIELDS, GROUP_FIELD_BY_NAME, Scenario, field_of
from gpuplan.wording import amount, hours, is_currency, percent

FEWEST, MOST = 2, 4
"""Plans that are compared at once."""


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


@dataclass(frozen=True, slots=True)
class Comparison:
    """Plans beside each other."""

    names: tuple[str, ...]
    rows: tuple[CompareRow, ...]
    """Inputs that differ, then the results."""
    sentences: tuple[str, ...]
    """One for each result that differs, and for what makes the money of the plans incomparable."""


def compare_plans(plans: Sequence[Plan]) -> Comparison:
    """Two to four plans in columns, the others compared with the first; a ValueError if they are fewer or more."""
    if not FEWEST <= len(plans) <= MOST:
        raise ValueError(
            f"plans has {len(plans)}; from {FEWEST} to {MOST} can be compared with each other at once"
        )
    names = _names(plans)
    results = _results(plans)
    return Comparison(names, (*_inputs(plans), *results), (*_caveats(plans, names), *_said(names, results)))


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
    """Paths of the inputs to compare; of a group that not all have only how large it is."""
    yield from (spec.path for spec in FIELDS if spec.path not in NOT_COMPARED)
    for group in dict.fromkeys(group.id for scenario in scenarios for group in scenario.groups):
        in_all = all(_has(scenario, f"groups.{group}.") for scenario in scenarios)
        for name in GROUP_FIELD_BY_NAME if in_all else ("people", "gpus_each"):
            yield f"groups.{group}.{name}"
    for name in ("prices", "ranges"):
        for key in dict.fromkeys(key for scenario in scenarios for key, _ in getattr(scenario, name)):
            yield f"{name}.{key}"


def _has(scenario: Scenario, path: str) -> bool:
    """Whether a scenario has the group that an input belongs to."""
    head, _, rest = path.partition(".")
    return head != "groups" or rest.partition(".")[0] in {group.id for group in scenario.groups}


RESULTS = (
    ("totals.hosts", "Hosts", "host"),
    ("totals.gpus", "GPUs", "GPU"),
    ("totals.gpus_after_failure", "GPUs after a failure", "GPU"),
    ("totals.unplaced_vms", "VMs not placed", "VM"),
    ("totals.unplaced_vms_after_failure", "VMs not placed after the worst host failure", "VM"),
    ("short_h", "Capacity shortfall a year", "h"),
    ("totals.waiting", "Probability of waiting", "%"),
    ("kept", "Least share of native speed over the network", "1"),
    ("power.peak", "Power at peak", "W"),
    ("power.typical", "Typical power", "W"),
    ("power.racks", "Racks", "1"),
    ("cost.years.0", "Paid at the start", "currency"),
    ("cost.total", "Cost over all years", "currency"),
    ("cost.net_present", "Net present cost", "currency"),
    ("cost.gpu_hour_used", "Cost of a GPU-hour used", "currency"),
    ("cost.excludes", "Cost leaves out", ""),
)
"""Key, label and unit of each result."""

NO_LINES: Mapping[str, Callable[[Plan], Any]] = {
    "short_h": lambda plan: next((p.short_h for p in plan.postures if p.chosen), None),
    "kept": lambda plan: min((r.kept for r in plan.network.remote), default=None),
    "cost.excludes": lambda plan: "; ".join(plan.costs.excludes) if plan.costs else None,
}
"""Results that are no lines of a plan."""


def _result(plan: Plan, key: str) -> Any:
    """What a plan has at a key of ``RESULTS``."""
    if key in NO_LINES:
        return NO_LINES[key](plan)
    return plan.lines[key].value if key in plan.lines else None


def _results(plans: Sequence[Plan]) -> tuple[CompareRow, ...]:
    """The headline numbers of all plans."""
    currencies = {plan.scenario.cost.currency for plan in plans}
    found = []
    for key, label, unit in RESULTS:
        values = tuple(_result(plan, key) for plan in plans)
        shown = next(iter(currencies)) if unit == "currency" and len(currencies) == 1 else unit
        found.append(CompareRow(key, label, shown, values, any(v != values[0] for v in values)))
    return tuple(found)


def _caveats(plans: Sequence[Plan], names: Sequence[str]) -> tuple[str, ...]:
    """What makes the money of the plans incomparable."""
    years = [amount(p.scenario.cost.years, "year") + "s" * (p.scenario.cost.years > 1) for p in plans]
    excluded = [" and ".join(p.costs.excludes) or "nothing" if p.costs else "everything" for p in plans]
    found = []
    for what, values in (
        ("Money is in different currencies", [plan.scenario.cost.currency for plan in plans]),
        ("Money is counted over different times", years),
        ("The cost leaves out different things, so that the money is not comparable", excluded),
    ):
        if len(set(values)) > 1:
            each = "; ".join(f"{value} in {name}" for name, value in zip(names, values, strict=True))
            found.append(f"{what}: {each}.")
    return tuple(found)


def _said(names: Sequence[str], results: Sequence[CompareRow]) -> tuple[str, ...]:
    """A sentence for each result that differs; money only in one currency."""
    found = []
    for row in results:
        if not row.differs or row.unit == "currency" or row.key == "cost.excludes":
            continue
        first, *others = row.values
        said = [f"{_shown(first, row)} in {names[0]}"]
        for name, value in zip(names[1:], others, strict=True):
            said.append(f"{_shown(value, row)} in {name}{_beside(first, value, row)}")
        found.append(f"{row.label}: {'; '.join(said)}.")
    return tuple(found)


def _shown(value: Any, row: CompareRow) -> str:
    """A value as a sentence has it."""
    if value is None:
        return "none"
    if row.unit == "%":
        return percent(value / 100)
    if row.key == "kept":
        return percent(value)
    if row.unit == "h":
        return hours(value)
    return amount(value if isinstance(value, int) else _three(float(value)), row.unit)


def _three(value: float) -> float:
    """To whole units from 100 on, below to three digits."""
    return round(value) if abs(value) >= 100 else float(f"{value:.3g}")


def _beside(first: Any, value: Any, row: CompareRow) -> str:
    """How much more or less than in the first plan; of shares and hours both are said."""
    if first is None or value is None or value == first or row.unit in ("%", "h") or row.key == "kept":
        return ""
    fewer = "fewer" if isinstance(value, int) else "less"
    apart, word = abs(value - first), "more" if value > first else fewer
    shown = _shown(apart, row)
    if is_currency(row.unit) and max(value, first) < 100:  # of the amounts as they are shown
        shown = f"{row.unit} {abs(round(value, 2) - round(first, 2)):.2f}"
    share = (
        f", {100 * apart / first:.0f} %"
        if first and not isinstance(value, int) and apart >= 0.01 * first
        else ""
    )
    return f" ({shown} {word}{share})"
