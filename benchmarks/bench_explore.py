"""Exploring: how long 1,000 candidate designs, and 1,000 draws of one design, take on two cores.

Run with ``make bench``. What a user would pick instead is a loop over ``make_plan`` in one process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import replace

from gpuplan import load_catalog, load_scenario, make_plan
from gpuplan.analysis.candidates import Space, candidates, default_space, unfit
from gpuplan.analysis.explore import explore
from gpuplan.analysis.monte_carlo import monte_carlo
from gpuplan.analysis.option import assess
from gpuplan.analysis.ranking import Exploration
from gpuplan.analysis.variants import standing
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

CANDIDATES = 1_000
CORES = 2
ALLOWED_S = 5
DRAWN_S = 15


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


def draws(catalog: Catalog, most: int = 100) -> None:
    """Print the processor time of a draw, as a ratio to a plan with its cost made alone."""
    for name in ("starter", "enterprise", "assistant", "current"):
        scenario, start = load_scenario(name), time.process_time()
        for years in range(1, 6):
            standing(make_plan(scenario.with_value("cost.years", float(years)), catalog))
        plan_s, start = (time.process_time() - start) / 5, time.process_time()
        monte_carlo(scenario, most, catalog=catalog, workers=1)
        draw_s = (time.process_time() - start) / most
        print(
            f"{name}: a draw takes {1000 * draw_s:.0f} ms of processor, {draw_s / plan_s:.1f} times a plan; 1,000 on "
            f"{CORES} cores {CANDIDATES * draw_s / CORES:.0f} s of the {DRAWN_S} s that they may"
        )


def main() -> None:
    """Print the time of each example, at its best of three."""
    catalog = load_catalog()
    draws(catalog)
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
