"""One story: no screen and no document says that all is placed where something is not, or the other way round."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from io import BytesIO

import pytest
from hypothesis import HealthCheck, given, settings
from random_cases import examples, of_the_day
from strategies import scenario_data
from summaries import brief_document, summary_of

from gpuplan import Plan, ScenarioError, load_catalog, load_scenario, make_plan
from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import verdict
from gpuplan.app.strip import strip_data
from gpuplan.deliver.document.blocks import Bullets, Chapter, Draft, Grid, KeyFigures, Paragraph
from gpuplan.deliver.document.chapters import chapter_of
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.report import cost_text, demand_text, plan_text
from gpuplan.scenario import Scenario, from_dict

ALL = re.compile(
    r"all (\d+ )?planned VMs are placed|planned VM is placed|all placed|all (its )?VMs (are placed|restart)|every VM (restart|was|is|has)"
    r"|every group has its GPUs|every\s?(one|body) (is|was|has|gets|had)|nobody (is|has)",
    re.I,
)
"""Says that everything has a place."""
SOME = re.compile(
    r"[1-9]\d* (of \d+ )?(planned )?VMs? (\([^)]*\) )?(ha(s|ve) no|without a) GPU|[1-9]\d* not placed|(?-i:Without a GPU:)|no GPU for [1-9]",
    re.I,
)
"""Says that something has none."""
AFTER = re.compile(r"after|worst|fails|failure", re.I)
"""Speaks of a failure."""


def screen(plan: Plan) -> Iterator[str]:
    """What the strip and the picture of the hosts say, nothing having failed and with a host down."""
    book = Workbook(plan.catalog, plan.scenario)
    for figure in strip_data(book)["figures"]:
        yield f"{figure['label']}: {figure['value']}, {figure['note']}"
    for pool in book.plan.pools:
        said = verdict(book, pool)
        yield f"{said['lead']} {said['text']}"
        if pool.hosts > 1:
            book.toggle_host(pool.id, 1)
            said = verdict(book, pool)
            yield f"{said['lead']} After the failure of one: {said['text']}"


def document(plan: Plan) -> str:
    """The design document as plain text, a line for each thing that it says."""
    page = re.sub(r"<(style|svg|script).*?</\1>", "\n", html_text(brief_document(plan)), flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def slides(plan: Plan) -> Iterator[str]:
    """All text of the slides, their notes apart."""
    from pptx import Presentation

    for slide in Presentation(BytesIO(pptx_bytes(plan, summary_of(plan)))).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            elif shape.has_table:
                yield from (cell.text for row in shape.table.rows for cell in row.cells)


def sentences(*texts: str) -> Iterator[str]:
    """Each sentence of the texts; the lines of a terminal are joined."""
    for text in texts:
        for part in re.split(r"\n\s*\n|\n(?=\S)|(?<=[.!?])\s+", text):
            yield " ".join(part.split())


def contradictions(plan: Plan, *texts: str) -> list[str]:
    """Sentences that do not agree with where the plan's VMs are."""
    placed = plan.placed
    found = []
    for sentence in sentences(*texts):
        if "instead of" in sentence:  # of another design beside this one
            continue
        everything, something, later = (known.search(sentence) for known in (ALL, SOME, AFTER))
        wrong = (
            (placed.missing and everything)
            or (something and not placed.missing and not (later and placed.lost))
            or (
                something
                and placed.missing
                and not later
                and str(placed.missing) not in sentence
                and not NAMED.search(sentence)
            )
        )
        if wrong:
            found.append(sentence)
    return found


NAMED = re.compile(r":|Host \d|GPUs? per VM")
"""Of one group, not of the plan."""


def told(plan: Plan) -> list[str]:
    """What is said of a plan on the screen, in the terminal and where the document speaks of its VMs."""
    draft = Draft(plan)
    draft.summary = summary_of(plan)
    names = ("document.front", "requirements.title", "availability.title")
    chapters = [chapter_of(name, draft) for name in names]
    return [*screen(plan), plan_text(plan), *(text for chapter in chapters for text in written(chapter))]


def written(chapter: Chapter) -> Iterator[str]:
    """The text of a chapter."""
    for block in (*chapter.blocks, *(block for section in chapter.sections for block in section.blocks)):
        if isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items
        elif isinstance(block, KeyFigures):
            yield from (": ".join(item) for item in block.items)
        elif isinstance(block, Grid):
            yield from (cell for row in block.rows for cell in row)


