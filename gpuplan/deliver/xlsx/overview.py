"""The first sheet: the design on one page, with its key figures, charts, decisions and how to read the workbook."""

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.deliver.executive import OWNERS, Executive, edition
from gpuplan.deliver.xlsx.book import Book
from gpuplan.deliver.xlsx.cells import CHANGE, TABS, Live, address
from gpuplan.deliver.xlsx.choices import Charts, Shown
from gpuplan.deliver.xlsx.money import Money
from gpuplan.deliver.xlsx.page import Page
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.report.figures import Figures, sentences
from gpuplan.wording import said

COLUMNS, WIDTH = 12, 9.5
"""Columns of the page, and the width of each."""
LEFT = 7
PIXELS = 7 * WIDTH + 5
"""Pixels of a column, where the normal font is the usual one."""
CHART_ROWS, CHART_ROW = 10, 17.5
BOX = 3
BAND = 4 / 3 * 64
"""Height of the title band in pixels."""
FORMATS = {"price": "#,##0.00", "change": CHANGE, "num": "#,##0.0"}


class Tile(NamedTuple):
    """A key figure: its label, its value, the text below it, and its name in formulas."""

    label: str
    value: Any
    note: str
    name: str = ""
    kind: str = "int"


def overview_page(book: Book) -> Page:
    """Add the empty first sheet; it is filled once its cells are known."""
    page = book.page(TABS["overview"], [WIDTH] * COLUMNS, portrait=True)
    page.sheet.fit_to_pages(1, 1)
    page.sheet.set_first_sheet()
    page.sheet.activate()
    return page


class Overview:
    """Fills the first sheet from top to bottom."""

    def __init__(self, book: Book, page: Page, plan: Plan, summary: Executive, money: Money | None) -> None:
        self.book, self.page, self.plan, self.summary, self.money = book, page, plan, summary, money
        self.at = 0

    def fill(self, alternatives: Shown | None, drivers: Shown | None, failures: Shown | None) -> None:
        """Fill the sheet; the charts show these rows of other sheets."""
        self._band()
        self._line(self.summary.recommendation[0], "lead")
        self._line(self.summary.recommendation[1], "plain")
        if self.summary.beyond:
            self._line(self.summary.beyond, "plain")
        self.at += 1
        self._tiles(_design_tiles(self.plan))
        if self.money is not None:
            self._tiles(_money_tiles(self.summary, self.money))
            self._left_out(self.money)
        self._charts(alternatives, drivers, failures)
        self._decisions()
        self._guide()

    def _line(self, text: str, kind: str = "note", last: int = COLUMNS - 1) -> None:
        self.page.put(self.at, 0, text, kind, last=last)
        self.at += 1

    def _gap(self, points: float) -> None:
        self.page.high(self.at, points)
        self.at += 1

    def _band(self) -> None:
        """Title, customer, author, version and date in the brand's accent, its logo beside them."""
        inputs, logo = self.plan.scenario.document, self.book.brand.logo
        last = COLUMNS - 1 - BOX * bool(logo)
        about = sentences("edition of the workbook", inputs, **edition(self.plan))
        customer = self.plan.scenario.customer or said("sheet.overview.no customer")
        self._line(self.plan.scenario.name, "band", last)
        self._line(customer, "band below", last)
        self._line("    ".join(about), "band below", last)
        for row, points in enumerate((30, 17, 17)):
            self.page.high(row, points)
        self._gap(8)
        if logo:
            scale, left, top = scaled(logo, BOX * PIXELS - 16, BAND - 12)
            place = {"x_scale": scale, "y_scale": scale, "x_offset": 8 + left, "y_offset": 6 + top}
            look = {"image_data": io.BytesIO(logo), "object_position": 2, "decorative": True}
            self.page.sheet.insert_image(0, last + 1, "logo", look | place)

    def _tiles(self, tiles: Sequence[Tile]) -> None:
        """A row of key figures, each over three columns with a gap."""
        wide, at = COLUMNS // 4, self.at
        for first, tile in zip(range(0, COLUMNS, wide), tiles, strict=False):
            last, form = first + wide - 1, FORMATS.get(tile.kind)
            self.page.put(at, first, tile.label, "tile", last=last)
            look: dict[str, Any] = {"num_format": form} if form else {}
            self.page.put(at + 1, first, tile.value, "tile value", last=last, **look)
            self.page.put(at + 2, first, tile.note, "tile note", last=last)
            if tile.name:
                value = tile.value.value if isinstance(tile.value, Live) else tile.value
                where = address(at + 1, first, TABS["overview"])
                self.book.name(tile.name, where, tile.label, value, kind=tile.kind)
        self.page.high(at, 17)
        self.page.high(at + 1, 24)
        self.at += 3
        self._gap(6)

    def _left_out(self, money: Money) -> None:
        costs = money.costs
        keys = {"sheet.excludes": costs.excludes, "sheet.overview.outside": costs.outside}
        parts = [said(key, names="; ".join(names)) for key, names in keys.items() if names]
        if parts:
            self._line(" ".join(parts))
            self._gap(6)

    def _charts(self, alternatives: Shown | None, drivers: Shown | None, failures: Shown | None) -> None:
        charts, plan = Charts(self.book.file, self.book.brand), self.plan
        currency, placed = plan.scenario.cost.currency, list[tuple[Any, int]]()
        if (money := self.money) is not None:
            placed.append((charts.cost_by_year(money), LEFT))
            if alternatives is not None:
                most = max(option.alternative.net_present for option in self.summary.priced)
                placed.append((charts.alternatives(alternatives, most, currency), COLUMNS - LEFT))
            if drivers is not None:
                placed.append((charts.drivers(drivers, money.costs.net_present, currency), LEFT))
        if failures is not None:
            placed.append((charts.failures(failures, len(plan.pools) > 1), COLUMNS - LEFT))
        first, high = 0, int(CHART_ROWS * CHART_ROW * 4 / 3) - 4
        for chart, columns in placed:
            if first + columns > COLUMNS:
                first, self.at = 0, self.at + CHART_ROWS + 1
            chart.set_size({"width": int(columns * PIXELS) - 6, "height": high})
            place = {"object_position": 1, "x_offset": 3, "y_offset": 2}
            self.page.sheet.insert_chart(self.at, first, chart, place)
            for row in range(self.at, self.at + CHART_ROWS):
                self.page.high(row, CHART_ROW)
            self.page.high(self.at + CHART_ROWS, 6)
            first += columns
        self.at += (CHART_ROWS + 1) * bool(placed)

    def _decisions(self) -> None:
        decisions, first = self.summary.decisions, self.summary.first_decisions
        if not decisions:
            return
        self._line(said("sheet.overview.decisions"), "section")
        heads = ("sheet.overview.decision", "sheet.overview.owner", "sheet.overview.due")
        rows = [tuple(map(said, heads))]
        rows += [(action.what, OWNERS[action.owner], written_day(action.due)) for action in first]
        for n, cells in enumerate(rows):
            for (left, right), text in zip(((0, 7), (8, 9), (10, 11)), cells, strict=True):
                self.page.put(self.at, left, text, "text" if n else "head", last=right)
            self.at += 1
        if (left := len(decisions) - len(first)) > 0:
            self._line(said("sheet.overview.more decisions", count=left, sheet=TABS["decisions"]))
        self._gap(8)

    def _guide(self) -> None:
        self._line(said("sheet.overview.guide"), "section")
        tabs = {name: TABS[name] for name in ("own", "bill", "years", "factors", "trail", "names")}
        for key in ("sheet.guide.inputs", "sheet.guide.live", "sheet.guide.trail"):
            self._line(said(key, **tabs), "plain")


