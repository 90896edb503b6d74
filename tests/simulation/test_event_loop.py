"""The event loop against a plain one, and compiled against interpreted."""

from __future__ import annotations

import itertools
import math
import random
import sys
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.event_loop import engine as loops
from gpuplan.simulation.event_loop import loop
from gpuplan.simulation.event_loop.cluster import Cluster
from gpuplan.simulation.event_loop.engine import Engine
from gpuplan.simulation.jobs import Simulated, replay, simulate
from gpuplan.simulation.jobs import streams as drawn

MIX = [
    Stream("one", 1, rates_per_h=(3.0,)),
    Stream("two", 2, rates_per_h=(1.2,)),
    Stream("four", 4, rates_per_h=(0.6,)),
]
VARIED = [
    Stream("by day", 2, rates_per_h=(0.0, 6.0, 1.0), duration_h=0.7, cv=1.4),
    Stream("people", 0.5, people=20, rates_per_h=(0.1, 0.6), duration_h=2.0),
    Stream("profile", 0.25, per_gpu=3, rates_per_h=(4.0,), duration_h=0.5, cv=0),
    Stream("gang", 4, vms=2, rates_per_h=(0.1,), duration_h=3.0),
]


def run(streams: Sequence[Stream], hosts: Sequence[int], **how: Any) -> Simulated:
    """Simulate until as many requests as given have asked, however tight the figures are."""
    return simulate(streams, hosts=hosts, **{"tolerance": 1e-6, **how})


# ---- a plain loop


class Job(NamedTuple):
    arrival: float
    duration: float
    kind: int


class Kind(NamedTuple):
    gpus: Fraction
    vms: int
    family: str
    takes: tuple[int, int] = (0, 0)
    clusters: tuple[int, ...] = ()


class Limits(NamedTuple):
    """vCPUs and memory of each host, and the cluster that it is in."""

    spare: Sequence[tuple[int, int]] = ()
    clusters: Sequence[int] = ()


NO_LIMITS = Limits()


class Shared:
    """A GPU that a family shares; its number is the lowest that no other shared GPU has."""

    def __init__(self, family: str, number: int) -> None:
        self.family, self.number = family, number
        self.parts: list[Fraction] = []


