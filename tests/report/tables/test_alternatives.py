"""The tables of alternatives: one line each, the same for every reader, and what follows from them in words."""

from __future__ import annotations

import csv
import io

import pytest
from approved import has_approved

from gpuplan import Plan, make_plan
from gpuplan.analysis.alternatives import alternatives as compared
from gpuplan.analysis.rent_or_buy import posture_costs, rent_or_buy, rent_terms
from gpuplan.catalog import Catalog
from gpuplan.report.exported import csv_text
from gpuplan.report.table import records, texts
from gpuplan.report.tables import alternatives as tables
from gpuplan.scenario import from_dict, load_scenario
from gpuplan.wording import money, percent


def test_one_table_has_every_alternative(example: Plan) -> None:
    found, table = compared(example), tables.alternatives(example)
    assert [row["key"] for row in records(table)] == [each.key for each in found]
    assert [row["net_present"] for row in records(table)] == [each.net_present for each in found]
    shown = list(csv.DictReader(io.StringIO(csv_text(table))))
    assert [row["gives_up"] for row in shown] == [each.gives_up for each in found]
    assert texts(table)[0][8] == "\u2013"
    assert len(table.notes) >= 1 and "same demand" in table.notes[0]


def test_a_cost_with_growth_stands_beside_the_hosts_that_it_is_for(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    assert plan.costs is not None
    first, last = plan.costs.hosts[0], plan.costs.hosts[-1]
    assert texts(tables.alternatives(plan))[0][2] == f"{first} → {last}"
    row = records(tables.alternatives(plan))[0]
    assert (row["hosts"], row["hosts_at_end"]) == (first, last)
    assert tables.count_over_years((4, 4, 4)) == "4"


def test_a_difference_has_its_sign(plans: dict[str, Plan]) -> None:
    signs = {
        row["key"]: text[8][0]
        for row, text in zip(
            records(tables.alternatives(plans["enterprise"])),
            texts(tables.alternatives(plans["enterprise"])),
            strict=True,
        )
    }
    assert (signs["n0"], signs["n2"], signs["silos"]) == ("\u2212", "+", "+")


def test_what_silos_leave_aside_is_said(plans: dict[str, Plan], catalog: Catalog) -> None:
    def said(plan: Plan) -> bool:
        return any("all hosts new" in note for note in tables.alternatives(plan).notes)

    free = make_plan(load_scenario("enterprise").with_value("demand.stated_gpus", None), catalog)
    assert not said(free)
    assert said(make_plan(free.scenario.with_value("hardware.existing", "2 hosts"), catalog))


def test_an_hour_of_risk_and_the_break_even_are_said(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    words = " ".join(tables.alternative_words(plan))
    for posture in posture_costs(plan):
        if posture.hour_price is not None:
            assert has_approved(words, f"N+{posture.host_failures}", money(posture.hour_price, "USD"))
    found = rent_or_buy(plan)
    assert found is not None and found.breakeven_utilisation is not None and found.row is not None
    assert percent(found.breakeven_utilisation) in words and found.row.name in words
    none = " ".join(tables.alternative_words(plans["enterprise"]))
    assert has_approved(none, "Tesla V100 PCIe 32GB")


def test_a_stated_rent_is_called_so(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("current").with_value("prices.rent/h100-nvl-94gb", 100), catalog)
    assert has_approved(tables.alternative_words(plan))


def test_rent_is_added_up_until_a_year(plans: dict[str, Plan]) -> None:
    found = rent_terms(plans["current"])
    assert found
    yearly, until = (records(tables.rent_by_year(found, added_up=each))[0] for each in (False, True))
    years = [key for key in yearly if key != "way"]
    assert sum(yearly[key] for key in years) == pytest.approx(until[years[-1]])
    assert len(tables.offers(plans["current"], found).rows) == len(found[0].rows) - len(found)


def test_nothing_is_said_of_nothing(catalog: Catalog) -> None:
    plan = make_plan(from_dict({}), catalog)
    assert tables.alternatives(plan).rows == () and tables.alternative_words(plan) == []
