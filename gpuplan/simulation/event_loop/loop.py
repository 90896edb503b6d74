"""The general loop: requests come to hosts, wait, start, end and leave, one event after the other."""

import math
from typing import Any, NamedTuple

from gpuplan.simulation.event_loop.cluster import Cluster

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


class State(NamedTuple):
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
    spare: Any
    fits: Any
    able: Any
    sums: Any
    area: Any
    bins: Any
    wait: Any
    decided: Any


class Rules(NamedTuple):
    """Rules for counting waits and time, and for choosing places."""

    threshold: float
    slot_h: float
    slots: int
    per_batch: int
    longest: float
    pack: bool
    record: bool
    limited: bool


def _run(candidates: Any, cluster: Cluster, state: State, rules: Rules, first: int, most: int) -> int:
    """Take all events up to the last of the times, candidates from ``first`` on; return how many candidates are done.

    It returns early when the queue has no room for the next request, or after ``most`` requests (-1: never). A
    candidate of a closed group is a request if its ask is below the VMs of those idle. A request is counted in the
    batch in which it arrived, or with ``record`` one by one.

    The state is in local variables, and the pieces get its arrays one by one: compiled, reading them from the tuple
    in each piece takes several times as long. ``Naive`` in tests/simulation/test_event_loop.py checks it event for
    event.
    """
    times, durations, streams, asks = candidates
    gpus, vms, load, weight, full, family, takes, barred = cluster
    counts, clock, free, on_host, idle, heap_end, heap_what = state[:7]
    queue_at, queue_for, queue_stream, queue_mark = state[7:11]
    share_host, share_family, share_used, spare, fits, able = state[11:17]
    sums, area, bins, wait, decided = state[17:]
    threshold, slot_h, slots, per_batch, longest, pack, record, limited = rules
    size, head, waiting, shares = counts[SIZE], counts[HEAD], counts[WAITING], counts[SHARES]
    free_gpus, peak, requests, slot = counts[FREE_GPUS], counts[PEAK], counts[CAME], counts[SLOT]
    last, busy = clock[LAST], clock[BUSY]
    kinds, all_gpus = len(gpus), counts[GPUS]
    edge = (slot + 1) * slot_h
    batch = slot // per_batch
    cell = batch * slots + slot % slots
    room, all_done = len(queue_at), len(times) - 1
    done = first
    while requests != most:
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
                if limited:
                    spare[2 * where] += takes[2 * kind]
                    spare[2 * where + 1] += takes[2 * kind + 1]
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
                _count(sums, mark * kinds + kind, TURNED, longest, threshold)
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
            part = (family[kind], weight[kind], full[kind])
            if free_gpus < need * wanted:
                break
            if limited:
                _mark_able(able, kind, spare, takes, barred)
            if wanted > 1:
                _count_room(fits, free, need, part)
                if need == 0:
                    _count_shares(fits, share_host, share_family, share_used[:shares], part)
                if _most_vms(fits, able, kind, spare, takes) < wanted:
                    break
            placed = 0
            while placed < wanted:
                spot, unused = -1, shares
                if limited and placed > 0:
                    _mark_able(able, kind, spare, takes, barred)
                if need == 0:
                    spot, unused = _best_share(
                        share_host, share_family, share_used, on_host, able, shares, part, pack
                    )
                if spot < 0 or not pack:
                    least = max(need, 1)
                    chosen = _best_host(free, on_host, able, least, pack)
                    if chosen >= 0:
                        free[chosen] -= least
                        free_gpus -= least
                        peak = max(peak, all_gpus - free_gpus)
                        spot = chosen
                        if need == 0:
                            spot = unused
                            shares = max(shares, unused + 1)
                            share_host[unused], share_family[unused] = chosen, family[kind]
                if spot < 0:
                    break
                where = spot
                if need == 0:
                    share_used[spot] += weight[kind]
                    where = share_host[spot]
                on_host[where] += 1
                if limited:
                    spare[2 * where] -= takes[2 * kind]
                    spare[2 * where + 1] -= takes[2 * kind + 1]
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
                _count(sums, mark * kinds + kind, SERVED, waited, threshold)
                _count_wait(sums, bins, mark * kinds + kind, waited)
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


