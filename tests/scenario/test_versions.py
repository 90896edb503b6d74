"""Older scenario files: they mean what they meant, or say what changed."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, ScenarioError, from_dict
from gpuplan.scenario.versions import SCHEMA_VERSION

GROUPS = [{"id": "a", "people": 9}]


def read(**data: Any) -> Scenario:
    return from_dict({"schema": 1, "groups": GROUPS, **data})


def test_a_stated_total_of_schema_1_still_sizes_the_design(catalog: Catalog) -> None:
    old = read(demand={"stated_gpus": 4, "rule": "sum"})
    assert (old.demand.rule, old.demand.stated_gpus) == ("stated", 4)
    assert "schema 1" in old.origin("demand.rule").note
    plan = make_plan(old, catalog)
    assert (plan.totals.gpus_demanded, plan.totals.unplaced_vms) == (4, 5)
    assert old.notes == ()  # nothing changed
    assert from_dict(old.to_dict()) == old


def test_what_another_rule_divided_is_said_to_have_changed() -> None:
    old = read(demand={"stated_gpus": 4, "rule": "hours"})
    assert old.demand.rule == "stated"
    assert "'hours'" in old.notes[0].text


@pytest.mark.parametrize("demand", [{}, {"rule": "hours"}, {"stated_gpus": None, "rule": "wait"}])
def test_without_a_total_nothing_changes(demand: dict[str, Any]) -> None:
    assert read(demand=demand) == from_dict({"groups": GROUPS, "demand": demand})


def test_a_total_without_groups_stays_alone(catalog: Catalog) -> None:
    old = read(groups=[], demand={"stated_gpus": 14})
    assert old.demand.rule == "sum"
    assert make_plan(old, catalog).totals.gpus_demanded == 14


@pytest.mark.parametrize("name", ["starter", "enterprise"])
def test_the_examples_as_saved_before_give_the_same_design(catalog: Catalog, name: str) -> None:
    now = load_scenario(name)
    then = from_dict({**now.to_dict(), "schema": 1})
    assert then.demand.rule == "stated"
    totals = make_plan(then, catalog).totals
    assert totals == make_plan(now, catalog).totals


@pytest.mark.parametrize("version", [0, SCHEMA_VERSION + 1, True, "2", None])
def test_other_versions_are_refused(version: Any) -> None:
    with pytest.raises(ScenarioError, match="reads schema 1 and"):
        from_dict({"schema": version})


@pytest.mark.parametrize(
    "wrong", [{"demand": 3}, {"demand": {"rule": "best", "stated_gpus": 3}}, {"groups": 7}]
)
def test_what_is_wrong_in_an_old_file_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError):
        read(**wrong)
