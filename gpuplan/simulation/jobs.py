"""Simulation: requests for GPUs come to hosts; wait times, denials, and utilisation of the GPUs.

``simulate`` draws the requests of ``Stream``s by chance until its figures are tight enough; ``replay`` takes the
jobs of a trace as they were. Both go through ``event_loop``.

The queue is first come first served over all streams: while its head waits, every request behind it waits, even if it
would fit (no backfill). At one instant GPUs are given back first, then the queue is served, then requests leave that
have reached their longest wait, then requests arrive.

Placement, on which results depend. All GPUs of one VM are in one host; the VMs of a request may be in different
hosts and start together. ``pack``: the host with the fewest free GPUs on which the VM fits. ``spread``: the host
with the most free GPUs. A fraction shares a GPU within its family only. ``pack``: the fullest GPU of the family
that has room, else a free GPU on the host by the rule above. ``spread``: a free GPU on the host with the most free
GPUs, else the emptiest GPU of the family that has room. Ties: the host with the fewest VMs, then the host that
comes first, then the GPU with the lowest number, where a GPU that begins to be shared takes the lowest number
free. Nothing moves once it is placed.
"""

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gpuplan.simulation.arrivals import HOURS_PER_WEEK, Floats, Ints, Source, Stream
from gpuplan.simulation.event_loop.cluster import Cluster, Kind
from gpuplan.simulation.event_loop.engine import MOST_BATCHES, OPEN, Engine
from gpuplan.simulation.event_loop.loop import (
    ASKED,
    HOURS,
    LONGER,
    LOWEST,
    PENDING,
    PER_OCTAVE,
    SERVED,
    TURNED,
    WAITED,
)

FLOOR = 0.04
"""Half width that is tight enough for a share, however small the share is, relative to the tolerance."""
POLICIES = ("pack", "spread")
FEWEST_BATCHES = 24
"""The first eighth of the batches is the warm-up, so at least 21 count."""
REQUESTS_PER_BATCH = 2000
"""On average at the start, where the length of a batch is free."""
MOST_GPUS = 1_000_000
MOST_HOURS = 20_000_000.0
"""Limit on simulated hours, so that time keeps its digits at very low request rates."""
MOST_STREAMS = 1 << 16
CHUNK = 1 << 16
EVENTS_PER_CALL = {True: 1 << 20, False: 1 << 16}
"""Requests between two calls of ``progress``, compiled or not."""
AFTER_ALL = sys.float_info.max


class Estimate(NamedTuple):
    """A figure and the half width of its 95 % interval; the half width is None where too little was seen to tell."""

    value: float
    half_width: float | None


