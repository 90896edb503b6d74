"""The content of the executive brief: a page for who decides, with what is compared and what is uncertain as bars."""

from collections.abc import Sequence
from typing import NamedTuple

from gpuplan.deliver.document.blocks import Block, Draft, Figure, Grid, KeyFigures
from gpuplan.deliver.document.front import HIGH, LOW, alternatives
from gpuplan.deliver.executive import MOST_DECISIONS
from gpuplan.locales import written_day
from gpuplan.plan.availability import Posture
from gpuplan.plan.checks import check_plan
from gpuplan.plan.llm.serving import Serving
from gpuplan.report.charts.design import year_names
from gpuplan.report.drawing import ACCENT, INK, SIZE, Area, Drawing, text_width
from gpuplan.report.figures import as_of
from gpuplan.report.headlines import to_confirm
from gpuplan.report.table import heads, texts
from gpuplan.wording import capital, rounded_money, said

SIDES, SHARES = (0.42, 0.53), (0.22, 0.07, 0.09, 0.2, 0.42)
"""Shares of the page of two columns, and of those of the alternatives."""
ROW, BAR, OTHER = 18.0, 10.0, "#5f6b7a"
"""Height of a row of bars and of its bar, and colour of the bars of other designs, in units of the drawing."""


class Bar(NamedTuple):
    """An amount and its range, its parts each from an end to another in a colour."""

    parts: tuple[tuple[float, float, str], ...]
    low: float
    high: float
    label: str = ""
    amount: str = ""


class Page(Draft):
    """The brief in progress, with the figures that its texts name."""

    most = MOST_DECISIONS

    @property
    def posture(self) -> Posture | None:
        """Hours of risk with the chosen tolerance."""
        return next((posture for posture in self.plan.postures if posture.chosen), None)

    @property
    def service(self) -> Serving | None:
        """The first language model that is served."""
        return next((model for model in self.plan.llm.serving.values() if model.replicas), None)

    @property
    def confirm(self) -> str:
        """What is to be confirmed."""
        return capital(to_confirm(self.plan, check_plan(self.plan)))

    @property
    def excludes(self) -> str:
        """What the cost excludes, the first by name."""
        names = (*self.costs.excludes, *self.costs.outside)
        more = len(names) - self.most
        listed = "; ".join(names[: self.most])
        return said("executive.money excludes more", names=listed, more=more) if more > 0 else listed

    @property
    def priced_day(self) -> str:
        """The day of the prices."""
        return written_day(as_of(self.plan))


def headline(page: Page) -> str:
    """The recommendation in a line or two."""
    return page.tiles("brief title")[0][0]


def key_figures(page: Page) -> list[Block]:
    """Hosts, cost, failover, and speed or power, each with its condition."""
    return [KeyFigures(tuple(page.tiles("brief")))]


def years(page: Page) -> str:
    """Draw the payments at the start and in each year, with their ranges."""
    costs, ranges = page.costs, page.plan.cost_ranges
    ends = ranges.cash if ranges else [(paid, paid) for paid in costs.cash]
    bars = [
        Bar(((0.0, paid, ACCENT),), *end, name, rounded_money(paid)[0])
        for name, paid, end in zip(year_names(costs), costs.cash, ends, strict=True)
    ]
    return bars_svg(bars, bars, 300, said("brief.pay"))


def survival(page: Page) -> list[Block]:
    """What holds of the design: a state, a word, and the condition of each."""
    rows = tuple((state, word, text) for word, state, text in page.tiles("survival"))
    return [Grid(("", "", ""), rows, widths=(0.05, 0.23, 0.72))]


def compared(page: Page) -> list[Block]:
    """This design and the others, priced alike, each with its range as a bar."""
    table, cost = alternatives(page), page.cost
    if table is None or cost is None:
        return []
    bars = [Bar(((0.0, cost.net_present, ACCENT),), cost.low, cost.high)]
    for each in page.summary.choices:
        low, high = (each.net_present if end is None else end for end in (each.low, each.high))
        bars.append(Bar(((0.0, each.net_present, OTHER),), low, high))
    drawn = _drawn(bars, said("brief.range"), 0.9 * SHARES[3])
    rows: tuple[tuple[str | Figure, ...], ...]
    rows = tuple((*row[:3], bar, row[4]) for row, bar in zip(texts(table), drawn, strict=True))
    named = heads(table)
    return [Grid((*named[:3], said("brief.range"), named[4]), rows, right=(1, 2), widths=SHARES)]


def drivers(page: Page) -> list[Block]:
    """The assumptions that move the cost most, each on its own."""
    now, found = page.costs.net_present, page.summary.drivers
    bars = [Bar(((now, each.at_low, LOW), (now, each.at_high, HIGH)), now, now) for each in found]
    rows = tuple(
        (said("brief.driver", driver=each), bar, " \u2013 ".join(rounded_money(now, each[3:5])[1:]))
        for each, bar in zip(found, _drawn(bars, said("brief.uncertain"), 0.16 * SIDES[0]), strict=True)
    )
    return [Grid(("", "", ""), rows, right=(2,), widths=(0.53, 0.17, 0.3))] if rows else []


def _drawn(bars: Sequence[Bar], about: str, share: float) -> list[Figure]:
    """Each bar as a drawing of its own, all to the same scale."""
    return [Figure(bars_svg([bar], bars, 160, about), "", about, share) for bar in bars]


def bars_svg(bars: Sequence[Bar], scale: Sequence[Bar], wide: int, about: str) -> str:
    """Draw bars to the scale of these and others, with their names before and their amounts behind them."""
    drawing = Drawing(wide)
    left, room = (
        max(text_width(text, bold=True) + 8 * bool(text) for text in column)
        for column in zip(*(bar[3:] for bar in bars), strict=True)
    )
    ends = [
        end for bar in scale for end in (bar.low, bar.high, *(end for part in bar.parts for end in part[:2]))
    ]
    least, most = min(ends), max(ends)

    def x(value: float) -> float:
        return left + (wide - room - left) * (value - least) / ((most - least) or 1.0)

    for at, bar in enumerate(bars):
        y = at * ROW
        drawing.text(0, y + SIZE, bar.label)
        for start, end, colour in bar.parts:
            one, two = sorted((x(start), x(end)))
            drawing.box(Area(one, y + 2, two - one, BAR), fill=colour, stroke=colour, rx=0)
        low, high, middle = x(bar.low), x(bar.high), y + 2 + BAR / 2
        for line in (
            (low, middle, high, middle),
            (low, y + 2, low, y + 2 + BAR),
            (high, y + 2, high, y + 2 + BAR),
        ):
            drawing.line(*line, stroke=INK, width=1.5)
        drawing.text(wide, y + SIZE, bar.amount, anchor="end", bold=True)
    return drawing.svg(len(bars) * ROW - 4, about)
