"""Every host is in one rack and on one pair of leaves of its site, and a pair is in two racks where there are two."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict

import pytest
from random_cases import cases
from site_designs import larger, two_sites

from gpuplan import Plan, load_scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.racks import Rack, host_name, leaf_names, racks, switch_names, worst_loss
from gpuplan.scenario import from_dict


def test_racks_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Eight hosts, five to a rack, a leaf in each."""
    first, second = racks(plans["enterprise"])
    assert first.leaves == ("leaf-01a",) and second.leaves == ("leaf-01b",)
    assert [place.name for place in first.hosts] == ["vgpu-01", "vgpu-02", "vgpu-03", "vgpu-04", "vgpu-05"]
    assert [place.number for place in second.hosts] == [6, 7, 8]
    assert {place.pair for rack in (first, second) for place in rack.hosts} == {1}


def test_names_have_as_many_digits_as_the_last_needs(plans: dict[str, Plan]) -> None:
    (pool,) = plans["enterprise"].pools
    assert host_name(pool, 3) == "vgpu-03"
    assert leaf_names(3, 8) == ("leaf-03a", "leaf-03b")
    assert leaf_names(3, 120) == ("leaf-003a", "leaf-003b")


def test_no_rack_where_a_host_is_more_than_one_carries(plans: dict[str, Plan]) -> None:
    assert racks(plans["enterprise"].but(power=None)) == ()


def test_every_host_is_in_one_rack_and_on_one_pair_of_leaves(
    plans: dict[str, Plan], catalog: Catalog
) -> None:
    large = make_plan(larger(load_scenario("current"), 60), catalog)
    for plan in (*plans.values(), large):
        assert_placed(plan)


def test_hosts_and_their_leaves_are_at_their_site(catalog: Catalog) -> None:
    """People by chance at two sites, in clusters of one or of two access modes, few or many to a rack."""
    kinds = set()
    for rng in cases(6, 120, few=12):
        berlin, austin = rng.randint(1, 250), rng.randint(1, 250)
        sections = {
            "network": {"link_gbit_s": rng.choice([25, 100]), "other_gbit_s": rng.choice([10, 150])},
            "cost": {"rack_kw": rng.choice([3, 8, 20])},
        }
        data = two_sites(berlin, austin, **sections).to_dict()
        if rng.random() < 0.5:
            shared = [
                group | {"id": f"{group['id']}-shared", "access": "vgpu", "gpus_each": 0.5}
                for group in data["groups"]
            ]
            data["groups"] += shared
        plan = make_plan(from_dict(data), catalog)
        assert_placed(plan)
        kinds.add(len(plan.pools))
    assert len(kinds) > 1


def assert_placed(plan: Plan) -> None:
    """Hosts, leaves, fabrics and sites agree with what the plan counts."""
    found = racks(plan)
    assert plan.power is not None and plan.cabling is not None and plan.cabling.switches is not None
    switches = plan.cabling.switches
    assert len(found) == plan.power.racks
    places = [place for rack in found for place in rack.hosts]
    assert len({place.name for place in places}) == len(places) == plan.totals.hosts
    assert max(len(rack.hosts) for rack in found) <= plan.power.hosts_per_rack
    leaves = [leaf for rack in found for leaf in rack.leaves]
    assert len(leaves) == len(set(leaves)) == switches.total.leaves
    assert {rack.site for rack in found if rack.leaves} == {rack.site for rack in found}
    sites = {pool.id: pool.site for pool in plan.pools}
    assert all(sites[place.pool] == rack.site for rack in found for place in rack.hosts)
    assert Counter(place.fabric for place in places) == {
        number: fabric.hosts.gpu_hosts for number, fabric in enumerate(switches.fabrics, 1)
    }
    for place in places:
        assert switches.fabrics[place.fabric - 1].hosts.site == sites[place.pool]
    for pair, hosts in Counter((place.fabric, place.pair) for place in places).items():
        assert hosts <= switches.fabrics[pair[0] - 1].shape.hosts_per_pair
    assert_pairs_apart(found)


def assert_pairs_apart(found: tuple[Rack, ...]) -> None:
    """The leaves of a pair are in two racks with hosts of its fabric, the first where its hosts are."""
    of_fabric, of_pair = defaultdict(set), defaultdict(set)
    for rack in found:
        for place in rack.hosts:
            of_fabric[place.fabric].add(rack.number)
            of_pair[place.fabric, place.pair].add(rack.number)
    where = {leaf: rack.number for rack in found for leaf in rack.leaves}
    for (fabric, pair), numbers in of_pair.items():
        twins = [number for leaf, number in where.items() if int(leaf[5:-1]) == pair]
        assert len(twins) == 2 and {*twins} <= of_fabric[fabric]
        assert min(numbers) in twins
        assert (twins[0] != twins[1]) is (len(of_fabric[fabric]) > 1)


@pytest.mark.parametrize("people", [4, 40, 400])
def test_two_sites_have_racks_and_leaves_of_their_own(catalog: Catalog, people: int) -> None:
    found = racks(make_plan(two_sites(36, people), catalog))
    assert [rack.site for rack in found] == sorted((rack.site for rack in found), reverse=True)
    assert {rack.site for rack in found if rack.leaves} == {"Berlin", "Austin"}


