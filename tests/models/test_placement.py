"""Placement: against a brute force written here, proofs, conservation, and what a failure does."""

from __future__ import annotations

import itertools
import random
import tracemalloc
from collections import Counter
from collections.abc import Collection, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models import placement
from gpuplan.models.placement import (
    Host,
    Load,
    Outcome,
    Request,
    Slot,
    after_failure,
    count_hosts,
    pack,
    place,
)

# A brute force that shares no idea with the code: items are put one by one wherever they fit.
# A host is (free GPUs, (class, room left) of each shared GPU).

Item = tuple[int, str, int, int]
"""(whole GPUs, share class, weight, capacity)"""

State = tuple[tuple[int, tuple[tuple[str, int], ...]], ...]


def fits_on(items: Sequence[Item], hosts: int, gpus: int) -> bool:
    """Whether all items fit on so many hosts, every way being tried."""
    seen: set[tuple[int, State]] = set()

    def put(at: int, state: State) -> bool:
        if at == len(items):
            return True
        if (at, state) in seen:
            return False
        seen.add((at, state))
        whole, share, weight, capacity = items[at]
        for i, (free, open_gpus) in enumerate(state):
            choices = []
            if whole:
                if free >= whole:
                    choices.append((free - whole, open_gpus))
            else:
                for j, (name, room) in enumerate(open_gpus):
                    if name == share and room >= weight:
                        rest = (*open_gpus[:j], (name, room - weight), *open_gpus[j + 1 :])
                        choices.append((free, tuple(sorted(rest))))
                if free:
                    choices.append((free - 1, tuple(sorted((*open_gpus, (share, capacity - weight))))))
            for choice in choices:
                if put(at + 1, tuple(sorted((*state[:i], choice, *state[i + 1 :])))):
                    return True
        return False

    return put(0, ((gpus, ()),) * hosts)


def fewest_hosts(items: Sequence[Item], gpus: int) -> int:
    return next(n for n in itertools.count() if fits_on(items, n, gpus))


def items_of(requests: Sequence[Request]) -> list[Item]:
    items = [(r.gpus, r.share_class, r.weight, r.capacity) for r in requests for _ in range(r.vms)]
    return sorted(items, reverse=True)


def random_requests(rng: random.Random, gpus: int, most: int = 7) -> list[Request]:
    """A few VMs: whole GPUs, two profiles, and memory shares."""
    requests: list[Request] = []
    left = rng.randint(1, most)
    while left > 0:
        vms = rng.randint(1, left)
        left -= vms
        name = f"g{len(requests)}"
        kind = rng.random()
        if kind < 0.5:
            requests.append(Request(name, vms, gpus=rng.randint(1, gpus)))
        elif kind < 0.75:
            capacity = rng.choice([2, 3])
            requests.append(
                Request(name, vms, share_class=f"profile-{capacity}", weight=1, capacity=capacity)
            )
        else:
            requests.append(Request(name, vms, share_class="memory", weight=rng.randint(1, 10), capacity=10))
    return requests


def check_hosts(hosts: Sequence[Host], gpus: int) -> None:
    """No GPU and no host is over its capacity, one class to a GPU, all GPUs of a VM in one host."""
    for host in hosts:
        assert sum(load.gpus for load in host) <= gpus
        for load in host:
            assert load.slots
            if load.share_class:
                assert load.gpus == 1
                assert 0 < sum(slot.weight for slot in load.slots) <= load.capacity
            else:
                assert len(load.slots) == 1


def vms_in(hosts: Sequence[Host]) -> Counter[tuple[str, int]]:
    return Counter((slot.group, slot.vm) for host in hosts for load in host for slot in load.slots)


def vms_asked(requests: Sequence[Request]) -> Counter[tuple[str, int]]:
    return Counter((r.group, vm) for r in requests for vm in range(1, r.vms + 1))


# ---- pack


def bins_by_brute_force(sizes: Sequence[int], capacity: int) -> int:
    return fewest_hosts([(size, "", 0, 0) for size in sorted(sizes, reverse=True)], capacity)


