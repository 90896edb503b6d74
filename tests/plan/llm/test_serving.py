"""The replicas of a language model: what limits them, what the other sizes take, and the nearest promise that can be kept."""

from __future__ import annotations

import math
from typing import Any

import pytest
from approved import is_approved
from assistants import assistant

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.llm.serving import Serving, why_size
from gpuplan.scenario import ScenarioError


def served(catalog: Catalog, **given: Any) -> Serving:
    return make_plan(assistant(**given), catalog).llm.serving["assistant"]


def refused(catalog: Catalog, **given: Any) -> tuple[str, str]:
    with pytest.raises(ScenarioError) as error:
        make_plan(assistant(**given), catalog)
    [problem] = error.value.problems
    return problem.path.removeprefix("groups.assistant."), problem.message


def test_memory_of_a_replica_adds_up(catalog: Catalog) -> None:
    made = served(catalog)
    held = made.held
    assert sum(held) == pytest.approx(79.2, rel=0.01)  # what the driver of an H100 shows
    # 70.5 x 10^9 parameters of a byte are 65.7 GiB, the tables of tokens take two
    assert 65.7 < held.weights_gib * made.gpus < 69
    assert 0 < made.cache_used_gib <= held.cache_gib


def test_replicas_carry_the_requests_within_the_promises(catalog: Catalog) -> None:
    made = served(catalog, people=4000, kept_share=0.5)
    stay_s = (made.found.first_token_ms.value + made.found.time_per_token_ms.value * 399) / 1e3
    assert made.requests == pytest.approx(made.load.requests_per_second * stay_s, rel=0.02)
    assert made.replicas == math.ceil(made.requests / made.limits.requests)
    for_most = served(catalog, people=4000, first_token_s=0.5)
    assert for_most.replicas * for_most.gpus > made.replicas * made.gpus
    assert for_most.in_time and for_most.limit == "first_token"
    assert made.tokens_per_s.value >= 20 and made.found.first_token_ms.value <= 2000
    fewer, now, more = made.steps
    assert (fewer.replicas, now.replicas, more.replicas) == (
        made.replicas - 1,
        made.replicas,
        made.replicas + 1,
    )
    assert not fewer.keeps and now.keeps and more.keeps
    assert fewer.first_token_s.value > now.first_token_s.value > more.first_token_s.value
    assert made.limit == made.limits.by


def test_for_few_users_availability_decides(catalog: Catalog) -> None:
    made = served(catalog, people=10, replica_gpus=2)
    assert (made.replicas, made.limit) == (2, "availability")
    assert served(catalog, people=10, replica_gpus=2, least_replicas=1).replicas == 1
    assert served(catalog, people=0).replicas == 0


@pytest.mark.parametrize(
    ("name", "more"), [("people", 4000), ("active_share", 0.9), ("tokens_in", 6000), ("tokens_per_s", 50)]
)
def test_more_of_anything_never_takes_fewer_gpus(catalog: Catalog, name: str, more: float) -> None:
    before, after = served(catalog), served(catalog, **{name: more})
    assert after.replicas * after.gpus >= before.replicas * before.gpus


def test_the_size_with_the_fewest_gpus_in_all_is_taken_and_says_why(catalog: Catalog) -> None:
    made = served(catalog, people=4000)
    possible = [size for size in made.sizes if size.found]
    assert made.replicas * made.gpus == min(size.gpus_in_all for size in possible)
    why = why_size(made)
    assert "1/8, 1/4, 1/2: too little memory" in why
    assert all(f"with {size.gpus} it is" in why for size in possible if size.gpus > made.gpus)


def test_a_small_model_takes_a_part_of_a_gpu(catalog: Catalog) -> None:
    small = {"model": "llama-3.1-8b", "people": 20}
    made = served(catalog, **small)
    assert made.gpus < 1
    assert served(catalog, **small, access="passthrough").gpus == 1
    assert served(catalog, **small, replica_gpus=1).gpus == 1


def test_requests_a_second_become_requests_at_once_by_littles_law(catalog: Catalog) -> None:
    made = served(catalog, requests_per_s=10)
    each, first = made.found.time_per_token_ms.value, made.found.first_token_ms.value
    stay_s = (first + each * 399) / 1e3
    assert made.requests == pytest.approx(10 * stay_s, rel=0.02)
    assert served(catalog, requests_per_s=20).replicas >= made.replicas


def test_one_replica_more_or_fewer_is_what_a_plan_with_so_many_gives(catalog: Catalog) -> None:
    """Of stated arrivals fewer are there at once the faster they are answered."""
    for asked in ({"requests_per_s": 11}, {"people": 1600}):
        load: dict[str, Any] = {**asked, "kept_share": 0.5}
        made = served(catalog, least_replicas=1, **load)
        assert made.limit == "speed"
        [fewer, now, more] = made.steps
        assert (fewer.keeps, now.keeps, more.keeps) == (False, True, True)
        planned = served(catalog, least_replicas=more.replicas, replica_gpus=made.gpus, **load)
        assert planned.replicas == made.replicas + 1 and planned.limit == "availability"
        assert more.requests == pytest.approx(planned.found.requests, rel=1e-3)
        assert more.first_token_s.value == pytest.approx(planned.found.first_token_ms.value / 1e3, rel=1e-3)
        assert more.tokens_per_s.value == pytest.approx(planned.tokens_per_s.value, rel=1e-3)


def test_a_context_beyond_the_model_or_the_memory_is_refused(catalog: Catalog) -> None:
    assert is_approved(
        refused(catalog, longest_context=200_000),
        "longest_context",
        "3.3",
        "70B",
        "131\u202f072 tokens",
        "131\u202f072",
    )
    assert refused(catalog, tokens_in=131_000)[0] == "tokens_in"
    assert refused(catalog, longest_context=100)[0] == "longest_context"
    one = {"replica_gpus": 1}
    field, message = refused(catalog, longest_context=60_000, **one)
    most = int(message.split("at most ")[1].replace("\u202f", ""))
    assert (field, 2400 < most < 60_000) == ("longest_context", True)
    assert served(catalog, longest_context=most, tokens_per_s=5, **one).gpus == 1
    assert refused(catalog, longest_context=most + 1, tokens_per_s=5, **one)[0] == "longest_context"


def test_with_too_few_replicas_left_requests_wait_for_a_place(catalog: Catalog) -> None:
    made = served(catalog, people=4000, replica_gpus=2)
    last = made.with_fewer[0]
    assert made.after(0) is None
    assert last.queued > 0 and not last.keeps
    assert made.after(made.replicas) == made.steps[1]
