"""Renting beside buying."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from assistants import assistant

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.demand import gpus_without_spare
from gpuplan.analysis.rent_or_buy import (
    no_rental,
    posture_costs,
    purchase_plan,
    rent_or_buy,
    rentals,
    token_prices,
)
from gpuplan.analysis.silos import silo_costs
from gpuplan.catalog import Catalog
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario, from_dict

HOURS = 8760


@pytest.fixture(scope="module")
def rented(catalog: Catalog) -> Plan:
    """A design with a board that several providers rent out, twelve hours a day in use."""
    scenario = load_scenario("starter").with_value("hardware.gpu", "v100-pcie-16gb")
    return make_plan(scenario.with_value("cost.utilisation", 0.6), catalog)


def test_rent_on_demand_is_paid_for_the_hours_used(rented: Plan) -> None:
    found = rent_or_buy(rented)
    assert found is not None and found.row is not None and rented.costs is not None
    assert found.term == found.row.term == "on-demand"
    by_hand = [0.0] + [0.6 * HOURS * gpus * found.gpu_hour_price for gpus in rented.costs.gpus]
    assert found.rent_cash == pytest.approx(by_hand)
    rate = rented.costs.discount_rate
    assert found.rent_net_present == pytest.approx(
        sum(cash / (1 + rate) ** year for year, cash in enumerate(by_hand))
    )
    assert found.own_cash == rented.costs.cash
    assert found.own_net_present == rented.costs.net_present
    assert found.cheaper == ("buy" if found.own_net_present <= found.rent_net_present else "rent")


def test_the_offer_is_the_cheapest_of_its_term(rented: Plan) -> None:
    found = rent_or_buy(rented)
    assert found is not None and found.row is not None
    offers = [row for row in found.rows if row.term == "on-demand"]
    assert found.gpu_hour_price == min(row.gpu_hour_price for row in offers)
    assert list(found.rows) == sorted(found.rows, key=lambda row: (row.gpu_hour_price, row.id))
    for row in found.rows:
        given = rented.catalog.row("rentals", row.id)
        assert row.gpu_hour_price == pytest.approx(given["price_usd"] / given["gpus"])


def test_a_reservation_is_paid_for_all_hours_of_the_gpus_without_spare_hosts(rented: Plan) -> None:
    found = rent_or_buy(rented, "reserved-1-year")
    assert found is not None and found.row is not None and rented.costs is not None
    assert found.row.term == "reserved-1-year"
    needed = sum(gpus_without_spare(pool.rooms, pool.hosts_for_demand) for pool in rented.pools)
    assert needed < rented.totals.gpus
    assert found.rent_cash[1] == pytest.approx(needed * HOURS * found.gpu_hour_price)
    assert found.breakeven_utilisation is None


def test_a_stated_rent_wins_and_is_in_the_currency_of_the_plan(rented: Plan, catalog: Catalog) -> None:
    euros = rented.scenario.with_value("cost.currency", "EUR").with_value("cost.usd_rate", 2)
    converted, dollars = rent_or_buy(make_plan(euros, catalog)), rent_or_buy(rented)
    assert converted is not None and dollars is not None
    assert converted.gpu_hour_price == pytest.approx(2 * dollars.gpu_hour_price)
    stated = rent_or_buy(make_plan(euros.with_value("prices.rent/v100-pcie-16gb", 1.5), catalog))
    assert stated is not None
    assert (stated.row, stated.gpu_hour_price, stated.currency) == (None, 1.5, "EUR")


@pytest.mark.parametrize("rent", [1.5, 3, 9])
def test_at_the_break_even_utilisation_both_cost_the_same(
    rented: Plan, catalog: Catalog, rent: float
) -> None:
    scenario = rented.scenario.with_value("prices.rent/v100-pcie-16gb", rent)
    found = rent_or_buy(make_plan(scenario, catalog))
    assert found is not None and found.breakeven_utilisation is not None
    even = found.breakeven_utilisation
    if even > 1:
        assert found.cheaper == "rent"
        return
    for share, cheaper in ((even, None), (0.95 * even, "rent"), (min(1.0, 1.05 * even), "buy")):
        there = rent_or_buy(make_plan(scenario.with_value("cost.utilisation", share), catalog))
        assert there is not None
        if cheaper is None:
            assert there.own_net_present == pytest.approx(there.rent_net_present, rel=1e-9)
        else:
            assert there.cheaper == cheaper


def test_the_break_even_does_not_depend_on_the_utilisation_now(rented: Plan, catalog: Catalog) -> None:
    other = make_plan(rented.scenario.with_value("cost.utilisation", 0.2), catalog)
    mine, theirs = rent_or_buy(rented), rent_or_buy(other)
    assert mine is not None and theirs is not None
    assert mine.breakeven_utilisation == pytest.approx(theirs.breakeven_utilisation)


@pytest.mark.parametrize("rent", [0.5, 3.06, 4, 12])
def test_the_crossover_is_where_the_running_sums_meet(rented: Plan, catalog: Catalog, rent: float) -> None:
    scenario = rented.scenario.with_value("prices.rent/v100-pcie-16gb", rent)
    found = rent_or_buy(make_plan(scenario, catalog))
    assert found is not None
    own = paid = 0.0
    crossed = None
    for year, (mine, theirs) in enumerate(zip(found.own_cash, found.rent_cash, strict=True)):
        own, paid = own + mine, paid + theirs
        if own <= paid:
            crossed = year
            break
    if crossed is None:
        assert found.crossover_year is None
    else:
        assert found.crossover_year is not None
        assert crossed - 1 < found.crossover_year <= crossed


def test_nobody_rents_it_out(rented: Plan, catalog: Catalog) -> None:
    plan = make_plan(rented.scenario.with_value("hardware.gpu", "v100-pcie-32gb"), catalog)
    assert rentals(plan) == ()
    assert rent_or_buy(plan) is None
    said = no_rental(plan)
    assert catalog.gpus["v100-pcie-16gb"].name in said
    assert catalog.gpus["h100-sxm5-80gb"].name not in said


def test_a_term_that_nobody_offers_falls_back_and_one_that_is_none_is_refused(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    with pytest.raises(ValueError, match="term is 'weekly'; it must be one of on-demand"):
        rent_or_buy(plans["starter"], "weekly")
    offered = {row["term"] for row in catalog.rows("rentals") if row["gpu"] == "t4-16gb"}
    assert "hosted-1-year" not in offered
    scenario = load_scenario("starter").with_value("hardware.gpu", "t4-16gb")
    found = rent_or_buy(make_plan(scenario, catalog), "hosted-1-year")
    assert found is not None and found.term == "on-demand"


def test_without_hosts_there_is_nothing_to_compare(catalog: Catalog) -> None:
    plan = make_plan(replace(Scenario(), name="Nobody"), catalog)
    assert (silo_costs(plan), rent_or_buy(plan), posture_costs(plan)) == (None, None, ())


def test_how_clusters_are_divided_changes_no_rent(catalog: Catalog) -> None:
    """By group more hosts are bought, for the same demand; the GPUs rented for it are the same."""
    found = {}
    for split in ("few-large", "by-group"):
        scenario = load_scenario("enterprise").with_value("hardware.gpu", "v100-pcie-16gb")
        plan = make_plan(scenario.with_value("availability.split", split), catalog)
        rent = rent_or_buy(plan, "reserved-1-year")
        assert rent is not None
        found[split] = plan.totals.gpus, plan.totals.gpus - rent.spare_gpus, rent.rent_cash[1]
    assert found["by-group"][0] > found["few-large"][0]
    assert found["by-group"][1] == found["few-large"][1]
    assert found["by-group"][2] == pytest.approx(found["few-large"][2])


def test_half_the_load_costs_twice_for_each_token_and_the_same_for_each_user(catalog: Catalog) -> None:
    plan = make_plan(assistant(), catalog)
    full, half, quarter, *rest = token_prices(plan)
    assert (full.way, full.load, half.load, quarter.load) == ("design", 1, 0.5, 0.25)
    assert half.million_in == pytest.approx(2 * full.million_in)
    assert quarter.million_out == pytest.approx(4 * full.million_out)
    month = pytest.approx(plan.token_costs["assistant"].user_month)
    assert full.user_month == month and half.user_month == month
    assert {price.way for price in rest} <= {"rent"}


def test_a_service_is_paid_for_the_tokens_that_users_take_not_for_full_replicas_at_night(
    catalog: Catalog,
) -> None:
    scenario = assistant(hours="09:00-18:00", off_hours_share=0.0001)
    for way, price in (("in", 0.5), ("out", 2.0)):
        scenario = scenario.with_value(f"prices.tokens-{way}", price)
    own, full, *_, service = token_prices(make_plan(scenario, catalog))
    assert own.own and not full.own and own.load == service.load and 0.375 <= own.load < 0.5
    assert full.million_out == pytest.approx(own.million_out * own.load)
    assert service.year == pytest.approx((0.5 * 5 + 2.0) * own.year / (own.million_in * 5 + own.million_out))


def test_a_stated_rent_and_a_stated_price_stand_beside_it(catalog: Catalog) -> None:
    scenario = assistant().with_value("prices.rent/h100-sxm5-80gb", 3.0)
    for way, price in (("in", 0.5), ("out", 2.0)):
        scenario = scenario.with_value(f"prices.tokens-{way}", price)
    plan = make_plan(scenario, catalog)
    found = {price.way: price for price in token_prices(plan)}
    planned = plan.token_costs["assistant"]
    assert found["rent"].year == pytest.approx(3.0 * planned.gpu_hours)
    assert (found["price"].million_in, found["price"].million_out) == (0.5, 2.0)
    assert found["price"].year == pytest.approx((0.5 * planned.tokens_in + 2.0 * planned.tokens_out) / 1e6)
    assert plan.costs and make_plan(assistant(), catalog).costs.total == plan.costs.total  # type: ignore[union-attr]


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


def test_growth_buys_hosts_for_the_year_they_are_needed(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 16, "growth": 0.5},
        {"people": 8},
        demand={"years": 4},
        hardware={"gpus_per_host": 4},
    )
    years = purchase_plan(plan)
    assert [y.people for y in years] == [24, 32, 44, 62]
    assert [y.gpus_demanded for y in years] == [24, 32, 44, 62]
    assert [y.hosts for y in years] == [7, 9, 12, 17]  # division rounded up, and one spare
    assert [y.hosts_bought for y in years] == [7, 2, 3, 5]
    assert [y.gpus for y in years] == [4 * y.hosts for y in years]


def test_hosts_once_bought_stay_and_those_there_are_not_bought(catalog: Catalog) -> None:
    plan = planned(
        catalog,
        {"people": 32, "growth": -0.5},
        demand={"years": 3},
        hardware={"gpus_per_host": 4, "existing_hosts": 3},
    )
    years = purchase_plan(plan)
    assert [(y.hosts, y.hosts_bought) for y in years] == [(9, 6), (9, 0), (9, 0)]
    assert [y.gpus for y in years] == [36, 36, 36]


def grown(plan: Plan, year: int) -> Scenario:
    return grow(plan.scenario, year, group_peaks(weeks(plan.scenario, plan.catalog)))


def test_a_stated_total_grows_with_the_groups(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise")
    plan = make_plan(scenario, catalog)
    for group in scenario.groups:
        scenario = scenario.with_value(f"groups.{group.id}.growth", 0.25)
    assert grown(plan, 0) == plan.scenario
    assert grown(make_plan(scenario, catalog), 1).demand.stated_gpus == 28
    scenario = scenario.with_value("demand.rule", "stated")
    assert grown(make_plan(scenario, catalog), 1).demand.stated_gpus == 35
    assert grown(plan, 3).demand.stated_gpus == 28
    jobs = planned(
        catalog,
        {"people": 0, "jobs_per_day": 48, "growth": 0.5},
        demand={"rule": "stated", "stated_gpus": 14},
    )
    assert grown(jobs, 1).demand.stated_gpus == 21


def test_years_that_no_design_can_hold_are_left_out(catalog: Catalog) -> None:
    plan = planned(catalog, {"people": 30_000, "growth": 1}, demand={"years": 3})
    assert [y.year for y in purchase_plan(plan)] == [1, 2]
    fading = planned(catalog, {"people": 1, "jobs_per_day": 0.015, "growth": -0.3}, demand={"years": 3})
    assert len(purchase_plan(fading)) == 3


def test_spare_hosts_are_priced_by_the_hours_that_they_remove(example: Plan, catalog: Catalog) -> None:
    found = posture_costs(example)
    assert [p.host_failures for p in found] == [0, 1, 2]
    assert [p.chosen for p in found].count(True) == 1
    for before, posture in zip((None, *found), found, strict=False):
        plan = make_plan(
            example.scenario.with_value("availability.host_failures", posture.host_failures), catalog
        )
        risk = next(p for p in plan.postures if p.chosen)
        assert plan.costs is not None
        assert (posture.hosts, posture.gpus) == (plan.totals.hosts, plan.totals.gpus)
        assert posture.net_present == plan.costs.net_present
        assert (posture.short_h, posture.exposed_h) == (risk.short_h, risk.exposed_h)
        if before is None:
            assert (posture.extra_cost, posture.hours_removed, posture.hour_price) == (0, 0, None)
        else:
            assert posture.extra_cost == pytest.approx(posture.net_present - before.net_present)
            assert posture.hours_removed >= plan.costs.years * (before.short_h - posture.short_h) - 1e-9
            assert posture.hour_price == pytest.approx(posture.extra_cost / posture.hours_removed)


def test_a_posture_beyond_two_is_shown_too(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = make_plan(plans["starter"].scenario.with_value("availability.host_failures", 4), catalog)
    assert [p.host_failures for p in posture_costs(plan)] == [0, 1, 2, 4]


def test_what_the_cost_of_each_posture_leaves_out(plans: dict[str, Plan]) -> None:
    found = posture_costs(plans["enterprise"])
    assert any("S5448F" in name for name in found[2].excludes)  # one host more takes larger switches
    assert not any("S5448F" in name for name in found[1].excludes)