def _mark_able(able: Any, kind: int, spare: Any, takes: Any, barred: Any) -> None:
    """Mark the hosts that a kind of VM may take, and that have its vCPUs and memory left."""
    for host in range(len(able)):
        room = spare[2 * host] >= takes[2 * kind] and spare[2 * host + 1] >= takes[2 * kind + 1]
        able[host] = int(room and barred[kind * len(able) + host] == 0)


def _count_room(fits: Any, free: Any, need: int, part: Any) -> None:
    """Count on each host the VMs with this many GPUs, or on its free GPUs those with a fraction, that can start."""
    for host in range(len(free)):
        fits[host] = free[host] // need if need > 0 else free[host] * (part[2] // part[1])


def _count_shares(fits: Any, hosts: Any, families: Any, used: Any, part: Any) -> None:
    """Add the VMs with a fraction of a GPU that can start on GPUs of their family."""
    family, weight, full = part
    for share, taken in enumerate(used):
        if taken > 0 and families[share] == family:
            fits[hosts[share]] += (full - taken) // weight


def _most_vms(fits: Any, able: Any, kind: int, spare: Any, takes: Any) -> Any:
    """Return the VMs that can start on all hosts, with the vCPUs and memory that are left."""
    total = 0
    for host in range(len(fits)):
        here = fits[host] * able[host]
        for at in range(2):
            if takes[2 * kind + at] > 0:
                here = min(here, spare[2 * host + at] // takes[2 * kind + at])
        total += here
    return total


def _best_share(
    hosts: Any, families: Any, used: Any, on_host: Any, able: Any, shares: int, part: Any, pack: bool
) -> Any:
    """The partly filled GPU for a fraction (-1: none has room), and the first place in the list of them that is free."""
    best, unused = -1, shares
    family, weight, full = part
    for share in range(shares):
        taken = used[share]
        if taken == 0:
            unused = min(unused, share)
        elif families[share] == family and taken + weight <= full and able[hosts[share]]:
            if best < 0:
                best = share
            elif taken == used[best]:
                this, that = hosts[share], hosts[best]
                if on_host[this] < on_host[that] or (on_host[this] == on_host[that] and this < that):
                    best = share
            elif (taken > used[best]) == pack:
                best = share
    return best, unused


def _best_host(free: Any, on_host: Any, able: Any, least: int, pack: bool) -> Any:
    """The host with the fewest or the most free GPUs, and of these with the fewest VMs; -1 if none has enough."""
    chosen, best = -1, 0
    for host in range(len(free)):
        here = free[host]
        if here >= least and able[host]:
            better = here < best if pack else here > best
            if chosen < 0 or better or (here == best and on_host[host] < on_host[chosen]):
                chosen, best = host, here
    return chosen


def _count(sums: Any, row: int, what: int, waited: float, threshold: float) -> None:
    """Count a request that starts or leaves after a wait, in the row of its batch and stream."""
    sums[row * SUMS + what] += 1
    if waited > 0:
        sums[row * SUMS + WAITED] += 1
    if waited > threshold:
        sums[row * SUMS + LONGER] += 1


def _count_wait(sums: Any, bins: Any, row: int, waited: float) -> None:
    """Count the wait of a request that starts."""
    place = 0
    if waited > 0:
        part, exponent = math.frexp(waited)
        place = 1 + (exponent - 1 - LOWEST) * PER_OCTAVE + int((part - 0.5) * 2 * PER_OCTAVE)
        place = min(max(place, 0), BINS - 1)
        sums[row * SUMS + HOURS] += waited
    bins[row * BINS + place] += 1


PIECES = (
    *(_next_event, _mark_able, _count_room, _count_shares, _most_vms, _best_share, _best_host),
    *(_count, _count_wait),
)
"""Functions that the loops call: plain Python, or compiled into them."""


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
