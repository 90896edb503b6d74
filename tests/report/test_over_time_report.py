"""A rehearsal as text and as data."""

from __future__ import annotations

import json

import pytest
from approved import has_approved
from power_on_designs import one_large_among_small

from gpuplan import Plan, make_plan
from gpuplan.analysis.power_on import power_on, watched
from gpuplan.catalog import Catalog
from gpuplan.report.over_time_report import (
    emptied_text,
    host_dict,
    picture,
    power_on_dict,
    power_on_text,
    rehearsal_dict,
    rehearsal_text,
    restart_text,
    watched_dict,
    watched_text,
)
from gpuplan.report.tables import over_time as tables
from gpuplan.report.tables.power_on import NOT_TRIED
from gpuplan.scenario import from_dict


def test_text_says_the_answer_before_each_table(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    text = " ".join(rehearsal_text(plan, plan.pools).split())
    assert has_approved(text)
    order = (
        "9 VMs that cannot move live",
        "Total stun",
        "a failure may leave",
        "Worst case",
        "A week of power-ons",
        "Worst hour",
    )
    at = [text.index(words) for words in order]
    assert at == sorted(at) and has_approved(text)


def test_bitfusion_is_said_not_to_be_rehearsed(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    assert tables.NOT_REHEARSED[:40] in rehearsal_text(plan, plan.pools)
    assert rehearsal_dict(plan, plan.pools) == {"clusters": {"bitfusion": None}}


def test_data_is_plain_and_agrees_with_the_text(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    data = rehearsal_dict(plan, plan.pools)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    cluster = data["clusters"]["vgpu"]
    assert cluster["upgrade"]["works"] is True and cluster["not_started"] == [0, 0]
    assert len(cluster["failures"]) == len(cluster["upgrade"]["turns"]) == 10
    assert len(cluster["week"]["missing"]) == 168


def test_one_host_or_one_failure_alone(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = plan.rehearsed["vgpu"]
    assert has_approved(emptied_text(plan, found, found.emptied(3)), "3")
    assert host_dict(plan, found, found.emptied(3))["went"][0]["how"] == "down"
    assert has_approved(restart_text(plan, found, found.failed(1, 2)), "1", "2")
    assert host_dict(plan, found, found.failed(1))["vms"] == 1


def test_each_cluster_by_name_and_what_holds_for_all_once(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "name": "Team A", "people": 16, "gpus_each": 0.5, "access": "vgpu"},
        {"id": "p", "name": "Team P", "people": 6, "gpus_each": 2, "access": "passthrough"},
    ]
    hardware = {"gpu": "a100-pcie-80gb", "gpus_per_host": 4}
    data = {"groups": groups, "hardware": hardware, "platform": {"vsphere": "8.0u3"}}
    plan = make_plan(from_dict(data), catalog)
    text = " ".join(rehearsal_text(plan, plan.pools).split())
    assert has_approved(text) and "Passthrough cluster: Restarts" in text
    assert has_approved(text, "6 VMs")  # some of them twice
    assert text.count("Dynamic DirectPath") == text.count("no source says how long") == 1


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return one_large_among_small(catalog)


def test_text_and_data_say_the_same(plan: Plan) -> None:
    studies = power_on(plan, orders=400)
    said = " ".join(power_on_text(plan, studies).split())
    (cluster,) = json.loads(json.dumps(power_on_dict(plan, studies), allow_nan=False))["clusters"]
    assert cluster["sentence"] in said
    assert {row["setting"]: row["hosts"] for row in cluster["settings"]} == {"now": 5, "consolidation": 2}
    assert (cluster["orders"], cluster["hosts_by_size"], cluster["reserved_hosts"]) == (400, 2, 0)
    assert sorted(cluster["worst_order"]) == ["large"] + ["small"] * 4
    assert cluster["worst_order"].index("large") > 1


def test_a_design_without_vms_on_gpus_says_so(catalog: Catalog) -> None:
    empty = make_plan(from_dict({}), catalog)
    for said in (power_on_text(empty, power_on(empty)), watched_text(empty, [])):
        assert NOT_TRIED in " ".join(said.split())


def test_the_worst_order_and_its_picture(plan: Plan) -> None:
    order = watched(plan.power_on["vgpu"], "smallest")
    said = watched_text(plan, [order])
    assert has_approved(said, "1 VM", "5", "4", "8 GPUs")
    letters = {group.id: group.letter for group in plan.groups}
    small, free = letters["small"] * 8, "." * 8
    host = f"[{small}] [{small}] [{free}] [{free}]"
    assert said.endswith(f"Host 1  {host}\nHost 2  {host}\n")
    assert "Start" not in said, "a column without anything in it is left out"
    (cluster,) = json.loads(json.dumps(watched_dict(plan, [order]), allow_nan=False))["clusters"]
    assert (cluster["idle_gpus"], len(cluster["steps"])) == (4, 5)
    assert (
        picture(plan, order.play, 0)
        == f"Host 1  {' '.join([f'[{free}]'] * 4)}\nHost 2  {' '.join([f'[{free}]'] * 4)}"
    )


def test_parts_of_a_gpu_are_drawn_where_they_are(catalog: Catalog) -> None:
    """Of an H100 the first 3g instance begins at slice 4 of 8; vGPUs of one size stand one after the other."""
    hardware = {"gpu": "h100-pcie-80gb", "gpus_per_host": 1}
    sizes = [("three", "3/7"), ("one", "1/7")]
    slices = [{"id": id, "people": 1, "gpus_each": share, "isolation": True} for id, share in sizes]
    plan = make_plan(from_dict({"groups": slices, "hardware": hardware}), catalog)
    three, one = (group.letter for group in plan.groups)
    assert three != one
    drawn = picture(plan, watched(plan.power_on["vgpu"], "largest").play).splitlines()
    assert drawn == [f"Host 1  [....{three * 4}]", f"Host 2  [{one}.......]"]
    halves = [{"id": "a", "people": 3, "gpus_each": 0.5, "remote_allowed": False}]
    plan = make_plan(
        from_dict({"groups": halves, "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 1}}), catalog
    )
    drawn = picture(plan, watched(plan.power_on["vgpu"], "groups").play).splitlines()
    letter = plan.groups[0].letter
    assert [line[8:] for line in drawn] == [f"[{letter * 4}....]"] * 3
