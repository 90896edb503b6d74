"""The tables of the platform agree with the plan, and add up."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import own_rows
from gpuplan.report.table import records, screen, texts
from gpuplan.report.tables import plan_tables
from gpuplan.report.tables.platform import (
    behaviour,
    hand_over,
    host_line,
    hosts_there,
    inventory,
    management,
    management_hosts,
    platform_rules,
)
from gpuplan.scenario import from_dict


def test_the_sum_is_that_of_the_rows(example: Plan) -> None:
    table, domain = management(example), example.management
    assert domain is not None
    for name in ("vcpus", "memory_gb", "disk_gb"):
        rows = [row for row in records(table) if row["where"] == "management domain"]
        assert (
            sum(row[name] for row in rows) == getattr(domain, name) == example.lines[f"domain.{name}"].value
        )
    assert table.totals == 1 and "4 hosts needed" in table.notes[0]


def test_every_part_says_how_it_follows(example: Plan) -> None:
    for table in (host_line(example), management_hosts(example)):
        for row in records(table):
            assert row["part"] and row["size"] and row["rule"] and row["basis"]


def test_what_is_too_little_stands_out(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("cost.cores_per_socket", 16)
    drawn = screen(host_line(make_plan(scenario, catalog)))
    (short,) = [row for row in drawn["rows"] if "too little" in row[1]["text"]]
    assert short[0]["text"] == "Processors" and short[1]["tone"] == "warn"


def test_without_hosts_they_are_empty(catalog: Catalog) -> None:
    blank = plan_tables(make_plan(from_dict({}), catalog))
    assert [records(blank[name]) for name in ("host_line", "management", "management_hosts")] == [[], [], []]


def test_a_simple_domain_before_its_release_is_said(catalog: Catalog) -> None:
    for version, said in (("8.0u3", True), ("9.0", False)):
        scenario = load_scenario("starter").with_value("platform.vsphere", version)
        notes = management(make_plan(scenario.with_value("management.model", "simple"), catalog)).notes
        assert any("high availability" in note for note in notes) is said


def planned(catalog: Catalog, existing: str, priorities: tuple[int, int] = (1, 1), **hardware: Any) -> Plan:
    """Ten VMs with a GPU by passthrough and four with a quarter, on hosts of four."""
    groups = [
        {"id": "one", "people": 10, "access": "passthrough", "priority": priorities[0]},
        {"id": "two", "people": 4, "gpus_each": 0.25, "priority": priorities[1]},
    ]
    made = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": existing, **hardware}
    return make_plan(from_dict({"groups": groups, "hardware": made}), catalog)


@pytest.mark.parametrize(
    ("existing", "priorities", "said"),
    [
        ("A: 1 x 4", (1, 1), "they join the Passthrough cluster"),
        ("A: 1 x 4", (1, 2), "By priority"),
        ("A: 1 x 4", (1, 1), "for the other"),
        ("A: 8 x 4", (1, 2), "as failover capacity only"),
        ("A: 2 x 4 h200-nvl-141gb", (1, 1), "hosts of this design"),
    ],
)
def test_what_is_said_of_hosts_already_there(
    catalog: Catalog, existing: str, priorities: tuple[int, int], said: str
) -> None:
    plan = planned(catalog, existing, priorities)
    notes = inventory(plan).notes
    assert any(said in note for note in notes), notes
    assert all(notes)


def test_the_tables_agree_with_the_plan(catalog: Catalog) -> None:
    plan = planned(catalog, "A: 1 x 4; B: 2 x 2", (1, 2))
    assert plan.inventory is not None
    kinds = records(hosts_there(plan))
    assert [(row["kind"], row["hosts"], row["gpus_per_host"]) for row in kinds] == [("A", 1, 4), ("B", 2, 2)]
    assert sum(row["gpus_used"] for row in kinds) == sum(kind.gpus_used for kind in plan.inventory.kinds)
    rows = records(inventory(plan))
    assert sum(row["vms"] for row in rows) == 14
    assert all(row["there"] + row["rest"] == row["vms"] for row in rows)
    nothing = make_plan(from_dict({"groups": [{"id": "a", "people": 3}]}), catalog)
    assert not inventory(nothing).rows and not inventory(nothing).notes


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


def rules_of(
    catalog: Catalog, version: str, gpu: str = "h100-nvl-94gb", per_host: int = 4, **group: Any
) -> set[str]:
    asks = {"id": "a", "people": 4, "remote_allowed": False, **group}
    data = {
        "groups": [asks],
        "hardware": {"gpu": gpu, "gpus_per_host": per_host},
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
        for board in ("a100-sxm4-80gb", "h100-sxm5-80gb", "b200-sxm6-180gb"):
            for group in ({"access": "vgpu"}, {"access": "mig", "gpus_each": "1/7"}):
                found |= rules_of(catalog, version, board, 8, **group)
    assert set(listed) == found


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_every_example_has_checks_at_hand_over(catalog: Catalog, name: str) -> None:
    rules = platform_rules(make_plan(load_scenario(name), catalog))
    assert any(rule.check for rule in rules) and all(rule.sources for rule in rules)


def test_licences_and_ages_of_hosts_are_in_their_table_where_stated(catalog: Catalog) -> None:
    kinds = [
        {"name": "Old", "hosts": 2, "gpus_per_host": 4, "platform_licensed_until": "2028-06-30"},
        {"name": "Old", "hosts": 2, "gpus_per_host": 4, "gpu_software_until": "perpetual"},
        {"name": "New", "hosts": 1, "gpus_per_host": 4, "boards_since": "2025-05-01"},
    ]

    def shown(existing: Any) -> list[dict[str, Any]]:
        asked = {"id": "a", "people": 40, "gpus_each": 0.5}
        hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4, "existing": existing}
        return records(hosts_there(make_plan(from_dict({"groups": [asked], "hardware": hardware}), catalog)))

    rows = {
        (row.get("platform_until"), row.get("software_until"), row.get("boards_since"))
        for row in shown(kinds)
    }
    assert rows == {("2028-06-30", "", ""), ("", "perpetual", ""), ("", "", "2025-05-01")}
    assert not {"platform_until", "software_until", "boards_since"} & set(shown("2 hosts")[0])
    dated = shown([kinds[0]])[0]
    assert "platform_until" in dated and "boards_since" not in dated
