"""Checks of failures: the worst host, maintenance, and the stun of VMs during vMotion."""

from collections.abc import Iterator
from math import inf
from typing import Any

from gpuplan.catalog import Item
from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.checks.message import Message, about, message, placed
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.plan.plan import Plan
from gpuplan.plan.requests import too_large
from gpuplan.plan.weighing import stun_item, stun_limit_s
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import NAMES, hours, said

UNMOVED = NAMES["why not moved"]
"""Reason why VMs are not moved, by access mode."""


def after_failure(plan: Plan) -> Iterator[Message]:
    """VMs that the worst failure of a host leaves without a GPU: for want of spare hosts, or as no new host can take them."""
    level = "stop" if plan.scenario.availability.host_failures else "warn"
    lost: dict[frozenset[str], int] = {}
    for pool in plan.pools:
        stuck = frozenset(request.group for request in too_large(pool.requests, pool.new_room))
        worst = max((loss.unplaced for loss in pool.failures), default=0)
        lost[stuck] = max(worst, lost.get(stuck, 0))
    if vms := lost.pop(frozenset(), 0):
        yield message(plan, "failure-leaves-unplaced", level=level, vms=vms)
    for stuck, vms in lost.items():
        groups = [group for group in plan.groups if group.id in stuck]
        yield from about(plan, "on-owned-hosts-only", groups if vms else [], level=level, vms=vms)


def maintenance_bet(plan: Plan) -> Iterator[Message]:
    """Hours of maintenance in which the design tolerates no further failure."""
    availability = plan.scenario.availability
    for pool in plan.pools:
        spent = plan.lines[f"postures.n{availability.host_failures}.{pool.id}.maintenance_h"]
        if spent.value >= HOURS_PER_YEAR:
            yield message(plan, "maintenance-never-ends", pool=pool.name, hosts=pool.hosts)
    chosen = next((p for p in plan.postures if p.chosen), None)
    if not chosen or not availability.maintenance_failure_accepted or not chosen.exposed_h:
        return
    # with failover capacity the two differ, if only in the last digit where a failure is almost certain
    if not chosen.host_failures and chosen.maintenance_short_h >= chosen.exposed_h:
        yield message(plan, "maintenance-takes-gpus", hours=hours(chosen.exposed_h))
        return
    more = next((p for p in plan.postures if p.host_failures == chosen.host_failures + 1), None)
    beside = said("check.next posture", failures=more.host_failures, chance=more.chance) if more else ""
    exposed = hours(chosen.exposed_h)
    yield message(plan, "maintenance-bet", hours=exposed, chance=chosen.chance, beside=beside)


def vmotion_need(plan: Plan) -> Iterator[Message]:
    """Groups that need vMotion, but whose VMs cannot be moved within the limit."""
    needing = _needing(plan)
    limit = stun_limit_s(plan.scenario, plan.catalog)
    missed: dict[str, list[GroupPlan]] = {}
    for group in placed(plan):
        if group.id not in needing or group.stun_not_known or (group.stun_s or inf) <= limit:
            continue
        why = UNMOVED.get(group.mode) or said("check.no stun known")
        if group.stun_s:
            why = said("check.stun", stun=f"{group.stun_s:.0f}", limit=f"{limit:.0f}")
        missed.setdefault(why, []).append(group)
    for why, groups in missed.items():
        other = any(out.possible and out.mode in ("vgpu", "mig") for g in groups for out in g.ruled_out)
        remedy = "check.move as vGPU" if other else "check.move elsewhere"
        if any(group.stun_s for group in groups):
            remedy = "check.move sooner"
        yield from about(plan, "vmotion-need-not-kept", groups, why=why, remedy=said(remedy))


def pods(plan: Plan) -> Iterator[Message]:
    """Pods with vGPUs, whose VMs the Supervisor does not move before maintenance."""
    on_supervisor = {group.id for group in plan.scenario.groups if group.runs_as == "kubernetes"}
    groups = [group for group in placed(plan) if group.backing and group.id in on_supervisor]
    version = plan.catalog.vsphere[plan.scenario.platform.vsphere].name
    yield from about(plan, "pods-power-off", groups, version=version)


def _needing(plan: Plan) -> set[str]:
    return {group.id for group in plan.scenario.groups if group.vmotion == "needed"}


def _stunned(plan: Plan) -> list[tuple[GroupPlan, float]]:
    return [(group, group.stun_s) for group in placed(plan) if group.stun_s is not None]


