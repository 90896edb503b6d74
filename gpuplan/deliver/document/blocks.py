"""Parts of a document: paragraphs, tables and figures in chapters; its renderers add the looks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Running text."""

    text: str
    tone: str = ""
    """Empty, ``lead`` (the sentence that matters) or ``note`` (an aside)."""


@dataclass(frozen=True, slots=True)
class Bullets:
    """Points of a list."""

    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Grid:
    """A table; all cells are text as shown."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    right: tuple[int, ...] = ()
    """Columns whose text ends at the right, as numbers do."""
    widths: tuple[float, ...] = ()
    """Share of the width of each column; empty if it follows from the text."""
    totals: tuple[int, ...] = ()
    """Rows that sum up the others, from 0."""
    small: bool = False
    """True if it is set tighter, as on the first page."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A vector drawing."""

    svg: str
    caption: str
    alt: str
    """Description for readers who cannot see it."""
    width: float = 1.0
    """Share of the width of the text."""


@dataclass(frozen=True, slots=True)
class KeyFigures:
    """The answer at a glance: label, value and a note for each."""

    items: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class DecisionBlock:
    """A numbered design decision."""

    number: int
    title: str
    decision: str
    justification: str
    implication: str


@dataclass(frozen=True, slots=True)
class References:
    """The sources by their numbers, set small in two columns."""

    items: tuple[tuple[str, str], ...]
    """Number, and title with producer and year."""


Block = Paragraph | Bullets | Grid | Figure | KeyFigures | DecisionBlock | References


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a chapter."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Chapter:
    """A chapter: its own blocks, then its sections."""

    title: str
    blocks: tuple[Block, ...] = ()
    sections: tuple[Section, ...] = ()


Content = Block | Section | Iterable[Block | Section] | None
"""Content of a chapter or a section; empty content and empty sections are left out."""


def section(title: str, *content: Content) -> Section:
    """A part of a chapter."""
    return Section(title, tuple(part for part in _flat(content) if not isinstance(part, Section)))


def chapter(title: str, *content: Content) -> Chapter:
    """A chapter: its own blocks, then its sections."""
    parts = list(_flat(content))
    sections = tuple(part for part in parts if isinstance(part, Section) and part.blocks)
    return Chapter(title, tuple(part for part in parts if not isinstance(part, Section)), sections)


def _flat(content: Iterable[Content]) -> Iterator[Block | Section]:
    for part in content:
        if isinstance(part, Block | Section):
            yield part
        elif part is not None:
            yield from part


@dataclass(frozen=True, slots=True)
class Document:
    """A design document."""

    title: str
    customer: str
    about: str
    """Kind, version, status, day and author in a line."""
    day: str
    """ISO day of the document."""
    made_with: str
    """Program and catalog that it was made with."""
    front: tuple[Block, ...]
    """The first page, for who decides."""
    control: tuple[Block, ...]
    """Author, approver and reading instructions; the contents follow."""
    chapters: tuple[Chapter, ...]
    locale: str = ""
    """In which it is written; empty: as international documents are."""
    paper: str = ""
    """``a4`` or ``letter`` where it was chosen."""
