"""Silos, renting and more spare hosts in money: worked out when they are opened, and said with their numbers."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.posture_costs import posture_costs
from gpuplan.analysis.rent_or_buy import rent_or_buy
from gpuplan.analysis.silos import silo_costs
from gpuplan.app.cards import bare
from gpuplan.app.state import Workbook
from gpuplan.app.steps import alternatives as step
from gpuplan.catalog import Catalog
from gpuplan.scenario import from_dict

FOLDS = {"cost-silos": step.silos_data, "cost-rent": step.rent_data, "cost-postures": step.postures_data}


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
    for module, work in ((step, "silo_costs"), (step.tables, "rent_or_buy"), (step, "posture_costs")):
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


def test_silos_are_compared_with_the_pool(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    book.fold("cost-silos", True)
    found = silo_costs(book.plan)
    assert found is not None
    assert found.saved > 0
    data = step.silos_data(book)
    assert f"the pool saves USD {bare(found.saved)}" in data["text"][0]
    assert "27.5 % of the time" in data["text"][1]
    shown = rows(data)
    assert list(shown) == [*(g.name for g in book.plan.groups), "All silos", "Pooled"]
    assert shown["All silos"][4]["text"] == bare(found.net_present)
    assert shown["Pooled"][1]["text"] == str(found.pool_hosts)
    assert found.excludes
    assert data["text"][2] == f"Not in these costs: {'; '.join(found.excludes)}."


def test_a_gpu_that_is_rented_is_compared_and_a_stated_rent_wins(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    book.fold("cost-rent", True)
    found = rent_or_buy(book.plan)
    assert found is not None
    assert found.row is not None
    data = step.rent_data(book)
    assert f"it is cheaper to {found.cheaper}" in data["text"][0]
    shown = rows(data)["on demand"]
    assert shown[1]["text"] == found.row.name
    assert shown[3]["text"] == bare(found.rent_net_present)
    assert rows(data, 1)["Buy"][1]["text"] == bare(found.own_cash[0])
    book.edit(f"prices.rent/{book.scenario.hardware.gpu}", "100")
    data = step.rent_data(book)
    assert rows(data)["on demand"][1]["text"] == "stated"
    assert "it is cheaper to buy" in data["text"][0]


def test_a_gpu_that_nobody_rents_out_says_so(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    book.fold("cost-rent", True)
    data = step.rent_data(book)
    assert data["tables"] == []
    assert "State the rent of a GPU-hour" in data["text"][0]
    book.edit("prices.rent/v100-pcie-32gb", "0.01")
    assert "it is cheaper to rent" in step.rent_data(book)["text"][0]


def test_each_failure_more_has_the_price_of_an_hour_removed(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    book.fold("cost-postures", True)
    shown = step.postures_data(book)["tables"][0]["rows"]
    found = posture_costs(book.plan)
    assert [row[0]["text"] for row in shown] == ["N+0", "N+1", "N+2"]
    assert [row[0].get("tag", "") for row in shown] == ["", "this design", ""]
    assert [c["text"] for c in shown[0][6:]] == ["\u2013"] * 3
    price = found[2].hour_price
    assert price is not None
    assert shown[2][8]["text"] == bare(price)
    assert step.postures_of(book) == found
    left_out = list(dict.fromkeys(name for each in found for name in each.excludes))
    assert step.postures_data(book)["text"] == [f"Not in these costs: {'; '.join(left_out)}."]
