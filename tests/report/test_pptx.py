"""The slides say what the plan says, stay on the slide and in their boxes, and take a user's template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from io import BytesIO
from itertools import combinations
from typing import Any
from zipfile import ZipFile

import pytest
from lxml import etree
from openpyxl import load_workbook
from PIL import ImageFont
from pptx import Presentation
from pptx.util import Emu, Inches

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import alternatives
from gpuplan.catalog import Catalog
from gpuplan.report.pptx import pptx_bytes
from gpuplan.report.pptx.deck import POINT, text_lines
from gpuplan.report.pptx.slides import cost_series
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.cost import headlines
from gpuplan.scenario import from_dict
from gpuplan.wording import headline_money, number, watts

Deck = Callable[[str], tuple[Plan, bytes]]
NASTY = "=HYPERLINK(1) <script> & " + "Verylongname" * 2


def opened(file: bytes) -> Any:
    return Presentation(BytesIO(file))


def titles(show: Any) -> list[str]:
    return [slide.shapes.title.text for slide in show.slides]


def slide_of(show: Any, words: str) -> Any:
    return next(slide for slide in show.slides if words in slide.shapes.title.text)


def texts(slide: Any) -> list[str]:
    return [shape.text_frame.text for shape in slide.shapes if shape.has_text_frame]


def table(slide: Any) -> list[list[str]]:
    held = next(shape.table for shape in slide.shapes if shape.has_table)
    return [[cell.text for cell in row.cells] for row in held.rows]


def planned(catalog: Catalog, name: str = "enterprise", **more: Any) -> Plan:
    data = load_scenario(name).to_dict()
    data.pop("origins")
    data["demand"].pop("stated_gpus", None)
    for key, value in more.items():
        data[key] = {**data[key], **value} if isinstance(value, dict) else value
    return make_plan(from_dict(data), catalog)


def special(catalog: Catalog, name: str) -> Plan:
    """A plan that is hard to put on slides."""
    people = {"use_case": "dev-test", "active_share": 1.0, "gpus_each": 1}
    if name == "nobody":
        return planned(catalog, groups=[])
    if name == "many hosts":
        groups = [{"id": "a", "name": "A", "people": 9500, "gpus_each": 4, "active_share": 1.0}]
        return planned(catalog, groups=[*groups, {**groups[0], "id": "b", "name": "B"}])
    if name == "many groups":
        return planned(
            catalog,
            groups=[{"id": f"g{n}", "name": f"{NASTY} {n}", "people": 3, **people} for n in range(24)],
        )
    if name == "two pools":
        first = {"id": "a", "name": NASTY, "people": 5, **people, "access": "passthrough"}
        return planned(catalog, groups=[first, {**first, "id": "b", "name": "B", "access": "vgpu"}])
    if name == "no spare host":
        return planned(catalog, availability={"host_failures": 0})
    if name == "long name":
        plan = planned(catalog)
        scenario = replace(plan.scenario, name=NASTY, customer=f"{NASTY} Ltd")
        return make_plan(scenario, catalog)
    return planned(catalog).but(costs=None, power=None, postures=())


EXAMPLES = ("starter", "enterprise", "current")
SPECIAL = (
    "nobody", "many hosts", "many groups", "two pools", "no spare host", "long name", "no cost",
)  # fmt: skip


@pytest.fixture(scope="module")
def deck(catalog: Catalog, plans: dict[str, Plan]) -> Callable[[str], tuple[Plan, bytes]]:
    """A plan by its name, and its slides; each is made once."""

    @cache
    def made(name: str) -> tuple[Plan, bytes]:
        plan = plans.get(name) or special(catalog, name)
        return plan, pptx_bytes(plan)

    return made


@pytest.fixture(params=EXAMPLES)
def shown(request: pytest.FixtureRequest, deck: Deck) -> tuple[Plan, Any]:
    """The plan of each example, and its slides."""
    plan, file = deck(request.param)
    return plan, opened(file)


@pytest.fixture(params=[*EXAMPLES, *SPECIAL])
def written(request: pytest.FixtureRequest, deck: Deck) -> tuple[Plan, bytes]:
    """Every plan, and its file."""
    return deck(request.param)


@cache
def font(size: float) -> Any:
    return ImageFont.load_default(size)


def height(text_frame: Any, width: float) -> float:
    """Height in points of what is in a frame, measured with a real font."""
    total = 0.0
    for paragraph in text_frame.paragraphs:
        run = paragraph.runs[0] if paragraph.runs else None
        size = (run.font.size if run is not None else None) or paragraph.font.size
        if run is None:
            continue
        assert size is not None
        assert size.pt >= 12
        lines, used = 1, 0.0
        for word in paragraph.text.split(" "):
            long = font(size.pt).getlength(word)
            if used and used + long > width:
                lines, used = lines + 1, 0.0
            lines += int(long // width)
            used += long % width + font(size.pt).getlength(" ")
        total += lines * size.pt * 1.2 + (paragraph.space_after.pt if paragraph.space_after else 0)
    return total


def test_everything_is_on_the_slide_and_in_its_box(written: tuple[Plan, bytes]) -> None:
    show = opened(written[1])
    assert show.slide_width / show.slide_height == pytest.approx(16 / 9, rel=1e-3)
    inset = Inches(0.2) / POINT
    for slide in show.slides:
        for shape in slide.shapes:
            assert shape.left >= 0
            assert shape.top >= 0
            assert shape.left + shape.width <= show.slide_width
            assert shape.top + shape.height <= show.slide_height
            if shape.has_text_frame and shape.text_frame.paragraphs[0].runs and shape.text != "‹#›":
                wide = shape.width / POINT - inset
                assert height(shape.text_frame, wide) <= shape.height / POINT, shape.text
            elif shape.has_table:
                assert sum(row.height for row in shape.table.rows) == shape.height
                for row in shape.table.rows:
                    for cell, column in zip(row.cells, shape.table.columns, strict=True):
                        wide = column.width / POINT - inset
                        assert height(cell.text_frame, wide) + 7 <= row.height / POINT, cell.text


def test_nothing_lies_on_anything_else(written: tuple[Plan, bytes]) -> None:
    for slide in opened(written[1]).slides:
        shown = [
            s
            for s in slide.shapes
            if not s.name.startswith("Back of") and not (s.is_placeholder and not s.text)
        ]
        for one, other in combinations(shown, 2):
            apart = (
                one.left + one.width <= other.left + 2
                or other.left + other.width <= one.left + 2
                or one.top + one.height <= other.top + 2
                or other.top + other.height <= one.top + 2
            )
            assert apart, (slide.shapes.title.text, one.name, other.name)


def test_each_slide_has_one_title_and_notes_with_sources(written: tuple[Plan, bytes]) -> None:
    show = opened(written[1])
    found = titles(show)
    assert all(found)
    assert len(set(found)) == len(found)
    assert all("Sources:\n" in slide.notes_slide.notes_text_frame.text for slide in show.slides)


def test_all_parts_are_well_formed(written: tuple[Plan, bytes]) -> None:
    with ZipFile(BytesIO(written[1])) as packed:
        assert len(set(packed.namelist())) == len(packed.namelist())
        for name in packed.namelist():
            if name.endswith((".xml", ".rels", ".svg")):
                etree.fromstring(packed.read(name))


def test_key_figures_are_those_of_the_plan(shown: tuple[Plan, Any]) -> None:
    example, show = shown
    totals, costs, power = example.totals, example.costs, example.power
    assert costs is not None
    assert power is not None
    said = texts(slide_of(show, "a demand of"))
    for label, value in (
        ("Hosts", count_over_years(costs.hosts)),
        ("GPUs", number(totals.gpus)),
        ("Placement", example.placed.short),
        ("Power", watts(power.typical_w)),
        ("Net present cost", headlines(example)["net_present"]),
    ):
        assert said[said.index(label) + 1] == value


def test_titles_of_the_enterprise_example(deck: Deck) -> None:
    found = titles(opened(deck("enterprise")[1]))
    assert found[:6] == [
        "Enterprise example",
        "Five groups ask for 28 GPUs at the planned peak",
        "Requests beyond the plan queue: how likely, in the busiest hours",
        "Eight hosts carry a demand of 28 GPUs. All 41 planned VMs are placed, also after any host failure",
        "28 of 32 GPUs are taken at the peak; one host is spare",
        "When a host fails, 28 GPUs are left and every VM restarts",
    ]
    assert len(found) == 14


def test_titles_say_how_many_hosts_fail_and_what_grows(catalog: Catalog, plans: dict[str, Plan]) -> None:
    plan = planned(catalog, availability={"host_failures": 2})
    found = titles(opened(pptx_bytes(plan)))
    assert (
        f"When two hosts fail, {plan.totals.gpus_after_failure} GPUs are left and every VM restarts" in found
    )
    costs = plans["current"].costs
    assert costs is not None
    grown = titles(opened(pptx_bytes(plans["current"])))
    assert any(title.endswith(f"with growth to {costs.hosts[-1]} hosts") for title in grown)


def test_charts_hold_the_costs_of_the_plan(shown: tuple[Plan, Any]) -> None:
    example, show = shown
    costs = example.costs
    assert costs is not None
    charts = [s.chart for slide in show.slides for s in slide.shapes if s.has_chart]
    years, by_part = (chart.plots[0] for chart in charts)
    assert list(years.categories) == ["Start", *(f"Year {n}" for n in range(1, costs.years + 1))]
    assert len(years.series) <= 8
    sums = [sum(values) for values in zip(*(series.values for series in years.series), strict=True)]
    assert sums == pytest.approx(costs.cash)
    assert dict(zip(by_part.categories, by_part.series[0].values, strict=True)) == pytest.approx(
        {part.name: part.total for part in costs.parts}
    )
    book = load_workbook(BytesIO(charts[0].part.chart_workbook.xlsx_part.blob))
    cells = list(book.active.values)
    assert [sum(row[1:]) for row in cells[1:]] == pytest.approx(costs.cash)


def test_series_of_many_parts_sum_to_what_is_paid(example: Plan) -> None:
    costs = example.costs
    assert costs is not None
    many = replace(costs, parts=(*costs.parts, *costs.parts))
    shown = cost_series(many)
    assert shown[-1].name == "Other parts"
    assert sum(part.total for part in shown) == pytest.approx(2 * costs.total)


def test_tables_hold_the_groups_the_postures_and_the_silos(shown: tuple[Plan, Any]) -> None:
    example, show = shown
    demand = table(slide_of(show, "at the planned peak"))
    assert {row[0]: row[4] for row in demand[1:]} == {g.name: number(g.demand_gpus) for g in example.groups}
    postures = table(slide_of(show, "When a host fails"))
    assert [row[1] for row in postures[1:]] == [number(p.hosts) for p in example.postures]
    assert [row[0] for row in postures[1:] if "chosen" in row[0]] == [
        f"N+{p.host_failures} (chosen)" for p in example.postures if p.chosen
    ]
    found = alternatives(example)
    shown = slide_of(show, "Silos cost")
    assert [row[0] for row in table(shown)[1:]] == [each.name for each in found]
    assert [row[3] for row in table(shown)[1:]] == [number(round(each.net_present)) for each in found]
    silos = next(each for each in found if each.key == "silos")
    assert headline_money(abs(silos.difference), "USD") in shown.shapes.title.text
    decisions = [
        row for s in show.slides if "shape the design" in s.shapes.title.text for row in table(s)[1:]
    ]
    assert [(row[0], row[1]) for row in decisions] == [(str(d.number), d.title) for d in example.decisions]


def test_the_hosts_are_drawn_as_svg_with_a_png(deck: Deck) -> None:
    slide = slide_of(opened(deck("starter")[1]), "are taken at the peak")
    picture = next(shape for shape in slide.shapes if shape.name.startswith("Drawing"))
    assert picture.image.blob.startswith(b"\x89PNG")
    assert "Hosts" in picture._element.nvPicPr.cNvPr.get("descr")
    vector = next(e for e in picture._element.iter() if e.tag.endswith("}svgBlip"))
    drawing = slide.part.related_part(next(v for k, v in vector.attrib.items() if k.endswith("}embed")))
    assert drawing.content_type == "image/svg+xml"
    assert etree.fromstring(drawing.blob).tag.endswith("}svg")


def test_special_titles(deck: Deck) -> None:
    found = {name: titles(opened(deck(name)[1])) for name in SPECIAL}
    assert found["nobody"][1] == "No workloads yet"
    assert not any("host" in title for title in found["nobody"])
    assert "Silos cost as much as this design" in found["two pools"], "each has its pool already"
    assert "in each cluster" in found["two pools"][3]
    assert found["no spare host"][3].endswith("after the worst host failure 18 VMs have no GPU")
    assert not any("cost" in title.lower() for title in found["no cost"])
    assert found["long name"][0].startswith("=HYPERLINK(1) <script> & Verylong")


def test_rows_that_do_not_fit_are_counted(deck: Deck) -> None:
    plan, file = deck("many groups")
    show = opened(file)
    rows = table(slide_of(show, "ask for"))
    left_out = len(plan.groups) - (len(rows) - 2)
    assert left_out > 0
    assert rows[-1][0] == f"and {left_out} more"


def test_the_file_is_the_same_each_time_and_names_no_machine(deck: Deck) -> None:
    plan, file = deck("starter")
    assert pptx_bytes(plan) == file
    known = opened(file).core_properties
    assert (known.author, known.last_modified_by, known.title) == ("gpuplan", "gpuplan", plan.scenario.name)
    assert plan.costs is not None
    assert known.created.date().isoformat() == plan.costs.as_of
    assert "docProps/thumbnail.jpeg" not in ZipFile(BytesIO(file)).namelist()


def test_notes_say_how_well_numbers_are_known(deck: Deck) -> None:
    _, file = deck("starter")
    notes = "\n".join(slide.notes_slide.notes_text_frame.text for slide in opened(file).slides)
    assert "confirm it with the customer" in notes
    assert "fourth decision says" in notes


def template(change: Any = None) -> bytes:
    show = Presentation()
    show.slides.add_slide(show.slide_layouts[5]).shapes.title.text = "Old text of the template"
    show.slide_layouts[5].name = "ACME title only"
    if change:
        change(show)
    stream = BytesIO()
    show.save(stream)
    return stream.getvalue()


def test_a_template_keeps_its_layouts_and_loses_its_slides(plans: dict[str, Plan]) -> None:
    file = pptx_bytes(plans["enterprise"], template=template())
    show = opened(file)
    assert (show.slide_width, show.slide_height) == (Inches(10), Inches(7.5))
    assert "Old text of the template" not in titles(show)
    assert len(titles(show)) == 14
    assert {slide.slide_layout.name for slide in list(show.slides)[1:]} == {"ACME title only"}
    for slide in show.slides:
        for shape in slide.shapes:
            assert shape.left + shape.width <= show.slide_width
            assert shape.top + shape.height <= show.slide_height
    assert b"Old text" not in b"".join(
        ZipFile(BytesIO(file)).read(n) for n in ZipFile(BytesIO(file)).namelist()
    )


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
def test_a_bad_template_is_named(bad: bytes, message: str, plans: dict[str, Plan]) -> None:
    with pytest.raises(ValueError, match=message):
        pptx_bytes(plans["starter"], template=bad)


def test_a_docx_is_no_template_for_slides(plans: dict[str, Plan]) -> None:
    from docx import Document

    stream = BytesIO()
    Document().save(stream)
    with pytest.raises(ValueError, match="template is no PPTX file: it is a file of another kind"):
        pptx_bytes(plans["starter"], template=stream.getvalue())


def test_lines_of_a_text() -> None:
    assert text_lines("", 12, 100) == 1
    assert text_lines("one\ntwo", 12, 100) == 2
    assert text_lines("x" * 100, 10, 100) >= 5
    assert text_lines("word " * 40, 12, 200) >= text_lines("word " * 40, 12, 400)


def test_titles_of_a_stated_total_that_is_too_small(catalog: Catalog) -> None:
    """ "Five groups ask for 28 GPUs" beside 36 needed, and "When the worst host fails, 22 VMs have no GPU" of VMs that never had one."""
    asked = load_scenario("enterprise").with_value("groups.data-scientists.people", 64)
    found = titles(opened(pptx_bytes(make_plan(asked.with_value("demand.rule", "stated"), catalog))))
    assert found[1] == "Five groups ask for 36 GPUs at the planned peak; the stated total provides 28 GPUs"
    assert found[3] == "Eight hosts carry the stated total of 28 GPUs. 22 of 57 planned VMs have no GPU"
    assert found[5] == (
        "When a host fails, 28 GPUs are left and every placed VM restarts; 22 planned VMs have none either way"
    )
