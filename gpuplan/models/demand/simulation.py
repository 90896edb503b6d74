"""Simulation: requests for GPUs come to hosts; who waits how long, who is turned away, how busy the GPUs are.

``simulate`` draws the requests of ``Stream``s by chance until its figures are tight enough; ``replay`` takes the
jobs of a trace as they were. Both go through ``_run``, which takes one event after the other (``_run_servers``
where that is enough). It is compiled where numba is installed, and runs as plain Python where not, with the same
results bit for bit.

The queue is first come first served over all streams: while its head waits, everybody behind it waits, also those
who would fit (no backfill). At one instant GPUs are given back first, then the queue is served, then those leave
who have waited as long as they will, then requests arrive.

Placement, on which results depend. All GPUs of one VM are in one host; the VMs of a request may be in different
hosts and start together. ``pack``: the host with the fewest free GPUs on which the VM fits. ``spread``: the host
with the most free GPUs. A fraction shares a GPU within its family only. ``pack``: the fullest GPU of the family
that has room, else a free GPU on the host by the rule above. ``spread``: a free GPU on the host with the most free
GPUs, else the emptiest GPU of the family that has room. Ties: the host with the fewest VMs, then the host that
comes first, then the GPU with the lowest number, where a GPU that begins to be shared takes the lowest number
free. Nothing moves once it is placed.
"""

import functools
import heapq
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpuplan.units import exact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

HOURS_PER_WEEK = 168
MOST_ACTIVE = 0.99
"""A chance of being active above this is simulated as this: at 1 a person would ask again at once."""
FLOOR = 0.04
"""Half width that is tight enough for a share, however small the share is, relative to the tolerance."""
POLICIES = ("pack", "spread")
FEWEST_BATCHES = 24
"""The first eighth of the batches is the warm-up, so at least 21 count."""
REQUESTS_PER_BATCH = 2000
"""On average at the start, where the length of a batch is free."""
MOST_BATCHES = 64
"""Then every two become one."""
MOST_GPUS = 1_000_000
MOST_HOURS = 20_000_000.0
"""Simulated at most, so that time keeps its digits where hardly anybody asks."""
_COMPILE = True
_CHUNK = 1 << 16
_EVENTS_PER_CALL = {True: 1 << 20, False: 1 << 16}
"""Requests between two calls of ``progress``, compiled or not."""
_MOST_STREAMS = 1 << 16
_AFTER_ALL = sys.float_info.max
_OPEN = 1 << 60
"""Stands for the people of a stream that is no closed group: more than can ask."""
_ASKED, _TURNED, _WAITED, _LONGER, _SERVED, _HOURS, _PENDING, _SUMS = range(8)
_LOWEST, _OCTAVES, _PER_OCTAVE = -20, 50, 32
_BINS = 1 + _OCTAVES * _PER_OCTAVE
"""Waits are counted in bins: one below 2**-20 h, then 32 for each doubling."""


@dataclass(frozen=True, slots=True)
class Stream:
    """One class of requests for GPUs.

    ``gpus`` of one VM are a whole number, or a fraction of one GPU. A request starts ``vms`` VMs together. Fractions
    share a GPU within their ``family`` ("": those of the same fraction); ``per_gpu`` of them fit on one GPU by a
    profile table, 0: as many as their ``gpus`` add up to one. With ``people`` the stream is a closed group: each of
    them asks again after a break, and ``rates_per_h`` are the chances that one is active; without, arrivals are
    Poisson and ``rates_per_h`` are requests per hour; in equal parts of a week. ``cv`` is the coefficient of
    variation of the duration: 0 fixed, 1 exponential, else lognormal.
    """

    name: str
    gpus: float = 1
    vms: int = 1
    per_gpu: int = 0
    family: str = ""
    people: int = 0
    rates_per_h: tuple[float, ...] = (1.0,)
    duration_h: float = 1.0
    cv: float = 1.0


class Estimate(NamedTuple):
    """A figure and the half width of its 95 % interval; the half width is None where too little was seen to tell."""

    value: float
    half_width: float | None


class Progress(NamedTuple):
    """How far a simulation or a replay has come."""

    requests: int
    most_requests: int
    hours: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the requests of one stream, or of all, that arrived after the warm-up.

    ``requests`` = ``served`` + ``turned_away_requests`` + ``still_waiting``. ``turned_away``, ``waited`` (started
    later than asked, or left after waiting) and ``waited_longer`` (than the threshold) are shares of the requests;
    who still waits counts with the wait so far. The mean and the percentiles of the wait are of those served, the
    percentiles within 2 % of the wait; below 4 ms they are 0.
    """

    name: str
    requests: int
    served: int
    turned_away_requests: int
    still_waiting: int
    turned_away: Estimate
    waited: Estimate
    waited_longer: Estimate
    mean_wait_h: Estimate
    wait_p50_h: float
    wait_p90_h: float
    wait_p95_h: float
    wait_p99_h: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """What a simulation found: each stream, all of them, and the GPUs.

    ``utilisation`` is GPU-time allocated over GPU-time there, a fraction counted as its ``gpus``. ``busy_by_hour``:
    mean GPUs allocated in each hour of the week, if any rate varies. ``peak_gpus`` are the most GPUs occupied at
    once, a shared one counted as one; it, ``requests`` and ``hours`` are with the warm-up. ``ended``: tight, limit
    or cancelled. ``growing``: the queue still grew at the end: more is asked for than can be served, or the run was
    too short; waits then depend on how long it ran.
    """

    streams: tuple[Outcome, ...]
    overall: Outcome
    utilisation: Estimate
    busy_by_hour: tuple[float, ...]
    peak_gpus: int
    requests: int
    hours: float
    ended: str
    growing: bool


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What became of each job of a trace, in the order given.

    ``served`` and ``turned_away`` are neither for a job that was not reached (``ended`` cancelled). ``wait_h`` of a
    job turned away is how long it waited before it left. ``utilisation`` is GPU-time allocated over GPU-time there,
    from the first arrival to the last end, a fraction counted as such.
    """

    wait_h: Floats
    served: NDArray[np.bool_]
    turned_away: NDArray[np.bool_]
    utilisation: float
    peak_gpus: int
    hours: float
    ended: str

    def longer_share(self, wait_h: float) -> float:
        """Share of the jobs decided that waited longer than so long, before they started or left."""
        decided = self.served | self.turned_away
        return float(np.mean(self.wait_h[decided] > wait_h)) if decided.any() else 0.0

    def turned_away_share(self) -> float:
        """Share of the jobs decided that were turned away."""
        decided = int(self.served.sum() + self.turned_away.sum())
        return int(self.turned_away.sum()) / decided if decided else 0.0

    def mean_wait_h(self) -> float:
        """Mean wait of the jobs served."""
        return float(np.mean(self.wait_h[self.served])) if self.served.any() else 0.0

    def quantile_wait_h(self, share: float) -> float:
        """The wait that so large a share of the jobs served did not exceed."""
        if not self.served.any():
            return 0.0
        return float(np.quantile(self.wait_h[self.served], share, method="inverted_cdf"))


