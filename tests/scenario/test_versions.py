"""Older scenario files: they mean what they meant, or say what changed."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario, ScenarioError, from_dict
from gpuplan.scenario.versions import SCHEMA_VERSION

GROUPS = [{"id": "a", "people": 9, "vmotion": "auto"}]


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


ENTERPRISE = {
    "groups": [
        {"id": "researchers", "people": 3, "gpus_each": 4, "remote_allowed": False, "low_latency": True},
        {"id": "hpc", "people": 2},
        {"id": "developers", "people": 16, "gpus_each": 0.125},
    ],
    "hardware": {"gpu": "v100-pcie-32gb", "gpus_per_host": 4},
    "platform": {"vsphere": "7.0", "bitfusion": True, "bitfusion_servers": "vgpu"},
}


def test_whole_gpus_of_schema_1_stay_vgpus(catalog: Catalog) -> None:
    """The enterprise design as it was saved before groups said whether they need vMotion: two clusters where it had one, and no note."""
    old = read(**ENTERPRISE)
    assert [group.access for group in old.groups] == ["vgpu", "auto", "auto"]
    assert "schema 1" in old.origin("groups.researchers.access").note
    assert "researchers" in old.notes[0].text
    plan = make_plan(old, catalog)
    assert {pool.kind for pool in plan.pools} == {"vgpu"}
    assert [group.mode for group in plan.groups] == ["vgpu", "bitfusion", "bitfusion"]
    assert from_dict(old.to_dict()) == old


@pytest.mark.parametrize(
    ("section", "changes"),
    [
        ("platform", {"vsphere": "6.7u3", "bitfusion": False}),  # four vGPUs at most
        ("group", {"access": "passthrough"}),
        ("group", {"gpus_each": "1/2"}),
        ("group", {"vmotion": "auto"}),
    ],
)
def test_what_was_not_vgpus_is_left_to_the_rules(section: str, changes: dict[str, Any]) -> None:
    eight = [{"id": "a", "people": 3, "gpus_each": 8, "remote_allowed": False}]
    parts: dict[str, Any] = {
        "group": eight[0],
        "hardware": {"gpus_per_host": 8},
        "platform": {"vsphere": "8.0u3"},
    }
    parts[section] |= changes
    old = read(groups=[parts.pop("group")], **parts)
    assert old.groups[0].access in ("auto", "passthrough")
    assert old.notes == ()


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


def test_licences_by_the_year_and_for_five_years_are_subscriptions() -> None:
    year = from_dict({"cost": {"gpu_licence": "year"}}).cost
    assert (year.gpu_licence, year.licence_term_years) == ("subscription", 3)
    five = from_dict({"cost": {"gpu_licence": "5-years"}}).cost
    assert (five.gpu_licence, five.licence_term_years) == ("subscription", 5)
    stated = from_dict({"cost": {"gpu_licence": "5-years", "licence_term_years": 1}}).cost
    assert stated.licence_term_years == 1


def test_a_price_for_five_years_is_one_for_each_of_them() -> None:
    origin = {"basis": "quoted", "source": "scenario", "note": "by phone"}
    data: dict[str, Any] = {
        "prices": {"nvaie-5-years": 15_000, "vcf-core-year": 300},
        "ranges": {"prices.nvaie-5-years": [14_000, 16_000]},
        "origins": {"prices.nvaie-5-years": origin, "ranges.prices.nvaie-5-years": origin},
    }
    scenario = from_dict(data)
    assert dict(scenario.prices) == {"vcf-core-year": 300, "nvaie-year-5": 3_000}
    assert dict(scenario.ranges) == {"prices.nvaie-year-5": (2_800, 3_200)}
    assert scenario.origin("prices.nvaie-year-5").note == "by phone"
    assert scenario.origin("ranges.prices.nvaie-year-5").note == "by phone"
    assert data["prices"] == {"nvaie-5-years": 15_000, "vcf-core-year": 300}


def test_a_sizing_rule_by_its_old_name_is_the_rule_of_today() -> None:
    assert from_dict({"demand": {"rule": "turned-away"}}).demand.rule == "denied"


@pytest.mark.parametrize(
    "data",
    [
        {"demand": {"rule": ["turned-away"]}},
        {"cost": {"gpu_licence": ["year"]}},
        {"cost": "year"},
        {"prices": {"nvaie-5-years": "many"}},
        {"ranges": {"prices.nvaie-5-years": ["a", 2]}},
        {"origins": [1]},
    ],
)
def test_what_cannot_be_read_is_refused_as_ever(data: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError):
        from_dict(data)
