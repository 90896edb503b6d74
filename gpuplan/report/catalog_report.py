"""The catalog as text: an overview, one of its tables, or the results of a search."""

from collections.abc import Iterable, Sequence

from gpuplan.catalog import Catalog, Item, Row
from gpuplan.report.tables.plan import ITEM_TABLES
from gpuplan.report.text import Block, chapter, grid_text, page
from gpuplan.wording import amount, basis_word, number, said


def catalog_text(catalog: Catalog, query: str = "") -> str:
    """Return the catalog as text: an overview, one table, or the results of a search, each value with its source."""
    if not query:
        return page("", *_overview(catalog))
    if query in ITEM_TABLES:
        parts = [_item(item) for item in catalog.items(query).values()]
    elif query == "sources":
        listed = [(s.id, f"{s.title}, {s.producer} {s.published} {s.url}") for s in catalog.sources.values()]
        parts = [_grid("", ("Id", "Document"), listed)]
    elif query in catalog.titles:
        parts = [_row(row) for row in catalog.rows(query)]
    else:
        parts = _found(catalog, query)
    return page("", *parts) if parts else ""


def _grid(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]], right: Sequence[int] = ()) -> str:
    return chapter(title, Block(grid_text(heads, rows, right)))


def _overview(catalog: Catalog) -> list[str]:
    others = [name for name in catalog.titles if name not in (*ITEM_TABLES, "sources")]
    rows = [(name, number(len(catalog.items(name)))) for name in ITEM_TABLES]
    rows += [(name, number(len(catalog.rows(name)))) for name in others]
    rows.append(("sources", number(len(catalog.sources))))
    named = ("gpus", "servers", "vsphere", "nics", "switches", "products")
    tables = _grid(f"Catalog {catalog.digest}", ("Table", "Entries"), rows, (1,))
    return [tables, *(_items(catalog, name) for name in named), said("sources.how to search")]


def _items(catalog: Catalog, table: str) -> str:
    rows = [
        (item.id, item.name, ", ".join(dict.fromkeys(s for f in item.facts.values() for s in f.sources)))
        for item in catalog.items(table).values()
    ]
    return _grid(table.capitalize(), ("Id", "Name", "Sources"), rows)


def _found(catalog: Catalog, query: str) -> list[str]:
    """List the results of a search: items, a row with that id, and other places with the words."""
    parts, others = [], []
    for name, entry, title, keys in catalog.search(query):
        if name in ITEM_TABLES:
            parts.append(_item(catalog.items(name)[entry]))
        elif entry == query:
            parts.append(_row(catalog.row(name, entry)))
        else:
            others.append((name, entry, title, ", ".join(keys)[:60]))
    if others:
        parts.append(_grid("Other tables", ("Table", "Id", "Name", "Found in"), others))
    return parts


def _item(item: Item) -> str:
    rows = [
        (name.replace("_", " "), amount(f.value, f.unit), basis_word(f.basis), ", ".join(f.sources))
        for name, f in item.facts.items()
    ]
    title = f"{item.name}  [{item.table}/{item.id}]"
    return _grid(title, ("Parameter", "Value", "Basis", "Source"), rows)


def _row(row: Row) -> str:
    left_out = ("id", "basis", "source", "locator", "note")
    rows = [
        (column.replace("_", " "), "; ".join(value) if isinstance(value, tuple) else number(value))
        for column, value in row.cells.items()
        if value is not None and column not in left_out
    ]
    rows += [("basis", basis_word(row.basis)), ("source", ", ".join(row.sources))]
    rows += [(name, text) for name, text in (("where", row.locator), ("note", row.note)) if text]
    return _grid(row.key, ("Column", "Value"), rows)
