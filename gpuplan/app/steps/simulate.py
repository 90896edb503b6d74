"""The simulation in the demand step: its buttons and progress, and its results, hosts by hosts."""

from __future__ import annotations

from functools import partial
from typing import Any

from gpuplan.app.cards import Card, background_card, lettered, select
from gpuplan.app.state import Workbook
from gpuplan.plan.hosts import WholePool, pool_names, whole_pools
from gpuplan.report import amount
from gpuplan.report.table import Cell, screen
from gpuplan.report.tables import demand as tables
from gpuplan.wording import NAMES, stated_percent

WHEN = NAMES["hours simulated"]

BELIEVE = "Requests arrive independently, so bursts are not simulated. Where jobs arrive in bursts, trust the replay of an audit."


@partial(Card, "run")
def simulate_data(workbook: Workbook) -> dict[str, Any]:
    """Return the inputs of the simulation, its progress, and its results."""
    simulating = workbook.simulating
    found, texts = bool(simulating.simulations), ("Simulate", "Simulate again")
    able = any(group.mode for group in workbook.plan.groups)
    old = found and simulating.scenario != workbook.plan.scenario
    card = background_card(workbook, simulating.runner, "simulate", texts, again=found, off=not able)
    return card | {
        "shown": bool(workbook.plan.groups),
        "title": "Simulation on the hosts",
        "hint": "with their profiles and the placement policy; first come, first served; waiting users do not give up",
        "inputs": [select("when", "Hours", workbook.chosen("when", WHEN), WHEN)],
        "text": _said(workbook, old),
        "tables": _tables(workbook) if found else [],
        "after": [BELIEVE] if found else [],
        "old": old,
    }


def _said(workbook: Workbook, old: bool) -> list[str]:
    """Compare the simulation with the formula, in a sentence."""
    simulating = workbook.simulating
    if not simulating.simulations:
        return [
            "The formulas treat the GPUs as one pool. Simulating the requests on these hosts also shows where GPUs stay idle "
            "because no waiting request fits."
        ]
    said = ["The design has changed since: simulate again."] if old else []
    if simulating.runner.state == "cancelled":
        said.append("Stopped: these are the results so far.")
    if any(t["growing"] for t in simulating.simulations):
        said.append("Where the queue keeps growing, the figures depend on how long you look.")
    return said + (_fewest(workbook) if simulating.runner.state == "done" and not old else [])


def _fewest(workbook: Workbook) -> list[str]:
    """Return the fewest hosts that keep the target, pool by pool."""
    simulating, plan = workbook.simulating, workbook.plan
    most, found = (simulating.scenario or plan.scenario).demand.chance, []
    names = pool_names(plan.pools)
    pools: dict[str, list[dict[str, Any]]] = {}
    for simulation in simulating.simulations:
        pools.setdefault(simulation["pool"], []).append(simulation)
    for pool, simulations in pools.items():
        kept = [simulation["hosts"] for simulation in simulations if simulation["chance"]["value"] <= most]
        where = f"{names[pool]}: " if len(pools) > 1 and pool in names else ""
        what = f"{amount(min(kept), 'host')} or more meet" if kept else "None of these meets"
        target = f"at most {stated_percent(most)} of the requests {NAMES['what requests do'][simulations[0]['rule']]}"
        found.append(f"{where}{what} the target: {target}.")
    return found


def _tables(workbook: Workbook) -> list[dict[str, Any]]:
    """Return a row for each number of hosts; the groups on the hosts of the plan."""
    simulations = workbook.simulating.simulations
    planned = {(kind, pool.hosts): pool for kind, pool in whole_pools(workbook.plan.pools).items()}
    tried = [(planned.get((each["pool"], each["hosts"])), each) for each in simulations]
    return [_hosts(workbook, simulations), *(_groups(workbook, pool, each) for pool, each in tried if pool)]


def _hosts(workbook: Workbook, simulations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the results by number of hosts: which numbers are planned, and which miss the target."""
    scenario = workbook.simulating.scenario or workbook.plan.scenario
    pools = whole_pools(workbook.plan.pools)
    several = len({simulation["pool"] for simulation in simulations}) > 1

    def name(at: int, cell: Cell) -> dict[str, Any]:
        pool = pools.get(simulations[at]["pool"])
        if pool is None:
            return {}
        said = {"text": f"{cell.words}, {pool.name}"} if several else {}
        if pool.hosts == cell.value:
            return said | {"tag": "planned"}
        return said | ({"tag": "for the demand"} if pool.hosts_for_demand == cell.value else {})

    def chance(_: int, cell: Cell) -> dict[str, Any]:
        return {"tone": "bad"} if cell.value > scenario.demand.chance else {}

    return screen(tables.simulated_hosts(simulations).dressed("hosts", name).dressed("chance", chance))


def _groups(workbook: Workbook, pool: WholePool, simulation: dict[str, Any]) -> dict[str, Any]:
    """Return the groups on the hosts of the plan."""
    plan = workbook.plan
    found = lettered(workbook, tables.simulated(plan, simulation))
    seen = {one["group"] for one in simulation["groups"]}
    names = {group.id: group.name for group in plan.scenario.groups}
    away = [names.get(group, group) for group in pool.groups if group not in seen]
    return screen(
        found,
        title=f"{pool.name}: on the planned hosts"
        if len(whole_pools(plan.pools)) > 1
        else "On the planned hosts",
        more=f"No requests in these hours: {', '.join(away)}." if away else "",
    )
