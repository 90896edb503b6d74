"""The catalog: CSV tables in `data/` as frozen records, each value with its source.

Three kinds of table, declared in `tables.csv`: *facts* (one row per value of an item, all with the same
columns), *rows* (one row per record) and *sources*. `schema.csv` says what every column may hold,
`parameters.csv` what every parameter of a fact table may hold. A folder of the user's own is laid over the
shipped one: same files, any subset.
"""

from __future__ import annotations

import csv
import datetime
import hashlib
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from gpuplan.facts import Fact, Source, Value, data_root

Cell = Value | tuple[str, ...] | None
"""A parsed cell: empty is None, a list of ids is a tuple."""

MAX_BYTES = 20_000_000
"""Largest file that is read. A catalog is small; anything bigger is a mistake."""

_T = TypeVar("_T")
_META = ("tables", "schema", "parameters")
_SCHEMA_COLUMNS = (
    "table", "column", "type", "unit", "min", "max", "allowed", "required", "references", "description",
)  # fmt: skip
_TABLES_COLUMNS = ("table", "kind", "title")
_ANY = "any"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+/-]*")
_INT = re.compile(r"[+-]?[0-9]{1,15}")
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_DATE = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?)?")
_CONTROL = re.compile("[\x00-\x1f\x7f\u2028\u2029]")
_BOOL = {"true": True, "false": False}


class CatalogError(ValueError):
    """A table that cannot be used, or something that is not in the catalog.

    Parameters
    ----------
    message : str
        What is wrong and what is allowed, on one line.
    file : str
        Name of the file, with its folder; empty for a look-up that failed.
    row : int or None
        Line number in the file.
    column : str
        Name of the column; empty where the whole file or line is meant.
    """

    def __init__(self, message: str, *, file: str = "", row: int | None = None, column: str = "") -> None:
        self.file, self.row, self.column = file, row, column
        where = [file] if file else []
        where += [f"line {row}"] if row is not None else []
        where += [f"column {column}"] if column else []
        super().__init__(": ".join([", ".join(where), message] if where else [message]))


class _Bad(Exception):
    """A cell that does not fit; the message says what is allowed."""


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


# ---- reading files


@dataclass(frozen=True, slots=True)
class _Line:
    file: str
    number: int
    cells: tuple[str, ...]

    def error(self, column: str, message: str) -> CatalogError:
        return CatalogError(message, file=self.file, row=self.number, column=column)


def _read(path: Path, columns: tuple[str, ...]) -> list[_Line]:
    """Lines of a CSV file, checked for size, encoding and header but not yet for content."""
    name = f"{path.parent.name}/{path.name}"
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        size = max(len(data), path.stat().st_size)
    except FileNotFoundError:
        raise CatalogError("there is no such file", file=name) from None
    except OSError as error:
        raise CatalogError(f"cannot be read ({error.strerror or 'no reason given'})", file=name) from None
    if size > MAX_BYTES:
        raise CatalogError(f"the file has {size:,} bytes; at most {MAX_BYTES:,} are read", file=name)
    if b"\0" in data:
        raise CatalogError("is not a text file; a table is CSV in UTF-8", file=name)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        where = data.count(b"\n", 0, error.start) + 1
        message = "is not UTF-8; save it as CSV with the encoding UTF-8"
        raise CatalogError(message, file=name, row=where) from None
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    lines: list[_Line] = []
    try:
        for raw in reader:
            cells = tuple([cell.strip() for cell in raw])
            if not any(cells):
                continue
            line = _Line(name, reader.line_num, cells)
            if any(map(_CONTROL.search, cells)):
                raise line.error(
                    "", "a cell has a line break or control character; keep each row on one line"
                )
            lines.append(line)
    except csv.Error as error:
        raise CatalogError(f"is not well-formed CSV ({error})", file=name, row=reader.line_num) from None
    _check_shape(name, lines, columns)
    return lines[1:]


