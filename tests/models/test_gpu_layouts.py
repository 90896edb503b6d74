"""Layouts of one GPU: all there are by brute force, what the tables of vendors say, and where pieces begin."""

from __future__ import annotations

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Sequence

import pytest
from random_cases import cases, of_the_day, often

from gpuplan.catalog import Catalog
from gpuplan.models.gpu_layouts import Piece, gpu_layouts, layout_starts

Pieces = tuple[Piece, ...]


def numbers(text: object) -> tuple[int, ...]:
    return tuple(int(n) for n in str(text).split())


@pytest.fixture(scope="module")
def regions(catalog: Catalog) -> dict[tuple[int, str], Pieces]:
    """Pieces of the table for mixed sizes by region and architecture."""
    found: dict[tuple[int, str], list[Piece]] = defaultdict(list)
    for row in catalog.rows("vgpu_placements"):
        for which in ("Ada", "other"):
            if row["architecture"] in ("all", "Blackwell", "Ada" if which == "Ada" else "except Ada"):
                piece = Piece(
                    row.id, row["placement_size"], numbers(row["placement_ids"]), row["max_per_gpu_mixed"]
                )
                found[row["region_gb"], which].append(piece)
    return {key: tuple(pieces) for key, pieces in found.items()}


@pytest.fixture(scope="module")
def mig_gpus(catalog: Catalog) -> dict[str, tuple[Pieces, int, int]]:
    """Pieces, memory slices and compute slices of each GPU with MIG."""
    found: dict[str, tuple[Pieces, int, int]] = {}
    for row in catalog.rows("mig_placements"):
        piece = Piece(
            row["mig_profile"],
            row["memory_slices"],
            numbers(row["start_positions"]),
            row["max_instances"],
            row["compute_slices"],
        )
        pieces, _, _ = found.get(row["gpu_family"], ((), 0, 0))
        found[row["gpu_family"]] = ((*pieces, piece), row["memory_slices_total"], row["compute_slices_total"])
    return found


def every_count(pieces: Sequence[Piece], region: int, slices: int = 0) -> set[tuple[int, ...]]:
    """Counts of all sets of places that do not overlap; the sets are built place by place, from front to back."""
    places = sorted((start, i) for i, piece in enumerate(pieces) for start in piece.starts)
    reached = {(0, (0,) * len(pieces))}  # (where the last one ends, how many of each)
    for start, i in places:
        for end, counts in list(reached):
            stop = start + pieces[i].size
            if end <= start and stop <= region and counts[i] < pieces[i].most:
                more = (*counts[:i], counts[i] + 1, *counts[i + 1 :])
                compute = sum(n * piece.compute for n, piece in zip(more, pieces, strict=True))
                if not slices or compute <= slices:
                    reached.add((stop, more))
    return {counts for _, counts in reached}


