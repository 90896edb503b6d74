"""Files from the browser: templates are checked when they have arrived, and one that is none changes nothing."""

from __future__ import annotations

import gc
import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved, is_approved
from branding import LOGO, OWN_LOGO

from gpuplan.app.uploading import SCRATCH, Dress, Upload
from gpuplan.deliver.brand import load_brand
from gpuplan.deliver.template import MOST_TEMPLATE_BYTES

OFFICE = "application/vnd.openxmlformats-officedocument"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def office(kind: str, **parts: bytes) -> bytes:
    """As little of an Office file as the check looks at."""
    relations = f"<Relationships><Relationship Id='r' Type='{RELATIONS}/officeDocument' Target='main.xml'/></Relationships>"
    types = f"<Types><Override PartName='/main.xml' ContentType='{OFFICE}.{kind}.main+xml'/></Types>"
    held = {"[Content_Types].xml": types, "_rels/.rels": relations, "main.xml": "<main/>", **parts}
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        for name, content in held.items():
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
def template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dress:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    return Dress(lambda: None, "docx")


def test_a_template_arrives_in_pieces_and_is_used(template: Dress, tmp_path: Path) -> None:
    assert send(template, "acme.docx", DOCX)[-1]
    assert (template.used, template.error, template.name) == ("acme.docx", "", "")
    with zipfile.ZipFile(template.kept) as packed:
        assert packed.namelist() == ["[Content_Types].xml", "_rels/.rels", "main.xml"]
    send(template, "acme.dotx", DOTX)
    assert template.used == "acme.dotx"
    assert b"document.main" in zipfile.ZipFile(template.kept).read("[Content_Types].xml")
    template.remove()
    assert (template.used, template.kept.exists()) == ("", False)
    del template
    gc.collect()


@pytest.mark.parametrize(
    ("name", "content", "figures"),
    [
        ("a.pdf", b"%PDF-1.7", ("a.pdf", "DOCX")),
        (
            "deck.pptx",
            PPTX,
            ("deck.pptx", "DOCX"),
        ),
        ("cut.docx", DOCX[:-30], ("cut.docx", "DOCX")),
        ("macro.docm", office("wordprocessingml.document", **{"vbaProject.bin": b"x"}), ("macro.docm",)),
        ("none.docx", b"", ("none.docx",)),
    ],
)
def test_a_file_that_is_no_template_is_refused_and_the_one_before_stays(
    template: Dress, name: str, content: bytes, figures: tuple[str, ...]
) -> None:
    send(template, "in use.docx", DOCX)
    kept = template.kept.read_bytes()
    send(template, name, content)
    assert has_approved(template.error, *figures)
    assert (template.used, template.kept.read_bytes()) == ("in use.docx", kept)
    assert [path.name for path in template.kept.parent.iterdir()] == ["in use.docx"]
    send(template, "better.docx", DOCX)
    assert (template.used, template.error) == ("better.docx", "")


def test_a_template_that_is_too_large_is_refused_at_its_first_piece(template: Dress) -> None:
    template.receive("big.docx", MOST_TEMPLATE_BYTES + 1, 0, b"x")
    assert has_approved(template.error, "30,000,001 bytes", "30,000,000")
    assert template.receive("big.docx", MOST_TEMPLATE_BYTES + 1, 1, b"x") is False
    assert template.used == ""


def test_nothing_is_left_when_the_session_forgets_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    template = Dress(lambda: None, "docx")
    send(template, "acme.docx", DOCX)
    assert list(tmp_path.iterdir())
    del template
    gc.collect()
    assert list(tmp_path.iterdir()) == []


