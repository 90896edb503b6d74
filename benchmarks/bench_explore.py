"""Exploring: how long 1,000 candidate designs take on two cores, for the large examples.

Run with ``make bench``. What a user would pick instead is a loop over ``make_plan`` in one process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

from gpuplan import load_catalog, load_scenario
from gpuplan.analysis.candidates import Space, candidates, default_space, unfit
from gpuplan.analysis.explore import explore
from gpuplan.analysis.option import assess
from gpuplan.analysis.ranking import Exploration
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

CANDIDATES = 1_000
CORES = 2
ALLOWED_S = 5


def thousand(scenario: Scenario, catalog: Catalog) -> Space:
    """A space with about 1,000 candidates that are really planned: more links and failures than by default."""
    space = replace(default_space(scenario, catalog), links=(10, 25, 40, 50, 100, 200))
    for failures in range(1, 5):
        space = replace(space, host_failures=tuple(range(failures + 1)))
        if fitting(space, scenario, catalog) >= CANDIDATES:
            break
    else:
        space = replace(space, sharing=("as asked", "vgpu", "passthrough", "mig"))
    while fitting(replace(space, gpus=space.gpus[:-1]), scenario, catalog) >= CANDIDATES:
        space = replace(space, gpus=space.gpus[:-1])
    return space


def fitting(space: Space, scenario: Scenario, catalog: Catalog) -> int:
    """Candidates of a space that are planned and not ruled out by their hardware alone."""
    return sum(not unfit(scenario, catalog, each) for each in candidates(space))


def timed(work: Callable[[], Exploration]) -> tuple[float, float, Exploration]:
    """Time of some work, that of the processors for it and its processes, and what it gave. [s]"""
    start, before = time.perf_counter(), os.times()
    done = work()
    after = os.times()
    busy = sum(after[:4]) - sum(before[:4])
    return time.perf_counter() - start, busy, done


def main() -> None:
    """Print the time of each example, at its best of three."""
    catalog = load_catalog()
    print(f"{os.cpu_count()} cores here, load {os.getloadavg()[0]:.1f}; best of three runs")
    for name in ("enterprise", "current"):
        scenario = load_scenario(name)
        space = thousand(scenario, catalog)
        planned = fitting(space, scenario, catalog)
        runs = [timed(lambda s=scenario, p=space: explore(s, catalog, p, workers=CORES)) for _ in range(3)]
        taken_s, busy_s, found = min(runs, key=lambda run: run[0])
        sample = [each for each in candidates(space) if not unfit(scenario, catalog, each)][:: planned // 100]
        start = time.perf_counter()
        for each in sample:
            assess(scenario, catalog, each)
        loop_s = (time.perf_counter() - start) * planned / len(sample)
        print(
            f"{name}: {planned} candidates planned on {CORES} processes in {taken_s:.1f} s ({busy_s:.1f} s of processor), {1000 * taken_s / planned:.1f} ms each; "
            f"{len(found.ranked)} ranked, {len(found.unpriced)} without price, {len(found.rejected)} rejected; a loop in one process "
            f"takes {loop_s:.1f} s"
        )
        print(
            f"  1,000 take {CANDIDATES * taken_s / planned:.1f} s of the {ALLOWED_S} s that they may; {CANDIDATES * busy_s / planned / CORES:.1f} s where "
            "nothing else runs on the cores"
        )


if __name__ == "__main__":
    main()
