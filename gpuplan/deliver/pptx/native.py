"""Charts whose numbers can be edited: bars and columns with the plan's colours, their labels at 14 points."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from pptx.chart.data import CategoryChartData
from pptx.dml.color import RGBColor
from pptx.enum.chart import (
    XL_CHART_TYPE,
    XL_LABEL_POSITION,
    XL_LEGEND_POSITION,
    XL_TICK_LABEL_POSITION,
    XL_TICK_MARK,
)
from pptx.enum.dml import MSO_THEME_COLOR
from pptx.oxml import parse_xml
from pptx.oxml.ns import nsdecls, qn
from pptx.util import Pt

from gpuplan.deliver.pptx.measure import SMALL, Box, Grid
from gpuplan.deliver.texts import one_line

SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""
SPACES = nsdecls("a", "p", "c")
PALE = "D5DAE1"
"""Colour of the lines behind columns."""


class Label(NamedTuple):
    """What a bar says in words of its own."""

    text: str
    bold: bool = True
    colour: str = ""


class Series(NamedTuple):
    """Numbers of one kind, in one colour."""

    name: str
    colour: str
    values: Sequence[float | None]
    pattern: str = ""
    """Format of the number at the end of every bar; empty for none."""
    colours: Sequence[str] = ()
    """Colour of each bar; empty where it is that of the series."""
    labels: Sequence[Label | None] = ()
    at: str = "OUTSIDE_END"
    """Place of the numbers and labels."""


class Chart(NamedTuple):
    """Bars or columns with their look."""

    about: str
    """For readers who cannot see it."""
    names: Sequence[str]
    """Of the categories."""
    series: Sequence[Series]
    tall: tuple[float, float] | None = None
    """Most height: of everything else, and of each category."""
    kind: str = "BAR_CLUSTERED"
    gap: int = 45
    """Gap between bars, in per cent of their width."""
    overlap: int | None = None
    legend: str = ""
    """``right`` or ``bottom``; empty for none."""
    axis: str = ""
    """Title of the value axis; without one the axis is omitted."""
    pattern: str = "#,##0"
    """Number format of the axis."""
    start: float | None = 0
    """Limits of the axis; None where the program decides."""
    end: float | None = None
    spans: Sequence[tuple[float, float]] = ()
    """Range of each bar of the first series."""
    summed: bool = False
    """True if the last series is the sums of the columns, which are written above them."""

    def put(self, _deck: Grid, slide: Any, box: Box) -> None:
        """Draw it."""
        if self.tall:
            box = box._replace(height=min(box.height, self.tall[0] + self.tall[1] * len(self.names)))
        made: Any = CategoryChartData
        data = made(number_format="General")
        data.categories = [one_line(each) for each in self.names]
        for each in self.series:
            data.add_series(one_line(each.name), each.values)
        frame = slide.shapes.add_chart(getattr(XL_CHART_TYPE, self.kind), *box.emu, data)
        frame._element.nvGraphicFramePr.cNvPr.set("descr", one_line(self.about))
        chart = frame.chart
        chart.has_title = False
        _font(chart.font)
        _legend(chart, self.legend)
        _axes(chart, self)
        plot = chart.plots[0]
        plot.gap_width = self.gap
        if self.overlap is not None:
            plot.overlap = self.overlap
        for drawn, each in zip(plot.series, self.series, strict=True):
            _series(drawn, each)
        if self.spans:
            _ranges(chart, self.spans)
        if self.summed:
            _totals_above(chart)


def scale_of(most: float) -> tuple[str, str]:
    """Return (pattern, letter) of the multiple for amounts of this size."""
    return next(((pattern, letter) for least, pattern, letter in SCALES if most >= least), ("#,##0", ""))


def _series(drawn: Any, series: Series) -> None:
    """Fill and label the bars of a series."""
    _fill(drawn, series.colour)
    drawn.invert_if_negative = False
    position = getattr(XL_LABEL_POSITION, series.at)
    if series.pattern:
        labels = drawn.data_labels
        labels.show_value = True
        labels.number_format, labels.number_format_is_linked = series.pattern, False
        labels.position = position
        _font(labels.font, bold=True)
    for at, colour in enumerate(series.colours):
        if colour:
            _fill(drawn.points[at], colour)
    for at, label in enumerate(series.labels):
        if label:
            _label(drawn.points[at].data_label, label, position)


def _label(drawn: Any, label: Label, position: Any) -> None:
    """Label one bar with specific words."""
    drawn.position = position
    drawn.text_frame.text = one_line(label.text)
    drawn.text_frame.word_wrap = None if position == XL_LABEL_POSITION.ABOVE else False
    for run in drawn.text_frame.paragraphs[0].runs:
        _font(run.font, bold=label.bold)
        if label.colour:
            run.font.color.rgb = _rgb(label.colour)


def _font(font: Any, *, bold: bool | None = None) -> None:
    """Set size and colour of text, and its weight if one is given."""
    font.size = Pt(SMALL)
    font.color.theme_color = MSO_THEME_COLOR.TEXT_1
    if bold is not None:
        font.bold = bold


def _legend(chart: Any, side: str) -> None:
    chart.has_legend = bool(side)
    if side:
        chart.legend.position = getattr(XL_LEGEND_POSITION, side.upper())
        chart.legend.include_in_layout = False
        _font(chart.legend.font)


def _axes(chart: Any, look: Chart) -> None:
    """The names of the categories without marks; the axis of the values only where it says something."""
    names, values = chart.category_axis, chart.value_axis
    names.has_major_gridlines = False
    names.major_tick_mark = XL_TICK_MARK.NONE
    names.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    names.format.line.color.rgb = _rgb("8B94A3")
    _font(names.tick_labels.font)
    values.has_major_gridlines = bool(look.axis)
    values.visible = bool(look.axis)
    if look.start is not None:
        values.minimum_scale = look.start
    if look.end is not None:
        values.maximum_scale = look.end
    if look.axis:
        values.major_gridlines.format.line.color.rgb = _rgb(PALE)
        values.major_tick_mark = XL_TICK_MARK.NONE
        values.format.line.fill.background()
        values.tick_labels.number_format, values.tick_labels.number_format_is_linked = look.pattern, False
        _font(values.tick_labels.font)
        values.has_title = True
        values.axis_title.text_frame.text = look.axis
        _font(values.axis_title.text_frame.paragraphs[0].runs[0].font, bold=False)


def _rgb(colour: str) -> Any:
    """Return a colour as the library's type."""
    made: Any = RGBColor
    return made.from_string(colour.lstrip("#").upper())


