"""The design document: its first page, and that it is made for every plan with bounds on its length."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest
from approved import is_approved
from random_cases import examples
from summaries import brief_document, document_of_one_design

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.deliver.document import chapters, design_document
from gpuplan.deliver.document.blocks import (
    Bullets,
    Chapter,
    Decisions,
    Document,
    Draft,
    Figure,
    Grid,
    Paragraph,
    Section,
)
from gpuplan.deliver.document.brief import Page
from gpuplan.deliver.document.front import MOST_SOURCES
from gpuplan.deliver.document.physical import MOST_HOSTS
from gpuplan.plan.prices import newest_price
from gpuplan.report.figures import has
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import TEXTS, said


def blocks(document: Document) -> list[object]:
    chapters = (
        block
        for chapter in document.chapters
        for block in (*chapter.blocks, *(b for section in chapter.sections for b in section.blocks))
    )
    return [*document.front, *document.control, *chapters]


@pytest.fixture(scope="module")
def documents(plans: dict[str, Plan]) -> dict[str, Document]:
    return {plan.scenario.name: design_document(plan) for plan in plans.values()}


@pytest.fixture
def document(example: Plan, documents: dict[str, Document]) -> Document:
    """The document of one example after the other."""
    return documents[example.scenario.name]


def test_what_it_is_of(example: Plan, document: Document) -> None:
    assert document.title == example.scenario.name
    assert document.customer == example.scenario.customer
    assert example.costs is not None
    assert document.day == example.costs.as_of == "2026-11-21"
    assert document.made_with.endswith(f"catalog {example.catalog.digest}")
    assert is_approved(document.about, "0.1", "2026-11-21")


def test_the_same_plan_gives_the_same_document(
    plans: dict[str, Plan], documents: dict[str, Document]
) -> None:
    starter = plans["starter"]
    assert design_document(starter) == documents[starter.scenario.name]


def test_who_wrote_it_stands_on_it(plans: dict[str, Plan], catalog: Catalog) -> None:
    stated = {
        "author": "A. Writer",
        "approver": "B. Chief",
        "version": "1.2",
        "status": "review",
        "date": "2026-12-01",
    }
    scenario = plans["starter"].scenario
    for name, value in stated.items():
        scenario = scenario.with_value(f"document.{name}", value)
    document = brief_document(make_plan(scenario, catalog))
    assert document.day == "2026-12-01"
    assert all(word in document.about for word in ("A. Writer", "1.2", "For review", "2026-12-01"))
    assert "B. Chief" in repr(document.control)


def test_every_table_is_whole(document: Document) -> None:
    for block in blocks(document):
        if isinstance(block, Grid):
            assert block.rows
            assert {len(row) for row in block.rows} == {len(block.heads)}
            assert len(block.widths) in (0, len(block.heads))
            assert not block.widths or sum(block.widths) == pytest.approx(1)
            assert all(column < len(block.heads) for column in block.right)
            assert all(isinstance(cell, str) for row in block.rows for cell in row)


def test_no_section_is_empty_and_no_text_is_unfinished(document: Document) -> None:
    assert all(section.blocks for chapter in document.chapters for section in chapter.sections)
    shown = repr(document)
    assert "None" not in {
        cell for block in blocks(document) if isinstance(block, Grid) for r in block.rows for cell in r
    }
    assert "nan" not in shown.lower().split()
    assert "Line(" not in shown
    assert "Fact(" not in shown


@pytest.mark.parametrize("demand", [{}, {"stated_gpus": 6}])
def test_without_groups(catalog: Catalog, demand: dict[str, int]) -> None:
    plan = make_plan(from_dict({"name": "Empty", "demand": demand}), catalog)
    document = brief_document(plan)
    assert len(document.chapters) == (20 if demand else 16)
    assert bool(plan.pools) is bool(demand)
    assert any(isinstance(b, Figure) for b in blocks(document)) is bool(demand)
    assert any(isinstance(b, Decisions) for b in blocks(document)) is bool(demand)
    assert document.day == newest_price(catalog)


def test_two_clusters_are_told_apart(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("platform.bitfusion_servers", "passthrough")
    plan = make_plan(scenario, catalog)
    assert len(plan.pools) == 2
    captions = [block.caption for block in blocks(brief_document(plan)) if isinstance(block, Grid)]
    for pool in plan.pools:
        assert any(caption.startswith(f"{pool.name}:") for caption in captions)


@pytest.mark.by_day("seconds", 3)
def test_thousands_of_hosts_stay_a_document(catalog: Catalog) -> None:
    thousands = examples(10, few=2)
    groups = [
        {"id": "a", "name": "A", "people": 3_900 * thousands, "gpus_each": 1, "use_case": "ds-workstation"},
        {"id": "b", "name": "B", "people": 400 * thousands, "gpus_each": 0.25, "use_case": "dev-test"},
    ]
    plan = make_plan(from_dict({"groups": groups, "hardware": {"gpus_per_host": 4}}), catalog)
    assert plan.totals.hosts > 1_000 * thousands
    document = document_of_one_design(plan)
    grids = [block for block in blocks(document) if isinstance(block, Grid)]
    assert max(len(grid.rows) for grid in grids) <= max(MOST_SOURCES, 6 * len(plan.pools))
    clusters = counted = 0
    for grid in (grid for grid in grids if grid.caption.endswith("by their VMs")):
        assert len(grid.rows) <= MOST_HOSTS
        runs = re.findall(r"(\d+)(?: to (\d+))?", grid.caption.partition(":")[0])
        alike = sum(int(last or first) - int(first) + 1 for first, last in runs)
        counted += alike * sum(int(row[0].replace("\u202f", "")) for row in grid.rows)
        clusters += alike
    assert (clusters, counted) == (len(plan.pools), plan.totals.hosts)


def test_what_is_internal_is_a_chapter_at_the_end(plans: dict[str, Plan], catalog: Catalog) -> None:
    own = plans["enterprise"].scenario.with_value("internal.notes", "Ask Bob.\n\nNot before Monday.")
    plan = make_plan(own.with_value("internal.margin", 0.2), catalog)
    document = brief_document(plan)
    assert [c.title for c in document.chapters[:-1]] == [
        c.title for c in design_document(plans["enterprise"]).chapters
    ]
    last = document.chapters[-1]
    assert is_approved(last.title)
    notes, margin = last.sections
    assert notes.blocks == (Paragraph("Ask Bob."), Paragraph("Not before Monday."))
    (grid,) = (block for block in margin.blocks if isinstance(block, Grid))
    assert grid.heads == ("All years", "We pay", "The customer pays", "We earn")
    assert is_approved(grid.rows[-1][0])
    assert "Ask Bob" not in repr(document.chapters[:-1])


def test_a_chapter_leaves_out_what_says_nothing(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {"empty": "", "none": None, "text": "text", "texts": ["one", "", "two"]}
    monkeypatch.setattr(
        chapters, "MODULES", {"here": SimpleNamespace(**{k: lambda _, t=t: t for k, t in texts.items()})}
    )
    blank = dict.fromkeys(chapters.ROWS["document.front"][0], "")
    rows = [
        {"content": "here.text"},
        {"content": "here.none"},
        {"section": "logical.access", "content": "here.empty"},
        {"section": "hosts.silos", "content": "here.texts", "style": "list"},
        {"section": "hosts.silos", "content": "here.text", "needs": "no plan.pools"},
        {"content": "here.text", "style": "note"},
    ]
    monkeypatch.setitem(chapters.ROWS, "logical.title", [blank | row for row in rows])
    assert chapters.chapter_of("logical.title", Draft(plans["starter"])) == Chapter(
        said("logical.title"),
        (Paragraph("text"), Paragraph("text", "note")),
        (Section(said("hosts.silos"), (Bullets(("one", "two")),)),),
    )


def test_every_row_of_a_chapter_has_one_content_that_exists(plans: dict[str, Plan]) -> None:
    draft = Draft(plans["starter"])
    page = Page(draft.plan)
    for title, row in ((title, row) for title, rows in chapters.ROWS.items() for row in rows):
        assert sum(bool(row[kind]) for kind in ("text", "report", "content")) == 1
        assert isinstance(has(page if title == "brief.title" else draft, row["needs"]), bool)
        assert {row["text"], row["section"], row["caption"], row["alt"]} <= {"", *TEXTS}
        for kind, modules in (("report", chapters.REPORT), ("content", chapters.MODULES)):
            module, _, name = row[kind].partition(".")
            assert not module or callable(getattr(modules[module], name))


def test_a_requirement_follows_what_the_customer_confirmed() -> None:
    def known(scenario: Scenario) -> str:
        chapter = brief_document(make_plan(scenario)).chapters[0]
        grid = next(part for part in chapter.sections if part.title == "Requirements").blocks[0]
        assert isinstance(grid, Grid)
        return next(row[2] for row in grid.rows if row[1].startswith("Developers:"))

    scenario = load_scenario("enterprise")
    assert known(scenario).startswith("Assumed [")
    assert known(scenario.with_value("groups.developers.people", 41)).startswith("Partly assumed [")
    assert known(scenario.confirmed("groups.developers")) == "Stated or quoted"


def test_the_document_has_the_log_of_what_was_confirmed() -> None:
    def logs(scenario: Scenario) -> list[Grid]:
        chapter = brief_document(make_plan(scenario)).chapters[0]
        section = next(part for part in chapter.sections if part.title == "Assumptions")
        return [block for block in section.blocks if isinstance(block, Grid) and "Ms Ito" in str(block.rows)]

    scenario = load_scenario("enterprise")
    assert logs(scenario) == []
    sure = scenario.confirmed("groups.hpc.people", "Ms Ito, 2026-11-23").confirmed(
        "cost.years", "Ms Ito, 2026-11-24"
    )
    ((first, second),) = (grid.rows for grid in logs(sure.doubted("cost.years", "2026-12-01")))
    assert all(first) and second[-1] == "" and "HPC" in second[0]
