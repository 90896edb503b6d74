"""The event loop: requests come to hosts, wait, start, end and leave, one event after the other.

``Engine`` holds the state and ``_run`` takes the events (``_run_servers`` where that is enough), piece by piece. All are compiled where numba
is installed, and run as plain Python where not, with the same results bit for bit. ``simulation`` says by which rules requests
wait and are placed.
"""

import functools
import heapq
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gpuplan.units import exact

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COMPILE = True
MOST_BATCHES = 64
"""Then every two become one."""
OPEN = 1 << 60
"""Number of people of a stream that is no closed group: more than can send requests."""
ASKED, TURNED, WAITED, LONGER, SERVED, HOURS, PENDING, SUMS = range(8)
"""Sums for each batch and stream."""
SIZE, HEAD, WAITING, SHARES, FREE_GPUS, GPUS, PEAK, CAME, SLOT, COUNTS = range(10)
"""Running counters: VMs that run, the head and the length of the queue, GPUs that fractions have used, free GPUs, all
GPUs, the peak of GPUs taken, requests so far, and the slot of time."""
COMES, LEAVES, ENDS = range(3)
LAST, BUSY = range(2)
"""Times: of the last event, and the GPUs busy since then."""
LOWEST, OCTAVES, PER_OCTAVE = -20, 50, 32
BINS = 1 + OCTAVES * PER_OCTAVE
"""Waits are counted in bins: one below 2**-20 h, then 32 for each doubling."""


class Kind(NamedTuple):
    """Resources of a request."""

    name: str
    gpus: float
    vms: int
    per_gpu: int
    family: str


