"""The sheets of alternatives and cost drivers, and the native charts of the first sheet."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import Alternative
from gpuplan.deliver.brand import Brand
from gpuplan.deliver.executive import Driver, Executive, Priced
from gpuplan.deliver.xlsx.book import HEAD, Book, at_column, worded
from gpuplan.deliver.xlsx.cells import SIZE, TABS, Live, address, area, cleaned
from gpuplan.deliver.xlsx.money import Money
from gpuplan.deliver.xlsx.page import middle_cut
from gpuplan.deliver.xlsx.quantities import Quantities
from gpuplan.facts import own_specs
from gpuplan.plan import Plan
from gpuplan.report.charts.look import filled_in
from gpuplan.report.drawing import COLOURS, OKABE_ITO, PARTS
from gpuplan.report.table import NOTHING
from gpuplan.report.tables.alternatives import count_over_years
from gpuplan.wording import said, stated_percent

LABEL = 30.0
MOST_BARS = 8
MILLIONS, THOUSANDS = ("#,##0.0,,", "M"), ("#,##0,", "k")
"""Formats of the amounts on an axis, and the letter of their unit."""


class Shown(NamedTuple):
    """Location of a chart's figures: sheet, first and last row."""

    sheet: str
    first: int
    last: int

    def cells(self, col: int, last_col: int | None = None, last: int | None = None) -> str:
        """A column of the figures, or a few, as the formula of a series."""
        right, bottom = col if last_col is None else last_col, self.last if last is None else last
        return f"={area(self.first, col, bottom, right, self.sheet)}"

    def head(self, col: int) -> str:
        """The head of a column, as the formula of a series."""
        return f"={area(self.first - 1, col, self.first - 1, col, self.sheet)}"


def alternatives_sheet(book: Book, summary: Executive, money: Money | None) -> Shown | None:
    """Write the plan and its alternatives priced alike, as planned and with every input as it is now; return the rows."""
    if money is None or len(summary.priced) < 2:
        return None
    order = {choice.key: at for at, choice in enumerate(summary.choices)}

    def rank(priced: Priced) -> tuple[bool, int]:
        """The plan first, then the alternatives in the order of the executive page, then the others."""
        return not priced.alternative.chosen, order.get(priced.alternative.key, len(order))

    options = sorted(summary.priced, key=rank)
    why = {choice.key: choice.gives_up for choice in summary.choices}
    paid = Quantities(money, [option for option in options if not option.alternative.chosen])
    rows = [_row(paid, option.alternative, why, at) for at, option in enumerate(options, start=HEAD + 2)]
    block = worded("priced_alternatives", rows, money.costs.currency)
    rate = stated_percent(money.costs.discount_rate)
    basis = said("sheet.alternatives.basis", years=money.costs.years, rate=rate)
    titled = block._replace(title=said("sheet.alternatives.title"))
    book.topics(TABS["alternatives"], f"{said('sheet.alternatives.note')} {basis}", [titled])
    book.topics(TABS["quantities"], said("sheet.quantities.note"), paid.blocks())
    return Shown(TABS["alternatives"], HEAD + 2, HEAD + 1 + len(options))


def _row(paid: Quantities, option: Alternative, why: dict[str, str], at: int) -> dict[str, Any]:
    """The row of an alternative, whose cost now is the sum of what it pays for."""
    live = address(at, at_column("priced_alternatives", "live"))
    cost = "net_present_cost" if option.chosen else paid.total(option.key)
    return {
        "name": option.short_name,
        "hosts": count_over_years(option.hosts) if option.hosts else NOTHING,
        "gpus": count_over_years(option.gpus) if option.gpus else NOTHING,
        "planned": option.net_present,
        "low": option.low,
        "high": option.high,
        "live": Live(cost, option.net_present),
        "difference": None if option.chosen else Live(f"{live}-net_present_cost", option.difference),
        "why": why.get(option.key, option.gives_up),
    }


def drivers_sheet(book: Book, plan: Plan, summary: Executive) -> Shown | None:
    """Write each assumption at either end of its range, the strongest cost driver first; return the rows."""
    if plan.costs is None or not summary.drivers:
        return None
    rows = [_driver(driver, plan.costs.net_present) for driver in summary.drivers]
    block = worded("cost_drivers", rows, plan.costs.currency)
    book.topic(TABS["drivers"], said("sheet.drivers.note"), block)
    return Shown(TABS["drivers"], HEAD + 1, HEAD + len(rows))


def _driver(each: Driver, now: float) -> dict[str, Any]:
    """Return the row of an assumption: its ends, the cost there, and the differences from the current cost."""
    less, more = min(0.0, each.cost_low - now), max(0.0, each.cost_high - now)
    return {**each._asdict(), "less": less, "more": more, "chart": middle_cut(cleaned(each.label), LABEL)}


