"""Speed, in one run on this machine, as ratios against what a user would pick instead.

Run with ``make bench``. Nothing here is a test: the numbers differ from machine to machine, the
ratios less so.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.models import placement


def median_s(work: Callable[[], object], repeats: int = 15) -> float:
    """Median time of some work. [s]"""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def first_fit_decreasing(sizes: list[int], capacity: int) -> int:
    """What a short script would do instead: hosts by first fit decreasing, without proof."""
    free: list[int] = []
    for size in sorted(sizes, reverse=True):
        for i, room in enumerate(free):
            if room >= size:
                free[i] -= size
                break
        else:
            free.append(capacity - size)
    return len(free)


def start_s(code: str) -> float:
    """Median time of a fresh interpreter that runs some code. [s]"""
    return median_s(lambda: subprocess.run([sys.executable, "-c", code], check=True), 5)


def main() -> None:
    """Print each figure beside what it is compared with."""
    catalog, scenario = load_catalog(), load_scenario("enterprise")
    print("Enterprise example")
    plan_s = median_s(lambda: make_plan(scenario, catalog))
    print(f"  make_plan, with trail, proof and every single failure   {1000 * plan_s:7.2f} ms")

    print("4000 VMs of 1 to 4 GPUs on hosts of 8")
    sizes = [1 + i % 4 for i in range(4000)]
    requests = [placement.Request(f"g{n}", sizes.count(n), gpus=n) for n in range(1, 5)]
    ours_s = median_s(lambda: placement.place(requests, gpus_per_host=8), 5)
    theirs_s = median_s(lambda: first_fit_decreasing(sizes, 8), 5)
    placed = placement.place(requests, gpus_per_host=8)
    print(f"  place, proven {placed.method:10} {len(placed.hosts):5} hosts   {1000 * ours_s:7.2f} ms")
    print(f"  first fit decreasing     {first_fit_decreasing(sizes, 8):5} hosts   {1000 * theirs_s:7.2f} ms")
    print(f"  ratio of times {ours_s / theirs_s:.2f}")

    print("Start of a fresh interpreter")
    bare_s, ours_s, pandas_s = (start_s(code) for code in ("pass", "import gpuplan", "import pandas"))
    print(
        f"  import gpuplan {1000 * (ours_s - bare_s):.0f} ms, import pandas {1000 * (pandas_s - bare_s):.0f} ms, "
        f"ratio {(ours_s - bare_s) / (pandas_s - bare_s):.2f}"
    )


if __name__ == "__main__":
    main()