def _check_shape(name: str, lines: list[_Line], columns: tuple[str, ...]) -> None:
    if not lines:
        raise CatalogError(f"is empty; the first line must be {','.join(columns)}", file=name)
    header = lines[0].cells
    if header != columns:
        odd = [c for c in header if c not in columns] or [c for c in columns if c not in header]
        why = f"; look at {_short(odd[0])}" if odd else ""
        why += "; columns are separated by commas" if len(header) == 1 else ""
        raise CatalogError(f"the columns must be {','.join(columns)}{why}", file=name, row=lines[0].number)
    for line in lines:
        if len(line.cells) != len(columns):
            raise line.error("", f"has {len(line.cells)} cells; the table has {len(columns)} columns")


# ---- cells


def _parse_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise _Bad("an id of letters, digits and . _ + / -, without spaces")
    return text


def _parse_ids(text: str) -> tuple[str, ...]:
    return tuple(_parse_id(part.strip()) for part in text.split(";"))


def _parse_int(text: str) -> int:
    if not _INT.fullmatch(text):
        raise _Bad("a whole number")
    return int(text)


def _parse_number(text: str) -> float:
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise _Bad("a number with a decimal point and no thousands separator")
    return float(text)


def _parse_bool(text: str) -> bool:
    if text not in _BOOL:
        raise _Bad("true or false")
    return _BOOL[text]


def _parse_date(text: str) -> str:
    fault = _Bad("an ISO date such as 2024-10-03, 2024-10 or 2024")
    if not _DATE.fullmatch(text):
        raise fault
    if len(text) == 10:
        try:
            datetime.date.fromisoformat(text)
        except ValueError:
            raise fault from None
    return text


_PARSERS: Mapping[str, Callable[[str], Cell]] = MappingProxyType(
    {
        "id": _parse_id,
        "text": str,
        "int": _parse_int,
        "number": _parse_number,
        "bool": _parse_bool,
        "date": _parse_date,
        "ids": _parse_ids,
    }
)


@dataclass(frozen=True, slots=True)
class Column:
    """What a column, or a parameter of a fact table, may hold.

    Parameters
    ----------
    name : str
        Column or parameter.
    type : str
        id, text, int, number, bool, date or ids.
    unit : str
        Unit as in `gpuplan.units`; ``1`` for a count, empty for anything that is not a number.
    min, max : float or None
        Bounds of a number, both included.
    allowed : tuple[str, ...]
        The only texts allowed; empty where any is.
    required : bool
        Whether the cell must be filled, or the item must have the parameter.
    references : str
        Table whose ids the cell holds; ``any`` for ``table/id``.
    description : str
        What it means, in one sentence.
    """

    name: str
    type: str
    unit: str
    min: float | None
    max: float | None
    allowed: tuple[str, ...]
    required: bool
    references: str
    description: str

    def parse(self, text: str) -> Cell:
        """Value of a cell; raises when it does not fit."""
        if not text:
            if self.required:
                raise _Bad(f"the cell is empty; it needs {self.expects()}")
            return None
        try:
            value = _PARSERS[self.type](text)
        except _Bad as error:
            raise _Bad(f"{_short(text)} is not allowed; it needs {error}") from None
        if self.allowed and text not in self.allowed:
            raise _Bad(f"{_short(text)} is not allowed; it needs {self.expects()}")
        if isinstance(value, int | float) and not isinstance(value, bool):
            low, high = self.min, self.max
            if (low is not None and value < low) or (high is not None and value > high):
                raise _Bad(f"{_short(text)} is out of range; it needs {self.expects()}")
        return value

    def expects(self) -> str:
        """What the column allows, in words."""
        if self.allowed:
            return "one of " + ", ".join(self.allowed)
        words = {
            "id": "an id",
            "ids": "ids separated by '; '",
            "int": "a whole number",
            "number": "a number",
            "bool": "true or false",
            "date": "an ISO date",
        }.get(self.type, "a text")
        if self.min is not None and self.max is not None:
            words += f" from {self.min:g} to {self.max:g}"
        elif self.min is not None:
            words += f" of at least {self.min:g}"
        elif self.max is not None:
            words += f" of at most {self.max:g}"
        return words + (f" in {self.unit}" if self.unit not in ("", "1") else "")


# ---- records


