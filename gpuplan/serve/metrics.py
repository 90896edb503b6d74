"""Figures for the operator of the server, in Prometheus' format."""

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gpuplan.wording import NAMES

REGISTRY = CollectorRegistry()
REFUSED = Counter("gpuplan_refused", NAMES["metric"]["refused"], ["what"], registry=REGISTRY)
for kind in ("channel", "connection", "frame", "full", "page", "token"):
    REFUSED.labels(kind)  # a rate needs a beginning
BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
CHANGES = Histogram(
    "gpuplan_change_seconds", NAMES["metric"]["change_seconds"], buckets=BUCKETS, registry=REGISTRY
)


def refused(what: str) -> None:
    """Count a refusal."""
    REFUSED.labels(what).inc()


def metrics_text(figures: Mapping[str, float]) -> bytes:
    """Return all counters, and figures looked up now: the value of each by its name."""
    looked_up = CollectorRegistry()
    for name, value in figures.items():
        Gauge(f"gpuplan_{name}", NAMES["metric"][name], registry=looked_up).set(value)
    return generate_latest(REGISTRY) + generate_latest(looked_up)


def private_bytes(processes: Iterable[int | str]) -> int:
    """Return the memory that these processes share with no other; 0 where it is unknown."""
    total = 0
    for number in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines():
                if line.startswith("Private_"):
                    total += 1024 * int(line.split()[1])
    return total


def open_files() -> int:
    """Return the number of files that this process has open; 0 where it is unknown."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0
