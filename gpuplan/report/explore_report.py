"""Designs side by side as plain data, text and CSV: explored designs, drivers of the answer, and plans in columns."""

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

from gpuplan.analysis.break_even import Condition
from gpuplan.analysis.compare import Comparison, model_name
from gpuplan.analysis.option import Option
from gpuplan.analysis.ranking import Exploration, why_not
from gpuplan.analysis.same_work import BoardCard
from gpuplan.analysis.sensitivity import Bar, Threshold
from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.report.exported import csv_text
from gpuplan.report.plan_data import as_json, fields_of
from gpuplan.report.table import Table
from gpuplan.report.tables import explore
from gpuplan.report.text import Block, chapter, indented, page, pairs, text
from gpuplan.scenario import Scenario
from gpuplan.wording import money, said

SHOWN = 12
"""Ranked designs, and kinds of reasons, in the text; CSV and JSON have all."""


def beside_winner(found: Exploration) -> Option | None:
    """Return the design to compare with the winner: the current one, else the cheapest on other hosts, else None."""
    if found.winner is None:
        return None
    won = found.winner.candidate
    if found.asked.candidate != won and found.asked in found.ranked:
        return found.asked
    hardware = attrgetter("gpu", "server", "gpus_per_host")
    return next((each for each in found.ranked if hardware(each.candidate) != hardware(won)), None)


