"""Explore: the designs that serve the same demand, ranked, and why each other one loses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.candidates import asked as chosen_in
from gpuplan.analysis.ranking import WINNER_LEAVES_OUT
from gpuplan.app.cards import Card, Contents, Picture, act, background_card, details, panel
from gpuplan.app.state import Workbook
from gpuplan.report import number
from gpuplan.report.charts import explore as charts
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import explore as tables
from gpuplan.scenario import Scenario
from gpuplan.widgets import contract
from gpuplan.wording import money

SHOWN = 12
"""Designs of a ranking that are listed without a click."""
SHOWN_ALL = 40
"""Designs of a list that is opened."""

Option = dict[str, Any]


# What is on the screen


def _plain(scenario: Scenario) -> Scenario:
    """Return a scenario without the origins of its inputs, and without its names."""
    return replace(scenario, origins=(), name="", customer="")


def candidate_of(option: Option) -> Candidate:
    """Return the candidate of an option."""
    return Candidate(**option["candidate"])


def on_screen(workbook: Workbook) -> str | None:
    """Return the label of the explored design that is on the screen now; None if it is another one."""
    exploring = workbook.exploring
    result = exploring.found
    if result is None or exploring.plan is None:
        return None
    scenario = exploring.plan.scenario

    def which() -> str | None:
        now = _plain(workbook.plan.scenario)
        if now == _plain(scenario):
            return str(result["asked"]["label"])
        chosen = chosen_in(now)
        for option in [*_found(workbook, "ranked"), *_found(workbook, "unpriced")]:
            candidate = candidate_of(option)
            alike = replace(candidate, sharing=chosen.sharing) == chosen  # only then it is worth applying
            if alike and _plain(candidate.apply(scenario, workbook.catalog)) == now:
                return str(option["label"])
        return None

    return workbook.once(f"explore: on the screen, of {hash(scenario)}", which)


def use_option(workbook: Workbook, label: str) -> None:
    """Put an explored design in place of the one on the screen; undo brings it back."""
    plan, now = workbook.exploring.plan, workbook.scenario
    options = [*_found(workbook, "ranked"), *_found(workbook, "unpriced")]
    option = next((entry for entry in options if entry["label"] == label), None)
    if plan is None or option is None or on_screen(workbook) is None:
        return  # later changes would be lost
    scenario = candidate_of(option).apply(plan.scenario, workbook.catalog)
    workbook.use(replace(scenario, name=now.name, customer=now.customer), f"The design is now {label}.")


# Running it


@partial(Card, "run")
def explore_data(workbook: Workbook) -> dict[str, Any]:
    """Return the designs to explore, the progress, and the winner."""
    result = workbook.exploring.found
    old = result is not None and on_screen(workbook) is None
    texts, empty = ("Explore designs", "Explore again"), not workbook.plan.pools
    runner = workbook.exploring.runner
    return background_card(workbook, runner, "explore", texts, again=bool(result), empty=empty) | {
        "title": "Explore designs",
        "hint": "GPU, server, GPUs per host, sharing and link, for the same workloads and failure tolerance",
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
            return ["Stopped; nothing was changed."]
        if not workbook.plan.pools:
            return ["Add a workload first."]
        return ["Every sensible design is planned in full; you can keep working meanwhile."]
    said = ["An input has changed since: explore again to use one of these designs."] if old else []
    counts = (
        f"{number(len(result['ranked']))} designs are ranked by net present cost, {number(len(result['unpriced']))} have no price, "
        f"{number(len(result['rejected']))} are ruled out."
    )
    winner, entered = result["winner"], result["asked"]
    if winner is None:
        return [*said, counts, "No design can be ranked; what is missing or ruled out is listed below."]
    text = f"{winner['label']} wins with a net present cost of {money(winner['net_present'], result['currency'])}"
    text += f", without {'; '.join(winner['excludes'])}." if winner["excludes"] else "."
    if winner["confirm"]:
        text += f" Confirm {' and '.join(winner['confirm'])}."
    if winner["label"] == entered["label"]:
        text += " It is the current design."
    elif entered["net_present"] is not None and not entered["reasons"]:
        more = entered["net_present"] - winner["net_present"]
        text += f" The current design costs {money(abs(more), result['currency'])} {'more' if more > 0 else 'less'}."
        if set(entered["excludes"]) != set(winner["excludes"]):
            text += " Their costs exclude different items."
    return [*said, text, counts]


# The ranking


def _ranking(workbook: Workbook, found: dict[str, Any]) -> dict[str, Any]:
    """Return the cheapest design on each hardware, including the one explored from."""
    entered, listed = found["asked"], _listed_first(found)
    if entered["label"] not in {o["label"] for o in listed} and not entered["reasons"]:
        listed = [*listed, entered]
    left = len(found["ranked"]) - len(_listed_first(found))
    more = (
        f"The cheapest design for each hardware; {number(left)} more designs are in the list below."
        if left > 0
        else ""
    )
    return screen(_designs(workbook, found, listed), more=more)


def _listed_first(found: dict[str, Any]) -> list[Option]:
    return list(found["best"][:SHOWN])


def _designs(workbook: Workbook, found: dict[str, Any], options: list[Option]) -> Table:
    """Return designs with the winner and the one on the screen marked, and the actions on each."""
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
        name["note"] = "on the screen" if now else "as entered"
    return name


def _cost(option: Option) -> dict[str, Any]:
    """Return the number of assumed prices of a cost, and the items it leaves out."""
    assumed = [f"{number(option['assumed_prices'])} assumed"] * bool(option["assumed_prices"])
    title = "; ".join([*assumed, *(f"without {name}" for name in option["excludes"])])
    note = {"note": f"excl. {number(len(option['excludes']))}"} if option["excludes"] else {}
    return {"tone": "nowrap gp-strong", "title": title} | note


def _why_not(option: Option, wins: bool) -> dict[str, Any]:
    """Say why an option does not win; items left out by the winner are already named above the table."""
    said = "; ".join(
        WINNER_LEAVES_OUT if text.startswith(WINNER_LEAVES_OUT) else text for text in option["why_not"]
    )
    return {
        "text": "\u2013" if wins else said,
        "title": "; ".join(option["why_not"]),
        "tone": "small gp-why-not",
    }


def _acts(workbook: Workbook, found: dict[str, Any], option: Option) -> list[contract.Act]:
    label, acts = option["label"], _use(workbook, option)
    if found["winner"] is not None and not _wins(found, option):
        acts.append(act("look", "How it could win", label, what="other", value=label))
    return acts


def _use(workbook: Workbook, option: Option) -> list[contract.Act]:
    """Return the button that puts a design on the screen, unless it is there or later changes would be lost."""
    label = option["label"]
    return [] if on_screen(workbook) in (None, label) else [act("use-option", "Use", label, option=label)]


def _found(workbook: Workbook, what: str) -> list[Option]:
    """Return the options of one kind, if something was explored."""
    return list((workbook.exploring.found or {}).get(what, ()))


_unpriced, _rejected, _frontier = (
    partial(_found, what=each) for each in ("unpriced", "rejected", "frontier")
)


def _counted(words: str, of: Callable[[Workbook], Sequence[Any]]) -> Callable[[Workbook], str]:
    return lambda workbook: words.format(number(len(of(workbook))))


def _dearer(workbook: Workbook) -> list[Option]:
    result = workbook.exploring.found
    first = {option["label"] for option in _listed_first(result)} if result else set()
    return [option for option in _found(workbook, "ranked") if option["label"] not in first]


@details("explore-ranked", "Other designs", _counted("{}, and why each loses", _dearer), _dearer)
def ranked_data(workbook: Workbook) -> Contents:
    """Return the designs of the ranking that are not the cheapest on their hardware, or dearer."""
    return _listed(workbook, _dearer(workbook), "gpus", "net_present", "why_not")


def _listed(workbook: Workbook, options: list[Option], *columns: str) -> Contents:
    table = _designs(workbook, workbook.exploring.found or {}, options[:SHOWN_ALL])
    return {"tables": [screen(table.only("label", "hosts", *columns, "acts"), more=_cut(len(options)))]}


def _cut(count: int) -> str:
    if count <= SHOWN_ALL:
        return ""
    return f"And {number(count - SHOWN_ALL)} more; \u2018gpuplan explore FILE --csv\u2019 lists all of them."


@details(
    "explore-works",
    "Work per GPU",
    lambda workbook: "how many GPUs of this design one GPU of another board replaces, and on what basis",
    partial(_found, what="works"),
)
def works_data(workbook: Workbook) -> Contents:
    """Return the comparison of the boards."""
    return {"tables": [screen(tables.works(workbook.exploring.found or {"works": []}))]}


@details(
    "explore-unpriced",
    "Without a price",
    _counted("{} that would work; use one, enter its prices at Cost and explore again", _unpriced),
    _unpriced,
)
def unpriced_data(workbook: Workbook) -> Contents:
    """Return designs that meet the demand, but whose GPUs or servers have no known price."""
    options = _unpriced(workbook)
    listed = options[:SHOWN_ALL]
    acts = [Cell("", tone="do", more={"acts": _use(workbook, option)}) for option in listed]
    table = tables.without_price(listed).beside(Column("acts", ""), acts, after="excludes")
    return {"tables": [screen(table, more=_cut(len(options)))]}


@details("explore-rejected", "Ruled out", _counted("{}, each with its reason", _rejected), _rejected)
def rejected_data(workbook: Workbook) -> Contents:
    """Return rejected designs, with the reason; equal reasons together, even if the share in them differs."""
    table = tables.reasons(workbook.exploring.found or {})
    return {"tables": [screen(table.top(SHOWN_ALL), more=_cut(len(table.rows)))]}


# The frontier


def _priced(workbook: Workbook) -> list[Option]:
    """Return the options that have every number of the chart."""
    result = workbook.exploring.found
    return charts.priced(result) if result else []


@panel("Cost, availability and waiting", "no other design beats one on the frontier in all three")
def frontier_head(workbook: Workbook) -> Contents:
    """Return the heading of the chart."""
    return {} if _priced(workbook) else None


@partial(Picture, draw=charts.frontier_chart)
def frontier_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the data of the chart of the frontier."""
    result = workbook.exploring.found
    return charts.frontier_rows(result) if result else {}


@details(
    "explore-frontier",
    "The frontier as a table",
    lambda workbook: _counted("{} designs", _frontier)(workbook) if workbook.exploring.found else "",
    _priced,
)
def frontier_table(workbook: Workbook) -> Contents:
    """Return the frontier as a table."""
    return _listed(workbook, _frontier(workbook), "net_present", "waiting_pct", "short_h")
