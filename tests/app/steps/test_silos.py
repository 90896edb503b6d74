"""Silos against the pool, and what sharing saves."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps import silos
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def said(data: dict[str, Any], key: str = "text") -> str:
    return " ".join("".join(part["text"] for part in parts) for parts in data[key])


def rows_of(table: dict[str, Any]) -> list[list[str]]:
    return [[cell["text"] for cell in row] for row in table["rows"]]


def test_silos_against_the_pool(book: Workbook) -> None:
    data = silos.silo_data(book)
    rows = {row[0]: row[1:] for row in rows_of(data["tables"][0])}
    assert rows["High-performance researchers"] == ["12", "4", "16", "75 %"]
    assert rows["All silos"] == ["", "13", "52", "54 %"]
    assert rows["Pooled"] == ["28", "8", "32", "88 %"]
    assert rows["Saved by sharing"] == ["", "5", "20", ""]
    assert is_approved(said(data), "52 GPUs", "13 hosts", "54 %", "32", "8", "88 %")
    assert "25 to 30 %" in data["notes"][0]["text"]
    assert data["notes"][0]["cite"]
    assert "Not counted" not in data["tables"][0]["more"]
    book.edit("demand.rule", "stated")
    more = silos.silo_data(book)["tables"][0]["more"]
    assert has_approved(more)


def test_a_pool_that_saves_nothing_is_not_praised(catalog: Catalog) -> None:
    groups = [
        {"id": "a", "name": "A", "people": 4, "access": "passthrough"},
        {"id": "b", "name": "B", "people": 4, "access": "vgpu"},
    ]
    book = Workbook(catalog, from_dict({"groups": groups}))
    saved = silos.silo_data(book)["tables"][0]["rows"][-1]
    assert [c["text"] for c in saved] == ["Saved by sharing", "", "0", "0", ""]
    assert saved[0]["tone"] == ""


def test_one_group_has_no_silos(catalog: Catalog) -> None:
    book = Workbook(catalog, from_dict({"groups": [{"id": "a", "people": 4}]}))
    assert has_approved(said(silos.silo_data(book)))
