"""Sessions in a cache: by hand, against a cache played turn by turn, and against published traces."""

from __future__ import annotations

import heapq
import math
import random
from collections import OrderedDict
from dataclasses import replace

import pytest
from random_cases import cases

from gpuplan.models.llm.sessions import (
    Holding,
    Session,
    cache_for_sessions_gib,
    read_spread,
    reused_tokens,
)

AGENT = Holding(
    requests_per_second=1, turns=20, wait_s=15, stay_s=10, request_gib=2, waiting_gib=2, ended_gib=4
)


def kept_sessions_share(sessions: Holding, *, cache_gib: float) -> float:
    """The share that a cache keeps: the inverse of the model, by halving."""
    low, high = 0.0, 1.0 - 1e-12
    for _ in range(60):
        middle = (low + high) / 2
        fits = cache_for_sessions_gib(sessions, kept_share=middle) <= cache_gib
        low, high = (middle, high) if fits else (low, middle)
    return low


def test_a_session_by_hand() -> None:
    session = Session(tokens_in=2000, tokens_out=100, turns=3, turn_tokens=500)
    prompts = (1500, 2000, 2500)
    assert session.last_tokens == 2600
    assert session.repeated_share == pytest.approx(sum(prompts[:2]) / sum(prompts))
    assert session.waiting_tokens == sum(prompts[:2]) / 2 + 100


def test_a_single_request_repeats_and_holds_nothing() -> None:
    single = Session(2000, 400)
    assert (single.repeated_share, single.last_tokens) == (0, 2400)
    assert reused_tokens(single, kept_share=1) == 0
    assert single.shared_tokens == 0
    alone = replace(AGENT, turns=1, wait_s=0)
    assert cache_for_sessions_gib(alone, kept_share=0.99) == cache_for_sessions_gib(alone, kept_share=0)


def test_turns_repeat_what_the_published_replay_of_an_agent_finds() -> None:
    """33 turns from 12,000 tokens, each 2,242 longer: 94.2 % of the prompts are in an unlimited cache."""
    session = Session(12_000 + 16 * 2242, 370, 33, 2242)
    assert session.repeated_share == pytest.approx(0.942, abs=0.01)


CACHES = (0.512, 1.024, 2.048, 4.096, 8.192, 16.384, 32.768)
"""Million tokens."""


def test_a_chat_trace_finds_what_its_cache_keeps() -> None:
    """12,031 requests in 3,537 s, 12,035 tokens in, 343 out; 37.4 % of the tokens with an unlimited cache."""
    session = Session(12_035, 343, 2, 2 * 12_035 / 3)
    sizes = (12_035 + 343, session.waiting_tokens, session.last_tokens)
    chat = Holding(12_031 / 3_537, 2, 150.0, 10.0, *sizes)
    found = [37.4 * kept_sessions_share(chat, cache_gib=1e6 * size) for size in CACHES]
    measured = (4.5, 5.5, 8.7, 18.1, 26.8, 33.9, 36.6)
    assert max(abs(a - b) for a, b in zip(found, measured, strict=True)) < 4


def test_an_agent_replay_loses_its_hits_within_twice_the_sessions_that_fit() -> None:
    """Of a published replay 48 sessions found 93 % of their prompts, 64 found 57 %, and more 4 to 6 %."""

    def hits(sessions: int, fit: int = 50) -> float:
        """Share of a prompt that is found: a turn stays 10 s while its context is there, and waits 5 s for its tools."""
        at = replace(AGENT, turns=33, wait_s=5, request_gib=1, waiting_gib=1, ended_gib=2)
        kept = 1.0
        for _ in range(200):  # a turn that reads all of its context again stays three times as long
            stay = 10 + 20 * (1 - kept)
            one = replace(at, requests_per_second=sessions / (stay + 5), stay_s=stay)
            kept = (kept + kept_sessions_share(one, cache_gib=fit)) / 2
        return 0.97 * kept

    assert hits(40) > 0.9
    assert 0.2 < hits(54) < 0.95
    assert hits(100) < 0.06


def played(of: Holding, cache_gib: float, rng: random.Random, turns: int = 20_000) -> float:
    """Share of the turns that find their context in a cache that gives up what was used longest ago, in pieces."""
    piece, now, found, asked = of.waiting_gib / 50, 0.0, 0.0, 0
    cache: OrderedDict[int, float] = OrderedDict()
    size = running = 0.0
    warm = 3 * of.turns * (of.wait_s + of.stay_s)
    events: list[tuple[float, int, int, int]] = [(0.0, 0, 0, 1)]
    count = 0

    def shrink() -> None:
        nonlocal size
        while cache and size + running > cache_gib:
            oldest = next(iter(cache))
            cut = min(piece, cache[oldest])
            cache[oldest] -= cut
            size -= cut
            if cache[oldest] <= 1e-12:
                del cache[oldest]

    while asked < turns:
        now, kind, session, turn = heapq.heappop(events)
        if kind == 0:  # a session begins; the next one is on its way
            rate = of.requests_per_second / of.turns
            count += 1
            heapq.heappush(events, (now + rng.expovariate(rate), 0, count, 1))
        if kind < 2:
            if turn > 1:
                kept = cache.pop(session, 0.0)
                size -= kept
                asked += now > warm
                found += kept / of.waiting_gib * (now > warm)
            running += of.request_gib
            heapq.heappush(events, (now + rng.expovariate(1 / of.stay_s), 2, session, turn))
        else:
            running -= of.request_gib
            ended = turn >= of.turns
            cache[session] = of.ended_gib if ended else of.waiting_gib
            size += cache[session]
            if not ended:
                heapq.heappush(events, (now + rng.expovariate(1 / of.wait_s), 1, session, turn + 1))
        shrink()
    return found / asked