def test_the_worst_rack_of_the_enterprise_example_by_hand(plans: dict[str, Plan]) -> None:
    """Five of eight hosts with four GPUs each."""
    found = worst_loss(plans["enterprise"])
    assert found is not None
    assert (found.rack.number, found.pool.id, found.hosts, found.gpus) == (1, "vgpu", 5, 20)
    kept = {slot for host in found.pool.placement[5:] for load in host for slot in load.slots}
    every = {slot for host in found.pool.placement for load in host for slot in load.slots}
    assert found.vms == len({(slot.group, slot.vm) for slot in every - kept})


def test_racks_of_one_host_lose_no_more_than_the_spare_one(plans: dict[str, Plan], catalog: Catalog) -> None:
    narrow = plans["enterprise"].scenario.with_value("cost.rack_kw", 2)
    assert worst_loss(make_plan(narrow, catalog)) is None


def test_both_leaves_stand_in_the_only_rack(plans: dict[str, Plan], catalog: Catalog) -> None:
    found = worst_loss(make_plan(plans["enterprise"].scenario.with_value("cost.rack_kw", 60), catalog))
    assert found is not None and found.hosts == found.pool.hosts and found.rack.both_leaves
    first = worst_loss(plans["enterprise"])
    assert first is not None and not first.rack.both_leaves


def test_no_rack_carries_more_than_it_may_with_owned_hosts_that_draw_more(catalog: Catalog) -> None:
    """Three owned hosts of eight H100, 12.5 kW each, beside new ones of two L4: a rack is planned for the largest of its hosts."""
    hardware = {"gpu": "l4-24gb", "gpus_per_host": 2, "existing": "3 x 8 h100-sxm5-80gb"}
    groups = [{"id": "a", "people": 40, "access": "passthrough"}]
    for limit, per_rack in ((10, 0), (20, 1), (30, 2), (40, 3)):
        data = {"groups": groups, "hardware": hardware, "cost": {"rack_kw": limit}}
        plan = make_plan(from_dict(data), catalog)
        assert plan.power is not None and max(plan.power.host_peaks_w["passthrough"]) == 12_500
        assert plan.power.hosts_per_rack == per_rack
        assert all(rack.peak_w <= 1000 * limit for rack in racks(plan))
        drawn = sum(rack.peak_w for rack in racks(plan))
        assert not per_rack or drawn == pytest.approx(plan.power.parts[0].peak_w)


def test_devices_of_a_rack_by_hand(plans: dict[str, Plan]) -> None:
    """Enterprise: hosts of 1 U from the bottom, a leaf of 1 U at the top of 42 U, 5 x 1.6 kW of 8."""
    first, second = racks(plans["enterprise"])
    assert [(device.name, device.units) for device in first.devices][:2] == [
        ("leaf-01a", "U42"),
        ("vgpu-01", "U1"),
    ]
    assert (first.name, first.free_u, second.free_u) == ("rack-01", 42 - 1 - 5, 42 - 1 - 3)
    assert first.peak_w <= first.limit_w == 8000


def test_devices_never_stand_in_each_other_and_spines_are_spread(catalog: Catalog) -> None:
    """People by chance at two sites; the names of switches are those of the fabrics, each once."""
    spined = 0
    for rng in cases(64, 60, few=12):
        sections = {
            "network": {"link_gbit_s": rng.choice([25, 100]), "other_gbit_s": rng.choice([10, 150])},
            "cost": {"rack_kw": rng.choice([3, 8, 20, 40])},
        }
        plan = make_plan(two_sites(rng.randint(1, 420), rng.randint(1, 250), **sections), catalog)
        found = racks(plan)
        assert plan.cabling is not None and plan.cabling.switches is not None
        for rack in found:
            tops = sorted((device.bottom_u, device.bottom_u + device.height_u) for device in rack.devices)
            assert tops[0][0] >= 0 and tops[-1][1] <= rack.units
            assert all(below[1] <= above[0] for below, above in itertools.pairwise(tops))
        for names in switch_names(plan.cabling.switches):
            where = [rack.number for rack in found for spine in rack.spines if spine in names.spines]
            assert len(where) == len(names.spines)
            spined += len({*where}) > 1
    assert spined


def test_a_fabric_of_compute_hosts_alone_has_no_spine_in_a_rack_of_gpu_hosts(catalog: Catalog) -> None:
    data = {
        "platform": {"drs_consolidation": False},
        "network": {"link_gbit_s": 10, "transport": "pvrdma", "compute_hosts": 1535},
        "hardware": {"gpu": "p4-8gb", "gpus_per_host": 4},
        "groups": [{"id": "a", "people": 1, "gpus_each": 1}],
    }
    plan = make_plan(from_dict(data), catalog)
    assert plan.cabling is not None and plan.cabling.switches is not None
    assert len(plan.cabling.switches.fabrics) > 1
    assert {rack.number for rack in racks(plan)} == {1} and all(rack.hosts for rack in racks(plan))
