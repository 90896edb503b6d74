"""Speed and memory, in one run on this machine, as ratios against what a user would pick instead.

Run with ``make bench``. Nothing here is a test: the numbers differ from machine to machine, the
ratios less so. What a user would pick instead of a proven placement is a short script with first
fit decreasing or best fit decreasing over the same VMs, shares of a GPU added up.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from fractions import Fraction

from scipy.stats import binom

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.availability.failover import after_failure
from gpuplan.models.availability.outages import hours_short_h
from gpuplan.models.availability.survey import failure_survey
from gpuplan.models.placement import Family, Request, Room, place_mixed
from gpuplan.models.placement.packing import _pack, pack
from gpuplan.plan import Plan, worst_failures
from gpuplan.scenario import Scenario, from_dict


def median_s(work: Callable[[], object], repeats: int = 15) -> float:
    """Median time of some work. [s]"""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_mb(work: Callable[[], object]) -> float:
    """Peak of what Python allocates for some work, in a run of its own. [MB]"""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


def first_fit(sizes: list[float], capacity: int) -> int:
    """What a short script would do: hosts by first fit decreasing, without proof."""
    free: list[float] = []
    for size in sizes:
        for i, room in enumerate(free):
            if room >= size:
                free[i] -= size
                break
        else:
            free.append(capacity - size)
    return len(free)


def best_fit(sizes: list[float], capacity: int) -> int:
    """The same with best fit decreasing: the fullest host that has room."""
    free: list[float] = []
    for size in sizes:
        fitting = [i for i, room in enumerate(free) if room >= size]
        if fitting:
            free[min(fitting, key=lambda i: free[i])] -= size
        else:
            free.append(capacity - size)
    return len(free)


MIX: tuple[int | str, ...] = (4, 2, 1, "1/2", "1/8", 3, 8, "1/4", 2, 1, 5, "1/2")
"""GPUs per VM of twelve groups."""


def scenario_of(name: str, gpus_per_host: int, groups: list[tuple[int, int | str]]) -> Scenario:
    """Groups of (VMs, GPUs per VM) on equal hosts."""
    return from_dict(
        {
            "name": name,
            "groups": [
                {
                    "id": f"g{n}",
                    "name": f"Group {n}",
                    "people": vms,
                    "gpus_each": gpus,
                    "remote_allowed": False,
                }
                for n, (vms, gpus) in enumerate(groups)
            ],
            "hardware": {"gpu": "l40s-48gb", "gpus_per_host": gpus_per_host},
            "platform": {"vsphere": "8.0u3"},
        }
    )


def twelve_groups(hosts: int) -> Scenario:
    """Twelve groups that fill about so many hosts of eight GPUs, an equal part each."""
    each = Fraction(hosts * 8, len(MIX))
    groups = [(int(each / Fraction(gpus)), gpus) for gpus in MIX]
    return scenario_of(f"{hosts} hosts of 8", 8, groups)


def compare(scenario: Scenario, catalog: Catalog, repeats: int) -> None:
    """The whole plan beside the two scripts."""

    def whole() -> Plan:
        plan = make_plan(scenario, catalog)
        plan.read()
        return plan

    plan_s = median_s(whole, repeats)
    memory_mb = peak_mb(whole)
    plan = whole()
    pool, proofs = plan.pools[0], ", ".join(sorted({each.method for each in plan.pools}))
    needed, spare = plan.totals.hosts_for_demand, plan.totals.hosts_for_failures
    sizes = sorted((float(g.gpus_each) for g in plan.groups for _ in range(g.vms)), reverse=True)
    print(f"{scenario.name}: {len(sizes)} VMs in {len(plan.groups)} groups")
    print(
        f"  plan, proof '{proofs}', failures, cost, trail {needed:6} + {spare} hosts"
        f"  {1000 * plan_s:9.2f} ms  {memory_mb:7.1f} MB"
    )
    for name, script in (("first fit decreasing", first_fit), ("best fit decreasing", best_fit)):
        small = len(sizes) < 20_000
        script_s = median_s(lambda run=script: run(sizes, pool.gpus_per_host), 3 if small else 1)
        memory = "not run"
        if small:
            memory = f"{peak_mb(lambda run=script: run(sizes, pool.gpus_per_host)):.1f} MB"
        print(
            f"  {name:45}  {script(sizes, pool.gpus_per_host):6} hosts      {1000 * script_s:9.2f} ms"
            f"  {memory:>10}   ours takes {plan_s / script_s:.2f} x"
        )


def models(catalog: Catalog) -> None:
    """Models that must stay quick for a change on the screen, beside what a script would do instead."""
    rng = random.Random(14)
    mix = {rng.randint(300, 20_000): rng.randint(1, 400) for _ in range(40)}
    sizes = sorted((size for size, many in mix.items() for _ in range(many)), reverse=True)
    large = make_plan(twelve_groups(1_000), catalog).pools[0]
    asked = {"requests": large.requests, "rooms": large.rooms}
    rows: tuple[tuple[str, Callable[[], object], Callable[[], object]], ...] = (
        (
            f"pack {len(sizes)} VMs on GPUs, proven; best fit",
            lambda: (_pack.cache_clear(), pack(mix, capacity=49_152)),
            lambda: best_fit(sizes, 49_152),
        ),
        (
            "10,000 hosts, hours short; scipy's binomial",
            lambda: hours_short_h(10_000, hosts_needed=9_950, availability=0.997),
            lambda: binom.cdf(9_949, 10_000, 0.997),
        ),
        (
            "lose each of 1,000 hosts; 20 of them one by one",
            lambda: failure_survey(large.placement, **asked, lost=1),
            lambda: [after_failure(large.placement, **asked, failed={n}) for n in range(20)],
        ),
    )
    for name, ours, instead in rows:
        ours_s, instead_s = median_s(ours, 3), median_s(instead, 3)
        print(
            f"{name:50} {1000 * ours_s:9.2f} ms {1000 * instead_s:9.2f} ms   ours takes {ours_s / instead_s:.2f} x"
        )


MOST_BY_SCRIPT = 1_000
"""Hosts up to which the script is run: it looks at each host for each VM."""


def limited(hosts: int) -> None:
    """About so many hosts that are limited by GPUs, vCPUs and memory, beside first fit decreasing by GPUs."""
    room, half = Room(8, 192, 1024), Family("half", ("half",), ((2,),))
    kinds = (
        Request("training", 3, gpus=4, vcpus=64, memory_gib=512),
        Request("notebooks", 12, family=half, profile="half", vcpus=14, memory_gib=40),
        Request("inference", 9, gpus=1, vcpus=12, memory_gib=190),
        Request("development", 7, family=half, profile="half", vcpus=6, memory_gib=110),
        Request("hpc", 2, gpus=2, vcpus=70, memory_gib=300),
    )
    asked = [kind._replace(vms=kind.vms * hosts // 7) for kind in kinds]
    needs = [(kind.gpus or 0.5, kind.vcpus, kind.memory_gib) for kind in asked for _ in range(kind.vms)]

    def script() -> int:
        free: list[list[float]] = []
        for need in sorted(needs, reverse=True):
            for left in free:
                if all(have >= want for have, want in zip(left, need, strict=True)):
                    break
            else:
                left = [*map(float, room)]
                free.append(left)
            for at, want in enumerate(need):
                left[at] -= want
        return len(free)

    placed, ours_s = place_mixed(asked, room=room), median_s(lambda: place_mixed(asked, room=room), 3)
    ours = f"{len(placed.hosts)} hosts, at least {placed.bound}, {ours_s:.2f} s"
    print(f"{len(needs)} VMs limited by CPU and memory: {ours}", end="")
    if hosts <= MOST_BY_SCRIPT:
        script_s = median_s(script, 1)
        print(
            f"; first fit {script()} hosts, {script_s:.2f} s   ours takes {ours_s / script_s:.2f} x", end=""
        )
    print()


def owned(seed: int) -> Scenario:
    """Sixty hosts of five kinds that are there, and groups of three priorities that need a few more."""
    rng = random.Random(seed)
    kinds = (
        f"{name}: 12 x {rng.choice([1, 2, 4, 8])}, {rng.choice([48, 64, 96])} vCPUs, {rng.choice([256, 512])} GiB"
        for name in "ABCDE"
    )
    groups = [
        {
            "id": f"g{n}",
            "people": rng.randint(10, 120),
            "gpus_each": rng.choice(["1/2", "1/4", 1, 2]),
            "vcpus_each": rng.choice([4, 8, 12, 24]),
            "memory_gib_each": rng.choice([16, 32, 64, 96]),
            "priority": rng.randint(1, 3),
        }
        for n in range(6)
    ]
    hardware = {"gpu": "h100-nvl-94gb", "gpus_per_host": 4, "vcpus_per_host": 96, "memory_gib_per_host": 512}
    return from_dict({"groups": groups, "hardware": hardware | {"existing": "; ".join(kinds)}})


def start_s(code: str) -> float:
    """Median time of a fresh interpreter that runs some code. [s]"""
    return median_s(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)


def main() -> None:
    """Print each figure beside what it is compared with."""
    catalog = load_catalog()
    compare(load_scenario("enterprise"), catalog, 31)
    print()
    compare(scenario_of("21 VMs of 3 and 13 of 4 GPUs on hosts of 10", 10, [(21, 3), (13, 4)]), catalog, 15)
    print()
    for hosts, repeats in ((64, 15), (1_000, 5), (10_000, 3)):
        compare(twelve_groups(hosts), catalog, repeats)
        print()
    print(
        "Scripts add shares up: they put different profiles on one GPU, which no GPU in equal-size mode does."
    )
    print(
        "Where they name fewer hosts, that is why; a plan that is built from it does not start all its VMs.\n"
    )

    plan = make_plan(twelve_groups(64), catalog)
    pool_id = plan.pools[0].id
    pairs_s = median_s(lambda: worst_failures(plan, pool_id, 2), 5)
    print(f"The worst of every pair of 64 hosts: {1000 * pairs_s:.1f} ms")

    models(catalog)
    for hosts in (100, 1_000, 10_000):
        limited(hosts)

    for seed in range(3):
        start = time.perf_counter()
        plan = make_plan(owned(seed), catalog)
        plan.read()
        took_s = time.perf_counter() - start
        print(f"60 owned hosts of five kinds, {plan.totals.hosts - 60} more: {took_s:.2f} s, once")

    bare_s, ours_s, pandas_s = (start_s(code) for code in ("pass", "import gpuplan", "import pandas"))
    print(
        f"Fresh interpreter: import gpuplan {1000 * (ours_s - bare_s):.0f} ms, import pandas "
        f"{1000 * (pandas_s - bare_s):.0f} ms, ratio {(ours_s - bare_s) / (pandas_s - bare_s):.2f}"
    )


if __name__ == "__main__":
    main()
