"""Designs side by side: those that were kept and the one on the screen, with what differs marked and said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gpuplan.analysis.compare import CompareRow, Comparison, compare_plans
from gpuplan.app.cards import Card, Contents, Picture, act, box, panel, parted_card, said, title, wide_card
from gpuplan.app.header import price_name
from gpuplan.app.state import MOST_KEPT, Workbook
from gpuplan.app.steps import explore, sensitivity, what_wins
from gpuplan.plan import Plan
from gpuplan.report import number
from gpuplan.report.charts.explore import frontier_chart, tornado_chart
from gpuplan.report.table import Cell, Table, screen
from gpuplan.report.tables import sensitivity as tables
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.wording import capital

DIFFERS = {"tone": "differs", "mark": {"sign": "\u2260", "text": "", "tone": "differs"}}


@panel("Designs side by side")
def compare_data(workbook: Workbook) -> Contents:
    """The designs in columns, what differs between them, and what can be done with each."""
    kept, most = workbook.kept, number(MOST_KEPT)
    off = len(kept) >= MOST_KEPT or workbook.stale or not workbook.plan.pools
    data: dict[str, Any] = {
        "hint": f"{number(len(kept))} of {most} kept"
        if kept
        else "keep a design, change it, and see what differs",
        "acts": [{"text": "Keep this design", "event": "keep", "key": "keep", "off": off}],
    }
    if not kept:
        text = "Keep the design as it is now, then change it here or explore others: both stand side by side, differences marked."
        return data | {"text": [said(text)]}
    names = "\n".join(each.name for each in kept)
    found = workbook.once(f"compare: {names}", lambda: _compared(workbook))
    more = "Kept until this page is closed or loaded again; open one and save it to have it as a file."
    return data | {
        "tables": [screen(_side_by_side(workbook, found), more=more)],
        "list": list(found.sentences) or ["Nothing differs."],
    }


def _compared(workbook: Workbook) -> Comparison:
    plans = [_named(each.plan, each.name) for each in workbook.kept]
    return compare_plans([*plans, _named(workbook.plan, "the design on the screen")])


def _named(plan: Plan, name: str) -> Plan:
    return plan.but(scenario=replace(plan.scenario, name=name))


def _is_input(row: CompareRow) -> bool:
    return row.key in FIELD_BY_PATH or row.key.startswith(("groups.", "prices.", "ranges."))


def _side_by_side(workbook: Workbook, found: Comparison) -> Table:
    """The designs in columns, results before inputs; what is not as in the first of them stands out and says so."""
    table = tables.compared(found, workbook.catalog).without("differs")
    tones = ["strong" if row.differs else "" for row in found.rows]
    table = table.dressed("label", lambda n, _: {"text": _label(workbook, found.rows[n]), "tone": tones[n]})
    for column in table.columns[1:]:
        table = table.dressed(
            column.key, lambda n, cell: {} if cell.value == found.rows[n].values[0] else DIFFERS
        )
    inputs = sum(_is_input(row) for row in found.rows)
    between = [Cell("Inputs that differ" if inputs else "No input differs", tone="total")]
    between += [Cell("", tone="total")] * len(found.names)
    rows = (_acts(workbook), *table.rows[inputs:], tuple(between), *table.rows[:inputs])
    columns = tuple(replace(column, label=capital(column.label)) for column in table.columns)
    return replace(table, columns=columns, rows=rows)


def _label(workbook: Workbook, row: CompareRow) -> str:
    """What a row is called; a price by the name of what it is paid for, a range by that of its input."""
    within = row.key.removeprefix("ranges.")
    if row.key.startswith("prices."):
        plans = (workbook.plan, *(each.plan for each in workbook.kept))
        return f"Price: {price_name(row.key.removeprefix('prices.'), *plans)}"
    if within != row.key and not within.startswith("prices."):
        return f"Range: {field_of(within).label}"
    return row.label


def _acts(workbook: Workbook) -> tuple[Any, ...]:
    """What can be done with each design that was kept."""
    named = [each.name for each in workbook.kept]
    acts = [
        [act("open-kept", "Open", each, name=each), act("forget-kept", "Forget", each, name=each)]
        for each in named
    ]
    return ("", *(Cell("", more={"acts": each}) for each in acts), "")


PAGE = box(
    "gp-page",
    title("Compare", "Which design wins and why, what moves the answer, and how designs differ."),
    parted_card(
        Card("run", explore.explore_data),
        what_wins.to_win_data,
        explore.frontier_head,
        Picture(explore.frontier_rows, frontier_chart),
        explore.frontier_table,
        explore.ranked_data,
        explore.works_data,
        explore.unpriced_data,
        explore.rejected_data,
    ),
    parted_card(
        Card("run", sensitivity.sensitivity_data),
        sensitivity.tornado_head,
        Picture(sensitivity.tornado_rows, tornado_chart),
        sensitivity.ranges_data,
        sensitivity.thresholds_data,
    ),
    wide_card(compare_data),
)
