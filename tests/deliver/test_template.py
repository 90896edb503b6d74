"""Templates: what is taken of a file, what is refused, what is left out, and that nothing else comes through."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import pytest
from docx import Document as word_file
from hostile.corpus import base, embedded, header_of, in_header, in_settings, office, related
from pptx import Presentation
from summaries import summary_of

from gpuplan.deliver import template as module
from gpuplan.deliver.pptx import pptx_bytes
from gpuplan.deliver.template import (
    checked_template,
    left_out_text,
    read_template,
    usable_template,
)
from gpuplan.deliver.untrusted import TemplateError
from gpuplan.plan import Plan


def parts(file: bytes) -> dict[str, bytes]:
    with ZipFile(BytesIO(file)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


@pytest.mark.parametrize("kind", ["docx", "pptx"])
def test_an_ordinary_template_keeps_its_looks_as_they_are(kind: str) -> None:
    checked = checked_template(office(kind), kind)
    found, given = parts(checked.file), base(kind)
    assert checked.left_out == ()
    looks = [name for name in found if name in given and not name.endswith((".rels", "[Content_Types].xml"))]
    assert all(found[name] == given[name] for name in looks)
    assert {"docx": "word/styles.xml", "pptx": "ppt/slideLayouts/slideLayout6.xml"}[kind] in looks
    gone = {name.partition("/")[2].partition("/")[0] for name in set(given) - set(found)}
    assert gone <= {
        "thumbnail.jpeg",
        "slides",
        "viewProps.xml",
        "stylesWithEffects.xml",
        "item1.xml",
        "itemProps1.xml",
        "_rels",
    }
    assert checked_template(checked.file, kind).file == checked.file
    opened = {"docx": word_file, "pptx": Presentation}[kind](BytesIO(checked.file))
    assert opened is not None


def test_the_attached_template_and_the_mail_merge_are_taken_out() -> None:
    for element, kind in (
        ('<w:attachedTemplate r:id="rX1"/>', "attachedTemplate"),
        ('<w:mailMerge><w:query w:val="x"/><w:dataSource r:id="rX1"/></w:mailMerge>', "mailMergeSource"),
    ):
        file = in_settings(element, kind, "file:///C:/x.dotm")
        checked = checked_template(file, "docx")
        found = parts(checked.file)
        assert b"x.dotm" in b"".join(parts(file).values())
        assert b"x.dotm" not in b"".join(found.values())
        assert kind[:9].encode() not in found["word/settings.xml"]
        assert b"<w:zoom" in found["word/settings.xml"]
        assert any(line.startswith("word/settings.xml (") for line in checked.left_out)


def test_several_harms_are_named_and_the_rest_is_counted() -> None:
    def change(held: dict[str, bytes]) -> None:
        for n in range(5):
            related(held, header_of(held), "image", f"http://a.test/{n}", id=f"rX{n}")
            part = f"media/{n}.png"
            embedded(header_of, "image", part, "image/png")(held)

    with pytest.raises(TemplateError, match=r"\(embedded file\) and 3 more; delete it there in Word"):
        checked_template(office("docx", change), "docx")


def test_a_link_that_is_not_clicked_is_refused() -> None:
    held = f'<w:x xmlns:r="{"http://schemas.openxmlformats.org/officeDocument/2006/relationships"}" r:link="rX1"/>'
    with pytest.raises(TemplateError, match=r"word/header1.xml \(linked content\)"):
        checked_template(in_header("hyperlink", "https://a.test/", held), "docx")


def test_xml_under_another_name_is_refused() -> None:
    change = embedded(header_of, "image", "media/x.png", "image/png", b"\xff\xfe<\0a\0/\0>\0")
    with pytest.raises(TemplateError, match="text under another name"):
        checked_template(office("docx", change), "docx")


def test_a_deck_of_ours_is_a_template_for_the_next(plans: dict[str, Plan]) -> None:
    plan = plans["starter"]
    ours = pptx_bytes(plan, summary_of(plan))
    checked = checked_template(ours, "pptx")
    assert any("embeddings" in line for line in checked.left_out)
    assert not any("slides/" in name or "embeddings" in name for name in parts(checked.file))
    again = pptx_bytes(plan, summary_of(plan), template=ours)
    assert len(Presentation(BytesIO(again)).slides) == len(Presentation(BytesIO(ours)).slides)


def test_no_more_is_read_than_a_template_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(office("docx"))
    assert read_template(path, "docx") == checked_template(office("docx"), "docx")
    monkeypatch.setattr(module, "MOST_TEMPLATE_BYTES", 1000)
    with pytest.raises(TemplateError, match="more than 1,000 bytes; take large pictures out of it"):
        read_template(path, "docx")
    with pytest.raises(TemplateError, match="more than 1,000 bytes"):
        read_template(Path("/dev/zero"), "docx")


def test_what_a_library_stumbles_over_is_said_in_one_line() -> None:
    with (
        pytest.raises(
            TemplateError, match=r"template cannot be read as a DOCX file: a\\nb; open it in Word"
        ) as caught,
        usable_template("docx"),
    ):
        raise RuntimeError("a\nb")
    assert str(caught.value).isprintable()
    with pytest.raises(ImportError), usable_template("docx"):
        raise ModuleNotFoundError("docx")


def test_what_was_left_out_as_a_sentence() -> None:
    assert left_out_text(()) == ""
    text = left_out_text(("a (x)", "b (y)", "a (x)", "c (z)", "d (z)"))
    assert text.endswith("run: a (x), b (y), c (z) and 1 more.")
