"""Sums are of all fabrics; a ratio, a name and a sentence are of one of them."""

from __future__ import annotations

from gpuplan.models.network.fabric import LeafSpine, leaf_spine
from gpuplan.plan.switches import Fabric, Hosts, Switches, Totals


def shape_of(hosts: int) -> LeafSpine:
    return leaf_spine(
        hosts,
        ports_per_host=2,
        port_gbit_s=25,
        leaf_down_ports=48,
        leaf_up_ports=6,
        up_gbit_s=100,
        spine_ports=32,
        max_oversubscription=3,
    )


def switches_of(*hosts: tuple[str, int]) -> Switches:
    fabrics = tuple(Fabric(Hosts(site, many, 0), shape_of(many), 0) for site, many in hosts)
    return Switches("leaf", "Leaf", "spine", "Spine", 25, 100, fabrics, Totals(0, 0, 0, 0, 0))


def test_fabrics_that_are_alike_are_one_kind_with_all_their_sites() -> None:
    found = switches_of(("Berlin", 96), ("Austin", 8), ("Chicago", 96))
    large, small = found.kinds
    assert (large.fabric, large.fabrics) == (found.fabrics[0], 2) and large.name == found.name(1, 3)
    assert (small.fabric, small.fabrics) == (found.fabrics[1], 1) and small.name == found.name(2)
    assert "2" in small.name and "Austin" in small.name
    assert all(text in large.name for text in ("1, 3", "Berlin, Chicago"))


def test_the_busiest_is_the_one_with_the_highest_oversubscription() -> None:
    found = switches_of(("Austin", 8), ("Berlin", 96))
    assert found.busiest is found.fabrics[1] and found.busiest.shape.oversubscription == 3
    assert found.highest and not switches_of(("", 8)).highest


def test_the_words_of_a_fabric_are_its_own() -> None:
    found = switches_of(("Austin", 8), ("Berlin", 96))
    pair, spines = (found.words(fabric) for fabric in found.fabrics)
    assert pair.startswith("8 hosts") and "2 x 100" in pair
    assert spines.startswith("96 hosts") and "2 x 100" in spines and "3.00:1" in spines


def test_a_fabric_without_sites_is_its_number_and_the_only_one_has_no_name() -> None:
    assert switches_of(("", 8), ("", 9)).name(1).endswith("1")
    assert switches_of(("Austin", 8)).name(1) == ""
    assert switches_of(("", 8)).where == "" and switches_of(("", 8), ("", 9)).where
