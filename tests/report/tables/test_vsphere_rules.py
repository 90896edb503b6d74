"""The tables of the platform: every rule with who says otherwise, and the checks among them."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.report.table import texts
from gpuplan.report.tables.vsphere_rules import behaviour, hand_over, platform_rules
from gpuplan.scenario import from_dict


def test_rules_and_checks_of_the_current_example(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current"), catalog)
    rules = platform_rules(plan)
    said = [" ".join(row) for row in texts(behaviour(plan))]
    assert len(said) == len(rules)
    for rule, text in zip(rules, said, strict=True):
        assert rule.text in text and (rule.conflict[1:] in text)
    checks = [" ".join(row) for row in texts(hand_over(plan))]
    assert len(checks) == sum(bool(rule.check) for rule in rules) >= 4
    assert any("stunTimeEstimates" in check for check in checks)


def test_a_design_without_hosts_has_neither(catalog: Catalog) -> None:
    plan = make_plan(from_dict({}), catalog)
    assert not behaviour(plan).rows and not hand_over(plan).rows


def rules_of(catalog: Catalog, version: str, gpu: str = "h100-nvl-94gb", **group: Any) -> set[str]:
    asks = {"id": "a", "people": 4, "remote_allowed": False, **group}
    data = {
        "groups": [asks],
        "hardware": {"gpu": gpu, "gpus_per_host": 4},
        "platform": {"vsphere": version},
    }
    return {rule.id for rule in platform_rules(make_plan(from_dict(data), catalog))}


def test_rules_follow_the_version(catalog: Catalog) -> None:
    asks = {"access": "vgpu", "gpus_each": 0.5}
    old, update, new, newest = (rules_of(catalog, v, **asks) for v in ("8.0u1", "8.0u2", "9.0.1", "9.1"))
    assert "stun-estimates" not in old and "stun-estimates" in update
    assert "vmotion-9" not in update and {"vmotion-9", "directpath-profiles"} <= new
    assert newest - new == {"vcf-9.1-devices"}
    assert {"gpu-saturated-cluster", "vmotion-board-variants", "licence-included", "licence-layers"} <= old


def test_rules_follow_how_gpus_are_given(catalog: Catalog) -> None:
    whole = rules_of(catalog, "8.0u3", access="passthrough", gpus_each=4)
    assert {"dynamic-directpath", "directpath-no-ha", "licence-passthrough"} <= whole
    assert not {"drs-vgpu", "gpu-saturated-cluster", "gpu-assignment-policy", "mig-first-3g"} & whole
    slices = {"access": "mig", "gpus_each": "3/7", "isolation": True}
    assert {"mig-first-3g", "mig-fills-first", "mig-never-moved"} <= rules_of(catalog, "8.0u3", **slices)
    ampere = rules_of(catalog, "8.0u3", "a100-pcie-80gb", **slices)
    assert "mig-never-moved" in ampere and not {"mig-first-3g", "vmotion-board-variants"} & ampere
    assert "licence-passthrough" not in rules_of(catalog, "8.0u3", "l40s-48gb", gpus_each=0.5)


def test_without_hosts_there_are_no_rules(catalog: Catalog) -> None:
    assert platform_rules(make_plan(from_dict({}), catalog)) == ()


def test_each_rule_that_is_listed_is_in_the_catalog_and_reached(catalog: Catalog) -> None:
    listed = [row["rule"] for row in own_rows("words/platform_rules")]
    assert len(listed) == len(set(listed)) and set(listed) <= {row.id for row in catalog.rows("rules")}
    found = {rule.id for rule in platform_rules(make_plan(load_scenario("enterprise"), catalog))}
    for version in ("8.0u3", "9.1"):
        for group in ({"access": "vgpu", "gpus_each": 0.5}, {"access": "mig", "gpus_each": "1/7", "isolation": True},
                      {"access": "passthrough"}, {"people": 900, "access": "vgpu"}):  # fmt: skip
            found |= rules_of(catalog, version, **group)
    assert set(listed) == found


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_every_example_has_checks_at_hand_over(catalog: Catalog, name: str) -> None:
    rules = platform_rules(make_plan(load_scenario(name), catalog))
    assert any(rule.check for rule in rules) and all(rule.sources for rule in rules)
