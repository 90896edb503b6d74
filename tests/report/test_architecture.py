"""Drawings of the logical design and of the racks."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from drawn_designs import texts

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import racks
from gpuplan.report.architecture import UNIT, logical_svg, rack_sheets
from gpuplan.report.drawing import ACCENT, TINT, WIDTH, text_width
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
        for svg in (logical_svg(plan), *(sheet.svg for sheet in rack_sheets(plan))):
            root = ElementTree.fromstring(svg)
            for node in root.iter(f"{SVG}text"):
                bold = node.get("font-weight") == "bold"
                before = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.attrib["text-anchor"]]
                wide = text_width(node.text or "", bold=bold)
                assert float(node.attrib["x"]) + wide * (1 - before) <= WIDTH + 1
                assert float(node.attrib["y"]) <= float(root.attrib["height"])


def test_clusters_that_are_alike_are_one_box_and_the_others_are_counted(large: Plan) -> None:
    said_of = texts(logical_svg(large))
    assert len(large.pools) > 3
    drawn = [line for line in said_of if line.endswith(" GPUs") and line[0].isdigit()]
    assert 1 <= len(drawn) <= len(large.pools)


def test_racks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Two racks with a leaf each at the top; hosts of 1 U from the bottom, power against the limit, what is free."""
    (sheet,) = rack_sheets(plans["enterprise"])
    shown = texts(sheet.svg)
    first, second = racks(plans["enterprise"])
    for rack in (first, second):
        assert rack.name in shown
        assert {device.name for device in rack.devices} | {device.units for device in rack.devices} <= {
            *shown
        }
        assert said("physical.free", units=rack.free_u) in shown
        assert said("physical.power", peak=rack.peak_w / 1000, most=8) in shown
    leaves = boxes(sheet.svg, fill=TINT, stroke=ACCENT)
    assert [float(box["height"]) for box in leaves] == [UNIT, UNIT]
    tops = {float(box["y"]) for box in leaves}
    assert len(tops) == 1


def test_every_device_of_each_kind_of_rack_is_drawn(large: Plan) -> None:
    kinds, shown = alike(racks(large)), [text for sheet in rack_sheets(large) for text in texts(sheet.svg)]
    for these in kinds:
        first, last = these[0].name, these[-1].name
        head = first if first == last else said("drawing.span", first=first, last=last)
        assert head in " ".join(shown)
        for device in these[0].devices:
            assert shown.count(device.name) >= 1
    counts = [text for text in shown if text.endswith(", alike")]
    assert sum(int(text.split()[0]) - 1 for text in counts) + len(kinds) == len(racks(large))


def test_without_power_there_is_no_rack(plans: dict[str, Plan]) -> None:
    assert rack_sheets(plans["enterprise"].but(power=None)) == []


def test_hostile_names_are_text(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["enterprise"]
    named = plan.scenario.with_value("groups.researchers.name", "<script>&" + "W" * 50)
    svg = logical_svg(make_plan(named, catalog))
    assert "<script>" not in svg
    assert any(line.startswith("<script>&") for line in texts(svg))
