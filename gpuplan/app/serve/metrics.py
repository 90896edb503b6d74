"""Figures for who runs the server, in Prometheus' format."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

REFUSALS = ("channel", "connection", "frame", "full", "page", "token")
CHANGES_S = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """What is counted while the server runs, and what is looked up when it is asked for."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._refused = Counter(
            "gpuplan_refused", "What was refused, by its kind", ["what"], registry=self._registry
        )
        for what in REFUSALS:
            self._refused.labels(what)
        self._changes = Histogram(
            "gpuplan_change_seconds",
            "Time from a page's event to the end of its session's work on it",
            buckets=CHANGES_S,
            registry=self._registry,
        )
        self._gauges: dict[str, Gauge] = {}

    def refused(self, what: str, count: int = 1) -> None:
        """Count what was refused."""
        self._refused.labels(what).inc(count)

    def change(self, seconds: float) -> None:
        """Count a change and the time that it took."""
        self._changes.observe(seconds)

    def show(self, name: str, what: str, value: float) -> None:
        """Set a figure that is looked up."""
        if name not in self._gauges:
            self._gauges[name] = Gauge(f"gpuplan_{name}", what, registry=self._registry)
        self._gauges[name].set(value)

    def text(self) -> bytes:
        """All figures."""
        return generate_latest(self._registry)


METRICS = Metrics()
"""Of this process."""


def private_bytes(processes: Iterable[int | str]) -> int:
    """Memory that these processes share with no other; 0 where it cannot be told."""
    total = 0
    for number in processes:
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/{number}/smaps_rollup").read_text(encoding="ascii").splitlines():
                if line.startswith("Private_"):
                    total += 1024 * int(line.split()[1])
    return total


def open_files() -> int:
    """Files that this process has open; 0 where it cannot be told."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0
