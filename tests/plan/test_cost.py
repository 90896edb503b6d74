"""Cost: the enterprise table by hand, licences by a simulated register, growth, conservation and directions over any scenario."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved, is_approved
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from random_cases import examples
from stated_money import costs_of, priced, unpriced
from strategies import CATALOG, scenario_data

from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.analysis.rent_or_buy import purchase_plan
from gpuplan.catalog import Catalog
from gpuplan.facts import BASES
from gpuplan.plan.cash_flow import HARDWARE, PARTS, RESIDUAL
from gpuplan.scenario import Scenario, from_dict

SWITCH_POWER = "Electricity of SN3700C switches (power not known)"


def planned(catalog: Catalog, *groups: dict[str, Any], **sections: Any) -> Plan:
    data = {"groups": [{"id": f"g{n}", **g} for n, g in enumerate(groups, 1)], **sections}
    return make_plan(from_dict(data), catalog)


@pytest.fixture
def enterprise(catalog: Catalog) -> Scenario:
    """The enterprise design with stated money."""
    return priced(load_scenario("enterprise"))


# ---- a table by hand


def test_the_enterprise_table_in_a_spreadsheet(catalog: Catalog, enterprise: Scenario) -> None:
    """8 hosts with 4 V100, 24 cores a socket; worked cell by cell, with no function of the package.

    Subscriptions for 3 years, then twice for one; 2 years of warranty.
    """
    scenario = enterprise
    for name, value in {
        "prices.vcf-core-year-1": 340,
        "cost.licence_term_years": 3,
        "cost.warranty_years": 2,
        "cost.hardware_discount": 0.2,
        "cost.licence_discount": 0.5,
        "cost.residual_share": 0.05,
        "cost.spare_gpus": 2,
    }.items():
        scenario = scenario.with_value(name, value)
    plan = make_plan(scenario, catalog)
    costs = costs_of(plan)
    nic_w, psu, idle_gpu, idle_host = (
        float(catalog.row("factors", name)["value"])
        for name in ("nic_w", "psu_efficiency", "gpu_idle_share", "host_idle_share")
    )
    assert plan.cabling is not None and plan.cabling.adapters == 2
    assert {m.key: m.quantity for m in costs.materials if m.status == "bought"} == {
        "servers": 8, "gpus": 32, "spare-gpus": 2, "adapters": 16, "leaf": 2, "host-cables": 24, "switch-cables": 16,
    }  # fmt: skip
    peak_w = (500 + 4 * 250 + 2 * nic_w) / psu
    of_gpus = 4 * 250 / psu / peak_w
    idle = of_gpus * idle_gpu + (1 - of_gpus) * idle_host
    typical_w = 8 * peak_w * (idle + (1 - idle) * 28 / 32)  # the SN3700C draws what nobody knows
    energy_money = typical_w * 8760 / 1000 * 0.2
    bought = {
        "Servers": 8 * 20_000 * 0.8,
        "GPUs": 32 * 9_000 * 0.8,
        "Network": (16 * 1_000 + 2 * 12_000 + (24 + 16) * 100) * 0.8,
        "Spares": 2 * 9_000 * 0.8,
    }
    hardware = sum(bought.values())
    racks = math.ceil(8 / math.floor(8000 / peak_w))
    cores, gpus = 8 * 2 * 24 * 0.5, 32 * 4_000 * 0.5
    yearly = {
        "Power": energy_money,
        "Cooling": energy_money * 0.5,
        "Space": racks * 10_000,
        "Administration": 8 * 3_000,
    }
    table = {name: [value, 0, 0, 0, 0, 0] for name, value in bought.items()}
    table |= {name: [0, *[value] * 5] for name, value in yearly.items()}
    table |= {
        "Platform licences": [3 * cores * 300, 0, 0, cores * 340, cores * 340, 0],
        "GPU software": [3 * gpus, 0, 0, gpus, gpus, 0],
        "Hardware support": [0, 0, *[hardware * 0.1] * 3, 0],
    }
    table[RESIDUAL] = [0, 0, 0, 0, 0, -0.05 * hardware]
    assert [part.name for part in costs.parts] == [name for name in PARTS if name in table]
    for part in costs.parts:
        assert part.yearly == pytest.approx(table[part.name]), part.name
    columns = [sum(row[year] for row in table.values()) for year in range(6)]
    assert costs.cash == pytest.approx(columns)
    assert costs.total == pytest.approx(sum(columns))
    present, discount = 0.0, 1.0
    for column in columns:
        present += column * discount
        discount /= 1.1
    assert costs.net_present == pytest.approx(present)
    level_years = sum(1.1**-year for year in range(1, 6))
    assert costs.gpu_hour_installed == pytest.approx(present / (32 * 8760 * level_years))
    assert costs.gpu_hour_used == pytest.approx(present / (28 * 8760 * level_years))
    assert costs.hardware == pytest.approx(hardware)
    assert costs.excludes == (SWITCH_POWER,)
    assert {g.id: g.total for g in costs.groups} == pytest.approx(
        {
            name: costs.total * gpus / 28
            for name, gpus in {
                "researchers": 12,
                "data-scientists": 8,
                "hpc": 2,
                "developers": 2,
                "distributed": 4,
            }.items()
        }
    )


def bill_for_licences(
    choice: str, term: int, bought: list[int], years: int, included: int, prices: dict[str, float]
) -> list[float]:
    """What a register of single licences pays in each year; each bought at the start of its first year."""
    paid = [0.0] * (years + 1)
    for first, count in enumerate(bought, start=1):
        for _ in range(count):
            covered_until = first + included - 1
            owned = False
            for year in range(first, years + 1):
                if year <= covered_until:
                    continue
                at = year - 1  # in advance
                if choice == "subscription":
                    whole = not (owned or included) or year + term - 1 <= years
                    paid[at] += prices[f"{term} years"] * term if whole else prices["1 years"]
                    owned, covered_until = True, year + (term if whole else 1) - 1
                elif not owned:
                    paid[at] += prices["perpetual"]
                    owned, covered_until = True, year + 4
                else:
                    paid[at] += prices["support"]
    return paid


@pytest.mark.parametrize("growth", [0, 0.3])
@pytest.mark.parametrize("years", [1, 5, 7])
@pytest.mark.parametrize(
    ("choice", "term"),
    [("subscription", 1), ("subscription", 3), ("subscription", 5), ("perpetual", 3), ("owned", 3)],
)
@pytest.mark.parametrize(("gpu", "included"), [("a40-48gb", 0), ("h100-nvl-94gb", 5)])
def test_gpu_licences_by_a_register(
    catalog: Catalog, gpu: str, included: int, choice: str, term: int, years: int, growth: float
) -> None:
    scenario = from_dict(
        {
            "groups": [
                {
                    "id": "a",
                    "people": 12,
                    "gpus_each": 1,
                    "active_share": 1,
                    "growth": growth,
                    "access": "vgpu",
                }
            ],
            "hardware": {"gpu": gpu, "gpus_per_host": 4},
            "platform": {"vsphere": "8.0u3"},
        }
    )
    plan = make_plan(priced(scenario, years=years, gpu_licence=choice, licence_term_years=term), catalog)
    costs = costs_of(plan)
    assert plan.pools[0].gpu_mode == "vgpu"
    bought = [costs.gpus[0], *(b - a for a, b in itertools.pairwise(costs.gpus))]
    assert (sum(bought[1:]) > 0) == (growth > 0 and years > 1)
    prices = {
        "1 years": 4_000.0,
        "3 years": 4_000.0,
        "5 years": 3_600.0,
        "perpetual": 22_000.0,
        "support": 900.0,
    }
    expected = [0.0] * (years + 1)
    if choice != "owned":
        expected = bill_for_licences(choice, term, bought, years, included, prices)
    found = next((p.yearly for p in costs.parts if p.name == "GPU software"), (0.0,) * (years + 1))
    assert found == pytest.approx(expected)
    (material,) = (m for m in costs.materials if m.key == "gpu-software")
    status = {"owned": "there", "subscription": "yearly", "perpetual": "bought"}[choice]
    assert material.status == ("included" if included and choice != "owned" else status)


@pytest.mark.parametrize(("hosts", "cores", "ordered"), [(1, 24, 72), (1, 40, 80), (2, 16, 72), (3, 16, 96)])
def test_an_order_has_at_least_72_cores(catalog: Catalog, hosts: int, cores: int, ordered: int) -> None:
    group = {"people": hosts, "active_share": 1, "gpus_each": 1}
    base = planned(catalog, group, hardware={"gpus_per_host": 1}, availability={"host_failures": 0})
    plan = make_plan(priced(base.scenario, cores_per_socket=cores, licence_term_years=3), catalog)
    costs = costs_of(plan)
    assert plan.totals.hosts == hosts
    assert next(m for m in costs.materials if m.key == "platform").quantity == ordered
    assert costs.part("Platform licences").yearly == pytest.approx(
        (3 * ordered * 300, 0, 0, ordered * 300, ordered * 300, 0)
    )
    owned = make_plan(plan.scenario.with_value("cost.platform_licence", "owned"), catalog)
    assert owned.lines["cost.licensed_cores"].value == hosts * 2 * cores


def test_other_terms_are_as_far_off_their_list_price_as_the_one_that_is_stated(
    catalog: Catalog, enterprise: Scenario
) -> None:
    scenario = load_scenario("enterprise").with_value("prices.vcf-core-year", 280)
    for term, each in {1: 395, 3: 350, 5: 315}.items():
        plan = make_plan(scenario.with_value("cost.licence_term_years", term), catalog)
        paid = costs_of(plan).part("Platform licences").yearly[0]
        assert paid == pytest.approx(512 * term * each * 0.8)
    both = scenario.with_value("prices.vcf-core-year-1", 300)
    assert costs_of(make_plan(both, catalog)).part("Platform licences").yearly == pytest.approx(
        [512 * 3 * 280, 0, 0, 512 * 300, 512 * 300, 0]
    )
    euro = replace(scenario.cost, currency="EUR", usd_rate=0.8)  # 280 euros are 350 dollars: the list price
    paid = costs_of(make_plan(replace(scenario, cost=euro), catalog)).part("Platform licences").yearly[3]
    assert paid == pytest.approx(512 * 395 * 0.8)


def test_the_warranty_is_free_of_support(catalog: Catalog, enterprise: Scenario) -> None:
    """Support is paid in advance: that of year k at the end of year k - 1."""
    for warranty, paid in {0: [0, 1, 2, 3, 4], 3: [3, 4], 5: [], 10: []}.items():
        costs = costs_of(make_plan(enterprise.with_value("cost.warranty_years", warranty), catalog))
        support = costs.part("Hardware support").yearly
        assert [year for year, money in enumerate(support) if money] == paid
        assert sum(support) == pytest.approx(0.1 * costs.hardware * len(paid))


def test_hardware_bought_later_has_the_price_of_its_year(catalog: Catalog) -> None:
    scenario = priced(load_scenario("current"), residual_share=0)
    flat = costs_of(make_plan(scenario, catalog))
    moved = costs_of(make_plan(scenario.with_value("cost.later_price_change", -0.1), catalog))
    for name in ("Servers", "GPUs"):
        factors = [0.9**year for year in range(6)]
        assert moved.part(name).yearly == pytest.approx(
            [paid * factor for paid, factor in zip(flat.part(name).yearly, factors, strict=True)]
        )
    assert moved.part("Platform licences") == flat.part("Platform licences")
    assert moved.net_present < flat.net_present


def test_paid_in_advance_costs_4_6_per_cent_more_than_at_the_end_of_the_year(catalog: Catalog) -> None:
    """The enterprise example at one price a year: subscriptions and support of 377,568 a year, by the year or for three."""
    scenario = load_scenario("enterprise")
    for path, value in {
        "prices.vcf-core-year": 350,
        "prices.vcf-core-year-1": 350,
        "cost.discount_rate": 0.0723,
        "cost.warranty_years": 0,
    }.items():
        scenario = scenario.with_value(path, value)
    at_the_end = 2_404_692.65  # what was said when all was paid at the end of each year
    yearly, three = (
        costs_of(make_plan(scenario.with_value("cost.licence_term_years", term), catalog)).net_present
        for term in (1, 3)
    )
    assert yearly / at_the_end - 1 == pytest.approx(0.0463, abs=5e-4)
    level = (1 - 1.0723**-5) / 0.0723
    for_three = 3 + 1.0723**-3 + 1.0723**-4 - level
    assert three - at_the_end == pytest.approx(323_200 * for_three + 54_367.84 * 0.0723 * level, rel=1e-4)
    assert 0.046 < three / at_the_end - 1 < 0.074


def test_a_board_with_four_gpus_takes_four_licences_and_has_one_price(catalog: Catalog) -> None:
    hardware = {"gpu": "a16-64gb", "gpus_per_host": 8}
    prices = {"gpus/a16-64gb": 3_000, "nvaie-year-3": 4_000}
    plan = planned(
        catalog, {"people": 24, "access": "vgpu"}, hardware=hardware, prices=prices, cost={"support_share": 0}
    )
    costs = costs_of(plan)
    assert (plan.totals.hosts, plan.totals.gpus) == (4, 32)
    assert costs.part("GPUs").yearly[0] == 4 * 2 * 3_000  # 8 GPUs are on 2 boards
    assert costs.part("GPU software").yearly[0] == 3 * 32 * 4_000
    assert costs.gpu_hours[0] == 32 * 8760


@pytest.mark.parametrize(
    ("sockets", "cores", "counted"), [(2, 8, 32), (2, 16, 32), (2, 17, 34), (1, 12, 16), (4, 64, 256)]
)
def test_each_processor_counts_at_least_16_cores(
    catalog: Catalog, enterprise: Scenario, sockets: int, cores: int, counted: int
) -> None:
    scenario = enterprise.with_value("cost.sockets", sockets).with_value("cost.cores_per_socket", cores)
    costs = costs_of(make_plan(scenario, catalog))
    assert costs.part("Platform licences").yearly == pytest.approx((*[8 * counted * 300] * 5, 0))
    owned = costs_of(make_plan(scenario.with_value("cost.platform_licence", "owned"), catalog))
    assert "Platform licences" not in {p.name for p in owned.parts}
    assert "VMware platform licence" in owned.outside


# ---- hosts already there, spares, storage, management


def test_hosts_already_there_are_licensed_and_powered_but_not_bought(catalog: Catalog) -> None:
    scenario = priced(load_scenario("enterprise"))
    none = make_plan(scenario, catalog)
    some = make_plan(scenario.with_value("hardware.existing", "3 hosts"), catalog)
    assert some.totals.hosts == none.totals.hosts == 8
    new, old = costs_of(none), costs_of(some)
    assert {m.key: m.quantity for m in old.materials if m.key in ("servers", "gpus", "adapters")} == {
        "servers": 5,
        "gpus": 20,
        "adapters": 10,
    }
    assert old.part("Servers").yearly[0] == 5 * 20_000
    for name in ("Platform licences", "GPU software", "Administration", "Power", "Cooling", "Space"):
        assert old.part(name).yearly == pytest.approx(new.part(name).yearly), name
    assert (
        old.part("Hardware support").total < new.part("Hardware support").total
    )  # of what is bought here alone
    assert old.total < new.total


def test_spares_storage_and_management_hosts_cost_what_they_say(
    catalog: Catalog, enterprise: Scenario
) -> None:
    base = costs_of(make_plan(enterprise, catalog))
    extra = {"cost.spare_gpus": 3, "cost.storage_tb": 2.5, "cost.management_hosts": 4}
    stated = {"prices.storage-tb": 500, "prices.management-host": 8_000}
    scenario = enterprise
    for path, value in (extra | stated).items():
        scenario = scenario.with_value(path, value)
    costs = costs_of(make_plan(scenario, catalog))
    assert costs.part("Spares").yearly[0] == 3 * 9_000
    assert costs.part("Workload domain").yearly[0] == 2.5 * 500 + 4 * 8_000
    more = 3 * 9_000 + 2.5 * 500 + 4 * 8_000
    assert costs.hardware == pytest.approx(base.hardware + more)
    run = ("Platform licences", "Power", "Cooling", "Space", "Administration")  # of the management hosts
    running = sum(costs.part(name).total - base.part(name).total for name in run)
    assert running > 0
    assert costs.total == pytest.approx(base.total + more * (1 + 5 * 0.1) + running)  # with its support
    bought = scenario.with_value("network.compute_hosts", 6).with_value("cost.compute_hosts_bought", True)
    assert not any("Compute host" in text for text in costs_of(make_plan(bought, catalog)).outside)
    with_hosts = costs_of(make_plan(bought.with_value("prices.compute-host", 5_000), catalog))
    assert with_hosts.part("Workload domain").yearly[0] == 2.5 * 500 + 4 * 8_000 + 6 * 5_000


# ---- what nobody knows


@pytest.mark.parametrize("key", ["storage-tb", "management-host"])
def test_an_unknown_price_is_named_and_never_a_silent_zero(catalog: Catalog, key: str) -> None:
    catalog = unpriced(catalog, key, "host-without-gpus", "gpus/p4-8gb", "nvaie-support-year")
    cost: dict[str, Any] = {"storage_tb": 10, "gpu_licence": "perpetual", "years": 7, "management_hosts": 4}
    hardware = {"gpu": "p4-8gb", "server": "nvidia-dgx-a100", "gpus_per_host": 4}
    plan = planned(catalog, {"people": 8}, hardware={**hardware, "server": "dell-r750xa"}, cost=cost)
    costs = costs_of(plan)
    unknown = {u.key: u.name for u in costs.unknown}
    assert key in unknown
    assert set(costs.excludes) >= set(unknown.values())
    for material in costs.materials:
        assert material.unknown == (
            material.quantity > 0 and material.status in ("bought", "yearly") and material.price is None
        )
        if material.unknown:
            assert material.cost is None
            assert any(name.startswith(material.name) for name in unknown.values())
            assert f"cost.materials.{material.key}" not in plan.lines
    # stated, it is part of the cost and no longer left out
    stated = costs_of(make_plan(plan.scenario.with_value(f"prices.{key}", 1_000), catalog))
    assert key not in {u.key for u in stated.unknown}
    assert stated.total > costs.total if key in unknown else stated.total != costs.total


def test_support_after_a_perpetual_licence_without_a_price_is_named(
    catalog: Catalog, enterprise: Scenario
) -> None:
    catalog = unpriced(catalog, "nvaie-support-year")
    scenario = enterprise.with_value("cost.gpu_licence", "perpetual").with_value(
        "prices.nvaie-support-year", None
    )
    assert costs_of(make_plan(scenario, catalog)).excludes == (SWITCH_POWER,)
    longer = costs_of(make_plan(scenario.with_value("cost.years", 6), catalog))
    assert is_approved(set(longer.excludes), "5")


def test_support_of_hosts_already_there_is_named(catalog: Catalog, enterprise: Scenario) -> None:
    there = costs_of(make_plan(enterprise.with_value("hardware.existing", "2 hosts"), catalog))
    assert has_approved(there.excludes)
    assert costs_of(make_plan(enterprise, catalog)).excludes == (SWITCH_POWER,)


def test_space_for_hosts_that_no_rack_can_carry_is_named(catalog: Catalog, enterprise: Scenario) -> None:
    plan = make_plan(enterprise.with_value("cost.rack_kw", 1), catalog)
    assert plan.power is not None and plan.power.racks == 0
    assert "Space" not in {p.name for p in costs_of(plan).parts}
    assert is_approved(set(costs_of(plan).excludes))
    assert costs_of(make_plan(enterprise, catalog)).excludes == (SWITCH_POWER,)


def test_a_fabric_without_switches_is_named(catalog: Catalog, enterprise: Scenario) -> None:
    plan = make_plan(
        enterprise.with_value("network.leaf", "sn2100").with_value("network.link_gbit_s", 1), catalog
    )
    assert plan.cabling is not None and plan.cabling.switches is None
    assert any(name.startswith("Switches") for name in costs_of(plan).excludes)
    assert "leaf" not in {m.key for m in costs_of(plan).materials}


# ---- growth


def test_growth_buys_at_the_start_of_the_year_it_is_needed(catalog: Catalog) -> None:
    scenario = priced(load_scenario("current"), years=5)
    for key, price in {"servers/dell-r760xa": 20_000, "gpus/h100-nvl-94gb": 30_000}.items():
        scenario = scenario.with_value(f"prices.{key}", price)
    scenario = scenario.with_value("demand.years", 5)
    plan = make_plan(scenario, catalog)
    costs = costs_of(plan)
    years = purchase_plan(plan)
    assert costs.hosts == tuple(year.hosts for year in years)
    assert costs.gpus == tuple(year.gpus for year in years)
    assert costs.hosts[-1] > costs.hosts[0]
    new = [*(year.hosts_bought for year in years), 0]
    assert costs.part("Servers").yearly == pytest.approx([20_000 * bought for bought in new])
    assert costs.part("GPUs").yearly == pytest.approx([4 * 30_000 * bought for bought in new])
    assert costs.part("Administration").yearly == pytest.approx(
        [0, *(3_000 * hosts for hosts in costs.hosts)]
    )
    yearly, covered = [0.0] * 6, 0
    for at, hosts in enumerate(new):  # each order by the year, in advance, of at least 72 cores
        needed = 2 * 24 * sum(new[: at + 1])
        order = max(72, needed - covered) if needed > covered else 0
        covered += order
        for paid_at in range(at, 5):
            yearly[paid_at] += 300 * order
        assert hosts >= 0
    assert costs.part("Platform licences").yearly == pytest.approx(yearly)
    paid = [sum(p.yearly[y] for p in costs.parts if p.name in HARDWARE) for y in range(6)]
    bought = list(itertools.accumulate(paid))
    assert costs.part("Hardware support").yearly == pytest.approx([*(0.1 * held for held in bought[:5]), 0])
    left = costs_of(make_plan(scenario.with_value("cost.residual_share", 0.2), catalog)).part(RESIDUAL)
    assert left.yearly == pytest.approx([0, 0, 0, 0, 0, -0.2 * bought[-1]])


def test_growth_beyond_what_a_design_can_hold_is_said(catalog: Catalog) -> None:
    costs = costs_of(planned(catalog, {"people": 30_000, "growth": 1}, cost={"years": 3}))
    assert costs.growth_left_out == 3
    assert costs.hosts[2] == costs.hosts[1] > costs.hosts[0]
    assert costs_of(planned(catalog, {"people": 30, "growth": 1}, cost={"years": 3})).growth_left_out is None


def test_a_shrinking_group_keeps_its_hosts_and_uses_them_less(catalog: Catalog) -> None:
    costs = costs_of(planned(catalog, {"people": 40, "growth": -0.2}, cost={"years": 4}))
    assert len(set(costs.hosts)) == 1
    assert list(costs.used_gpu_hours) == sorted(costs.used_gpu_hours, reverse=True)
    assert costs.used_gpu_hours[0] > costs.used_gpu_hours[-1]
    power = costs.part("Power").yearly
    assert power[1] > power[4] > 0


# ---- years and rates


@pytest.mark.parametrize("years", range(1, 8))
def test_a_zero_rate_is_the_plain_sum_for_any_years(
    catalog: Catalog, enterprise: Scenario, years: int
) -> None:
    scenario = enterprise.with_value("cost.years", years)
    plain = costs_of(make_plan(scenario.with_value("cost.discount_rate", 0), catalog))
    assert len(plain.cash) == years + 1
    assert plain.net_present == pytest.approx(plain.total, rel=1e-12)
    assert plain.gpu_hour_installed == pytest.approx(plain.total / (32 * 8760 * years))
    later = costs_of(make_plan(scenario, catalog))
    assert later.total == plain.total
    assert later.net_present < plain.net_present
    # C0 + NPV(0.1, C1..Cn), from the last year backwards
    worth = 0.0
    for paid in reversed(later.cash[1:]):
        worth = (worth + paid) / 1.1
    assert later.net_present == pytest.approx(later.cash[0] + worth)


def test_a_stated_utilisation_moves_the_used_hour_and_the_energy_alone(
    catalog: Catalog, enterprise: Scenario
) -> None:
    some = costs_of(make_plan(enterprise.with_value("cost.utilisation", 0.25), catalog))
    more = costs_of(make_plan(enterprise.with_value("cost.utilisation", 0.5), catalog))
    assert some.used_gpu_hours == pytest.approx([0.25 * 32 * 8760] * 5)
    assert (some.utilisation, more.utilisation) == (0.25, 0.5)
    assert some.gpu_hour_used == pytest.approx((some.gpu_hour_installed or 0) / 0.25)
    moved = {p.name for p in some.parts if p.yearly != more.part(p.name).yearly}
    assert moved == {"Power", "Cooling"}
    assert some.total < more.total
    assert some.gpu_hour_used is not None and more.gpu_hour_used is not None
    assert some.gpu_hour_used > more.gpu_hour_used


# ---- any scenario


def check_costs(plan: Plan) -> None:
    """Every breakdown sums to its total, and every number is finite."""
    if not plan.pools:
        assert plan.costs is None and plan.power is None
        return
    costs, years = costs_of(plan), plan.scenario.cost.years
    assert len(costs.cash) - 1 == len(costs.hosts) == len(costs.gpus) == years
    assert costs.hosts[0] == plan.totals.hosts and costs.gpus[0] == plan.totals.gpus
    assert list(costs.hosts) == sorted(costs.hosts) and list(costs.gpus) == sorted(costs.gpus)
    whole = sum(abs(x) for part in costs.parts for x in part.yearly)
    near = pytest.approx
    by_parts, by_years = sum(p.total for p in costs.parts), sum(costs.cash)
    assert by_parts == near(costs.total, rel=1e-9, abs=1e-9 * whole)
    assert by_years == near(costs.total, rel=1e-9, abs=1e-9 * whole)
    for year, paid in enumerate(costs.cash):
        assert sum(p.yearly[year] for p in costs.parts) == near(paid, rel=1e-9, abs=1e-9 * whole)
    assert sum(g.total for g in costs.groups) == near(costs.total, rel=1e-9, abs=1e-9 * whole)
    assert sum(g.share for g in costs.groups) == near(1)
    worth = sum(paid / (1 + costs.discount_rate) ** year for year, paid in enumerate(costs.cash))
    assert costs.net_present == near(worth, rel=1e-9, abs=1e-9 * whole)
    for name in {m.part for m in costs.materials} & set(HARDWARE):
        at_start = sum(m.cost or 0 for m in costs.materials if m.part == name and m.status == "bought")
        found = sum(p.yearly[0] for p in costs.parts if p.name == name)
        assert found == near(at_start, rel=1e-9), name
    licences = sum(p.yearly[0] for p in costs.parts if p.name == "Platform licences")
    platform = next(m for m in costs.materials if m.key == "platform")
    if platform.status == "yearly":
        term = plan.scenario.cost.licence_term_years
        keys = ("platform", "management-platform", "ai-add-on")
        of_a_year = sum(m.cost or 0 for m in costs.materials if m.key in keys)
        assert licences == near(term * of_a_year, rel=1e-9)
    gpus = sum(m.quantity for m in costs.materials if m.key == "gpus")
    per_board = int(plan.catalog.gpus[plan.scenario.hardware.gpu].value("gpus_per_board") or 1)
    existing = sum(room.gpus for pool in plan.pools for room in pool.rooms[: pool.existing_hosts])
    assert gpus * per_board >= plan.totals.gpus - existing
    assert 0 <= costs.utilisation <= 1
    for hours, used, installed in zip(costs.gpu_hours, costs.used_gpu_hours, costs.gpus, strict=True):
        assert hours == installed * 8760 and 0 <= used <= hours * (1 + 1e-12)
    for number in (costs.total, costs.net_present, costs.gpu_hour_installed, costs.gpu_hour_used):
        assert number is None or (math.isfinite(number) and number >= -1e-9 * whole)
    assert (costs.gpu_hour_used is None) == (sum(costs.used_gpu_hours) == 0)
    if costs.gpu_hour_used is not None and costs.gpu_hour_installed is not None:
        assert costs.gpu_hour_used >= costs.gpu_hour_installed * (1 - 1e-9)
    assert not {p.key for p in costs.prices} & {u.key for u in costs.unknown}
    stated = dict(plan.scenario.prices)
    for price in costs.prices:
        assert price.stated or price.key not in stated
        assert price.fact.basis in BASES
        assert price.fact.sources
    for part in costs.parts:
        assert all(math.isfinite(x) for x in part.yearly)
        assert all(x >= 0 for x in part.yearly) or part.name == RESIDUAL
        running = ("Power", "Cooling", "Space", "Administration", RESIDUAL)
        assert part.yearly[-1] == 0 or part.name in running, f"{part.name} bought when the period ends"
        assert part.basis in BASES
        assert plan.lines[f"cost.parts.{part.key}"].value == part.total
    assert plan.lines["cost.total"].value == costs.total
    assert plan.lines["cost.net_present"].value == costs.net_present
    if plan.scenario.cost.platform_licence == "socket":
        assert platform.quantity == plan.lines["cost.licensed_sockets"].value >= costs.hosts[0]
    else:
        assert platform.quantity == plan.lines["cost.licensed_cores"].value >= costs.hosts[0] * 16
    for group in costs.groups:
        assert plan.lines[f"groups.{group.id}.cost"].value == group.total


@settings(max_examples=examples(60, few=8), phases=[p for p in Phase if p is not Phase.explain])
@given(scenario_data())
def test_the_breakdowns_of_any_scenario_sum_to_its_totals(data: dict[str, Any]) -> None:
    try:
        plan = make_plan(from_dict(data), CATALOG)
    except ScenarioError:
        assume(False)
    check_costs(plan)


def test_the_breakdowns_of_the_examples_sum_to_their_totals(example: Plan) -> None:
    check_costs(example)


def test_nobody_asks_and_nothing_costs(catalog: Catalog) -> None:
    plan = planned(catalog, {"people": 0}, cost={"storage_tb": 5, "spare_gpus": 2})
    assert plan.costs is None and plan.power is None
    assert not any(key.startswith("cost.p") for key in plan.lines)


# ---- more never costs less


DEARER = {
    "cost.spare_gpus": 1,
    "cost.storage_tb": 1.0,
    "cost.management_hosts": 1,
    "cost.support_share": 0.5,
    "cost.pue": 5.0,
    "cost.cores_per_socket": 512,
    "cost.sockets": 16,
    "cost.host_base_w": 10_000,
    "cost.utilisation": 1.0,
}
"""Inputs that only add, each with the most that it may be, or what to add."""


@settings(max_examples=examples(25, few=5))
@given(scenario_data(), st.sampled_from(sorted(DEARER)))
def test_more_of_an_input_never_costs_less(data: dict[str, Any], path: str) -> None:
    scenario = from_dict(data)
    try:
        plan = make_plan(scenario, CATALOG)
    except ScenarioError:
        assume(False)
    assume(plan.costs is not None)
    most = DEARER[path]
    if path in ("cost.spare_gpus", "cost.storage_tb", "cost.management_hosts"):
        most += scenario.get(path)
        assume(most <= 64)
    if path == "cost.cores_per_socket":
        assume(plan.cores.value <= most)  # those that the VMs ask for may be more
    dearer = make_plan(scenario.with_value(path, most), CATALOG)
    if plan.power and dearer.power and not dearer.power.racks:
        # a host that no rack carries has no space to pay for: that is named, not free
        assert any(name.startswith("Space") for name in costs_of(dearer).excludes)
        return
    assert costs_of(dearer).total >= costs_of(plan).total * (1 - 1e-12)
    assert costs_of(dearer).net_present >= costs_of(plan).net_present * (1 - 1e-12) - 1e-6


@settings(max_examples=examples(25, few=5))
@given(scenario_data(), st.data())
def test_a_higher_price_never_costs_less_and_a_discount_never_more(
    data: dict[str, Any], picks: st.DataObject
) -> None:
    scenario = from_dict(data)
    try:
        plan = make_plan(scenario, CATALOG)
    except ScenarioError:
        assume(False)
    assume(plan.costs is not None)
    costs = costs_of(plan)
    price = picks.draw(st.sampled_from(costs.prices))
    dearer = costs_of(make_plan(scenario.with_value(f"prices.{price.key}", price.value * 1.5 + 1), CATALOG))
    assert dearer.total >= costs.total * (1 - 1e-12)
    assert dearer.unknown == costs.unknown
    for name in ("hardware_discount", "licence_discount"):
        less = costs_of(make_plan(scenario.with_value(f"cost.{name}", 0.9), CATALOG))
        assert less.total <= costs.total * (1 + 1e-12)
    unknown = [u.key for u in costs.unknown]
    if unknown:
        known = costs_of(make_plan(scenario.with_value(f"prices.{unknown[0]}", 7), CATALOG))
        assert known.total >= costs.total * (1 - 1e-12)
        assert unknown[0] not in {u.key for u in known.unknown}


def test_more_people_failures_and_years_never_cost_less(catalog: Catalog, enterprise: Scenario) -> None:
    """Without a stated total, or the people would not count; packing in whole hosts makes steps, never a step down."""
    scenario = enterprise.with_value("demand.stated_gpus", None)
    for path, values in {
        "groups.data-scientists.people": range(30, 60, 3),
        "groups.researchers.people": range(1, 8),
        "groups.hpc.growth": (-0.2, 0, 0.2, 0.5, 1),
        "availability.host_failures": range(5),
        "cost.years": range(1, 8),
    }.items():
        totals = [costs_of(make_plan(scenario.with_value(path, v), catalog)).total for v in values]
        assert totals == sorted(totals), path
        assert totals[0] < totals[-1], path


def test_fewer_gpus_in_a_host_may_cost_less_or_more(catalog: Catalog, enterprise: Scenario) -> None:
    """More GPUs in a host are fewer hosts: the number of hosts is what never rises, not the cost."""
    plans = [
        make_plan(
            enterprise.with_value("hardware.server", None).with_value("hardware.gpus_per_host", n), catalog
        )
        for n in (4, 8, 16)
    ]
    hosts = [p.totals.hosts for p in plans]
    assert hosts == sorted(hosts, reverse=True)
    gpus = [p.totals.gpus for p in plans]
    assert gpus == [32, 40, 48]  # the host kept for a failure is larger, and so is what lies idle


# ---- money


def test_another_currency_converts_the_catalog_and_leaves_what_is_stated(catalog: Catalog) -> None:
    dollars = load_scenario("enterprise")
    euros = dollars.with_value("cost.currency", "EUR").with_value("cost.usd_rate", 2)
    one, other = costs_of(make_plan(dollars, catalog)), costs_of(make_plan(euros, catalog))
    assert (one.currency, other.currency) == ("USD", "EUR")
    assert other.cash == pytest.approx([2 * paid for paid in one.cash])
    assert other.net_present == pytest.approx(2 * one.net_present)
    assert other.gpu_hour_used == pytest.approx(2 * (one.gpu_hour_used or 0))
    stated = make_plan(euros.with_value("prices.gpus/v100-pcie-32gb", 5_000), catalog)
    assert costs_of(stated).part("GPUs").yearly[0] == 32 * 5_000
    assert costs_of(stated).part("Servers").yearly == other.part("Servers").yearly
    assert {line.unit for key, line in stated.lines.items() if key.startswith("cost.parts.")} == {"EUR"}


def test_what_runs_hosts_that_are_bought_beside_the_design_is_named(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("cost.management_hosts", 4)
    found = costs_of(make_plan(scenario, catalog))
    before = costs_of(make_plan(load_scenario("enterprise"), catalog))
    assert found.excludes == before.excludes
    more = {
        part.name: part.total - (before.part(part.name).total if part.name != "Workload domain" else 0)
        for part in found.parts
    }
    each = {price.key: price.value for price in found.prices}
    assert more["Workload domain"] == pytest.approx(4 * 19584.8)
    assert more["Platform licences"] == pytest.approx(
        before.part("Platform licences").total * 4 * 32 / (8 * 64)
    )
    assert more["Administration"] == pytest.approx(5 * 4 * each["administration-host-year"])
    kwh = 4 * 430 / 0.94 * 8.76
    assert more["Power"] == pytest.approx(5 * kwh * each["electricity-kwh"])
    assert more["Cooling"] == pytest.approx(0.54 * more["Power"])
    assert more["Space"] >= 0 and sum(more.values()) == pytest.approx(found.total - before.total)
    socket = scenario.with_value("cost.platform_licence", "socket")
    assert has_approved(costs_of(make_plan(socket, catalog)).excludes)
    compute = (
        load_scenario("enterprise")
        .with_value("network.compute_hosts", 8)
        .with_value("cost.compute_hosts_bought", True)
    )
    assert is_approved(costs_of(make_plan(compute, catalog)).excludes[-1])


def test_hosts_bought_for_growth_beside_hosts_already_there_are_paid(catalog: Catalog) -> None:
    found = costs_of(make_plan(load_scenario("current").with_value("hardware.existing", "10 hosts"), catalog))
    assert found.hosts == (10, 12, 14, 16, 19)
    host = 19584.8 + (1024 - 256) * 29.375  # of 1,024 GB, where the price of the catalog is that of 256
    assert found.part("Servers").yearly == pytest.approx([n * host for n in (0, 2, 2, 2, 3, 0)])
    assert found.part("GPUs").yearly == pytest.approx([n * 4 * 30_000 for n in (0, 2, 2, 2, 3, 0)])


def test_spare_boards_do_not_hide_that_no_board_has_a_price(catalog: Catalog) -> None:
    scenario = load_scenario("starter").with_value("hardware.gpu", "h100-sxm5-64gb")
    scenario = scenario.with_value("hardware.server", None).with_value("cost.spare_gpus", 1)
    unknown = unpriced(catalog, "gpus/h100-sxm5-64gb")
    assert "H100 SXM5 64GB" in costs_of(make_plan(scenario, unknown)).excludes


def test_spines_that_only_the_growth_takes_are_counted(catalog: Catalog) -> None:
    scenario = load_scenario("current").with_value("network.spine", "dell-s5232f-on")
    catalog = unpriced(catalog, "switches/dell-s5232f-on")
    without = costs_of(make_plan(scenario, catalog))
    assert "PowerSwitch S5232F-ON" in without.excludes
    priced = costs_of(make_plan(scenario.with_value("prices.switches/dell-s5232f-on", 9_000), catalog))
    assert "PowerSwitch S5232F-ON" not in priced.excludes
    apart = [
        b - a for a, b in zip(without.part("Network").yearly, priced.part("Network").yearly, strict=True)
    ]
    assert apart == pytest.approx([0, 0, 0, 0, 2 * 9_000, 0])
    # Two spines of 360 W typically, bought for year 5; the leaves' power is not known.
    watts = scenario.with_value("network.spine", "sn2700")
    dark = costs_of(make_plan(watts, catalog)).part("Power").yearly
    more = [a - b for a, b in zip(without.part("Power").yearly, dark, strict=True)]
    assert more == pytest.approx([0, 0, 0, 0, 0, 2 * 0.36 * 8760 * 0.131])


def test_a_part_that_is_not_there_is_refused_with_the_nearest(plans: dict[str, Plan]) -> None:
    costs = plans["starter"].costs
    assert costs is not None
    with pytest.raises(ScenarioError, match="did you mean GPUs"):
        costs.part("GPU")
