"""Silos, renting and spare hosts in money: each against plans made by hand and against plain loops."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.alternatives import no_rental, posture_costs, rent_or_buy, rentals, silo_costs
from gpuplan.analysis.demand import gpus_without_spare, silos
from gpuplan.catalog import Catalog
from gpuplan.scenario import Scenario

HOURS = 8760


@pytest.fixture(scope="module")
def rented(catalog: Catalog) -> Plan:
    """A design with a board that several providers rent out, twelve hours a day in use."""
    scenario = load_scenario("starter").with_value("hardware.gpu", "v100-pcie-16gb")
    return make_plan(scenario.with_value("cost.utilisation", 0.6), catalog)


def test_silos_add_up_and_are_those_of_the_demand(example: Plan) -> None:
    found, counted = silo_costs(example), silos(example)
    assert found is not None
    assert found.net_present == pytest.approx(sum(silo.net_present for silo in found.groups))
    assert found.total == pytest.approx(sum(silo.total for silo in found.groups))
    assert found.saved == pytest.approx(found.net_present - found.pool_net_present)
    assert (found.hosts, found.gpus) == (counted.hosts, counted.gpus)
    assert (found.pool_hosts, found.pool_gpus) == (counted.pool.hosts, counted.pool.installed_gpus)
    assert [silo.group for silo in found.groups] == [group.id for group in example.scenario.groups]


def test_a_silo_is_the_plan_of_its_group_alone(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = plans["current"]
    group = plan.scenario.groups[0]
    alone = make_plan(plan.scenario.with_groups([group]), catalog)
    found = silo_costs(plan)
    assert found is not None and alone.costs is not None
    assert found.groups[0].net_present == pytest.approx(alone.costs.net_present)
    assert found.groups[0].hosts == alone.totals.hosts


def test_the_pool_is_the_plan_where_nothing_is_left_aside(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = silo_costs(plan)
    assert found is not None and plan.costs is not None
    assert plan.scenario.demand.stated_gpus is None
    assert found.pool_net_present == plan.costs.net_present


def test_what_a_design_has_once_is_not_counted_for_every_silo(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    plan = plans["current"]
    more = plan.scenario.with_value("cost.management_hosts", 4).with_value("cost.spare_gpus", 3)
    assert silo_costs(make_plan(more, catalog)) == silo_costs(plan)


def test_the_claimed_utilisation_of_silos_as_the_cost_of_a_used_hour(plans: dict[str, Plan]) -> None:
    plan = plans["current"]
    found = silo_costs(plan)
    assert found is not None and found.claimed_gpu_hour is not None and plan.costs is not None
    installed = plan.costs.gpu_hour_installed
    assert installed is not None
    assert found.claimed_gpu_hour == pytest.approx((installed / 0.3, installed / 0.275, installed / 0.25))


def test_rent_on_demand_is_paid_for_the_hours_used(rented: Plan) -> None:
    found = rent_or_buy(rented)
    assert found is not None and found.row is not None and rented.costs is not None
    assert found.term == found.row.term == "on-demand"
    by_hand = [0.0] + [0.6 * HOURS * gpus * found.gpu_hour_price for gpus in rented.costs.gpus[1:]]
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
    needed = sum(gpus_without_spare(pool) for pool in rented.pools)
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


def test_without_groups_there_are_no_silos(plans: dict[str, Plan], catalog: Catalog) -> None:
    plan = make_plan(plans["enterprise"].scenario.with_groups([]), catalog)
    assert plan.costs is not None and plan.totals.hosts == 8
    assert silo_costs(plan) is None


def test_without_hosts_there_is_nothing_to_compare(catalog: Catalog) -> None:
    plan = make_plan(replace(Scenario(), name="Nobody"), catalog)
    assert (silo_costs(plan), rent_or_buy(plan), posture_costs(plan)) == (None, None, ())