def _estimated(plan: Plan) -> list[GroupPlan]:
    """Return the groups whose stun is derived from measurements elsewhere, and was not read in vCenter."""
    read = {group.id for group in plan.scenario.groups if group.stun_read_s is not None}
    return [group for group, _ in _stunned(plan) if group.id not in read]


def _measured(plan: Plan) -> Item:
    """Return the measurements behind the stun of a design."""
    return stun_item(plan.catalog, plan.scenario.platform.vsphere, plan.scenario.hardware.gpu)


def _stun_remedy(plan: Plan) -> str:
    platform = plan.catalog.vsphere[plan.scenario.platform.vsphere]
    return said("check.read estimates" if platform.value("stun_estimates") else "check.test a migration")


def stun_over_limit(plan: Plan) -> Iterator[Message]:
    """Report VMs whose stun in vMotion is longer than the limit, where it is left open whether they are moved."""
    limit = int(stun_limit_s(plan.scenario, plan.catalog))
    open_ = {group.id for group in plan.scenario.groups if group.vmotion == "auto"}
    slow = [g for g, stun_s in _stunned(plan) if stun_s > limit and g.id in open_]
    rule = plan.catalog.row("rules", "vmotion-stun-limit")
    longest = max((g.stun_s or 0 for g in slow), default=0)
    sources = (*_measured(plan).fact("limit_s").sources, *rule.sources)
    yield from about(plan, "stun-over-limit", slow, stun_s=longest, limit=limit, sources=sources)


def stun_worst_case(plan: Plan) -> Iterator[Message]:
    """VMs within the limit of which the worst test was near it."""
    limit = int(stun_limit_s(plan.scenario, plan.catalog))
    tests = [row for row in plan.catalog.rows("stun_times") if row["vm_memory_gb"] is not None]
    worst = max(tests, key=lambda row: row["stun_s"])
    worst_mb = worst["frame_buffer_gb"] * MIB_PER_GIB
    near = [g for g in _estimated(plan) if (g.stun_s or 0) <= limit and g.frame_buffer_mb >= worst_mb]
    if worst["stun_s"] * 2 > limit:
        planned = max((group.stun_s or 0 for group in near), default=0)
        yield from about(plan, "stun-worst-case", near, planned=planned, worst=worst, sources=worst.sources)


def stun_extrapolated(plan: Plan) -> Iterator[Message]:
    """VMs with more frame buffer than a stun was measured with."""
    catalog, measured = plan.catalog, _measured(plan)
    on_line = [
        row
        for row in catalog.rows("stun_times")
        if row["gpu"] and stun_item(catalog, row["vsphere"], row["gpu"]) == measured
    ]
    if not on_line:
        return
    largest = max(on_line, key=lambda row: float(row["frame_buffer_gb"]))
    most_mb = largest["frame_buffer_gb"] * MIB_PER_GIB
    beyond = [g for g in _estimated(plan) if g.frame_buffer_mb > most_mb]
    on = f"{catalog.vsphere[largest['vsphere']].name}, a {catalog.gpus[largest['gpu']].name}"
    words: dict[str, Any] = {"test": largest, "on": on, "remedy": _stun_remedy(plan)}
    sources = measured.fact("fixed_s").sources
    yield from about(plan, "stun-extrapolated", beyond, sources=sources, **words)


def stun_not_known(plan: Plan) -> Iterator[Message]:
    """Report VMs for which no source states the stun."""
    unknown = [group for group in placed(plan) if group.stun_not_known]
    if unknown:
        before, peak = (_measured(plan).fact(name) for name in ("before_share", "peak_gbit_s"))
        level = "warn" if _needing(plan) & {group.id for group in unknown} else ""
        words: dict[str, Any] = {"before": before, "peak": peak, "remedy": _stun_remedy(plan)}
        words["vsphere"] = plan.catalog.vsphere[plan.scenario.platform.vsphere].name
        yield from about(plan, "stun-not-known", unknown, level=level, **words)


def vmotion_link(plan: Plan) -> Iterator[Message]:
    """A link that is too slow for vMotion of VMs with vGPUs."""
    if any(link.kind == "vmotion" and link.verdict == "bad" for link in link_verdicts(plan)):
        yield message(plan, "vmotion-link-slow", link=plan.scenario.network.link_gbit_s)
