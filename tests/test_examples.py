"""The example scenarios and the examples in the documentation of the code."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil

import pytest

import gpuplan
from gpuplan import Plan
from gpuplan.catalog import Catalog
from gpuplan.plan.checks import check_plan
from gpuplan.scenario import MAX_FILE_BYTES, example_names, load_scenario, scenario_path

MODULES = [
    info.name
    for info in pkgutil.walk_packages(gpuplan.__path__, "gpuplan.")
    if not info.name.startswith(("gpuplan.app", "gpuplan.cli."))
]


@pytest.mark.parametrize("name", ["gpuplan", *MODULES])
def test_doctests(name: str) -> None:
    module = importlib.import_module(name)
    results = doctest.testmod(module, optionflags=doctest.FAIL_FAST)
    assert results.failed == 0
    public = [
        found
        for label, found in vars(module).items()
        if inspect.isfunction(found) and found.__module__ == name and not label.startswith("_")
    ]
    if name.startswith("gpuplan.models.") and public:
        assert results.attempted > 0


def test_there_are_four_examples() -> None:
    assert set(example_names()) == {"starter", "enterprise", "current", "assistant"}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "assistant"])
def test_an_example_is_small_and_says_where_its_inputs_come_from(name: str, catalog: Catalog) -> None:
    assert scenario_path(name).stat().st_size < MAX_FILE_BYTES / 100
    scenario = load_scenario(name)
    assert scenario.groups
    for path, origin in scenario.origins:
        assert origin.source == "scenario" or origin.source in catalog.sources, path
        assert "not yet confirmed" not in origin.note, path
    for path in ("demand.rule", "demand.chance", "demand.wait_min", "demand.for_whom"):
        assert scenario.origin(path).basis == "assumed", path  # nobody has stated a target


def test_the_groups_are_those_the_reference_architecture_names() -> None:
    starter = {g.name for g in load_scenario("starter").groups}
    assert starter == {"Data scientists", "Developers"}
    enterprise = {g.name for g in load_scenario("enterprise").groups}
    assert {"High-performance researchers", "Data scientists", "HPC users", "Developers"} <= enterprise


def test_the_current_example_uses_what_can_be_bought(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    assert plan.scenario.platform.vsphere == "8.0u3"
    assert not plan.scenario.platform.bitfusion
    assert {g.mode for g in plan.groups} == {"vgpu", "mig"}
    # 3 x 4; 16 x 1/2; 14 x 1/7; 24 x 1/8; 6 x 1
    assert [g.demand_gpus for g in plan.groups] == [12, 8, 2, 3, 6]
    assert plan.totals.gpus_demanded == 31
    assert (plan.totals.hosts_for_demand, plan.totals.hosts_for_failures) == (8, 2)
    assert not {m.code for m in check_plan(plan)} & {"bitfusion-end-of-life", "server-limit-unknown"}
