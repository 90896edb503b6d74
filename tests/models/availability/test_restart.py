"""Recovery: hosts filled alike, where a restart puts a VM, and what is decided when it does not do."""

from __future__ import annotations

from collections import Counter

import pytest
from brute_force import FAMILIES, random_requests
from random_cases import cases

from gpuplan.models.availability.failover import after_failure
from gpuplan.models.availability.restart import Cluster, Pool
from gpuplan.models.placement import Load, Request, Room, Slot, place

# ---- a restart


def test_a_restart_takes_the_fullest_host_it_fits_on() -> None:
    one = [Load(1, (Slot("a", vm),)) for vm in range(1, 5)]
    hosts = ((one[0],), (one[1], one[2]), (), (one[3],))
    outcome = after_failure(hosts, requests=[Request("a", 4, gpus=1)], rooms=[Room(3)] * 4, failed={3})
    # host 1 (from 0) has one GPU free of three, hosts 0 and 2 more
    assert outcome.restarted == (("a", 4, 1),)


def test_a_restart_takes_free_shares_before_free_gpus() -> None:
    half = FAMILIES["half"]
    one = [Load(1, (Slot("a", vm, "half"),), half) for vm in range(1, 4)]
    hosts = ((), (one[0],), (one[1],), (one[2],))
    requests = [Request("a", 3, family=half, profile="half")]
    outcome = after_failure(hosts, requests=requests, rooms=[Room(1)] * 4, failed={3})
    assert outcome.restarted == (("a", 3, 1),)


def test_a_vm_of_nobody_is_refused() -> None:
    hosts = ((Load(1, (Slot("a", 1),)),),)
    with pytest.raises(ValueError, match="a is on a host, but there is no request of it"):
        after_failure(hosts, requests=[Request("b", 1, gpus=1)], rooms=[Room(1)], failed={0})


def test_hosts_that_are_gone_are_not_chosen() -> None:
    cluster = Cluster([Request("a", 3, gpus=1)], [Room(2)] * 2)
    empty = cluster.rules.state(Room(2))
    pool = Pool(cluster.rules, {empty: 2})
    assert [choice and choice.at for choice in pool.restart([0, 0, 0], {empty: 1})] == [-1, 0, None]
    assert [choice and choice.at for choice in pool.restart([0, 0, 0], {})] == [-1, 0, -1]
    assert pool.restart([0], {empty: 2}) == [None]


# ---- hosts filled alike


def test_hosts_are_alike_whatever_the_order_of_their_loads() -> None:
    half = FAMILIES["half"]
    requests = [Request("a", 2, gpus=2), Request("b", 3, family=half, profile="half")]
    a = [Load(2, (Slot("a", vm),)) for vm in (1, 2)]
    b = [Load(1, (Slot("b", vm, "half"),), half) for vm in (1, 2, 3)]
    layout = ((a[0], b[0]), (), (b[1], a[1]), (b[2],))
    classes = Cluster(requests, [Room(4)] * 4).read(layout)
    assert [(one.vms, one.hosts) for one in classes] == [((1, 1), [0, 2]), ((0, 0), [1]), ((0, 1), [3])]
    differ = Cluster(requests, [Room(4), Room(4), Room(8), Room(4)]).read(layout)
    assert [one.hosts for one in differ] == [[0], [1], [2], [3]]


def test_what_is_read_is_all_there_is() -> None:
    for rng in cases(71, 200, few=50):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus, most=12, shares=rng.choice([1, 3]))
        layout = list(place(requests, gpus_per_host=gpus).hosts)
        rng.shuffle(layout)
        classes = Cluster(requests, [Room(gpus)] * len(layout)).read(layout)
        assert sorted(at for one in classes for at in one.hosts) == list(range(len(layout)))
        total = [sum(one.vms[k] * len(one.hosts) for one in classes) for k in range(len(requests))]
        assert total == [r.vms for r in requests]
        assert [one.hosts[0] for one in classes] == sorted(one.hosts[0] for one in classes)


# ---- everything placed again


def test_all_are_placed_again_if_they_fit_else_as_many_as_possible_else_nobody() -> None:
    # small VMs of one GPU run on hosts of 4, big VMs of three were lost
    cluster = Cluster([Request("small", 4, gpus=1), Request("big", 2, gpus=3)], [Room(4)] * 4)
    for hosts, placed in ((3, (4, 2)), (2, (4, 1)), (1, None)):
        decided = cluster.decide((4, 0), (0, 2), (0, 0), Counter({Room(4): hosts}))
        assert (decided and decided[0]) == placed
        assert decided is None or sum(block.times for block in decided[1]) <= hosts


def test_blocks_are_laid_where_most_of_the_same_is() -> None:
    cluster = Cluster([Request("a", 4, gpus=1), Request("b", 4, gpus=1)], [Room(4)] * 3)
    room = Room(4)
    blocks = cluster.equal.solve((4, 4), 4).blocks  # all a on one host, all b on the other
    hosts = {(room, (3, 0)): 1, (room, (1, 3)): 1, (room, (0, 1)): 1}
    laid = cluster.match(hosts, blocks)
    assert laid == [((room, (1, 3)), 1, 1, 3), ((room, (3, 0)), 0, 1, 3)] or laid == [
        ((room, (3, 0)), 0, 1, 3),
        ((room, (1, 3)), 1, 1, 3),
    ]


@pytest.mark.parametrize(
    ("vcpus", "memory", "taken"), [(16, 64, True), (15, 64, False), (16, 63, False), (0, 0, True)]
)
def test_an_empty_host_takes_over_what_just_fills_it(vcpus: int, memory: int, taken: bool) -> None:
    """Two VMs of 8 vCPUs and 32 GiB take all of 16 and 64; where nothing is stated, nothing binds."""
    requests = [Request("a", 2, gpus=1, vcpus=8, memory_gib=32)]
    lost, room = Room(4, 32, 128), Room(2, vcpus, memory)
    cluster = Cluster(requests, [lost, room])
    layout = (tuple(Load(1, (Slot("a", vm),)) for vm in (1, 2)), ())
    content = next(one.content for one in cluster.read(layout) if one.content)
    assert cluster.taken_over([(lost, content)], {room: 1}) == ([room] if taken else None)
