"""Rows of one's own: made in Python, checked by column, and kept in a folder that is laid over the shipped one."""

import atexit
import csv
import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from gpuplan.catalog.tables import CatalogError, Cell, Column, NotAllowed, pick, short
from gpuplan.facts import data_root, did_you_mean
from gpuplan.wording import said

if TYPE_CHECKING:
    from gpuplan.catalog.catalog import Catalog

Record = Mapping[str, Any]
Tables = dict[str, dict[tuple[str, ...], Record]]
"""Table -> its rows, as cells by column, by their key."""
PRICED = {"gpus": "gpu", "servers": "server", "nics": "nic", "switches": "switch", "products": "licence"}
"""Table of what has a price -> the kind of its price."""
NOT_ALIKE = ("name", "launched", "end_of_sale", "nvaie_years", "llm_runs", "reported_memory_gib")
"""Facts of an item that another one like it does not have."""
HANGING: Mapping[str, Mapping[tuple[str, str], tuple[str, ...]]] = {
    "gpus": {
        ("server_gpus", "gpu"): ("form_factor",),
        ("profiles", "gpu"): ("architecture", "mig_instances"),
        ("mig_placements", "gpus"): ("architecture", "mig_instances"),
    },
    "servers": {("server_gpus", "server"): ()},
}
"""Table of an item -> table and column of the rows about it -> facts in which one that takes them is alike."""
MODEL = {"kind": "generate", "attention": "gqa", "recurrent_layers": False}
"""Columns of a language model that are seldom stated."""
KEPT = "kept"
"""Column of ``llm_checkpoints`` that a language model of one's own states among its own."""
DAY = re.compile(r"\b(?:19|20)\d\d(?:-\d\d){0,2}\b")
_numbers = count()


def cells_of(columns: Mapping[str, Column], given: Record) -> tuple[dict[str, Cell], dict[str, str]]:
    """The values of columns as read from a table, and by name what is wrong with those given."""
    cells: dict[str, Cell] = {}
    wrong = {
        name: said("catalog.no parameter", name=short(name), close=did_you_mean(name, columns))
        for name in given
        if name not in columns
    }
    for name, column in columns.items():
        try:
            cells[name] = column.parse(_text(given.get(name)))
        except NotAllowed as error:
            wrong[name] = str(error)
    return cells, wrong


def _text(value: Any) -> str:
    """A value as a table holds it."""
    if isinstance(value, tuple | list):
        return "; ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


class Made:
    """Rows of one's own with those of one more record, from one source; a source that is not in the catalog is added."""

    def __init__(self, catalog: "Catalog", id: str, source: str, basis: str) -> None:
        self.catalog, self.id, self.tables = catalog, id, rows_of(*catalog.folders[1:])
        self.day = next(iter(DAY.findall(source)), "")
        known = source in catalog.sources
        self.source = source if known else re.sub(r"[^a-z0-9]+", "-", source.lower()).strip("-")
        self.origin = {"basis": basis, "source": self.source}
        if not known:
            title = {"id": self.source, "title": source, "producer": source.partition(",")[0]}
            days = {"published": self.day, "accessed": self.day or datetime.date.today().isoformat()}
            tier = "measured" if basis == "measured" else "practitioner"
            put(self.tables, "sources", {**title, **days, "tier": tier})

    def check(self, table: str, given: Record) -> None:
        """Refuse a record, and name all that it lacks and all that is wrong in it."""
        _, wrong = cells_of(self.catalog.schema[table], given)
        if wrong:
            raise CatalogError("\n".join(f"{table}/{self.id}, {name}: {why}" for name, why in wrong.items()))

    def folder(self) -> Path:
        """A folder of this process with these rows."""
        folder = _folder() / str(next(_numbers)) / "own"
        write_rows(folder, self.tables)
        return folder


def assumed(sources: Iterable[str], like: str) -> dict[str, str]:
    """The origin of what is taken from a record like this one."""
    note = said("catalog.like", id=like)
    return {"basis": "assumed", "source": _text(tuple(sources)), "locator": "", "note": note}


def with_item(made: Made, table: str, given: Record, like: str, beside: Mapping[str, int]) -> Path:
    """Rows of a GPU or a server, with the boards in each server that takes it, or of each GPU that it takes."""
    items, columns = made.catalog.items(table), made.catalog.schema[table]
    before = items[made.id].facts if made.id in items else {}
    alike = pick(items, like, PRICED[table]).facts if like else {}
    given = {**({} if before else {"name": made.id}), **given}
    taken = {name: fact for name, fact in alike.items() if name not in (*NOT_ALIKE, *given)}
    values = {**{name: fact.value for name, fact in {**before, **taken}.items()}, **given}
    made.check(table, values)
    memory_mb = 1024 * float(values.get("memory_gib", 0))
    facts = {
        name: {"value": fact.value, "low": fact.low, "high": fact.high, **assumed(fact.sources, like)}
        for name, fact in taken.items()
    }
    facts |= {name: {"value": value, **made.origin} for name, value in given.items()}
    for name, cells in facts.items():
        put(made.tables, table, {"item": made.id, "parameter": name, "unit": columns[name].unit, **cells})
    for (hanging, column), names in HANGING[table].items():
        if like and all(values.get(name) == items[like].value(name) for name in names):
            put(made.tables, hanging, *_alike(made, hanging, column, like, memory_mb))
    own, other = ("gpu", "server") if table == "gpus" else ("server", "gpu")
    for id, boards in beside.items():
        pair = {own: made.id, other: pick(made.catalog.items(f"{other}s"), id, other).id}
        key = f"{pair['server']}/{pair['gpu']}"
        put(made.tables, "server_gpus", {"id": key, **pair, "boards": boards, **made.origin})
    return made.folder()


