"""Chart of the payments at the start and in each year, by part."""

from typing import Any

from gpuplan.models import cost
from gpuplan.plan.cost import Costs
from gpuplan.report.charts.look import Look, Spec, drawn, named_colours
from gpuplan.report.colours import COLOURS, PARTS
from gpuplan.report.drawing import pen_on
from gpuplan.wording import money, said, short_number

SMALLEST_LETTER = 0.05
"""Share of the tallest column from which a part has room for its letter."""
HALF_BAR = 0.42
"""Half the width of a column, as a share of the distance of two."""


def year_names(costs: Costs) -> list[str]:
    """The start, and the years after it."""
    years = range(1, costs.years + 1)
    return [said("chart.years.start"), *(said("chart.years.year", year=year) for year in years)]


def years_rows(costs: Costs) -> dict[str, Any]:
    """Parts piled up above each year, with what is left at the end below zero, and the sum of each year."""
    years = year_names(costs)
    tops = [
        cost.total_cost(*(p.yearly[at] for p in costs.parts if p.yearly[at] > 0)) for at in range(len(years))
    ]
    tall = SMALLEST_LETTER * max(tops)
    rows = []
    paid, left = [0.0] * len(years), [0.0] * len(years)  # base of the next part, above zero and below
    for part in costs.parts:
        letter, colour = PARTS[part.name]
        for at, value in enumerate(part.yearly):
            if not value:
                continue
            pile = paid if value > 0 else left
            low, pile[at] = pile[at], pile[at] + value
            row: Spec = {"part": f"{letter} {part.name}", "year": years[at], "at": at}
            row |= {"left": at - HALF_BAR, "right": at + HALF_BAR, "cost": value}
            row |= {"low": low, "high": pile[at], "middle": low + value / 2}
            row |= {"words": money(value, costs.currency), "letter": letter if abs(value) > tall else ""}
            rows.append(row | {"ink": COLOURS[colour], "pen": pen_on(COLOURS[colour])})
    cash = [(at, value) for at, value in enumerate(costs.cash) if value]
    sums = [{"at": at, "top": tops[at], "words": short_number(value)} for at, value in cash]
    return {"rows": rows, "sums": sums, "currency": costs.currency}


def years_chart(data: Spec, look: Look) -> Spec:
    """Cash by year, stacked by part; every part has its letter, what is worth something at the end is below zero."""
    parts = list({row["part"]: row["ink"] for row in data["rows"]}.items())
    colours = named_colours("part", parts, look, values=[name for name, _ in reversed(parts)])
    return drawn("years", look, data, colours=colours)
