"""Workbooks from outside."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime

import openpyxl
import pytest
from estates import workbook

from gpuplan.audit import TraceError
from gpuplan.audit.workbook import MAX_COLUMNS, Workbook


def rows_of(data: bytes) -> dict[str, list[list[str]]]:
    return {name: list(rows) for name, rows in Workbook(io.BytesIO(data)).sheets()}


def replaced(data: bytes, part: str, content: bytes) -> bytes:
    """A workbook with other content of a part."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, content if name == part else old.read(name))
    return out.getvalue()


def test_cells_are_read_as_text_with_gaps_and_several_sheets() -> None:
    data = workbook(vInfo=[["VM", "CPUs", None, "on"], ["a", 8, None, True]], ESX_Hosts=[["Host"], ["h"]])
    rows = {"vInfo": [["VM", "CPUs", "", "on"], ["a", "8", "", "True"]], "ESX Hosts": [["Host"], ["h"]]}
    assert rows_of(data) == rows


def test_another_program_writes_the_same_and_dates_are_dates() -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["when", "what"])
    sheet.append([datetime(2026, 11, 29, 1, 30), "a"])
    out = io.BytesIO()
    book.save(out)
    assert rows_of(out.getvalue()) == {"Sheet": [["when", "what"], ["2026-11-29 01:30:00", "a"]]}


def test_formulas_are_not_computed() -> None:
    data = workbook(Sheet1=[["=1+1", '=HYPERLINK("http://example.test")']])
    assert rows_of(data) == {"Sheet1": [["0", "0"]]}


SHEET = "xl/worksheets/sheet1.xml"
HEAD = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'


@pytest.mark.parametrize(
    "content",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaa">]><worksheet>&a;</worksheet>',
        '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE x [<!ENTITY a "aaaa">]><w>&a;</w>'.encode("utf-16"),
        HEAD + b'<row><c r="XFDZ1"><v>1</v></c></row></sheetData></worksheet>',
        HEAD + b"<row><c>" * 10,
        HEAD + b"<row>" + b" " * 30_000_000,
        b"\0\1\2",
    ],
)
def test_hostile_parts_are_refused(content: bytes) -> None:
    with pytest.raises(TraceError):
        rows_of(replaced(workbook(Sheet1=[["a"]]), SHEET, content))


def test_a_format_without_a_number_is_none() -> None:
    styles = b'<styleSheet><numFmts><numFmt numFmtId="x"/></numFmts><cellXfs><xf numFmtId="y"/></cellXfs></styleSheet>'
    data = replaced(workbook(Sheet1=[["a", 8]]), "xl/styles.xml", styles)
    assert rows_of(data) == {"Sheet1": [["a", "8"]]}


def test_no_more_columns_than_a_sheet_can_have() -> None:
    cells = b"".join(b"<c><v>1</v></c>" for _ in range(MAX_COLUMNS + 1))
    with pytest.raises(TraceError):
        rows_of(
            replaced(
                workbook(Sheet1=[["a"]]), SHEET, HEAD + b"<row>" + cells + b"</row></sheetData></worksheet>"
            )
        )


@pytest.mark.parametrize("data", [b"PK\3\4", b"", b"no zip", workbook(a=[["b"]])[:-100]])
def test_what_is_no_workbook_is_refused(data: bytes) -> None:
    with pytest.raises(TraceError):
        rows_of(data)
    empty = io.BytesIO()
    with zipfile.ZipFile(empty, "w") as file:
        file.writestr("a.txt", "a")
    with pytest.raises(TraceError):
        rows_of(empty.getvalue())
