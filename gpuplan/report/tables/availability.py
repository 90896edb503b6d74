"""The tables of availability: what the loss of hosts does, and what each posture takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gpuplan.models.availability.failover import Loss
from gpuplan.plan import Plan
from gpuplan.plan.availability import Posture
from gpuplan.plan.hosts import Pool
from gpuplan.plan.layouts import LossLevel
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.report.tables.plan import by_cluster
from gpuplan.wording import hours, number


def failures(plan: Plan, *pools: Pool) -> Table:
    """What the loss of each host does, those that are filled alike once, in all clusters or in some."""
    return by_cluster(
        "failures",
        "What the loss of a host does",
        (
            Column("host_lost", "Host failed", "number", of=lambda loss: loss.hosts[0]),
            Column("hosts_alike", "Hosts filled alike", "number", of="alike"),
            Column("vms_restarted", "VMs that restart", "number", of="restarted"),
            Column("vms_moved", "VMs moved to make room", "number", of="moved"),
            Column("vms_not_placed", "VMs without a GPU", "number", of="unplaced"),
            Column("gpus_not_placed", "GPUs of these", "number", detail=True, of="unplaced_gpus"),
            Column("proven", "Proven the worst", "yes", detail=True),
        ),
        pools or plan.pools,
        lambda pool: pool.failures,
    )


FITS = {True: "yes", False: "no", None: "not known"}
"""Whether every VM on the hosts has a place again."""


def losses(plan: Plan, *pools: Pool) -> Table:
    """What is left whichever hosts are lost, in all clusters or in some."""
    return by_cluster(
        "losses",
        "Capacity left after host failures",
        (
            Column("hosts_down", "Hosts failed at once", "number", of="lost"),
            Column("gpus_left", "GPUs left", "number"),
            Column("fits", "VMs restart", "yes", of=_fits),
            Column("without_moving", "By restarts only", "yes", words=FITS.get),
        ),
        pools or plan.pools,
        lambda pool: pool.losses,
    )


def _fits(left: LossLevel) -> Cell:
    return Cell(left.fits, words=FITS[left.fits], tone="bad" if left.fits is False else "")


def lost_hosts(pool: Pool, found: Sequence[Loss], traced: bool = False) -> Table:
    """What the loss of some hosts of a cluster does; ``traced`` where the plan has a line of each."""

    def restarted(loss: Loss) -> Cell:
        return Cell(loss.restarted, line=f"pools.{pool.id}.failure.{loss.hosts[0]}" if traced else "")

    return listed(
        "lost_hosts",
        "What the loss of hosts does",
        (
            Column("hosts", "Lost", of=_lost),
            Column("restarted", "Restart", "number", of=restarted),
            Column("moved", "Make room", "number"),
            Column("unplaced", "Not placed", "number", of=_unplaced),
            Column("unplaced_gpus", "GPUs short", "number", of=lambda loss: round(loss.unplaced_gpus, 2)),
        ),
        found,
    )


def _unplaced(loss: Loss) -> Cell:
    words = f"{loss.unplaced} not found a place" if loss.unplaced and not loss.impossible else None
    return Cell(loss.unplaced, words=words, tone="bad" if loss.unplaced else "")


def _lost(loss: Loss) -> Cell:
    """Which hosts are lost, and how many others are filled alike."""
    hosts = loss.hosts
    what, kind = ("Host", "host") if len(hosts) == 1 else ("Hosts", "pair")
    alike = f" ({number(loss.alike)} {kind}s alike)" if loss.alike > 1 else ""
    return Cell(hosts, words=f"{what} {' and '.join(map(number, hosts))}{alike}")


def postures(plan: Plan) -> Table:
    """N+0, N+1, N+2: the hosts, and the hours of a year at risk."""
    return listed(
        "postures",
        "Hosts, capacity shortfall and exposure a year",
        (
            Column("posture", "", of=posture_name),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hours_short", "Capacity shortfall", "hours", "h", of="short_h"),
            Column("hours_exposed", "Exposure in maintenance", "hours", "h", of=_exposed),
            Column(
                "hours_short_in_maintenance", "Shortfall in maintenance", "hours", "h", True, _in_maintenance
            ),
            Column("chance", "Outage during maintenance", "share", of=_outage),
        ),
        plan.postures,
        notes=(
            "Capacity shortfall: expected hours with fewer hosts up than the planned peak needs, by failures. Exposure: hours of maintenance without failover capacity; short where maintenance alone is too much.",
        ),
    )


def posture_name(posture: Any) -> Cell:
    """How many host failures a design stands: ``N+1``."""
    name = f"N+{posture.host_failures}"
    return Cell(name, words=name + " (chosen)" * posture.chosen)


def _in_maintenance(posture: Posture) -> float:
    return posture.maintenance_short_h


def _short(posture: Posture) -> bool:
    """Whether maintenance alone is too much."""
    return posture.exposed_h > 0 and math.isclose(posture.maintenance_short_h, posture.exposed_h)


def _exposed(posture: Posture) -> Cell:
    return Cell(posture.exposed_h, words=hours(posture.exposed_h) + " short" * _short(posture))


def _outage(posture: Posture) -> Cell:
    if _short(posture):
        return Cell(posture.chance, words="")
    return Cell(
        min(posture.chance, math.nextafter(1, 0))
    )  # of many clusters it may be rounded to 1, but is not sure