class _Cluster(NamedTuple):
    """What stays as it is, for each stream: GPUs of a VM (0 for a fraction), VMs, and GPUs allocated by a VM; of a
    fraction its weight, the weight that fills a GPU, and its family."""

    gpus: Any
    vms: Any
    load: Any
    weight: Any
    full: Any
    family: Any


class _State(NamedTuple):
    """What changes with the events; ``counts`` and ``clock`` are unpacked at the top of ``_run``."""

    counts: Any
    clock: Any
    free: Any
    on_host: Any
    idle: Any
    heap_end: Any
    heap_what: Any
    queue_at: Any
    queue_for: Any
    queue_stream: Any
    queue_mark: Any
    share_host: Any
    share_family: Any
    share_used: Any
    sums: Any
    area: Any
    bins: Any
    wait: Any
    decided: Any


def _run(
    times: Any,
    durations: Any,
    streams: Any,
    asks: Any,
    cluster: _Cluster,
    state: _State,
    first: int,
    most: int,
    until: float,
    threshold: float,
    slot_h: float,
    slots: int,
    per_batch: int,
    longest: float,
    pack: bool,
    record: bool,
    full_at: int,
) -> int:
    """Take all events up to ``until``, candidates from ``first`` on; returns how many candidates are done.

    It returns early when the queue has no room for the next request, or when ``most`` have asked (-1: never), or
    when ``full_at`` GPUs have been taken at once (-1: never). A candidate of a closed group is a request if its ask is below the VMs of those idle. Time is cut into slots of
    ``slot_h`` for the busy GPUs, ``slots`` of them in a week, and ``per_batch`` in a batch. A request is counted in
    the batch in which it arrived, or with ``record`` one by one.
    """
    gpus, vms, load, weight, full, family = cluster
    counts, clock, free, on_host, idle, heap_end, heap_what = state[:7]
    queue_at, queue_for, queue_stream, queue_mark = state[7:11]
    share_host, share_family, share_used, sums, area, bins, wait, decided = state[11:]
    size, head, waiting, shares, free_gpus = counts[0], counts[1], counts[2], counts[3], counts[4]
    taken, peak, asked, slot = counts[5], counts[6], counts[7], counts[8]
    last, busy = clock[0], clock[1]
    kinds = len(gpus)
    edge = (slot + 1) * slot_h
    batch = slot // per_batch
    cell = batch * slots + slot % slots
    room = len(queue_at)
    done = first
    while asked != most and peak != full_at:
        release = heap_end[0] if size > 0 else math.inf
        leave = queue_at[head] + longest if waiting > 0 else math.inf
        now = times[done] if done < len(times) else until
        event = 0
        if leave <= now:
            event, now = 1, leave
        if release <= now:
            event, now = 2, release

        while now >= edge:
            area[cell] += busy * (edge - last)
            last = edge
            slot += 1
            edge = (slot + 1) * slot_h
            batch = slot // per_batch
            cell = batch * slots + slot % slots
        area[cell] += busy * (now - last)
        last = now

        if event == 2:
            while size > 0 and heap_end[0] == now:
                what = heap_what[0]
                size -= 1
                end, moved = heap_end[size], heap_what[size]
                hole, child = 0, 1
                while child + 1 < size:
                    child += int(heap_end[child + 1] < heap_end[child])
                    heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
                    hole, child = child, 2 * child + 1
                if child < size:
                    heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
                    hole = child
                while hole > 0:
                    parent = (hole - 1) >> 1
                    if heap_end[parent] <= end:
                        break
                    heap_end[hole], heap_what[hole] = heap_end[parent], heap_what[parent]
                    hole = parent
                heap_end[hole], heap_what[hole] = end, moved

                kind, where = what & 0xFFFF, what >> 16
                idle[kind] += 1
                busy -= load[kind]
                given_back = gpus[kind]
                if given_back == 0:
                    share_used[where] -= weight[kind]
                    given_back = 1 if share_used[where] == 0 else 0
                    where = share_host[where]
                on_host[where] -= 1
                free[where] += given_back
                free_gpus += given_back
                taken -= given_back
            if size == 0:
                busy = 0.0
        elif event == 1:
            kind, mark = queue_stream[head], queue_mark[head]
            idle[kind] += vms[kind]
            head = head + 1 if head + 1 < room else 0
            waiting -= 1
            if record:
                wait[mark] = longest
                decided[mark] = 2
            else:
                row = (mark * kinds + kind) * _SUMS
                sums[row + _TURNED] += 1
                if longest > 0:
                    sums[row + _WAITED] += 1
                if longest > threshold:
                    sums[row + _LONGER] += 1
        elif done == len(times):
            break
        else:
            kind = streams[done]
            if asks[done] >= idle[kind]:
                done += 1
                continue
            if waiting == room:
                break
            idle[kind] -= vms[kind]
            tail = head + waiting
            if tail >= room:
                tail -= room
            queue_at[tail], queue_for[tail], queue_stream[tail] = now, durations[done], kind
            queue_mark[tail] = asked if record else batch
            if not record:
                sums[(batch * kinds + kind) * _SUMS + _ASKED] += 1
            waiting += 1
            asked += 1
            done += 1
            if waiting > 1:
                continue

        while waiting > 0:
            kind = queue_stream[head]
            need = gpus[kind]
            wanted = vms[kind]
            if free_gpus < need * wanted:
                break
            if wanted > 1:
                fits = 0
                if need > 0:
                    for host in range(len(free)):
                        fits += free[host] // need
                else:
                    fits = free_gpus * (full[kind] // weight[kind])
                    for share in range(shares):
                        if share_used[share] > 0 and share_family[share] == family[kind]:
                            fits += (full[kind] - share_used[share]) // weight[kind]
                if fits < wanted:
                    break
            placed = 0
            while placed < wanted:
                found = -1
                spare = shares
                if need == 0:
                    for share in range(shares):
                        used = share_used[share]
                        if used == 0:
                            spare = min(spare, share)
                        elif share_family[share] == family[kind] and used + weight[kind] <= full[kind]:
                            if found < 0:
                                found = share
                            elif used == share_used[found]:
                                this, that = share_host[share], share_host[found]
                                if on_host[this] < on_host[that] or (
                                    on_host[this] == on_host[that] and this < that
                                ):
                                    found = share
                            elif (used > share_used[found]) == pack:
                                found = share
                if found < 0 or not pack:
                    least = max(need, 1)
                    chosen = -1
                    best = 0
                    for host in range(len(free)):
                        here = free[host]
                        if here >= least and (
                            chosen < 0
                            or (here < best if pack else here > best)
                            or (here == best and on_host[host] < on_host[chosen])
                        ):
                            chosen, best = host, here
                    if chosen < 0 and found < 0:
                        break
                    if chosen >= 0:
                        free[chosen] -= least
                        free_gpus -= least
                        taken += least
                        peak = max(peak, taken)
                        found = chosen
                        if need == 0:
                            found = spare
                            shares = max(shares, spare + 1)
                            share_host[spare], share_family[spare] = chosen, family[kind]
                if need == 0:
                    share_used[found] += weight[kind]
                on_host[share_host[found] if need == 0 else found] += 1
                busy += load[kind]
                end = now + queue_for[head]
                child = size
                size += 1
                while child > 0:
                    parent = (child - 1) >> 1
                    if heap_end[parent] <= end:
                        break
                    heap_end[child], heap_what[child] = heap_end[parent], heap_what[parent]
                    child = parent
                heap_end[child], heap_what[child] = end, (found << 16) | kind
                placed += 1
            if placed < wanted:
                break
            waited, mark = now - queue_at[head], queue_mark[head]
            head = head + 1 if head + 1 < room else 0
            waiting -= 1
            if record:
                wait[mark] = waited
                decided[mark] = 1
            else:
                row = mark * kinds + kind
                place = 0
                if waited > 0:
                    part, exponent = math.frexp(waited)
                    place = 1 + (exponent - 1 - _LOWEST) * _PER_OCTAVE + int((part - 0.5) * 2 * _PER_OCTAVE)
                    place = min(max(place, 0), _BINS - 1)
                    sums[row * _SUMS + _WAITED] += 1
                    sums[row * _SUMS + _HOURS] += waited
                    if waited > threshold:
                        sums[row * _SUMS + _LONGER] += 1
                sums[row * _SUMS + _SERVED] += 1
                bins[row * _BINS + place] += 1
    counts[0], counts[1], counts[2], counts[3], counts[4] = size, head, waiting, shares, free_gpus
    counts[5], counts[6], counts[7], counts[8] = taken, peak, asked, slot
    clock[0], clock[1] = last, busy
    return done


def _run_servers(
    times: Any,
    durations: Any,
    streams: Any,
    asks: Any,
    cluster: _Cluster,
    state: _State,
    first: int,
    most: int,
    until: float,
    threshold: float,
    slot_h: float,
    slots: int,
    per_batch: int,
) -> int:
    """The same as ``_run`` where every request is for one whole GPU, arrivals are open and nobody leaves.

    Then the GPUs are servers, and the next request starts when the first of them is free: ``heap_end`` holds when each
    will have done all that came so far (Kiefer and Wolfowitz). In the queue are those whose start, in ``queue_for``,
    has not come yet. ``clock[1]`` is the GPU-hours taken, less those counted in ``area`` up to the last edge.
    """
    counts, clock, heap_end = state.counts, state.clock, state.heap_end
    queue_at, queue_for = state.queue_at, state.queue_for
    queue_stream, queue_mark = state.queue_stream, state.queue_mark
    sums, area, bins = state.sums, state.area, state.bins
    head, waiting, asked, slot = counts[1], counts[2], counts[7], counts[8]
    now, held = clock[0], clock[1]
    kinds = len(cluster.gpus)
    servers = len(heap_end)
    edge = (slot + 1) * slot_h
    batch = slot // per_batch
    room = len(queue_at)
    done = first
    while asked != most:
        now = times[done] if done < len(times) else until
        while now >= edge:
            left = 0.0
            for server in range(servers):
                if heap_end[server] > edge:
                    left += heap_end[server] - edge
            area[batch * slots + slot % slots] += held - left
            held = left
            slot += 1
            edge = (slot + 1) * slot_h
            batch = slot // per_batch

        while waiting > 0 and queue_for[head] <= now:
            row = queue_mark[head] * kinds + queue_stream[head]
            waited = queue_for[head] - queue_at[head]
            head = head + 1 if head + 1 < room else 0
            waiting -= 1
            part, exponent = math.frexp(waited)
            place = 1 + (exponent - 1 - _LOWEST) * _PER_OCTAVE + int((part - 0.5) * 2 * _PER_OCTAVE)
            bins[row * _BINS + min(max(place, 0), _BINS - 1)] += 1
            sums[row * _SUMS + _SERVED] += 1
            sums[row * _SUMS + _WAITED] += 1
            sums[row * _SUMS + _HOURS] += waited
            if waited > threshold:
                sums[row * _SUMS + _LONGER] += 1

        if done == len(times) or waiting == room:
            break
        row = batch * kinds + streams[done]
        sums[row * _SUMS + _ASKED] += 1
        start = heap_end[0]
        if start > now:
            tail = head + waiting
            if tail >= room:
                tail -= room
            queue_at[tail], queue_for[tail] = now, start
            queue_stream[tail], queue_mark[tail] = streams[done], batch
            waiting += 1
        else:
            start = now
            sums[row * _SUMS + _SERVED] += 1
            bins[row * _BINS] += 1
        held += durations[done]
        end = start + durations[done]
        asked += 1
        done += 1
        hole, child = 0, 1
        while child < servers:
            if child + 1 < servers and heap_end[child + 1] < heap_end[child]:
                child += 1
            if heap_end[child] >= end:
                break
            heap_end[hole] = heap_end[child]
            hole, child = child, 2 * child + 1
        heap_end[hole] = end
    counts[1], counts[2], counts[7], counts[8] = head, waiting, asked, slot
    clock[0], clock[1] = now, held
    return done


@functools.cache
def _compiled() -> tuple[Any, Any] | None:
    """``_run`` and ``_run_servers`` compiled, or None without numba; kept on disk where that can be written."""
    try:
        import numba
    except ImportError:
        return None
    try:
        compile_ = numba.njit(nogil=True, cache=True)
        return compile_(_run), compile_(_run_servers)
    except RuntimeError:
        compile_ = numba.njit(nogil=True)
        return compile_(_run), compile_(_run_servers)


class _Engine:
    """``_run`` with its state: arrays where it is compiled, lists where not, which plain Python reads faster."""

    def __init__(
        self,
        cluster: _Cluster,
        hosts: Sequence[int],
        idle: Sequence[int],
        *,
        policy: str,
        longest_wait_h: float,
        threshold_h: float = 0.0,
        slot_h: float = math.inf,
        slots: int = 1,
        most: int = -1,
        jobs: int = 0,
    ) -> None:
        compiled = _compiled() if _COMPILE else None
        self.compiled = compiled is not None
        runs: tuple[Callable[..., int], Callable[..., int]] = compiled or (_run, _run_servers)
        self._run, self._run_servers = runs
        self.slots, self.slot_h, self.group, self.most = slots, float(slot_h), 1, most
        self._policy, self._longest, self._threshold = policy, float(longest_wait_h), float(threshold_h)
        self._cluster = _Cluster(*map(self._pack, cluster))
        gpus, kinds = sum(hosts), len(idle)
        densest = max(int(full // max(w, 1)) for full, w in zip(cluster.full, cluster.weight, strict=True))
        shares = gpus if any(cluster.weight) else 0
        record = self._record = jobs > 0
        alike = len(hosts) == 1 and all(g == 1 for g in cluster.gpus) and all(v == 1 for v in cluster.vms)
        servers = alike and not record and longest_wait_h == math.inf and all(i == _OPEN for i in idle)
        self._full_at, self._by_server = gpus if servers else -1, False
        cells = 1 if record else MOST_BATCHES + 1
        self._state = _State(
            counts=self._pack(np.array([0, 0, 0, 0, gpus, 0, 0, 0, 0])),
            clock=self._pack(np.zeros(2)),
            free=self._pack(np.array(hosts)),
            on_host=self._pack(np.zeros(len(hosts), dtype=np.int64)),
            idle=self._pack(np.array(idle)),
            heap_end=self._pack(np.zeros(gpus * densest)),
            heap_what=self._pack(np.zeros(gpus * densest, dtype=np.int64)),
            queue_at=self._pack(np.zeros(1024)),
            queue_for=self._pack(np.zeros(1024)),
            queue_stream=self._pack(np.zeros(1024, dtype=np.int64)),
            queue_mark=self._pack(np.zeros(1024, dtype=np.int64)),
            share_host=self._pack(np.zeros(shares, dtype=np.int64)),
            share_family=self._pack(np.zeros(shares, dtype=np.int64)),
            share_used=self._pack(np.zeros(shares, dtype=np.int64)),
            sums=self._pack(np.zeros(0 if record else cells * kinds * _SUMS)),
            area=self._pack(np.zeros(cells * slots)),
            bins=np.zeros(0 if record else cells * kinds * _BINS, dtype=np.int32),
            wait=np.zeros(jobs),
            decided=np.zeros(jobs, dtype=np.int8),
        )

    def _pack(self, values: Any) -> Any:
        return np.ascontiguousarray(values) if self.compiled else np.asarray(values).tolist()

    def take(
        self, times: Floats, durations: Floats, streams: Ints, asks: Floats | None, *, until: float
    ) -> None:
        """Take candidates and all events up to a time, or until as many as allowed have asked."""
        given = [
            self._pack(a) for a in (times, durations, streams, np.zeros(len(times)) if asks is None else asks)
        ]
        done = 0
        while True:
            common = (
                *given,
                self._cluster,
                self._state,
                done,
                self.most,
                until,
                self._threshold,
                self.slot_h,
                self.slots,
                self.slots * self.group,
            )
            if self._by_server:
                done = self._run_servers(*common)
            else:
                pack = self._policy == "pack"
                done = self._run(*common, self._longest, pack, self._record, self._full_at)
            if done == len(times) or self.asked == self.most:
                return
            if self.peak_gpus == self._full_at and not self._by_server:
                self._go_by_server()
            else:
                self._state = self._with_longer_queue()

    def _go_by_server(self) -> None:
        """From running requests and a queue to the times when each GPU will have done all that came so far."""
        state = self._state
        ends = list(state.heap_end[: int(state.counts[0])])
        free = sorted([self.now_h] * (self._full_at - len(ends)) + ends)
        head = int(state.counts[1])
        for place in range(head, head + int(state.counts[2])):
            place %= len(state.queue_at)
            start = free[0]
            heapq.heapreplace(free, start + state.queue_for[place])
            state.queue_for[place] = start
        self._by_server = True
        self._state = state._replace(heap_end=self._pack(np.array(free)))
        state.clock[1] = sum(end - self.now_h for end in free)

    def _with_longer_queue(self) -> _State:
        state = self._state
        head, room = int(state.counts[1]), len(state.queue_at)
        longer = {}
        for name in ("queue_at", "queue_for", "queue_stream", "queue_mark"):
            old = np.asarray(getattr(state, name))
            longer[name] = self._pack(np.concatenate([np.roll(old, -head), np.zeros(room, dtype=old.dtype)]))
        state.counts[1] = 0
        return state._replace(**longer)

    @property
    def asked(self) -> int:
        """Requests so far."""
        return int(self._state.counts[7])

    @property
    def peak_gpus(self) -> int:
        """The most GPUs that were occupied at once."""
        return int(self._state.counts[6])

    @property
    def now_h(self) -> float:
        """The time that has been reached."""
        return float(self._state.clock[0])

    @property
    def batches(self) -> int:
        """Batches that are complete."""
        return int(self._state.counts[8]) // (self.slots * self.group)

    def time_of(self, batch: int) -> float:
        """When a batch begins."""
        return batch * self.group * self.slots * self.slot_h

    def merge_batches(self) -> None:
        """Every two batches become one."""
        state = self._state
        kinds = len(self._cluster.gpus)
        self._state = state._replace(
            sums=self._pack(_paired(np.asarray(state.sums), kinds * _SUMS)),
            area=self._pack(_paired(np.asarray(state.area), self.slots)),
            bins=_paired(state.bins, kinds * _BINS),
            queue_mark=self._pack(np.asarray(state.queue_mark) // 2),
        )
        self.group *= 2

    def sums(self) -> Floats:
        """Sums by batch and stream; who waits at this moment has waited."""
        kinds = len(self._cluster.gpus)
        state = self._state
        sums = np.array(state.sums).reshape(MOST_BATCHES + 1, kinds, _SUMS)
        at, batch, kind = self._waiting()
        np.add.at(sums[:, :, _WAITED], (batch, kind), 1.0)
        np.add.at(sums[:, :, _LONGER], (batch, kind), self.now_h - at > self._threshold)
        np.add.at(sums[:, :, _PENDING], (batch, kind), self.now_h - at)
        return sums

    def _waiting(self) -> tuple[Floats, Ints, Ints]:
        """When those who wait arrived, their batches and their streams."""
        state = self._state
        places = (int(state.counts[1]) + np.arange(int(state.counts[2]))) % len(state.queue_at)
        marks = np.asarray(state.queue_mark, dtype=np.int64)[places]
        kinds = np.asarray(state.queue_stream, dtype=np.int64)[places]
        return np.asarray(state.queue_at)[places], marks, kinds

    def oldest_wait_h(self) -> float:
        """How long the head of the queue has waited."""
        at = self._waiting()[0]
        return self.now_h - float(at[0]) if len(at) else 0.0

    def area(self) -> Floats:
        """GPU-hours allocated by batch and slot of the week."""
        area = np.array(self._state.area).reshape(-1, self.slots)
        if self._by_server:
            slot = int(self._state.counts[8])
            after = np.maximum(np.asarray(self._state.heap_end) - self.now_h, 0)
            area[slot // (self.slots * self.group), slot % self.slots] += self._state.clock[1] - after.sum()
        return area

    def bins(self, batches: slice) -> Ints:
        """Requests served by stream and bin of the wait, over some batches."""
        bins: NDArray[np.int32] = self._state.bins
        rows = bins.reshape(MOST_BATCHES + 1, len(self._cluster.gpus), _BINS)
        found: Ints = rows[batches].sum(axis=0, dtype=np.int64)
        return found

    def decided(self) -> tuple[Floats, NDArray[np.int8]]:
        """Wait of each job, and whether it was served (1) or turned away (2)."""
        return self._state.wait, self._state.decided


def _paired(values: Any, width: int) -> Any:
    """Rows of ``width``, every two added; the odd last one stays the last that is used."""
    rows = values.reshape(MOST_BATCHES + 1, width)
    paired = np.zeros_like(rows)
    paired[: MOST_BATCHES // 2] = rows[0:MOST_BATCHES:2] + rows[1:MOST_BATCHES:2]
    paired[MOST_BATCHES // 2] = rows[MOST_BATCHES]
    return paired.ravel()


class _Source:
    """The candidates of one stream, each kind of chance from a generator of its own: no chunk size matters."""

    def __init__(self, stream: Stream, number: int, seed: np.random.SeedSequence) -> None:
        self._gaps, self._thin, self._asks, self._lasts = map(np.random.default_rng, seed.spawn(4))
        self._stream, self._number = stream, number
        self._rates = _rates(stream)
        self.rate = float(self._rates.max())
        self._last = 0.0
        self._times = np.zeros(0)

    def until(self, time: float) -> tuple[Floats, Floats, Ints, Floats]:
        """Times, durations, stream numbers and asks of the candidates up to a time."""
        if self.rate == 0:
            return np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros(0)
        parts = [self._times]
        while self._last <= time:
            expected = self.rate * (time - self._last)
            gaps = self._gaps.standard_exponential(int(expected + 3 * math.sqrt(expected)) + 16)
            gaps /= self.rate
            gaps[0] += self._last
            parts.append(np.cumsum(gaps))
            self._last = float(parts[-1][-1])
        times = np.concatenate(parts)
        cut = int(np.searchsorted(times, time, side="right"))
        times, self._times = times[:cut], times[cut:]
        if self._rates.min() < self.rate:
            part = (times % HOURS_PER_WEEK * (len(self._rates) / HOURS_PER_WEEK)).astype(np.int64)
            part = np.minimum(part, len(self._rates) - 1)
            times = times[self._thin.random(len(times)) * self.rate < self._rates[part]]
        count = len(times)
        stream = self._stream
        asks = self._asks.random(count) * (stream.people * stream.vms) if stream.people else np.zeros(count)
        return times, self._durations(count), np.full(count, self._number), asks

    def _durations(self, count: int) -> Floats:
        mean, cv = self._stream.duration_h, self._stream.cv
        if cv == 0:
            return np.full(count, mean)
        if cv == 1:
            return self._lasts.standard_exponential(count) * mean
        spread = math.log1p(cv * cv)
        return np.exp(self._lasts.standard_normal(count) * math.sqrt(spread) + (math.log(mean) - spread / 2))


def _rates(stream: Stream) -> Floats:
    """Candidates per hour in each part of the week."""
    rates = np.array(stream.rates_per_h, dtype=np.float64)
    if not stream.people:
        return rates
    active = np.minimum(rates, MOST_ACTIVE)
    return stream.people * active / ((1 - active) * stream.duration_h)


def _rate(stream: Stream) -> float:
    """Requests per hour on average, if nobody were turned away or had to wait."""
    if not stream.people:
        return sum(stream.rates_per_h) / len(stream.rates_per_h)
    active = [min(p, MOST_ACTIVE) for p in stream.rates_per_h]
    return stream.people * sum(active) / len(active) / stream.duration_h


class _Kind(NamedTuple):
    """What a request takes."""

    name: str
    gpus: float
    vms: int
    per_gpu: int
    family: str


def _cluster(kinds: Sequence[_Kind], hosts: Sequence[int]) -> _Cluster:
    """The kinds as numbers; the parts of a GPU of each family have one denominator, so that they add up exactly."""
    part = [
        Fraction(0) if k.gpus >= 1 else Fraction(1, k.per_gpu) if k.per_gpu else exact(k.gpus) for k in kinds
    ]
    family = [k.family or str(k.gpus) for k in kinds]
    full = {
        f: math.lcm(*(p.denominator for p, g in zip(part, family, strict=True) if g == f)) for f in family
    }
    for name, denominator in full.items():
        if denominator > 1 << 40:
            raise ValueError(
                f"family {name!r}: the fractions of a GPU have no common part; fewer or rounder ones do"
            )
    names = list(full)
    cluster = _Cluster(
        gpus=np.array([int(k.gpus) for k in kinds]),
        vms=np.array([k.vms for k in kinds]),
        load=np.array([float(k.gpus) for k in kinds]),
        weight=np.array([int(p * full[f]) for p, f in zip(part, family, strict=True)]),
        full=np.array([full[f] for f in family]),
        family=np.array([names.index(f) for f in family]),
    )
    for k, weight, whole in zip(kinds, cluster.weight.tolist(), cluster.full.tolist(), strict=True):
        room = sum(hosts) * (whole // weight) if weight else sum(h // int(k.gpus) for h in hosts)
        if room < k.vms:
            raise ValueError(
                f"stream {k.name!r}: {k.vms} VMs of {k.gpus:g} GPUs can never start together; "
                f"{len(hosts)} hosts with {sum(hosts)} GPUs in all, at most {max(hosts)} in one, hold {room}"
            )
    return cluster


def _one_host_will_do(cluster: _Cluster, hosts: Sequence[int]) -> Sequence[int]:
    """Hosts do not matter where every VM fits on one GPU and those of a family are alike: one host is faster."""
    families = list(zip(cluster.family.tolist(), cluster.weight.tolist(), strict=True))
    alike = len(set(families)) == len(set(cluster.family.tolist()))
    return (sum(hosts),) if alike and max(cluster.gpus) <= 1 else hosts


def _check(field: str, value: object, allowed: bool, what: str) -> None:
    if not allowed:
        raise ValueError(f"{field}: {value!r} is not allowed; {what} is")


def _check_all(field: str, values: Floats, allowed: NDArray[np.bool_], what: str) -> None:
    if not allowed.all():
        first = int(np.argmin(allowed))
        _check(f"{field}[{first}]", float(values[first]), False, what)


def _check_cluster(hosts: Sequence[int], policy: str, longest_wait_h: float) -> None:
    _check("hosts", list(hosts)[:3], len(hosts) > 0 and min(hosts) >= 0 < max(hosts), "a host with a GPU")
    _check("hosts", sum(hosts), sum(hosts) <= MOST_GPUS, f"at most {MOST_GPUS} GPUs in all")
    _check("policy", policy, policy in POLICIES, " or ".join(POLICIES))
    _check("longest_wait_h", longest_wait_h, longest_wait_h >= 0, "0 or more hours")


def _check_streams(streams: Sequence[Stream]) -> None:
    _check("streams", len(streams), 0 < len(streams) < _MOST_STREAMS, f"1 to {_MOST_STREAMS - 1} streams")
    for s in streams:
        at = f"stream {s.name!r}: "
        share = 0 < s.gpus < 1
        _check(
            at + "gpus", s.gpus, share or (s.gpus >= 1 and s.gpus % 1 == 0), "a fraction or a whole number"
        )
        _check(at + "vms", s.vms, s.vms >= 1, "1 or more")
        _check(
            at + "per_gpu",
            s.per_gpu,
            s.per_gpu == 0 or (share and s.per_gpu > 0),
            "0, or for a fraction 1 or more",
        )
        _check(at + "people", s.people, s.people >= 0, "0 or more")
        _check(at + "duration_h", s.duration_h, 0 < s.duration_h < math.inf, "above 0 hours")
        _check(at + "cv", s.cv, 0 <= s.cv < math.inf, "0 or more")
        _check(at + "rates_per_h", (), len(s.rates_per_h) > 0, "one rate or more")
        most, what = (1.0, "a chance from 0 to 1") if s.people else (1e9, "0 to 1e9 requests per hour")
        for rate in s.rates_per_h:
            _check(at + "rates_per_h", rate, 0 <= rate <= most, what)


def _estimate(parts: Floats, of: Floats, *, share: bool = False) -> Estimate:
    """Ratio of two sums over the batches, with the half width of its 95 % interval by batch means."""
    from scipy.special import stdtrit

    whole, count = float(of.sum()), len(of)
    if whole == 0:
        return Estimate(0.0, None)
    value = float(parts.sum()) / whole
    if share and value in (0.0, 1.0):
        return Estimate(value, min(1.0, 3 / whole))
    if count < 2:
        return Estimate(value, None)
    away = parts - value * of
    square = float(np.sum(away * away))
    if square == 0:
        return Estimate(value, 0.0)
    neighbours = min(max(float(np.sum(away[1:] * away[:-1])) / square, 0.0), 0.9)
    deviation = math.sqrt(square / (count - 1) / count * (1 + neighbours) / (1 - neighbours)) / (
        whole / count
    )
    return Estimate(value, float(stdtrit(count - 1, 0.975)) * deviation)


def _shares(sums: Floats, longest_h: float, threshold_h: float) -> tuple[Estimate, Estimate, Estimate]:
    """Turned away, waited, waited longer; what the rules exclude is exactly 0."""
    asked = sums[:, _ASKED]
    possible = ((_TURNED, longest_h < math.inf), (_WAITED, longest_h > 0), (_LONGER, longest_h > threshold_h))
    turned, waited, longer = (
        _estimate(sums[:, column], asked, share=True) if may_be else Estimate(0.0, 0.0)
        for column, may_be in possible
    )
    return turned, waited, longer


def _window(engine: _Engine) -> slice:
    """The batches that count: those complete, without the first eighth; the first, if none is."""
    complete = engine.batches
    return slice(complete // 8, complete) if complete else slice(0, 1)


def _tight(engine: _Engine, longest_h: float, threshold_h: float, tolerance: float) -> bool:
    found = _shares(engine.sums()[_window(engine)].sum(axis=1), longest_h, threshold_h)
    return all(e.half_width is not None and e.half_width <= tolerance * max(e.value, FLOOR) for e in found)


def _quantiles(bins: Ints) -> list[float]:
    """Percentiles 50, 90, 95 and 99 of the waits in bins: the middle of the bin."""
    total = np.cumsum(bins)
    if total[-1] == 0:
        return [0.0] * 4
    found = []
    for share in (0.5, 0.9, 0.95, 0.99):
        place = int(np.searchsorted(total, share * total[-1])) - 1
        octave, part = divmod(place, _PER_OCTAVE)
        found.append(0.0 if place < 0 else 2.0 ** (_LOWEST + octave) * (1 + (part + 0.5) / _PER_OCTAVE))
    return found


def _outcome(name: str, sums: Floats, bins: Ints, longest_h: float, threshold_h: float) -> Outcome:
    asked, turned, served = (int(sums[:, column].sum()) for column in (_ASKED, _TURNED, _SERVED))
    return Outcome(
        name,
        asked,
        served,
        turned,
        asked - served - turned,
        *_shares(sums, longest_h, threshold_h),
        _estimate(sums[:, _HOURS], sums[:, _SERVED]),
        *_quantiles(bins),
    )


def _simulated(
    engine: _Engine, names: Sequence[str], gpus: int, longest_h: float, threshold_h: float, ended: str
) -> Simulated:
    window = _window(engine)
    sums, area, bins = engine.sums()[window], engine.area()[window], engine.bins(window)
    each = engine.time_of(1) if engine.batches else engine.now_h
    hours = np.full(len(area), each)
    overall = _outcome("all", sums.sum(axis=1), bins.sum(axis=0), longest_h, threshold_h)
    early = sums[: (len(sums) + 1) // 2]
    early_wait_h = early[:, :, [_HOURS, _PENDING]].sum() / max(1.0, early[:, :, _ASKED].sum())
    many = overall.still_waiting > 0.01 * overall.requests
    weekly = engine.slots > 1 and engine.batches > 0
    return Simulated(
        streams=tuple(
            _outcome(name, sums[:, n], bins[n], longest_h, threshold_h) for n, name in enumerate(names)
        ),
        overall=overall,
        utilisation=_estimate(area.sum(axis=1), hours * gpus),
        busy_by_hour=tuple((area.sum(axis=0) / (hours.sum() / engine.slots)).tolist()) if weekly else (),
        peak_gpus=engine.peak_gpus,
        requests=engine.asked,
        hours=engine.now_h,
        ended=ended,
        growing=bool(many and engine.oldest_wait_h() > 1.25 * early_wait_h),
    )


def simulate(
    streams: Sequence[Stream],
    *,
    hosts: Sequence[int],
    policy: str = "pack",
    longest_wait_h: float = math.inf,
    wait_h: float = 0.0,
    seed: int = 1,
    tolerance: float = 0.05,
    most_requests: int = 5_000_000,
    progress: Callable[[Progress], bool] | None = None,
) -> Simulated:
    """Waiting, denial and utilisation when classes of requests share the GPUs of a cluster of hosts, by simulation.

    Parameters
    ----------
    streams : sequence of Stream
        The classes of requests. [-]
    hosts : sequence of int
        Hosts, each by the number of its GPUs. [host]
    policy : str
        Placement: pack (fullest host first) or spread (emptiest host first). [-]
    longest_wait_h : float
        How long a request waits before it leaves; 0: it is turned away at once, infinite: it never leaves. [h]
    wait_h : float
        Threshold for which the share that waited longer is reported. [h]
    seed : int
        Where the random numbers start; the same seed gives the same result. [-]
    tolerance : float
        Half width of the 95 % intervals that is tight enough, relative to the figure. [-]
    most_requests : int
        Requests after which the simulation ends in any case. [-]
    progress : callable or None
        Called now and then with a Progress; it ends the simulation by returning False. [-]

    Returns
    -------
    simulate : Simulated
        Shares, waits and utilisation with their intervals. [-]

    Notes
    -----
    Event by event; queue and placement as the module says, exact but for chance. Where every request is for one
    GPU, arrivals are open and nobody leaves, the times when the GPUs will be free are enough [3]_. A person of a
    closed group who is active with chance p asks at rate p / ((1 - p) * duration_h) while idle (p above 0.99 as
    0.99), not while waiting, and is idle again when turned away. Rates that vary are drawn by thinning [2]_.

    Intervals by batch means [1]_: 95 %, Student's t, at least 21 batches of equal length, after a warm-up of an
    eighth of the run, widened by sqrt((1 + r) / (1 - r)) for a correlation r > 0 of neighbours. A batch is a whole
    number of weeks if a rate varies; else 2000 requests on average or the longest mean duration, if that is more;
    shorter only where most_requests would be passed. A share that is 0 or 1 in n requests has half width 3 / n.
    Near saturation batches depend on each other for long: intervals of the mean wait are then too narrow (at 95 %
    load some 85 % of them hold it), unless the tolerance is finer.

    It ends when turned away, waited and waited longer over all streams are within tolerance * max(value, 0.04), so
    0.002 at the usual tolerance; in any case at most_requests or after 20 million hours, and there may then be fewer
    batches. Where more is asked for than can be served and nobody leaves, there is no steady state: ``growing`` says
    so. Memory is bounded by the number of streams, of GPUs and of those who wait, not by the number of requests.

    Raises
    ------
    ValueError
        If an input is out of its range, or a request of a stream could never start.

    Examples
    --------
    >>> found = simulate([Stream("notebooks", gpus=1, rates_per_h=(5.0,))], hosts=[4, 4], longest_wait_h=0)
    >>> abs(found.overall.turned_away.value - 0.0700) < 0.01  # Erlang B: 8 servers, 5 erlang
    True

    References
    ----------
    .. [1] law-2015
    .. [2] lewis-shedler-1979
    .. [3] kiefer-wolfowitz-1955
    """
    _check_cluster(hosts, policy, longest_wait_h)
    _check_streams(streams)
    _check("wait_h", wait_h, 0 <= wait_h < math.inf, "0 or more hours")
    _check("tolerance", tolerance, 0 < tolerance <= 1, "above 0, at most 1")
    _check("most_requests", most_requests, 1 <= most_requests <= 1_000_000_000, "1 to 1000000000")
    _check("seed", seed, seed >= 0, "0 or a positive whole number")
    asked_per_h = sum(map(_rate, streams))
    _check("rates_per_h", 0, asked_per_h > 0, "some stream that asks at all")

    cluster = _cluster([_Kind(s.name, s.gpus, s.vms, s.per_gpu, s.family) for s in streams], hosts)
    steady = all(min(s.rates_per_h) == max(s.rates_per_h) for s in streams)
    longest_h = max(s.duration_h for s in streams if _rate(s) > 0)
    batch_h = min(
        max(REQUESTS_PER_BATCH / asked_per_h, longest_h), most_requests / asked_per_h / 32, MOST_HOURS / 32
    )
    engine = _Engine(
        cluster,
        _one_host_will_do(cluster, hosts),
        [s.people * s.vms or _OPEN for s in streams],
        policy=policy,
        longest_wait_h=longest_wait_h,
        threshold_h=wait_h,
        slot_h=batch_h if steady else 1.0,
        slots=1 if steady else HOURS_PER_WEEK,
        most=most_requests,
    )
    seeds = np.random.SeedSequence(seed).spawn(len(streams))
    sources = [_Source(stream, n, seeds[n]) for n, stream in enumerate(streams)]
    step_h = _CHUNK / sum(source.rate for source in sources)
    per_call = _EVENTS_PER_CALL[engine.compiled]
    goal, now, since_call, ended = FEWEST_BATCHES, 0.0, 0, ""
    while not ended:
        until = min(now + step_h, engine.time_of(goal), MOST_HOURS)
        parts = [source.until(until) for source in sources]
        times, durations, numbers, asks = parts[0]
        if len(sources) > 1:
            times, durations, numbers, asks = (np.concatenate(p) for p in zip(*parts, strict=True))
            order = np.argsort(times, kind="stable")
            times, durations, numbers, asks = times[order], durations[order], numbers[order], asks[order]
        engine.take(times, durations, numbers, asks, until=until)
        now, since_call = until, since_call + len(times)
        if engine.asked == most_requests:
            ended = "limit"
        elif until == engine.time_of(goal):
            if _tight(engine, longest_wait_h, wait_h, tolerance):
                ended = "tight"
            if goal == MOST_BATCHES:
                engine.merge_batches()
                goal //= 2
            goal += 4 if goal < 32 else 8
        if until == MOST_HOURS and not ended:
            ended = "limit"
        if progress is not None and since_call >= per_call and not ended:
            since_call = 0
            if not progress(Progress(engine.asked, most_requests, engine.now_h)):
                ended = "cancelled"
    return _simulated(engine, [s.name for s in streams], sum(hosts), longest_wait_h, wait_h, ended)


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

    Parameters
    ----------
    arrival_h : array of float
        When each job asks for its GPUs. [h]
    duration_h : array of float
        How long it keeps them. [h]
    gpus : array of float
        How many it takes: a whole number, or a fraction of one GPU. [GPU]
    hosts : sequence of int
        Hosts, each by the number of its GPUs. [host]
    policy : str
        Placement: pack (fullest host first) or spread (emptiest host first). [-]
    longest_wait_h : float
        How long a job waits before it leaves; 0: it is turned away at once, infinite: it never leaves. [h]
    split : bool
        Whether a job larger than the largest host runs as VMs of whole hosts of that size, started together. [-]
    progress : callable or None
        Called now and then with a Progress; it ends the replay by returning False. [-]

    Returns
    -------
    replay : Replayed
        Wait of each job in the order given, and utilisation. [-]

    Notes
    -----
    Event by event, exact for the rules of the module; jobs that arrive at the same time keep their order. Each
    fraction shares a GPU with its like only. A job that is split takes whole hosts, so up to a host less one GPU
    more than it asked for, which counts as allocated. Arrivals may begin at any time, also below 0.

    Raises
    ------
    ValueError
        If an input is out of its range, the arrays differ in length, or jobs could never start.

    Examples
    --------
    >>> three = replay([0.0, 1.0, 2.0], duration_h=[4.0, 4.0, 1.0], gpus=[2, 4, 1], hosts=[4])
    >>> three.wait_h.tolist()
    [0.0, 3.0, 6.0]
    >>> three.mean_wait_h(), round(three.utilisation, 4)
    (3.0, 0.6944)

    References
    ----------
    .. [1] law-2015
    """
    _check_cluster(hosts, policy, longest_wait_h)
    arrival, duration, size = (np.asarray(a, dtype=np.float64) for a in (arrival_h, duration_h, gpus))
    if not (arrival.ndim == 1 and arrival.shape == duration.shape == size.shape):
        raise ValueError(
            f"arrival_h, duration_h and gpus: {arrival.shape}, {duration.shape} and {size.shape} values; "
            "one row each of the same length is needed"
        )
    _check_all("arrival_h", arrival, np.isfinite(arrival), "a finite number")
    _check_all("duration_h", duration, np.isfinite(duration) & (duration >= 0), "0 or more hours")
    _check_all("gpus", size, np.isfinite(size) & (size > 0), "above 0")
    _check_all(
        "gpus", size, (size < 1) | (size == np.floor(size)), "a whole number, or a fraction of one GPU"
    )
    count = len(arrival)
    if count == 0:
        nothing = np.zeros(0, dtype=np.bool_)
        return Replayed(np.zeros(0), nothing, nothing, 0.0, 0, 0.0, "done")

    largest = max(hosts)
    whole = np.sort(np.asarray(hosts))[::-1] == largest
    sizes, kind = np.unique(size, return_inverse=True)
    vms = [max(1, math.ceil(g / largest)) for g in sizes]
    never = size > (largest * int(whole.sum()) if split else largest)
    if never.any():
        raise ValueError(
            f"gpus: {int(never.sum())} of {count} jobs ask for up to {size[never].max():g} GPUs; they can never "
            f"start on {len(hosts)} hosts of at most {largest} GPUs{'' if split else ' without split'}"
        )
    kinds = [
        _Kind(f"{g:g} GPUs", largest if n > 1 else float(g), n, 0, "")
        for g, n in zip(sizes, vms, strict=True)
    ]
    cluster = _cluster(kinds, hosts)
    order = np.argsort(arrival, kind="stable")
    start = float(arrival[order[0]])
    engine = _Engine(
        cluster,
        _one_host_will_do(cluster, hosts),
        [_OPEN] * len(kinds),
        policy=policy,
        longest_wait_h=longest_wait_h,
        jobs=count,
    )
    per_call = _EVENTS_PER_CALL[engine.compiled]
    ended = "done"
    for first in range(0, count, per_call):
        part = order[first : first + per_call]
        final = first + per_call >= count
        until = _AFTER_ALL if final else float(arrival[part[-1]]) - start
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
    allocated = np.array([n * float(k.gpus) for n, k in zip(vms, kinds, strict=True)])[kind]
    within = np.minimum(arrival + wait + duration, start + hours) - (arrival + wait)
    used = float(np.sum((allocated * within)[served]))
    return Replayed(
        wait_h=wait,
        served=served,
        turned_away=decided == 2,
        utilisation=used / (sum(hosts) * hours) if hours > 0 else 0.0,
        peak_gpus=engine.peak_gpus,
        hours=hours,
        ended=ended,
    )
