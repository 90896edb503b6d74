"""GPU demand by assumption about arrivals: the methods beside each other, and the inputs of the assumption."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gpuplan.analysis.demand import Methods, chance_curve, methods, pool_mixes
from gpuplan.app.cards import Contents, Picture, panel, said, select, strong, tried
from gpuplan.app.forms import form
from gpuplan.app.state import Workbook
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.sizing_rule import burst_fact
from gpuplan.report import amount, number, percent
from gpuplan.report.charts import demand as charts
from gpuplan.report.table import Cell, Table, screen
from gpuplan.report.tables import demand as tables
from gpuplan.scenario import RISKS
from gpuplan.wording import FORMULA_NAMES, METHOD_NAMES, believe_words, mean_gpus


def _pools(workbook: Workbook) -> dict[str, str]:
    mixes = workbook.once("demand: mixes", lambda: pool_mixes(workbook.plan))
    return {
        kind: pool.name
        for kind, pool in whole_pools(workbook.plan.pools).items()
        if any(ask.load for mix in mixes.get(kind, ()) for ask in mix.asks)
    }


def _pool(workbook: Workbook) -> str:
    return workbook.chosen("pool", _pools(workbook))


def _methods(workbook: Workbook) -> tuple[Methods | None, str]:
    if not (pool := _pool(workbook)):
        return None, ""
    return tried(workbook, f"demand: methods {pool}", lambda: methods(workbook.plan, pool))


@panel("GPUs by arrivals", "and the probability of waiting in the busiest hours")
def odds_head(workbook: Workbook) -> Contents:
    """Return the heading of the methods, and the hosts for which they are shown."""
    pools = _pools(workbook)
    selects = [select("pool", "Hosts", _pool(workbook), pools)] if len(pools) > 1 else []
    return {"selects": selects} if pools else None


@panel(slow=True)
def odds_data(workbook: Workbook) -> Contents:
    """Return the methods beside each other, and which to believe."""
    known, problem = _methods(workbook)
    if known is None:
        return problem or None
    bursts = burst_fact(workbook.catalog)
    stated = workbook.plan.scenario.demand.peakedness is not None
    why = believe_words(known.believe, float(bursts.low or 1), float(bursts.high or bursts.value), stated)
    lead = next((a for a in known.answers if a.method == known.believe), None)
    gpus = lead.gpus if lead else None
    believed = "" if gpus is None else f"{METHOD_NAMES[known.believe]}: {amount(gpus, 'GPU')}. "
    bounds = (
        "The formulas treat the GPUs as one pool without host boundaries; the Simulation tab includes them."
    )
    return {
        "text": [_studied(workbook, known)],
        "tables": [screen(_methods_table(workbook, known))],
        "after": [said(strong(believed), f"{why} {bounds}")],
    }


def _studied(workbook: Workbook, known: Methods) -> list[dict[str, Any]]:
    """Return the target of the methods, and the probability of waiting in the plan."""
    asked, lines = workbook.plan.scenario.demand, workbook.plan.lines
    target = known.target
    load_key = f"pools.{known.pool}.busy_gpus"
    lead = f"Target: {target.words}. " if asked.rule in RISKS else f"What if {target.words}? "
    load = amount(mean_gpus(known.load_gpus), "GPU")
    why = {"text": load, "key": load_key if load_key in lines else ""}
    found = said(f"{lead}The busiest hours need ", why, " on average.")
    if "totals.waiting" not in lines:
        return found
    waiting, after = (
        {"text": percent(lines[key].value / 100), "key": key}
        for key in ("totals.waiting", "totals.waiting_after_failure")
    )
    return found + said(
        " Requests beyond the plan queue: their probability of waiting is ",
        waiting,
        ", and after a host failure ",
        after,
        ".",
    )


def _methods_table(workbook: Workbook, known: Methods) -> Table:
    """Return the methods with their formulas, and their ranges below the numbers."""
    lines, key = workbook.plan.lines, f"pools.{known.pool}.gpus_for_target"
    planned = workbook.plan.scenario.demand.rule in RISKS

    def name(at: int, _: Cell) -> dict[str, Any]:
        answer = known.answers[at]
        why = "work arrives as jobs, whose number has no known limit"
        note = why if answer.gpus is None else FORMULA_NAMES[answer.method, known.target.rule]
        tag = {"tag": "used"} if answer.chosen and planned else {}
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


@partial(form, "arrivals", "Assumptions about arrivals and placement", fold=True)
def assumption_form(workbook: Workbook) -> dict[str, Any]:
    """Return the assumption about arrivals, and the burstiness of demand."""
    options = [("auto", "automatic"), *METHOD_NAMES.items()]
    known, _ = _methods(workbook)
    bursty = next((a.peakedness for a in known.answers if a.peakedness), None) if known else None
    ends = ("_low", "", "_high")
    empties = [f"{number(float(f'{z:.3g}'))} (assumed)" for z in bursty] if bursty else [""] * len(ends)
    asked = workbook.scenario.demand
    stated = sum(z is not None for z in (asked.peakedness, asked.peakedness_low, asked.peakedness_high))
    said = [dict(options)[asked.method], f"peakedness {'stated' if stated else 'from public traces'}"]
    return {
        "shown": bool(workbook.scenario.groups),
        "hint": ", ".join(said),
        "options": {"demand.method": options},
        "empties": {f"demand.peakedness{end}": words for end, words in zip(ends, empties, strict=True)},
    }


@partial(Picture, draw=charts.odds_chart, slow=True)
def odds_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the data of the chart of chances."""
    pool = _pool(workbook)
    known, _ = _methods(workbook)
    if known is None:
        return {}
    points, _ = tried(
        workbook, f"demand: curve {pool}", lambda: chance_curve(workbook.plan, pool, known=known)
    )
    if not points:
        return {}
    return charts.odds_rows(known, points) | {"simulated": _simulated(workbook, pool, known.target.rule)}


def _simulated(workbook: Workbook, pool: str, rule: str) -> list[dict[str, Any]]:
    """Return the simulation of this very design, for the chart."""
    simulating = workbook.simulating
    if simulating.scenario != workbook.plan.scenario or simulating.when != "busiest":
        return []
    return [
        {"gpus": t["gpus"], "chance": t["chance"]["value"], "shown": percent(t["chance"]["value"])}
        for t in simulating.simulations
        if t["pool"] == pool and t["rule"] == rule
    ]
