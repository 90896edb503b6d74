"""Power-on as text and as plain data."""

from __future__ import annotations

import json

import pytest
from power_on_designs import one_large_among_small

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.power_on import power_on, watched
from gpuplan.catalog import Catalog
from gpuplan.report.power_on_report import (
    NONE,
    picture,
    power_on_dict,
    power_on_text,
    watched_dict,
    watched_text,
)
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
    assert NONE in power_on_text(empty, power_on(empty)) and NONE in watched_text(empty, [])


def test_the_worst_order_and_its_picture(plan: Plan) -> None:
    order = watched(plan.power_on["vgpu"], "smallest")
    said = watched_text(plan, [order])
    assert "1 VM of 5 does not start; 4 of 8 GPUs are idle." in said
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
    """Of an H100 a 3g instance begins at slice 4, one of 4g at 0; a half and a quarter of another are drawn one after the other."""
    groups = [
        {"id": "three", "name": "Three", "people": 1, "gpus_each": "3/7", "isolation": True},
        {"id": "one", "name": "One", "people": 1, "gpus_each": "1/7", "isolation": True},
    ]
    plan = make_plan(
        from_dict({"groups": groups, "hardware": {"gpu": "h100-pcie-80gb", "gpus_per_host": 1}}), catalog
    )
    three, one = (group.letter for group in plan.groups)
    first = picture(plan, watched(plan.power_on["vgpu"], "largest").play).splitlines()[0]
    assert first == f"Host 1  [....{three * 4}]"
    shared = make_plan(load_scenario("assistant").with_value("platform.gpu_policy", "group"), catalog)
    drawn = picture(shared, watched(shared.power_on["vgpu"], "largest").play)
    halves = next(group.letter for group in shared.groups if group.id == "data-scientists")
    assert f"[{halves * 4}....]" in drawn or f"[{halves * 8}]" in drawn
    assert one
