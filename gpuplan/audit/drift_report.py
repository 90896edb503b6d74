"""Drift as plain data and as text: differences, whether host failures are still tolerated, evacuations, and what to do."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from gpuplan.audit.drift import Drift, Finding, per_core_of
from gpuplan.audit.estate import Estate, EstateHost, EstateVm
from gpuplan.audit.estate_report import blocked_rows, counted
from gpuplan.audit.estate_use import NOT_STATED, UNKNOWN, EstateUse, Places, not_moved, use_of
from gpuplan.audit.matching import SERVERS
from gpuplan.catalog import Catalog
from gpuplan.report.plan_data import as_json
from gpuplan.report.table import Table, tabulate
from gpuplan.report.text import chapter, page
from gpuplan.wording import NAMES, said

MOST_SETS = 400
"""Sets of hosts tried in a cluster; of more, those of the hosts with most VMs."""
MOST_MOVED = 8
"""Sets, those that leave most VMs over, for which others are moved."""


class Tolerance(NamedTuple):
    """The worst loss of hosts in a cluster."""

    cluster: str
    lost: int
    sets: int
    tried: int
    """Sets of so many hosts that were tried, of all ``sets``."""
    hosts: tuple[str, ...]
    """The worst loss; empty where all VMs restart and none moves."""
    unplaced: tuple[str, ...]
    """VMs that have no place then, even if others move; none where it holds."""


def tolerances(
    estate: Estate,
    catalog: Catalog,
    failures: int,
    tied: Set[EstateVm],
    any_board: Set[EstateVm],
    per_core: Mapping[str, float] = NOT_STATED,
) -> Iterator[Tolerance]:
    """Yield the worst loss of so many hosts of each cluster with VMs on GPUs, of fewer where one would be left.

    VMs take connected hosts with free memory and vCPUs, and GPUs in the modes that these have; those of ``any_board``
    whole GPUs of another board, too. First no other VM moves; where that leaves some over, all that vMotion takes are
    placed anew. VMs ``tied`` to their hosts are not restarted.
    """
    places = Places(estate, catalog, per_core, any_board)
    staying = tuple(vm for vm in estate.vms if not_moved(vm) or vm in tied)
    settled = Places(replace(estate, vms=staying), catalog, places.per_core)
    settled.needs = places.needs
    vms = {name: [vm for vm in of if vm not in tied] for name, of in estate.by_host.items()}
    for cluster, hosts in _with_gpus(estate, vms):
        lost = min(failures, len(hosts) - 1)
        if lost >= 1:
            most = max(n for n in range(lost, len(hosts) + 1) if comb(n, lost) <= MOST_SETS)
            worst, unplaced = _worst(combinations(hosts[:most], lost), hosts, vms, places, settled)
            yield Tolerance(cluster, lost, comb(len(hosts), lost), comb(most, lost), worst, unplaced)


def _with_gpus(
    estate: Estate, vms: Mapping[str, Sequence[EstateVm]]
) -> Iterator[tuple[str, list[EstateHost]]]:
    """Yield clusters with VMs on GPUs, and the hosts that take VMs, those with most of them first."""
    for cluster in dict.fromkeys(host.cluster for host in estate.hosts):
        hosts = [host for host in estate.hosts if host.cluster == cluster and host.takes_vms]
        counts = {host: sum(bool(vm.devices) for vm in vms[host.name]) for host in hosts}
        if any(counts.values()):
            hosts.sort(key=lambda host: (-counts[host], -len(vms[host.name]), host.name))
            yield cluster or "", hosts


def _worst(
    losses: Iterable[tuple[EstateHost, ...]],
    hosts: Sequence[EstateHost],
    vms: Mapping[str, list[EstateVm]],
    places: Places,
    settled: Places,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts of the worst of some losses, and the VMs that have no place then, even if others move."""

    def others(gone: tuple[EstateHost, ...]) -> list[EstateHost]:
        return [host for host in hosts if host not in gone]

    def displaced(gone: tuple[EstateHost, ...]) -> list[EstateVm]:
        return [vm for host in gone for vm in vms[host.name]]

    short = {gone: n for gone in losses if (n := len(places.unplaced(displaced(gone), others(gone))))}
    order = sorted(short, key=lambda gone: (-short[gone], [host.name for host in gone]))[:MOST_MOVED]
    worst, unplaced = order[:1], list[EstateVm]()
    for gone in order:
        if short[gone] > len(unplaced):
            moving = displaced(gone) + [vm for vm in displaced(tuple(others(gone))) if not not_moved(vm)]
            left = settled.unplaced(moving, others(gone))
            worst, unplaced = max((worst, unplaced), ([gone], left), key=lambda each: len(each[1]))
    return tuple(host.name for gone in worst for host in gone), tuple(sorted(vm.name for vm in unplaced))


