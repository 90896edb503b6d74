"""Figures for who runs the server."""

from __future__ import annotations

import os
import sys

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gpuplan.app.serve import metrics


def test_what_is_counted_is_told() -> None:
    counted = metrics.Metrics()
    counted.refused("frame")
    counted.refused("connection", 3)
    for seconds in (0.02, 0.2):
        counted.change(seconds)
    counted.show("sessions", "Sessions that pages have", 4)
    counted.show("sessions", "Sessions that pages have", 5)
    found = {
        (sample.name, sample.labels.get("what", sample.labels.get("le", ""))): sample.value
        for family in text_string_to_metric_families(counted.text().decode())
        for sample in family.samples
    }
    assert found["gpuplan_refused_total", "frame"] == 1
    assert found["gpuplan_refused_total", "connection"] == 3
    assert found["gpuplan_refused_total", "token"] == 0, "a rate needs a beginning"
    assert found["gpuplan_sessions", ""] == 5
    assert found["gpuplan_change_seconds_count", ""] == 2
    assert found["gpuplan_change_seconds_bucket", "0.1"] == 1
    assert found["gpuplan_change_seconds_sum", ""] == pytest.approx(0.22)


@pytest.mark.skipif(sys.platform != "linux", reason="no such files")
def test_memory_and_files_of_a_process() -> None:
    before = metrics.private_bytes([os.getpid()])
    held = bytearray(os.urandom(30_000_000))
    assert metrics.private_bytes([os.getpid()]) - before == pytest.approx(len(held), rel=0.2)
    files = metrics.open_files()
    with open(os.devnull):
        assert metrics.open_files() == files + 1
    assert metrics.private_bytes([1 << 30]) == 0