def maximal(counts: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
    """Counts to which no piece can be added."""
    return {
        c
        for c in counts
        if any(c) and not any((*c[:i], c[i] + 1, *c[i + 1 :]) in counts for i in range(len(c)))
    }


def check_starts(
    counts: Sequence[int], starts: Sequence[Sequence[int]], pieces: Sequence[Piece], region: int
) -> None:
    assert [len(of) for of in starts] == list(counts)
    taken: set[int] = set()
    for of, piece in zip(starts, pieces, strict=True):
        assert list(of) == sorted(of)
        for start in of:
            part = set(range(start, start + piece.size))
            assert start in piece.starts
            assert max(part) < region
            assert not part & taken
            taken |= part


def test_layouts_are_all_there_are_on_every_region(regions: dict[tuple[int, str], Pieces]) -> None:
    mixes = [
        (region, chosen)
        for (region, _), pieces in regions.items()
        for size in (1, 2, 3)
        for chosen in itertools.combinations(pieces, size)
        if math.prod(min(len(p.starts), p.most) + 1 for p in chosen) <= 5000  # else a brute force of seconds
    ]
    assert len(mixes) > 500
    for region, chosen in of_the_day(mixes, few=60):
        found = gpu_layouts(chosen, region=region)
        assert set(found) == maximal(every_count(chosen, region)), (region, chosen)
        assert list(found) == sorted(set(found), reverse=True)


def test_layouts_are_all_there_are_on_every_mig_gpu(mig_gpus: dict[str, tuple[Pieces, int, int]]) -> None:
    assert len(mig_gpus) == 10
    for gpu, (pieces, region, slices) in mig_gpus.items():
        found = gpu_layouts(pieces, region=region, compute_slices=slices)
        assert set(found) == maximal(every_count(pieces, region, slices)), gpu


def test_one_profile_alone_fits_as_often_as_the_tables_say(
    regions: dict[tuple[int, str], Pieces], mig_gpus: dict[str, tuple[Pieces, int, int]]
) -> None:
    for (region, _), pieces in regions.items():
        for piece in pieces:
            assert gpu_layouts([piece], region=region) == ((piece.most,),), piece
    for pieces, region, slices in mig_gpus.values():
        for piece in pieces:
            assert gpu_layouts([piece], region=region, compute_slices=slices) == ((piece.most,),), piece


def test_known_layouts(
    regions: dict[tuple[int, str], Pieces], mig_gpus: dict[str, tuple[Pieces, int, int]]
) -> None:
    by_size = {piece.size: piece for piece in regions[48, "other"]}
    assert gpu_layouts([by_size[16]], region=48) == ((2,),)  # A40-16C: 3 with equal sizes, 2 with mixed ones
    pieces, region, slices = mig_gpus["H100 80GB (PCIe/SXM5)"]
    of = {piece.name.split(".")[0]: piece for piece in pieces if not piece.name.endswith(("me", "1g.20gb"))}
    four, three, two, one = of["4g"], of["3g"], of["2g"], of["1g"]

    def layouts(*chosen: Piece) -> tuple[tuple[int, ...], ...]:
        return gpu_layouts(chosen, region=region, compute_slices=slices)

    assert layouts(four, three) == ((1, 1), (0, 2))  # never two 4g; 3g + 3g takes all memory
    assert (1, 1, 1) in layouts(four, two, one)
    # a 3g in front leaves three 1g (0 to 3 are taken, no 1g begins at 7), one at the back leaves four
    assert layouts(three._replace(starts=(0,)), one)[0] == (1, 3)
    assert layouts(three, one) == ((2, 0), (1, 4), (0, 7))
    assert layout_starts((1, 4), pieces=(three, one), region=region, compute_slices=slices) == (
        (4,),
        (0, 1, 2, 3),
    )
    assert layouts(two)[0] == (3,)  # not four: none begins at 6


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        ((32, 48, 16), (1, 1, 1)),  # 0 to 32, 32 to 48, 48 to 96: full
        ((48, 24, 16, 8), (1, 1, 1, 1)),  # 0, 48, 80 and 72: full
        ((32, 24, 8), (1, 2, 2)),  # 0, 48 and 72, 32 and 40: full
        ((24, 16), (2, 3)),
        ((12, 16), (5, 2)),  # 36 to 96 beside 0 and 16
    ],
)
def test_mixes_on_a_blackwell_board_of_96_gb(
    regions: dict[tuple[int, str], Pieces], sizes: tuple[int, ...], held: tuple[int, ...]
) -> None:
    by_size = {piece.size: piece for piece in regions[96, "other"]}
    found = gpu_layouts([by_size[size] for size in sizes], region=96)
    assert held in found  # and nothing can be added to it


@pytest.mark.parametrize(
    ("sizes", "held"),
    [
        ((32, 24), (2, 2)),  # 112 GB
        ((24, 32), (3, 1)),  # 104 GB
        ((48, 32), (1, 2)),
        ((16, 12), (1, 7)),  # 84 + 16 = 100 GB
    ],
)
def test_mixes_that_do_not_fit_on_a_blackwell_board(
    regions: dict[tuple[int, str], Pieces], sizes: tuple[int, ...], held: tuple[int, ...]
) -> None:
    by_size = {piece.size: piece for piece in regions[96, "other"]}
    found = gpu_layouts([by_size[size] for size in sizes], region=96)
    assert not any(all(n <= m for n, m in zip(held, layout, strict=True)) for layout in found)


@pytest.mark.parametrize(
    ("gpu", "names", "layouts"),
    [
        ("RTX PRO 6000 Blackwell Server Edition", ("4g.96gb", "2g.48gb", "1g.24gb"),
         {(1, 0, 0), (0, 2, 0), (0, 1, 2), (0, 0, 4)}),
        ("RTX PRO 4500 Blackwell Server Edition", ("2g.32gb", "1g.16gb"), {(1, 0), (0, 2)}),
        # a lone 3g leaves four 1g on Hopper, where vSphere puts it at 4, and three elsewhere
        ("H100 80GB (PCIe/SXM5)", ("3g.40gb", "1g.10gb"), {(2, 0), (1, 4), (0, 7)}),
        ("A100 80GB (PCIe/SXM4)", ("3g.40gb", "1g.10gb"), {(2, 0), (1, 3), (0, 7)}),
        ("B200 180GB (SXM6)", ("3g.90gb", "1g.23gb"), {(2, 0), (1, 3), (0, 7)}),
        ("B200 180GB (SXM6)", ("4g.90gb", "3g.90gb"), {(1, 1), (0, 2)}),
        ("B300 288GB (SXM6)", ("2g.67gb", "1g.67gb"), {(3, 1), (2, 2), (1, 3), (0, 4)}),
    ],
)  # fmt: skip
def test_instances_that_come_about_on_a_gpu(
    mig_gpus: dict[str, tuple[Pieces, int, int]],
    gpu: str,
    names: tuple[str, ...],
    layouts: set[tuple[int, ...]],
) -> None:
    pieces, region, slices = mig_gpus[gpu]
    chosen = [next(p for p in pieces if p.name == name) for name in names]
    found = gpu_layouts(chosen, region=region, compute_slices=slices, in_order=True)
    assert set(found) == layouts


