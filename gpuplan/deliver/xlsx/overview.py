"""The first sheet: the design on one page, with its key figures, charts, decisions and how to read the workbook."""

from __future__ import annotations

import io
import struct
from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.executive import OWNERS, Executive, document_day
from gpuplan.deliver.xlsx.book import Book
from gpuplan.deliver.xlsx.cells import CHANGE, Live, address, tab
from gpuplan.deliver.xlsx.choices import Charts, Shown
from gpuplan.deliver.xlsx.money import Money
from gpuplan.deliver.xlsx.page import Page
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.report.figures import Figures
from gpuplan.wording import NAMES, said

COLUMNS, WIDTH = 12, 9.5
"""Columns of the page, and the width of each."""
LEFT = 7
"""Columns of the wider charts."""
PIXELS = 7 * WIDTH + 5
"""Pixels of a column, where the normal font is the usual one."""
CHART_ROWS, CHART_ROW = 10, 17.5
"""Rows that a chart takes, and their height."""
BOX = 3
"""Columns of the logo."""
BAND = 4 / 3 * 64
"""Height of the title band in pixels."""
STATUS = NAMES["document.status"]


class Tile(NamedTuple):
    """A key figure: its label, its value, the text below it, and its name in formulas."""

    label: str
    value: Any
    note: str
    name: str = ""
    kind: str = "int"


class ChartTables(NamedTuple):
    """Tables behind the charts; None where there are none."""

    alternatives: Shown | None
    drivers: Shown | None
    failures: Shown | None


def overview_page(book: Book) -> Page:
    """Add the empty first sheet; it is filled once its cells are known."""
    page = book.page(tab("overview"), [WIDTH] * COLUMNS, portrait=True)
    page.sheet.fit_to_pages(1, 1)
    page.sheet.set_first_sheet()
    page.sheet.activate()
    return page


def fill_overview(
    book: Book, page: Page, plan: Plan, summary: Executive, money: Money | None, figures: ChartTables
) -> None:
    """Fill the first sheet."""
    at = _band(book, page, plan)
    page.span(at, 0, COLUMNS - 1, summary.recommendation[0], "lead")
    page.span(at + 1, 0, COLUMNS - 1, summary.recommendation[1], "plain")
    at = _tiles(book, page, at + 3, _design_tiles(plan))
    if money is not None:
        at = _tiles(book, page, at, _money_tiles(summary, money))
        at = _left_out(page, at, money)
    at = _charts(book, page, at, plan, summary, money, figures)
    at = _decisions(page, at, summary)
    _guide(page, at)


def _band(book: Book, page: Page, plan: Plan) -> int:
    """Title, customer, author, version and date in the brand's accent, its logo beside them; the first free row."""
    given, logo = plan.scenario.document, book.brand.logo
    last = COLUMNS - 1 - BOX * bool(logo)
    page.span(0, 0, last, plan.scenario.name, "band")
    page.high(0, 30)
    page.span(1, 0, last, plan.scenario.customer or said("sheet.overview.no customer"), "band below")
    about = [
        said("sheet.overview.author", author=given.author) if given.author else "",
        said("sheet.overview.version", version=given.version or said("sheet.overview.first version"), status=STATUS[given.status or "draft"]),
        said("sheet.overview.day", day=written_day(document_day(plan))),
    ]  # fmt: skip
    page.span(2, 0, last, "    ".join(filter(None, about)), "band below")
    page.high(1, 17)
    page.high(2, 17)
    if logo:
        _logo(page, logo, last + 1)
    page.high(3, 8)
    return 4


def _logo(page: Page, logo: bytes, col: int) -> None:
    """The logo in a box of three columns beside the title, as large as it fits."""
    scale, left, top = scaled(logo, BOX * PIXELS - 16, BAND - 12)
    if scale:
        page.sheet.insert_image(
            0,
            col,
            "logo",
            {
                "image_data": io.BytesIO(logo),
                "x_scale": scale,
                "y_scale": scale,
                "x_offset": 8 + left,
                "y_offset": 6 + top,
                "object_position": 2,
                "decorative": True,
            },
        )


