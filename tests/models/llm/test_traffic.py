"""Traffic by formula: limits, the chain of states, the simulation, directions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gpuplan.models.llm.pace import Pace, Traffic, lengths, pace_of, replica_pace
from gpuplan.models.llm.serving import decode_step_ms, prompt_ms, prompt_work_ms, token_rate
from gpuplan.models.llm.shape import Board, Setup, Shape
from gpuplan.models.llm.speeds import Replica
from gpuplan.models.llm.traffic import ReplicaQueue, answers, replica_curve, replicas_for
from gpuplan.simulation.batching import play, simulate

LLAMA = Shape(
    70.55,
    70.55,
    layers=80,
    hidden_size=8192,
    heads=64,
    vocabulary=128256,
    context_tokens=131072,
    kv_heads=8,
)
H100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
SETUP = Setup("fp8", tensor=4)
CHAT = Traffic(2000, 400, 1, 1)


def replica(traffic: Traffic = CHAT, requests: int = 64) -> Pace:
    return replica_pace(Replica(LLAMA, H100, SETUP), traffic=traffic, requests=requests)


def test_the_laws_are_those_of_serving() -> None:
    pace = replica()
    for n, context in itertools.product((1, 3, 17, 64), (1500, 2400, 3600)):
        exact = decode_step_ms(Replica(LLAMA, H100, SETUP), requests=n, context_tokens=context) / 1e3
        assert float(pace.step(np.array([float(n)]), context)[0]) == pytest.approx(exact, rel=0.01)
    for tokens in (100, 2000, 15_000, 60_000):
        exact = prompt_ms(Replica(LLAMA, H100, SETUP), tokens_in=tokens) / 1e3
        assert float(pace.read(np.array([float(tokens)]))[0]) == pytest.approx(
            exact, rel=0.05 if tokens < 20_000 else 0.3
        )


@pytest.mark.parametrize("load", [0.3, 0.9])
def test_with_one_place_as_many_requests_are_there_as_in_a_queue_of_one_server(load: float) -> None:
    pace = replica(requests=1)
    idle = answers(pace, CHAT, requests_per_second=1e-6, first_token_s=1)
    found = answers(pace, CHAT, requests_per_second=load * 1e-6 / idle.load_share, first_token_s=1)
    assert found.load_share == pytest.approx(load)
    assert found.requests == pytest.approx(load / (1 - load))


def test_lengths_have_their_mean_and_spread() -> None:
    found = lengths(2000, 0.8, shares=(np.arange(20_000) + 0.5) / 20_000)
    assert found.mean() == pytest.approx(2000, rel=0.01)
    assert found.std() / found.mean() == pytest.approx(0.8, rel=0.02)
    assert set(lengths(500, 0, shares=np.array([0.1, 0.9])).round(6).tolist()) == {500.0}


def test_with_little_load_the_first_token_is_the_prompt() -> None:
    pace = replica(Traffic(2000, 400))
    found = answers(pace, Traffic(2000, 400), requests_per_second=1e-6)
    prompt = prompt_ms(Replica(LLAMA, H100, SETUP), tokens_in=2000) / 1e3
    assert found.p50_s == found.p99_s == pytest.approx(pace.wait_s + prompt, rel=0.02)
    assert found.token_s == pytest.approx(
        decode_step_ms(Replica(LLAMA, H100, SETUP), requests=1, context_tokens=2200) / 1e3, rel=0.05
    )
    assert found.load_share < 1e-4 and found.busy_share < 1e-4


@pytest.mark.parametrize("spread", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("load", [0.3, 0.7, 0.9])
def test_one_place_is_the_formula_of_pollaczek_and_khinchine(spread: float, load: float) -> None:
    pace = pace_of(lambda n, c: 1.0, lambda t: 1e-6 * t, requests=1, context_tokens=100, longest_tokens=100)
    service = 0.4
    found = answers(pace, Traffic(1, 401, 0, spread), requests_per_second=load / service)
    wait = load * service * (1 + (spread * 401 / 400.0) ** 2) / 2 / (1 - load)
    assert found.mean_s == pytest.approx(wait, rel=0.04, abs=0.001)
    assert found.load_share == pytest.approx(load, rel=0.01)


@pytest.mark.parametrize("spread", [0.0, 1.0, 2.0])
def test_below_the_most_at_once_only_the_mean_length_counts(spread: float) -> None:
    """Processor sharing: the chain of states is exact for any lengths, so the simulation must agree with it."""
    pace = pace_of(
        lambda n, c: 10 + 0.2 * n, lambda t: 1e-6 * t, requests=500, context_tokens=100, longest_tokens=100
    )
    traffic = Traffic(1, 200, 0, spread)
    rate = 10.0
    weights = [1.0]
    for n in range(1, 400):
        weights.append(weights[-1] * rate / (n / (199 * (10 + 0.2 * n) / 1000)))
    chain = np.array(weights) / sum(weights)
    by_hand = float((chain * np.arange(400)).sum())
    found = answers(pace, traffic, requests_per_second=rate)
    assert found.requests == pytest.approx(by_hand, rel=0.001)
    played = simulate(pace, traffic, rates_per_second=[rate], count=20_000).requests
    assert played.half_width is not None
    assert abs(played.value - by_hand) <= 2.5 * played.half_width + 0.02 * by_hand


CASES = [
    (CHAT, 1, 0.5),
    (CHAT, 1, 0.8),
    (CHAT, 4, 0.8),
    (Traffic(2000, 400), 1, 0.8),
    (Traffic(2000, 400), 4, 0.5),
    (Traffic(8000, 100, 1, 1), 1, 0.5),
    (Traffic(8000, 100, 1, 1), 4, 0.5),
    (Traffic(300, 800, 1, 0.7), 4, 0.8),
    (Traffic(2000, 400, 1, 1, 4), 4, 0.8),
]


@pytest.mark.parametrize(("traffic", "replicas", "load"), CASES)
def test_percentiles_lie_near_the_simulation(traffic: Traffic, replicas: int, load: float) -> None:
    pace = replica(traffic)
    most = 1 / answers(pace, traffic, requests_per_second=1).load_share
    rate = load * most * replicas
    found = answers(pace, traffic, requests_per_second=rate, replicas=replicas, first_token_s=1)
    played = simulate(
        pace, traffic, rates_per_second=[rate], replicas=replicas, first_token_s=1, count=40_000
    )
    assert found.p95_s == pytest.approx(played.p95_s.value, rel=0.25)
    assert found.kept_share == pytest.approx(played.kept_share.value, abs=0.04)
    assert found.requests == pytest.approx(
        played.requests.value, rel=0.15 if traffic.tokens_out > 100 else 0.35
    )


def test_more_than_can_be_done_waits_without_end() -> None:
    found = answers(replica(), CHAT, requests_per_second=100, first_token_s=10)
    assert found.p50_s == math.inf and found.kept_share == 0 and found.load_share > 1


def test_the_fewest_replicas_are_the_fewest() -> None:
    pace = replica()
    for rate, share in itertools.product((0.5, 3, 20, 200), (0.5, 0.9, 0.95)):
        count = replicas_for(pace, CHAT, requests_per_second=rate, first_token_s=0.8, share=share)
        kept = [
            answers(pace, CHAT, requests_per_second=rate, replicas=n, first_token_s=0.8).kept_share
            for n in range(max(1, count - 1), count + 1)
        ]
        assert kept[-1] >= share
        assert count == 1 or kept[0] < share


def test_more_asked_for_never_takes_fewer_replicas() -> None:
    pace = replica()

    def needed(rate: float = 10, within: float = 1.0, share: float = 0.95, bursts: float = 1) -> int:
        traffic = Traffic(2000, 400, 1, 1, bursts)
        return replicas_for(pace, traffic, requests_per_second=rate, first_token_s=within, share=share)

    rates = [needed(rate=n) for n in (1, 2, 5, 10, 40, 100)]
    assert rates == sorted(rates) and rates[0] < rates[-1]
    promises = [needed(within=n) for n in (4, 1, 0.5, 0.4)]
    assert promises == sorted(promises) and promises[0] < promises[-1]
    shares = [needed(rate=40, within=0.5, share=n) for n in (0.3, 0.8, 0.9, 0.95)]
    assert shares == sorted(shares) and shares[0] < shares[-1]
    peaks = [needed(bursts=n) for n in (1, 3, 10, 30)]
    assert peaks == sorted(peaks) and peaks[0] < peaks[-1]
    assert replicas_for(pace, CHAT, requests_per_second=0.1, first_token_s=2, least=3) == 3


def test_the_replicas_chosen_keep_the_promise_when_played() -> None:
    pace = replica()
    for rate in (2, 12):
        count = replicas_for(pace, CHAT, requests_per_second=rate, first_token_s=0.8)
        played = simulate(
            pace, CHAT, rates_per_second=[rate], replicas=count, first_token_s=0.8, count=40_000
        )
        assert played.kept_share.value > 0.94


def test_a_promise_that_no_replica_keeps_names_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"promise at least 0\.\d+ s"):
        replicas_for(replica(), CHAT, requests_per_second=1, first_token_s=0.1)
    with pytest.raises(ValueError, match="share is 1"):
        replicas_for(replica(), CHAT, requests_per_second=1, first_token_s=1, share=1)


def test_the_curve_rises_to_nearly_all() -> None:
    found = replica_curve(replica(), CHAT, requests_per_second=15, first_token_s=0.8)
    shares = [now.kept_share for _, now in found]
    assert shares == sorted(shares) and shares[-1] > 0.97
    assert [n for n, _ in found] == list(range(found[0][0], found[0][0] + len(found)))
    assert all(now.load_share < 1 for _, now in found)


def test_a_small_cache_is_what_limits() -> None:
    small = pace_of(
        lambda n, c: 10,
        lambda t: 0.01 * t,
        requests=64,
        context_tokens=600,
        longest_tokens=4000,
        cache_tokens=4000,
    )
    large = pace_of(lambda n, c: 10, lambda t: 0.01 * t, requests=64, context_tokens=600, longest_tokens=4000)
    traffic = Traffic(400, 400)
    loads = [answers(pace, traffic, requests_per_second=1).load_share for pace in (small, large)]
    assert loads[0] == pytest.approx(1 / (5 / (399 * 0.01 + 5 * 0.004)), rel=0.05)
    assert loads[0] > 5 * loads[1]


def test_a_model_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit on 1 GPUs"):
        replica_pace(Replica(LLAMA, H100, Setup("bf16")), traffic=CHAT, requests=8)


@pytest.mark.parametrize(
    ("tokens_in", "tokens_out", "places"),
    [(176, 72, 32), (6407, 48, 128), (2000, 100, 64), (604, 390, 32), (1446, 467, 128)],
)
def test_a_full_replica_does_as_much_by_formula_played_and_by_its_times(
    tokens_in: int, tokens_out: int, places: int
) -> None:
    """All work is counted once: what a full replica finishes is the time over the work of a request."""
    traffic = Traffic(tokens_in, tokens_out, 0, 1)
    pace = replica_pace(Replica(LLAMA, H100, SETUP), traffic=traffic, requests=places)
    queue, count = ReplicaQueue(pace, traffic), 60 * places
    out = lengths(tokens_out, 1, shares=np.random.default_rng(1).uniform(size=count))
    given = {"tokens_in": np.full(count, float(tokens_in)), "tokens_out": np.maximum(1, out)}
    ends = np.sort(play(pace, np.zeros(count), **given).done_s)
    played = 0.6 * count / float(ends[int(0.8 * count)] - ends[int(0.2 * count)])
    at = {"requests": queue.most, "tokens_in": tokens_in, "tokens_out": tokens_out}
    by_times = token_rate(Replica(LLAMA, H100, SETUP), **at).value / tokens_out
    assert queue.most_per_second == pytest.approx(played, rel=0.08)
    assert by_times == pytest.approx(played, rel=0.12)
    work_s = prompt_work_ms(Replica(LLAMA, H100, SETUP), tokens_in=tokens_in, requests=queue.most) / 1e3
    assert queue.most_per_second * work_s < 1, "reading prompts takes at most all of the time"
