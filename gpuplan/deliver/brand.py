"""The brand of a firm in its files: name, logo, colours, fonts, footer, currency and paper, from a small YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from gpuplan.facts import did_you_mean
from gpuplan.scenario import Problem, Scenario, ScenarioError, show

MOST_FILE_BYTES, MOST_LOGO_BYTES = 100_000, 2_000_000
LONGEST = 80
LOGO_KINDS = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg"}
"""First bytes of a picture -> its kind."""
LEAST_CONTRAST = 4.5
"""Least contrast of white on the accent, as in titles and heads of tables (WCAG 2.2, 1.4.3)."""
COLOURS = ("accent", "ink", "quiet")
FONTS = ("headings", "text")
TEXTS = ("name", "footer")
FONT = re.compile(r"[A-Za-z0-9][A-Za-z0-9 .-]{0,39}")


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

    @property
    def logo_kind(self) -> str:
        """``png`` or ``jpeg``; empty without a logo."""
        return next((kind for start, kind in LOGO_KINDS.items() if self.logo.startswith(start)), "")

    @property
    def shade(self) -> str:
        """A light tint of the accent, for emphasis on white."""
        return _mixed(self.accent, 0.09)

    @property
    def line(self) -> str:
        """Colour of rules in tables."""
        return _mixed(self.quiet, 0.35)

    def applied(self, scenario: Scenario) -> Scenario:
        """The scenario with the firm's currency and paper where it states none itself."""
        for path, value in (("cost.currency", self.currency), ("format.paper", self.paper)):
            stated = scenario.get(path) and scenario.origin(path).basis != "assumed"
            if value and not stated:
                known = scenario.origin(path)
                scenario = scenario.with_value(path, value).with_origin(
                    path, replace(known, note=f"of the brand {self.name}".strip())
                )
        return scenario


PLAIN = Brand()


def load_brand(path: Path) -> Brand:
    """A brand file, its logo from the same folder; a ScenarioError names field, value and what is allowed."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise ScenarioError(
            [Problem("brand", show(str(path)), f"a file that can be read ({error.strerror})")]
        ) from None
    return brand_of(text, path.parent)


def brand_of(text: bytes, folder: Path) -> Brand:
    """Return the brand described by the content of a file."""
    if len(text) > MOST_FILE_BYTES:
        raise ScenarioError([Problem("brand", f"{len(text)} bytes", f"at most {MOST_FILE_BYTES} bytes")])
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ScenarioError([Problem("brand", "the file", f"YAML ({str(error).splitlines()[0]})")]) from None
    if not isinstance(data, Mapping):
        raise ScenarioError([Problem("brand", show(data), "fields such as name, logo, colours")])
    problems: list[Problem] = []
    found = dict(_read(data, folder, problems))
    if problems:
        raise ScenarioError(problems)
    return Brand(**found)


def _read(data: Mapping[Any, Any], folder: Path, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Return the valid fields of a brand; the others are problems."""
    known = (*TEXTS, "logo", "colours", "fonts", "currency", "paper")
    for key, value in data.items():
        if key not in known:
            names = did_you_mean(key, known) or f"; there is {', '.join(known)}"
            problems.append(Problem("brand", show(key), f"a known field{names}"))
        elif key == "colours":
            yield from _parts(key, value, COLOURS, _colour, problems)
        elif key == "fonts":
            yield from _parts(key, value, FONTS, _font, problems)
        else:
            read = {"logo": lambda given: _logo(given, folder), "currency": _currency, "paper": _paper}.get(
                key, _text
            )
            yield from _one(key, key, value, read, problems)


def _parts(
    key: str, given: Any, names: tuple[str, ...], read: Any, problems: list[Problem]
) -> Iterator[tuple[str, Any]]:
    if not isinstance(given, Mapping) or set(given) - set(names):
        problems.append(Problem(f"brand.{key}", show(given), f"some of {', '.join(names)}"))
        return
    for name, value in given.items():
        yield from _one(name, f"{key}.{name}", value, read, problems)


def _one(name: str, path: str, given: Any, read: Any, problems: list[Problem]) -> Iterator[tuple[str, Any]]:
    """Return a field by its reader, whose ValueError says what is allowed."""
    try:
        yield name, read(given)
    except ValueError as error:
        problems.append(Problem(f"brand.{path}", show(given), str(error)))


def _text(given: Any) -> str:
    if isinstance(given, str) and len(given) <= LONGEST and given.isprintable():
        return given.strip()
    raise ValueError(f"a text of at most {LONGEST} characters on one line")


def _colour(given: Any) -> str:
    if not (isinstance(given, str) and re.fullmatch("#[0-9A-Fa-f]{6}", given)):
        raise ValueError("a colour such as #0B5CAD")
    colour = given[1:].upper()
    if contrast_on_white(colour) < LEAST_CONTRAST:
        raise ValueError(f"a darker colour: white on it needs a contrast of {LEAST_CONTRAST}")
    return colour


def _font(given: Any) -> str:
    if isinstance(given, str) and FONT.fullmatch(given):
        return given
    raise ValueError("the name of a font, such as Calibri")


def _currency(given: Any) -> str:
    if isinstance(given, str) and re.fullmatch("[A-Z]{3}", given):
        return given
    raise ValueError("a code such as EUR")


def _paper(given: Any) -> str:
    if given in ("a4", "letter"):
        return str(given)
    raise ValueError("a4 or letter")


def _logo(given: Any, folder: Path) -> bytes:
    if not isinstance(given, str) or Path(given).name != given:
        raise ValueError("the name of a picture in the folder of the brand file")
    try:
        picture = (folder / given).read_bytes()
    except OSError as error:
        raise ValueError(f"a picture in the folder of the brand file ({error.strerror})") from None
    if len(picture) > MOST_LOGO_BYTES or not any(picture.startswith(start) for start in LOGO_KINDS):
        raise ValueError(f"a PNG or JPEG picture of at most {MOST_LOGO_BYTES // 1_000_000} MB")
    return picture


def contrast_on_white(colour: str) -> float:
    """Contrast of a colour and white, from 1 to 21 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 1.05 / (0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)


def _mixed(colour: str, share: float) -> str:
    """Mix a share of a colour into white."""
    parts = (int(colour[at : at + 2], 16) for at in (0, 2, 4))
    return "".join(f"{round(255 + share * (part - 255)):02X}" for part in parts)
