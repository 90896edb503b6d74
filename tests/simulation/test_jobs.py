"""The simulation against exact chains, formulas and a naive engine; its intervals, its rules, and that it repeats itself."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest

from gpuplan.simulation.arrivals import Source, Stream
from gpuplan.simulation.jobs import (
    Estimate,
    Progress,
    Replayed,
    Simulated,
    replay,
    simulate,
    trace,
)
from gpuplan.simulation.jobs import streams as drawn

MIX = [
    Stream("one", 1, rates_per_h=(3.0,)),
    Stream("two", 2, rates_per_h=(1.2,)),
    Stream("four", 4, rates_per_h=(0.6,)),
]
MOST = 250_000


def close(found: Estimate, exact: float, *, at_most: float = math.inf, times: float = 1.5) -> None:
    """The exact value is within 1.5 times the interval (some 99.7 %), which is no wider than that says anything.

    Of the many comparisons here one in twenty would be outside the interval itself; how many are is a test of its own.
    """
    assert found.half_width is not None
    assert abs(found.value - exact) <= times * found.half_width, (found, exact)
    assert found.half_width <= at_most


def run(streams: Sequence[Stream], hosts: Sequence[int], **how: Any) -> Simulated:
    """Simulate as long as MOST says."""
    return simulate(streams, hosts=hosts, **{"tolerance": 1e-6, "most_requests": MOST, **how})


# ---- exact: hosts as a Markov chain


def chain_blocking(
    hosts: Sequence[int], sizes: Sequence[int], loads: Sequence[float], policy: str
) -> tuple[float, ...]:
    """Denial of each class from the chain over what is on which host."""
    contents = {
        n: [c for c in itertools.product(*(range(n // s + 1) for s in sizes)) if free_of(n, c, sizes) >= 0]
        for n in set(hosts)
    }
    states = list(itertools.product(*(contents[n] for n in hosts)))
    number = {state: i for i, state in enumerate(states)}
    rates = np.zeros((len(states), len(states)))
    denied = np.zeros((len(sizes), len(states)))
    for i, state in enumerate(states):
        free = [free_of(n, c, sizes) for n, c in zip(hosts, state, strict=True)]
        for k, size in enumerate(sizes):
            fitting = [h for h in range(len(hosts)) if free[h] >= size]
            if fitting:
                host = min(
                    fitting, key=lambda h: (free[h] if policy == "pack" else -free[h], sum(state[h]), h)
                )
                rates[i, number[changed(state, host, k, 1)]] += loads[k]
            else:
                denied[k, i] = 1
            for host, content in enumerate(state):
                if content[k]:
                    rates[i, number[changed(state, host, k, -1)]] += content[k]
    balance = (rates - np.diag(rates.sum(axis=1))).T
    balance[0] = 1
    chance = np.linalg.solve(balance, np.eye(len(states))[0])
    return tuple((denied @ chance).tolist())


def free_of(gpus: int, content: Sequence[int], sizes: Sequence[int]) -> int:
    return gpus - sum(n * s for n, s in zip(content, sizes, strict=True))


def changed(state: tuple[tuple[int, ...], ...], host: int, kind: int, by: int) -> tuple[tuple[int, ...], ...]:
    content = list(state[host])
    content[kind] += by
    return (*state[:host], tuple(content), *state[host + 1 :])


@pytest.mark.parametrize(
    ("hosts", "policy", "largest"),
    [((12,), "pack", 0.295), ((4, 4, 4), "pack", 0.411), ((4, 4, 4), "spread", 0.720)],
)
def test_the_host_boundary_and_the_policy_matter_as_the_exact_chain_says(
    hosts: tuple[int, ...], policy: str, largest: float
) -> None:
    exact = chain_blocking(hosts, (1, 2, 4), (3, 1.2, 0.6), policy)
    assert exact[2] == pytest.approx(largest, abs=0.0005)
    found = run(MIX, hosts, policy=policy, longest_wait_h=0)
    for outcome, blocking in zip(found.streams, exact, strict=True):
        close(outcome.denied, blocking, at_most=0.02, times=1)
    loads = [0.0, 3.0, 2.4, 2.4]
    carried = sum(a * (1 - b) for a, b in zip(loads[1:], exact, strict=True)) / 12
    close(found.utilisation, carried, at_most=0.01)
    assert found.peak_gpus == 12


def test_one_big_pool_is_kaufman_roberts() -> None:
    q = [1.0]
    for j in range(1, 13):
        q.append(sum(a * b * q[j - b] for a, b in ((3, 1), (1.2, 2), (0.6, 4)) if j >= b) / j)
    recursion = [sum(q[12 - b + 1 :]) / sum(q) for b in (1, 2, 4)]
    assert chain_blocking((12,), (1, 2, 4), (3, 1.2, 0.6), "pack") == pytest.approx(recursion)


# ---- formulas


def erlang_b(servers: int, load: float) -> float:
    blocking = 1.0
    for n in range(1, servers + 1):
        blocking = load * blocking / (n + load * blocking)
    return blocking


def erlang_c(servers: int, load: float) -> float:
    blocking = erlang_b(servers, load)
    return blocking / (1 - load / servers * (1 - blocking))


def test_the_formulas_of_this_file() -> None:
    assert erlang_b(10, 5) == pytest.approx(0.018385, abs=1e-6)
    assert erlang_c(10, 5) == pytest.approx(0.036105, abs=1e-6)


@pytest.mark.parametrize(("servers", "load", "duration_h"), [(10, 8.0, 2.0), (50, 45.0, 1.0), (1, 0.7, 0.25)])
def test_waiting_is_erlang_c(servers: int, load: float, duration_h: float) -> None:
    chance = erlang_c(servers, load)
    threshold = duration_h / (servers - load) / 2
    stream = Stream("jobs", rates_per_h=(load / duration_h,), duration_h=duration_h)
    found = run([stream], [servers], wait_h=threshold)
    close(found.overall.waited, chance, at_most=0.1 * chance)
    close(found.overall.waited_longer, chance * math.exp(-0.5), at_most=0.2 * chance)
    close(found.overall.mean_wait_h, chance * duration_h / (servers - load), at_most=0.2 * threshold)
    close(found.utilisation, load / servers, at_most=0.02)
    assert found.overall.denied == Estimate(0.0, 0.0)
    for share, wait in ((0.9, found.overall.wait_p90_h), (0.99, found.overall.wait_p99_h)):
        exact = max(0.0, duration_h / (servers - load) * math.log(chance / (1 - share)))
        assert wait == pytest.approx(exact, rel=0.15, abs=0.02)


@pytest.mark.parametrize("cv", [0, 0.5, 1, 1.5])
def test_one_server_waits_as_pollaczek_and_khinchine_say(cv: float) -> None:
    stream = Stream("jobs", rates_per_h=(1.2,), duration_h=0.5, cv=cv)
    mean_wait = 0.6 * 0.5 * (1 + cv * cv) / (2 * (1 - 0.6))
    close(run([stream], [1]).overall.mean_wait_h, mean_wait, at_most=0.12 * mean_wait)


@pytest.mark.parametrize("cv", [0, 0.5, 1, 2])
def test_denial_is_erlang_b_whatever_the_spread_of_the_durations(cv: float) -> None:
    stream = Stream("jobs", rates_per_h=(2.0,), duration_h=3.0, cv=cv)
    found = run([stream], [4, 4], longest_wait_h=0)
    close(found.overall.denied, erlang_b(8, 6.0), at_most=0.005)
    assert found.overall.waited == Estimate(0.0, 0.0)
    assert found.overall.mean_wait_h.value == 0


class Limited(NamedTuple):
    """M/M/c whose requests leave after a wait: shares denied, waited, waited longer than half of it; mean wait."""

    denied: float
    waited: float
    longer: float
    mean_wait: float


def limited(servers: int, load: float, wait: float) -> Limited:
    """The wait that a request would have has density load * p(c - 1) * exp(-(c - a) x) up to the limit."""
    at = [load**n / math.factorial(n) for n in range(servers)]
    spare = servers - load
    within = [load * at[-1] * (1 - math.exp(-spare * t)) / spare for t in (wait / 2, wait)]
    beyond = load * at[-1] * math.exp(-spare * wait) / servers
    total = sum(at) + within[1] + beyond
    hours = load * at[-1] * (1 - math.exp(-spare * wait) * (1 + spare * wait)) / spare**2
    if wait == 0:
        return Limited(beyond / total, 0, 0, 0)
    return Limited(
        beyond / total,
        (within[1] + beyond) / total,
        (within[1] - within[0] + beyond) / total,
        hours / (sum(at) + within[1]),
    )


@pytest.mark.parametrize("wait", [0.0, 0.1, 0.5, 3.0])
def test_those_who_leave_after_a_wait_are_those_of_m_m_c_with_a_limit(wait: float) -> None:
    exact = limited(3, 3.3, wait)
    found = run([Stream("jobs", rates_per_h=(3.3,))], [2, 1], longest_wait_h=wait, wait_h=wait / 2)
    close(found.overall.denied, exact.denied, at_most=0.01)
    close(found.overall.waited, exact.waited, at_most=0.02)
    close(found.overall.waited_longer, exact.longer, at_most=0.02)
    close(found.overall.mean_wait_h, exact.mean_wait, at_most=0.03)


def test_the_limits_of_the_limit_are_denial_and_waiting() -> None:
    assert limited(5, 3.0, 0).denied == pytest.approx(erlang_b(5, 3.0))
    assert limited(5, 3.0, 1e3).waited == pytest.approx(erlang_c(5, 3.0))
    assert limited(5, 3.0, 1e3).mean_wait == pytest.approx(erlang_c(5, 3.0) / 2)
    never, very_late = (
        run([Stream("jobs", rates_per_h=(3.0,))], [5], longest_wait_h=longest, most_requests=30_000)
        for longest in (math.inf, 1e6)
    )
    assert very_late.overall.denied.value == 0
    assert very_late.overall.waited == never.overall.waited
    assert very_late.overall.mean_wait_h == never.overall.mean_wait_h


def engset(people: int, servers: int, active: float) -> float:
    odds = active / (1 - active)
    states = [math.comb(people - 1, k) * odds**k for k in range(servers + 1)]
    return states[-1] / sum(states)


@pytest.mark.parametrize(("active", "cv"), [(0.3, 1), (0.3, 0), (0.7, 1.5)])
def test_a_closed_group_is_denied_as_engset_says(active: float, cv: float) -> None:
    stream = Stream("people", people=12, rates_per_h=(active,), duration_h=2.0, cv=cv)
    found = run([stream], [3, 2], longest_wait_h=0)
    close(found.overall.denied, engset(12, 5, active), at_most=0.01)


def test_a_closed_group_with_gpus_enough_is_active_as_often_as_it_says() -> None:
    streams = [
        Stream("seldom", people=30, rates_per_h=(0.1,), duration_h=4.0),
        Stream("often, two VMs", people=5, vms=2, rates_per_h=(0.9,), duration_h=1.0, cv=0),
        Stream("never", people=5, rates_per_h=(0.0, 0.0)),
    ]
    found = run(streams, [50], longest_wait_h=0)
    close(found.utilisation, (30 * 0.1 + 5 * 0.9 * 2) / 50, at_most=0.01)
    assert found.peak_gpus <= 40
    assert found.streams[2].requests == 0
    assert found.streams[2].waited == Estimate(0.0, 0.0)
    assert found.streams[2].mean_wait_h == Estimate(0.0, None)


def test_a_person_who_waits_does_not_ask_again() -> None:
    """Three people on one GPU: never more than two wait, however eager they are; p = 1 is simulated as 0.99."""
    eager = [Stream("p", people=3, rates_per_h=(1.0,), duration_h=1.0, cv=0)]
    found = run(eager, [1], most_requests=20_000)
    assert found.overall.still_waiting <= 2
    assert found.overall.mean_wait_h.value < 2
    assert found == run([Stream("p", people=3, rates_per_h=(0.99,), cv=0)], [1], most_requests=20_000)
    assert found.utilisation.value > 0.99


def test_busy_gpus_over_the_week_follow_the_infinite_server_queue() -> None:
    """m' = rate - m / duration: within an hour m goes from m0 to rate * d + (m0 - rate * d) * exp(-1 / d)."""
    rates = tuple(40.0 if hour % 24 in range(8, 18) and hour < 120 else 4.0 for hour in range(168))
    duration = 3.0
    level = 0.0
    means = [0.0] * 168
    for hour in range(2 * 168):
        steady = rates[hour % 168] * duration
        after = steady + (level - steady) * math.exp(-1 / duration)
        means[hour % 168] = steady + (level - after) * duration
        level = after
    found = run([Stream("jobs", rates_per_h=rates, duration_h=duration)], [8] * 40, policy="spread")
    weeks = found.hours / 168
    assert weeks > 100
    assert len(found.busy_by_hour) == 168
    away = [(f - m) / math.sqrt(m / weeks) for f, m in zip(found.busy_by_hour, means, strict=True)]
    assert max(map(abs, away)) < 5
    assert abs(sum(away)) / 168 < 1
    assert max(means) > 8 * min(means)
    assert found.utilisation.value == pytest.approx(sum(found.busy_by_hour) / 168 / 320)
    close(found.utilisation, sum(means) / 168 / 320)


