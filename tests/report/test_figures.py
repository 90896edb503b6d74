"""The answer at a glance, and the words that every surface has for the same things of a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplan.plan import Plan, checks
from gpuplan.plan.checks import check_plan
from gpuplan.report.figures import (
    CHANGES,
    Figures,
    as_of,
    cost_figures,
    paper_of,
    waits,
    what_to_do,
)
from gpuplan.wording import headline_money, said


def test_the_customer_is_not_told_to_use_the_workbook(example: Plan) -> None:
    codes = "".join(p.read_text(encoding="utf-8") for p in Path(checks.__file__).parent.glob("*.py"))
    assert all(f'"{code}"' in codes for code in CHANGES)
    advice = " ".join(what_to_do(m) for m in check_plan(example))
    for words in (
        "tick ",
        "enter it",
        "Enter ",
        "you enter",
        "clear the field",
        "the customer",
        "counts as",
        "State ",
    ):
        assert words not in advice


def test_the_key_figures_are_those_of_the_plan(example: Plan) -> None:
    figures = {label: value for label, value, _ in Figures(example).tiles("summary")}
    assert figures["GPUs"] == str(example.totals.gpus)
    assert len(figures) == 4 + (example.power is not None) + (example.costs is not None)


def test_figures_after_a_failure_are_of_one_host_at_least(example: Plan) -> None:
    for failures, lost in ((0, 1), (1, 1), (3, 3)):
        scenario = example.scenario.with_value("availability.host_failures", failures)
        assert Figures(example.but(scenario=scenario)).down == lost


def test_a_text_names_figures_totals_and_what_is_given(plans: dict[str, Plan]) -> None:
    figures = Figures(plans["enterprise"])
    texts = {
        "summary.for the demand for": ("7", "1"),
        "front.after": ("28", "1 host"),
        "headline.workloads": ("Five workloads need 28 GPUs",),
    }
    for key, told in texts.items():
        assert all(text in figures.said(key) for text in told), key


def test_the_cost_is_rounded_with_its_range(example: Plan) -> None:
    assert example.costs is not None and example.cost_ranges is not None
    cost = cost_figures(example)
    assert cost is not None and cost.money == Figures(example).money
    assert cost.money == headline_money(
        example.costs.net_present, example.costs.currency, example.cost_ranges.net_present
    )
    assert cost.money.startswith(cost.price) and cost.span in cost.money
    assert cost.grows == (example.costs.hosts[-1] > example.costs.hosts[0])


def test_a_plan_without_hosts_costs_nothing_yet(example: Plan) -> None:
    nothing = example.but(costs=None)
    assert cost_figures(nothing) is None and Figures(nothing).cost_about == ""
    assert Figures(nothing).money == said("executive.no cost")


@pytest.mark.parametrize(
    ("paper", "locale", "chosen"), [("", "", ""), ("a4", "en-US", "a4"), ("", "en-US", "letter")]
)
def test_paper_is_the_one_that_was_chosen_or_of_the_locale(
    plans: dict[str, Plan], paper: str, locale: str, chosen: str
) -> None:
    plan = plans["enterprise"]
    scenario = plan.scenario.with_value("format.paper", paper).with_value("format.locale", locale)
    assert paper_of(plan.but(scenario=scenario)) == chosen


def test_prices_have_a_day_and_requests_wait(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert plan.costs is not None and as_of(plan) == plan.costs.as_of
    assert (waits(plan) is None) == ("totals.waiting" not in plan.lines)
