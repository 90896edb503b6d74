"""The brand of a firm in its files: name, logo, colours, fonts, footer, currency and paper, from a small YAML file."""

import re
import struct
import warnings
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any

from gpuplan.facts import did_you_mean
from gpuplan.report.drawing import ACCENT, FONT, TINT
from gpuplan.scenario import FileLimits, Problem, Scenario, ScenarioError, read_data, show
from gpuplan.wording import said

MOST_FILE_BYTES, MOST_LOGO_BYTES = 100_000, 2_000_000
LIMITS = FileLimits("brand", MOST_FILE_BYTES, values=200, depth=4)
LONGEST = 80
MOST_SIDE, MOST_RATIO = 4000, 50
"""Points of the longer side of a logo, and the same over those of the shorter side."""
BROKEN = (OSError, SyntaxError, ValueError, ArithmeticError, LookupError, EOFError, zlib.error, struct.error)
"""Errors of a decoder that is given something else than a picture."""
LEAST_CONTRAST = 4.5
"""Least contrast of white on the accent, as in titles and heads of tables (WCAG 2.2, 1.4.3)."""
COLOURS = ("accent", "ink", "quiet")
FONTS = ("headings", "text")
TEXTS = ("name", "footer")
PARTS = {"colours": COLOURS, "fonts": FONTS}
LINE = (f".{{0,{LONGEST}}}", said("brand.line", most=LONGEST))
ALLOWED = {
    "name": LINE,
    "footer": LINE,
    "colours": ("#[0-9A-Fa-f]{6}", said("brand.colour")),
    "fonts": ("[A-Za-z0-9][A-Za-z0-9 .-]{0,39}", said("brand.font")),
    "currency": ("[A-Z]{3}", said("brand.currency")),
    "paper": ("a4|letter", said("brand.paper")),
}
"""Field -> pattern of its texts, and what is allowed in words."""


@dataclass(frozen=True, slots=True)
class Brand:
    """Look of a firm's files; without a brand file, gpuplan's."""

    name: str = ""
    logo: bytes = field(default=b"", repr=False)
    """A PNG or JPEG picture; empty for none."""
    accent: str = "0B5CAD"
    """Colour of titles, bands and heads of tables, as six hexadecimal digits."""
    ink: str = "1A2230"
    quiet: str = "5A6576"
    """Colour of notes and captions."""
    headings: str = "Calibri"
    text: str = "Calibri"
    """Fonts by their name; a program that lacks one takes another."""
    footer: str = ""
    currency: str = ""
    """Currency of costs where the scenario states none."""
    paper: str = ""
    """Paper, ``a4`` or ``letter``, where the scenario states none."""

    def drawn(self, svg: str) -> str:
        """Return a drawing in the fonts and colours of the firm."""
        ours = {FONT: f"{self.text}, {FONT}", ACCENT: f"#{self.accent.lower()}", TINT: f"#{self.shade}"}
        for plain, own in ours.items():
            svg = svg.replace(plain, own)
        return svg

    @property
    def logo_kind(self) -> str:
        """``png`` or ``jpeg``; empty without a logo."""
        return ("png" if self.logo.startswith(b"\x89PNG") else "jpeg") * bool(self.logo)

    @property
    def shade(self) -> str:
        """A light tint of the accent, for emphasis on white."""
        return mixed(self.accent, 0.09)

    @property
    def line(self) -> str:
        """Colour of rules in tables."""
        return mixed(self.quiet, 0.35)

    def applied(self, scenario: Scenario) -> Scenario:
        """The scenario with the firm's currency and paper where it states none itself."""
        for path, value in (("cost.currency", self.currency), ("format.paper", self.paper)):
            stated = scenario.get(path) and scenario.origin(path).basis != "assumed"
            if value and not stated:
                origin = scenario.origin(path)
                scenario = scenario.with_value(path, value).with_origin(
                    path, replace(origin, note=f"of the brand {self.name}".strip())
                )
        return scenario


PLAIN = Brand()


