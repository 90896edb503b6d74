"""Greedy: extra hosts only where nothing else fits, and what is left of a host."""

from __future__ import annotations

from gpuplan.models.placement import Request, Room
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.greedy import Greedy, _left
from gpuplan.models.placement.requests import Block


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
