"""Designs side by side: those that were kept and the one on the screen, with what differs marked and said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.compare import THIS, CompareRow, Comparison, compare_plans, named
from gpuplan.analysis.differences import LABELS, design_name
from gpuplan.analysis.nearby import nearby, told
from gpuplan.app.cards import (
    Card,
    Contents,
    Page,
    Picture,
    Tab,
    box,
    panel,
    parted_card,
    tried,
    wide_card,
)
from gpuplan.app.header import price_name
from gpuplan.app.state import MOST_KEPT, Workbook
from gpuplan.app.steps import explore, sensitivity, what_wins
from gpuplan.plan import Plan
from gpuplan.report.charts.explore import frontier_chart, tornado_chart
from gpuplan.report.headlines import HEADLINES, Headline
from gpuplan.report.table import Table
from gpuplan.report.tables import sensitivity as tables
from gpuplan.scenario import FIELD_BY_PATH, Scenario, field_of
from gpuplan.wording import some_of

DIFFERS = {"tone": "differs", "mark": {"sign": "\u2260", "text": "", "tone": "differs"}}
KEEP = "Then change an input or explore others: one sentence for each difference appears here."
LEADS = ("cost.net_present", "totals.hosts", "totals.gpus")
"""Which difference is the message of the step, the first that there is."""


def _compared(workbook: Workbook) -> Comparison | None:
    """The designs beside each other: those that were kept, and the one on the screen last; None if none was kept."""
    kept = workbook.kept
    if not kept:
        return None

    def compared() -> Comparison:
        return compare_plans([*(named(each.plan, each.name) for each in kept), named(workbook.plan, THIS)])

    return workbook.once(f"compare: {[(each.name, each.link.id) for each in kept]}", compared)


def message(workbook: Workbook) -> Headline:
    """What the design on the screen costs more or less than the first that was kept, or what to do."""
    found = _compared(workbook)
    if found is None:
        return HEADLINES["compare"](workbook.plan)
    said = {each.key: each.last for each in found.differences}
    first = next((said[key] for key in LEADS if key in said), next(iter(said.values()), "Nothing differs."))
    return Headline(first, f"Compared with {found.names[0]}.")


def designs_data(workbook: Workbook) -> dict[str, Any]:
    """What each design is called, and a sentence for each result that differs; or what to try."""
    found, nothing = _compared(workbook), not workbook.plan.pools
    kept, own = workbook.kept, workbook.plan.scenario
    above = message(workbook).sentence
    differs = found.differences if found else ()
    return {
        "title": design_name(own, workbook.catalog) if not nothing else "Nothing to compare yet",
        "text": "" if nothing else KEEP,
        "empty": nothing,
        "off": len(workbook.aside) >= MOST_KEPT or workbook.stale or nothing,
        "stale": workbook.stale,
        "designs": [
            *({"name": each.name, "kept": True} for each in kept),
            {"name": design_name(own, workbook.catalog), "kept": False},
        ],
        "notes": list(found.notes) if found else [],
        "rows": [
            {"label": each.label, "values": each.values, "sentence": each.last * (each.last != above)}
            for each in differs
        ],
        "same": _same(found) if found else "",
        "tries": [] if differs or workbook.stale or nothing else _tries(workbook),
    }


def _same(found: Comparison) -> str:
    """Inputs that differ, and results that do not."""
    changed = [row.label for row in found.rows if _is_input(row)]
    differs = {each.key for each in found.differences}
    same = [label for key, label in LABELS.items() if key not in differs]
    said = [f"Inputs that differ: {some_of(changed)}."] if changed else []
    return " ".join([*said, f"Unchanged: {some_of(same)}."] if same else said)


def _tries(workbook: Workbook) -> list[dict[str, str]]:
    """Designs with one decision taken otherwise, and what that changes in hosts and cost."""
    plan = workbook.plan
    found, _ = tried(workbook, "compare: nearby", lambda: nearby(plan.scenario, plan.catalog))
    return [
        {
            "name": name,
            "told": workbook.later(f"compare: {name}", partial(_told, other=other)) or "Planning \u2026",
        }
        for name, other in found or ()
    ]


def _told(plan: Plan, other: Scenario) -> str:
    try:
        return told(plan, other)
    except ValueError as error:
        return str(error)


def try_out(workbook: Workbook, name: str) -> None:
    """Keep the design on the screen, and put one with one decision taken otherwise in its place."""
    plan, now = workbook.plan, workbook.scenario
    found = dict(nearby(plan.scenario, plan.catalog))
    if workbook.stale or name not in found:
        return  # of a design that has changed since
    if not any(each.scenario == now for each in workbook.kept):
        workbook.keep()
    other = replace(found[name], name=now.name, customer=now.customer)
    workbook.use(other, f"{name} is now on screen; the previous design is kept beside it.")


@panel("Results")
def results_data(workbook: Workbook) -> Contents:
    """Every result in every design."""
    found = _compared(workbook)
    if found is None:
        return "Keep a design to see all results of both side by side."
    return _side_by_side(workbook, found, [row for row in found.rows if not _is_input(row)])


@panel("Inputs that differ")
def inputs_data(workbook: Workbook) -> Contents:
    """Every input that is not the same in all designs."""
    found = _compared(workbook)
    if found is None:
        return None
    rows = [row for row in found.rows if _is_input(row)]
    return _side_by_side(workbook, found, rows) if rows else "No input differs."


def _is_input(row: CompareRow) -> bool:
    return row.key in FIELD_BY_PATH or row.key.startswith(("groups.", "prices.", "ranges."))


def _side_by_side(workbook: Workbook, found: Comparison, rows: Sequence[CompareRow]) -> Table:
    """The designs in columns; what is not as in the first of them stands out and says so."""
    table = tables.compared(replace(found, rows=tuple(rows)), workbook.catalog).without("differs")
    table = replace(table, notes=())
    tones = ["strong" if row.differs else "" for row in rows]
    table = table.dressed("label", lambda n, _: {"text": _label(workbook, rows[n]), "tone": tones[n]})
    for column in table.columns[1:]:
        table = table.dressed(column.key, lambda n, cell: {} if cell.value == rows[n].values[0] else DIFFERS)
    return table


def _label(workbook: Workbook, row: CompareRow) -> str:
    """What a row is called; a price by the name of what it is paid for, a range by that of its input."""
    within = row.key.removeprefix("ranges.")
    if row.key.startswith("prices."):
        plans = (workbook.plan, *(each.plan for each in workbook.kept))
        return f"Price: {price_name(row.key.removeprefix('prices.'), *plans)}"
    if within != row.key and not within.startswith("prices."):
        return f"Range: {field_of(within).label}"
    return row.label


PAGE = Page(
    message,
    (
        Tab("designs", "Designs", box("gp-page", wide_card(Card("compare", designs_data)))),
        Tab("all", "All differences", box("gp-page", parted_card(results_data, inputs_data))),
        Tab(
            "explore",
            "Explore",
            box(
                "gp-page",
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
            ),
        ),
        Tab(
            "inputs",
            "Sensitivity",
            box(
                "gp-page",
                parted_card(
                    Card("run", sensitivity.sensitivity_data),
                    sensitivity.tornado_head,
                    Picture(sensitivity.tornado_rows, tornado_chart),
                    sensitivity.ranges_data,
                    sensitivity.thresholds_data,
                ),
            ),
        ),
    ),
)
