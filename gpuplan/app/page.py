"""The page of a step as data: cards and charts in boxes. Each step declares its own; ``screen`` makes the widgets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gpuplan.app.state import Workbook
from gpuplan.report.charts.look import Look, Spec

Data = Callable[[Workbook], dict[str, Any]]


@dataclass(frozen=True)
class Card:
    """What one of the JavaScript files in ``widgets/static`` draws from plain data."""

    name: str
    data: Data
    slow: bool = False
    """Whether it is sent last, because its data takes long to work out."""

    def __call__(self, workbook: Workbook) -> dict[str, Any]:
        """Its data now."""
        return self.data(workbook)


@dataclass(frozen=True)
class Picture:
    """A chart, drawn from rows; nothing is shown while there are none."""

    rows: Callable[[Workbook], Any]
    draw: Callable[[Any, Look], Spec]
    slow: bool = False
    wide: bool = True
    """Whether it is as wide as its place."""


@dataclass(frozen=True)
class Box:
    """Cards and charts together; ``style`` names classes of the stylesheet."""

    style: str
    children: tuple[Place, ...]


Place = Card | Picture | Box


def box(style: str, *children: Place) -> Box:
    """A box of the given style."""
    return Box(style, children)


def wide_card(*children: Place) -> Box:
    """A card as wide as the page."""
    return Box("gp-card gp-wide", children)


def parted_card(*children: Place) -> Box:
    """A card as wide as the page, with a line between what stands in it."""
    return Box("gp-card gp-wide gp-parted", children)


def title(text: str, about: str) -> Card:
    """The title of a step, and one sentence about it."""
    return Card("title", lambda _workbook: {"title": text, "text": about})
