"""Explore: the designs that serve the same demand, ranked; why each other one loses, and what would make it win."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from gpuplan.analysis import ranking
from gpuplan.analysis.candidates import Candidate
from gpuplan.analysis.what_wins import Condition, to_win
from gpuplan.app.cards import Cell, bare, cell, details, heads, table
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import ADD_GROUP, background_card
from gpuplan.report import hours, number, percent
from gpuplan.scenario import Scenario
from gpuplan.wording import LICENCE_NAMES, capital, counted, money, stated_percent

SHOWN = 12
"""Designs of a ranking that are listed unasked."""
SHOWN_ALL = 40
"""Designs of a list that is opened."""
DRAWN = 300
"""Designs in the chart, the cheapest first."""
WINNER_LEAVES_OUT = "counts what the winner leaves out ("
NOW = re.compile(r" \(now [^)]*\)")
"""What a condition says of now, which has a column of its own."""
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


def _candidate(option: Option) -> Candidate:
    return Candidate(**option["candidate"])


def _record(option: Option) -> ranking.Option:
    """An option as the conditions are asked with: its candidate is what counts."""
    return ranking.Option(_candidate(option), str(option["label"]))


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
        return next((o["label"] for o in options if _plain(_candidate(o).apply(asked)) == now), None)

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
            scenario = _candidate(option).apply(plan.scenario)
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
    columns = heads(
        "Design",
        "Hosts",
        "GPUs",
        f"Net present, {found['currency']}",
        "GPU\u2011hour used",
        "Wait",
        "Short a year",
        "Peak kW",
        "Why it does not win",
        "",
        numeric=(1, 2, 3, 4, 5, 6, 7),
    )
    left = len(found["ranked"]) - SHOWN
    return table(
        columns,
        [_ranked_row(workbook, found, option) for option in listed],
        more=f"{number(left)} dearer designs are in the list below." if left > 0 else "",
    )


def _ranked_row(workbook: Workbook, found: dict[str, Any], option: Option) -> list[Cell]:
    label, winner = option["label"], found["winner"]
    wins = winner is not None and label == winner["label"]
    shown = on_screen(workbook)
    now = label == shown
    name = cell(label, tone="design gp-strong" if wins else "design")
    if wins:
        name |= {"tag": "winner", "tag_tone": "good"}
    notes = [
        text
        for text, said in (
            ("on the screen", now),
            ("as it was asked", label == found["asked"]["label"] and not now),
        )
        if said
    ]
    if notes:
        name["note"] = ", ".join(notes)
    acts = _use(label) if shown not in (None, label) else []
    if winner is not None and not wins:
        acts.append(
            {
                "event": "look",
                "rest": {"what": "other", "value": label},
                "text": "What would make it win?",
                "name": label,
            }
        )
    return [
        name | {"row": "gp-row-now" if now else ""},
        *_figures(option),
        cell("\u2013" if wins else _why_not(option), tone="small gp-why-not")
        | {"title": "; ".join(option["why_not"])},
        cell("", tone="do") | {"acts": acts},
    ]


def _why_not(option: Option) -> str:
    """Why an option does not win; what the winner leaves out is named above the table already."""
    return "; ".join(
        "counts what the winner leaves out" if text.startswith(WINNER_LEAVES_OUT) else text
        for text in option["why_not"]
    )


def _use(label: str) -> list[dict[str, Any]]:
    return [{"event": "use-option", "rest": {"option": label}, "text": "Use", "name": label}]


def _figures(option: Option) -> list[Cell]:
    assumed = [f"{number(option['assumed_prices'])} assumed"] * bool(option["assumed_prices"])
    title = "; ".join([*assumed, *(f"without {name}" for name in option["excludes"])])
    note = {"note": f"excl. {number(len(option['excludes']))}"} if option["excludes"] else {}
    return [
        cell(_or(option["hosts"], number), numeric=True),
        cell(_or(option["gpus"], number), numeric=True),
        cell(_or(option["net_present"], bare), numeric=True, tone="nowrap gp-strong")
        | {"title": title}
        | note,
        cell(_or(option["gpu_hour_used"], bare), numeric=True, tone="nowrap"),
        cell(_or(option["waiting_pct"], lambda pct: percent(pct / 100)), numeric=True, tone="nowrap"),
        cell(_or(option["short_h"], hours), numeric=True, tone="nowrap"),
        cell(_or(option["peak_w"], lambda watts: f"{watts / 1000:.3g}"), numeric=True),
    ]


def _or(value: Any, words: Any) -> str:
    return "\u2013" if value is None else str(words(value))


def ranked_data(workbook: Workbook) -> dict[str, Any]:
    """The dearer designs of the ranking, while the details are open."""
    found = workbook.exploring.found
    rest = found["ranked"][SHOWN:] if found else []
    data = details(
        workbook, "explore-ranked", "Dearer designs", f"{number(len(rest))}, and why each loses", bool(rest)
    )
    if found is None or not data["open"]:
        return data
    columns = heads(
        "Design",
        "Hosts",
        "GPUs",
        f"Net present, {found['currency']}",
        "Why it does not win",
        "",
        numeric=(1, 2, 3),
    )
    rows = []
    for option in rest[:SHOWN_ALL]:
        row = _ranked_row(workbook, found, option)
        rows.append([*row[:4], *row[8:]])
    return data | {"tables": [table(columns, rows, more=_cut(len(rest)))]}


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
    shown = on_screen(workbook)
    rows = [
        [
            cell(option["label"]),
            cell(_or(option["hosts"], number), numeric=True),
            cell(_or(option["gpus"], number), numeric=True),
            cell("; ".join(option["excludes"]), tone="small"),
            cell("", tone="do")
            | {"acts": _use(option["label"]) if shown not in (None, option["label"]) else []},
        ]
        for option in options[:SHOWN_ALL]
    ]
    columns = heads("Design", "Hosts", "GPUs", "Its cost leaves out", "", numeric=(1, 2))
    return data | {"tables": [table(columns, rows, more=_cut(len(options)))]}


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
    if not data["open"]:
        return data
    by_reason: dict[str, list[str]] = {}
    for option in options:
        reason = re.sub(r"(under |over )?\d[\d.]* %", "\u2026 %", "; ".join(option["reasons"]))
        by_reason.setdefault(reason, []).append(option["label"])
    listed = sorted(by_reason.items(), key=lambda each: (-len(each[1]), each[0]))
    rows = [
        [cell(reason), cell(number(len(labels)), numeric=True), cell(_some(labels), tone="small")]
        for reason, labels in listed[:SHOWN_ALL]
    ]
    columns = heads("Reason", "Designs", "Such as", numeric=(1,))
    return data | {"tables": [table(columns, rows, more=_cut(len(listed)))]}


def _some(labels: list[str], most: int = 3) -> str:
    return "; ".join(labels[:most]) + (
        f"; and {number(len(labels) - most)} more" if len(labels) > most else ""
    )


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
    columns = heads(
        "Design",
        f"Net present, {found['currency']}",
        "Short a year",
        "Wait",
        "Hosts",
        "",
        numeric=(1, 2, 3, 4),
    )
    rows = []
    for option in found["frontier"][:SHOWN_ALL]:
        row = _ranked_row(workbook, found, option)
        rows.append([row[0], row[3], row[6], row[5], row[1], row[9]])
    return data | {"tables": [table(columns, rows, more=_cut(len(found["frontier"])))]}


# What would have to be true


def to_win_data(workbook: Workbook) -> dict[str, Any]:
    """What would have to be true for another design to win, one input at a time."""
    found, plan = workbook.exploring.found, workbook.exploring.plan
    if found is None or plan is None or found["winner"] is None or len(found["ranked"]) < 2:
        return {"shown": False}
    asked, winner = plan.scenario, found["winner"]["label"]
    labels = [option["label"] for option in found["ranked"] if option["label"] != winner]
    chosen = workbook.looked.get("other", "")
    by_label = {option["label"]: option for option in found["ranked"]}
    listed = list(dict.fromkeys([*labels[:SHOWN], *([chosen] if chosen in labels else [])]))
    options = [("", "choose a design"), *((label, label) for label in listed)]
    data: dict[str, Any] = {
        "shown": True,
        "title": "What would have to be true for another design to win?",
        "selects": [
            {
                "what": "other",
                "label": "Design",
                "value": chosen if chosen in labels else "",
                "options": [{"value": value, "text": text} for value, text in options],
            }
        ],
        "stale": workbook.stale,
    }
    if chosen not in labels:
        return data
    conditions = workbook.exploring.later(
        f"to win: {chosen}",
        lambda: to_win(asked, workbook.catalog, _record(by_label[winner]), _record(by_label[chosen])),
    )
    if conditions is None:
        return data | {
            "text": [[{"text": "Both designs are planned with one input changed at a time \u2026"}]]
        }
    rows = [
        _condition_row(each) for each in sorted(conditions, key=lambda each: (not each.possible, each.beyond))
    ]
    columns = heads("Input", "Now", "Needed", "Possible", "", numeric=(1, 2))
    more = f"One input at a time; at the value needed it costs as much as {winner}."
    return data | {
        "tables": [table(columns, rows, more=more)] if rows else [],
        "text": [] if rows else [[{"text": "No single input makes it win."}]],
    }


def _condition_row(each: Condition) -> list[Cell]:
    if not each.possible:
        mark = {"sign": "\u2715", "text": "no", "tone": "bad"}
    elif each.beyond:
        mark = {"sign": "!", "text": "unlikely", "tone": "warn"}
    else:
        mark = {"sign": "\u2713", "text": "yes", "tone": "good"}
    return [
        cell(each.label),
        cell(_named(each, each.now), numeric=True),
        cell(_named(each, each.needed), numeric=True),
        cell("", tone="whole") | {"mark": mark},
        cell(capital(NOW.sub("", each.text.removeprefix(f"{each.label}: "))), tone="small"),
    ]


def _named(each: Condition, value: Any) -> str:
    """The value of an input, a licence by its name in the form."""
    return LICENCE_NAMES.get(each.path, {}).get(value) or _value(value, each.unit)


def _value(value: Any, unit: str) -> str:
    if value is None:
        return "\u2013"
    if isinstance(value, str):
        return value
    if len(unit) == 3 and unit.isupper():
        return bare(value)
    if unit in ("1", "%"):
        return stated_percent(float(f"{value:.4g}"))
    if unit == "year":
        return counted(value, "year")
    return f"{number(float(f'{value:.4g}'))} {unit}".strip()
