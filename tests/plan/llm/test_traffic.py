"""Inputs of a group say how its requests come, and its replicas keep the promise for enough of them."""

from __future__ import annotations

import re

import pytest
from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.llm.arrivals import per_second
from gpuplan.plan.llm.traffic import GroupTraffic, traffic_of
from gpuplan.scenario import ScenarioError


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
    made = plan.llm.serving["assistant"]
    assert per_second(made.found, made.load) == traffic(catalog).per_second


@pytest.mark.parametrize(
    "given", [{"first_token_s": 0.8, "requests_per_s": 30}, {"requests_per_s": 40, "tokens_per_s": 1}]
)
def test_there_are_as_many_replicas_as_keep_the_promise_for_95_of_100(
    catalog: Catalog, given: dict[str, float]
) -> None:
    given |= {"replica_gpus": 4}
    of = traffic(catalog, **given)
    assert of.planned.load_share < 1 and of.planned.kept_share >= 0.95
    assert of.with_replicas(of.replicas - 1).kept_share < 0.95
    more = traffic(catalog, **given, kept_share=0.97)
    assert more.replicas >= of.replicas and more.planned.kept_share >= 0.97


def test_a_share_in_time_that_no_number_of_replicas_keeps_is_refused_with_the_nearest(
    catalog: Catalog,
) -> None:
    with pytest.raises(
        ScenarioError, match=r"95 % of the requests should start in time: at least ([\d.]+),"
    ) as error:
        traffic(catalog, first_token_s=0.2, requests_per_s=3, spread_in=1)
    nearest = float(re.search(r"at least ([\d.]+),", str(error.value))[1])  # type: ignore[index]
    assert traffic(catalog, first_token_s=nearest, requests_per_s=3, spread_in=1).planned.kept_share >= 0.95


@pytest.mark.parametrize("name", ["spread_in", "spread_out", "peakedness", "kept_share"])
def test_the_trail_knows_them(catalog: Catalog, name: str) -> None:
    plan = make_plan(assistant(), catalog)
    assert plan.scenario.fact(f"groups.assistant.{name}").value is None
