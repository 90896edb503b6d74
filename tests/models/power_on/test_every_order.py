"""Small clusters of which every order of power-on is tried: the exact chance, and what the best order reaches beside the proof."""

from __future__ import annotations

import csv
import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from naive_power_on import Naive
from power_on_cases import SIZES, odd_case

from gpuplan.models.gpu_layouts import Piece, gpu_layouts
from gpuplan.models.placement import Family, Request, Room, place, place_most
from gpuplan.models.power_on import Cluster, Gpus, Play, Rules, Way, chance_interval, power_on_orders
from gpuplan.models.power_on.gpu_states import NEUTRAL

DATA = Path(__file__).parents[3] / "data"


def small(most: int) -> Iterator[tuple[int, list[Request], list[Room], Rules]]:
    """Random clusters with few orders of power-on that differ, but more than one."""
    seed = 0
    while True:
        seed += 1
        requests, rooms, rules = odd_case(random.Random(seed))
        orders = math.factorial(sum(request.vms for request in requests))
        for request in requests:
            orders //= math.factorial(request.vms)
        if 1 < orders <= most:
            yield seed, requests, rooms, rules


def every_order(naive: Naive, left: list[int]) -> Iterator[tuple[tuple[int, ...], Counter[int]]]:
    """(order of kinds, VMs of each that do not start) for every order that differs, by the naive simulator."""
    if not any(left):
        yield (), Counter()
    for kind, vms in enumerate(left):
        if not vms:
            continue
        last, spot = naive.last, naive.start(kind, vms)
        left[kind] -= 1
        for order, missing in every_order(naive, left):
            yield (kind, *order), missing + Counter({kind: 1} if spot is None else {})
        left[kind] += 1
        if spot is not None:
            naive.stop(kind, vms)
        naive.last = last


def order_matters(one: tuple[int, list[Request], list[Room], Rules]) -> bool:
    _, requests, rooms, rules = one
    return 0 < power_on_orders(requests, rooms=rooms, rules=rules, orders=60).started < 60


def test_the_chance_is_exact_over_every_order_and_close_over_random_ones() -> None:
    """Orders of kinds that differ are equally likely, as each is met by as many orders of VMs."""
    for seed, requests, rooms, rules in itertools.islice(filter(order_matters, small(60)), 24):
        known = dict(every_order(Naive(requests, rooms, rules), [request.vms for request in requests]))
        found = power_on_orders(requests, rooms=rooms, rules=rules, orders=list(known))
        assert found.orders == len(known)
        assert found.started == sum(not missing for missing in known.values()), seed
        assert Counter(dict(found.missing)) == Counter(missing.total() for missing in known.values())
        assert found.missing_by_kind == pytest.approx(
            [sum(missing[kind] for missing in known.values()) / len(known) for kind in range(len(requests))]
        )
        worth = Gpus(requests, rules).fits.worth
        lost = {order: sum(worth[k] * n for k, n in missing.items()) for order, missing in known.items()}
        assert lost[found.worst] == max(lost.values()) if found.worst else not any(lost.values())
        idle = sum(room.gpus for room in rooms) - sum(worth[k] * r.vms for k, r in enumerate(requests))
        stuck = [float(idle + lost[order]) for order, missing in known.items() if missing]
        assert found.stranded_gpus == pytest.approx(sum(stuck) / len(stuck) if stuck else 0)

        tries, chance = 1500, found.started / len(known)
        tried = power_on_orders(requests, rooms=rooms, rules=rules, orders=tries, seed=seed)
        assert abs(tried.started / tries - chance) <= 4 * math.sqrt(chance * (1 - chance) / tries), seed
        low, high = chance_interval(tried.started, tries)
        assert low - 0.03 <= chance <= high + 0.03
        assert 0 < chance < 1


def most_worth(requests: Sequence[Request], rooms: Sequence[Room], rules: Rules) -> float:
    """GPUs' worth of the VMs that run after the best of all orders; states that are met again are not tried again."""
    seen, best = set(), 0.0
    waiting = [(Cluster(requests, rooms, rules), tuple(request.vms for request in requests), 0.0)]
    while waiting:
        cluster, left, worth = waiting.pop()
        best = max(best, worth)
        for kind, vms in enumerate(left):
            if vms:
                after = cluster.copy()
                ran = after.start(kind, vms) is not None
                fewer = (*left[:kind], vms - 1, *left[kind + 1 :])
                turn = after.last if rules.host == "turn" else 0
                key = (
                    tuple(after.states),
                    *after.vcpus,
                    *after.memory_gib,
                    *after.vms,
                    turn,
                    fewer,
                )
                if key not in seen:
                    seen.add(key)
                    waiting.append((after, fewer, worth + ran * float(cluster.gpus.fits.worth[kind])))
    return best


POLICIES = list(itertools.product(("spread", "turn"), ("fewest", "fullest"), ("lowest", "open")))


def test_no_order_places_more_than_the_proof_and_the_best_one_as_much_whatever_the_policy() -> None:
    """Without conditions of NVLink, which the proof does not know. No cluster was found of which that is not true of each policy."""
    cases, scarce, seen = small(100), 0, 0
    while seen < 20:
        _, requests, rooms, rules = next(cases)
        proof = place_most(requests, rooms=rooms)
        if proof.gpus != proof.bound or not all(request.gpus or request.family for request in requests):
            continue
        every = power_on_orders(requests, rooms=rooms, rules=rules, orders=200)
        asked = float(
            sum(r.vms * worth for r, worth in zip(requests, Gpus(requests, rules).fits.worth, strict=True))
        )
        assert every.started == 0 or proof.gpus == pytest.approx(asked)
        host, gpu, start = POLICIES[seen % len(POLICIES)]
        ways = tuple((name, way._replace(gpu=gpu, start=start)) for name, way in rules.ways)
        assert most_worth(requests, rooms, Rules(host, ways=ways)) == pytest.approx(proof.gpus)
        assert most_worth(requests, rooms, rules) <= proof.gpus + 1e-9
        seen, scarce = seen + 1, scarce + (proof.gpus < asked - 1e-9)
    assert scarce >= 4


