"""A grid is what a plan says at each combination of values."""

from __future__ import annotations

import inspect

import pytest

import gpuplan as gp
from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.analysis import grid as module
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.grid import grid
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import CHECKS, STOPPING, check_plan, stops
from gpuplan.plan.checks.message import WORDS

PEOPLE = "groups.developers.people"


def test_every_combination_is_planned(catalog: Catalog) -> None:
    asked = load_scenario("starter")
    found = grid(asked, {"hardware.gpus_per_host": [2, 99], PEOPLE: range(20, 41, 20)}, catalog)
    assert [point.values for point in found.points] == [(2, 20), (2, 40), (99, 20), (99, 40)]
    for at in (0, 1):
        plan = make_plan(asked.with_value(PEOPLE, 20 + 20 * at), catalog)
        point = found.points[at]
        assert plan.costs and plan.power
        assert (point.hosts, point.net_present) == (plan.totals.hosts, plan.costs.net_present)
        assert (point.power_w, point.standing) == (plan.lines["power.typical"].value, plan.standing)
        assert found.plan(at).totals == plan.totals
    for point in found.points[2:]:
        assert "gpus_per_host" in point.refused and not point.standing.valid and point.hosts is None


def test_a_path_that_is_not_there_and_an_input_without_values_are_refused() -> None:
    with pytest.raises(ScenarioError, match=r"developers\.people"):
        grid("starter", {"groups.developers.peopel": [1]})
    with pytest.raises(ScenarioError, match=PEOPLE):
        grid("starter", {PEOPLE: []})
    with pytest.raises(ScenarioError, match="grid"):
        grid("starter", {PEOPLE: range(1000), "cost.years": range(1000)})


def test_an_engine_gives_the_same_and_progress_counts_all(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[tuple[int, int]] = []
    axes = {PEOPLE: range(1, 37)}
    here = grid("starter", axes, workers=1, progress=lambda done, of: counted.append((done, of)))
    assert counted == [(done, 36) for done in range(1, 37)]
    monkeypatch.setattr(module, "PAYS_S", 0.0)
    started: list[int] = []
    monkeypatch.setattr(
        module, "Engine", lambda catalog, workers: started.append(workers) or Engine(catalog, workers=1)
    )
    assert grid("starter", axes, workers=2).points == here.points and started == [2]
    monkeypatch.setattr(module, "PAYS_S", 1e9)
    assert grid("starter", axes).points == here.points and started == [2, 1], "other processes take longer"


def test_a_design_with_a_plan_keeps_its_catalog(plans: dict[str, Plan]) -> None:
    found = gp.grid(plans["starter"], {"cost.years": [3]})
    assert found.catalog is plans["starter"].catalog and len(found.points) == 1


def test_checks_that_may_stop_are_known(plans: dict[str, Plan]) -> None:
    codes = [code for code, row in WORDS.items() if row["level"] == "stop"]
    for check in CHECKS:
        text = inspect.getsource(check)
        assert ('"stop"' in text or any(f'"{code}"' in text for code in codes)) <= (check in STOPPING)
    assert [check for check in CHECKS if check in STOPPING] == list(STOPPING)
    for plan in plans.values():
        assert stops(plan) == tuple(m.code for m in check_plan(plan) if m.level == "stop")
