"""A workbook in progress: its sheets with tables, its footer and paper, and names for its cells."""

import datetime
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

import xlsxwriter

from gpuplan.deliver.brand import PLAIN, Brand
from gpuplan.deliver.xlsx.cells import NUMBERS, SIZE, Styles, cleaned, digits, plain
from gpuplan.deliver.xlsx.page import BOLD, PRINTED, Page, fitted, wide, widest_word
from gpuplan.plan import Plan
from gpuplan.report import table as report
from gpuplan.report.figures import as_of, paper_of
from gpuplan.report.kinds import KINDS
from gpuplan.report.tables.plan import cited_sources
from gpuplan.wording import run_words, said

NARROW, WIDE = 7.0, 90.0
"""Width of a column of text, at least and at most."""
BROKEN = 26.0
COMFORTS = (36.0, 24.0, 18.0, 14.0, 10.0)
"""Widths below which long texts are not squeezed, the first that leaves room for all columns."""
ROOM = 2.0
GROWTH = 2
"""Further digits that an amount of money may need when inputs change."""
HEAD = 3
"""Row of the heads, from 0; title and note are above."""
PAPERS = {"": 9, "a4": 9, "letter": 1}
"""Paper -> its number in a workbook; A4 where none is chosen."""
MOST_TITLES = 2
"""Most sources that are cited by title; of more, only the numbers appear."""


class SheetColumn(NamedTuple):
    """Head and kind of a column."""

    head: str
    kind: str = "text"


class Block(NamedTuple):
    """One of several tables of a sheet, with the text below it."""

    title: str
    columns: Sequence[SheetColumn]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = ()
    totals: int = 0
    """Number of rows at the end that sum up the others."""


def worded(table: str, rows: Iterable[Mapping[str, Any]], currency: str = "") -> Block:
    """Rows under the columns of a table; cells that a row lacks stay empty."""
    columns = report.columns(table, currency)
    rows_of = [[row.get(column.key) for column in columns] for row in rows]
    return Block("", list(map(laid, columns)), rows_of)


def at_column(table: str, key: str) -> int:
    """Return the index of a column of a table in ``data/words/columns.csv``, from 0."""
    return next(at for at, row in enumerate(report.COLUMNS[table]) if row["column"] == key)


def column_of(table: report.Table, key: str) -> int:
    """Return the index of a table's column, from 0."""
    return next(at for at, column in enumerate(table.columns) if column.key == key)


def ordered(table: report.Table, *first: str) -> report.Table:
    """Return the table with some columns first: those for which a page has room."""
    keys = [column.key for column in table.columns]
    order = sorted(range(len(keys)), key=lambda n: first.index(keys[n]) if keys[n] in first else len(first))
    return table.at(order)


def need_of(column: SheetColumn, values: Iterable[Any], comfort: float = COMFORTS[0]) -> tuple[float, float]:
    """(least, natural) width of a column: numbers whole, words unbroken, and a line for most texts."""
    numeric = column.kind in NUMBERS
    least = max(NARROW, min(BROKEN, widest_word(column.head, bold=True))) + ROOM
    natural = max(least, min(wide(column.head, bold=True) + ROOM, 14 if numeric else WIDE))
    for value in values:
        content, kind = plain(value, column.kind)
        if isinstance(content, str):
            long = max(map(wide, content.split("\n"))) + ROOM
            least = max(least, min(BROKEN, widest_word(content)) + ROOM)
            least, natural = max(least, min(long, comfort)), max(natural, min(WIDE, long))
        else:
            taken = digits(content, kind) * BOLD + ROOM + GROWTH * (kind in ("money", "change"))
            least, natural = max(least, taken), max(natural, taken)
    return least, natural


def laid(column: report.Column) -> SheetColumn:
    """A column of a topic's table on a sheet, the unit in its head."""
    has_unit = not column.unit or re.search(rf"\b{re.escape(column.unit)}\b", column.label)
    unit = "" if has_unit else f", {column.unit}"
    head = (column.label or said(f"sheet.head.{column.key}")) + unit
    return SheetColumn(head, KINDS[column.kind].cell or "text")


