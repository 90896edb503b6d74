"""What the design document says: the plan's own numbers, every message, decision and source."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan import checks, rehearsal
from gpuplan.plan.checks import check_plan
from gpuplan.report import amount, number
from gpuplan.report.document import (
    Block,
    Bullets,
    Chapter,
    DecisionBlock,
    Document,
    Grid,
    KeyFigures,
    Paragraph,
    design_document,
)
from gpuplan.report.document.availability import availability_chapter
from gpuplan.report.document.writing import CHANGES, Citations, hosts_lost, what_to_do
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.report.tables.power_on import power_on
from gpuplan.report.tables.rehearsal import TOO_LARGE
from gpuplan.scenario import from_dict
from gpuplan.wording import MODE_NAMES, headline_money, hours, watts


def all_blocks(chapter: Chapter) -> list[Block]:
    return [*chapter.blocks, *(block for section in chapter.sections for block in section.blocks)]


def grid(chapter: Chapter, caption: str) -> Grid:
    return next(b for b in all_blocks(chapter) if isinstance(b, Grid) and b.caption.startswith(caption))


def column(found: Grid, head: str) -> list[str]:
    """The cells under a head."""
    at = found.heads.index(head)
    return [row[at] for row in found.rows]


def bullets(chapter: Chapter) -> list[str]:
    return [item for b in all_blocks(chapter) if isinstance(b, Bullets) for item in b.items]


@pytest.fixture(scope="module")
def documents(plans: dict[str, Plan]) -> dict[str, Document]:
    return {plan.scenario.name: design_document(plan) for plan in plans.values()}


@pytest.fixture
def chapters(example: Plan, documents: dict[str, Document]) -> tuple[Chapter, ...]:
    """Chapters of the document of one example after the other."""
    return documents[example.scenario.name].chapters


def test_citations_are_numbered_once_and_shortened(catalog: Catalog) -> None:
    cite = Citations(catalog)
    ids = list(catalog.sources)[:6]
    assert cite(["scenario"]) == ""
    assert cite(ids[:1]) == " [1]"
    assert cite([ids[1], ids[0]]) == " [1, 2]"
    assert cite(ids[2:4]) == " [3, 4]"
    assert cite([*ids[:3], ids[4]]) == " [1-3, 5]"
    assert cite.titles([ids[1], "scenario", ids[1]]) == (f"[2] {catalog.sources[ids[1]].title}",)


def test_summary_has_the_answer(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    summary = chapters[0]
    lead = summary.blocks[0]
    assert isinstance(lead, Paragraph)
    totals, power, costs = example.totals, example.power, example.costs
    assert power is not None
    assert costs is not None
    assert lead.tone == "lead"
    assert amount(totals.hosts, "host") in lead.text
    assert amount(totals.gpus_demanded, "GPU") in lead.text
    figures = next(b for b in summary.blocks if isinstance(b, KeyFigures))
    shown = {label: (value, note) for label, value, note in figures.items}
    assert shown["Hosts"][0] == count_over_years(costs.hosts)
    assert shown["GPUs"][0] == number(totals.gpus)
    assert shown["GPUs after a failure"][0] == number(totals.gpus_after_failure)
    assert shown["Placement"] == (example.placed.short, example.placed.note)
    assert not any("ait" in label for label in shown)  # that is said where demand is discussed
    assert shown["Power"][0] == watts(power.typical_w)
    assert example.cost_ranges is not None
    span = headline_money(costs.net_present, costs.currency, example.cost_ranges.net_present)
    assert shown["Net present cost"][0] == span and " M (" in span
    assert headline_money(costs.cash[0], costs.currency) in shown["Net present cost"][1]
    text = " ".join(b.text for b in summary.blocks if isinstance(b, Paragraph))
    assert all(name in text for name in costs.excludes)


def test_summary_names_what_is_to_settle(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    serious = [m for m in check_plan(example) if m.level != "note"]
    items = bullets(chapters[0])
    assert items == [f"{m.text} {what_to_do(m)}".rstrip() for m in serious]


def test_enterprise_in_words(plans: dict[str, Plan]) -> None:
    lead = design_document(plans["enterprise"]).chapters[0].blocks[0]
    assert isinstance(lead, Paragraph)
    assert lead.text == (
        "8 hosts with 32 GPUs (Tesla V100 PCIe 32GB) carry a demand of 28 GPUs. All 41 planned VMs are "
        "placed, also after any host failure."
    )


def test_frame_is_numbered_and_complete(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    frame = chapters[1]
    for letter, caption in (("R", "Requirements"), ("A", "Assumptions"), ("K", "Risks")):
        rows = grid(frame, caption).rows
        assert [row[0] for row in rows] == [f"{letter}{n}" for n in range(1, len(rows) + 1)]
    requirements = " ".join(row[1] for row in grid(frame, "Requirements").rows)
    assert all(f"{g.name}: {amount(g.vms, 'VM')}" in requirements for g in example.groups)
    risks = grid(frame, "Risks").rows
    for row, message in zip(risks, check_plan(example), strict=True):
        assert row[2].startswith(message.text)
        assert row[3] == what_to_do(message)


def test_what_is_stated_is_a_constraint_and_what_is_assumed_is_not(catalog: Catalog) -> None:
    def both(scenario_plan: Plan) -> tuple[str, str]:
        frame = design_document(scenario_plan).chapters[1]
        return tuple(
            " ".join(" ".join(row) for row in grid(frame, caption).rows)
            for caption in ("Constraints", "Assumptions")
        )  # type: ignore[return-value]

    scenario = load_scenario("enterprise")
    constraints, assumptions = both(make_plan(scenario, catalog))
    assert constraints.startswith("C1 ")
    assert "GPUs per host: 4 GPUs." in constraints
    assert "Time between failures: 16\u202f000 h" in assumptions
    assert "6300 to 48\u202f000" in assumptions
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
    texts = [b.text for b in all_blocks(chapters[1]) if isinstance(b, Paragraph)]
    assert any(text.startswith(message.text.split(" inputs")[0] + " inputs of") for text in texts)


def test_the_customer_is_not_told_to_use_the_workbook(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    codes = "".join(p.read_text(encoding="utf-8") for p in Path(checks.__file__).parent.glob("*.py"))
    assert all(f'"{code}"' in codes for code in CHANGES)
    advice = " ".join(what_to_do(m) for m in check_plan(example))
    for words in ("tick ", "enter it", "the customer", "counts as", "State ", "switch it off"):
        assert words not in advice
    assert "bitfusion" not in " ".join(" ".join(row) for row in grid(chapters[4], "What stands on").rows)


def test_assumptions_read_well_and_lie_in_their_ranges(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    rows = grid(chapters[1], "Assumptions").rows
    assert not any(re.search(r", (waits|hidden|effect|sent|received|intra host):", row[1]) for row in rows)
    for _, what, span, _ in rows:
        if span and (found := re.search(r"([\d\u202f.]+)(?: [A-Za-z/]+)?$", what)):
            low, value, high = (
                float(n.replace("\u202f", ""))
                for n in (span.split(" to ")[0], found[1], span.split(" to ")[1])
            )
            assert low <= value <= high
    known = grid(chapters[9], "Inputs of this design").rows
    message = next(m for m in check_plan(example) if m.code == "inputs-assumed")
    assert known[-1][0] == "Assumed"
    assert message.text.startswith(f"{known[-1][2]} inputs")


def test_what_is_chosen_is_named_where_nothing_is_a_constraint(plans: dict[str, Plan]) -> None:
    frame = design_document(plans["current"]).chapters[1]
    section = next(s for s in frame.sections if s.title == "Constraints")
    (block,) = section.blocks
    assert isinstance(block, Paragraph)
    assert "PowerEdge R760xa" in block.text
    assert "vSphere 8.0 Update 3" in block.text


def test_figures_after_a_failure_name_how_many_hosts_fail(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise").with_value("availability.host_failures", 2), catalog)
    assert hosts_lost(plan) == 2
    summary, _, _, demand, *_ = design_document(plan).chapters
    figures = next(b for b in summary.blocks if isinstance(b, KeyFigures))
    shown = {label: note for label, _, note in figures.items}
    assert shown["GPUs after a failure"] == "with 2 hosts lost"
    said = " ".join(b.text for b in all_blocks(demand) if isinstance(b, Paragraph))
    assert "with 2 hosts lost" in said


def test_prices_in_another_currency_have_whole_ranges(catalog: Catalog) -> None:
    scenario = (
        load_scenario("enterprise").with_value("cost.usd_rate", 0.92).with_value("cost.currency", "EUR")
    )
    frame, sources = (design_document(make_plan(scenario, catalog)).chapters[n] for n in (1, 9))
    price = next(row for row in grid(frame, "Assumptions").rows if "Price of PowerEdge C4140" in row[1])
    assert price[1].endswith("EUR 18\u202f018")
    assert price[2] == "10\u202f120 to 35\u202f908"
    shown = {row[0]: row[1] for row in grid(sources, "The main results").rows}
    assert shown["Typical power"].endswith(" kW")


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
    chapters = design_document(plan).chapters
    lead = chapters[5].blocks[0]
    assert isinstance(lead, Paragraph)
    chosen = next(p for p in plan.postures if p.chosen)
    assert hours(chosen.short_h) in lead.text
    assert plan.cabling is not None
    assert plan.cabling.switches is not None
    fabrics = f"in {plan.cabling.switches.fabrics} fabrics"
    assert fabrics in repr(chapters[6]) and "spine_ports" not in repr(chapters[6])


def test_a_cost_with_growth_says_so(plans: dict[str, Plan]) -> None:
    for name, grows in (("current", True), ("starter", False)):
        plan = plans[name]
        assert plan.costs is not None
        document = design_document(plan)
        figures = next(b for b in document.chapters[0].blocks if isinstance(b, KeyFigures))
        note = next(note for label, _, note in figures.items if label == "Net present cost")
        growth = f"with growth to {amount(plan.costs.hosts[-1], 'host')}"
        assert (growth in note) == grows
        lead = document.chapters[7].blocks[0]
        assert isinstance(lead, Paragraph)
        assert ("includes growth" in lead.text) == grows


def test_access_has_every_mode_and_its_reasons(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    access = chapters[2]
    assert [s.title for s in access.sections] == [g.name for g in example.groups]
    table = grid(access, "Workload groups")
    assert column(table, "Group") == [g.name for g in example.groups]
    assert column(table, "VMs") == [number(g.vms) for g in example.groups]
    assert column(table, "Access") == [MODE_NAMES[g.mode] for g in example.groups]
    for group, section in zip(example.groups, access.sections, strict=True):
        first = section.blocks[0]
        assert isinstance(first, Paragraph)
        assert all(reason.text in first.text for reason in group.reasons)
        out = [b for b in section.blocks if isinstance(b, Grid)]
        listed = [row[0] for b in out for row in b.rows]
        assert listed == [MODE_NAMES[r.mode] for r in group.ruled_out]


def test_hosts_table_holds_every_gpu(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    for pool in example.pools:
        table = grid(chapters[4], "What stands on each host")
        assert len(table.rows) == pool.hosts
        free = sum(int(row[2]) for row in table.rows)
        assert free == pool.gpus - sum(load.gpus for host in pool.placement for load in host)


def test_availability_lists_each_kind_of_failure(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    chapter = chapters[5]
    losses = grid(chapter, "What the loss of a host does")
    assert sum(map(int, column(losses, "Hosts filled alike"))) == example.totals.hosts
    assert max(map(int, column(losses, "VMs without a GPU"))) == example.totals.unplaced_vms_after_failure
    postures = grid(chapter, "Hosts, capacity shortfall and exposure a year")
    assert column(postures, "Hosts") == [number(p.hosts) for p in example.postures]
    assert sum("(chosen)" in row[0] for row in postures.rows) == 1


def test_network_has_every_use_and_setting(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    chapter = chapters[6]
    fabric = example.cabling
    assert fabric is not None
    told = [
        b for b in all_blocks(chapter) if isinstance(b, Grid) and b.caption == "Training on several hosts"
    ]
    assert [row[0] for block in told for row in block.rows] == [t.name for t in example.network.asked]
    assert len(grid(chapter, "To configure").rows) == len(fabric.settings)
    assert [row[0] for row in grid(chapter, "When a part fails").rows] == [f.part for f in fabric.failures]


def test_cost_by_year_adds_up(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    costs = example.costs
    assert costs is not None
    table = grid(chapters[7], "Cost by year")
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


def test_large_money_is_shown_in_thousands(catalog: Catalog) -> None:
    group = {"id": "a", "name": "A", "people": 9000, "gpus_each": 1, "use_case": "ds-workstation"}
    plan = make_plan(from_dict({"groups": [group]}), catalog)
    table = grid(design_document(plan).chapters[7], "Cost by year")
    assert "thousands of USD" in table.caption
    assert max(len(cell) for row in table.rows[: table.totals[0] + 1] for cell in row[1:]) <= 9


def test_bill_and_prices_are_all_there(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    costs = example.costs
    assert costs is not None
    chapter = chapters[7]
    assert column(grid(chapter, "Bill of materials"), "Item") == [m.name for m in costs.materials]
    prices = grid(chapter, "Prices")
    assert column(prices, "What") == [*(p.name for p in costs.prices), *(u.name for u in costs.unknown)]
    as_of = [p.as_of + " (old)" * p.old for p in costs.prices]
    assert column(prices, "As of")[: len(costs.prices)] == as_of


def test_growth_follows_the_cost(catalog: Catalog) -> None:
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
    rows = grid(design_document(plan).chapters[3], "Growth").rows
    assert [row[1] for row in rows] == [number(n) for n in plan.costs.hosts]
    assert sum(int(row[3]) for row in rows) == plan.costs.hosts[-1]


def test_every_decision_in_order(example: Plan, chapters: tuple[Chapter, ...]) -> None:
    found = [b for b in chapters[8].blocks if isinstance(b, DecisionBlock)]
    assert [(b.number, b.title, b.decision, b.justification, b.implication) for b in found] == [
        (d.number, d.title, d.decision, d.justification, d.implication) for d in example.decisions
    ]
    assert all(b.sources for b in found)


def test_every_cited_number_is_a_source_and_every_source_of_a_number_is_listed(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    rows = grid(chapters[9], "Sources").rows
    assert [row[0] for row in rows] == [str(n) for n in range(1, len(rows) + 1)]
    titles = Counter((row[1], row[2]) for row in rows)
    used = {s for line in example.asked_lines.values() for s in line.sources} & set(example.catalog.sources)
    for source in used:
        known = example.catalog.sources[source]
        assert titles[known.title, known.producer]
    cited = re.findall(r"\[(\d+(?:[-, ]+\d+)*)\]", repr(chapters[:9]))
    assert cited
    assert max(int(n) for group in cited for n in re.findall(r"\d+", group)) <= len(rows)


def test_nobody_can_reach_a_gpu(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    scenario = scenario.with_groups(scenario.groups[:1]).with_value("groups.researchers.access", "mig")
    plan = make_plan(scenario.with_value("demand.stated_gpus", None), catalog)
    assert not plan.pools
    lead = design_document(plan).chapters[0].blocks[0]
    assert isinstance(lead, Paragraph)
    assert lead.text == "No host is proposed: 3 VMs have no way to reach a GPU."


def test_work_that_comes_as_jobs_has_a_document(catalog: Catalog) -> None:
    """Its peakedness is worked out from an assumption and is no fact of the catalog, so it has no range there."""
    plan = make_plan(from_dict({"groups": [{"id": "a", "jobs_per_day": 40}]}), catalog)
    requirements = design_document(plan).chapters[1]
    assert any(
        "eakedness" in row[1]
        for block in all_blocks(requirements)
        if isinstance(block, Grid)
        for row in block.rows
    )


def test_power_on_stands_with_the_hosts_its_settings_and_its_decision(
    example: Plan, chapters: tuple[Chapter, ...]
) -> None:
    hosts = next(chapter for chapter in chapters if chapter.title == "Hosts and placement")
    found = [section for section in hosts.sections if section.title == "Power-on"]
    assert bool(found) == bool(example.power_on)
    for section in found:
        said = " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))
        tables = [block for block in section.blocks if isinstance(block, Grid)]
        assert all(made.sentence in said for made in example.power_on.values())
        assert bool(tables) == bool(power_on(example).rows)
        for key in (f"pools.{id}.power_on_chance" for id in example.power_on):
            for decision in (each for each in example.decisions if key in each.lines):
                assert f"Design decision {decision.number}: {decision.decision}" in said


def test_upgrades_are_told_host_by_host_or_said_to_be_too_large(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans["current"]
    told = repr(availability_chapter(plan, Citations(plan.catalog)))
    assert "Up to 2 VMs are down" in told and "largest first" in told
    monkeypatch.setattr(rehearsal, "LOOKS", 100)
    left = repr(availability_chapter(plan, Citations(plan.catalog)))
    assert f"vGPU cluster: {TOO_LARGE}" in left and "largest first" not in left
