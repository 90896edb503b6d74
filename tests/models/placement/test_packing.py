"""Packing: against a brute force written here, against the programme over all patterns, proofs and directions."""

from __future__ import annotations

import itertools
import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import cases, often

from gpuplan.models.placement import packing, programme
from gpuplan.models.placement.packing import Bins, _bins_bound, cover, pack


@pytest.fixture
def few_patterns(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As if there were too many patterns to list, and nothing remembered."""
    packing._pack.cache_clear()
    packing._cover.cache_clear()
    monkeypatch.setattr(programme, "MAX_PATTERNS", 0)
    yield
    packing._pack.cache_clear()
    packing._cover.cache_clear()


def bins_by_brute_force(sizes: Sequence[int], capacity: int) -> int:
    """Sizes are put one by one wherever they fit; a bin is the room that it has left."""
    ordered = sorted(sizes, reverse=True)

    def fits(bins: int) -> bool:
        seen: set[tuple[int, tuple[int, ...]]] = set()

        def put(at: int, rooms: tuple[int, ...]) -> bool:
            if at == len(ordered):
                return True
            if (at, rooms) in seen:
                return False
            seen.add((at, rooms))
            return any(
                put(at + 1, tuple(sorted((*rooms[:i], room - ordered[at], *rooms[i + 1 :]))))
                for i, room in enumerate(rooms)
                if room >= ordered[at]
            )

        return put(0, (capacity,) * bins)

    return next(n for n in itertools.count() if fits(n))


def test_pack_is_optimal_on_thousands_of_small_cases() -> None:
    methods: Counter[str] = Counter()
    for rng in cases(20200501, 3000, few=150):
        capacity = rng.randint(1, 20)
        sizes = [rng.randint(1, capacity) for _ in range(rng.randint(0, 8))]
        found = pack(Counter(sizes), capacity=capacity)
        best = bins_by_brute_force(sizes, capacity)
        assert found.bound <= best <= found.bins, (sizes, capacity)
        if found.method != "heuristic":
            assert found.bins == found.bound == best, (sizes, capacity)
        methods[found.method] += 1
        used = [size for pattern, times in found.patterns for _ in range(times) for size in pattern]
        assert Counter(used) == Counter(sizes)
        assert all(sum(pattern) <= capacity and times > 0 for pattern, times in found.patterns)
        assert sum(times for _, times in found.patterns) == found.bins
    assert methods["heuristic"] == 0
    assert often(methods["volume"], 500)
    assert often(methods["large"], 200)


def test_where_first_fit_decreasing_is_not_optimal_the_programme_is() -> None:
    # into two bins of 10: 5+3+2 and 4+4+2; first-fit decreasing makes three: 5+4, 4+3+2, 2
    found = pack({5: 1, 4: 2, 3: 1, 2: 2}, capacity=10)
    assert (found.bins, found.bound, found.method) == (2, 2, "programme")
    # thirteen of each: 13 x 20 = 260 in 26 full bins
    found = pack({5: 13, 4: 26, 3: 13, 2: 26}, capacity=10)
    assert (found.bins, found.bound) == (26, 26)


def test_pack_hand_values() -> None:
    assert pack({}, capacity=4).bins == 0
    assert pack({3: 8}, capacity=4)[1:] == (8, 8, "large")  # no two 3s in one host of 4
    assert pack({4: 3, 1: 16}, capacity=4)[1:] == (7, 7, "volume")  # 28 GPUs / 4
    assert pack({1: 0}, capacity=4).bins == 0


@pytest.mark.parametrize("sizes", [{5: 1}, {0: 1}, {-1: 2}])
def test_pack_refuses_what_cannot_fit(sizes: dict[int, int]) -> None:
    with pytest.raises(ValueError, match="from 1 to the capacity 4"):
        pack(sizes, capacity=4)


def test_without_all_patterns_they_are_generated(few_patterns: None) -> None:
    found = pack({5: 1, 4: 2, 3: 1, 2: 2}, capacity=10)
    assert (found.bins, found.bound, found.method) == (2, 2, "programme")


def test_without_steps_the_answer_is_called_a_heuristic(
    few_patterns: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "GENERATION_STEPS", 0.0)
    found = pack({7: 5, 6: 5, 5: 5, 4: 7, 3: 7, 2: 5}, capacity=19)
    assert found.bound <= found.bins
    assert found.method == ("heuristic" if found.bound < found.bins else found.method)


def test_the_answer_is_the_same_again() -> None:
    rng = random.Random(7)
    sizes = {rng.randint(3_600, 14_700): rng.randint(50, 400) for _ in range(30)}
    found = []
    for _ in range(2):
        packing._pack.cache_clear()
        found.append(pack(sizes, capacity=32_768))
    assert found[0] == found[1]
    assert found[0].bins <= found[0].bound + 2


def test_bins_enough_is_never_too_few() -> None:
    for rng in cases(5, 60, few=15):
        sizes, capacity = mix(rng)
        assert packing._bins_bound(sizes, capacity=capacity) <= pack(sizes, capacity=capacity).bins
        assert pack(sizes, capacity=capacity).bins <= packing._bins_enough(sizes, capacity=capacity)


def mix(rng: random.Random) -> tuple[dict[int, int], int]:
    """Sizes that have a few thousand patterns at most, and a capacity."""
    capacity = rng.randint(20, 60)
    sizes = rng.sample(range(3, capacity + 1), rng.randint(2, 8))
    return {size: rng.randint(1, 30) for size in sizes}, capacity


def test_generated_patterns_do_as_well_as_all_patterns(monkeypatch: pytest.MonkeyPatch) -> None:
    proven = 0
    for rng in cases(1, 150, few=30):
        sizes, capacity = mix(rng)
        packing._pack.cache_clear()
        full = pack(sizes, capacity=capacity)
        assert full.method != "heuristic"
        packing._pack.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(programme, "MAX_PATTERNS", 0)
            found = pack(sizes, capacity=capacity)
        packing._pack.cache_clear()
        assert found.bound <= full.bins <= found.bins <= full.bins + 1, (sizes, capacity)
        proven += found.bins == found.bound
        used = Counter(s for pattern, times in found.patterns for _ in range(times) for s in pattern)
        assert used == Counter(sizes)
        assert all(sum(pattern) <= capacity for pattern, _ in found.patterns)
    assert often(proven, 140)


def test_any_prices_give_a_bound() -> None:
    for rng in cases(3, 100, few=25):
        sizes, capacity = mix(rng)
        ordered = tuple(sorted(sizes, reverse=True))
        needed = tuple(sizes[s] for s in ordered)
        prices = [rng.randint(0, packing.PRICE_UNIT) for _ in ordered]
        worth, _ = programme._most_valuable(prices, ordered, needed=needed, capacity=capacity)
        assert packing._price_bound(prices, needed, worth) <= pack(sizes, capacity=capacity).bins


def test_more_sizes_than_a_recursion_could_follow_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "GENERATION_STEPS", 1e8)  # a fifteenth of the time
    found = pack(dict.fromkeys(range(1000, 2200), 1), capacity=9000)
    assert found.bound <= found.bins <= 1.05 * found.bound


def test_many_sizes_end_and_are_bounded() -> None:
    # 40 different small sizes beside twenty that leave room for nearly all of them: 2**40 ways, few of them full
    sizes = {11_468: 20} | {240 + i: 1 for i in range(40)}
    found = pack(sizes, capacity=32_768)
    assert found.bins == found.bound == 10  # two of 0.35 to a GPU
    for rng in cases(7, 6, few=2):
        mix = {rng.randint(300, 20_000): rng.randint(1, 30) for _ in range(rng.randint(2, 60))}
        found = pack(mix, capacity=32_768)
        assert found.bound <= found.bins <= found.bound * 1.25 + 1
        used = Counter(s for pattern, times in found.patterns for _ in range(times) for s in pattern)
        assert used == Counter(mix)


@given(st.dictionaries(st.integers(1, 8), st.integers(0, 30), max_size=5), st.integers(1, 8))
def test_more_sizes_never_need_fewer_bins(sizes: dict[int, int], extra: int) -> None:
    more = {**sizes, extra: sizes.get(extra, 0) + 1}
    assert pack(sizes, capacity=8).bins <= pack(more, capacity=8).bins <= pack(sizes, capacity=8).bins + 1


def test_the_bound_without_a_search() -> None:
    assert _bins_bound({}, capacity=4) == 0
    assert _bins_bound({3: 8}, capacity=4) == 8
    assert _bins_bound({1: 9}, capacity=4) == 3
    for rng in cases(5, 200, few=50):
        sizes, capacity = mix(rng)
        assert _bins_bound(sizes, capacity=capacity) <= pack(sizes, capacity=capacity).bins


# ---- cover


def gpus_by_brute_force(needed: tuple[int, ...], layouts: Sequence[tuple[int, ...]]) -> int:
    """Fewest GPUs, every part of a layout being tried on each."""
    parts = {
        part for layout in layouts for part in itertools.product(*(range(n + 1) for n in layout)) if any(part)
    }
    reached, gpus = {needed}, 0
    while (0,) * len(needed) not in reached:
        gpus += 1
        reached = {
            tuple(n - p for n, p in zip(left, part, strict=True))
            for left in reached
            for part in parts
            if all(p <= n for n, p in zip(left, part, strict=True))
        }
    return gpus


def random_layouts(rng: random.Random, profiles: int) -> list[tuple[int, ...]]:
    layouts = [tuple(rng.randint(0, 4) for _ in range(profiles)) for _ in range(rng.randint(1, 4))]
    layouts += [tuple(int(i == p) for i in range(profiles)) for p in range(profiles)]  # each fits alone
    return layouts


def test_cover_is_optimal_on_a_thousand_small_cases() -> None:
    methods: Counter[str] = Counter()
    for rng in cases(11, 1000, few=80):
        profiles = rng.randint(1, 3)
        layouts = random_layouts(rng, profiles)
        needed = tuple(rng.randint(0, 7) for _ in range(profiles))
        found = cover(needed, layouts=layouts)
        best = gpus_by_brute_force(needed, layouts)
        assert found.bins == found.bound == best, (needed, layouts)
        methods[found.method] += 1
        check_cover(needed, layouts, found)
    assert methods["heuristic"] == 0
    assert often(methods["volume"], 300)
    assert often(methods["programme"], 20)


def check_cover(needed: Sequence[int], layouts: Sequence[tuple[int, ...]], found: packing.Packing) -> None:
    for pattern, times in found.patterns:
        assert times > 0
        assert any(all(p <= n for p, n in zip(pattern, layout, strict=True)) for layout in layouts)
    for i, n in enumerate(needed):
        assert sum(pattern[i] * times for pattern, times in found.patterns) == n
    assert sum(times for _, times in found.patterns) == found.bins


def test_cover_of_one_profile_is_a_division() -> None:
    for n in range(50):
        assert cover([n], layouts=[(4,), (3,)])[1:] == (math.ceil(n / 4), math.ceil(n / 4), "volume")
    assert cover([0, 9, 0], layouts=[(1, 2, 1), (0, 3, 0)]).bins == 3


def test_cover_refuses_what_no_layout_holds() -> None:
    with pytest.raises(ValueError, match="no layout holds"):
        cover([1, 1], layouts=[(0, 3)])


def test_large_covers_are_proven() -> None:
    for rng in cases(12, 30, few=8):
        profiles = rng.randint(2, 4)
        layouts = random_layouts(rng, profiles)
        needed = [rng.randint(0, 20_000) for _ in range(profiles)]
        found = cover(needed, layouts=layouts)
        check_cover(needed, layouts, found)
        assert found.bound == found.bins


def test_cover_without_the_programme_is_bounded(few_patterns: None) -> None:
    gaps = 0
    for rng in cases(13, 300, few=50):
        layouts = random_layouts(rng, 3)
        needed = tuple(rng.randint(0, 6) for _ in range(3))
        found = cover(needed, layouts=layouts)
        check_cover(needed, layouts, found)
        assert found.bound <= gpus_by_brute_force(needed, layouts) <= found.bins
        assert (found.method == "heuristic") == (found.bins > found.bound)
        gaps += found.bins > found.bound
    assert often(gaps, 1)


@given(st.tuples(*[st.integers(0, 40)] * 3), st.integers(0, 2))
def test_more_shares_never_need_fewer_gpus(needed: tuple[int, ...], at: int) -> None:
    mig = [(2, 0, 0), (1, 1, 2), (1, 2, 0), (0, 3, 1)]
    more = tuple(n + (i == at) for i, n in enumerate(needed))
    assert (
        cover(needed, layouts=mig).bins
        <= cover(more, layouts=mig).bins
        <= cover(needed, layouts=mig).bins + 1
    )


def test_fractions_for_thousands_of_vms_stay_near_the_bound() -> None:
    rng = random.Random(14)
    mix = {rng.randint(300, 20_000): rng.randint(1, 400) for _ in range(40)}
    found = pack(mix, capacity=49_152)
    assert found.bound <= found.bins <= 1.005 * found.bound


def test_the_largest_that_fits_goes_first() -> None:
    found = Bins.first_fit((6, 4, 3), (2, 1, 3), 10)
    assert found == {(1, 1, 0): 1, (1, 0, 1): 1, (0, 0, 2): 1}
    assert found.count == 3


def test_a_column_is_cut_down_to_what_is_left() -> None:
    uses, left = Bins(), [3, 1]
    uses.take(left, (2, 1), 5)
    assert uses == {(2, 1): 1, (1, 0): 1}
    assert left == [0, 0]


def test_what_columns_leave_is_filled_by_the_rest() -> None:
    found = Bins.filled([(1, 1)], (3, 1), [1], lambda left: Bins.first_fit((2, 1), left, 4))
    assert found == {(1, 1): 1, (2, 0): 1}


def test_the_programme_finds_what_first_fit_misses_and_proves_it() -> None:
    """5, 4, 4, 3, 2, 2 in bins of 10: first fit takes three, two hold them."""
    sizes, counts = (5, 4, 3, 2), (1, 2, 1, 2)

    def rest(left: Sequence[int]) -> Bins:
        return Bins.first_fit(sizes, left, 10)

    columns = [(1, 0, 1, 1), (0, 2, 0, 1), (1, 1, 0, 0), (0, 1, 2, 0)]
    found, bound = Bins.cheapest(columns, counts, rest)
    assert (rest(counts).count, found.count, bound) == (3, 2, 2)
    generated, known = Bins.generated(sizes, counts, 10, 2, rest(counts))
    assert (generated.count, known) == (2, 2)
