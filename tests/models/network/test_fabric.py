"""Oversubscription, uplinks, leaves and spines by hand, by a published fabric and by brute force, and what failures leave."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction
from typing import Any

import pytest
from approved import is_approved
from hypothesis import given
from hypothesis import strategies as st
from random_cases import cases, often

from gpuplan.models.network.fabric import (
    MOST_PORTS,
    Leaf,
    LeafSpine,
    TooManyLeaves,
    bandwidth_left,
    host_ports,
    leaf_spine,
    oversubscription,
    pvrdma_ports,
    uplinks,
)

SPEEDS = (10, 25, 40, 50, 100, 200, 400)
RATIOS = (1, 1.1875, 1.2, 4 / 3, 1.5, 2, 2.5, 3, 10 / 3, 4, 6)


# ---- one leaf


def test_oversubscription_by_hand() -> None:
    assert oversubscription(48, 25, up_ports=4, up_gbit_s=100) == 3
    # 190 over 160 Gbit/s, which VMware prints as 1.2:1
    assert oversubscription(19, 10, up_ports=4, up_gbit_s=40) == 1.1875
    assert oversubscription(48, 25, up_ports=12, up_gbit_s=100) == 1
    assert oversubscription(8, 10, up_ports=4, up_gbit_s=100) == 0.2


@pytest.mark.parametrize(
    ("down", "speed", "up_speed", "ratio", "spines", "links"),
    [
        (48, 25, 100, 3, 2, 4),
        (48, 25, 100, 3, 4, 4),
        (48, 25, 100, 3, 3, 6),
        (48, 25, 100, 1, 2, 12),
        (49, 25, 100, 3, 1, 5),
        (49, 25, 100, 3, 2, 6),
        (19, 10, 40, 1.2, 2, 4),
        (19, 10, 40, 1.1875, 2, 4),
        (19, 10, 40, 1.18, 2, 6),
        (1, 10, 400, 3, 2, 2),
        (4, 25, 25, 4 / 3, 1, 3),  # 3 exactly, though 4/3 has no exact decimal
        (3, 0.1, 0.3, 1, 1, 1),
    ],
)
def test_uplinks_by_hand(
    down: int, speed: float, up_speed: float, ratio: float, spines: int, links: int
) -> None:
    assert uplinks(down, speed, up_gbit_s=up_speed, max_oversubscription=ratio, spines=spines) == links


@given(
    st.integers(1, 500),
    st.floats(1, 400),
    st.floats(1, 400),
    st.floats(0.5, 20),
    st.integers(1, 16),
)
def test_uplinks_are_the_fewest_within_the_bound(
    down: int, speed: float, up_speed: float, ratio: float, spines: int
) -> None:
    links = uplinks(down, speed, up_gbit_s=up_speed, max_oversubscription=ratio, spines=spines)
    assert links >= spines and links % spines == 0
    most = ratio * (1 + 1e-9)
    assert oversubscription(down, speed, up_ports=links, up_gbit_s=up_speed) <= most
    if links > spines:
        fewer = oversubscription(down, speed, up_ports=links - spines, up_gbit_s=up_speed)
        assert fewer > ratio * (1 - 1e-9)
    lower = uplinks(down, speed, up_gbit_s=up_speed, max_oversubscription=ratio / 1.5, spines=spines)
    assert lower >= links
    assert uplinks(down + 1, speed, up_gbit_s=up_speed, max_oversubscription=ratio, spines=spines) >= links


# ---- the fabric by hand

TYPICAL = {
    "ports_per_host": 2,
    "port_gbit_s": 25,
    "leaf_down_ports": 48,
    "leaf_up_ports": 6,
    "up_gbit_s": 100,
    "spine_ports": 32,
    "max_oversubscription": 3,
}
ALIKE = {
    "ports_per_host": 2,
    "port_gbit_s": 100,
    "leaf_ports": 32,
    "up_gbit_s": 100,
    "spine_ports": 32,
    "max_oversubscription": 1,
}


def test_one_pair_has_no_spine() -> None:
    assert leaf_spine(8, **TYPICAL) == LeafSpine(
        leaves=2,
        spines=0,
        hosts_per_pair=8,
        host_links_per_leaf=1,
        down_ports_used=8,
        uplinks_per_leaf=0,
        links_per_spine=0,
        spine_ports_used=0,
        oversubscription=1.0,  # 200 over 2 x 100
        oversubscription_after_spine=None,
        host_cables=16,
        uplink_cables=0,
        peer_cables=2,
    )
    one = leaf_spine(1, **TYPICAL)
    assert (one.leaves, one.spines, one.peer_cables, one.oversubscription) == (2, 0, 2, 0.125)
    full = leaf_spine(48, **TYPICAL)
    assert (full.leaves, full.spines, full.peer_cables, full.oversubscription) == (2, 0, 4, 3)


def test_the_next_host_brings_a_pair_and_spines() -> None:
    assert leaf_spine(49, **TYPICAL) == LeafSpine(
        leaves=4,
        spines=2,
        hosts_per_pair=25,  # 25 + 24, not 48 + 1
        host_links_per_leaf=1,
        down_ports_used=25,
        uplinks_per_leaf=4,  # 625 over 3 x 100 is 3, and 2 to each spine
        links_per_spine=2,
        spine_ports_used=8,
        oversubscription=1.5625,
        oversubscription_after_spine=3.125,
        host_cables=98,
        uplink_cables=16,
        peer_cables=0,
    )


def test_a_leaf_short_of_uplinks_takes_fewer_hosts() -> None:
    # at 1:1 six uplinks carry 24 ports of 25 Gbit/s
    built = leaf_spine(48, **TYPICAL | {"max_oversubscription": 1})
    assert (built.leaves, built.hosts_per_pair, built.uplinks_per_leaf) == (4, 24, 6)
    assert built.oversubscription == 1
    # and so within one pair
    assert leaf_spine(24, **TYPICAL | {"max_oversubscription": 1}).peer_cables == 6
    assert leaf_spine(25, **TYPICAL | {"max_oversubscription": 1}).leaves == 4


def test_a_spine_short_of_ports_gets_more_spines() -> None:
    # 10 leaves with 4 uplinks: two spines of 20 ports, or four of 10
    assert leaf_spine(240, **TYPICAL | {"spine_ports": 20}).spines == 2
    more = leaf_spine(240, **TYPICAL | {"spine_ports": 19})
    assert (more.leaves, more.spines, more.links_per_spine, more.spine_ports_used) == (10, 4, 1, 10)


def test_ports_that_are_all_alike() -> None:
    built = leaf_spine(64, **ALIKE)
    assert (built.leaves, built.spines, built.hosts_per_pair) == (8, 4, 16)
    assert (built.down_ports_used, built.uplinks_per_leaf, built.links_per_spine) == (16, 16, 4)
    assert built.spine_ports_used == 32 and built.oversubscription == 1
    assert built.oversubscription_after_spine == pytest.approx(4 / 3)
    at_three = leaf_spine(96, **ALIKE | {"max_oversubscription": 3})
    assert (at_three.leaves, at_three.spines, at_three.down_ports_used) == (8, 2, 24)
    assert (at_three.uplinks_per_leaf, at_three.oversubscription) == (8, 3)


def test_an_odd_port_goes_to_the_first_leaf() -> None:
    built = leaf_spine(16, **TYPICAL | {"ports_per_host": 3})
    assert (built.host_links_per_leaf, built.down_ports_used, built.host_cables) == (2, 32, 48)
    assert bandwidth_left(3, built.host_links_per_leaf) == pytest.approx(1 / 3)


def test_a_fabric_that_juniper_describes() -> None:
    # 8 spines and 32 leaves with 96 ports of 10 Gbit/s and 8 uplinks of 40 Gbit/s: 3072 ports
    built = leaf_spine(
        3072 // 2,
        ports_per_host=2,
        port_gbit_s=10,
        leaf_down_ports=96,
        leaf_up_ports=8,
        up_gbit_s=40,
        spine_ports=32,
        max_oversubscription=3,
    )
    assert (built.leaves, built.spines, built.uplinks_per_leaf) == (32, 8, 8)
    assert built.host_cables == 3072 and built.oversubscription == 3


def test_the_largest_folded_clos_of_equal_switches() -> None:
    # non-blocking two tiers of k-port switches connect k * k / 2 ports, with k leaves and k / 2 spines
    for k in (4, 8, 16, 32, 64):
        asked = ALIKE | {"leaf_ports": k, "spine_ports": k}
        built = leaf_spine(k * k // 4, **asked)
        assert (built.leaves, built.spines, built.host_cables) == (k, k // 2, k * k // 2)
        with pytest.raises(ValueError, match="third tier"):
            leaf_spine(k * k // 4 + 1, **asked)


# ---- the fabric against brute force, and over a sweep


def cheapest(hosts: int, asked: dict[str, Any]) -> int | None:
    """Fewest switches over every number of hosts on a pair and of spines, by trying all in fractions."""
    ratio = Fraction(asked["max_oversubscription"]).limit_denominator(100)
    spines, to_leaf = asked.get("spines", 2), -(-asked["ports_per_host"] // 2)
    found = []
    for on_pair in range(1, hosts + 1):
        pairs = -(-hosts // on_pair)
        down = on_pair * to_leaf
        if "leaf_ports" in asked:
            room = asked["leaf_ports"] - down
        else:
            room = asked["leaf_up_ports"] if down <= asked["leaf_down_ports"] else -1
        for up in range(1, room + 1):
            if Fraction(down * asked["port_gbit_s"], up * asked["up_gbit_s"]) > ratio:
                continue
            if pairs == 1 and up >= spines:
                found.append(2)
            found += [
                2 * pairs + count
                for count in range(spines, up + 1)
                if up % count == 0 and 2 * pairs * (up // count) <= asked["spine_ports"]
            ]
    return min(found, default=None)


def some(rng: random.Random, *, small: bool) -> dict[str, Any]:
    """A random choice of switches and hosts' ports."""
    ports = 12 if small else 130
    asked: dict[str, Any] = {
        "ports_per_host": rng.randint(2, 5),
        "port_gbit_s": rng.choice(SPEEDS),
        "up_gbit_s": rng.choice(SPEEDS),
        "spine_ports": rng.randint(1, 2 * ports),
        "max_oversubscription": rng.choice(RATIOS),
        "spines": rng.choice((1, 2, 2, 2, 3, 4)),
    }
    if rng.random() < 0.5:
        return asked | {"leaf_ports": rng.randint(2, 2 * ports)}
    return asked | {"leaf_down_ports": rng.randint(1, ports), "leaf_up_ports": rng.randint(1, ports)}


