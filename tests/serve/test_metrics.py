"""Figures for who runs the server."""

from __future__ import annotations

import mmap
import os
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuplan.serve import metrics


def found(**figures: float) -> dict[tuple[str, str], float]:
    return {
        (sample.name, sample.labels.get("what", sample.labels.get("le", ""))): sample.value
        for family in text_string_to_metric_families(metrics.metrics_text(figures).decode())
        for sample in family.samples
    }


def test_what_is_counted_is_told() -> None:
    before = found()
    assert ("gpuplan_refused_total", "token") in before, "a rate needs a beginning"
    metrics.refused("frame")
    metrics.refused("connection")
    for seconds in (0.02, 0.2):
        metrics.CHANGES.observe(seconds)
    assert found(sessions=4)["gpuplan_sessions", ""] == 4
    after = found(sessions=5)
    assert after["gpuplan_sessions", ""] == 5
    more = {key: after[key] - value for key, value in before.items()}
    assert more["gpuplan_refused_total", "frame"] == 1
    assert more["gpuplan_refused_total", "connection"] == 1
    assert more["gpuplan_refused_total", "token"] == 0
    assert more["gpuplan_change_seconds_count", ""] == 2
    assert more["gpuplan_change_seconds_bucket", "0.1"] == 1
    assert more["gpuplan_change_seconds_sum", ""] == pytest.approx(0.22)


@pytest.mark.skipif(sys.platform != "linux", reason="no such files")
def test_memory_and_files_of_a_process() -> None:
    before = metrics.private_bytes([os.getpid()])
    held = mmap.mmap(-1, 30_000_000)  # no copy beside it, whose memory the process may keep
    for _ in range(30):
        held.write(os.urandom(1_000_000))
    assert metrics.private_bytes([os.getpid()]) - before == pytest.approx(len(held), rel=0.2)
    files = metrics.open_files()
    with open(os.devnull):
        assert metrics.open_files() == files + 1
    assert metrics.private_bytes([1 << 30]) == 0