def test_people_who_work_by_day_hold_nothing_by_night() -> None:
    shares = (0.0, 0.5, 0.0) * 7
    found = run(
        [Stream("day", people=40, rates_per_h=shares, duration_h=0.5, cv=0)], [40], most_requests=60_000
    )
    assert all(
        found.busy_by_hour[day * 24 + hour] == 0 for day in range(7) for hour in (*range(8), *range(17, 24))
    )
    noon = [found.busy_by_hour[day * 24 + hour] for day in range(7) for hour in range(11, 15)]
    assert sum(noon) / len(noon) == pytest.approx(20, rel=0.03)


# ---- fractions and gangs


def test_fractions_of_one_family_are_servers() -> None:
    half = Stream("half", 0.5, rates_per_h=(6.0,))
    third = Stream("a third by the table", 0.25, per_gpu=3, rates_per_h=(6.0,))
    close(run([half], [2, 2], longest_wait_h=0).overall.denied, erlang_b(8, 6.0))
    found = run([third], [1, 1], longest_wait_h=0)
    close(found.overall.denied, erlang_b(6, 6.0))
    close(found.utilisation, 6 * (1 - erlang_b(6, 6.0)) * 0.25 / 2)


def test_families_do_not_share_a_gpu_and_one_family_may_mix_sizes() -> None:
    apart = [
        Stream("a", 0.5, family="a", rates_per_h=(1.0,)),
        Stream("b", 0.5, family="b", rates_per_h=(1.0,)),
    ]
    together = [
        Stream("a", 0.5, family="x", rates_per_h=(1.0,)),
        Stream("b", 0.25, family="x", rates_per_h=(1.0,)),
    ]
    found = run(together, [1], longest_wait_h=0)
    exact = chain_blocking((4,), (2, 1), (1.0, 1.0), "pack")
    for outcome, blocking in zip(found.streams, exact, strict=True):
        close(outcome.denied, blocking)
    # one GPU: a family holds it until its last VM ends; the chain over (family a, family b) is (n, 0) or (0, n), n up to 2
    weights = [1.0, 1.0, 0.5, 1.0, 0.5]
    denied = (weights[2] + weights[3] + weights[4]) / sum(weights)
    found = run(apart, [1], longest_wait_h=0)
    for outcome in found.streams:
        close(outcome.denied, denied)