def _alike(made: Made, table: str, column: str, like: str, memory_mb: float) -> Iterator[Record]:
    """Rows about an item like this one, as assumed, but for shares that are larger than its memory."""
    for row in made.catalog.rows(table):
        about = row[column] if isinstance(row[column], tuple) else (row[column],)
        if like in about and (row.cells.get("frame_buffer_mb") or 0) <= memory_mb:
            first, _, rest = row.id.partition("/")
            id = f"{first}/{made.id}" if rest == like else f"{made.id}/{rest}"
            yield {**row.cells, "id": id, column: made.id, **assumed(row.sources, like)}


def with_price(catalog: "Catalog", of: str, price_usd: float, cells: Record, source: str, basis: str) -> Path:
    """Rows of a price in place of the one that is planned with, of an item or by the id of a price."""
    rows = {row["item"] or row.id: row for row in catalog.rows("prices") if row["use"] == "default"}
    items = {f"{table}/{id}": item for table in PRICED for id, item in catalog.items(table).items()}
    keys = {item.id: key for key, item in items.items()} | {key: key for key in (*rows, *items)}
    key = pick(keys, of, "price")
    if key in rows:
        before = {name: rows[key][name] for name in ("id", "kind", "name", "item", "unit")}
    else:
        kind, item = PRICED[key.partition("/")[0]], items[key]
        before = {"id": f"{item.id}-own", "kind": kind, "name": item.name, "item": key, "unit": "each"}
    made = Made(catalog, str(before["id"]), source, basis)
    usual = {"low_usd": price_usd, "high_usd": price_usd, "as_of": made.day, "use": "default"}
    row = {**before, **usual, "price_usd": price_usd, **made.origin, **cells}
    made.check("prices", row)
    put(made.tables, "prices", row)
    return made.folder()


def with_model(made: Made, cells: Record, like: str) -> Path:
    """Rows of a language model, and the checkpoint that it is where it says which parts are kept at 16 bits."""
    models = {row.id: row for row in made.catalog.rows("llm_models")}
    alike = pick(models, like, "language model") if like else None
    row = {**(alike.cells if alike else MODEL), "name": made.id, "repository": made.id, **made.origin}
    if alike:
        row |= assumed((made.source, *alike.sources), like)
    row |= {**cells, "id": made.id}
    kept, dense = row.pop(KEPT, ""), not row.get("experts")  # each token uses all parameters of a dense model
    if dense and "active_parameters" not in cells:
        row["active_parameters"] = row.get("total_parameters")
    made.check("llm_models", row)
    put(made.tables, "llm_models", row)
    if kept:
        precision = row.get("native_precision")
        checkpoint = {"id": f"{made.id}-{precision}", "model": made.id, "precision": precision, "kept": kept}
        put(made.tables, "llm_checkpoints", {**checkpoint, "repository": row["repository"], **made.origin})
    return made.folder()


def save(catalog: "Catalog", folder: Path) -> None:
    """Write the rows of one's own into a folder; a CatalogError if it has tables that the catalog does not have."""
    tables = rows_of(*catalog.folders[1:])
    if others := sorted(rows_of(folder).keys() - tables.keys()):
        raise CatalogError(said("catalog.other tables", names=", ".join(others)), file=str(folder))
    write_rows(folder, tables)


def rows_of(*folders: Path) -> Tables:
    """The rows of some folders, those of a later one in place of those with the same key."""
    tables: Tables = {}
    for folder in folders:
        for path in folder.glob("[!.~]*.csv"):
            with path.open(encoding="utf-8-sig", newline="") as file:
                put(tables, path.stem, *csv.DictReader(file))
    return tables


def put(tables: Tables, table: str, *rows: Record) -> None:
    """Add rows to a table, in place of those with the same key."""
    for row in rows:
        key = ("item", "parameter") if "parameter" in row else ("id",)
        tables.setdefault(table, {})[tuple(str(row[name]) for name in key)] = row


def write_rows(folder: Path, tables: Tables) -> None:
    """Write tables of rows into a folder, in place of its tables of the same names."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, rows in tables.items():
        with (data_root() / f"{table}.csv").open(encoding="utf-8", newline="") as file:
            columns = next(csv.reader(file))
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows({name: _text(value) for name, value in row.items()} for row in rows.values())


@cache
def _folder() -> Path:
    folder = TemporaryDirectory(prefix="gpuplan-rows-")
    atexit.register(folder.cleanup)
    return Path(folder.name)
