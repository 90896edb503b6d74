"""Inputs of lines: their labels and sources, and values that the plan works out and then uses as inputs.

The units and notes of these values are in ``data/words/derived.csv``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from gpuplan.catalog import Catalog
from gpuplan.facts import Fact, Value, own_rows, weakest
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.units import SUFFIX
from gpuplan.wording import NAMES, told

NOTES: Mapping[str, tuple[str, str]] = {
    row["key"]: (row["unit"], row["note"]) for row in own_rows("words/derived")
}
"""Key of a value, or name of several -> its unit and note."""


@dataclass(frozen=True, slots=True)
class Input:
    """One input of a line: a scenario input, a catalog fact, or an earlier line (by its key)."""

    name: str
    key: str
    label: str
    value: Any
    unit: str
    basis: str
    sources: tuple[str, ...]
    locator: str = ""
    note: str = ""


class Known(Protocol):
    """A fact or a line: something with a basis and sources."""

    @property
    def basis(self) -> str:
        """Its basis."""

    @property
    def sources(self) -> tuple[str, ...]:
        """Its sources."""


def derived(key: str, value: Value, name: str = "", /, **words: object) -> Fact:
    """A value that the plan itself works out and then uses as an input; ``name`` where its note is not found by its key."""
    unit, note = NOTES[name or key]
    note = told(note, words) if words else note
    return Fact(key, value, unit, None, None, "derived", ("gpuplan-method",), note=note)


def resting_on(behind: Iterable[Known], key: str, value: Value, name: str = "", /, **words: object) -> Fact:
    """Return a value derived from others: known no better than the weakest of them, with the sources of all."""
    facts = tuple(behind)
    sources = tuple(dict.fromkeys(source for fact in facts for source in fact.sources))
    basis = weakest(fact.basis for fact in facts)
    fact = derived(key, value, name, **words)
    return Fact(key, value, fact.unit, None, None, basis, sources, note=fact.note)


def sources_of(catalog: Catalog, cited: str) -> Iterator[str]:
    """Ids of sources as a table names them; ``rules/ID`` and ``assumptions/ITEM/NAME`` cite a row's or fact's own."""
    for name in cited.split():
        table, *place = name.split("/")
        if table == "rules":
            yield from catalog.row("rules", *place).sources
        elif place:
            item, fact = place
            yield from catalog.items(table)[item].fact(fact).sources
        else:
            yield name


def label_of(key: str) -> str:
    """Return the label of an input on the screen, from its scenario path or catalog key."""
    if key in FIELD_BY_PATH or key.startswith(("groups.", "prices.")):
        return field_of(key).label
    name, apart, kind = key.partition("@")
    words = " ".join(plain_name(part) for part in name.split("/")[1:])
    return words[:1].upper() + words[1:] + f", {kind}" * bool(apart)


PLAIN_NAMES, SHORT_WORDS = NAMES["catalog name"], NAMES["short word"]
"""Names of the catalog and of intermediate values, and parts of names, that are not words -> their wording."""
UNITS_AT_END = SUFFIX.keys() - {"gpus", "hosts", "vms"}


def plain_name(name: str) -> str:
    """Word a name of the catalog or of an intermediate value; the unit at its end is shown with the value."""
    if name in PLAIN_NAMES or name != name.lower():
        return PLAIN_NAMES.get(name, name).replace("_", " ")
    words = name.replace("-", "_").split("_")
    for size in (2, 1):
        if len(words) > size and "_".join(words[-size:]) in UNITS_AT_END:
            words = words[:-size]
            break
    return " ".join(SHORT_WORDS.get(word, word) for word in words)