def _design_tiles(plan: Plan) -> list[Tile]:
    """Return tiles of the design and of the capacity after a failure."""
    totals, use = plan.totals, plan.power
    figures = Figures(plan)
    found = [
        Tile(said("sheet.tile.hosts"), totals.hosts, figures.said("sheet.tile.hosts note"), "hosts"),
        Tile(said("sheet.tile.gpus"), totals.gpus, ", ".join(figures.boards), "gpus"),
        Tile(
            figures.said("sheet.tile.left"),
            totals.gpus_after_failure,
            figures.said("sheet.tile.left note"),
            "gpus_after_failure",
        ),
    ]
    if use:
        typical = said("sheet.tile.power note", kilowatts=round(use.typical_w / 1000, 1))
        found.append(Tile(said("sheet.tile.power"), use.peak_w / 1000, typical, "peak_power_kw", "num"))
    return found


def _money_tiles(summary: Executive, money: Money) -> list[Tile]:
    """Return tiles of the current cost, and of the change by the reader's inputs."""
    costs = money.costs
    used, change = costs.gpu_hour_used, Live(f"net_present_cost-{costs.net_present!r}", 0.0)
    hour = Live("gpu_hour_used", said("sheet.none") if used is None else used)
    return [
        Tile(said("sheet.tile.cost", currency=costs.currency), Live("net_present_cost", costs.net_present), said("sheet.tile.cost note", planned=summary.money, years=costs.years), kind="money"),
        Tile(said("sheet.tile.start", currency=costs.currency), Live("paid_at_start", costs.cash[0]), said("sheet.tile.start note"), kind="money"),
        Tile(said("sheet.tile.hour", currency=costs.currency), hour, said("sheet.tile.hour note"), kind="price"),
        Tile(said("sheet.tile.change", currency=costs.currency), change, said("sheet.tile.change note"), "change_by_inputs", "change"),
    ]  # fmt: skip


def _tiles(book: Book, page: Page, at: int, tiles: Sequence[Tile]) -> int:
    """A row of key figures, each over three columns with a gap; the first free row."""
    wide = COLUMNS // 4
    for n, tile in enumerate(tiles):
        first, last = n * wide, n * wide + wide - 1
        page.span(at, first, last, tile.label, "tile")
        page.span(at + 1, first, last, tile.value, "tile value", **_number_look(tile.kind))
        page.span(at + 2, first, last, tile.note, "tile note")
        if tile.name:
            value = tile.value.value if isinstance(tile.value, Live) else tile.value
            where = address(at + 1, first, tab("overview"))
            book.name(tile.name, where, tile.label, value, kind=tile.kind)
    page.high(at, 17)
    page.high(at + 1, 24)
    page.high(at + 3, 6)
    return at + 4


def _number_look(kind: str) -> dict[str, Any]:
    formats = {"price": "#,##0.00", "change": CHANGE, "num": "#,##0.0"}
    return {"num_format": formats[kind]} if kind in formats else {}


def _left_out(page: Page, at: int, money: Money) -> int:
    """List what the cost excludes; return the first free row."""
    costs = money.costs
    parts = []
    if costs.excludes:
        parts.append(said("sheet.excludes", names="; ".join(costs.excludes)))
    if costs.outside:
        parts.append(said("sheet.overview.outside", names="; ".join(costs.outside)))
    if not parts:
        return at
    page.span(at, 0, COLUMNS - 1, " ".join(parts), "note")
    page.high(at + 1, 6)
    return at + 2


