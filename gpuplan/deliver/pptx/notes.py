"""Notes of a slide, for the presenter: what to say first, then why, and the sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from gpuplan.deliver.texts import clean
from gpuplan.plan import Plan
from gpuplan.report.explain import explain
from gpuplan.wording import capital, said

MOST_SOURCES = 8
"""Sources that the notes of a slide name; all are in the design document."""


class Reasons(NamedTuple):
    """Facts behind a slide."""

    keys: Sequence[str] = ()
    """Of the lines of the plan behind its figures."""
    sources: Sequence[str] = ()
    more: Sequence[str] = ()
    """Further remarks."""


def told(plan: Plan, first: str, reasons: Reasons) -> str:
    """Return the notes: the first words, each figure with its formula and certainty, and the sources."""
    paragraphs = [said("deck.notes.first", text=_sentence(first))]
    bases: dict[str, None] = {}
    for key in reasons.keys:
        if key in plan.lines:
            known = explain(plan, key)
            paragraphs.append(
                said("deck.notes.why", label=known.label, formula=known.formula, sentence=known.sentence)
            )
            bases[known.basis_text] = None
    paragraphs += [capital(_sentence(text)) for text in reasons.more if text]
    paragraphs += bases
    found = sources_of(plan, reasons)
    listed = [source_words(plan, each) for each in found[:MOST_SOURCES]]
    if left := len(found) - len(listed):
        listed.append(said("deck.notes.more sources", count=left))
    paragraphs.append("\n".join([said("deck.notes.sources"), *(listed or [said("deck.notes.no source")])]))
    return clean("\n".join(paragraphs))


def sources_of(plan: Plan, reasons: Reasons) -> list[str]:
    """Return the sources behind a slide: first those of its figures, then those of the underlying figures."""
    found = dict.fromkeys(reasons.sources)
    level = [key for key in reasons.keys if key in plan.lines]
    seen = set(level)
    while level:
        inputs = [given for key in level for given in plan.lines[key].inputs]
        found |= dict.fromkeys(s for given in inputs if given.key not in plan.lines for s in given.sources)
        level = [
            key
            for key in dict.fromkeys(given.key for given in inputs)
            if key in plan.lines and key not in seen
        ]
        seen.update(level)
    return [each for each in found if each in plan.catalog.sources]


def source_words(plan: Plan, source_id: str) -> str:
    """A source by title, producer and year."""
    source = plan.catalog.sources[source_id]
    return ", ".join(filter(None, (source.title, source.producer, source.published[:4])))


def _sentence(text: str) -> str:
    """With its full stop."""
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."
