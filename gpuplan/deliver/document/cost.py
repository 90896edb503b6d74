"""Chapter 8: cost by year, alternatives, the bill of materials, prices, power and space."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, drawn, tabled
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.report.figures import Figures
from gpuplan.report.table import fitted
from gpuplan.report.tables.alternatives import alternative_words, alternatives
from gpuplan.report.tables.build import order_lines
from gpuplan.report.tables.cost import (
    INTERNAL,
    bill_of_materials,
    cost_by_group,
    cost_by_part,
    cost_by_year,
    growth_words,
    headlines,
    margin,
    power_points,
    prices,
    ranges_words,
    use_words,
)
from gpuplan.report.tables.cost import power as power_table
from gpuplan.report.tables.models import token_costs
from gpuplan.wording import counted, money, said, stated_percent

BILL_WIDTHS = {
    "name": 0.2,
    "quantity": 0.1,
    "rule": 0.28,
    "unit_price": 0.13,
    "discount": 0.08,
    "cost": 0.13,
    "sources": 0.08,
}
"""Share of the width of each column of the bill; those that are shown fill the page."""


def cost_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 8: cost by year, alternatives, the bill of materials, prices, power and space."""
    title = said("cost.title")
    costs, power = plan.costs, plan.power
    if costs is None or power is None:
        return Chapter(title, (Paragraph(said("cost.without hosts there is")),))
    span = headlines(plan)
    lead = said(
        "cost.over the net present",
        years=counted(costs.years, "year"),
        rate=stated_percent(costs.discount_rate),
        **span,
    )
    if costs.hosts[-1] > costs.hosts[0]:
        lead += Figures(plan).said("cost.that includes growth from")
    gpu_hour = ""
    if costs.gpu_hour_installed is not None:
        gpu_hour = said("cost.a gpu hour costs", cost=span["gpu_hour_installed"])
    if costs.gpu_hour_used is not None:
        gpu_hour += said("cost.and used with gpus", cost=span["gpu_hour_used"], use=use_words(plan))
    priced = said("cost.prices before discounts in", currency=costs.currency, day=written_day(costs.as_of))
    points = tuple(f"{name}: {words}." for name, words in power_points(power))
    outside, growth = "; ".join(costs.outside), growth_words(costs)
    left_out = (Paragraph(said("cost.left out because a")), Bullets(costs.excludes[:MOST_ROWS]))
    return chapter(
        title,
        Paragraph(lead, "lead"),
        Paragraph(said("cost.hours discounted", text=gpu_hour)) if gpu_hour else None,
        left_out if costs.excludes else None,
        Paragraph(said("cost.not part of the", outside=outside), "note") if outside else None,
        Paragraph(growth, "note") if growth else None,
        section(said("cost.cost by year"), _years(plan, costs)),
        section(said("cost.alternatives"), _alternatives(plan)),
        section(said("cost.bill of materials"), _bill(plan, cite)),
        section(said("cost.prices"), Paragraph(priced), tabled(prices(plan).without("key"), cite)),
        section(said("cost.power and space"), tabled(power_table(power)), Bullets(points)),
    )


def _alternatives(plan: Plan) -> list[Block]:
    widths = (0.18, 0.08, 0.09, 0.12, 0.14, 0.12, 0.27)
    return [*tabled(alternatives(plan), widths=widths), Bullets(tuple(alternative_words(plan)))]


def _bill(plan: Plan, cite: Citations) -> list[Block]:
    table = bill_of_materials(plan)
    widths = [BILL_WIDTHS.get(column.key, 0.13) for column in table.shown().columns]
    order = tabled(order_lines(plan), widths=(0.22, 0.4, 0.22, 0.16))
    return [*order, *tabled(table, cite, widths=[width / sum(widths) for width in widths])]


def _years(plan: Plan, costs: Costs) -> list[Block]:
    from gpuplan.report import charts

    word, table = fitted(cost_by_year(plan))
    blocks = tabled(table, caption=said("cost.table cost by year in", unit=word, currency=costs.currency))
    blocks += drawn(
        charts.years_svg(plan),
        said("cost.years figure", currency=costs.currency),
        said(
            "cost.years figure alt",
            years=counted(costs.years, "year"),
            total=money(costs.total, costs.currency),
        ),
    )
    blocks += tabled(cost_by_part(plan), caption=said("cost.table cost by part"))
    if words := ranges_words(plan):
        blocks.append(Paragraph(words, "note"))
    blocks += tabled(cost_by_group(plan))
    blocks += tabled(token_costs(plan)) if plan.token_costs else []
    weak = [part.name for part in costs.parts if part.basis == "assumed" and part.total]
    if weak:
        blocks.append(Paragraph(said("cost.parts based on an", parts=", ".join(weak)), "note"))
    return blocks


def internal_chapters(plan: Plan) -> list[Chapter]:
    """Write the chapters missing from the customer's version; none where nothing is internal."""
    inputs = plan.scenario.internal
    table, caption = margin(plan), said("cost.what is paid and", currency=plan.scenario.cost.currency)
    text = said("cost.the margin is of", margin=stated_percent(inputs.margin or 0))
    written = chapter(
        INTERNAL,
        Paragraph(said("cost.this chapter is left"), "lead"),
        section(
            said("cost.notes"), (Paragraph(line) for line in (inputs.notes or "").split("\n") if line.strip())
        ),
        section(said("cost.margin"), Paragraph(text), tabled(table, caption=caption))
        if table is not None
        else None,
    )
    return [written] if written.sections else []
