"""The figures of a trace of requests, counted by hand and found again in what was made up."""

from __future__ import annotations

from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from approved import has_approved
from traces import HOUR, MONDAY, READING

from gpuplan.audit import Requests, audit
from gpuplan.audit.arrivals import Arrivals, arrivals_of
from gpuplan.simulation.batching import arrivals

UTC = ZoneInfo("UTC")


def requests(time_s: list[float] | np.ndarray, names: tuple[str, ...] = ("all",)) -> Requests:
    count = len(time_s)
    return Requests(
        time_s=np.asarray(time_s, dtype=float),
        tokens_in=np.arange(1.0, count + 1),
        tokens_out=np.full(count, 10.0),
        group=np.arange(count) % len(names),
        groups=names,
        reading=READING,
    )


def figures(trace: Requests, zone: str = "UTC") -> Arrivals:
    return arrivals_of(trace, ZoneInfo(zone))


def test_rates_by_hand() -> None:
    day = [*np.arange(0, 3600, 60.0), *np.arange(3600, 7200, 10.0), 7200.0]
    found = figures(requests(MONDAY + np.array(day)))
    assert found.requests == 60 + 360 + 1
    assert found.per_second == pytest.approx(421 / 7200)
    assert found.busiest_per_second == pytest.approx(0.1)
    assert found.busiest_s == MONDAY + HOUR
    assert found.day_per_second[:3] == pytest.approx([1 / 60, 0.1, 0], abs=3e-4)
    berlin = figures(requests(MONDAY + np.array(day)), "Europe/Berlin")
    assert berlin.day_per_second[3] == pytest.approx(0.1, abs=3e-4), "two hours ahead in May"


def test_lengths_by_hand() -> None:
    found = figures(requests(MONDAY + np.arange(100.0)))
    assert found.tokens_in.mean == 50.5
    assert (found.tokens_in.p50, found.tokens_in.p95, found.tokens_in.p99) == (50, 95, 99)
    assert found.tokens_in.spread == pytest.approx(np.arange(1, 101).std() / 50.5)
    assert found.tokens_out.spread == 0 and found.tokens_out.largest == 10


def test_groups_add_up() -> None:
    found = figures(requests(MONDAY + np.arange(100.0), ("chat", "code", "agents")))
    assert sum(group.requests for group in found.groups) == found.requests
    assert sum(group.share for group in found.groups) == pytest.approx(1)
    assert [group.share for group in found.groups] == sorted((g.share for g in found.groups), reverse=True)
    assert max(group.longest for group in found.groups) == 110


@pytest.mark.parametrize("peakedness", [1.0, 3.0, 8.0])
def test_the_burstiness_that_was_put_in_is_found(peakedness: float) -> None:
    rates = [0.3] * 8 + [3.0] * 10 + [0.5] * 6
    times, _ = arrivals(rates, peakedness, count=10**7, source=np.random.default_rng(4))
    found = figures(requests(MONDAY + times))
    assert found.peakedness == pytest.approx(peakedness, rel=0.15), "the hours of the day are no bursts"
    assert found.day_per_second == pytest.approx(rates, rel=0.25)


def test_a_single_request_and_a_short_trace() -> None:
    one = figures(requests([5.0]))
    assert one.per_second == one.busiest_per_second == 1.0
    assert one.peakedness == 1.0
    short = figures(requests(MONDAY + np.array([0, 60.0, 120.0])))
    assert short.busiest_per_second == pytest.approx(3 / 120)


def test_the_audit_of_requests_has_arrivals_and_nothing_else() -> None:
    found = audit(requests(MONDAY + np.arange(100.0)))
    assert found.arrivals and found.allocation is None and found.activity is None
    many = tuple(f"g{n}" for n in range(150))
    large = replace(requests(MONDAY + np.arange(300.0)), groups=many, group=np.arange(300) % 150)
    few = audit(large)
    assert few.arrivals and len(few.arrivals.groups) == 100
    assert has_approved(few.notes)
