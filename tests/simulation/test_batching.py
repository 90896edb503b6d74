"""Continuous batching against a naive simulation step by step, queueing formulas, conservation and directions."""

from __future__ import annotations

import math
from collections import deque

import numpy as np
import pytest
from random_cases import examples

from gpuplan.models.llm.pace import Floats, Pace, Traffic, pace_of
from gpuplan.simulation.batching import arrivals, play, simulate


def linear(**changed: object) -> Pace:
    """A replica whose laws are straight, so that points between them are exact."""
    given = {
        "requests": 8,
        "context_tokens": 400,
        "longest_tokens": 4000,
        "cache_tokens": math.inf,
        "chunk_tokens": 500,
        "overlap_share": 1.0,
        "wait_ms": 0.0,
    } | changed
    return pace_of(lambda n, context: 5 + 0.5 * n + 0.001 * n * context, lambda t: 0.2 * t, **given)  # type: ignore[arg-type]


def naive(
    pace: Pace, arrival: Floats, prompts: Floats, answers: Floats, replicas: int
) -> tuple[list[float], list[float]]:
    """First tokens and ends, one step of one replica after the other, as the rules are written."""
    first, done = [math.inf] * len(arrival), [math.inf] * len(arrival)
    kept = np.minimum(prompts + answers, pace.cache_tokens)
    queue: list[deque[int]] = [deque() for _ in range(replicas)]
    inside: list[list[int]] = [[] for _ in range(replicas)]
    left_in, left_out = prompts.copy(), answers.copy()
    clock = [0.0] * replicas
    step: list[tuple[float, list[int], dict[int, float]] | None] = [None] * replicas

    def begin(r: int) -> None:
        while queue[r] and len(inside[r]) < pace.requests:
            held = sum(kept[i] for i in inside[r])
            if inside[r] and held + kept[queue[r][0]] > pace.cache_tokens:
                break
            inside[r].append(queue[r].popleft())
        running = [i for i in inside[r] if left_in[i] == 0]
        budget, reads, seconds = pace.chunk_tokens or math.inf, {}, 0.0
        for i in inside[r]:
            if left_in[i] > 0 and budget > 0:
                reads[i] = min(left_in[i], budget)
                budget -= reads[i]
                seconds += 0.0002 * reads[i]
                if not pace.chunk_tokens:
                    break
        n = len(running)
        context = sum(prompts[i] + answers[i] - left_out[i] for i in running)
        each = (5 + 0.5 * n) / 1000 + 0.001 * context / 1000 if n else 0.0
        time = max(seconds, each + pace.overlap_share * seconds)
        step[r] = (clock[r] + time, running, reads) if n or reads else None

    def finish(r: int) -> None:
        now, running, reads = step[r]  # type: ignore[misc]
        clock[r] = now
        for i in running:
            left_out[i] -= 1
        for i, part in reads.items():
            left_in[i] -= part
            if left_in[i] == 0:
                first[i] = now
                left_out[i] -= 1
        for i in [i for i in inside[r] if left_out[i] == 0]:
            done[i] = now
            inside[r].remove(i)
        begin(r)

    def run_until(time: float) -> None:
        while True:
            due = [(s[0], r) for r, s in enumerate(step) if s and s[0] <= time]
            if not due:
                return
            finish(min(due)[1])

    for i, now in enumerate(arrival.tolist()):
        run_until(now)
        r = min(range(replicas), key=lambda r: len(inside[r]) + len(queue[r]))
        queue[r].append(i)
        if step[r] is None:
            clock[r] = now
            begin(r)
    run_until(math.inf)
    return first, done


@pytest.mark.parametrize("seed", range(40))
def test_many_steps_at_once_are_what_single_steps_come_to(seed: int) -> None:
    chance = np.random.default_rng(seed)
    pace = linear(
        requests=int(chance.integers(1, 10)),
        cache_tokens=float(chance.choice([900.0, 3000.0, math.inf])),
        chunk_tokens=float(chance.choice([0, 150, 500, 8000])),
        overlap_share=float(chance.choice([0.0, 0.7, 1.0])),
    )
    arrival = np.cumsum(chance.exponential(chance.choice([0.02, 0.2]), 60))
    prompts = chance.integers(1, 900, 60).astype(float)
    answers = chance.integers(1, 60, 60).astype(float)
    replicas = int(chance.integers(1, 4))
    found = play(pace, arrival, tokens_in=prompts, tokens_out=answers, replicas=replicas)
    first, done = naive(pace, arrival, prompts, answers, replicas)
    np.testing.assert_allclose(found.first_s, first, rtol=1e-9)
    np.testing.assert_allclose(found.done_s, done, rtol=1e-9)
    assert (found.let_in_s >= arrival).all() and (found.let_in_s < found.first_s).all()
    assert found.tokens_read == pytest.approx(prompts.sum()), "tokens in"
    assert found.tokens_made == answers.sum(), "tokens out"


def test_a_single_request_by_hand() -> None:
    pace = linear(chunk_tokens=500, wait_ms=40)
    one = play(pace, np.array([3.0]), tokens_in=np.array([1000.0]), tokens_out=np.array([3.0]))
    assert one.first_s[0] == pytest.approx(3 + 0.2 + 0.04)
    steps = (5.5 + 1.001) / 1000 + (5.5 + 1.002) / 1000
    assert one.done_s[0] - one.first_s[0] == pytest.approx(steps)
    assert one.busy_s == 0, "until the last request came"
    both = play(linear(), np.array([0.0, 0.5]), tokens_in=np.full(2, 300.0), tokens_out=np.full(2, 400.0))
    assert both.done_s[0] > 0.5
    assert both.busy_s == pytest.approx(0.5), "the step that is under way counts up to then"


