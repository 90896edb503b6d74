"""The bill of materials: every count by its rule, every price with its source, and what is there already."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from approved import has_approved, is_approved
from hypothesis import assume, given, settings
from random_cases import examples
from strategies import CATALOG, scenario_data

from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.bill_of_materials import DOMAIN, WORDS, Material
from gpuplan.plan.cash_flow import PARTS
from gpuplan.plan.checks import check_plan
from gpuplan.plan.inputs import sources_of
from gpuplan.plan.prices import (
    ANY_HOST,
    LARGE_HOST,
    MEMORY,
    MODULE_HOSTS,
    PriceList,
    price_keys,
    server_price,
)
from gpuplan.scenario import Scenario, from_dict


def bill_of(plan: Plan) -> dict[str, Material]:
    assert plan.costs is not None
    return {m.key: m for m in plan.costs.materials}


def test_the_enterprise_bill_by_hand(catalog: Catalog) -> None:
    plan = make_plan(load_scenario("enterprise"), catalog)
    found = bill_of(plan)
    assert {key: (m.quantity, m.unit, m.status) for key, m in found.items()} == {
        "servers": (8, "1", "bought"),
        "gpus": (32, "1", "bought"),
        "adapters": (16, "1", "bought"),
        "leaf": (2, "1", "bought"),
        "host-cables": (24, "1", "bought"),
        "switch-cables": (16, "1", "bought"),
        "platform": (8 * 2 * 32, "core", "yearly"),
        "gpu-software": (32, "GPU", "yearly"),
        "vcenter": (1, "1", "included"),
        "nsx-manager": (3, "1", "included"),
        "sddc-manager": (1, "1", "included"),
        "distributed-switches": (2, "1", "included"),
        "management-hosts": (4, "host", "there"),
        "compute-hosts": (0, "host", "to be sized"),
        "storage": (0, "TB", "to be sized"),
        "uplinks": (0, "1", "to be sized"),
        "rack-equipment": (0, "rack", "to be sized"),
    }
    cabling = plan.cabling
    assert cabling is not None and cabling.switches is not None
    shape = cabling.switches.total
    assert found["adapters"].quantity == 8 * cabling.adapters
    assert found["host-cables"].quantity == shape.host_cables
    assert found["leaf"].quantity == shape.leaves
    assert found["servers"].item == "servers/dell-c4140" and found["gpus"].item == "gpus/v100-pcie-32gb"


def test_a_spine_and_its_uplinks_are_bought_too(catalog: Catalog) -> None:
    plan = make_plan(
        load_scenario("enterprise").with_value("demand.stated_gpus", 200).with_value("demand.rule", "stated"),
        catalog,
    )
    found, cabling = bill_of(plan), plan.cabling
    assert cabling is not None and cabling.switches is not None
    shape = cabling.switches.total
    assert shape.spines > 0
    assert (found["spine"].quantity, found["leaf"].quantity) == (shape.spines, shape.leaves)
    assert found["switch-cables"].quantity == shape.uplink_cables + shape.peer_cables


@pytest.mark.parametrize(("gpus", "size"), [(28, "medium"), (1_700, "large"), (4_100, "x-large")])
def test_a_vcenter_is_as_large_as_its_hosts_ask(catalog: Catalog, gpus: int, size: str) -> None:
    """Medium serves up to 400 hosts, large 1,000."""
    plan = make_plan(
        load_scenario("enterprise")
        .with_value("demand.stated_gpus", gpus)
        .with_value("demand.rule", "stated"),
        catalog,
    )
    assert bill_of(plan)["vcenter"].name == f"vCenter Server, {size}"


def test_a_vcenter_serves_no_more_hosts_than_it_can(catalog: Catalog) -> None:
    """5,000 hosts and one spare for each of 80 clusters: x-large vCenters of 2,000 hosts each, NSX Managers of 2,048, distributed switches in each domain."""
    found = bill_of(
        make_plan(
            load_scenario("enterprise")
            .with_value("demand.stated_gpus", 20_000)
            .with_value("demand.rule", "stated"),
            catalog,
        )
    )
    assert found["servers"].quantity == 5_080
    assert (found["vcenter"].quantity, found["nsx-manager"].quantity) == (3, 3 * 3)
    assert found["distributed-switches"].quantity == 3 * 2
    assert has_approved(found["vcenter"].rule, "3") and "cannot manage 5" in found["vcenter"].rule


@pytest.mark.parametrize(("gpus", "domains"), [(7_872, 1), (7_873, 2), (16_000, 3)])
def test_distributed_switches_are_one_set_for_each_workload_domain(
    catalog: Catalog, gpus: int, domains: int
) -> None:
    """4 GPUs to a host, one host of 64 spare: 2,000 hosts are the most of one vCenter, 1,968 for the demand and 32 spare."""
    found = bill_of(
        make_plan(
            load_scenario("enterprise")
            .with_value("demand.stated_gpus", gpus)
            .with_value("demand.rule", "stated"),
            catalog,
        )
    )
    assert found["vcenter"].quantity == domains
    assert found["distributed-switches"].quantity == 2 * domains
    assert is_approved(found["distributed-switches"].rule)


def test_the_quoted_host_stands_for_few_boards_even_where_the_server_says_nothing(catalog: Catalog) -> None:
    starter = load_scenario("starter")
    assert "max_gpus_double_wide" not in catalog.servers["dell-r740xd"].facts
    assert server_price(starter, catalog)[1] == (ANY_HOST,)
    assert server_price(starter.with_value("hardware.gpus_per_host", 8), catalog)[1] == (LARGE_HOST,)


def test_what_only_the_growth_takes_is_in_the_bill_with_none_at_the_start(catalog: Catalog) -> None:
    scenario = load_scenario("current").with_value("hardware.existing", "10 hosts")
    scenario = scenario.with_value("network.spine", "dell-s5232f-on")
    found = bill_of(make_plan(scenario, catalog))
    bought = {key: found[key] for key in ("servers", "gpus", "adapters", "spine")}
    assert is_approved(
        {key: (m.quantity, m.rule) for key, m in bought.items()},
        "servers",
        "0",
        "9",
        "gpus",
        "0",
        "36",
        "adapters",
        "0",
        "18",
        "spine",
        "0",
        "2",
    )
    assert {m.cost for m in bought.values()} == {0}


def test_what_only_passes_gpus_through_takes_no_gpu_licence(catalog: Catalog) -> None:
    found = bill_of(make_plan(load_scenario("starter"), catalog))
    assert "gpu-software" not in found
    shared = {"groups": [{"id": "a", "people": 8}, {"id": "b", "people": 8, "access": "passthrough"}]}
    plan = make_plan(from_dict(shared), catalog)
    assert {p.id: p.gpus for p in plan.pools} == {"vgpu": 12, "passthrough": 12}
    assert bill_of(plan)["gpu-software"].quantity == 12  # spare host included, the other pool not


@pytest.mark.parametrize(
    ("sockets", "cores", "licences"), [(2, 32, 16), (2, 33, 32), (2, 12, 16), (1, 64, 16), (1, 65, 24)]
)
def test_a_licence_by_the_processor_covers_32_cores(
    catalog: Catalog, sockets: int, cores: int, licences: int
) -> None:
    scenario = load_scenario("enterprise")
    for path, value in {
        "cost.platform_licence": "socket",
        "cost.sockets": sockets,
        "cost.cores_per_socket": cores,
        "prices.platform-socket": 7_000,
        "prices.platform-support-socket-year": 1_500,
        "cost.licence_discount": 0.5,
    }.items():
        scenario = scenario.with_value(path, value)
    plan = make_plan(scenario, catalog)
    material = bill_of(plan)["platform"]
    assert (material.quantity, material.status) == (licences, "bought")
    assert plan.costs is not None
    yearly = plan.costs.part("Platform licences").yearly
    assert yearly == pytest.approx([licences * (3_500 + 750), *[licences * 750] * 4, 0])  # support in advance


def check_bill(plan: Plan) -> None:
    """A line costs its quantity times its price less its discount, or says why it does not."""
    found = bill_of(plan)
    given = plan.scenario.cost
    for key, material in found.items():
        assert material.key == key and material.name and material.rule
        assert material.quantity >= 0
        assert material.sources and all(
            s == "scenario" or s in plan.catalog.sources for s in material.sources
        ), key
        assert material.status in ("bought", "yearly", "included", "there", "to be sized")
        line = plan.lines.get(f"cost.materials.{key}")
        if material.cost is None:
            assert line is None
            continue
        assert material.price is not None and line is not None
        licences = material.part in ("Platform licences", "GPU software")
        discount = given.licence_discount if licences else given.hardware_discount
        assert material.discount == discount
        expected = material.quantity * material.price.value * (1 - discount)
        assert material.cost == line.value == pytest.approx(expected)
    assert [k for k, m in found.items() if m.part == DOMAIN][:4] == [
        "vcenter",
        "nsx-manager",
        "sddc-manager",
        "distributed-switches",
    ]
    there = sum(pool.existing_hosts for pool in plan.pools)
    new = plan.totals.hosts - there
    assert plan.costs is not None
    grows = max(plan.costs.hosts) > plan.totals.hosts
    assert found["servers"].quantity == new if new or grows else "servers" not in found
    assert ("spare-gpus" in found) == (given.spare_gpus > 0)
    assert found["storage"].quantity == given.storage_tb
    assert found["management-hosts"].status == ("bought" if given.management_hosts else "there")


@settings(max_examples=examples(30, few=5))
@given(scenario_data())
def test_the_bill_of_any_scenario(data: dict[str, Any]) -> None:
    try:
        plan = make_plan(from_dict(data), CATALOG)
    except ScenarioError:
        assume(False)
    assume(plan.pools)
    check_bill(plan)


def test_the_bills_of_the_examples(example: Plan) -> None:
    check_bill(example)


@pytest.mark.parametrize(
    ("gpu", "gpus", "key"),
    [
        ("l40s-48gb", 4, "host-without-gpus"),
        ("l40s-48gb", 5, LARGE_HOST),
        ("h100-sxm5-80gb", 4, MODULE_HOSTS[4]),
        ("h100-sxm5-80gb", 8, MODULE_HOSTS[8]),
    ],
)
def test_a_host_is_priced_by_its_kind(catalog: Catalog, gpu: str, gpus: int, key: str) -> None:
    data: dict[str, Any] = {
        "groups": [{"id": "a", "people": 4}],
        "hardware": {"gpu": gpu, "gpus_per_host": gpus},
    }
    servers = bill_of(make_plan(from_dict(data), catalog))["servers"]
    row, memory = catalog.row("prices", key), catalog.row("prices", MEMORY)["price_usd"]
    assert servers.price is not None
    assert servers.price.value == row["price_usd"] + servers.price.more_gib * memory
    stated = bill_of(make_plan(from_dict(data | {"prices": {key: 50_000}}), catalog))["servers"]
    assert stated.cost == stated.quantity * 50_000


def test_everything_that_a_bill_may_hold_has_a_price_with_a_range(catalog: Catalog) -> None:
    """So that no design wins because a part of it is free."""
    listed = PriceList(Scenario(), catalog)
    asked = [(f"{table}/{id}", ()) for table in ("gpus", "switches") for id in catalog.items(table)]
    for server in catalog.servers:
        places = [
            int(catalog.servers[server].value(name) or 0) for name in ("max_gpus_double_wide", "max_gpus_sxm")
        ]
        for gpu in ("l40s-48gb", "h100-sxm5-80gb"):
            hardware = {"gpu": gpu, "gpus_per_host": max(*places, 1), "server": server}
            asked.append(server_price(from_dict({"hardware": hardware}), catalog))
    asked += [
        (key, ())
        for key in sorted(price_keys(catalog))
        if not key.startswith(("rent/", "servers/", "tokens-"))
    ]
    asked.remove(
        ("private-ai-core-year", ())
    )  # the one of which no price was found, and every plan that takes it says so
    for key, instead in asked:
        price = listed.price(
            key, key, "each", *instead, *(["host-without-gpus"] if key.endswith("-host") else [])
        )
        assert price is not None, key
        assert 0 < float(price.fact.low or 0) <= price.value <= float(price.fact.high or 0), key
        assert price.fact.low != price.fact.high and price.fact.sources and price.cause, key
    assert not listed.unknown


def test_a_fabric_of_forty_leaves_prices_all_parts(catalog: Catalog) -> None:
    data: dict[str, Any] = {
        "groups": [{"id": "a", "people": 4_000, "active_share": 1}],
        "hardware": {"gpu": "l40s-48gb", "gpus_per_host": 8},
        "network": {"link_gbit_s": 100, "leaf": "sn3700c", "spine": "sn4600c"},
    }
    plan = make_plan(from_dict(data), catalog)
    bill = bill_of(plan)
    assert bill["leaf"].quantity >= 40 and bill["spine"].quantity > 0
    assert not [m.key for m in bill.values() if m.unknown]
    assert all(
        bill[key].cost for key in ("servers", "adapters", "leaf", "spine", "host-cables", "switch-cables")
    )


def test_a_gpu_of_which_nothing_is_said_is_a_board_of_its_own(catalog: Catalog) -> None:
    scenario = from_dict({"hardware": {"gpu": "l40s-48gb", "gpus_per_host": 8}})
    item = catalog.gpus["l40s-48gb"]
    facts = {name: fact for name, fact in item.facts.items() if name != "gpus_per_board"}
    unsaid = replace(
        catalog, _items={**catalog._items, "gpus": {**catalog.gpus, item.id: replace(item, facts=facts)}}
    )
    assert unsaid.gpus["l40s-48gb"].value("gpus_per_board") is None
    assert server_price(scenario, unsaid) == server_price(scenario, catalog) == (LARGE_HOST, ())


def test_a_line_speaks_of_a_discount_where_there_is_one(catalog: Catalog) -> None:
    data: dict[str, Any] = {"groups": [{"id": "a", "people": 4}]}
    for discount in (0, 0.1):
        plan = make_plan(from_dict(data | {"cost": {"hardware_discount": discount}}), catalog)
        assert ("less" in plan.lines["cost.materials.servers"].formula) is (discount > 0)


def test_the_table_of_materials_is_whole(catalog: Catalog) -> None:
    """Parts of the cost, statuses and sources that are there; what is bought has a price to look up."""
    for row in WORDS.values():
        assert row["part"] in PARTS and row["name"] and row["unit"] and row["rule"]
        assert row["status"] in ("bought", "yearly", "included", "there", "to be sized", "{status}")
        assert row["price"] or row["status"] not in ("bought", "yearly")
        assert all(source in catalog.sources for source in sources_of(catalog, row["sources"]))


def test_hosts_for_compute_are_there_or_bought_or_to_be_sized(catalog: Catalog) -> None:
    enterprise = load_scenario("enterprise")
    for stated, bought, expected in (
        (None, False, (0, "to be sized")),
        (40, False, (40, "there")),
        (40, True, (40, "bought")),
    ):
        scenario = enterprise.with_value("network.compute_hosts", stated)
        scenario = scenario.with_value("cost.compute_hosts_bought", bought)
        hosts = bill_of(make_plan(scenario, catalog))["compute-hosts"]
        assert (hosts.quantity, hosts.status) == expected


def test_without_switches_that_were_chosen_none_is_bought(catalog: Catalog) -> None:
    """No switch of the catalog has ports of 1 Gbit/s: adapters are counted, and neither switches nor cables."""
    scenario = load_scenario("enterprise").with_value("network.link_gbit_s", 1)
    plan = make_plan(scenario, catalog)
    found = bill_of(plan)
    assert plan.cabling is not None and plan.cabling.switches is None
    assert found["adapters"].quantity == 8 * plan.cabling.adapters > 0
    assert not {"leaf", "spine", "host-cables", "switch-cables"} & set(found)


@pytest.mark.parametrize(
    ("vsphere", "licence", "cores"),
    [
        ("7.0u3", "vcf", 0),
        ("8.0", "vcf", 640),
        ("9.1", "vcf", 640),
        ("8.0u3", "vvf", 0),
        ("8.0u3", "owned", 0),
    ],
)
def test_private_ai_is_an_add_on_by_the_core(
    catalog: Catalog, vsphere: str, licence: str, cores: int
) -> None:
    """Ten hosts of two processors with 32 cores; no price was found, so that the cost names it until one is stated."""
    scenario = load_scenario("current").with_value("platform.vsphere", vsphere)
    scenario = scenario.with_value("cost.platform_licence", licence).with_value("cost.years", 3)
    scenario = scenario.with_groups([replace(g, growth=0.0) for g in scenario.groups])
    without = make_plan(scenario, catalog)
    assert "ai-add-on" not in bill_of(without), "sharing GPUs does not need it"
    plan = make_plan(scenario.with_value("cost.private_ai", True), catalog)
    found = bill_of(plan).get("ai-add-on")
    assert (found.quantity if found else 0) == plan.totals.hosts * 64 * bool(cores)
    assert ("private-ai-left-out" in {m.code for m in check_plan(plan)}) == (not cores)
    assert plan.costs is not None and without.costs is not None
    named = set(plan.costs.excludes) - set(without.costs.excludes)
    assert len(named) == bool(cores)
    if cores:
        assert plan.totals.hosts == 10 and found is not None and found.unknown
        asks = plan.scenario.with_value("prices.private-ai-core-year", 50)
        paid = make_plan(asks, catalog)
        entered = make_plan(scenario.with_value("prices.private-ai-core-year", 50), catalog)
        assert entered.costs == paid.costs, "a price that was stated says that it is bought"
        assert "no price" not in bill_of(paid)["ai-add-on"].rule
        assert paid.costs is not None and plan.costs is not None
        assert paid.costs.total - plan.costs.total == pytest.approx(640 * 50 * 3)
        unused = make_plan(plan.scenario.with_value("prices.private-ai-core-year", 0), catalog).costs
        assert unused is not None and unused.total == plan.costs.total
        assert not named & set(unused.excludes)


def test_the_years_that_come_with_a_board_have_a_clock(catalog: Catalog) -> None:
    for years in (5, 7):
        plan = make_plan(load_scenario("current").with_value("cost.years", years), catalog)
        rule = bill_of(plan)["gpu-software"].rule
        assert is_approved(rule, "5 years", "90 days") and "in advance" not in rule
        (said,) = [d.justification for d in plan.decisions if d.title == "Cost and licences"]
        assert has_approved(said, "40 GPUs", "5 years", "90 days")
