"""The tables of the platform: every rule with who says otherwise, and the checks among them."""

from __future__ import annotations

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.platform_rules import platform_rules
from gpuplan.catalog import Catalog
from gpuplan.report.table import texts
from gpuplan.report.tables.vsphere_rules import behaviour, hand_over
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
