"""Requests and hosts, counted: what is on a host, and which host offers as much as another."""

from __future__ import annotations

from gpuplan.models.placement.requests import Block, Part, Room, vms_in


def test_a_host_offers_as_much_with_at_least_as_much_of_everything() -> None:
    assert Room(4, 32, 256).offers_as_much(Room(4, 32, 128))
    assert not Room(4, 16, 256).offers_as_much(Room(4, 32, 128))
    assert Room(4).offers_as_much(Room(2, 32, 128)), "0 is not limited"
    assert not Room(4, 32, 128).offers_as_much(Room(4)), "and no limit is more than any"


def test_parts_that_join_a_host_hold_vms_of_their_own() -> None:
    block = Block(2, Room(4), (Part(-1, ((0, 0),)),))
    joined = block.joined([(-1, [0]), (1, [2, 2])])
    assert joined == Block(2, Room(4), (*block.content, Part(-1, ((0, 1),)), Part(1, ((2, 0), (2, 1)))))
    assert vms_in(joined.content) == {0: 2, 2: 2}
