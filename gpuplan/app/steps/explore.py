"""Explore: the designs that serve the same demand, ranked, and why each other one loses."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.candidates import Candidate, KindCandidate
from gpuplan.analysis.candidates import asked as chosen_in
from gpuplan.analysis.ranking import WINNER_LEAVES_OUT
from gpuplan.app.background import Exploring
from gpuplan.app.cards import Body, Contents, Picture, act, background_card, card, details, panel
from gpuplan.app.state import Workbook
from gpuplan.report.charts import explore as charts
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import explore as tables
from gpuplan.scenario import Scenario
from gpuplan.widgets import contract
from gpuplan.wording import money, said

SHOWN = 12
"""Designs of a ranking that are listed without a click."""
SHOWN_ALL = 40
"""Designs of a list that is opened."""

Option = dict[str, Any]
frontier_rows = Picture(
    lambda workbook: charts.frontier_rows(workbook.exploring.found) if workbook.exploring.found else {},
    charts.frontier_chart,
)


def _plain(scenario: Scenario) -> Scenario:
    return replace(scenario, origins=(), name="", customer="")


def candidate_of(option: Option) -> Candidate:
    """Return the candidate of an option."""
    parts = option["candidate"]
    return KindCandidate(**parts) if "of" in parts else Candidate(**parts)


def shown_design(workbook: Workbook, tried: Exploring, entered: str, options: Sequence[Option]) -> str | None:
    """Return the label of the option that is on the screen now, ``entered`` for the design itself; None if it is another one."""
    if tried.found is None or tried.plan is None:
        return None
    scenario = tried.plan.scenario

    def which() -> str | None:
        now = _plain(workbook.plan.scenario)
        if now == _plain(scenario):
            return entered
        chosen = chosen_in(now)
        for option in options:
            candidate = candidate_of(option)
            alike = replace(candidate, sharing=chosen.sharing) == chosen  # only then it is worth applying
            if alike and _plain(candidate.apply(scenario, workbook.catalog)) == now:
                return str(option["label"])
        return None

    return workbook.once(f"{tried.command}: on the screen, of {hash(scenario)}", which)


def put_design(workbook: Workbook, tried: Exploring, option: Option) -> None:
    """Put a planned design in place of the one on the screen; undo brings it back."""
    if tried.plan is not None:
        now, scenario = workbook.scenario, candidate_of(option).apply(tried.plan.scenario, workbook.catalog)
        other = replace(scenario, name=now.name, customer=now.customer)
        workbook.use(other, said("screen.explore.now", label=option["label"]))


def on_screen(workbook: Workbook) -> str | None:
    """Return the label of the explored design that is on the screen now; None if it is another one."""
    found = workbook.exploring.found
    entered = str(found["asked"]["label"]) if found else ""
    options = [*_found(workbook, "ranked"), *_found(workbook, "unpriced")]
    return shown_design(workbook, workbook.exploring, entered, options)


def use_option(workbook: Workbook, label: str) -> None:
    """Put an explored design in place of the one on the screen; undo brings it back."""
    options = [*_found(workbook, "ranked"), *_found(workbook, "unpriced")]
    option = next((entry for entry in options if entry["label"] == label), None)
    if option is not None and on_screen(workbook) is not None:  # else later changes would be lost
        put_design(workbook, workbook.exploring, option)


@card("run")
def explore_data(workbook: Workbook) -> dict[str, Any]:
    result = workbook.exploring.found
    old = result is not None and on_screen(workbook) is None
    go, empty = said("screen.explore.again" if result else "screen.explore.go"), not workbook.plan.pools
    runner = workbook.exploring.runner
    return background_card(workbook, runner, "explore", go, empty=empty) | {
        "text": _said(workbook, old),
        "tables": [_ranking(workbook, result)] if result and result["ranked"] else [],
        "after": list(result["notes"]) if result else [],
        "old": old,
    }


def _said(workbook: Workbook, old: bool) -> list[str]:
    exploring = workbook.exploring
    result = exploring.found
    if result is None:
        if exploring.runner.state == "cancelled":
            return [said("screen.stopped")]
        if not workbook.plan.pools:
            return [said("screen.add a workload first")]
        return [said("screen.explore.every design")]
    old_words = [said("screen.explore.old")] if old else []
    kinds = ("ranked", "unpriced", "rejected")
    numbers = {kind: len(result[kind]) for kind in kinds}
    counts = said("screen.explore.counts", years=workbook.scenario.cost.years, **numbers)
    if result["winner"] is None:
        return [*old_words, counts, said("screen.explore.no winner")]
    return [*old_words, " ".join(_winner(result["winner"], result["asked"], result["currency"])), counts]


def _winner(winner: Option, entered: Option, currency: str) -> Iterator[str]:
    key = "screen.explore.wins without" if winner["excludes"] else "screen.explore.wins"
    left_out, cost = "; ".join(winner["excludes"]), money(winner["net_present"], currency)
    yield said(key, label=winner["label"], cost=cost, excludes=left_out)
    if winner["confirm"]:
        yield said("screen.explore.confirm", names=" and ".join(winner["confirm"]))
    if winner["label"] == entered["label"]:
        yield said("screen.explore.is current")
    elif entered["net_present"] is not None and not entered["reasons"]:
        more = entered["net_present"] - winner["net_present"]
        key = "screen.explore.costs more" if more > 0 else "screen.explore.costs less"
        yield said(key, cost=money(abs(more), currency))
        if set(entered["excludes"]) != set(winner["excludes"]):
            yield said("screen.explore.other items")


def _ranking(workbook: Workbook, found: dict[str, Any]) -> dict[str, Any]:
    """Return the cheapest design on each hardware, including the one explored from."""
    entered, listed = found["asked"], _listed_first(found)
    if entered["label"] not in {o["label"] for o in listed} and not entered["reasons"]:
        listed = [*listed, entered]
    left = len(found["ranked"]) - len(_listed_first(found))
    more = said("screen.explore.cheapest", left=left) if left > 0 else ""
    return screen(_designs(workbook, found, listed), more=more)


def _listed_first(found: dict[str, Any]) -> list[Option]:
    return list(found["best"][:SHOWN])


def _designs(workbook: Workbook, found: dict[str, Any], options: list[Option]) -> Table:
    table = tables.designs(found, options)
    table = table.dressed("label", lambda n, _: _name(workbook, found, options[n]))
    table = table.dressed("net_present", lambda n, _: _cost(options[n]))
    table = table.dressed("why_not", lambda n, _: _why_not(options[n], _wins(found, options[n])))
    for column in ("gpu_hour_used", "waiting_pct", "short_h"):
        table = table.dressed(column, lambda *_: {"tone": "nowrap"})
    acts = [Cell("", tone="do", more={"acts": _acts(workbook, found, option)}) for option in options]
    return table.beside(Column("acts", ""), acts, after="why_not")


def _wins(found: dict[str, Any], option: Option) -> bool:
    return found["winner"] is not None and option["label"] == found["winner"]["label"]


def _name(workbook: Workbook, found: dict[str, Any], option: Option) -> dict[str, Any]:
    label = option["label"]
    now, entered = label == on_screen(workbook), label == found["asked"]["label"]
    name = {"tone": "design", "row": "gp-row-now" if now else ""}
    if _wins(found, option):
        name |= {"tone": "design gp-strong", "tag": "winner", "tag_tone": "good"}
    if now or entered:
        name["note"] = said("screen.explore.on screen" if now else "screen.explore.as entered")
    return name


def _cost(option: Option) -> dict[str, Any]:
    """Return the number of assumed prices of a cost, and the items it leaves out."""
    prices, left_out = option["assumed_prices"], option["excludes"]
    assumed = [said("screen.prices.assumed", count=prices)] if prices else []
    title = "; ".join([*assumed, *(said("screen.explore.without", name=name) for name in left_out)])
    note = {"note": said("screen.explore.excluded", count=len(left_out))} if left_out else {}
    return {"tone": "nowrap gp-strong", "title": title} | note


def _why_not(option: Option, wins: bool) -> dict[str, Any]:
    """Say why an option does not win; items left out by the winner are already named above the table."""
    start = WINNER_LEAVES_OUT
    said = "; ".join(start if text.startswith(start) else text for text in option["why_not"])
    why = "; ".join(option["why_not"])
    return {"text": "\u2013" if wins else said, "title": why, "tone": "small gp-why-not"}


def _acts(workbook: Workbook, found: dict[str, Any], option: Option) -> list[contract.Act]:
    label, acts = option["label"], _use(workbook, option)
    if found["winner"] is not None and not _wins(found, option):
        acts.append(act("look", said("screen.explore.how to win"), label, what="other", value=label))
    return acts


def _use(workbook: Workbook, option: Option) -> list[contract.Act]:
    """Return the button that puts a design on the screen, unless it is there or later changes would be lost."""
    label = option["label"]
    if on_screen(workbook) in (None, label):
        return []
    return [act("use-option", said("screen.use"), label, option=label)]


def _found(workbook: Workbook, what: str) -> list[Option]:
    return list((workbook.exploring.found or {}).get(what, ()))


def _dearer(workbook: Workbook) -> list[Option]:
    result = workbook.exploring.found
    first = {option["label"] for option in _listed_first(result)} if result else set()
    return [option for option in _found(workbook, "ranked") if option["label"] not in first]


@details("explore-ranked", _dearer)
def ranked_data(workbook: Workbook, options: list[Option]) -> Body:
    """Return the designs of the ranking that are not the cheapest on their hardware, or dearer."""
    return _listed(workbook, options, "gpus", "net_present", "why_not")


def _listed(workbook: Workbook, options: list[Option], *columns: str) -> Body:
    table = _designs(workbook, workbook.exploring.found or {}, options[:SHOWN_ALL])
    return {"tables": [screen(table.only("label", "hosts", *columns, "acts"), more=_cut(len(options)))]}


def _cut(count: int) -> str:
    return said("screen.explore.and more", left=count - SHOWN_ALL) if count > SHOWN_ALL else ""


@details("explore-unpriced", partial(_found, what="unpriced"))
def unpriced_data(workbook: Workbook, options: list[Option]) -> Body:
    listed = options[:SHOWN_ALL]
    acts = [Cell("", tone="do", more={"acts": _use(workbook, option)}) for option in listed]
    table = tables.without_price(listed).beside(Column("acts", ""), acts, after="excludes")
    return {"tables": [screen(table, more=_cut(len(options)))]}


@details("explore-rejected", partial(_found, what="rejected"))
def rejected_data(workbook: Workbook, _rejected: Sequence[Any]) -> Body:
    """Return rejected designs, with the reason; equal reasons together, even if the share in them differs."""
    table = tables.reasons(workbook.exploring.found or {})
    return {"tables": [screen(table.top(SHOWN_ALL), more=_cut(len(table.rows)))]}


def _priced(workbook: Workbook) -> list[Option]:
    result = workbook.exploring.found
    return charts.priced(result) if result else []


@panel()
def frontier_head(workbook: Workbook) -> Contents:
    return {} if _priced(workbook) else None


@details("explore-frontier", lambda workbook: _priced(workbook) and _found(workbook, "frontier"))
def frontier_table(workbook: Workbook, frontier: list[Option]) -> Body:
    return _listed(workbook, frontier, "net_present", "waiting_pct", "short_h")
