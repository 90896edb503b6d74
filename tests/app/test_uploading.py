"""Files from the browser: templates are checked when they have arrived, and one that is none changes nothing."""

from __future__ import annotations

import gc
import io
import zipfile
from pathlib import Path

import pytest

from gpuplan.app.uploading import MOST_TEMPLATE_BYTES, SCRATCH, Template, Upload

OFFICE = "application/vnd.openxmlformats-officedocument"


def office(kind: str, **parts: bytes) -> bytes:
    """As little of an Office file as the check looks at."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr("[Content_Types].xml", f"<Types>{OFFICE}.{kind}.main+xml</Types>")
        for name, content in parts.items():
            packed.writestr(name, content)
    return stream.getvalue()


DOCX, DOTX = office("wordprocessingml.document"), office("wordprocessingml.template")
PPTX = office("presentationml.presentation")


def send(upload: Upload, name: str, content: bytes, piece: int = 100) -> list[bool]:
    return [
        upload.receive(name, len(content), at, content[at : at + piece])
        for at in range(0, max(1, len(content)), piece)
    ]


@pytest.fixture
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Template:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    return Template(lambda: None, "docx")


def test_a_template_arrives_in_pieces_and_is_used(template: Template, tmp_path: Path) -> None:
    assert send(template, "acme.docx", DOCX)[-1]
    assert (template.used, template.error, template.name) == ("acme.docx", "", "")
    with zipfile.ZipFile(template.kept) as packed:
        assert packed.namelist() == ["[Content_Types].xml"]
    send(template, "acme.dotx", DOTX)
    assert template.used == "acme.dotx"
    assert b"document.main" in zipfile.ZipFile(template.kept).read("[Content_Types].xml")
    template.remove()
    assert (template.used, template.kept.exists()) == ("", False)
    del template
    gc.collect()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.pdf", b"%PDF-1.7", "a.pdf was not taken: template is no DOCX file"),
        (
            "deck.pptx",
            PPTX,
            "deck.pptx was not taken: template is no DOCX file: it is a file of another kind",
        ),
        ("cut.docx", DOCX[:-30], "cut.docx was not taken: template is no DOCX file"),
        ("macro.docm", office("wordprocessingml.document", **{"vbaProject.bin": b"x"}), "macros"),
        ("none.docx", b"", "none.docx is empty"),
    ],
)
def test_a_file_that_is_no_template_is_refused_and_the_one_before_stays(
    template: Template, name: str, content: bytes, words: str
) -> None:
    send(template, "in use.docx", DOCX)
    kept = template.kept.read_bytes()
    send(template, name, content)
    assert words in template.error
    assert (template.used, template.kept.read_bytes()) == ("in use.docx", kept)
    assert [path.name for path in template.kept.parent.iterdir()] == ["in use.docx"]
    send(template, "better.docx", DOCX)
    assert (template.used, template.error) == ("better.docx", "")


def test_a_template_that_is_too_large_is_refused_at_its_first_piece(template: Template) -> None:
    template.receive("big.docx", MOST_TEMPLATE_BYTES + 1, 0, b"x")
    assert "30,000,001 bytes; here a file may have 30,000,000" in template.error
    assert template.receive("big.docx", MOST_TEMPLATE_BYTES + 1, 1, b"x") is False
    assert template.used == ""


def test_nothing_is_left_when_the_session_forgets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    template = Template(lambda: None, "docx")
    send(template, "acme.docx", DOCX)
    assert list(tmp_path.iterdir())
    del template
    gc.collect()
    assert list(tmp_path.iterdir()) == []
