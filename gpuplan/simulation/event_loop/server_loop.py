"""The event loop of GPUs that are servers: each request takes one, and waits until the first of them is free."""

from typing import Any

from gpuplan.simulation.event_loop.cluster import Cluster
from gpuplan.simulation.event_loop.heap import _replace_first
from gpuplan.simulation.event_loop.loop import (
    ASKED,
    BINS,
    BUSY,
    CAME,
    HEAD,
    LAST,
    SERVED,
    SLOT,
    SUMS,
    WAITING,
    Rules,
    State,
    _count_start,
)


def _run_servers(
    times: Any,
    durations: Any,
    streams: Any,
    asks: Any,
    cluster: Cluster,
    state: State,
    rules: Rules,
    first: int,
    most: int,
) -> int:
    """The same as ``loop._run`` where every request is for one whole GPU, arrivals are open and no request leaves.

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
