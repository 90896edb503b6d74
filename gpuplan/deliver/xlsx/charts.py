"""Native charts of the first sheet: each follows the cells of the sheet that has its figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuplan.deliver.brand import Brand
from gpuplan.deliver.xlsx.book import HEAD
from gpuplan.deliver.xlsx.cells import area, tab
from gpuplan.deliver.xlsx.choices import COLUMNS, DRIVERS, Shown
from gpuplan.deliver.xlsx.money import Money
from gpuplan.report.colours import COLOURS, OKABE_ITO, PARTS
from gpuplan.wording import said

MOST_BARS = 8
"""Most assumptions for which a chart has room."""
SIZE = 10
"""Size of the text of charts, in points."""
MILLIONS, THOUSANDS = ("#,##0.0,,", "M"), ("#,##0,", "k")
"""Formats of the amounts on an axis, and the letter of their unit."""


LABELLED = {"x": 0.44, "y": 0.15, "width": 0.5, "height": 0.8}
"""Room of the bars beside long labels, as shares of the chart."""


class Charts:
    """The charts of a workbook in the colours and fonts of its brand."""

    def __init__(self, book: Any, brand: Brand) -> None:
        self._book, self._brand = book, brand

    def cost_by_year(self, money: Money) -> Any:
        """Draw the payments at the start and in each year, stacked by part."""
        form, letter = _scale(max(money.costs.cash))
        title = said("sheet.chart.cost", currency=money.costs.currency, letter=letter)
        made = self._new("column", "stacked", title)
        sheet, last = tab("years"), 2 + money.last
        for name, row in money.part_row.items():
            if any(money.part_cost(name)):
                made.add_series(
                    {
                        "name": _cells(sheet, row, 0, row, 0),
                        "categories": _cells(sheet, HEAD, 2, HEAD, last),
                        "values": _cells(sheet, row, 2, row, last),
                        "fill": {"color": COLOURS[PARTS[name][1]]},
                        "gap": 45,
                    }
                )
        made.set_x_axis(self._axis(label_position="low"))
        made.set_y_axis(self._axis(num_format=form, lines=True))
        made.set_legend({"position": "right", "font": self._font()})
        return made

    def alternatives(self, shown: Shown, most: float, currency: str) -> Any:
        """Draw the costs of the design and its alternatives; the first bar is the design."""
        form, letter = _scale(most)
        title = said("sheet.chart.alternatives", currency=currency, letter=letter)
        made = self._new("bar", "", title)
        live = COLUMNS.index("live")
        grey = {"fill": {"color": COLOURS[0]}}
        own = {"fill": {"color": f"#{self._brand.accent}"}}
        made.add_series(
            {
                "name": title,
                "categories": _cells(shown.sheet, shown.first, 0, shown.last, 0),
                "values": _cells(shown.sheet, shown.first, live, shown.last, live),
                "points": [own, *[grey] * (shown.last - shown.first)],
                "fill": grey["fill"],
                "gap": 40,
                "data_labels": {"value": True, "num_format": form, "font": self._font()},
            }
        )
        made.set_y_axis(self._axis(reverse=True))
        made.set_x_axis(self._axis(num_format=form, visible=False, min=0))
        made.set_legend({"none": True})
        made.set_plotarea({"fill": {"none": True}, "layout": LABELLED})
        return made

    def drivers(self, shown: Shown, most: float, currency: str) -> Any:
        """Draw how far each assumption moves the cost within its range, the strongest at the top."""
        form, letter = _scale(most)
        made = self._new("bar", "stacked", said("sheet.chart.drivers", currency=currency, letter=letter))
        last = min(shown.last, shown.first + MOST_BARS - 1)
        label = DRIVERS.index("chart")
        for name, colour in (("less", OKABE_ITO[2]), ("more", OKABE_ITO[5])):
            col = DRIVERS.index(name)
            made.add_series(
                {
                    "name": said(f"sheet.chart.{name}"),
                    "categories": _cells(shown.sheet, shown.first, label, last, label),
                    "values": _cells(shown.sheet, shown.first, col, last, col),
                    "fill": {"color": colour},
                    "gap": 40,
                }
            )
        made.set_y_axis(self._axis(reverse=True, label_position="low"))
        made.set_x_axis(self._axis(num_format=form, lines=True, label_position="high"))
        made.set_plotarea({"fill": {"none": True}, "layout": {**LABELLED, "height": 0.66}})
        made.set_legend({"position": "bottom", "font": self._font()})
        return made

    def failures(self, shown: Shown, several: bool) -> Any:
        """Draw the GPUs that are left after host failures, beside those that the VMs occupy."""
        made = self._new("column", "", said("sheet.chart.failures"))
        first = 0 if several else 1
        categories = _cells(shown.sheet, shown.first, first, shown.last, 1)
        made.add_series(
            {
                "name": _cells(shown.sheet, shown.first - 1, 2, shown.first - 1, 2),
                "categories": categories,
                "values": _cells(shown.sheet, shown.first, 2, shown.last, 2),
                "fill": {"color": f"#{self._brand.accent}"},
                "gap": 60,
                "data_labels": {
                    "value": True,
                    "position": "inside_end",
                    "font": {**self._font(), "color": "#FFFFFF", "bold": True},
                },
            }
        )
        line = self._book.add_chart({"type": "line"})
        line.add_series(
            {
                "name": _cells(shown.sheet, shown.first - 1, 3, shown.first - 1, 3),
                "categories": categories,
                "values": _cells(shown.sheet, shown.first, 3, shown.last, 3),
                "line": {"color": f"#{self._brand.ink}", "width": 1.5, "dash_type": "dash"},
            }
        )
        made.combine(line)
        made.set_x_axis(self._axis(name=said("sheet.chart.failed")))
        made.set_y_axis(self._axis(lines=True, min=0, num_format="#,##0"))
        made.set_legend({"position": "bottom", "font": self._font()})
        return made

    def _new(self, kind: str, subtype: str, title: str) -> Any:
        made = self._book.add_chart({"type": kind} | ({"subtype": subtype} if subtype else {}))
        bold = {"name": self._brand.headings, "size": SIZE + 1, "bold": True, "color": f"#{self._brand.ink}"}
        made.set_title({"name": title, "name_font": bold, "overlay": False})
        made.set_chartarea({"border": {"color": f"#{self._brand.line}"}, "fill": {"color": "#FFFFFF"}})
        made.set_plotarea({"fill": {"none": True}})
        return made

    def _font(self) -> Mapping[str, Any]:
        return {"name": self._brand.text, "size": SIZE, "color": f"#{self._brand.ink}"}

    def _axis(self, *, lines: bool = False, name: str = "", **more: Any) -> dict[str, Any]:
        """An axis with thin lines or none."""
        grid = {"visible": lines, "line": {"color": f"#{self._brand.line}", "width": 0.5}}
        named = {"name": name, "name_font": {**self._font(), "bold": False}} if name else {}
        edge = {"color": f"#{self._brand.line}"}
        return {
            "num_font": self._font(),
            "major_gridlines": grid,
            "line": edge,
            "major_tick_mark": "none",
            "minor_tick_mark": "none",
            **named,
            **more,
        }


def _cells(sheet: str, top: int, left: int, bottom: int, right: int) -> str:
    """The formula of a series: its cells."""
    return f"={area(top, left, bottom, right, sheet)}"


def _scale(most: float) -> tuple[str, str]:
    """(format in which amounts up to this one are short, the letter of what they count)."""
    return MILLIONS if most >= 1_000_000 else THOUSANDS