class Progress(NamedTuple):
    """Progress of a simulation or a replay."""

    requests: int
    most_requests: int
    hours: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result for the requests of one stream, or of all, that arrived after the warm-up.

    ``requests`` = ``served`` + ``denied_requests`` + ``still_waiting``. ``denied``, ``waited`` (started later than
    requested, or left after waiting) and ``waited_longer`` (than the threshold) are shares of the requests; requests
    that still wait count with the wait so far. The mean and the percentiles of the wait are of those served, the
    percentiles within 2 % of the wait; below 4 ms they are 0.
    """

    name: str
    requests: int
    served: int
    denied_requests: int
    still_waiting: int
    denied: Estimate
    waited: Estimate
    waited_longer: Estimate
    mean_wait_h: Estimate
    wait_p50_h: float
    wait_p90_h: float
    wait_p95_h: float
    wait_p99_h: float


@dataclass(frozen=True, slots=True)
class Simulated:
    """Results of a simulation: each stream, all of them, and the GPUs.

    ``utilisation`` is GPU-time allocated over GPU-time there, a fraction counted as its ``gpus``. ``busy_by_hour``:
    mean GPUs allocated in each hour of the week, if any rate varies. ``peak_gpus`` are the most GPUs occupied at a
    time, a shared one counted as one; it, ``requests`` and ``hours`` are with the warm-up. ``ended``: tight, limit or
    cancelled. ``growing``: the queue still grew at the end: demand exceeds capacity, or the run was too short; waits
    then depend on how long it ran.
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
    """Result for each job of a trace, in the order given.

    ``served`` and ``denied`` are neither for a job that was not reached (``ended`` cancelled). ``wait_h`` of a
    job denied is how long it waited before it left. ``utilisation`` is GPU-time allocated over GPU-time there,
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
    _check("streams", len(streams), 0 < len(streams) < MOST_STREAMS, f"1 to {MOST_STREAMS - 1} streams")
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
    """Return denied, waited, waited longer; cases that the rules exclude are exactly 0."""
    requests = sums[:, ASKED]
    possible = ((TURNED, longest_h < math.inf), (WAITED, longest_h > 0), (LONGER, longest_h > threshold_h))
    turned, waited, longer = (
        _estimate(sums[:, column], requests, share=True) if may_be else Estimate(0.0, 0.0)
        for column, may_be in possible
    )
    return turned, waited, longer


def _window(engine: Engine) -> slice:
    """The batches that count: those complete, without the first eighth; the first, if none is."""
    complete = engine.batches
    return slice(complete // 8, complete) if complete else slice(0, 1)


def _tight(engine: Engine, longest_h: float, threshold_h: float, tolerance: float) -> bool:
    shares = _shares(engine.sums()[_window(engine)].sum(axis=1), longest_h, threshold_h)
    return all(e.half_width is not None and e.half_width <= tolerance * max(e.value, FLOOR) for e in shares)


def _quantiles(bins: Ints) -> list[float]:
    """Percentiles 50, 90, 95 and 99 of the waits in bins: the middle of the bin."""
    total = np.cumsum(bins)
    if total[-1] == 0:
        return [0.0] * 4
    waits = []
    for share in (0.5, 0.9, 0.95, 0.99):
        place = int(np.searchsorted(total, share * total[-1])) - 1
        octave, part = divmod(place, PER_OCTAVE)
        waits.append(0.0 if place < 0 else 2.0 ** (LOWEST + octave) * (1 + (part + 0.5) / PER_OCTAVE))
    return waits


def _outcome(name: str, sums: Floats, bins: Ints, longest_h: float, threshold_h: float) -> Outcome:
    requests, turned, served = (int(sums[:, column].sum()) for column in (ASKED, TURNED, SERVED))
    return Outcome(
        name,
        requests,
        served,
        turned,
        requests - served - turned,
        *_shares(sums, longest_h, threshold_h),
        _estimate(sums[:, HOURS], sums[:, SERVED]),
        *_quantiles(bins),
    )


def _simulated(
    engine: Engine, names: Sequence[str], gpus: int, longest_h: float, threshold_h: float, ended: str
) -> Simulated:
    window = _window(engine)
    sums, area, bins = engine.sums()[window], engine.area()[window], engine.bins(window)
    batch_h = engine.time_of(1) if engine.batches else engine.now_h
    hours = np.full(len(area), batch_h)
    overall = _outcome("all", sums.sum(axis=1), bins.sum(axis=0), longest_h, threshold_h)
    early = sums[: (len(sums) + 1) // 2]
    early_wait_h = early[:, :, [HOURS, PENDING]].sum() / max(1.0, early[:, :, ASKED].sum())
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
    hosts : sequence of int
        Hosts, each by the number of its GPUs. [host]
    policy : str
        Placement: pack (fullest host first) or spread (emptiest host first). [-]
    longest_wait_h : float
        How long a job or request waits before it leaves; 0: it is denied at once, infinite: it never leaves. [h]
    wait_h : float
        Threshold for which the share that waited longer is reported. [h]
    seed : int
        Where the random numbers start; the same seed gives the same result. [-]
    tolerance : float
        Half width of the 95 % intervals that is tight enough, relative to the figure. [-]
    most_requests : int
        Requests after which the simulation ends in any case. [-]
    progress : callable or None
        Called now and then with a Progress; it ends the run by returning False. [-]

    Notes
    -----
    Event by event; queue and placement as the module says, exact but for chance. Where every request is for one
    GPU, arrivals are open and no request leaves, the times when the GPUs will be free are enough
    [kiefer-wolfowitz-1955]_. A person of a closed group who is active with chance p asks at rate p / ((1 - p) *
    duration_h) while idle (p above 0.99 as 0.99), not while waiting, and is idle again when denied. Rates that vary
    are drawn by thinning [lewis-shedler-1979]_.

    Intervals by batch means [law-2015]_: 95 %, Student's t, at least 21 batches of equal length, after a warm-up of an
    eighth of the run, widened by sqrt((1 + r) / (1 - r)) for a correlation r > 0 of neighbours. A batch is a whole
    number of weeks if a rate varies; else 2000 requests on average or the longest mean duration, if that is more;
    shorter only where most_requests would be passed. A share that is 0 or 1 in n requests has half width 3 / n.
    Near saturation batches depend on each other for long: intervals of the mean wait are then too narrow (at 95 %
    load some 85 % of them hold it), unless the tolerance is finer.

    It ends when denied, waited and waited longer over all streams are within tolerance * max(value, 0.04), so
    0.002 at the usual tolerance; in any case at most_requests or after 20 million hours, and there may then be fewer
    batches. Where more is asked for than can be served and no request leaves, there is no steady state: ``growing`` says
    so. Memory is bounded by the number of streams, of GPUs and of those who wait, not by the number of requests.

    Examples
    --------
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

    engine = _engine(streams, hosts, policy, longest_wait_h, wait_h, most_requests)
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
            if _tight(engine, longest_wait_h, wait_h, tolerance):
                ended = "tight"
            goal = _next_goal(engine, goal)
        if until == MOST_HOURS and not ended:
            ended = "limit"
        if progress is not None and since_call >= per_call and not ended:
            since_call = 0
            if not progress(Progress(engine.asked, most_requests, engine.now_h)):
                ended = "cancelled"
    return _simulated(engine, [s.name for s in streams], sum(hosts), longest_wait_h, wait_h, ended)


def _engine(
    streams: Sequence[Stream],
    hosts: Sequence[int],
    policy: str,
    longest_h: float,
    threshold_h: float,
    most: int,
) -> Engine:
    """Return the engine for these streams, with batches that cover the longest job yet suit this number of requests."""
    asked_per_h = sum(s.requests_per_h for s in streams)
    _check("rates_per_h", 0, asked_per_h > 0, "some stream that asks at all")
    cluster = Cluster.of([Kind(s.name, s.gpus, s.vms, s.per_gpu, s.family) for s in streams], hosts)
    steady = all(min(s.rates_per_h) == max(s.rates_per_h) for s in streams)
    longest_work_h = max(s.duration_h for s in streams if s.requests_per_h > 0)
    batch_h = min(
        max(REQUESTS_PER_BATCH / asked_per_h, longest_work_h), most / asked_per_h / 32, MOST_HOURS / 32
    )
    return Engine(
        cluster,
        cluster.hosts_that_matter(hosts),
        [s.people * s.vms or OPEN for s in streams],
        policy=policy,
        longest_wait_h=longest_h,
        threshold_h=threshold_h,
        slot_h=batch_h if steady else 1.0,
        slots=1 if steady else HOURS_PER_WEEK,
        most=most,
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
        How long a job or request waits before it leaves; 0: it is denied at once, infinite: it never leaves. [h]
    split : bool
        Whether a job larger than the largest host runs as VMs of whole hosts of that size, started together. [-]
    progress : callable or None
        Called now and then with a Progress; it ends the run by returning False. [-]

    Notes
    -----
    Event by event, exact for the rules of the module; jobs that arrive at the same time keep their order. Each
    fraction shares a GPU with its like only. A job that is split takes whole hosts, so up to a host less one GPU
    more than it asked for, which counts as allocated. Arrivals may begin at any time, also below 0. [law-2015]_

    Examples
    --------
    >>> three = replay([0.0, 1.0, 2.0], duration_h=[4.0, 4.0, 1.0], gpus=[2, 4, 1], hosts=[4])
    >>> three.wait_h.tolist()
    [0.0, 3.0, 6.0]
    >>> three.mean_wait_h(), round(three.utilisation, 4)
    (3.0, 0.6944)
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


def _check_jobs(arrival: Floats, duration: Floats, size: Floats) -> None:
    if not (arrival.ndim == 1 and arrival.shape == duration.shape == size.shape):
        raise ValueError(
            f"arrival_h, duration_h and gpus: {arrival.shape}, {duration.shape} and {size.shape} values; "
            "one row each of the same length is needed"
        )
    _check_all("arrival_h", arrival, np.isfinite(arrival), "a finite number")
    _check_all("duration_h", duration, np.isfinite(duration) & (duration >= 0), "0 or more hours")
    _check_all("gpus", size, np.isfinite(size) & (size > 0), "above 0")
    whole = (size < 1) | (size == np.floor(size))
    _check_all("gpus", size, whole, "a whole number, or a fraction of one GPU")


def _check_room(size: Floats, hosts: Sequence[int], split: bool) -> None:
    """Refuse jobs that can never start; with ``split`` they may be on several of the largest hosts."""
    largest = max(hosts)
    never = size > (largest * list(hosts).count(largest) if split else largest)
    if never.any():
        raise ValueError(
            f"gpus: {int(never.sum())} of {len(size)} jobs ask for up to {size[never].max():g} GPUs; they can never "
            f"start on {len(hosts)} hosts of at most {largest} GPUs{'' if split else ' without split'}"
        )


def _kinds_of(sizes: Floats, hosts: Sequence[int]) -> list[Kind]:
    """Jobs of each size; one that is larger than a host runs as VMs of whole hosts."""
    largest = max(hosts)
    vms = [max(1, math.ceil(g / largest)) for g in sizes]
    return [
        Kind(f"{g:g} GPUs", largest if n > 1 else float(g), n, 0, "") for g, n in zip(sizes, vms, strict=True)
    ]
