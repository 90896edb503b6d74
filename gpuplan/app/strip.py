"""The answer strip: six figures with their derivation, and the effect of the last change and of hosts down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.app.state import Workbook
from gpuplan.plan import Plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.over_time.power_on import orders_fail
from gpuplan.report import amount, number
from gpuplan.report.figures import Figures, open_points
from gpuplan.widgets import contract
from gpuplan.wording import counted, short_number, stated_percent

COST, PLACEMENT = "cost.net_present", "totals.unplaced_vms_after_failure"
RULES = {"sum": "sum of the peaks", "hours": "in the busiest hour", "denied": "at most {} denied"}
"""Sizing rule -> description of the demand, where it is not a probability of waiting."""
WAITING = "at most {} wait"
SMALL = 0.05
"""Share of a cost below which rounded figures would misstate a difference: then only the difference is shown."""


class Figure(NamedTuple):
    """A figure of the strip."""

    key: str
    label: str
    value: str
    note: str = ""
    tone: str = ""
    size: float | None = None
    """Number compared with the figure before a change; None if only its words are compared."""
    unit: str = ""


def strip_data(workbook: Workbook) -> dict[str, Any]:
    """Return the current answer."""
    plan, before = workbook.plan, workbook.before
    figures = plan.once("strip", lambda: _figures(plan, workbook.messages))
    moved = [""] * len(figures)
    if before is not None and not workbook.stale:
        old = before.once("strip", lambda: _figures(before, workbook.messages_before))
        moved = [_moved(one, other) for one, other in zip(old, figures, strict=True)]
    if down := _down(workbook):
        moved = ["" if figure.key in down else was for figure, was in zip(figures, moved, strict=True)]
        figures = [down.get(figure.key, figure) for figure in figures]
    names = ("key", "label", "value", "note", "tone")
    return {
        "figures": [
            dict(zip(names, figure, strict=False)) | {"was": was}
            for figure, was in zip(figures, moved, strict=True)
        ],
        "turn": workbook.turn,
        "stale": workbook.stale,
        "wrong": _wrong(workbook),
        "shown": workbook.started,
        "open": workbook.drawer,
    }


def _wrong(workbook: Workbook) -> contract.Wrong:
    """Return the first input with a problem, which keeps the figures unchanged; nothing where no input is to blame."""
    path = next(iter(workbook.wrong), "")
    if not path:
        return {}
    more = len(workbook.drafts) + len(workbook.refused) - 1
    others = f" (and {counted(more, 'other')})" if more else ""
    return {"path": path, "name": workbook.name_of(path), "text": f"{workbook.problem_of(path)}{others}"}


def _figures(plan: Plan, messages: Sequence[Message]) -> list[Figure]:
    totals, placed = plan.totals, plan.placed
    if not plan.pools and not plan.groups:
        return [
            Figure("demand.gpus", "Demand", "0", "no workloads yet"),
            Figure("totals.hosts", "Hosts", "0", "none yet"),
            Figure("totals.gpus", "GPUs", "0", "none yet"),
            Figure(PLACEMENT, "Availability", placed.short, "none yet"),
            Figure(COST, "Cost", "\u2013", "none yet"),
            _to_confirm(plan, messages),
        ]
    lost, demand, inputs = Figures(plan).down, Figures(plan).demand, plan.scenario.demand
    rule = RULES.get(inputs.rule, WAITING).format(stated_percent(inputs.chance))
    rule = rule if plan.scenario.deciding_total_gpus is None else "as stated"
    after = "a host failure" if lost == 1 else counted(lost, "host failure")
    return [
        Figure("demand.gpus", "Demand", amount(demand, "GPU"), rule, size=demand),
        Figure("totals.hosts", "Hosts", *_hosts(plan), size=totals.hosts),
        Figure(
            "totals.gpus",
            "GPUs",
            number(totals.gpus),
            f"{number(totals.gpus_after_failure)} after {after}",
            size=totals.gpus,
        ),
        Figure(PLACEMENT, "Availability", placed.short, _availability(plan), placed.tone),
        _cost(plan),
        _to_confirm(plan, messages),
    ]


def _availability(plan: Plan) -> str:
    """Say what failures change; where vSphere does not place every VM by itself, that this is the best arrangement."""
    placed = plan.placed
    if placed.state == "all" and orders_fail(plan.power_on):
        return f"at best after {placed.failures}"
    return placed.note


def _hosts(plan: Plan) -> tuple[str, str]:
    """Return hosts and their purpose, or now and in the last year where the cost beside them includes growth."""
    totals, costs = plan.totals, plan.costs
    if costs is not None and costs.hosts[-1] != totals.hosts:
        return f"{number(totals.hosts)} \u2192 {number(costs.hosts[-1])}", f"now \u2192 year {costs.years}"
    spare, availability, clusters = totals.hosts_for_failures, plan.scenario.availability, len(plan.pools)
    failures = availability.host_failures * clusters
    if not availability.maintenance_failure_accepted and failures and spare == failures + clusters:
        spared = f"{amount(failures, 'failure')} + {number(clusters)} maintenance"
    else:
        spared = f"{number(spare)} spare"
    return number(totals.hosts), f"{number(totals.hosts_for_demand)} + {spared}"


def _cost(plan: Plan) -> Figure:
    """Return the net present cost with its range; items without a price are counted, never taken as nothing."""
    costs, cost = plan.costs, Figures(plan).cost
    if costs is None or cost is None:
        return Figure(COST, "Cost", "\u2013")
    left_out = cost.left_out
    missing = f"excl. {counted(left_out, 'item' if costs.not_counted else 'price')}" if left_out else ""
    return Figure(
        COST,
        f"Net present cost, {counted(cost.years, 'year')}",
        cost.price,
        ", ".join(filter(None, (cost.span, missing))),
        "warn" if left_out else "",
        costs.net_present,
        costs.currency,
    )


def _to_confirm(plan: Plan, messages: Sequence[Message]) -> Figure:
    """Return the number of points to fix or to confirm, and of planning values."""
    stops, warns, planning = open_points(plan, messages)
    if stops:
        return Figure("messages", "To fix", number(stops), f"{number(warns)} to confirm", "bad", stops)
    tone = "warn" if warns else "" if planning else "good"
    values = f"and {counted(planning, 'planning value')}"
    return Figure("messages", "To confirm", number(warns), values, tone, warns)


def _moved(old: Figure, new: Figure) -> str:
    """Return a figure's value before the last change, and the difference; nothing if it is unchanged."""
    if old.value == new.value and (old.size is None or old.note == new.note):
        return ""
    if old.size is None or new.size is None or old.unit != new.unit or old.label != new.label:
        return f"was {old.value}"
    by = new.size - old.size
    if not by:
        return f"was {old.value}" if old.value != new.value else ""
    size = short_number(abs(by)) if new.unit else number(abs(by))
    sign = "+" if by > 0 else "\u2212"
    moved = f"{sign}{size}"
    if new.unit and abs(by) < SMALL * max(abs(old.size), abs(new.size)):
        return moved
    return f"was {old.value}, {moved}"


def _down(workbook: Workbook) -> dict[str, Figure]:
    """Return the figures while hosts are down on the screen, marked as such; other steps explain the whole plan."""
    if workbook.step != "hosts":
        return {}
    pools = [(pool, workbook.outcome(pool.id)) for pool in workbook.plan.pools]
    hosts = gpus = missing = 0
    for pool, outcome in pools:
        if outcome is not None:
            lost = {*workbook.failed.get(pool.id, ()), *workbook.maintenance.get(pool.id, ())}
            hosts += len(lost)
            gpus += sum(pool.rooms[host - 1].gpus for host in lost)
            missing += len(outcome.unplaced)
    if not hosts:
        return {}
    total = workbook.plan.totals.gpus
    marked = f"on screen: {counted(hosts, 'host')} down"
    missing += workbook.plan.totals.unplaced_vms
    return {
        "totals.gpus": Figure("totals.gpus", "GPUs", number(total - gpus), f"{marked}", "shown"),
        PLACEMENT: Figure(
            PLACEMENT,
            "Availability",
            f"{number(missing)} not placed" if missing else "All placed",
            marked,
            "bad" if missing else "shown",
        ),
    }
