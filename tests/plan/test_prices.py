"""Prices: what is stated wins, what nobody knows stays unknown, and what is old is called so."""

from __future__ import annotations

import pytest
from stated_money import unpriced

from gpuplan import load_scenario, make_plan
from gpuplan.analysis.customer import customer_scenario
from gpuplan.catalog import Catalog
from gpuplan.facts import BASES
from gpuplan.plan.prices import (
    ANY_HOST,
    LARGE_HOST,
    MEMORY,
    MODULE_HOSTS,
    Price,
    PriceList,
    catalog_factor,
    factor,
    is_old,
    newest_price,
    price_keys,
    stated_or,
)
from gpuplan.scenario import Origin, Scenario, ScenarioError, from_dict

V100 = "gpus/v100-pcie-16gb"


def prices(catalog: Catalog, scenario: Scenario | None = None) -> PriceList:
    return PriceList(scenario or Scenario(), catalog)


# ---- stated, of the catalog, or unknown


def test_a_price_of_the_catalog_has_its_date_source_and_range(catalog: Catalog) -> None:
    found = prices(catalog).price(V100, "V100", "each")
    assert found is not None
    row = catalog.row("prices", "v100-16gb-reseller")
    assert (found.value, found.as_of, found.stated) == (row["price_usd"], row["as_of"], False)
    assert (found.fact.low, found.fact.high) == (row["low_usd"], row["high_usd"])
    assert (found.fact.basis, found.fact.sources, found.fact.unit) == (row.basis, row.sources, "USD")


def test_a_stated_price_wins(catalog: Catalog) -> None:
    listed = prices(catalog, Scenario().with_value(f"prices.{V100}", 7_777))
    found = listed.price(V100, "V100", "each")
    assert found is not None
    assert (found.value, found.stated, found.old, found.fact.basis) == (7_777, True, False, "quoted")
    assert (found.fact.low, found.fact.high) == (None, None)
    assert listed.found == {V100: found}


def test_a_stated_price_of_zero_is_a_price(catalog: Catalog) -> None:
    listed = prices(catalog, Scenario().with_value("prices.rack-year", 0))
    found = listed.price("rack-year", "Space", "rack-year")
    assert found is not None and found.value == 0
    assert listed.unknown == {}


def test_what_nobody_knows_stays_unknown(catalog: Catalog) -> None:
    listed = prices(unpriced(catalog, "storage-tb"))
    assert listed.price("storage-tb", "Storage", "tb") is None
    assert listed.unknown["storage-tb"].name == "Storage"
    assert listed.found == {}


def test_instead_is_asked_in_order_and_what_is_stated_of_it_counts(catalog: Catalog) -> None:
    """A customer who states what any host costs states it of every server without a price of its own."""
    server = "servers/dell-c4140"
    row = catalog.row("prices", "host-without-gpus")
    found = prices(catalog).price(server, "C4140", "each", ANY_HOST)
    assert found is not None and (found.key, found.value) == (server, row["price_usd"])
    any_host = Scenario().with_value(f"prices.{ANY_HOST}", 11_111)
    found = prices(catalog, any_host).price(server, "C4140", "each", ANY_HOST)
    assert found is not None and (found.value, found.stated) == (11_111, True)
    own = any_host.with_value(f"prices.{server}", 22_222)
    found = prices(catalog, own).price(server, "C4140", "each", ANY_HOST)
    assert found is not None and found.value == 22_222
    # a price of its own in the catalog is nearer than one stated of something else
    found = prices(catalog, any_host).price(V100, "V100", "each", ANY_HOST)
    assert found is not None and not found.stated


def test_rows_that_are_only_shown_are_not_planned_with(catalog: Catalog) -> None:
    shown = [row for row in catalog.rows("prices") if row["use"] == "shown"]
    listed = prices(catalog)
    for row in shown:
        assert row.id not in {k for k in price_keys(catalog) if listed.price(k, k, "each") and k == row.id}
    defaults = [row["item"] for row in catalog.rows("prices") if row["use"] == "default" and row["item"]]
    assert len(defaults) == len(set(defaults))


# ---- currency


def test_catalog_prices_are_converted_and_stated_ones_are_not(catalog: Catalog) -> None:
    scenario = from_dict({"cost": {"currency": "INR", "usd_rate": 80}, "prices": {"electricity-kwh": 9.5}})
    listed = prices(catalog, scenario)
    gpu = listed.price(V100, "V100", "each")
    row = catalog.row("prices", "v100-16gb-reseller")
    assert gpu is not None
    assert (gpu.value, gpu.fact.low, gpu.fact.high) == tuple(
        80 * row[name] for name in ("price_usd", "low_usd", "high_usd")
    )
    assert gpu.fact.unit == "INR" and gpu.fact.note.startswith("USD 9\u202f937.5 x 80")
    power = listed.price("electricity-kwh", "Electricity", "kwh")
    assert power is not None and (power.value, power.fact.unit) == (9.5, "INR")


