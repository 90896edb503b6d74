"""The loaded catalog: items with facts, records of relation tables, sources; frozen."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from gpuplan.catalog.tables import CatalogError, Column, short
from gpuplan.facts import Brief, Fact, Several, Source, Value, did_you_mean
from gpuplan.wording import said

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, repr=False)
class Item(Brief):
    """An item with facts, by parameter: a GPU, a server, a vSphere version."""

    table: str
    id: str
    name: str
    facts: Mapping[str, Fact]

    def value(self, parameter: str) -> Value | None:
        """The value of a parameter such as ``memory_gib``, or None where the catalog has none."""
        fact = self.facts.get(parameter)
        return None if fact is None else fact.value

    def fact(self, parameter: str) -> Fact:
        """The fact of a parameter: value with unit, range, basis and sources; CatalogError if the catalog does not know it."""
        try:
            return self.facts[parameter]
        except KeyError:
            names = ", ".join(self.facts)
            words = {"item": f"{self.table}/{self.id}", "parameter": parameter, "names": names}
            raise CatalogError(said("catalog.item has", **words)) from None

    def given(self, *parameters: str) -> dict[str, Fact]:
        """The facts of some parameters by their names, as the inputs of a line."""
        return {parameter: self.fact(parameter) for parameter in parameters}


@dataclass(frozen=True, slots=True, repr=False)
class Row(Brief):
    """A record of a relation table; `row["frame_buffer_mb"]` is a cell, None where it is empty."""

    table: str
    id: str
    cells: Mapping[str, Any]
    basis: str
    sources: tuple[str, ...]
    locator: str
    note: str

    def __getitem__(self, column: str) -> Any:
        try:
            return self.cells[column]
        except KeyError:
            names = ", ".join(self.cells)
            message = said("catalog.row has", table=self.table, column=column, names=names)
            raise CatalogError(message) from None

    @property
    def key(self) -> str:
        """Address of the record, such as ``rules/bitfusion-server-count``."""
        return f"{self.table}/{self.id}"

    def fact(self, column: str, unit: str = "1") -> Fact:
        """A cell as a fact, with the record's basis and sources."""
        origin = (self.basis, self.sources, self.locator, self.note)
        return Fact(f"{self.key}/{column}", self[column], unit, None, None, *origin)


class _Table:
    """Items by id of the fact table with the name of the attribute, in table order."""

    def __set_name__(self, owner: "type[Catalog]", name: str) -> None:
        self.name = name

    def __get__(self, catalog: "Catalog", owner: "type[Catalog]") -> Mapping[str, Item]:
        return catalog.items(self.name)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Catalog(Brief):
    """All tables of one or more folders, checked and frozen."""

    folders: tuple[Path, ...]
    digest: str
    sources: Mapping[str, Source]
    titles: Mapping[str, str]
    schema: Mapping[str, Mapping[str, Column]]
    _items: Mapping[str, Mapping[str, Item]] = field(repr=False)
    _rows: Mapping[str, Mapping[str, Row]] = field(repr=False)
    _later: Mapping[str, Callable[[], Mapping[str, Row]]] = field(repr=False)
    """Tables of measurements, each read on first use."""
    _profiles: Mapping[str, tuple[Row, ...]] = field(repr=False)
    beneath: "Catalog | None" = field(default=None, repr=False)
    """The catalog under the rows of a design; None if it has none."""

    def items(self, table: str) -> Mapping[str, Item]:
        """Items of a fact table such as ``gpus``, by id; CatalogError if there is no such table."""
        return _pick(self._items, table, "fact table")

    gpus = _Table()
    servers = _Table()
    nics = _Table()
    switches = _Table()
    vsphere = _Table()
    products = _Table()
    assumptions = _Table()

    def rows(self, table: str) -> tuple[Row, ...]:
        """All records of a relation table such as ``profiles``, in file order; CatalogError if there is no such table."""
        return Several(self._records(table).values())

    def row(self, table: str, id: str) -> Row:
        """One record of a relation table, such as ``rules`` and ``bitfusion-server-count``; CatalogError if there is none."""
        return _pick(self._records(table), id, f"row of {table}")

    def _records(self, table: str) -> Mapping[str, Row]:
        return self._later[table]() if table in self._later else _pick(self._rows, table, "relation table")

    def with_rows(self, rows: Mapping[str, Mapping[str, Row]]) -> "Catalog":
        """Return this catalog with more rows of some tables, which replace those of the same id."""
        merged = {**self._rows, **{table: {**self._rows[table], **more} for table, more in rows.items()}}
        return replace(self, _rows=merged, beneath=self)

    def profiles_of(self, gpu_id: str) -> tuple[Row, ...]:
        """Shared-GPU profiles of a GPU in table order, empty if none is known; CatalogError if the GPU is unknown."""
        _pick(self.gpus, gpu_id, "GPU")
        return self._profiles.get(gpu_id, ())

    def names(self) -> tuple[str, ...]:
        """Names that can be looked up: tables, items and sources."""
        ids = (id for items in self._items.values() for id in items)
        return (*self.titles, *ids, *self.sources)

    def search(self, text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """Items and records in which every word of a text occurs, in their id, name or values, ignoring case.

        Each with its table, id, name, and the keys of the facts or cells in which a word occurs, such as ``gpus/t4-16gb/name``.
        """
        words = text.lower().split()
        hits = []
        for table, id, name, values in self._texts() if words else ():
            everything = "\n".join([id.lower(), name.lower(), *values.values()])
            if all(word in everything for word in words):
                keys = tuple(key for key, value in values.items() if any(word in value for word in words))
                hits.append((table, id, name, keys))
        return hits

    def _texts(self) -> Iterator[tuple[str, str, str, dict[str, str]]]:
        """(table, id, name, values in lower case by their key) of every item and record."""
        for table, items in self._items.items():
            for item in items.values():
                yield table, item.id, item.name, {f.key: str(f.value).lower() for f in item.facts.values()}
        for table, rows in self._rows.items():
            for row in rows.values():
                cells = {f"{row.key}/{c}": v for c, v in row.cells.items() if v is not None and c != "id"}
                values = {key: "; ".join(v) if isinstance(v, tuple) else str(v) for key, v in cells.items()}
                name = str(row.cells.get("name") or row.id)
                yield table, row.id, name, {key: value.lower() for key, value in values.items()}


def _pick(mapping: Mapping[str, _T], key: str, what: str) -> _T:
    try:
        return mapping[key]
    except KeyError:
        close = did_you_mean(key, mapping)
        raise CatalogError(said("catalog.nothing", what=what, key=short(key), close=close)) from None