def needs_of(blocks: Sequence[Block], comfort: float) -> list[tuple[float, float]]:
    """(least, natural) width of each of the columns that tables below each other share."""
    needs = (
        [need_of(column, [row[at] for row in block.rows], comfort) for at, column in enumerate(block.columns)]
        for block in blocks
    )
    return list(map(widest, zip_longest(*needs, fillvalue=(0.0, 0.0))))


def widest(needs: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """(least, natural) width of a column with all these needs."""
    least, natural = map(max, zip(*needs, strict=True))
    return least, natural


def printed_widths(needs: Sequence[tuple[float, float]]) -> tuple[list[float], int]:
    """Return (widths of columns, number on a page): columns without room are beside the page in full width."""
    count = max(1, sum(taken <= PRINTED for taken in accumulate(least for least, _ in needs)))
    return [*fitted(needs[:count], PRINTED), *(natural for _, natural in needs[count:])], count


def all_printed(blocks: Sequence[Block]) -> list[float]:
    """Return widths at which all columns fit on a page, with texts squeezed as far as necessary."""
    needs: list[tuple[float, float]] = []
    for comfort in COMFORTS:
        needs = needs_of(blocks, comfort)
        if sum(least for least, _ in needs) <= PRINTED:
            break
    return fitted(needs, PRINTED)


class Named(NamedTuple):
    """The name of a cell in formulas."""

    name: str
    what: str
    address: str
    editable: bool
    kind: str
    value: Any


class Book:
    """A workbook in progress, with its styles and its ways to lay out a sheet."""

    def __init__(self, plan: Plan, brand: Brand = PLAIN) -> None:
        self._file = io.BytesIO()
        as_text = dict.fromkeys(("strings_to_formulas", "strings_to_urls", "strings_to_numbers"), False)
        font = {"font_name": brand.text, "font_size": SIZE}
        options = {"in_memory": True, **as_text, "default_format_properties": font}
        self.file = xlsxwriter.Workbook(self._file, options)
        author = brand.name or plan.scenario.document.author or ""
        texts = {"title": plan.scenario.name, "author": author, "company": brand.name}
        about = {name: cleaned(text)[:255] for name, text in texts.items()}
        created = datetime.datetime.fromisoformat(as_of(plan))
        self.file.set_properties(about | {"subject": said("sheet.subject"), "created": created})
        self.brand, self.named = brand, list[Named]()
        self._styles = Styles(self.file, brand)
        self._plan, self._paper = plan, paper_of(plan) or brand.paper
        self._pages: list[Page] = []
        cited = (id for id in cited_sources(plan) if id in plan.catalog.sources)
        self._numbers = {id: at for at, id in enumerate(cited, 1)}

    def content(self) -> bytes:
        """The bytes of the file."""
        for page in self._pages:
            page.close()
        self.file.close()
        return self._file.getvalue()

    def name(
        self, name: str, address: str, what: str, value: Any, *, kind: str = "num", editable: bool = False
    ) -> None:
        """Give a cell a name, which formulas may use and a sheet lists."""
        self.file.define_name(name, f"={address}")
        self.named.append(Named(name, what, address, editable, kind, value))

    def page(self, name: str, widths: Sequence[float], *, portrait: bool = False) -> Page:
        """A new sheet without content, set up for print."""
        sheet = self.file.add_worksheet(name)
        page = Page(sheet, self._styles, widths)
        if not portrait:
            sheet.set_landscape()
        sheet.set_paper(PAPERS[self._paper])
        sheet.set_margins(left=0.35, right=0.35, top=0.4, bottom=0.55)
        sheet.fit_to_pages(1, 0)
        footer = cleaned(self.brand.footer or self.brand.name).replace("&", "&&")
        sheet.set_footer(f"&L&8{footer}&C&8&A&R&8&P / &N", {"scale_with_doc": False})
        sheet.hide_gridlines(2)
        self._pages.append(page)
        return page

    def titled(self, name: str, note: str, widths: Sequence[float], title: str = "") -> Page:
        """Add a sheet with title and note above the content, which begins at row `HEAD`."""
        page = self.page(name, widths)
        page.note(0, title or name, "title")
        page.note(1, note)
        page.high(2, 6)
        return page

    def block(
        self, table: report.Table, live: Mapping[str, Sequence[Any]] | None = None, *, titles: bool = False
    ) -> Block:
        """Lay out a topic's table in full; ``live`` replaces some columns; sources by number, or a few by title."""
        table = table.keyless()
        rows = (zip(row, table.columns, strict=True) for row in table.cells())
        cells = [[self._value(cell, column, titles) for cell, column in row] for row in rows]
        for key, values in (live or {}).items():
            at = column_of(table, key)
            for row, value in zip(cells, values, strict=False):
                row[at] = value
        return Block(table.title, list(map(laid, table.columns)), cells, table.notes, table.totals)

    def _value(self, cell: report.Cell, column: report.Column, titles: bool) -> Any:
        """Return the value of a cell: a number where its column has numbers, else the text that readers see."""
        if column.kind == "sources":
            return self.cited(cell.value or (), titles=titles)
        if isinstance(cell.value, str) and cell.words is None and KINDS[column.kind].cell:
            return cell.value
        is_number = isinstance(cell.value, int | float) and KINDS[column.kind].cell
        return cell.value if is_number else report.words(cell, column)

    def cited(self, ids: Iterable[str], *, titles: bool = False) -> str:
        """Cite sources by their numbers on the sheet of sources, or a few by their titles."""
        sources, unique = self._plan.catalog.sources, list(dict.fromkeys(ids))
        if titles and len(unique) <= MOST_TITLES:
            named = {id: sources[id].title for id in unique if id in sources}
            named["scenario"] = said("sheet.this scenario")
            return "; ".join(named.get(id, id) for id in unique)
        numbers = sorted(self._numbers[id] for id in unique if id in self._numbers)
        listed = [f"[{run_words(numbers, dash='-')}]"] if numbers else []
        return ", ".join([said("sheet.this scenario")] * ("scenario" in unique) + listed)

    def topic(self, name: str, note: str, block: Block) -> Page | None:
        """A sheet with one table that can be filtered, and notes below it; none without rows."""
        if not block.rows:
            return None
        widths, printed = printed_widths(needs_of([block], COMFORTS[0]))
        page = self.titled(name, note, widths)
        _rows(page, HEAD, block)
        if count := len(block.rows) - block.totals:
            page.sheet.autofilter(HEAD, 0, HEAD + count, len(block.columns) - 1)
        for at, words in enumerate(block.notes, HEAD + len(block.rows) + 2):
            page.note(at, words)
        page.sheet.freeze_panes(HEAD + 1, 1)
        page.sheet.repeat_rows(HEAD)
        page.print_columns(printed)
        return page

    def topics(self, name: str, note: str, blocks: Iterable[Block], title: str = "") -> Page | None:
        """A sheet with several tables below each other; none without rows."""
        filled = [block for block in blocks if block.rows]
        if not filled:
            return None
        page, at = self.titled(name, note, all_printed(filled), title), HEAD
        for block in filled:
            page.note(at, block.title, "section")
            _rows(page, at + 1, block)
            at += len(block.rows) + 2
            for below, words in enumerate(block.notes):
                page.note(at + below, words)
            at += len(block.notes) + 1
        page.sheet.freeze_panes(HEAD, 0)
        page.sheet.repeat_rows(0)
        return page


def _rows(page: Page, head: int, block: Block) -> None:
    for col, column in enumerate(block.columns):
        page.put(head, col, column.head, "head of numbers" if column.kind in NUMBERS else "head")
    last = head + len(block.rows) - block.totals
    for at, row in enumerate(block.rows, start=head + 1):
        for col, (column, value) in enumerate(zip(block.columns, row, strict=True)):
            page.put(at, col, value, column.kind, bold=at > last)
