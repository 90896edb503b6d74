"""Tables of availability: the effects of host losses, the requirements of each posture, and idle GPUs."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.variants import Standing, standing
from gpuplan.models.availability.idle import Idle
from gpuplan.models.availability.survey import Loss
from gpuplan.plan import Plan
from gpuplan.plan.availability import Posture
from gpuplan.plan.hosts import Pool
from gpuplan.plan.layouts import LossLevel
from gpuplan.report.physical import clients
from gpuplan.report.table import Cell, Table, Worded, columns, tabulate
from gpuplan.report.tables.plan import by_cluster, group_names
from gpuplan.wording import hours, number, said

FITS = {True: number(True), False: number(False), None: said("table.not known")}


def failures(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the effect of losing each host, identical hosts once, in all clusters or in some."""
    own = columns("failures", host_lost=lambda loss: loss.hosts[0])
    table = by_cluster("failures", own, pools or plan.pools, lambda pool: pool.failures)
    return replace(table, notes=tuple(filter(None, (of_clients(plan),))))


def of_clients(plan: Plan) -> str:
    """Say what a failure means for VMs that use GPUs over the network; empty without such VMs."""
    return said("table.failures.clients") if clients(plan) else ""


def losses(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the capacity that remains after the loss of any hosts, in all clusters or in some."""
    own = columns("losses", fits=_fits, without_moving=Worded(FITS.get))
    return by_cluster("losses", own, pools or plan.pools, lambda pool: pool.losses)


def _fits(left: LossLevel) -> Cell:
    return Cell(left.fits, words=FITS[left.fits], tone="bad" if left.fits is False else "")


def lost_hosts(pool: Pool, found: Sequence[Loss], traced: bool = False) -> Table:
    """Tabulate the effect of losing some hosts of a cluster; ``traced`` where the plan has a line for each."""

    def restarted(loss: Loss) -> Cell:
        return Cell(loss.restarted, line=f"pools.{pool.id}.failure.{loss.hosts[0]}" if traced else "")

    shown: dict[str, Any] = {"hosts": _lost, "restarted": restarted, "unplaced": _unplaced}
    return tabulate("lost_hosts", found, **shown, unplaced_gpus=lambda loss: round(loss.unplaced_gpus, 2))


def _unplaced(loss: Loss) -> Cell:
    words = None
    if loss.unplaced and not loss.impossible:
        words = said("table.without a known place", unplaced=loss.unplaced)
    return Cell(loss.unplaced, words=words, tone="bad" if loss.unplaced else "")


def _lost(loss: Loss) -> Cell:
    """Name the lost hosts, and count the others with identical load."""
    what = ("pair" if loss.hosts[1:] else "host") + " alike" * (loss.alike > 1)
    hosts = said("table.failures.and").join(map(number, loss.hosts))
    return Cell(loss.hosts, words=said(f"table.failures.{what}", hosts=hosts, alike=loss.alike))


def postures(plan: Plan) -> Table:
    """N+0, N+1, N+2: the hosts, and the hours of a year at risk."""
    shown: dict[str, Any] = {"posture": _posture_name, "hours_exposed": _exposed}
    shown["chance"] = lambda of: Cell(of.chance, words="") if _short(of) else Cell(not_sure(of.chance))
    notes = (said("table.capacity shortfall expected hours"),)
    return tabulate("postures", plan.postures, **shown, standing=lambda of: _standing(plan, of), notes=notes)


def _standing(plan: Plan, posture: Posture) -> Standing:
    """Return the standing of a posture: VMs that fit on no host are the same in all; the cost is known of the chosen one."""
    here = standing(plan)
    return here if posture.chosen else here._replace(low=None, high=None)


def _posture_name(posture: Any) -> Cell:
    name = f"N+{posture.host_failures}"
    return Cell(name, words=said("table.chosen", name=name) if posture.chosen else name)


def _short(posture: Posture) -> bool:
    """True if maintenance alone is too much."""
    return posture.exposed_h > 0 and math.isclose(posture.maintenance_short_h, posture.exposed_h)


def _exposed(posture: Posture) -> Cell:
    words = hours(posture.exposed_h)
    words = said("table.postures.short", hours=words) if _short(posture) else words
    return Cell(posture.exposed_h, words=words)


def not_sure(chance: float) -> float:
    """Return a probability for many clusters, which may round to 1 but is not certain."""
    return min(chance, math.nextafter(1, 0))


def idle_text(plan: Plan, idle: Idle) -> str:
    """Say in one sentence what is idle, where, and who could use it."""
    shared = "memory" if idle.family.startswith("bitfusion") else "places"
    kind = "whole" if idle.kind == "whole" else shared
    what = said(f"table.idle {kind}{' each' * (idle.count > 1)}", idle=idle)
    if idle.fits:
        names = group_names(plan)
        return said("table.room for", what=what, groups=", ".join(names[g] for g in idle.fits))
    why = "table.idle.no vm fits"
    if idle.kind == "whole":
        pool = next(pool for pool in plan.pools if idle in pool.idle)
        few = any(request.gpus <= idle.room for request in pool.requests)
        why = "table.idle.little left" if few else "table.idle.no vm so few"
    return said("table.idle.stranded", what=what, why=said(why))


def idle(plan: Plan) -> Table:
    """Tabulate idle GPUs on hosts in use, and who could use them."""
    names = group_names(plan)
    own = columns("idle", usable_by=lambda i: ", ".join(names[g] for g in i.fits))
    return by_cluster("idle", own, plan.pools, lambda pool: pool.idle)
