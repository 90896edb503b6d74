"""Sizes of a replica: faster boards and fewer users never take more GPUs, whatever is asked."""

from __future__ import annotations

from dataclasses import replace

import pytest
from assistants import assistant
from hypothesis import given, settings
from hypothesis import strategies as st
from random_cases import examples

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.models.llm.replicas import Load, Promise
from gpuplan.plan import make_plan
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine, engine_of
from gpuplan.plan.llm.sizing import Asked, arrivals_of, size_of


def asked_of(rate: float, first_s: float, speed: float, **given: float) -> tuple[Engine, Asked]:
    scenario = assistant(first_token_s=first_s, tokens_per_s=speed, **given)
    asks = Asks(scenario, load_catalog(), scenario.groups[0])
    load = Load(float(asks.value("tokens_in")), float(asks.value("tokens_out")), requests_per_second=rate)
    return engine_of(asks), Asked(load, Promise(first_s, speed), arrivals_of(asks), 1)


ASKED = {
    "rate": st.floats(0.05, 200),
    "first_s": st.floats(0.5, 10),
    "speed": st.floats(5, 60),
    "tokens_in": st.integers(50, 20_000),
    "tokens_out": st.integers(2, 2000),
}


@given(gpus=st.sampled_from((2, 4, 8)), more=st.floats(1.01, 3), **ASKED)
@settings(deadline=None, max_examples=examples(40, few=5))
def test_a_faster_board_never_takes_more_replicas(gpus: int, more: float, **case: float) -> None:
    engine, asked = asked_of(**case)
    board = engine.board
    usual = size_of(engine, gpus, asked).found
    for name in ("bandwidth_gb_s", "fp16_tflops", "fp8_tflops", "link_gb_s", "memory_gib"):
        faster = replace(engine, board=replace(board, **{name: more * getattr(board, name)}))
        found = size_of(faster, gpus, asked).found
        if usual is not None:
            assert found is not None and found.replicas <= usual.replicas, name


@given(gpus=st.sampled_from((2, 4, 8)), more=st.floats(1.01, 3), **ASKED)
@settings(deadline=None, max_examples=examples(40, few=5))
def test_more_requests_never_take_fewer_replicas(gpus: int, more: float, **case: float) -> None:
    engine, asked = asked_of(**case)
    usual = size_of(engine, gpus, asked).found
    load = replace(asked.load, requests_per_second=more * asked.load.requests_per_second)
    busier = size_of(engine, gpus, asked._replace(load=load)).found
    assert (usual is None) == (busier is None)
    if usual and busier:
        assert busier.replicas >= usual.replicas
        assert busier.replicas <= more * usual.replicas + 1


def test_another_promise_changes_nothing_else() -> None:
    _, asked = asked_of(1, 2, 20)
    other = asked.promising(first_token_s=3)
    assert other.promise == Promise(3, 20) and other.arrivals.first_token_s == 3
    assert other.promising(first_token_s=2) == asked
    assert asked.promising(tokens_per_second=30).promise == Promise(2, 30)


def test_without_load_it_is_sized_for_requests_that_seldom_meet() -> None:
    engine, asked = asked_of(1, 2, 20)
    none = asked._replace(load=replace(asked.load, requests_per_second=0.0))
    found = size_of(engine, 4, none).found
    assert found and found.replicas == 1 and found.requests == pytest.approx(0, abs=0.1)


def test_users_ask_again_once_they_have_thought_and_read_at_the_promised_pace(catalog: Catalog) -> None:
    made = make_plan(assistant(think_s=28.05), catalog).llm.serving["assistant"]
    assert made.load.requests_per_second == pytest.approx(400 * 0.12 / (28.05 + 2 + 399 / 20))
    stated = make_plan(assistant(requests_per_s=3), catalog).llm.serving["assistant"]
    assert stated.load.requests_per_second == 3


def test_what_is_promised_is_as_stated_or_planned_with(catalog: Catalog) -> None:
    scenario = assistant(first_token_s=1.5, kept_share=0.9)
    found = arrivals_of(Asks(scenario, catalog, scenario.groups[0]))
    assert (found.first_token_s, found.share) == (1.5, 0.9)
    assert found.chunk_tokens == catalog.assumptions["llm-use"].fact("chunk_tokens").value
