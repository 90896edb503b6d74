"""Ranges of the cost: the cost planned again with each cause at its low and at its high end.

Prices of one cause, such as all GPU prices, move together; causes are independent (``combined_range``). Discount rate,
PUE and support share are causes too. Counts, hours, warranty, residual value and unranged values stay as planned.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gpuplan.facts import Brief, Fact
from gpuplan.models.cost import combined_range
from gpuplan.plan.bill_of_materials import Counts
from gpuplan.plan.cash_flow import HARDWARE, PARTS, Case, Flows
from gpuplan.plan.cost import Costs
from gpuplan.plan.growth import Growth
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import CAUSES, Price

SUPPORT = CAUSES["support"]
"""The cause of the yearly share of hardware support; the other factors are causes by their own names."""
DISCOUNTED = ("net_present", "gpu_hour_installed", "gpu_hour_used")
"""Figures that a lower discount rate raises, while lower prices lower them: they have no end at which all causes meet."""
End = tuple[float, float]
"""Low and high."""


@dataclass(frozen=True, slots=True, repr=False)
class CostRanges(Brief):
    """Low and high of each total; the same twice where nothing has a range."""

    net_present: End
    total: End
    hardware: End
    cash: tuple[End, ...]
    parts: Mapping[str, End]
    """By the name of the part, over all years."""
    gpu_hour_installed: End | None
    gpu_hour_used: End | None
    causes: Mapping[str, End]
    """Net present cost with one cause alone at its ends, the widest first."""


def cost_ranges(counts: Counts, use: PowerUse, growth: Growth, costs: Costs) -> CostRanges:
    """The range of each total of a plan's cost."""
    causes, (planned_ends, outermost, *ends) = _ends(counts, use, growth, costs)
    low_high = {name: _combined(name, value, outermost, ends) for name, value in planned_ends[0].items()}
    return CostRanges(
        net_present=low_high["net_present"],
        total=low_high["total"],
        hardware=low_high["hardware"],
        cash=tuple(low_high[f"year {year}"] for year in range(costs.years + 1)),
        parts={part.name: low_high[f"part {part.name}"] for part in costs.parts},
        gpu_hour_installed=low_high.get("gpu_hour_installed"),
        gpu_hour_used=low_high.get("gpu_hour_used"),
        causes=_moved(causes, ends),
    )


def together(counts: Counts, use: PowerUse, growth: Growth, costs: Costs) -> End:
    """The net present cost with all prices and factors but the discount rate at their low, and at their high ends."""
    low, high = _ends(counts, use, growth, costs)[1][1]
    return low["net_present"], high["net_present"]


Figures = Mapping[str, float]


def figures_at(
    counts: Counts,
    use: PowerUse,
    growth: Growth,
    costs: Costs,
    draws: Sequence[Callable[[Fact, str], float]],
) -> list[dict[str, float]]:
    """The figures of a plan with the prices and factors of each draw, which gets a fact with a range, and its cause."""
    planned, flows = _flows(counts, use, growth, costs)
    cases = [
        Case(
            {key: drawn(p.fact, p.cause) for key, p in planned.items() if _ranged(p.fact)},
            {name: drawn(fact, cause_of(name)) for name, fact in flows.factors.items() if _ranged(fact)},
        )
        for drawn in draws
    ]
    return _figures(flows, cases, costs)


def _flows(counts: Counts, use: PowerUse, growth: Growth, costs: Costs) -> tuple[Mapping[str, Price], Flows]:
    planned = {price.key: price for price in costs.prices}
    return planned, Flows(lambda key, *_: planned.get(key), counts, use, growth, costs.materials)


def _ends(
    counts: Counts, use: PowerUse, growth: Growth, costs: Costs
) -> tuple[list[str], list[tuple[Figures, Figures]]]:
    """Causes of uncertainty; and the figures at low and high of none of them, of all but the discount rate, and of each."""
    planned, flows = _flows(counts, use, growth, costs)

    def case(causes: Collection[str], end: str) -> Case:
        return Case(
            {key: _end_of(price.fact, end) for key, price in planned.items() if price.cause in causes},
            {name: _end_of(fact, end) for name, fact in flows.factors.items() if cause_of(name) in causes},
        )

    causes = _causes(flows, planned)
    undiscounted = [cause for cause in causes if cause != "discount_rate"]
    groups = [[], undiscounted, *([cause] for cause in causes)]
    figures = _figures(flows, [case(group, end) for group in groups for end in ("low", "high")], costs)
    return causes, list(zip(figures[::2], figures[1::2], strict=True))


def _combined(
    name: str, value: float, outermost: tuple[Figures, Figures], ends: Sequence[tuple[Figures, Figures]]
) -> End:
    """The range of a figure: each cause alone at its ends, and no farther than all of them together."""
    bounds = None if name in DISCOUNTED else (outermost[0][name], outermost[1][name])
    return combined_range(value, ends=[(low[name], high[name]) for low, high in ends], outermost=bounds)


def _moved(causes: Sequence[str], ends: Sequence[Sequence[Figures]]) -> dict[str, End]:
    """Net present cost with each cause alone at its ends, the widest first."""
    costs = [sorted(figures["net_present"] for figures in pair) for pair in ends]
    moved = {cause: (low, high) for cause, (low, high) in zip(causes, costs, strict=True)}
    return dict(sorted(moved.items(), key=lambda item: item[1][0] - item[1][1]))


def _causes(flows: Flows, planned: Mapping[str, Price]) -> list[str]:
    """Return the causes of uncertainty in the cost, each once."""
    causes = [price.cause for price in planned.values() if _ranged(price.fact)]
    causes += [cause_of(name) for name, fact in flows.factors.items() if _ranged(fact)]
    return list(dict.fromkeys(causes))


def cause_of(name: str) -> str:
    """Return the cause of uncertainty in a factor."""
    return SUPPORT if name == "support_share" else name


def _ranged(fact: Fact) -> bool:
    return fact.low is not None and fact.high is not None and fact.low < fact.high


def _end_of(fact: Fact, end: str) -> float:
    """The low or high end of a fact; its value where it has no range."""
    return float(getattr(fact, end) if _ranged(fact) else fact.value)


def _figures(flows: Flows, cases: Sequence[Case], costs: Costs) -> list[dict[str, float]]:
    """Return the cost totals of each case, and any cost of a GPU-hour; as the models in ``cost``, for all cases."""
    paid = flows.paid(*cases)
    cash, parts = paid.sum(axis=1), paid.sum(axis=2)
    rates = np.array([case.factors.get("discount_rate", costs.discount_rate) for case in cases])
    discounts = (1 + rates[:, None]) ** -np.arange(costs.years + 1.0)
    present = (cash * discounts).sum(axis=1)
    hardware = [PARTS.index(part) for part in HARDWARE]
    totals = {
        "net_present": present,
        "total": cash.sum(axis=1),
        "hardware": paid[:, hardware, 0].sum(axis=1),
        **{f"year {year}": of_year for year, of_year in enumerate(cash.T)},
        **{f"part {part.name}": parts[:, PARTS.index(part.name)] for part in costs.parts},
    }
    for name, hours in (("installed", costs.gpu_hours), ("used", costs.used_gpu_hours)):
        if any(hours):
            totals[f"gpu_hour_{name}"] = present / (discounts[:, 1:] @ hours)
    return [dict(zip(totals, row, strict=True)) for row in np.array(list(totals.values())).T.tolist()]
