"""Files as they come: encodings, packed with gzip, what is no text, and the limits of size."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Callable
from datetime import datetime

import openpyxl
import pytest
from approved import has_approved
from estates import workbook
from traces import GOOD, JOBS, jobs_of, refused, same

from gpuplan.audit import TraceError, files
from gpuplan.audit.files import MAX_COLUMNS, Workbook


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: gzip.compress(text.encode()),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: ("\n\n" + text).encode(),
        lambda text: text.replace("vision", '"vision"').replace("\n", ",\n").encode(),
    ],
    ids=["bom", "utf-16", "gzip", "crlf", "blank first lines", "quoted, a last empty cell"],
)
def test_other_ways_to_write_the_same(change: Callable[[str], bytes]) -> None:
    same(jobs_of(change(JOBS)), jobs_of(JOBS))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"PK\x03\x04rest", "workbook"),
        (b"PAR1rest", "Parquet"),
        (b"%PDF-1.7", "PDF"),
        (b"abc\0def", "binary"),
        (gzip.compress(JOBS.encode(), mtime=0)[:40], "unpacked"),
        (b"\x1f\x8bnot gzip at all", "unpacked"),
    ],
)
def test_what_is_no_text(data: bytes, said: str) -> None:
    assert said in refused(data)


def test_a_quotation_mark_left_open_and_a_line_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "quotation mark" in refused('submit,duration,gpus\n"' + GOOD * 10_000)
    monkeypatch.setattr(files, "MAX_LINE", 1000)
    assert has_approved(refused("submit,duration,gpus\n" + "x" * 5000), "1000 characters")


def test_a_packed_file_holds_no_more_than_text_can(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "submit,duration,gpus\n" + GOOD * 20_000
    monkeypatch.setattr(files, "FREE_BYTES", 1_000)
    assert len(text) / len(gzip.compress(text.encode())) > files.MAX_RATIO
    assert has_approved(refused(gzip.compress(text.encode())), "100 times")
    monkeypatch.setattr(files, "FREE_BYTES", 200_000)
    assert len(jobs_of(gzip.compress(text.encode())).gpus) == 20_000


def test_lines_are_put_together_across_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "submit,duration,gpus\n" + "".join(f"2024-05-01 00:00:{n % 60:02},{n + 1},1\n" for n in range(500))
    whole = jobs_of(text)
    for size in (40, 41, 57, 100):
        monkeypatch.setattr(files, "MAX_LINE", size)
        same(jobs_of(text), whole)


def test_bytes_that_are_no_utf8_do_no_harm() -> None:
    jobs = jobs_of(b"submit,duration,gpus,group\n2024-05-01,60,1,M\xfcller\n")
    assert jobs.groups == ("M\ufffdller",)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize(
    "title",
    [
        "GPU use",
        "GPU use of 2024\n\nby: A, B; C",
        "sep=,",
        "# exported\n# by me",
        "Use,,,,,,\nfrom,2024-05-01,,,,,\n,,,,,,",
    ],
)
def test_a_title_above_the_header_is_left_out_and_said(title: str, delimiter: str) -> None:
    jobs = jobs_of(f"{title}\n{JOBS}".replace(",", delimiter))
    same(jobs, jobs_of(JOBS))
    lines = [line for line in title.split("\n") if line.strip(",") and line[0] not in "#s"]
    assert [f": {len(lines)} line" in note for note in jobs.reading.notes] == [True] * bool(lines)
    broken = f"{title}\n{JOBS}2024-05-01 00:00:00,?,60,1,x,y,Pass\n".replace(",", delimiter)
    assert jobs_of(broken).reading.skipped[0].first_line == len(title.split("\n")) + 5
    assert not jobs_of(JOBS).reading.notes


def test_utf_16_without_its_mark() -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        same(jobs_of(JOBS.encode(encoding)), jobs_of(JOBS))
        same(jobs_of(gzip.compress(JOBS.replace("\n", "\r\n").encode(encoding))), jobs_of(JOBS))


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
