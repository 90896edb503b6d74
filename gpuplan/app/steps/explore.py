"""Explore: the designs that serve the same demand, ranked, and why each other one loses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.analysis.candidates import Candidate
from gpuplan.app.cards import details
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import ADD_GROUP, background_card
from gpuplan.report import hours, number, percent
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import explore as tables
from gpuplan.scenario import Scenario
from gpuplan.wording import money

SHOWN = 12
"""Designs of a ranking that are listed unasked."""
SHOWN_ALL = 40
"""Designs of a list that is opened."""
DRAWN = 300
"""Designs in the chart, the cheapest first."""
WINNER_LEAVES_OUT = "counts what the winner leaves out ("
KINDS = {
    "winner": "the winner",
    "asked": "as it was asked",
    "frontier": "on the frontier",
    "other": "beaten by another",
}
"""What a mark of the chart stands for."""

Option = dict[str, Any]


def _priced(found: dict[str, Any]) -> list[Option]:
    """Options that have every number of the chart."""
    return [o for o in found["ranked"] if o["net_present"] is not None and o["short_h"] is not None]


# What is on the screen


def _plain(scenario: Scenario) -> Scenario:
    """A scenario without where its inputs are known from, and without what it is called."""
    return replace(scenario, origins=(), name="", customer="")


def candidate_of(option: Option) -> Candidate:
    """What is chosen in an option."""
    return Candidate(**option["candidate"])


def on_screen(workbook: Workbook) -> str | None:
    """Label of the explored design that is on the screen now; None if it is another one."""
    exploring = workbook.exploring
    found = exploring.found
    if found is None or exploring.plan is None:
        return None
    asked = exploring.plan.scenario

    def which() -> str | None:
        now = _plain(workbook.plan.scenario)
        if now == _plain(asked):
            return str(found["asked"]["label"])
        options = [*found["ranked"], *found["unpriced"]]
        return next((o["label"] for o in options if _plain(candidate_of(o).apply(asked)) == now), None)

    return workbook.once(f"explore: on the screen, of {hash(asked)}", which)


def use_option(workbook: Workbook, label: str) -> None:
    """Put an explored design in place of the one on the screen; undo brings it back."""
    found, plan = workbook.exploring.found, workbook.exploring.plan
    if found is None or plan is None:
        return
    if on_screen(workbook) is None:
        return  # what was changed since would be lost
    now = workbook.scenario
    for option in (*found["ranked"], *found["unpriced"]):
        if option["label"] == label:
            scenario = candidate_of(option).apply(plan.scenario)
            workbook.use(
                replace(scenario, name=now.name, customer=now.customer), f"The design is now {label}."
            )
            return


# Running it


def explore_data(workbook: Workbook) -> dict[str, Any]:
    """What is explored, how far it is, and which design wins."""
    found = workbook.exploring.found
    old = found is not None and on_screen(workbook) is None
    card = background_card(
        workbook.exploring.runner,
        "explore",
        ("Explore designs", "Explore again"),
        again=bool(found),
        off=workbook.stale,
    )
    if not workbook.plan.pools and workbook.exploring.runner.state != "running":
        card["buttons"] = [ADD_GROUP]
    return card | {
        "title": "Explore designs",
        "hint": "GPU x server x GPUs per host x sharing x link x failures tolerated, for the same demand",
        "text": _said(workbook, old),
        "tables": [_ranking(workbook, found)] if found and found["ranked"] else [],
        "after": list(found["notes"]) if found else [],
        "old": old,
        "stale": workbook.stale,
    }


def _said(workbook: Workbook, old: bool) -> list[str]:
    exploring = workbook.exploring
    found = exploring.found
    if found is None:
        if exploring.runner.state == "cancelled":
            return ["Stopped; nothing was changed."]
        if not workbook.plan.pools:
            return ["No group asks for a GPU yet, so there is nothing to design."]
        return [
            "Every sensible design is planned as carefully as this one; it takes some seconds, and you can go on working."
        ]
    said = ["An input has changed since: explore again to use one of these designs."] if old else []
    counts = (
        f"{number(len(found['ranked']))} designs are ranked by net present cost, {number(len(found['unpriced']))} have no price, "
        f"{number(len(found['rejected']))} are ruled out."
    )
    winner, asked = found["winner"], found["asked"]
    if winner is None:
        return [*said, counts, "No design can be ranked: see below what is missing or ruled out."]
    text = f"{winner['label']} wins at {money(winner['net_present'], found['currency'])} net present"
    text += f", without {'; '.join(winner['excludes'])}." if winner["excludes"] else "."
    if winner["label"] == asked["label"]:
        text += " It is the design that was asked about."
    elif asked["net_present"] is not None and not asked["reasons"]:
        more = asked["net_present"] - winner["net_present"]
        text += f" The design that was asked about costs {money(abs(more), found['currency'])} {'more' if more > 0 else 'less'}."
        if _excluded(asked) != _excluded(winner):
            text += " Their costs leave out different things."
    return [*said, text, counts]


def _excluded(option: Option) -> set[str]:
    return set(option["excludes"])


# The ranking


def _ranking(workbook: Workbook, found: dict[str, Any]) -> dict[str, Any]:
    """The cheapest designs, the one that was asked about among them."""
    listed = found["ranked"][:SHOWN]
    asked = found["asked"]
    if asked["label"] not in {o["label"] for o in listed} and not asked["reasons"]:
        listed = [*listed, asked]
    left = len(found["ranked"]) - SHOWN
    more = f"{number(left)} dearer designs are in the list below." if left > 0 else ""
    return screen(_designs(workbook, found, listed), more=more)


def _designs(workbook: Workbook, found: dict[str, Any], options: list[Option]) -> Table:
    """Designs with the winner and the one on the screen marked, and what can be done with each."""
    table = tables.designs(found, options)
    table = table.dressed("label", lambda n, _: _name(workbook, found, options[n]))
    table = table.dressed("net_present", lambda n, _: _cost(options[n]))
    table = table.dressed("why_not", lambda n, _: _loses(found, options[n]))
    for column in ("gpu_hour_used", "waiting_pct", "short_h"):
        table = table.dressed(column, lambda *_: {"tone": "nowrap"})
    acts = [Cell("", tone="do", more={"acts": _acts(workbook, found, option)}) for option in options]
    return table.beside(Column("acts", ""), acts, after="why_not")


def _wins(found: dict[str, Any], option: Option) -> bool:
    return found["winner"] is not None and option["label"] == found["winner"]["label"]


def _name(workbook: Workbook, found: dict[str, Any], option: Option) -> dict[str, Any]:
    label = option["label"]
    now, asked = label == on_screen(workbook), label == found["asked"]["label"]
    name = {"tone": "design", "row": "gp-row-now" if now else ""}
    if _wins(found, option):
        name |= {"tone": "design gp-strong", "tag": "winner", "tag_tone": "good"}
    if now or asked:
        name["note"] = "on the screen" if now else "as it was asked"
    return name


def _cost(option: Option) -> dict[str, Any]:
    """How many prices of a cost are assumed, and what it leaves out."""
    assumed = [f"{number(option['assumed_prices'])} assumed"] * bool(option["assumed_prices"])
    title = "; ".join([*assumed, *(f"without {name}" for name in option["excludes"])])
    note = {"note": f"excl. {number(len(option['excludes']))}"} if option["excludes"] else {}
    return {"tone": "nowrap gp-strong", "title": title} | note


def _loses(found: dict[str, Any], option: Option) -> dict[str, Any]:
    return {
        "text": "\u2013" if _wins(found, option) else _why_not(option),
        "title": "; ".join(option["why_not"]),
        "tone": "small gp-why-not",
    }


def _why_not(option: Option) -> str:
    """Why an option does not win; what the winner leaves out is named above the table already."""
    return "; ".join(
        "counts what the winner leaves out" if text.startswith(WINNER_LEAVES_OUT) else text
        for text in option["why_not"]
    )


def _acts(workbook: Workbook, found: dict[str, Any], option: Option) -> list[dict[str, Any]]:
    acts = _use(workbook, option)
    if found["winner"] is not None and not _wins(found, option):
        rest = {"what": "other", "value": option["label"]}
        asked = {"event": "look", "rest": rest, "text": "What would make it win?", "name": option["label"]}
        acts.append(asked)
    return acts


def _use(workbook: Workbook, option: Option) -> list[dict[str, Any]]:
    """To put a design on the screen, unless it is there or what was changed since would be lost."""
    label = option["label"]
    if on_screen(workbook) in (None, label):
        return []
    return [{"event": "use-option", "rest": {"option": label}, "text": "Use", "name": label}]


def ranked_data(workbook: Workbook) -> dict[str, Any]:
    """The dearer designs of the ranking, while the details are open."""
    found = workbook.exploring.found
    rest = found["ranked"][SHOWN:] if found else []
    data = details(
        workbook, "explore-ranked", "Dearer designs", f"{number(len(rest))}, and why each loses", bool(rest)
    )
    if found is None or not data["open"]:
        return data
    table = _designs(workbook, found, rest[:SHOWN_ALL])
    table = table.only("label", "hosts", "gpus", "net_present", "why_not", "acts")
    return data | {"tables": [screen(table, more=_cut(len(rest)))]}


def _cut(count: int) -> str:
    if count <= SHOWN_ALL:
        return ""
    return f"And {number(count - SHOWN_ALL)} more; \u2018gpuplan explore FILE --csv\u2019 in a shell lists all of them."


def unpriced_data(workbook: Workbook) -> dict[str, Any]:
    """Designs that would do, but whose GPUs or servers nobody knows a price of."""
    found = workbook.exploring.found
    options = found["unpriced"] if found else []
    data = details(
        workbook,
        "explore-unpriced",
        "Without a price",
        f"{number(len(options))} that would do; use one, enter its prices at Cost and explore again",
        bool(options),
    )
    if not data["open"]:
        return data
    listed = options[:SHOWN_ALL]
    acts = [Cell("", tone="do", more={"acts": _use(workbook, option)}) for option in listed]
    table = tables.without_price(listed).beside(Column("acts", ""), acts, after="excludes")
    return data | {"tables": [screen(table, more=_cut(len(options)))]}


def rejected_data(workbook: Workbook) -> dict[str, Any]:
    """Designs that are ruled out, with the reason; those with the same reason together, whatever the share in it."""
    found = workbook.exploring.found
    options = found["rejected"] if found else []
    data = details(
        workbook,
        "explore-rejected",
        "Ruled out",
        f"{number(len(options))}, each with its reason",
        bool(options),
    )
    if found is None or not data["open"]:
        return data
    table = tables.reasons(found)
    return data | {"tables": [screen(table.top(SHOWN_ALL), more=_cut(len(table.rows)))]}


# The frontier


def frontier_head(workbook: Workbook) -> dict[str, Any]:
    """Heading of the chart."""
    found = workbook.exploring.found
    if found is None or not _priced(found):
        return {"shown": False}
    return {
        "shown": True,
        "title": "Cost, availability and waiting",
        "hint": "no design on the frontier is beaten in all three at once",
        "stale": workbook.stale,
    }


def frontier_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart draws: every priced design, its kind, and what it says."""
    found = workbook.exploring.found
    if found is None or not _priced(found):
        return {}
    frontier = {option["label"] for option in found["frontier"]}
    winner = found["winner"]["label"] if found["winner"] else ""
    asked = found["asked"]
    drawn = [*found["frontier"], *_priced(found)[:DRAWN]]
    if not asked["reasons"] and asked["net_present"] is not None:
        drawn.append(asked)
    rows = []
    for option in {option["label"]: option for option in drawn}.values():
        label = option["label"]
        kind = (
            "winner"
            if label == winner
            else "asked"
            if label == asked["label"]
            else "frontier"
            if label in frontier
            else "other"
        )
        rows.append(
            {
                "label": label,
                "cost": option["net_present"],
                "short_h": option["short_h"],
                "waiting": option["waiting_pct"] or 0.0,
                "kind": KINDS[kind],
                "money": money(option["net_present"], found["currency"]),
                "hours": hours(option["short_h"]),
                "wait": percent((option["waiting_pct"] or 0.0) / 100),
            }
        )
    order = list(KINDS.values())
    rows.sort(key=lambda row: -order.index(row["kind"]))  # the winner is drawn last, above the others
    return {"rows": rows, "kinds": order, "currency": found["currency"]}


def frontier_table(workbook: Workbook) -> dict[str, Any]:
    """The frontier as a table, while the details are open."""
    found = workbook.exploring.found
    shown = bool(found and _priced(found))
    hint = f"{number(len(found['frontier']))} designs" if found else ""
    data = details(workbook, "explore-frontier", "The frontier as a table", hint, shown)
    if found is None or not data["open"]:
        return data
    table = _designs(workbook, found, found["frontier"][:SHOWN_ALL])
    table = table.only("label", "hosts", "net_present", "waiting_pct", "short_h", "acts")
    return data | {"tables": [screen(table, more=_cut(len(found["frontier"])))]}