NAMES = {
    "one dot": ".",
    "two dots": "..",
    "nothing": "",
    "100 characters of four bytes": "\U0001f680" * 100,
    "10 000 characters": "x" * 10_000,
    "slashes": "../../etc/passwd",
    "backslashes": "..\\..\\a",
    "absolute": "/etc/passwd",
    "nul": "a\0b",
    "right to left": "\u202efdp.docx",
    "half a character": "a\ud83d",
    "lines": "a\nb\r\x1b[31m",
    "ours": "in use.docx",
    "an option": "-rf",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_any_name_is_only_shown(template: Dress, tmp_path: Path, name: str) -> None:
    assert send(template, name, DOCX)[-1]
    assert (template.error, template.used.isprintable(), bool(template.used)) == ("", True, True)
    assert len(template.used) <= 200
    send(template, name, b"no template")
    assert has_approved(template.error)
    assert template.error.isprintable() and len(template.error) < 300
    assert [path.name for path in template.kept.parent.iterdir()] == ["in use.docx"]
    assert [path.parent for path in tmp_path.iterdir()] == [tmp_path]
    send(template, "next.docx", DOCX)
    assert (template.used, template.error) == ("next.docx", "")


@pytest.mark.parametrize("size", [-1, True, False, 1.5, float("nan"), float("inf"), "9", None, [1]])
def test_a_size_that_is_none_is_refused(template: Dress, size: Any) -> None:
    assert template.receive("a.docx", size, 0, b"x") is False
    assert has_approved(template.error, "a.docx")
    assert send(template, "a.docx", DOCX)[-1] and template.error == ""


def test_more_than_was_declared_is_not_stored(template: Dress) -> None:
    assert template.receive("a.docx", 10, 0, b"x" * 11) is False
    assert has_approved(template.error, "10 bytes")
    template.receive("a.docx", 10, 0, b"x" * 6)
    template.receive("a.docx", 10, 6, b"x" * 1_000_000)
    assert has_approved(template.error)
    assert list(template.folder.iterdir()) == []
    assert send(template, "a.docx", DOCX)[-1] and template.error == ""


@pytest.mark.parametrize("at", [-1, 5, 200, True, 100.0, "100", None, float("nan")])
def test_pieces_out_of_order_are_ignored(template: Dress, at: Any) -> None:
    template.receive("a.docx", len(DOCX), 0, DOCX[:100])
    assert template.receive("a.docx", len(DOCX), at, b"x" * 50) is False
    assert (template.got, template.path.stat().st_size, template.error) == (100, 100, "")
    assert template.receive("a.docx", len(DOCX), 100, DOCX[100:])
    assert template.used == "a.docx"


def test_less_than_was_declared_waits_for_the_rest_and_stops_nothing(template: Dress) -> None:
    template.receive("a.docx", len(DOCX) + 1, 0, DOCX)
    assert (template.used, template.error) == ("", "")
    send(template, "b.docx", DOCX)
    assert template.used == "b.docx"


def test_a_full_disk_is_said(template: Dress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dress, "path", Path("/dev/full"))
    monkeypatch.setattr(Path, "unlink", lambda self, missing_ok: None)
    assert template.receive("a.docx", 10, 0, b"x" * 10) is False
    assert has_approved(template.error, "a.docx")


def test_what_was_left_out_is_said(template: Dress) -> None:
    away = f"<Relationships><Relationship Id='x' Type='{RELATIONS}/image' Target='http://a.test/x' TargetMode='External'/></Relationships>"
    send(template, "a.docx", office("wordprocessingml.document", **{"_rels/main.xml.rels": away.encode()}))
    assert template.used == "a.docx"
    assert is_approved(template.note, "_rels/main.xml.rels")
    template.remove()
    assert template.note == ""


PNG = LOGO


def packed(**files: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_", "."), content)
    return stream.getvalue()


@pytest.fixture
def brand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dress:
    monkeypatch.setenv(SCRATCH, str(tmp_path))
    return Dress(lambda: None, "brand")


def test_a_brand_is_a_file_or_comes_with_its_logo(brand: Dress) -> None:
    send(brand, "acme.yaml", b"name: ACME")
    assert (brand.used, brand.error, load_brand(brand.kept).name) == ("acme.yaml", "", "ACME")
    files = {"ACME__acme_yml": b"name: ACME\nlogo: logo.png", "ACME__logo_png": PNG, "ACME___x_yml": b"macOS"}
    send(brand, "acme.zip", packed(**files))
    assert (brand.used, brand.error, load_brand(brand.kept).logo) == ("acme.zip", "", OWN_LOGO)
    assert brand.turn == 2
    brand.remove()
    assert (brand.used, brand.kept.exists(), brand.turn) == ("", False, 3)


@pytest.mark.parametrize(
    ("content", "figures"),
    [
        (b"colour: blue", ('"colour"', "colours")),
        (b"colours: {accent: '#FFFF00'}", ("brand.colours.accent", '"#FFFF00"')),
        (b"logo: logo.png", ()),
        (b"name: [", ("YAML",)),
        (b"\xff\xfe\x00", ("UTF-8",)),
        (b"PK nothing", ("ZIP",)),
        (packed(logo_png=PNG), ("ZIP", "0")),
        (packed(a_yaml=b"", b_yml=b""), ("2",)),
        (packed(a_yaml=b"logo: l.png", l_png=b"GIF89a"), ("PNG", "JPEG")),
        (b"a: 1\nb: 2\nc: 3\nd: 4", ('"c"',)),
    ],
)
def test_a_brand_that_is_wrong_names_the_field_and_the_one_before_stays(
    brand: Dress, content: bytes, figures: tuple[str, ...]
) -> None:
    send(brand, "acme.yaml", b"name: ACME")
    send(brand, "other.file", content)
    assert has_approved(brand.error, "other.file")
    assert has_approved(brand.error, *figures)
    assert '"d"' not in brand.error, "a few mistakes are enough to read"
    assert (brand.used, load_brand(brand.kept).name, brand.turn) == ("acme.yaml", "ACME", 1)
