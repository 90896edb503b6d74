"""The headline figures of a plan, and their words: text, page, document, slides and workbook ask here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Formatter
from typing import NamedTuple

from gpuplan.locales import LOCALES
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.known import unconfirmed
from gpuplan.plan.prices import price_day
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.wording import (
    NAMES,
    TEXTS,
    amount,
    headline_money,
    number,
    percent,
    priced,
    rounded_money,
    said,
    watts,
    whole,
)

CHANGES = NAMES["what to do"]
"""What to do about a message where the check says it to the person at the workbook, not to the customer."""


@dataclass(frozen=True, slots=True)
class CostFigures:
    """The cost of a plan in its headline figures, in the currency of its scenario."""

    currency: str
    years: int
    net_present: float
    low: float
    high: float
    upfront: float
    """Paid at the start."""
    gpu_hour_used: float | None
    """None where nothing is used."""
    utilisation: float
    hosts_at_start: int
    hosts_at_end: int
    """In the last year, which growth is counted to."""
    excludes: tuple[str, ...]
    """What has no price or cannot be counted."""

    @property
    def price(self) -> str:
        """The net present cost, rounded: ``USD 2.4 M``."""
        return priced(self._rounded[0], self.currency)

    @property
    def span(self) -> str:
        """Its range, such as ``2.0 to 3.1 M``; empty where there is none."""
        _, low, high = self._rounded
        return f"{low} to {high}" if low else ""

    @property
    def money(self) -> str:
        """Both: ``USD 2.4 M (2.0 to 3.1 M)``."""
        return self.price + (f" ({self.span})" if self.span else "")

    @property
    def start(self) -> str:
        """What is paid at the start, rounded."""
        return headline_money(self.upfront, self.currency)

    @property
    def left_out(self) -> int:
        """How many items it excludes."""
        return len(self.excludes)

    @property
    def grows(self) -> bool:
        """Whether it holds more hosts than are there at the start."""
        return self.hosts_at_end > self.hosts_at_start

    @property
    def _rounded(self) -> tuple[str, str, str]:
        return rounded_money(self.net_present, (self.low, self.high))


def cost_figures(plan: Plan) -> CostFigures | None:
    """What a plan costs; None where it buys nothing."""
    costs, ranges = plan.costs, plan.cost_ranges
    if costs is None:
        return None
    low, high = ranges.net_present if ranges else (costs.net_present, costs.net_present)
    return CostFigures(
        currency=costs.currency,
        years=costs.years,
        net_present=costs.net_present,
        low=low,
        high=high,
        upfront=costs.cash[0],
        gpu_hour_used=costs.gpu_hour_used,
        utilisation=costs.utilisation,
        hosts_at_start=costs.hosts[0],
        hosts_at_end=costs.hosts[-1],
        excludes=costs.excludes,
    )


class Figures(NamedTuple):
    """The headline figures of a plan, each by the name that a text of any surface calls it."""

    plan: Plan

    def said(self, key: str, /, **more: object) -> str:
        """A text of ``data/words/report.csv`` that names these figures, those of totals or cost, or what is given besides."""
        named = {name for _, name, _, _ in Formatter().parse(TEXTS[key]) if name}
        return said(key, **{name: more[name] if name in more else self._value(name) for name in named})

    def _value(self, name: str) -> object:
        for of in (self, self.plan.totals, self.plan.placed):
            if hasattr(of, name):
                return getattr(of, name)
        return getattr(self.cost, name)

    @property
    def demand(self) -> int:
        """GPUs that the hosts carry."""
        return whole(self.plan.totals.gpus_demanded)

    @property
    def needed(self) -> int:
        """GPUs that the workloads need; another number may be stated."""
        return whole(self.plan.lines["demand.groups_gpus"].value)

    @property
    def workloads(self) -> int:
        """How many there are."""
        return len(self.plan.groups)

    @property
    def down(self) -> int:
        """Hosts that are lost where figures after a failure are given."""
        return max(1, self.plan.scenario.availability.host_failures)

    @property
    def boards(self) -> tuple[str, ...]:
        """Names of the GPUs in the hosts."""
        return tuple(dict.fromkeys(self.plan.catalog.gpus[pool.gpu].name for pool in self.plan.pools))

    @property
    def board(self) -> str:
        """These names in a sentence."""
        return " and ".join(self.boards)

    @property
    def cost(self) -> CostFigures | None:
        """What it costs; None where it buys nothing."""
        return cost_figures(self.plan)

    @property
    def money(self) -> str:
        """The net present cost with its range."""
        return self.cost.money if self.cost else said("executive.no cost")

    @property
    def cost_about(self) -> str:
        """Over how long the cost is, and what is in it and what is not; empty where nothing is bought."""
        if self.cost is None:
            return ""
        grown = self.said("writing.with growth to") if self.cost.grows else ""
        missing = self.said("writing.not included") if self.cost.excludes else ""
        return self.said("writing.over") + grown + self.said("writing.at the start") + missing


def key_figures(plan: Plan) -> list[tuple[str, str, str]]:
    """The answer at a glance: label, value and note of each figure."""
    figures, totals, costs, power = Figures(plan), plan.totals, plan.costs, plan.power
    hosts = count_over_years(costs.hosts) if costs else number(totals.hosts)
    stated = plan.scenario.deciding_total_gpus is not None
    demand = figures.said("summary.for a stated total" if stated else "summary.for a demand")
    found = [
        (said("summary.hosts"), hosts, figures.said("summary.for the demand for")),
        (said("summary.gpus"), number(totals.gpus), demand),
        (
            said("summary.after a failure"),
            number(totals.gpus_after_failure),
            figures.said("summary.with lost"),
        ),
        (said("summary.placement"), plan.placed.short, plan.placed.note),
    ]
    if power is not None:
        key = "summary.power note in racks" if power.racks else "summary.power note"
        note = said(key, peak=watts(power.peak_w), racks=power.racks)
        found.append((said("summary.power"), watts(power.typical_w), note))
    if costs is not None:
        found.append((said("summary.net present"), figures.money, figures.cost_about))
    return found


def open_points(plan: Plan, messages: Sequence[Message]) -> tuple[int, int, int]:
    """How many points are to fix, how many to confirm, and how many planning values."""
    stops, warns = (sum(message.level == level for message in messages) for level in ("stop", "warn"))
    return stops, warns, len(unconfirmed(plan))


def as_of(plan: Plan) -> str:
    """The ISO day of the prices and of the calculation."""
    return price_day(plan.scenario, plan.catalog)


def paper_of(plan: Plan) -> str:
    """The paper that was chosen, or that of the locale; empty where neither was."""
    chosen = plan.scenario.format
    return chosen.paper or (LOCALES[chosen.locale].paper if chosen.locale else "")


def total_words(plan: Plan) -> str:
    """What is said of the demand where no workload is described."""
    stated = plan.scenario.demand.stated_gpus
    if not stated:
        return said("writing.no workloads yet")
    total = amount(stated, "GPU")
    return said("writing.the customer states and", total=total)


def what_to_do(message: Message) -> str:
    """What to do about a message, said to the customer."""
    return CHANGES.get(message.code, message.change)


def waits(plan: Plan) -> tuple[str, str] | None:
    """The probability of waiting in the busiest hours, now and after a failure; None without requests."""
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    return None if now is None or after is None else (percent(now.value / 100), percent(after.value / 100))
