"""Designs side by side: kept, compared with the one on the screen, opened again and forgotten."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("traitlets")

from gpuplan.app.state import MOST_KEPT, Workbook
from gpuplan.app.steps.compare import compare_data
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict


def rows(book: Workbook) -> dict[str, list[dict[str, Any]]]:
    data = compare_data(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


def test_nothing_is_compared_before_a_design_is_kept(catalog: Catalog, book: Workbook) -> None:
    assert "tables" not in compare_data(book)
    assert not compare_data(book)["acts"][0]["off"]
    assert compare_data(Workbook(catalog, from_dict({})))["acts"][0]["off"]


def test_what_differs_is_marked_in_the_columns_and_said(book: Workbook) -> None:
    book.keep()
    assert compare_data(book)["list"] == ["Nothing differs."]
    book.edit("groups.data-scientists.people", "80")
    book.edit("cost.licence_discount", "10 %")
    shown = rows(book)
    heads = compare_data(book)["tables"][0]["heads"]
    assert [head["text"] for head in heads] == ["", "Enterprise example", "The design on the screen"]
    assert [c["text"] for c in shown["Hosts"][1:]] == ["8 hosts", f"{book.plan.totals.hosts} hosts"]
    assert "mark" in shown["Hosts"][2]
    assert "mark" not in shown["Hosts"][1]
    assert [c["text"] for c in shown["Discount on licences"][1:]] == ["0 %", "10 %"]
    assert "mark" not in shown["VMs not placed"][2]
    assert any(sentence.startswith("Hosts: ") for sentence in compare_data(book)["list"])


def test_an_item_of_the_catalog_is_called_by_its_name(book: Workbook) -> None:
    book.keep()
    book.edit("hardware.gpu", "a100-pcie-80gb")
    book.edit("groups.hpc.workload", "resnet-50-infer-1")
    book.edit("groups.hpc.use_case", "dev-test")
    shown = rows(book)
    assert shown["GPU model"][2]["text"] == book.catalog.gpus["a100-pcie-80gb"].name
    assert shown["HPC users: Work"][2]["text"] == "ResNet-50 inference, batch 1"
    assert shown["HPC users: Use case"][2]["text"] != "dev-test"


def test_designs_are_kept_under_names_of_their_own_up_to_a_limit(book: Workbook) -> None:
    for _ in range(MOST_KEPT + 1):
        book.keep()
    assert [kept.name for kept in book.kept] == [
        "Enterprise example",
        "Enterprise example (2)",
        "Enterprise example (3)",
    ]
    assert compare_data(book)["acts"][0]["off"]
    book.forget_kept("Enterprise example (2)")
    book.keep()
    assert [kept.name for kept in book.kept][-1] == "Enterprise example (2)"
    book.forget_kept("Enterprise example")
    assert len(rows(book)["Hosts"]) == 1 + MOST_KEPT


def test_a_kept_design_is_opened_and_undo_returns(book: Workbook) -> None:
    book.keep()
    first = book.scenario
    book.edit("groups.data-scientists.people", "80")
    second = book.scenario
    acts = rows(book)[""][1]["acts"]
    assert [(act["event"], act["rest"]) for act in acts] == [
        ("open-kept", {"name": "Enterprise example"}),
        ("forget-kept", {"name": "Enterprise example"}),
    ]
    book.open_kept("Enterprise example")
    assert book.scenario == first
    book.undo()
    assert book.scenario == second
    assert len(book.kept) == 1
    book.open_kept("no such design")
    assert book.scenario == second


def test_a_design_that_cannot_be_planned_is_not_kept(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "many")
    book.keep()
    assert book.kept == ()
    assert compare_data(book)["acts"][0]["off"]
