"""Settings of vSphere that were not stated: one value, which every chapter, table, file and message follows."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from random_cases import cases, often

import gpuplan
from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.compare import compare_plans
from gpuplan.app.forms import field_data
from gpuplan.app.state import Workbook
from gpuplan.catalog import Catalog
from gpuplan.deliver.bundle import design_files
from gpuplan.deliver.infrastructure.terraform import shown
from gpuplan.plan.checks import check_plan
from gpuplan.plan.known import inputs, unconfirmed
from gpuplan.plan.over_time.power_on import distinct
from gpuplan.plan.over_time.rehearsal import readings
from gpuplan.plan.over_time.rules import CONSOLIDATION, OPEN, POLICY, alike
from gpuplan.report import plan_dict
from gpuplan.report.tables.acceptance import _facts
from gpuplan.scenario import Scenario, from_dict

BOARDS = ("l40s-48gb", "h100-nvl-94gb", "a40-48gb")
SIZES = (0.125, 0.25, 0.5, 1, 2)


def design(rng: random.Random) -> dict[str, Any]:
    """A design of VMs of several sizes, in which nothing of vSphere is stated."""
    groups = [
        {"id": f"g{at}", "people": rng.randint(2, 20), "gpus_each": rng.choice(SIZES)}
        for at in range(rng.randint(1, 4))
    ]
    hardware = {"gpu": rng.choice(BOARDS), "gpus_per_host": rng.choice([2, 4])}
    availability: dict[str, Any] = {"host_failures": rng.choice([0, 1])}
    if rng.random() < 0.3:
        availability |= {"sized_for": "orders", "orders_share": rng.choice([0.5, 0.8, 0.99])}
    if rng.random() < 0.2:
        availability["hosts_per_cluster"] = rng.randint(4, 6)
    return {"groups": groups, "hardware": hardware, "availability": availability}


def settings(scenario: Scenario) -> tuple[Any, ...]:
    return tuple(scenario.get(path) for path in OPEN)


def every_reading(plan: Plan) -> dict[str, tuple[Any, ...]]:
    """The policy and DRS consolidation as each chapter, table and file of a plan has them."""
    values = {f"power-on of {id}": settings(start.scenario) for id, start in plan.power_on.items()}
    known = inputs(plan)
    if plan.power_on and any(start.known for start in plan.power_on.values()):
        values["inputs"] = tuple(known[path].value for path in OPEN)
    facts, files = _facts(plan), design_files(plan, ["yaml"])
    values["cluster settings"] = (facts["platform"].gpu_policy, facts["consolidation"])
    values["JSON"] = settings(from_dict(plan_dict(plan)["scenario"]))
    values["scenario file"] = settings(from_dict(yaml.safe_load(next(iter(files.values())))))
    if plan.pools:
        platform = shown(plan)["plan"].set_up.platform
        values["terraform"] = (platform.gpu_policy, platform.drs_consolidation)
    book = Workbook(plan.catalog, plan.scenario)
    fields = [field_data(book, path)["value"] for path in OPEN]
    values["fields"] = (fields[0], fields[1] in (True, "True"))
    return values


@pytest.mark.slow
def test_all_chapters_follow_one_value(catalog: Catalog) -> None:
    """Also: it is the best of those tried, what is stated stays, and another one that is stated shows as a difference."""
    moved, kept, more = Counter[str](), 0, 0
    for rng in cases(38, 1200, few=25):
        data = design(rng)
        plan = make_plan(from_dict(data), catalog)
        of = plan.set_up
        found = every_reading(plan)
        assert found == dict.fromkeys(found, settings(of)), data
        for pool in plan.pools:
            if rehearsed := plan.rehearsed.get(pool.id):
                assert rehearsed.rules == readings(of, catalog, pool), data
        changed = [path for path in OPEN if of.get(path) != plan.scenario.get(path)]
        moved.update(changed)
        kept += not changed
        for path in OPEN:
            assert of.origin(path).basis == "assumed"
            assert (of.origin(path).source == "gpuplan-method") == (path in changed)
        assert settings(make_plan(of, catalog).set_up) == settings(of), data
        advised = {message.path for message in check_plan(plan) if message.code == "power-on-orders"}
        assert not advised & set(OPEN), data
        for start in distinct(plan.power_on):
            assert not start.is_open(start.best.key)
            facts = [decision for decision in plan.decisions if decision.case.startswith("power-on")]
            assert alike(start.pool.requests) or facts
        more += _takes_more(plan, catalog, data)
    assert more <= 3
    assert often(moved[POLICY], 100) and often(kept, 100), (moved, kept)


def _takes_more(plan: Plan, catalog: Catalog, data: dict[str, Any]) -> bool:
    """Of one cluster no other policy that is stated starts more VMs; true if one takes fewer hosts for its orders."""
    policy = "spread" if plan.set_up.platform.gpu_policy == "group" else "group"
    stated = make_plan(plan.set_up.with_value(POLICY, policy), catalog)
    assert stated.set_up.platform.gpu_policy == policy
    assert POLICY in {row.key for row in compare_plans([plan, stated]).rows if row.differs}
    if plan.scenario.availability.sized_for == "orders":
        return plan.totals.hosts > stated.totals.hosts and _reached(stated)
    if len(plan.pools) == 1 and plan.power_on:
        both = plan.set_up.with_value(CONSOLIDATION, plan.set_up.platform.drs_consolidation)
        other = make_plan(both.with_value(POLICY, policy), catalog)
        (here,), (there,) = plan.power_on.values(), other.power_on.values()
        assert here.as_planned.score >= there.as_planned.score, data
    return False


def _reached(plan: Plan) -> bool:
    return all(division.reached for division in plan.divisions.values())


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "assistant"])
def test_examples_follow_one_value(catalog: Catalog, name: str) -> None:
    plan = make_plan(load_scenario(name), catalog)
    policy = "group" if name in ("current", "assistant") else "spread"
    assert set(every_reading(plan).values()) == {(policy, name == "current")}
    assert (plan.set_up == plan.scenario) == (policy == "spread")


def test_a_value_that_the_customer_confirms_is_the_recommended_one(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    assert POLICY in dict(unconfirmed(book.plan))
    book.confirm(POLICY, True)
    assert book.scenario.platform.gpu_policy == book.plan.set_up.platform.gpu_policy == "group"
    assert POLICY not in dict(unconfirmed(book.plan)) and book.plan.set_up == book.scenario
    book.edit(POLICY, "spread")
    assert book.plan.set_up.platform.gpu_policy == "spread" == field_data(book, POLICY)["value"]
    assert not field_data(book, POLICY)["assumed"]


def test_a_statement_of_the_assumed_value_is_a_statement(catalog: Catalog) -> None:
    book = Workbook(catalog, load_scenario("current"))
    assert (field_data(book, POLICY)["value"], book.scenario.platform.gpu_policy) == ("group", "spread")
    book.edit(POLICY, "spread")
    assert settings(book.plan.set_up)[0] == "spread" == field_data(book, POLICY)["value"]


def test_mixed_sizes_are_offered_and_not_recommended(catalog: Catalog) -> None:
    for rng in cases(381, 300, few=25):
        plan = make_plan(from_dict(design(rng)), catalog)
        assert plan.set_up.platform.vgpu_sizes == "equal"


RESOLVED = {
    "audit/drift.py",
    "plan/over_time/rules.py",
    "plan/over_time/power_on.py",
    "report/tables/acceptance.py",
    "plan/checks/upgrades.py",
}
STATED = {
    "scenario/sections.py",
    "plan/validation.py",
    "plan/checks/sharing.py",
    "cli/over_time.py",
}
"""They hold, check, set or name what is stated."""


def test_each_module_that_reads_them_reads_what_the_design_decides() -> None:
    """A new module that reads one of the settings says here which value it reads."""
    root = Path(gpuplan.__file__).parent
    reads = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        if re.search("gpu_policy|drs_consolidation", path.read_text(encoding="utf-8"))
    }
    assert reads == RESOLVED | STATED
    for name in RESOLVED:
        text = (root / name).read_text(encoding="utf-8")
        assert not re.search(r"plan\.(scenario|sized)\.platform\.(gpu_policy|drs)", text), name
