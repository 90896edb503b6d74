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

from gpuplan.deliver.pptx.drawn import drawn
from gpuplan.deliver.pptx.measure import SMALL, Box, Grid
from gpuplan.deliver.texts import one_line

SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""
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
    """``RIGHT`` or ``BOTTOM``; empty for none."""
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
        chart.has_legend = bool(self.legend)
        if self.legend:
            chart.legend.position = getattr(XL_LEGEND_POSITION, self.legend)
            chart.legend.include_in_layout = False
            _font(chart.legend.font)
        _axes(chart, self)
        plot = chart.plots[0]
        plot.gap_width = self.gap
        if self.overlap is not None:
            plot.overlap = self.overlap
        for bars, each in zip(plot.series, self.series, strict=True):
            _draw_series(bars, each)
        if self.spans:
            _add_whiskers(plot.series[0], self.spans)
        if self.summed:
            _lift_sums(chart)


def scale_of(most: float) -> tuple[str, str]:
    """Return (pattern, letter) of the multiple for amounts of this size."""
    return next(((pattern, letter) for least, pattern, letter in SCALES if most >= least), ("#,##0", ""))


def _draw_series(bars: Any, series: Series) -> None:
    """Fill and label the bars of a series."""
    position = getattr(XL_LABEL_POSITION, series.at)
    _fill(bars, series.colour)
    bars.invert_if_negative = False
    if series.pattern:
        labels = bars.data_labels
        labels.show_value = True
        labels.number_format, labels.number_format_is_linked = series.pattern, False
        labels.position = position
        _font(labels.font, bold=True)
    for at, colour in enumerate(series.colours):
        if colour:
            _fill(bars.points[at], colour)
    for at, label in enumerate(series.labels):
        if label:
            shown = bars.points[at].data_label
            shown.position, frame = position, shown.text_frame
            frame.text = one_line(label.text)
            frame.word_wrap = None if series.at == "ABOVE" else False
            font = frame.paragraphs[0].runs[0].font
            _font(font, bold=label.bold)
            if label.colour:
                font.color.rgb = _rgb(label.colour)


def _font(font: Any, *, bold: bool | None = None) -> None:
    """Set size and colour of text, and its weight if one is given."""
    font.size = Pt(SMALL)
    font.color.theme_color = MSO_THEME_COLOR.TEXT_1
    if bold is not None:
        font.bold = bold


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


def _add_whiskers(series: Any, spans: Sequence[tuple[float, float]]) -> None:
    """Draw a whisker at each bar, from the low to the high end of its range."""
    bars = [(value, *span) for value, span in zip(series.values, spans, strict=True)]
    plus, minus = [max(0.0, high - v) for v, _, high in bars], [max(0.0, v - low) for v, low, _ in bars]
    series._element.find(qn("c:cat")).addprevious(drawn("whiskers", plus=plus, minus=minus))


def _lift_sums(chart: Any) -> None:
    """Turn the last series into sums above the columns: a line that is not drawn, with a label at each of its points."""
    bars = chart._chartSpace.find(f".//{qn('c:barChart')}")
    series = bars.findall(qn("c:ser"))[-1]
    for tag in ("c:invertIfNegative", "c:spPr"):
        for child in series.findall(qn(tag)):
            series.remove(child)
    series.find(qn("c:tx")).addnext(_chart_xml("<c:spPr {}><a:ln><a:noFill/></a:ln></c:spPr>"))
    series.find(qn("c:spPr")).addnext(_chart_xml('<c:marker {}><c:symbol val="none"/></c:marker>'))
    series.append(_chart_xml('<c:smooth {} val="0"/>'))
    line = (
        '<c:lineChart {}><c:grouping val="standard"/><c:varyColors val="0"/><c:marker val="1"/></c:lineChart>'
    )
    bars.addnext(_chart_xml(line))
    bars.getnext().insert(2, series)
    bars.getnext().extend(deepcopy(axis) for axis in bars.findall(qn("c:axId")))
    number = series.find(qn("c:idx")).get("val")
    entry = f'<c:legendEntry {{}}><c:idx val="{number}"/><c:delete val="1"/></c:legendEntry>'
    chart.legend._element.find(qn("c:legendPos")).addnext(_chart_xml(entry))


def _chart_xml(text: str) -> Any:
    """Return an element of a chart."""
    return parse_xml(text.format(nsdecls("a", "p", "c")))
