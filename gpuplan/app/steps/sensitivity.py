"""Sensitivity: which inputs move cost and hosts most, each within its own range, and where the number of hosts changes."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import Cell, bare, cell, details, heads, select, table
from gpuplan.app.header import field_data, range_words
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import background_card
from gpuplan.report import amount, number
from gpuplan.scenario import field_of
from gpuplan.wording import BASIS_WORDS, money, stated_percent

SHOWN = 14
"""Bars that are drawn; the table has all of them."""
VIEWS = {"cost": "Net present cost", "hosts": "Hosts"}
"""What the tornado may show."""

Bar = dict[str, Any]


def words(value: Any, path: str, unit: str) -> str:
    """The value of an input as a reader sees it."""
    if value is None:
        return "\u2013"
    if isinstance(value, str | bool):
        return number(value)
    if not path.startswith("prices.") and field_of(path).kind == "share":
        return stated_percent(float(f"{value:.4g}"))
    if path.startswith("prices."):
        return bare(value)
    shown = float(f"{value:.4g}") if isinstance(value, float) else value
    return amount(shown, "" if unit in ("1", "") else unit)


def _bars(workbook: Workbook) -> list[Bar]:
    found = workbook.sensitivity.found
    return list(found["bars"]) if found else []


def _old(workbook: Workbook) -> bool:
    """Whether another design than the one on the screen was tried."""
    tried = workbook.sensitivity.plan
    return tried is None or tried.scenario != workbook.plan.scenario


def _now(workbook: Workbook, view: str) -> float:
    """What the answer was when the ranges were tried."""
    tried = workbook.sensitivity.plan
    if tried is None or tried.costs is None:
        return 0.0
    return tried.costs.net_present if view == "cost" else tried.totals.hosts


def sensitivity_data(workbook: Workbook) -> dict[str, Any]:
    """What is tried, how far it is, and what moves the answer most."""
    found = workbook.sensitivity.found
    old = found is not None and _old(workbook)
    card = background_card(
        workbook.sensitivity.runner,
        "sensitivity",
        ("Try the ranges", "Try the ranges again"),
        again=bool(found),
        off=workbook.stale or not workbook.plan.pools,
    )
    return card | {
        "title": "What moves the answer most",
        "hint": "the design planned again at the low and the high end of each input, one at a time",
        "text": _said(workbook, old),
        "old": old,
        "stale": workbook.stale,
    }


def _said(workbook: Workbook, old: bool) -> list[str]:
    sensitivity = workbook.sensitivity
    if sensitivity.found is None:
        if sensitivity.runner.state == "cancelled":
            return ["Stopped; nothing was changed."]
        return [
            "Each input has a range of its own: stated by you, of the catalog, or assumed for planning. Nothing is varied by a blanket share."
        ]
    said = ["The design or a range has changed since: try the ranges again."] if old else []
    bars = [bar for bar in _bars(workbook) if _swing(bar, "cost")]
    if not bars:
        return [*said, "No input moves the cost."]
    names = [bar["label"] for bar in bars[:3]]
    return [*said, f"The cost is moved most by: {'; '.join(names)}."]


def _swing(bar: Bar, view: str) -> float:
    """How far the ends of a bar are apart; 0 if one of them cannot be planned."""
    low, high = bar[f"{view}_low"], bar[f"{view}_high"]
    return 0.0 if low is None or high is None else abs(high - low)


def _view(workbook: Workbook) -> str:
    view = workbook.looked.get("swing", "cost")
    return view if view in VIEWS else "cost"


def tornado_head(workbook: Workbook) -> dict[str, Any]:
    """What the tornado shows."""
    if not _bars(workbook):
        return {"shown": False}
    return {
        "shown": True,
        "title": "From the low to the high end of each input",
        "selects": [select("swing", "Show", _view(workbook), VIEWS)],
        "stale": workbook.stale,
    }


def tornado_rows(workbook: Workbook) -> dict[str, Any]:
    """What the tornado draws: a bar for each input, from its low to its high end."""
    view, tried = _view(workbook), workbook.sensitivity.plan
    if not _bars(workbook) or tried is None or tried.costs is None:
        return {}
    bars = sorted(_bars(workbook), key=lambda bar: -_spread(bar, view, workbook))
    middle, currency = _now(workbook, view), tried.costs.currency
    rows = []
    for bar in bars[:SHOWN]:
        for end in ("low", "high"):
            value = bar[f"{view}_{end}"]
            if value is None or value == middle:
                continue
            text = money(value, currency) if view == "cost" else amount(value, "host")
            rows.append(
                {
                    "input": bar["label"],
                    "end": f"at its {end} end",
                    "value": value,
                    "middle": middle,
                    "at": words(bar[end], bar["path"], bar["unit"]),
                    "words": text,
                    "right": value > middle,
                }
            )
    title = f"Net present cost, {currency}" if view == "cost" else "Hosts"
    return {
        "rows": rows,
        "middle": middle,
        "title": title,
        "view": view,
        "inputs": list(dict.fromkeys(row["input"] for row in rows)),
    }


def _spread(bar: Bar, view: str, workbook: Workbook) -> float:
    """The width of a bar, with the design as it is for an end that cannot be planned."""
    ends = [
        _now(workbook, view),
        *(bar[f"{view}_{end}"] for end in ("low", "high") if bar[f"{view}_{end}"] is not None),
    ]
    return float(max(ends) - min(ends))


# Ranges


def ranges_data(workbook: Workbook) -> dict[str, Any]:
    """The range of each input, to be overwritten in place, and what the answer is at its ends."""
    bars = _bars(workbook)
    paths = {bar["path"] for bar in bars}
    stated = [path for path, _ in workbook.seen.ranges]
    stated += [path.removeprefix("ranges.") for path in workbook.drafts if path.startswith("ranges.")]
    others = [path for path in dict.fromkeys(stated) if path not in paths]
    currency = workbook.plan.costs.currency if workbook.plan.costs else ""
    rows = [_bar_row(workbook, bar) for bar in bars] + [_range_row(workbook, path) for path in others]
    return {
        "shown": bool(rows),
        "fold": True,
        "title": "Ranges, and the same as a table",
        "hint": "what each input may turn out to be; yours win over the catalog\u2019s",
        "text": [],
        "heads": heads(
            "Input",
            "Now",
            "Low to high",
            "Known",
            f"Cost at low, {currency}",
            "at high",
            "Hosts at low",
            "at high",
            "",
            numeric=(1, 4, 5, 6, 7),
        ),
        "rows": rows,
        "more": "Such as \u201c20 to 60\u201d; an empty field takes the range in grey.",
        "stale": workbook.stale or (bool(bars) and _old(workbook)),
    }


def _field(workbook: Workbook, path: str, empty: str) -> dict[str, Any]:
    return field_data(workbook, f"ranges.{path}", empty=empty)


def _bar_row(workbook: Workbook, bar: Bar) -> dict[str, Any]:
    path, unit = bar["path"], bar["unit"]
    return {
        "id": path,
        "name": bar["label"],
        "cells": [
            cell(bar["label"]),
            cell(words(bar["now"], path, unit), numeric=True, tone="nowrap"),
            cell("") | {"input": _field(workbook, path, range_words(path, (bar["low"], bar["high"])))},
            cell("") | ({"basis": bar["basis"]} if bar["basis"] in BASIS_WORDS else {}),
            cell(_amount(bar["cost_low"]), numeric=True),
            cell(_amount(bar["cost_high"]), numeric=True),
            cell(_count(bar["hosts_low"]), numeric=True),
            cell(_count(bar["hosts_high"]), numeric=True),
            cell(bar["note"], tone="small"),
        ],
    }


def _amount(cost: float | None) -> str:
    return "\u2013" if cost is None else bare(cost)


def _count(hosts: int | None) -> str:
    return "\u2013" if hosts is None else number(hosts)


def _range_row(workbook: Workbook, path: str) -> dict[str, Any]:
    """A range that is stated, but that was not tried yet."""
    label = field_of(path).label
    blank: list[Cell] = [cell("", numeric=True) for _ in range(4)]
    return {
        "id": path,
        "name": label,
        "cells": [
            cell(label) | {"note": path},
            cell(""),
            cell("") | {"input": _field(workbook, path, "")},
            cell(""),
            *blank,
            cell("not tried yet", tone="small"),
        ],
    }


# Thresholds


def thresholds_data(workbook: Workbook) -> dict[str, Any]:
    """The nearest values of each demand input at which the number of hosts changes."""
    found = workbook.sensitivity.found
    thresholds = found["thresholds"] if found else []
    data = details(
        workbook,
        "thresholds",
        "Where the number of hosts changes",
        f"{number(len(thresholds))} inputs of the demand",
        bool(thresholds),
    )
    data["stale"] = workbook.stale or _old(workbook)
    if not data["open"]:
        return data
    changing = [each for each in thresholds if each["below"] is not None or each["above"] is not None]
    rows = [
        [
            cell(each["label"]),
            cell(words(each["now"], each["path"], each["unit"]), numeric=True),
            *_side(each, "below"),
            *_side(each, "above"),
        ]
        for each in changing
    ]
    columns = heads("Input", "Now", "Below it", "Hosts", "Above it", "Hosts", numeric=(1, 2, 3, 4, 5))
    more = "The nearest value on either side at which the number of hosts is another, all else unchanged."
    others = [each["label"] for each in thresholds if each not in changing]
    text = [f"No value of these changes the number of hosts: {'; '.join(others)}."] if others else []
    return data | {"text": text, "tables": [table(columns, rows, more=more)]}


def _side(each: dict[str, Any], side: str) -> list[Cell]:
    if each[side] is None:
        return [cell("\u2013", numeric=True), cell("", numeric=True)]
    return [
        cell(words(each[side], each["path"], each["unit"]), numeric=True, tone="strong"),
        cell(_count(each[f"hosts_{side}"]), numeric=True),
    ]
