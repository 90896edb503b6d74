"""What a delivery team builds from: rows of the examples by hand, and that they follow the design."""

from __future__ import annotations

import re
from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.report.table import Table
from gpuplan.report.tables import build
from gpuplan.scenario import from_dict
from gpuplan.wording import said


def shown(table: Table) -> list[list[Any]]:
    """What a reader sees in each row: words where a cell has some, else its value."""
    return [[cell.words or cell.value for cell in row] for row in table.cells()]


FILL = "\u2039to fill in\u203a"


def test_vm_classes_say_what_a_vm_gets(plans: dict[str, Plan]) -> None:
    rows = {row[0]: row[1:] for row in shown(build.vm_classes(plans["enterprise"]))}
    assert rows["gpu-researchers"] == ["High-performance researchers", FILL, FILL, "4 x V100D-32C", 3]
    assert is_approved(rows["gpu-data-scientists"][3:], "1/2 GPU", "16")
    assert is_approved(rows["gpu-distributed"][3:], "1 GPU", "4")
    current = {row[0]: row[4] for row in shown(build.vm_classes(plans["current"]))}
    assert current["gpu-inference"] == "1 x H100L-1-12C"  # a MIG slice


def test_the_name_of_a_class_is_one_that_kubernetes_takes(catalog: Catalog) -> None:
    group = {"id": "a" * 38 + "-b", "people": 2, "gpus_each": 1}
    (row,) = shown(build.vm_classes(make_plan(from_dict({"groups": [group]}), catalog)))
    assert re.fullmatch("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", row[0]) and row[0] == f"gpu-{group['id']}"


def test_licences_are_those_of_the_bill(plans: dict[str, Plan]) -> None:
    """8 hosts x 2 processors x 32 cores, and 8 x 4 GPUs."""
    rows = [row[:3] for row in shown(build.licences(plans["enterprise"]))]
    assert rows == [["VMware Cloud Foundation", 512, "core"], ["NVIDIA AI Enterprise", 32, "GPU"]]
    assert build.licences(plans["enterprise"].but(costs=None)).rows == ()


def test_an_order_line_holds_what_one_host_has(plans: dict[str, Plan]) -> None:
    table = build.order_lines(plans["current"])
    assert ["GPUs", "4 x H100 NVL 94GB", FILL, FILL] in shown(table)
    assert table.notes == (said("order.note", hosts=10),)
    assert build.order_lines(plans["current"].but(host_line=None)).notes == ()


