"""Speculative decoding and adapters: published acceptance and gains, limits, directions."""

from __future__ import annotations

from dataclasses import replace

import pytest
from random_cases import cases

from gpuplan.models.llm.memory import beside_gib, request_gib, requests_at_once
from gpuplan.models.llm.serving import decode_step_ms, first_token_ms, prompt_work_ms, time_per_token_ms
from gpuplan.models.llm.shape import Adapters, Board, Draft, Setup, Shape
from gpuplan.models.llm.speculation import speculation_gain, tokens_per_step
from gpuplan.models.llm.speeds import Replica

SMALL = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)  # fmt: skip
LARGE = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)  # fmt: skip
HYBRID = Shape(80, 3, layers=48, hidden_size=2048, heads=16, vocabulary=151936, context_tokens=262144, kv_heads=2, head_size=256, full_layers=12, state_mb=75, experts=512, experts_per_token=10)  # fmt: skip
H100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)


PLAIN = Draft()


def on(shape: Shape = SMALL, draft: Draft = PLAIN, **setup: object) -> Replica:
    return Replica(shape, H100, Setup(draft=draft, **setup))  # type: ignore[arg-type]


@pytest.mark.parametrize(("drafts", "published"), [(1, 1.66), (3, 2.25), (5, 2.48), (7, 2.58)])
def test_acceptance_in_chat_is_that_of_the_published_study(drafts: int, published: float) -> None:
    assert tokens_per_step(drafts, accept_share=0.62) == pytest.approx(published, rel=0.03)


def test_all_accepted_or_none() -> None:
    assert tokens_per_step(4, accept_share=1) == 5
    assert tokens_per_step(4, accept_share=0) == 1


CHAT = Draft(3, 2.25, 0.12)


@pytest.mark.parametrize(
    ("shape", "setup", "at_32"),
    [(SMALL, {}, 0.957), (LARGE, {"tensor": 4}, 0.86), (LARGE, {"weights": "fp8", "tensor": 2}, 0.86)],
)
def test_the_gain_falls_with_load_as_published(shape: Shape, setup: dict[str, object], at_32: float) -> None:
    """1.65 for a single request, and of that a known part at 32; 1.1 to 1.4 at 64; with three drafts."""
    replica = on(shape, CHAT, **setup)
    gains = [speculation_gain(replica, requests=n, context_tokens=1000) for n in (1, 32, 64, 128)]
    assert gains[0] == pytest.approx(1.65, rel=0.05)
    assert gains == sorted(gains, reverse=True)
    assert gains[1] / gains[0] == pytest.approx(at_32, abs=0.08)
    assert 1.1 < gains[2] < 1.45
    assert 0.9 < gains[3] < 1.4


def test_the_gain_left_at_128_requests_is_as_published() -> None:
    replica = on(SMALL, Draft(3, 2.38, 0.12))
    assert speculation_gain(replica, requests=128, context_tokens=800) == pytest.approx(1.21, rel=0.1)


def test_drafts_that_agents_seldom_accept_lose_on_a_busy_replica() -> None:
    replica = on(SMALL, Draft(7, 1.43, 0.1))
    assert speculation_gain(replica, requests=256, context_tokens=1000) < 1


def test_without_drafts_nothing_is_gained() -> None:
    assert speculation_gain(on(), requests=8, context_tokens=1000) == 1


def test_more_accepted_is_faster_and_more_drafted_at_the_same_is_slower() -> None:
    for rng in cases(393, 400):
        drafts = rng.randint(1, 8)
        accepted = rng.uniform(1, 1 + drafts)
        at = {"requests": rng.randint(1, 400), "context_tokens": rng.uniform(10, 50_000)}
        now = decode_step_ms(on(draft=Draft(drafts, accepted, 0.1)), **at)
        assert decode_step_ms(on(draft=Draft(drafts, 1 + drafts, 0.1)), **at) <= now
        assert decode_step_ms(on(draft=Draft(drafts + 1, accepted, 0.1)), **at) > now
        most = decode_step_ms(on(), **at)
        assert now >= most / (1 + drafts), "a step is never shorter than without drafts"


def test_drafting_takes_less_than_a_tenth_of_weights_and_cache() -> None:
    for shape in (SMALL, LARGE):
        drafted, plain = Setup(draft=CHAT), Setup()
        assert 0 < beside_gib(shape, setup=drafted) < 0.1 * shape.total_parameters * 2e9 / 2**30
        caches = [request_gib(shape, setup=setup, tokens=4096) for setup in (drafted, plain)]
        assert 1 < caches[0] / caches[1] < 1.1


