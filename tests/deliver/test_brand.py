"""A brand file: what it may say, and that each refusal names field, value and what is allowed."""

from __future__ import annotations

import struct
import zlib
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from approved import has_approved
from branding import ACME, LOGO, OWN_LOGO, TEXT, acme
from PIL import Image

from gpuplan import load_scenario
from gpuplan.deliver.brand import (
    COLOURS,
    FONTS,
    LONGEST,
    MOST_FILE_BYTES,
    MOST_LOGO_BYTES,
    MOST_SIDE,
    PLAIN,
    TEXTS,
    Brand,
    brand_of,
    contrast_on_white,
    load_brand,
)
from gpuplan.report.drawing import ACCENT, TINT, Area, Drawing
from gpuplan.scenario import Problem, ScenarioError


def picture(kind: str, mode: str = "RGB", size: tuple[int, int] = (16, 8), **how: Any) -> bytes:
    """A picture with a corner of another colour."""
    image = Image.new(mode, size)
    image.putpixel(
        (0, 0),
        image.getpixel((0, 0))
        if mode in ("1", "P")
        else 200
        if mode in ("L", "I;16")
        else (200,) * len(image.getbands()),
    )
    written = BytesIO()
    image.save(written, kind, **how)
    return written.getvalue()


JPEG = picture("JPEG")


