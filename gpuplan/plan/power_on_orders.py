"""Orders of power-on, tried at random: in how many of them every VM starts, and how many hosts that takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gpuplan.models import power_on
from gpuplan.models.placement import Request, Room
from gpuplan.models.placement.fit import Rules as Fits
from gpuplan.plan.power_on_rules import Reading, alike
from gpuplan.plan.requests import remembered

ORDERS = 100
"""Orders that a plan tries under each reading, and fewer where there are more than two."""
WORK = 4_500_000
"""Orders x VMs x hosts that it tries at most under all readings together: some 100 ms."""
STEP, PLACES = 2000, 200
"""As many hosts is a VM worth by itself, and a VM of an order where it matters where shares begin on a GPU."""
SIZING_ORDERS, SIZING_WORK = 200, 8_000_000
"""The same under each reading where hosts are sized for orders."""
FEWEST = 10
"""Fewer orders say too little: then none is tried."""


class Enough(NamedTuple):
    """What orders of power-on must do on the hosts for the demand."""

    readings: tuple[Reading, ...]
    share: float
    """Of the orders, at least so many start every VM."""
    most: int
    """Hosts that a cluster may have for the demand."""


def largest_first(asked: Sequence[Request]) -> list[int]:
    """Kinds of VMs, those with most GPUs' worth first, then by vCPUs and memory."""
    worth = Fits(asked).worth
    return sorted(range(len(asked)), key=lambda k: (-worth[k], -asked[k].vcpus, -asked[k].memory_gib))


def orders_of(readings: int) -> int:
    """How many orders a plan tries under each of so many readings."""
    return ORDERS if readings <= 2 else max(FEWEST, 2 * ORDERS // readings)


def orders_within(
    asked: Sequence[Request], hosts: int, readings: Sequence[Reading], clusters: int = 1
) -> int:
    """How many orders a plan of so many clusters tries under each reading; 0 where one is too large, 1 where all orders are the same."""
    if alike(asked):
        return 1
    vms = sum(request.vms for request in asked) * len(readings) * clusters
    places = any(way.pieces for reading in readings for _, way in reading.rules.ways)
    most = (WORK // vms - STEP) // (hosts + PLACES * places)
    return min(orders_of(len(readings)), most) if most >= FEWEST else 0


@remembered
def tried(
    asked: tuple[Request, ...],
    rooms: tuple[Room, ...],
    rules: power_on.Rules,
    orders: int | tuple[tuple[int, ...], ...],
) -> power_on.Orders:
    """``power_on_orders``, remembered: chapters, checks and decisions ask for the same ones."""
    return power_on.power_on_orders(asked, rooms=rooms, rules=rules, orders=orders)


def sizing_orders(asked: Sequence[Request], hosts: int) -> int:
    """The same where hosts are sized for orders."""
    if alike(asked):
        return 1
    most = (SIZING_WORK // sum(request.vms for request in asked) - STEP) // max(1, hosts)
    return min(SIZING_ORDERS, most) if most >= FEWEST else 0


def reached(asked: tuple[Request, ...], rooms: tuple[Room, ...], enough: Enough, orders: int) -> bool:
    """Whether the share of so many orders starts every VM on these hosts, under every reading."""
    found = (tried(asked, rooms, reading.rules, orders) for reading in enough.readings)
    return all(each.started >= enough.share * each.orders for each in found)


def least(do: Callable[[int], bool], below: int, most: int) -> int:
    """The least number above ``below`` with which something is done, by doubling and halving; ``most`` where it may be with none."""
    low, high = below, min(most, below + 1)
    while high < most and not do(high):
        low, high = high, min(most, 2 * high - below)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if do(middle) else (middle, high)
    return high


@remembered
def more_hosts(
    asked: tuple[Request, ...], rooms: tuple[Room, ...], room: Room, enough: Enough
) -> tuple[int, bool]:
    """New hosts beside those of the best arrangement on which the share of orders starts every VM under every reading, and whether it does.

    Looked for by doubling and halving. As many as the cluster may have where no number does; none where a design is too large to be tried.
    """
    vms = sum(request.vms for request in asked)
    if not sizing_orders(asked, len(rooms)):
        return 0, False

    def do(more: int) -> bool:
        return reached(asked, (*rooms, *[room] * more), enough, sizing_orders(asked, len(rooms)))

    alone = vms - sum(there == room for there in rooms)  # each VM on a host of its own
    most = max(0, min(alone, enough.most - len(rooms)))
    high = least(do, -1, most)
    return high, high < most or do(high)
