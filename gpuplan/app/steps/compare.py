"""Designs side by side: the one on the screen, those pinned or offered, with their differences and conditions to win."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.alternatives import nearby
from gpuplan.analysis.break_even import Condition, to_win
from gpuplan.analysis.compare import MOST, THIS, CompareRow, Comparison, compare_plans, design_name, named
from gpuplan.analysis.option import Option
from gpuplan.app.cards import Card, Contents, panel, plain, select, tried
from gpuplan.app.header import price_name
from gpuplan.app.state import Workbook
from gpuplan.app.steps import explore
from gpuplan.plan import Plan
from gpuplan.report.headlines import HEADLINES, Headline
from gpuplan.report.side_by_side import Design, cheapest, design, others, rows
from gpuplan.report.table import Cell, Table, screen, tabulate
from gpuplan.report.tables import explore as tables
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.widgets import contract
from gpuplan.wording import LICENCE_NAMES, capital, is_currency, said

DIFFERS = {"tone": "differs", "mark": {"sign": "\u2260", "text": "", "tone": "differs"}}
NOW = re.compile(r" \(now [^)]*\)")
"""Part of a condition with the present value, which has a column of its own."""
SIGNS = {"good": "\u2713", "warn": "!", "bad": "\u2715", "": "\u2013"}
IMPOSSIBLE = {"sign": "\u2715", "text": "no", "tone": "bad"}
LIKELY = {
    (True, False): {"sign": "\u2713", "text": "yes", "tone": "good"},
    (True, True): {"sign": "!", "text": "unlikely", "tone": "warn"},
    (False, False): IMPOSSIBLE,
    (False, True): IMPOSSIBLE,
}
"""(possible, value beyond the known range) of a condition -> a sign and a word."""


def _compared(workbook: Workbook) -> Comparison | None:
    """Return the designs beside each other: the kept ones, and the one on the screen last; None if none was kept."""
    kept = workbook.kept
    if not kept:
        return None

    def compared() -> Comparison:
        others = [named(other.plan, other.name) for other in kept]
        return compare_plans([*others, named(workbook.checked, THIS)])

    return workbook.once(f"compare: {[(other.name, other.link.id) for other in kept]}", compared)


def message(workbook: Workbook) -> Headline:
    """Return which of the designs costs least, or the next action."""
    return Headline(cheapest(_designs(workbook)[0]) or HEADLINES["compare"](workbook.plan).sentence)


def _designs(workbook: Workbook) -> tuple[Sequence[Design], Sequence[str]]:
    """Return the figures of the design on the screen, of those pinned and those offered, and notes on them; what takes long later."""
    plan, checked, kept = workbook.plan, workbook.checked, workbook.kept
    if not plan.pools:
        return (), ()
    beside = (*((each.name, each.plan.scenario) for each in kept), *_offered(workbook))
    key = f"compare: beside {[name for name, _ in beside]}, {[each.link.id for each in kept]}"
    found = workbook.later(key, partial(others, scenarios=beside)) if beside else ([], [])

    def designs() -> tuple[Design, ...]:
        pinned = (design(each.name, each.plan, plan, checked=False) for each in kept)
        return (design(THIS, checked, plan), *(found[0] if found else pinned))

    return workbook.once(f"{key} {found is None} {checked is plan}", designs), found[1] if found else ()


def _offered(workbook: Workbook) -> tuple[tuple[str, Scenario], ...]:
    """Return designs with one decision changed, while none that is pinned differs from the one on the screen."""
    plan, kept = workbook.plan, workbook.kept
    if workbook.stale or any(each.scenario != workbook.scenario for each in kept):
        return ()
    options, _ = tried(workbook, "compare: nearby", lambda: nearby(plan.scenario, plan.catalog))
    return (options or ())[: MOST - 1 - len(kept)]


@partial(Card, "compare")
def designs_data(workbook: Workbook) -> contract.Compare:
    """Return the designs in columns, and a row for each of their figures; those that are not planned yet with their names alone."""
    designs, notes = _designs(workbook)
    kept, offered = [each.name for each in workbook.kept], [name for name, _ in _offered(workbook)]
    names = [(THIS, "now"), *((name, "kept") for name in kept), *((name, "offered") for name in offered)]
    known = {each.name: each for each in designs}
    hatched = said("screen.compare.hatched") if any(each.missed for each in designs) else ""
    return {
        "title": hatched if designs else said("screen.compare.nothing yet"),
        "off": workbook.full or workbook.stale or not designs,
        "stale": workbook.stale,
        "about": design_name(workbook.plan.scenario, workbook.catalog),
        "designs": [_column(name, kind, known.get(name)) for name, kind in names if designs],
        "rows": rows(designs),  # type: ignore[typeddict-item]
        "notes": notes,
        "others": _others(workbook),
    }


def _column(name: str, kind: Any, of: Design | None) -> contract.Compared:
    standing = contract.Mark(sign=SIGNS[of.tone], text=of.standing, tone=of.tone) if of else None
    waiting = "" if of else said("screen.planning")
    missed = of is not None and of.missed
    return {"name": name, "kind": kind, "standing": standing, "waiting": waiting, "missed": missed}


def _others(workbook: Workbook) -> list[contract.Carried]:
    others = () if workbook.full else workbook.others
    named = ((kept, kept.scenario.customer or kept.scenario.name) for kept in others)
    told = ((k, said("screen.kept.of other", name=k.name, of=of)) for k, of in named)
    return [{"name": k.name, "design": k.link.design, "told": words} for k, words in told]


def try_out(workbook: Workbook, name: str) -> None:
    """Pin the design on the screen, and replace it by one that is offered."""
    now, offered = workbook.scenario, dict(_offered(workbook))
    if name not in offered:
        return  # of a design that has changed since
    if not any(kept.scenario == now for kept in workbook.kept):
        workbook.keep()
    other = replace(offered[name], name=now.name, customer=now.customer)
    workbook.use(other, said("screen.compare.now on screen", name=name))


def pin(workbook: Workbook, name: str) -> None:
    """Pin a design that is offered."""
    if scenario := dict(_offered(workbook)).get(name):
        workbook.keep_beside(scenario)


@panel()
def results_data(workbook: Workbook) -> Contents:
    comparison = _compared(workbook)
    if comparison is None:
        return said("screen.compare.keep a design")
    return _side_by_side(workbook, comparison, [row for row in comparison.rows if not _is_input(row)])


@panel()
def inputs_data(workbook: Workbook) -> Contents:
    comparison = _compared(workbook)
    if comparison is None:
        return None
    rows = [row for row in comparison.rows if _is_input(row)]
    return _side_by_side(workbook, comparison, rows) if rows else said("screen.compare.no input")


def _is_input(row: CompareRow) -> bool:
    return row.key in FIELD_BY_PATH or row.key.startswith(("groups.", "prices.", "ranges."))


def _side_by_side(workbook: Workbook, found: Comparison, rows: Sequence[CompareRow]) -> Table:
    """Return the designs in columns; values that differ from the first design are marked."""
    table = tables.compared(replace(found, rows=tuple(rows)), workbook.catalog).without("differs")
    table = replace(table, notes=())
    tones = ["strong" if row.differs else "" for row in rows]
    table = table.dressed("label", lambda n, _: {"text": _label(workbook, rows[n]), "tone": tones[n]})
    for column in table.columns[1:]:
        table = table.dressed(column.key, lambda n, cell: {} if cell.value == rows[n].values[0] else DIFFERS)
    return table


def _label(workbook: Workbook, row: CompareRow) -> str:
    """Return the name of a row; for a price the name of its item, for a range the name of its input."""
    within = row.key.removeprefix("ranges.")
    if row.key.startswith("prices."):
        plans = (workbook.plan, *(kept.plan for kept in workbook.kept))
        return said("screen.compare.price", name=price_name(row.key.removeprefix("prices."), *plans))
    if within != row.key and not within.startswith("prices."):
        return said("screen.compare.range", name=field_of(within).label)
    return row.label


@panel()
def to_win_data(workbook: Workbook) -> Contents:
    exploring = workbook.exploring
    result, plan = exploring.found, exploring.plan
    if result is None or plan is None or result["winner"] is None or len(result["ranked"]) < 2:
        return None
    winner = result["winner"]["label"]
    others = {option["label"]: option for option in result["ranked"] if option["label"] != winner}
    chosen = workbook.chosen("other", ["", *others])
    shown = {label: label for label in [*list(others)[: explore.SHOWN], chosen] if label}
    options = {"": said("screen.compare.choose")} | shown
    data = {"selects": [select("other", said("screen.compare.design"), chosen, options)]}
    if not chosen:
        return data
    duel = partial(_to_win, options=(result["winner"], others[chosen]))
    conditions = exploring.later(f"to win: {chosen}", duel)
    if conditions is None:
        return data | {"text": [plain(said("screen.compare.planning both"))]}
    if not conditions:
        return data | {"text": [plain(said("screen.compare.no single input"))]}
    more = said("screen.compare.one at a time", winner=winner)
    return data | {"tables": [screen(_conditions(conditions), more=more)]}


def _to_win(plan: Plan, options: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Condition, ...]:
    first, other = (Option(explore.candidate_of(option), str(option["label"])) for option in options)
    return to_win(plan.scenario, plan.catalog, first, other)


def _conditions(found: Sequence[Condition]) -> Table:
    own: dict[str, Any] = {"text": _words, "now": lambda each: _named(each, each.now)}
    own["needed"] = lambda each: _named(each, each.needed)
    own["possible"] = lambda o: Cell("", tone="whole", more={"mark": LIKELY[o.possible, o.beyond]})
    ordered = sorted(found, key=lambda each: (not each.possible, each.beyond))
    return tabulate("conditions", ordered, title="", **own)


def _words(each: Condition) -> Cell:
    return Cell(capital(NOW.sub("", each.text.removeprefix(f"{each.label}: "))), tone="small")


def _named(each: Condition, value: Any) -> Cell:
    if value is None:
        return Cell(value, words="\u2013")
    priced = is_currency(each.unit)
    shown = float(f"{value:.4g}") if isinstance(value, float) and not priced else value
    words = tables.value_words(each.path, shown, "currency" if priced else each.unit)
    return Cell(value, words=LICENCE_NAMES.get(each.path, {}).get(value) or words)
