"""The slides: how many, how large, how few words; they say what the plan says, take a brand, and a user's template wins.

What is counted. *Words of a slide* are those of its text boxes (key figures too), set apart by spaces and with a letter or digit in them; the
title, the subtitle, the bar, the footer and the picture do not count. *Main slides* are those before the divider of the appendix.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations
from typing import Any
from zipfile import ZipFile

import pytest
from approved import has_approved, is_approved
from lxml import etree
from openpyxl import load_workbook
from pptx import Presentation
from pptx.util import Emu, Inches
from random_cases import of_the_day
from summaries import summary_of

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import Alternative
from gpuplan.analysis.compare import THIS, compare_plans, named
from gpuplan.analysis.demand import week_demand
from gpuplan.catalog import Catalog
from gpuplan.deliver.brand import Brand
from gpuplan.deliver.executive import OWNERS, Driver, Executive, actions, executive
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.deliver.pptx.blocks import render
from gpuplan.deliver.pptx.measure import LINE_HEIGHT, POINT, Box, cut, first_of, text_lines
from gpuplan.deliver.pptx.money import cost_series, signed
from gpuplan.plan.failures import fail_hosts
from gpuplan.plan.known import unconfirmed
from gpuplan.scenario import from_dict
from gpuplan.wording import NAMES, RULE_NAMES, number, rounded_money, said, short_number, watts

NASTY = "=HYPERLINK(1) <script> & " + "Verylongname" * 2
RTL = "מרכז נתונים للذكاء الاصطناعي"
MAIN = "http://schemas.openxmlformats.org/drawingml/2006/main"
A, C = f"{{{MAIN}}}", "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
CHOICES = (
    Alternative("n0", "No failure covered (N+0)", (7,), (28,), 2e6, 1.5e6, 2.4e6, -3e5, "less", ()),
    Alternative("silos", "Silos", (13,), (52,), 4e6, 3e6, 5e6, 1.6e6, "dearer", ()),
)
DRIVERS = (Driver("Cores per processor", "16", "64", 2e6, 3e6, 2e6, 3e6),)
PICTURE = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00\x00\rIDATx\x9cc"
    b"\xf8\xff\xff?\x00\x05\xfe\x02\xfe\xa3\x9c\xa1b\x00\x00\x00\x00IEND\xaeB`\x82"
)
BRAND = Brand(
    "Northwind", PICTURE, "7A1E5C", "201A26", "5B5566", "Georgia", "Verdana", "Northwind, confidential"
)


def opened(file: bytes) -> Any:
    return Presentation(BytesIO(file))


def titles(show: Any) -> list[str]:
    return [slide.shapes.title.text for slide in show.slides]


def main_slides(show: Any) -> list[Any]:
    """Those before the appendix."""
    return list(show.slides)[: titles(show).index("Appendix")]


def slide_of(show: Any, words: str) -> Any:
    return next(slide for slide in show.slides if words in slide.shapes.title.text)


def table(slide: Any) -> list[list[str]]:
    held = next(shape.table for shape in slide.shapes if shape.has_table)
    return [[cell.text for cell in row.cells] for row in held.rows]


def chart(slide: Any) -> Any:
    return next(shape.chart for shape in slide.shapes if shape.has_chart)


def numbers(slide: Any) -> list[dict[str, float]]:
    """The numbers of a chart, a series each, by category."""
    shown = chart(slide)
    found = []
    for plot in shown.plots:
        found += [dict(zip(plot.categories, series.values, strict=True)) for series in plot.series]
    return found


def labels(slide: Any) -> list[str]:
    """What the bars of a chart say in words of their own."""
    return ["".join(t.text for t in each.iter(f"{A}t")) for each in chart(slide)._chartSpace.iter(f"{C}dLbl")]


def planned(catalog: Catalog, name: str = "enterprise", **more: Any) -> Plan:
    data = load_scenario(name).to_dict()
    data.pop("origins")
    data["demand"].pop("stated_gpus", None)
    for key, value in more.items():
        data[key] = {**data.get(key, {}), **value} if isinstance(value, dict) else value
    return make_plan(from_dict(data), catalog)


def special(catalog: Catalog, name: str) -> Plan:
    """A plan that is hard to put on slides."""
    people = {"use_case": "dev-test", "active_share": 1.0, "gpus_each": 1}
    if name == "nobody":
        return planned(catalog, groups=[])
    if name == "a total":
        return planned(catalog, groups=[], demand={"stated_gpus": 28, "rule": "stated"})
    if name == "one host":
        groups = [{"id": "a", "name": "A", "people": 1, **people}]
        return planned(catalog, groups=groups, availability={"host_failures": 0})
    if name == "many hosts":
        groups = [{"id": "a", "name": "A", "people": 250, "gpus_each": 4, "active_share": 1.0}]
        return planned(catalog, groups=[*groups, {**groups[0], "id": "b", "name": "B"}])
    if name == "many groups":
        every = [{"id": f"g{n}", "name": f"{NASTY} {n}", "people": 3, **people} for n in range(24)]
        return planned(catalog, groups=every)
    if name == "large hosts":
        groups = [{"id": "a", "name": "A", "people": 40, **people}]
        return planned(catalog, "current", groups=groups, hardware={"gpus_per_host": 8, "server": None})
    if name == "two pools":
        first = {"id": "a", "name": RTL, "people": 5, **people, "access": "passthrough"}
        return planned(catalog, groups=[first, {**first, "id": "b", "name": "B", "access": "vgpu"}])
    if name == "no spare host":
        return planned(catalog, availability={"host_failures": 0})
    if name == "limits":
        boards = {"boards": "l40s-48gb", "vendors": "Dell", "delivery_weeks": 16, "rack_units": 30}
        return planned(catalog, limits={"budget": 9e6, "power_kw": 2, "racks": 1, "ports": 900} | boards)
    if name == "two failures":
        return planned(catalog, availability={"host_failures": 2})
    if name == "long names":
        plan = planned(catalog)
        scenario = replace(plan.scenario, name=NASTY + "M" * 30, customer=f"{RTL} <b> Ltd")
        return make_plan(scenario.with_value("document.author", "W" * 80), catalog)
    return planned(catalog).but(costs=None, power=None, postures=())


EXAMPLES = ("starter", "enterprise", "current", "assistant")
SPECIAL = (
    "nobody", "a total", "one host", "many hosts", "many groups", "large hosts", "two pools", "no spare host", "two failures",
    "long names", "no cost", "limits",
)  # fmt: skip
TRIED = (*EXAMPLES, *of_the_day(SPECIAL, few=4))
Made = Callable[[str], tuple[Plan, Executive, bytes]]


@pytest.fixture(scope="module")
def made(catalog: Catalog, plans: dict[str, Plan]) -> Made:
    """A plan by its name, what its executive decides on, and its slides; each is made once."""

    @cache
    def known(name: str) -> tuple[Plan, Executive, bytes]:
        if name == "assistant":
            plan = make_plan(load_scenario(name), catalog)
        else:
            plan = plans.get(name) or special(catalog, name)
        summary = executive(plan) if name == "enterprise" else summary_of(plan)
        if plan.costs is not None and name != "enterprise":
            summary = replace(summary, choices=CHOICES, drivers=DRIVERS)
        return plan, summary, pptx_bytes(plan, summary, brand=BRAND if name == "long names" else Brand())

    return known


@pytest.fixture(params=TRIED)
def written(request: pytest.FixtureRequest, made: Made) -> tuple[Plan, Any]:
    """Every plan, and its slides."""
    plan, _, file = made(request.param)
    return plan, opened(file)


@pytest.fixture(params=EXAMPLES)
def shown(request: pytest.FixtureRequest, made: Made) -> tuple[Plan, Any]:
    """The plan of each example, and its slides."""
    plan, _, file = made(request.param)
    return plan, opened(file)


# How many, how large, how few words


def test_there_are_7_to_12_main_slides(written: tuple[Plan, Any]) -> None:
    plan, show = written
    if plan.pools:
        assert 6 + (plan.costs is not None) <= len(main_slides(show)) <= 12
    else:  # no design: what to find out first
        assert 3 <= len(main_slides(show)) <= 5


def test_examples_have_the_ten_main_slides_and_those_of_their_hours(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    assert len(main_slides(show)) == 10 + (not week_demand(plan)[0].steady)
    assert len(show.slides) <= 26


def sizes(element: Any) -> Iterator[int]:
    """Sizes of all text that an element names, in hundredths of a point."""
    for name in ("rPr", "defRPr", "endParaRPr"):
        yield from (int(each.get("sz")) for each in element.iter(f"{A}{name}") if each.get("sz"))


def test_nothing_is_smaller_than_14_points(written: tuple[Plan, Any]) -> None:
    _, show = written
    pages = [show.slide_master, *show.slide_layouts, *show.slides]
    assert min(size for page in pages for size in sizes(page.element)) == 1400
    for slide in show.slides:
        for shape in slide.shapes:
            if shape.has_chart:
                space = shape.chart._chartSpace
                assert min(sizes(space)) >= 1400 and space.find(f"{C}txPr") is not None, (
                    "else a program takes 10 points"
                )
            elif shape.has_table:
                for cell in (cell for row in shape.table.rows for cell in row.cells):
                    assert all(run.font.size.pt >= 14 for run in cell.text_frame.paragraphs[0].runs)
            elif shape.has_text_frame and not shape.is_placeholder:
                assert all(run.font.size for each in shape.text_frame.paragraphs for run in each.runs)


def words(texts: Iterator[str]) -> int:
    return len([word for text in texts for word in text.split() if re.search(r"\w", word)])


def bar(slide: Any) -> str:
    """What follows from a slide, at its foot."""
    places = [p.text for p in slide.placeholders if p.placeholder_format.idx == 14]
    return "".join(places)


def test_a_main_slide_has_one_message_a_picture_and_what_follows(written: tuple[Plan, Any]) -> None:
    for slide in main_slides(written[1])[1:]:
        pictures = [s for s in slide.shapes if s.has_chart or s.has_table or s.shape_type == 6]
        assert len(pictures) <= 2, slide.shapes.title.text
        boxes = [s for s in slide.shapes if s.has_text_frame and not s.is_placeholder]
        assert words(s.text_frame.text for s in boxes) <= 60, slide.shapes.title.text
        assert bar(slide) or not written[0].pools, slide.shapes.title.text
        for shape in slide.shapes:
            if shape.has_table:
                cells = (cell.text for row in list(shape.table.rows)[1:] for cell in row.cells)
                assert words(cells) <= 150, slide.shapes.title.text


def test_titles_take_a_line_of_64_characters_and_none_comes_twice(written: tuple[Plan, Any]) -> None:
    show = written[1]
    found = titles(show)
    assert all(found) and len(set(found)) == len(found)
    for slide in list(show.slides)[1:]:
        if slide.slide_layout.name in ("Title Only", "Message"):
            title = slide.shapes.title
            assert len(title.text) <= 64
            size = title.text_frame.paragraphs[0].runs[0].font.size.pt
            assert 20 <= size <= 28
            assert text_lines(title.text, size, title.width / POINT / 0.84, bold=True) == 1, title.text


def test_every_place_of_a_layout_is_filled_and_the_title_is_read_first(written: tuple[Plan, Any]) -> None:
    for slide in written[1].slides:
        assert all(place.text for place in slide.placeholders if place.placeholder_format.type != 13)
        order = [shape.placeholder_format.type for shape in slide.shapes if shape.is_placeholder]
        assert slide.shapes[0] == slide.shapes.title and order


def test_tables_mark_their_head_and_pictures_say_what_they_show(written: tuple[Plan, Any]) -> None:
    for slide in written[1].slides:
        for shape in slide.shapes:
            if shape.has_table:
                assert shape.table.first_row, slide.shapes.title.text
            if shape.has_table or shape.has_chart or shape.shape_type == 6:
                about = shape._element.xpath(".//p:cNvPr[1]/@descr")
                assert about and about[0], slide.shapes.title.text


def filled(slide: Any) -> float:
    """Share of the height between title and footer from the first to the last shape that is no place of the layout."""
    boxes = [s for s in slide.shapes if not s.is_placeholder]
    top, low = min(s.top for s in boxes) / POINT, max(s.top / POINT + high(s) for s in boxes)
    return float(low - top) / 400


def test_no_slide_is_half_empty(shown: tuple[Plan, Any]) -> None:
    for slide in list(shown[1].slides)[1:]:
        if slide.slide_layout.name != "Section Header":
            assert filled(slide) >= 0.5, slide.shapes.title.text


def high(shape: Any, loose: float = 0.88) -> float:
    """Height that a shape takes in most fonts, in points."""
    if shape.has_table:
        columns = [column.width / POINT for column in shape.table.columns]
        tall = 0.0
        for row in shape.table.rows:
            each = [row.height / POINT]
            for cell, wide in zip(row.cells, columns, strict=True):
                for run in cell.text_frame.paragraphs[0].runs:
                    size = run.font.size.pt
                    room = wide - (cell.margin_left + cell.margin_right) / POINT
                    lines = text_lines(cell.text, size, room / loose + 0.1, bold=bool(run.font.bold))
                    each.append(lines * size * LINE_HEIGHT + (cell.margin_top + cell.margin_bottom) / POINT)
            tall += max(each)
        return tall
    return float(shape.height / POINT)


def test_everything_is_on_the_slide_and_nothing_lies_on_anything_else(written: tuple[Plan, Any]) -> None:
    show = written[1]
    for slide in show.slides:
        boxes = []
        for shape in slide.shapes:
            left, top = shape.left / POINT, shape.top / POINT
            box = (left, top, left + shape.width / POINT, top + high(shape))
            assert box[0] >= 0 and box[1] >= 0, shape.name
            assert box[2] <= 960.1 and box[3] <= 540.1, (slide.shapes.title.text, shape.name)
            boxes.append((shape.name, box))
        for (one, a), (other, b) in combinations(boxes, 2):
            apart = a[2] <= b[0] + 0.5 or b[2] <= a[0] + 0.5 or a[3] <= b[1] + 0.5 or b[3] <= a[1] + 0.5
            assert apart, (slide.shapes.title.text, one, other)


def test_text_boxes_hold_their_text(written: tuple[Plan, Any]) -> None:
    narrow = 1.07 if 'typeface="Verdana"' in theme(written[1]) else 0.84
    for slide in written[1].slides:
        for shape in slide.shapes:
            if not shape.has_text_frame or shape.is_placeholder:
                continue
            frame = shape.text_frame
            width = (shape.width - frame.margin_left - frame.margin_right) / POINT
            tall = 0.0
            for paragraph in frame.paragraphs:
                if paragraph.runs:
                    size, bold = paragraph.runs[0].font.size.pt, bool(paragraph.runs[0].font.bold)
                    room = width if size == 14 and not bold else width / narrow + 0.1
                    tall += text_lines(paragraph.text, size, room, bold=bold) * size * LINE_HEIGHT
            assert tall <= shape.height / POINT + 0.5, frame.text


def test_drawings_stay_in_their_place(written: tuple[Plan, Any]) -> None:
    for slide in written[1].slides:
        for group in (shape for shape in slide.shapes if shape.shape_type == 6):
            right, bottom = group.left + group.width, group.top + group.height
            for shape in group.shapes:
                assert shape.left >= group.left - 2 and shape.top >= group.top - 2, shape.name
                assert shape.left + shape.width <= right + POINT, shape.name
                assert shape.top + shape.height <= bottom + POINT, shape.name


def test_words_of_drawings_fit_their_place(written: tuple[Plan, Any]) -> None:
    loose = 1.07 if 'typeface="Verdana"' in theme(written[1]) else 0.88
    for slide in written[1].slides:
        for group in (shape for shape in slide.shapes if shape.shape_type == 6):
            for shape in (each for each in group.shapes if each.name.startswith("Text ")):
                (run,) = shape.text_frame.paragraphs[0].runs
                size, bold = run.font.size.pt, bool(run.font.bold)
                lines = text_lines(run.text, size, shape.width / POINT / loose + 0.1, bold=bold)
                assert lines * size * LINE_HEIGHT <= max(shape.height / POINT, size * LINE_HEIGHT) + 0.5, (
                    run.text
                )


# What the slides say


def test_titles_of_the_enterprise_example(made: Made) -> None:
    found = titles(opened(made("enterprise")[2]))
    assert is_approved(
        found[:6], "8 hosts", "USD 2.5 M", "28 GPUs", "28", "32 GPUs", "1 host", "28 GPUs", "5 years"
    )


def test_the_title_names_customer_author_version_and_day(made: Made, catalog: Catalog) -> None:
    scenario = replace(load_scenario("starter"), customer="Contoso")
    stated = {
        "author": "Ann",
        "version": "1.2",
        "status": "review",
        "date": "2026-12-01",
        "decide_by": "2026-12-20",
    }
    for name, value in stated.items():
        scenario = scenario.with_value(f"document.{name}", value)
    plan = make_plan(scenario, catalog)
    show = opened(pptx_bytes(plan, summary_of(plan)))
    text = "\n".join(shape.text_frame.text for shape in show.slides[0].placeholders)
    for part in (
        "Starter example",
        "for Contoso",
        "Prepared by Ann",
        "Version 1.2, For review",
        "2026-12-01",
    ):
        assert part in text
    cards = drawn_words(slide_of(show, "decisions from you by 2026-12-20"))
    assert {text for text in cards if re.fullmatch(r"\d{4}-\d\d-\d\d", text)} == {"2026-12-20"}


def test_key_figures_and_alternatives_are_those_of_the_executive(made: Made) -> None:
    plan, summary, file = made("enterprise")
    slide = opened(file).slides[1]
    figures = [s.text_frame.text.split("\n") for s in slide.shapes if s.name.startswith("Figure: ")]
    totals = plan.totals
    built, cost, after, to_confirm = figures
    assert is_approved(built, f"{totals.hosts} hosts", f"{totals.gpus} GPUs", "7", "1")
    price, _, span = summary.money.partition(" (")
    assert cost[1] == price and cost[2].endswith(span.rstrip(")"))
    assert after[1] == f"{totals.gpus_after_failure} GPUs"
    assert to_confirm[1] == f"{len(unconfirmed(plan))} assumptions"
    rows = table(slide_of(opened(file), "All alternatives"))[1:]
    assert [row[0] for row in rows] == [each.name for each in summary.choices]
    assert [row[2] for row in rows] == [rounded_money(each.net_present)[0] for each in summary.choices]
    assert [row[4] for row in rows] == [signed(each.difference) for each in summary.choices]
    assert all(row[5] for row in rows)


def test_the_answer_says_what_holds_and_on_which_condition(made: Made) -> None:
    for name in ("enterprise", "assistant", "no spare host"):
        plan, _, file = made(name)
        cards = " ".join(drawn_words(opened(file).slides[1]))
        verdict = plan.verdict
        for sentence in (verdict.fit_sentence, verdict.start_sentence, verdict.restart_sentence):
            assert sentence in cards
        states = {"green": "Holds", "amber": "With a condition", "red": "Does not hold"}
        assert states[verdict.state] in cards


def test_workloads_have_their_gpus_as_a_number_and_as_squares(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    slide = main_slides(show)[2]
    rows = table(slide)[1:]
    assert {row[0].split()[0]: row[3] for row in rows} == {
        group.letter: number(round(float(group.demand_gpus), 2)) for group in plan.groups
    }
    assert all(row[2] for row in rows)
    unit = int(re.findall(r"\d+", drawn_words(slide)[0])[0])
    least = sum(float(group.demand_gpus) / unit for group in plan.groups)
    assert least <= drawn(slide).count("Unit") <= least + 2 * len(plan.groups)


def test_hours_are_stacked_where_they_are_stated_else_rules_are_compared(made: Made) -> None:
    hours = main_slides(opened(made("current")[2]))[3]
    assert len(numbers(hours)) == 5 and len(numbers(hours)[0]) == 24
    rules = table(slide_of(opened(made("enterprise")[2]), "sizing rule"))
    assert [row[1] for row in rules if row[0].startswith(RULE_NAMES["sum"])] == ["28"]
    assert "a total" and all("peak at once" not in title for title in titles(opened(made("a total")[2])))


def drawn_words(slide: Any) -> list[str]:
    """The words of the drawings on a slide."""
    groups = [shape for shape in slide.shapes if shape.shape_type == 6]
    return [
        each.text_frame.text
        for group in groups
        for each in group.shapes
        if each.has_text_frame and each.text_frame.text
    ]


def drawn(slide: Any) -> list[str]:
    group = next(shape for shape in slide.shapes if shape.shape_type == 6)
    assert group._element.nvGrpSpPr.cNvPr.get("descr")
    return [shape.name.rpartition(" ")[0] for shape in group.shapes]


def test_every_host_and_gpu_is_drawn(made: Made) -> None:
    for name in ("starter", "enterprise", "current"):
        plan, _, file = made(name)
        found = drawn(slide_of(opened(file), "allocated at the peak"))
        assert [each for each in found if each.startswith("Host ")] == [
            f"Host {n}" for n in range(1, plan.totals.hosts + 1)
        ]
        free = plan.totals.gpus - sum(pool.gpus_occupied for pool in plan.pools)
        assert found.count("Free") >= free


def test_many_hosts_are_drawn_once_for_all_that_are_alike(made: Made) -> None:
    plan, _, file = made("many hosts")
    assert plan.totals.hosts > 400
    found = drawn(slide_of(opened(file), "allocated at the peak"))
    tiles = [each for each in found if re.fullmatch(r"\d+ hosts?", each)]
    assert sum(int(each.split()[0]) for each in tiles) == plan.totals.hosts
    assert len(tiles) < 12


def test_the_picture_of_a_failure_shows_where_vms_restart(made: Made) -> None:
    plan, _, file = made("enterprise")
    slide = slide_of(opened(file), "Host failures: N+1")
    text = next(
        s.text_frame.text
        for s in slide.shapes
        if s.has_text_frame and s.text_frame.text.startswith("Worst case")
    )
    host = int(re.findall(r"host (\d+)", text)[0])
    outcome = fail_hosts(plan, plan.pools[0].id, [host])
    assert f"{len(outcome.restarted)} VMs get a GPU" in text
    landed = {to for _, _, to in outcome.restarted}
    group = next(shape for shape in slide.shapes if shape.shape_type == 6)
    shown = [shape.text_frame.text for shape in group.shapes if shape.has_text_frame]
    assert shown.count("failed") == 1
    assert len([each for each in shown if re.fullmatch(r"\+\d+", each)]) == len(landed)
    assert drawn(slide).count("Restarted here") > 0


def test_a_failure_that_leaves_vms_without_a_gpu_says_so(made: Made) -> None:
    plan, _, file = made("no spare host")
    show = opened(file)
    assert has_approved(slide_of(show, "worst host failure").shapes.title.text, f"{plan.placed.lost} VMs")
    assert has_approved(drawn_words(show.slides[1]), f"{plan.placed.lost} VMs")
    assert has_approved(titles(opened(made("two failures")[2])))


def test_costs_by_year_are_those_of_the_plan(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    costs = plan.costs
    assert costs is not None
    slide = slide_of(show, "of it upfront")
    *parts, paid = numbers(slide)
    assert list(paid) == ["Start", *(f"Year {n}" for n in range(1, costs.years + 1))]
    assert [sum(part[year] for part in parts) for year in paid] == pytest.approx(costs.cash)
    assert list(paid.values()) == pytest.approx([sum(max(0.0, p[year]) for p in parts) for year in paid])
    assert [short_number(each) for each in costs.cash] == labels(slide)[-len(costs.cash) :]
    book = load_workbook(BytesIO(chart(slide).part.chart_workbook.xlsx_part.blob))
    assert [sum(row[1:-1]) for row in list(book.active.values)[1:]] == pytest.approx(costs.cash)
    assert len(parts) <= 4, "told apart at a glance"


def test_kinds_of_parts_sum_to_what_is_paid(shown: tuple[Plan, Any]) -> None:
    costs = shown[0].costs
    assert costs is not None
    kinds = cost_series(costs)
    assert len({part.name for part in kinds}) == len(kinds)
    assert sum(part.total for part in kinds) == pytest.approx(costs.total)


def test_a_value_that_is_left_is_below_zero_and_off_the_sum(made: Made) -> None:
    plan, summary, _ = made("enterprise")
    costs = plan.costs
    assert costs is not None
    left = replace(costs.parts[0], name="Value left", yearly=(0.0,) * costs.years + (-50_000.0,))
    cash = (*costs.cash[:-1], costs.cash[-1] - 50_000)
    worth = plan.but(costs=replace(costs, parts=(*costs.parts, left), cash=cash))
    slide = slide_of(opened(pptx_bytes(worth, summary)), "of it upfront")
    assert labels(slide)[-1] == short_number(cash[-1])


def test_alternatives_and_drivers_are_those_of_the_executive(made: Made) -> None:
    plan, summary, file = made("enterprise")
    assert plan.costs is not None and plan.cost_ranges is not None
    show = opened(file)
    cards = drawn_words(slide_of(show, "Sharing saves"))
    for each in summary.choices[:3]:
        assert {each.name, signed(each.difference) + " USD"} <= set(cards)
        assert f"USD {rounded_money(each.net_present, (each.low, each.high))[0]}" in cards
    assert f"USD {rounded_money(plan.costs.net_present, plan.cost_ranges.net_present)[0]}" in cards
    low, high = numbers(slide_of(show, "moves the cost most"))
    now = plan.costs.net_present
    assert len(low) == min(6, len(summary.drivers))
    for each in summary.drivers[:6]:
        name = next(key for key in low if each.label.startswith(key.rstrip("…")))
        assert (low[name], high[name]) == pytest.approx((each.at_low - now, each.at_high - now))


def test_the_roadmap_has_the_hosts_of_each_year_and_all_that_is_due(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    assert plan.costs is not None
    slide = slide_of(show, "Roadmap")
    words = drawn_words(slide)
    assert [text for text in words if re.fullmatch(r"\d+ hosts?", text)] == [
        f"{count} hosts" for count in plan.costs.hosts
    ]
    rows = table(slide)[1:]
    assert sum(int(row[2]) for row in rows) == len(actions(plan))
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)


def test_power_is_that_of_the_plan(made: Made) -> None:
    still, _, file = made("enterprise")
    assert still.power is not None
    totals = table(slide_of(opened(file), "The design draws"))[-1]
    assert {watts(still.power.typical_w), watts(still.power.peak_w)} <= set(totals)


def test_decisions_are_on_one_slide_each_with_an_owner_and_a_day(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    (slide,) = [slide for slide in main_slides(show) if "decisions from you" in slide.shapes.title.text]
    cards, steps = drawn_words(slide), table(slide)[1:]
    decided = summary_of(plan).first_decisions
    assert 3 <= len(decided) <= 5 and 1 <= len(steps) <= 4
    assert [text for text in cards if text in OWNERS.values()] == [OWNERS[each.owner] for each in decided]
    assert [text for text in cards if re.fullmatch(r"\d{4}-\d\d-\d\d", text)] == [
        each.due for each in decided
    ]
    for each in decided:
        assert any(text.startswith(each.what[:20]) for text in cards)
    for row in steps:
        assert row[1] in OWNERS.values() and re.fullmatch(r"\d{4}-\d\d-\d\d", row[2])
    rest = [
        row for slide in show.slides if "More steps" in slide.shapes.title.text for row in table(slide)[1:]
    ]
    assert len(steps) + len(rest) + len(decided) - 3 == len(actions(plan))
    assert not {row[0] for row in steps} & {row[0] for row in rest}


def test_every_message_that_asks_for_something_has_a_short_step() -> None:
    from gpuplan.plan.checks.message import WORDS

    for code, row in WORDS.items():
        if row["change"]:
            assert len(NAMES["step of the deck"][code].split()) <= 10, code


def test_titles_of_a_stated_total_that_is_too_small(catalog: Catalog) -> None:
    """VMs that never had a GPU are not lost by a failure."""
    asked = load_scenario("enterprise").with_value("groups.data-scientists.people", 64)
    plan = make_plan(asked.with_value("demand.rule", "stated"), catalog)
    show = opened(pptx_bytes(plan, summary_of(plan)))
    assert has_approved(drawn_words(show.slides[1]), "22", "57 planned VMs")
    assert not any("without a GPU" in title for title in titles(show))


# Notes and appendix


def test_notes_say_what_to_say_first_then_why_and_from_where(written: tuple[Plan, Any]) -> None:
    for slide in written[1].slides:
        notes = slide.notes_slide.notes_text_frame.text
        assert notes.startswith("Say first: ") and "\nSources:\n" in notes
        assert "http" not in notes
        assert len(notes.split("\nSources:\n")[1].split("\n")) <= 9


def test_notes_have_the_formula_and_the_basis(made: Made) -> None:
    show = opened(made("enterprise")[2])
    notes = show.slides[1].notes_slide.notes_text_frame.text
    assert has_approved(notes, "7", "1", "8")
    assert has_approved(notes)
    assert re.search(r"\n[^\n]+, [^\n]+, 20\d\d\n", notes), "a source by title, producer and year"


def test_the_appendix_has_every_decision_and_what_is_to_confirm(shown: tuple[Plan, Any]) -> None:
    plan, show = shown
    rows = [row for s in show.slides if "design decisions" in s.shapes.title.text for row in table(s)[1:]]
    assert [(row[0], row[1], row[2]) for row in rows] == [
        (str(d.number), d.title, d.decision) for d in plan.decisions
    ]
    found = titles(show)
    for part in (
        "Bill of materials", "A GPU host", "ssumptions to confirm", "Risks", "Sources of the figures",
    ):  # fmt: skip
        assert any(part in title for title in found), part
    (sources,) = [table(s)[1:] for s in show.slides if "Sources of" in s.shapes.title.text]
    assert len(sources) == 5 and all(row[0] and row[1] for row in sources)
    assert found[-1] == "Sources of the figures on the slides"


def test_rows_that_do_not_fit_go_to_the_next_slide(made: Made) -> None:
    plan, _, file = made("many groups")
    show = opened(file)
    pages = [s for s in show.slides if "design decisions" in s.shapes.title.text]
    rows = [row for slide in pages for row in table(slide)[1:]]
    assert len(rows) == len(plan.decisions)
    heads = {tuple(table(slide)[0]) for slide in pages}
    assert len(heads) == 1
    asked = main_slides(show)[2]
    assert "18 more workloads" in [row[0] for row in table(asked)]


def test_designs_beside_this_one_stand_in_the_appendix(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    found = compare_plans([named(plan, THIS), plans["starter"]])
    show = opened(pptx_bytes(plan, summary_of(plan), found))
    rows = table(slide_of(show, "This design compared with others"))
    assert rows[0][1:] == list(found.names)
    assert [row[1:] for row in rows if row[0] == "Hosts"] == [["8 hosts", "8 hosts"]]


# The file


def test_all_parts_are_well_formed_and_named_once(made: Made) -> None:
    for name in TRIED:
        with ZipFile(BytesIO(made(name)[2])) as packed:
            assert len(set(packed.namelist())) == len(packed.namelist())
            for part in packed.namelist():
                if part.endswith((".xml", ".rels")):
                    etree.fromstring(packed.read(part))
                if part.endswith(".rels"):
                    assert b"External" not in packed.read(part)


def test_numbers_of_shapes_are_unique_on_each_slide(made: Made) -> None:
    for slide in opened(made("current")[2]).slides:
        ids = [each.get("id") for each in slide.element.iter() if each.tag.endswith("}cNvPr")]
        assert len(set(ids)) == len(ids)


def test_the_file_is_the_same_each_time_and_names_no_machine(made: Made) -> None:
    plan, summary, file = made("starter")
    assert pptx_bytes(plan, summary) == file
    known = opened(file).core_properties
    assert (known.author, known.last_modified_by, known.title) == ("gpuplan", "gpuplan", plan.scenario.name)
    assert plan.costs is not None
    assert known.created.date().isoformat() == plan.costs.as_of
    names = ZipFile(BytesIO(file)).namelist()
    assert "docProps/thumbnail.jpeg" not in names and not any("printerSettings" in name for name in names)


def test_hostile_names_are_text(made: Made) -> None:
    plan, _, file = made("long names")
    show = opened(file)
    assert titles(show)[0].startswith("=HYPERLINK(1) <script> & Verylong")
    assert RTL in show.slides[0].placeholders[1].text
    assert show.core_properties.title == plan.scenario.name
    pools = opened(made("two pools")[2])
    assert any(RTL.split()[0] in row[0] for row in table(main_slides(pools)[2]))


def test_numbers_are_written_as_the_locale_has_it(catalog: Catalog) -> None:
    scenario = load_scenario("starter").with_value("format.locale", "de-DE")
    plan = make_plan(scenario, catalog)
    show = opened(pptx_bytes(plan, summary_of(plan)))
    assert "1,5 M" in slide_of(show, "of it upfront").shapes.title.text


# Brand and template


def theme(show: Any) -> str:
    return next(
        relation.target_part.blob
        for relation in show.slide_master.part.rels.values()
        if relation.reltype.endswith("/theme")
    ).decode()


def test_a_brand_gives_colours_fonts_logo_and_footer(made: Made) -> None:
    plan, summary, _ = made("enterprise")
    show = opened(pptx_bytes(plan, summary, brand=BRAND))
    found = theme(show)
    for name, value in (("accent1", "7A1E5C"), ("dk1", "201A26"), ("dk2", "5B5566"), ("lt2", BRAND.shade)):
        assert re.search(rf'<a:{name}><a:srgbClr val="{value}"', found), name
    for kind, font in (("majorFont", "Georgia"), ("minorFont", "Verdana")):
        assert re.search(rf'<a:{kind}>\s*<a:latin typeface="{font}"', found), kind
    logos = {each.name: [s for s in each.shapes if s.name == "Logo"] for each in show.slide_layouts}
    assert {name: len(found) for name, found in logos.items()} == {
        "Title Slide": 1, "Section Header": 0, "Title Only": 1, "Message": 1,
    }  # fmt: skip
    for slide in main_slides(show)[1:]:
        footer = next(s for s in slide.placeholders if s.placeholder_format.type == 15)
        assert is_approved(footer.text)
    own = chart(slide_of(show, "of it upfront"))._chartSpace
    assert "7A1E5C" in {each.get("val") for each in own.iter(f"{A}srgbClr")}
    assert b"0B5CAD" not in b"".join(
        etree.tostring(page.element) for page in (show.slide_master, *show.slides)
    )


def test_without_a_logo_the_title_has_the_name_of_the_firm(made: Made) -> None:
    plan, summary, _ = made("starter")
    show = opened(pptx_bytes(plan, summary, brand=replace(BRAND, logo=b"")))
    first = next(each for each in show.slide_layouts if each.name == "Title Slide")
    assert "Northwind" in [s.text_frame.text for s in first.shapes if s.has_text_frame]


def template(change: Any = None) -> bytes:
    show = Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "Old text of the template"
    show.slide_layouts[5].name = "ACME title only"
    if change:
        change(show)
    stream = BytesIO()
    show.save(stream)
    return stream.getvalue()


def test_a_template_keeps_its_looks_and_loses_its_slides(made: Made) -> None:
    plan, summary, _ = made("enterprise")
    file = pptx_bytes(plan, summary, brand=BRAND, template=template())
    show = opened(file)
    assert (show.slide_width, show.slide_height) == (Inches(10), Inches(7.5))
    assert "Old text of the template" not in titles(show)
    assert len(main_slides(show)) == 10
    layouts = {slide.slide_layout.name for slide in list(show.slides)[1:]}
    assert layouts == {"ACME title only", "Section Header"}
    assert "7A1E5C" not in theme(show) and "Georgia" not in theme(show)
    own = chart(slide_of(show, "of it upfront"))._chartSpace
    assert "7A1E5C" in {each.get("val") for each in own.iter(f"{A}srgbClr")}, "the brand colours charts"
    costs = [cell for row in table(slide_of(show, "All alternatives"))[1:] for cell in row[1:5]]
    said = [s.text_frame.text for slide in main_slides(show) for s in slide.shapes if s.has_text_frame]
    assert not any("…" in text for text in (*costs, *said)), "numbers and sentences are whole"
    for slide in show.slides:
        for shape in slide.shapes:
            assert shape.left + shape.width <= show.slide_width
            assert shape.top + shape.height <= show.slide_height
    packed = ZipFile(BytesIO(file))
    assert b"Old text" not in b"".join(packed.read(n) for n in packed.namelist())


def without_titles(show: Any) -> None:
    for layout in show.slide_layouts:
        for shape in list(layout.placeholders):
            if shape.placeholder_format.type in (1, 3):
                shape._element.getparent().remove(shape._element)


def low_titles(show: Any) -> None:
    for layout in show.slide_layouts:
        for shape in layout.placeholders:
            shape.left, shape.top, shape.width, shape.height = (Emu(Inches(n)) for n in (1, 5, 8, 1))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (b"no file", "template is no PPTX file"),
        (template()[:-300], "template is no PPTX file"),
        (template(without_titles), "template has no layout with a title"),
        (template(low_titles), "template has no layout with a title"),
    ],
)
def test_a_bad_template_is_named(bad: bytes, message: str, made: Made) -> None:
    plan, summary, _ = made("starter")
    with pytest.raises(ValueError, match=message):
        pptx_bytes(plan, summary, template=bad)


def test_a_docx_is_no_template_for_slides(made: Made) -> None:
    from docx import Document

    stream = BytesIO()
    Document().save(stream)
    plan, summary, _ = made("starter")
    with pytest.raises(ValueError, match="template is no PPTX file: it is a file of another kind"):
        pptx_bytes(plan, summary, template=stream.getvalue())


# Measuring


def test_lines_of_a_text() -> None:
    assert text_lines("", 12, 100) == 1
    assert text_lines("one\ntwo", 12, 100) == 2
    assert text_lines("x" * 100, 10, 100) >= 5
    assert text_lines("word " * 40, 12, 200) >= text_lines("word " * 40, 12, 400)


def test_a_text_is_cut_to_what_fits() -> None:
    assert cut("short", 14, 200) == "short"
    kept = cut("word " * 40, 14, 200, 2)
    assert kept.endswith("…") and text_lines(kept, 14, 200) <= 2
    assert is_approved(said("deck.more", count=3), number(3))


def test_things_without_a_place_of_their_own_share_the_last_one() -> None:
    assert first_of([1, 2, 3], 3) == ([1, 2, 3], [])
    assert first_of([1, 2, 3, 4], 3) == ([1, 2], [3, 4])


def test_a_grid_is_filled_row_by_row() -> None:
    grid = Box(10, 20, 100, 100)
    assert [grid.cell(at, 2, 40, 30, 5)[:2] for at in range(3)] == [(10, 20), (55, 20), (10, 55)]
    assert grid.right(30) == Box(40, 20, 70, 100) and grid.down(30) == Box(10, 50, 100, 100)


def test_colours_are_those_of_the_theme_or_six_digits() -> None:
    look = {"name": "", "number": 2, "inset": 0, "anchor": "t", "spaced": False, "paragraphs": []}
    found = {}
    for colour in ("bg2", "0B5CAD", "#0b5cad", ""):
        shape = render("words", box=Box(0, 0, 9, 9), ground=colour, **look)
        found[colour] = [each.get("val") for each in shape.iter(f"{A}schemeClr", f"{A}srgbClr")]
    assert found == {"bg2": ["bg2"], "0B5CAD": ["0B5CAD"], "#0b5cad": ["0B5CAD"], "": []}
