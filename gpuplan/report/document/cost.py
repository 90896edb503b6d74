"""Chapter 8: cost by year, the bill of materials, prices, power and space."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import Material
from gpuplan.plan.cost import Costs
from gpuplan.plan.customer import earned_in_all, earnings
from gpuplan.plan.power import PowerUse
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, Section
from gpuplan.report.document.writing import MOST_ROWS, Citations, drawn, grid_of
from gpuplan.report.tables import group_names
from gpuplan.report.tables.cost import INTERNAL, STATUS, per_words
from gpuplan.wording import (
    amount,
    bare_amount,
    basis_word,
    capital,
    counted,
    money,
    number,
    percent,
    share_words,
    stated_percent,
    watts,
)

SCALES = ((1, ""), (1_000, "thousands of "), (1_000_000, "millions of "))


WIDEST_MONEY = 9
"""Characters of an amount in a column of the table by years."""


# 8


def cost_chapter(plan: Plan, cite: Citations) -> Chapter:
    title = "Cost, power and space"
    costs, power = plan.costs, plan.power
    if costs is None or power is None:
        return Chapter(title, (Paragraph("Without hosts nothing is bought."),))
    currency = costs.currency
    lead = (
        f"Over {counted(costs.years, 'year')} the design costs {money(costs.net_present, currency)} net present, with later payments "
        f"discounted at {stated_percent(costs.discount_rate)} a year. {money(costs.total, currency)} are paid in all, "
        f"{money(costs.cash[0], currency)} of it at the start."
    )
    if costs.hosts[-1] > costs.hosts[0]:
        lead += (
            f" That includes growth from {number(costs.hosts[0])} to {amount(costs.hosts[-1], 'host')}, which the demand chapter "
            "shows by year."
        )
    blocks: list[Block] = [Paragraph(lead, "lead")]
    if costs.gpu_hour_installed is not None:
        text = f"A GPU-hour costs {money(costs.gpu_hour_installed, currency)} installed"
        if costs.gpu_hour_used is not None:
            text += f" and {money(costs.gpu_hour_used, currency)} used, with GPUs used {percent(costs.utilisation)} of the time"
        blocks.append(Paragraph(f"{text}."))
    if costs.excludes:
        blocks += [
            Paragraph("Left out, for want of a price or a count:"),
            Bullets(costs.excludes[:MOST_ROWS]),
        ]
    if costs.outside:
        blocks.append(Paragraph(f"Not part of the cost: {'; '.join(costs.outside)}.", "note"))
    if costs.growth_left_out:
        blocks.append(
            Paragraph(
                f"From year {costs.growth_left_out} on the growth is more than one design can hold: hosts are counted as in the year "
                "before.",
                "note",
            )
        )
    return Chapter(
        title,
        tuple(blocks),
        (
            Section("Cost by year", tuple(_years(plan, costs))),
            Section("Bill of materials", tuple(_bill(costs, cite))),
            Section("Prices", tuple(_prices(costs, cite))),
            Section("Power and space", tuple(_power(power))),
        ),
    )


def _years(plan: Plan, costs: Costs) -> list[Block]:
    from gpuplan.report import charts

    rows = [(part.name, (*part.yearly, part.total)) for part in costs.parts]
    rows.append(("All", (*costs.cash, costs.total)))
    word, shown = _scaled(rows, costs.currency)
    heads = ("Part", "Start", *(f"Year {year}" for year in range(1, costs.years + 1)), "Total")
    blocks = grid_of(
        f"What is paid when, in {word}{costs.currency}",
        heads,
        shown,
        right=tuple(range(1, len(heads))),
        total=True,
    )
    blocks += drawn(
        charts.years_svg(plan),
        f"Cost by year and part, in {costs.currency}",
        f"Chart of what is paid at the start and in each of {counted(costs.years, 'year')}, by part; "
        f"{money(costs.total, costs.currency)} in all.",
    )
    names = group_names(plan)
    shares = [(names[g.id], share_words(g.share), money(g.total, costs.currency)) for g in costs.groups]
    blocks += grid_of(
        "Cost by group, by the GPUs they ask for", ("Group", "Share", "Paid in all"), shares, right=(1, 2)
    )
    weak = [part.name for part in costs.parts if part.basis == "assumed" and part.total]
    if weak:
        blocks.append(Paragraph(f"Parts that rest on an assumed price or count: {', '.join(weak)}.", "note"))
    return blocks


def _scaled(rows: Sequence[tuple[str, Sequence[float]]], currency: str) -> tuple[str, list[tuple[str, ...]]]:
    """Rows of money in units, thousands or millions, so that a page holds the columns; (which of them, the rows)."""
    found = []
    for scale, word in SCALES:
        shown = [
            (name, *(bare_amount(round(value / scale), currency) for value in values))
            for name, values in rows
        ]
        found.append((word, shown))
    return next(
        ((word, shown) for word, shown in found if max(len(c) for r in shown for c in r[1:]) <= WIDEST_MONEY),
        found[-1],
    )


def _bill(costs: Costs, cite: Citations) -> list[Block]:
    rows = [
        (
            amount(m.quantity, m.unit) if m.quantity else "",
            m.name,
            m.rule + cite(m.sources),
            money(m.price.value, costs.currency) if m.price else "",
            _paid(m, costs.currency),
        )
        for m in costs.materials
    ]
    table = grid_of(
        "Bill of materials, on the day it is installed",
        ("Number", "What", "Rule", "Each", "Cost"),
        rows,
        right=(0, 3, 4),
        widths=(0.1, 0.24, 0.34, 0.14, 0.18),
    )
    note = "Prices are shown rounded; costs are worked out from the exact prices."
    return [*table, Paragraph(note, "note")] if table else []


def _paid(material: Material, currency: str) -> str:
    """What a material costs, or why it does not."""
    if material.unknown:
        return "no price known"
    if material.cost is None:
        return STATUS.get(material.status, "")
    return money(material.cost, currency) + " a year" * (material.status == "yearly")


def _prices(costs: Costs, cite: Citations) -> list[Block]:
    rows = [
        (
            price.name,
            f"{money(price.value, costs.currency)} {per_words(price.per)}",
            f"{bare_amount(price.fact.low, costs.currency)} to {bare_amount(price.fact.high, costs.currency)}"
            if price.fact.low is not None and price.fact.high is not None
            else "",
            "stated" if price.stated else basis_word(price.fact.basis),
            price.as_of + " (old)" * price.old,
            cite(price.fact.sources).strip(),
        )
        for price in costs.prices
    ]
    rows += [(item.name, "unknown", "", "", "", "") for item in costs.unknown]
    return [
        Paragraph(
            f"Prices before discounts, in {costs.currency}. A price is old if it is more than a year older than {costs.as_of}."
        ),
        *grid_of(
            "Prices, how well they are known, and from when",
            ("What", "Price", "Low to high", "Known how", "As of", "Source"),
            rows,
        ),
    ]


def _power(power: PowerUse) -> list[Block]:
    rows = [
        (
            capital(part.name),
            number(part.count),
            watts(part.typical_w) if part.peak_w else "not known",
            watts(part.peak_w) if part.peak_w else "not known",
            "not known" if part.rack_units_u is None else f"{number(part.rack_units_u)} U",
        )
        for part in power.parts
    ]
    rows.append(
        ("Together", "", watts(power.typical_w), watts(power.peak_w), f"{number(power.rack_units_u)} U")
    )
    racks = (
        f"{counted(power.racks, 'rack')}, of {counted(power.hosts_per_rack, 'host')} each at most"
        if power.racks
        else "one host draws more, or is higher, than a rack may carry"
    )
    points = [
        f"With cooling and losses of the building: {watts(power.facility_w)} typical, {number(round(power.energy_kwh))} kWh a year.",
        f"Heat at peak: {number(round(power.heat_btu_h))} BTU/h.",
        f"CO2: {number(round(power.emissions_kg / 1000, 1))} t a year.",
        f"Space: {racks}.",
    ]
    if power.excludes:
        points.append(f"Not known, and left out: {'; '.join(power.excludes)}.")
    return [
        *grid_of(
            "Power and space",
            ("", "Number", "Typical", "At peak", "Height"),
            rows,
            right=(1, 2, 3, 4),
            total=True,
        ),
        Bullets(tuple(points)),
    ]


# Internal


def internal_chapters(plan: Plan) -> list[Chapter]:
    """What the customer's version does not have: nothing where nothing is internal."""
    held = plan.scenario.internal
    sections = []
    if held.notes:
        lines = [line for line in held.notes.split("\n") if line.strip()]
        sections.append(Section("Notes", tuple(Paragraph(line) for line in lines)))
    found = earnings(plan)
    if found:
        currency = found[0].currency
        rows = [
            (
                each.part,
                *(bare_amount(round(value), currency) for value in (each.paid, each.price, each.earned)),
            )
            for each in (*found, earned_in_all(found))
        ]
        table = grid_of(
            f"What is paid and earned over all years, in {currency}",
            ("Part", "We pay", "The customer pays", "We earn"),
            rows,
            right=(1, 2, 3),
            total=True,
        )
        share = stated_percent(held.margin or 0)
        text = f"The margin is {share} of the selling price of hardware, licences and their support. Energy, space and people carry none."
        sections.append(Section("Margin", (Paragraph(text), *table)))
    lead = Paragraph("This chapter is left out of the version for the customer.", "lead")
    return [Chapter(INTERNAL, (lead,), tuple(sections))] if sections else []