def load_brand(path: Path) -> Brand:
    """A brand file, its logo from the same folder; a ScenarioError names field, value and what is allowed."""
    try:
        text = path.read_bytes()
    except OSError as error:
        allowed = said("brand.readable", why=error.strerror)
        raise ScenarioError([Problem("brand", show(str(path)), allowed)]) from None
    return brand_of(text, path.parent)


def brand_of(text: bytes, folder: Path) -> Brand:
    """Return the brand described by the content of a file."""
    try:
        data = read_data(text, LIMITS)
    except ScenarioError as error:
        where = said("brand.file")
        raise ScenarioError(Problem("brand", p.path or where, p.message) for p in error.problems) from None
    if not isinstance(data, Mapping):
        raise ScenarioError([Problem("brand", show(data), said("brand.fields"))])
    problems: list[Problem] = []
    fields = dict(_read(data, folder, problems))
    if problems:
        raise ScenarioError(problems)
    return Brand(**fields)


def _read(data: Mapping[Any, Any], folder: Path, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    fields = (*TEXTS, "logo", *PARTS, "currency", "paper")
    for key, value in data.items():
        if key not in fields:
            names = did_you_mean(key, fields) or f"; there is {', '.join(fields)}"
            problems.append(Problem("brand", show(key), f"a known field{names}"))
            continue
        parts: Mapping[Any, Any] = {key: value}
        if allowed := PARTS.get(key):
            parts = value if isinstance(value, Mapping) and not set(value) - set(allowed) else {}
            if parts is not value:
                problems.append(Problem(f"brand.{key}", show(value), f"some of {', '.join(allowed)}"))
        for name, part in parts.items():
            try:
                yield name, _logo(part, folder) if key == "logo" else _text(key, part)
            except ValueError as error:
                path = f"brand.{key}.{name}" if key in PARTS else f"brand.{key}"
                problems.append(Problem(path, show(part), str(error)))


def _text(key: str, given: Any) -> str:
    """A field that is a text; a ValueError says what is allowed."""
    pattern, allowed = ALLOWED[key]
    if not (isinstance(given, str) and re.fullmatch(pattern, given) and given.isprintable()):
        raise ValueError(allowed)
    if key != "colours":
        return given.strip()
    if contrast_on_white(given[1:]) < LEAST_CONTRAST:
        raise ValueError(said("brand.darker", least=LEAST_CONTRAST))
    return given[1:].upper()


def _logo(given: Any, folder: Path) -> bytes:
    if not isinstance(given, str) or Path(given).name != given:
        raise ValueError(said("brand.picture name"))
    try:
        picture = (folder / given).read_bytes()
    except OSError as error:
        raise ValueError(said("brand.picture", why=error.strerror)) from None
    return plain_picture(picture)


def plain_picture(content: bytes) -> bytes:
    """Return a PNG or JPEG picture written anew, with nothing in it but its points; ValueError for another file, or too large."""
    from PIL import Image, ImageOps  # a session that reads no brand needs no decoder

    allowed = said("brand.logo", most=MOST_LOGO_BYTES // 1_000_000, side=MOST_SIDE)
    if len(content) > MOST_LOGO_BYTES:
        raise ValueError(allowed)
    try:
        with (
            warnings.catch_warnings(category=Image.DecompressionBombWarning, action="error"),
            Image.open(BytesIO(content), formats=("PNG", "JPEG")) as image,
        ):
            short, long = sorted(image.size)
            if not (short > 0 and long <= min(MOST_SIDE, MOST_RATIO * short)):
                raise ValueError(allowed)
            image.load()
            kind, clear = image.format, image.has_transparency_data
            plain = ImageOps.exif_transpose(image).convert("RGBA" if clear and kind == "PNG" else "RGB")
    except (*BROKEN, Image.DecompressionBombWarning, Image.DecompressionBombError) as error:
        raise ValueError(allowed) from error
    written = BytesIO()
    plain.save(written, kind, **({"quality": 95} if kind == "JPEG" else {}))
    return written.getvalue()


def contrast_on_white(colour: str) -> float:
    """Contrast of a colour and white, from 1 to 21 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def mixed(colour: str, share: float) -> str:
    """Mix a share of a colour into white."""
    parts = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
    return "".join(f"{round(255 + share * (part - 255)):02X}" for part in parts)