class Naive:
    """Hosts as lists of GPUs, each None (free), 'whole' or Shared; VMs as lists of the GPUs that they are on."""

    def __init__(
        self, kinds: Sequence[Kind], hosts: Sequence[int], policy: str, limits: Limits = NO_LIMITS
    ) -> None:
        self.spare = [list(room) for room in limits.spare] or [[0, 0] for _ in hosts]
        self.clusters = limits.clusters or [0] * len(hosts)
        self.kinds, self.pack = kinds, policy == "pack"
        self.hosts: list[list[Any]] = [[None] * n for n in hosts]
        self.vms = [0] * len(hosts)

    def shared(self) -> list[tuple[int, int, Shared]]:
        return [
            (h, g, gpu)
            for h, host in enumerate(self.hosts)
            for g, gpu in enumerate(host)
            if isinstance(gpu, Shared)
        ]

    def can(self, kind: Kind, h: int) -> bool:
        there = not kind.clusters or self.clusters[h] in kind.clusters
        return there and all(n <= left for n, left in zip(kind.takes, self.spare[h], strict=True))

    def place_one(self, kind: Kind) -> list[tuple[int, int]] | None:
        """Host and GPU numbers of one VM."""
        sign = 1 if self.pack else -1
        need = max(1, int(kind.gpus))
        free = [host.count(None) for host in self.hosts]
        hosts = sorted(
            (sign * free[h], self.vms[h], h)
            for h in range(len(free))
            if free[h] >= need and self.can(kind, h)
        )
        room = sorted(
            (-sign * sum(gpu.parts), self.vms[h], h, gpu.number, g)
            for h, g, gpu in self.shared()
            if kind.gpus < 1
            and self.can(kind, h)
            and gpu.family == kind.family
            and sum(gpu.parts) + kind.gpus <= 1
        )
        if room and (self.pack or not hosts):
            _, _, h, _, first = room[0]
            chosen = [first]
        elif hosts:
            h = hosts[0][-1]
            chosen = [g for g, gpu in enumerate(self.hosts[h]) if gpu is None][:need]
            taken = {gpu.number for _, _, gpu in self.shared()}
            for g in chosen:
                lowest = next(n for n in itertools.count() if n not in taken)
                self.hosts[h][g] = Shared(kind.family, lowest) if kind.gpus < 1 else "whole"
        else:
            return None
        if kind.gpus < 1:
            self.hosts[h][chosen[0]].parts.append(kind.gpus)
        self.vms[h] += 1
        self.spare[h] = [left - n for n, left in zip(kind.takes, self.spare[h], strict=True)]
        return [(h, g) for g in chosen]

    def remove(self, kind: Kind, where: Sequence[tuple[int, int]]) -> None:
        h = where[0][0]
        self.vms[h] -= 1
        self.spare[h] = [left + n for n, left in zip(kind.takes, self.spare[h], strict=True)]
        for h, g in where:
            if kind.gpus < 1:
                self.hosts[h][g].parts.remove(kind.gpus)
            if kind.gpus >= 1 or not self.hosts[h][g].parts:
                self.hosts[h][g] = None

    def place(self, kind: Kind) -> list[list[tuple[int, int]]] | None:
        vms: list[list[tuple[int, int]]] = []
        for _ in range(kind.vms):
            where = self.place_one(kind)
            if where is None:
                for placed in vms:
                    self.remove(kind, placed)
                return None
            vms.append(where)
        return vms

    def run(self, jobs: Sequence[Job], longest: float) -> list[tuple[float, bool]]:
        """Wait of each job and whether it was served; jobs in order of arrival."""
        waits: list[tuple[float, bool]] = [(0.0, False)] * len(jobs)
        running: list[tuple[float, Kind, Any]] = []
        queue: list[int] = []
        coming = list(range(len(jobs)))
        while running or queue or coming:
            ends = min((end for end, _, _ in running), default=math.inf)
            leaves = jobs[queue[0]].arrival + longest if queue else math.inf
            arrives = jobs[coming[0]].arrival if coming else math.inf
            now = min(ends, leaves, arrives)
            if now == ends:
                for entry in [e for e in running if e[0] == now]:
                    running.remove(entry)
                    for where in entry[2]:
                        self.remove(entry[1], where)
            elif now == leaves:
                waits[queue.pop(0)] = (longest, False)
            else:
                queue.append(coming.pop(0))
            while queue:
                job = jobs[queue[0]]
                kind = self.kinds[job.kind]
                vms = self.place(kind)
                if vms is None:
                    break
                running.append((now + job.duration, kind, vms))
                waits[queue.pop(0)] = (now - job.arrival, True)
        return waits


