"""The stated total beside what the groups need."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved

from gpuplan import load_scenario
from gpuplan.app.state import Workbook
from gpuplan.app.steps.stated import stated_data
from gpuplan.app.steps.usecases import workloads_data
from gpuplan.catalog import Catalog


@pytest.fixture
def book(catalog: Catalog) -> Workbook:
    return Workbook(catalog, load_scenario("enterprise"))


def shown(book: Workbook) -> dict[str, Any]:
    data = stated_data(book)
    assert data is not None
    assert workloads_data(book)["stated"] == data
    return data


def take(book: Workbook, at: str) -> None:
    way = next(way for way in shown(book)["ways"] if way["at"] == at)
    book.edit(way["path"], way["value"])


def test_both_are_said_and_either_is_a_click_away(book: Workbook) -> None:
    assert is_approved(shown(book)["text"], "28 GPUs")
    book.edit("groups.data-scientists.people", "64")
    data = shown(book)
    assert is_approved(data["text"], "28 GPUs", "36", "36 GPUs")
    assert (data["tone"], [way["at"] for way in data["ways"]]) == ("warn", ["take-groups", "take-total"])

    take(book, "take-total")
    assert (book.plan.totals.gpus_demanded, book.plan.totals.unplaced_vms) == (28, 22)
    assert has_approved(shown(book)["text"], "28 GPUs")
    take(book, "take-groups")
    assert (book.plan.totals.gpus_demanded, book.plan.totals.unplaced_vms) == (36, 0)

    take(book, "take-groups")
    assert (book.scenario.demand.stated_gpus, stated_data(book)) == (None, None)
    assert book.plan.totals.hosts == 10


def test_a_total_above_the_groups_is_no_warning(book: Workbook) -> None:
    book.edit("demand.stated_gpus", "40")
    data = shown(book)
    assert data["tone"] == ""
    assert is_approved(data["text"].partition(".")[0], "40 GPUs", "28")


def test_without_groups_there_is_nothing_to_compare(catalog: Catalog) -> None:
    blank = Workbook(catalog)
    blank.edit("demand.stated_gpus", "9")
    assert stated_data(blank) is None
    assert blank.plan.totals.gpus_demanded == 9
