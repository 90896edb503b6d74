"""The drawing of the fabric has the switches, ports and speeds of the plan."""

from __future__ import annotations

import re

import pytest
from drawn_designs import NAMESPACE, OTHERS, parsed, texts
from random_cases import cases
from site_designs import two_sites

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.drawing import SOFT
from gpuplan.report.fabric_drawing import fabric_svg
from gpuplan.report.tables.network import cabling, fabric_words
from gpuplan.scenario import from_dict
from gpuplan.wording import capital


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
    shown = texts(svg)
    (fabric,) = found.switches.fabrics
    shape, said = fabric.shape, " ".join(shown)
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


def test_each_fabric_is_drawn_with_its_own_switches_and_links(catalog: Catalog) -> None:
    """No leaf is joined to the spine of another fabric, and none by no link."""
    for rng in cases(62, 60, few=8):
        network = {"link_gbit_s": 100, "other_gbit_s": rng.choice([10, 150])}
        plan = make_plan(two_sites(rng.randint(1, 320), rng.randint(1, 320), network=network), catalog)
        assert plan.cabling is not None and plan.cabling.switches is not None
        switches, svg = plan.cabling.switches, fabric_svg(plan)
        assert svg is not None
        told = [
            *texts(svg),
            fabric_words(plan.cabling),
            *(str(cell) for row in cabling(plan.cabling).rows for cell in row),
        ]
        told += [decision.decision for decision in plan.decisions]
        assert not [text for text in told if re.search(r"\b0 x \d|\bnone of\b", text)]
        shapes = [kind.fabric.shape for kind in switches.kinds]
        per_pair = [min(shape.leaves, 6) * min(shape.spines, 4) for shape in shapes]
        drawn = [
            node for node in parsed(svg) if node.tag == f"{NAMESPACE}line" and node.get("stroke") == SOFT
        ]
        assert len(drawn) == sum(per_pair) + sum(not shape.spines for shape in shapes)
        for kind in switches.kinds:
            assert any(text.startswith(capital(kind.name)) for text in texts(svg))
            assert (
                f"{kind.fabric.hosts.gpu_hosts} GPU host{'s' * (kind.fabric.hosts.gpu_hosts > 1)}"
                in texts(svg)
            )


def test_identical_fabrics_are_drawn_once(catalog: Catalog) -> None:
    plan = make_plan(two_sites(40, 40), catalog)
    svg = fabric_svg(plan)
    assert svg is not None and texts(svg).count("Leaf A") == 1
    assert any("1, 2" in text and "Berlin, Austin" in text for text in texts(svg))