@dataclass(frozen=True, slots=True)
class Item:
    """A thing with facts: a GPU, a server, a vSphere version.

    Parameters
    ----------
    table, id, name : str
        Where it stands and what it is called.
    facts : Mapping[str, Fact]
        Its facts by parameter.
    """

    table: str
    id: str
    name: str
    facts: Mapping[str, Fact]

    def value(self, parameter: str) -> Value | None:
        """Value of a parameter, or None where the catalog has none.

        Parameters
        ----------
        parameter : str
            Such as ``memory_gib``; its unit is in `fact(parameter).unit`.

        Returns
        -------
        str, int, float, bool or None
            The value.
        """
        found = self.facts.get(parameter)
        return None if found is None else found.value

    def fact(self, parameter: str) -> Fact:
        """Fact of a parameter.

        Parameters
        ----------
        parameter : str
            Such as ``memory_gib``.

        Returns
        -------
        Fact
            Value with unit, range, basis and sources.

        Raises
        ------
        CatalogError
            If the catalog does not know it.
        """
        try:
            return self.facts[parameter]
        except KeyError:
            known = ", ".join(self.facts)
            raise CatalogError(f"{self.table}/{self.id} has no {parameter}; it has {known}") from None


@dataclass(frozen=True, slots=True)
class Row:
    """A record of a relation table; `row["frame_buffer_mb"]` is a cell, None where it is empty.

    Parameters
    ----------
    table, id : str
        Where it stands.
    cells : Mapping[str, Cell]
        All cells by column.
    basis : str
        How well it is known.
    sources : tuple[str, ...]
        Ids of its sources.
    locator, note : str
        Where in the source, and what to know about it.
    """

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
            known = ", ".join(self.cells)
            raise CatalogError(f"{self.table} has no column {column}; it has {known}") from None

    @property
    def key(self) -> str:
        """Address of the record, such as ``rules/bitfusion-server-count``."""
        return f"{self.table}/{self.id}"


