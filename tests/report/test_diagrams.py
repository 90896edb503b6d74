"""The diagrams: as many boxes as the plan has things, every group in the legend once, texts that do not touch each other."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from approved import has_approved, is_approved
from drawn_designs import NAMESPACE, OTHERS, group, ids, parsed, texts

from gpuplan.catalog import Catalog
from gpuplan.models.placement import Family
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.sharing import more_that_fit, starts_of
from gpuplan.report.architecture import logical_svg, rack_sheets
from gpuplan.report.diagrams import (
    COVER,
    MOST_HOSTS,
    MOST_KINDS,
    Shares,
    first_hosts_svg,
    group_symbols,
    hosts_sheets,
    layout_words,
    on_each_gpu,
    places_words,
    room_words,
)
from gpuplan.report.drawing import OKABE_ITO, PAGE, text_width
from gpuplan.report.fabrics import fabric_sheets
from gpuplan.report.tables import host_kinds
from gpuplan.scenario import from_dict, load_scenario

SHAPES = {"svg", "title", "rect", "text", "line", "polyline", "path"}
MM_174_IN_POINTS = 17.4 / 2.54 * 72


@pytest.fixture(scope="module")
def others(catalog: Catalog) -> dict[str, Plan]:
    return {name: make_plan(from_dict(data), catalog) for name, data in OTHERS.items()}


@pytest.fixture(params=("starter", "enterprise", "current", *OTHERS))
def plan(request: pytest.FixtureRequest, plans: dict[str, Plan], others: dict[str, Plan]) -> Plan:
    return {**plans, **others}[request.param]


def figures(plan: Plan) -> list[str]:
    sheets = [*hosts_sheets(plan), *fabric_sheets(plan), *rack_sheets(plan)]
    return [*(sheet.svg for sheet in sheets), *([logical_svg(plan)] if plan.pools else [])]


def hosts_svg(plan: Plan) -> str:
    """The hosts that are drawn on one page."""
    (sheet,) = hosts_sheets(plan)
    return sheet.svg


def test_only_plain_shapes_inside_the_picture_and_text_of_nine_and_a_half_points(plan: Plan) -> None:
    for svg in figures(plan):
        root = ElementTree.fromstring(svg)
        left, top, width, height = map(float, root.attrib["viewBox"].split())
        assert (width, height) == (float(root.attrib["width"]), float(root.attrib["height"]))
        assert height <= PAGE + 40
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
                assert float(node.attrib["font-size"]) * MM_174_IN_POINTS / width >= 9.5
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
        assert not [text for x1, _, x2, _, text in found if x1 < -2 or x2 > 642]


def test_every_host_and_gpu_is_a_box(plan: Plan) -> None:
    sheets = [sheet.svg for sheet in hosts_sheets(plan)]
    hosts, gpus = ([name for svg in sheets for name in ids(svg, head)] for head in ("host-", "gpu-"))
    shown = [text for svg in sheets for text in texts(svg)]
    assert len(set(hosts)) == len(hosts)
    if plan.totals.hosts <= MOST_HOSTS:
        assert len(hosts) == plan.totals.hosts
        assert len(gpus) == len(set(gpus)) == plan.totals.gpus
        spare = sum(not host for pool in plan.pools for host in pool.placement)
        assert shown.count("failover") == spare
        return
    assert counted(shown) == plan.totals.hosts
    assert len(hosts) == sum(len(host_kinds(pool)) for pool in plan.pools)


def counted(shown: list[str]) -> int:
    """The hosts that boxes stand for: one each, or the number below \"Hosts 1-37\"."""
    alike = [int(t.split()[0]) for t in shown if re.fullmatch(r"[\d.,\u202f]+ hosts", t)]
    numbers = [n for t in shown if t.startswith("Hosts ") for n in re.findall(r"\d+", t)]
    assert len(numbers) >= len(alike)
    return sum(alike) + sum(bool(re.fullmatch(r"Host \d+", t)) for t in shown)


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
    sheets = [sheet.svg for sheet in hosts_sheets(plan)]
    assert sum(len(ids(svg, "host-")) for svg in sheets) == MOST_KINDS
    shown = [text for svg in sheets for text in texts(svg)]
    told = [re.match(r"and (\d+) hosts filled in (\d+) other ways", t) for t in shown]
    (left,) = [match for match in told if match]
    assert counted(shown) + int(left[1]) == pool.hosts
    assert MOST_KINDS + int(left[2]) == len(host_kinds(plan.pools[0]))


def test_hosts_that_are_filled_alike_are_one_kind(plans: dict[str, Plan]) -> None:
    pool = plans["enterprise"].pools[0]
    kinds = host_kinds(pool)
    assert sorted(itertools.chain(*kinds)) == list(range(pool.hosts))
    assert kinds[0] == [0, 1, 2]  # three hosts with four GPUs of a researcher each


def test_every_group_is_in_the_legend_once_with_its_letter(plan: Plan) -> None:
    symbols, sheets = group_symbols(plan), [texts(sheet.svg) for sheet in hosts_sheets(plan)]
    placed = [g for g in plan.groups if g.vms_placed]
    for g in placed:
        there = [shown for shown in sheets if g.name in shown]
        assert there
        for shown in there:
            assert shown.count(g.name) == sum(other.name == g.name for other in placed)
            assert shown[shown.index(g.name) - 1] == symbols[g.id].letter
    assert len({symbols[g.id].letter for g in plan.groups}) == len(plan.groups)


