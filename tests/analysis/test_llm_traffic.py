"""Traffic on a planned model: rates by Little's law, the day by the group's hours, replicas and replays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from assistants import assistant

from gpuplan.analysis.llm_traffic import GroupTraffic, played, replayed, serving_weeks, traffic_of
from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan


def traffic(catalog: Catalog, **given: object) -> GroupTraffic:
    return traffic_of(make_plan(assistant(**given), catalog), "assistant")  # type: ignore[arg-type]


def test_users_at_once_become_requests_a_second(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    made = plan.llm.serving["assistant"]
    found = traffic_of(plan, "assistant")
    stay = (made.found.first_token_ms.value + 399 * made.found.time_per_token_ms.value) / 1e3
    assert found.per_second == pytest.approx(48 / (2 + 399 / 20)), (
        "400 users, 12 % at once, at the promised pace"
    )
    assert found.per_second * stay == pytest.approx(made.requests, rel=0.01)
    assert found.replicas == made.replicas and found.first_token_s == 2
    assert found.pace.requests == made.limits.memory


def test_requests_a_second_are_as_stated(catalog: Catalog) -> None:
    assert traffic(catalog, requests_per_s=7.5).per_second == 7.5


def test_the_day_is_that_of_the_group(catalog: Catalog) -> None:
    day = traffic(catalog, requests_per_s=4, hours="08:00-18:00", off_hours_share=0.03).day_per_second
    assert day == pytest.approx([1.0] * 8 + [4.0] * 10 + [1.0] * 6)
    around = traffic(catalog, requests_per_s=4, hours="00:00-24:00", days="every-day").day_per_second
    assert around == pytest.approx([4.0] * 24)


def test_the_planned_replicas_by_formula_and_simulation(catalog: Catalog) -> None:
    found = traffic(catalog)
    simulated = played(found, count=30_000)
    assert found.planned.p95_s == pytest.approx(simulated.p95_s.value, rel=0.2)
    assert played(found, replicas=found.replicas + 3, count=30_000).mean_s.value < simulated.mean_s.value
    assert len(played(found, day=True, count=5_000).by_part_p95_s) in (1, 24)


def test_replicas_for_the_share(catalog: Catalog) -> None:
    found = traffic(catalog, requests_per_s=40, first_token_s=1.0)
    count = found.needed.replicas
    assert count is not None
    assert found.with_replicas(count).kept_share >= 0.95 > found.with_replicas(count - 1).kept_share
    assert dict(found.curve)[count].kept_share >= 0.95
    broken = replace(found, first_token_s=0.2)
    assert broken.needed.replicas is None and "promise at least" in broken.needed.why


def test_the_most_that_replicas_carry_is_just_kept(catalog: Catalog) -> None:
    found = traffic(catalog)
    most = found.most_per_second(20)
    assert most >= found.per_second, "as many replicas are planned as keep the promises"
    at_most, beyond = (replace(found, per_second=rate).planned for rate in (most, 1.01 * most))
    assert at_most.kept_share >= found.share and at_most.token_s <= 1 / 20
    assert beyond.kept_share < found.share or beyond.token_s > 1 / 20
    assert replace(found, replicas=found.replicas + 1).most_per_second(20) > most


def test_a_week_of_requests_peaks_at_those_planned_under_what_the_replicas_carry(catalog: Catalog) -> None:
    plan = make_plan(assistant(hours="08:00-18:00", off_hours_share=0.03), catalog)
    (week,) = serving_weeks(plan)
    made = plan.llm.serving["assistant"]
    assert week.per_second.max() == pytest.approx(made.load.requests_per_second)
    assert week.per_second.max() * week.stay_s == pytest.approx(made.requests)
    assert (week.per_second <= week.carried_per_second).all()
    assert len(set(week.carried_per_second)) == len({made.replicas, made.off_hours})


def test_a_trace_is_replayed_on_the_planned_replicas(catalog: Catalog) -> None:
    found = traffic(catalog)
    chance = np.random.default_rng(2)
    count = 6000
    time = 1_714_953_600 + np.cumsum(chance.exponential(1 / found.per_second, count))
    lengths = np.full(count, 2000.0), np.full(count, 400.0)
    one = replayed(found, time, *lengths)
    assert one.mean_s.half_width is None and one.count == count
    assert one.by_part_p95_s[0] > 0 and one.by_part_p95_s[12] == 0
    hurried = replayed(found, time[0] + (time - time[0]) / 3, *lengths)
    assert hurried.p95_s.value > one.p95_s.value


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
    assert made.load.requests_per_second == traffic(catalog).per_second


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


def test_a_share_in_time_that_no_number_of_replicas_keeps_is_planned_near(catalog: Catalog) -> None:
    [target, _] = (
        make_plan(assistant(first_token_s=0.1, requests_per_s=3), catalog).llm.serving["assistant"].targets
    )
    assert target.standing == "missed" and target.planned > 0.1
    assert traffic(catalog, first_token_s=target.planned, requests_per_s=3).planned.kept_share >= 0.95


@pytest.mark.parametrize("name", ["spread_in", "spread_out", "peakedness", "kept_share"])
def test_the_trail_knows_them(catalog: Catalog, name: str) -> None:
    plan = make_plan(assistant(), catalog)
    assert plan.scenario.fact(f"groups.assistant.{name}").value is None