@dataclass(frozen=True, slots=True, eq=False)
class Catalog:
    """All tables of one or more folders, checked and frozen.

    Parameters
    ----------
    folders : tuple[Path, ...]
        Folders it was read from, the shipped one first.
    digest : str
        Twelve hexadecimal digits that stand for the content: same rows, same digest.
    sources : Mapping[str, Source]
        Documents by id.
    titles : Mapping[str, str]
        What each table is, by table name.
    schema : Mapping[str, Mapping[str, Column]]
        Parameters of each fact table and columns of each relation table.
    """

    folders: tuple[Path, ...]
    digest: str
    sources: Mapping[str, Source]
    titles: Mapping[str, str]
    schema: Mapping[str, Mapping[str, Column]]
    _items: Mapping[str, Mapping[str, Item]] = field(repr=False)
    _rows: Mapping[str, Mapping[str, Row]] = field(repr=False)
    _profiles: Mapping[str, tuple[Row, ...]] = field(repr=False)

    def items(self, table: str) -> Mapping[str, Item]:
        """Items of a fact table.

        Parameters
        ----------
        table : str
            Such as ``gpus``.

        Returns
        -------
        Mapping[str, Item]
            Items by id.

        Raises
        ------
        CatalogError
            If there is no such fact table.
        """
        return _pick(self._items, table, "fact table")

    @property
    def gpus(self) -> Mapping[str, Item]:
        """GPU boards by id."""
        return self.items("gpus")

    @property
    def servers(self) -> Mapping[str, Item]:
        """Servers by id."""
        return self.items("servers")

    @property
    def nics(self) -> Mapping[str, Item]:
        """Network adapters by id."""
        return self.items("nics")

    @property
    def switches(self) -> Mapping[str, Item]:
        """Switches by id."""
        return self.items("switches")

    @property
    def vsphere(self) -> Mapping[str, Item]:
        """vSphere versions by id, in table order."""
        return self.items("vsphere")

    @property
    def products(self) -> Mapping[str, Item]:
        """Software products by id."""
        return self.items("products")

    @property
    def assumptions(self) -> Mapping[str, Item]:
        """Model parameters and planning values by id."""
        return self.items("assumptions")

    def rows(self, table: str) -> tuple[Row, ...]:
        """All records of a relation table, in file order.

        Parameters
        ----------
        table : str
            Such as ``profiles``.

        Returns
        -------
        tuple[Row, ...]
            Records.

        Raises
        ------
        CatalogError
            If there is no such relation table.
        """
        return tuple(_pick(self._rows, table, "relation table").values())

    def row(self, table: str, id: str) -> Row:
        """One record of a relation table.

        Parameters
        ----------
        table, id : str
            Such as ``rules`` and ``bitfusion-server-count``.

        Returns
        -------
        Row
            The record.

        Raises
        ------
        CatalogError
            If there is none.
        """
        return _pick(_pick(self._rows, table, "relation table"), id, f"row of {table}")

    def profiles_of(self, gpu_id: str) -> tuple[Row, ...]:
        """Shared-GPU profiles of a GPU, in the order of the table.

        Parameters
        ----------
        gpu_id : str
            Id in `gpus`.

        Returns
        -------
        tuple[Row, ...]
            Profiles, empty where none is known.

        Raises
        ------
        CatalogError
            If the GPU is unknown.
        """
        _pick(self.gpus, gpu_id, "GPU")
        return self._profiles.get(gpu_id, ())

    def search(self, text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
        """Find items and records by any part of their id, name or values, ignoring case.

        Parameters
        ----------
        text : str
            What to look for; every word of it must occur.

        Returns
        -------
        list[tuple[str, str, str, tuple[str, ...]]]
            Table, id, name, and the keys of the facts or cells in which a word occurs, such as
            ``gpus/t4-16gb/name``.
        """
        words = text.lower().split()
        if not words:
            return []
        found: list[tuple[str, str, str, tuple[str, ...]]] = []
        for table, items in self._items.items():
            for item in items.values():
                values = {fact.key: str(fact.value) for fact in item.facts.values()}
                _match(found, words, table, item.id, item.name, values)
        for table, rows in self._rows.items():
            for row in rows.values():
                values = {
                    f"{row.key}/{c}": _text(v) for c, v in row.cells.items() if v is not None and c != "id"
                }
                _match(found, words, table, row.id, str(row.cells.get("name") or row.id), values)
        return found


def _text(value: Cell) -> str:
    return "; ".join(value) if isinstance(value, tuple) else str(value)


def _match(
    found: list[tuple[str, str, str, tuple[str, ...]]],
    words: list[str],
    table: str,
    id: str,
    name: str,
    values: Mapping[str, str],
) -> None:
    folded = {key: value.lower() for key, value in values.items()}
    everything = "\n".join([id.lower(), name.lower(), *folded.values()])
    if all(word in everything for word in words):
        keys = tuple(key for key, value in folded.items() if any(word in value for word in words))
        found.append((table, id, name, keys))


def _pick(mapping: Mapping[str, _T], key: str, what: str) -> _T:
    try:
        return mapping[key]
    except KeyError:
        raise CatalogError(f"there is no {what} {_short(key)}{_hint(key, mapping)}") from None


def _hint(key: str, known: Iterable[str]) -> str:
    """Close names, so that a typing error is found at once; empty where none is close."""
    from difflib import get_close_matches  # only on the way to an error

    close = get_close_matches(key, list(known), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(close)}?" if close else ""


# ---- loading


@dataclass(frozen=True, slots=True)
class _Layout:
    """What the shipped folder declares: the tables, their columns and their parameters."""

    kinds: Mapping[str, str]
    titles: Mapping[str, str]
    columns: Mapping[str, tuple[Column, ...]]
    parameters: Mapping[str, Mapping[str, Column]]
    meta: Mapping[str, tuple[tuple[str, ...], ...]]

    def of(self, table: str) -> tuple[Column, ...]:
        return self.columns["facts" if self.kinds[table] == "facts" else table]


_Key = tuple[str, ...]
_Raw = dict[str, dict[_Key, _Line]]


def load_catalog(*folders: str | Path) -> Catalog:
    """Read the shipped catalog, with the user's own folders laid over it.

    Parameters
    ----------
    *folders : str or Path
        Folders with any of the tables. A row with a known key (item and parameter, or id) replaces the
        shipped one; other rows are added. Later folders win.

    Returns
    -------
    Catalog
        Frozen; without folders always the same object.

    Raises
    ------
    CatalogError
        If a file does not fit the schema, names an unknown source, or is no table.
    """
    if not folders:
        return _base_catalog(data_root())
    return _load(data_root(), tuple(Path(folder).expanduser().absolute() for folder in folders))


@cache
def _base_catalog(root: Path) -> Catalog:
    return _load(root, ())


def _load(root: Path, folders: tuple[Path, ...]) -> Catalog:
    layout = _layout(root)
    raw: _Raw = {table: {} for table in layout.kinds}
    _overlay(raw, layout, {table: root / f"{table}.csv" for table in layout.kinds})
    for folder in folders:
        _overlay(raw, layout, _own_files(folder, layout))
    return _build(raw, layout, (root, *folders))


def _own_files(folder: Path, layout: _Layout) -> dict[str, Path]:
    """Table files of a user's folder; anything that looks like a table and is none is an error."""
    try:
        paths = sorted(folder.iterdir())
    except (OSError, ValueError):
        message = "is not a folder that can be read; name one with tables like gpus.csv"
        raise CatalogError(message, file=str(folder)) from None
    files: dict[str, Path] = {}
    for path in paths:
        name = f"{folder.name}/{path.name}"
        if path.name.startswith((".", "~")) or path.suffix in (".md", ".txt"):
            continue
        if path.is_dir() and path.suffix.lower() != ".csv":
            continue
        if path.suffix == ".csv" and path.stem in _META:
            raise CatalogError("belongs to gpuplan and cannot be replaced; leave it out", file=name)
        if path.suffix != ".csv" or path.stem not in layout.kinds:
            known = [f"{table}.csv" for table in layout.kinds]
            hint = _hint(path.name, known) or f"; tables are {', '.join(known)}"
            raise CatalogError(f"is not a table of the catalog{hint}", file=name)
        files[path.stem] = path
    return files


def _overlay(raw: _Raw, layout: _Layout, files: Mapping[str, Path]) -> None:
    for table, path in files.items():
        columns = layout.of(table)
        width = 2 if layout.kinds[table] == "facts" else 1
        seen: dict[_Key, int] = {}
        for line in _read(path, tuple(column.name for column in columns)):
            key = line.cells[:width]
            if key in seen:
                message = f"{_short('/'.join(key))} is already in line {seen[key]}; keep one of the two"
                raise line.error(columns[width - 1].name, message)
            seen[key] = line.number
            raw[table][key] = line


def _layout(root: Path) -> _Layout:
    """Read tables.csv, schema.csv and parameters.csv, which describe themselves too."""
    files: dict[str, list[_Line]] = {
        "tables": _read(root / "tables.csv", _TABLES_COLUMNS),
        "schema": _read(root / "schema.csv", _SCHEMA_COLUMNS),
    }
    columns: dict[str, list[Column]] = {}
    for line in files["schema"]:
        cells = dict(zip(_SCHEMA_COLUMNS, line.cells, strict=True))
        columns.setdefault(cells["table"], []).append(_column(line, cells, "column"))
    names = {table: tuple(column.name for column in given) for table, given in columns.items()}
    kinds = {line.cells[0]: line.cells[1] for line in files["tables"]}
    kinds.update({table: "rows" for table in names if table not in {*kinds, *_META, "facts"}})
    _check_declared(root, kinds, names)
    files["parameters"] = _read(root / "parameters.csv", names["parameters"])
    parameters: dict[str, dict[str, Column]] = {}
    for line in files["parameters"]:
        cells = dict(zip(names["parameters"], line.cells, strict=True))
        given = parameters.setdefault(cells["table"], {})
        if cells["parameter"] in given:
            raise line.error("parameter", f"{_short(cells['parameter'])} is there twice; keep one of the two")
        given[cells["parameter"]] = _column(line, cells, "parameter")
    for name in _META:
        for line in files[name]:
            _parse_line(line, tuple(columns.get(name, ())))
    return _Layout(
        kinds=MappingProxyType(kinds),
        titles=MappingProxyType({line.cells[0]: line.cells[2] for line in files["tables"]}),
        columns=MappingProxyType({table: tuple(given) for table, given in columns.items()}),
        parameters=MappingProxyType({t: MappingProxyType(given) for t, given in parameters.items()}),
        meta=MappingProxyType({name: tuple(line.cells for line in files[name]) for name in _META}),
    )


_NEEDED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "facts": ("item", "parameter", "value", "low", "high", "unit", "basis", "source", "locator", "note"),
        "rows": ("id", "basis", "source"),
        "sources": tuple(Source.__dataclass_fields__),
        "tables": _TABLES_COLUMNS,
        "schema": _SCHEMA_COLUMNS,
        "parameters": (
            "table",
            "parameter",
            "type",
            "unit",
            "min",
            "max",
            "allowed",
            "required",
            "description",
        ),
    }
)