@pytest.mark.parametrize("rules", [Rules(partitions=True), Rules(domain=4)], ids=["NVSwitch", "bridges"])
def test_nvlink_may_hold_less_than_the_proof_says_in_every_order(rules: Rules) -> None:
    """3 + 3 + 2 GPUs are 8; but a partition of 3 is one of 4, and two domains of 4 with 3 taken have no pair left."""
    requests = [Request("three", 2, gpus=3), Request("two", 1, gpus=2)]
    assert len(place(requests, gpus_per_host=8).hosts) == 1
    assert most_worth(requests, [Room(8)], Rules()) == 8
    assert most_worth(requests, [Room(8)], rules) < 8
    assert power_on_orders(requests, rooms=[Room(8)], rules=rules, orders=50).started == 0


def test_orders_tell_hosts_of_different_size_and_shares_at_different_places_apart() -> None:
    """Consolidation counts no GPUs that a smaller host does not have; GPUs with as much in use are not alike where positions count."""
    whole = [Request("one", 1, gpus=1), Request("four", 1, gpus=4)]
    both = power_on_orders(
        whole, rooms=[Room(4), Room(2)], rules=Rules(consolidate=True), orders=[(0, 1), (1, 0)]
    )
    assert both.started == 1
    limited = [Request("one", 4, gpus=1, vcpus=8, memory_gib=64)]
    halves = power_on_orders(limited, rooms=[Room(2, 0, 64), Room(2, 8, 0)], rules=Rules(), orders=1)
    assert halves.missing == ((2, 1),)  # each host is limited by the other thing
    family = Family("mixed", tuple(p.name for p in SIZES), gpu_layouts(SIZES, region=48))
    counts = {"24C": 2, "16C": 1, "12C": 3, "8C": 3}
    shares = [Request(name, n, family=family, profile=name) for name, n in counts.items()]
    draw, kinds = random.Random(1), [kind for kind, request in enumerate(shares) for _ in range(request.vms)]
    orders = [draw.sample(kinds, len(kinds)) for _ in range(150)]
    for gpu in ("fewest", "fullest"):
        rules = Rules(ways=(("mixed", Way(gpu, "lowest", SIZES, 48)),))
        missing = [
            sum(step.spot is None for step in Play(shares, [Room(3)], rules, order).steps) for order in orders
        ]
        found = power_on_orders(shares, rooms=[Room(3)], rules=rules, orders=orders)
        assert dict(found.missing) == Counter(missing)


def boards() -> Iterator[tuple[str, tuple[Piece, ...], int, int]]:
    """Places of profiles on real GPUs: MIG by numbers of slices, mixed size by memory."""
    mig: dict[str, list[Piece]] = {}
    total = {}
    with (DATA / "mig_placements.csv").open() as file:
        for row in csv.DictReader(file):
            if "+me" not in row["mig_profile"]:
                starts = tuple(map(int, row["start_positions"].split()))
                sizes = (
                    int(row["memory_slices"]),
                    starts,
                    int(row["max_instances"]),
                    int(row["compute_slices"]),
                )
                mig.setdefault(row["gpu_family"], []).append(Piece(row["mig_profile"], *sizes))
                total[row["gpu_family"]] = int(row["memory_slices_total"]), int(row["compute_slices_total"])
    for name in ("A100 80GB (PCIe/SXM4)", "H100 80GB (PCIe/SXM5)", "A30 24GB"):
        yield name, tuple(mig[name]), *total[name]
    with (DATA / "vgpu_placements.csv").open() as file:
        for region, group in ((48, 8192), (80, 16384), (94, 11000), (40, 8192)):
            file.seek(0)
            yield (
                f"{region} GB",
                tuple(
                    Piece(
                        row["id"],
                        int(row["placement_size"]),
                        tuple(map(int, row["placement_ids"].split())),
                        int(row["max_per_gpu_mixed"]),
                    )
                    for row in csv.DictReader(file)
                    if row["region_gb"] == str(region) and int(row["frame_buffer_mb"]) >= group
                ),
                region,
                0,
            )


@pytest.mark.parametrize(
    ("name", "pieces", "region", "compute"), [pytest.param(*each, id=each[0]) for each in boards()]
)
@pytest.mark.parametrize("start", ["lowest", "open"])
def test_every_fullest_layout_of_a_gpu_comes_about_in_some_order(
    name: str, pieces: tuple[Piece, ...], region: int, compute: int, start: str
) -> None:
    """Neither rule for the position costs a GPU anything that another order would not have."""
    layouts = gpu_layouts(pieces, region=region, compute_slices=compute)
    family = Family(name, tuple(piece.name for piece in pieces), layouts)
    requests = [Request(piece.name, piece.most, family=family, profile=piece.name) for piece in pieces]
    gpus = Gpus(requests, Rules(ways=((name, Way("fewest", start, pieces, region, compute)),)))
    met, waiting = {NEUTRAL}, [NEUTRAL]
    while waiting:
        state = waiting.pop()
        after = {gpus.added(state, kind) for kind in range(len(pieces))} - {-1} - met
        met |= after
        waiting += after
    counts = {
        tuple(sum(piece == at for piece, _ in gpus.contents[state][1]) for at in range(len(pieces)))
        for state in met
    }
    assert set(layouts) <= counts
