"""Arrivals by chance: rates, durations and asks are those of the streams, and each stream has chances of its own."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from gpuplan.simulation import arrivals
from gpuplan.simulation.arrivals import Source, Stream
from gpuplan.simulation.jobs import simulate

MIX = [Stream("one", 1, rates_per_h=(3.0,)), Stream("four", 4, rates_per_h=(0.6,))]


def drawn(stream: Stream, hours: float, seed: int = 3) -> tuple[np.ndarray, ...]:
    """Times, durations, numbers and asks of the candidates of a stream, numbered 5."""
    return Source(stream, 5, np.random.SeedSequence(seed)).until(hours)


def test_rates_by_hand() -> None:
    jobs = Stream("jobs", rates_per_h=(1.0, 4.0, 1.0), duration_h=7.0)
    assert jobs.candidates_per_h.tolist() == [1, 4, 1]
    assert jobs.requests_per_h == 2
    # 12 people active 3/4 of the time in requests of 3 h: 12 x 3/4 / 3 = 3 an hour; all idle they would ask 12 x 3 / 3 = 12 times
    people = Stream("people", people=12, rates_per_h=(0.75,), duration_h=3.0)
    assert people.requests_per_h == 3
    assert people.candidates_per_h == pytest.approx([12])
    # always active counts as 99 % of the time: 0.99 / (0.01 x 2 h) for each
    always = Stream("always", people=2, rates_per_h=(1.0, 0.5), duration_h=2.0)
    assert always.candidates_per_h == pytest.approx([99, 1])
    assert always.requests_per_h == pytest.approx(2 * (0.99 + 0.5) / 2 / 2)


def test_candidates_come_in_order_as_often_as_stated() -> None:
    times, durations, numbers, asks = drawn(Stream("steady", rates_per_h=(20.0,), duration_h=3.0), 2000.0)
    assert (np.diff(times) > 0).all() and times[0] > 0 and times[-1] <= 2000
    assert len(times) == pytest.approx(40_000, abs=4 * math.sqrt(40_000))
    assert (numbers == 5).all() and (asks == 0).all()
    assert durations.mean() == pytest.approx(3, rel=0.03)
    gaps = np.diff(times)
    assert gaps.mean() == pytest.approx(1 / 20, rel=0.03) and gaps.std() == pytest.approx(1 / 20, rel=0.03)


@pytest.mark.parametrize("cv", [0, 0.5, 1, 2])
def test_durations_have_their_mean_and_spread(cv: float) -> None:
    durations = drawn(Stream("jobs", rates_per_h=(50.0,), duration_h=4.0, cv=cv), 4000.0)[1]
    assert durations.min() > 0
    assert durations.mean() == pytest.approx(4, rel=0.03)
    assert durations.std() == pytest.approx(4 * cv, rel=0.1, abs=1e-12)


def test_rates_vary_with_the_part_of_the_week() -> None:
    # three parts of 56 h: nobody, then 10 an hour, then 5
    times = drawn(Stream("by day", rates_per_h=(0.0, 10.0, 5.0)), 168.0 * 40)[0]
    at = times % 168
    assert not (at < 56).any()
    assert ((at >= 56) & (at < 112)).sum() == pytest.approx(10 * 56 * 40, rel=0.03)
    assert (at >= 112).sum() == pytest.approx(5 * 56 * 40, rel=0.04)


def test_people_ask_evenly_over_all_their_vms() -> None:
    asks = drawn(Stream("people", people=6, vms=2, rates_per_h=(0.5,), duration_h=1.0), 3000.0)[3]
    assert asks.min() >= 0 and asks.max() < 12
    assert np.histogram(asks, 12, (0, 12))[0] == pytest.approx(len(asks) / 12, rel=0.1)


def test_a_stream_at_rest_asks_nothing() -> None:
    assert [len(column) for column in drawn(Stream("rest", rates_per_h=(0.0,)), 1e6)] == [0, 0, 0, 0]


def test_in_pieces_it_is_the_same() -> None:
    stream = Stream("by day", people=9, rates_per_h=(0.2, 0.6), duration_h=1.5, cv=0.7)
    whole = drawn(stream, 900.0)
    source = Source(stream, 5, np.random.SeedSequence(3))
    pieces = [source.until(time) for time in (0.001, 17.0, 17.0, 480.0, 900.0)]
    for found, expected in zip(zip(*pieces, strict=True), whole, strict=True):
        assert np.concatenate(found).tolist() == expected.tolist()


def test_the_seed_decides() -> None:
    first, again, other = (simulate(MIX, hosts=[4, 4, 4], longest_wait_h=0, seed=seed) for seed in (5, 5, 6))
    assert first == again
    assert first.overall.denied != other.overall.denied


def test_a_stream_of_which_nothing_is_said_asks_once_an_hour_for_a_gpu_for_an_hour() -> None:
    stream = Stream("a")
    assert (stream.gpus * stream.vms, stream.requests_per_h, stream.duration_h, stream.cv) == (1, 1, 1, 1)
    assert stream.candidates_per_h.tolist() == [1]


def test_however_few_gaps_are_drawn_at_once_the_candidates_are_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stream, seed = Stream("a", rates_per_h=(20.0,)), 5
    expected = Source(stream, 0, np.random.SeedSequence(seed)).until(100.0)[0]
    monkeypatch.setattr(
        arrivals, "math", SimpleNamespace(sqrt=lambda expected: -expected / 6)
    )  # half of them at once
    found = Source(stream, 0, np.random.SeedSequence(seed)).until(100.0)[0]
    assert len(found) == len(expected) == pytest.approx(2000, abs=5 * 2000**0.5)
    assert found == pytest.approx(expected)