def _check_declared(root: Path, kinds: Mapping[str, str], names: Mapping[str, tuple[str, ...]]) -> None:
    """Every table has a kind, is described in schema.csv and has the columns that its kind needs."""
    schema = f"{root.name}/schema.csv"
    for table, kind in {**kinds, **{name: name for name in _META}}.items():
        if kind not in _NEEDED or (kind in _META and table != kind):
            message = f"{_short(kind)} is no kind of table; it needs facts, rows or sources"
            raise CatalogError(message, file=f"{root.name}/tables.csv", column="kind")
        described = names.get("facts" if kind == "facts" else table)
        if described is None:
            raise CatalogError(f"does not describe the table {_short(table)}", file=schema)
        missing = [name for name in _NEEDED[kind] if name not in described]
        exact = kind in ("facts", *_META)
        if missing or (exact and described != _NEEDED[kind]) or (kind == "rows" and described[0] != "id"):
            needed = ", ".join(_NEEDED[kind])
            raise CatalogError(f"the table {_short(table)} needs the columns {needed}", file=schema)


def _column(line: _Line, cells: Mapping[str, str], name: str) -> Column:
    if cells["type"] not in _PARSERS:
        known = ", ".join(_PARSERS)
        raise line.error("type", f"{_short(cells['type'])} is not allowed; it needs one of {known}")
    try:
        bounds = [_parse_number(cells[side]) if cells[side] else None for side in ("min", "max")]
    except _Bad as error:
        raise line.error("min", f"a bound needs {error}") from None
    return Column(
        name=cells[name],
        type=cells["type"],
        unit=cells["unit"],
        min=bounds[0],
        max=bounds[1],
        allowed=tuple(cells["allowed"].split("|")) if cells["allowed"] else (),
        required=cells["required"] == "true",
        references=cells.get("references", ""),
        description=cells["description"],
    )


