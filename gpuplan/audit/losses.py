"""Losses: whether every VM with a GPU has a place again when hosts of an estate fail, from its GPUs and VMs as they are."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import combinations
from math import comb
from typing import NamedTuple

from gpuplan.audit.estate import Estate, EstateHost, EstateVm
from gpuplan.audit.estate_use import WHOLE, Places, not_moved
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
    estate: Estate, catalog: Catalog, failures: int, tied: Set[EstateVm], any_board: Set[EstateVm]
) -> Iterator[Tolerance]:
    """Yield the worst loss of so many hosts of each cluster with VMs on GPUs, of fewer where one would be left.

    VMs take connected hosts with free memory, and GPUs in the modes that these have; those of ``any_board`` whole GPUs
    of another board, too. First no other VM moves; where that leaves some over, all that vMotion takes are placed anew.
    VMs ``tied`` to their hosts are not restarted.
    """
    places = Places(estate, catalog)
    for vm in any_board & places.needs.keys():
        needs = places.needs[vm].elements()
        places.needs[vm] = Counter(WHOLE if name.startswith(WHOLE) else name for name in needs)
    staying = tuple(vm for vm in estate.vms if not_moved(vm) or vm in tied)
    settled = Places(replace(estate, vms=staying), catalog)
    settled.needs = places.needs
    vms = {name: [vm for vm in of if vm.devices and vm not in tied] for name, of in estate.by_host.items()}
    for cluster in dict.fromkeys(host.cluster for host in estate.hosts):
        hosts = [host for host in estate.hosts if host.cluster == cluster and host.takes_vms]
        hosts.sort(key=lambda host: (-len(vms[host.name]), host.name))
        lost = min(failures, len(hosts) - 1)
        if lost < 1 or not vms[hosts[0].name]:
            continue
        most = max(n for n in range(lost, len(hosts) + 1) if comb(n, lost) <= MOST_SETS)
        worst, unplaced = _worst(combinations(hosts[:most], lost), hosts, vms, places, settled)
        yield Tolerance(cluster or "", lost, comb(len(hosts), lost), comb(most, lost), worst, unplaced)


def _worst(
    losses: Iterable[tuple[EstateHost, ...]],
    hosts: Sequence[EstateHost],
    vms: Mapping[str, list[EstateVm]],
    places: Places,
    settled: Places,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the hosts of the worst of some losses, and the VMs that have no place then, even if others move."""
    tried = []
    for gone in losses:
        others = [host for host in hosts if host not in gone]
        displaced = [vm for host in gone for vm in vms[host.name]]
        if left := places.unplaced(displaced, others, places.memory):
            moving = [vm for host in others for vm in vms[host.name] if not not_moved(vm)]
            tried.append((-len(left), tuple(host.name for host in gone), displaced + moving, others))
    tried.sort(key=lambda each: each[:2])
    worst, unplaced = tried[0][1] if tried else (), list[EstateVm]()
    for _, names, moving, others in tried[:MOST_MOVED]:
        left = settled.unplaced(moving, others, settled.memory)
        if len(left) > len(unplaced):
            worst, unplaced = names, left
    return worst, tuple(sorted(vm.name for vm in unplaced))