# ---- age


@pytest.mark.parametrize(
    ("as_of", "today", "old"),
    [
        ("2025-11-21", "2026-11-21", False),  # a year to the day
        ("2025-11-20", "2026-11-21", True),
        ("2025-11", "2026-11-21", False),  # may be the 30th
        ("2025-11", "2026-12-01", True),
        ("2025-10", "2026-11-21", True),
        ("2025", "2026-12-31", False),  # may be its last day
        ("2025", "2027-01-01", True),
        ("2026-12-01", "2026-11-21", False),
        ("2023-02-28", "2024-02-28", False),
        ("2023-02-28", "2024-02-29", True),
        ("2023-03-01", "2024-02-29", False),
        ("2000-01-01", "0001-01-01", False),
    ],
)
def test_a_price_is_old_after_a_year(as_of: str, today: str, old: bool) -> None:
    assert is_old(as_of, today) is old


def test_the_day_of_the_calculation_says_which_prices_are_old(catalog: Catalog) -> None:
    newest = newest_price(catalog)
    assert all(
        row["as_of"] <= newest or newest.startswith(row["as_of"])
        for table in ("prices", "rentals")
        for row in catalog.rows(table)
    )
    assert prices(catalog).as_of == newest
    row = catalog.row("prices", "v100-16gb-reseller")
    for day, old in [("2025-07-24", False), ("2025-07-25", True)]:
        assert row["as_of"] == "2024-07-24"
        found = prices(catalog, Scenario().with_value("cost.as_of", day)).price(V100, "V100", "each")
        assert found is not None and found.old is old


def test_a_quote_has_the_day_it_is_from(catalog: Catalog) -> None:
    scenario = Scenario().with_value("cost.as_of", "2026-11-21").with_value(f"prices.{V100}", 5_000)
    assert (today := prices(catalog, scenario).price(V100, "V100", "each")) and not today.old
    quoted = scenario.with_origin(f"prices.{V100}", Origin("quoted", "scenario", "", "", "2025-01-05"))
    found = prices(catalog, quoted).price(V100, "V100", "each")
    assert found is not None and (found.as_of, found.old) == ("2025-01-05", True)


# ---- factors


def test_a_factor_is_stated_or_of_the_catalog(catalog: Catalog) -> None:
    known = catalog_factor(catalog, "pue")
    assert known.low is not None and known.high is not None
    assert known.low <= known.value <= known.high
    assert factor(Scenario(), catalog, "pue") == known
    stated = factor(Scenario().with_value("cost.pue", 1.2), catalog, "pue")
    assert (stated.value, stated.unit, stated.low, stated.basis) == (1.2, known.unit, None, "quoted")
    zero = factor(Scenario().with_value("cost.discount_rate", 0), catalog, "discount_rate")
    assert zero.value == 0  # stated, not empty
    assert stated_or(Scenario(), "cost.pue", known) is known


def test_every_factor_and_price_has_a_basis_a_source_a_day_and_a_range(catalog: Catalog) -> None:
    for row in catalog.rows("factors"):
        assert row["low"] <= row["value"] <= row["high"], row.id
        assert row.basis in BASES and row.sources and row["as_of"], row.id
    for row in catalog.rows("prices"):
        assert 0 < row["low_usd"] <= row["price_usd"] <= row["high_usd"], row.id
        assert row.basis in BASES and row.sources and row["as_of"], row.id


# ---- keys


def test_everything_that_a_plan_asks_for_can_be_stated(catalog: Catalog) -> None:
    keys = price_keys(catalog)
    for name in ("starter", "enterprise", "current"):
        for licence, gpu_licence in (
            ("vcf", "subscription"),
            ("vvf", "subscription"),
            ("socket", "perpetual"),
        ):
            scenario = load_scenario(name)
            for path, value in {
                "cost.platform_licence": licence,
                "cost.gpu_licence": gpu_licence,
                "cost.years": 7,
                "cost.storage_tb": 1,
                "cost.management_hosts": 4,
                "network.compute_hosts": 4,
                "cost.compute_hosts_bought": True,
            }.items():
                scenario = scenario.with_value(path, value)
            costs = make_plan(scenario, catalog).costs
            assert costs is not None
            asked = {p.key for p in costs.prices} | {u.key for u in costs.unknown}
            assert asked <= keys
            for unknown in costs.unknown:
                stated = make_plan(scenario.with_value(f"prices.{unknown.key}", 1), catalog).costs
                assert stated is not None and unknown.key not in {u.key for u in stated.unknown}