def exploration_dict(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> dict[str, Any]:
    """Return an exploration as plain JSON values, all finite.

    Keys ``ranked``, ``best`` (the first of them on each hardware), ``unpriced``, ``rejected``, ``frontier`` (lists of options), ``winner``, ``asked``,
    ``currency``, ``notes`` and ``to_win`` (``label`` and ``conditions``; null if nothing else could win).
    """

    def one(option: Option) -> dict[str, Any]:
        return {**fields_of(option), "why_not": why_not(option, found.winner, scenario)}

    lists = ("ranked", "best", "unpriced", "rejected", "frontier")
    return as_json(
        **{name: [one(option) for option in getattr(found, name)] for name in lists},
        winner=found.winner and one(found.winner),
        asked=one(found.asked),
        currency=found.currency,
        notes=found.notes,
        to_win=beside and {"label": beside.label, "conditions": conditions},
    )


def exploration_text(
    found: Exploration, scenario: Scenario, conditions: Sequence[Condition] = (), beside: Option | None = None
) -> str:
    """Return an exploration as text."""
    data = exploration_dict(found, scenario)
    ranked = explore.designs(data, data["best"], said("explored.best"))
    frontier = explore.designs(data, data["frontier"], said("explored.frontier"))
    out = explore.reasons(data)
    left = len(found.ranked) - len(found.best)
    return page(
        scenario.name,
        _answer(found),
        chapter(ranked.top(SHOWN), _left("explored.more designs", ranked), below=("why_not",)),
        said("explored.variants", left=left) if left > 0 else "",
        frontier.without("why_not"),
        _to_win(conditions, beside),
        explore.unpriced(data),
        chapter(out.top(SHOWN), _left("explored.more reasons", out)),
        chapter(said("explored.notes"), *found.notes),
    )


def _answer(found: Exploration) -> str:
    ranked, unpriced, rejected = map(len, (found.ranked, found.unpriced, found.rejected))
    counts = {"ranked": ranked, "unpriced": unpriced, "rejected": rejected}
    winner = _in_short(found.winner, found.currency) if found.winner else said("explored.no winner")
    current = _in_short(found.asked, found.currency)
    designs = pairs(((said("explored.winner"), winner), (said("explored.current"), current)))
    return chapter("", said("explored.planned", planned=sum(counts.values()), **counts), designs)


def _left(key: str, table: Table) -> str:
    return said(key, left=len(table.rows) - SHOWN) if len(table.rows) > SHOWN else ""


def _to_win(conditions: Sequence[Condition], beside: Option | None) -> str:
    if beside is None:
        return ""
    texts = (c.text if c.possible else said("explored.not possible", text=c.text) for c in conditions)
    return chapter(said("explored.to win", beside=beside), *texts)


def _in_short(option: Option, currency: str) -> str:
    """Describe a design with its results and the exclusions of its cost, or why it is out."""
    hosts = option.hosts or 0
    if option.reasons:
        return said("explored.out", option=option, reasons="; ".join(option.reasons))
    if option.unpriced:
        return said("explored.unpriced", option=option, hosts=hosts, names=", ".join(option.unpriced))
    cost = "-" if option.net_present is None else money(option.net_present, currency)
    key = "explored.in short growing" if (option.hosts_at_end or 0) > hosts else "explored.in short"
    parts = [said(key, option=option, cost=cost, hosts=hosts)]
    if option.excludes:
        parts.append(said("explored.leaves out", names="; ".join(option.excludes)))
    return "; ".join([*parts, *(said("explored.confirm", text=text) for text in option.confirm)])


def exploration_csv(found: Exploration, scenario: Scenario) -> str:
    """Every design in a row of CSV, the ranked first; text that a spreadsheet would take for a formula is quoted with an apostrophe.

    Columns are ``status`` (winner, ranked, unpriced, rejected), ``rank``, ``frontier``, the fields of Candidate and of Option, the
    ``currency`` and ``why_not``.
    """
    return csv_text(explore.every_design(exploration_dict(found, scenario)))


def boards_dict(cards: Sequence[BoardCard], scenario: Scenario) -> dict[str, Any]:
    """Return boards compared by the same work as plain JSON values, all finite.

    Keys ``boards`` (each the fields of its option with ``gpu``, ``name``, ``can``, ``works`` and ``differences``), ``cheapest`` (the id of a
    board; null without one), ``demand`` (the users, promises and tolerance that all serve, in words), ``message`` and ``currency``.
    """
    best = next((card for card in cards if card.can and not card.option.unpriced), None)
    boards = [fields_of(card.option) | fields_of(card) | {"can": card.can} for card in cards]
    people, failures = sum(group.people for group in scenario.groups), scenario.availability.host_failures
    return as_json(
        boards=[{name: board[name] for name in board if name != "option"} for board in boards],
        cheapest=best and best.gpu,
        demand=said("same.demand", people=people, groups=len(scenario.groups), failures=failures),
        message="; ".join(map(_hosts_of, cards)),
        currency=scenario.cost.currency,
    )


def _hosts_of(card: BoardCard) -> str:
    key = "same.hosts" if card.can else "same.cannot"
    return said(key, board=model_name(card.name), hosts=card.option.hosts or 0)


def boards_text(cards: Sequence[BoardCard], scenario: Scenario) -> str:
    """Return boards compared by the same work as text."""
    data = boards_dict(cards, scenario)
    table, works = explore.same_boards(data), explore.same_works(data)
    head = chapter("", data["message"], data["demand"])
    return page(scenario.name, head, chapter(table, below=("remarks",)), chapter(works, below=("how",)))


def boards_csv(cards: Sequence[BoardCard], scenario: Scenario) -> str:
    """Every workload on every board in a row of CSV, with hosts and cost of the board's design."""
    return csv_text(explore.same_works(boards_dict(cards, scenario)))


def sensitivity_dict(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> dict[str, Any]:
    """Return the strongest drivers of the answer as plain JSON values, all finite."""
    cost, currency = plan.costs.net_present if plan.costs else None, plan.scenario.cost.currency
    return as_json(net_present=cost, hosts=plan.totals.hosts, currency=currency, bars=bars, thresholds=limits)


@spoken
def sensitivity_text(plan: Plan, bars: Sequence[Bar], limits: Sequence[Threshold]) -> str:
    """Return the strongest drivers of the answer as text."""
    name, currency = plan.scenario.name, plan.scenario.cost.currency
    if plan.costs is None:
        return page(name, said("sensitivity.nothing"))
    now, hosts = plan.costs.net_present, plan.totals.hosts
    data = sensitivity_dict(plan, bars, limits)
    broken = (
        bar for bar in bars if None in (bar.cost_low, bar.cost_high) or bar.unplaced_low or bar.unplaced_high
    )
    return page(
        name,
        said("sensitivity.as planned", cost=money(now, currency), hosts=hosts),
        explore.bars(data["bars"], now, currency),
        chapter(explore.thresholds(data["thresholds"]), title=said("sensitivity.no longer", hosts=hosts)),
        chapter(said("explored.notes"), *(f"{bar.label}: {bar.note}" for bar in broken)),
    )


def compare_dict(found: Comparison) -> dict[str, Any]:
    """Return plans in columns as plain JSON values."""
    return as_json(**fields_of(found))


def compare_text(found: Comparison) -> str:
    """Return plans in columns as text."""
    table = explore.compared(found)
    sentences = (Block(indented(sentence, 0)) for sentence in found.sentences)
    whole = chapter("", Block(text(table)), *map(Block, table.notes))
    return page("", whole, chapter(said("compared.in words"), *sentences))
