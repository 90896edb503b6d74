"""Drawings of the logical design, the racks and the fabric."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from drawn_designs import NAMESPACE, OTHERS, parsed, texts
from random_cases import cases
from site_designs import two_sites

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import racks
from gpuplan.report.architecture import ACCENT, ACROSS, MOST_RACKS, UNIT, fabric_svg, logical_svg, racks_svg
from gpuplan.report.drawing import SOFT, WIDTH, text_width
from gpuplan.report.physical import alike
from gpuplan.report.tables.network import cabling, fabric_words
from gpuplan.scenario import from_dict
from gpuplan.wording import amount, capital, said

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def large(catalog: Catalog) -> Plan:
    """Seven clusters, in many racks."""
    scenario = load_scenario("current")
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.people", group.people * 60)
    return make_plan(scenario, catalog)


def boxes(svg: str, **held: str) -> list[dict[str, str]]:
    found = (node.attrib for node in ElementTree.fromstring(svg).iter(f"{SVG}rect"))
    return [box for box in found if all(box.get(name) == value for name, value in held.items())]


def test_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    said_of = texts(logical_svg(plans["enterprise"]))
    for line in (said("logical.domain"), "32 GPUs", said("logical.spare", hosts=1), said("logical.services")):
        assert line in said_of
    whole = " ".join(said_of)
    assert all(group.name in whole for group in plans["enterprise"].groups)
    assert "100 Gbit/s" in whole and amount(4, "host") in whole  # of the management domain


def test_every_text_of_a_drawing_stands_inside(example: Plan, large: Plan) -> None:
    for plan in (example, large):
        for svg in (logical_svg(plan), racks_svg(plan)):
            assert svg is not None
            root = ElementTree.fromstring(svg)
            for node in root.iter(f"{SVG}text"):
                bold = node.get("font-weight") == "bold"
                assert float(node.attrib["x"]) + text_width(node.text or "", bold=bold) <= WIDTH + 1
                assert float(node.attrib["y"]) <= float(root.attrib["height"])


def test_clusters_that_are_alike_are_one_box_and_the_others_are_counted(large: Plan) -> None:
    said_of = texts(logical_svg(large))
    assert len(large.pools) > 3
    drawn = [line for line in said_of if line.endswith(" GPUs") and line[0].isdigit()]
    assert 1 <= len(drawn) <= 3
    assert racks_svg(large) is not None


def test_racks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Two racks; a leaf in each, and a box of the same colour in the legend."""
    svg = racks_svg(plans["enterprise"])
    assert svg is not None
    said_of = texts(svg)
    assert (
        said("physical.rack", first=1, last=1) in said_of
        and said("physical.rack", first=2, last=2) in said_of
    )
    assert "leaf-01a" in said_of and "leaf-01b" in said_of
    assert "vgpu-01 \u2013 vgpu-05" in said_of and "vgpu-06 \u2013 vgpu-08" in said_of
    leaves = [box for box in boxes(svg, fill=ACCENT) if float(box["height"]) == UNIT]
    assert len(leaves) == 2


def test_one_drawing_for_racks_that_are_alike(large: Plan) -> None:
    svg, kinds = racks_svg(large), alike(racks(large))
    assert svg is not None and len(kinds) > ACROSS
    heads = [line for line in texts(svg) if line.startswith("Rack")]
    assert len(heads) == min(len(kinds), MOST_RACKS)
    if left := kinds[MOST_RACKS:]:
        count = sum(map(len, left))
        assert any(str(count) in line for line in texts(svg)[-3:])


def test_without_power_there_is_no_rack(plans: dict[str, Plan]) -> None:
    assert racks_svg(plans["enterprise"].but(power=None)) is None


def test_hostile_names_are_text(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    named = plan.scenario.with_value("groups.researchers.name", "<script>&" + "W" * 50)
    svg = logical_svg(make_plan(named, catalog))
    assert "<script>" not in svg
    assert any(line.startswith("<script>&") for line in texts(svg))


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