def refused(folder: Path, text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(ScenarioError) as error:
        brand_of(text if isinstance(text, bytes) else text.encode(), folder)
    return error.value.problems


def test_a_file_and_its_logo_are_read(tmp_path: Path) -> None:
    assert acme(tmp_path) == ACME
    (tmp_path / "acme.yaml").write_text(TEXT, encoding="utf-8")
    found = load_brand(tmp_path / "acme.yaml")
    assert found == ACME and found.logo == OWN_LOGO and found.logo_kind == "png"


def test_what_is_not_said_stays_as_it_is(tmp_path: Path) -> None:
    assert brand_of(b"name: ACME", tmp_path) == Brand(name="ACME")
    assert PLAIN.logo_kind == ""
    (tmp_path / "logo.jpg").write_bytes(JPEG)
    assert brand_of(b"logo: logo.jpg", tmp_path).logo_kind == "jpeg"


@pytest.mark.parametrize(
    ("text", "field", "value", "allowed"),
    [
        ("name: 7", "name", "7", f"at most {LONGEST} characters"),
        (f"name: {'n' * 81}", "name", "n" * 20, f"at most {LONGEST} characters"),
        ('name: "two\\nlines"', "name", "two", "one line"),
        ("footer: [a]", "footer", "a", f"at most {LONGEST} characters"),
        ("logo: 7", "logo", "7", "the name of a picture in the folder"),
        ("logo: ../logo.png", "logo", "../logo.png", "in the folder of the brand file"),
        ("logo: /etc/passwd", "logo", "/etc/passwd", "in the folder of the brand file"),
        ("logo: missing.png", "logo", "missing.png", "No such file"),
        ("logo: text.png", "logo", "text.png", "a PNG or JPEG picture of at most 2 MB"),
        ("logo: large.png", "logo", "large.png", "a PNG or JPEG picture of at most 2 MB"),
        ("colours: red", "colours", "red", ", ".join(COLOURS)),
        ('colours: {border: "#000000"}', "colours", "border", ", ".join(COLOURS)),
        ("colours: {accent: red}", "colours.accent", "red", "such as #0B5CAD"),
        ('colours: {ink: "#12345"}', "colours.ink", "#12345", "such as #0B5CAD"),
        ('colours: {quiet: "#777777"}', "colours.quiet", "#777777", "contrast of 4.5"),
        ('colours: {accent: "#FFD700"}', "colours.accent", "#FFD700", "darker colour"),
        ("fonts: Arial", "fonts", "Arial", ", ".join(FONTS)),
        ("fonts: {code: Arial}", "fonts", "code", ", ".join(FONTS)),
        ("fonts: {text: 'A; B'}", "fonts.text", "A; B", "the name of a font"),
        (f"fonts: {{headings: {'F' * 41}}}", "fonts.headings", "F" * 20, "the name of a font"),
        ("currency: euro", "currency", "euro", "a code such as EUR"),
        ("paper: a3", "paper", "a3", "a4 or letter"),
        ("colors: {}", "", "colors", "did you mean"),
    ],
)
def test_a_wrong_field_is_named_with_what_is_allowed(
    tmp_path: Path, text: str, field: str, value: str, allowed: str
) -> None:
    (tmp_path / "text.png").write_bytes(b"<svg/>")
    (tmp_path / "large.png").write_bytes(LOGO + bytes(MOST_LOGO_BYTES))
    (problem,) = refused(tmp_path, text)
    assert problem.path == f"brand.{field}".rstrip(".")
    assert value in problem.value
    assert allowed in problem.message


def test_every_field_is_tried_above(tmp_path: Path) -> None:
    """What is known, named in the refusal of a field that is like none."""
    (problem,) = refused(tmp_path, "zzzz: 1")
    assert has_approved(problem.message)
    assert (*TEXTS, *COLOURS, *FONTS) == ("name", "footer", "accent", "ink", "quiet", "headings", "text")


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    found = refused(tmp_path, 'paper: a3\ncurrency: 1\ncolours: {accent: "#FFFFFF", ink: blue}')
    assert [each.path for each in found] == [
        "brand.paper",
        "brand.currency",
        "brand.colours.accent",
        "brand.colours.ink",
    ]


@pytest.mark.parametrize(
    ("content", "allowed"),
    [
        (b"a: [", "YAML"),
        (b"\xff\xfe\xff", "UTF-8"),
        ("name: Acme".encode("utf-16"), "UTF-8"),
        (b"name: a\0b", "not text"),
        (b"name: A\nname: B", "once"),
        (b"a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "anchors"),
        (b"a: &a {x: 1}\nb:\n  <<: *a", "anchors"),
        (b"name: " + b"[" * 900, "nested"),
        (b"name: 2020-13-45", "cannot be read"),
        (b"name: " + b"9" * 60_000, "cannot be read"),
        (b"name: " + b"1:" * 1_000 + b"1", "cannot be read"),
        (b"name: [" + b"a," * 500 + b"a]", "more than 200 values"),
        (b"---\nname: A\n---\nname: B", "several documents"),
        (b"%TAG ! tag:x:\n---\nname: A", "%TAG"),
        (b"- a", "fields such as name, logo, colours"),
        (b"", "fields such as name"),
        (b"name: !!python/object/apply:os.system [ls]", "YAML"),
        (b"#" * (MOST_FILE_BYTES + 1), f"at most {MOST_FILE_BYTES:,} bytes"),
    ],
)
def test_a_file_that_is_no_brand_is_refused(tmp_path: Path, content: bytes, allowed: str) -> None:
    (problem,) = refused(tmp_path, content)
    assert problem.path == "brand" and allowed in problem.message


def test_a_file_may_be_as_large_as_the_limit_and_a_text_as_long(tmp_path: Path) -> None:
    start = f"name: {'n' * LONGEST}\n".encode()
    assert brand_of(start + b"#" * (MOST_FILE_BYTES - len(start)), tmp_path).name == "n" * LONGEST
    (tmp_path / "logo.png").write_bytes(LOGO + bytes(MOST_LOGO_BYTES - len(LOGO)))
    assert brand_of(b"logo: logo.png", tmp_path).logo == OWN_LOGO, "without what is behind the picture"


TAKEN = {
    "png": picture("PNG"),
    "transparent": picture("PNG", "RGBA"),
    "palette": picture("PNG", "P"),
    "black and white": picture("PNG", "1"),
    "16 bits": picture("PNG", "I;16"),
    "jpeg": JPEG,
    "progressive": picture("JPEG", progressive=True),
    "for print": picture("JPEG", "CMYK"),
    "grey": picture("JPEG", "L"),
    "with something behind it": picture("PNG") + b"PK\x03\x04<script>",
    "largest": picture("PNG", "1", (MOST_SIDE, MOST_SIDE // 2)),
}
HEAD = b"\x89PNG\r\n\x1a\n"


def headed(width: int, height: int) -> bytes:
    """The head of a PNG picture of a size, and no points."""
    body = b"IHDR" + struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))
    return HEAD + chunk


REFUSED = {
    "first bytes of png": HEAD,
    "first bytes of jpeg": b"\xff\xd8\xff",
    "head cut off": HEAD + b"\0\0\0\rIHDR\0\0",
    "no size": headed(0, 0),
    "no points": headed(16, 8),
    "a bomb": headed(100_000, 100_000),
    "a side too long": picture("PNG", "1", (MOST_SIDE + 1, 200)),
    "a line": picture("PNG", "1", (1000, 2)),
    "points cut off": picture("PNG", size=(300, 300))[:-90],
    "points damaged": picture("PNG").replace(b"IDAT", b"IDAT\xff"),
    "jpeg cut off": picture("JPEG", size=(300, 300))[:300],
    "gif": picture("GIF", "P"),
    "webp": picture("WEBP"),
    "tiff": picture("TIFF"),
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    "nothing": b"",
}


@pytest.mark.parametrize("name", TAKEN)
def test_a_logo_is_written_anew_and_can_be_in_every_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "logo.png").write_bytes(TAKEN[name])
    brand = brand_of(b"logo: logo.png", tmp_path)
    with Image.open(BytesIO(brand.logo)) as image, Image.open(BytesIO(TAKEN[name])) as given:
        image.load()
        assert (image.size, image.format) == (given.size, given.format)
        assert image.mode in ("RGB", "RGBA")
    assert b"<script>" not in brand.logo


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_logo_is_refused_when_it_is_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "logo.png").write_bytes(REFUSED[name])
    (problem,) = refused(tmp_path, "logo: logo.png")
    assert problem.path == "brand.logo" and "PNG or JPEG" in problem.message


