"""Host failure tolerance: the postures side by side, a failure in maintenance, and the inputs of the risk."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from gpuplan.analysis.rent_or_buy import PostureCost, posture_costs
from gpuplan.app.cards import Card, Contents, panel
from gpuplan.app.forms import form, stated_hint
from gpuplan.app.state import Workbook
from gpuplan.app.steps.cost import MANY_HOSTS
from gpuplan.app.steps.failures import move_words, stun_text
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.availability import Posture
from gpuplan.plan.hosts import Pool
from gpuplan.plan.weighing import stun_item
from gpuplan.report import amount, hours
from gpuplan.report.table import Cell, Table, Worded, screen, tabulate
from gpuplan.report.tables import plan as plan_tables
from gpuplan.report.tables.availability import not_sure, postures
from gpuplan.report.tables.platform import behaviour, hand_over
from gpuplan.scenario import FIELD_BY_PATH
from gpuplan.widgets import contract
from gpuplan.wording import MODE_NAMES, priced, said, short_number

POSTURES = (0, 1, 2)
COSTED_HOSTS = 64
"""Hosts up to which, if no group grows, every posture is planned again for its cost before the page is shown."""
EXPLAINED = {"hosts": "hosts", "hours_short": "short_h", "hours_exposed": "exposed_h", "chance": "chance"}
"""Column of the table of postures -> end of the keys of its lines."""
FAILURES = "availability.host_failures"
maintenance_form = form("maintenance", lambda workbook: {"stale": workbook.stale, "text": _bet(workbook)})


@partial(Card, "posture", slow=True)
def posture_data(workbook: Workbook) -> contract.Posture:
    value = workbook.scenario.availability.host_failures
    planned = {posture.host_failures: posture for posture in workbook.plan.postures}
    return {
        "path": FAILURES,
        "value": value,
        "cards": [_card(workbook, n, planned.get(n)) for n in sorted({*POSTURES, value})],
        "label": FIELD_BY_PATH[FAILURES].label,
        "question": FIELD_BY_PATH[FAILURES].question,
        "problem": workbook.problem_of(FAILURES),
        "stale": workbook.stale,
    }


def _card(workbook: Workbook, failures: int, posture: Posture | None) -> contract.PostureCard:
    words = _covered(workbook, failures)
    card = contract.PostureCard(
        value=failures, title=f"N+{failures}", words=words, key="", hosts="", gpus="", cost=""
    )
    if posture is None:
        return card
    return card | {
        "key": f"postures.n{failures}.hosts",
        "hosts": amount(posture.hosts, "host"),
        "gpus": amount(posture.gpus, "GPU"),
        "cost": _cost(workbook, failures),
    }


def _covered(workbook: Workbook, failures: int) -> str:
    if workbook.scenario.availability.maintenance_failure_accepted:
        return said("screen.posture.may fail" if failures else "screen.posture.none may fail", hosts=failures)
    key = "screen.posture.and maintenance" if failures else "screen.posture.maintenance only"
    return said(key, failures=failures)


@panel(needs="postures")
def tolerance_data(workbook: Workbook, compared: Sequence[Posture]) -> Contents:
    table = postures(workbook.plan)
    for column, line in EXPLAINED.items():
        keys = [f"postures.n{posture.host_failures}.{line}" for posture in compared]
        why = [{"key": key} if key in workbook.plan.lines else {} for key in keys]
        table = table.dressed(column, lambda row, _, why=why: why[row])  # type: ignore[misc]
    return table


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
    key = "screen.posture.exposed"
    if now.exposed_h == 0:
        key = "screen.posture.keeps capacity"
    elif now.host_failures == 0 and availability.maintenance_failure_accepted:
        key = "screen.posture.takes GPUs"
    text = said(key, hours=hours(now.exposed_h), chance=not_sure(now.chance))
    if more is None:
        return text
    key = "screen.posture.still exposed" if more.exposed_h else "screen.posture.with more"
    risk = {"chance": not_sure(more.chance), "hours": hours(more.exposed_h)}
    return f"{text} {said(key, failures=more.host_failures, **risk)}"


@partial(form, "risk", hint=stated_hint)
def risk_form(workbook: Workbook) -> dict[str, Any]:
    scenario = workbook.plan.scenario
    measured = stun_item(workbook.catalog, scenario.platform.vsphere, scenario.hardware.gpu)
    title = said("screen.posture.evacuation")
    tables = [screen(_stun_table(workbook), title)] if workbook.plan.groups else []
    return {"empties": {"availability.stun_limit_s": measured.fact("limit_s")}, "tables": tables}


@panel(needs="pools")
def platform_data(workbook: Workbook, _pools: Sequence[Pool]) -> Contents:
    plan = workbook.plan
    checks = hand_over(plan)
    return {"tables": [screen(behaviour(plan)), screen(checks, checks.title)]}


@partial(form, "clusters", fold=True)
def clusters_form(workbook: Workbook) -> dict[str, Any]:
    plan = workbook.plan
    table = plan_tables.pools(plan).only("pool", "hosts_for_demand", "hosts_for_failures", "hosts", "gpus")
    clusters = f"pools.{plan.pools[0].kind}.clusters" if plan.pools else ""
    why = (decision.justification for decision in plan.decisions if clusters in decision.lines)
    shown = [screen(table, "", next(why, ""))] if len(plan.pools) > 1 else []
    return {"hint": amount(len(plan.pools), "cluster") if plan.pools else "", "tables": shown}


def _stun_table(workbook: Workbook) -> Table:

    def leaves(group: GroupPlan) -> Cell:
        how, tone = move_words(workbook, group)
        if group.stun_s is not None:
            how = said("screen.posture.stun over" if tone else "screen.posture.moved")
        return Cell(how, tone=tone)

    placed = [group for group in workbook.plan.groups if group.vms_placed]
    return tabulate("stun", placed, title="", mode=Worded(MODE_NAMES.get), stun_s=_stun, how=leaves)


def _stun(group: GroupPlan) -> Cell:
    if group.stun_s is None:
        unknown = "screen.posture.not known" if group.stun_not_known else "screen.posture.none"
        return Cell(None, words=said(unknown))
    return Cell(group.stun_s, words=stun_text(group.stun_s), line=f"groups.{group.id}.stun_s")
