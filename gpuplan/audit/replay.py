"""The jobs of a trace on proposed hosts, by replay and by formula, and silos against the pool."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gpuplan.audit.curves import needed_steps, period_s
from gpuplan.audit.trace import Jobs
from gpuplan.models.demand import queueing
from gpuplan.simulation.jobs import Progress, Replayed, replay
from gpuplan.units import exact
from gpuplan.wording import said

MOST_PARTS = 16
"""Finest fraction of a GPU that is counted in the formulas for mixed sizes."""


@dataclass(frozen=True, slots=True)
class Method:
    """One method for a question, with its answers."""

    name: str
    assumption: str
    chance: float
    """Probability on as many GPUs as the proposed hosts have."""
    gpus_needed: int | None
    """Fewest GPUs with which the chance is at most the target; None on hosts that differ, of which none can be added."""


@dataclass(frozen=True, slots=True)
class Silo:
    """A group on GPUs of its own."""

    group: str
    jobs: int
    offered_gpus: float
    gpus: int
    utilisation: float


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The same jobs on proposed hosts, by replay and by formula."""

    hosts: tuple[int, ...]
    policy: str
    wait_limit_h: float
    share: float
    jobs: int
    offered_gpus: float
    peakedness: float
    poisson_peakedness: float
    waiting: Replayed
    denied_share: float
    """Share denied on the hosts if no job waits: one that finds no room is denied."""
    denied: tuple[Method, ...]
    waits_long: tuple[Method, ...]
    silos: tuple[Silo, ...]
    silo_gpus: int
    silo_utilisation: float
    """Offered load over GPUs, which is the utilisation if the trace continues unchanged."""
    pool_gpus: int
    pool_utilisation: float


class Cancelled(Exception):
    """The comparison was ended by its caller."""


def compare(
    jobs: Jobs,
    *,
    hosts: Sequence[int],
    policy: str = "pack",
    wait_limit_h: float = 1 / 6,
    share: float = 0.05,
    peakedness: float | None = None,
    progress: Callable[[str], bool] | None = None,
) -> Comparison:
    """Run the jobs on proposed hosts, by replay and by formula, and silos against the pool; requests count, not starts.

    Fractions beside whole GPUs, which parts of GPUs times workers may give, are rounded up.
    At most a ``share`` of the jobs may wait longer than ``wait_limit_h``, or be denied. ``peakedness`` defaults to
    the one of the trace. ``progress`` ends it by returning False: `Cancelled`. A ValueError names an input out of
    range, or a job larger than all hosts. Only ``replay on the hosts`` knows hosts and policy; the others see one
    pool. The fewest GPUs in replays are found by bisection, though first come first served does not promise that for
    every trace.
    """
    if not 0 < share < 1 or not 0 <= wait_limit_h < math.inf:
        raise ValueError(said("audit.replay.range", share=share, limit=wait_limit_h))
    jobs = replace(jobs, gpus=np.where(jobs.gpus > 1, np.ceil(jobs.gpus), jobs.gpus)).with_few_groups()
    replays = _Replays(jobs, policy, wait_limit_h, progress)
    waiting = replays.run(hosts, said("audit.replay.waiting"))
    denied = replays.run(hosts, said("audit.replay.denied"), longest_wait_h=0.0).denied_share()
    first, last = period_s(jobs)
    hours = (last - first) / 3600
    offered = _offered(jobs, hours)
    wanted = needed_steps(jobs).curve(first, last)
    sizes, count = np.unique(jobs.gpus, return_counts=True)
    loads = [float(jobs.duration_s[jobs.gpus == size].sum()) / 3600 / hours for size in sizes]
    poisson = queueing.peakedness_of_mix(loads, sizes=sizes.tolist())
    z = wanted.peakedness if peakedness is None else peakedness
    mean_size = float(jobs.gpus.mean())
    mean_h = float((jobs.gpus * jobs.duration_s).sum() / jobs.gpus.sum()) / 3600
    gpus = sum(hosts)
    start = max(1, math.ceil(offered))

    def needed(chance: Callable[[int], float]) -> int:
        return queueing.least_servers(chance, target=share, start=start)

    def pooled(name: str, assumption: str, chance: Callable[[int], float]) -> Method:
        return Method(name, assumption, chance(gpus), needed(chance))

    def bursty_b(n: int) -> float:
        return queueing.hayward_b(n, load=offered, peakedness=z) if z > 0 else float(n < offered)

    def long_wait(n: int, by: float) -> float:
        if by <= 0:
            return float(n < offered)
        bursts = {"load": offered, "peakedness": by, "duration_h": mean_h}
        return queueing.hayward_wait_longer_chance(n, **bursts, wait_h=wait_limit_h)

    def longer(replayed: Replayed) -> float:
        return replayed.longer_share(wait_limit_h)

    as_came, on_hosts = said("audit.method.as they came"), said("audit.method.hosts", policy=policy)
    fewest = partial(_on_identical_hosts, replays, hosts, share)
    turned = [
        *_kaufman_roberts(gpus, share, loads, sizes, count),
        pooled("hayward", said("audit.method.peakedness with sizes", z=f"{z:.3g}"), bursty_b),
        pooled("replay", as_came, replays.denied),
        Method("replay on the hosts", on_hosts, denied, fewest(Replayed.denied_share, 0.0)),
    ]
    pool_gpus, mean = needed(replays.waits_long), said("audit.method.mean size", size=f"{mean_size:.3g}")
    long = [
        pooled("erlang-c", mean, lambda n: long_wait(n, mean_size)),
        pooled("hayward", said("audit.method.peakedness", z=f"{z:.3g}"), lambda n: long_wait(n, z)),
        Method("replay", as_came, replays.waits_long(gpus), pool_gpus),
        Method("replay on the hosts", on_hosts, longer(waiting), fewest(longer, math.inf)),
    ]
    silos = _silos(replays, share, hours)
    silo_gpus = sum(s.gpus for s in silos)
    return Comparison(
        hosts=tuple(hosts),
        policy=policy,
        wait_limit_h=wait_limit_h,
        share=share,
        jobs=len(jobs.gpus),
        offered_gpus=offered,
        peakedness=wanted.peakedness,
        poisson_peakedness=poisson,
        waiting=waiting,
        denied_share=denied,
        denied=tuple(turned),
        waits_long=tuple(long),
        silos=silos,
        silo_gpus=silo_gpus,
        silo_utilisation=offered / silo_gpus,
        pool_gpus=pool_gpus,
        pool_utilisation=offered / pool_gpus,
    )


