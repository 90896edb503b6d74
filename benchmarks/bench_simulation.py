"""Speed of the simulation, in one run on this machine, as ratios against what a user would pick instead.

Run with ``python benchmarks/bench_simulation.py``. Nothing here is a test. What a user would pick instead of
``gpuplan.simulation.jobs`` for a queue is a script with simpy or ciw; all are asked for the same M/M/50 at 45
erlang, whose mean wait is known exactly (Erlang C). Each runs three times in turn; shown is the median. numba
compiles at its first use; that time stands apart.
"""

from __future__ import annotations

import importlib.util
import math
import random
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.scenario import from_dict
from gpuplan.simulation.arrivals import Stream
from gpuplan.simulation.event_loop import engine
from gpuplan.simulation.jobs import POLICIES, simulate

SERVERS, LOAD = 50, 45.0
BATCHES = 30
MIX = [
    Stream(f"{gpus} GPUs", gpus, rates_per_h=(rate,))
    for gpus, rate in ((1, 24.0), (2, 12.0), (4, 6.0), (8, 2.0))
]
"""Offered load 88 GPUs."""


class Run(NamedTuple):
    """What one program did."""

    name: str
    jobs: int
    seconds: float
    mean_wait_h: float
    half_width: float

    @property
    def speed(self) -> float:
        """Jobs per second."""
        return self.jobs / self.seconds


def exact_mean_wait() -> float:
    """Mean wait of M/M/50 by Erlang C, in durations."""
    blocking = 1.0
    for n in range(1, SERVERS + 1):
        blocking = LOAD * blocking / (n + LOAD * blocking)
    return blocking / (1 - LOAD / SERVERS * (1 - blocking)) / (SERVERS - LOAD)


def batch_means(waits: list[float]) -> tuple[float, float]:
    """Mean of the waits after a tenth, and the half width of its 95 % interval."""
    rest = np.array(waits[len(waits) // 10 :])
    means = rest[: len(rest) // BATCHES * BATCHES].reshape(BATCHES, -1).mean(axis=1)
    return float(rest.mean()), float(stdtrit(BATCHES - 1, 0.975) * means.std(ddof=1) / math.sqrt(BATCHES))


def with_simpy(jobs: int) -> Run:
    """The script that simpy's users write."""
    import simpy

    chance = random.Random(1)
    env = simpy.Environment()
    servers = simpy.Resource(env, capacity=SERVERS)
    waits: list[float] = []

    def job() -> object:
        arrival = env.now
        with servers.request() as request:
            yield request
            waits.append(env.now - arrival)
            yield env.timeout(chance.expovariate(1.0))

    def source() -> object:
        for _ in range(jobs):
            yield env.timeout(chance.expovariate(LOAD))
            env.process(job())

    env.process(source())
    start = time.perf_counter()
    env.run()
    seconds = time.perf_counter() - start
    return Run("simpy", jobs, seconds, *batch_means(waits))


def with_ciw(jobs: int) -> Run:
    """The same with ciw."""
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=LOAD)],
        service_distributions=[ciw.dists.Exponential(rate=1.0)],
        number_of_servers=[SERVERS],
    )
    ciw.seed(1)
    run = ciw.Simulation(network)
    start = time.perf_counter()
    run.simulate_until_max_customers(jobs)
    seconds = time.perf_counter() - start
    records = sorted(run.get_all_records(), key=lambda record: record.arrival_date)
    return Run("ciw", len(records), seconds, *batch_means([record.waiting_time for record in records]))


def with_gpuplan(name: str, jobs: int) -> Run:
    """The public simulate, until so many requests."""
    start = time.perf_counter()
    found = simulate(
        [Stream("jobs", rates_per_h=(LOAD,))], hosts=[1] * SERVERS, tolerance=1e-9, most_requests=jobs
    )
    seconds = time.perf_counter() - start
    wait = found.overall.mean_wait_h
    return Run(name, found.requests, seconds, wait.value, wait.half_width or 0.0)


def interpreted(work: Callable[[], Run]) -> Run:
    """The same without compiling."""
    engine.COMPILE = False
    try:
        return work()
    finally:
        engine.COMPILE = True


def compile_s() -> float:
    """Time until a first simulation without anything kept from an earlier run. [s]"""
    start = time.perf_counter()
    kept, fresh = engine._compiled, engine._compiled_loops(cache=False)
    engine._compiled = lambda: fresh
    try:
        simulate(MIX, hosts=[8] * 16, most_requests=100)
        simulate([Stream("jobs", rates_per_h=(9.0,))], hosts=[8], most_requests=100)
    finally:
        engine._compiled = kept
    return time.perf_counter() - start


