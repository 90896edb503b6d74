"""What tokens cost in a plan: all of them together what the group costs, and a line behind each figure."""

from __future__ import annotations

import pytest
from assistants import assistant

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog


def test_all_tokens_of_a_year_cost_the_groups_share_of_the_design(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    found, costs = plan.token_costs["assistant"], plan.costs
    assert costs is not None
    [group] = costs.groups
    year = (found.million_in * found.tokens_in + found.million_out * found.tokens_out) / 1e6
    assert year == pytest.approx(group.total / costs.years)
    assert found.tokens_in == pytest.approx(5 * found.tokens_out)  # 2,000 in for 400 out
    assert found.user_month == pytest.approx(group.total / costs.years / 12 / 400)
    made = plan.llm.serving["assistant"]
    assert found.gpu_hours == pytest.approx(made.replicas * made.gpus * 8760)
    for name in ("million_in", "million_out", "user_month"):
        assert plan.lines[f"groups.assistant.{name}"].value == getattr(found, name)


def test_in_fewer_hours_the_same_cost_buys_fewer_tokens(catalog: Catalog) -> None:
    always = make_plan(assistant(), catalog).token_costs["assistant"]
    day = make_plan(assistant(hours="09:00-18:00"), catalog).token_costs["assistant"]
    assert day.tokens_out == pytest.approx(9 / 24 * always.tokens_out)
    assert day.million_out > always.million_out


def test_tokens_are_those_of_the_hours_in_which_users_work_though_two_replicas_always_run(
    catalog: Catalog,
) -> None:
    week = {"hours": "08:00-20:00", "days": "weekdays", "active_share": 0.12, "off_hours_share": 0.03}
    plan = make_plan(assistant(**week), catalog)
    found, made = plan.token_costs["assistant"], plan.llm.serving["assistant"]
    share = (60 + 108 * 0.03 / 0.12) / 168  # 60 h a week at the peak, a quarter of it in the other 108 h
    assert made.off_hours == 2 <= made.replicas
    running = (60 * made.replicas + 108 * made.off_hours) / 168
    assert found.load_share == pytest.approx(share * made.replicas / running)
    peak = made.found.token_rate.value * made.replicas
    assert found.tokens_out == pytest.approx(peak * share * 31_536_000)
    asked = make_plan(assistant(**week, requests_per_s=3), catalog).token_costs["assistant"]
    assert asked.load_share >= share


def test_growth_that_is_paid_for_is_used(catalog: Catalog) -> None:
    """Three years at 100, 150 and 225 %: on average 158 1/3 %."""
    still = assistant().with_value("cost.years", 3)
    now, grown = (
        make_plan(scenario, catalog).token_costs["assistant"]
        for scenario in (still, still.with_value("groups.assistant.growth", 0.5))
    )
    mean = (1 + 1.5 + 2.25) / 3
    assert grown.tokens_out == pytest.approx(mean * now.tokens_out)
    assert grown.gpu_hours == pytest.approx(mean * now.gpu_hours)
    assert grown.users == pytest.approx(400 * mean)
    assert grown.year_cost > now.year_cost
    assert grown.user_month == pytest.approx(grown.year_cost / 12 / (400 * mean))


def test_nobody_is_counted_where_requests_are_and_nothing_without_serving(
    catalog: Catalog, example: Plan
) -> None:
    assert make_plan(assistant(requests_per_s=5), catalog).token_costs["assistant"].user_month is None
    assert not example.token_costs
    assert not any("million" in key for key in example.lines)


def test_a_rate_without_a_number_of_users_is_that_of_its_hours(catalog: Catalog) -> None:
    week = {"hours": "09:00-18:00", "requests_per_s": 3, "active_share": 1}
    nobody, some = (make_plan(assistant(people=n, **week), catalog).token_costs["assistant"] for n in (0, 1))
    assert nobody.tokens_out == pytest.approx(some.tokens_out) and nobody.user_month is None
