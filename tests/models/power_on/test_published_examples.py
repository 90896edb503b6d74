"""What others published: who stands where after which power-on, and who does not start.

Sources: Frank Denneman, "Architecting AI Infrastructure", parts 4, 5, 6, 8 and 11 (2026), his simulator "Same-size vs
mixed-size placement" (its rules run again outside this project), and VMware on DRS consolidation (2023). ``Play`` has to say the
same. Left out, as they contradict NVIDIA's table or themselves: part 6's 8 GB VM that finds no place between 10 GB at 0 and 20 GB
at 20 (the table lists 12), its 24 GB stranded by 8, 10 and 20 GB (places at multiples of the size; by the table it is 16, see
below), part 5's free 16 GB slots after grouping (3; its later table says 4, as 5 less 1 does).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence

import pytest

from gpuplan.models.gpu_layouts import Piece, gpu_layouts
from gpuplan.models.placement import Family, Request, Room
from gpuplan.models.power_on import Cluster, Play, Rules, Spot, Way, power_on_orders

SLOTS_80 = {4: 20, 10: 8, 16: 5, 20: 4, 40: 2}
"""vGPUs of each size on a board with 80 GB, all of one size."""
IDS_80 = {
    4: (0, 6, 10, 16, 20, 26, 30, 36, 40, 46, 50, 56, 60, 66, 70, 76),
    8: (0, 12, 20, 32, 40, 52, 60, 72),
    10: (0, 10, 20, 30, 40, 50, 60, 70),
    16: (0, 24, 40, 64),
    20: (0, 20, 40, 60),
    40: (0, 40),
}
IDS_96 = {16: (0, 16, 32, 48, 64, 80), 24: (0, 24, 48, 72), 32: (0, 32, 64), 48: (0, 48)}
HOPPER = (
    Piece("4g.40gb", 4, (0,), 1, 4),
    Piece("3g.40gb", 4, (0, 4), 2, 3),
    Piece("2g.20gb", 2, (0, 2, 4), 3, 2),
    Piece("1g.20gb", 2, (0, 2, 4, 6), 4, 1),
    Piece("1g.10gb", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1),
)


def same_size(sizes: Sequence[int], whole: int = 80) -> list[Request]:
    """A request for each size; the whole board is no share."""
    counts = Counter(sizes)
    return [
        Request(f"{size} GB", counts[size], gpus=1)
        if size == whole
        else Request(
            f"{size} GB",
            counts[size],
            family=Family(f"{size}C", (f"{size}C",), ((SLOTS_80[size],),)),
            profile=f"{size}C",
        )
        for size in sorted(counts)
    ]


def divided(pieces: Sequence[Piece], region: int, compute: int, names: Sequence[str]) -> list[Request]:
    """A request for each profile, all of one family."""
    layouts = gpu_layouts(pieces, region=region, compute_slices=compute)
    family = Family("divided", tuple(piece.name for piece in pieces), layouts)
    counts = Counter(names)
    return [Request(name, n, family=family, profile=name) for name, n in sorted(counts.items())]


def started(
    requests: Sequence[Request], rooms: Sequence[Room], rules: Rules, names: Sequence[str]
) -> list[Spot | None]:
    kinds = {request.group: kind for kind, request in enumerate(requests)}
    order = [kinds[name] for name in names]
    return [step.spot for step in Play(requests, rooms, rules, order).steps]


def written(spots: Sequence[Spot | None], *, starts: bool = False) -> str:
    """host.GPU for each VM, from 1, and @start; - for one that does not start."""
    return " ".join(
        "-" if at is None else f"{at.host + 1}.{at.gpus[0] + 1}" + (f"@{at.starts[0]}" if starts else "")
        for at in spots
    )


SLIM = [10, 4, 20, 10, 4, 16, 40, 80, 20, 10]
RIGHT = [10, 10, 20, 10, 10, 20, 40, 80, 20, 10]


def policies(gpu: str, sizes: Sequence[int], host: str) -> Rules:
    return Rules(host=host, ways=tuple((f"{size}C", Way(gpu=gpu)) for size in set(sizes)))


@pytest.mark.parametrize("host", ["turn", "spread"])
@pytest.mark.parametrize(
    ("sizes", "gpu", "spots", "left"),
    [
        (
            SLIM,
            "fewest",
            "1.1 2.1 3.1 1.2 2.2 3.2 - - 3.1 1.1",
            {4: 38, 10: 13, 16: 4, 20: 2, 40: 0, 80: 0},
        ),
        (
            SLIM,
            "fullest",
            "1.1 2.1 3.1 1.1 2.1 3.2 1.2 2.2 3.1 1.1",
            {4: 18, 10: 5, 16: 4, 20: 2, 40: 1, 80: 0},
        ),
        (RIGHT, "fewest", "1.1 2.1 3.1 1.2 2.2 3.2 - - 3.1 1.1", {10: 27, 20: 5, 40: 0, 80: 0}),
        (RIGHT, "fullest", "1.1 2.1 3.1 1.1 2.1 3.1 1.2 2.2 3.1 1.1", {10: 19, 20: 5, 40: 3, 80: 1}),
    ],
    ids=["slim, spread", "slim, group", "right-sized, spread", "right-sized, group"],
)
def test_six_gpus_of_part_5(host: str, sizes: list[int], gpu: str, spots: str, left: dict[int, int]) -> None:
    """Three hosts with two GPUs of 80 GB, ten VMs: drawings, tables of what was placed, and slots that are free after."""
    requests, rooms = same_size(sizes), [Room(2)] * 3
    rules = policies(gpu, sizes, host)
    assert written(started(requests, rooms, rules, [f"{size} GB" for size in sizes])) == spots
    assert free_slots(requests, rooms, rules, sizes) == left


def free_slots(
    requests: Sequence[Request], rooms: Sequence[Room], rules: Rules, sizes: Sequence[int]
) -> dict[int, int]:
    """How many more of each size start, of this size alone."""
    kinds = {request.group: kind for kind, request in enumerate(requests)}
    cluster, vms = Cluster(requests, rooms, rules), itertools.count(1)
    for size in sizes:
        cluster.start(kinds[f"{size} GB"], next(vms))
    left = {}
    for size in sorted(set(sizes)):
        more = cluster.copy()
        left[size] = sum(more.start(kinds[f"{size} GB"], next(vms)) is not None for _ in range(50))
    return left


def test_state_when_the_large_ones_come_in_part_5() -> None:
    """Its first table: after six small VMs no 40 and 80 GB, and 38, 14, 4 and 3 slots of the locked sizes."""
    requests = same_size(SLIM)
    assert free_slots(requests, [Room(2)] * 3, policies("fewest", SLIM, "turn"), SLIM[:6]) == {
        4: 38,
        10: 14,
        16: 4,
        20: 3,
    }


@pytest.mark.parametrize(("gpu", "spots"), [("fewest", "1.1 1.2 -"), ("fullest", "1.1 1.1 1.2")])
def test_three_vms_of_part_4(gpu: str, spots: str) -> None:
    """10, 10 and 20 GB on one host with two GPUs."""
    sizes = [10, 10, 20]
    rules = policies(gpu, sizes, "spread")
    assert written(started(same_size(sizes), [Room(2)], rules, [f"{size} GB" for size in sizes])) == spots


def mixed(ids: dict[int, tuple[int, ...]], gpu: str, start: str, region: int) -> tuple[list[Piece], Way]:
    pieces = [Piece(f"{size}C", size, starts, len(starts)) for size, starts in ids.items()]
    return pieces, Way(gpu=gpu, start=start, pieces=tuple(pieces), region=region)


def mixed_spots(
    sizes: Sequence[int], hosts: int, gpus: int, ids: dict[int, tuple[int, ...]], region: int
) -> str:
    """The present code of the simulator: hosts in turn, fullest GPU, lowest listed ID."""
    pieces, way = mixed({size: ids[size] for size in sorted(set(sizes))}, "fullest", "lowest", region)
    names = [f"{size}C" for size in sizes]
    rules = Rules(host="turn", ways=(("divided", way),))
    spots = started(divided(pieces, region, 0, names), [Room(gpus)] * hosts, rules, names)
    return written(spots, starts=True)


def test_four_vms_on_a_mixed_gpu_of_part_4() -> None:
    """16, 16, 20 and 16 GB on one H100: all start, 12 GB are left between them."""
    assert mixed_spots([16, 16, 20, 16], 1, 1, IDS_80, 80) == "1.1@0 1.1@24 1.1@40 1.1@64"


def test_two_gb_between_8_and_10_of_part_6() -> None:
    assert mixed_spots([8, 10], 1, 1, IDS_80, 80) == "1.1@0 1.1@10"


SIMULATED = {
    "H100, 3 x 2, sizes in turn": (
        [8, 10, 20, 40] * 6 + [10, 20],
        (3, 2, IDS_80, 80),
        "1.1@0 2.1@0 3.1@0 1.1@40 2.1@12 3.1@20 1.1@20 2.1@40 3.1@32 1.1@10 2.1@20 3.1@40 "
        "1.2@0 2.2@0 3.2@0 1.2@40 2.2@12 3.2@20 1.2@20 2.2@40 3.2@32 1.2@10 2.2@20 3.2@40 - -",
    ),
    "H100, 3 x 2, small first": (
        [8] * 9 + [10] * 9 + [20] * 6 + [40] * 5,
        (3, 2, IDS_80, 80),
        "1.1@0 2.1@0 3.1@0 1.1@12 2.1@12 3.1@12 1.1@20 2.1@20 3.1@20 1.1@30 2.1@30 3.1@30 1.1@40 2.1@40 3.1@40 "
        "1.1@50 2.1@50 3.1@50 1.1@60 2.1@60 3.1@60 1.2@0 2.2@0 3.2@0 1.2@40 2.2@40 3.2@40 - -",
    ),
    "RTX PRO 6000, 3 x 2, sizes in turn": (
        [16, 24, 32, 48] * 5,
        (3, 2, IDS_96, 96),
        "1.1@0 2.1@0 3.1@0 1.1@48 2.1@32 3.1@48 1.2@0 2.1@48 3.1@32 1.1@24 2.2@0 3.2@0 "
        "1.2@32 2.2@48 3.2@64 1.2@48 2.2@32 3.1@72 - -",
    ),
    "H100, 6 x 1, GPUs in turn are hosts in turn": (
        [8, 10, 20, 40] * 6 + [10, 20],
        (6, 1, IDS_80, 80),
        "1.1@0 2.1@0 3.1@0 4.1@0 5.1@0 6.1@0 1.1@20 2.1@40 3.1@20 4.1@40 5.1@20 6.1@40 1.1@12 2.1@10 3.1@40 "
        "5.1@40 6.1@12 1.1@40 2.1@20 - 3.1@32 4.1@50 6.1@20 - 1.1@50 3.1@60",
    ),
}


@pytest.mark.parametrize(("sizes", "cluster", "spots"), SIMULATED.values(), ids=SIMULATED)
def test_mixed_size_as_the_published_simulator(
    sizes: list[int], cluster: tuple[int, int, dict[int, tuple[int, ...]], int], spots: str
) -> None:
    assert mixed_spots(sizes, *cluster) == spots


def test_same_size_as_the_published_simulator() -> None:
    """It walks GPUs in turn, which hosts with one GPU do too; it refuses eight of 24 here."""
    sizes = [4, 16, 4, 10, 20, 10, 40, 4] * 3
    requests = same_size(sizes)
    spots = started(
        requests, [Room(1)] * 4, policies("fewest", sizes, "turn"), [f"{size} GB" for size in sizes]
    )
    assert written(spots) == (
        "1.1 2.1 3.1 4.1 - 4.1 - 1.1 3.1 2.1 3.1 4.1 - 4.1 - 1.1 3.1 2.1 3.1 4.1 - 4.1 - 1.1"
    )


@pytest.mark.parametrize("gpu", ["fewest", "fullest"])
@pytest.mark.parametrize("start", ["lowest", "open"])
def test_10_and_20_gb_strand_nothing_in_any_order_of_part_6(gpu: str, start: str) -> None:
    pieces, way = mixed({size: IDS_80[size] for size in (10, 20)}, gpu, start, 80)
    requests = divided(pieces, 80, 0, ["10C"] * 4 + ["20C"] * 2)
    rules = Rules(ways=(("divided", way),))
    for order in set(itertools.permutations([0, 0, 0, 0, 1, 1])):
        assert all(step.spot for step in Play(requests, [Room(1)], rules, order).steps)
    assert power_on_orders(requests, rooms=[Room(1)], rules=rules, orders=100).started == 100


def test_8_10_and_20_gb_strand_16_gb_at_most_by_the_table() -> None:
    """Every way to fill an A100 by lowest IDs; at multiples of the size, as in part 6, it would be 24."""
    pieces, way = mixed({size: IDS_80[size] for size in (8, 10, 20)}, "fewest", "lowest", 80)
    requests = divided(pieces, 80, 0, ["8C"] * 8 + ["10C"] * 8 + ["20C"] * 4)
    size = [int(request.profile[:-1]) for request in requests]
    empty = Cluster(requests, [Room(1)], Rules(ways=(("divided", way),)))
    seen, worst, waiting = {frozenset()}, 0, [empty]
    while waiting:
        cluster = waiting.pop()
        full = True
        for kind in range(3):
            after = cluster.copy()
            if after.start(kind, len(after.spots) + 1) is None:
                continue
            full = False
            key = frozenset((kind, at.starts) for (kind, _), at in after.spots.items())
            if key not in seen:
                seen.add(key)
                waiting.append(after)
        if full:
            worst = max(worst, 80 - sum(size[kind] for kind, _ in cluster.spots))
    assert worst == 16


@pytest.mark.parametrize("start", ["lowest", "open"])
def test_mig_on_an_h100_host_of_part_8(start: str) -> None:
    """Measured: 3g.40gb begins at 4, then at 0, one GPU after the other; 4g.40gb at 0, one a GPU, and 3g.40gb beside it at 4."""
    listed = tuple(p._replace(starts=(4, 0)) if p.name == "3g.40gb" else p for p in HOPPER)
    pieces = listed if start == "lowest" else HOPPER
    way = Way(gpu="fullest", start=start, pieces=pieces, region=8, compute_slices=7)
    rules = Rules(ways=(("divided", way),))

    def where(gpus: int, names: list[str]) -> str:
        return written(started(divided(pieces, 8, 7, names), [Room(gpus)], rules, names), starts=True)

    assert where(8, ["3g.40gb"] * 5) == "1.1@4 1.1@0 1.2@4 1.2@0 1.3@4"
    assert where(7, ["4g.40gb"] * 7 + ["3g.40gb"] * 2) == (
        "1.1@0 1.2@0 1.3@0 1.4@0 1.5@0 1.6@0 1.7@0 1.1@4 1.2@4"
    )
    sevens = where(1, ["1g.10gb"] * 8).split()
    assert set(sevens) == {f"1.1@{at}" for at in range(7)} | {"-"} and sevens[7] == "-"
    assert where(1, ["2g.20gb"] * 4).split()[3] == "-"


def test_two_groups_of_two_and_one_of_four_on_hgx_of_part_11() -> None:
    """Both pairs in one half (modules 5 and 7, then 6 and 8), the four on the other; the first takes away the 8 and one 4."""
    requests = [
        Request("pair", 3, gpus=2),
        Request("four", 2, gpus=4),
        Request("eight", 1, gpus=8),
        Request("one", 4, gpus=1),
    ]
    cluster = Cluster(requests, [Room(8)], Rules(partitions=True))
    first = cluster.start(0, 1)
    assert first is not None
    assert cluster.copy().start(2, 1) is None
    fours = cluster.copy()
    assert [fours.start(1, vm) is not None for vm in (1, 2)] == [True, False]
    second, third = cluster.start(0, 2), cluster.start(1, 1)
    assert second is not None
    assert third is not None
    halves = [{gpu // 4 for gpu in spot.gpus} for spot in (first, second, third)]
    assert halves[0] == halves[1] != halves[2]
    assert all(len(half) == 1 for half in halves)


def test_4_2_2_fill_an_hgx_and_two_pairs_apart_would_not_let_a_four_in() -> None:
    """Part 11: a four and two pairs take all; pairs in both halves leave four GPUs and no group of four."""
    requests = [Request("pair", 2, gpus=2), Request("four", 1, gpus=4), Request("one", 1, gpus=1)]
    rules = Rules(partitions=True)
    for order in itertools.permutations([0, 0, 1]):
        steps = Play(requests, [Room(8)], rules, [*order, 2]).steps
        assert [step.spot is not None for step in steps] == [True, True, True, False]
    apart = Cluster(requests, [Room(8)], rules)
    apart.put(0, 1, Spot(0, (0, 1), ()))
    apart.put(0, 2, Spot(0, (4, 5), ()))
    assert apart.start(1, 1) is None
    assert apart.idle_gpus() == 4


def test_drs_consolidation_of_full_profiles() -> None:
    """VMware 2023: two hosts with two GPUs each; after two VMs with one full profile each, one with two starts if DRS packs."""
    requests = [Request("one", 2, gpus=1), Request("two", 1, gpus=2)]
    for consolidate, last in ((False, False), (True, True)):
        steps = Play(requests, [Room(2)] * 2, Rules(consolidate=consolidate), [0, 0, 1]).steps
        assert [step.spot is not None for step in steps] == [True, True, last]


def test_a_bridged_pair_is_one_numa_node_of_part_10() -> None:
    """Two pairs of bridged GPUs, one alone in each: two GPUs are free and no pair starts."""
    requests = [Request("one", 2, gpus=1), Request("two", 2, gpus=2)]
    cluster = Cluster(requests, [Room(4)], Rules(domain=2))
    cluster.put(0, 1, Spot(0, (1,), ()))
    cluster.put(0, 2, Spot(0, (2,), ()))
    assert cluster.start(1, 1) is None
    cluster.stop(0, 2)
    assert cluster.start(1, 1) == Spot(0, (2, 3), ())