def test_a_gang_starts_together_or_not_at_all() -> None:
    """Two VMs of 2 GPUs on hosts of 3 and 2 are as one server: at most one gang fits at a time."""
    gang = Stream("gang", 2, vms=2, rates_per_h=(0.8,))
    found = run([gang], [3, 2], longest_wait_h=0)
    close(found.overall.denied, erlang_b(1, 0.8))
    assert found.peak_gpus == 4


# ---- replay


def test_a_replay_by_hand() -> None:
    """Host of 4: 3 GPUs 0-2; 2 GPUs wait from 1 to 2; 1 GPU could start at 1.5 but stands behind (no backfill)."""
    found = replay([0, 1, 1.5], duration_h=[2, 1, 1], gpus=[3, 2, 1], hosts=[4])
    assert found.wait_h.tolist() == [0, 1, 0.5]
    assert found.mean_wait_h() == 0.5
    assert (found.longer_share(0), found.longer_share(0.5)) == (2 / 3, 1 / 3)
    assert [found.quantile_wait_h(q) for q in (0.3, 0.5, 0.9)] == [0, 0.5, 1]
    assert found.hours == 3
    assert found.utilisation == pytest.approx((6 + 2 + 1) / 12)
    assert (found.peak_gpus, found.ended) == (3, "done")
    left = replay([0, 1, 1.5], duration_h=[2, 1, 1], gpus=[3, 2, 1], hosts=[4], longest_wait_h=0.25)
    assert left.denied.tolist() == [False, True, False]
    assert left.wait_h.tolist() == [0, 0.25, 0]
    assert left.denied_share() == pytest.approx(1 / 3)
    denied = replay([0, 1, 1.5], duration_h=[2, 1, 1], gpus=[3, 2, 1], hosts=[4], longest_wait_h=0)
    assert denied.denied.tolist() == [False, True, False]
    assert denied.wait_h.tolist() == [0, 0, 0]


