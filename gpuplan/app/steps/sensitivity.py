"""Sensitivity: which inputs move cost and hosts most, each within its own range, and where the number of hosts changes."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import cell, details, select
from gpuplan.app.header import field_data, range_words
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import background_card
from gpuplan.report import amount, number
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import sensitivity as tables
from gpuplan.scenario import field_of
from gpuplan.wording import money

SHOWN = 14
"""Bars that are drawn; the table has all of them."""
VIEWS = {"cost": "Net present cost", "hosts": "Hosts"}
"""What the tornado may show."""

Bar = dict[str, Any]


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
                    "at": tables.input_words(bar, bar[end]),
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
    table = screen(_bars_table(workbook, bars, currency))
    rows = [
        {"id": bar["path"], "name": bar["label"], "cells": cells}
        for bar, cells in zip(bars, table["rows"], strict=True)
    ]
    rows += [_range_row(workbook, path) for path in others]
    return {
        "shown": bool(rows),
        "fold": True,
        "title": "Ranges, and the same as a table",
        "hint": "what each input may turn out to be; yours win over the catalog\u2019s",
        "text": [],
        "heads": table["heads"],
        "rows": rows,
        "more": "Such as \u201c20 to 60\u201d; an empty field takes the range in grey.",
        "stale": workbook.stale or (bool(bars) and _old(workbook)),
    }


def _field(workbook: Workbook, path: str, empty: str) -> dict[str, Any]:
    return field_data(workbook, f"ranges.{path}", empty=empty)


def _bars_table(workbook: Workbook, bars: list[Bar], currency: str) -> Table:
    """The answer at the ends of each range, and the field of the range."""
    table = tables.bars(bars, _now(workbook, "cost"), currency).without("low", "high")
    ends = [range_words(bar["path"], (bar["low"], bar["high"])) for bar in bars]
    fields = [
        Cell(None, more={"input": _field(workbook, bar["path"], empty)})
        for bar, empty in zip(bars, ends, strict=True)
    ]
    notes = [Cell(bar["note"], tone="small") for bar in bars]
    return (
        table.dressed("now", lambda *_: {"tone": "nowrap"})
        .beside(Column("range", "Low to high"), fields, after="now")
        .beside(Column("note", ""), notes, after="hosts_high")
    )


def _range_row(workbook: Workbook, path: str) -> dict[str, Any]:
    """A range that is stated, but that was not tried yet."""
    label = field_of(path).label
    blank = [cell("", numeric=True) for _ in range(4)]
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
    others = [each["label"] for each in thresholds if each not in changing]
    text = [f"No value of these changes the number of hosts: {'; '.join(others)}."] if others else []
    return data | {"text": text, "tables": [screen(tables.thresholds(changing))]}