def _parse_line(line: _Line, columns: tuple[Column, ...]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for column, text in zip(columns, line.cells, strict=True):
        try:
            values[column.name] = column.parse(text)
        except _Bad as error:
            raise line.error(column.name, str(error)) from None
    return values


def _build(raw: _Raw, layout: _Layout, folders: tuple[Path, ...]) -> Catalog:
    parsed = {
        table: {key: _parse_line(line, layout.of(table)) for key, line in lines.items()}
        for table, lines in raw.items()
    }
    ids = {table: {key[0] for key in lines} for table, lines in raw.items()}
    for table, lines in raw.items():
        for column in layout.of(table):
            if column.references:
                _check_references(column, [(lines[k], v[column.name]) for k, v in parsed[table].items()], ids)
    items = {
        t: _items(t, raw[t], parsed[t], layout.parameters.get(t, {}))
        for t, kind in layout.kinds.items()
        if kind == "facts"
    }
    rows = {t: _rows(t, parsed[t]) for t, kind in layout.kinds.items() if kind == "rows"}
    profiles: dict[str, list[Row]] = {}
    for row in rows.get("profiles", {}).values():
        profiles.setdefault(row["gpu"], []).append(row)
    schema: dict[str, Mapping[str, Column]] = {}
    for table, kind in layout.kinds.items():
        given = {column.name: column for column in layout.of(table)}
        schema[table] = layout.parameters.get(table, {}) if kind == "facts" else MappingProxyType(given)
    return Catalog(
        folders=folders,
        digest=_digest(raw, layout),
        sources=MappingProxyType({key[0]: _source(values) for key, values in parsed["sources"].items()}),
        titles=layout.titles,
        schema=MappingProxyType(schema),
        _items=MappingProxyType(items),
        _rows=MappingProxyType(rows),
        _profiles=MappingProxyType({gpu: tuple(given) for gpu, given in profiles.items()}),
    )


def _check_references(column: Column, cells: list[tuple[_Line, Any]], ids: Mapping[str, set[str]]) -> None:
    for line, value in cells:
        if value is None:
            continue
        for one in value if isinstance(value, tuple) else (value,):
            table, id = column.references, one
            if table == _ANY:
                table, _, id = one.partition("/")
            if id not in ids.get(table, ()):
                what = "source" if table == "sources" else f"id in {table}"
                hint = _hint(id, ids.get(table, ())) or f"; it must be in {table}.csv"
                raise line.error(column.name, f"there is no {what} {_short(one)}{hint}")


def _source(values: Mapping[str, Any]) -> Source:
    return Source(**{name: value or "" for name, value in values.items()})


def _rows(table: str, parsed: Mapping[_Key, dict[str, Any]]) -> Mapping[str, Row]:
    return MappingProxyType(
        {
            key[0]: Row(
                table=table,
                id=key[0],
                cells=MappingProxyType(values),
                basis=values["basis"],
                sources=values["source"],
                locator=values.get("locator") or "",
                note=values.get("note") or "",
            )
            for key, values in parsed.items()
        }
    )


def _items(
    table: str,
    lines: Mapping[_Key, _Line],
    parsed: Mapping[_Key, dict[str, Any]],
    parameters: Mapping[str, Column],
) -> Mapping[str, Item]:
    found: dict[str, dict[str, Fact]] = {}
    first: dict[str, _Line] = {}
    for key, cells in parsed.items():
        line, item = lines[key], cells["item"]
        parameter = parameters.get(cells["parameter"])
        if parameter is None:
            hint = _hint(cells["parameter"], parameters) or f"; {table} has {', '.join(parameters)}"
            raise line.error("parameter", f"there is no parameter {_short(cells['parameter'])}{hint}")
        if (cells["unit"] or "") != parameter.unit:
            message = f"{_short(cells['unit'] or '')} is not allowed; it needs {parameter.unit or 'no unit'}"
            raise line.error("unit", message)
        first.setdefault(item, line)
        fact = _fact(f"{table}/{item}/{parameter.name}", line, cells, parameter)
        found.setdefault(item, {})[parameter.name] = fact
    for item, facts in found.items():
        for parameter in parameters.values():
            if parameter.required and parameter.name not in facts:
                message = f"{_short(item)} has no {parameter.name}, which every item needs"
                raise first[item].error("parameter", message)
    return MappingProxyType(
        {
            item: Item(
                table, item, str(facts["name"].value if "name" in facts else item), MappingProxyType(facts)
            )
            for item, facts in found.items()
        }
    )


def _fact(key: str, line: _Line, cells: Mapping[str, Any], parameter: Column) -> Fact:
    try:
        value = parameter.parse(cells["value"])
    except _Bad as error:
        raise line.error("value", f"{parameter.name}: {error}") from None
    if value is None or isinstance(value, tuple):
        raise line.error("value", f"{parameter.name}: it needs {parameter.expects()}")
    try:
        return Fact(
            key=key,
            value=value,
            unit=parameter.unit,
            low=cells["low"],
            high=cells["high"],
            basis=cells["basis"],
            sources=cells["source"],
            locator=cells["locator"] or "",
            note=cells["note"] or "",
        )
    except ValueError as error:
        raise line.error("low", str(error)) from None


def _digest(raw: _Raw, layout: _Layout) -> str:
    """Hash of the content: neither the folder nor the order of the rows counts."""
    content = hashlib.sha256()
    for name in sorted(layout.meta):
        content.update(repr((name, sorted(layout.meta[name]))).encode())
    for table in sorted(raw):
        content.update(repr((table, sorted(line.cells for line in raw[table].values()))).encode())
    return content.hexdigest()[:12]