@pytest.mark.parametrize("link", [10, 25, 40, 50, 100, 200])
def test_adapters_and_cables_of_every_link_can_be_stated(catalog: Catalog, link: int) -> None:
    scenario = load_scenario("starter").with_value("network.link_gbit_s", link)
    costs = make_plan(scenario, catalog).costs
    assert costs is not None
    asked = {p.key for p in costs.prices} | {u.key for u in costs.unknown}
    assert f"adapter-{link}g" in asked and f"cable-{link}g" in asked
    assert asked <= price_keys(catalog)


# ---- margin


def test_a_margin_stands_on_what_is_sold_and_on_nothing_else(catalog: Catalog) -> None:
    stated = {"electricity-kwh": 0.2, f"rent/{V100.partition('/')[2]}": 2, "cable-25g": 40}
    listed = prices(catalog, from_dict({"internal": {"margin": 0.2}, "prices": stated}))
    gpu, row = listed.price(V100, "V100", "each"), catalog.row("prices", "v100-16gb-reseller")
    assert gpu is not None
    assert (gpu.value, gpu.fact.low, gpu.fact.high) == tuple(
        round(row[name] / 0.8, 2) for name in ("price_usd", "low_usd", "high_usd")
    )
    assert gpu.given.value == row["price_usd"]
    assert gpu.fact.note.startswith("9\u202f937.5 / (1 - margin of 0.2)")
    cable = listed.price("cable-25g", "Cable", "each")
    assert cable is not None and (cable.value, cable.given.value) == (50, 40)
    for key, value in stated.items():
        if key != "cable-25g":
            other = listed.price(key, key, "each")
            assert other is not None and (other.value, other.purchase, other.given) == (
                value,
                None,
                other.fact,
            )
    assert set(listed.sold()) >= {V100, "cable-25g", "host-without-gpus", "nvaie-year"}
    assert not set(listed.sold()) & set(stated) - {"cable-25g"}


def test_without_a_margin_a_price_is_what_the_catalog_says(catalog: Catalog) -> None:
    for data in ({}, {"internal": {"margin": 0}}):
        gpu = prices(catalog, from_dict(data)).price(V100, "V100", "each")
        assert gpu is not None and gpu.purchase is None
        assert gpu.fact == prices(catalog, from_dict({})).found.get(V100, gpu).fact
        assert gpu.value == 9937.5


# ---- the memory of a host is in its price


HOST = {"gpu": "h100-nvl-94gb", "gpus_per_host": 4, "server": "dell-r760xa"}


def host_price(catalog: Catalog, hardware: dict[str, object] | None = None, **data: object) -> Price:
    asked = {"groups": [{"id": "a", "people": 8}], "hardware": HOST | (hardware or {}), **data}
    plan = make_plan(from_dict(asked), catalog)
    assert plan.costs is not None
    servers = next(material for material in plan.costs.materials if material.key == "servers")
    assert servers.price is not None and servers.cost == pytest.approx(servers.quantity * servers.price.value)
    return servers.price


@pytest.mark.parametrize(
    ("kind", "hardware"),
    [
        (ANY_HOST, HOST),
        (LARGE_HOST, {"gpu": "l40s-48gb", "gpus_per_host": 8, "server": "dell-xe7740"}),
        (MODULE_HOSTS[4], {"gpu": "h100-sxm5-80gb", "gpus_per_host": 4, "server": "dell-xe8640"}),
        (MODULE_HOSTS[8], {"gpu": "h200-sxm5-141gb", "gpus_per_host": 8, "server": "dell-xe9680"}),
        (ANY_HOST, HOST | {"server": None}),
    ],
)
def test_more_memory_makes_a_host_dearer_by_its_price(
    catalog: Catalog, kind: str, hardware: dict[str, object]
) -> None:
    """Up to the memory of the catalog's host the price stays; each GB beyond costs its price, in all three values."""
    base, each = catalog.row("prices", kind), catalog.row("prices", MEMORY)
    contained = base["memory_gib"]
    for gib in (64, contained, contained + 1, 2 * contained, 4096):
        price = host_price(catalog, hardware | {"memory_gib_per_host": gib})
        more = max(0, gib - contained)
        for value, column in (
            (price.value, "price_usd"),
            (price.fact.low, "low_usd"),
            (price.fact.high, "high_usd"),
        ):
            assert value == pytest.approx(base[column] + more * each[column])
        assert price.more_gib == more and set(base.sources) <= set(price.fact.sources)
        assert (set(each.sources) <= set(price.fact.sources)) is (more > 0)
        assert price.fact.basis == "assumed" and (each["as_of"] in price.fact.note) is (more > 0)


