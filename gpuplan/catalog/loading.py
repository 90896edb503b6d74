"""Loading: the tables of the shipped folder, with the user's own laid over them, as one checked catalog.

Four kinds of table, declared in `tables.csv`: *facts* (one row per value of an item, all with the same columns),
*rows* (one row per record), *measured* (the same, read on request) and *sources*. `schema.csv` says what every column
may hold, `parameters.csv` what every parameter of a fact table may hold.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuplan.catalog.catalog import Catalog, Item, Row
from gpuplan.catalog.layout import META, Layout, parse_line, read_layout
from gpuplan.catalog.tables import CatalogError, Column, Line, NotAllowed, read_lines, short
from gpuplan.facts import QUOTED, Fact, Named, Source, data_root, did_you_mean
from gpuplan.wording import said

_ANY = "any"


_Key = tuple[str, ...]
_Raw = dict[str, dict[_Key, Line]]
_Records = list[tuple[Line, dict[str, Any]]]
_Files = Sequence[Mapping[str, Path]]


def load_catalog(*folders: str | Path) -> Catalog:
    """The shipped catalog, frozen, with the user's own folders of tables laid over it; without folders always the same object.

    A row with a known key (item and parameter, or id) replaces the shipped one, other rows are added; later folders win. A
    CatalogError names what does not fit the schema, an unknown source, or a file that is no table.
    """
    if not folders:
        return _base_catalog(data_root())
    return _load(data_root(), tuple(Path(folder).expanduser().absolute() for folder in folders))


@cache
def _base_catalog(root: Path) -> Catalog:
    return _load(root, ())


def _load(root: Path, folders: tuple[Path, ...]) -> Catalog:
    layout = read_layout(root)
    files = [{table: root / f"{table}.csv" for table in layout.kinds}]
    files += [_own_files(folder, layout) for folder in folders]
    return _build(files, layout, (root, *folders))


def _read(files: _Files, layout: Layout, tables: Iterable[str]) -> _Raw:
    """Read the lines of some tables, with those of each folder laid over those before it."""
    raw: _Raw = {table: {} for table in tables}
    for paths in files:
        _overlay(raw, layout, {table: path for table, path in paths.items() if table in raw})
    return raw


def _measured(
    table: str, files: _Files, layout: Layout, ids: Mapping[str, set[str]]
) -> Callable[[], Mapping[str, Row]]:
    """Return a reader of a table of measurements, for its first use: thousands of rows that no plan needs."""

    @cache
    def read() -> Mapping[str, Row]:
        raw = _read(files, layout, [table])
        records = {table: [(line, parse_line(line, layout.of(table))) for line in raw[table].values()]}
        _check_references(records, layout, ids)
        return _rows(table, records[table])

    return read


def _own_files(folder: Path, layout: Layout) -> dict[str, Path]:
    """Table files of a user's folder; a file that looks like a table but is none is an error."""
    try:
        paths = sorted(folder.iterdir())
    except (OSError, ValueError):
        raise CatalogError(said("catalog.no folder"), file=str(folder)) from None
    files: dict[str, Path] = {}
    for path in paths:
        name = f"{folder.name}/{path.name}"
        hidden = path.name.startswith((".", "~")) or path.suffix in (".md", ".txt")
        if hidden or (path.is_dir() and path.suffix.lower() != ".csv"):
            continue
        if path.suffix == ".csv" and path.stem in (*META, "inputs"):
            raise CatalogError(said("catalog.own"), file=name)
        if path.suffix != ".csv" or path.stem not in layout.kinds:
            names = [f"{table}.csv" for table in layout.kinds]
            close = did_you_mean(path.name, names) or said("catalog.tables", names=", ".join(names))
            raise CatalogError(said("catalog.no table", close=close), file=name)
        files[path.stem] = path
    return files


def _overlay(raw: _Raw, layout: Layout, files: Mapping[str, Path]) -> None:
    """Lay the lines of files over the existing ones: a known key replaces, another adds."""
    for table, path in files.items():
        columns = layout.of(table)
        width = 2 if layout.kinds[table] == "facts" else 1
        seen: dict[_Key, int] = {}
        for line in read_lines(path, tuple(column.name for column in columns)):
            key = line.cells[:width]
            if key in seen:
                message = said("catalog.twice in lines", key=short("/".join(key)), line=seen[key])
                raise line.error(columns[width - 1].name, message)
            seen[key] = line.number
            raw[table][key] = line


def _put_into_language(raw: _Raw, layout: Layout) -> None:
    """Replace the texts that the language chosen has."""
    for (table, name), texts in QUOTED.items():
        at = [column.name for column in layout.of(table)].index(name) if table in raw else 0
        for key, line in raw.get(table, {}).items():
            if text := texts.get(line.cells[at]):
                raw[table][key] = replace(line, cells=(*line.cells[:at], text, *line.cells[at + 1 :]))


def _build(files: _Files, layout: Layout, folders: tuple[Path, ...]) -> Catalog:
    of_facts, of_rows, later = (
        [table for table, kind in layout.kinds.items() if kind == of] for of in ("facts", "rows", "measured")
    )
    raw = _read(files, layout, [table for table in layout.kinds if table not in later])
    digest = _digest(raw, layout)
    _put_into_language(raw, layout)
    records: dict[str, _Records] = {
        table: [(line, parse_line(line, layout.of(table))) for line in lines.values()]
        for table, lines in raw.items()
    }
    ids = {table: {line.cells[0] for line, _ in entries} for table, entries in records.items()}
    _check_references(records, layout, ids)
    columns = _columns(layout)
    items = {table: _items(table, records[table], columns[table]) for table in of_facts}
    rows = {table: _rows(table, records[table]) for table in of_rows}
    return Catalog(
        folders=folders,
        digest=digest,
        sources=MappingProxyType({cells["id"]: _source(cells) for _, cells in records["sources"]}),
        titles=layout.titles,
        schema=columns,
        _items=MappingProxyType(items),
        _rows=MappingProxyType(rows),
        _later=MappingProxyType({table: _measured(table, files, layout, ids) for table in later}),
        _profiles=_by_gpu(rows["profiles"]),
        _load=load_catalog,
    )


