"""Checks of failures: the worst host, maintenance, and VMs that stand still while they are moved."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.plan.access import stun_item
from gpuplan.plan.checks.message import Message
from gpuplan.plan.plan import Plan
from gpuplan.units import MIB_PER_GIB
from gpuplan.wording import amount, hours, percent, some_of


def after_failure(plan: Plan) -> Iterator[Message]:
    """VMs that the worst failure of a host leaves without a GPU."""
    lost = plan.totals.unplaced_vms_after_failure - plan.totals.unplaced_vms
    if lost > 0 and plan.pools:
        level = "stop" if plan.scenario.availability.host_failures else "warn"
        yield Message(
            "failure-leaves-unplaced",
            level,
            f"The worst failure of one host leaves {amount(lost, 'VM')} without a GPU.",
            "Tolerate one host failure, or accept the risk.",
            "availability.host_failures",
            ("vmware-vsphere-8.0-admission-control",),
        )


def maintenance_bet(plan: Plan) -> Iterator[Message]:
    """Hours of maintenance in which one more failure is too much."""
    availability = plan.scenario.availability
    chosen = next((p for p in plan.postures if p.chosen), None)
    for pool in plan.pools:
        spent = plan.lines[f"postures.n{availability.host_failures}.{pool.id}.maintenance_h"]
        if spent.value >= HOURS_PER_YEAR:
            yield Message(
                "maintenance-never-ends",
                "warn",
                f"{pool.name}: {pool.hosts} hosts, maintained one at a time, take the whole year. The figures of risk assume that "
                "one host is always out.",
                "Maintain several hosts at a time, with as many spare, or take less time for each.",
                "availability.maintenance_h_per_host",
                plan.catalog.assumptions["host-reliability"].fact("maintenance_h_per_host").sources,
            )
    if not chosen or not availability.maintenance_failure_accepted or not chosen.exposed_h:
        return
    more = next((p for p in plan.postures if p.host_failures == chosen.host_failures + 1), None)
    if chosen.maintenance_short_h >= chosen.exposed_h:
        yield Message(
            "maintenance-takes-gpus",
            "warn",
            f"No host is spare: for {hours(chosen.exposed_h)} a year maintenance itself leaves somebody without a GPU.",
            "Tolerate one host failure: the spare host serves maintenance too.",
            "availability.host_failures",
            ("vmware-sharing-gpus-2020",),
            "8.4.1 and 9.4.1",
        )
        return
    yield Message(
        "maintenance-bet",
        "note",
        f"A failure during maintenance is accepted: for {hours(chosen.exposed_h)} a year one more failure leaves somebody "
        f"without a GPU, with a chance of {percent(chosen.chance)} in a year."
        + (f" With N+{more.host_failures} it is {percent(more.chance)}." if more else ""),
        "State how often hosts fail and how long they are in maintenance, or do not accept it.",
        "availability.maintenance_failure_accepted",
        ("vmware-sharing-gpus-2020",),
        "8.4.1 and 9.4.1",
    )


def vmotion(plan: Plan) -> Iterator[Message]:
    """VMs that stand still for long while vMotion moves them."""
    measured = stun_item(plan.catalog, plan.scenario.platform.vsphere)
    limit = plan.scenario.availability.stun_limit_s or int(measured.fact("limit_s").value)
    moved = [g for g in plan.groups if g.vms_placed and g.stun_s is not None]
    slow = [g for g in moved if g.stun_s is not None and g.stun_s > limit]
    if slow:
        longest = max(slow, key=lambda g: g.stun_s or 0)
        yield Message(
            "stun-over-limit",
            "warn",
            f"{some_of([g.name for g in slow])}: a VM may stand still for {longest.stun_s:.0f} s while it is moved, and the "
            f"limit is {limit} s.",
            "Raise the limit for these VMs, use less frame buffer, or shut them down for maintenance.",
            "availability.stun_limit_s",
            (*measured.fact("limit_s").sources, *plan.catalog.row("rules", "vmotion-stun-limit").sources),
        )
    tried = plan.catalog.rows("stun_times")
    most_gb = max(row["frame_buffer_gb"] for row in tried if row["vm_memory_gb"] is None)
    worst = max((row for row in tried if row["vm_memory_gb"] is not None), key=lambda row: row["stun_s"])
    near = [g for g in moved if g not in slow and g.frame_buffer_mb >= worst["frame_buffer_gb"] * MIB_PER_GIB]
    if near and worst["stun_s"] * 2 > limit:
        yield Message(
            "stun-worst-case",
            "note",
            f"{some_of([g.name for g in near])}: the vendor's worst case for a VM with {worst['frame_buffer_gb']:g} GB of vGPU and "
            f"{worst['vm_memory_gb']:g} GB of memory is {worst['stun_s']:g} s, more than twice what was measured.",
            "Try a migration before promising it.",
            "availability.stun_limit_s",
            worst.sources,
        )
    beyond = [g for g in moved if g.frame_buffer_mb > most_gb * MIB_PER_GIB]
    if beyond:
        yield Message(
            "stun-extrapolated",
            "note",
            f"{some_of([g.name for g in beyond])}: the stun is extrapolated; it was measured up to {most_gb:g} GB of frame buffer, on "
            "vSphere 7, a V100 and 10 GbE.",
            "Try a migration before promising it.",
            "availability.stun_limit_s",
            measured.fact("fixed_s").sources,
        )
    if moved and plan.scenario.network.link_gbit_s < 10:
        rule = plan.catalog.row("rules", "vmotion-network")
        yield Message(
            "vmotion-link-slow",
            "warn",
            f"{plan.scenario.network.link_gbit_s} Gbit/s is less than the 10 Gbit/s that vMotion of vGPU VMs wants; large "
            "profiles may fail to move.",
            "Choose 10 Gbit/s or more.",
            "network.link_gbit_s",
            rule.sources,
        )