def test_of_a_hundred_groups_each_page_explains_those_that_are_drawn_on_it(catalog: Catalog) -> None:
    groups = [{"id": f"g{n}", "name": f"Group {n}", "people": 10 + n, "gpus_each": 4} for n in range(100)]
    plan = make_plan(
        from_dict({"groups": groups, "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 4}}), catalog
    )
    every = set[str]()
    for sheet in hosts_sheets(plan):
        shown = texts(sheet.svg)
        listed = [text for text in shown if text.startswith("Group ")]
        letters = {shown[shown.index(name) - 1] for name in listed}
        drawn = {text for text in shown[: shown.index(listed[0]) - 1] if re.fullmatch(r"[A-Z]|\d+", text)}
        assert letters == drawn and len(listed) == len({*listed})
        every |= {*listed}
    assert len(every) == 100 or f"and {100 - len(every)} other workloads" in shown


def test_who_is_on_the_hosts_of_the_enterprise_example(plans: dict[str, Plan]) -> None:
    shown = texts(hosts_svg(plans["enterprise"]))
    assert [shown.count(f"H{vm}") for vm in (1, 2, 3)] == [4, 4, 4]
    assert shown.count("D") == 17  # 16 halves of a GPU, and the legend
    assert shown.count("E\u00d78") == 2  # 16 eighths
    assert [shown.count(f"M{vm}") for vm in (1, 2, 3, 4)] == [1, 1, 1, 1]
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
    assert [hosts_sheets(plan), fabric_sheets(plan), rack_sheets(plan)] == [[], [], []]


def test_hostile_names_are_harmless(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    names = (
        "<b>bold</b> & \"quoted\" 'too'",
        "a\x0bb\x00\ud800\ufffe\u202ec",
        "W" * 60,
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
    for letter in "W\u6f22":  # a long name without a space is broken, and whole
        assert sum(len(t) for t in shown if re.fullmatch(letter + "{2,}", t)) == 60


def test_colours_begin_again_but_letters_do_not(catalog: Catalog) -> None:
    groups = [{"id": f"g{at}", "name": "Same", "people": 1, "gpus_each": 1} for at in range(30)]
    symbols = group_symbols(make_plan(from_dict({"groups": groups}), catalog))
    assert symbols["g0"].colour == symbols["g8"].colour == OKABE_ITO[0]
    assert len({symbol.letter for symbol in symbols.values()}) == 31
    assert symbols["g29"].letter == "30"


def test_the_same_plan_gives_the_same_drawings(plan: Plan, catalog: Catalog) -> None:
    again = make_plan(plan.scenario, catalog)
    assert figures(again) == figures(plan)


@pytest.fixture(scope="module")
def enterprise(catalog: Catalog) -> Plan:
    return make_plan(load_scenario("enterprise"), catalog)


def test_groups_take_no_more_than_a_gpu_has(enterprise: Plan) -> None:
    for pool in enterprise.pools:
        shares = Shares(enterprise, pool)
        for host, room in zip(pool.placement, pool.rooms, strict=True):
            each = on_each_gpu(host, room.gpus)
            assert len(each) == room.gpus and each.count(None) == room.gpus - sum(load.gpus for load in host)
            for load in (load for load in each if load and load.family):
                held = shares.of(load)
                assert sum(share.vms for share in held.values()) == len(load.slots)
                assert sum(share.mb for share in held.values()) + shares.left_mb(load) == shares.gpu_mb


def test_a_group_of_unknown_memory_takes_what_is_said(enterprise: Plan) -> None:
    shares = Shares(enterprise, enterprise.pools[0])
    assert (shares.piece_mb("nobody"), shares.piece_mb("nobody", 5)) == (1, 5)


def test_a_running_mig_instance_keeps_larger_ones_out() -> None:
    small_first = Family("MIG", ("small", "large"), ((3, 0), (1, 1), (0, 2)), in_order=True, sizes=(1, 2))
    assert more_that_fit(small_first, (1, 0)) == [(2, "small")]
    assert more_that_fit(small_first, (0, 1)) == [(1, "small"), (1, "large")]
    assert is_approved(room_words(small_first, (0, 1)), "1", "small", "1", "large")
    assert room_words(small_first, (3, 0)) == ""


def test_the_larger_mig_instance_starts_first(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("hardware.gpu", "a100-pcie-80gb")
    family = ("A100D-1-10C", "A100D-3-40C")
    found = starts_of(scenario, catalog, family, (3, 1))
    assert found is not None and [name for name, _ in found] == ["A100D-3-40C", "A100D-1-10C"]
    assert found[0][1] == (0,)


def test_profiles_without_listed_starts_are_counted(catalog: Catalog) -> None:
    enterprise = make_plan(load_scenario("current"), catalog)
    load = next(
        load for pool in enterprise.pools for host in pool.placement for load in host if load.slots[0].profile
    )
    family = load.family
    assert family is not None
    counts = tuple(sum(slot.profile == name for slot in load.slots) for name in family.profiles)
    assert layout_words(enterprise, family, counts).startswith(f"{max(counts)} x ")


def test_many_places_are_counted() -> None:
    assert places_words((4,)) == "4"
    assert places_words((4, 5, 6)) == "4, 5 and 6"
    assert "9" in places_words(range(9)) and "8" in places_words(range(9))


def test_the_drawing_for_a_cover_is_low_enough_for_it(plan: Plan) -> None:
    svg = first_hosts_svg(plan)
    assert svg is not None and ids(svg, "host-")
    assert float(ElementTree.fromstring(svg).attrib["height"]) <= COVER + 60
