"""Office opens every file without a word: each part is valid by the schemas of Office, and headers, pictures and properties are there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from conftest import EXAMPLES
from lxml import etree
from programs import missing
from random_cases import of_the_day

pytestmark = pytest.mark.slow

FILES = [(name, ending) for name in EXAMPLES for ending in ("example.docx", "brief.docx", "pptx", "xlsx")]


@pytest.fixture(params=of_the_day(FILES, few=2), ids="-".join)
def file(
    request: pytest.FixtureRequest, example_files: Callable[[str], dict[str, bytes]], tmp_path: Path
) -> Path:
    """Office files of the examples, others each day."""
    name, ending = request.param
    path = tmp_path / f"file.{ending}"
    path.write_bytes(next(held for path, held in example_files(name).items() if path.endswith(ending)))
    return path


def faults(path: Path) -> list[str]:
    """What Office would stumble over, by part."""
    try:
        from openxml_audit import OpenXmlValidator
    except ModuleNotFoundError:
        missing("openxml-audit")
    found = OpenXmlValidator().validate(path).errors
    return [f"{fault.part_uri} {fault.path}: {fault.description}" for fault in found]


def test_every_part_is_valid(file: Path) -> None:
    assert faults(file) == []


def parts(path: Path, ending: str) -> Iterator[Any]:
    """The parts of a file whose names have such a beginning."""
    with ZipFile(path) as packed:
        for name in packed.namelist():
            if re.fullmatch(ending, name):
                yield etree.fromstring(packed.read(name))


def found(part: Any, tag: str) -> list[Any]:
    """Elements by the end of their name."""
    return [e for e in part.iter() if isinstance(e.tag, str) and etree.QName(e).localname == tag]


def test_tables_mark_their_header_and_pictures_have_a_text(file: Path) -> None:
    if file.suffix == ".docx":
        (document,) = parts(file, "word/document.xml")
        marked = [e for e in found(document, "tblLook") if e.get(e.tag.replace("tblLook", "firstRow")) == "1"]
        assert len(marked) == len(found(document, "tblHeader")) > (1 if "brief" in file.name else 20)
        assert all(picture.get("descr") for picture in found(document, "docPr"))
    elif file.suffix == ".pptx":
        for slide in parts(file, r"ppt/slides/slide\d+\.xml"):
            assert all(table[0].get("firstRow") == "1" for table in found(slide, "tbl"))
            pictures = [e[0] for e in found(slide, "nvPicPr") + found(slide, "nvGraphicFramePr")]
            assert [e.get("name") for e in pictures if not e.get("descr")] == []


def test_headings_do_not_jump(file: Path) -> None:
    if file.suffix != ".docx":
        pytest.skip("only documents have headings")
    (document,) = parts(file, "word/document.xml")
    styled = [
        int(e.values()[0][-1]) for e in found(document, "pStyle") if e.values()[0].startswith("Heading")
    ]
    levels = styled or [int(e.values()[0]) + 1 for e in found(document, "outlineLvl")]
    assert levels[0] == 1 and all(later <= level + 1 for level, later in pairwise(levels))


def test_a_file_says_what_it_is(file: Path) -> None:
    (core,), (app,) = parts(file, "docProps/core.xml"), parts(file, "docProps/app.xml")
    known = {etree.QName(e).localname: e.text for e in core}
    assert known["title"] and known["created"] and "Macintosh" not in str(etree.tostring(app))
    if file.suffix != ".xlsx":
        assert known["language"] == "en-GB" and known["category"] and known["creator"] == "gpuplan"