ENTERPRISE = load_scenario("enterprise")
SITUATIONS = {
    "starter": load_scenario("starter"),
    "enterprise": ENTERPRISE,
    "current": load_scenario("current"),
    "assistant": load_scenario("assistant"),
    "no spare host": ENTERPRISE.with_value("availability.host_failures", 0),
    "two failures": ENTERPRISE.with_value("availability.host_failures", 2),
    "a total too small": ENTERPRISE.with_value("demand.rule", "stated").with_value("demand.stated_gpus", 20),
    "no access": from_dict(
        {
            "groups": [
                {"id": "a", "people": 4, "gpus_each": 0.5, "access": "passthrough"},
                {"id": "b", "people": 9},
            ]
        }
    ),
    "a total alone": from_dict({"demand": {"stated_gpus": 14}}),
    "nothing": from_dict({}),
}


@pytest.mark.parametrize("name", SITUATIONS)
def test_everything_said_of_a_plan_agrees_with_it(name: str) -> None:
    plan = make_plan(SITUATIONS[name], load_catalog())
    texts = [*screen(plan), plan_text(plan), demand_text(plan), document(plan), *slides(plan)]
    assert contradictions(plan, *texts) == []
    said = " ".join(" ".join(texts).split())
    if plan.placed.missing:
        assert plan.placed.sentence in said and f"{plan.placed.missing} not placed" in said


def test_a_contradiction_is_found() -> None:
    plan = make_plan(SITUATIONS["a total too small"], load_catalog())
    assert contradictions(plan, "Host 3 lost: everyone is placed again.") != []
    assert contradictions(plan, "7 VMs have no GPU.") != []
    fine = make_plan(ENTERPRISE, load_catalog())
    assert contradictions(fine, "22 VMs have no GPU.", "3 VMs have no GPU after a failure.") != []
    assert contradictions(fine, fine.placed.sentence) == []


@settings(max_examples=examples(100, few=25), deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_data())
def test_any_design_is_told_without_contradiction(data: dict[str, object]) -> None:
    catalog = load_catalog()
    try:
        plan = make_plan(from_dict(data), catalog)
    except ScenarioError:
        return
    named: Scenario = plan.scenario
    for group in named.groups:  # names are anything, and say nothing
        named = named.with_value(f"groups.{group.id}.name", group.id)
    plan = make_plan(named.with_value("name", "Design").with_value("customer", ""), catalog)
    assert contradictions(plan, *told(plan)) == []


ONE_AS_MANY = re.compile(
    r"(?<![\w.,/\u202f-])1 [A-Za-z]+( [a-z]+)? (are|have|need|take|carry|give|connect|fit)\b"
)
MANY_AS_ONE = re.compile(
    r"(?<!of )\b([2-9]|\d\d+) (?!years)[A-Za-z]+s (is|has|needs|takes|carries|gives|connects|fits)\b"
)


FEW = [
    {**demand, "availability": {"host_failures": spare}}
    for count in (1, 2)
    for team in [{"id": "a", "name": "Team", "people": count, "remote_allowed": False}]
    for spare in (0, 1)
    for demand in (
        {"demand": {"stated_gpus": count}},
        {"groups": [team]},
        {"groups": [team | {"people": count + 1}], "demand": {"stated_gpus": 1, "rule": "stated"}},
        {"groups": [team | {"access": "passthrough", "gpus_each": 4}]},
    )
]
"""Designs with one or two of everything."""


@pytest.mark.parametrize("data", of_the_day(FEW, few=6))
def test_verbs_agree_with_their_counts(data: dict[str, object]) -> None:
    """ "1 VM have no GPU", "Distributed training get whole GPUs"."""
    plan = make_plan(from_dict(data), load_catalog())
    told = (plan_text(plan), demand_text(plan), cost_text(plan), document(plan), *slides(plan))
    for sentence in sentences(*told):
        assert not ONE_AS_MANY.search(sentence), sentence
        assert not MANY_AS_ONE.search(sentence), sentence


def test_a_stated_total_alone_speaks_of_nothing_else() -> None:
    """ "0 GPUs are wanted on average, as if everybody worked at the same time", and a job that nobody named."""
    plan = make_plan(from_dict({"demand": {"stated_gpus": 28}}), load_catalog())
    chapters = document(plan).partition("Basis of numbers")[0]
    for sentence in sentences(plan_text(plan), demand_text(plan), cost_text(plan), chapters, *slides(plan)):
        assert not re.search(
            r"(?<!NVLink device )\bgroups?\b|training job|every(body|one)|nobody|people", sentence, re.I
        ), sentence
