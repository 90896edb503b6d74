"""Ranges of the cost: the money planned again with each cause at its low and at its high end.

Prices of one cause, such as those of all GPUs, move together; causes do not depend on each other (``combined_range``). The discount rate, the PUE and
the share of support are causes too. Counts, hours, warranty, the value left at the end and what is stated without a range stay as planned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from gpuplan.facts import Brief, Fact
from gpuplan.models import cost
from gpuplan.models.uncertainty import combined_range
from gpuplan.plan.bill_of_materials import Counts
from gpuplan.plan.cash_flow import HARDWARE, CostPart, Flows
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
    planned = {price.key: price for price in costs.prices}
    flows = Flows(
        counts.scenario,
        counts.catalog,
        lambda key, *_: planned.get(key),
        counts,
        use,
        growth,
        costs.materials,
    )

    def figures(causes: Collection[str], end: str) -> dict[str, float]:
        moved = {key: _at(price, end) if price.cause in causes else price for key, price in planned.items()}
        factors = {
            name: _end_of(fact, end) if _cause(name) in causes else fact
            for name, fact in flows.factors.items()
        }
        parts = flows.at_prices(lambda key, *_: moved.get(key), factors)
        return _figures(parts, costs, float(factors["discount_rate"].value))

    causes = _causes(flows, planned)
    ends = [(cause, figures([cause], "low"), figures([cause], "high")) for cause in causes]
    undiscounted = [cause for cause in causes if cause != "discount_rate"]
    least, most = (figures(undiscounted, end) for end in ("low", "high"))
    now = _figures(costs.parts, costs, costs.discount_rate)
    low_high = {
        name: combined_range(
            value,
            ends=[(low[name], high[name]) for _, low, high in ends],
            outermost=None if name in DISCOUNTED else (least[name], most[name]),
        )
        for name, value in now.items()
    }
    moved = {
        cause: (min(both), max(both))
        for cause, *tried in ends
        for both in [[figure["net_present"] for figure in tried]]
    }
    return CostRanges(
        net_present=low_high["net_present"],
        total=low_high["total"],
        hardware=low_high["hardware"],
        cash=tuple(low_high[f"year {year}"] for year in range(costs.years + 1)),
        parts={part.name: low_high[f"part {part.name}"] for part in costs.parts},
        gpu_hour_installed=low_high.get("gpu_hour_installed"),
        gpu_hour_used=low_high.get("gpu_hour_used"),
        causes=dict(sorted(moved.items(), key=lambda item: item[1][0] - item[1][1])),
    )


def _causes(flows: Flows, planned: Mapping[str, Price]) -> list[str]:
    """Why the cost may be another one, each once."""
    found = [price.cause for price in planned.values() if _ranged(price.fact)]
    found += [_cause(name) for name, fact in flows.factors.items() if _ranged(fact)]
    return list(dict.fromkeys(found))


def _cause(name: str) -> str:
    """Why a factor may be another one."""
    return SUPPORT if name == "support_share" else name


def _ranged(fact: Fact) -> bool:
    return fact.low is not None and fact.high is not None and fact.low < fact.high


def _end_of(fact: Fact, end: str) -> Fact:
    """A fact at its low or high end; one without a range as it is."""
    return replace(fact, value=getattr(fact, end)) if _ranged(fact) else fact


def _at(price: Price, end: str) -> Price:
    return replace(price, fact=_end_of(price.fact, end))


def _figures(parts: Sequence[CostPart], costs: Costs, rate: float) -> dict[str, float]:
    """The totals of the parts of a cost, and what a GPU-hour costs where there is one."""
    cash = [cost.total_cost(*paid) for paid in zip(*(part.yearly for part in parts), strict=True)]
    present = cost.net_present_cost(cash, rate=rate)
    by_name = {"installed": costs.gpu_hours, "used": costs.used_gpu_hours}
    hours = {name: cost.net_present_cost([0.0, *given], rate=rate) for name, given in by_name.items()}
    return {
        "net_present": present,
        **{f"gpu_hour_{name}": cost.gpu_hour_cost(present, gpu_hours=n) for name, n in hours.items() if n},
        "total": cost.total_cost(*cash),
        "hardware": cost.total_cost(*(part.yearly[0] for part in parts if part.name in HARDWARE)),
        **{f"year {year}": paid for year, paid in enumerate(cash)},
        **{f"part {part.name}": part.total for part in parts},
    }
