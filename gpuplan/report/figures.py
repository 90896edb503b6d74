"""The headline figures of a plan, and their words: the common source of text, page, document, slides and workbook."""

from collections.abc import Sequence
from dataclasses import dataclass
from string import Formatter
from typing import Any, NamedTuple

from gpuplan.facts import own_rows
from gpuplan.locales import LOCALES, written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.known import unconfirmed
from gpuplan.plan.prices import price_day
from gpuplan.plan.weighing import listed
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.wording import (
    NAMES,
    TEXTS,
    joined,
    number,
    percent,
    priced,
    rounded_money,
    said,
    spanned,
    told,
    whole,
)

CHANGES = NAMES["what to do"]
"""Actions on messages whose checks address the person at the workbook, not the customer."""


@dataclass(frozen=True, slots=True)
class CostFigures:
    """The cost of a plan in its headline figures, in the currency of its scenario."""

    currency: str
    years: int
    net_present: float
    low: float
    high: float
    upfront: float
    gpu_hour_used: float | None
    """Cost of a used GPU-hour; None where nothing is used."""
    utilisation: float
    hosts_at_start: int
    hosts_at_end: int
    excludes: tuple[str, ...]
    """Items without a price, or that cannot be counted."""

    @property
    def price(self) -> str:
        """The net present cost, rounded: ``USD 2.4 M``."""
        return priced(self._rounded[0], self.currency)

    @property
    def span(self) -> str:
        """Its range, such as ``2.0 to 3.1 M``; empty where there is none."""
        _, low, high = self._rounded
        return spanned(low, high) if low else ""

    @property
    def money(self) -> str:
        """Both: ``USD 2.4 M (2.0 to 3.1 M)``."""
        span = self.span
        return said("wording.with range", value=self.price, range=span) if span else self.price

    @property
    def start(self) -> str:
        """Payment at the start, rounded."""
        return priced(rounded_money(self.upfront)[0], self.currency)

    @property
    def left_out(self) -> int:
        """Number of items that it excludes."""
        return len(self.excludes)

    @property
    def grows(self) -> bool:
        """True if it has more hosts than at the start."""
        return self.hosts_at_end > self.hosts_at_start

    @property
    def _rounded(self) -> tuple[str, str, str]:
        return rounded_money(self.net_present, (self.low, self.high))


def cost_figures(plan: Plan) -> CostFigures | None:
    """Return the cost of a plan; None where it buys nothing."""
    costs, ranges = plan.costs, plan.cost_ranges
    if costs is None:
        return None
    low, high = ranges.net_present if ranges else (costs.net_present, costs.net_present)
    same = ("currency", "years", "net_present", "gpu_hour_used", "utilisation", "excludes")
    shown = {name: getattr(costs, name) for name in same} | {"low": low, "high": high}
    shown |= {"hosts_at_start": costs.hosts[0], "hosts_at_end": costs.hosts[-1]}
    return CostFigures(**shown, upfront=costs.cash[0])


def has(of: Any, needs: str) -> bool:
    """True if an object has what a row of words needs.

    A need is an attribute by its path, or its value (``sized_for=best``); ``no`` before it asks for the opposite, ``or`` for one of several.
    """
    return all(any(_is_met(of, need) for need in either.split(" or ")) for either in listed(needs))


def _is_met(of: Any, need: str) -> bool:
    path, _, value = need.removeprefix("no ").partition("=")
    for name in path.split("."):
        of = None if of is None else getattr(of, name)
    return bool(of == value if value else of) != need.startswith("no ")


def sentences(of: str, row: Any, **more: object) -> list[str]:
    """Return the texts on something, as ``data/words/sentences.csv`` lists them with what each needs."""
    rows = (each for each in own_rows("words/sentences") if each["of"] == of and has(row, each["needs"]))
    return [said(each["text"], row=row, **more) for each in rows]


