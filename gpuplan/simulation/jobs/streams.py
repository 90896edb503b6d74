"""Requests drawn by chance, until their figures are tight enough."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gpuplan.simulation.arrivals import HOURS_PER_WEEK, Floats, Ints, Source, Stream
from gpuplan.simulation.event_loop.cluster import Cluster
from gpuplan.simulation.event_loop.engine import MOST_BATCHES, OPEN, Engine
from gpuplan.simulation.jobs.checks import _check, _check_cluster, _check_streams
from gpuplan.simulation.jobs.figures import EVENTS_PER_CALL, Progress, Simulated, _simulated, _tight

FEWEST_BATCHES = 24
"""The first eighth of the batches is the warm-up, so at least 21 count."""
REQUESTS_PER_BATCH = 2000
"""On average at the start, where the length of a batch is free."""
MOST_HOURS = 20_000_000.0
"""Limit on simulated hours, so that time keeps its digits at very low request rates."""
CHUNK = 1 << 16


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
    spare: Sequence[tuple[int, int]] = (),
    clusters: Sequence[int] = (),
    enough: Callable[[Simulated], bool] | None = None,
) -> Simulated:
    """Waiting, denial and utilisation when classes of requests share the GPUs of a cluster of hosts, by simulation.

    Parameters:
        hosts (sequence of int): Hosts, each by the number of its GPUs. [host]
        policy: Placement: pack (fullest host first) or spread (emptiest host first). [-]
        longest_wait_h: Wait after which a request leaves; 0: it is denied at once, infinite: it never leaves. [h]
        wait_h: Threshold for which the share that waited longer is reported. [h]
        seed: Where the random numbers start; the same seed gives the same result. [-]
        tolerance: Half width of the 95 % intervals that is tight enough, relative to the figure. [-]
        most_requests: Requests after which the simulation ends in any case. [-]
        progress (callable or None): Called now and then with a Progress; it ends the run by returning False. [-]
        spare (sequence of (int, int)): vCPUs and GiB of memory of each host for VMs; empty: not counted. [-]
        clusters (sequence of int): Number of the cluster of each host; empty: all hosts are one cluster. [-]
        enough (callable or None): Ends the run by returning True for the figures so far, in place of the tolerance. [-]

    Event by event, exact but for chance; queue and placement as the module says. A person of a closed group who is
    active with chance p (at most 0.99) asks at rate p / ((1 - p) * duration_h) while idle, and is idle again when
    denied. Rates that vary are drawn by thinning [lewis-shedler-1979]_.

    Intervals by batch means [law-2015]_: 95 %, Student's t, at least 21 batches of equal length after a warm-up of an
    eighth of the run, widened by sqrt((1 + r) / (1 - r)) for a correlation r > 0 of neighbours. A batch is whole
    weeks if a rate varies, else 2000 requests or the longest mean duration; shorter where most_requests would be
    passed. A share that is 0 or 1 in n requests has half width 3 / n. Near saturation intervals of the mean wait are
    too narrow (at 95 % load some 85 % of them hold it), unless the tolerance is finer.

    It ends when denied, waited and waited longer over all streams are within tolerance * max(value, 0.04), at
    most_requests, or after 20 million hours. Where more is asked for than can be served and no request leaves,
    ``growing`` says so. Memory is bounded by streams, GPUs and those who wait, not by requests.

    >>> found = simulate([Stream("notebooks", gpus=1, rates_per_h=(5.0,))], hosts=[4, 4], longest_wait_h=0)
    >>> abs(found.overall.denied.value - 0.0700) < 0.01  # Erlang B: 8 servers, 5 erlang
    True
    """
    _check_cluster(hosts, policy, longest_wait_h)
    _check_streams(streams)
    _check("wait_h", wait_h, 0 <= wait_h < math.inf, "0 or more hours")
    _check("tolerance", tolerance, 0 < tolerance <= 1, "above 0, at most 1")
    _check("most_requests", most_requests, 1 <= most_requests <= 1_000_000_000, "1 to 1000000000")
    _check("seed", seed, seed >= 0, "0 or a positive whole number")

    how = {"policy": policy, "longest_wait_h": longest_wait_h, "threshold_h": wait_h, "spare": spare}
    engine = _engine(streams, hosts, clusters, most_requests, how)
    names = [s.name for s in streams]
    seeds = np.random.SeedSequence(seed).spawn(len(streams))
    sources = [Source(stream, n, seeds[n]) for n, stream in enumerate(streams)]
    step_h = CHUNK / sum(source.rate for source in sources)
    per_call = EVENTS_PER_CALL[engine.compiled]
    goal, now, since_call, ended = FEWEST_BATCHES, 0.0, 0, ""
    while not ended:
        until = min(now + step_h, engine.time_of(goal), MOST_HOURS)
        times, durations, numbers, asks = _candidates(sources, until)
        engine.take(times, durations, numbers, asks, until=until)
        now, since_call = until, since_call + len(times)
        if engine.asked == most_requests:
            ended = "limit"
        elif until == engine.time_of(goal):
            if enough(_simulated(engine, names, sum(hosts), "")) if enough else _tight(engine, tolerance):
                ended = "tight"
            goal = _next_goal(engine, goal)
        if until == MOST_HOURS and not ended:
            ended = "limit"
        if progress is not None and since_call >= per_call and not ended:
            since_call = 0
            if not progress(Progress(engine.asked, most_requests, engine.now_h)):
                ended = "cancelled"
    return _simulated(engine, names, sum(hosts), ended)


def _engine(
    streams: Sequence[Stream], hosts: Sequence[int], clusters: Sequence[int], most: int, how: dict[str, Any]
) -> Engine:
    """Return the engine for these streams, with batches that cover the longest job yet suit this number of requests."""
    asked_per_h = sum(s.requests_per_h for s in streams)
    _check("rates_per_h", 0, asked_per_h > 0, "some stream that asks at all")
    steady = all(min(s.rates_per_h) == max(s.rates_per_h) for s in streams)
    longest_work_h = max(s.duration_h for s in streams if s.requests_per_h > 0)
    usual_h, most_h = REQUESTS_PER_BATCH / asked_per_h, min(most / asked_per_h, MOST_HOURS) / 32
    slot_h, slots = (min(max(usual_h, longest_work_h), most_h), 1) if steady else (1.0, HOURS_PER_WEEK)
    cluster, idle = Cluster.of(streams, hosts, clusters), [s.people * s.vms or OPEN for s in streams]
    return Engine(
        cluster, cluster.hosts_that_matter(hosts), idle, most=most, slot_h=slot_h, slots=slots, **how
    )


def _next_goal(engine: Engine, goal: int) -> int:
    """Return the number of batches after which the figures are checked again."""
    if goal == MOST_BATCHES:
        engine.merge_batches()
        goal //= 2
    return goal + (4 if goal < 32 else 8)


def _candidates(sources: Sequence[Source], until: float) -> tuple[Floats, Floats, Ints, Floats]:
    """Times, durations, stream numbers and asks of the candidates of all streams up to a time, as they come."""
    times, durations, numbers, asks = sources[0].until(until)
    if len(sources) > 1:
        others = (source.until(until) for source in sources[1:])
        columns = zip((times, durations, numbers, asks), *others, strict=True)
        times, durations, numbers, asks = map(np.concatenate, columns)
        order = np.argsort(times, kind="stable")
        times, durations, numbers, asks = times[order], durations[order], numbers[order], asks[order]
    return times, durations, numbers, asks
