"""The slides of a plan: one message each, in its title."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.alternatives import alternatives as compared
from gpuplan.analysis.compare import Comparison
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.cash_flow import CostPart
from gpuplan.plan.checks.message import Message
from gpuplan.plan.cost import Costs
from gpuplan.plan.link_verdicts import link_verdicts
from gpuplan.report.document import clean
from gpuplan.report.document.summary import demand_words, key_figures
from gpuplan.report.document.writing import cost_span, hosts_lost, total_words, waits, what_to_do
from gpuplan.report.docx_file import QUIET
from gpuplan.report.headlines import HEADLINES, to_confirm
from gpuplan.report.pptx.deck import COLOURS, INCH, SIZES, Deck, box_of, chart_data, rgb
from gpuplan.report.tables.alternatives import alternatives
from gpuplan.report.tables.availability import postures
from gpuplan.report.tables.cost import headlines
from gpuplan.report.tables.network import fabric_words, speed_kept
from gpuplan.report.tables.plan import clusters_alike, equipment, groups
from gpuplan.report.tables.plan import decisions as decided
from gpuplan.report.tables.sensitivity import compared as designs_beside
from gpuplan.wording import (
    amount,
    capital,
    counted,
    headline_money,
    in_words,
    number,
    verb,
    whole,
)

SERIES = 7
"""Parts of the cost that are told apart by colour; the smallest are put together."""


def _are(count: int, word: str, many: str = "are") -> str:
    """A count of things with its verb: ``eight hosts carry``."""
    return f"{in_words(count)} {word}{'' if count == 1 else 's'} {verb(count, many)}"


# The slides


def _kinds(layout: Any) -> set[int]:
    """Numbers of the kinds of places that a layout has."""
    return {int(place.placeholder_format.type or 0) for place in layout.placeholders}


def title_slide(deck: Deck) -> None:
    """The first slide: design, customer and date."""
    plan, show = deck.plan, deck.show
    layout = next((each for each in show.slide_layouts if {3, 4} <= _kinds(each)), None)
    made = f"gpuplan, catalog {plan.catalog.digest}"
    below = "  ·  ".join(part for part in (plan.scenario.customer, written_day(deck.as_of), made) if part)
    slide = show.slides.add_slide(layout or deck.layout)
    title = slide.shapes.title
    deck.fill(title, plan.scenario.name, box_of(title), (40, 32, 28, 24, 20), bold=True)
    if layout is None:
        deck.text(slide, below, deck.box, (20, *SIZES))
    else:
        subtitle = next(p for p in slide.placeholders if int(p.placeholder_format.type) == 4)
        deck.fill(subtitle, below, box_of(subtitle), (20, *SIZES))
    notes = f"Design of a cluster that shares GPUs, made with {made}."
    slide.notes_slide.notes_text_frame.text = clean(notes + "\nSources:\nThe scenario and the catalog.")


def demand_slide(deck: Deck) -> None:
    """What each group demands, the largest first."""
    plan = deck.plan
    demanded = amount(whole(plan.totals.gpus_demanded), "GPU")
    if not plan.groups:
        title = f"The customer states {demanded}" if plan.pools else "No workloads yet"
        slide = deck.slide(title, ("demand.gpus",))
        deck.text(slide, total_words(plan), deck.box)
        return
    needed = amount(whole(plan.lines["demand.groups_gpus"].value), "GPU")
    title = f"{_are(len(plan.groups), 'group', 'ask')} for {needed} at the planned peak"
    if needed != demanded:
        title += f"; the stated total provides {demanded}"
    slide = deck.slide(title, ("demand.gpus",))
    wanted = groups(plan).only("group", "access", "vms", "gpus_each", "gpus")
    ranked = replace(wanted, rows=tuple(sorted(wanted.rows, key=lambda row: -row[4])))
    deck.table(slide, ranked, deck.box, widths=(4, 3, 1.4, 1.6, 1.4), about="Demand of each group")


def design_slide(deck: Deck) -> None:
    """The answer in key figures."""
    plan, totals = deck.plan, deck.plan.totals
    carry = _are(totals.hosts, "host", "carry")
    title = f"{carry} {demand_words(plan)}. {plan.placed.sentence}"
    slide = deck.slide(
        title.rstrip("."), ("totals.hosts", "totals.gpus", "totals.unplaced_vms_after_failure")
    )
    above, below = deck.box.split(deck.box.height - int(0.75 * INCH))
    deck.tiles(slide, [each for each in key_figures(plan) if each[0] != "GPUs after a failure"], above)
    clusters = "; ".join(f"{pool.name}: {equipment(plan, pool)}" for pool in clusters_alike(plan))
    deck.text(slide, clusters, below, (16, 14, 12))


def _lost(plan: Plan) -> str:
    """The loss that figures after a failure stand for."""
    return amount(hosts_lost(plan), "host") + " lost"


def hosts_slide(deck: Deck) -> None:
    """The hosts, drawn, with the groups on their GPUs."""
    from gpuplan.report.diagrams import hosts_svg

    plan = deck.plan
    used = sum(pool.gpus_occupied for pool in plan.pools)
    spare = plan.totals.hosts_for_failures
    title = f"{number(used)} of {amount(plan.totals.gpus, 'GPU')} {verb(used, 'are')} taken at the peak"
    title += f"; {_are(spare, 'host')} spare" if spare else ""
    slide = deck.slide(
        title,
        ("totals.gpus", *(f"pools.{pool.id}.hosts" for pool in plan.pools)),
        why="\n".join(dict.fromkeys(made.sentence for made in plan.power_on.values())),
    )
    deck.picture(
        slide, hosts_svg(plan, most_clusters=2), f"Hosts and the VMs on their GPUs: {title}", deck.box
    )


def failure_slide(deck: Deck) -> None:
    """What is left when hosts fail, and the hours at risk."""
    plan, totals, gone = deck.plan, deck.plan.totals, hosts_lost(deck.plan)
    missing = totals.unplaced_vms
    if lost := totals.unplaced_vms_after_failure - missing:
        more = "more VM" if missing else "VM"
        title = f"When the worst host fails, {counted(lost, more)} {verb(lost, 'have')} no GPU"
    else:
        fails = "a host fails" if gone == 1 else f"{in_words(gone)} hosts fail"
        title = f"When {fails}, {amount(totals.gpus_after_failure, 'GPU')} {verb(totals.gpus_after_failure, 'are')} left"
        every = "every placed VM" if missing else "every VM"
        title += f" and {every} restarts" if plan.placed.survived >= gone else ""
    if missing:
        title += f"; {counted(missing, 'planned VM')} {verb(missing, 'have')} none either way"
    chosen = next((p for p in plan.postures if p.chosen), None)
    slide = deck.slide(title, ("totals.gpus_after_failure", "totals.unplaced_vms_after_failure"))
    if chosen is None:
        deck.text(slide, "The hours at risk are not worked out for this design.", deck.box)
        return
    tall = deck.table(
        slide,
        postures(plan).shown(),
        deck.box.split(int(deck.box.height * 0.65))[0],
        widths=(2.4, 1.1, 1.1, 2.2, 2.5, 1.6),
        about="Hosts and hours at risk for each number of failures tolerated",
    )
    deck.text(
        slide,
        "Capacity shortfall: expected hours a year with fewer hosts up than the planned peak needs. Exposure: hours of maintenance "
        "without failover capacity; the probability of an outage in them stands beside it.",
        deck.box.split(tall, 0.2 * INCH)[1],
        (16, 14, 12),
        colour=QUIET,
    )


def waiting_slide(deck: Deck) -> None:
    """How likely requests beyond the plan queue, with all hosts and after a failure."""
    from gpuplan.report.charts import waiting_svg

    waiting = waits(deck.plan)
    if waiting is None:
        return
    now, after = waiting
    title = "Requests beyond the plan queue: how likely, in the busiest hours"
    slide = deck.slide(title, ("totals.waiting", "totals.waiting_after_failure"))
    svg = waiting_svg(deck.plan)
    band = int(1.7 * INCH) if svg else min(deck.box.height, int(2.3 * INCH))
    tiles = [
        ("All hosts up", now, "probability of waiting"),
        (capital(_lost(deck.plan)), after, "probability of waiting"),
    ]
    above, below = deck.box.split(band, 0.15 * INCH)
    deck.tiles(slide, tiles, above, columns=2)
    if svg:
        deck.picture(slide, svg, "Probability of waiting against the number of GPUs", below)


def network_slide(deck: Deck) -> None:
    """What the network leaves of the speed, and the fabric."""
    plan = deck.plan
    table = speed_kept(plan).keyless()
    cited = [source for each in link_verdicts(plan) if each.use for source in each.use.sources]
    title = HEADLINES["network"](plan).sentence.rstrip(".")
    slide = deck.slide(title, ("network.ports.shared", "network.fabric.leaves"), cited)
    below = deck.box
    if table.rows:
        upper, _ = below.split(int(0.68 * below.height))
        tall = deck.table(slide, table, upper, widths=(3, 4.2, 2.8, 1.6), about=table.title)
        below = below.split(tall, 0.2 * INCH)[1]
    fabric = plan.cabling
    points = ["Switches are not planned."]
    if fabric is not None:
        lost = [f"{each.part} fails: {each.left}." for each in fabric.failures if each.part == "A leaf"]
        points = [f"{capital(fabric_words(fabric))}.", *lost]
    deck.points(slide, points, below)


def cost_series(costs: Costs) -> tuple[CostPart, ...]:
    """Parts of the cost as a chart shows them: the largest, and the others put together; they sum to what is paid."""
    ranked = sorted(costs.parts, key=lambda part: -sum(abs(value) for value in part.yearly))
    if len(ranked) <= SERIES + 1:
        return tuple(costs.parts)
    shown = {part.name for part in ranked[:SERIES]}
    others = [part for part in costs.parts if part.name not in shown]
    rest = tuple(sum(values) for values in zip(*(part.yearly for part in others), strict=True))
    return (*(part for part in costs.parts if part.name in shown), CostPart("Other parts", rest, ""))


def _fill(series: Any, colour: str) -> None:
    series.format.fill.solid()
    series.format.fill.fore_color.rgb = rgb(colour)
    series.invert_if_negative = False


def cost_by_year_slide(deck: Deck, costs: Costs) -> None:
    """Cost by year and part, as a chart."""
    from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION

    slide = deck.slide(
        f"The design costs {headlines(deck.plan)['net_present']} net present {cost_span(costs).partition(';')[0]}",
        ("cost.net_present", "cost.years.0"),
    )
    years = ["Start", *(f"Year {year}" for year in range(1, costs.years + 1))]
    data = chart_data(years, {part.name: part.yearly for part in cost_series(costs)})
    box = deck.above_excludes(costs.excludes)
    about, most = "Cost of each part in each year", max(map(abs, costs.cash))
    chart, _ = deck.chart(slide, XL_CHART_TYPE.COLUMN_STACKED, data, box, (costs.currency, most), about)
    chart.has_legend = True
    chart.legend.position = XL_LEGEND_POSITION.RIGHT
    chart.legend.include_in_layout = False
    for series, colour in zip(chart.plots[0].series, COLOURS, strict=False):
        _fill(series, colour)
        series.format.line.color.rgb = rgb("FFFFFF")
    chart.plots[0].gap_width = 60
    deck.excludes(slide, costs.excludes)


def cost_by_part_slide(deck: Deck, costs: Costs) -> None:
    """The parts of the cost, as a chart."""
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Pt

    parts = sorted(costs.parts, key=lambda part: part.total)
    if not parts:
        return
    largest = parts[-1]
    slide = deck.slide(
        f"{largest.name}: the largest part, {headline_money(largest.total, costs.currency)} of "
        f"{headline_money(costs.total, costs.currency)} paid over {counted(costs.years, 'year')}",
        ("cost.total", f"cost.parts.{largest.name.lower().replace(' ', '-')}"),
    )
    totals = {f"Paid over {counted(costs.years, 'year')}": [part.total for part in parts]}
    data = chart_data([part.name for part in parts], totals)
    most = max(abs(part.total) for part in parts)
    about = "Cost of each part over all years"
    kind = XL_CHART_TYPE.BAR_CLUSTERED
    chart, pattern = deck.chart(slide, kind, data, deck.box, (costs.currency, most), about)
    plot = chart.plots[0]
    plot.gap_width = 50
    plot.has_data_labels = True
    plot.data_labels.number_format, plot.data_labels.number_format_is_linked = pattern, False
    plot.data_labels.font.size = Pt(12)
    _fill(plot.series[0], COLOURS[0])


def alternatives_slide(deck: Deck) -> None:
    """The plan beside its alternatives, priced alike."""
    plan, costs = deck.plan, deck.plan.costs
    found = compared(plan)
    if costs is None or len(found) < 2:
        return
    apart = {each.key: each.difference for each in found}
    said = []
    if "silos" in apart:
        said.append(_apart("silos cost", apart["silos"], costs.currency))
    rents = [more for key, more in apart.items() if key.startswith("rent-")]
    if rents:
        said.append(_apart("renting costs", min(rents), costs.currency))
    if not said:
        other = next(each for each in found if not each.chosen)
        said.append(_apart(f"{other.name} costs", other.difference, costs.currency))
    slide = deck.slide(
        capital("; ".join(said)),
        why="Every line has the same demand, prices and years, and the hosts bought for the growth unless it says otherwise.\n"
        + "\n".join(f"{each.name} gives up {each.gives_up}." for each in found if each.gives_up),
    )
    table = alternatives(plan).only("name", "hosts", "gpus", "net_present", "difference")
    deck.table(
        slide, table, deck.box, widths=(4.4, 2.4, 2.2, 2.4, 2.2), about="This design and its alternatives"
    )


LEADING = (
    "totals.hosts",
    "totals.gpus",
    "totals.gpus_after_failure",
    "short_h",
    "kept",
    "power.typical",
    "cost.net_present",
    "cost.gpu_hour_used",
)
"""Results that a slide compares designs by."""


def compared_slide(deck: Deck, found: Comparison) -> None:
    """This design beside those it was compared with; what differs is in the notes."""
    said = [each.sentence for each in found.differences]
    money = next((each.sentence for each in found.differences if each.key == "cost.net_present"), "")
    title = (money or next(iter(said), "The designs have the same results")).removesuffix(".")
    slide = deck.slide(title, why="\n".join((*found.notes, *said)))
    rows = tuple(row for row in found.rows if row.key in LEADING)
    table = designs_beside(replace(found, rows=rows), deck.plan.catalog).without("differs")
    widths = (3.6, *(10 / len(found.names) for _ in found.names))
    deck.table(slide, replace(table, notes=()), deck.box, widths=widths, about="This design and others")


def _apart(what: str, more: float, currency: str) -> str:
    if abs(more) < 0.5:
        return f"{what} as much as this design"
    return f"{what} {headline_money(abs(more), currency)} {'more' if more > 0 else 'less'} than this design"


def decisions_slide(deck: Deck) -> None:
    """The design decisions, on one slide or two."""
    decisions = deck.plan.decisions
    if not decisions:
        return
    table = decided(deck.plan).only("number", "title", "decision")
    slides = 1 if len(decisions) <= 5 else 2
    each = -(-len(decisions) // slides)
    for at in range(slides):
        part = decisions[at * each : (at + 1) * each]
        title = f"{_are(len(decisions), 'decision', 'shape')} the design"
        slide = deck.slide(
            title + (f" ({at + 1} of {slides})" if slides > 1 else ""),
            sources=[s for d in part for s in d.sources],
            why="\n".join(f"({d.number}) {d.justification} {d.implication}" for d in part),
        )
        deck.table(
            slide,
            replace(table, rows=table.rows[at * each : (at + 1) * each]),
            deck.box,
            widths=(0.8, 2.6, 8.6),
            lines=5,
            about="Design decisions",
        )


def open_points_slide(deck: Deck, messages: Sequence[Message]) -> None:
    """What is assumed, and what is open."""
    weighty = [m for m in messages if m.level in ("stop", "warn")]
    assumed = [m for m in messages if m.code.endswith("-assumed")]
    title = to_confirm(deck.plan, messages)
    slide = deck.slide(
        title,
        sources=[s for m in messages for s in m.sources],
        why="\n".join(m.text for m in messages if not m.change),
    )
    items = [m.text for m in (*weighty, *assumed)]
    if deck.plan.costs is not None and deck.plan.costs.excludes:
        items.append(f"The cost excludes: {'; '.join(deck.plan.costs.excludes)}.")
    deck.points(slide, items or ["Every input is stated."], deck.box)


def next_steps_slide(deck: Deck, messages: Sequence[Message]) -> None:
    """What to ask and to do next."""
    asked: dict[str, list[str]] = {}
    for message in messages:
        if change := what_to_do(message):
            asked.setdefault(change, []).append(message.text.rstrip("."))
    more = {
        change: f"; and {len(texts) - 1} more like it" * (len(texts) > 1) for change, texts in asked.items()
    }
    changes = [f"{change} ({texts[0]}{more[change]})" for change, texts in asked.items()]
    title = "Next steps" if changes else "The next step is a quote"
    slide = deck.slide(
        title,
        sources=[s for m in messages for s in m.sources],
        why="\n".join(f"{m.text} {what_to_do(m)}".strip() for m in messages if m.change),
    )
    deck.points(slide, changes or ["Ask for quotes, and confirm the design."], deck.box)
