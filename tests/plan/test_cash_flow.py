"""Cash flow: by a second method and by hand where the design grows; at other prices it is that of the plan with those prices stated."""

from __future__ import annotations

from dataclasses import replace

import pytest
from stated_money import costs_of, priced, unpriced

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.cash_flow import HARDWARE, PARTS, Case, Flows
from gpuplan.plan.growth import group_peaks, grow
from gpuplan.scenario import from_dict


def grown_plans(plan: Plan) -> list[Plan]:
    """The design of each year, planned on its own."""
    peaks = group_peaks(plan.weeks)
    asked = [grow(plan.scenario, year, peaks) for year in range(plan.scenario.cost.years)]
    return [make_plan(each, plan.catalog) for each in asked]


@pytest.mark.parametrize("years", [1, 4, 6])
def test_a_growing_design_by_the_bills_of_its_years(catalog: Catalog, years: int) -> None:
    """Year k as a design of its own: what its bill has more is paid at the start of year k, what it runs on at its end."""
    named = (
        load_scenario("current").with_value("network.leaf", "sn3700c").with_value("network.spine", "sn3700c")
    )
    scenario = priced(
        named,
        years=years,
        utilisation=0.4,
        licence_term_years=3,
        warranty_years=2,
        hardware_discount=0.1,
        licence_discount=0.2,
        later_price_change=-0.05,
    )
    plan = make_plan(scenario, catalog)
    cash, hardware, cores, running = [0.0] * (years + 1), [0.0] * years, 0.0, dict(scenario.prices)
    before: dict[str, float] = {}
    for start, each in enumerate(grown_plans(plan)):
        costs, power = costs_of(each), each.power
        assert power is not None
        for material in costs.materials:
            more = material.quantity - before.get(material.key, 0)
            if material.part in HARDWARE and material.price is not None:
                hardware[start] += more * material.price.value * 0.9 * 0.95**start
            if material.key == "platform" and more:
                order = max(72, material.quantity - cores)
                cores += order
                at, whole = start, True
                while at < years:  # three years at once, and single years where three do not fit any more
                    whole = at == start or at + 3 <= years
                    cash[at] += order * 300 * 0.8 * (3 if whole else 1)
                    at += 3 if whole else 1
            if (
                material.key == "gpu-software" and not start and years > 5
            ):  # 5 years come with the boards, the sixth is bought alone
                cash[5] += material.quantity * 4_000 * 0.8
            before[material.key] = material.quantity
        cash[start] += hardware[start]
        for later in range(start + 2, years):
            cash[later] += 0.1 * hardware[start]
        cash[start + 1] += power.energy_kwh * running["electricity-kwh"] + power.racks * running["rack-year"]
        cash[start + 1] += each.totals.hosts * running["administration-host-year"]
    found = costs_of(plan)
    assert found.cash == pytest.approx(cash)
    assert found.net_present == pytest.approx(sum(paid / 1.1**k for k, paid in enumerate(cash)))
    assert found.hosts == tuple(each.totals.hosts for each in grown_plans(plan))
    hours = sum(8760 * n / 1.1**k for k, n in enumerate(found.gpus, start=1))
    assert found.gpu_hour_installed == pytest.approx(found.net_present / hours)
    assert found.gpu_hour_used == pytest.approx(found.net_present / hours / 0.4)


def test_a_design_that_doubles_each_year_by_hand(catalog: Catalog) -> None:
    """8, 16 and 32 people with a GPU each on 2, 4 and 8 hosts of 4; 48 cores a host by the year."""
    data = {
        "groups": [{"id": "a", "people": 8, "active_share": 1, "gpus_each": 1, "growth": 1}],
        "hardware": {"gpu": "v100-pcie-32gb", "server": "dell-c4140", "gpus_per_host": 4},
        "availability": {"host_failures": 0},
    }
    plan = make_plan(priced(from_dict(data), years=3).with_value("demand.years", 3), catalog)
    found = costs_of(plan)
    assert (found.hosts, found.gpus) == ((2, 4, 8), (8, 16, 32))
    assert [(year.year, year.people, year.hosts_bought) for year in purchase_plan(plan)] == [
        (1, 8, 2),
        (2, 16, 2),
        (3, 32, 4),
    ]
    by_hand = {
        "Servers": (40_000, 40_000, 80_000, 0),
        "GPUs": (72_000, 72_000, 144_000, 0),
        "Platform licences": (28_800, 57_600, 115_200, 0),
        "Administration": (0, 6_000, 12_000, 24_000),
    }
    assert {name: found.part(name).yearly for name in by_hand} == by_hand
    assert found.gpu_hours == (70_080, 140_160, 280_320)


@pytest.mark.parametrize("name", ["starter", "enterprise"])
def test_no_growth_is_a_growth_of_nothing(plans: dict[str, Plan], name: str) -> None:
    scenario = plans[name].scenario
    still = scenario.with_groups([replace(group, growth=0.0) for group in scenario.groups])
    assert costs_of(make_plan(still, plans[name].catalog)).cash == costs_of(plans[name]).cash
    expected = {"starter": 1_544_603, "enterprise": 2_463_601}[name]
    assert round(costs_of(plans[name]).net_present) == expected


def test_more_growth_never_costs_less(catalog: Catalog) -> None:
    scenario = load_scenario("current")
    paid = []
    for growth in (-0.3, 0, 0.1, 0.3, 0.6):
        grown = scenario.with_groups([replace(group, growth=growth) for group in scenario.groups])
        paid.append(costs_of(make_plan(grown, catalog)).net_present)
    assert paid == sorted(paid)
    assert paid[0] < paid[1] < paid[-1]


@pytest.mark.parametrize("cause", ["GPUs", "Servers", "Network", "vcf", "electricity"])
def test_at_other_prices_it_is_the_plan_with_those_stated(example: Plan, cause: str) -> None:
    costs, scenario = costs_of(example), example.scenario
    assert example.cabling is not None and example.power is not None
    prices = {price.key: price for price in costs.prices}
    counts = example.counts
    assert counts is not None
    flows = Flows(lambda key, *_: prices.get(key), counts, example.power, example.growth, costs.materials)
    assert flows.parts() == costs.parts
    moved = {
        key: float(price.fact.high)
        for key, price in prices.items()
        if price.cause == cause and price.fact.high is not None
    }
    found = dict(zip(PARTS, flows.paid(Case(moved, {}))[0].tolist(), strict=True))
    for key, price in moved.items():
        scenario = scenario.with_value(f"prices.{key}", price)
    stated = costs_of(make_plan(scenario, example.catalog))
    assert [name for name, yearly in found.items() if any(yearly)] == [part.name for part in stated.parts]
    for part in stated.parts:
        assert found[part.name] == pytest.approx(part.yearly)
    assert flows.parts() == costs.parts


def test_renewals_without_a_price_of_their_own_are_paid_at_that_of_the_term(catalog: Catalog) -> None:
    scenario, renewed = load_scenario("enterprise").with_value("prices.vcf-core-year", 300), "vcf-core-year-1"
    costs = make_plan(scenario, unpriced(catalog, renewed)).costs
    both = make_plan(scenario.with_value(f"prices.{renewed}", 300), catalog).costs
    assert costs is not None and both is not None and costs.cash == both.cash
    assert not costs.unknown and renewed in {price.key for price in costs.prices}
