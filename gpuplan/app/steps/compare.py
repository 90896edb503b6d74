"""Designs side by side: those that were kept and the one on the screen, with what differs marked and said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.analysis.compare import CompareRow, Comparison, compare_plans
from gpuplan.app.cards import Cell, cell
from gpuplan.app.page import Card, Picture, box, parted_card, title, wide_card
from gpuplan.app.state import MOST_KEPT, Workbook
from gpuplan.app.steps import explore, sensitivity, what_wins
from gpuplan.plan import Plan
from gpuplan.report import number
from gpuplan.report.charts.explore import frontier_chart, tornado_chart
from gpuplan.report.table import Table, screen
from gpuplan.report.tables import sensitivity as tables
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.wording import capital

DIFFERS = {"tone": "differs", "mark": {"sign": "\u2260", "text": "", "tone": "differs"}}


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
    compared = screen(
        _marked(workbook, found),
        more="Kept until this page is closed or loaded again; open one and save it to have it as a file.",
    )
    for head in compared["heads"]:
        head["text"] = capital(head["text"])
    inputs = sum(_is_input(row) for row in found.rows)
    blank = [cell("", tone="total") for _ in found.names]
    between = [cell("Inputs that differ" if inputs else "No input differs", tone="total"), *blank]
    rows = compared["rows"]
    compared["rows"] = [_acts(workbook), *rows[inputs:], between, *rows[:inputs]]
    return data | {"tables": [compared], "list": list(found.sentences) or ["Nothing differs."]}


def _compared(workbook: Workbook) -> Comparison:
    plans = [_named(each.plan, each.name) for each in workbook.kept]
    return compare_plans([*plans, _named(workbook.plan, "the design on the screen")])


def _named(plan: Plan, name: str) -> Plan:
    return plan.but(scenario=replace(plan.scenario, name=name))


def _is_input(row: CompareRow) -> bool:
    return row.key in FIELD_BY_PATH or row.key.startswith(("groups.", "prices.", "ranges."))


def _marked(workbook: Workbook, found: Comparison) -> Table:
    """The designs in columns; what is not as in the first of them stands out and says so."""
    table = tables.compared(found, workbook.catalog).without("differs")
    table = table.dressed("label", lambda n, _: _labelled(workbook, found.rows[n]))
    for column in table.columns[1:]:
        table = table.dressed(
            column.key, lambda n, cell: {} if cell.value == found.rows[n].values[0] else DIFFERS
        )
    return table


def _labelled(workbook: Workbook, row: CompareRow) -> dict[str, Any]:
    return {"text": _label(workbook, row), "tone": "strong" if row.differs else ""}


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
