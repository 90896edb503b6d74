"""The catalog as text: what it holds, one table of it, or what a search finds."""

from __future__ import annotations

from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.report.table import grid_text
from gpuplan.report.text import heading
from gpuplan.wording import amount, basis_word, number


def catalog_text(catalog: Catalog, query: str = "") -> str:
    """The catalog as text: what it holds, one table of it, or what a search finds, each value with its source."""
    fact_tables = ("gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions")
    row_tables = tuple(name for name in catalog.titles if name not in (*fact_tables, "sources"))
    if not query:
        rows = [(name, number(len(getattr(catalog, name)))) for name in fact_tables]
        rows += [(name, number(len(catalog.rows(name)))) for name in row_tables]
        rows.append(("sources", number(len(catalog.sources))))
        parts = [
            heading(f"Catalog {catalog.digest}").lstrip() + grid_text(("Table", "Entries"), rows, right=(1,))
        ]
        parts += [
            heading(name.capitalize())
            + grid_text(
                ("Id", "Name", "Sources"),
                [
                    (
                        item.id,
                        item.name,
                        ", ".join(dict.fromkeys(s for f in item.facts.values() for s in f.sources)),
                    )
                    for item in getattr(catalog, name).values()
                ],
            )
            for name in ("gpus", "servers", "vsphere", "nics", "switches", "products")
        ]
        parts.append(
            "'gpuplan catalog WORD' searches; an id or a table name shows every value with its source."
        )
        return "\n\n".join(parts) + "\n"
    if query in fact_tables:
        return "\n\n".join(_item_text(item) for item in getattr(catalog, query).values()) + "\n"
    if query in row_tables:
        return "\n\n".join(_row_text(row) for row in catalog.rows(query)) + "\n"
    if query == "sources":
        listed = [(s.id, f"{s.title}, {s.producer} {s.published} {s.url}") for s in catalog.sources.values()]
        return grid_text(("Id", "Document"), listed) + "\n"
    hits = catalog.search(query)
    if not hits:
        return ""
    parts, others = [], []
    for name, entry, title, keys in hits:
        if name in fact_tables:
            parts.append(_item_text(getattr(catalog, name)[entry]))
        elif entry == query:
            parts.append(_row_text(catalog.row(name, entry)))
        else:
            others.append((name, entry, title, ", ".join(keys)[:60]))
    if others:
        parts.append(
            heading("Other tables").lstrip() + grid_text(("Table", "Id", "Name", "Found in"), others)
        )
    return "\n\n".join(parts) + "\n"


def _item_text(item: Any) -> str:
    rows = [
        (
            f.key.rsplit("/", 1)[1].replace("_", " "),
            amount(f.value, f.unit),
            basis_word(f.basis),
            ", ".join(f.sources),
        )
        for f in item.facts.values()
    ]
    return heading(f"{item.name}  [{item.table}/{item.id}]").lstrip() + grid_text(
        ("Parameter", "Value", "Basis", "Source"), rows
    )


def _row_text(row: Row) -> str:
    left_out = ("id", "basis", "source", "locator", "note")
    rows = [
        (column.replace("_", " "), "; ".join(value) if isinstance(value, tuple) else number(value))
        for column, value in row.cells.items()
        if value is not None and column not in left_out
    ]
    rows += [("basis", basis_word(row.basis)), ("source", ", ".join(row.sources))]
    rows += [(name, text) for name, text in (("where", row.locator), ("note", row.note)) if text]
    return heading(row.key) + grid_text(("Column", "Value"), rows)
