"""Host failure tolerance: the postures side by side, a failure in maintenance, and the inputs of the risk."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.purchase_plan import PostureCost, posture_costs
from gpuplan.app.cards import Card, Contents, panel
from gpuplan.app.forms import form, stated_hint
from gpuplan.app.state import Workbook
from gpuplan.app.steps.alternatives import MANY_HOSTS
from gpuplan.app.steps.failures import move_words, stun_text
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.availability import Posture
from gpuplan.plan.weighing import stun_item
from gpuplan.report import amount, hours, number, percent
from gpuplan.report.table import Cell, Column, Table, listed, screen
from gpuplan.report.tables import plan as plan_tables
from gpuplan.report.tables.availability import not_sure, postures
from gpuplan.report.tables.platform import behaviour, hand_over
from gpuplan.scenario import FIELD_BY_PATH
from gpuplan.widgets import contract
from gpuplan.wording import MODE_NAMES, counted, priced, short_number

POSTURES = (0, 1, 2)
COSTED_HOSTS = 64
"""Hosts up to which, if no group grows, every posture is planned again for its cost before the page is shown."""
EXPLAINED = {"hosts": "hosts", "hours_short": "short_h", "hours_exposed": "exposed_h", "chance": "chance"}
"""Column of the table of postures -> end of the keys of its lines."""
FAILURES = "availability.host_failures"


@partial(Card, "posture", slow=True)
def posture_data(workbook: Workbook) -> contract.Posture:
    """Return N+0, N+1, N+2 side by side."""
    value = workbook.scenario.availability.host_failures
    planned = {posture.host_failures: posture for posture in workbook.plan.postures}
    return {
        "path": FAILURES,
        "value": value,
        "cards": [_card(workbook, n, planned.get(n)) for n in sorted({*POSTURES, value})],
        "question": FIELD_BY_PATH[FAILURES].question,
        "problem": workbook.problem_of(FAILURES),
        "stale": workbook.stale,
    }


@partial(form, "maintenance", "Maintenance")
def maintenance_form(workbook: Workbook) -> dict[str, Any]:
    """Return the effect of a failure in maintenance with the chosen posture."""
    return {"stale": workbook.stale, "text": _bet(workbook)}


def _card(workbook: Workbook, failures: int, posture: Posture | None) -> contract.PostureCard:
    card: contract.PostureCard = {
        "value": failures,
        "title": f"N+{failures}",
        "words": _covered(workbook, failures),
        "key": "",
        "hosts": "",
        "gpus": "",
        "cost": "",
    }
    if posture is None:
        return card
    return card | {
        "key": f"postures.n{failures}.hosts",
        "hosts": amount(posture.hosts, "host"),
        "gpus": amount(posture.gpus, "GPU"),
        "cost": _cost(workbook, failures),
    }


def _covered(workbook: Workbook, failures: int) -> str:
    """Say which failures the spare hosts of a posture cover."""
    if not workbook.scenario.availability.maintenance_failure_accepted:
        return f"{amount(failures, 'failure')} + maintenance" if failures else "maintenance only"
    return f"{amount(failures, 'host')} may fail" if failures else "no host may fail"


@panel("Host failure tolerance", "hours a year", needs="postures")
def tolerance_data(workbook: Workbook) -> Contents:
    """Return the risk of each posture, every figure with its derivation."""
    plan = workbook.plan
    table = postures(plan)
    for column, line in EXPLAINED.items():
        keys = [f"postures.n{posture.host_failures}.{line}" for posture in plan.postures]
        table = table.dressed(column, partial(_why, plan, keys))
    return table


def _why(plan: Plan, keys: Sequence[str], row: int, _cell: Cell) -> dict[str, str]:
    """Explain a cell, where the plan has a line for it."""
    return {"key": keys[row]} if keys[row] in plan.lines else {}


def _cost(workbook: Workbook, failures: int) -> str:
    """Return the net present cost of a posture; if planning all takes long, once that is done in the background."""
    plan = workbook.plan
    if plan.costs is None or plan.totals.hosts > MANY_HOSTS:
        return ""
    grows = any(group.growth for group in plan.scenario.groups)
    if plan.totals.hosts > COSTED_HOSTS or grows:
        costed = workbook.later("cost: postures beside the page", _costed) or ()
    else:
        costed = workbook.once("cost: postures", lambda: _costed(plan))
    costs = {posture.host_failures: posture.net_present for posture in costed}
    if failures not in costs:
        return ""
    return priced(short_number(costs[failures]), plan.costs.currency)


def _costed(plan: Plan) -> tuple[PostureCost, ...]:
    """Return the postures with their cost; nothing if one of them cannot be worked out."""
    try:
        return posture_costs(plan)
    except ValueError:
        return ()


def _bet(workbook: Workbook) -> str:
    """Describe the risk in maintenance with the chosen posture, and the effect of more hosts."""
    planned = {posture.host_failures: posture for posture in workbook.plan.postures}
    availability = workbook.plan.scenario.availability
    now = planned.get(availability.host_failures)
    if now is None:
        return ""
    more = planned.get(availability.host_failures + 1)
    if now.exposed_h == 0:
        text = f"The cluster keeps failover capacity during maintenance; the probability of an outage in maintenance is {percent(not_sure(now.chance))} a year."
    elif now.host_failures == 0 and availability.maintenance_failure_accepted:
        text = f"Maintenance itself takes GPUs that the plan needs: {hours(now.exposed_h)} a year."
    else:
        text = (
            f"During {hours(now.exposed_h)} of maintenance a year the cluster has no failover capacity; "
            f"the probability of an outage in those hours is {percent(not_sure(now.chance))} a year."
        )
    if more is None:
        return text
    extra = more.hosts - now.hosts
    hosts = "one more host" if extra == 1 else f"{number(extra)} more hosts"
    left = f" and {hours(more.exposed_h)}" if more.exposed_h else ""
    return f"{text} With {hosts} (N+{more.host_failures}): {percent(not_sure(more.chance))}{left}."


@partial(form, "risk", "Risk inputs", hint=stated_hint)
def risk_form(workbook: Workbook) -> dict[str, Any]:
    """Return the planning value for the stun of a VM, and how the VMs leave a host."""
    scenario = workbook.plan.scenario
    measured = stun_item(workbook.catalog, scenario.platform.vsphere, scenario.hardware.gpu)
    return {
        "empties": {"availability.stun_limit_s": measured.fact("limit_s")},
        "tables": [screen(_stun_table(workbook), "Evacuation by vMotion")] if workbook.plan.groups else [],
    }


@panel("What vSphere does, and checks at hand-over", "DRS, HA, vMotion and licences", needs="pools")
def platform_data(workbook: Workbook) -> Contents:
    """Return the platform rules that hold for this design, and the checks on the cluster at hand-over."""
    plan = workbook.plan
    return {"tables": [screen(behaviour(plan)), screen(hand_over(plan), "Checks at hand-over")]}


@partial(form, "clusters", "Clusters", fold=True)
def clusters_form(workbook: Workbook) -> dict[str, Any]:
    """Return the clusters into which the inputs divide the hosts."""
    plan = workbook.plan
    table = plan_tables.pools(plan).only("pool", "hosts_for_demand", "hosts_for_failures", "hosts", "gpus")
    why = (
        decision.justification
        for decision in plan.decisions
        if f"pools.{plan.pools[0].kind}.clusters" in decision.lines
    )
    return {
        "hint": counted(len(plan.pools), "cluster") if plan.pools else "",
        "tables": [screen(table, "", next(why, ""))] if len(plan.pools) > 1 else [],
    }


def _stun_table(workbook: Workbook) -> Table:
    """Return how a VM of each group leaves a host that goes into maintenance."""

    def leaves(group: GroupPlan) -> Cell:
        how, tone = move_words(workbook, group)
        if group.stun_s is not None:
            how = "stun over the limit" if tone else "moved while it runs"
        return Cell(how, tone=tone)

    columns = (
        Column("name", "Group"),
        Column("mode", "Access", words=MODE_NAMES.get),
        Column("stun_s", "vMotion stun", "number", of=_stun),
        Column("how", "In host maintenance", of=leaves),
    )
    return listed("stun", columns, [group for group in workbook.plan.groups if group.vms_placed], title="")


def _stun(group: GroupPlan) -> Cell:
    if group.stun_s is None:
        return Cell(None, words="not known" if group.stun_not_known else "none")
    return Cell(group.stun_s, words=stun_text(group.stun_s), line=f"groups.{group.id}.stun_s")
