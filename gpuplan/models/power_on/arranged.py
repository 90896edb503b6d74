"""An arrangement as a running cluster: the hosts of ``placement`` with each VM on its GPUs, so that the rules go on from there."""

from collections import Counter
from collections.abc import Sequence

from gpuplan.models.placement.fit import Request, Room
from gpuplan.models.placement.layout import Host, Load
from gpuplan.models.power_on.cluster import Cluster, Spot
from gpuplan.models.power_on.gpu_states import Rules, Way
from gpuplan.models.sharing import layout_starts


def arranged(
    requests: Sequence[Request], *, rooms: Sequence[Room], rules: Rules, layout: Sequence[Host]
) -> Cluster:
    """The cluster in which every VM runs where an arrangement has it.

    Parameters
    ----------
    requests : sequence of Request
        VMs by kind. [-]
    rooms : sequence of Room
        What each host offers. [-]
    rules : Rules
        One reading of how vSphere places VMs from then on. [-]
    layout : sequence of Host
        Loads of each host. [-]

    Returns
    -------
    arranged : Cluster
        The VMs as they run. [-]

    Notes
    -----
    On each host VMs with most GPUs have those with the lowest numbers, so that partitions of 2, 4 and 8 are aligned; shared GPUs follow. Where on a
    GPU shares begin, ``layout_starts`` says.

    Examples
    --------
    >>> from gpuplan.models.placement import place
    >>> kinds = [Request("a", 2, gpus=1), Request("b", 1, gpus=2)]
    >>> cluster = arranged(kinds, rooms=[Room(4)], rules=Rules(), layout=place(kinds, gpus_per_host=4).hosts)
    >>> cluster.spots[1, 1], cluster.spots[0, 2]
    (Spot(host=0, gpus=(0, 1), starts=()), Spot(host=0, gpus=(3,), starts=()))

    References
    ----------
    .. [1] gpuplan-method
    """
    cluster = Cluster(requests, rooms, rules)
    kinds = {request.group: kind for kind, request in enumerate(requests)}
    ways = dict(rules.ways)
    for at, host in enumerate(layout):
        shares: dict[tuple[int, int], list[tuple[int, int]]] = {}
        gpu = 0
        for load in sorted(host, key=lambda load: (load.family is not None, -load.gpus)):
            if load.family is None:
                vm = kinds[load.slots[0].group], load.slots[0].vm
                cluster.put(*vm, Spot(at, tuple(range(gpu, gpu + load.gpus)), ()))
            else:
                starts = _starts(load, ways.get(load.family.name, Way()))
                for slot, start in zip(load.slots, starts, strict=True):
                    shares.setdefault((kinds[slot.group], slot.vm), []).append((gpu, start))
            gpu += load.gpus
        for vm, on in shares.items():
            cluster.put(*vm, Spot(at, tuple(gpu for gpu, _ in on), tuple(start for _, start in on)))
    return cluster


def _starts(load: Load, way: Way) -> list[int]:
    """Where each share of a GPU begins."""
    if not way.pieces:
        return [0] * len(load.slots)
    counts = Counter(slot.profile for slot in load.slots)
    places = layout_starts(
        [counts[piece.name] for piece in way.pieces],
        pieces=way.pieces,
        region=way.region,
        compute_slices=way.compute_slices,
    )
    free = {piece.name: list(starts) for piece, starts in zip(way.pieces, places, strict=True)}
    return [free[slot.profile].pop(0) for slot in load.slots]
