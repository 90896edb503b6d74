"""The answer at a glance, and the words that every surface has for the same things of a plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpuplan.plan import Plan, checks
from gpuplan.plan.checks import check_plan
from gpuplan.report.summary import CHANGES, as_of, hosts_lost, key_figures, paper_of, waits, what_to_do


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
    figures = {label: value for label, value, _ in key_figures(example)}
    assert figures["GPUs"] == str(example.totals.gpus)
    assert len(figures) == 4 + (example.power is not None) + (example.costs is not None)


def test_figures_after_a_failure_are_of_one_host_at_least(example: Plan) -> None:
    for failures, lost in ((0, 1), (1, 1), (3, 3)):
        scenario = example.scenario.with_value("availability.host_failures", failures)
        assert hosts_lost(example.but(scenario=scenario)) == lost


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
