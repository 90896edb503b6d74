"""What moves the cost most, as a drawing: a bar for each assumption from its least to its highest cost."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.deliver.executive import Driver
from gpuplan.plan import Plan
from gpuplan.report.drawing import EDGE, INK, LINE, SIZE, SOFT, WIDTH, Area, Drawing, wrapped
from gpuplan.wording import priced, rounded_money, said

LABELS, ROW, BAR = 210.0, 40.0, 16.0
"""Width of the column of names, height of a row and of its bar."""
LOW, HIGH = "#56b4e9", "#e69f00"
"""Of the cost with the input at its low and at its high end."""
EDGES = 64.0
"""Room for the amounts beside the bars."""


def tornado_svg(plan: Plan, drivers: Sequence[Driver]) -> str | None:
    """The assumptions that move the net present cost; None where none does."""
    if not drivers or plan.costs is None:
        return None
    now, currency = plan.costs.net_present, plan.costs.currency
    least, most = min(now, *(d.cost_low for d in drivers)), max(now, *(d.cost_high for d in drivers))
    left, right = LABELS + EDGES, WIDTH - EDGES
    drawing = Drawing()

    def x(value: float) -> float:
        return left + (right - left) * (value - least) / (most - least)

    head = priced(rounded_money(now)[0], currency)
    drawing.text(x(now), SIZE, head, anchor="middle", bold=True)
    top = LINE + 2
    for at, each in enumerate(drivers):
        y = top + at * ROW
        for line, text in enumerate(wrapped(each.label, LABELS - 6)[:2]):
            drawing.text(0, y + SIZE + LINE * line - 2, text, fill=INK, room=LABELS - 6)
        _bar(drawing, each, x(now), x(each.at_low), x(each.at_high), y + 3)
    bottom = top + ROW * len(drivers) - 6
    drawing.line(x(now), top - 2, x(now), bottom, stroke=EDGE, dashes="3 3")
    drawing.text(0, bottom + LINE, said("tornado.key"), fill=SOFT)
    return drawing.svg(bottom + LINE + 6, said("front.drivers alt"))


def _bar(drawing: Drawing, each: Driver, now: float, low: float, high: float, y: float) -> None:
    """From the cost now to that at either end of the range, with the ends of the input beside it."""
    for end, colour in ((low, LOW), (high, HIGH)):
        if abs(end - now) > 0.5:
            drawing.box(Area(min(now, end), y, abs(end - now), BAR), fill=colour, stroke=colour, rx=1)
    ends = sorted(((low, each.low, each.at_low), (high, each.high, each.at_high)))
    (left, said_left, cost_left), (right, said_right, cost_right) = ends
    left, right = min(left, now), max(right, now)
    drawing.text(left - 5, y + 12, rounded_money(cost_left)[0], anchor="end", fill=INK)
    drawing.text(right + 5, y + 12, rounded_money(cost_right)[0], fill=INK)
    drawing.text(left - 5, y + 12 + LINE - 2, said_left, anchor="end", fill=SOFT)
    drawing.text(right + 5, y + 12 + LINE - 2, said_right, fill=SOFT)
