"""Silos, renting and more spare hosts in money: worked out when they are opened, and said with their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.posture_costs import posture_costs
from gpuplan.analysis.rent_or_buy import rent_or_buy
from gpuplan.app.cards import bare
from gpuplan.app.state import Workbook
from gpuplan.app.steps import alternatives as step
from gpuplan.catalog import Catalog
from gpuplan.report.tables.alternatives import alternative_words
from gpuplan.scenario import from_dict

FOLDS = {"cost-alternatives": step.alternatives_data, "cost-rent": step.rent_data}


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


def rows(data: dict[str, Any], table: int = 0) -> dict[str, list[dict[str, Any]]]:
    return {row[0]["text"]: row for row in data["tables"][table]["rows"]}


@pytest.mark.parametrize("key", FOLDS)
@pytest.mark.parametrize("name", ["starter", "current", "blank"])
def test_nothing_is_worked_out_before_it_is_opened(
    catalog: Catalog, name: str, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = book_of(catalog, name)
    for module, work in ((step.tables, "alternatives"), (step, "rent_terms"), (step, "posture_costs")):
        monkeypatch.setattr(module, work, lambda *_: pytest.fail("planned again"))
    data = FOLDS[key](book)
    assert data["shown"] == (name != "blank")
    assert (data["open"], data["tables"]) == (False, [])


@pytest.mark.parametrize("name", ["starter", "enterprise", "current"])
def test_what_is_opened_is_plain_data(catalog: Catalog, name: str) -> None:
    book = book_of(catalog, name)
    for key, part in FOLDS.items():
        book.fold(key, True)
        data = part(book)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["text"] or data["tables"]


def test_the_alternatives_are_those_of_the_plan(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    book.fold("cost-alternatives", True)
    found = alternatives(book.plan)
    shown = rows(step.alternatives_data(book))
    assert list(shown) == [each.name for each in found]
    for each in found:
        assert shown[each.name][1]["text"] == str(each.hosts[0])
        assert shown[each.name][3]["text"] == bare(each.net_present)
    assert step.alternatives_data(book)["text"] == alternative_words(book.plan)


def test_a_stated_rent_is_an_alternative(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    book.fold("cost-alternatives", True)
    assert "State the rent of a GPU-hour" in step.alternatives_data(book)["text"][-1]
    book.edit("prices.rent/v100-pcie-32gb", "0.01")
    assert "Rented on demand" in rows(step.alternatives_data(book))


def test_rent_stands_year_by_year_with_other_offers(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    book.fold("cost-rent", True)
    found = rent_or_buy(book.plan)
    assert found is not None
    assert rows(step.rent_data(book))["Buy"][1]["text"] == bare(found.own_cash[0])
    none = book_of(catalog, "enterprise")
    none.fold("cost-rent", True)
    data = step.rent_data(none)
    assert data["tables"] == [] and "State the rent of a GPU-hour" in data["text"][0]


def test_the_postures_are_worked_out_once(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    assert step.postures_of(book) == posture_costs(book.plan)
    assert step.postures_of(book) is step.postures_of(book)
