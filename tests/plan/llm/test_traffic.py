"""Inputs of a group say how its requests come, and a warning says where too few of them start in time."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.llm.traffic import GroupTraffic, per_second, traffic_of


def traffic(catalog: Catalog, **given: object) -> GroupTraffic:
    plan = make_plan(assistant(**given), catalog)  # type: ignore[arg-type]
    return traffic_of(plan.scenario, catalog, plan.llm.serving["assistant"])


def test_what_is_not_stated_is_a_planning_value(catalog: Catalog) -> None:
    known = catalog.assumptions["llm-use"].facts
    found = traffic(catalog)
    assert found.traffic.spread_in == known["spread_in"].value
    assert found.traffic.peakedness == known["peakedness"].value == 1
    assert found.share == known["kept_share"].value == 0.95
    assert found.pace.chunk_tokens == known["chunk_tokens"].value


def test_what_is_stated_holds(catalog: Catalog) -> None:
    found = traffic(catalog, spread_in=0.2, spread_out=0.7, peakedness=4, kept_share=0.9)
    assert (found.traffic.spread_in, found.traffic.spread_out, found.traffic.peakedness) == (0.2, 0.7, 4)
    assert found.share == 0.9
    assert found.planned.p95_s > traffic(catalog, spread_in=0.2, spread_out=0.7).planned.p95_s


def test_users_without_a_rate_are_as_many_as_stay(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    assert per_second(plan.llm.serving["assistant"]) == traffic(catalog).per_second


def test_a_promise_for_95_of_100_that_the_mean_keeps_is_warned_of(catalog: Catalog) -> None:
    def said(**given: object) -> list[str]:
        plan = make_plan(assistant(**given), catalog)  # type: ignore[arg-type]
        return [m.text + m.change for m in check_plan(plan) if m.code == "first-token-late"]

    assert said() == []
    late = said(first_token_s=0.8, requests_per_s=30)
    assert "95 % of them should start within 0.8 s" in late[0] and "replicas" in late[0]
    with_more = traffic(catalog, first_token_s=0.8, requests_per_s=30).needed.replicas
    assert with_more is not None and f"Plan at least {with_more} replicas" in late[0]
    assert said(first_token_s=0.8, requests_per_s=30, least_replicas=with_more) == []
    assert "Take more GPUs per replica" in said(first_token_s=0.55, requests_per_s=3, spread_in=1)[0]


def test_a_queue_that_grows_has_no_wait(catalog: Catalog) -> None:
    plan = make_plan(assistant(requests_per_s=40, first_token_s=2.5, tokens_per_s=1), catalog)
    few = next(m for m in check_plan(plan) if m.code == "first-token-late")
    of = traffic_of(plan.scenario, catalog, plan.llm.serving["assistant"])
    assert ("the queue keeps growing" in few.text) == (of.planned.load_share >= 1)
    assert "inf" not in few.text


@pytest.mark.parametrize("name", ["spread_in", "spread_out", "peakedness", "kept_share"])
def test_the_trail_knows_them(catalog: Catalog, name: str) -> None:
    plan = make_plan(assistant(), catalog)
    assert plan.scenario.fact(f"groups.assistant.{name}").value is None
