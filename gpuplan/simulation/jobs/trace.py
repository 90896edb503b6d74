"""The jobs of a trace as they were."""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpuplan.simulation.arrivals import Floats, Stream
from gpuplan.simulation.event_loop.cluster import Cluster
from gpuplan.simulation.event_loop.engine import OPEN, Engine
from gpuplan.simulation.jobs.checks import _check_cluster, _check_jobs, _check_room
from gpuplan.simulation.jobs.figures import EVENTS_PER_CALL, Progress

AFTER_ALL = sys.float_info.max


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """Result for each job of a trace, in the order given; not reached, if cancelled, it is neither served nor denied.

    ``wait_h`` of a job denied is its wait until it left. ``utilisation`` is GPU-time allocated over GPU-time there,
    from the first arrival to the last end, a fraction counted as such.
    """

    wait_h: Floats
    served: NDArray[np.bool_]
    denied: NDArray[np.bool_]
    utilisation: float
    peak_gpus: int
    hours: float
    ended: str

    def longer_share(self, wait_h: float) -> float:
        """Share of the jobs decided that waited longer than so long, before they started or left."""
        decided = self.served | self.denied
        return float(np.mean(self.wait_h[decided] > wait_h)) if decided.any() else 0.0

    def denied_share(self) -> float:
        """Share of the jobs decided that were denied."""
        decided = int(self.served.sum() + self.denied.sum())
        return int(self.denied.sum()) / decided if decided else 0.0

    def mean_wait_h(self) -> float:
        """Mean wait of the jobs served."""
        return float(np.mean(self.wait_h[self.served])) if self.served.any() else 0.0

    def quantile_wait_h(self, share: float) -> float:
        """The wait that so large a share of the jobs served did not exceed."""
        if not self.served.any():
            return 0.0
        return float(np.quantile(self.wait_h[self.served], share, method="inverted_cdf"))


def replay(
    arrival_h: ArrayLike,
    *,
    duration_h: ArrayLike,
    gpus: ArrayLike,
    hosts: Sequence[int],
    policy: str = "pack",
    longest_wait_h: float = math.inf,
    split: bool = False,
    progress: Callable[[Progress], bool] | None = None,
) -> Replayed:
    """Wait of each job of a trace, and utilisation, had the same jobs come to a cluster of these hosts.

    Parameters:
        arrival_h (array of float): When each job asks for its GPUs. [h]
        duration_h (array of float): How long it keeps them. [h]
        gpus (array of float): How many it takes: a whole number, or a fraction of one GPU. [GPU]
        hosts (sequence of int): Hosts, each by the number of its GPUs. [host]
        policy: Placement: pack (fullest host first) or spread (emptiest host first). [-]
        longest_wait_h: Wait after which a request leaves; 0: it is denied at once, infinite: it never leaves. [h]
        split: Whether a job larger than the largest host runs as VMs of whole hosts of that size, started together. [-]
        progress (callable or None): Called now and then with a Progress; it ends the run by returning False. [-]

    Event by event, exact for the rules of the module; jobs that arrive together keep their order, a fraction shares a
    GPU with its like only, and the whole hosts of a split job count as allocated. [law-2015]_

    >>> three = replay([0.0, 1.0, 2.0], duration_h=[4.0, 4.0, 1.0], gpus=[2, 4, 1], hosts=[4])
    >>> three.wait_h.tolist(), three.mean_wait_h(), round(three.utilisation, 4)
    ([0.0, 3.0, 6.0], 3.0, 0.6944)
    """
    _check_cluster(hosts, policy, longest_wait_h)
    arrival, duration, size = (np.asarray(a, dtype=np.float64) for a in (arrival_h, duration_h, gpus))
    _check_jobs(arrival, duration, size)
    count = len(arrival)
    if count == 0:
        nothing = np.zeros(0, dtype=np.bool_)
        return Replayed(np.zeros(0), nothing, nothing, 0.0, 0, 0.0, "done")

    sizes, kind = np.unique(size, return_inverse=True)
    _check_room(size, hosts, split)
    kinds = _kinds_of(sizes, hosts)
    cluster = Cluster.of(kinds, hosts)
    order = np.argsort(arrival, kind="stable")
    start = float(arrival[order[0]])
    engine = Engine(
        cluster,
        cluster.hosts_that_matter(hosts),
        [OPEN] * len(kinds),
        policy=policy,
        longest_wait_h=longest_wait_h,
        jobs=count,
    )
    per_call = EVENTS_PER_CALL[engine.compiled]
    ended = "done"
    for first in range(0, count, per_call):
        part = order[first : first + per_call]
        final = first + per_call >= count
        until = AFTER_ALL if final else float(arrival[part[-1]]) - start
        engine.take(arrival[part] - start, duration[part], kind[part], None, until=until)
        if not final and progress is not None and not progress(Progress(engine.asked, count, engine.now_h)):
            ended = "cancelled"
            break

    wait, decided = np.zeros(count), np.zeros(count, dtype=np.int8)
    wait[order], decided[order] = engine.decided()
    served = decided == 1
    ends = (arrival + wait + duration)[served]
    hours = max(float(arrival.max()), float(ends.max()) if served.any() else start) - start
    if ended == "cancelled":
        hours = float(engine.now_h)
    allocated = np.array([k.vms * float(k.gpus) for k in kinds])[kind]
    within = np.minimum(arrival + wait + duration, start + hours) - (arrival + wait)
    used = float(np.sum((allocated * within)[served]))
    return Replayed(
        wait_h=wait,
        served=served,
        denied=decided == 2,
        utilisation=used / (sum(hosts) * hours) if hours > 0 else 0.0,
        peak_gpus=engine.peak_gpus,
        hours=hours,
        ended=ended,
    )


def _kinds_of(sizes: Floats, hosts: Sequence[int]) -> list[Stream]:
    """Jobs of each size; one that is larger than a host runs as VMs of whole hosts."""
    largest = max(hosts)
    vms = [max(1, math.ceil(g / largest)) for g in sizes]
    pairs = zip(sizes, vms, strict=True)
    return [Stream(f"{g:g} GPUs", largest if n > 1 else float(g), n) for g, n in pairs]