def test_packing_keeps_a_host_free_that_spreading_does_not() -> None:
    jobs = {"duration_h": [9, 9, 9], "gpus": [1, 1, 4], "hosts": [4, 4]}
    assert replay([0, 1, 2], **jobs, policy="pack").wait_h.tolist() == [0, 0, 0]
    assert replay([0, 1, 2], **jobs, policy="spread").wait_h.tolist() == [0, 0, 7]


def test_a_replay_of_nothing_and_of_jobs_without_duration() -> None:
    nothing = replay([], duration_h=[], gpus=[], hosts=[4])
    assert (nothing.utilisation, nothing.mean_wait_h(), nothing.quantile_wait_h(0.9)) == (0, 0, 0)
    assert (nothing.longer_share(0), nothing.denied_share()) == (0, 0)
    instant = replay([1, 1], duration_h=[0, 0], gpus=[4, 4], hosts=[4])
    assert instant.wait_h.tolist() == [0, 0]
    assert (instant.utilisation, instant.hours) == (0, 0)


def test_a_replay_grows_its_queue_and_shows_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "EVENTS_PER_CALL", {True: 1000, False: 1000})
    calls: list[Progress] = []

    def watch(progress: Progress) -> bool:
        calls.append(progress)
        return len(calls) < 3

    arrival = np.arange(10_000) / 10_000
    jobs: dict[str, Any] = {"duration_h": np.ones(10_000), "gpus": np.ones(10_000), "hosts": [1]}
    whole = replay(arrival, **jobs, progress=lambda progress: True)
    assert whole.wait_h == pytest.approx(np.arange(10_000) - arrival)
    assert whole.utilisation == pytest.approx(1)
    part = replay(arrival + 0.0, **{**jobs, "duration_h": np.full(10_000, 0.01)}, progress=watch)
    assert [p.requests for p in calls] == [1000, 2000, 3000]
    assert all(p.most_requests == 10_000 for p in calls)
    assert part.ended == "cancelled"
    assert 0 < part.served.sum() < 3000
    assert not part.denied.any()
    assert part.utilisation == pytest.approx(1)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gpus": [1, 9, 12]}, "2 of 3 jobs ask for up to 12 GPUs.*without split"),
        ({"gpus": [1, 9, 17], "split": True}, "1 of 3 jobs ask for up to 17 GPUs"),
        ({"gpus": [1, 1.5, 1]}, r"gpus\[1\]: 1.5 is not allowed; a whole number"),
        ({"gpus": [1, 0, 1]}, r"gpus\[1\]: 0.0 is not allowed; above 0"),
        ({"gpus": [1, 1]}, "same length"),
        ({"duration_h": [1, 1, -1]}, r"duration_h\[2\]: -1.0"),
        ({"duration_h": [1, math.inf, -1]}, r"duration_h\[1\]: inf"),
        ({"arrival_h": [math.nan, 1, 1]}, r"arrival_h\[0\]: nan is not allowed; a finite number"),
        ({"hosts": []}, "hosts: .* a host with a GPU"),
        ({"hosts": [2_000_000]}, "at most 1000000 GPUs"),
        ({"policy": "first"}, "policy: 'first' is not allowed; pack or spread is"),
        ({"longest_wait_h": -1}, "longest_wait_h: -1"),
        ({"longest_wait_h": math.nan}, "longest_wait_h: nan"),
    ],
)
def test_a_replay_says_what_is_wrong(given: dict[str, Any], message: str) -> None:
    jobs: dict[str, Any] = {
        "arrival_h": [0, 1, 2],
        "duration_h": [1, 1, 1],
        "gpus": [1, 1, 1],
        "hosts": [8, 8, 4],
    }
    jobs.update(given)
    with pytest.raises(ValueError, match=message):
        replay(jobs.pop("arrival_h"), **jobs)


