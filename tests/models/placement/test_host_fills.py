"""Fills of one host that are worth much at given prices."""

from __future__ import annotations

import random

from brute_force import check_hosts, fits_on, limited, random_requests

from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_columns import _dearest
from gpuplan.models.placement.host_fills import Greedy, HostFills, _left
from gpuplan.models.placement.host_patterns import HostPatterns
from gpuplan.models.placement.layout import _laid
from gpuplan.models.placement.requests import Block, vms_in
from gpuplan.models.placement.shared_gpus import SharedGpus


def test_every_fill_stands_on_its_host_and_has_no_more_vms_than_there_are() -> None:
    rng = random.Random(41)
    for _ in range(60):
        room = Room(rng.randint(1, 4), rng.randint(8, 14), rng.choice([0, 12]))
        requests = limited(rng, random_requests(rng, 3, most=5, shares=2), Room(0, 8, 8))
        rules = Rules(requests)
        fills = HostFills(rules)
        host = fills.priced(room, [rng.random() for _ in requests], rules.vms)
        for content in (*fills.by_orders(host), *_dearest(HostPatterns(SharedGpus(rules), rules.vms), host)):
            counts = vms_in(content)
            kept = [r._replace(vms=counts[k]) for k, r in enumerate(requests)]
            assert all(kept[k].vms <= r.vms for k, r in enumerate(requests))
            check_hosts(_laid(rules, (Block(1, room, content),), rooms=[room]), [room], kept)
            assert fits_on(kept, [room])


def test_what_is_worth_most_for_what_it_takes_comes_first_and_the_programme_fills_the_rest() -> None:
    """Two VMs of 2 GPUs are worth 5.0 and waste a GPU of five; one of 3 beside one of 2 is worth 5.5."""
    rules = Rules([Request("three", 5, gpus=3), Request("two", 5, gpus=2)])
    fills = HostFills(rules)
    host = fills.priced(Room(5), [3.0, 2.5], [5, 5])
    assert vms_in(next(fills.by_orders(host))) == {1: 2}
    assert vms_in(next(_dearest(HostPatterns(SharedGpus(rules), (5, 5)), host))) == {0: 1, 1: 1}


def test_shares_worth_next_to_nothing_fill_no_gpu() -> None:
    """Prices that round to nothing: no shared GPU is worth having, and the choice by priority does not end in a traceback."""
    shared = Family("shared", capacity=1000)
    rules = Rules([Request("a", 3, family=shared, weight=400), Request("b", 2, gpus=1)])
    fills = HostFills(rules)
    host = fills.priced(Room(2), [0.00002, 1.0], [3, 2])
    assert [vms_in(content) for content in _dearest(HostPatterns(SharedGpus(rules), (3, 2)), host)] == [
        {1: 2}
    ]


def test_greedy_takes_extra_hosts_only_where_nothing_else_fits() -> None:
    rules = Rules([Request("a", 5, gpus=2), Request("b", 3, gpus=1)])
    small, large = Room(3), Room(4)
    blocks = Greedy(rules).placed((5, 3), {small: 2}, large, [0, 1], None)
    # two on the small ones, three on new ones; then the free GPUs: two on the small ones, two on a new one
    a, b = ((0, 0),), ((1, 0),)
    assert blocks == (
        Block(2, small, ((-1, a), (-1, b))),
        Block(1, large, ((-1, a), (-1, ((0, 1),)))),
        Block(1, large, ((-1, a), (-1, b))),
    )
    assert Greedy(rules).placed((5, 3), {small: 2}, None, [0, 1], None) is None


def test_what_is_left_of_a_host_is_of_one_resource_or_of_the_scarcest() -> None:
    state, room = (2, 8, 96, ()), Room(4, 32, 128)
    assert [_left(state, room, by) for by in range(4)] == [2 / 4, 8 / 32, 96 / 128, 8 / 32]
    # no limit is never the scarcest
    assert [_left((3, -1, 64, ()), Room(4, 0, 128), by) for by in range(4)] == [3 / 4, 1, 1 / 2, 1 / 2]
