"""Designs side by side: those that were kept and the one on the screen, with what differs marked and said."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from gpuplan.analysis.compare import CompareRow, Comparison, compare_plans
from gpuplan.app.cards import Cell, bare, cell, heads, table
from gpuplan.app.header import range_words
from gpuplan.app.page import Card, Picture, box, parted_card, title, wide_card
from gpuplan.app.state import MOST_KEPT, Workbook
from gpuplan.app.steps import explore, sensitivity, what_wins
from gpuplan.plan import Plan
from gpuplan.report import number
from gpuplan.report.charts.explore import frontier_chart, tornado_chart
from gpuplan.scenario import FIELD_BY_PATH, Field, field_of
from gpuplan.wording import amount, capital, hours, is_currency, money, percent, stated_percent

ROW_TABLES = ("use_cases", "network_workloads")
"""Tables that an input is chosen from and that hold rows, not items of facts."""


def compare_data(workbook: Workbook) -> dict[str, Any]:
    """The designs in columns, what differs between them, and what can be done with each."""
    kept = workbook.kept
    full = len(kept) >= MOST_KEPT
    data: dict[str, Any] = {
        "shown": True,
        "title": "Designs side by side",
        "hint": f"{number(len(kept))} of {number(MOST_KEPT)} kept"
        if kept
        else "keep a design, change it, and see what differs",
        "acts": [
            {
                "text": "Keep this design",
                "event": "keep",
                "key": "keep",
                "off": full or workbook.stale or not workbook.plan.pools,
            }
        ],
        "stale": workbook.stale,
    }
    if not kept:
        text = "Keep the design as it is now, then change it here or explore others: both stand side by side, differences marked."
        return data | {"text": [[{"text": text}]]}
    names = "\n".join(each.name for each in kept)
    found = workbook.once(f"compare: {names}", lambda: _compared(workbook))
    rows = [_row(workbook, row) for row in found.rows]
    inputs = sum(_is_input(row) for row in found.rows)
    blank = [cell("", tone="total") for _ in found.names]
    between = [cell("Inputs that differ" if inputs else "No input differs", tone="total"), *blank]
    compared = table(
        heads("", *map(capital, found.names)),
        [_acts(workbook), *rows[inputs:], between, *rows[:inputs]],
        more="Kept until this page is closed or loaded again; open one and save it to have it as a file.",
    )
    return data | {"tables": [compared], "list": list(found.sentences) or ["Nothing differs."]}


def _compared(workbook: Workbook) -> Comparison:
    plans = [_named(each.plan, each.name) for each in workbook.kept]
    return compare_plans([*plans, _named(workbook.plan, "the design on the screen")])


def _named(plan: Plan, name: str) -> Plan:
    return plan.but(scenario=replace(plan.scenario, name=name))


def _is_input(row: CompareRow) -> bool:
    return row.key in FIELD_BY_PATH or row.key.startswith(("groups.", "prices.", "ranges."))


def _row(workbook: Workbook, row: CompareRow) -> list[Cell]:
    """A row; what is not as in the first column stands out and says so."""
    first = row.values[0]
    cells = [cell(_label(workbook, row), tone="strong" if row.differs else "")]
    for value in row.values:
        shown = cell(_shown(workbook, row, value), tone="differs" if value != first else "")
        cells.append(
            shown | ({"mark": {"sign": "\u2260", "text": "", "tone": "differs"}} if value != first else {})
        )
    return cells


def _label(workbook: Workbook, row: CompareRow) -> str:
    """What a row is called; a price by the name of what it is paid for, a range by that of its input."""
    if row.key.startswith("prices."):
        key = row.key.removeprefix("prices.")
        costs = [plan.costs for plan in (workbook.plan, *(each.plan for each in workbook.kept)) if plan.costs]
        names = {price.key: price.name for found in costs for price in found.prices}
        names |= {item.key: item.name for found in costs for item in found.unknown}
        return f"Price: {names.get(key, key)}"
    if row.key.startswith("ranges.") and not row.key.startswith("ranges.prices."):
        return f"Range: {field_of(row.key.removeprefix('ranges.')).label}"
    return row.label


def _acts(workbook: Workbook) -> list[Cell]:
    """What can be done with each design that was kept."""
    return [
        cell(""),
        *(
            cell("")
            | {
                "acts": [
                    {"event": event, "rest": {"name": each.name}, "text": text, "name": each.name}
                    for event, text in (("open-kept", "Open"), ("forget-kept", "Forget"))
                ]
            }
            for each in workbook.kept
        ),
        cell(""),
    ]


def _shown(workbook: Workbook, row: CompareRow, value: Any) -> str:
    """A value as a reader sees it."""
    if value is None or value == "":
        return "of the catalog" if row.key.startswith("prices.") else "\u2013"
    if isinstance(value, str) and _is_input(row) and field_of(row.key).table:
        return _name(workbook, field_of(row.key).table, value)
    if isinstance(value, bool | str):
        return number(value)
    if isinstance(value, tuple):
        return range_words(row.key, value)
    if row.key.startswith("prices."):
        return bare(value)
    if _is_input(row):
        return _input_words(field_of(row.key), value)
    return _figure(value, row.unit)


UNITS: Mapping[str, Callable[[float], str]] = {
    "currency": bare,
    "%": lambda value: percent(value / 100),
    "h": hours,
    "W": lambda value: amount(round(value), "W"),
}
"""Unit -> how a figure in it is shown."""


def _figure(value: float, unit: str) -> str:
    if unit in UNITS:
        return UNITS[unit](value)
    if is_currency(unit):
        return money(value, unit)
    if unit == "1" and isinstance(value, float):
        return percent(value)
    return number(value if isinstance(value, int) else float(f"{value:.4g}"))


def _name(workbook: Workbook, table: str, id: str) -> str:
    """What a row or an item of the catalog is called."""
    catalog = workbook.catalog
    if table in ROW_TABLES:
        return next((str(row["name"]) for row in catalog.rows(table) if row.id == id), id)
    items = catalog.items(table)
    return items[id].name if id in items else id


def _input_words(spec: Field, value: float) -> str:
    return stated_percent(value) if spec.kind == "share" else number(value)


PAGE = box(
    "gp-page",
    title("Compare", "Which design wins and why, what moves the answer, and how designs differ."),
    parted_card(
        Card("run", explore.explore_data),
        Card("panel", what_wins.to_win_data),
        Card("panel", explore.frontier_head),
        Picture(explore.frontier_rows, frontier_chart),
        Card("tables", explore.frontier_table),
        Card("tables", explore.ranked_data),
        Card("tables", explore.unpriced_data),
        Card("tables", explore.rejected_data),
    ),
    parted_card(
        Card("run", sensitivity.sensitivity_data),
        Card("panel", sensitivity.tornado_head),
        Picture(sensitivity.tornado_rows, tornado_chart),
        Card("sheet", sensitivity.ranges_data),
        Card("tables", sensitivity.thresholds_data),
    ),
    wide_card(Card("panel", compare_data)),
)
