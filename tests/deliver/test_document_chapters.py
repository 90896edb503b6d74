"""What the low-level design says: the plan's own numbers, every message, decision and source, each once."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from approved import has_approved
from summaries import document_of_one_design

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.purchases import purchase_ways
from gpuplan.catalog import Catalog
from gpuplan.deliver.document import design_document
from gpuplan.deliver.document.blocks import (
    Block,
    Bullets,
    Chapter,
    Citations,
    Decisions,
    Document,
    Draft,
    Grid,
    KeyFigures,
    Paragraph,
    References,
)
from gpuplan.deliver.document.chapters import chapter_of
from gpuplan.deliver.executive import OWNERS, Executive, due, executive
from gpuplan.plan.checks import check_plan
from gpuplan.plan.over_time import rehearsal
from gpuplan.report import amount, number
from gpuplan.report.figures import Figures, what_to_do
from gpuplan.report.tables.over_time import TOO_LARGE
from gpuplan.report.tables.power_on import power_on
from gpuplan.scenario import from_dict
from gpuplan.wording import MODE_NAMES, headline_money, hours, said


def all_blocks(chapter: Chapter) -> list[Block]:
    return [*chapter.blocks, *(block for section in chapter.sections for block in section.blocks)]


def grid(chapter: Chapter, caption: str) -> Grid:
    return next(b for b in all_blocks(chapter) if isinstance(b, Grid) and b.caption.startswith(caption))


def column(found: Grid, head: str) -> list[str]:
    """The cells under a head."""
    at = found.heads.index(head)
    return [row[at] for row in found.rows]


def paragraphs(chapter: Chapter) -> str:
    """All running text of a chapter."""
    return " ".join(b.text for b in all_blocks(chapter) if isinstance(b, Paragraph))


def bullets(chapter: Chapter) -> list[str]:
    return [item for b in all_blocks(chapter) if isinstance(b, Bullets) for item in b.items]


CHAPTERS = (
    "requirements",
    "logical",
    "decisions",
    "demand",
    "hosts",
    "build",
    "physical",
    "software",
    "network",
    "nsx",
    "services",
    "security",
    "availability",
    "operations",
    "acceptance",
    "checklist",
    "cost",
    "risks",
    "glossary",
    "sources",
)
"""The chapters in their order, by the keys of their titles."""


def of(chapters: tuple[Chapter, ...], name: str) -> Chapter:
    """A chapter by its name."""
    return next(chapter for chapter in chapters if chapter.title == said(f"{name}.title"))


@pytest.fixture(scope="module")
def summaries(plans: dict[str, Plan]) -> dict[str, Executive]:
    return {plan.scenario.name: executive(plan) for plan in plans.values()}


@pytest.fixture(scope="module")
def documents(plans: dict[str, Plan], summaries: dict[str, Executive]) -> dict[str, Document]:
    named = [(plan, plan.scenario.name) for plan in plans.values()]
    return {name: design_document(plan, summary=summaries[name]) for plan, name in named}


@pytest.fixture
def document(example: Plan, documents: dict[str, Document]) -> Document:
    """The document of one example after the other."""
    return documents[example.scenario.name]


@pytest.fixture
def chapters(document: Document) -> tuple[Chapter, ...]:
    """Chapters of the document of one example after the other."""
    return document.chapters


def made(plan: Plan, summaries: dict[str, Executive] | None = None) -> Document:
    """The document of a plan that is no example; its first page is that of an example, which saves seconds."""
    some = next(iter(summaries.values())) if summaries else None
    return design_document(plan, summary=some)


def test_chapters_stand_in_the_order_in_which_a_cluster_is_built(chapters: tuple[Chapter, ...]) -> None:
    assert [chapter.title for chapter in chapters] == [said(f"{name}.title") for name in CHAPTERS]


def test_citations_are_numbered_once_and_shortened(catalog: Catalog) -> None:
    cite = Citations(catalog)
    ids = list(catalog.sources)[:6]
    assert cite(["scenario"]) == ""
    assert cite(ids[:1]) == " [1]"
    assert cite([ids[1], ids[0]]) == " [1, 2]"
    assert cite(ids[2:4]) == " [3, 4]"
    assert cite([*ids[:3], ids[4]]) == " [1-3, 5]"


def test_the_first_page_has_the_answer(example: Plan, document: Document) -> None:
    lead, totals, costs = document.front[0], example.totals, example.costs
    assert isinstance(lead, Paragraph) and lead.tone == "lead"
    assert costs is not None and example.cost_ranges is not None
    assert amount(totals.hosts, "host") in lead.text and amount(totals.gpus_demanded, "GPU") in lead.text
    assert example.verdict.fit_sentence in lead.text
    figures = next(b for b in document.front if isinstance(b, KeyFigures))
    shown = {label: (value, note) for label, value, note in figures.items}
    assert shown["Hosts"][0] == number(totals.hosts)
    assert shown["GPUs"][0] == number(totals.gpus)
    assert number(totals.gpus_after_failure) in shown["GPUs"][1]
    assert shown["Availability"] == (example.verdict.short, example.verdict.note)
    value, ends = shown["5-year cost (NPV)"]
    assert (
        headline_money(costs.net_present, costs.currency, example.cost_ranges.net_present)
        == f"{value} ({ends.removesuffix(', range from price uncertainty')})"
    )
    text = " ".join(b.text for b in document.front if isinstance(b, Paragraph))
    assert headline_money(costs.cash[0], costs.currency) in text
    assert all(f"{g.name} ({amount(g.vms, 'VM')})" in text for g in example.groups)


def test_the_first_page_prices_alternatives_and_says_why_not(
    example: Plan, document: Document, summaries: dict[str, Executive]
) -> None:
    table = next(b for b in document.front if isinstance(b, Grid))
    chosen = summaries[example.scenario.name].choices[: len(table.rows) - 1]
    assert 2 <= len(chosen) <= 4
    assert [row[0] for row in table.rows[1:]] == [each.name for each in chosen]
    assert all(row[4].endswith(".") and len(row[4]) > 10 for row in table.rows[1:])
    for row, each in zip(table.rows[1:], chosen, strict=True):
        assert row[3].startswith("+" if each.difference > 0 else "\u2212")
    again = {
        each.key: make_plan(
            example.scenario.with_value("availability.host_failures", int(each.key[1:])), example.catalog
        )
        for each in chosen
        if re.fullmatch(r"n\d", each.key)
    }
    for each in chosen:
        if plan := again.get(each.key):
            assert plan.costs is not None
            assert (each.hosts[0], each.net_present) == (plan.totals.hosts, plan.costs.net_present)


def test_requirements_and_assumptions_are_numbered(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    frame = of(chapters, "requirements")
    for letter, caption in (("R", "Requirements"), ("A", said("assumptions.table"))):
        rows = grid(frame, caption).rows
        assert [row[0] for row in rows] == [f"{letter}{n}" for n in range(1, len(rows) + 1)]
    requirements = " ".join(row[1] for row in grid(frame, "Requirements").rows)
    assert all(f"{g.name}: {amount(g.vms, 'VM')}" in requirements for g in example.groups)


def test_every_message_is_a_risk_with_owner_and_day(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    rows = grid(of(chapters, "risks"), said("risks.title")).rows
    for at, (row, message) in enumerate(zip(rows, check_plan(example), strict=True), 1):
        assert row[0] == f"K{at}"
        assert row[2].startswith(message.text)
        assert row[3] == what_to_do(message)
        assert row[4] == OWNERS[message.owner]
        assert row[5] == due(example, message.days)


def test_what_is_stated_is_a_constraint_and_what_is_assumed_is_not(
    catalog: Catalog, summaries: dict[str, Executive]
) -> None:
    def both(plan: Plan) -> tuple[str, str]:
        frame = of(made(plan, summaries).chapters, "requirements")
        given = " ".join(" ".join(row) for row in grid(frame, "Constraints").rows)
        table = " ".join(" ".join(row) for row in grid(frame, said("assumptions.table")).rows)
        return given, f"{table} {' '.join(bullets(frame))}"

    scenario = load_scenario("enterprise")
    constraints, assumptions = both(make_plan(scenario, catalog))
    assert constraints.startswith("CON1 ")
    assert has_approved(constraints, "4 GPUs")
    assert "Time between failures: 16\u202f000 h" in assumptions
    assert "6\u202f300 to 48\u202f000" in assumptions
    assert "PUE" not in constraints
    stated = make_plan(scenario.with_value("cost.pue", 1.25), catalog)
    constraints, assumptions = both(stated)
    assert "PUE: 1.25." in constraints
    assert "PUE" not in assumptions
    known = make_plan(scenario.with_value("availability.mtbf_h", 20_000), catalog)
    assert "Time between failures" not in both(known)[1]


def test_the_assumed_inputs_are_as_many_as_the_check_counts(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    message = next(m for m in check_plan(example) if m.code == "inputs-assumed")
    count = message.text.split(" ")[0]
    assert said("assumptions.lead", count=int(count)) in paragraphs(of(chapters, "requirements"))
    known = grid(of(chapters, "sources"), said("sources.bases")).rows
    assert known[-1][0] == "Assumed" and known[-1][2] == count


def test_assumptions_read_well_and_lie_in_their_ranges(chapters: tuple[Chapter, ...]) -> None:
    rows = grid(of(chapters, "requirements"), said("assumptions.table")).rows
    assert not any(re.search(r", (waits|hidden|effect|sent|received|intra host):", row[1]) for row in rows)
    for _, what, span, _ in rows:
        if span and (found := re.search(r"([\d\u202f.]+)(?: [A-Za-z/]+)?$", what)):
            low, value, high = (
                float(n.replace("\u202f", ""))
                for n in (span.split(" to ")[0], found[1], span.split(" to ")[1])
            )
            assert low <= value <= high


def test_what_is_chosen_is_named_where_nothing_is_a_constraint(documents: dict[str, Document]) -> None:
    frame = of(documents["Current-generation example"].chapters, "requirements")
    section = next(s for s in frame.sections if s.title == "Constraints")
    (block,) = section.blocks
    assert isinstance(block, Paragraph)
    assert "PowerEdge R760xa" in block.text
    assert "vSphere 8.0 Update 3" in block.text


def test_figures_after_a_failure_name_how_many_hosts_fail(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("availability.host_failures", 2), catalog)
    assert Figures(plan).down == 2
    document = made(plan)
    figures = next(b for b in document.front if isinstance(b, KeyFigures))
    assert next(note for label, _, note in figures.items if label == "GPUs").endswith("with 2 hosts lost")
    assert "with 2 hosts lost" in paragraphs(of(document.chapters, "demand"))


def test_prices_in_another_currency_have_whole_ranges(
    catalog: Catalog, summaries: dict[str, Executive]
) -> None:
    scenario = (
        load_scenario("enterprise").with_value("cost.usd_rate", 0.92).with_value("cost.currency", "EUR")
    )
    chapters = made(make_plan(scenario, catalog), summaries).chapters
    assumed = grid(of(chapters, "requirements"), said("assumptions.table")).rows
    price = next(row for row in assumed if "Price of PowerEdge C4140" in row[1])
    assert price[1].endswith("EUR 18\u202f018")
    assert price[2] == "10\u202f120 to 35\u202f908"
    shown = {row[0]: row[1] for row in grid(of(chapters, "sources"), said("sources.results")).rows}
    assert shown["Typical power"].endswith(" kW")


@pytest.mark.by_day("seconds", 3)
def test_a_large_design_has_no_raw_names_and_does_not_promise_too_much(catalog: Catalog) -> None:
    group = {
        "id": "a",
        "name": "A",
        "people": 9500,
        "gpus_each": 4,
        "active_share": 1.0,
        "use_case": "inference",
    }
    plan = make_plan(from_dict({"groups": [group]}), catalog)
    chapters = document_of_one_design(plan).chapters
    lead = of(chapters, "availability").blocks[0]
    assert isinstance(lead, Paragraph)
    chosen = next(p for p in plan.postures if p.chosen)
    assert hours(chosen.short_h) in lead.text
    assert plan.cabling is not None
    assert plan.cabling.switches is not None
    fabrics = f"in {len(plan.cabling.switches.fabrics)} fabrics"
    assert fabrics in repr(of(chapters, "physical")) and "spine_ports" not in repr(chapters)


def test_a_cost_with_growth_says_so(plans: dict[str, Plan], documents: dict[str, Document]) -> None:
    for name, grows in (("current", True), ("starter", False)):
        plan = plans[name]
        assert plan.costs is not None
        document = documents[plan.scenario.name]
        text = " ".join(b.text for b in document.front if isinstance(b, Paragraph))
        assert (Figures(plan).said("executive.money with growth") in text) == grows
        lead = of(document.chapters, "cost").blocks[0]
        assert isinstance(lead, Paragraph)
        assert ("includes growth" in lead.text) == grows


def test_every_reason_of_access_is_said_once_with_all_its_workloads(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    access = of(chapters, "logical")
    table = grid(access, said("logical.workloads"))
    assert column(table, "Workload") == [g.name for g in example.groups]
    assert column(table, "VMs") == [number(g.vms) for g in example.groups]
    assert column(table, "Access") == [MODE_NAMES[g.mode] for g in example.groups]
    points = bullets(access)
    for group in example.groups:
        for reason in (*group.reasons, *group.against):
            (held,) = (point for point in points if reason.text in point)
            assert group.name in held and MODE_NAMES[group.mode] in held
    rejected = grid(access, said("logical.rejected"))
    pairs = {(row[0], row[3].partition(" [")[0]) for row in rejected.rows}
    assert len(pairs) == len(rejected.rows)
    assert pairs == {(MODE_NAMES[r.mode], r.reason.text) for g in example.groups for r in g.ruled_out}


def test_every_feature_of_an_access_mode_is_in_one_row(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    rows = grid(of(chapters, "logical"), said("logical.features")).rows
    told = {(row[0], row[3].partition(" [")[0]) for row in rows}
    assert len(told) == len(rows)
    assert told == {(t.feature, t.text) for g in example.groups for t in g.traits}


def test_hosts_table_holds_every_gpu(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    for pool in example.pools:
        table = grid(of(chapters, "hosts"), "VMs on each host")
        assert len(table.rows) == pool.hosts
        free = sum(int(row[2]) for row in table.rows)
        assert free == pool.gpus - sum(load.gpus for host in pool.placement for load in host)


def test_availability_lists_each_kind_of_failure(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    chapter = of(chapters, "availability")
    losses = grid(chapter, "What the loss of a host does")
    assert sum(map(int, column(losses, "Identical hosts"))) == example.totals.hosts
    assert max(map(int, column(losses, "VMs without a GPU"))) == example.totals.unplaced_vms_after_failure
    postures = grid(chapter, "Hosts, capacity shortfall and exposure a year")
    assert column(postures, "Hosts") == [number(p.hosts) for p in example.postures]
    assert sum("(chosen)" in row[0] for row in postures.rows) == 1


def test_network_has_every_use_and_setting(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    chapter, fabric = of(chapters, "network"), example.cabling
    assert fabric is not None
    told = [
        row[0]
        for b in all_blocks(chapter)
        if isinstance(b, Grid) and b.caption.startswith("Speed kept")
        for row in b.rows
    ]
    assert {t.name for t in example.network.asked} <= set(told)
    assert len(grid(chapter, "Settings").rows) == len(fabric.settings)
    parts = grid(of(chapters, "physical"), "When a part fails").rows
    assert [row[0] for row in parts] == [f.part for f in fabric.failures]


def test_cost_by_year_adds_up(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    costs = example.costs
    assert costs is not None
    table = grid(of(chapters, "cost"), "Cost by year")
    count = len(costs.parts)
    assert table.totals == (count,)
    assert [row[0] for row in table.rows[: count + 1]] == [*(p.name for p in costs.parts), "All parts"]
    scale = 1_000_000 if "millions" in table.caption else 1_000 if "thousands" in table.caption else 1
    shown = [
        [float(cell.replace("\u202f", "").replace("\u2013", "0")) for cell in row[1:]]
        for row in table.rows[: count + 1]
    ]
    assert shown[-1] == [round(value / scale) for value in (*costs.cash, costs.total)]
    for at in range(len(shown[0])):
        assert sum(row[at] for row in shown[:-1]) == pytest.approx(shown[-1][at], abs=count / 2)
    assert table.rows[count + 1][2:-1] == tuple(number(hosts) for hosts in costs.hosts)


@pytest.mark.by_day("seconds", 3)
def test_large_money_is_shown_in_thousands(catalog: Catalog, summaries: dict[str, Executive]) -> None:
    group = {"id": "a", "name": "A", "people": 9000, "gpus_each": 1, "use_case": "ds-workstation"}
    plan = make_plan(from_dict({"groups": [group]}), catalog)
    table = grid(of(made(plan, summaries).chapters, "cost"), "Cost by year")
    assert "thousands of USD" in table.caption
    assert max(len(cell) for row in table.rows[: table.totals[0] + 1] for cell in row[1:]) <= 9


def test_bill_order_and_prices_are_all_there(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    costs, line = example.costs, example.host_line
    assert costs is not None and line is not None
    chapter = of(chapters, "cost")
    assert column(grid(chapter, "Bill of materials"), "Item") == [m.name for m in costs.materials]
    order = grid(chapter, said("order.title"))
    assert [row[:2] for row in order.rows] == [(part.name, part.size) for part in line.parts]
    prices = grid(chapter, "Prices")
    assert column(prices, "What") == [*(p.name for p in costs.prices), *(u.name for u in costs.unknown)]
    as_of = [p.as_of + " (old)" * p.old for p in costs.prices]
    assert column(prices, "As of")[: len(costs.prices)] == as_of


def test_growth_follows_the_cost(catalog: Catalog, summaries: dict[str, Executive]) -> None:
    group = {
        "id": "a",
        "name": "A",
        "people": 12,
        "gpus_each": 1,
        "use_case": "ds-workstation",
        "growth": 0.5,
    }
    plan = make_plan(from_dict({"groups": [group]}), catalog)
    assert plan.costs is not None
    rows = grid(of(made(plan, summaries).chapters, "demand"), "Growth").rows
    assert [row[1] for row in rows] == [number(n) for n in plan.costs.hosts]
    assert sum(int(row[3]) for row in rows) == plan.costs.hosts[-1]
    found, cost = purchase_ways(plan), of(made(plan, summaries).chapters, "cost")
    ways, orders = (grid(cost, said(f"table.{name}")).rows for name in ("purchases", "purchase_steps"))
    assert len(ways) == len(found.ways) + 1
    assert sum(int(row[4]) for row in orders) == sum(step.hosts for way in found.ways for step in way.steps)


def test_every_decision_in_order(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    (cards,) = (b for b in of(chapters, "decisions").blocks if isinstance(b, Decisions))
    found = cards.items
    assert [(b.number, b.title, b.decision, b.justification) for b in found] == [
        (d.number, d.title, d.decision, d.justification) for d in example.decisions
    ]
    for block, decision in zip(found, example.decisions, strict=True):
        assert block.implication.startswith(decision.implication) and block.implication.endswith("]")


def test_every_cited_number_is_a_source_by_title_and_producer(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    listed = next(b for b in all_blocks(of(chapters, "sources")) if isinstance(b, References)).items
    assert [number for number, _ in listed] == [str(n) for n in range(1, len(listed) + 1)]
    known = {source.title: source for source in example.catalog.sources.values()}
    for _, text in listed:
        title = max((t for t in known if text.startswith(t)), key=len)
        assert known[title].producer in text
    cited = {
        int(n)
        for group in re.findall(r"\[(\d+(?:[-, ]+\d+)*)\]", repr(chapters[:-1]))
        for n in re.findall(r"\d+", group)
    }
    assert cited and max(cited) <= len(listed)


def test_nobody_can_reach_a_gpu(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    scenario = scenario.with_groups(scenario.groups[:1]).with_value("groups.researchers.access", "mig")
    plan = make_plan(scenario.with_value("demand.stated_gpus", None), catalog)
    assert not plan.pools
    document = made(plan)
    (lead,) = document.front
    assert isinstance(lead, Paragraph)
    assert lead.text.startswith(said("executive.nothing"))
    assert {chapter.title for chapter in document.chapters} == {
        said(f"{name}.title") for name in CHAPTERS if name not in ("build", "nsx", "security", "checklist")
    }


def test_work_that_comes_as_jobs_has_a_document(catalog: Catalog) -> None:
    """Its peakedness is worked out from an assumption and is no fact of the catalog, so it has no range there."""
    plan = make_plan(from_dict({"groups": [{"id": "a", "jobs_per_day": 40}]}), catalog)
    assert "eakedness" in repr(of(made(plan).chapters, "requirements"))


def test_power_on_stands_with_the_services_and_its_settings(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    services = of(chapters, "services")
    found = [section for section in services.sections if section.title == said("services.power-on")]
    assert bool(found) == bool(example.power_on)
    for section in found:
        told = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
        tables = [block for block in section.blocks if isinstance(block, Grid)]
        assert all(made.sentence in told for made in example.power_on.values())
        assert bool(tables) == bool(power_on(example).rows)


def test_upgrades_are_told_host_by_host_or_said_to_be_too_large(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans["current"]
    told = repr(chapter_of("operations.title", Draft(plan)))
    assert has_approved(told, "9 VMs") and "largest first" in told
    monkeypatch.setattr(rehearsal, "LOOKS", 100)
    left = repr(chapter_of("operations.title", Draft(plan)))
    assert f"vGPU cluster: {TOO_LARGE}" in left and "largest first" not in left


def test_no_sentence_is_said_twice_in_a_chapter(chapters: tuple[Chapter, ...]) -> None:
    """What holds for several workloads or clusters is said once with their names; tables may repeat a cell."""
    for chapter in chapters:
        uncited = [re.sub(r" \[[^\]]*\]", "", text) for text in (paragraphs(chapter), *bullets(chapter))]
        sentences = Counter(
            each.strip() for text in uncited for each in re.split(r"(?<=\.) ", text) if len(each) > 40
        )
        twice = {each for each, times in sentences.items() if times > 1}
        assert {each for each in twice if not re.search(r"Raise the limit", each)} == set(), chapter.title
