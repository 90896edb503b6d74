"""Acceptance tests, settings and the order of upgrades, by hand for the examples and as the design says."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.infrastructure import infrastructure_files
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.verdict import WAYS
from gpuplan.report.table import Table
from gpuplan.report.tables import acceptance
from gpuplan.scenario import from_dict
from gpuplan.wording import number, said


def shown(table: Table) -> list[list[Any]]:
    """What a reader sees in each row: words where a cell has some, else its value."""
    return [[cell.words or cell.value for cell in row] for row in table.cells()]


@pytest.mark.parametrize(
    ("lost", "hosts", "share"),
    [(1, 8, 0.13), (1, 10, 0.1), (2, 10, 0.2), (1, 3, 0.34), (1, 64, 0.02), (1, 1, 1.0)],
)
def test_admission_control_keeps_no_less_than_the_hosts_that_may_fail(
    lost: int, hosts: int, share: float
) -> None:
    """vSphere takes whole per cent, and one of eight hosts is more than 12 % of them."""
    assert acceptance.reserved_share(lost, hosts) == share >= lost / hosts


def test_the_share_stands_in_the_settings(plans: dict[str, Plan]) -> None:
    rows = {row[1]: row[2] for row in shown(acceptance.design_rows("cluster_settings", plans["enterprise"]))}
    assert rows["Admission control"].startswith("13 %")


def test_the_platform_is_upgraded_from_the_top(plans: dict[str, Plan]) -> None:
    parts = [row[1] for row in shown(acceptance.design_rows("upgrade_order", plans["enterprise"]))]
    assert parts.index("SDDC Manager") < parts.index("vCenter Server") < parts.index("NVIDIA guest drivers")
    assert [row[0] for row in shown(acceptance.design_rows("upgrade_order", plans["enterprise"]))] == list(
        "123456"
    )


def test_acceptance_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    tests = {row[2]: row[3] for row in shown(acceptance.acceptance(plans["enterprise"]))}
    assert is_approved(tests["Power off vgpu-06"], "18 clients")
    assert is_approved(tests["Power off two hosts one after the other"], "20 VMs")
    assert tests["Start all planned VMs, the largest first"] == said("build.start", vms=41)
    assert any("train on 4 hosts" in test for test in tests)
    assert not any("maintenance" in test for test in tests)  # no rehearsal of Bitfusion


def test_many_clusters_do_not_repeat_the_chapter_on_upgrades(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.people", group.people * 62)
    plan = make_plan(scenario, catalog)
    assert len(plan.pools) > acceptance.MOST_SENTENCES
    expected = [row[3] for row in shown(acceptance.acceptance(plan))]
    assert said("build.upgrades", chapter=said("operations.hosts")) in expected
    assert max(map(len, expected)) < 300


def test_settings_follow_the_design(plans: dict[str, Plan], catalog: Catalog) -> None:
    def settings(plan: Plan) -> dict[str, str]:
        table = acceptance.design_rows("cluster_settings", plan)
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
    rows = [[str(cell) for cell in row] for row in acceptance.design_rows("cluster_settings", plan).rows]
    assert any(row[1:3] == ["GPU assignment policy", policy] for row in rows)
    readme = next(
        text for file, text in infrastructure_files(plan).items() if file.endswith("vsphere/README.md")
    )
    assert has_approved(readme)
    kept = make_plan(load_scenario("enterprise"), catalog)  # all VMs start as it is
    rows = acceptance.design_rows("cluster_settings", kept).rows
    policies = [str(row[2]) for row in rows if str(row[1]) == "GPU assignment policy"]
    assert has_approved(policies)


def test_vms_that_find_no_place_are_not_said_to_start(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(plan: Plan) -> str:
        (row,) = (row for row in shown(acceptance.acceptance(plan)) if "planned VMs, the" in row[2])
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
    tests = {
        row[0].value if hasattr(row[0], "value") else row[0]: row for row in acceptance.acceptance(plan).rows
    }
    said_of = " ".join(str(getattr(cell, "value", cell)) for row in tests.values() for cell in row)
    assert list(tests) == [f"T{n}" for n in range(1, len(tests) + 1)]
    worst = max(plan.pools[0].failures, key=lambda loss: loss.restarted)
    way = WAYS[plan.restart(plan.pools[0]).way]
    assert said("build.failure unsure", vms=worst.restarted, way=way) in said_of
    assert f"Power off vgpu-{worst.hosts[0]:02}" in said_of
    assert plan.power is not None and f"At most {number(round(plan.power.host_peak_w))} W a host" in said_of
    assert "7 x H100L-1-12C" in said_of and "2 x H100L-47C" in said_of  # of NVIDIA's table
    assert has_approved(said_of, "58 s", "100 s")  # not that of VMs over the limit
    assert "RDMA" in said_of and "Bitfusion" not in said_of


def test_vms_that_stay_down_with_their_host_are_not_said_to_restart(catalog: Catalog) -> None:
    """vSphere 6.7 binds passthrough to the devices of one host."""
    data: dict[str, Any] = {
        "groups": [{"id": "a", "people": 6, "access": "passthrough"}],
        "hardware": {"gpu": "v100-pcie-32gb", "gpus_per_host": 2},
        "platform": {"vsphere": "6.7u3"},
    }
    plan = make_plan(from_dict(data), catalog)
    (pool,) = plan.pools
    assert plan.restart(pool).state == "static" and not any(loss.unplaced for loss in pool.failures)
    said_of = [cell for row in shown(acceptance.acceptance(plan)) for cell in row]
    assert plan.restart(pool).sentence in said_of
