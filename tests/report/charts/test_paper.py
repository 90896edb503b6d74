"""The charts: their bars are as long as the plan's numbers, all of it text and plain shapes, and no network is asked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.analysis.demand import methods
from gpuplan.catalog import Catalog
from gpuplan.plan.cash_flow import PARTS as COST_PARTS
from gpuplan.plan.cash_flow import RESIDUAL
from gpuplan.report.charts import day_svg, waiting_svg, years_svg
from gpuplan.report.charts.demand import LEAST_CHANCE
from gpuplan.report.charts.paper import _above_floor, _between
from gpuplan.report.drawing import COLOURS, FONT, OKABE_ITO, PARTS, figure_png
from gpuplan.scenario import from_dict
from gpuplan.wording import number, short_number

NAMESPACE = "{http://www.w3.org/2000/svg}"
CHARTS: tuple[Callable[[Plan], str | None], ...] = (years_svg, day_svg, waiting_svg)
CM_16_IN_POINTS = 16 / 2.54 * 72


def drawn(svg: str | None) -> str:
    assert svg is not None
    return svg


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [node.text or "" for node in root.iter() if node.tag == f"{NAMESPACE}text"]


def bars(svg: str, colour: str) -> list[tuple[float, float]]:
    """(width, height) of each bar of a colour; vertical ones are drawn from their top."""
    found = []
    for node in ElementTree.fromstring(svg).iter():
        shape = re.fullmatch(r"M[-\d.]+,[-\d.]+h([-\d.]+)v([-\d.]+)h[-\d.]+Z", node.get("d", ""))
        if shape and node.get("fill") == colour and shape[1] != shape[2]:  # a square is of the legend
            found.append((float(shape[1]), float(shape[2])))
    return found


@pytest.mark.parametrize("chart", CHARTS)
def test_plain_shapes_and_text_of_nine_points(chart: Callable[[Plan], str | None], example: Plan) -> None:
    svg = drawn(chart(example))
    root = ElementTree.fromstring(svg)
    assert root.tag == f"{NAMESPACE}svg"
    assert root[0].tag == f"{NAMESPACE}title"
    assert float(root.attrib["width"]) == 640
    assert root.attrib["viewBox"] == f"0 0 640 {root.attrib['height']}"
    for node in root.iter():
        assert node.tag.removeprefix(NAMESPACE) in {"svg", "title", "g", "rect", "text", "line", "path"}
        assert not {"class", "style", "role", "filter", "clip-path"} & set(node.attrib)
        assert not any(name.startswith("aria") for name in node.attrib)
        if node.tag == f"{NAMESPACE}text":
            assert float(node.attrib["font-size"].removesuffix("px")) * CM_16_IN_POINTS / 640 >= 9
            assert node.attrib["font-family"] == FONT
    assert "NaN" not in svg
    assert "Infinity" not in svg
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    assert drawn(chart(example)) == svg
    assert figure_png(svg, width_px=320)[:4] == b"\x89PNG"


def test_every_part_of_a_cost_has_a_letter_of_its_own() -> None:
    assert tuple(PARTS) == COST_PARTS
    letters = [letter for letter, _ in PARTS.values()]
    assert len(set(letters)) == len(letters)


def test_the_years_are_those_of_the_plan(example: Plan) -> None:
    costs = example.costs
    assert costs is not None
    svg = drawn(years_svg(example))
    shown = texts(svg)
    assert f"Paid, {costs.currency}" in shown
    for label in ("Start", *(f"Year {year}" for year in range(1, costs.years + 1))):
        assert label in shown
    for value in costs.cash:
        assert short_number(value) in shown
    listed = [t for t in shown if re.fullmatch(r"[A-W] .+", t)]
    paid = [f"{PARTS[p.name][0]} {p.name}" for p in costs.parts if any(p.yearly)]
    assert listed == paid[::-1]
    # Servers have a colour of their own: their bars are as high as what is paid for them
    servers = [value for value in costs.part("Servers").yearly if value]
    heights = [height for _, height in bars(svg, OKABE_ITO[0]) if height > 0]
    high = sorted(heights, reverse=True)[: len(servers)]
    assert [h / high[0] for h in high] == pytest.approx(
        [v / max(servers) for v in sorted(servers, reverse=True)], abs=0.01
    )


def test_what_is_left_at_the_end_is_below_zero(plans: dict[str, Plan], catalog: Catalog) -> None:
    scenario = plans["enterprise"].scenario
    scenario = replace(scenario, cost=replace(scenario.cost, residual_share=0.2))
    plan = make_plan(scenario, catalog)
    assert plan.costs is not None
    left = plan.costs.part(RESIDUAL).total
    assert left < 0
    assert len([bar for bar in bars(drawn(years_svg(plan)), COLOURS[0]) if min(bar) > 0]) == 1


def test_the_day_names_every_group_and_what_is_planned(example: Plan) -> None:
    shown = texts(drawn(day_svg(example)))
    planned = number(example.totals.gpus_demanded)
    assert {f"planned: {planned}", f"planned = everyone at peak: {planned}"} & set(shown)
    assert has_approved(shown)
    assert [t for t in shown if t.startswith("Hour, UTC")]
    for group in example.groups:
        assert shown.count(f"{group.letter} {group.name}") == 1


def test_letters_of_a_day_stand_in_the_bars(plans: dict[str, Plan]) -> None:
    shown = texts(drawn(day_svg(plans["enterprise"])))
    for letter in "HDUEM":
        assert shown.count(letter) == 2  # a weekday and a day of the weekend


def test_the_height_of_a_day_is_what_is_wanted(catalog: Catalog) -> None:
    data = {
        "groups": [{"id": "a", "people": 6, "active_share": 1}, {"id": "b", "people": 3, "active_share": 1}]
    }
    svg = drawn(day_svg(make_plan(from_dict(data), catalog)))
    high, low = ([h for w, h in bars(svg, colour) if w > 100] for colour in OKABE_ITO[:2])
    assert len(high) == len(low) == 2
    assert high[0] / low[0] == pytest.approx(2, abs=0.02)


def test_hostile_names_are_harmless(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    names = ("<script>1</script>", "a\x0bb\n\ud800c", "W" * 300, "datum.x'); (\"", "=1+1")
    plan = plan.but(groups=tuple(replace(g, name=n) for g, n in zip(plan.groups, names, strict=True)))
    svg = drawn(day_svg(plan))
    svg.encode()
    shown = texts(svg)
    assert "H <script>1</script>" in shown
    assert "D a b c" in shown or "D ab c" in shown
    assert any(re.fullmatch("U W+\u2026", t) for t in shown)
    assert "E datum.x'); (\"" in shown
    assert "<script>" not in svg


def test_the_chance_of_waiting_shows_target_and_design(example: Plan) -> None:
    svg = drawn(waiting_svg(example))
    shown = texts(svg)
    pool = max(example.pools, key=lambda p: p.gpus)
    known = methods(example, pool.id)
    assert f"this design: {known.gpus}" in shown
    assert "target 5 %" in shown
    assert "Probability of waiting, %" in shown
    assert has_approved(shown)
    assert {"Known users", "Independent arrivals", "Bursts"} <= set(shown)
    assert len(set(re.findall(r'stroke-dasharray="([^"]+)"', svg))) >= 3


def test_a_line_ends_where_it_leaves_the_chart() -> None:
    line = [(1.0, 1.0), (2.0, 0.1), (4.0, 1e-5), (5.0, 0.0)]
    assert _above_floor(line) == [(1.0, 1.0), (2.0, 0.1), (pytest.approx(3.0), LEAST_CHANCE)]
    assert _above_floor([(1.0, 0.0)]) == []
    assert _above_floor([(1.0, 0.5), (2.0, 0.4)]) == [(1.0, 0.5), (2.0, 0.4)]
    assert _between([(1.0, 1.0), (3.0, 0.01)], 2.0) == pytest.approx(0.1)
    assert _between([(1.0, 1.0)], 7.0) == 1.0


def test_nothing_to_draw(catalog: Catalog) -> None:
    plan = make_plan(from_dict({}), catalog)
    assert [chart(plan) for chart in CHARTS] == [None] * 3
    stated = make_plan(from_dict({"demand": {"stated_gpus": 8}}), catalog)
    assert day_svg(stated) is None
    assert waiting_svg(stated) is None
    assert drawn(years_svg(stated))


def test_many_years_and_one(catalog: Catalog) -> None:
    for years in (1, 7):
        data = {"groups": [{"id": "a", "people": 5}], "cost": {"years": years}}
        svg = drawn(years_svg(make_plan(from_dict(data), catalog)))
        assert texts(svg).count(f"Year {years}") == 1


def test_work_that_hardly_ever_waits_has_a_chart(catalog: Catalog) -> None:
    data = {"groups": [{"id": "a", "people": 0, "jobs_per_day": 0.01, "work_h": 0.01}]}
    svg = drawn(waiting_svg(make_plan(from_dict(data), catalog)))
    assert "Probability of waiting, %" in texts(svg)
    assert "NaN" not in svg