# ---- how a simulation ends, repeats itself and adds up

VARIED = [
    Stream("by day", 2, rates_per_h=(0.0, 6.0, 1.0), duration_h=0.7, cv=1.4),
    Stream("people", 0.5, people=20, rates_per_h=(0.1, 0.6), duration_h=2.0),
    Stream("profile", 0.25, per_gpu=3, rates_per_h=(4.0,), duration_h=0.5, cv=0),
    Stream("gang", 4, vms=2, rates_per_h=(0.1,), duration_h=3.0),
]


@pytest.mark.parametrize("chunk", [100, 7919])
def test_neither_chunks_nor_progress_change_the_result(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    how = {"longest_wait_h": 0.5, "wait_h": 0.1, "most_requests": 30_000}
    expected = run(VARIED, [8, 4, 4, 8], **how)
    monkeypatch.setattr(drawn, "CHUNK", chunk)
    monkeypatch.setattr(drawn, "EVENTS_PER_CALL", {True: 1, False: 1})
    calls: list[Progress] = []
    assert run(VARIED, [8, 4, 4, 8], **how, progress=lambda p: calls.append(p) is None) == expected
    assert len(calls) > 3
    assert [p.requests for p in calls] == sorted(p.requests for p in calls)
    assert calls[-1].requests <= 30_000 == calls[-1].most_requests


def test_a_stream_more_does_not_change_the_chances_of_the_others() -> None:
    """With GPUs for all, the first stream has the same requests with and without a second one."""
    one = run(MIX[:1], [1000], most_requests=20_000)
    two = run([*MIX[:1], Stream("rare", rates_per_h=(1e-9,))], [1000], most_requests=20_000)
    assert two.streams[0].requests == one.streams[0].requests
    assert two.utilisation.value == pytest.approx(one.utilisation.value, rel=1e-6)


def test_it_ends_when_tight_and_not_before_the_fewest_batches() -> None:
    found = simulate([Stream("jobs", rates_per_h=(30.0,))], hosts=[8, 8, 8, 8], longest_wait_h=0)
    assert found.ended == "tight"
    assert found.requests > 24 * drawn.REQUESTS_PER_BATCH * 0.95
    assert found.overall.requests == pytest.approx(found.requests * 7 / 8, rel=0.05)
    away = found.overall.denied
    assert away.half_width is not None and away.half_width <= max(0.05 * away.value, 0.002)
    finer = simulate(
        [Stream("jobs", rates_per_h=(30.0,))], hosts=[8, 8, 8, 8], longest_wait_h=0, tolerance=0.02
    )
    assert finer.requests > found.requests
    weekly = simulate([Stream("jobs", rates_per_h=(1.0, 0.0))], hosts=[8], longest_wait_h=0)
    assert weekly.ended == "tight"
    assert weekly.hours % 168 == 0 and weekly.hours >= 24 * 168


def test_it_ends_at_the_limit_and_when_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    limited = simulate(MIX, hosts=[4, 4, 4], tolerance=1e-6, most_requests=777)
    assert (limited.ended, limited.requests) == ("limit", 777)
    assert limited.overall.waited.half_width is not None
    single = simulate(MIX, hosts=[4, 4, 4], most_requests=1)
    assert (single.ended, single.requests) == ("limit", 1)
    monkeypatch.setattr(drawn, "EVENTS_PER_CALL", {True: 1, False: 1})
    monkeypatch.setattr(drawn, "CHUNK", 500)
    stopped = simulate(MIX, hosts=[4, 4, 4], progress=lambda progress: progress.requests < 3000)
    assert stopped.ended == "cancelled"
    assert 3000 <= stopped.requests < 5000
    assert 0 < stopped.overall.waited.value < 1
    early = simulate([Stream("a", rates_per_h=(100.0, 0))], hosts=[4], progress=lambda progress: False)
    assert early.ended == "cancelled"
    assert early.busy_by_hour == ()
    assert early.overall.waited == Estimate(early.overall.waited.value, None)


def test_it_ends_where_hardly_anybody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "MOST_HOURS", 20_000.0)
    for rates in ((1e-9,), (1e-9, 0.0)):
        found = simulate([Stream("rare", rates_per_h=rates)], hosts=[1])
        assert (found.ended, found.hours, found.requests) == ("limit", 20_000, 0)
        assert found.overall.waited == Estimate(0.0, None)
        assert found.utilisation.value == 0


