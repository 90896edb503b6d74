"""A rehearsal as text and as data."""

from __future__ import annotations

import json

from approved import has_approved

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan
from gpuplan.report.rehearsal_report import (
    emptied_dict,
    emptied_text,
    rehearsal_dict,
    rehearsal_text,
    restart_dict,
    restart_text,
)
from gpuplan.report.tables import rehearsal as tables
from gpuplan.scenario import from_dict


def test_text_says_the_answer_before_each_table(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    text = " ".join(rehearsal_text(plan, plan.pools).split())
    assert has_approved(text)
    order = (
        "Up to 2 VMs are down",
        "Total stun",
        "HA restarts VMs",
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
    assert cluster["upgrade"]["works"] is False and cluster["not_started"] == [24, 24]
    assert len(cluster["failures"]) == len(cluster["upgrade"]["turns"]) == 10
    assert len(cluster["week"]["missing"]) == 168


def test_one_host_or_one_failure_alone(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = plan.rehearsed["vgpu"]
    assert has_approved(emptied_text(plan, found, found.emptied(3)), "3")
    assert emptied_dict(plan, found, found.emptied(3))["went"][0]["how"] == "down"
    assert has_approved(restart_text(plan, found, found.failed(1, 2)), "1", "2")
    assert restart_dict(plan, found, found.failed(1))["vms"] == 1


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
