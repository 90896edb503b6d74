"""Chart of the payments at the start and in each year, by part."""

from typing import Any

from gpuplan.models import cost
from gpuplan.plan.cost import Costs
from gpuplan.report.charts.look import MONEY, Look, Spec, chart, field, labels, layer, named_colours, tooltip
from gpuplan.report.colours import COLOURS, PARTS
from gpuplan.report.drawing import pen_on
from gpuplan.wording import money, said, short_number

SMALLEST_LETTER = 0.05
"""Share of the tallest column from which a part has room for its letter."""
SUM_PX = 42
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
    label = "datum.value % 1 ? '' : datum.value ? 'Year ' + datum.value : 'Start'"
    axis = {"labelExpr": label, "tickMinStep": 1, "ticks": False, "domain": False, "grid": False}
    x: Spec = {"title": None, "scale": {"zero": False, "nice": False}, "axis": axis}
    title = said("chart.years.axis", currency=data["currency"])
    y: Spec = {"title": title, "axis": {"labelExpr": MONEY, "tickCount": 5}}
    parts = list({row["part"]: row["ink"] for row in data["rows"]}.items())
    spans: Spec = {"x": field("left", **x), "x2": {"field": "right"}, "y2": {"field": "high"}}
    ink = named_colours("part", parts, look, values=[name for name, _ in reversed(parts)])
    heads = {"part": said("chart.years.part"), "year": said("chart.years.when")}
    tips = tooltip(**heads, words=said("chart.years.paid"))
    edge = {"stroke": look.ground, "strokeWidth": 1}
    bars = layer(data["rows"], "rect", edge, **spans, y=field("low", **y), color=ink, tooltip=tips)
    bold = {"fontSize": look.small, "fontWeight": 600}
    middle, top = field("middle", **y), field("top", **y)
    pen = field("pen", "nominal", scale=None)
    letters = labels(data["rows"], "letter", bold, x=field("at", **x), y=middle, color=pen)
    room = f"scale('x', 1) - scale('x', 0) < {SUM_PX} ? 0 : 1"
    how = {"dy": -8, "color": look.ink, "fontWeight": 600, "opacity": {"expr": room}}
    sums = labels(data["sums"], "words", how, x=field("at", **x), y=top)
    return chart([bars, letters, sums], look, said("chart.years.about"), 180, 360)