@pytest.mark.parametrize("longest", [0.0, 0.3, math.inf])
def test_requests_are_conserved_and_streams_add_up(longest: float) -> None:
    found = run(VARIED, [8, 8, 4], longest_wait_h=longest, most_requests=50_000)
    whole = found.overall
    for outcome in (*found.streams, whole):
        assert outcome.requests == outcome.served + outcome.denied_requests + outcome.still_waiting
        assert outcome.denied.value == outcome.denied_requests / outcome.requests
        assert outcome.wait_p50_h <= outcome.wait_p90_h <= outcome.wait_p95_h <= outcome.wait_p99_h
    for column in ("requests", "served", "denied_requests", "still_waiting"):
        assert getattr(whole, column) == sum(getattr(outcome, column) for outcome in found.streams)
    assert found.utilisation.value <= 1
    assert (whole.denied_requests > 0) == (longest < math.inf)
    assert (whole.waited.value > 0) == (longest > 0)


def test_a_simulation_is_the_replay_of_its_requests() -> None:
    """The candidates of the streams, replayed as a trace with the same hosts: the same waits and GPU-hours."""
    streams = [Stream("a", 1, rates_per_h=(5.0,), cv=0.5), Stream("b", 3, rates_per_h=(1.0,), cv=2)]
    found = run(streams, [4, 4, 4], most_requests=20_000)
    seeds = np.random.SeedSequence(1).spawn(2)
    parts = [Source(s, n, seeds[n]).until(found.hours) for n, s in enumerate(streams)]
    arrival, duration, kind, _ = (np.concatenate(p) for p in zip(*parts, strict=True))
    trace: Replayed = replay(arrival, duration_h=duration, gpus=np.where(kind == 0, 1, 3), hosts=[4, 4, 4])
    batch = 20_000 / 6.0 / 32
    complete = int(found.hours / batch)
    low, high = complete // 8 * batch, complete * batch
    counted = (arrival >= low) & (arrival < high)
    assert found.overall.requests == counted.sum()
    assert found.overall.still_waiting == 0
    assert found.overall.mean_wait_h.value == pytest.approx(trace.wait_h[counted].mean(), rel=1e-9)
    assert found.overall.waited.value == (trace.wait_h[counted] > 0).mean()
    for share, wait in ((0.9, found.overall.wait_p90_h), (0.99, found.overall.wait_p99_h)):
        exact = np.quantile(trace.wait_h[counted], share, method="inverted_cdf")
        assert wait == pytest.approx(exact, rel=0.02)
    start = arrival + trace.wait_h
    inside = np.minimum(start + duration, high) - np.maximum(start, low)
    used = float(np.sum(np.maximum(inside, 0) * np.where(kind == 0, 1, 3)))
    assert found.utilisation.value == pytest.approx(used / 12 / (high - low), rel=1e-9)