def test_storage_is_what_is_bought(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert [row[1] for row in shown(build.storage(plans["enterprise"]))][1:] == [FILL] * 3
    bought = make_plan(plans["enterprise"].scenario.with_value("cost.storage_tb", 12.5), catalog)
    assert shown(build.storage(bought))[1][1] == "12.5 TB"


def test_names_and_networks_of_the_enterprise_example(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert [row[1:] for row in shown(build.naming(plan))] == [
        [8, "vgpu-01 \u2013 vgpu-08", FILL],
        [2, "leaf-01a \u2013 leaf-01b", FILL],
        [2, "rack-01 \u2013 rack-02", FILL],
    ]
    rows = [row[1:] for row in shown(build.network_plan(plan))]
    assert rows[0] == ["\u2039VLAN\u203a", "\u2039network/27\u203a", "\u2039IP\u203a", 16, 1500]
    assert len(rows) == 6


def test_racks_of_the_current_example(plans: dict[str, Plan]) -> None:
    """Three hosts of 2187 W to a rack are 6.6 kW; racks 2 and 3 are alike."""
    assert is_approved(
        [row[:5] for row in shown(build.rack_plan(plans["current"]))],
        "1",
        "leaf-01a, leaf-01b",
        "vgpu-01 – vgpu-03",
        "6.6",
        "2–3",
        "vgpu-04",
        "vgpu-09",
        "3",
        "6.6",
        "4",
        "vgpu-10",
        "2.2",
    )


def test_the_as_built_record_has_the_first_hosts_and_says_how_many_more(plans: dict[str, Plan]) -> None:
    table = build.as_built(plans["enterprise"], 3)
    assert [row[0] for row in shown(table)] == ["vgpu-01", "vgpu-02", "vgpu-03"]
    assert table.notes == (said("table.as_built.more", hosts=5),)
    whole = build.as_built(plans["enterprise"], 8)
    assert len(whole.rows) == 8 and not whole.notes


@pytest.mark.parametrize(
    ("lost", "hosts", "share"),
    [(1, 8, 0.13), (1, 10, 0.1), (2, 10, 0.2), (1, 3, 0.34), (1, 64, 0.02), (1, 1, 1.0)],
)
def test_admission_control_keeps_no_less_than_the_hosts_that_may_fail(
    lost: int, hosts: int, share: float
) -> None:
    """vSphere takes whole per cent, and one of eight hosts is more than 12 % of them."""
    assert build.reserved_share(lost, hosts) == share >= lost / hosts


def test_the_share_stands_in_the_settings(plans: dict[str, Plan]) -> None:
    rows = {row[1]: row[2] for row in shown(build.cluster_settings(plans["enterprise"]))}
    assert rows["Admission control"].startswith("13 %")


def test_the_platform_is_upgraded_from_the_top(plans: dict[str, Plan]) -> None:
    parts = [row[1] for row in shown(build.upgrade_order(plans["enterprise"]))]
    assert parts.index("SDDC Manager") < parts.index("vCenter Server") < parts.index("NVIDIA guest drivers")
    assert [row[0] for row in shown(build.upgrade_order(plans["enterprise"]))] == list("123456")


def test_acceptance_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    tests = {row[2]: row[3] for row in shown(build.acceptance(plans["enterprise"]))}
    assert is_approved(tests["Power off vgpu-06"], "18 clients")
    assert is_approved(tests["Power off two hosts one after the other"], "20 VMs")
    assert tests["Start all planned VMs, the largest first"] == "All 41 VMs start"
    assert any("train on 4 hosts" in test for test in tests)
    assert not any("maintenance" in test for test in tests)  # no rehearsal of Bitfusion


def test_many_clusters_do_not_repeat_the_chapter_on_upgrades(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.people", group.people * 62)
    plan = make_plan(scenario, catalog)
    assert len(plan.pools) > build.MOST_SENTENCES
    expected = [row[3] for row in shown(build.acceptance(plan))]
    assert said("build.upgrades", chapter=said("operations.hosts")) in expected
    assert max(map(len, expected)) < 300


def test_software_is_that_of_the_version_and_says_what_is_to_be_filled_in(plans: dict[str, Plan]) -> None:
    def parts(plan: Plan) -> dict[str, str]:
        found = {}
        for row in build.software(plan).cells():
            found[str(row[0].value)] = str(row[1].words or row[1].value)
        return found

    current, enterprise = parts(plans["current"]), parts(plans["enterprise"])
    assert current["hardware-version"] == "21" and "24280767" in current["esx"]
    assert enterprise["hardware-version"] == "17" and enterprise["esx"].startswith("\u2039")
    assert set(current) == set(enterprise)


def test_settings_follow_the_design(plans: dict[str, Plan], catalog: Catalog) -> None:
    def settings(plan: Plan) -> dict[str, str]:
        table = build.cluster_settings(plan)
        return {str(row[1]): str(row[2]) for row in table.rows}

    current = settings(plans["current"])
    assert current["Host failures tolerated"] == "1"
    assert current["Admission control"].startswith("10 %")  # one of ten hosts
    assert current["MIG mode"].startswith("On for 2 GPUs")
    assert "RDMA uplinks" in settings(plans["enterprise"])


@pytest.mark.parametrize("name", ["current", "assistant"])
def test_the_policy_is_the_one_that_the_decision_names(catalog: Catalog, name: str) -> None:
    plan = make_plan(load_scenario(name), catalog)
    (decided,) = (each.decision for each in plan.decisions if each.case.startswith("power-on"))
    assert plan.scenario.platform.gpu_policy == "spread"
    assert has_approved(decided)
    policy = "group VMs on a GPU until it is full"
    rows = [[str(cell) for cell in row] for row in build.cluster_settings(plan).rows]
    assert any(row[1:3] == ["GPU assignment policy", policy] for row in rows)
    readme = next(
        text for file, text in infrastructure_files(plan).items() if file.endswith("vsphere/README.md")
    )
    assert has_approved(readme)
    kept = make_plan(load_scenario("enterprise"), catalog)  # all VMs start as it is
    rows = build.cluster_settings(kept).rows
    policies = [str(row[2]) for row in rows if str(row[1]) == "GPU assignment policy"]
    assert has_approved(policies)


def test_vms_that_find_no_place_are_not_said_to_start(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(plan: Plan) -> str:
        (row,) = (row for row in shown(build.acceptance(plan)) if "planned VMs, the" in row[2])
        return str(row[3])

    scenario = load_scenario("current").with_value("demand.rule", "stated")
    plan = make_plan(scenario.with_value("demand.stated_gpus", 20), catalog)
    assert is_approved(start(plan), "19 VMs", "44 VMs")
    worst = plan.power_on["vgpu"].now
    assert worst.most_missing == 3
    monkeypatch.setattr(PowerOn, "with_largest_first", worst)
    assert is_approved(start(plan), "16 VMs")


def test_acceptance_expects_what_the_plan_says(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    tests = {row[0].value if hasattr(row[0], "value") else row[0]: row for row in build.acceptance(plan).rows}
    said_of = " ".join(str(getattr(cell, "value", cell)) for row in tests.values() for cell in row)
    assert list(tests) == [f"T{n}" for n in range(1, len(tests) + 1)]
    worst = max(plan.pools[0].failures, key=lambda loss: loss.restarted)
    assert said("build.failure", vms=worst.restarted) in said_of
    assert f"Power off vgpu-{worst.hosts[0]:02}" in said_of
    assert plan.power is not None and f"At most {round(plan.power.host_peak_w)} W a host" in said_of
    assert "7 x H100L-1-12C" in said_of and "2 x H100L-47C" in said_of  # of NVIDIA's table
    assert has_approved(said_of, "58 s", "100 s")  # not that of VMs over the limit
    assert "RDMA" in said_of and "Bitfusion" not in said_of
