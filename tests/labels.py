"""Where the labels of a drawing are: their boxes by the letters of the font that draws them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple
from xml.etree import ElementTree

from drawn_designs import NAMESPACE
from programs import missing, needed

LETTERS_ABOVE = 0.8
"""Share of a letter's size above its line."""
SLACK = 1.0
"""Units by which boxes may overlap, as letters leave some of theirs free."""
MOVES = re.compile(r"(translate|rotate)\(([^)]*)\)")


class Label(NamedTuple):
    """A text of a drawing, and its box."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@cache
def _font(bold: bool) -> Any:
    from PIL import ImageFont

    asked = [needed("fc-match"), "-f", "%{file}", f"Carlito:{'bold' if bold else 'regular'}"]
    file = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    return ImageFont.truetype(file if "Carlito" in file else missing("the font Carlito"), 100)


def _placed(node: ElementTree.Element, x: float, y: float) -> Iterator[Label]:
    turned = False
    for name, numbers in MOVES.findall(node.get("transform", "")):
        values = [float(number) for number in re.split(r"[ ,]+", numbers.strip())]
        turned = turned or (name == "rotate" and bool(values[0]))
        if name == "translate":
            x, y = x + values[0], y + (values[1:] or [0])[0]
    if node.get("opacity") == "0":
        return
    if node.tag == f"{NAMESPACE}text":
        lines = [part.text or "" for part in node.iter(f"{NAMESPACE}tspan")] or [node.text or ""]
        size = float(node.get("font-size", "11px").rstrip("px"))
        font = _font(node.get("font-weight") in ("bold", "600"))
        wide = max(font.getlength(line) for line in lines) * size / 100
        left = {"middle": -wide / 2, "end": -wide}.get(node.get("text-anchor", ""), 0.0)
        top = -LETTERS_ABOVE * size
        box = (left, top, left + wide, top + size * len(lines))
        if turned:  # a title beside an axis, read from below
            box = (box[1], -box[2], box[3], -box[0])
        if text := " ".join(lines).strip():
            yield Label(text, x + box[0], y + box[1], x + box[2], y + box[3])
    for part in node:
        yield from _placed(part, x, y)


def collisions(svg: str) -> list[tuple[str, str]]:
    """Pairs of labels of a drawing that overlap, and labels that leave it."""
    root = ElementTree.fromstring(svg)
    labels, wide, high = list(_placed(root, 0, 0)), float(root.attrib["width"]), float(root.attrib["height"])
    pairs = [
        (one.text, other.text)
        for one, other in combinations(labels, 2)
        if min(one.right, other.right) - max(one.left, other.left) > SLACK
        and min(one.bottom, other.bottom) - max(one.top, other.top) > SLACK
    ]
    outside = [
        each
        for each in labels
        if min(each.left, each.top) < -SLACK or each.right > wide + SLACK or each.bottom > high + SLACK
    ]
    return [*pairs, *((each.text, "edge") for each in outside)]
