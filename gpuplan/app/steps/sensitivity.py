"""Sensitivity: which inputs move cost and hosts most, each within its own range, and where the number of hosts changes."""

from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.app.cards import Body, Contents, Picture, background_card, card, details, menu, panel, sheet
from gpuplan.app.forms import field_data, range_words
from gpuplan.app.state import Workbook
from gpuplan.report.charts import explore as charts
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import explore as tables
from gpuplan.scenario import field_of
from gpuplan.wording import NAMES, said

VIEWS = NAMES["view of the tornado"]

Bar = dict[str, Any]


def _bars(workbook: Workbook) -> list[Bar]:
    result = workbook.sensitivity.found
    return list(result["bars"]) if result else []


def _old(workbook: Workbook) -> bool:
    """True if a design other than the one on the screen was tried."""
    plan = workbook.sensitivity.plan
    return plan is None or plan.scenario != workbook.plan.scenario


def _now(workbook: Workbook, view: str) -> float:
    plan = workbook.sensitivity.plan
    if plan is None or plan.costs is None:
        return 0.0
    return plan.costs.net_present if view == "cost" else plan.totals.hosts


@card("run")
def sensitivity_data(workbook: Workbook) -> dict[str, Any]:
    result = workbook.sensitivity.found
    old = result is not None and _old(workbook)
    go = said("screen.sensitivity.again" if result else "screen.sensitivity.go")
    runner = workbook.sensitivity.runner
    card = background_card(workbook, runner, "sensitivity", go, off=not workbook.plan.pools)
    return card | {"text": _said(workbook, old), "old": old}


def _said(workbook: Workbook, old: bool) -> list[str]:
    sensitivity = workbook.sensitivity
    if sensitivity.found is None:
        if sensitivity.runner.state == "cancelled":
            return [said("screen.stopped")]
        return [said("screen.sensitivity.own ranges")]
    old_words = [said("screen.sensitivity.old")] if old else []
    drivers = [bar["label"] for bar in _bars(workbook) if _swing(bar, "cost")]
    if not drivers:
        return [*old_words, said("screen.sensitivity.no input")]
    return [*old_words, said("screen.sensitivity.drivers", names="; ".join(drivers[:3]))]


def _swing(bar: Bar, view: str) -> float:
    """Return the distance between the ends of a bar; 0 if one of them cannot be planned."""
    low, high = bar[f"{view}_low"], bar[f"{view}_high"]
    return 0.0 if low is None or high is None else abs(high - low)


@panel()
def tornado_head(workbook: Workbook) -> Contents:
    return {"selects": [menu(workbook, "swing", said("screen.show"), VIEWS)]} if _bars(workbook) else None


@partial(Picture, draw=charts.tornado_chart)
def tornado_rows(workbook: Workbook) -> dict[str, Any]:
    view, plan = workbook.chosen("swing", VIEWS), workbook.sensitivity.plan
    if not _bars(workbook) or plan is None or plan.costs is None:
        return {}
    return charts.tornado_rows(_bars(workbook), view, _now(workbook, view), plan.costs.currency)


@panel(draws="sheet")
def ranges_data(workbook: Workbook) -> Contents:
    bars = _bars(workbook)
    paths = [bar["path"] for bar in bars]
    stated = [path for path, _ in workbook.seen.ranges]
    stated += [path.removeprefix("ranges.") for path in workbook.drafts if path.startswith("ranges.")]
    others = [path for path in dict.fromkeys(stated) if path not in paths]
    listed = sheet(_ranges(workbook, bars, others), [*paths, *others])
    stale = workbook.stale or (bool(bars) and _old(workbook))
    shown = {"shown": bool(bars or others), "fold": True, "text": [], **listed}
    return shown | {"more": said("screen.sensitivity.such as"), "stale": stale}


def _field(workbook: Workbook, path: str, empty: str = "") -> Cell:
    return Cell("", more={"input": field_data(workbook, f"ranges.{path}", empty=empty)})


def _ranges(workbook: Workbook, bars: list[Bar], others: list[str]) -> Table:
    """Return the answer at the ends of each range, and its field; below them ranges stated but not tried yet."""
    currency = workbook.plan.costs.currency if workbook.plan.costs else ""
    ranges = [(bar["path"], (bar["low"], bar["high"])) for bar in bars]
    fields = [_field(workbook, path, range_words(path, ends)) for path, ends in ranges]
    table = (
        tables.bars(bars, _now(workbook, "cost"), currency)
        .without("low", "high")
        .dressed("now", lambda *_: {"tone": "nowrap"})
        .beside(Column("range", said("table.price_fields.ends")), fields, after="now")
        .beside(Column("note", ""), [Cell(bar["note"], tone="small") for bar in bars], after="hosts_high")
    )
    untold = Cell(said("screen.sensitivity.not tried"), tone="small")
    untried = tuple(
        (path, Cell(field_of(path).label, more={"note": path}), "", _field(workbook, path), *[""] * 5, untold)
        for path in others
    )
    return replace(table, rows=(*table.rows, *untried))


@details("thresholds", lambda workbook: (workbook.sensitivity.found or {}).get("thresholds", []), old=_old)
def thresholds_data(_workbook: Workbook, thresholds: list[dict[str, Any]]) -> Body:
    changing = [row for row in thresholds if row["below"] is not None or row["above"] is not None]
    others = [row["label"] for row in thresholds if row not in changing]
    text = [said("screen.sensitivity.independent", names="; ".join(others))] if others else []
    return {"text": text, "tables": [screen(tables.thresholds(changing))]}
