"""Files as they come: encodings, packed with gzip, what is no text, and the limits of size."""

from __future__ import annotations

import gzip
from collections.abc import Callable

import pytest
from approved import has_approved
from traces import GOOD, JOBS, jobs_of, refused, same

from gpuplan.audit import files


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
