"""Many orders at once give what one order after another gives."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from power_on_cases import case

from gpuplan.models.placement import Request, Room
from gpuplan.models.power_on import Play, Rules, chance_interval, power_on_orders


@pytest.mark.parametrize("seed", range(60))
def test_many_orders_are_those_of_a_cluster_one_by_one(seed: int) -> None:
    requests, rooms, rules = case(random.Random(seed))
    kinds = [kind for kind, request in enumerate(requests) for _ in range(request.vms)]
    shuffle = random.Random(seed)
    orders = [shuffle.sample(kinds, len(kinds)) for _ in range(12)]
    missing = [
        Counter(step.kind for step in Play(requests, rooms, rules, order).steps if step.spot is None)
        for order in orders
    ]
    found = power_on_orders(requests, rooms=rooms, rules=rules, orders=orders)
    assert found.started == sum(not lost for lost in missing)
    assert dict(found.missing) == Counter(lost.total() for lost in missing)
    assert found.missing_by_kind == pytest.approx(
        [sum(lost[kind] for lost in missing) / 12 for kind in range(len(requests))]
    )


def test_what_was_met_before_changes_no_answer() -> None:
    """The table of hosts is kept: other VMs, other hosts and another choice of the host in between leave all as it was."""
    requests, rooms, rules = case(random.Random(7))
    first = power_on_orders(requests, rooms=rooms, rules=rules, orders=200)
    other = rules._replace(host="turn" if rules.host == "spread" else "spread")
    power_on_orders(requests, rooms=[*rooms, rooms[0]], rules=other, orders=200)
    power_on_orders(
        [request._replace(vms=request.vms + 2) for request in requests], rooms=rooms, rules=rules, orders=50
    )
    assert power_on_orders(requests, rooms=rooms, rules=rules, orders=200) == first


def test_without_hosts_no_vm_starts() -> None:
    found = power_on_orders([Request("a", 3, gpus=1)], rooms=[], rules=Rules(), orders=4)
    assert (found.started, found.missing, found.missing_by_kind) == (0, ((3, 4),), (3.0,))


def test_the_same_seed_gives_the_same_orders_whatever_is_done_at_once() -> None:
    requests = [Request("a", 6, gpus=1), Request("b", 3, gpus=2)]
    rooms, rules = [Room(4)] * 3, Rules()
    first = power_on_orders(requests, rooms=rooms, rules=rules, orders=3000, seed=5)
    done: list[int] = []
    again = power_on_orders(requests, rooms=rooms, rules=rules, orders=3000, seed=5, tick=done.append)
    assert again == first and done == [1024, 2048, 3000]
    assert power_on_orders(requests, rooms=rooms, rules=rules, orders=3000, seed=6) != first


def test_the_interval_holds_the_share_and_shrinks() -> None:
    for started, orders in ((0, 10), (10, 10), (970, 1000), (5, 7)):
        low, high = chance_interval(started, orders)
        assert 0 <= low <= started / orders <= high <= 1 and low < high
        wide, narrow = high - low, chance_interval(100 * started, 100 * orders)
        assert narrow[1] - narrow[0] < wide / 5