class Figures(NamedTuple):
    """The headline figures of a plan, each under the name that the texts of all surfaces use."""

    plan: Plan

    def said(self, key: str, /, **more: object) -> str:
        """Return a text of ``data/words/report.csv`` with these figures, those of totals or cost, or values given."""
        return self.told(TEXTS[key], **more)

    def told(self, text: str, /, **more: object) -> str:
        """Return a text with figures filled in."""
        named = {name.partition(".")[0] for _, name, _, _ in Formatter().parse(text) if name}
        return told(text, {name: more[name] if name in more else self._value(name) for name in named})

    def tiles(self, of: str, /, **more: object) -> list[tuple[str, str, str]]:
        """Return the key figures of a page, as ``data/words/tiles.csv`` lists them: label, value and note of each."""
        rows = [row for row in own_rows("words/tiles") if row["of"] == of and has(self, row["needs"])]
        parts = (
            (row["label"], *(TEXTS.get(text, text) for text in (row["value"], row["note"]))) for row in rows
        )
        return [
            (self.said(label), self.told(value, **more), self.told(note, **more))
            for label, value, note in parts
        ]

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
        """Number of workloads."""
        return len(self.plan.groups)

    @property
    def assumptions(self) -> int:
        """Number of inputs that the customer has yet to confirm."""
        return len(unconfirmed(self.plan))

    @property
    def down(self) -> int:
        """Hosts lost where figures after a failure are given."""
        return max(1, self.plan.scenario.availability.host_failures)

    @property
    def boards(self) -> tuple[str, ...]:
        """Names of the GPUs in the hosts."""
        return tuple(dict.fromkeys(self.plan.catalog.gpus[pool.gpu].name for pool in self.plan.own_pools))

    @property
    def board(self) -> str:
        """The names of the GPUs in a sentence."""
        return joined(self.boards)

    @property
    def hosts_over_years(self) -> str:
        """Hosts at the start, and what they grow to."""
        costs = self.plan.costs
        return count_over_years(costs.hosts) if costs else number(self.plan.totals.hosts)

    @property
    def cost(self) -> CostFigures | None:
        """Cost of the plan; None where it buys nothing."""
        return cost_figures(self.plan)

    @property
    def money(self) -> str:
        """The net present cost with its range."""
        return self.cost.money if self.cost else said("executive.no cost")

    @property
    def cost_about(self) -> str:
        """Say the period of the cost, its content and its exclusions; empty where nothing is bought."""
        if self.cost is None:
            return ""
        grown = self.said("writing.with growth to") if self.cost.grows else ""
        missing = self.said("writing.not included") if self.cost.excludes else ""
        missing += lapsed_words(self.plan)
        return self.said("writing.at the start") + grown + missing


def lapsed_words(plan: Plan) -> str:
    """Say how many stated prices end before the day of the decision; empty if none does."""
    if plan.costs is None or not plan.costs.lapsed:
        return ""
    return said("headline.lapsed", prices=len(plan.costs.lapsed), day=written_day(plan.costs.decided))


def open_points(plan: Plan, messages: Sequence[Message]) -> tuple[int, int, int]:
    """Count the points to fix, the points to confirm, and the assumptions."""
    stops, warns = (sum(message.level == level for message in messages) for level in ("stop", "warn"))
    return stops, warns, len(unconfirmed(plan))


def as_of(plan: Plan) -> str:
    """The ISO day of the prices and of the calculation."""
    return price_day(plan.scenario, plan.catalog)


def paper_of(plan: Plan) -> str:
    """Return the chosen paper, or the default of the locale; empty without either."""
    chosen = plan.scenario.format
    return chosen.paper or (LOCALES[chosen.locale].paper if chosen.locale else "")


def design_name(plan: Plan) -> str:
    """The name of a design in a title."""
    return plan.scenario.name or said("summary.design")


def total_words(plan: Plan) -> str:
    """Describe the demand where no workload is described."""
    stated = plan.scenario.demand.stated_gpus
    if not stated:
        return said("writing.no workloads yet")
    return said("writing.the customer states and", total=stated)


def what_to_do(message: Message) -> str:
    """Return the action on a message, worded for the customer."""
    return CHANGES.get(message.code, message.change)


def waits(plan: Plan) -> tuple[str, str] | None:
    """The probability of waiting in the busiest hours, now and after a failure; None without requests."""
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    return None if now is None or after is None else (percent(now.value / 100), percent(after.value / 100))