class Told(NamedTuple):
    """Drift as a table, the worst loss of hosts by cluster, and the use of the estate."""

    drift: Drift
    table: Table
    tolerances: tuple[Tolerance, ...]
    use: EstateUse


def told_of(drift: Drift) -> Told:
    """Return what is told of a design and an estate."""
    plan, estate = drift.design.plan, drift.estate
    per_core = per_core_of(drift)
    use = use_of(estate, plan.catalog, per_core)
    unknown = {each.vm for vms in use.evacuation.values() for each in vms if each.why == UNKNOWN}
    of = {each.vm: each.group for each in drift.matches.vms}
    tied = {vm for vm, id in of.items() if id == SERVERS or vm.name in unknown}
    any_board = {vm for vm, id in of.items() if id and len(drift.design.boards(id)) > 1}
    failures = plan.scenario.availability.host_failures
    worst = tuple(tolerances(estate, plan.catalog, failures, tied, any_board, per_core))
    return Told(drift, tabulate("drift", map(_row, drift.findings)), worst, use)


def _row(finding: Finding) -> dict[str, Any]:
    values = finding._asdict() | {"n": len(finding.subjects), "names": finding.subjects}
    what, change = (said(f"drift.{finding.code}{end}", **values) for end in ("", ".change"))
    return values | {"what": what, "change": change}


def matched(told: Told) -> Iterator[str]:
    """Yield how hosts and VMs were matched, and how many were not compared."""
    (_, hosts, groups), matches = told.drift.design, told.drift.matches
    by, names = Counter(each.by for each in matches.vms), NAMES["match of a VM"]
    how = ", ".join(said("drift.how", n=by[key], by=name) for key, name in names.items() if by[key])
    planned, there = sum(len(group.names) for group in groups.values()), sum(by[key] for key in names)
    vms = {"vms": there, "planned_vms": planned, "how": how or "-"}
    yield said("drift.matched", hosts=len(matches.hosts), planned_hosts=len(hosts), **vms)
    if matches.others or by["no GPU"]:
        yield said("drift.others", hosts=len(matches.others), vms=by["no GPU"])


def after_failures(told: Told) -> Iterator[str]:
    """Yield whether every VM still has a place after host failures, by cluster."""
    for each in told.tolerances:
        key = "drift.fails" if each.unplaced else "drift.holds moved" if each.hosts else "drift.holds"
        yield said(key, **each._asdict(), n=len(each.unplaced), names=each.unplaced)
        if each.tried < each.sets:
            yield said("drift.tried", tried=each.tried, sets=each.sets)
    if not told.drift.design.plan.scenario.availability.host_failures:
        yield said("drift.no failures")
    elif SERVERS in told.drift.design.groups:
        yield said("drift.servers")


def evacuations(told: Told) -> Iterator[str]:
    """Yield how many hosts can be evacuated, and what to do about the others, by reason."""
    hosts = told.use.evacuation.values()
    if hosts:
        yield said("drift.evacuated", hosts=sum(not vms for vms in hosts), of=len(hosts))
        yield from counted(told.drift.estate, told.use)
    blocked = [each for vms in hosts for each in vms]
    for why in sorted({each.why for each in blocked}):
        profiles = sorted({each.what for each in blocked if each.why == why})
        names = sorted(each.vm for each in blocked if each.why == why)
        yield said(f"drift.evacuation.{why}", names=names, profiles=profiles)


def drift_text(told: Told) -> str:
    """Return drift as text for a terminal."""
    return page(
        said("drift.title", name=told.drift.design.plan.scenario.name),
        [*matched(told), *(f"{note}." for note in told.drift.estate.notes)],
        chapter(told.table, below=("change",)) or said("drift.none"),
        [*after_failures(told), *evacuations(told)],
        tabulate("estate_evacuation", blocked_rows(told.use.evacuation)),
    )


def drift_dict(told: Told) -> dict[str, Any]:
    """Return drift as plain JSON values: ``findings``, ``tolerance``, ``evacuation`` by host, and all that was matched or not."""
    matches = told.drift.matches
    return as_json(
        notes=told.drift.estate.notes,
        findings=told.table,
        tolerance=told.tolerances,
        evacuation=told.use.evacuation,
        hosts={name: planned.name for name, planned in matches.hosts.items()},
        missing=[planned.name for planned in matches.missing],
        extra=[host.name for host in matches.extra],
        others=[host.name for host in matches.others],
        clusters=matches.clusters,
        vms=[{"name": each.vm.name, "group": each.group, "by": each.by} for each in matches.vms],
    )
