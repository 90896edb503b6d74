"""One story: no screen and no document says that all is placed where something is not, or the other way round."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from random_cases import examples, of_the_day
from strategies import scenario_data
from summaries import brief_document, summary_of

from gpuplan import Plan, ScenarioError, load_catalog, load_scenario, make_plan
from gpuplan.analysis.variants import figure
from gpuplan.app.header import _more
from gpuplan.app.state import Workbook
from gpuplan.app.steps.failures import failures_data, verdict
from gpuplan.app.strip import PLACEMENT, strip_data
from gpuplan.deliver.document.blocks import Bullets, Chapter, Draft, Grid, KeyFigures, Paragraph
from gpuplan.deliver.document.chapters import chapter_of
from gpuplan.deliver.document.front import key_figures
from gpuplan.deliver.document.html_file import html_text
from gpuplan.deliver.document.one_page import executive_brief
from gpuplan.deliver.document.physical import survival
from gpuplan.deliver.document.requirements import _asked_in_all
from gpuplan.deliver.executive import decisions
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.deliver.what_if.answers import WhatIf, _others, answer_of, sizes
from gpuplan.deliver.what_if.texts import Teller
from gpuplan.plan.requests import spare_hosts
from gpuplan.report import cost_text, demand_text, plan_dict, plan_text
from gpuplan.report.figures import Figures
from gpuplan.report.headlines import hosts
from gpuplan.report.table import records
from gpuplan.report.tables.plan import verdict as verdict_table
from gpuplan.scenario import Scenario, from_dict
from gpuplan.wording import said

ALL = re.compile(
    r"all (\d+ )?planned VMs (are placed|fit)|planned VM (is placed|fits)|all (placed|VMs fit)|all (its )?VMs are placed"
    r"|every group has its GPUs|every\s?(one|body) (is|was|has|gets|had)|nobody (is|has)",
    re.I,
)
"""Says that everything has a place."""
SOME = re.compile(
    r"([1-9]\d*) (of \d+ )?(planned )?VMs? (\([^)]*\) )?(ha(s|ve) no|without a) GPU|([1-9]\d*) not placed"
    r"|(?-i:Without a GPU:)|no GPU for [1-9]",
    re.I,
)
"""Says that something has none, and how many."""
STARTS = re.compile(
    r"(?<!started first, )all (\d+ )?VMs start\b(?! with| in this order)|every VM starts in (all|each|every)",
    re.I,
)
"""Says that vSphere starts all, whatever the order."""
RESTARTS = re.compile(
    r"(?<!not )(?<!in )(every VM|all (its|their)? ?(\d+ )?VMs) (restarts?|gets? a GPU|(is|are) (placed|certain))"
    r"|any (one |two |three )?(hosts? can fail|host failures? (is|are) covered)",
    re.I,
)
"""Says that all restart after a failure."""


def screen(plan: Plan) -> Iterator[str]:
    """What the strip and the picture of the hosts say, nothing having failed and with a host down."""
    book = Workbook(plan.catalog, plan.scenario)
    for tile in strip_data(book)["figures"]:
        yield f"{tile['label']}: {tile['value']}, {tile['note']}"
    for pool in book.plan.pools:
        said = verdict(book, pool)
        text, own = f"{said['lead']} {said['text']}", book.plan.verdict_on(pool)
        for claim, state in ((RESTARTS, own.survives), (STARTS, own.starts)):
            text = claim.sub("", text) if state in ("yes", "") else text  # of this cluster, which is named
        yield text
        if pool.hosts > 1:
            book.toggle_host(pool.id, 1)
            said = verdict(book, pool)
            yield f"{said['lead']} After the failure of one: {said['text']}"


def document(plan: Plan) -> str:
    """The design document as plain text, a line for each thing that it says."""
    page = re.sub(r"<(style|svg|script).*?</\1>", "\n", html_text(brief_document(plan)), flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", "\n", page))


def brief(plan: Plan) -> Iterator[str]:
    """All text of the executive brief."""
    page = executive_brief(plan, summary_of(plan), font="Calibri")
    for chapter in (Chapter("", page.front), *page.chapters):
        yield from written(chapter)


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


OTHER = re.compile(r"instead of|without a GPU, \d+ points? to fix")
"""Of another design beside this one."""


OF_A_CLUSTER = re.compile(r"All VMs start in each of (the )?\d+ (random )?power-on orders")
"""Of the cluster whose section it stands in, where another one may not start all."""


def contradictions(plan: Plan, *texts: str) -> list[str]:
    """Sentences that do not agree with the verdict on the plan."""
    placed, verdict = plan.placed, plan.verdict
    claims = {
        ALL: not placed.missing,
        STARTS: verdict.starts in ("yes", ""),
        RESTARTS: verdict.survives in ("yes", ""),
    }
    found = []
    mixed = any(plan.verdict_on(pool).starts == "yes" for pool in plan.pools)
    for sentence in sentences(*texts):
        if OTHER.search(sentence) or (mixed and OF_A_CLUSTER.search(sentence)):
            continue
        wrong = any(claim.search(sentence) and not holds for claim, holds in claims.items())
        if some := SOME.search(sentence):
            vms = int(some[1] or some[6] or placed.missing)
            least = 1 if placed.lost or NAMED.search(sentence) else placed.missing or 1
            wrong = wrong or not least <= vms <= placed.missing + placed.lost
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
            yield from (cell for row in block.rows for cell in row if isinstance(cell, str))


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
    on_page = list(brief(plan))
    texts = [*screen(plan), plan_text(plan), demand_text(plan), document(plan), *slides(plan), *on_page]
    assert contradictions(plan, *texts) == []
    said = " ".join(" ".join(texts).split())
    assert plan.verdict.fit_sentence in said or not plan.pools
    assert not plan.pools or any(plan.verdict.fit_sentence in text for text in on_page)
    if plan.placed.missing:
        assert f"{plan.placed.missing} not placed" in said


def test_a_contradiction_is_found() -> None:
    plan = make_plan(SITUATIONS["a total too small"], load_catalog())
    assert contradictions(plan, "Host 3 lost: everyone is placed again.") != []
    assert contradictions(plan, "7 VMs have no GPU.") != []
    fine = make_plan(ENTERPRISE, load_catalog())
    assert contradictions(fine, "3 VMs have no GPU after a failure.") != []
    unsure = make_plan(SITUATIONS["current"], load_catalog())
    assert (
        len(contradictions(unsure, "Any two hosts can fail.", "All VMs start.", "All its 3 VMs restart."))
        == 3
    )
    assert contradictions(fine, fine.verdict.sentence) == []


@settings(max_examples=examples(100, few=10), deadline=None, suppress_health_check=list(HealthCheck))
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


def tile(plan: Plan) -> str:
    """What the deck says of availability on its second slide, without a presentation."""
    return Figures(plan).said("deck.executive.long without cost")


def position_of(plan: Plan) -> dict[str, str]:
    """What the what-if page says of the design's own position, as precomputed."""
    design = next(_others(plan))
    axes = (next(iter(sizes(plan.scenario)), design), design)
    found = WhatIf(plan, axes, {})
    return Teller(replace(found, answers={found.own: answer_of(plan)})).texts(found.own)


