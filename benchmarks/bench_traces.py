"""Real traces: the replay, the formulas and the peakedness side by side.

Run with ``python benchmarks/bench_traces.py PATH...``. Of a trace that starts before 9 October 2017 and has jobs after it
(Philly) the jobs before that day are left out, as its first month is nearly empty. Only jobs of at most 8 GPUs count.
Where times are added up from intervals (the Helios cut, which starts cold) it is shown as it is and without its first
5 % of jobs. A trace without groups gets its users as groups.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime

import numpy as np

from gpuplan.audit import REAL_TIME_S, Jobs, audit, compare, read_trace, suggest_groups

LARGEST_GPUS = 8
SKIPPED = 0.05
FULL_MONTH_S = datetime(2017, 10, 9, tzinfo=UTC).timestamp()


def load(path: str) -> Jobs:
    """The jobs of a trace, its users as groups where it names none."""
    jobs = read_trace(path)
    if isinstance(jobs, Jobs) and "group" not in jobs.reading.columns and jobs.users:
        jobs = read_trace(path, columns={"group": jobs.reading.columns["user"]})
    if not isinstance(jobs, Jobs):
        raise SystemExit(f"{path}: samples, where jobs are needed")
    return jobs


def cuts(jobs: Jobs) -> dict[str, Jobs]:
    """What is looked at, each by its name."""
    small = jobs.where(jobs.gpus <= LARGEST_GPUS)
    if small.submit_s.min() < FULL_MONTH_S < small.submit_s.max() and small.submit_s.min() > REAL_TIME_S:
        return {"from 9 October": small.where(small.submit_s >= FULL_MONTH_S)}
    late = small.where(np.argsort(small.submit_s, kind="stable")[int(SKIPPED * len(small.gpus)) :])
    return {"whole": small, "without its first 5 % of jobs": late}


def show(name: str, jobs: Jobs) -> None:
    """One table."""
    begun = time.perf_counter()
    found = audit(jobs).allocation
    assert found is not None
    audited_s = time.perf_counter() - begun
    print(
        f"\n{name}: {found.jobs} jobs of at most {LARGEST_GPUS} GPUs, {len(found.groups)} groups, {found.days:.1f} days"
    )
    print(f"  offered load {found.offered_gpus:.1f} GPUs, peak {found.wanted.peak_gpus:.0f}")
    later = audit(jobs, skip_share=SKIPPED).allocation
    assert later is not None
    for when, part in (("whole period", found), ("from 5 % on", later)):
        print(
            f"  peakedness, {when}: {part.wanted.peakedness!r}, of independent arrivals {part.poisson_peakedness!r},"
            f" burst factor {part.burst_factor!r}"
        )
    hosts = [LARGEST_GPUS] * -(-int(found.wanted.p95_gpus) // LARGEST_GPUS)
    begun = time.perf_counter()
    result = compare(jobs, hosts=hosts)
    compared_s = time.perf_counter() - begun
    print(f"  proposed: {len(hosts)} hosts of {LARGEST_GPUS}; at most {result.share:.0%} of the jobs")
    for what, methods in (
        ("denied", result.denied),
        (f"wait over {60 * result.wait_limit_h:.0f} min", result.waits_long),
    ):
        for method in methods:
            needed = "" if method.gpus_needed is None else f"{method.gpus_needed} GPUs needed"
            print(
                f"    {what:18} {method.name:20} {method.chance:8.3%} there, {needed:17}  {method.assumption}"
            )
    rough = next((m.gpus_needed for m in result.denied if m.name == "kaufman-roberts"), None)
    if rough:
        denied = compare(jobs.with_groups(np.zeros_like(jobs.group), ("all",)), hosts=[rough])
        print(f"  the {rough} GPUs of Kaufman-Roberts, replayed: {denied.denied_share:.1%} denied")
    print(
        f"  pool {result.pool_gpus} GPUs over silos {result.silo_gpus}: {result.pool_gpus / result.silo_gpus:.2f};"
        f" utilisation of silos {result.silo_utilisation:.0%}, of the pool {result.pool_utilisation:.0%}"
    )
    suggested = suggest_groups(audit(jobs))
    kept = sum(s.jobs_per_day * s.days_seen * s.work_h * s.gpus_each * s.vms_each for s in suggested)
    print(f"  {len(suggested)} suggested groups keep {kept / found.gpu_h:.4%} of the GPU-hours")
    print(f"  audit {audited_s:.2f} s, comparison {compared_s:.2f} s")


def main() -> None:
    """Print one table for each trace."""
    if len(sys.argv) < 2:
        raise SystemExit("usage: python benchmarks/bench_traces.py PATH...")
    for path in sys.argv[1:]:
        begun = time.perf_counter()
        jobs = load(path)
        print(
            f"\n{path}: read in {time.perf_counter() - begun:.2f} s; {jobs.reading.used} of {jobs.reading.rows} rows"
        )
        for name, part in cuts(jobs).items():
            show(name, part)


if __name__ == "__main__":
    main()