def test_a_file_that_cannot_be_read_is_named() -> None:
    with pytest.raises(ScenarioError) as error:
        load_brand(Path("/none.yaml"))
    (problem,) = error.value.problems
    assert "none.yaml" in problem.value and "No such file" in problem.message


def test_contrast_is_that_of_wcag() -> None:
    assert contrast_on_white("000000") == pytest.approx(21)
    assert contrast_on_white("FFFFFF") == pytest.approx(1)
    assert contrast_on_white("767676") == pytest.approx(4.54, abs=0.005)  # the lightest grey that passes
    assert contrast_on_white("777777") < 4.5


def test_tints_are_shares_of_the_colour_in_white() -> None:
    """9 % of 0B5CAD, and 35 % of 5A6576."""
    assert (PLAIN.shade, PLAIN.line) == ("E9F0F8", "C5C9CF")
    black = Brand(accent="000000", quiet="000000")
    assert (black.shade, black.line) == ("E8E8E8", "A6A6A6")


def test_currency_and_paper_hold_where_the_scenario_states_none() -> None:
    scenario = load_scenario("enterprise")
    assumed: Any = scenario.origin("cost.currency").basis
    applied = ACME.applied(scenario)
    if assumed == "assumed" or not scenario.get("cost.currency"):
        assert applied.get("cost.currency") == "EUR"
        assert "ACME Systems" in applied.origin("cost.currency").note
    stated = scenario.with_value("format.paper", "a4").with_value("cost.currency", "CHF")
    kept = ACME.applied(stated)
    assert (kept.get("format.paper"), kept.get("cost.currency")) == ("a4", "CHF")
    assert PLAIN.applied(scenario) is scenario


def test_the_example_is_a_brand_file() -> None:
    assert set(yaml.safe_load(TEXT)) == {"name", "logo", "colours", "fonts", "footer", "currency", "paper"}


def test_drawings_have_the_fonts_and_the_accent_of_the_firm() -> None:
    drawing = Drawing()
    drawing.box(Area(0, 0, 10, 10), fill=TINT, stroke=ACCENT)
    drawing.text(0, 0, "A")
    plain = drawing.svg(10, "About")
    own = Brand(accent="123456", text="Own Sans").drawn(plain)
    assert "#123456" in own and "Own Sans, Calibri" in own and ACCENT not in own and TINT not in own
    assert PLAIN.drawn(plain).count(ACCENT) == plain.count(ACCENT)
