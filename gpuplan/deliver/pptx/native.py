"""Charts whose numbers can be edited: bars and columns with the plan's colours, their labels at 14 points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from gpuplan.deliver.pptx.drawn import drawn
from gpuplan.deliver.pptx.measure import Box, Grid
from gpuplan.deliver.texts import one_line

SCALES = ((1e9, "#,##0.0,,,", "bn"), (1e6, "#,##0.0,,", "M"), (1e4, "#,##0,", "k"))
"""Thresholds of the multiples in which numbers are shown, with their formats."""


class Label(NamedTuple):
    """What a bar says in words of its own."""

    text: str
    bold: bool = True
    colour: str = ""


class Series(NamedTuple):
    """Numbers of one kind, in one colour."""

    name: str
    colour: str
    values: Sequence[float]
    pattern: str = ""
    """Format of the number at the end of every bar; empty for none."""
    colours: Sequence[str] = ()
    """Colour of each bar; empty where it is that of the series."""
    labels: Sequence[Label | None] = ()
    at: str = "outEnd"
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
    """Side of the key: ``r`` or ``b``; empty for none."""
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
        space = frame.chart._chartSpace
        *shown, workbook = space
        for child in shown:
            space.remove(child)
        for child in list(drawn("chart", chart=self, data=data)):
            workbook.addprevious(child)


def piled(about: str, names: Sequence[str], series: Sequence[Series], axis: str, gap: int) -> Chart:
    """Columns of several parts, with their key at the right and an axis."""
    return Chart(about, names, series, kind="COLUMN_STACKED", gap=gap, overlap=100, legend="r", axis=axis)


def scale_of(most: float) -> tuple[str, str]:
    """Return (pattern, letter) of the multiple for amounts of this size."""
    return next(((pattern, letter) for least, pattern, letter in SCALES if most >= least), ("#,##0", ""))
