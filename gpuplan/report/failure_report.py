"""What happens to each VM when hosts of a cluster fail."""

from __future__ import annotations

from typing import Any

from gpuplan.locales import spoken
from gpuplan.models.availability.failover import Outcome
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.table import Column, Table, listed, records
from gpuplan.report.tables import group_names
from gpuplan.report.text import chapter, page, wrapped
from gpuplan.wording import capital, counted, verb


def failed_vms(plan: Plan, pool: Pool, outcome: Outcome) -> Table:
    """Each VM that restarts, makes room or has no place, and its hosts, which count from 1."""
    names, lost = group_names(plan), set(outcome.unplaced)
    on = {
        (slot.group, slot.vm): number
        for number, host in enumerate(pool.placement, 1)
        for load in host
        for slot in load.slots
    }
    restarts = [(group, vm, "restarts", to) for group, vm, to in outcome.restarted]
    moves = [(group, vm, "makes room", to) for group, vm, _, to in outcome.moved]
    rows = [
        *(
            (group, vm, what, on[group, vm], to)
            for group, vm, what, to in (*restarts, *moves)
            if (group, vm) not in lost
        ),
        *((group, vm, "has no GPU", on[group, vm], None) for group, vm in outcome.unplaced),
    ]
    return listed(
        "failed_vms",
        (
            Column("group", "Group", of=lambda row: names[row[0]]),
            Column("vm", "VM", "number", of=lambda row: row[1]),
            Column("what", "What happens", of=lambda row: row[2]),
            Column("from_host", "From host", "number", of=lambda row: row[3]),
            Column("to_host", "To host", "number", of=lambda row: row[4]),
        ),
        rows,
        title="Affected VMs",
    )


@spoken
def failure_text(plan: Plan, pool: Pool, hosts: tuple[int, ...], outcome: Outcome) -> str:
    """The failure of some hosts of a cluster as text for a terminal."""
    lost = f"{'Host' if len(hosts) == 1 else 'Hosts'} {', '.join(map(str, hosts))} of the {pool.name} lost"
    restarted, moved, unplaced = (
        counted(len(vms), "VM") for vms in (outcome.restarted, outcome.moved, outcome.unplaced)
    )
    others = " and in other clusters" * (len(plan.pools) > 1)
    missing = plan.placed.missing
    said = (
        f"Restarted: {restarted}. Moved to make room: {moved}. Left without a GPU: {unplaced}."
        + f" {capital(counted(missing, 'more planned VM'))} {verb(missing, 'have')} none in any case."
        * bool(missing)
        + f" VMs on other hosts{others} keep running."
    )
    return page(lost, wrapped(said), chapter(failed_vms(plan, pool, outcome)))


def failure_dict(plan: Plan, pool: Pool, hosts: tuple[int, ...], outcome: Outcome) -> dict[str, Any]:
    """The same as plain JSON values."""
    return {
        "pool": pool.id,
        "hosts_lost": list(hosts),
        "vms": records(failed_vms(plan, pool, outcome)),
        "planned_vms_without_gpu": plan.placed.missing,
    }