def built_or_none(hosts: int, asked: dict[str, Any]) -> LeafSpine | None:
    """The fabric, or None where none can be built."""
    try:
        return leaf_spine(hosts, **asked)
    except ValueError as error:
        assert "take a" in str(error), error
        return None


def switches(fabric: LeafSpine) -> int:
    return fabric.leaves + fabric.spines


def check(hosts: int, asked: dict[str, Any], built: LeafSpine) -> None:
    """What holds for every fabric."""
    pairs = built.leaves // 2
    assert built.leaves == 2 * pairs >= 2
    assert built.hosts_per_pair == math.ceil(hosts / pairs)
    assert built.host_links_per_leaf == math.ceil(asked["ports_per_host"] / 2)
    assert built.down_ports_used == built.hosts_per_pair * built.host_links_per_leaf
    up = built.uplinks_per_leaf or built.peer_cables
    if "leaf_ports" in asked:
        assert built.down_ports_used + up <= asked["leaf_ports"]
    else:
        assert built.down_ports_used <= asked["leaf_down_ports"] and up <= asked["leaf_up_ports"]
    # hosts in pairs of n and n - 1: every cable ends in a port
    smaller = pairs * built.hosts_per_pair - hosts
    assert 0 <= smaller < pairs
    on_pairs = [built.hosts_per_pair] * (pairs - smaller) + [built.hosts_per_pair - 1] * smaller
    assert sum(on_pairs) * asked["ports_per_host"] == hosts * asked["ports_per_host"] == built.host_cables
    least = asked.get("spines", 2)
    ratio = oversubscription(
        built.down_ports_used, asked["port_gbit_s"], up_ports=up, up_gbit_s=asked["up_gbit_s"]
    )
    assert built.oversubscription == ratio <= asked["max_oversubscription"] * (1 + 1e-9)
    if pairs == 1:
        assert built.spines == built.uplinks_per_leaf == built.links_per_spine == 0
        assert built.spine_ports_used == built.uplink_cables == 0
        assert built.peer_cables >= least
        assert built.oversubscription_after_spine is None
        return
    assert built.spines >= least and built.peer_cables == 0
    assert built.uplinks_per_leaf == built.spines * built.links_per_spine > 0
    assert built.spine_ports_used == built.leaves * built.links_per_spine <= asked["spine_ports"]
    assert (
        built.uplink_cables == built.spines * built.spine_ports_used == built.leaves * built.uplinks_per_leaf
    )
    if built.spines > 1:
        lost = built.oversubscription / bandwidth_left(built.spines)
        assert built.oversubscription_after_spine == pytest.approx(lost, rel=1e-12)
    else:
        assert built.oversubscription_after_spine is None