def decided(plan: Plan) -> str:
    """What the decisions say of failover capacity."""
    chosen = [
        decision
        for decision in plan.decisions
        if f"N+{plan.scenario.availability.host_failures}" in decision.decision
    ]
    return " ".join(decision.decision for decision in chosen)


TOLD: dict[str, Callable[[Plan], str]] = {
    "strip": lambda plan: strip_data(Workbook(plan.catalog, plan.scenario))["figures"][4]["note"],
    "drawer": lambda plan: str(_more(Workbook(plan.catalog, plan.scenario).checked, PLACEMENT)),
    "headline": lambda plan: hosts(plan).sentence,
    "picture": lambda plan: verdict(Workbook(plan.catalog, plan.scenario), plan.pools[0])["lead"],
    "failures": lambda plan: failures_data(Workbook(plan.catalog, plan.scenario))["hint"],
    "page 1": lambda plan: " ".join(summary_of(plan).recommendation),
    "key figures": lambda plan: str(key_figures(Draft(plan))[0]),
    "chapter 9": lambda plan: survival(Draft(plan)),
    "requirements": lambda plan: _asked_in_all(Draft(plan))["availability.host_failures"],
    "to confirm": lambda plan: " ".join(action.what for action in decisions(plan)),
    "decisions": decided,
    "tile": tile,
    "what-if": lambda plan: position_of(plan)["headline"],
    "what-if figure": lambda plan: position_of(plan)["placed-note"],
    "card": lambda plan: plan._repr_html_(),
    "terminal": lambda plan: " ".join(plan_text(plan).split()),
    "JSON": lambda plan: plan_dict(plan)["verdict"]["tolerance"],
    "frame": lambda plan: str(records(verdict_table(plan))),
    "comparison": lambda plan: str(figure(plan, "placed")),
}
"""Surface -> what it says of host failures."""
OTHERWISE = re.compile(r"N\+\d, also|surviv\w+ \d|any (one|two|three|\d) hosts? ", re.I)
"""A phrase for host failures."""