def _columns(layout: Layout) -> Mapping[str, Mapping[str, Column]]:
    """Table -> its columns by name; of a table of facts its parameters."""
    columns: dict[str, Mapping[str, Column]] = {
        table: layout.parameters.get(table, {})
        if kind == "facts"
        else {column.name: column for column in layout.of(table)}
        for table, kind in layout.kinds.items()
    }
    return MappingProxyType({table: MappingProxyType(named) for table, named in columns.items()})


def _by_gpu(profiles: Mapping[str, Row]) -> Mapping[str, tuple[Row, ...]]:
    by_gpu: dict[str, tuple[Row, ...]] = {}
    for row in profiles.values():
        by_gpu[row["gpu"]] = (*by_gpu.get(row["gpu"], ()), row)
    return MappingProxyType(by_gpu)


def _check_references(records: Mapping[str, _Records], layout: Layout, ids: Mapping[str, set[str]]) -> None:
    """Every id that a cell names is in the table that its column refers to."""
    for table, entries in records.items():
        for column in layout.of(table):
            for line, cells in entries if column.references else ():
                value = cells[column.name]
                for one in value if isinstance(value, tuple) else (value,):
                    if one is not None:
                        _check_reference(line, column, one, ids)


def _check_reference(line: Line, column: Column, named: str, ids: Mapping[str, set[str]]) -> None:
    table, id = named.partition("/")[::2] if column.references == _ANY else (column.references, named)
    if id not in ids.get(table, ()):
        key = "catalog.no source" if table == "sources" else "catalog.no id"
        close = did_you_mean(id, ids.get(table, ())) or said("catalog.in table", table=table)
        raise line.error(column.name, said(key, table=table, name=short(named), close=close))


def _source(cells: Mapping[str, Any]) -> Source:
    return Source(**{name: value or "" for name, value in cells.items()})


def _rows(table: str, records: _Records) -> Mapping[str, Row]:
    rows = (
        Row(
            table=table,
            id=cells["id"],
            cells=MappingProxyType(cells),
            basis=cells["basis"],
            sources=cells["source"],
            locator=cells.get("locator") or "",
            note=cells.get("note") or "",
        )
        for _, cells in records
    )
    return MappingProxyType({row.id: row for row in rows})


def _items(table: str, records: _Records, parameters: Mapping[str, Column]) -> Mapping[str, Item]:
    by_item: dict[str, dict[str, Fact]] = {}
    first: dict[str, Line] = {}
    for line, cells in records:
        item, parameter = cells["item"], _parameter(table, line, cells, parameters)
        first.setdefault(item, line)
        fact = _fact(f"{table}/{item}/{parameter.name}", line, cells, parameter)
        by_item.setdefault(item, {})[parameter.name] = fact
    for item, facts in by_item.items():
        for parameter in parameters.values():
            if parameter.required and parameter.name not in facts:
                message = said("catalog.needed", item=short(item), parameter=parameter.name)
                raise first[item].error("parameter", message)
    names = {item: str(facts["name"].value if "name" in facts else item) for item, facts in by_item.items()}
    return Named(
        {item: Item(table, item, names[item], MappingProxyType(facts)) for item, facts in by_item.items()}
    )


def _parameter(table: str, line: Line, cells: Mapping[str, Any], parameters: Mapping[str, Column]) -> Column:
    """The parameter that a line of a fact table is about, in its unit."""
    parameter = parameters.get(cells["parameter"])
    if parameter is None:
        every = said("catalog.parameters", table=table, names=", ".join(parameters))
        words = {"name": short(cells["parameter"]), "close": did_you_mean(cells["parameter"], parameters)}
        words["close"] = words["close"] or every
        raise line.error("parameter", said("catalog.no parameter", **words))
    if (cells["unit"] or "") != parameter.unit:
        needs = parameter.unit or said("catalog.no unit")
        raise line.error("unit", said("catalog.not allowed", value=short(cells["unit"] or ""), needs=needs))
    return parameter


def _fact(key: str, line: Line, cells: Mapping[str, Any], parameter: Column) -> Fact:
    try:
        value = parameter.parse(cells["value"])
    except NotAllowed as error:
        raise line.error("value", said("catalog.parameter", parameter=parameter.name, error=error)) from None
    if value is None or isinstance(value, tuple):
        words = {"parameter": parameter.name, "needs": parameter.expects()}
        raise line.error("value", said("catalog.parameter needs", **words))
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


def _digest(raw: _Raw, layout: Layout) -> str:
    """Hash the data that a plan may read: neither the folder nor the order of the rows counts, nor do measurements."""
    content = hashlib.sha256()
    for name in sorted(layout.meta):
        content.update(repr((name, sorted(layout.meta[name]))).encode())
    for table in sorted(raw):
        content.update(repr((table, sorted(line.cells for line in raw[table].values()))).encode())
    return content.hexdigest()[:12]
