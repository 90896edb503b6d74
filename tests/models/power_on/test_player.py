"""One order of power-on watched: forward and back, who is on which GPU, and why a VM does not start."""

from __future__ import annotations

from gpuplan.models.gpu_layouts import Piece
from gpuplan.models.placement import Family, Load, Request, Room
from gpuplan.models.power_on import Play, Rules, Way

HALF = Family("24C", ("24C",), ((2,),))
QUARTER = Family("12C", ("12C",), ((4,),))
KINDS = (
    Request("whole", 2, gpus=2),
    Request("half", 4, family=HALF, profile="24C"),
    Request("quarter", 4, family=QUARTER, profile="12C"),
)
ROOMS = (Room(2), Room(2))


def played(order: list[int]) -> Play:
    return Play(KINDS, ROOMS, Rules(), order)


def test_forward_and_back_end_where_they_began() -> None:
    play = played([1, 2, 1, 2, 0, 0])
    seen = []
    for at in range(7):
        play.go(at)
        seen.append(play.cluster.hosts())
    assert seen[0] == ((), ())
    for at in (3, 6, 0, 5, 1, 2, 4):
        play.go(at)
        assert play.cluster.hosts() == seen[at]
    play.go(99)
    assert (play.at, play.cluster.hosts()) == (6, seen[6])
    play.go(-1)
    assert (play.at, play.now) == (0, None)


def test_vms_that_do_not_start_are_numbered_in_their_order() -> None:
    """Shares spread over four GPUs: none is left for two whole ones."""
    assert played([1, 2, 1, 2, 0, 0]).refused == (5, 6)
    assert played([0, 0, 1]).refused == (3,)
    assert played([0, 1, 1, 1, 1]).refused == ()


def test_each_gpu_with_what_is_on_it() -> None:
    """Host 1 gives its GPUs to one VM, host 2 a GPU to each size."""
    play = played([0, 1, 2])
    play.go(3)
    first, second = play.cluster.by_gpu()
    assert [load.slots[0].group for load in first if load] == ["whole", "whole"]
    assert [load and load.family for load in second] == [HALF, QUARTER]
    assert play.joins(1, 0) == ("24C",) and play.joins(0, 0) == ()
    play.go(1)
    assert play.cluster.by_gpu()[1] == [None, None]
    assert play.joins(1, 0) == ("24C", "12C")


def test_a_whole_gpu_is_where_its_vm_has_it() -> None:
    """Of four GPUs a VM with one has the first, one with two then the second pair: the second GPU stays free."""
    kinds = (Request("one", 1, gpus=1), Request("two", 1, gpus=2))
    play = Play(kinds, (Room(4),), Rules(partitions=True), [0, 1])
    play.go(2)
    (gpus,) = play.cluster.by_gpu()
    assert [load.slots[0].group if load else "" for load in gpus] == ["one", "", "two", "two"]
    assert play.cluster.hosts() == ((Load(1, (gpus[0].slots[0],)), Load(2, (gpus[2].slots[0],))),)  # type: ignore[union-attr]


def test_where_shares_begin_on_a_gpu() -> None:
    """A large piece that may only begin at 0, and a small one that goes to 4 to keep 0 open."""
    family = Family("mig", ("3g", "1g"), ((1, 1),))
    places = (Piece("4g", 4, (0,), 1), Piece("3g", 4, (0, 4), 2), Piece("1g", 1, (0, 1, 2, 3, 4, 5, 6, 7), 7))
    kinds = (Request("a", 2, family=family, profile="3g"), Request("b", 1, family=family, profile="1g"))
    rules = Rules(ways=(("mig", Way("fullest", "open", places, 8)),))
    play = Play(kinds, (Room(1),), rules, [0, 1, 0])
    play.go(2)
    assert play.places(0, 0)[-1] == (4, 4)
    assert play.region(0, 0) == 8
    play.go(3)
    refusal = play.refusal()
    assert (refusal.full, refusal.locked, refusal.open) == (1, (), 0)


def test_why_whole_gpus_are_not_there() -> None:
    play = played([1, 2, 1, 2, 0])
    play.go(5)
    refusal = play.refusal()
    assert (refusal.gpus, refusal.neutral, refusal.whole, refusal.free_on_a_host) == (4, 0, 0, 0)
    assert dict(refusal.locked) == {("24C",): 2, ("12C",): 2}


def test_why_a_share_has_no_place() -> None:
    """Both GPUs of its size are full, one is another size's, one is a VM's."""
    kinds = (*KINDS[1:], Request("one", 1, gpus=1))
    play = Play(
        kinds, ROOMS, Rules(ways=(("24C", Way("fullest")), ("12C", Way("fullest")))), [2, 1, 0, 0, 0, 0, 0]
    )
    play.go(7)
    refusal = play.refusal()
    assert (refusal.full, refusal.whole, refusal.neutral, refusal.open) == (2, 1, 0, 0)
    assert refusal.locked == ((("12C",), 1),)
    assert refusal.short_of == ()


def test_memory_that_is_short_where_a_gpu_is_free() -> None:
    kinds = (Request("a", 2, gpus=1, vcpus=4, memory_gib=64),)
    play = Play(kinds, (Room(2, 16, 100),), Rules(), [0, 0])
    play.go(2)
    assert play.refusal().short_of == ("memory",)
    assert play.refusal().free_on_a_host == 1