def _fill(drawn: Any, colour: str) -> None:
    """Fill a series or a point, with an edge that divides it from the next."""
    drawn.format.fill.solid()
    drawn.format.fill.fore_color.rgb = _rgb(colour)
    drawn.format.line.color.rgb = _rgb("FFFFFF")


def _ranges(chart: Any, ends: Sequence[tuple[float, float]]) -> None:
    """A whisker at each bar of the first series, from the low to the high end of its range."""
    series = chart.plots[0].series[0]
    values = list(series.values)

    def listed(tag: str, lengths: Sequence[float]) -> str:
        points = "".join(f'<c:pt idx="{at}"><c:v>{long:.6g}</c:v></c:pt>' for at, long in enumerate(lengths))
        return f'<c:{tag}><c:numLit><c:formatCode>General</c:formatCode><c:ptCount val="{len(lengths)}"/>{points}</c:numLit></c:{tag}>'

    plus = [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)]
    minus = [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)]
    bars = parse_xml(
        f'<c:errBars {SPACES}><c:errBarType val="both"/><c:errValType val="cust"/><c:noEndCap val="0"/>'
        f"{listed('plus', plus)}{listed('minus', minus)}"
        '<c:spPr><a:ln w="19050"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill></a:ln></c:spPr></c:errBars>'
    )
    series._element.find(qn("c:cat")).addprevious(bars)


def _totals_above(chart: Any) -> None:
    """Turn the last series into sums above the columns: a line that is not drawn, with a label at each of its points."""
    bars = chart._chartSpace.find(f".//{qn('c:barChart')}")
    series = bars.findall(qn("c:ser"))[-1]
    for tag in ("c:invertIfNegative", "c:spPr"):
        for child in series.findall(qn(tag)):
            series.remove(child)
    for after, xml in (
        ("c:tx", f"<c:spPr {SPACES}><a:ln><a:noFill/></a:ln></c:spPr>"),
        ("c:spPr", f'<c:marker {SPACES}><c:symbol val="none"/></c:marker>'),
    ):
        series.find(qn(after)).addnext(parse_xml(xml))
    series.append(parse_xml(f'<c:smooth {SPACES} val="0"/>'))
    line = parse_xml(
        f'<c:lineChart {SPACES}><c:grouping val="standard"/><c:varyColors val="0"/><c:marker val="1"/></c:lineChart>'
    )
    line.insert(2, series)
    line.extend(deepcopy(axis) for axis in bars.findall(qn("c:axId")))
    bars.addnext(line)
    key, number = chart._chartSpace.find(f".//{qn('c:legend')}"), series.find(qn("c:idx")).get("val")
    entry = f'<c:legendEntry {SPACES}><c:idx val="{number}"/><c:delete val="1"/></c:legendEntry>'
    key.find(qn("c:legendPos")).addnext(parse_xml(entry))
