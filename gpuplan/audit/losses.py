"""Losses: whether every VM has a place again when hosts of an estate with GPUs fail, from its hosts and VMs as they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import NamedTuple

from gpuplan.audit.estate import Estate, EstateHost, EstateVm
from gpuplan.audit.estate_use import NOT_STATED, Places, not_moved
from gpuplan.catalog import Catalog

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