def test_what_others_list_for_an_a100_is_part_of_a_layout(
    mig_gpus: dict[str, tuple[Pieces, int, int]],
) -> None:
    pieces, region, slices = mig_gpus["A100 40GB (PCIe/SXM4)"]
    names = ("7g.40gb", "4g.20gb", "3g.20gb", "2g.10gb", "1g.5gb")
    chosen = [next(p for p in pieces if p.name == name) for name in names]
    found = gpu_layouts(chosen, region=region, compute_slices=slices)
    # the geometries that the scheduler nebuly-ai/nos allows on an A100 with 40 GB
    for listed in (
        (1, 0, 0, 0, 0),
        (0, 1, 0, 1, 1),
        (0, 1, 0, 0, 3),
        (0, 0, 2, 0, 0),
        (0, 0, 1, 1, 1),
        (0, 0, 1, 0, 3),
        (0, 0, 1, 2, 0),
        (0, 0, 1, 1, 2),
        (0, 0, 0, 3, 1),
        (0, 0, 0, 2, 3),
        (0, 0, 0, 1, 5),
        (0, 0, 0, 0, 7),
    ):
        assert any(all(a <= b for a, b in zip(listed, layout, strict=True)) for layout in found), listed


def test_six_pieces_with_many_starts_are_all_laid_out(regions: dict[tuple[int, str], Pieces]) -> None:
    chosen = regions[48, "other"][-6:]
    found = gpu_layouts(chosen, region=48)
    assert len(found) > 3000
    for layout in random.Random(1).sample(found, 30):
        check_starts(layout, layout_starts(layout, pieces=chosen, region=48), chosen, 48)


def test_starts_are_the_first_in_order_of_all_arrangements() -> None:
    none = 0
    for rng in cases(2, 400, few=80):
        region, slices = rng.randint(3, 9), rng.choice([0, 5])
        pieces = []
        for name in "abc"[: rng.randint(1, 3)]:
            size = rng.randint(1, 3)
            starts = tuple(sorted(rng.sample(range(region), rng.randint(1, region))))
            pieces.append(Piece(name, size, starts, rng.randint(1, 4), rng.randint(0, 2)))
        counts = [rng.randint(0, 2) for _ in pieces]
        every = []
        for chosen in itertools.product(
            *(itertools.combinations(p.starts, n) for p, n in zip(pieces, counts, strict=True))
        ):
            parts = [
                place
                for of, piece in zip(chosen, pieces, strict=True)
                for start in of
                for place in range(start, start + piece.size)
            ]
            if len(set(parts)) == len(parts) and max(parts, default=0) < region:
                every.append(chosen)
        compute = sum(n * p.compute for n, p in zip(counts, pieces, strict=True))
        allowed = all(n <= p.most for n, p in zip(counts, pieces, strict=True))
        if every and allowed and (not slices or compute <= slices):
            assert layout_starts(counts, pieces=pieces, region=region, compute_slices=slices) == min(every)
            found = gpu_layouts(pieces, region=region, compute_slices=slices)
            assert not any(counts) or any(all(a <= b for a, b in zip(counts, c, strict=True)) for c in found)
        else:
            none += 1
            with pytest.raises(ValueError, match="do not fit on one GPU together"):
                layout_starts(counts, pieces=pieces, region=region, compute_slices=slices)
    assert often(none, 50)


def test_nothing_to_divide() -> None:
    assert gpu_layouts([], region=8) == ()
    assert gpu_layouts([Piece("large", 9, (0,), 1)], region=8) == ()
    assert layout_starts([0], pieces=[Piece("one", 1, (0,), 1)], region=8) == ((),)


def test_mig_instances_as_they_come_about() -> None:
    four = Piece("4g", 4, (0,), 1, 4)
    three = Piece("3g", 4, (0, 4), 2, 3)
    two = Piece("2g", 2, (0, 2, 4), 3, 2)
    one = Piece("1g", 1, (0, 1, 2, 3, 4, 5, 6), 7, 1)

    def layouts(*pieces: Piece) -> tuple[tuple[int, ...], ...]:
        return gpu_layouts(pieces, region=8, compute_slices=7, in_order=True)

    assert layouts(three, one) == ((2, 0), (1, 3), (0, 7))  # one 3g leaves three 1g, not four
    assert layouts(four, three) == ((1, 1), (0, 2))  # a 4g takes the front, so the 3g goes behind it
    assert (1, 1, 1) in layouts(four, two, one)
    assert (1, 1, 1) in layouts(three, two, one)
    assert layouts(two, one) == ((3, 1), (2, 3), (1, 5), (0, 7))
    every = (four, three, two, one)
    chosen = gpu_layouts(every, region=8, compute_slices=7)
    for layout in layouts(*every):  # never more than what some choice of starts allows
        assert any(all(n <= most for n, most in zip(layout, other, strict=True)) for other in chosen)