def test_a_queue_that_only_grows_is_said_to() -> None:
    over = simulate([Stream("jobs", rates_per_h=(9.0,))], hosts=[4, 4], most_requests=100_000)
    assert over.growing
    assert over.overall.still_waiting > 0
    for rate in (16.0, 160.0):
        jobs = [Stream("jobs", rates_per_h=(rate,))]
        assert simulate(jobs, hosts=[4, 4], most_requests=30_000, tolerance=1e-6).growing
    # 6 GPUs of load on 8, but a host of 4 takes one 3-GPU VM at a time: at most 6 GPUs work
    blocked = simulate([Stream("three", 3, rates_per_h=(2.2,))], hosts=[4, 4], most_requests=100_000)
    assert blocked.growing
    assert not simulate([Stream("jobs", rates_per_h=(7.0,))], hosts=[4, 4], tolerance=0.02).growing
    assert not simulate([Stream("jobs", rates_per_h=(90.0,))], hosts=[4, 4], longest_wait_h=0).growing


def test_the_intervals_hold_the_exact_value_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawn, "REQUESTS_PER_BATCH", 800)
    exact = limited(4, 3.4, 0.8)
    held = [0] * 4
    for seed in range(100):
        found = simulate(
            [Stream("jobs", rates_per_h=(3.4,))], hosts=[4], longest_wait_h=0.8, wait_h=0.4, seed=seed
        ).overall
        estimates = (found.denied, found.waited, found.waited_longer, found.mean_wait_h)
        for n, (estimate, value) in enumerate(zip(estimates, exact, strict=True)):
            assert estimate.half_width is not None
            held[n] += abs(estimate.value - value) <= estimate.half_width
    assert all(88 <= count <= 100 for count in held), held
    assert sum(held) < 400