class Cluster(NamedTuple):
    """Constants of each stream: GPUs of a VM (0 for a fraction), VMs, and GPUs allocated by a VM; of a fraction its
    weight, the weight that fills a GPU, and its family."""

    gpus: Any
    vms: Any
    load: Any
    weight: Any
    full: Any
    family: Any

    @classmethod
    def of(cls, kinds: Sequence[Kind], hosts: Sequence[int]) -> "Cluster":
        """The kinds as numbers; the parts of a GPU of each family have one denominator, so that they add up exactly."""
        part = [
            Fraction(0) if k.gpus >= 1 else Fraction(1, k.per_gpu) if k.per_gpu else exact(k.gpus)
            for k in kinds
        ]
        family = [k.family or str(k.gpus) for k in kinds]
        full = dict.fromkeys(family, 1)
        for p, name in zip(part, family, strict=True):
            full[name] = math.lcm(full[name], p.denominator)
        for name, denominator in full.items():
            if denominator > 1 << 40:
                raise ValueError(
                    f"family {name!r}: the fractions of a GPU have no common part; fewer or rounder ones do"
                )
        names = list(full)
        cluster = cls(
            gpus=np.array([int(k.gpus) for k in kinds]),
            vms=np.array([k.vms for k in kinds]),
            load=np.array([float(k.gpus) for k in kinds]),
            weight=np.array([int(p * full[f]) for p, f in zip(part, family, strict=True)]),
            full=np.array([full[f] for f in family]),
            family=np.array([names.index(f) for f in family]),
        )
        cluster._check_room(kinds, hosts)
        return cluster

    def _check_room(self, kinds: Sequence[Kind], hosts: Sequence[int]) -> None:
        """Refuse requests whose VMs can never start together."""
        for k, weight, whole in zip(kinds, self.weight.tolist(), self.full.tolist(), strict=True):
            room = sum(hosts) * (whole // weight) if weight else sum(h // int(k.gpus) for h in hosts)
            if room < k.vms:
                raise ValueError(
                    f"stream {k.name!r}: {k.vms} VMs of {k.gpus:g} GPUs can never start together; "
                    f"{len(hosts)} hosts with {sum(hosts)} GPUs in all, at most {max(hosts)} in one, hold {room}"
                )

    def one_gpu_each(self) -> bool:
        """True if every request is for one whole GPU."""
        return all(gpus == vms == 1 for gpus, vms in zip(self.gpus, self.vms, strict=True))

    def hosts_that_matter(self, hosts: Sequence[int]) -> Sequence[int]:
        """One host in place of all where every VM fits on one GPU and those of a family are alike: it is faster, and the same."""
        families = list(zip(self.family.tolist(), self.weight.tolist(), strict=True))
        alike = len(set(families)) == len(set(self.family.tolist()))
        return (sum(hosts),) if alike and max(self.gpus) <= 1 else hosts


class _State(NamedTuple):
    """State that changes with the events."""

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


class _Rules(NamedTuple):
    """Rules for counting waits and time, and for choosing places."""

    threshold: float
    slot_h: float
    slots: int
    per_batch: int
    longest: float
    pack: bool
    record: bool
    full_at: int


def _run(
    times: Any,
    durations: Any,
    streams: Any,
    asks: Any,
    cluster: Cluster,
    state: _State,
    rules: _Rules,
    first: int,
    most: int,
) -> int:
    """Take all events up to the last of ``times``, candidates from ``first`` on; returns how many candidates are done.

    It returns early when the queue has no room for the next request, or after ``most`` requests (-1: never), or when
    ``full_at`` GPUs are in use (-1: never). A candidate of a closed group is a request if its ask is below the VMs of
    those idle. Time is cut into slots of ``slot_h`` for the busy GPUs, ``slots`` of them in a week, and ``per_batch``
    in a batch. A request is counted in the batch in which it arrived, or with ``record`` one by one.

    The state is in local variables, and the pieces get its arrays one by one: compiled, reading them from the tuple in
    each piece takes ten times as long. It is checked event for event against the plain version, ``Naive``, in
    tests/simulation/test_event_loop.py.
    """
    gpus, vms, load, weight, full, family = cluster
    counts, clock, free, on_host, idle, heap_end, heap_what = state[:7]
    queue_at, queue_for, queue_stream, queue_mark = state[7:11]
    share_host, share_family, share_used, sums, area, bins, wait, decided = state[11:]
    threshold, slot_h, slots, per_batch, longest, pack, record, full_at = rules
    size, head, waiting, shares = counts[SIZE], counts[HEAD], counts[WAITING], counts[SHARES]
    free_gpus, peak, requests, slot = counts[FREE_GPUS], counts[PEAK], counts[CAME], counts[SLOT]
    last, busy = clock[LAST], clock[BUSY]
    kinds, all_gpus = len(gpus), counts[GPUS]
    edge = (slot + 1) * slot_h
    batch = slot // per_batch
    cell = batch * slots + slot % slots
    room, all_done = len(queue_at), len(times) - 1
    done = first
    while requests != most and peak != full_at:
        event, now = _next_event(times[done], waiting, queue_at[head] + longest, heap_end[0])
        while now >= edge:
            area[cell] += busy * (edge - last)
            last = edge
            slot += 1
            edge = (slot + 1) * slot_h
            batch = slot // per_batch
            cell = batch * slots + slot % slots
        area[cell] += busy * (now - last)
        last = now

        if event == ENDS:
            while heap_end[0] == now:
                size -= 1
                what = _pop(heap_end, heap_what, size)
                kind, where = what & 0xFFFF, what >> 16
                idle[kind] += 1
                busy -= load[kind]
                given_back = gpus[kind]
                if given_back == 0:
                    share_used[where] -= weight[kind]
                    given_back = int(share_used[where] == 0)
                    where = share_host[where]
                on_host[where] -= 1
                free[where] += given_back
                free_gpus += given_back
            if size == 0:
                busy = 0.0
        elif event == LEAVES:
            kind, mark = queue_stream[head], queue_mark[head]
            idle[kind] += vms[kind]
            head = (head + 1) & (room - 1)
            waiting -= 1
            if record:
                wait[mark], decided[mark] = longest, 2
            else:
                _count_denied(sums, mark * kinds + kind, longest, threshold)
        elif done == all_done:
            break
        else:
            kind = streams[done]
            if asks[done] >= idle[kind]:
                done += 1
                continue
            if waiting == room:
                break
            idle[kind] -= vms[kind]
            tail = (head + waiting) & (room - 1)
            queue_at[tail], queue_for[tail], queue_stream[tail] = now, durations[done], kind
            queue_mark[tail] = requests if record else batch
            sums[(batch * kinds + kind) * SUMS + ASKED] += 1
            waiting += 1
            requests += 1
            done += 1
            if waiting > 1:
                continue

        while waiting > 0:
            kind = queue_stream[head]
            need, wanted = gpus[kind], vms[kind]
            if free_gpus < need * wanted:
                break
            if wanted > 1:
                fits = _hosts_room(free, max(need, 1))
                if need == 0:
                    fits *= full[kind] // weight[kind]
                    fits += _shares_room(
                        share_family, share_used, shares, family[kind], weight[kind], full[kind]
                    )
                if fits < wanted:
                    break
            placed = 0
            while placed < wanted:
                spot, spare = -1, shares
                if need == 0:
                    spot, spare = _best_share(
                        share_host,
                        share_family,
                        share_used,
                        on_host,
                        shares,
                        family[kind],
                        weight[kind],
                        full[kind],
                        pack,
                    )
                if spot < 0 or not pack:
                    least = max(need, 1)
                    chosen = _best_host(free, on_host, least, pack)
                    if chosen >= 0:
                        free[chosen] -= least
                        free_gpus -= least
                        peak = max(peak, all_gpus - free_gpus)
                        spot = chosen
                        if need == 0:
                            spot = spare
                            shares = max(shares, spare + 1)
                            share_host[spare], share_family[spare] = chosen, family[kind]
                if spot < 0:
                    break
                where = spot
                if need == 0:
                    share_used[spot] += weight[kind]
                    where = share_host[spot]
                on_host[where] += 1
                busy += load[kind]
                _push(heap_end, heap_what, size, now + queue_for[head], (spot << 16) | kind)
                size += 1
                placed += 1
            if placed < wanted:
                break
            waited, mark = now - queue_at[head], queue_mark[head]
            head = (head + 1) & (room - 1)
            waiting -= 1
            if record:
                wait[mark], decided[mark] = waited, 1
            else:
                _count_start(sums, bins, mark * kinds + kind, waited, threshold)
    counts[SIZE], counts[HEAD], counts[WAITING], counts[SHARES] = size, head, waiting, shares
    counts[FREE_GPUS], counts[PEAK], counts[CAME], counts[SLOT] = free_gpus, peak, requests, slot
    clock[LAST], clock[BUSY] = last, busy
    return done


def _next_event(comes: float, waiting: int, leaves: float, ends: float) -> tuple[int, float]:
    """Return the next event and its time: of simultaneous events, ends of VMs come first."""
    if waiting == 0:
        leaves = math.inf
    if ends <= comes and ends <= leaves:
        return ENDS, ends
    return (LEAVES, leaves) if leaves <= comes else (COMES, comes)


def _push(heap_end: Any, heap_what: Any, hole: int, end: float, what: int) -> None:
    """Put an end into the heap, from a hole upwards."""
    while hole > 0:
        parent = (hole - 1) >> 1
        if heap_end[parent] <= end:
            break
        heap_end[hole], heap_what[hole] = heap_end[parent], heap_what[parent]
        hole = parent
    heap_end[hole], heap_what[hole] = end, what


def _pop(heap_end: Any, heap_what: Any, size: int) -> Any:
    """Take the first end out of a heap, of which ``size`` are left; the first of an empty one is endless."""
    what = heap_what[0]
    end, moved = heap_end[size], heap_what[size]
    hole, child = 0, 1
    while child + 1 < size:
        child += int(heap_end[child + 1] < heap_end[child])
        heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
        hole, child = child, 2 * child + 1
    if child < size:
        heap_end[hole], heap_what[hole] = heap_end[child], heap_what[child]
        hole = child
    _push(heap_end, heap_what, hole, end, moved)
    if size == 0:
        heap_end[0] = math.inf
    return what


def _hosts_room(free: Any, need: int) -> Any:
    """Return the number of VMs with this many GPUs that can start."""
    fits = 0
    for host in range(len(free)):
        fits += free[host] // need
    return fits


def _shares_room(share_family: Any, share_used: Any, shares: int, family: int, weight: int, full: int) -> Any:
    """VMs with a fraction of a GPU that can start on GPUs of their family."""
    fits = 0
    for share in range(shares):
        if share_used[share] > 0 and share_family[share] == family:
            fits += (full - share_used[share]) // weight
    return fits


def _best_share(
    share_host: Any,
    share_family: Any,
    share_used: Any,
    on_host: Any,
    shares: int,
    family: int,
    weight: int,
    full: int,
    pack: bool,
) -> Any:
    """The partly filled GPU for a fraction (-1: none has room), and the first place in the list of them that is free."""
    best, spare = -1, shares
    for share in range(shares):
        used = share_used[share]
        if used == 0:
            spare = min(spare, share)
        elif share_family[share] == family and used + weight <= full:
            if best < 0:
                best = share
            elif used == share_used[best]:
                this, that = share_host[share], share_host[best]
                if on_host[this] < on_host[that] or (on_host[this] == on_host[that] and this < that):
                    best = share
            elif (used > share_used[best]) == pack:
                best = share
    return best, spare


def _best_host(free: Any, on_host: Any, least: int, pack: bool) -> Any:
    """The host with the fewest or the most free GPUs, and of these with the fewest VMs; -1 if none has enough."""
    chosen, best = -1, 0
    for host in range(len(free)):
        here = free[host]
        if here >= least and (
            chosen < 0
            or (here < best if pack else here > best)
            or (here == best and on_host[host] < on_host[chosen])
        ):
            chosen, best = host, here
    return chosen


def _count_denied(sums: Any, row: int, longest: float, threshold: float) -> None:
    """Count a request that leaves, in the row of its batch and stream."""
    sums[row * SUMS + TURNED] += 1
    if longest > 0:
        sums[row * SUMS + WAITED] += 1
    if longest > threshold:
        sums[row * SUMS + LONGER] += 1


def _count_start(sums: Any, bins: Any, row: int, waited: float, threshold: float) -> None:
    """Count a request that starts after a wait."""
    place = 0
    if waited > 0:
        part, exponent = math.frexp(waited)
        place = 1 + (exponent - 1 - LOWEST) * PER_OCTAVE + int((part - 0.5) * 2 * PER_OCTAVE)
        place = min(max(place, 0), BINS - 1)
        sums[row * SUMS + WAITED] += 1
        sums[row * SUMS + HOURS] += waited
        if waited > threshold:
            sums[row * SUMS + LONGER] += 1
    sums[row * SUMS + SERVED] += 1
    bins[row * BINS + place] += 1


def _run_servers(
    times: Any,
    durations: Any,
    streams: Any,
    asks: Any,
    cluster: Cluster,
    state: _State,
    rules: _Rules,
    first: int,
    most: int,
) -> int:
    """The same as ``_run`` where every request is for one whole GPU, arrivals are open and no request leaves.

    Then the GPUs are servers, and the next request starts when the first of them is free: ``heap_end`` holds when each
    will be done with all so far (Kiefer and Wolfowitz). In the queue are those whose start, in ``queue_for``, has not
    come yet. ``clock[BUSY]`` is the GPU-hours taken, less those counted in ``area`` up to the last edge.
    """
    counts, clock, heap_end = state.counts, state.clock, state.heap_end
    queue_at, queue_for = state.queue_at, state.queue_for
    queue_stream, queue_mark = state.queue_stream, state.queue_mark
    sums, area, bins = state.sums, state.area, state.bins
    threshold, slot_h, slots, per_batch = rules[:4]
    head, waiting, requests, slot = counts[HEAD], counts[WAITING], counts[CAME], counts[SLOT]
    now, taken = clock[LAST], clock[BUSY]
    kinds = len(cluster.gpus)
    edge = (slot + 1) * slot_h
    batch = slot // per_batch
    room, all_done = len(queue_at), len(times) - 1
    done = first
    while requests != most:
        now = times[done]
        while now >= edge:
            left = 0.0
            for server in range(len(heap_end)):
                if heap_end[server] > edge:
                    left += heap_end[server] - edge
            area[batch * slots + slot % slots] += taken - left
            taken = left
            slot += 1
            edge = (slot + 1) * slot_h
            batch = slot // per_batch

        while waiting > 0 and queue_for[head] <= now:
            row = queue_mark[head] * kinds + queue_stream[head]
            _count_start(sums, bins, row, queue_for[head] - queue_at[head], threshold)
            head = (head + 1) & (room - 1)
            waiting -= 1

        if done == all_done or waiting == room:
            break
        row = batch * kinds + streams[done]
        sums[row * SUMS + ASKED] += 1
        start = heap_end[0]
        if start > now:
            tail = (head + waiting) & (room - 1)
            queue_at[tail], queue_for[tail] = now, start
            queue_stream[tail], queue_mark[tail] = streams[done], batch
            waiting += 1
        else:
            start = now
            sums[row * SUMS + SERVED] += 1
            bins[row * BINS] += 1
        taken += durations[done]
        _replace_first(heap_end, start + durations[done])
        requests += 1
        done += 1
    counts[HEAD], counts[WAITING], counts[CAME], counts[SLOT] = head, waiting, requests, slot
    clock[LAST], clock[BUSY] = now, taken
    return done


def _replace_first(heap_end: Any, end: float) -> None:
    """Put an end in place of the first of a heap."""
    hole, child = 0, 1
    while child < len(heap_end):
        if child + 1 < len(heap_end) and heap_end[child + 1] < heap_end[child]:
            child += 1
        if heap_end[child] >= end:
            break
        heap_end[hole] = heap_end[child]
        hole, child = child, 2 * child + 1
    heap_end[hole] = end


PIECES = (
    _next_event,
    _push,
    _pop,
    _hosts_room,
    _shares_room,
    _best_share,
    _best_host,
    _count_denied,
    _count_start,
    _replace_first,
)
"""Functions that the loops call: plain Python, or compiled into them."""


@functools.cache
def _register_pieces() -> None:
    """Let compiled loops call the pieces."""
    from numba.extending import register_jitable

    for piece in PIECES:
        register_jitable(piece)


def _compiled_loops(*, cache: bool) -> tuple[Any, Any]:
    """``_run`` and ``_run_servers`` for numba to compile at their first call."""
    import numba

    _register_pieces()
    compile_ = numba.njit(nogil=True, cache=cache)
    return compile_(_run), compile_(_run_servers)


@functools.cache
def _compiled() -> tuple[Any, Any] | None:
    """The compiled loops, or None without numba; kept on disk where that can be written."""
    try:
        return _compiled_loops(cache=True)
    except ImportError:
        return None
    except RuntimeError:
        return _compiled_loops(cache=False)


class Engine:
    """``_run`` with its state: arrays where it is compiled, lists where not, which plain Python reads faster."""

    def __init__(
        self,
        cluster: Cluster,
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
        compiled = _compiled() if COMPILE else None
        self.compiled = compiled is not None
        runs: tuple[Callable[..., int], Callable[..., int]] = compiled or (_run, _run_servers)
        self._run, self._run_servers = runs
        self.slots, self.slot_h, self.group, self.most = slots, float(slot_h), 1, most
        self._cluster = Cluster(*map(self._pack, cluster))
        gpus, kinds = sum(hosts), len(idle)
        densest = max(int(full // max(w, 1)) for full, w in zip(cluster.full, cluster.weight, strict=True))
        shares = gpus if any(cluster.weight) else 0
        record = jobs > 0
        patient = longest_wait_h == math.inf and all(i == OPEN for i in idle)
        servers = patient and not record and len(hosts) == 1 and cluster.one_gpu_each()
        self._by_server = False
        self._rules = _Rules(
            threshold=float(threshold_h),
            slot_h=self.slot_h,
            slots=slots,
            per_batch=slots,
            longest=float(longest_wait_h),
            pack=policy == "pack",
            record=record,
            full_at=gpus if servers else -1,
        )
        cells = MOST_BATCHES + 1

        def counts(size: int) -> Any:
            return self._pack(np.zeros(size, dtype=np.int64))

        def hours(size: int) -> Any:
            return self._pack(np.zeros(size))

        self._state = _State(
            counts=counts(COUNTS),
            clock=hours(2),
            free=self._pack(np.array(hosts)),
            on_host=counts(len(hosts)),
            idle=self._pack(np.array(idle)),
            heap_end=hours(gpus * densest),
            heap_what=counts(gpus * densest),
            queue_at=hours(1024),
            queue_for=hours(1024),
            queue_stream=counts(1024),
            queue_mark=counts(1024),
            share_host=counts(shares),
            share_family=counts(shares),
            share_used=counts(shares),
            sums=hours(cells * kinds * SUMS),
            area=hours(cells * slots),
            bins=np.zeros(cells * kinds * BINS, dtype=np.int32),
            wait=np.zeros(jobs),
            decided=np.zeros(jobs, dtype=np.int8),
        )
        self._state.counts[FREE_GPUS] = self._state.counts[GPUS] = gpus
        self._state.heap_end[0] = math.inf

    def _pack(self, values: Any) -> Any:
        return np.ascontiguousarray(values) if self.compiled else np.asarray(values).tolist()

    def take(
        self, times: Floats, durations: Floats, streams: Ints, asks: Floats | None, *, until: float
    ) -> None:
        """Take candidates and all events up to a time, or until as many as allowed have asked."""
        asks = np.zeros(len(times)) if asks is None else asks
        arrays = [self._pack(a) for a in (np.append(times, until), durations, streams, asks)]
        done = 0
        while True:
            run = self._run_servers if self._by_server else self._run
            rules = self._rules._replace(per_batch=self.slots * self.group)
            done = run(*arrays, self._cluster, self._state, rules, done, self.most)
            if done == len(times) or self.asked == self.most:
                return
            if self.peak_gpus == self._rules.full_at and not self._by_server:
                self._go_by_server()
            else:
                self._state = self._with_longer_queue()

    def _go_by_server(self) -> None:
        """From running requests and a queue to the times when each GPU will have done all that came so far."""
        state = self._state
        ends = list(state.heap_end[: int(state.counts[SIZE])])
        free = sorted([self.now_h] * (self._rules.full_at - len(ends)) + ends)
        head = int(state.counts[HEAD])
        for place in range(head, head + int(state.counts[WAITING])):
            place %= len(state.queue_at)
            start = free[0]
            heapq.heapreplace(free, start + state.queue_for[place])
            state.queue_for[place] = start
        self._by_server = True
        self._state = state._replace(heap_end=self._pack(np.array(free)))
        state.clock[BUSY] = sum(end - self.now_h for end in free)

    def _with_longer_queue(self) -> _State:
        state = self._state
        head, room = int(state.counts[HEAD]), len(state.queue_at)
        longer = {}
        for name in ("queue_at", "queue_for", "queue_stream", "queue_mark"):
            old = np.asarray(getattr(state, name))
            longer[name] = self._pack(np.concatenate([np.roll(old, -head), np.zeros(room, dtype=old.dtype)]))
        state.counts[HEAD] = 0
        return state._replace(**longer)

    @property
    def asked(self) -> int:
        """Requests so far."""
        return int(self._state.counts[CAME])

    @property
    def peak_gpus(self) -> int:
        """The most GPUs that were occupied at once."""
        return int(self._state.counts[PEAK])

    @property
    def now_h(self) -> float:
        """The time that has been reached."""
        return float(self._state.clock[LAST])

    @property
    def batches(self) -> int:
        """Batches that are complete."""
        return int(self._state.counts[SLOT]) // (self.slots * self.group)

    def time_of(self, batch: int) -> float:
        """When a batch begins."""
        return batch * self.group * self.slots * self.slot_h

    def merge_batches(self) -> None:
        """Every two batches become one."""
        state = self._state
        kinds = len(self._cluster.gpus)
        self._state = state._replace(
            sums=self._pack(_paired(np.asarray(state.sums), kinds * SUMS)),
            area=self._pack(_paired(np.asarray(state.area), self.slots)),
            bins=_paired(state.bins, kinds * BINS),
            queue_mark=self._pack(np.asarray(state.queue_mark) // 2),
        )
        self.group *= 2

    def sums(self) -> Floats:
        """Sums by batch and stream; who waits at this moment has waited."""
        kinds = len(self._cluster.gpus)
        state = self._state
        sums = np.array(state.sums).reshape(MOST_BATCHES + 1, kinds, SUMS)
        at, batch, kind = self._waiting()
        np.add.at(sums[:, :, WAITED], (batch, kind), 1.0)
        np.add.at(sums[:, :, LONGER], (batch, kind), self.now_h - at > self._rules.threshold)
        np.add.at(sums[:, :, PENDING], (batch, kind), self.now_h - at)
        return sums

    def _waiting(self) -> tuple[Floats, Ints, Ints]:
        """Return the arrival times, batches and streams of the requests that wait."""
        state = self._state
        places = (int(state.counts[HEAD]) + np.arange(int(state.counts[WAITING]))) % len(state.queue_at)
        marks = np.asarray(state.queue_mark, dtype=np.int64)[places]
        kinds = np.asarray(state.queue_stream, dtype=np.int64)[places]
        return np.asarray(state.queue_at)[places], marks, kinds

    def oldest_wait_h(self) -> float:
        """Wait of the head of the queue so far."""
        at = self._waiting()[0]
        return self.now_h - float(at[0]) if len(at) else 0.0

    def area(self) -> Floats:
        """GPU-hours allocated by batch and slot of the week."""
        area = np.array(self._state.area).reshape(-1, self.slots)
        if self._by_server:
            slot = int(self._state.counts[SLOT])
            after = np.maximum(np.asarray(self._state.heap_end) - self.now_h, 0)
            area[slot // (self.slots * self.group), slot % self.slots] += (
                self._state.clock[BUSY] - after.sum()
            )
        return area

    def bins(self, batches: slice) -> Ints:
        """Requests served by stream and bin of the wait, over some batches."""
        bins: NDArray[np.int32] = self._state.bins
        rows = bins.reshape(MOST_BATCHES + 1, len(self._cluster.gpus), BINS)
        served: Ints = rows[batches].sum(axis=0, dtype=np.int64)
        return served

    def decided(self) -> tuple[Floats, NDArray[np.int8]]:
        """Wait of each job, and whether it was served (1) or denied (2)."""
        return self._state.wait, self._state.decided


def _paired(values: Any, width: int) -> Any:
    """Rows of ``width``, every two added; the odd last one stays the last that is used."""
    rows = values.reshape(MOST_BATCHES + 1, width)
    paired = np.zeros_like(rows)
    paired[: MOST_BATCHES // 2] = rows[0:MOST_BATCHES:2] + rows[1:MOST_BATCHES:2]
    paired[MOST_BATCHES // 2] = rows[MOST_BATCHES]
    return paired.ravel()
