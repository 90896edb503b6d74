"""Groups made of a trace of requests ask for what the trace did; what it does not say stays as the design has it."""

from __future__ import annotations

import numpy as np
import pytest
from assistants import assistant
from traces import MONDAY, READING

from gpuplan.audit import Requests, audit, serving_scenario, suggest_groups, suggest_serving
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.scenario import from_dict


def trace(days: int = 1, by_day: bool = False) -> Requests:
    chance = np.random.default_rng(1)
    time = np.sort(chance.uniform(0, days * 86400, 3000 * days))
    if by_day:
        time = time[(time // 3600 % 24 >= 8) & (time // 3600 % 24 < 18)]
    count = len(time)
    return Requests(
        time_s=MONDAY + time,
        tokens_in=np.full(count, 1500.0),
        tokens_out=chance.integers(50, 151, count).astype(float),
        group=(np.arange(count) % 3 == 0).astype(int),
        groups=("chat", "code"),
        reading=READING,
    )


def test_each_group_has_its_rate_and_lengths() -> None:
    chat, code = suggest_serving(audit(trace()))
    assert (chat.name, code.name) == ("chat", "code")
    assert chat.requests_per_s == pytest.approx(2 * code.requests_per_s, rel=0.3)
    assert chat.tokens_in == 1500 and chat.tokens_out == pytest.approx(100, abs=3)
    assert chat.spread_in == 0 and chat.spread_out == pytest.approx(0.29, abs=0.02)
    assert chat.peakedness == pytest.approx(1, abs=0.15)
    assert chat.longest_context == 1650
    assert chat.hours == "00:00-24:00", "one day says nothing about habits"


def test_hours_show_in_two_weeks() -> None:
    assert {group.hours for group in suggest_serving(audit(trace(14, by_day=True)))} == {"08:00-18:00"}


def test_jobs_and_samples_give_none() -> None:
    found = audit(trace())
    assert suggest_groups(found) == ()


def test_model_and_promises_are_those_of_the_design_and_other_groups_stay(catalog: Catalog) -> None:
    beside = {"id": "science", "name": "Science", "use_case": "ds-workstation", "people": 4, "gpus_each": 1}
    base = assistant(beside=(beside,), first_token_s=3)
    made = serving_scenario(base, suggest_serving(audit(trace())), "log.csv")
    assert [group.name for group in made.groups] == ["Science", "chat", "code"]
    chat = made.groups[1]
    assert (chat.model, chat.weights, chat.first_token_s) == ("llama-3.3-70b", "fp8", 3)
    assert made.fact("groups.chat.tokens_in").basis == "measured"
    plan = make_plan(made, catalog)
    assert set(plan.llm.serving) == {"chat", "code"}


def test_a_model_can_be_named_and_without_one_there_is_none() -> None:
    groups = suggest_serving(audit(trace()))
    assert serving_scenario(from_dict({}), groups, model="qwen3-0.6b").groups[0].model == "qwen3-0.6b"
    assert serving_scenario(from_dict({}), groups).groups[0].model is None
