"""Silos, renting and more spare hosts in money: worked out beside the page, and said with their numbers."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from approved import has_approved, is_approved
from waiting import LIMIT_S

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan import load_scenario
from gpuplan.analysis.alternatives import alternatives
from gpuplan.analysis.rent_or_buy import no_rental, rent_or_buy
from gpuplan.app.cards import bare
from gpuplan.app.state import Workbook
from gpuplan.app.steps import cost as step
from gpuplan.app.strip import strip_data
from gpuplan.catalog import Catalog
from gpuplan.report.tables.alternatives import alternative_words
from gpuplan.scenario import from_dict
from gpuplan.wording import rounded_money

PARTS = (step.in_short_data, step.alternatives_data, step.rent_data)


def book_of(catalog: Catalog, name: str) -> Workbook:
    return Workbook(catalog, from_dict({}) if name == "blank" else load_scenario(name))


def rows(data: dict[str, Any], table: int = 0) -> dict[str, list[dict[str, Any]]]:
    return {row[0]["text"]: row for row in data["tables"][table]["rows"]}


@pytest.mark.parametrize("name", ["starter", "enterprise", "current", "blank"])
def test_every_part_is_plain_data(catalog: Catalog, name: str) -> None:
    book = book_of(catalog, name)
    for part in PARTS:
        data = part(book)
        assert json.loads(json.dumps(data, allow_nan=False)) == data
        assert data["shown"] == (name != "blank")
        assert name == "blank" or data.get("text") or data["tables"]


def test_a_page_does_not_wait_for_them_and_they_are_planned_once_nothing_changes(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")

    async def shown() -> None:
        for _ in range(2):
            assert step.in_short_data(book)["text"][0][0]["text"] == "Planning \u2026"
            book.edit("cost.years", "4")
        while "tables" not in step.in_short_data(book):
            await asyncio.sleep(0.05)

    asyncio.run(asyncio.wait_for(shown(), LIMIT_S))
    assert book.plan.costs is not None and book.plan.costs.years == 4
    assert rows(step.in_short_data(book))["This design"][1]["text"] == strip_cost(book)


def strip_cost(book: Workbook) -> str:
    figures = strip_data(book)["figures"]
    return str(next(each for each in figures if each["key"] == "cost.net_present")["value"]).removeprefix(
        "USD "
    )


def test_in_short_each_alternative_has_its_cost_and_of_the_rents_the_cheapest(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    found = alternatives(book.plan)
    shown = rows(step.in_short_data(book))
    assert is_approved(list(shown)[:6], "This design", "N+0", "N+2", "4 x H100 PCIe 80GB", "Silos")
    rented = [each for each in found if each.key.startswith("rent-")]
    cheapest = min(rented, key=lambda each: each.net_present)
    assert [name for name in shown if name.startswith("Rented")] == [cheapest.name]
    silos = next(each for each in found if each.key == "silos")
    assert silos.low is not None and silos.high is not None
    assert shown["Silos"][1]["text"] == (rounded_money(silos.net_present, (silos.low, silos.high))[0])


def test_many_hosts_or_groups_are_planned_again_when_it_is_asked(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = book_of(catalog, "enterprise")
    monkeypatch.setattr(step, "MANY_HOSTS", book.plan.totals.hosts - 1)
    for part in (step.in_short_data, step.alternatives_data):
        assert part(book)["button"]["key"] == step.KEY
    book.fold(step.KEY, True)
    assert step.in_short_data(book)["tables"]


def test_what_cannot_be_planned_is_said(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: object) -> None:
        raise ValueError("too many hosts")

    monkeypatch.setattr(step, "alternatives", refuse)
    assert step.in_short_data(book_of(catalog, "starter"))["text"][0][0]["text"] == "too many hosts"


def test_the_alternatives_are_those_of_the_plan(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    found = alternatives(book.plan)
    shown = rows(step.alternatives_data(book))
    assert list(shown) == [each.name for each in found]
    for each in found:
        assert shown[each.name][1]["text"] == str(each.hosts[0])
        assert shown[each.name][3]["text"] == bare(each.net_present)
    said = [line[0]["text"] for line in step.alternatives_data(book)["after"]]
    assert said == [words for words in alternative_words(book.plan) if words != no_rental(book.plan)]


def test_a_stated_rent_is_an_alternative(catalog: Catalog) -> None:
    book = book_of(catalog, "enterprise")
    assert not any("Enter a rent" in line[0]["text"] for line in step.alternatives_data(book)["after"])
    assert "Rented on demand" not in rows(step.alternatives_data(book))
    book.edit("prices.rent/v100-pcie-32gb", "0.01")
    assert "Rented on demand" in rows(step.alternatives_data(book))


def test_rent_stands_year_by_year_with_other_offers(catalog: Catalog) -> None:
    book = book_of(catalog, "current")
    found = rent_or_buy(book.plan)
    assert found is not None
    assert rows(step.rent_data(book))["Buy"][1]["text"] == bare(found.own_cash[0])
    none = book_of(catalog, "enterprise")
    data = step.rent_data(none)
    assert "tables" not in data and has_approved(data["text"][0][0]["text"])
