"""Chapter 8: cost by year, alternatives, the bill of materials, prices, power and space."""

from __future__ import annotations

from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.power import PowerUse
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.report.document.writing import MOST_ROWS, Citations, drawn, tabled
from gpuplan.report.table import fitted
from gpuplan.report.tables.alternatives import alternative_words, alternatives
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
from gpuplan.wording import (
    amount,
    counted,
    money,
    number,
    stated_percent,
)

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
    title = "Cost, power and space"
    costs, power = plan.costs, plan.power
    if costs is None or power is None:
        return Chapter(title, (Paragraph("Without hosts nothing is bought."),))
    span = headlines(plan)
    lead = (
        f"Over {counted(costs.years, 'year')} the design costs {span['net_present']} net present, with later payments "
        f"discounted at {stated_percent(costs.discount_rate)} a year. In all it costs {span['total']}, "
        f"at the start {span['at_start']}."
    )
    if costs.hosts[-1] > costs.hosts[0]:
        lead += (
            f" That includes growth from {number(costs.hosts[0])} to {amount(costs.hosts[-1], 'host')}, which the demand chapter "
            "shows by year."
        )
    gpu_hour = ""
    if costs.gpu_hour_installed is not None:
        gpu_hour = f"A GPU-hour costs {span['gpu_hour_installed']} installed"
    if costs.gpu_hour_used is not None:
        gpu_hour += f" and {span['gpu_hour_used']} used, with GPUs used {use_words(plan)}"
    outside, growth = "; ".join(costs.outside), growth_words(costs)
    left_out = (Paragraph("Left out, for want of a price or a count:"), Bullets(costs.excludes[:MOST_ROWS]))
    return chapter(
        title,
        Paragraph(lead, "lead"),
        Paragraph(f"{gpu_hour}.") if gpu_hour else None,
        left_out if costs.excludes else None,
        Paragraph(f"Not part of the cost: {outside}.", "note") if outside else None,
        Paragraph(growth, "note") if growth else None,
        section("Cost by year", _years(plan, costs)),
        section("Alternatives", _alternatives(plan)),
        section("Bill of materials", _bill(plan, cite)),
        section("Prices", _prices(plan, costs, cite)),
        section("Power and space", _power(power)),
    )


def _alternatives(plan: Plan) -> list[Block]:
    return [*tabled(alternatives(plan)), Bullets(tuple(alternative_words(plan)))]


def _bill(plan: Plan, cite: Citations) -> list[Block]:
    table = bill_of_materials(plan)
    widths = [BILL_WIDTHS.get(column.key, 0.13) for column in table.shown().columns]
    return tabled(table, cite, widths=[width / sum(widths) for width in widths])


def _years(plan: Plan, costs: Costs) -> list[Block]:
    from gpuplan.report import charts

    word, table = fitted(cost_by_year(plan))
    blocks = tabled(table, caption=f"Cost by year, in {word}{costs.currency}")
    blocks += drawn(
        charts.years_svg(plan),
        f"Cost by year and part, in {costs.currency}",
        f"Chart of what is paid at the start and in each of {counted(costs.years, 'year')}, by part; "
        f"{money(costs.total, costs.currency)} in all.",
    )
    blocks += tabled(cost_by_part(plan), caption="Cost by part")
    if words := ranges_words(plan):
        blocks.append(Paragraph(words, "note"))
    blocks += tabled(cost_by_group(plan))
    blocks += tabled(token_costs(plan)) if plan.token_costs else []
    weak = [part.name for part in costs.parts if part.basis == "assumed" and part.total]
    if weak:
        blocks.append(Paragraph(f"Parts that rest on an assumed price or count: {', '.join(weak)}.", "note"))
    return blocks


def _prices(plan: Plan, costs: Costs, cite: Citations) -> list[Block]:
    text = f"Prices before discounts, in {costs.currency}. A price is old if it is more than a year older than {written_day(costs.as_of)}."
    return [Paragraph(text), *tabled(prices(plan).without("key"), cite)]


def _power(power: PowerUse) -> list[Block]:
    points = (f"{name}: {words}." for name, words in power_points(power))
    return [*tabled(power_table(power)), Bullets(tuple(points))]


def internal_chapters(plan: Plan) -> list[Chapter]:
    """What the customer's version does not have: nothing where nothing is internal."""
    held = plan.scenario.internal
    table, caption = margin(plan), f"What is paid and earned over all years, in {plan.scenario.cost.currency}"
    text = (
        f"The margin is {stated_percent(held.margin or 0)} of the selling price of hardware, licences and their support. Energy, "
        "space and administration carry no margin."
    )
    found = chapter(
        INTERNAL,
        Paragraph("This chapter is left out of the version for the customer.", "lead"),
        section("Notes", (Paragraph(line) for line in (held.notes or "").split("\n") if line.strip())),
        section("Margin", Paragraph(text), tabled(table, caption=caption)) if table is not None else None,
    )
    return [found] if found.sections else []