def _charts(
    book: Book,
    page: Page,
    at: int,
    plan: Plan,
    summary: Executive,
    money: Money | None,
    figures: ChartTables,
) -> int:
    """The charts, two beside each other; the first free row."""
    charts, currency = Charts(book.file, book.brand), plan.scenario.cost.currency
    made: list[tuple[Any, int]] = []
    if money is not None:
        made.append((charts.cost_by_year(money), LEFT))
    if figures.alternatives is not None and money is not None:
        most = max(each.alternative.net_present for each in summary.priced)
        made.append((charts.alternatives(figures.alternatives, most, currency), COLUMNS - LEFT))
    if figures.drivers is not None and money is not None:
        made.append((charts.drivers(figures.drivers, money.costs.net_present, currency), LEFT))
    if figures.failures is not None:
        made.append((charts.failures(figures.failures, len(plan.pools) > 1), COLUMNS - LEFT))
    first = 0
    for chart, columns in made:
        if first + columns > COLUMNS:
            first, at = 0, at + CHART_ROWS + 1
        chart.set_size(
            {"width": int(columns * PIXELS) - 6, "height": int(CHART_ROWS * CHART_ROW * 4 / 3) - 4}
        )
        page.sheet.insert_chart(at, first, chart, {"object_position": 1, "x_offset": 3, "y_offset": 2})
        for row in range(at, at + CHART_ROWS):
            page.high(row, CHART_ROW)
        page.high(at + CHART_ROWS, 6)
        first += columns
    return at + CHART_ROWS + 1 if made else at


def _decisions(page: Page, at: int, summary: Executive) -> int:
    """List the customer's decisions, with owner and due date; return the first free row."""
    if not summary.decisions:
        return at
    what, owner, due = (0, 7), (8, 9), (10, 11)
    page.span(at, 0, COLUMNS - 1, said("sheet.overview.decisions"), "section")
    heads = ("sheet.overview.decision", "sheet.overview.owner", "sheet.overview.due")
    for (first, last), key in zip((what, owner, due), heads, strict=True):
        page.span(at + 1, first, last, said(key), "head")
    at += 2
    for action in summary.first_decisions:
        cells = (action.what, OWNERS[action.owner], written_day(action.due))
        for (first, last), text in zip((what, owner, due), cells, strict=True):
            page.span(at, first, last, text, "text")
        at += 1
    left = len(summary.decisions) - len(summary.first_decisions)
    if left > 0:
        page.span(
            at, 0, COLUMNS - 1, said("sheet.overview.more decisions", count=left, sheet=tab("decisions"))
        )
        at += 1
    page.high(at, 8)
    return at + 1


def _guide(page: Page, at: int) -> None:
    """Explain in three lines how to read the workbook."""
    page.span(at, 0, COLUMNS - 1, said("sheet.overview.guide"), "section")
    tabs = {name: tab(name) for name in ("own", "bill", "years", "factors", "trail", "names")}
    for n, key in enumerate(("sheet.guide.inputs", "sheet.guide.live", "sheet.guide.trail"), 1):
        page.span(at + n, 0, COLUMNS - 1, said(key, **tabs), "plain")


FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG file that are followed by its size."""


def pixels(picture: bytes) -> tuple[int, int]:
    """(width, height) of a PNG or JPEG picture; (0, 0) where the file does not say."""
    if picture.startswith(b"\x89PNG"):
        return struct.unpack(">II", picture[16:24]) if len(picture) >= 24 else (0, 0)
    at = 2
    while at + 9 <= len(picture) and picture[at] == 0xFF:
        if picture[at + 1] in FRAMES:
            high, wide = struct.unpack(">HH", picture[at + 5 : at + 9])
            return wide, high
        at += 2 + int(struct.unpack(">H", picture[at + 2 : at + 4])[0])
    return 0, 0


def scaled(picture: bytes, wide: float, high: float) -> tuple[float, float, float]:
    """Return (scale, left, top) to centre a picture in a room, as large as it fits; scale 0 if its size is unknown."""
    own_wide, own_high = pixels(picture)
    if not own_wide or not own_high:
        return 0.0, 0.0, 0.0
    scale = min(wide / own_wide, high / own_high)
    return scale, (wide - own_wide * scale) / 2, (high - own_high * scale) / 2