@dataclass(frozen=True, slots=True)
class _Replays:
    jobs: Jobs
    policy: str
    wait_limit_h: float
    progress: Callable[[str], bool] | None

    def run(self, hosts: Sequence[int], what: str, longest_wait_h: float = math.inf) -> Replayed:
        def going_on(_: Progress | None = None) -> bool:
            return self.progress is None or self.progress(said("audit.replay.step", what=what))

        if not going_on():
            raise Cancelled
        done = replay(
            (self.jobs.submit_s - self.jobs.submit_s.min()) / 3600,
            duration_h=self.jobs.duration_s / 3600,
            gpus=self.jobs.gpus,
            hosts=hosts,
            policy=self.policy,
            longest_wait_h=longest_wait_h,
            split=True,
            progress=going_on,
        )
        if done.ended == "cancelled":
            raise Cancelled
        return done

    def waits_long(self, gpus: int) -> float:
        """Return the share that waits longer than the limit in one pool; all of them if the largest job never fits."""
        fits, what = gpus >= self.jobs.gpus.max(), said("audit.replay.pool", gpus=gpus)
        return self.run([gpus], what).longer_share(self.wait_limit_h) if fits else 1.0

    def denied(self, gpus: int) -> float:
        fits, what = gpus >= self.jobs.gpus.max(), said("audit.replay.pool denied", gpus=gpus)
        return self.run([gpus], what, 0.0).denied_share() if fits else 1.0


def _kaufman_roberts(
    gpus: int, share: float, loads: Sequence[float], sizes: np.ndarray, count: np.ndarray
) -> list[Method]:
    """Apply Kaufman-Roberts; empty where fractions of a GPU are too many to count in equal parts."""
    parts = math.lcm(*(exact(float(size)).denominator for size in sizes))
    if parts > MOST_PARTS:
        return []
    units = [round(float(size) * parts) for size in sizes]
    capacity = max(gpus * parts, max(units))
    enough: np.ndarray = np.empty(0)
    while not len(enough):
        curve = queueing.kaufman_roberts(capacity, loads=loads, sizes=units) @ (count / count.sum())
        enough = np.flatnonzero(curve[::parts] <= share)
        capacity *= 2
    name = said("audit.method.independent")
    return [Method("kaufman-roberts", name, float(curve[gpus * parts]), int(enough[0]))]


def _on_identical_hosts(
    replays: _Replays,
    hosts: Sequence[int],
    share: float,
    chance: Callable[[Replayed], float],
    longest_wait_h: float,
) -> int | None:
    """Return the GPUs of the fewest hosts like the proposed ones; None where these differ."""
    size = hosts[0]
    if set(hosts) != {size}:
        return None

    def on(n: int) -> float:
        if n * size < math.ceil(replays.jobs.gpus.max() / size) * size:
            return 1.0
        what = said("audit.replay.hosts", n=n, size=size)
        return chance(replays.run([size] * n, what, longest_wait_h))

    return size * queueing.least_servers(on, target=share, start=len(hosts))


def _offered(jobs: Jobs, hours: float) -> float:
    return float((jobs.gpus * jobs.duration_s).sum()) / 3600 / hours


def _silos(together: _Replays, share: float, hours: float) -> tuple[Silo, ...]:
    jobs, silos = together.jobs, []
    for group, at in sorted(jobs.parts(), key=lambda part: jobs.groups.index(part[0])):
        alone = jobs.where(at)
        offered = _offered(alone, hours)
        chance = replace(together, jobs=alone).waits_long
        gpus = queueing.least_servers(chance, target=share, start=max(1, math.ceil(offered)))
        silos.append(Silo(group, len(alone.gpus), offered, gpus, offered / gpus))
    return tuple(sorted(silos, key=lambda s: -s.gpus))