def test_one_place_is_the_queue_of_the_textbooks() -> None:
    chance = np.random.default_rng(3)
    count, load = 60_000, 0.7
    pace = pace_of(lambda n, c: 1.0, lambda t: 1e-6 * t, requests=1, context_tokens=100, longest_tokens=100)
    answers = 1 + np.round(chance.exponential(300, count))
    service = (answers - 1) / 1000
    rate = load / service.mean()
    arrival = np.cumsum(chance.exponential(1 / rate, count))
    found = play(pace, arrival, tokens_in=np.ones(count), tokens_out=answers)
    wait = (found.let_in_s - arrival).mean()
    expected = rate * (service**2).mean() / 2 / (1 - load)
    assert expected == pytest.approx(load / (1 / 0.3 - rate), rel=0.03), "M/M/1"
    assert wait == pytest.approx(expected, rel=0.1)


def test_requests_at_once_are_arrivals_times_the_time_they_stay() -> None:
    found = simulate(linear(requests=32), Traffic(300, 60, 0.5, 1), rates_per_second=[8], count=20_000)
    chance = np.random.default_rng(5)
    arrival = np.cumsum(chance.exponential(1 / 8, 20_000))
    lengths = chance.integers(1, 120, 20_000).astype(float)
    run = play(linear(requests=32), arrival, tokens_in=np.full(20_000, 300.0), tokens_out=lengths)
    stay = (run.done_s - arrival).mean()
    assert run.found.mean() == pytest.approx(8 * stay, rel=0.05), "Little, and arrivals see averages"
    assert found.requests.half_width is not None
    assert found.requests.value > found.waiting.value >= 0


def test_more_of_anything_is_never_slower() -> None:
    chance = np.random.default_rng(7)
    arrival = np.cumsum(chance.exponential(0.05, 4000))
    prompts, answers = (
        chance.integers(50, 500, 4000).astype(float),
        chance.integers(5, 80, 4000).astype(float),
    )

    def mean(pace: Pace, replicas: int = 1) -> float:
        run = play(pace, arrival, tokens_in=prompts, tokens_out=answers, replicas=replicas)
        return float((run.first_s - arrival).mean())

    assert mean(linear(), 1) > mean(linear(), 2) > mean(linear(), 4)
    assert mean(linear(requests=4), 2) > mean(linear(requests=16), 2)
    assert mean(linear(cache_tokens=1000.0), 2) > mean(linear(), 2)


@pytest.mark.parametrize("peakedness", [0.5, 1, 4])
def test_the_number_of_arrivals_varies_as_told(peakedness: float) -> None:
    times, _ = arrivals([10.0], peakedness, count=100_000, source=np.random.default_rng(1))
    counts = np.bincount((times / 20).astype(int))[:-1]
    assert counts.mean() == pytest.approx(200, rel=0.02)
    assert counts.var() / counts.mean() == pytest.approx(peakedness, rel=0.2)


def test_a_day_has_its_busy_hours() -> None:
    rates = [0.2] * 8 + [4.0] * 8 + [1.0] * 8
    found = simulate(
        linear(), Traffic(900, 40, 1, 1), rates_per_second=rates, first_token_s=0.5, count=30_000
    )
    night, day = found.by_part_p95_s[3], found.by_part_p95_s[12]
    assert len(found.by_part_p95_s) == 24 and night < day
    calm = simulate(linear(), Traffic(900, 40, 1, 1), rates_per_second=[0.2], first_token_s=0.5, count=30_000)
    assert calm.kept_share.value > found.kept_share.value
    quiet = simulate(linear(), Traffic(900, 40), rates_per_second=[0.0, 5.0], count=2_000)
    assert quiet.by_part_p95_s[0] == 0.0


def test_more_than_can_be_done_is_said() -> None:
    found = simulate(linear(), Traffic(900, 40), rates_per_second=[50], count=8_000)
    assert found.growing and found.busy_share.value == pytest.approx(1, abs=0.02)
    fine = simulate(linear(), Traffic(900, 40), rates_per_second=[1], count=8_000)
    assert not fine.growing and fine.busy_share.value < 0.5


def test_the_same_seed_gives_the_same_and_another_one_another() -> None:
    one, again, other = (
        simulate(linear(), Traffic(300, 40, 1, 1), rates_per_second=[5], count=2_000, seed=seed)
        for seed in (1, 1, 2)
    )
    assert one == again != other


def test_intervals_hold_what_a_long_run_finds() -> None:
    traffic = Traffic(300, 40, 1, 1)
    long = simulate(linear(), traffic, rates_per_second=[5], count=200_000, seed=99).mean_s.value
    held, seeds = 0, examples(20, few=8)
    for seed in range(seeds):
        found = simulate(linear(), traffic, rates_per_second=[5], count=8_000, seed=seed).mean_s
        held += abs(found.value - long) <= (found.half_width or 0)
    assert held >= 0.8 * seeds


def test_bad_input_is_refused_by_its_name() -> None:
    with pytest.raises(ValueError, match="at least one must be above 0"):
        simulate(linear(), Traffic(300, 40), rates_per_second=[0.0])
    with pytest.raises(ValueError, match=r"rates_per_second\[1\] is -1"):
        simulate(linear(), Traffic(300, 40), rates_per_second=[1.0, -1])
    with pytest.raises(ValueError, match="in order"):
        play(linear(), np.array([1.0, 0.0]), tokens_in=np.ones(2), tokens_out=np.ones(2))
    with pytest.raises(ValueError, match="at least one"):
        play(linear(), np.zeros(0), tokens_in=np.zeros(0), tokens_out=np.zeros(0))