class Charts:
    """The charts of a workbook in the colours and fonts of its brand, as ``charts.yaml`` specifies them."""

    def __init__(self, book: Any, brand: Brand) -> None:
        self._book, self._brand = book, brand
        self._font = {"name": brand.text, "size": SIZE, "color": f"#{brand.ink}"}

    def cost_by_year(self, money: Money) -> Any:
        """Draw the payments at the start and in each year, stacked by part."""
        form, letter = _scale(max(money.costs.cash))
        title, last = said("sheet.chart.cost", currency=money.costs.currency, letter=letter), 2 + money.last
        heads, bars = Shown(TABS["years"], HEAD, HEAD).cells(2, last), []
        for name, at in money.part_row.items():
            if any(money.part_cost(name)):
                row = Shown(TABS["years"], at, at)
                bars.append(_bars(row.cells(0), heads, row.cells(2, last), COLOURS[PARTS[name][1]], 45))
        return self._chart("cost", title, bars, form)

    def alternatives(self, shown: Shown, most: float, currency: str) -> Any:
        """Draw the costs of the design and its alternatives; the first bar is the design."""
        form, letter = _scale(most)
        title = said("sheet.chart.alternatives", currency=currency, letter=letter)
        live = shown.cells(at_column("priced_alternatives", "live"))
        bars = _bars(title, shown.cells(0), live, COLOURS[0], 40)
        accent = {"fill": {"color": f"#{self._brand.accent}"}}
        points = [accent, *[{"fill": bars["fill"]}] * (shown.last - shown.first)]
        labels = {"value": True, "num_format": form, "font": self._font}
        return self._chart("alternatives", title, [bars | {"points": points, "data_labels": labels}], form)

    def drivers(self, shown: Shown, most: float, currency: str) -> Any:
        """Draw how far each assumption moves the cost within its range, the strongest at the top."""
        form, letter = _scale(most)
        title = said("sheet.chart.drivers", currency=currency, letter=letter)
        last, bars = min(shown.last, shown.first + MOST_BARS - 1), []
        for name, colour in (("less", OKABE_ITO[2]), ("more", OKABE_ITO[5])):
            columns = (at_column("cost_drivers", key) for key in ("chart", name))
            label, values = (shown.cells(column, last=last) for column in columns)
            bars.append(_bars(said(f"sheet.chart.{name}"), label, values, colour, 40))
        return self._chart("drivers", title, bars, form)

    def failures(self, shown: Shown, several: bool) -> Any:
        """Draw the GPUs that are left after host failures, beside those that the VMs occupy."""
        line = self._book.add_chart({"type": "line"})
        categories = shown.cells(0 if several else 1, 1)
        white = {**self._font, "color": "#FFFFFF", "bold": True}
        bars = _bars(shown.head(2), categories, shown.cells(2), f"#{self._brand.accent}", 60)
        bars |= {"data_labels": {"value": True, "position": "inside_end", "font": white}}
        dashes = {"color": f"#{self._brand.ink}", "width": 1.5, "dash_type": "dash"}
        dashed = {"values": shown.cells(3), "line": dashes}
        line.add_series({"name": shown.head(3), "categories": categories, **dashed})
        chart = self._chart("failures", said("sheet.chart.failures"), [bars])
        chart.combine(line)
        return chart

    def curve(self, shown: Shown, amounts: int, costs: int, most: float, name: str) -> Any:
        """Draw what each budget buys, a point for each design."""
        line, marker = {"color": COLOURS[0], "width": 1.75}, {"type": "circle", "size": 7}
        marker |= {"fill": {"color": f"#{self._brand.accent}"}, "border": {"none": True}}
        points = {"categories": shown.cells(costs), "values": shown.cells(amounts), "line": line}
        form, _ = _scale(most)
        return self._chart("curve", name, [{"name": name, **points, "marker": marker}], form)

    def _chart(self, name: str, title: str, series: Sequence[dict[str, Any]], form: str = "") -> Any:
        edge, bold = {"color": f"#{self._brand.line}"}, {"name": self._brand.headings, "bold": True}
        grid = {"visible": False, "line": {**edge, "width": 0.5}}
        axis = {"num_font": self._font, "major_gridlines": grid, "line": edge}
        axis |= dict.fromkeys(("major_tick_mark", "minor_tick_mark"), "none")
        lined = {**axis, "major_gridlines": {**grid, "visible": True}}
        values = {"font": self._font, "plain": {**self._font, "bold": False}, "axis": axis, "lined": lined}
        spec = filled_in(own_specs("gpuplan.deliver.xlsx", "charts")[name], {**values, "form": form})
        chart = self._book.add_chart(spec.pop("kind"))
        chart.set_title(
            {"name": title, "name_font": {**self._font, **bold, "size": SIZE + 1}, "overlay": False}
        )
        chart.set_chartarea({"border": edge, "fill": {"color": "#FFFFFF"}})
        chart.set_plotarea({"fill": {"none": True}})
        for bars in series:
            chart.add_series(bars)
        for part, look in spec.items():
            getattr(chart, f"set_{part}")(look)
        return chart


def _bars(name: str, categories: str, values: str, colour: str, gap: int) -> dict[str, Any]:
    fill = {"color": colour}
    return {"name": name, "categories": categories, "values": values, "fill": fill, "gap": gap}


def _scale(most: float) -> tuple[str, str]:
    """(format in which amounts up to this one are short, the letter of what they count)."""
    return MILLIONS if most >= 1_000_000 else THOUSANDS
