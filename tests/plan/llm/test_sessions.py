"""Sessions in a plan: hits that depend on the replicas, directions, kinds of use, and what is refused."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from assistants import assistant
from random_cases import cases

from gpuplan import Plan, ScenarioError, check_plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.llm.replicas import Promise
from gpuplan.plan.llm.asks import BEHIND, Asks
from gpuplan.plan.llm.engine import Engine, engine_of
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.llm.sessions import LEVELS, Reuse, reuse_of, session_of
from gpuplan.plan.llm.sizing import Asked, arrivals_of, load_of, promised_stay_s, size_of
from gpuplan.scenario import GROUP_FIELD_BY_NAME

AGENTS: dict[str, Any] = {"use_kind": "agent", "tokens_in": None, "tokens_out": None}


def served(catalog: Catalog, **given: Any) -> tuple[Plan, Serving]:
    plan = make_plan(assistant(**given), catalog)
    return plan, plan.llm.serving["assistant"]


def asked_of(catalog: Catalog, **given: Any) -> tuple[Engine, Asked]:
    """The engine of an assistant, and what is asked of it."""
    scenario = assistant(**given)
    asks = Asks(scenario, catalog, scenario.groups[0])
    engine = engine_of(asks)
    promise = Promise(float(asks.value("first_token_s")), float(asks.value("tokens_per_s")))
    reuse = reuse_of(asks, engine, promised_stay_s(asks))
    return engine, Asked(load_of(asks), promise, arrivals_of(asks), 1, reuse)


def test_new_inputs_are_those_of_a_group_and_stay_empty() -> None:
    assert set(BEHIND) <= set(GROUP_FIELD_BY_NAME)
    assert all(GROUP_FIELD_BY_NAME[name].optional for name in BEHIND)


NEUTRAL = {"turns": 1, "tool_s": 0, "hit_share": 0, "draft_tokens": 0, "adapters": 0, "turn_tokens": 0}


def test_inputs_that_say_what_is_assumed_change_nothing(catalog: Catalog) -> None:
    plan, plain = served(catalog)
    said, stated = served(catalog, **NEUTRAL)
    assert plain.reuse is None and plain.draft_gain == 1
    assert stated == replace(plain, asks=stated.asks)
    numbers = [{key: line.value for key, line in each.lines.items()} for each in (plan, said)]
    assert numbers[0] == numbers[1]


def test_an_agent_reads_only_what_is_new(catalog: Catalog) -> None:
    plan, made = served(catalog, **AGENTS, people=1000)
    assert made.reuse is not None
    hits, read = (plan.lines[f"groups.assistant.{name}"] for name in ("hit_share", "read_tokens"))
    assert 90 < hits.value < 94.2
    assert read.value == pytest.approx(47_900 * (1 - hits.value / 100), rel=0.01)
    assert {"vllm-mooncake-store", "tracelab", "che-lru-2002"} <= {
        *hits.sources,
        *plan.lines["groups.assistant.sessions_kept"].sources,
    }
    [*_, many] = (served(catalog, **AGENTS, people=people)[1] for people in (400, 4000))
    assert many.limit == "sessions"


def test_sessions_that_fit_in_no_cache_read_their_prompts_again(catalog: Catalog) -> None:
    """Long waits: keeping all of them takes more GPUs than reading again."""
    at = {
        "turns": 20,
        "tokens_in": 4000,
        "turn_tokens": 300,
        "tool_s": 3000,
        "people": 40_000,
        "first_token_s": 5,
    }
    plan, made = served(catalog, **at)
    assert made.reuse is not None and made.size.sessions < 0.9
    assert made.size.for_all_sessions > made.replicas
    (message,) = [each for each in check_plan(plan) if each.code == "sessions-not-kept"]
    assert str(made.size.for_all_sessions) in message.change.replace(",", "").replace("\u202f", "")


@pytest.mark.parametrize("wish", [{"tokens_per_s": 500}, {"first_token_s": 0.05}])
def test_sessions_with_a_promise_beyond_the_hardware_get_the_nearest_one(
    catalog: Catalog, wish: dict[str, float]
) -> None:
    for kind in ("agent", "chat", "coding"):
        plan, made = served(catalog, use_kind=kind, tokens_in=None, tokens_out=None, **wish)
        assert made.replicas
        assert any(message.code.startswith("promise-") for message in check_plan(plan)), kind


def test_with_fewer_replicas_fewer_sessions_are_kept(catalog: Catalog) -> None:
    _, made = served(catalog, **AGENTS, people=1500)
    waits = [step.first_token_s.value for step in made.with_fewer]
    assert waits == sorted(waits, reverse=True)
    assert waits[0] > waits[-1]


def drawn(rng: random.Random) -> dict[str, Any]:
    """Inputs of a group with sessions."""
    turns = rng.choice((1, 2, 5, 30, 100))
    tokens = rng.choice((1000, 8000, 40_000))
    growth = int(rng.uniform(0, 1.9) * tokens / (turns - 1)) if turns > 1 and rng.random() < 0.7 else None
    return {
        "people": rng.randint(1, 3000),
        "tokens_in": tokens,
        "tokens_out": rng.choice((50, 400, 1500)),
        "turns": turns,
        "turn_tokens": growth,
        "tool_s": rng.choice((0, 5, 60, 600)),
        "think_s": rng.choice((0, 60)),
        "hit_share": rng.choice((None, None, 0.2, 0.6, 0.9)),
        "first_token_s": rng.choice((1, 3, 10)),
        "tokens_per_s": rng.choice((10, 25)),
        "draft_tokens": rng.choice((0, 0, 3)),
        "adapters": rng.choice((0, 0, 4)),
        "sequences": rng.choice((None, 8, 64)),
    }


def test_any_session_gives_a_plan_or_a_refusal_that_names_an_input(catalog: Catalog) -> None:
    for rng in cases(399, 200, few=10):
        given = {
            **drawn(rng),
            "first_token_s": rng.choice((0.05, 1, 20)),
            "tokens_per_s": rng.choice((1, 60, 900)),
        }
        model = rng.choice(("llama-3.1-8b", "llama-3.3-70b", "qwen3-next-80b-a3b", "gpt-oss-120b"))
        try:
            plan, made = served(catalog, **given, model=model, weights=rng.choice((None, "fp8")))
        except ScenarioError as error:
            assert all(problem.path.startswith("groups.assistant.") for problem in error.problems)
            continue
        assert made.replicas and 0 <= made.hit_share < 1
        assert plan.lines["groups.assistant.replicas"].value == made.replicas


def needed(engine: Engine, asked: Asked) -> dict[float, float]:
    """GPUs of all replicas by the GPUs of each."""
    return {gpus: size_of(engine, gpus, asked).gpus_in_all for gpus in (2, 4, 8)}


def test_more_users_never_take_fewer_replicas(catalog: Catalog) -> None:
    for rng in cases(394, 300, few=12):
        given = drawn(rng)
        few, many = (
            needed(*asked_of(catalog, **{**given, "people": int(times * given["people"]) + 1}))
            for times in (1, 1.3)
        )
        assert all(few[gpus] <= many[gpus] for gpus in few), given


def test_longer_tool_times_at_the_same_arrivals_never_take_fewer_replicas(catalog: Catalog) -> None:
    """A session holds its cache while its tools run."""
    for rng in cases(398, 300, few=12):
        given = {**drawn(rng), "requests_per_s": rng.choice((0.2, 3, 40))}
        short, long = (
            needed(*asked_of(catalog, **{**given, "tool_s": seconds})) for seconds in (given["tool_s"], 900)
        )
        assert all(short[gpus] <= long[gpus] for gpus in short), given
    agents = {**AGENTS, "requests_per_s": 2, "people": 1}
    few, many = (served(catalog, **agents, tool_s=seconds)[1] for seconds in (1, 120))
    assert few.replicas * few.gpus < many.replicas * many.gpus


SPEEDS = ("bandwidth_gb_s", "fp16_tflops", "fp8_tflops", "link_gb_s")


def test_more_memory_or_a_faster_board_never_takes_more(catalog: Catalog) -> None:
    for rng in cases(395, 300, few=12):
        given = drawn(rng)
        engine, asked = asked_of(catalog, **given)
        now = needed(engine, asked)
        board = engine.board
        for better in (
            replace(board, memory_gib=1.4 * board.memory_gib),
            replace(board, **{name: 1.4 * getattr(board, name) for name in SPEEDS}),
        ):
            then = needed(replace(engine, board=better), asked)
            assert all(then[gpus] <= now[gpus] for gpus in now), given


def test_a_size_keeps_the_sessions_that_it_counts_on(catalog: Catalog) -> None:
    """The fixed point: with the replicas that it needs, the cache gives at least the hits with which they were counted."""
    for rng in cases(396, 300, few=20):
        engine, asked = asked_of(catalog, **drawn(rng))
        if asked.reuse is None:
            continue
        for gpus in (2, 8):
            size = size_of(engine, gpus, asked)
            if size.found:
                rate = asked.load.requests_per_second
                assert asked.reuse.level(engine, gpus, rate, size.found.replicas) >= size.sessions
                assert size.found.replicas >= size.for_sessions


def test_levels_are_of_all_down_to_none(catalog: Catalog) -> None:
    engine, asked = asked_of(catalog, **AGENTS)
    reuse = asked.reuse
    assert isinstance(reuse, Reuse) and LEVELS[-1] == 0
    least = [reuse.least(engine, 4, 2.0, level) for level in LEVELS]
    assert least == sorted(least, reverse=True)
    assert reuse.level(engine, 4, 2.0, least[0]) == LEVELS[0]
    assert reuse.level(engine, 4, 2.0, 1) < LEVELS[0]


@pytest.mark.parametrize("kind", GROUP_FIELD_BY_NAME["use_kind"].choices)
def test_a_kind_of_use_gives_a_plan_with_published_or_assumed_values(catalog: Catalog, kind: str) -> None:
    plan, made = served(catalog, use_kind=kind, tokens_in=None, tokens_out=None)
    assert made.replicas >= 2
    item = catalog.assumptions[f"llm-use-{kind}"]
    assert all(fact.basis in ("measured", "fitted", "derived", "assumed") for fact in item.facts.values())
    assert (made.reuse is None) == (kind == "rag")
    assert plan.scenario.groups[0].turns is None


def test_what_is_stated_goes_before_the_kind(catalog: Catalog) -> None:
    scenario = assistant(**AGENTS, turns=4, tool_s=1)
    asks = Asks(scenario, catalog, scenario.groups[0])
    assert (session_of(asks).turns, asks.value("tool_s"), asks.value("turn_tokens")) == (4, 1, 2242)
    _, made = served(catalog, **AGENTS, turns=4, first_token_s=20)
    assert made.reuse is not None and made.reuse.session.hit_share is None, (
        "hits of other turns than published"
    )


def test_tools_make_requests_rarer_and_hold_more(catalog: Catalog) -> None:
    quick, slow = (served(catalog, turns=10, tool_s=seconds)[1] for seconds in (0, 60))
    assert slow.load.requests_per_second < quick.load.requests_per_second
    assert slow.reuse is not None and slow.reuse.wait_s == 60


HYBRID = {"model": "qwen3-next-80b-a3b", "weights": "fp8"}


def test_a_recurrent_model_reuses_pages_and_nothing_with_drafts(catalog: Catalog) -> None:
    _, plain = served(catalog, **HYBRID, turns=10, tokens_in=20_000)
    drafted, made = served(catalog, **HYBRID, turns=10, tokens_in=20_000, draft_tokens=2)
    whole = plain.reuse
    assert whole is not None and whole.page_tokens == 1600
    assert plain.cached_tokens > 0 == made.cached_tokens
    assert "drafts-without-reuse" in {message.code for message in check_plan(drafted)}


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ({"turns": 5, "turn_tokens": 1000}, "turn_tokens"),
        ({"turns": 100, "turn_tokens": 2500, "tokens_in": 125_000}, "turns"),
        ({"turns": 10, "turn_tokens": 400, "longest_context": 4000}, "turns"),
        ({"draft_tokens": 2, "accepted_tokens": 3.5}, "accepted_tokens"),
        ({"accepted_tokens": 2.3}, "accepted_tokens"),
        ({"adapters": 500, "adapter_rank": 64}, "adapters"),
    ],
)
def test_what_cannot_be_is_refused_by_its_input(catalog: Catalog, given: dict[str, Any], path: str) -> None:
    with pytest.raises(ScenarioError) as error:
        make_plan(assistant(**given), catalog)
    assert [problem.path for problem in error.value.problems] == [f"groups.assistant.{path}"]


def test_the_most_adapters_that_are_named_fit(catalog: Catalog) -> None:
    engine, _ = asked_of(catalog, adapters=500, adapter_rank=64)
    most = engine.most_adapters(8)
    assert served(catalog, adapters=most, adapter_rank=64)[1].replicas >= 2


def test_the_engine_takes_no_more_than_it_is_set_to(catalog: Catalog) -> None:
    plan, made = served(catalog, sequences=4, people=3000)
    assert made.limits.requests == 4
    assert plan.lines["groups.assistant.replica_requests"].given["sequences"].value == 4
    assert made.replicas > served(catalog, people=3000)[1].replicas


@pytest.mark.parametrize(
    ("gpu", "setup", "most"),
    [
        ("h100-sxm5-80gb", None, 1024),
        ("a100-sxm4-80gb", None, 256),
        ("l40s-48gb", None, 256),
        ("l40s-48gb", "tuned", 4096),
    ],
)
def test_without_a_setting_the_engine_takes_what_its_maker_set(
    catalog: Catalog, gpu: str, setup: str | None, most: int
) -> None:
    scenario = assistant({"gpu": gpu}, engine_setup=setup)
    assert engine_of(Asks(scenario, catalog, scenario.groups[0])).setup.sequences == most


def test_drafts_help_a_few_and_are_said_to_harm_a_busy_replica(catalog: Catalog) -> None:
    few, made = served(catalog, draft_tokens=3, people=10)
    assert made.draft_gain > 1.4
    assert "speculation-slower" not in {message.code for message in check_plan(few)}
    at = {"draft_tokens": 7, "accepted_tokens": 1.3, "tokens_per_s": 5, "people": 20_000}
    busy, slower = served(catalog, **at)
    assert slower.draft_gain < 1
    assert "speculation-slower" in {message.code for message in check_plan(busy)}


def test_lines_name_what_adapters_and_drafts_hold(catalog: Catalog) -> None:
    plan, _ = served(catalog, adapters=8, draft_tokens=3)
    without, _ = served(catalog)
    at = "groups.assistant."
    assert plan.lines[f"{at}step_tokens"].value == pytest.approx(1 + 0.62 + 0.62**2 + 0.62**3)
    assert plan.lines[f"{at}beside_gib"].value > 3
    assert plan.lines[f"{at}weights_gib"].value == pytest.approx(without.lines[f"{at}weights_gib"].value)
    assert plan.lines[f"{at}cache_gib"].given["beside"].key == f"{at}beside_gib"
