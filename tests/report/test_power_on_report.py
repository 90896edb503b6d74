"""Power-on as text and as plain data."""

from __future__ import annotations

import json

import pytest
from approved import has_approved
from power_on_designs import one_large_among_small

from gpuplan import Plan, make_plan
from gpuplan.analysis.power_on import power_on, watched
from gpuplan.catalog import Catalog
from gpuplan.report.power_on_report import (
    picture,
    power_on_dict,
    power_on_text,
    watched_dict,
    watched_text,
)
from gpuplan.report.tables.power_on import NOT_TRIED
from gpuplan.scenario import from_dict


@pytest.fixture(scope="module")
def plan(catalog: Catalog) -> Plan:
    return one_large_among_small(catalog)


def test_text_and_data_say_the_same(plan: Plan) -> None:
    studies = power_on(plan, orders=300)
    said = " ".join(power_on_text(plan, studies).split())
    (cluster,) = json.loads(json.dumps(power_on_dict(plan, studies), allow_nan=False))["clusters"]
    assert cluster["sentence"] in said
    assert {row["setting"]: row["hosts"] for row in cluster["settings"]} == {"now": 5, "consolidation": 2}
    assert (cluster["orders"], cluster["hosts_by_size"], cluster["reserved_hosts"]) == (300, 2, 0)
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
