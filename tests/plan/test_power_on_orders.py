"""Orders that a plan tries: how many, what they give by hand, and the hosts that they take."""

from __future__ import annotations

import random

import pytest

from gpuplan.models import power_on
from gpuplan.models.placement import Request, Room
from gpuplan.plan import power_on_orders as module
from gpuplan.plan.power_on_orders import Enough, more_hosts, orders_within, reached, sizing_orders, tried
from gpuplan.plan.power_on_rules import Reading

READING = Reading("host-spread", "host with most headroom", power_on.Rules(), ("gpuplan-method",))
ONES_AND_TWO = (Request("a", 2, gpus=1), Request("b", 1, gpus=2))
"""On two hosts of two GPUs one order of three starts not all: both small ones first, each on a host of its own."""


def enough(share: float, most: int = 64) -> Enough:
    return Enough((READING,), share, most)


def test_two_of_three_orders_start_all() -> None:
    found = tried(ONES_AND_TWO, (Room(2),) * 2, power_on.Rules(), 200)
    low, high = power_on.chance_interval(found.started, found.orders)
    assert low < 2 / 3 < high


@pytest.mark.parametrize(("share", "more"), [(0.5, 0), (0.99, 1), (1.0, 1)])
def test_a_host_more_has_room_for_the_large_one(share: float, more: int) -> None:
    assert more_hosts(ONES_AND_TWO, (Room(2),) * 2, Room(2), enough(share)) == (more, True)


def test_a_cluster_is_never_larger_than_it_may_be() -> None:
    asked = (Request("a", 30, gpus=1), Request("b", 2, gpus=4))
    rooms, room = (Room(4),) * 10, Room(4)
    more, found = more_hosts(asked, rooms, room, enough(1.0))
    assert more > 5 and found
    assert more_hosts(asked, rooms, room, enough(1.0, most=12)) == (2, False)
    assert not reached(asked, (*rooms, room, room), enough(1.0), sizing_orders(asked, 10))


def test_more_orders_that_start_never_take_fewer_hosts() -> None:
    draw = random.Random(3)
    for _ in range(15):
        gpus = draw.choice((2, 4))
        kinds = [(draw.randint(1, 6), draw.randint(1, gpus)) for _ in range(draw.randint(2, 3))]
        asked = tuple(Request(f"g{at}", vms, gpus=each) for at, (vms, each) in enumerate(kinds))
        rooms = (Room(gpus),) * -(-sum(vms * each for vms, each in kinds) // gpus)
        found = [more_hosts(asked, rooms, Room(gpus), enough(share))[0] for share in (0.5, 0.8, 0.95, 1.0)]
        assert found == sorted(found)
        for share, more in zip((0.5, 0.8, 0.95, 1.0), found, strict=True):
            there = (*rooms, *[Room(gpus)] * more)
            assert reached(asked, there, enough(share), sizing_orders(asked, len(rooms)))


def test_orders_are_as_many_as_can_be_tried() -> None:
    two = (READING, READING)
    assert orders_within((Request("a", 40, gpus=1),), 64, two) == 1, "all orders are the same"
    assert orders_within(ONES_AND_TWO, 2, two) == module.ORDERS
    assert orders_within(ONES_AND_TWO, 2, two * 4) == module.ORDERS // 4
    large = (Request("a", 400, gpus=1), Request("b", 40, gpus=2))
    assert module.FEWEST <= orders_within(large, 40, two) < module.ORDERS
    assert orders_within(large, 40, two, 4) == orders_within(large, 400, two) == 0
    huge = (Request("a", 9000, gpus=1), Request("b", 3000, gpus=2))
    assert more_hosts(huge, (Room(8),) * 2000, Room(8), enough(1.0)) == (0, False)