def _design_tiles(plan: Plan) -> list[Tile]:
    totals, use, figures = plan.totals, plan.power, Figures(plan)
    left, note = figures.said("sheet.tile.left"), figures.said("sheet.tile.left note")
    tiles = [
        Tile(said("sheet.tile.hosts"), totals.hosts, figures.said("sheet.tile.hosts note"), "hosts"),
        Tile(said("sheet.tile.gpus"), totals.gpus, ", ".join(figures.boards), "gpus"),
        Tile(left, totals.gpus_after_failure, note, "gpus_after_failure"),
    ]
    if use:
        typical = said("sheet.tile.power note", kilowatts=round(use.typical_w / 1000, 1))
        tiles.append(Tile(said("sheet.tile.power"), use.peak_w / 1000, typical, "peak_power_kw", "num"))
    return tiles


def _money_tiles(summary: Executive, money: Money) -> list[Tile]:
    costs, used = money.costs, money.costs.gpu_hour_used
    planned = said("sheet.tile.cost note", planned=summary.money, years=costs.years)
    change = Live(f"net_present_cost-{costs.net_present!r}", 0.0)
    hour = Live("gpu_hour_used", said("sheet.none") if used is None else used)

    def label(key: str) -> str:
        return said(key, currency=costs.currency, years=costs.years)

    return [
        Tile(label("sheet.tile.cost"), Live("net_present_cost", costs.net_present), planned, kind="money"),
        Tile(label("sheet.tile.start"), Live("paid_at_start", costs.cash[0]), label("sheet.tile.start note"), kind="money"),
        Tile(label("sheet.tile.hour"), hour, label("sheet.tile.hour note"), kind="price"),
        Tile(label("sheet.tile.change"), change, label("sheet.tile.change note"), "change_by_inputs", "change"),
    ]  # fmt: skip


def scaled(picture: bytes, wide: float, high: float) -> tuple[float, float, float]:
    """Return (scale, left, top) to centre a picture in a room, as large as it fits."""
    from PIL import Image

    own_wide, own_high = Image.open(io.BytesIO(picture)).size
    scale = min(wide / own_wide, high / own_high)
    return scale, (wide - own_wide * scale) / 2, (high - own_high * scale) / 2
