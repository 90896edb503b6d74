"""Charts whose numbers can be edited: bars and columns with the plan's colours, their labels at 14 points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

from gpuplan.deliver.pptx.measure import SMALL, Box
from gpuplan.deliver.pptx.sketch import NAMESPACES
from gpuplan.deliver.texts import one_line

SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""
PALE = "D5DAE1"
"""Colour of the lines behind columns."""


class Series(NamedTuple):
    """Numbers of one kind, in one colour."""

    name: str
    values: Sequence[float | None]
    colour: str


class Look(NamedTuple):
    """Look of a chart."""

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


def scale_of(most: float) -> tuple[str, str]:
    """Return (pattern, letter) of the multiple for amounts of this size."""
    return next(((pattern, letter) for least, pattern, letter in SCALES if most >= least), ("#,##0", ""))


def add_chart(
    slide: Any, box: Box, categories: Sequence[str], series: Sequence[Series], look: Look, about: str
) -> Any:
    """Add a chart to a slide; ``about`` is for readers who cannot see it."""
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE

    made: Any = CategoryChartData
    data = made(number_format="General")
    data.categories = [one_line(each) for each in categories]
    for each in series:
        data.add_series(one_line(each.name), each.values)
    frame = slide.shapes.add_chart(getattr(XL_CHART_TYPE, look.kind), *box.emu, data)
    frame._element.nvGraphicFramePr.cNvPr.set("descr", one_line(about))
    chart = frame.chart
    chart.has_title = False
    _font(chart.font)
    _legend(chart, look)
    _axes(chart, look)
    plot = chart.plots[0]
    plot.gap_width = look.gap
    if look.overlap is not None:
        plot.overlap = look.overlap
    for drawn, each in zip(plot.series, series, strict=True):
        fill(drawn, each.colour)
        drawn.invert_if_negative = False
    return chart


def _font(font: Any) -> None:
    from pptx.enum.dml import MSO_THEME_COLOR
    from pptx.util import Pt

    font.size = Pt(SMALL)
    font.color.theme_color = MSO_THEME_COLOR.TEXT_1


def _legend(chart: Any, look: Look) -> None:
    from pptx.enum.chart import XL_LEGEND_POSITION

    chart.has_legend = bool(look.legend)
    if look.legend:
        chart.legend.position = getattr(XL_LEGEND_POSITION, look.legend.upper())
        chart.legend.include_in_layout = False
        _font(chart.legend.font)


def _axes(chart: Any, look: Look) -> None:
    """The names of the categories without marks; the axis of the values only where it says something."""
    from pptx.enum.chart import XL_TICK_LABEL_POSITION, XL_TICK_MARK

    names, values = chart.category_axis, chart.value_axis
    names.has_major_gridlines = False
    names.major_tick_mark = XL_TICK_MARK.NONE
    names.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    names.format.line.color.rgb = rgb("8B94A3")
    _font(names.tick_labels.font)
    values.has_major_gridlines = bool(look.axis)
    values.visible = bool(look.axis)
    if look.start is not None:
        values.minimum_scale = look.start
    if look.end is not None:
        values.maximum_scale = look.end
    if look.axis:
        values.major_gridlines.format.line.color.rgb = rgb(PALE)
        values.major_tick_mark = XL_TICK_MARK.NONE
        values.format.line.fill.background()
        values.tick_labels.number_format, values.tick_labels.number_format_is_linked = look.pattern, False
        _font(values.tick_labels.font)
        values.has_title = True
        values.axis_title.text_frame.text = look.axis
        run = values.axis_title.text_frame.paragraphs[0].runs[0]
        _font(run.font)
        run.font.bold = False


def rgb(colour: str) -> Any:
    """Return a colour as the library's type."""
    from pptx.dml.color import RGBColor

    made: Any = RGBColor
    return made.from_string(colour.lstrip("#").upper())


def fill(drawn: Any, colour: str) -> None:
    """Fill a series or a point, with an edge that divides it from the next."""
    drawn.format.fill.solid()
    drawn.format.fill.fore_color.rgb = rgb(colour)
    drawn.format.line.color.rgb = rgb("FFFFFF")