def test_pack_is_optimal_on_thousands_of_small_cases() -> None:
    rng = random.Random(20200501)
    methods: Counter[str] = Counter()
    for _ in range(3000):
        capacity = rng.randint(1, 20)
        sizes = [rng.randint(1, capacity) for _ in range(rng.randint(0, 8))]
        packing = pack(Counter(sizes), capacity=capacity)
        best = bins_by_brute_force(sizes, capacity)
        assert packing.bound <= best <= packing.bins, (sizes, capacity)
        if packing.method != "heuristic":
            assert packing.bins == packing.bound == best, (sizes, capacity)
        methods[packing.method] += 1
        used = [size for pattern, times in packing.patterns for _ in range(times) for size in pattern]
        assert Counter(used) == Counter(sizes)
        assert all(sum(pattern) <= capacity and times > 0 for pattern, times in packing.patterns)
        assert sum(times for _, times in packing.patterns) == packing.bins
    assert methods["heuristic"] == 0
    assert methods["volume"] > 500
    assert methods["large"] > 200


def test_where_first_fit_decreasing_is_not_optimal_the_programme_is() -> None:
    # into two bins of 10: 5+3+2 and 4+4+2; first-fit decreasing makes three: 5+4, 4+3+2, 2
    packing = pack({5: 1, 4: 2, 3: 1, 2: 2}, capacity=10)
    assert (packing.bins, packing.bound, packing.method) == (2, 2, "programme")
    # thirteen of each: 13 x 20 = 260 in 26 full bins
    packing = pack({5: 13, 4: 26, 3: 13, 2: 26}, capacity=10)
    assert (packing.bins, packing.bound) == (26, 26)


def test_pack_hand_values() -> None:
    assert pack({}, capacity=4).bins == 0
    assert pack({3: 8}, capacity=4)[1:] == (8, 8, "large")  # no two 3s in one host of 4
    assert pack({4: 3, 1: 16}, capacity=4)[1:] == (7, 7, "volume")  # 28 GPUs / 4
    assert pack({1: 0}, capacity=4).bins == 0


@pytest.mark.parametrize("sizes", [{5: 1}, {0: 1}, {-1: 2}])
def test_pack_refuses_what_cannot_fit(sizes: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="from 1 to the capacity 4"):
        pack(sizes, capacity=4)


def test_without_the_programme_the_answer_is_called_a_heuristic(monkeypatch: pytest.MonkeyPatch) -> None:
    placement._pack.cache_clear()
    monkeypatch.setattr(placement, "MAX_PATTERNS", 0)
    packing = pack({5: 1, 4: 2, 3: 1, 2: 2}, capacity=10)
    assert (packing.bins, packing.bound, packing.method) == (3, 2, "heuristic")
    placement._pack.cache_clear()


def test_many_sizes_end_and_are_bounded() -> None:
    # 40 different small sizes beside twenty that leave room for nearly all of them: 2**40 ways, few of them full
    sizes = {11_468: 20} | {240 + i: 1 for i in range(40)}
    packing = pack(sizes, capacity=32_768)
    assert packing.bins == packing.bound == 10  # two of 0.35 to a GPU
    many = dict.fromkeys(range(1000, 3000), 1)  # more sizes than a recursion could follow
    packing = pack(many, capacity=9000)
    assert packing.bound <= packing.bins <= 1.05 * packing.bound
    rng = random.Random(7)
    for _ in range(20):
        mix = {rng.randint(300, 20_000): rng.randint(1, 30) for _ in range(rng.randint(2, 60))}
        packing = pack(mix, capacity=32_768)
        assert packing.bound <= packing.bins <= packing.bound * 1.25 + 1
        used = Counter(s for pattern, times in packing.patterns for _ in range(times) for s in pattern)
        assert used == Counter(mix)


@given(st.dictionaries(st.integers(1, 8), st.integers(0, 30), max_size=5), st.integers(1, 8))
def test_more_sizes_never_need_fewer_bins(sizes: dict[int, int], extra: int) -> None:
    more = {**sizes, extra: sizes.get(extra, 0) + 1}
    assert pack(sizes, capacity=8).bins <= pack(more, capacity=8).bins <= pack(sizes, capacity=8).bins + 1


def test_all_maximal_patterns_are_found_once() -> None:
    rng = random.Random(3)
    for _ in range(300):
        capacity = rng.randint(4, 30)
        sizes = sorted(rng.sample(range(1, capacity + 1), rng.randint(1, min(4, capacity))), reverse=True)
        counts = [rng.randint(1, 4) for _ in sizes]
        every = {
            amounts
            for amounts in itertools.product(*(range(n + 1) for n in counts))
            if (room := capacity - sum(a * s for a, s in zip(amounts, sizes, strict=True))) >= 0
            and all(a == n or s > room for a, n, s in zip(amounts, counts, sizes, strict=True))
        }
        found = placement._maximal_patterns(tuple(sizes), tuple(counts), capacity)
        assert found is not None
        assert len(found) == len(set(found))
        assert set(found) == every