def state_of(plan: Plan) -> str:
    """The verdict by what the chapters have: proof, power-on orders, rehearsed restarts."""
    spare = spare_hosts(plan.scenario)
    levels = [pool.losses[spare].fits for pool in plan.pools]
    starts = [trial.now.all_start if trial.known else None for trial in plan.power_on.values()]
    restarts = [
        None if made.too_large else all(fail.chance[0] == 1 and not fail.static for fail in made.failures)
        for made in plan.rehearsed.values()
        if plan.scenario.availability.host_failures
    ]
    if plan.placed.missing or (spare and False in levels):
        return "red"
    if (spare and None in levels) or False in (*starts, *restarts):
        return "amber"
    return "" if not plan.placed.vms or None in (*starts, *restarts) else "green"


@settings(max_examples=examples(200, few=10), deadline=None, suppress_health_check=list(HealthCheck))
@given(scenario_data(), st.integers(0, 2), st.booleans())
def test_each_surface_says_the_verdict(data: dict[str, Any], failures: int, accepted: bool) -> None:
    """The same tolerance in the same words, the same colour, and nothing that the chapters do not say."""
    data["availability"] = dict(data.get("availability") or {}, host_failures=failures)
    data["availability"]["maintenance_failure_accepted"] = accepted
    try:
        plan = make_plan(from_dict(data), load_catalog())
    except ScenarioError:
        return
    if not plan.pools:
        return
    found, book = plan.verdict, Workbook(plan.catalog, plan.scenario)
    assert found.state == state_of(plan)
    tones = [strip_data(book)["figures"][4]["tone"], position_of(plan)["tone"]]
    tones += [verdict(book, pool)["tone"] for pool in plan.pools][: len(plan.pools) == 1]
    assert set(tones) == {found.tone}
    part = found.fits == "missing"
    for name, tell in TOLD.items():
        text = tell(plan)
        one = said(
            "verdict.tolerance",
            failures=failures,
            each="",
            also="" if accepted else said("decided.also in maintenance"),
        )
        promise = one if name == "picture" else found.tolerance
        assert promise in text or (part and name not in ALWAYS), (name, text)
        assert not OTHERWISE.search(text.replace(promise, "")), (name, text)


ALWAYS = {"requirements", "to confirm", "decisions", "JSON"}
"""What is promised stands there, even where VMs have no GPU."""


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
    document_sentences = set(sentences(chapters))
    for sentence in sentences(plan_text(plan), demand_text(plan), cost_text(plan), chapters, *slides(plan)):
        assert not re.search(r"training job|every(body|one)|nobody|people", sentence, re.I), sentence
        if sentence not in document_sentences:  # there are groups of a directory
            assert not re.search(r"(?<!NVLink device )(?<!\bport )\bgroups?\b", sentence, re.I), sentence