def engine_run(
    kinds: Sequence[Kind],
    hosts: Sequence[int],
    jobs: Sequence[Job],
    policy: str,
    longest: float,
    limits: Limits = NO_LIMITS,
) -> list[tuple[float, bool]]:
    """The same through the engine that simulate and replay share."""
    cluster = Cluster.of(
        [
            Stream(str(n), float(k.gpus), k.vms, family=k.family, takes=k.takes, clusters=k.clusters)
            for n, k in enumerate(kinds)
        ],
        hosts,
        limits.clusters,
    )
    engine = Engine(
        cluster,
        hosts,
        [1 << 60] * len(kinds),
        policy=policy,
        longest_wait_h=longest,
        jobs=len(jobs),
        spare=limits.spare,
    )
    for some in (jobs[: len(jobs) // 2], jobs[len(jobs) // 2 :]):
        times, durations = (
            np.array(column, dtype=np.float64) for column in list(zip(*some, strict=True))[:2]
        )
        numbers = np.array([job.kind for job in some])
        engine.take(times, durations, numbers, None, until=times[-1] if some[-1] is not jobs[-1] else 1e9)
    wait, decided = engine.decided()
    return list(zip(wait.tolist(), (decided == 1).tolist(), strict=True))


def cases(count: int) -> Iterator[tuple[list[Kind], list[int], list[Job], str, float]]:
    """Small clusters with many ties in time, sizes and room."""
    chance = random.Random(4)
    for number in range(count):
        hosts = [chance.choice((1, 2, 3, 4, 8)) for _ in range(chance.randint(1, 4))]
        kinds = []
        for _ in range(chance.randint(1, 5)):
            whole = chance.random() < 0.5
            gpus = (
                Fraction(chance.randint(1, max(hosts))) if whole else Fraction(1, chance.choice((2, 3, 4, 8)))
            )
            family = "" if whole else chance.choice(("x", "y"))
            room = sum(h // int(gpus) for h in hosts) if whole else sum(hosts) * int(1 / gpus)
            kinds.append(Kind(gpus, chance.choice((1, 1, min(room, chance.randint(1, 5)))), family))
        step = chance.choice((1, 0.37))
        arrivals = sorted(chance.randint(0, 60) * step for _ in range(chance.randint(4, 60)))
        jobs = [Job(at, chance.randint(0, 12) * step, chance.randrange(len(kinds))) for at in arrivals]
        longest = chance.choice((0.0, 1.0, 4 * step, math.inf))
        yield kinds, hosts, jobs, ("pack", "spread")[number % 2], longest


def test_the_engine_does_what_a_naive_one_does() -> None:
    seen = {"waited": 0, "left": 0}
    for kinds, hosts, jobs, policy, longest in cases(600):
        expected = Naive(kinds, hosts, policy).run(jobs, longest)
        found = engine_run(kinds, hosts, jobs, policy, longest)
        assert found == expected, (kinds, hosts, jobs, policy, longest)
        seen["waited"] += sum(wait > 0 for wait, _ in expected)
        seen["left"] += sum(not served for _, served in expected)
    assert min(seen.values()) > 1000


def limited(count: int) -> Iterator[tuple[list[Kind], list[int], list[Job], str, float, Limits]]:
    """The same on hosts with few vCPUs and little memory, or in clusters that not every kind may use."""
    chance = random.Random(5)
    for kinds, hosts, jobs, policy, longest in cases(count):
        spare = [(chance.choice((0, 4, 8, 99)), chance.choice((0, 8, 99))) for _ in hosts]
        clusters = [chance.randint(0, 2) for _ in hosts]
        some = [
            kind._replace(
                takes=(chance.choice((0, 1, 3)), chance.choice((0, 2, 8))),
                clusters=chance.choice(((), (0,), (0, 1), (2,))),
            )
            for kind in kinds
        ]
        yield some, hosts, jobs, policy, min(longest, 4.0), Limits(spare, clusters)  # some never start


@pytest.mark.parametrize("compile_", [True, False])
def test_it_does_so_where_cpu_memory_and_clusters_limit_it(
    compile_: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loops, "COMPILE", compile_)
    served = left = 0
    for kinds, hosts, jobs, policy, longest, limits in limited(600 if compile_ else 100):
        expected = Naive(kinds, hosts, policy, limits).run(jobs, longest)
        found = engine_run(kinds, hosts, jobs, policy, longest, limits)
        assert found == expected, (kinds, hosts, jobs, policy, longest, limits)
        served += sum(started for _, started in expected)
        left += sum(not started for _, started in expected)
    assert min(served, left) > 1000


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "COMPILE", False)


def test_the_engine_does_so_interpreted(interpreted: None) -> None:
    for kinds, hosts, jobs, policy, longest in cases(100):
        assert engine_run(kinds, hosts, jobs, policy, longest) == Naive(kinds, hosts, policy).run(
            jobs, longest
        )


@pytest.mark.parametrize("policy", ["pack", "spread"])
def test_a_replay_is_the_naive_one_in_any_order_and_with_jobs_larger_than_a_host(policy: str) -> None:
    chance = random.Random(7)
    for _ in range(100):
        count = chance.randint(1, 50)
        arrival = [chance.randint(-20, 20) / 4 for _ in range(count)]
        duration = [chance.randint(0, 12) / 4 for _ in range(count)]
        gpus = [chance.choice((0.25, 0.5, 1, 2, 3, 4, 6, 12)) for _ in range(count)]
        longest = chance.choice((0.0, 1.0, math.inf))
        sizes = sorted(set(gpus))
        kinds = [Kind(Fraction(min(g, 4)), max(1, math.ceil(g / 4)), str(g)) for g in sizes]
        order = sorted(range(count), key=lambda n: arrival[n])
        jobs = [Job(arrival[n] - arrival[order[0]], duration[n], sizes.index(gpus[n])) for n in order]
        expected = Naive(kinds, [4, 4, 2, 4], policy).run(jobs, longest)
        found = replay(
            arrival,
            duration_h=duration,
            gpus=gpus,
            hosts=[4, 4, 2, 4],
            policy=policy,
            longest_wait_h=longest,
            split=True,
        )
        assert [(float(found.wait_h[n]), bool(found.served[n])) for n in order] == expected
        assert (found.served != found.denied).all()
        used = sum(
            duration[n] * (g if (g := gpus[n]) <= 4 else 4 * math.ceil(g / 4))
            for n in range(count)
            if found.served[n]
        )
        assert found.utilisation * 14 * found.hours == pytest.approx(used)


# ---- compiled or not


@pytest.mark.parametrize(("policy", "longest"), [("pack", math.inf), ("spread", 0.5), ("pack", 0.0)])
def test_interpreted_and_compiled_give_the_same(
    policy: str, longest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba")
    how = {"policy": policy, "longest_wait_h": longest, "wait_h": 0.1, "most_requests": 40_000}
    compiled = run(VARIED, [8, 4, 4, 8], **how)
    monkeypatch.setattr(loops, "COMPILE", False)
    assert run(VARIED, [8, 4, 4, 8], **how) == compiled


def test_one_gpu_each_is_the_same_interpreted_and_in_any_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """By day more is asked for than the GPUs can do, so that many requests wait at once."""
    streams = [Stream("jobs", rates_per_h=(1.0, 20.0)), Stream("more", rates_per_h=(4.0,), cv=2)]
    expected = run(streams, [8, 8], most_requests=30_000)
    monkeypatch.setattr(drawn, "CHUNK", 777)
    assert run(streams, [8, 8], most_requests=30_000) == expected
    monkeypatch.setattr(loops, "COMPILE", False)
    assert run(streams, [8, 8], most_requests=30_000) == expected


def test_where_nothing_can_be_kept_on_disk_it_is_compiled_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numba = pytest.importorskip("numba")
    asked: list[bool] = []

    def njit(*, nogil: bool, cache: bool = False) -> Any:
        def compile_(function: Any) -> Any:
            asked.append(cache)
            if cache:
                raise RuntimeError("cannot cache function: no locator available")
            return function

        return compile_

    monkeypatch.setattr(numba, "njit", njit)
    loops._compiled.cache_clear()
    try:
        assert loops._compiled() == loop._run
        assert asked == [True, False]
    finally:
        loops._compiled.cache_clear()


def test_without_numba_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = simulate(MIX, hosts=[4, 4, 4], most_requests=2000)
    monkeypatch.setitem(sys.modules, "numba", None)
    loops._compiled.cache_clear()
    try:
        assert loops._compiled() is None
        assert simulate(MIX, hosts=[4, 4, 4], most_requests=2000) == expected
    finally:
        loops._compiled.cache_clear()


@pytest.mark.parametrize("policy", ["pack", "spread"])
def test_whoever_has_a_request_under_way_asks_for_no_other(policy: str, interpreted: None) -> None:
    """Two people: candidates that fall on somebody who has a GPU do not ask; after 10 h both can again.

    A candidate falls on one of the idle where what it drew, of 2, is below their number.
    """
    engine = Engine(
        Cluster.of([Stream("people")], [4]),
        [4],
        [2],
        policy=policy,
        longest_wait_h=math.inf,
        jobs=7,
    )
    times, drawn = [0.0, 1.0, 2.0, 3.0, 10.5, 11.5, 12.0], [1.5, 1.5, 0.5, 0.5, 0.5, 1.5, 0.5]
    durations = np.full(7, 10.0)
    engine.take(np.array(times), durations, np.zeros(7, dtype=np.int64), np.array(drawn), until=12.5)
    # idle: 2, 1 (1.5 does not ask), 1, 0 (nobody), 1 after 10 h, then 0, and 1 after 12 h
    assert engine.asked == 4
    assert engine.peak_gpus == 2


@pytest.mark.parametrize(
    ("pairs", "hosts"),
    [(Stream("pairs", 2, rates_per_h=(1.8,)), [4]), (Stream("gangs", vms=2, rates_per_h=(1.8,)), [4])],
)
def test_requests_of_two_gpus_are_served_like_those_of_one_on_half_the_gpus(
    pairs: Stream, hosts: list[int]
) -> None:
    """Two at a time on 4 GPUs, as pairs or as two VMs, or on 2 GPUs one by one: the same draws, so the same waits."""
    both, half = (
        run([pairs], hosts, most_requests=5_000),
        run([Stream("ones", rates_per_h=(1.8,))], [2], most_requests=5_000),
    )
    assert both.overall.waited.value > 0.5
    for field in ("requests", "served", "waited", "mean_wait_h"):
        assert getattr(both.overall, field) == getattr(half.overall, field), field
    assert both.utilisation.value == pytest.approx(half.utilisation.value)
