"""The layout of the catalog: the declarations of its tables, in three tables that describe themselves too."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from gpuplan.catalog.tables import (
    TYPES,
    CatalogError,
    Column,
    Line,
    NotAllowed,
    parse_number,
    read_lines,
    short,
)
from gpuplan.facts import Source
from gpuplan.wording import said

_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "facts": ("item", "parameter", "value", "low", "high", "unit", "basis", "source", "locator", "note"),
    "rows": ("id", "basis", "source"),
    "measured": ("id", "basis", "source"),
    "sources": tuple(Source.__dataclass_fields__),
    "tables": ("table", "kind", "title"),
    "schema": (
        *("table", "column", "type", "unit", "min", "max", "allowed", "required"),
        *("references", "description"),
    ),
    "parameters": ("table", "parameter", "type", "unit", "min", "max", "allowed", "required", "description"),
}
"""Columns that a table of each kind has; one of rows has more."""
META = ("tables", "schema", "parameters")
"""Tables about the tables."""


@dataclass(frozen=True, slots=True)
class Layout:
    """Declarations of the shipped folder: the tables, their columns and their parameters."""

    kinds: Mapping[str, str]
    titles: Mapping[str, str]
    columns: Mapping[str, tuple[Column, ...]]
    parameters: Mapping[str, Mapping[str, Column]]
    meta: Mapping[str, tuple[tuple[str, ...], ...]]

    def of(self, table: str) -> tuple[Column, ...]:
        """The columns of a table."""
        return self.columns["facts" if self.kinds[table] == "facts" else table]


def read_layout(root: Path) -> Layout:
    """Read tables.csv, schema.csv and parameters.csv, which describe themselves too."""
    files: dict[str, list[Line]] = {
        "tables": read_lines(root / "tables.csv", _COLUMNS["tables"]),
        "schema": read_lines(root / "schema.csv", _COLUMNS["schema"]),
    }
    columns: dict[str, list[Column]] = {}
    for line in files["schema"]:
        cells = dict(zip(_COLUMNS["schema"], line.cells, strict=True))
        columns.setdefault(cells["table"], []).append(_column(line, cells, "column"))
    names = {table: tuple(column.name for column in entries) for table, entries in columns.items()}
    kinds = {line.cells[0]: line.cells[1] for line in files["tables"]}
    kinds.update({table: "rows" for table in names if table not in {*kinds, *META, "facts"}})
    _check_declared(root, kinds, names)
    files["parameters"] = read_lines(root / "parameters.csv", names["parameters"])
    parameters = _parameters(files["parameters"], names["parameters"])
    for name in META:
        for line in files[name]:
            parse_line(line, tuple(columns.get(name, ())))
    return Layout(
        kinds=MappingProxyType(kinds),
        titles=MappingProxyType({line.cells[0]: line.cells[2] for line in files["tables"]}),
        columns=MappingProxyType({table: tuple(entries) for table, entries in columns.items()}),
        parameters=MappingProxyType({t: MappingProxyType(entries) for t, entries in parameters.items()}),
        meta=MappingProxyType({name: tuple(line.cells for line in files[name]) for name in META}),
    )


def _parameters(lines: list[Line], names: tuple[str, ...]) -> dict[str, dict[str, Column]]:
    """Table -> its parameters by name."""
    parameters: dict[str, dict[str, Column]] = {}
    for line in lines:
        cells = dict(zip(names, line.cells, strict=True))
        entries = parameters.setdefault(cells["table"], {})
        if cells["parameter"] in entries:
            raise line.error("parameter", said("catalog.twice", name=short(cells["parameter"])))
        entries[cells["parameter"]] = _column(line, cells, "parameter")
    return parameters


def _check_declared(root: Path, kinds: Mapping[str, str], names: Mapping[str, tuple[str, ...]]) -> None:
    """Every table has a kind, is described in schema.csv and has the columns that its kind needs."""
    schema = f"{root.name}/schema.csv"
    for table, kind in {**kinds, **{name: name for name in META}}.items():
        if kind not in _COLUMNS or (kind in META and table != kind):
            message = said("catalog.kind", kind=short(kind))
            raise CatalogError(message, file=f"{root.name}/tables.csv", column="kind")
        described = names.get("facts" if kind == "facts" else table)
        if described is None:
            raise CatalogError(said("catalog.undescribed", table=short(table)), file=schema)
        missing = [name for name in _COLUMNS[kind] if name not in described]
        exact = kind in ("facts", *META)
        if (
            missing
            or (exact and described != _COLUMNS[kind])
            or (kind in ("rows", "measured") and described[0] != "id")
        ):
            needed = ", ".join(_COLUMNS[kind])
            raise CatalogError(said("catalog.table needs", table=short(table), columns=needed), file=schema)


def _column(line: Line, cells: Mapping[str, str], name: str) -> Column:
    if cells["type"] not in TYPES:
        needs = said("catalog.one of", names=", ".join(TYPES))
        raise line.error("type", said("catalog.not allowed", value=short(cells["type"]), needs=needs))
    try:
        bounds = [parse_number(cells[side]) if cells[side] else None for side in ("min", "max")]
    except NotAllowed as error:
        raise line.error("min", said("catalog.bound", needs=error)) from None
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


def parse_line(line: Line, columns: tuple[Column, ...]) -> dict[str, Any]:
    """The values of a line by column; a cell that does not fit is named."""
    values: dict[str, Any] = {}
    for column, text in zip(columns, line.cells, strict=True):
        try:
            values[column.name] = column.parse(text)
        except NotAllowed as error:
            raise line.error(column.name, str(error)) from None
    return values
