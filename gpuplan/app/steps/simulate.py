"""The simulation in the demand step: its buttons and progress, and what it found, hosts by hosts."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import Cell, cell, group_colours, number_heads, table
from gpuplan.app.state import Workbook
from gpuplan.app.steps.background import background_card
from gpuplan.report import amount, number, percent
from gpuplan.wording import stated_percent, wait_words

WHEN = {"busiest": "The busiest hours", "week": "The whole week"}
WORDS = {"wait": "have to wait", "wait-time": "wait too long", "turned-away": "are turned away"}
CHANCES = {"wait": "Wait", "wait-time": "Wait too long", "turned-away": "Turned away"}

BELIEVE = "Requests come independently of each other: bursts are not in it. Where jobs come in bursts, believe the replay of an audit."


def simulate_data(workbook: Workbook) -> dict[str, Any]:
    """What to simulate, how far it is, and what came out."""
    simulating = workbook.simulating
    when = workbook.looked.get("when", "busiest")
    able = any(g.mode for g in workbook.plan.groups) and not workbook.stale
    old = bool(simulating.trials) and simulating.scenario != workbook.plan.scenario
    card = background_card(
        simulating.runner,
        "simulate",
        ("Simulate", "Simulate again"),
        again=bool(simulating.trials),
        off=not able,
    )
    return card | {
        "shown": bool(workbook.plan.groups),
        "title": "Simulated on the hosts",
        "hint": "with their profiles and the placement policy; first come, first served; people who wait stay",
        "inputs": [
            {"what": "when", "label": "Hours", "value": when, "options": _options(WHEN)},
        ],
        "text": _said(workbook, old),
        "tables": _tables(workbook) if simulating.trials else [],
        "after": [BELIEVE] if simulating.trials else [],
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
    return said + (_fewest(workbook) if simulating.runner.state == "done" and not old else [])


def _fewest(workbook: Workbook) -> list[str]:
    """The fewest hosts that keep the target, pool by pool."""
    simulating = workbook.simulating
    scenario = simulating.scenario or workbook.plan.scenario
    names = {pool.id: pool.name for pool in workbook.plan.pools}
    most, said = scenario.demand.chance, []
    pools = list(dict.fromkeys(trial["pool"] for trial in simulating.trials))
    for pool in pools:
        trials = [trial for trial in simulating.trials if trial["pool"] == pool]
        kept = [trial["hosts"] for trial in trials if trial["chance"]["value"] <= most]
        where = f"{names[pool]}: " if len(pools) > 1 and pool in names else ""
        target = f"at most {stated_percent(most)} of the requests {WORDS[trials[0]['rule']]}"
        what = (
            f"{amount(min(kept), 'host')} or more keep the target"
            if kept
            else "None of these keeps the target"
        )
        said.append(f"{where}{what}: {target}.")
    return said


def _share(figure: dict[str, Any]) -> str:
    half = figure["half_width"]
    return percent(figure["value"]) + (f" \u00b1 {percent(half)}" if half else "")


def _tables(workbook: Workbook) -> list[dict[str, Any]]:
    """A row for each number of hosts; the groups on the hosts of the plan."""
    simulating = workbook.simulating
    scenario = simulating.scenario or workbook.plan.scenario
    names = {group.id: group.name for group in scenario.groups}
    colours = group_colours(workbook)
    chips = {group.id: [group.letter, colours[group.id]] for group in workbook.plan.groups}
    pools = {pool.id: pool for pool in workbook.plan.pools}
    rows: list[list[Cell]] = []
    groups: list[list[Cell]] = []
    away: list[str] = []
    for trial in simulating.trials:
        pool = pools.get(trial["pool"])
        planned = pool is not None and pool.hosts == trial["hosts"]
        for_demand = pool is not None and pool.hosts_for_demand == trial["hosts"]
        name = amount(trial["hosts"], "host") + (f", {pool.name}" if pool and len(pools) > 1 else "")
        tag = "planned" if planned else "for the demand" if for_demand else ""
        over = trial["chance"]["value"] > scenario.demand.chance
        rows.append(
            [
                cell(name) | ({"tag": tag} if tag else {}),
                cell(number(trial["gpus"]), numeric=True),
                cell(_share(trial["chance"]), numeric=True, tone="" if not over else "bad"),
                cell(wait_words(trial["overall"]["wait_p90_h"]), numeric=True),
                cell(percent(trial["utilisation"]["value"]), numeric=True),
            ]
        )
        if pool is not None and planned:
            groups += [
                [
                    cell(names.get(one["group"], one["group"]))
                    | ({"chip": chips[one["group"]]} if one["group"] in chips else {}),
                    cell(number(one["requests"]), numeric=True),
                    cell(_share(one["waited"]), numeric=True),
                    cell(_share(one["turned_away"]), numeric=True),
                    cell(wait_words(one["wait_p90_h"]), numeric=True),
                ]
                for one in trial["groups"]
            ]
            seen = {one["group"] for one in trial["groups"]}
            away += [names.get(r.group, r.group) for r in pool.requests if r.group not in seen]
    rule = simulating.trials[0]["rule"]
    whom = "unluckiest group" if simulating.trials[0]["for_whom"] == "each" else "all"
    return [
        table(
            number_heads("Hosts", "GPUs", f"{CHANCES[rule]}, {whom}", "90 % wait at most", "GPUs held"), rows
        ),
        table(
            number_heads("Group", "Requests", "Wait", "Turned away", "90 % wait at most"),
            groups,
            title="On the hosts planned" if groups else "",
            more=f"No requests in these hours: {', '.join(away)}." if away else "",
        ),
    ]
