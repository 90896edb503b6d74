"""GPU demand by assumption about arrivals: the methods beside each other, their inputs, and the simulation on the hosts."""

from collections.abc import Callable
from functools import partial
from typing import Any

from gpuplan.analysis.demand import Methods, chance_curve, methods, pool_mixes
from gpuplan.app.cards import (
    Contents,
    Picture,
    background_card,
    card,
    lettered,
    menu,
    panel,
    paragraph,
    tried,
)
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.plan.hosts import WholePool, pool_names, whole_pools
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.report import amount, number, percent
from gpuplan.report.charts import demand as charts
from gpuplan.report.table import Cell, Table, screen
from gpuplan.report.tables import demand as tables
from gpuplan.report.tables.demand import believe_words
from gpuplan.scenario import RISKS
from gpuplan.widgets import contract
from gpuplan.wording import FORMULA_NAMES, METHOD_NAMES, NAMES, mean_gpus, said, stated_percent


def _pools(workbook: Workbook) -> dict[str, str]:
    mixes = workbook.once("demand: mixes", lambda: pool_mixes(workbook.plan))
    asked = {kind for kind, found in mixes.items() for mix in found if any(ask.load for ask in mix.asks)}
    return {kind: pool.name for kind, pool in whole_pools(workbook.plan.pools).items() if kind in asked}


def _pool(workbook: Workbook) -> str:
    return workbook.chosen("pool", _pools(workbook))


def _methods(workbook: Workbook) -> tuple[Methods | None, str]:
    if not (pool := _pool(workbook)):
        return None, ""
    return tried(workbook, f"demand: methods {pool}", lambda: methods(workbook.plan, pool))


@panel()
def odds_head(workbook: Workbook) -> Contents:
    pools = _pools(workbook)
    selects = [menu(workbook, "pool", said("screen.methods.hosts"), pools)] if len(pools) > 1 else []
    return {"selects": selects} if pools else None


@panel(slow=True)
def odds_data(workbook: Workbook) -> Contents:
    study, problem = _methods(workbook)
    if study is None:
        return problem or None
    bursts = burst_fact(workbook.catalog)
    stated = workbook.plan.scenario.demand.peakedness is not None
    why = believe_words(study.believe, float(bursts.low or 1), float(bursts.high or bursts.value), stated)
    lead = next((a for a in study.answers if a.method == study.believe), None)
    gpus = lead.gpus if lead else None
    key = "screen.methods.why" if gpus is None else "screen.methods.believed"
    after = paragraph(key, method=METHOD_NAMES[study.believe], gpus=gpus, why=why)
    found = [screen(_methods_table(workbook, study))]
    return {"text": [_studied(workbook, study)], "tables": found, "after": [after]}


def _studied(workbook: Workbook, known: Methods) -> list[contract.Piece]:
    """Return the target of the methods, and the probability of waiting in the plan."""
    demand, lines = workbook.plan.scenario.demand, workbook.plan.lines
    load_key = f"pools.{known.pool}.busy_gpus"
    key = load_key if load_key in lines else ""
    load: contract.Piece = {"text": amount(mean_gpus(known.load_gpus), "GPU"), "key": key}
    key = "screen.methods.target" if demand.rule in RISKS else "screen.methods.what if"
    text = paragraph(key, target=known.target.words, load=load)
    if "totals.waiting" not in lines:
        return text
    keys = ("totals.waiting", "totals.waiting_after_failure")
    waiting, after = (contract.Piece(text=percent(lines[key].value / 100), key=key) for key in keys)
    return text + paragraph("screen.methods.waiting", waiting=waiting, after=after)


def _methods_table(workbook: Workbook, known: Methods) -> Table:
    lines, key = workbook.plan.lines, f"pools.{known.pool}.gpus_for_target"
    planned = workbook.plan.scenario.demand.rule in RISKS

    def name(at: int, _: Cell) -> dict[str, Any]:
        answer = known.answers[at]
        why = said("screen.methods.jobs")
        note = why if answer.gpus is None else FORMULA_NAMES[answer.method, known.target.rule]
        tag = {"tag": said("screen.methods.used")} if answer.chosen and planned else {}
        return {"text": METHOD_NAMES[answer.method], "note": note, **tag}

    def gpus(at: int, cell: Cell) -> dict[str, Any]:
        traced = known.answers[at].chosen and key in lines and lines[key].value == cell.value
        return _range_below(cell, number) | ({"key": key} if traced else {})

    table = tables.methods(known).without("formula").dressed("method", name).dressed("gpus", gpus)
    return table.dressed("chance", lambda _, cell: _range_below(cell, percent))


def _range_below(cell: Cell, words: Callable[[float], str]) -> dict[str, Any]:
    if cell.low is None or cell.high is None:
        return {}
    return {"text": words(cell.value), "note": f"{words(cell.low)} to {words(cell.high)}"}


@partial(form, "arrivals", fold=True)
def assumption_form(workbook: Workbook) -> dict[str, Any]:
    options = [("auto", said("screen.methods.automatic")), *METHOD_NAMES.items()]
    study, _ = _methods(workbook)
    bursty = next((a.peakedness for a in study.answers if a.peakedness), None) if study else None
    ends = ("_low", "", "_high")
    none = [""] * len(ends)
    empties = [said("screen.assumed", value=float(f"{z:.3g}")) for z in bursty] if bursty else none
    demand = workbook.scenario.demand
    stated = sum(z is not None for z in (demand.peakedness, demand.peakedness_low, demand.peakedness_high))
    hint = "screen.methods.peakedness stated" if stated else "screen.methods.peakedness traces"
    return {
        "shown": bool(workbook.scenario.groups),
        "hint": said(hint, method=dict(options)[demand.method]),
        "options": {"demand.method": options},
        "empties": {f"demand.peakedness{end}": words for end, words in zip(ends, empties, strict=True)},
    }


