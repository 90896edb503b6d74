"""The drawing of the fabric has the switches, ports and speeds of the plan."""

from __future__ import annotations

import re

import pytest
from drawn_designs import NAMESPACE, OTHERS, parsed, texts

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.fabric_drawing import fabric_svg
from gpuplan.scenario import from_dict


@pytest.fixture(scope="module")
def others(catalog: Catalog) -> dict[str, Plan]:
    return {name: make_plan(from_dict(data), catalog) for name, data in OTHERS.items()}


@pytest.fixture(params=("starter", "enterprise", "current", *OTHERS))
def plan(request: pytest.FixtureRequest, plans: dict[str, Plan], others: dict[str, Plan]) -> Plan:
    return {**plans, **others}[request.param]


def test_the_fabric_has_its_switches_and_speeds(plan: Plan) -> None:
    found = plan.cabling
    assert found is not None
    assert found.switches is not None
    svg = fabric_svg(plan)
    assert svg is not None
    shown, shape = texts(svg), found.switches.shape
    said = " ".join(shown)
    assert len([t for t in shown if re.fullmatch(r"Leaf \d*[AB]", t)]) == min(shape.leaves, 6)
    assert len([t for t in shown if re.fullmatch(r"Spine \d+", t)]) == min(shape.spines, 4)
    assert found.switches.leaf_name in said
    assert f"{found.ports.shared} shared ports" in said
    assert f"x {found.switches.up_gbit_s:g} Gbit/s" in said
    assert (f"{found.gpu_hosts} GPU hosts" if found.gpu_hosts > 1 else "1 GPU host") in shown
    if found.compute_hosts:
        assert f"{found.compute_hosts} compute hosts" in said
    dashed = [node for node in parsed(svg) if node.tag == f"{NAMESPACE}line" and node.get("stroke-dasharray")]
    assert bool(dashed) is bool(found.ports.rdma)
