"""Shapes and text: in order, harmless, and as wide as they are said to be."""

from __future__ import annotations

import re
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

import gpuplan
from gpuplan.plan.cash_flow import PARTS as COST_PARTS
from gpuplan.report.drawing import (
    COLOURS,
    OKABE_ITO,
    PARTS,
    WHITE,
    Area,
    Drawing,
    clean_text,
    figure_png,
    pen_on,
    shortened,
    text_width,
    wrapped,
)


def test_text_is_cleaned_and_cut() -> None:
    assert clean_text("a\r\nb\tc\x01\x7f") == "a  b c"
    assert shortened("short", 100) == "short"
    cut = shortened("a long name that does not fit", 80)
    assert cut.endswith("\u2026")
    assert text_width(cut) <= 80 < text_width(cut[:-1] + "that\u2026")
    assert text_width("\u6f22") > text_width("m") > text_width("i")
    assert text_width("e\u0301") == text_width("e")


def test_shapes_and_texts_are_drawn_in_order_and_names_are_harmless() -> None:
    drawing = Drawing()
    drawing.box(Area(1, 2.25, 3, 4), id="host-1", dashed=True)
    drawing.text(5, 6, "<b>&\x0b", bold=True, anchor="end")
    drawing.line(0, 0, 7, 8, stroke="#000000", dashes="6 3")
    root = ElementTree.fromstring(drawing.svg(100, "<About>"))
    title, _, box, text, line = root
    assert title.text == "<About>"
    assert (box.get("id"), box.get("y"), box.get("stroke-dasharray")) == ("host-1", "2.2", "4 3")
    assert (text.text, text.get("font-weight"), text.get("text-anchor")) == ("<b>&", "bold", "end")
    assert (line.get("x2"), line.get("stroke-width"), line.get("stroke-dasharray")) == ("7", "1", "6 3")
    assert (root.get("width"), root.get("height")) == ("644", "104")


def test_lines_are_broken_between_words_and_long_words_in_them() -> None:
    assert wrapped("one two three", text_width("one two")) == ["one two", "three"]
    for text in ("W" * 40, "\u6f22" * 30, "a " + "b" * 50):
        lines = wrapped(text, 80)
        assert "".join(lines) == text.replace(" ", "") and all(text_width(line) <= 80 for line in lines)


def test_a_hatch_stays_in_its_area() -> None:
    for area in (Area(3, 4, 50, 20), Area(3, 4, 8, 90), Area(3, 4, 2, 9)):
        drawing = Drawing()
        drawing.hatch(area)
        ends = [
            float(n)
            for shape in drawing.shapes
            for n in re.findall(r"[ML ](-?[\d.]+)", shape.split('d="')[1].split('"')[0])
        ]
        assert bool(ends) is (area.wide > 7)
        assert all(area.x <= x <= area.x + area.wide for x in ends[::2])
        assert all(area.y <= y <= area.y + area.high for y in ends[1::2])


def test_the_picture_is_as_wide_as_asked_for() -> None:
    drawing = Drawing()
    drawing.box(Area(0, 0, 100, 40))
    svg = drawing.svg(40, "A box")
    png = figure_png(svg, width_px=800)
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    wide, tall = struct.unpack(">II", png[16:24])
    root = ElementTree.fromstring(svg)
    assert wide == 800
    assert tall == pytest.approx(800 * float(root.attrib["height"]) / float(root.attrib["width"]), abs=1.5)


def test_text_on_the_dark_blue_is_white() -> None:
    assert pen_on(OKABE_ITO[0]) == WHITE
    assert all(pen_on(colour) != WHITE for colour in OKABE_ITO[1:])


def test_every_part_of_a_cost_has_a_letter_of_its_own_and_a_colour_of_the_palette() -> None:
    assert tuple(PARTS) == COST_PARTS
    assert len({letter for letter, _ in PARTS.values()}) == len(PARTS)
    assert all(letter in name.upper() for name, (letter, _) in PARTS.items())
    assert all(0 <= colour < len(COLOURS) for _, colour in PARTS.values())


def test_the_colours_are_those_of_the_stylesheet() -> None:
    style = (Path(gpuplan.__file__).parent / "widgets" / "static" / "app.css").read_text(encoding="utf-8")
    assert len(set(OKABE_ITO)) == len(OKABE_ITO)
    for colour in OKABE_ITO:
        assert re.search(colour, style, re.IGNORECASE), colour