@partial(Picture, draw=charts.odds_chart, slow=True)
def odds_rows(workbook: Workbook) -> dict[str, Any]:
    pool = _pool(workbook)
    study, _ = _methods(workbook)
    if study is None:
        return {}
    plan = workbook.plan
    points, _ = tried(workbook, f"demand: curve {pool}", lambda: chance_curve(plan, pool, known=study))
    if not points:
        return {}
    return charts.odds_rows(study, points) | {"simulated": _simulated(workbook, pool, study.target.rule)}


def _simulated(workbook: Workbook, pool: str, rule: str) -> list[dict[str, Any]]:
    """Return the simulation of this very design, for the chart."""
    simulating = workbook.simulating
    if simulating.scenario != workbook.plan.scenario or simulating.when != "busiest":
        return []
    found = [t for t in simulating.simulations if t["pool"] == pool and t["rule"] == rule]
    chances = [(t["gpus"], t["chance"]["value"]) for t in found]
    return [{"gpus": gpus, "chance": chance, "shown": percent(chance)} for gpus, chance in chances]


WHEN = NAMES["hours simulated"]


@card("run")
def simulate_data(workbook: Workbook) -> dict[str, Any]:
    simulating = workbook.simulating
    done = bool(simulating.simulations)
    go = said("screen.methods.again" if done else "screen.methods.go")
    able = any(group.mode for group in workbook.plan.groups)
    old = done and simulating.scenario != workbook.plan.scenario
    card = background_card(workbook, simulating.runner, "simulate", go, off=not able)
    hours = menu(workbook, "when", said("screen.methods.hours"), WHEN)
    after = [said("screen.methods.independent")] if done else []
    shown = {"shown": bool(workbook.plan.groups), "inputs": [hours], "text": _said(workbook, old)}
    return card | shown | {"tables": _tables(workbook) if done else [], "after": after, "old": old}


def _said(workbook: Workbook, old: bool) -> list[str]:
    simulating = workbook.simulating
    if not simulating.simulations:
        return [said("screen.methods.not simulated")]
    texts = [said("screen.methods.old")] * old
    texts += [said("screen.methods.stopped")] * (simulating.runner.state == "cancelled")
    texts += [said("screen.methods.growing")] * any(t["growing"] for t in simulating.simulations)
    return texts + (_fewest(workbook) if simulating.runner.state == "done" and not old else [])


def _fewest(workbook: Workbook) -> list[str]:
    """Return the fewest hosts that keep the target, pool by pool."""
    simulating, plan = workbook.simulating, workbook.plan
    most, lines = (simulating.scenario or plan.scenario).demand.chance, []
    names = pool_names(plan.pools)
    pools: dict[str, list[dict[str, Any]]] = {}
    for simulation in simulating.simulations:
        pools.setdefault(simulation["pool"], []).append(simulation)
    for pool, simulations in pools.items():
        kept = [simulation["hosts"] for simulation in simulations if simulation["chance"]["value"] <= most]
        where = f"{names[pool]}: " if len(pools) > 1 and pool in names else ""
        what = said("screen.methods.meet", hosts=min(kept)) if kept else said("screen.methods.none meets")
        does = NAMES["what requests do"][simulations[0]["rule"]]
        chance = stated_percent(most)
        lines.append(said("screen.methods.fewest", where=where, what=what, chance=chance, does=does))
    return lines


def _tables(workbook: Workbook) -> list[dict[str, Any]]:
    """Return a row for each number of hosts; the groups on the hosts of the plan."""
    simulations = workbook.simulating.simulations
    planned = {(kind, pool.hosts): pool for kind, pool in whole_pools(workbook.plan.pools).items()}
    pairs = [(planned.get((run["pool"], run["hosts"])), run) for run in simulations]
    return [_hosts(workbook, simulations), *(_groups(workbook, pool, run) for pool, run in pairs if pool)]


def _hosts(workbook: Workbook, simulations: list[dict[str, Any]]) -> dict[str, Any]:
    scenario = workbook.simulating.scenario or workbook.plan.scenario
    pools = whole_pools(workbook.plan.pools)
    several = len({simulation["pool"] for simulation in simulations}) > 1

    def name(at: int, cell: Cell) -> dict[str, Any]:
        pool = pools.get(simulations[at]["pool"])
        if pool is None:
            return {}
        shown = {"text": f"{cell.words}, {pool.name}"} if several else {}
        if pool.hosts == cell.value:
            return shown | {"tag": said("screen.methods.planned")}
        for_demand = pool.hosts_for_demand == cell.value
        return shown | ({"tag": said("screen.methods.for the demand")} if for_demand else {})

    def chance(_: int, cell: Cell) -> dict[str, Any]:
        return {"tone": "bad"} if cell.value > scenario.demand.chance else {}

    return screen(tables.simulated_hosts(simulations).dressed("hosts", name).dressed("chance", chance))


def _groups(workbook: Workbook, pool: WholePool, simulation: dict[str, Any]) -> dict[str, Any]:
    plan = workbook.plan
    table = lettered(workbook, tables.simulated(plan, simulation))
    seen = {one["group"] for one in simulation["groups"]}
    names = {group.id: group.name for group in plan.scenario.groups}
    away = [names.get(group, group) for group in pool.groups if group not in seen]
    several = len(whole_pools(plan.pools)) > 1
    key = "screen.methods.on the hosts of" if several else "screen.methods.on the hosts"
    title = said(key, name=pool.name)
    more = said("screen.methods.no requests", names=", ".join(away)) if away else ""
    return screen(table, title, more)