# ---- place


def test_place_is_optimal_on_thousands_of_small_cases() -> None:
    rng = random.Random(9)
    for _ in range(3000):
        gpus = rng.randint(1, 8)
        requests = random_requests(rng, gpus)
        placed = place(requests, gpus_per_host=gpus)
        check_hosts(placed.hosts, gpus)
        assert vms_in(placed.hosts) == vms_asked(requests)
        assert placed.gpus_occupied == sum(load.gpus for host in placed.hosts for load in host)
        best = fewest_hosts(items_of(requests), gpus)
        assert placed.bound <= best <= len(placed.hosts), requests
        assert placed.method != "heuristic"
        assert len(placed.hosts) == placed.bound == best, requests
        for _, used, least, method in placed.shared:
            assert used == least or method == "heuristic"


def test_eight_requests_of_three_on_hosts_of_four() -> None:
    placed = place([Request("research", 8, gpus=3)], gpus_per_host=4)
    assert len(placed.hosts) == placed.bound == 8  # 24 GPUs would be six hosts by division
    assert count_hosts(24, gpus_per_host=4) == 6
    # with one spare host, 9: any of the eight can fail, and its VM restarts on the spare one
    hosts = (*placed.hosts, ())
    for failed in range(9):
        assert not after_failure(hosts, failed={failed}, gpus_per_host=4).unplaced
    # with eight, none can
    assert all(
        after_failure(placed.hosts, failed={n}, gpus_per_host=4).unplaced for n in range(len(placed.hosts))
    )


def test_the_worked_designs() -> None:
    starter = [
        Request("scientists", 10, gpus=1),
        Request("developers", 16, share_class="memory", weight=8192, capacity=32_768),
    ]
    assert len(place(starter, gpus_per_host=2).hosts) == 7  # 10 + 16/4 = 14 GPUs, 2 per host
    enterprise = [
        Request("researchers", 3, gpus=4),
        Request("scientists", 16, share_class="memory", weight=16_384, capacity=32_768),
        Request("hpc", 2, gpus=1),
        Request("developers", 16, share_class="memory", weight=4096, capacity=32_768),
        Request("distributed", 4, gpus=1),
    ]
    assert len(place(enterprise, gpus_per_host=4).hosts) == 7  # 12 + 8 + 2 + 2 + 4 = 28


def test_profiles_that_cannot_share_a_gpu_take_more_than_their_sum() -> None:
    # a half and a quarter of a GPU are 3/4 of one, but two profiles need two
    requests = [
        Request("a", 1, share_class="16C", weight=1, capacity=2),
        Request("b", 1, share_class="8C", weight=1, capacity=4),
    ]
    assert place(requests, gpus_per_host=1).gpus_occupied == 2


def test_a_group_stays_together() -> None:
    placed = place([Request("a", 4, gpus=1), Request("b", 4, gpus=1)], gpus_per_host=4)
    assert [{slot.group for load in host for slot in load.slots} for host in placed.hosts] == [{"a"}, {"b"}]


def test_too_large_a_vm_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity 4"):
        place([Request("a", 1, gpus=5)], gpus_per_host=4)


def test_nothing_asked() -> None:
    placed = place([], gpus_per_host=4)
    assert (placed.hosts, placed.bound, placed.gpus_occupied) == ((), 0, 0)
    assert place([Request("a", 0, gpus=4)], gpus_per_host=4).hosts == ()


def test_a_gap_in_the_shared_gpus_that_does_not_reach_the_hosts_is_no_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # without the programme: 3 GPUs found, 2 proven for the shares; on hosts of 4 it is one host either way
    placement._pack.cache_clear()
    monkeypatch.setattr(placement, "MAX_PATTERNS", 0)
    shares = [
        Request(f"g{w}", n, share_class="memory", weight=w, capacity=10)
        for w, n in {5: 1, 4: 2, 3: 1, 2: 2}.items()
    ]
    one = place(shares, gpus_per_host=4)
    assert one.shared == (("memory", 3, 2, "heuristic"),)
    assert (len(one.hosts), one.bound, one.method) == (1, 1, "volume")
    # with two GPUs per host it is two hosts, and one is all that is proven
    two = place(shares, gpus_per_host=2)
    assert (len(two.hosts), two.bound, two.method) == (2, 1, "heuristic")
    placement._pack.cache_clear()


