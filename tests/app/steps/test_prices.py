"""Prices in place: those of the catalog in grey, one that is typed over them, and the way back."""

from __future__ import annotations

from typing import Any

import pytest
from approved import has_approved, is_approved
from priced_screen import prices

pytest.importorskip("altair")
pytest.importorskip("traitlets")

from gpuplan.app.state import Workbook
from gpuplan.app.steps import prices as step
from gpuplan.app.steps.cost import cost_data
from gpuplan.plan.prices import MEMORY

Data = dict[str, Any]


def test_a_price_is_overwritten_in_place_and_taken_back(enterprise: Workbook) -> None:
    before = enterprise.plan.costs
    assert before is not None
    row = prices(enterprise)["servers/dell-c4140"]
    assert (row[1]["input"]["value"], row[4]["basis"]) == ("", "assumed")
    assert row[1]["input"]["empty"]
    assert row[3]["text"]
    assert "tag" in row[4]  # more than a year old
    assert len(row[1]["cites"]) > 1
    enterprise.edit("prices.servers/dell-c4140", "30000")
    after = enterprise.plan.costs
    assert after is not None
    assert after.net_present > before.net_present
    row = prices(enterprise)["servers/dell-c4140"]
    assert (row[1]["input"]["value"], row[4]["basis"]) == ("30\u202f000", "quoted")
    assert is_approved(row[1]["cites"][1])
    back = row[1]["acts"][0]
    assert has_approved(back["text"])
    enterprise.edit(back["rest"]["path"], back["rest"]["value"])
    assert enterprise.plan.costs == before
    enterprise.undo()
    assert enterprise.plan.costs == after
    enterprise.undo()
    assert enterprise.plan.costs == before


def test_a_price_that_is_no_number_stays_beside_its_problem(enterprise: Workbook) -> None:
    before = enterprise.plan.costs
    enterprise.edit("prices.electricity-kwh", "cheap")
    assert enterprise.plan.costs == before
    field = prices(enterprise)["electricity-kwh"][1]["input"]
    assert field["value"] == "cheap"
    assert "is not valid" in field["problem"]
    assert step.prices_data(enterprise)["stale"]
    assert cost_data(enterprise)["stale"]


def test_rows_of_prices_keep_their_places_when_one_is_stated(unknown: Workbook) -> None:
    before = list(prices(unknown))
    costs = unknown.plan.costs
    assert costs is not None
    unknown.edit(f"prices.{costs.unknown[0].key}", "500")
    assert list(prices(unknown)) == before


def test_prices_that_the_design_does_not_pay_are_listed_apart(enterprise: Workbook) -> None:
    last = list(prices(enterprise))[-1]
    assert last == "rent/v100-pcie-32gb"
    enterprise.edit("prices.gpus/a100-pcie-80gb", "9000")
    row = prices(enterprise)["gpus/a100-pcie-80gb"]
    assert is_approved(row[0]["note"])
    assert row[1]["acts"][0]["rest"]["value"] == ""


def test_the_way_back_names_the_price_of_the_catalog(enterprise: Workbook) -> None:
    assert enterprise.plan.costs is not None
    price = next(p for p in enterprise.plan.costs.prices if p.key == "vcf-core-year")
    enterprise.edit("prices.vcf-core-year", "1")
    act = prices(enterprise)["vcf-core-year"][1]["acts"][0]
    assert is_approved(act["text"], step.bare(price.value))


def test_a_stated_price_has_a_field_for_its_last_day(enterprise: Workbook) -> None:
    """Without stated prices there is none; a day before the decision marks the price."""
    key = "gpus/v100-pcie-32gb"
    assert len(prices(enterprise)[key]) == 5
    enterprise.edit(f"prices.{key}", "9000")
    field = prices(enterprise)[key][5]["input"]
    assert (field["path"], field["value"]) == (f"valid_until.{key}", "")
    assert "input" not in prices(enterprise)["electricity-kwh"][5]
    enterprise.edit(field["path"], "2026-12-31")
    enterprise.edit("document.decide_by", "2027-02-01")
    assert prices(enterprise)[key][5]["tag_tone"] == "warn"
    assert "prices-lapse" in {message.code for message in enterprise.messages}
    enterprise.edit(field["path"], "soon")
    assert prices(enterprise)[key][5]["input"]["problem"]
    enterprise.edit(field["path"], "2027-03-31")
    assert "tag" not in prices(enterprise)[key][5]
    enterprise.edit(f"prices.{key}", "8000")
    assert enterprise.scenario.valid_until == ()
    enterprise.undo()
    assert enterprise.scenario.valid_until == ((key, "2027-03-31"),)


def test_memory_in_the_price_of_hosts_can_be_priced(enterprise: Workbook) -> None:
    assert MEMORY not in prices(enterprise)
    enterprise.edit("hardware.memory_gib_per_host", "1024")
    before = enterprise.plan.costs
    assert before is not None and MEMORY in prices(enterprise)
    enterprise.edit(f"prices.{MEMORY}", "10")
    after = enterprise.plan.costs
    assert after is not None and after.net_present < before.net_present
