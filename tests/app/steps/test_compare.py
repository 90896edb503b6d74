"""Designs side by side: kept, named, compared with the one on the screen, opened again and forgotten; others tried."""

from __future__ import annotations

import json
from typing import Any

import pytest
from approved import has_approved, is_approved

pytest.importorskip("traitlets")

from gpuplan.analysis.compare import THIS
from gpuplan.app.cards import Card
from gpuplan.app.kept import MOST_KEPT
from gpuplan.app.state import Workbook
from gpuplan.app.steps.compare import _designs, designs_data, inputs_data, message, pin, results_data, try_out
from gpuplan.catalog import Catalog
from gpuplan.report.side_by_side import cheapest
from gpuplan.scenario import from_dict

NAME = "4 x V100 PCIe 32GB, C4140, N+1"


def rows(book: Workbook, card: Card) -> dict[str, list[dict[str, Any]]]:
    data = card(book)
    assert json.loads(json.dumps(data, allow_nan=False)) == data
    return {row[0]["text"]: row for row in data["tables"][0]["rows"]}


def said(book: Workbook) -> dict[str, str]:
    data = designs_data(book)
    json.dumps(data, allow_nan=False)
    return {row["label"]: row["sentence"] for row in data["rows"]}


def test_before_a_design_is_pinned_others_stand_beside_it(catalog: Catalog, book: Workbook) -> None:
    data = designs_data(book)
    assert [each["kind"] for each in data["designs"]] == ["now", "offered", "offered"]
    assert [each["name"] for each in data["designs"][:2]] == [THIS, "N+2"]
    assert data["about"] == NAME
    assert not data["off"] and not any(each["waiting"] for each in data["designs"])
    assert all(len(row["places"]) == 3 for row in data["rows"])
    hosts = data["rows"][0]["places"]
    assert [place["text"] for place in hosts] == ["8", "9", "6"]
    assert [bool(place["best"]) for place in hosts] == [False, False, True]
    assert message(book).sentence == cheapest(_designs(book)[0])
    blank = designs_data(Workbook(catalog, from_dict({})))
    assert blank["off"] and blank["title"] and not blank["designs"]


def test_using_another_design_pins_the_one_before(book: Workbook) -> None:
    before = book.scenario
    try_out(book, "no such design")
    assert book.kept == ()
    try_out(book, "N+2")
    assert [each.name for each in book.kept] == [NAME]
    assert book.scenario == before.with_value("availability.host_failures", 2)
    assert is_approved(said(book)["Hosts"], "8 hosts")
    assert NAME in message(book).sentence
    assert [each["kind"] for each in designs_data(book)["designs"]] == ["now", "kept"], "none is offered"
    book.undo()
    assert book.scenario == before
    try_out(book, "N+2")
    assert len(book.kept) == 1, "it is pinned already"


def test_an_offered_design_is_pinned_and_the_screen_stays(book: Workbook) -> None:
    before = book.scenario
    pin(book, "no such design")
    pin(book, "N+2")
    assert book.scenario == before
    assert [each.scenario.availability.host_failures for each in book.kept] == [2]
    assert [each["kind"] for each in designs_data(book)["designs"]] == ["now", "kept"]


def test_each_difference_is_a_sentence_and_marked_in_the_tables(book: Workbook) -> None:
    book.keep()
    kinds = [each["kind"] for each in designs_data(book)["designs"]]
    assert kinds == ["now", "kept", "offered", "offered"], "one that differs to compare with"
    book.edit("groups.data-scientists.people", "80")
    book.edit("cost.licence_discount", "10 %")
    hosts = book.plan.totals.hosts
    assert hosts != 8
    assert is_approved(said(book)["Hosts"], "8 hosts")
    shown, changed = rows(book, results_data), rows(book, inputs_data)
    heads = results_data(book)["tables"][0]["heads"]
    assert [head["text"] for head in heads] == ["", NAME, "This design"]
    assert [c["text"] for c in shown["Hosts"][1:]] == ["8 hosts", f"{hosts} hosts"]
    assert "mark" in shown["Hosts"][2]
    assert "mark" not in shown["Hosts"][1]
    assert [c["text"] for c in changed["Licence discount"][1:]] == ["0 %", "10 %"]
    assert "mark" not in shown["VMs not placed"][2]


def test_an_item_of_the_catalog_is_called_by_its_name(book: Workbook) -> None:
    book.keep()
    book.edit("hardware.gpu", "a100-pcie-80gb")
    book.edit("groups.hpc.workload", "resnet-50-infer-1")
    book.edit("groups.hpc.use_case", "dev-test")
    shown = rows(book, inputs_data)
    assert shown["GPU model"][2]["text"] == book.catalog.gpus["a100-pcie-80gb"].name
    assert shown["HPC users: Network workload"][2]["text"] == "ResNet-50 inference, batch 1"
    assert shown["HPC users: Workload"][2]["text"] != "dev-test"
    assert has_approved(designs_data(book)["notes"][0], "1 GPU", "1 GPU")


def test_designs_are_kept_under_names_of_their_own_up_to_a_limit(book: Workbook) -> None:
    for _ in range(MOST_KEPT + 1):
        book.keep()
    assert [kept.name for kept in book.kept] == [NAME, f"{NAME}, 32 GPUs", f"{NAME}, 32 GPUs (2)"]
    assert designs_data(book)["off"]
    book.rename_kept(f"{NAME}, 32 GPUs", "  As \n quoted ")
    book.rename_kept(NAME, "As quoted")
    book.rename_kept(NAME, " ")
    assert [kept.name for kept in book.kept] == [NAME, "As quoted", f"{NAME}, 32 GPUs (2)"]
    book.forget_kept("As quoted")
    book.keep()
    assert [kept.name for kept in book.kept][-1] == f"{NAME}, 32 GPUs"
    book.forget_kept(NAME)
    assert len(rows(book, results_data)["Hosts"]) == 1 + MOST_KEPT


def test_a_kept_design_is_opened_and_undo_returns(book: Workbook) -> None:
    book.keep()
    first = book.scenario
    book.edit("groups.data-scientists.people", "80")
    second = book.scenario
    book.open_kept(NAME)
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
    assert designs_data(book)["off"]