def test_a_recurrent_model_keeps_a_state_for_each_draft() -> None:
    plain, drafted = (request_gib(HYBRID, setup=Setup(draft=draft), tokens=1) for draft in (Draft(), CHAT))
    assert drafted / plain == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(("rank", "mib"), [(8, 40), (16, 80), (32, 160), (64, 320)])
def test_an_adapter_of_the_8b_model_takes_the_published_memory(rank: int, mib: float) -> None:
    assert 1024 * beside_gib(SMALL, setup=Setup(adapters=Adapters(1, rank))) == pytest.approx(mib, rel=0.01)


def test_an_adapter_of_the_70b_model_takes_the_published_memory() -> None:
    assert 1024 * beside_gib(LARGE, setup=Setup(adapters=Adapters(1, 16))) == pytest.approx(395, rel=0.01)


def test_slots_are_reserved_for_all_adapters_and_gpus_share_the_output_side_only() -> None:
    one, eight = (beside_gib(LARGE, setup=Setup(adapters=Adapters(n, 16))) for n in (1, 8))
    cut = beside_gib(LARGE, setup=Setup(tensor=4, adapters=Adapters(8, 16)))
    assert eight == pytest.approx(8 * one)
    assert eight / 4 < cut < eight
    rooms = [
        requests_at_once(SMALL, setup=Setup(adapters=Adapters(n, 64)), memory_gib=79.19, tokens=4096)
        for n in (0, 8, 64)
    ]
    assert rooms == sorted(rooms, reverse=True)
    assert rooms[0] > rooms[2]


def test_adapters_slow_every_step_and_prompt_however_many_they_are() -> None:
    of = {"requests": 16.0, "tokens_in": 1000.0, "tokens_out": 200.0}
    plain, one, many = (on(adapters=Adapters(n, 16, 0.8 if n else 1.0)) for n in (0, 1, 40))
    for time in (time_per_token_ms, first_token_ms):
        assert time(one, **of) == time(many, **of)
    assert time_per_token_ms(one, **of).value == pytest.approx(time_per_token_ms(plain, **of).value / 0.8)


def test_tokens_that_the_cache_holds_are_attended_to_and_not_read() -> None:
    whole, rest = on(), on(cached_tokens=30_000.0)
    assert prompt_work_ms(rest, tokens_in=2_000) > prompt_work_ms(whole, tokens_in=2_000)
    assert prompt_work_ms(rest, tokens_in=2_000) < prompt_work_ms(whole, tokens_in=32_000) / 4
    step = decode_step_ms(whole, requests=16, context_tokens=32_200)
    assert decode_step_ms(rest, requests=16, context_tokens=2_200) == pytest.approx(step)
    each = request_gib(SMALL, setup=whole.setup, tokens=32_400)
    assert request_gib(SMALL, setup=rest.setup, tokens=2_400) == pytest.approx(each)


def test_a_prompt_read_in_two_parts_is_the_work_of_the_whole() -> None:
    """Its second part attends to the first: products and attention add up."""
    setup = replace(on().setup, cached_tokens=6_000.0)
    parts = [
        prompt_work_ms(replica, tokens_in=tokens)
        for replica, tokens in ((on(), 6_000), (Replica(SMALL, H100, setup), 4_000))
    ]
    assert sum(parts) == pytest.approx(prompt_work_ms(on(), tokens_in=10_000), rel=0.02)


@pytest.mark.parametrize(
    ("of", "name"),
    [
        (lambda: Setup(draft=Draft(3, 0.9)), "accepted"),
        (lambda: Setup(draft=Draft(3, 4.1)), "accepted"),
        (lambda: Setup(draft=Draft(0, 1.5)), "accepted"),
        (lambda: Setup(draft=Draft(-1)), "tokens"),
        (lambda: Setup(adapters=Adapters(-1)), "count"),
        (lambda: Setup(adapters=Adapters(1, 0)), "rank"),
        (lambda: Setup(adapters=Adapters(1, 16, 1.2)), "speed_share"),
        (lambda: Setup(cached_tokens=-1), "cached_tokens"),
        (lambda: Setup(sequences=0), "sequences"),
    ],
)
def test_a_setting_that_is_none_is_refused(of: object, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        of()  # type: ignore[operator]