def first_s() -> float:
    """Time of a small simulation in a new process, import of numba included. [s]"""
    code = (
        "import time; from gpuplan.simulation.arrivals import Stream; from gpuplan.simulation.jobs import simulate\n"
        "start = time.perf_counter()\n"
        "simulate([Stream('jobs')], hosts=[4], most_requests=100); print(time.perf_counter() - start)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(3)
    ]
    return min(times)


def mix(hosts: int, policy: str, jobs: int) -> str:
    """Requests of 1, 2, 4 and 8 GPUs on hosts of 8."""
    streams = [
        Stream(s.name, s.gpus, rates_per_h=(s.rates_per_h[0] * hosts / 16,), duration_h=s.duration_h)
        for s in MIX
    ]
    start = time.perf_counter()
    found = simulate(streams, hosts=[8] * hosts, policy=policy, tolerance=1e-9, most_requests=jobs)
    seconds = time.perf_counter() - start
    return (
        f"  {hosts:5} hosts of 8, {policy:6}  {found.requests / seconds:12,.0f} jobs/s   utilisation "
        f"{found.utilisation.value:.3f}   waited {found.overall.waited.value:.3f}"
    )


def by_risk(hosts: int) -> str:
    """A rule by risk: the first answer by formula, and the plan that is checked on some hosts."""
    groups = [
        {"id": "large", "people": hosts, "gpus_each": 4, "active_share": 0.3, "access": "vgpu"},
        {"id": "pairs", "people": 2 * hosts, "gpus_each": 2, "active_share": 0.3, "access": "vgpu"},
        {"id": "small", "people": 4 * hosts, "gpus_each": 0.5, "active_share": 0.3, "access": "vgpu"},
    ]
    catalog, times, counts = load_catalog(), dict[bool, float](), dict[bool, int]()
    make_plan(load_scenario("starter"), catalog).read()
    simulate(MIX, hosts=[8] * 16, most_requests=1000)  # compiled
    for check in (False, True):
        slowest = 0.0
        for rule in ("wait", "wait-time", "denied"):
            asked = from_dict({"groups": groups, "demand": {"rule": rule, "chance": 0.02}})
            start = time.perf_counter()
            plan = make_plan(asked, catalog, check=check)
            counts[check] = plan.totals.hosts_for_demand
            slowest = max(slowest, time.perf_counter() - start)
        times[check] = slowest
    return (
        f"  {counts[True]:5} hosts: first answer {times[False] * 1000:5.0f} ms with {counts[False]}, "
        f"checked {times[True]:5.2f} s (the slowest of three rules; at most 100 ms and 3 s for 40 hosts)"
    )


def main() -> None:
    """Print each speed beside simpy's, and each mean wait beside the exact one."""
    compiled = importlib.util.find_spec("numba") is not None
    if compiled:
        print(f"numba: import and compile {compile_s():.1f} s, once; then kept on disk")
        print(f"numba: first small simulation of a new process that finds it kept {first_s():.1f} s\n")
    programs: list[Callable[[], Run]] = [
        lambda: with_simpy(100_000),
        lambda: with_ciw(40_000),
        lambda: interpreted(lambda: with_gpuplan("gpuplan, interpreted", 400_000)),
    ]
    if compiled:
        programs.append(lambda: with_gpuplan("gpuplan, numba", 5_000_000))
    rounds = [[program() for program in programs] for _ in range(3)]
    runs = [sorted(runs, key=lambda run: run.seconds)[1] for runs in zip(*rounds, strict=True)]
    exact = exact_mean_wait()
    print(f"M/M/{SERVERS} at {LOAD:g} erlang; Erlang C's mean wait {exact:.5f} durations")
    for run in runs:
        inside = "holds it" if abs(run.mean_wait_h - exact) <= run.half_width else "does not hold it"
        print(
            f"  {run.name:22} {run.jobs:9,} jobs  {run.speed:12,.0f} jobs/s  {run.speed / runs[0].speed:7.1f} x simpy"
            f"   mean wait {run.mean_wait_h:.5f} +- {run.half_width:.5f}, {inside}"
        )

    print("\nRequests of 1, 2, 4 and 8 GPUs in one queue")
    for hosts in (16, 250):
        for policy in POLICIES:
            print(mix(hosts, policy, 1_000_000 if compiled else 50_000))

    print("\nA rule by risk, at most 2 %, by formula and checked on the hosts of the plan")
    for size in (10, 40):
        print(by_risk(size))

    tracemalloc.start()
    with_gpuplan("", 1_000_000 if compiled else 50_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(f"\nPeak of what Python and numpy allocate for M/M/{SERVERS}: {peak / 2**20:.1f} MB")


if __name__ == "__main__":
    main()
