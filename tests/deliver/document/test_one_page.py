"""The executive brief: the figures of the plan, each state with its condition, and always one page as LibreOffice prints it."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from branding import ACME
from drawn_designs import OTHERS
from kinds_of_hosts import design
from random_cases import of_the_day
from site_designs import two_sites
from summaries import summary_of
from workbooks import converted, poppler

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.document.blocks import Document, Figure, Grid, KeyFigures, Paragraph
from gpuplan.deliver.document.brief import Bar, bars_svg
from gpuplan.deliver.document.docx_file import docx_bytes
from gpuplan.deliver.document.one_page import executive_brief
from gpuplan.deliver.executive import Executive, executive
from gpuplan.report.figures import Figures
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import said

RTL = "מרכז נתונים للذكاء الاصطناعي"
LONG = "=HYPERLINK(1) <script> & " + "Verylongname" * 2
NAMES = {"long": LONG, "from right": RTL, "Japanese": "データサイエンティスト向け共有環境"}


def brief_of(plan: Plan, summary: Executive | None = None, brand: Brand = PLAIN) -> Document:
    return executive_brief(plan, summary or executive(plan), font=brand.text)


def blocks(brief: Document) -> list[object]:
    return [block for band in brief.chapters for part in band.sections for block in part.blocks]


def states(plan: Plan) -> dict[str, str]:
    """Word of each claim on the design -> its state."""
    grids = [block for block in blocks(brief_of(plan, summary_of(plan))) if isinstance(block, Grid)]
    return {str(word): str(state) for state, word, _ in grids[0].rows}


def test_its_figures_are_those_of_the_plan(plans: dict[str, Plan]) -> None:
    plan = plans["enterprise"]
    brief, figures = brief_of(plan), Figures(plan)
    assert figures.cost is not None
    title, lead, tiles = brief.chapters[0].blocks or brief.front
    assert isinstance(title, Paragraph) and isinstance(lead, Paragraph) and isinstance(tiles, KeyFigures)
    assert lead.text == executive(plan).recommendation[0]
    for figure in (
        f"{plan.totals.hosts} hosts",
        figures.cost.price,
        f"{plan.totals.gpus_after_failure} GPUs",
    ):
        assert figure in [value for _, value, _ in tiles.items], figure
    assert figures.cost.span in tiles.items[1][2] and figures.cost.start in tiles.items[1][2]
    assert said("brief.needs") in [part.title for band in brief.chapters for part in band.sections]


def test_a_state_is_good_only_where_no_condition_is_needed(plans: dict[str, Plan], catalog: Catalog) -> None:
    fits, starts, failure, maintenance = map(
        said, ("brief.fits", "brief.starts", "brief.one failure", "brief.maintenance")
    )
    found = states(
        plans["assistant"] if "assistant" in plans else make_plan(load_scenario("assistant"), catalog)
    )
    assert found == {fits: "yes", starts: "warn", failure: "warn", maintenance: "warn"}
    assert states(plans["enterprise"]) == {fits: "yes", failure: "yes", maintenance: "warn"}
    none = make_plan(from_dict(OTHERS["one host"]), catalog)
    assert none.verdict.fits == "yes" and states(none)[failure] == "no"


def test_a_bar_spans_its_parts_and_a_line_its_range() -> None:
    """From 0 to 4: an amount of 2, its range from 1 to 4."""
    bar = Bar(((0.0, 2.0, "#123456"),), 1.0, 4.0)
    root = ElementTree.fromstring(bars_svg([bar], [bar], 100, "about"))
    (box,) = (node for node in root.iter() if node.get("fill") == "#123456")
    assert (float(box.attrib["x"]), float(box.attrib["width"])) == (0, 50)
    line = next(node for node in root.iter() if node.tag.endswith("line"))
    assert (float(line.attrib["x1"]), float(line.attrib["x2"])) == (25, 100)


def renamed(scenario: Scenario, name: str) -> Scenario:
    for at, group in enumerate(scenario.groups):
        scenario = scenario.with_value(f"groups.{group.id}.name", f"{name} {at}")
    return replace(scenario, name=name, customer=name).with_value("document.author", "W" * 80)


def designs() -> dict[str, tuple[Scenario, Brand]]:
    """Name -> a design and the brand of its brief."""
    assistant, enterprise = load_scenario("assistant"), load_scenario("enterprise")
    firm = replace(ACME, currency="")
    return {
        **{name: (load_scenario(name), PLAIN) for name in ("starter", "enterprise", "current", "assistant")},
        **{name: (from_dict(data), PLAIN) for name, data in OTHERS.items()},
        **{name: (renamed(enterprise, text), PLAIN) for name, text in NAMES.items()},
        "letter": (assistant.with_value("format.paper", "letter"), PLAIN),
        "firm": (renamed(assistant, LONG), firm),
        "firm on A4": (assistant.with_value("format.paper", "a4"), firm),
        "German": (assistant.with_value("format.locale", "de-DE"), PLAIN),
        "Indian": (assistant.with_value("format.locale", "en-IN"), PLAIN),
        "kinds": (from_dict(design()), PLAIN),
        "164 hosts": (two_sites(300, 340), PLAIN),
        "nothing": (from_dict({"name": "Nothing"}), PLAIN),
        "long period": (enterprise.with_value("cost.years", 7), PLAIN),
    }


@pytest.mark.slow
def test_it_is_always_one_page(catalog: Catalog, tmp_path: Path) -> None:
    known, files = designs(), {}
    tried = of_the_day([*known], few=6)
    for at, (scenario, brand) in enumerate(known[name] for name in tried):
        plan = make_plan(brand.applied(scenario), catalog)
        files[f"{at}.docx"] = docx_bytes(brief_of(plan, brand=brand), brand=brand)
    printed = converted(tmp_path, files, "pdf")
    counts = {}
    for name, path in zip(tried, printed.values(), strict=True):
        about = subprocess.run(
            [poppler("pdfinfo"), str(path)], check=True, capture_output=True
        ).stdout.decode()
        found = re.search(r"Pages: +(\d+)", about)
        counts[name] = found and int(found[1])
    assert counts == dict.fromkeys(tried, 1)


def test_many_rows_give_way_to_the_page(catalog: Catalog) -> None:
    """The same design on the smaller page, in a wider font: no more rows of any table, and a decision at least."""
    scenario = load_scenario("assistant")
    large = make_plan(scenario.with_value("format.paper", "a4"), catalog)
    summary = executive(large)
    sizes = []
    for paper, font in (("a4", "Calibri"), ("letter", "Verdana")):
        plan = make_plan(scenario.with_value("format.paper", paper), catalog)
        grids = [b for b in blocks(executive_brief(plan, summary, font=font)) if isinstance(b, Grid)]
        sizes.append({grid.heads: len(grid.rows) for grid in grids})
    wide, narrow = sizes
    assert all(count <= wide[named] for named, count in narrow.items()) and narrow != wide
    assert all(isinstance(row[3], Figure) for grid in grids if len(grid.heads) == 5 for row in grid.rows)
