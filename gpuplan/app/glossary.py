"""The glossary: terms of the field and their meanings, as in ``data/words/glossary.csv``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from gpuplan.app.state import Workbook
from gpuplan.facts import own_rows
from gpuplan.wording import capital

KEY = "glossary"
"""Key of the drawer while it shows the list of terms."""


class Term(NamedTuple):
    """A term of the field."""

    names: Sequence[str]
    """The term itself, then its other spellings and synonyms."""
    meaning: str
    sources: Sequence[str]

    @property
    def title(self) -> str:
        """Return the term as in a list: with a capital letter, unless it has its own spelling."""
        name = self.names[0]
        return capital(name) if name.split()[0].islower() else name


TERMS = tuple(
    Term([row["term"], *filter(None, row["also"].split("; "))], row["meaning"], row["sources"].split())
    for row in own_rows("words/glossary")
)


def glossary_data(workbook: Workbook) -> dict[str, Any]:
    """Return all terms; they are the same in every design, so they are sent once."""
    known = workbook.catalog.sources
    return {
        "terms": [
            {
                "term": term.title,
                "names": term.names,
                "meaning": term.meaning,
                "sources": "; ".join(known[source].title for source in term.sources if source in known),
            }
            for term in TERMS
        ]
    }
