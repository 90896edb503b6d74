"""Tables of all topics, built once for every renderer: ``plan_tables``, and ``plan_frames`` for pandas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from gpuplan.analysis.variants import standing
from gpuplan.plan import Plan, of_design
from gpuplan.report.exported import flat, frame
from gpuplan.report.table import Table
from gpuplan.report.tables import (
    alternatives,
    availability,
    cost,
    models,
    network,
    plan,
    platform,
    power_on,
    purchases,
)
from gpuplan.report.tables.availability import idle_text
from gpuplan.report.tables.over_time import restarts, upgrades
from gpuplan.report.tables.plan import gpu_rows, group_names, host_kinds
from gpuplan.scenario import pick

__all__ = ["TABLES", "alternatives", "availability", "cost", "gpu_rows", "group_names", "host_kinds"]
__all__ += ["idle_text", "models", "network", "plan", "plan_frames", "plan_table", "plan_tables", "platform"]
__all__ += ["power_on", "purchases"]

if TYPE_CHECKING:
    import pandas as pd

OWN_NAMES = {"bill_of_materials": "materials", "access_modes": "sharing_modes"}
"""Function of a table -> its name, where that is another one."""
TABLES: dict[str, Callable[[Plan], Table]] = {
    OWN_NAMES.get(build.__name__, build.__name__): build
    for build in (
        *(plan.verdict, plan.totals, plan.groups, models.serving, models.tuning, models.retrieval),
        *(models.token_costs, plan.pools, plan.placement, power_on.power_on, availability.failures),
        *(upgrades, restarts, plan.shared_gpus, availability.idle, platform.inventory, platform.hosts_there),
        *(availability.postures, platform.host_line, platform.management, platform.management_hosts),
        *(network.remote_gpus, network.training, cost.bill_of_materials, cost.cash_flow),
        *(cost.cost_by_year, cost.cost_by_part, cost.cost_by_group, cost.prices),
        *(alternatives.alternatives, purchases.purchases, purchases.purchase_steps, plan.access_modes),
        *(plan.decisions, plan.within, plan.messages, plan.lines),
    )
}
COUNTED = {"hosts", "gpus", "net_present"}
"""Columns that say nothing of a design that leaves VMs without a GPU, unless that stands beside them."""


@of_design
def plan_tables(plan: Plan) -> dict[str, Table]:
    """The plan's tables by name."""
    return {name: build(plan) for name, build in TABLES.items()}


@of_design
def plan_table(plan: Plan, name: str) -> Table:
    """One of the plan's tables; in a cell of a notebook it is shown as one."""
    return pick(TABLES, name, "table")(plan)


@of_design
def plan_frames(plan: Plan) -> dict[str, pd.DataFrame]:
    """The plan's tables as pandas frames; pandas comes with ``gpuplan[analysis]``.

    They join on ``group_id``, ``pool_id`` and ``cluster_id``: ``groups`` and ``pools`` on ``pool_id``, ``placement`` with either. ``attrs`` has
    the units.

    Parameters:
        plan: The plan. [-]

    Returns:
        plan_frames (dict of str to DataFrame): The tables of ``plan_tables``; those with hosts, GPUs or cost say whether the
            design is ``valid``. Among them ``totals``, ``groups``, ``placement``, ``failures``, ``cost_by_year`` and ``lines``.
            [-]
    """
    stands = {**standing(plan)._asdict(), "stops": flat(standing(plan).stops)}
    return {name: _with_standing(table, stands) for name, table in plan_tables(plan).items()}


def _with_standing(table: Table, stands: Mapping[str, Any]) -> pd.DataFrame:
    """A frame; one with hosts, GPUs or money has the standing of the design, where it has none of its own."""
    rows = frame(table)
    if any(column.key in COUNTED or column.kind == "money" for column in table.columns):
        for key in stands:
            if key not in rows:
                rows[key] = stands[key]
    return rows
