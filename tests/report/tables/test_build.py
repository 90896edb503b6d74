"""What a delivery team builds from: rows of the examples by hand, and that they follow the design."""

from __future__ import annotations

import re
from typing import Any

from approved import is_approved

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.site import site_value
from gpuplan.report.table import Table
from gpuplan.report.tables import build
from gpuplan.scenario import from_dict
from gpuplan.wording import said

VM = ["groups.researchers.vcpus_each", "groups.researchers.memory_gib_each"]


def unstated(plans: dict[str, Plan], keys: list[str]) -> list[str]:
    """The marks of fields of the enterprise example."""
    marks = [site_value(plans["enterprise"], key) for key in keys]
    assert all(mark.startswith("\u2039C") for mark in marks)
    return marks


def shown(table: Table) -> list[list[Any]]:
    """What a reader sees in each row: words where a cell has some, else its value."""
    return [[cell.words or cell.value for cell in row] for row in table.cells()]


def test_vm_classes_say_what_a_vm_gets(plans: dict[str, Plan]) -> None:
    rows = {row[0]: row[1:] for row in shown(build.vm_classes(plans["enterprise"]))}
    assert rows["gpu-researchers"] == [
        "High-performance researchers",
        *unstated(plans, VM),
        "4 x V100D-32C",
        3,
    ]
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
    assert ["GPUs", "4 x H100 NVL 94GB", "", ""] in shown(table)
    assert table.notes == (said("order.note", hosts=10),)
    assert build.order_lines(plans["current"].but(host_line=None)).notes == ()


def test_storage_is_what_is_bought(plans: dict[str, Plan], catalog: Catalog) -> None:
    assert [row[1] for row in shown(build.storage(plans["enterprise"]))][1:] == [
        *unstated(plans, ["cost.storage_tb", "cluster.vgpu.policy"]),
        "gpu-vgpu-ds01",
    ]
    bought = make_plan(plans["enterprise"].scenario.with_value("cost.storage_tb", 12.5), catalog)
    assert shown(build.storage(bought))[1][1] == "12.5 TB"


def test_names_and_networks_of_the_enterprise_example(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    assert [row[1:] for row in shown(build.naming(plan))] == [
        [8, "vgpu-01 \u2013 vgpu-08", "vgpu-01 \u2013 vgpu-08"],
        [2, "leaf-01a \u2013 leaf-01b", "leaf-01a \u2013 leaf-01b"],
        [2, "rack-01 \u2013 rack-02", "rack-01 \u2013 rack-02"],
    ]
    rows = [row[1:] for row in shown(build.network_plan(plan))]
    vlan, subnet = unstated(plans, ["network.management.vlan", "network.management.subnet"])
    assert rows[0] == [vlan, subnet, subnet, subnet, "1500", "No", "8 (/28)", "Network team"]
    assert len(rows) == 8


def test_racks_of_the_current_example(plans: dict[str, Plan]) -> None:
    """Three hosts of 2187 W to a rack are 6.6 kW; racks 1 and 2 are alike, each with a leaf of the pair."""
    assert is_approved(
        [row[:5] for row in shown(build.rack_plan(plans["current"]))],
        "1–2",
        "leaf-01a, leaf-01b",
        "vgpu-01",
        "vgpu-06",
        "6.6",
        "3",
        "vgpu-07",
        "vgpu-09",
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
    keys = [f"host.vgpu-08.{name}" for name in ("management", "bmc", "serial")]
    assert shown(whole)[-1] == ["vgpu-08", "vgpu-08", *unstated(plans, keys)]


def test_software_is_that_of_the_version_and_says_what_is_to_be_filled_in(plans: dict[str, Plan]) -> None:
    def parts(plan: Plan) -> dict[str, str]:
        found = {}
        for row in build.software(plan).cells():
            found[str(row[0].value)] = str(row[1].words or row[1].value)
        return found

    current, enterprise = parts(plans["current"]), parts(plans["enterprise"])
    assert current["hardware-version"] == "21" and "24280767" in current["esx"]
    assert enterprise["hardware-version"] == "17" and "esx" not in enterprise
    *_, last = build.software(plans["enterprise"]).cells()
    assert last[1].value == enterprise[build.UNKNOWN] == said("build.by matrix")
    assert last[0].words is not None and "ESX" in last[0].words.split(", ")