def test_a_host_without_stated_memory_is_priced_as_ordered(catalog: Catalog) -> None:
    needs = [{"id": "a", "people": 8, "memory_gib_each": 400}]
    few, many = host_price(catalog), host_price(catalog, groups=needs)
    assert 0 < few.more_gib < many.more_gib


def test_a_stated_price_of_a_server_is_that_of_the_whole_host(catalog: Catalog) -> None:
    """So a price stated as it is changes nothing, and memory may have a price of its own."""
    before = host_price(catalog)
    same = host_price(catalog, prices={"servers/dell-r760xa": before.value})
    assert (same.value, same.more_gib) == (before.value, 0)
    dearer = host_price(catalog, prices={MEMORY: 50})
    assert dearer.value == before.value + before.more_gib * (50 - catalog.row("prices", MEMORY)["price_usd"])
    assert host_price(catalog, prices={MEMORY: 0}).value == catalog.row("prices", ANY_HOST)["price_usd"]
    none = host_price(catalog, {"server": None})
    kept = host_price(catalog, {"server": None}, prices={ANY_HOST: none.given.value})
    assert kept.value == none.value == none.given.value and none.more_gib > kept.more_gib == 0
    instead = host_price(catalog, prices={ANY_HOST: 20_000})
    assert instead.value == 20_000 + before.value - catalog.row("prices", ANY_HOST)["price_usd"]


@pytest.mark.parametrize("server", ["dell-r760xa", None])
@pytest.mark.parametrize("stated", [{}, {"servers/dell-r760xa": 40_000}, {ANY_HOST: 20_000}, {MEMORY: 12}])
def test_the_customer_pays_for_the_memory_what_the_seller_sells_it_for(
    catalog: Catalog, server: str | None, stated: dict[str, float]
) -> None:
    asked = {"groups": [{"id": "a", "people": 8}], "hardware": HOST | {"server": server}, "prices": stated}
    scenario = from_dict({**asked, "internal": {"margin": 0.2}, "cost": {"management_hosts": 4}})
    sold, seen = (make_plan(one, catalog) for one in (scenario, customer_scenario(scenario, catalog)))
    assert sold.costs is not None and seen.costs is not None
    assert seen.costs.net_present == pytest.approx(sold.costs.net_present)


def test_memory_without_a_price_is_unknown_and_not_free(catalog: Catalog) -> None:
    plan = make_plan(
        from_dict({"groups": [{"id": "a", "people": 8}], "hardware": HOST}), unpriced(catalog, MEMORY)
    )
    assert plan.costs is not None and MEMORY in {item.key for item in plan.costs.unknown}


# ---- quotes hold until a day


def test_a_quote_lapses_by_the_day_of_the_decision(catalog: Catalog) -> None:
    def price(decided: str | None = None, day: str = "") -> Price:
        asked = {"prices": {V100: 5_000}, "valid_until": {V100: day} if day else {}}
        scenario = from_dict({**asked, "document": {"decide_by": decided}})
        found = PriceList(scenario, catalog).price(V100, "V100", "each")
        assert found is not None
        return found

    assert (price().valid_until, price().lapsed) == ("", False)
    day = newest_price(catalog)
    assert not price(day=day).lapsed and price(day="2026-01-31").lapsed
    assert not price("2026-12-01", day="2026-12-01").lapsed and price("2026-12-02", day="2026-12-01").lapsed
    assert price("2031-01-01").old and not price("2031-01-01", day="2031-06-30").old


def test_a_new_price_loses_the_day_of_the_former_one() -> None:
    scenario = from_dict({"prices": {V100: 5_000, "rack-year": 9}, "valid_until": {V100: "2026-12-31"}})
    assert scenario.get(f"valid_until.{V100}") == "2026-12-31"
    assert from_dict(scenario.to_dict()) == scenario
    assert scenario.with_value("prices.rack-year", 8).valid_until == scenario.valid_until
    assert scenario.with_value(f"prices.{V100}", 4_000).valid_until == ()
    assert scenario.with_value(f"valid_until.{V100}", None).to_dict().get("valid_until") is None


def test_only_a_stated_price_holds_until_a_day(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError) as refused:
        make_plan(from_dict({"valid_until": {V100: "2026-12-31"}}), catalog)
    assert [problem.path for problem in refused.value.problems] == [f"valid_until.{V100}"]
    with pytest.raises(ScenarioError) as refused:
        from_dict({"prices": {V100: 1}, "valid_until": {V100: "soon"}})
    assert [problem.path for problem in refused.value.problems] == [f"valid_until.{V100}"]