@pytest.mark.parametrize(
    ("stream", "message"),
    [
        (
            Stream("x", 9),
            r"stream 'x': 1 VMs of 9 GPUs can never start together; 2 hosts with 12 GPUs in all",
        ),
        (Stream("x", 4, vms=4), "4 VMs of 4 GPUs can never start together.*hold 3"),
        (Stream("x", 0.5, vms=25), "25 VMs of 0.5 GPUs.*hold 24"),
        (Stream("x", 1.5), "stream 'x': gpus: 1.5 is not allowed; a fraction or a whole number is"),
        (Stream("x", 0), "gpus: 0"),
        (Stream("x", vms=0), "vms: 0"),
        (Stream("x", 1, per_gpu=2), "per_gpu: 2"),
        (Stream("x", people=-1), "people: -1"),
        (Stream("x", people=3, rates_per_h=(1.2,)), "rates_per_h: 1.2 is not allowed; a chance from 0 to 1"),
        (Stream("x", rates_per_h=(1.0, -1.0)), "rates_per_h: -1.0"),
        (Stream("x", rates_per_h=(math.nan,)), "rates_per_h: nan"),
        (Stream("x", rates_per_h=()), "one rate or more"),
        (Stream("x", rates_per_h=(0.0,)), "some stream that asks at all"),
        (Stream("x", duration_h=0), "duration_h: 0"),
        (Stream("x", duration_h=math.inf), "duration_h: inf"),
        (Stream("x", cv=-0.1), "cv: -0.1"),
    ],
)
def test_a_stream_that_cannot_be_is_refused(stream: Stream, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulate([stream], hosts=[8, 4])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tolerance": 0}, "tolerance: 0"),
        ({"most_requests": 0}, "most_requests: 0"),
        ({"wait_h": math.inf}, "wait_h: inf"),
        ({"seed": -1}, "seed: -1"),
        ({"hosts": [0, 0]}, "hosts"),
        ({"hosts": [4, -1]}, "hosts"),
        ({"streams": []}, "streams: 0 is not allowed"),
    ],
)
def test_a_simulation_says_what_is_wrong(given: dict[str, Any], message: str) -> None:
    how = {"streams": MIX, "hosts": [4, 4], **given}
    with pytest.raises(ValueError, match=message):
        simulate(how.pop("streams"), **how)


def test_a_job_larger_than_a_host_takes_whole_hosts_where_it_may_be_split() -> None:
    """8 GPUs on two hosts of 4 for 2 h, then 6, which take both hosts for an hour, then 2 of one host."""
    done = replay([0, 1, 1], duration_h=[2, 1, 1], gpus=[8, 6, 2], hosts=[4, 4], split=True)
    assert done.wait_h.tolist() == [0, 1, 2]
    assert (done.peak_gpus, done.hours) == (8, 4)
    assert done.utilisation == pytest.approx((8 * 2 + 8 * 1 + 2 * 1) / (8 * 4))
