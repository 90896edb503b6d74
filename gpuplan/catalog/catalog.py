"""The loaded catalog: items with facts, records of relation tables, sources; frozen."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from gpuplan.catalog import own
from gpuplan.catalog.tables import CatalogError, Column, pick
from gpuplan.facts import Brief, Fact, Several, Source, Value
from gpuplan.wording import said

Basis = Literal["measured", "published", "quoted", "derived", "fitted", "assumed"]
NONE: Mapping[str, int] = MappingProxyType({})


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
    _load: "Callable[[Path], Catalog]" = field(repr=False)
    beneath: "Catalog | None" = field(default=None, repr=False)
    """The catalog under the rows of a design; None if it has none."""

    def items(self, table: str) -> Mapping[str, Item]:
        """Items of a fact table such as ``gpus``, by id; CatalogError if there is no such table."""
        return pick(self._items, table, "fact table")

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
        return pick(self._records(table), id, f"row of {table}")

    def _records(self, table: str) -> Mapping[str, Row]:
        return self._later[table]() if table in self._later else pick(self._rows, table, "relation table")

    def with_rows(self, rows: Mapping[str, Mapping[str, Row]]) -> "Catalog":
        """Return this catalog with more rows of some tables, which replace those of the same id."""
        merged = {**self._rows, **{table: {**self._rows[table], **more} for table, more in rows.items()}}
        return replace(self, _rows=merged, beneath=self)

    def profiles_of(self, gpu_id: str) -> tuple[Row, ...]:
        """Shared-GPU profiles of a GPU in table order, empty if none is known; CatalogError if the GPU is unknown."""
        pick(self.gpus, gpu_id, "GPU")
        return self._profiles.get(gpu_id, ())

    def with_gpu(
        self,
        id: str,
        *,
        source: str,
        like: str = "",
        basis: Basis = "quoted",
        servers: Mapping[str, int] = NONE,
        **facts: Value,
    ) -> "Catalog":
        """This catalog with a GPU of one's own, or with other facts of a GPU; a CatalogError names all that is missing or wrong.

        ``like`` is a GPU whose other facts, servers and shared profiles it takes, as assumed; prices, dates of sale and licences that
        come with a board are not taken. ``servers`` has the boards in each server that takes it. A ``source`` that the catalog does
        not have is added: who says so, and the day.

        >>> from gpuplan.catalog import load_catalog
        >>> own = load_catalog().with_gpu("lab", like="h100-nvl-94gb", memory_gib=96, source="our lab, 2026-11")
        >>> own.gpus["lab"].value("memory_gib"), own.gpus["lab"].fact("tdp_w").basis
        (96.0, 'assumed')
        """
        return self._load(own.with_item(own.Made(self, id, source, basis), "gpus", facts, like, servers))

    def with_server(
        self,
        id: str,
        *,
        source: str,
        like: str = "",
        basis: Basis = "quoted",
        gpus: Mapping[str, int] = NONE,
        **facts: Value,
    ) -> "Catalog":
        """This catalog with a server of one's own, as ``with_gpu``; ``gpus`` has the boards of each GPU that it takes."""
        return self._load(own.with_item(own.Made(self, id, source, basis), "servers", facts, like, gpus))

    def with_price(
        self, of: str, price_usd: float, *, source: str, basis: Basis = "quoted", **cells: Value
    ) -> "Catalog":
        """This catalog with another price of an item, such as ``h100-nvl-94gb``, or of a row of ``prices`` without one.

        The range is the price alone and its day that of the ``source``, unless stated: ``low_usd``, ``high_usd``, ``as_of``.
        """
        return self._load(own.with_price(self, of, price_usd, cells, source, basis))

    def with_model(
        self, id: str, *, source: str, like: str = "", basis: Basis = "quoted", **columns: Value
    ) -> "Catalog":
        """This catalog with a language model by the columns of ``llm_models``, such as those of ``own_model(file).cells``."""
        return self._load(own.with_model(own.Made(self, id, source, basis), columns, like))

    def save(self, folder: str | Path) -> None:
        """Write the rows of one's own into a folder, for ``load_catalog(folder)`` and ``--catalog folder``."""
        own.save(self, Path(folder))

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