def test_no_choice_of_pairs_and_spines_has_fewer_switches() -> None:
    none = spined = 0
    for rng in cases(2, 2500, few=150):
        asked, hosts = some(rng, small=True), rng.randint(1, 40)
        built, fewest = built_or_none(hosts, asked), cheapest(hosts, asked)
        assert (built and switches(built)) == fewest, (hosts, asked)
        none += built is None
        spined += built is not None and built.spines > asked["spines"]
    assert often(none, 200) and often(2500 - none, 500) and often(spined, 50)  # the sweep saw every kind


def test_more_leaves_can_save_more_spines() -> None:
    beyond = []
    for rng in cases(4, 400, few=50):
        asked = {
            "ports_per_host": 2,
            "port_gbit_s": rng.choice((100, 200)),
            "up_gbit_s": 40,
            "leaf_down_ports": 60,
            "leaf_up_ports": rng.randint(20, 40),
            "spine_ports": rng.randint(16, 40),
            "max_oversubscription": rng.choice((1, 1.5, 2)),
        }
        hosts = rng.randint(20, 90)
        built = built_or_none(hosts, asked)
        assert (built and switches(built)) == cheapest(hosts, asked), (hosts, asked)
        if built:
            check(hosts, asked, built)
            bandwidth = asked["leaf_up_ports"] * 40 * asked["max_oversubscription"]
            fewest = math.ceil(hosts / (bandwidth // asked["port_gbit_s"]))
            beyond.append(built.leaves // 2 - fewest)
    # pairs beyond what full leaves would need
    assert min(beyond) >= 0 and often(max(beyond), 2) and often(beyond.count(0), 1)


def test_never_an_impossible_port_count_and_never_less_for_more() -> None:
    seen = {0: 0, 1: 0}
    for rng in cases(3, 3000, few=150):
        asked, hosts = some(rng, small=False), int(10 ** rng.uniform(0, 4))
        built = built_or_none(hosts, asked)
        tighter = built_or_none(hosts, asked | {"max_oversubscription": asked["max_oversubscription"] / 1.3})
        more = built_or_none(hosts + rng.randint(1, 20), asked)
        roomier = built_or_none(hosts, asked | {"spine_ports": asked["spine_ports"] + rng.randint(1, 20)})
        if built is None:
            assert tighter is None and more is None
            continue
        seen[int(built.spines > 0)] += 1
        check(hosts, asked, built)
        assert roomier is not None and switches(roomier) <= switches(built)
        for larger in (tighter, more):
            assert larger is None or switches(larger) >= switches(built)
            if larger and larger.spines == built.spines:
                assert larger.leaves >= built.leaves
                if larger.leaves == built.leaves:
                    assert larger.uplink_cables >= built.uplink_cables
    assert often(min(seen.values()), 100)


def test_more_hosts_never_have_fewer_leaves_on_usual_switches() -> None:
    for asked in (TYPICAL, ALIKE, ALIKE | {"max_oversubscription": 3}, TYPICAL | {"max_oversubscription": 1}):
        built = [found for hosts in range(1, 800) if (found := built_or_none(hosts, asked))]
        assert len(built) > 200
        for fewer, more in itertools.pairwise(built):
            assert more.leaves >= fewer.leaves and switches(more) >= switches(fewer)


def test_ten_thousand_hosts() -> None:
    built = leaf_spine(10_000, **TYPICAL | {"spine_ports": 512})
    check(10_000, TYPICAL | {"spine_ports": 512}, built)
    assert (built.leaves, built.spines, built.hosts_per_pair) == (418, 4, 48)
    with pytest.raises(ValueError, match="10000 hosts need 418 leaves, and with the 32 ports"):
        leaf_spine(10_000, **TYPICAL)
    widest = {"ports_per_host": 8, "port_gbit_s": 400, "up_gbit_s": 400, "max_oversubscription": 1}
    largest = widest | {"leaf_ports": MOST_PORTS, "spine_ports": MOST_PORTS}
    check(1_000_000, largest, leaf_spine(1_000_000, **largest))


# ---- bad input


@pytest.mark.parametrize(
    ("hosts", "changed", "message"),
    [
        (0, {}, "hosts is 0: must be a whole number from 1 to"),
        (1.5, {}, "hosts is 1.5"),
        (True, {}, "hosts is True"),
        (8, {"ports_per_host": 1}, "ports_per_host is 1: must be a whole number from 2"),
        (8, {"port_gbit_s": 0}, "port_gbit_s is 0: must be a number from 0.001"),
        (8, {"up_gbit_s": math.nan}, "up_gbit_s is nan: must be a number from"),
        (8, {"up_gbit_s": math.inf}, "up_gbit_s is inf"),
        (8, {"max_oversubscription": 0}, "max_oversubscription is 0"),
        (8, {"max_oversubscription": "3"}, "max_oversubscription is '3'"),
        (8, {"spine_ports": 0}, "spine_ports is 0"),
        (8, {"spines": 0}, "spines is 0"),
        (8, {"leaf_up_ports": 10**400}, "leaf_up_ports is 1000"),
        (8, {"leaf_ports": 32}, "leaf_ports 32: give both of the first, or leaf_ports alone"),
        (8, {"leaf_up_ports": None}, "leaf_up_ports None"),
        (8, {"leaf_down_ports": None, "leaf_up_ports": None}, "leaf_ports None"),
        (
            8,
            {"ports_per_host": 98},
            "needs 49 down and 5 up ports .* it has 48 and 6: take a leaf with more ports$",
        ),
        (8, {"spines": 7}, "at least one to each of 7 spines.*it has 48 and 6"),
        (8, {"port_gbit_s": 400, "up_gbit_s": 10}, "a leaf needs 1 down and 14 up ports .*faster uplinks"),
        (1000, {}, "1000 hosts need 42 leaves.*spine with more ports, a leaf with more ports .*third tier"),
        (760, {"max_oversubscription": 1.5}, "more ports, a higher max_oversubscription or a third tier"),
    ],
)
def test_bad_input_is_named(hosts: Any, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        leaf_spine(hosts, **TYPICAL | changed)


@pytest.mark.parametrize("changed", [{}, {"max_oversubscription": 1.5}, {"spine_ports": 9}])
def test_two_tiers_end_where_it_is_said(changed: dict[str, Any]) -> None:
    with pytest.raises(TooManyLeaves) as refused:
        leaf_spine(10_000, **TYPICAL | changed)
    most = refused.value.most_hosts
    assert f"end at {most} hosts" in str(refused.value)
    assert leaf_spine(most, **TYPICAL | changed).leaves <= (TYPICAL | changed)["spine_ports"]
    with pytest.raises(TooManyLeaves):
        leaf_spine(most + 1, **TYPICAL | changed)


def test_the_advice_helps() -> None:
    # 36 hosts a pair at 1.5:1, 48 at 2:1 and above
    with pytest.raises(
        ValueError, match=r"760 hosts need 44 leaves.* a higher max_oversubscription or a third"
    ):
        leaf_spine(760, **TYPICAL | {"max_oversubscription": 1.5})
    assert leaf_spine(760, **TYPICAL | {"max_oversubscription": 1.5, "spine_ports": 44}).leaves == 44
    assert leaf_spine(760, **TYPICAL | {"max_oversubscription": 2}).leaves == 32
    # all ports alike, and not the oversubscription but the spines take the ports
    few = ALIKE | {"leaf_ports": 6, "spine_ports": 4, "max_oversubscription": 5, "spines": 2}
    with pytest.raises(ValueError, match="a leaf with more ports for hosts or a third tier"):
        leaf_spine(100, **few)
    with pytest.raises(ValueError, match="a leaf with more ports for hosts or a third tier"):
        leaf_spine(100, **few | {"max_oversubscription": 1, "spines": 3})
    # uplinks and host ports run out together
    with pytest.raises(ValueError, match="a leaf with more ports for hosts or a third tier"):
        leaf_spine(1000, **TYPICAL | {"leaf_up_ports": 4})


# ---- ports of a host, and failures


@pytest.mark.parametrize(
    ("demand", "speed", "share", "minimum", "ports"),
    [
        (0, 10, 0.8, 2, 2),
        (16, 10, 0.8, 2, 2),
        (16.1, 10, 0.8, 2, 3),
        (45, 25, 0.8, 2, 3),
        (45, 25, 0.8, 4, 4),
        (100, 100, 1, 1, 1),
        (2.1, 1, 0.7, 1, 3),  # 2.1 / 0.7 is 3.0000000000000004 in floats
    ],
)
def test_host_ports_by_hand(demand: float, speed: float, share: float, minimum: int, ports: int) -> None:
    assert host_ports(demand, speed, usable_share=share, minimum=minimum) == ports


@pytest.mark.parametrize(
    ("demand", "speed", "share", "ports"),
    [(0, 100, 0.9, 1), (90, 100, 0.9, 1), (91, 100, 0.9, 2), (200, 100, 1, 2), (60, 25, 0.8, 3)],
)
def test_pvrdma_ports_by_hand(demand: float, speed: float, share: float, ports: int) -> None:
    assert pvrdma_ports(demand, speed, usable_share=share) == ports


@given(st.floats(0, 1e4), st.sampled_from(SPEEDS), st.floats(0.01, 1))
def test_ports_carry_the_demand_and_one_fewer_does_not(demand: float, speed: float, share: float) -> None:
    for ports, least in (
        (host_ports(demand, speed, usable_share=share), 2),
        (pvrdma_ports(demand, speed, usable_share=share), 1),
    ):
        assert ports * speed * share >= demand * (1 - 1e-9)
        assert ports == least or (ports - 1) * speed * share < demand * (1 + 1e-9)


@pytest.mark.parametrize("share", [0, -0.1, 1.01, math.nan, True])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="usable_share is"):
        host_ports(10, 10, usable_share=share)
    with pytest.raises(ValueError, match="usable_share is"):
        pvrdma_ports(10, 10, usable_share=share)


def test_a_demand_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^demand_gbit_s is -1: must be a number from 0"):
        host_ports(-1, 10, usable_share=0.8)
    with pytest.raises(ValueError, match=r"^rdma_demand_gbit_s is nan"):
        pvrdma_ports(math.nan, 10, usable_share=0.8)


def test_what_is_left_after_failures() -> None:
    assert bandwidth_left(2) == 0.5
    assert bandwidth_left(4, 0) == 1 and bandwidth_left(4, 4) == 0
    for ports in range(2, 12):
        assert bandwidth_left(ports) == (ports - 1) / ports
        # the leaf with the odd port: floor(n / 2) of n are left
        assert bandwidth_left(ports, math.ceil(ports / 2)) == ports // 2 / ports
    for links, lost in ((0, 0), (2, 3), (2, -1), (2, 0.5)):
        with pytest.raises(ValueError, match="must be a whole number"):
            bandwidth_left(links, lost)  # type: ignore[arg-type]


@given(st.integers(1, 200), st.integers(0, 200), st.integers(0, 200))
def test_losses_add_up(left: int, first: int, second: int) -> None:
    links = left + first + second
    at_once = bandwidth_left(links, first + second)
    in_turn = bandwidth_left(links, first) * bandwidth_left(links - first, second)
    assert at_once == pytest.approx(in_turn, rel=1e-12)


TWO_KINDS = Leaf(48, 6, links=1, port_gbit_s=25, up_gbit_s=100, max_oversubscription=3, spines=2)


def test_uplinks_of_hosts_on_a_pair() -> None:
    """48 ports of 25 Gbit/s at 3:1 are four uplinks of 100; a single host needs one, and one to each spine."""
    assert [TWO_KINDS.needed(hosts) for hosts in (48, 12, 1)] == [4, 1, 1]
    assert TWO_KINDS.at_least(1) == 2
    assert TWO_KINDS.oversubscription(48, 4) == 3
    assert TWO_KINDS.fullest() == 48


def test_a_leaf_whose_ports_are_all_alike_gives_hosts_what_uplinks_leave() -> None:
    alike = TWO_KINDS._replace(down_ports=32, up_ports=None, port_gbit_s=100, max_oversubscription=1)
    assert alike.free(16) == alike.needed(16) == 16
    assert alike.fullest() == 16


def test_what_would_let_one_host_more_in() -> None:
    assert is_approved(TWO_KINDS.wider(48))
    tight = TWO_KINDS._replace(max_oversubscription=1)
    assert is_approved(tight.wider(tight.fullest()))


def test_a_leaf_without_a_place_for_one_host_is_refused() -> None:
    with pytest.raises(ValueError, match="for one host a leaf needs 1 down and 2 up ports"):
        TWO_KINDS._replace(up_ports=1).fullest()
