"""Sharing one GPU: the profile for a share, on every GPU of the catalog, and what goes together; counts come from the table."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest

from gpuplan import Scenario, make_plan
from gpuplan.catalog import Catalog
from gpuplan.models.sharing import Profile, memory_share_mb, smallest_profile
from gpuplan.scenario import Group

SHARES = sorted({*(1 / n for n in range(1, 65)), *(n / 100 for n in range(1, 101)), 2 / 3, 3 / 7, 3 / 8})


def profiles(catalog: Catalog, gpu: str, backing: str) -> list[Profile]:
    rows = [row for row in catalog.profiles_of(gpu) if row["backing"] == backing]
    slices = max((row["compute_slices"] or 0 for row in rows), default=0)
    return [
        Profile(
            row["profile"],
            row["frame_buffer_mb"],
            row["max_per_gpu"],
            backing == "timesliced" and row["full_frame_buffer"],
            row["compute_slices"] or 0,
            slices,
        )
        for row in rows
        if not str(row["mig_profile"] or "").endswith("me")
    ]


def all_gpus(catalog: Catalog, backing: str) -> dict[str, list[Profile]]:
    found = {gpu: profiles(catalog, gpu, backing) for gpu in catalog.gpus}
    return {gpu: rows for gpu, rows in found.items() if rows}


@pytest.mark.parametrize("backing", ["timesliced", "mig"])
def test_what_is_chosen_gives_the_share_and_nothing_smaller_does(catalog: Catalog, backing: str) -> None:
    checked = 0
    for gpu, known in all_gpus(catalog, backing).items():
        full = max(p.frame_buffer_mb for p in known)
        for share in (s for s in SHARES if s < 1):

            def enough(p: Profile, share: float = share, full: int = full) -> bool:
                memory = p.frame_buffer_mb >= share * full * (1 - 1e-12)
                count = p.max_per_gpu > 1 and p.max_per_gpu * share <= 1 + 1e-12
                slices = p.gpu_slices > 0 and p.compute_slices >= share * p.gpu_slices - 1e-9
                # half a slice of compute may be missing
                return (memory or count or slices) and p.compute_slices >= share * p.gpu_slices - 0.5 - 1e-9

            chosen = smallest_profile(share, profiles=known)
            fitting = [p for p in known if enough(p)]
            if chosen is None:
                assert not fitting, (gpu, share)
                continue
            checked += 1
            assert chosen in fitting, (gpu, share, chosen)
            assert all(p.max_per_gpu <= chosen.max_per_gpu for p in fitting), (gpu, share, chosen)
    assert checked > 500


def test_a_smaller_share_never_puts_fewer_on_a_gpu(catalog: Catalog) -> None:
    for known in all_gpus(catalog, "timesliced").values():
        counts = [found.max_per_gpu for s in SHARES if (found := smallest_profile(s, profiles=known))]
        assert counts == sorted(counts, reverse=True)


def test_whole_gpus_get_the_whole_frame_buffer(catalog: Catalog) -> None:
    for gpu, known in all_gpus(catalog, "timesliced").items():
        for gpus in (1, 2, 16):
            whole = smallest_profile(gpus, profiles=known)
            assert whole and whole.max_per_gpu == 1, gpu
            assert whole.frame_buffer_mb == max(p.frame_buffer_mb for p in known), gpu


@pytest.mark.parametrize(
    ("gpu", "share", "profile", "count"),
    [
        ("v100-pcie-32gb", 1 / 8, "V100D-4C", 8),  # 32 GiB / 8
        ("v100-pcie-32gb", 0.3, "V100D-16C", 2),  # 8C is a quarter, too small
        ("h100-nvl-94gb", 0.25, "H100L-23C", 4),  # 23 of 94 is less than a quarter, but four fit
        ("rtx8000-passive-48gb", 0.05, "RTX8000P-6C", 8),  # 48 / 4 would be 12: the board stops at 8
        ("h200-nvl-141gb", 0.01, "H200-4C", 32),  # 141 / 4 would be 35
        ("a16-64gb", 0.25, "A16-4C", 4),  # one of the four GPUs has 16 GB
    ],
)
def test_known_choices(catalog: Catalog, gpu: str, share: float, profile: str, count: int) -> None:
    found = smallest_profile(share, profiles=profiles(catalog, gpu, "timesliced"))
    assert found and (found.name, found.max_per_gpu) == (profile, count)


def test_counts_are_the_table_s_not_quotients(catalog: Catalog) -> None:
    for gpu, name, count in [
        ("rtx8000-passive-48gb", "RTX8000P-4C", 8),
        ("h200-nvl-141gb", "H200-4C", 32),
    ]:
        found = {p.name: p for p in profiles(catalog, gpu, "timesliced")}[name]
        quotient = (
            max(p.frame_buffer_mb for p in profiles(catalog, gpu, "timesliced")) // found.frame_buffer_mb
        )
        assert found.max_per_gpu == count < quotient


@pytest.mark.parametrize(
    ("share", "profile", "count", "slices"),
    [
        (1 / 7, "H100L-1-12C", 7, 1),
        (0.25, "H100L-2-24C", 3, 2),  # four 1-24C fit, but each has 1 of 7 slices only
        (1 / 3, "H100L-2-24C", 3, 2),
        (0.4, "H100L-3-47C", 2, 3),
        (0.5, "H100L-3-47C", 2, 3),  # 3.5 slices: the nearest that is not more is 3
        (0.55, "H100L-4-47C", 1, 4),  # 4 of 7 slices are 0.57, with half the memory
        (0.6, "H100L-7-94C", 1, 7),
    ],
)
def test_mig_gives_memory_and_compute(
    catalog: Catalog, share: float, profile: str, count: int, slices: int
) -> None:
    found = smallest_profile(share, profiles=profiles(catalog, "h100-nvl-94gb", "mig"))
    assert found and (found.name, found.max_per_gpu, found.compute_slices) == (profile, count, slices)


@pytest.mark.parametrize(
    "written", [float, lambda share: int(share * 10**6) / 10**6, lambda share: round(share, 4)]
)
def test_sevenths_are_the_mig_profile_of_as_many_slices(
    catalog: Catalog, written: Callable[[float], float]
) -> None:
    for gpu, known in all_gpus(catalog, "mig").items():
        every = known[0].gpu_slices
        for slices in {p.compute_slices for p in known} - {every}:
            share = min(written(slices / every), slices / every)
            found = smallest_profile(share, profiles=known)
            assert found is not None, gpu
            assert found.compute_slices == slices, (gpu, share, found)


def test_4g_and_3g_share_a_gpu(catalog: Catalog) -> None:
    groups = [
        Group(id, people=people, gpus_each=share, access="mig", remote_allowed=False)
        for id, people, share in (("m", 1, 0.571428), ("n", 1, 0.428571))
    ]
    plan = make_plan(Scenario(groups=tuple(groups)).with_value("hardware.gpu", "a100-pcie-40gb"), catalog)
    assert [group.profile for group in plan.groups] == ["A100-4-20C", "A100-3-20C"]
    assert plan.pools[0].gpus_occupied == 1


def test_seven_mig_slices_to_a_gpu_in_the_plan(catalog: Catalog) -> None:
    # 14 VMs of a seventh on two GPUs, 15 on three
    for people, gpus in [(14, 2), (15, 3)]:
        group = Group("a", people=people, gpus_each=1 / 7, isolation=True)
        plan = make_plan(Scenario(groups=(group,)).with_value("hardware.gpu", "h100-nvl-94gb"), catalog)
        assert plan.groups[0].profile == "H100L-1-12C"
        assert plan.pools[0].gpus_occupied == gpus


def test_an_a16_is_four_gpus(catalog: Catalog) -> None:
    group = Group("a", people=16, gpus_each=0.25)
    scenario = Scenario(groups=(group,)).with_value("hardware.gpu", "a16-64gb")
    assert make_plan(scenario, catalog).pools[0].gpus_occupied == 4  # one board
    with pytest.raises(ValueError, match="a multiple of 4"):
        make_plan(scenario.with_value("hardware.gpus_per_host", 6), catalog)


def test_no_profile() -> None:
    assert smallest_profile(0.5, profiles=[]) is None
    assert smallest_profile(1, profiles=[Profile("half", 100, 2, False)]) is None


@pytest.mark.parametrize("memory", [8, 16, 24, 32, 48, 80, 94, 141, 180])
def test_n_shares_of_one_nth_fit(memory: int) -> None:
    for n in range(1, 101):
        share = memory_share_mb(1 / n, memory_gib=memory)
        assert n * share <= memory * 1024
        assert share == Fraction(memory * 1024, n).__floor__()


def test_memory_share_is_never_nothing() -> None:
    assert memory_share_mb(0.5, memory_gib=32) == 16_384
    assert memory_share_mb(1, memory_gib=32) == 32_768
    assert memory_share_mb(1e-9, memory_gib=8) == 1


# ---- what goes together on one GPU
