"""Draws: each is the plan of its inputs, causes move together, and errors are those of the number of draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import gpuplan as gp
from gpuplan import Scenario, ScenarioError, load_scenario, make_plan
from gpuplan.analysis.monte_carlo import MonteCarlo, monte_carlo, triangular, uniforms
from gpuplan.analysis.sensitivity import ranges_of, tornado
from gpuplan.catalog import Catalog
from gpuplan.plan.plan import plan_of

N = 24


@pytest.fixture(scope="module")
def asked() -> Scenario:
    return load_scenario("starter").with_value("limits.budget", 2e6).with_value("limits.racks", 3)


@pytest.fixture(scope="module")
def study(asked: Scenario) -> MonteCarlo:
    return monte_carlo(asked, N, seed=3, workers=1)


def test_a_draw_is_the_plan_of_its_inputs(study: MonteCarlo, asked: Scenario, catalog: Catalog) -> None:
    for draw in study.points[:6]:
        scenario = asked
        for path, value in zip(study.inputs, draw.values, strict=True):
            scenario = scenario.with_value(path, value)
        plan = make_plan(scenario, catalog)
        assert plan.costs and plan.power
        assert draw.net_present == pytest.approx(plan.costs.net_present, rel=1e-12)
        assert draw.first == pytest.approx(plan.lines["cost.years.0"].value, rel=1e-12)
        assert (draw.hosts, draw.gpus, draw.power_w) == (
            plan.totals.hosts,
            plan.totals.gpus,
            plan.power.typical_w,
        )
        assert draw.limits == {limit.key: limit.met for limit in plan.within}
        assert set(draw.limits) == {"budget", "racks"}
        assert (draw.standing.valid, draw.standing.stops) == (plan.standing.valid, plan.standing.stops)


def test_the_same_seed_gives_the_same_draws_and_more_draws_begin_with_them(
    study: MonteCarlo, asked: Scenario
) -> None:
    assert monte_carlo(asked, N, seed=3, workers=1) == study
    fewer = monte_carlo(asked, 5, seed=3, workers=1)
    assert fewer.points == study.points[:5]
    assert monte_carlo(asked, 5, seed=4, workers=1).points != fewer.points


def test_what_is_drawn_is_what_sensitivity_varies_within_its_range(
    study: MonteCarlo, asked: Scenario
) -> None:
    assert {bar.path for bar in tornado(make_plan(asked))} <= set(study.inputs)
    for one, values in zip(
        study.inputs.values(), zip(*(draw.values for draw in study.points), strict=True), strict=True
    ):
        assert all(one.low <= value <= one.high for value in values), one.path
        assert len(set(values)) > 1, one.path


def test_inputs_of_one_cause_move_together_and_no_others(study: MonteCarlo) -> None:
    drawn = np.array([draw.values for draw in study.points]).T
    cause = {path: one.cause for path, one in study.inputs.items()}
    row = dict(zip(study.inputs, drawn, strict=True))

    def ordered(first: str, second: str) -> bool:
        return bool((np.argsort(row[first]) == np.argsort(row[second])).all())

    assert (
        ordered("prices.adapter-10g", "prices.cable-10g")
        and cause["prices.adapter-10g"] == cause["prices.cable-10g"]
    )
    assert ordered("groups.data-scientists.growth", "groups.developers.growth")
    assert not ordered("groups.data-scientists.active_share", "groups.developers.active_share")
    assert not ordered("prices.gpus/v100-pcie-32gb", "prices.servers/dell-r740xd")


def test_the_distribution_has_its_mean_its_ends_and_its_order() -> None:
    shares = (np.arange(100_000) + 0.5) / 100_000
    for low, mode, high in (
        (1.0, 2.0, 6.0),
        (1.0, 1.0, 6.0),
        (1.0, 6.0, 6.0),
        (2.0, 2.0, 2.0),
        (1.0, 9.0, 6.0),
    ):
        values = triangular(shares, low, mode, high)
        assert (np.diff(values) >= 0).all() and low <= values[0] and values[-1] <= high
        assert values.mean() == pytest.approx((low + min(mode, high) + high) / 3, rel=1e-6)


def test_without_ranges_each_draw_is_the_plan(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpuplan.analysis.monte_carlo.ranges_of", lambda plan: iter(()))
    monkeypatch.setattr("gpuplan.plan.cost_ranges._ranged", lambda fact: False)
    plan = make_plan(load_scenario("starter"), catalog)
    found = monte_carlo(plan, 7)
    assert plan.costs
    assert [point.net_present for point in found.points] == pytest.approx(
        [plan.costs.net_present] * 7, rel=1e-14
    )
    assert found.quantile("hosts", 0.5) == (plan.totals.hosts, 0.0)


def test_prices_alone_need_one_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Scenario] = []
    monkeypatch.setattr("gpuplan.analysis.grid.make_plan", lambda scenario, catalog: made.append(scenario) or plan_of(scenario, catalog, True))  # fmt: skip
    monkeypatch.setattr("gpuplan.analysis.monte_carlo.ranges_of", lambda plan: (span for span in ranges_of(plan) if span.path.startswith("prices.")))  # fmt: skip
    found = monte_carlo("starter", 50)
    assert len(made) == 1 and len({draw.net_present for draw in found.points}) == 50
    assert len({draw.hosts for draw in found.points}) == 1


def test_more_budget_is_kept_more_often_and_errors_shrink_with_draws(study: MonteCarlo) -> None:
    costs = sorted(point.net_present or 0.0 for point in study.points)
    chances = [study.chance("racks", net_present=cost).value for cost in costs]
    assert chances == sorted(chances) and chances[-1] == study.chance("racks").value
    assert study.chance().value <= study.chance("budget").value <= 1
    share = study.chance("budget")
    assert share.standard_error == pytest.approx((share.value * (1 - share.value) / N) ** 0.5)
    assert study.quantile("net_present", 0.5).value in costs
    invalid = [replace(draw, standing=draw.standing._replace(valid=False)) for draw in study.points]
    assert replace(study, points=tuple(invalid)).chance("racks").value == 0
    unpriced = replace(study, points=tuple(replace(point, net_present=None) for point in study.points))
    assert unpriced.chance("racks", net_present=1e12).value == 0
    for of in (lambda: study.quantile("host", 0.5), lambda: study.chance(net_presnt=1e6)):
        with pytest.raises(ScenarioError, match=r"hosts|net_present"):
            of()


def test_the_error_of_a_quantile_is_that_of_other_seeds() -> None:
    rows = np.random.default_rng(1).normal(size=(300, 400))
    found = [
        replace(_EMPTY, points=tuple(_Row(value) for value in row)).quantile("hosts", 0.8) for row in rows
    ]
    spread = np.std([one.value for one in found])
    assert np.mean([one.standard_error for one in found]) == pytest.approx(spread, rel=0.1)


class _Row:
    def __init__(self, value: float) -> None:
        self.hosts = value


_EMPTY = MonteCarlo(load_scenario("starter"), 0, {}, ())


@pytest.mark.parametrize(("name", "value"), [("n", 1), ("n", 2.5), ("n", True), ("seed", -1), ("seed", None)])
def test_a_number_that_is_none_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(ScenarioError, match=f"^{name}"):
        gp.monte_carlo("starter", **{name: value})  # type: ignore[arg-type]


def test_a_cause_is_drawn_alike_in_all_designs() -> None:
    assert (uniforms(1, "GPUs", 5) == uniforms(1, "GPUs", 9)[:5]).all()
    assert not (uniforms(1, "GPUs", 5) == uniforms(1, "Servers", 5)).any()
