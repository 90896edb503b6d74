"""The logical and the physical design as drawings: every cluster, workload and rack of the plan, in boxes that hold their text."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import racks
from gpuplan.report.architecture import ACCENT, ACROSS, MOST_RACKS, UNIT, logical_svg, racks_svg
from gpuplan.report.drawing import WIDTH, text_width
from gpuplan.report.physical import alike
from gpuplan.wording import amount, said

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def large(catalog: Catalog) -> Plan:
    """Seven clusters, in many racks."""
    scenario = load_scenario("current")
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.people", group.people * 60)
    return make_plan(scenario, catalog)


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


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
