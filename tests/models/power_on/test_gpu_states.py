"""One GPU: hand-worked starts, locks and partitions."""

from __future__ import annotations

import pytest
from power_on_cases import MIG, SIZES

from gpuplan.models.gpu_layouts import gpu_layouts
from gpuplan.models.placement import Family, Request
from gpuplan.models.power_on import Gpus, Rules, Way
from gpuplan.models.power_on.gpu_states import NEUTRAL, WHOLE, _whole_gpus

FAMILY = Family("mig", tuple(p.name for p in MIG), gpu_layouts(MIG, region=8, compute_slices=7))


def mig(start: str, *profiles: str) -> list[int | None]:
    """Where each of these profiles begins on a GPU, one after another."""
    requests = [Request(p.name, 7, family=FAMILY, profile=p.name) for p in MIG]
    gpus = Gpus(requests, Rules(ways=(("mig", Way("fullest", start, MIG, 8, 7)),)))
    state, starts = NEUTRAL, list[int | None]()
    for profile in profiles:
        kind = FAMILY.profiles.index(profile)
        starts.append(gpus.start_of(state, kind))
        state = gpus.added(state, kind)
    return starts


def test_the_first_3g_of_a_hopper_gpu_leaves_room_for_a_4g() -> None:
    assert mig("lowest", "3g", "4g") == mig("open", "3g", "4g") == [4, 0]


def test_open_starts_keep_the_large_profiles_possible_and_lowest_ones_do_not() -> None:
    assert mig("open", "1g", "2g", "4g") == [6, 4, 0]
    assert mig("lowest", "1g", "4g") == [0, None]


def test_compute_slices_bind_beside_memory() -> None:
    assert mig("open", "4g", "3g", "1g") == [0, 4, None]  # all seven slices are taken, in memory all eight


def test_mixed_sizes_strand_memory_where_starts_do_not_nest() -> None:
    family = Family("mixed", tuple(p.name for p in SIZES), gpu_layouts(SIZES, region=48))
    requests = [Request(p.name, 4, family=family, profile=p.name) for p in SIZES]
    gpus = Gpus(requests, Rules(ways=(("mixed", Way("fewest", "lowest", SIZES, 48)),)))
    small = gpus.added(NEUTRAL, 4)
    assert gpus.start_of(small, 1) == 24 and gpus.start_of(small, 2) == 32
    assert gpus.added(small, 0) == -1 and gpus.used[small] == 8


def test_a_gpu_is_locked_to_the_size_of_its_first_share_until_it_is_empty_again() -> None:
    half, quarter = (Family(name, (name,), ((most,),)) for name, most in (("16C", 2), ("8C", 4)))
    requests = [Request("a", 2, family=half, profile="16C"), Request("b", 4, family=quarter, profile="8C")]
    gpus = Gpus([*requests, Request("c", 1, gpus=1)], Rules())
    locked = gpus.added(NEUTRAL, 0)
    assert [gpus.added(locked, kind) >= 0 for kind in (0, 1, 2)] == [True, False, False]
    assert gpus.removed(locked, 0, 0) == NEUTRAL and gpus.added(NEUTRAL, 2) == WHOLE


@pytest.mark.parametrize(
    ("free", "count", "domain", "partitions", "taken"),
    [
        (0b11111111, 1, 0, False, 0b1),
        (0b11101110, 2, 4, False, 0b110),
        (0b10101100, 3, 4, False, 0),
        (0b11111111, 5, 4, False, 0b11111),  # no domain holds five: no condition
        (0b11110111, 1, 0, True, 0b100),  # not out of the half that is whole
        (0b11110110, 2, 0, True, 0b110000),  # 1 and 2 are no partition
        (0b11110000, 3, 0, True, 0b11110000),
        (0b01111111, 8, 0, True, 0),
    ],
)
def test_whole_gpus(free: int, count: int, domain: int, partitions: bool, taken: int) -> None:
    assert _whole_gpus(free, count, 8, domain, partitions) == taken


def test_a_profile_without_places_is_refused() -> None:
    family = Family("mig", ("9g",), ((1,),))
    with pytest.raises(ValueError, match="group: there are no places for 9g"):
        Gpus(
            [Request("group", 1, family=family, profile="9g")],
            Rules(ways=(("mig", Way(pieces=MIG, region=8)),)),
        )
