"""The simulation in the demand step: its buttons and progress, and what it found, hosts by hosts."""

from __future__ import annotations

from typing import Any

from gpuplan.app.model import Workbook
from gpuplan.app.steps.failing import Cell, cell
from gpuplan.report import number, percent
from gpuplan.wording import wait_words

WHEN = {"busiest": "The busiest hours", "week": "The whole week"}
CHANCES = {"wait": "Wait", "wait-time": "Wait too long", "turned-away": "Turned away"}


def simulate_data(workbook: Workbook) -> dict[str, Any]:
    """What to simulate, how far it is, and what came out."""
    simulating = workbook.simulating
    runner, when = simulating.runner, workbook.looked.get("when", "busiest")
    running = runner.state == "running"
    able = any(g.mode for g in workbook.plan.groups) and not workbook.stale
    old = bool(simulating.trials) and simulating.scenario != workbook.plan.scenario
    return {
        "shown": bool(workbook.plan.groups),
        "title": "Simulated on the hosts",
        "hint": "hosts, profiles and the placement policy; first come first served; people who wait stay",
        "inputs": [
            {"what": "when", "label": "Hours", "value": when, "options": _options(WHEN)},
        ],
        "buttons": [
            {"text": "Stop", "event": "cancel-simulation", "key": "sim-stop"}
            if running
            else {
                "text": "Simulate again" if simulating.trials else "Simulate",
                "event": "simulate",
                "key": "sim-go",
                "primary": True,
                "off": not able,
            }
        ],
        "progress": {"done": runner.done, "text": f"{round(100 * runner.done)} %"} if running else None,
        "problem": runner.error,
        "text": _said(workbook, old),
        "tables": _tables(workbook) if simulating.trials else [],
        "old": old,
        "stale": workbook.stale,
    }


def _options(words: dict[str, str]) -> list[dict[str, str]]:
    return [{"value": value, "text": text} for value, text in words.items()]


def _said(workbook: Workbook, old: bool) -> list[str]:
    """What the simulation says beside the formula, in a sentence."""
    simulating = workbook.simulating
    if not simulating.trials:
        return [
            "The formulas see one pool of GPUs. A simulation of the requests on these hosts sees where GPUs are left over "
            "that nobody waiting can use."
        ]
    said = ["This was another design: simulate again."] if old else []
    if simulating.runner.state == "cancelled":
        said.append("Stopped: what was found until then.")
    if any(t["growing"] for t in simulating.trials):
        said.append("Where the queue grew without end, the figures depend on how long it was watched.")
    return said


def _share(figure: dict[str, Any]) -> str:
    half = figure["half_width"]
    return percent(figure["value"]) + ("" if half is None else f" \u00b1 {percent(half)}")


def _tables(workbook: Workbook) -> list[dict[str, Any]]:
    """A row for each number of hosts; the groups on the hosts of the plan."""
    simulating = workbook.simulating
    scenario = simulating.scenario or workbook.plan.scenario
    names = {group.id: group.name for group in scenario.groups}
    pools = {pool.id: pool for pool in workbook.plan.pools}
    rows: list[list[Cell]] = []
    groups: list[list[Cell]] = []
    for trial in simulating.trials:
        pool = pools.get(trial["pool"])
        planned = pool is not None and pool.hosts == trial["hosts"]
        name = f"{trial['hosts']} hosts" + (f", {pool.name}" if pool and len(pools) > 1 else "")
        over = trial["chance"]["value"] > scenario.demand.chance
        rows.append(
            [
                cell(name) | ({"tag": "planned"} if planned else {}),
                cell(number(trial["gpus"]), numeric=True),
                cell(_share(trial["chance"]), numeric=True, tone="" if not over else "bad"),
                cell(wait_words(trial["overall"]["wait_p90_h"]), numeric=True),
                cell(percent(trial["utilisation"]["value"]), numeric=True),
            ]
        )
        if planned:
            groups += [
                [
                    cell(names.get(one["group"], one["group"])),
                    cell(number(one["requests"]), numeric=True),
                    cell(_share(one["waited"]), numeric=True),
                    cell(_share(one["turned_away"]), numeric=True),
                    cell(wait_words(one["wait_p90_h"]), numeric=True),
                ]
                for one in trial["groups"]
            ]
    rule = simulating.trials[0]["rule"]
    whom = "unluckiest group" if simulating.trials[0]["for_whom"] == "each" else "all"
    return [
        _table("", ("Hosts", "GPUs", f"{CHANCES[rule]}, {whom}", "90 % wait at most", "GPUs held"), rows),
        _table(
            "On the hosts planned", ("Group", "Requests", "Wait", "Turned away", "90 % wait at most"), groups
        ),
    ]


def _table(title: str, heads: tuple[str, ...], rows: list[list[Cell]]) -> dict[str, Any]:
    return {
        "title": title if rows else "",
        "heads": [{"text": text, "numeric": at > 0} for at, text in enumerate(heads)],
        "rows": rows,
        "more": "",
    }
