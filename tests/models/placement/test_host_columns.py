"""Hosts of several kinds filled by column generation."""

from __future__ import annotations

import random

from brute_force import check_hosts, vms_in

from gpuplan.models.placement import Family, Request, Room, place_mixed
from gpuplan.models.placement.fit import Rules
from gpuplan.models.placement.host_columns import UNPLACED, HostColumns, Place, _placed_vms, _trimmed
from gpuplan.models.placement.requests import Block, Part


def test_new_hosts_come_only_where_those_that_are_there_do_not_do() -> None:
    rules = Rules([Request("three", 4, gpus=3, vcpus=8), Request("one", 4, gpus=1, vcpus=8)])
    places = [Place(Room(4, 16), 2), Place(Room(8, 64), None)]
    blocks = HostColumns(rules, places, (UNPLACED,) * 2).solved(rules.vms)
    assert _placed_vms(blocks, 2) == [4, 4]
    assert sum(block.times for block in blocks if block.room == Room(8, 64)) == 1
    assert sum(block.times for block in blocks if block.room == Room(4, 16)) <= 2


def test_a_fill_gives_up_what_is_not_asked_for_any_more() -> None:
    content = (Part(-1, ((0, 0),)), Part(0, ((1, 0), (1, 1))), Part(-1, ((0, 1),)))
    assert _trimmed(content, (1, 1)) == (Part(-1, ((0, 0),)), Part(0, ((1, 0),)))
    assert _placed_vms((Block(2, Room(4), content),), 2) == [4, 4]


def test_fewer_new_hosts_beside_several_kinds_than_by_orders_alone() -> None:
    rng, shared = random.Random(35), Family("shared", capacity=1000)
    asked = [
        Request(f"g{at}", rng.randint(10, 40), gpus=1, vcpus=rng.choice([3, 8, 11, 18]), memory_gib=32)
        for at in range(10)
    ] + [
        Request(f"s{at}", 40, family=shared, weight=rng.choice([230, 320, 470, 810]), vcpus=4, memory_gib=16)
        for at in range(8)
    ]
    there = [Room(8, 96, 384)] * 20 + [Room(2, 104, 512)] * 20 + [Room(2, 16, 128)] * 20
    new = Room(8, 112, 448)
    placed = place_mixed(asked, room=new, existing=there)
    rooms = [*there, *[new] * (len(placed.hosts) - len(there))]
    check_hosts(placed.hosts, rooms, asked)
    assert len(vms_in(placed.hosts)) == sum(r.vms for r in asked)
    assert len(placed.hosts) - placed.bound <= 1


def test_vms_without_a_gpu_are_packed_beside_the_others() -> None:
    asked = [Request("gpu", 4, gpus=1, vcpus=16), Request("bare", 4, vcpus=16)]
    placed = place_mixed(asked, room=Room(4, 64))
    check_hosts(placed.hosts, [Room(4, 64)] * 2, asked)
    assert (len(placed.hosts), placed.bound, placed.gpus_occupied) == (2, 2, 4)