def ranges(chart: Any, ends: Sequence[tuple[float, float]]) -> None:
    """A whisker at each bar of the first series, from the low to the high end of its range."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import qn

    series = chart.plots[0].series[0]
    values = list(series.values)
    spaces = f'{NAMESPACES} xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'

    def listed(tag: str, lengths: Sequence[float]) -> str:
        points = "".join(f'<c:pt idx="{at}"><c:v>{long:.6g}</c:v></c:pt>' for at, long in enumerate(lengths))
        return f'<c:{tag}><c:numLit><c:formatCode>General</c:formatCode><c:ptCount val="{len(lengths)}"/>{points}</c:numLit></c:{tag}>'

    plus = [max(0.0, high - value) for value, (_, high) in zip(values, ends, strict=True)]
    minus = [max(0.0, value - low) for value, (low, _) in zip(values, ends, strict=True)]
    bars = parse_xml(
        f'<c:errBars {spaces}><c:errBarType val="both"/><c:errValType val="cust"/><c:noEndCap val="0"/>'
        f"{listed('plus', plus)}{listed('minus', minus)}"
        '<c:spPr><a:ln w="19050"><a:solidFill><a:schemeClr val="tx1"/></a:solidFill></a:ln></c:spPr></c:errBars>'
    )
    series._element.find(qn("c:cat")).addprevious(bars)


def label_values(chart: Any, pattern: str, *, series: int = 0, bold: bool = True) -> None:
    """Every bar of a series with its number at its end."""
    from pptx.enum.chart import XL_LABEL_POSITION

    labels = chart.plots[0].series[series].data_labels
    labels.show_value = True
    labels.number_format, labels.number_format_is_linked = pattern, False
    labels.position = XL_LABEL_POSITION.OUTSIDE_END
    _font(labels.font)
    labels.font.bold = bold


def label_point(
    chart: Any,
    series: int,
    point: int,
    text: str,
    *,
    colour: str = "",
    at: str = "OUTSIDE_END",
    bold: bool = True,
) -> None:
    """Label one bar with specific words, at its end or elsewhere."""
    from pptx.enum.chart import XL_LABEL_POSITION

    label = chart.plots[0].series[series].points[point].data_label
    label.position = getattr(XL_LABEL_POSITION, at)
    label.text_frame.text = one_line(text)
    label.text_frame.word_wrap = False
    for run in label.text_frame.paragraphs[0].runs:
        _font(run.font)
        run.font.bold = bold
        if colour:
            run.font.color.rgb = rgb(colour)


def totals_above(chart: Any, texts: Mapping[int, str], pattern: str) -> None:
    """Turn the last series into sums above the columns: a line that is not drawn, with a label at each of its points."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import qn

    bars = chart._chartSpace.find(f".//{qn('c:barChart')}")
    series = bars.findall(qn("c:ser"))[-1]
    _label_sums(chart, texts, pattern)
    bars.remove(series)
    for tag in ("c:invertIfNegative", "c:spPr"):
        for child in series.findall(qn(tag)):
            series.remove(child)
    spaces = f'{NAMESPACES} xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    series.find(qn("c:tx")).addnext(parse_xml(f"<c:spPr {spaces}><a:ln><a:noFill/></a:ln></c:spPr>"))
    series.find(qn("c:spPr")).addnext(parse_xml(f'<c:marker {spaces}><c:symbol val="none"/></c:marker>'))
    series.append(parse_xml(f'<c:smooth {spaces} val="0"/>'))
    line = parse_xml(
        f'<c:lineChart {spaces}><c:grouping val="standard"/><c:varyColors val="0"/></c:lineChart>'
    )
    line.append(series)
    line.append(parse_xml(f'<c:marker {spaces} val="1"/>'))
    for axis in bars.findall(qn("c:axId")):
        line.append(deepcopy(axis))
    bars.addnext(line)
    _without_key(chart, int(series.find(qn("c:idx")).get("val")))


def _label_sums(chart: Any, texts: Mapping[int, str], pattern: str) -> None:
    """Label the last series above its points; some in words."""
    from pptx.enum.chart import XL_LABEL_POSITION

    drawn = chart.plots[0].series[len(chart.plots[0].series) - 1]
    labels = drawn.data_labels
    labels.show_value = True
    labels.number_format, labels.number_format_is_linked = pattern, False
    labels.position = XL_LABEL_POSITION.ABOVE
    _font(labels.font)
    labels.font.bold = True
    for point, text in texts.items():
        label = drawn.points[point].data_label
        label.position = XL_LABEL_POSITION.ABOVE
        label.text_frame.text = one_line(text)
        for run in label.text_frame.paragraphs[0].runs:
            _font(run.font)
            run.font.bold = True


def _without_key(chart: Any, index: int) -> None:
    """Leave a series out of the legend."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import qn

    legend = chart._chartSpace.find(f".//{qn('c:legend')}")
    if legend is None:
        return
    spaces = f'{NAMESPACES} xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    entry = parse_xml(f'<c:legendEntry {spaces}><c:idx val="{index}"/><c:delete val="1"/></c:legendEntry>')
    legend.find(qn("c:legendPos")).addnext(entry)
