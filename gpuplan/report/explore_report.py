"""Designs side by side as plain data, text and CSV: explored designs, drivers of the answer, and plans in columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.break_even import Condition
from gpuplan.analysis.compare import Comparison
from gpuplan.analysis.option import Option
from gpuplan.analysis.ranking import Exploration, why_not
from gpuplan.analysis.sensitivity import Bar, Threshold
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import csv_text, indented, text
from gpuplan.report.tables import explore, sensitivity
from gpuplan.report.text import Block, chapter, page, pairs
from gpuplan.scenario import Scenario
from gpuplan.wording import amount, counted, money

SHOWN = 12
"""Ranked designs, and kinds of reasons, in the text; CSV and JSON have all."""


def beside_winner(found: Exploration) -> Option | None:
    """Return the design to compare with the winner: the current one, else the cheapest on other hosts, else None."""
    if found.winner is None:
        return None
    won = found.winner.candidate
    if found.asked.candidate != won and found.asked in found.ranked:
        return found.asked
    hosts = (won.gpu, won.server, won.gpus_per_host)
    return next(
        (
            option
            for option in found.ranked
            if (option.candidate.gpu, option.candidate.server, option.candidate.gpus_per_host) != hosts
        ),
        None,
    )


def exploration_dict(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> dict[str, Any]:
    """Return an exploration as plain JSON values, all finite.

    Keys ``ranked``, ``best`` (the first of them on each hardware), ``unpriced``, ``rejected``, ``frontier`` (lists of options), ``winner``, ``asked``,
    ``currency``, ``works`` (of one GPU of a board, in those of the demand), ``notes`` and ``to_win`` (``label`` and ``conditions``; null if nothing else could win).
    """

    def one(option: Option) -> dict[str, Any]:
        return {**fields_of(option), "why_not": why_not(option, found.winner, scenario)}

    lists = ("ranked", "best", "unpriced", "rejected", "frontier")
    return as_json(
        **{name: [one(option) for option in getattr(found, name)] for name in lists},
        winner=found.winner and one(found.winner),
        asked=one(found.asked),
        currency=found.currency,
        works=found.works,
        notes=found.notes,
        to_win=beside and {"label": beside.label, "conditions": conditions},
    )


def exploration_text(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> str:
    """Return an exploration as text."""
    data = exploration_dict(found, scenario)
    ranked = explore.designs(data, data["best"], "The cheapest design for each hardware, and its drawbacks")
    frontier = explore.designs(
        data, data["frontier"], "Frontier: not beaten in cost, capacity shortfall and waiting together"
    )
    out = explore.reasons(data)
    return page(
        scenario.name,
        _answer(found),
        chapter(ranked.top(SHOWN), _left(len(ranked.rows), "design"), below=("why_not",)),
        _variants(found),
        explore.works(data),
        frontier.without("why_not"),
        _to_win(conditions, beside),
        explore.unpriced(data),
        chapter(out.top(SHOWN), _left(len(out.rows), "reason")),
        chapter("Notes", *found.notes),
    )


def _answer(found: Exploration) -> str:
    planned = len(found.ranked) + len(found.unpriced) + len(found.rejected)
    return chapter(
        "",
        f"{counted(planned, 'design')} planned: {len(found.ranked)} ranked, {len(found.unpriced)} without a price for the GPU, "
        f"server or adapter, {len(found.rejected)} ruled out.",
        pairs(
            (
                ("Winner", _in_short(found.winner, found.currency) if found.winner else "none"),
                ("Current design", _in_short(found.asked, found.currency)),
            )
        ),
    )


def _variants(found: Exploration) -> str:
    more = counted(len(found.ranked) - len(found.best), "variant")
    text = f"{more} of these with another link, sharing mode or more failover capacity: see --csv or --json."
    return text if len(found.ranked) > len(found.best) else ""


def _left(count: int, what: str) -> str:
    return f"{counted(count - SHOWN, what)} more: see --csv or --json." if count > SHOWN else ""


def _to_win(conditions: Sequence[Condition], beside: Option | None) -> str:
    if beside is None:
        return ""
    said = ("no: " * (not condition.possible) + condition.text for condition in conditions)
    return chapter(f"What would make this win: {beside.label}", *said)


def _in_short(option: Option, currency: str) -> str:
    """Describe a design with its results and the exclusions of its cost, or why it is out."""
    if option.reasons:
        return f"{option.label}: out. {'; '.join(option.reasons)}"
    hosts = counted(option.hosts or 0, "host")
    if option.unpriced:
        return f"{option.label}: {hosts}, no price of {', '.join(option.unpriced)}"
    cost = "-" if option.net_present is None else money(option.net_present, currency)
    without = f"; leaves out {'; '.join(option.excludes)}" if option.excludes else ""
    without += "".join(f"; confirm {text}" for text in option.confirm)
    grown = ""
    if option.hosts_at_end and option.hosts_at_end > (option.hosts or 0):
        grown = f" growing to {option.hosts_at_end}"
    return f"{option.label}: {cost} net present, {hosts}{grown}{without}"


def exploration_csv(found: Exploration, scenario: Scenario) -> str:
    """Every design in a row of CSV, the ranked first; text that a spreadsheet would take for a formula is quoted with an apostrophe.

    Columns are ``status`` (winner, ranked, unpriced, rejected), ``rank``, ``frontier``, the fields of Candidate and of Option, the
    ``currency`` and ``why_not``.
    """
    return csv_text(explore.every_design(exploration_dict(found, scenario)))


def sensitivity_dict(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> dict[str, Any]:
    """Return the strongest drivers of the answer as plain JSON values, all finite.

    Keys ``net_present`` and ``hosts`` (as planned), ``currency``, ``bars`` and ``thresholds``.
    """
    return as_json(
        net_present=plan.costs.net_present if plan.costs else None,
        hosts=plan.totals.hosts,
        currency=plan.scenario.cost.currency,
        bars=bars,
        thresholds=limits,
    )


@spoken
def sensitivity_text(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> str:
    """Return the strongest drivers of the answer as text."""
    name, currency = plan.scenario.name, plan.scenario.cost.currency
    if plan.costs is None:
        return page(name, "No workloads yet, so there is nothing to vary.")
    now, hosts = plan.costs.net_present, amount(plan.totals.hosts, "host")
    data = sensitivity_dict(plan, bars, limits)
    broken = (bar for bar in bars if bar.cost_low is None or bar.cost_high is None)
    return page(
        name,
        f"As planned: {money(now, currency)} net present cost, {hosts}. Each input is varied to its own low and high, "
        "with everything else unchanged.",
        sensitivity.bars(data["bars"], now, currency),
        chapter(sensitivity.thresholds(data["thresholds"]), title=f"Where it is no longer {hosts}"),
        chapter("Notes", *(f"{bar.label}: {bar.note}" for bar in broken)),
    )


def compare_dict(found: Comparison) -> dict[str, Any]:
    """Return plans in columns as plain JSON values.

    Keys ``names``, ``rows`` (``key``, ``label``, ``unit``, ``values``, ``differs``) and ``sentences``.
    """
    return as_json(**fields_of(found))


def compare_text(found: Comparison) -> str:
    """Return plans in columns as text."""
    table = sensitivity.compared(found)
    sentences = (Block(indented(sentence, 0)) for sentence in found.sentences)
    return page(
        "",
        chapter("", Block(text(table)), *map(Block, table.notes)),
        chapter("Differences in words", *sentences),
    )
