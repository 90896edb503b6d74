"""The slides with layouts of their own: the title, the divider before the appendix, and the closing slide."""

from __future__ import annotations

from typing import Any

from gpuplan.deliver.pptx.blocks import Words, put, put_lines
from gpuplan.deliver.pptx.deck import Deck
from gpuplan.deliver.pptx.measure import BODY, COVER, LEAD, TITLE, box_of, cut
from gpuplan.deliver.pptx.notes import Reasons
from gpuplan.locales import written_day
from gpuplan.wording import NAMES, said


def _edition(deck: Deck) -> list[str]:
    """Author and version."""
    paper = deck.plan.scenario.document
    status = NAMES["document.status"][paper.status or "draft"]
    author = [said("deck.title.author", author=paper.author)] if paper.author else []
    return [*author, said("deck.title.version", version=paper.version or "0.1", status=status)]


def title_slide(deck: Deck) -> None:
    """Design, customer, author, version and day."""
    scenario = deck.plan.scenario
    slide = deck.show.slides.add_slide(deck.layout_with({3, 4}) or deck.layout)
    box = box_of(slide.shapes.title)
    lines = max(1, int(box.height / (COVER * 1.2)))
    size = COVER if len(scenario.name) < 60 else TITLE
    put(slide.shapes.title, cut(scenario.name, size, box.width - 15, lines, bold=True), size, bold=True)
    lead = said("deck.title.design")
    if scenario.customer:
        lead = said("deck.title.customer", customer=scenario.customer)
    _title_words(deck, slide, lead, [*_edition(deck), written_day(deck.day)])
    first = said("deck.title.first", name=scenario.name)
    deck.finish(slide, first, Reasons(more=[*deck.summary.recommendation]))


def _title_words(deck: Deck, slide: Any, lead: str, details: list[str]) -> None:
    """Write the text below the title: into the placeholders of the layout, else into separate boxes."""
    places = {int(p.placeholder_format.type): p for p in slide.placeholders}
    subtitle, body = places.get(4), places.get(2)
    if subtitle is None:
        Words([lead, *details], LEAD).put(deck, slide, deck.box)
        return
    if body is None:
        lead = " \u00b7 ".join([lead, *details])
    box = box_of(subtitle)
    put(subtitle, cut(lead, LEAD, box.width - 15, max(1, int(box.height / 24))), LEAD)
    if body is not None:
        put_lines(body, details)


def divider(deck: Deck) -> None:
    """The slide before the appendix."""
    words = Words([said("deck.appendix.about")], LEAD)
    _framed(deck, deck.layout_with({1, 2}, "secHead"), said("deck.appendix"), words, "deck.appendix.notes")


def closing_slide(deck: Deck) -> None:
    """The responsible people, the version, and the tools used."""
    *author, version = _edition(deck)
    approver = deck.plan.scenario.document.approver
    lines = [
        *author,
        said("deck.closing.approver", approver=approver) if approver else "",
        version,
        said("deck.closing.day", day=written_day(deck.day)),
        said("deck.closing.catalog", digest=deck.plan.catalog.digest),
    ]
    layout = next((each for each in deck.layouts() if deck.own and each.name == "Closing"), None)
    _framed(deck, layout, said("deck.closing"), Words(lines), "deck.closing.notes")


def _framed(deck: Deck, layout: Any, title: str, words: Words, notes: str) -> None:
    """Put words into the places of a layout; without one, below a title."""
    slide = deck.show.slides.add_slide(layout or deck.layout)
    if layout is None:
        deck.title(slide.shapes.title, [title])
        words.put(deck, slide, deck.box)
    else:
        put(slide.shapes.title, title, 0)
        body = next(p for p in slide.placeholders if int(p.placeholder_format.type) == 2)
        put_lines(body, words.texts, 1 if words.size == BODY else 9)
    deck.finish(slide, title, Reasons(more=[said(notes)]))
