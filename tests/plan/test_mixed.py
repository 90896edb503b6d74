"""Designs with several kinds of new hosts, against two designs planned apart."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from random_cases import cases

from gpuplan import make_plan
from gpuplan.analysis.customer import customer_scenario
from gpuplan.analysis.rent_or_buy import rent_or_buy
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.deliver.priced_items import PricedItems
from gpuplan.deliver.what_if.answers import _others
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.prices import MEMORY, price_keys, server_price
from gpuplan.plan.racks import racks
from gpuplan.report.plan_data import plan_dict
from gpuplan.report.tables.acceptance import acceptance
from gpuplan.report.tables.known import input_words
from gpuplan.scenario import Scenario, ScenarioError, from_dict, load_scenario, parse_scenario
from gpuplan.wording import number

BOARDS = (
    ("l40s-48gb", 4),
    ("h200-nvl-141gb", 8),
    ("a100-pcie-80gb", 4),
    ("l4-24gb", 8),
    ("h100-sxm5-80gb", 8),
)
OF_ALL = ("hosts", "hosts_for_demand", "hosts_for_failures", "gpus", "gpus_demanded", "unplaced_vms")


def groups_of(rng: Random, prefix: str) -> list[dict[str, Any]]:
    """Some groups with parts of GPUs or whole ones."""
    return [
        {
            "id": f"{prefix}{at}",
            "people": rng.randint(1, 60),
            "gpus_each": rng.choice([0.125, 0.25, 0.5, 1, 1, 2, 4]),
            "active_share": rng.choice([0.3, 0.7, 1.0]),
            "remote_allowed": False,
            "vmotion": rng.choice(["auto", "auto", "not-needed"]),
        }
        for at in range(rng.randint(1, 3))
    ]


def apart_and_together(rng: Random) -> tuple[Scenario, Scenario, Scenario]:
    """Two designs of one kind of hosts each, and the design with both kinds."""
    (gpu, most), (other, others) = rng.sample(BOARDS, 2)
    first, second = groups_of(rng, "a"), groups_of(rng, "b")
    shared: dict[str, Any] = {
        "availability": {
            "host_failures": rng.randint(0, 2),
            "maintenance_failure_accepted": rng.random() < 0.5,
            "stun_limit_s": 1000,
        },
        "cost": {"utilisation": rng.choice([None, 0.4]), "years": rng.choice([3, 5]), "storage_tb": 0},
        "demand": {"rule": rng.choice(["sum", "sum", "hours"])},
        "platform": {"vsphere": "8.0u3"},
    }
    one = {"gpu": gpu, "gpus_per_host": most}
    two = {"gpu": other, "gpus_per_host": others}
    return (
        from_dict(shared | {"groups": first, "hardware": one}),
        from_dict(shared | {"groups": second, "hardware": two}),
        from_dict(
            shared
            | {
                "groups": first + [group | {"hosts": "Other"} for group in second],
                "hardware": one | {"kinds": [{"name": "Other", **two}]},
            }
        ),
    )


def sums(plans: tuple[Plan, ...], name: str) -> float:
    return sum(getattr(plan.totals, name) for plan in plans)


def bought(plan: Plan, key: str) -> dict[str, float]:
    """Quantities of a material by its catalog item or price, over all kinds of hosts."""
    assert plan.costs
    found: dict[str, float] = {}
    for material in plan.costs.materials:
        if material.key.partition("@")[0] == key:
            item = material.item or (material.price.key if material.price else material.name)
            found[item] = found.get(item, 0) + material.quantity
    return found


def test_two_kinds_are_two_designs_apart_and_what_they_share_once(catalog: Catalog) -> None:
    """Hosts, GPUs, boards, servers, software, energy and failover of both; the management domain and switches once."""
    tried = 0
    for rng in cases(4001, 300, few=12):
        scenarios = apart_and_together(rng)
        try:
            apart = tuple(make_plan(scenario, catalog) for scenario in scenarios[:2])
        except ScenarioError:
            with pytest.raises(ScenarioError):
                make_plan(scenarios[2], catalog)
            continue
        both = make_plan(scenarios[2], catalog)
        for name in OF_ALL:
            assert getattr(both.totals, name) == pytest.approx(sums(apart, name)), name
        by_id = {pool.id.removeprefix("other-"): 0 for pool in both.pools}
        assert set(by_id) <= {pool.id for plan in apart for pool in plan.pools}
        assert both.totals.gpus_after_failure <= max(plan.totals.gpus_after_failure for plan in apart) + max(
            plan.totals.gpus for plan in apart
        )
        powers = [plan.power for plan in apart if plan.power]
        if len(powers) < 2 or both.power is None:
            continue
        tried += 1
        assert all(plan.costs for plan in apart)
        for key in ("servers", "gpus", "gpu-software"):
            every: dict[str, float] = {}
            for plan in apart:
                for item, count in bought(plan, key).items():
                    every[item] = every.get(item, 0) + count
            assert bought(both, key) == every, key
        hosts = [part for power in powers for part in power.parts if part.name == "GPU hosts"]
        mine = [part for part in both.power.parts if part.name.startswith("GPU hosts")]
        same_adapters = {plan.cabling.adapters for plan in (*apart, both) if plan.cabling}
        if len(same_adapters) == 1:
            for name in ("peak_w", "typical_w"):
                total = sum(getattr(part, name) for part in hosts)
                assert sum(getattr(part, name) for part in mine) == pytest.approx(total), name
            assert bought(both, "adapters").keys() == bought(apart[0], "adapters").keys()
        assert both.power.racks == sum(power.racks for power in powers)
        assert both.power.racks == len(racks(both))
        assert both.lines["cost.licensed_cores"].value >= max(
            plan.lines["cost.licensed_cores"].value for plan in apart
        )
        for posture in both.postures:
            those = [p for plan in apart for p in plan.postures if p.host_failures == posture.host_failures]
            assert posture.hosts == sum(p.hosts for p in those)
            assert 1 - posture.chance == pytest.approx((1 - those[0].chance) * (1 - those[1].chance))
        assert both.costs and sum(group.total for group in both.costs.groups) == pytest.approx(
            both.costs.total
        )
        assert both.placed.missing == sum(plan.placed.missing for plan in apart)
        assert both.placed.lost == max(plan.placed.lost for plan in apart)
    assert tried


SERVERS = (
    *((None, "l40s-48gb", 4), ("dell-r760xa", "l40s-48gb", 4), ("dell-r760xa", "l40s-48gb", 2)),
    *(("dell-r760xa", "h100-nvl-94gb", 2), (None, "h200-nvl-141gb", 8), (None, "l4-24gb", 4)),
)
"""Server, board and GPUs of a host: with the same server, board or both as another."""
MEMORY_EACH_GIB = (None, 32, 128, 1000)
OF_KINDS = ("Servers", "GPUs", "GPU software", "Platform licences", "Space", "Administration")
"""Parts of the cost that two kinds of hosts do not share."""


def priced_apart_and_together(rng: Random) -> list[Scenario]:
    """Two designs and both in one, with prices of two quotations or of the catalog; no switch and no cable costs anything."""
    free = {key: 0 for key in price_keys(load_catalog()) if key.startswith(("switches/", "cable-"))}
    shared: dict[str, Any] = {
        "cost": {
            "utilisation": 0.4,
            "storage_tb": 0,
            "spare_gpus": rng.choice([0, 2]),
            "platform_licence": rng.choice(["vcf", "vvf", "socket"]),
            "gpu_licence": rng.choice(["subscription", "perpetual"]),
        },
        "prices": free | rng.choice([{}, {}, {"memory-gib": 12}, {"large-host-without-gpus": 30_000}]),
        "internal": {"margin": rng.choice([None, 0.2])},
        "platform": {"vsphere": "8.0u3"},
    }
    kinds, groups = [], []
    for name in ("first", "other"):
        server, gpu, gpus = rng.choice(SERVERS)
        kinds.append({"gpu": gpu, "gpus_per_host": gpus} | ({"server": server} if server else {}))
        group: dict[str, Any] = {"id": name, "people": rng.randint(30, 60), "remote_allowed": False}
        group |= {"gpus_each": rng.choice([0.5, 1])}
        if memory := rng.choice(MEMORY_EACH_GIB):
            group |= {"vcpus_each": memory // 8, "memory_gib_each": memory}
        groups.append(group)
    one, two = kinds
    both = one | {"kinds": [{"name": "Other", **two}]}
    return [
        *(from_dict(shared | {"groups": [groups[n]], "hardware": kinds[n]}) for n in (0, 1)),
        from_dict(shared | {"groups": [groups[0], groups[1] | {"hosts": "Other"}], "hardware": both}),
    ]


def test_each_kind_is_priced_with_its_own_memory_board_and_processors(catalog: Catalog) -> None:
    """Of each part, the cost and its range are the sum of two designs apart; a board that both have is spare once."""
    shared = 0
    for rng in cases(4002, 400, few=16):
        scenarios = priced_apart_and_together(rng)
        *apart, both = (make_plan(scenario, catalog, check=False) for scenario in scenarios)
        seen = make_plan(customer_scenario(both.scenario, catalog), catalog, check=False)
        assert both.costs and seen.costs and both.cost_ranges
        assert seen.costs.net_present == pytest.approx(both.costs.net_present)
        memory = [line.memory_gib for line in both.host_lines.values()]
        assert memory == [plan.host_line.memory_gib for plan in apart if plan.host_line]
        shared += len({server_price(part.scenario, catalog) for part in both.parts}) < len({*memory})
        boards = {plan.scenario.hardware.gpu: plan for plan in apart}
        parts = {part.name: part.total for part in both.costs.parts}
        for name in (*OF_KINDS, "Spares"):
            plans = boards.values() if name == "Spares" else apart
            sums = [p.total for plan in plans if plan.costs for p in plan.costs.parts if p.name == name]
            assert parts.get(name, 0) == pytest.approx(sum(sums)), name
        for end in (0, 1):
            ends = [plan.cost_ranges.parts["Servers"][end] for plan in apart if plan.cost_ranges]
            assert both.cost_ranges.parts["Servers"][end] == pytest.approx(sum(ends))
        items = PricedItems(both)
        weighed = {key: items.discounted(key) * items.value[key] for key in items.prices}
        assert sum(weighed.values()) == pytest.approx(both.costs.net_present)
    assert shared


def test_files_tell_of_each_kind_by_its_name(catalog: Catalog) -> None:
    """Names for ids, the power of a host of each kind, and the price that matters most on the what-if page."""
    plan = make_plan(mixed(), catalog)
    words = input_words(plan, "hardware.kinds", plan.scenario.hardware.kinds)
    assert catalog.gpus["h200-nvl-141gb"].name in words and "h200-nvl-141gb" not in words
    expected = " ".join(str(row[3]) for row in acceptance(plan).rows)
    assert plan.power and plan.costs
    assert all(f"{number(round(host.peak_w))} W" in expected for host in plan.power.kinds.values())
    boards = [material for material in plan.costs.materials if material.part == "GPUs"]
    (axis,) = (axis for axis in _others(plan) if axis.kind == "price")
    assert axis.path == f"prices.{max(boards, key=lambda each: each.cost or 0).price_key}"


def test_a_quotation_of_each_kind_is_its_own_price(catalog: Catalog) -> None:
    """A price of a server is that of the first kind as ordered; more memory costs extra, until the kind has a price."""
    hardware = {"gpu": "l40s-48gb", "gpus_per_host": 4, "server": "dell-r760xa"}
    first = {"id": "a", "people": 8, "vcpus_each": 8, "memory_gib_each": 64, "remote_allowed": False}
    asked: dict[str, Any] = {
        "groups": [first, first | {"id": "b", "memory_gib_each": 512, "hosts": "Large"}],
        "hardware": hardware | {"kinds": [{"name": "Large", **hardware}]},
    }
    day, key = "2026-10-31", "servers/dell-r760xa"
    plan = make_plan(from_dict(asked | {"prices": {key: 20_000}, "valid_until": {key: day}}), catalog)
    small, large = plan.host_lines.values()
    assert plan.costs and large.memory_gib > small.memory_gib
    bill = {material.key: material for material in plan.costs.materials}
    assert bill["servers"].price and bill["servers"].price.value == 20_000
    assert bill["servers@large"].price == bill["servers"].price
    more = (large.memory_gib - small.memory_gib) * bill["servers@large"].quantity
    assert bill["memory@large"].quantity == more and bill["memory@large"].price_key == MEMORY
    assert "price-of-two-kinds" in {message.code for message in check_plan(plan)}
    own = {key: 20_000, f"{key}@large": 45_000}
    quoted = make_plan(from_dict(asked | {"prices": own, "valid_until": dict.fromkeys(own, day)}), catalog)
    assert quoted.costs
    prices = {m.key: m.price.value for m in quoted.costs.materials if m.part == "Servers" and m.price}
    assert prices == {"servers": 20_000, "servers@large": 45_000}
    assert {p.key for p in quoted.costs.prices if p.valid_until == day} == {*own}
    assert "price-of-two-kinds" not in {message.code for message in check_plan(quoted)}


@pytest.mark.parametrize("key", ["servers/dell-r760xa@small", "gpus/l40s-48gb@large", "dell@large"])
def test_a_price_of_no_kind_is_refused_at_its_key(catalog: Catalog, key: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        make_plan(mixed().with_value(f"prices.{key}", 1), catalog)
    assert f"prices.{key}" in {problem.path for problem in refused.value.problems}


def test_a_design_whose_groups_are_all_on_the_first_kind_is_that_design(catalog: Catalog) -> None:
    """A kind that no workload uses changes nothing, and is told."""
    for example in ("starter", "enterprise", "assistant"):
        plain = make_plan(load_scenario(example), catalog)
        hardware = plain.scenario.hardware
        kinds = f"Spare: {hardware.gpus_per_host} x {hardware.gpu}"
        more = make_plan(plain.scenario.with_value("hardware.kinds", kinds), catalog)
        assert more.totals == plain.totals
        assert more.costs and plain.costs and more.costs.cash == plain.costs.cash
        told = {message.code for message in check_plan(more)} - {m.code for m in check_plan(plain)}
        assert told == {"hosts-without-workload"}


def mixed(example: str = "enterprise", group: str = "researchers", kinds: str = "") -> Scenario:
    """An example with one group on a further kind of hosts."""
    scenario = load_scenario(example).with_value("hardware.kinds", kinds or "Large: 8 x h200-nvl-141gb")
    return scenario.with_value(f"groups.{group}.hosts", "Large")


def test_each_cluster_has_the_hosts_of_its_groups(catalog: Catalog) -> None:
    plan = make_plan(mixed(), catalog)
    for pool in plan.pools:
        large = {request.group for request in pool.requests} == {"researchers"}
        assert (pool.gpu == "h200-nvl-141gb") == large
        assert (pool.gpus_per_host == 8) == large
        assert all(room.gpus == pool.gpus_per_host for room in pool.rooms)
    assert [part.scenario.hardware.of for part in plan.by_kind] == ["", "Large"]
    assert {*plan.host_lines} == {"", "Large"}


def test_what_is_stated_comes_back_from_a_file(catalog: Catalog) -> None:
    scenario = mixed()
    again = parse_scenario(scenario.to_yaml())
    assert again.hardware == scenario.hardware
    assert make_plan(again, catalog).totals == make_plan(scenario, catalog).totals
    assert plan_dict(make_plan(scenario, catalog))["scenario"]["hardware"]["kinds"] == [
        {"name": "Large", "gpus_per_host": 8, "gpu": "h200-nvl-141gb"}
    ]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"groups.researchers.hosts": "Small"}, "groups.researchers.hosts"),
        ({"hardware.kinds": None}, "groups.researchers.hosts"),
        ({"hardware.kinds": "Large: 8 x h900"}, "hardware.kinds"),
        ({"hardware.kinds": "Large: 8 x h200-nvl-141gb in nobodys-server"}, "hardware.kinds"),
        ({"hardware.kinds": "Large: 2 x h200-nvl-141gb"}, "groups.researchers.gpus_each"),
        ({"hardware.kinds": "Large: 16 x h200-nvl-141gb in dell-c4140"}, "hardware.kinds"),
        ({"demand.stated_gpus": 20, "demand.rule": "stated"}, "demand.rule"),
    ],
)
def test_what_cannot_be_is_refused_at_its_input(catalog: Catalog, changes: dict[str, Any], path: str) -> None:
    scenario = mixed()
    for at, value in changes.items():
        scenario = scenario.with_value(at, value)
    with pytest.raises(ScenarioError) as refused:
        make_plan(scenario, catalog)
    assert path in {problem.path for problem in refused.value.problems}


def test_some_group_runs_on_the_first_kind(catalog: Catalog) -> None:
    scenario = mixed()
    groups = tuple(replace(group, hosts="Large") for group in scenario.groups)
    with pytest.raises(ScenarioError) as refused:
        make_plan(replace(scenario, groups=groups), catalog)
    assert [problem.path for problem in refused.value.problems] == ["hardware.kinds"]


def test_more_users_on_a_kind_take_no_host_of_another(catalog: Catalog) -> None:
    few = make_plan(mixed(), catalog)
    many = make_plan(mixed().with_value("groups.researchers.people", 30), catalog)
    hosts = [plan.hosts_by_pool() for plan in (few, many)]
    assert hosts[0]["vgpu"] == hosts[1]["vgpu"]
    (large,) = {*hosts[0]} - {"vgpu"}
    assert hosts[1][large] > hosts[0][large]


def test_a_design_derived_from_another_is_the_same_as_one_made_anew(catalog: Catalog) -> None:
    """Of the chapters that are taken over, those of the kinds are, too."""
    plan = make_plan(mixed(), catalog)
    for path, value, derived in (
        ("network.link_gbit_s", 25, lambda s: plan.relinked(s)),
        ("availability.host_failures", 2, lambda s: plan.tolerating(2)),
    ):
        scenario = plan.scenario.with_value(path, value)
        again, anew = derived(scenario), make_plan(scenario, catalog)
        assert again.totals == anew.totals
        assert again.costs and anew.costs and again.costs.cash == anew.costs.cash
        assert set(again.lines) == set(anew.lines)


CHANGES = {
    "network.link_gbit_s": 100,
    "cost.licence_term_years": 5,
    "cost.hardware_discount": 0.2,
    "cost.discount_rate": 0.1,
}
"""Inputs of network and money, with a value that none of the examples has."""


@pytest.mark.parametrize("path", CHANGES)
@pytest.mark.parametrize("example", ["starter", "enterprise", "current", "assistant", "mixed"])
def test_a_design_on_another_network_or_price_has_every_line_of_one_made_anew(
    catalog: Catalog, example: str, path: str
) -> None:
    plan = make_plan(
        mixed("starter", "developers") if example == "mixed" else load_scenario(example), catalog
    )
    scenario = plan.scenario.with_value(path, CHANGES[path])
    again, anew = plan.relinked(scenario), make_plan(scenario, catalog)
    assert {key: line.value for key, line in again.lines.items()} == {
        key: line.value for key, line in anew.lines.items()
    }


def test_owned_hosts_join_the_kind_with_their_board(catalog: Catalog) -> None:
    owned = "Old: 2 x 8 h200-nvl-141gb; Racks: 3 x 4"
    bought_all, some = (
        make_plan(scenario, catalog) for scenario in (mixed(), mixed().with_value("hardware.existing", owned))
    )
    there = {pool.kind: pool.existing_hosts for pool in some.pools}
    assert sorted(there.values()) == [2, 3]
    assert some.totals.hosts == bought_all.totals.hosts
    assert some.inventory and some.inventory.buy == some.totals.hosts - 5
    assert some.lines["inventory.hosts_to_buy"].value == some.inventory.buy


@pytest.mark.parametrize("rule", ["hours", "wait"])
def test_each_kind_is_sized_by_the_rule(catalog: Catalog, rule: str) -> None:
    scenario = mixed().with_value("demand.rule", rule)
    plan = make_plan(scenario, catalog, check=False)
    apart = [make_plan(part.scenario, catalog, check=False) for part in plan.by_kind]
    assert plan.totals.gpus == sum(part.totals.gpus for part in apart)
    assert plan.lines["demand.groups_gpus"].value == pytest.approx(
        sum(part.lines["demand.groups_gpus"].value for part in apart)
    )


def test_all_clusters_have_the_same_settings_of_vsphere(catalog: Catalog) -> None:
    """The kinds alone would take different ones; restarts and upgrades are tried with those of the whole."""
    scenario = load_scenario("assistant").with_value("hardware.gpu", "l40s-48gb")
    scenario = scenario.with_value("hardware.server", None)
    scenario = scenario.with_value("hardware.kinds", "Serving: 8 x h200-nvl-141gb")
    for id in ("assistant", "search", "tuning"):
        scenario = scenario.with_value(f"groups.{id}.hosts", "Serving")
    plan = make_plan(scenario, catalog)
    alone = [start for part in plan.parts for start in part.power_on.values()]
    assert len({start.scenario.platform.gpu_policy for start in alone}) == 2
    (policy,) = {start.scenario.platform.gpu_policy for start in plan.power_on.values()}
    assert plan.set_up.platform.gpu_policy == policy
    assert all(start.now.all_start for start in plan.power_on.values())
    assert {pool.id for pool in plan.pools} == {*plan.rehearsed}


def test_hosts_of_each_kind_have_the_ports_of_their_own_traffic(catalog: Catalog) -> None:
    """Remote GPUs on one kind take ports, cables and adapters of its hosts alone."""
    shared: dict[str, Any] = {
        "platform": {"vsphere": "7.0u3", "bitfusion": True},
        "network": {"link_gbit_s": 10},
    }
    remote = {"id": "a", "people": 200, "gpus_each": 0.25, "access": "bitfusion", "active_share": 1.0}
    local = {"id": "b", "people": 8, "gpus_each": 1, "access": "passthrough", "active_share": 1.0}
    one, two = {"gpu": "v100-pcie-32gb", "gpus_per_host": 8}, {"gpu": "a100-pcie-80gb", "gpus_per_host": 4}
    apart = [
        make_plan(from_dict(shared | {"groups": [group], "hardware": hardware}), catalog)
        for group, hardware in ((remote, one), (local, two))
    ]
    kinds = one | {"kinds": [{"name": "Other", **two}]}
    both = make_plan(
        from_dict(shared | {"groups": [remote, local | {"hosts": "Other"}], "hardware": kinds}), catalog
    )
    assert both.cabling and all(plan.cabling for plan in apart)
    ports = [plan.cabling.ports for plan in apart if plan.cabling]
    assert [both.cabling.ports_of(kind) for kind in ("", "Other")] == ports
    assert ports[0].total > ports[1].total and ports[0].adapters > ports[1].adapters
    for key in ("adapters", "host-cables"):
        assert sum(bought(both, key).values()) == sum(sum(bought(plan, key).values()) for plan in apart)
    alone = [plan.power.host_peak_w for plan in apart if plan.power]
    assert both.power and [kind.peak_w for kind in both.power.kinds.values()] == pytest.approx(alone)


def test_a_mixed_design_is_rented_at_the_prices_of_its_boards(catalog: Catalog) -> None:
    """The rent of each year is that of the two designs apart, for hours used and for all hours."""
    first = {"groups": [{"id": "a", "people": 20, "gpus_each": 1}], "hardware": {"gpu": "a100-pcie-80gb"}}
    kind = {"gpu": "h100-nvl-94gb", "gpus_per_host": 4}
    second = {"groups": [{"id": "b", "people": 9, "gpus_each": 1}], "hardware": kind}
    kinds = [kind | {"name": "Other"}]
    groups = [*first["groups"], *({**group, "hosts": "Other"} for group in second["groups"])]
    both = make_plan(from_dict({"groups": groups, "hardware": first["hardware"] | {"kinds": kinds}}), catalog)
    apart = [make_plan(from_dict(each), catalog) for each in (first, second)]
    for term in ("on-demand", "reserved-1-year"):
        rents = [rent_or_buy(plan, term) for plan in apart]
        mixed = rent_or_buy(both, term)
        assert mixed and mixed.row and all(rent and rent.row for rent in rents)
        if {rent.term for rent in rents if rent} == {mixed.term}:
            sums = [sum(year) for year in zip(*(rent.rent_cash for rent in rents if rent), strict=True)]
            assert mixed.rent_cash == pytest.approx(sums)
    stated = both.with_scenario(
        both.scenario.with_value("prices.rent/a100-pcie-80gb", 1.0).with_value(
            "prices.rent/h100-nvl-94gb", 1.0
        )
    )
    rent = rent_or_buy(stated)
    assert rent and rent.gpu_hour_price == pytest.approx(1.0)
