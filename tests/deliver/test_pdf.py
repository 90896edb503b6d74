"""PDFs: what LibreOffice prints of the files themselves, the same bytes each time, and what is said where it cannot."""

from __future__ import annotations

import io
import os
import re
import select
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from approved import is_approved
from workbooks import converted, libreoffice, poppler

from gpuplan import Plan
from gpuplan.deliver import bundle, design_files, pdf
from gpuplan.deliver.document.docx_file import heading_pages
from gpuplan.deliver.pdf import PdfError, has_office, pdf_of

DOTS = 40
"""To the inch, of the pages compared."""
MOST_APART = 1.0
"""Mean difference of the points of a page, of 255: lossless pictures, and those that LibreOffice packs by default."""


def pages(path: Path) -> list[str]:
    """Text of each page of a PDF."""
    command = [poppler(), "-layout", str(path), "-"]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode().split("\f")[:-1]


def points(path: Path) -> list[bytes]:
    """Each page of a PDF as a grey picture."""
    subprocess.run(
        [poppler("pdftoppm"), "-r", str(DOTS), "-gray", str(path), str(path.with_suffix(""))], check=True
    )
    return [picture.read_bytes() for picture in sorted(path.parent.glob(f"{path.stem}-*.pgm"))]


@pytest.mark.slow
def test_the_contents_of_the_document_have_the_pages_of_its_pdf(
    example_files: Callable[[str], dict[str, bytes]],
) -> None:
    libreoffice()
    files = example_files("starter")
    with zipfile.ZipFile(io.BytesIO(files["starter-example.docx"])) as packed:
        text = packed.read("word/document.xml").decode()
    written = re.findall(r"PAGEREF (\w+) .*?<w:t>(\d+)</w:t>", text, re.DOTALL)
    assert {mark: int(page) for mark, page in written} == heading_pages(files["starter-example.pdf"])


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "ending"), bundle.PRINTED.items())
def test_a_pdf_is_its_office_file_page_by_page(
    kind: str, ending: str, example_files: Callable[[str], dict[str, bytes]], tmp_path: Path
) -> None:
    libreoffice()
    files = example_files("starter")
    stem, suffix = "starter-example", kind if kind == "pptx" else "docx"
    ours = tmp_path / "ours.pdf"
    ours.write_bytes(files[stem + ending])
    office = files[f"{stem}{bundle.ENDINGS.get(kind, f'.{kind}')}"]
    (theirs,) = converted(tmp_path, {f"theirs.{suffix}": office}, "pdf").values()
    assert pages(ours) == pages(theirs)
    for page, (one, two) in enumerate(zip(points(ours), points(theirs), strict=True), 1):
        assert len(one) == len(two)
        assert sum(abs(a - b) for a, b in zip(one, two, strict=True)) / len(one) < MOST_APART, page


def test_the_same_file_makes_the_same_pdf_of_its_day(
    example_files: Callable[[str], dict[str, bytes]], tmp_path: Path
) -> None:
    libreoffice()
    deck = example_files("starter")["starter-example.pptx"]
    one = pdf_of({"../a b; $(c).pptx": deck, "\u8a2d\u8a08.pptx": deck}, day="2026-11-21")
    assert list(one) == ["../a b; $(c).pptx", "\u8a2d\u8a08.pptx"]
    assert len({*one.values(), *pdf_of({"x.pptx": deck}, day="2026-11-21").values()}) == 1
    path = tmp_path / "deck.pdf"
    path.write_bytes(next(iter(one.values())))
    about = subprocess.run([poppler("pdfinfo"), str(path)], check=True, capture_output=True).stdout.decode()
    assert re.search("CreationDate: .*Nov 21 .*2026", about) and re.search("Tagged: *yes", about)


def office(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program in place of LibreOffice."""
    program = folder / "soffice"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(pdf, "PROGRAMS", (str(program),))


def test_without_libreoffice_all_else_is_made_and_the_text_says_how_to_get_it(
    plans: dict[str, Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "PROGRAMS", ())
    monkeypatch.setattr(bundle, "KINDS", {"yaml": "", "docx": "", "pdf": ""})
    missed: list[str] = []
    assert not has_office() and bundle.kinds_made_here() == ("yaml", "docx")
    assert [Path(name).suffix for name in design_files(plans["starter"], missed=missed.append)] == [
        ".yaml",
        ".docx",
    ]
    assert is_approved(*missed)
    with pytest.raises(PdfError, match=re.escape(missed[0])):
        design_files(plans["starter"], ["pdf"])


def test_what_libreoffice_cannot_print_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    office(tmp_path, monkeypatch, "exit 1")
    with pytest.raises(PdfError, match=r"a\.docx"):
        pdf_of({"a.docx": b""})
    assert pdf_of({}) == {}


def test_libreoffice_is_ended_with_all_that_it_started_when_it_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = tmp_path / "held"
    os.mkfifo(held)
    end = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    ours = os.open(held, os.O_WRONLY)  # so that the pipe has an end also if nothing came to open it
    office(tmp_path, monkeypatch, f"sleep 600 >{held} &\nsleep 600")
    monkeypatch.setattr(pdf, "MOST_SECONDS", 0.2)
    with pytest.raises(PdfError, match=r"0\.2"):
        pdf_of({"a.docx": b""})
    os.close(ours)
    assert select.select([end], [], [], 10)[0] and os.read(end, 1) == b"", "no process holds the pipe"
    os.close(end)