def test_thousands_of_hosts_finish_and_conserve() -> None:
    requests = [
        Request("quads", 2000, gpus=4),
        Request("triples", 1500, gpus=3),
        Request("pairs", 1700, gpus=2),
        Request("singles", 3001, gpus=1),
        Request("halves", 5001, share_class="24C", weight=1, capacity=2),
        Request("eighths", 7003, share_class="6C", weight=1, capacity=8),
        Request("thirds", 4000, share_class="memory", weight=16_384, capacity=49_152),
        Request("bits", 9000, share_class="memory", weight=5000, capacity=49_152),
    ]
    tracemalloc.start()
    placed = place(requests, gpus_per_host=4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 500_000_000
    check_hosts(placed.hosts, 4)
    assert vms_in(placed.hosts) == vms_asked(requests)
    assert placed.bound <= len(placed.hosts) <= placed.bound + 2
    assert len(placed.hosts) > 5000
    outcome = after_failure((*placed.hosts, ()), failed={17}, gpus_per_host=4)
    assert not outcome.unplaced


# ---- count_hosts


def test_count_hosts() -> None:
    assert count_hosts(28, gpus_per_host=4) == count_hosts(14, gpus_per_host=2) == 7
    assert count_hosts(0, gpus_per_host=4) == 0
    assert count_hosts(28.001, gpus_per_host=4) == 8
    assert count_hosts(0.1 * 3 + 3.7, gpus_per_host=4) == 1  # 4.000000000000001 in floats


def test_division_never_asks_for_more_than_placement() -> None:
    rng = random.Random(5)
    for _ in range(300):
        gpus = rng.randint(1, 8)
        requests = random_requests(rng, gpus)
        whole = sum(r.gpus * r.vms + (r.vms * r.weight / r.capacity if r.capacity else 0) for r in requests)
        assert count_hosts(whole, gpus_per_host=gpus) <= len(place(requests, gpus_per_host=gpus).hosts)


# ---- directions


def test_more_demand_never_needs_fewer_hosts_and_larger_hosts_never_more() -> None:
    rng = random.Random(11)
    for _ in range(400):
        gpus = rng.randint(2, 8)
        requests = random_requests(rng, gpus, most=20)
        at = rng.randrange(len(requests))
        more = [r._replace(vms=r.vms + (i == at)) for i, r in enumerate(requests)]
        hosts = len(place(requests, gpus_per_host=gpus).hosts)
        assert hosts <= len(place(more, gpus_per_host=gpus).hosts)
        assert len(place(requests, gpus_per_host=gpus + 1).hosts) <= hosts


# ---- after a failure


def check_outcome(hosts: Sequence[Host], failed: Collection[int], gpus: int, outcome: Outcome) -> None:
    """Every VM is kept, restarted, moved or unplaced, exactly once, and what is said of it is so."""
    check_hosts(outcome.hosts, gpus)
    assert len(outcome.hosts) == len(hosts)
    assert all(not outcome.hosts[i] for i in failed)
    before = {(s.group, s.vm): i for i, host in enumerate(hosts) for load in host for s in load.slots}
    after = {(s.group, s.vm): i for i, host in enumerate(outcome.hosts) for load in host for s in load.slots}
    assert max(vms_in(outcome.hosts).values(), default=1) == 1
    assert set(after) | set(outcome.unplaced) == set(before)
    assert not set(after) & set(outcome.unplaced)
    assert len(set(outcome.unplaced)) == len(outcome.unplaced)
    restarted = {(group, vm): to for group, vm, to in outcome.restarted}
    moved = {(group, vm): (start, to) for group, vm, start, to in outcome.moved}
    assert (len(restarted), len(moved)) == (len(outcome.restarted), len(outcome.moved))
    for vm, start in before.items():
        if start in failed:
            assert vm not in moved
            assert restarted.get(vm) == after.get(vm)
        else:
            assert vm not in restarted
            assert vm in after  # nobody on a healthy host loses the GPU
            assert moved.get(vm) == (None if after[vm] == start else (start, after[vm]))
    # the VM that comes back asks for what it asked for before
    kinds = [
        Counter(
            (slot, load.share_class, load.capacity, load.gpus)
            for host in side
            for load in host
            for slot in load.slots
        )
        for side in (hosts, outcome.hosts)
    ]
    assert kinds[1] <= kinds[0]


def test_any_tolerated_set_of_failures_is_survived() -> None:
    rng = random.Random(2026)
    tried = 0
    for _ in range(400):
        gpus, spare = rng.randint(1, 5), rng.randint(1, 2)
        requests = random_requests(rng, gpus)
        hosts = (*place(requests, gpus_per_host=gpus).hosts, *[()] * spare)
        for size in range(spare + 1):
            for failed in itertools.combinations(range(len(hosts)), size):
                outcome = after_failure(hosts, failed=failed, gpus_per_host=gpus)
                check_outcome(hosts, failed, gpus, outcome)
                assert not outcome.unplaced
                tried += 1
    assert tried > 3000


def test_too_many_failures_are_told_as_they_are() -> None:
    rng = random.Random(4)
    lost = 0
    for _ in range(400):
        gpus = rng.randint(1, 5)
        requests = random_requests(rng, gpus)
        hosts = place(requests, gpus_per_host=gpus).hosts
        for size in range(1, len(hosts) + 1):
            for failed in itertools.combinations(range(len(hosts)), size):
                outcome = after_failure(hosts, failed=failed, gpus_per_host=gpus)
                check_outcome(hosts, failed, gpus, outcome)
                assert outcome.unplaced  # the hosts are the fewest that hold everything
                lost += 1
    assert lost > 500


def scattered(
    rng: random.Random, requests: Sequence[Request], hosts: int, gpus: int
) -> tuple[Host, ...] | None:
    """The VMs of a placement thrown on hosts at random; None if they do not land."""
    loads = [load for host in place(requests, gpus_per_host=gpus).hosts for load in host]
    rng.shuffle(loads)
    filled: list[list[Load]] = [[] for _ in range(hosts)]
    for load in loads:
        room = [host for host in filled if sum(ld.gpus for ld in host) + load.gpus <= gpus]
        if not room:
            return None
        rng.choice(room).append(load)
    return tuple(tuple(host) for host in filled)


def test_where_restarting_does_not_do_others_move() -> None:
    rng = random.Random(8)
    moved = 0
    for _ in range(1500):
        gpus = rng.randint(2, 5)
        requests = random_requests(rng, gpus)
        hosts = scattered(rng, requests, len(place(requests, gpus_per_host=gpus).hosts) + 1, gpus)
        if hosts is None:
            continue
        for failed in range(len(hosts)):
            outcome = after_failure(hosts, failed={failed}, gpus_per_host=gpus)
            check_outcome(hosts, {failed}, gpus, outcome)
            assert not outcome.unplaced  # one host may be lost, wherever the VMs are
            moved += bool(outcome.moved)
    assert moved > 20


def test_only_those_who_must_move() -> None:
    # two hosts of 4 with two 1-GPU VMs each, and a 4-GPU VM on a third that fails: one host is emptied
    one = [Load(1, (Slot("small", vm, 0),)) for vm in range(1, 5)]
    hosts = ((one[0], one[1]), (one[2], one[3]), (Load(4, (Slot("big", 1, 0),)),))
    outcome = after_failure(hosts, failed={2}, gpus_per_host=4)
    check_outcome(hosts, {2}, 4, outcome)
    assert [vm for *vm, _, _ in outcome.moved] in ([["small", 1], ["small", 2]], [["small", 3], ["small", 4]])
    assert len(outcome.restarted) == 1


def test_vms_keep_their_numbers_when_some_are_missing() -> None:
    # VMs 7 and 9 only, as after an earlier change
    hosts = (
        (Load(2, (Slot("a", 7, 0),)),),
        (Load(2, (Slot("a", 9, 0),)), Load(1, (Slot("b", 3, 0),))),
        (Load(1, (Slot("b", 5, 0),)), Load(1, (Slot("b", 6, 0),))),
    )
    for failed in range(3):
        outcome = after_failure(hosts, failed={failed}, gpus_per_host=3)
        check_outcome(hosts, {failed}, 3, outcome)


def test_no_failure_changes_nothing() -> None:
    hosts = place([Request("a", 3, gpus=2)], gpus_per_host=4).hosts
    assert after_failure(hosts, failed=(), gpus_per_host=4) == Outcome(hosts, (), (), ())


def test_a_restart_takes_the_fullest_host_it_fits_on() -> None:
    one = [Load(1, (Slot("a", vm, 0),)) for vm in range(1, 5)]
    hosts = ((one[0],), (one[1], one[2]), (), (one[3],))
    # host 1 (from 0) has one GPU free of three, hosts 0 and 2 more
    assert after_failure(hosts, failed={3}, gpus_per_host=3).restarted == (("a", 4, 1),)


def test_all_hosts_lost() -> None:
    hosts = place([Request("a", 3, gpus=2)], gpus_per_host=4).hosts
    outcome = after_failure(hosts, failed=range(len(hosts)), gpus_per_host=4)
    assert len(outcome.unplaced) == 3
    assert all(not host for host in outcome.hosts)
