"""Upgrades rehearsed: each host emptied in turn as vSphere places VMs, and what HA restarts when one fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.app.cards import Contents, panel, said
from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import SHOWN_KINDS, shown_clusters
from gpuplan.plan.hosts import Pool
from gpuplan.plan.rehearsal import Rehearsed
from gpuplan.report.table import Cell, screen
from gpuplan.report.tables import rehearsal as tables


def _rehearsed(workbook: Workbook) -> list[Rehearsed]:
    return tables.rehearsals(workbook.plan, *shown_clusters(workbook))


@panel("Rehearse an upgrade", "which VMs move, which cannot, and which restart", slow=True)
def rehearse_data(workbook: Workbook) -> Contents:
    """Who moves when each host is emptied, what is shut down, and what restarts when one fails."""
    plan = workbook.plan
    if not plan.rehearsed:
        return tables.NOT_REHEARSED if plan.pools else None
    found = _rehearsed(workbook)
    if not found:
        return tables.TOO_LARGE
    several = len(plan.pools) > 1
    verdicts = [f"{each.pool.name}: " * several + _said(each) for each in found]
    return {
        "text": [
            said(text) for text in (*verdicts, *dict.fromkeys(tables.start_sentence(each) for each in found))
        ],
        "tables": [table for each in found for table in _cluster(workbook, each.pool)],
    }


def _said(rehearsed: Rehearsed) -> str:
    """Whether a cluster can be upgraded host by host."""
    return f"{tables.upgrade_sentence(rehearsed)} {tables.design_sentence(rehearsed)}"


def _cluster(workbook: Workbook, pool: Pool) -> list[dict[str, Any]]:
    """The tables of a cluster."""
    plan = workbook.plan
    of, rehearsed = f"{pool.name}: " * (len(plan.pools) > 1), plan.rehearsed[pool.id]
    upgrades = (
        tables.upgrades(plan, pool)
        .without("pool")
        .dressed("host", lambda _, cell: _act(workbook, pool, cell))
    )
    restarts, weeks = (table(plan, pool).without("pool") for table in (tables.restarts, tables.weeks))
    shown = [
        screen(upgrades, f"{of}hosts upgraded one by one, in this order"),
        screen(
            restarts.top(SHOWN_KINDS), f"{of}restarts after a failure", tables.restart_sentence(rehearsed)
        ),
    ]
    if weeks.rows:
        shown.append(screen(weeks, f"{of}a week of coming and going", tables.week_sentence(rehearsed)))
    return shown


def _act(workbook: Workbook, pool: Pool, cell: Cell) -> Mapping[str, Any]:
    """Puts the host of a row into maintenance on the picture, or brings it back."""
    down = cell.value in workbook.maintenance.get(pool.id, ())
    words, name = ("Bring back" if down else "Evacuate"), f"host {cell.value} of the {pool.name}"
    rest = {"pool": pool.id, "host": cell.value}
    return {"acts": [{"event": "maintain", "rest": rest, "text": words, "name": name}]}
