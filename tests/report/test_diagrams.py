"""The diagrams: as many boxes as the plan has things, every group in the legend once, texts that do not touch each other."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from approved import has_approved
from drawn_designs import NAMESPACE, OTHERS, group, ids, parsed, texts

from gpuplan import Plan, make_plan
from gpuplan.catalog import Catalog
from gpuplan.report.colours import OKABE_ITO
from gpuplan.report.diagrams import MOST_HOSTS, group_symbols, hosts_svg
from gpuplan.report.drawing import text_width
from gpuplan.report.fabric_drawing import fabric_svg
from gpuplan.report.tables import host_kinds
from gpuplan.scenario import from_dict

SHAPES = {"svg", "title", "rect", "text", "line", "polygon"}
CM_16_IN_POINTS = 16 / 2.54 * 72


@pytest.fixture(scope="module")
def others(catalog: Catalog) -> dict[str, Plan]:
    return {name: make_plan(from_dict(data), catalog) for name, data in OTHERS.items()}


@pytest.fixture(params=("starter", "enterprise", "current", *OTHERS))
def plan(request: pytest.FixtureRequest, plans: dict[str, Plan], others: dict[str, Plan]) -> Plan:
    return {**plans, **others}[request.param]


def figures(plan: Plan) -> list[str]:
    return [svg for svg in (hosts_svg(plan), fabric_svg(plan)) if svg is not None]


def test_only_plain_shapes_inside_the_picture_and_text_of_nine_points(plan: Plan) -> None:
    for svg in figures(plan):
        root = ElementTree.fromstring(svg)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        assert (width, height) == (float(root.attrib["width"]), float(root.attrib["height"]))
        assert root[0].tag == f"{NAMESPACE}title"
        assert root[0].text
        for node in root.iter():
            assert node.tag.removeprefix(NAMESPACE) in SHAPES
            assert not {"class", "style", "filter", "clip-path"} & set(node.attrib)
            numbers = [
                float(v)
                for k, v in node.attrib.items()
                if k in ("x", "y", "x1", "x2", "y1", "y2", "width", "height")
            ]
            assert all(map(math.isfinite, numbers))
            if node.tag == f"{NAMESPACE}text":
                assert float(node.attrib["font-size"]) * CM_16_IN_POINTS / width >= 9
                assert "DejaVu Sans" in node.attrib["font-family"]
            if node.tag == f"{NAMESPACE}rect":
                x, y, wide, tall = (float(node.attrib[name]) for name in ("x", "y", "width", "height"))
                assert wide > 0 < tall
                assert x >= left
                assert y >= top
                assert x + wide <= left + width + 0.1
                assert y + tall <= top + height + 0.1


def boxes_of_text(svg: str) -> list[tuple[float, float, float, float, str]]:
    found = []
    for node in parsed(svg):
        if node.tag == f"{NAMESPACE}text" and node.text:
            wide = text_width(node.text, bold=node.get("font-weight") == "bold") * 0.93
            anchor = {"start": 0.0, "middle": 0.5, "end": 1.0}[node.attrib["text-anchor"]]
            x, y = float(node.attrib["x"]) - anchor * wide, float(node.attrib["y"])
            found.append((x, y - 9.5, x + wide, y, node.text))
    return found


def test_no_text_on_another_and_none_over_the_edge(plan: Plan) -> None:
    for svg in figures(plan):
        found = boxes_of_text(svg)
        for a, b in itertools.combinations(found, 2):
            apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
            assert apart, (a, b)
        assert all(x1 >= -2 and x2 <= 642 for x1, _, x2, _, _ in found)


def test_every_host_and_gpu_is_a_box(plan: Plan) -> None:
    svg = hosts_svg(plan)
    hosts, gpus = ids(svg, "host-"), ids(svg, "gpu-")
    assert len(set(hosts)) == len(hosts)
    if plan.totals.hosts <= MOST_HOSTS:
        assert len(hosts) == plan.totals.hosts
        assert len(gpus) == len(set(gpus)) == plan.totals.gpus
        spare = sum(not host for pool in plan.pools for host in pool.placement)
        assert texts(svg).count("spare") == spare
        return
    more = [int(t.split(" ")[0]) for t in texts(svg) if t.endswith(" more like this")]
    assert len(hosts) + sum(more) == plan.totals.hosts
    assert len(hosts) == sum(len(host_kinds(pool)) for pool in plan.pools)


def test_hosts_of_more_kinds_than_are_drawn_are_counted(others: dict[str, Plan]) -> None:
    plan = others["many hosts"]
    pool = plan.pools[0]
    other = next(host for host in pool.placement if host and host[0].gpus == 1)
    changed = tuple(
        tuple(load._replace(slots=(load.slots[0]._replace(profile=f"p{at}"),)) for load in other)
        if at < 40
        else host
        for at, host in enumerate(pool.placement)
    )
    plan = plan.but(pools=(replace(pool, placement=changed),))
    svg = hosts_svg(plan)
    assert len(ids(svg, "host-")) == MOST_HOSTS
    (left,) = [
        re.match(r"and (\d+) hosts filled in (\d+) other ways", t) for t in texts(svg) if t[:4] == "and "
    ]
    assert left is not None
    more = sum(int(t.split(" ")[0]) for t in texts(svg) if t.endswith(" more like this"))
    assert MOST_HOSTS + more + int(left[1]) == pool.hosts
    assert MOST_HOSTS + int(left[2]) == len(host_kinds(plan.pools[0]))


def test_hosts_that_are_filled_alike_are_one_kind(plans: dict[str, Plan]) -> None:
    pool = plans["enterprise"].pools[0]
    kinds = host_kinds(pool)
    assert sorted(itertools.chain(*kinds)) == list(range(pool.hosts))
    assert kinds[0] == [0, 1, 2]  # three hosts with four GPUs of a researcher each


def test_every_group_is_in_the_legend_once_with_its_letter(plan: Plan) -> None:
    svg = hosts_svg(plan)
    shown = texts(svg)
    symbols = group_symbols(plan)
    placed = [g for g in plan.groups if g.vms_placed]
    for g in placed:
        assert shown.count(g.name) == sum(other.name == g.name for other in placed)
        assert shown[shown.index(g.name) - 1] == symbols[g.id].letter
    assert len({symbols[g.id].letter for g in plan.groups}) == len(plan.groups)


def test_of_a_hundred_groups_the_legend_has_those_that_are_drawn(catalog: Catalog) -> None:
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": 10 + n, "gpus_each": 4} for n in range(100)]
    plan = make_plan(
        from_dict({"groups": groups, "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}), catalog
    )
    svg = hosts_svg(plan)
    shown = texts(svg)
    listed = [text for text in shown if text.startswith("Group ")]
    assert 10 < len(listed) == len(set(listed)) <= 24 and f"and {100 - len(listed)} other groups" in shown
    letters = {shown[shown.index(name) - 1] for name in listed}
    assert letters == {text for text in shown[: shown.index(listed[0]) - 1] if text in letters}
    assert float(ElementTree.fromstring(svg).attrib["height"]) < 1500


def test_who_is_on_the_hosts_of_the_enterprise_example(plans: dict[str, Plan]) -> None:
    shown = texts(hosts_svg(plans["enterprise"]))
    assert [shown.count(f"R{vm}") for vm in (1, 2, 3)] == [4, 4, 4]
    assert shown.count("S\u00d72") == 8  # 16 halves of a GPU
    assert shown.count("V\u00d78") == 2  # 16 eighths
    assert [shown.count(f"T{vm}") for vm in (1, 2, 3, 4)] == [1, 1, 1, 1]
    assert has_approved(shown, "8", "PowerEdge C4140", "4", "Tesla V100 PCIe 32GB")


def test_more_groups_on_a_gpu_than_letters_are_counted(others: dict[str, Plan]) -> None:
    assert any(re.fullmatch(r"\+\d", text) for text in texts(hosts_svg(others["fractions"])))


def test_vms_without_a_gpu_are_said(catalog: Catalog) -> None:
    data = {
        "groups": [group("Remote", 30, "1/3", access="bitfusion", remote_allowed=True), group("On", 2, 1)]
    }
    plan = make_plan(from_dict(data), catalog)
    assert plan.totals.unplaced_vms
    assert has_approved(texts(hosts_svg(plan)), f"{plan.totals.unplaced_vms} VMs")


def test_nobody_asks_for_a_gpu(catalog: Catalog) -> None:
    plan = make_plan(from_dict({}), catalog)
    assert "no host" in texts(hosts_svg(plan))[0]
    assert fabric_svg(plan) is None


def test_hostile_names_are_harmless(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    names = (
        "<b>bold</b> & \"quoted\" 'too'",
        "a\x0bb\x00\ud800\ufffe\u202ec",
        "W" * 400,
        "=1+1",
        "\u6f22" * 60,
    )
    hostile = plan.but(
        groups=tuple(replace(g, name=name) for g, name in zip(plan.groups, names, strict=True))
    )
    svg = hosts_svg(hostile)
    svg.encode()
    shown = texts(svg)
    assert not any("\x0b" in t or "\u202e" in t for t in shown)
    assert all(x2 <= 642 for _, _, x2, _, _ in boxes_of_text(svg))
    assert names[0] in shown
    assert "a bc" in shown
    assert any(re.fullmatch("W+\u2026", t) for t in shown)


def test_colours_begin_again_but_letters_do_not(catalog: Catalog) -> None:
    groups = [{"id": f"g{at}", "name": "Same", "people": 1, "gpus_each": 1} for at in range(30)]
    symbols = group_symbols(make_plan(from_dict({"groups": groups}), catalog))
    assert symbols["g0"].colour == symbols["g8"].colour == OKABE_ITO[0]
    assert len({symbol.letter for symbol in symbols.values()}) == 31
    assert symbols["g29"].letter == "30"


def test_the_same_plan_gives_the_same_drawings(plan: Plan, catalog: Catalog) -> None:
    again = make_plan(plan.scenario, catalog)
    assert figures(again) == figures(plan)