def test_the_share_is_that_of_a_cache_played_turn_by_turn() -> None:
    for rng in cases(391, 60, few=6):
        at = Holding(
            requests_per_second=rng.uniform(5, 20),
            turns=rng.randint(2, 12),
            wait_s=rng.uniform(5, 30),
            stay_s=rng.uniform(1, 10),
            request_gib=1.0,
            waiting_gib=1.0,
            ended_gib=rng.uniform(1, 2),
        )
        cache = cache_for_sessions_gib(at, kept_share=rng.choice((0.3, 0.6, 0.9)))
        formula = kept_sessions_share(at, cache_gib=cache)
        assert played(at, cache, rng) == pytest.approx(formula, abs=0.08)


def test_more_cache_keeps_more_and_more_sessions_keep_less() -> None:
    for rng in cases(392, 2_000):
        at = Holding(
            rng.uniform(0, 50), rng.randint(1, 100), rng.choice((0.0, rng.uniform(0, 300))), rng.uniform(0, 60),
            rng.uniform(0, 9), rng.uniform(0, 9), rng.uniform(0, 9),
        )  # fmt: skip
        cache = rng.uniform(0, 5_000)
        share = kept_sessions_share(at, cache_gib=cache)
        assert 0 <= share <= 1
        assert kept_sessions_share(at, cache_gib=cache * 1.5) >= share - 1e-9
        for name in ("requests_per_second", "wait_s", "stay_s", "request_gib", "waiting_gib", "ended_gib"):
            more = replace(at, **{name: 1.5 * getattr(at, name)})
            assert kept_sessions_share(more, cache_gib=cache) <= share + 1e-9, name
        if 0 < share < 0.999:
            assert cache_for_sessions_gib(at, kept_share=share) == pytest.approx(cache, rel=1e-3)


def test_hits_beyond_the_turns_are_of_a_beginning_that_all_share() -> None:
    turns = Session(2000, 100, 3, 500).repeated_share
    session = Session(2000, 100, 3, 500, turns + 0.1)
    assert session.shared_tokens == pytest.approx(3 * 0.1 * 2000)
    assert reused_tokens(session, kept_share=1) == pytest.approx((turns + 0.1) * 2000)
    assert reused_tokens(session, kept_share=0) == pytest.approx(200)
    assert Session(2000, 400, hit_share=0.25).shared_tokens == 500
    assert reused_tokens(Session(2000, 100, 3, 500, 0.2), kept_share=1) == pytest.approx(400), (
        "less than turns"
    )
    assert reused_tokens(Session(2000, 100, 3, 500, 0.0), kept_share=1) == 0, "measured: none"


def test_the_spread_of_what_is_read_is_that_of_prompts_drawn_one_by_one() -> None:
    for rng in cases(397, 40, few=4):
        turns, growth = rng.randint(2, 30), 400.0
        session = Session(200 * turns + rng.uniform(500, 9000), 100, turns, growth)
        kept, count = rng.uniform(0, 1), 200_000
        new = session.tokens_in * (1 - session.repeated_share)
        whole = new + session.tokens_in * session.repeated_share / (1 - 1 / turns)
        drawn = [whole if rng.random() > 1 / turns and rng.random() > kept else new for _ in range(count)]
        mean = sum(drawn) / count
        assert mean == pytest.approx(session.tokens_in - reused_tokens(session, kept_share=kept), rel=0.02)
        spread = math.sqrt(sum((each - mean) ** 2 for each in drawn) / count) / mean
        assert read_spread(session, kept_share=kept, spread_in=0) == pytest.approx(spread, abs=0.02)


def test_where_all_are_kept_the_spread_is_that_of_the_prompts() -> None:
    for session in (Session(2000, 100), Session(2000, 100, 5, 300), Session(2000, 100, 5, 300, 0.95)):
        assert read_spread(session, kept_share=1, spread_in=0.7) == pytest.approx(0.7)


def test_recurrent_models_lose_half_a_page() -> None:
    session = Session(48_000, 370, 33, 2200)
    whole = reused_tokens(session, kept_share=1)
    assert reused_tokens(session, kept_share=1, page_tokens=1600) == whole - 800
    assert reused_tokens(Session(1000, 100, 2, 500), kept_share=1, page_tokens=1600) == 0


def test_at_least_one_token_is_read() -> None:
    assert reused_tokens(Session(2000, 100, hit_share=1.0), kept_share=1) == 1999


@pytest.mark.parametrize(
    "of",
    [{"turns": 0}, {"turn_tokens": -1}, {"turns": 5, "turn_tokens": 1000}, {"tokens_in": 0}, {"turns": 1.5}],
)
def test_a_session_that_is_none_is_refused(of: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(of)) if len(of) == 1 else "turn_tokens"):
        Session(**{"tokens_in": 2000, "tokens_out": 100, **of})  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [-0.1, 1.0, math.nan])
def test_a_share_that_cannot_be_kept_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="kept_share"):
        cache_for_sessions_gib(AGENT, kept_share=share)


@pytest.mark.parametrize("name", ["wait_s", "stay_s", "request_gib", "waiting_gib", "ended_gib"])
def test_a_time_or_size_below_nothing_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        replace(AGENT, **{name: -1.0})
