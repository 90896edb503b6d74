"""What maintenance leaves open: by hand, and for hosts of two kinds against one kind and every state."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import t as student

from gpuplan.catalog import Catalog
from gpuplan.models.availability import (
    HOURS_PER_YEAR,
    HostMix,
    exposed_hours_h,
    host_availability,
    hours_short_h,
    maintenance_chance,
    maintenance_hours_h,
    maintenance_short_h,
    mixed_exposed_hours_h,
    mixed_hours_short_h,
    mixed_maintenance_chance,
    mixed_maintenance_short_h,
    stun_time_s,
    worst_stun_time_s,
)


def test_maintenance_hours() -> None:
    assert maintenance_hours_h(8, maintenance_h_per_host=16) == 128
    assert maintenance_hours_h(0, maintenance_h_per_host=16) == 0
    assert maintenance_hours_h(8, maintenance_h_per_host=0) == 0
    assert maintenance_hours_h(10_000, maintenance_h_per_host=16) == HOURS_PER_YEAR


def test_hours_short_during_maintenance_are_those_of_one_host_fewer() -> None:
    for hosts in range(1, 12):
        for needed in range(hosts + 2):
            given = maintenance_short_h(hosts, hosts_needed=needed, availability=0.98, maintenance_h=8760)
            assert given == hours_short_h(hosts - 1, hosts_needed=needed, availability=0.98)
    assert maintenance_short_h(8, hosts_needed=8, availability=1, maintenance_h=128) == 128
    assert maintenance_short_h(9, hosts_needed=8, availability=1, maintenance_h=128) == 0
    one, two = (
        maintenance_short_h(hosts, hosts_needed=8, availability=0.997, maintenance_h=16 * hosts)
        for hosts in (9, 10)
    )
    assert one == pytest.approx(144 * (1 - 0.997**8))
    assert two < one / 50, "what one more host changes"


def test_the_bet_is_open_while_the_only_spare_host_is_in_maintenance() -> None:
    assert exposed_hours_h(8, hosts_needed=7, maintenance_h=128) == 128
    assert exposed_hours_h(9, hosts_needed=7, maintenance_h=144) == 0
    assert exposed_hours_h(7, hosts_needed=7, maintenance_h=112) == 112
    assert exposed_hours_h(0, hosts_needed=0, maintenance_h=0) == 0


def test_the_chance_of_losing_the_bet() -> None:
    rates = {"mtbf_h": 16000, "repair_h": 48}
    by_hand = 1 - math.exp(-7 * 128 / 16000)  # seven hosts left, each failing once in 16000 h, for 128 h
    chance = maintenance_chance(8, hosts_needed=7, maintenance_h=128, **rates)
    assert chance == pytest.approx(
        by_hand, rel=0.03
    )  # the form weighs it with all seven being up at the start
    assert maintenance_chance(7, hosts_needed=7, maintenance_h=112, **rates) == 1
    assert maintenance_chance(8, hosts_needed=7, maintenance_h=0, **rates) == 0
    one_more = maintenance_chance(9, hosts_needed=7, maintenance_h=144, **rates)
    assert 0 < one_more < chance / 10


# ---- hosts of two kinds

RATES = {"mtbf_h": 2000.0, "repair_h": 40.0}
UP = host_availability(2000, repair_h=40)
CASES = [
    (2, 4, (0, 4)),
    (3, 5, (1, 3, 5)),
    (2, 3, (0, 1, 3)),
    (4, 2, (0, 0, 1, 2)),
    (1, 6, (5,)),
    (5, 1, (1, 1, 1)),
]


def by_down(needed: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """New hosts needed, by the old ones of a single kind that are down."""
    return {(down,): new for down, new in enumerate(needed)}


def carried(old_down: int, new_down: int, new: int, needed: tuple[int, ...]) -> bool:
    return old_down < len(needed) and new - new_down >= needed[old_down]


@pytest.mark.parametrize("hosts", [7, 8, 9, 12])
def test_one_kind_is_what_the_other_functions_say(hosts: int) -> None:
    alone = HostMix([], hosts, {(): 7})
    hours = 16 * hosts
    assert mixed_hours_short_h(alone, availability=UP) == pytest.approx(
        hours_short_h(hosts, hosts_needed=7, availability=UP)
    )
    assert mixed_exposed_hours_h(alone, maintenance_h_per_host=16) == pytest.approx(
        exposed_hours_h(hosts, hosts_needed=7, maintenance_h=hours)
    )
    assert mixed_maintenance_short_h(alone, availability=UP, maintenance_h_per_host=16) == pytest.approx(
        maintenance_short_h(hosts, hosts_needed=7, availability=UP, maintenance_h=hours)
    )
    assert mixed_maintenance_chance(alone, maintenance_h_per_host=16, **RATES) == pytest.approx(
        maintenance_chance(hosts, hosts_needed=7, maintenance_h=hours, **RATES)
    )


@pytest.mark.parametrize(("old", "new", "needed"), CASES)
def test_the_chance_against_every_state(old: int, new: int, needed: tuple[int, ...]) -> None:
    expected = 0.0
    for old_left, new_left, need, hours in [
        (old - 1, new, needed[1:], 10 * old),
        (old, new - 1, needed, 10 * new),
    ]:
        if not carried(0, 0, new_left, need):
            expected = math.inf
            continue
        fine = ends = 0.0
        for i, j in itertools.product(range(old_left + 1), range(new_left + 1)):
            if not carried(i, j, new_left, need):
                continue
            here = math.comb(old_left, i) * math.comb(new_left, j)
            here *= UP ** (old_left + new_left - i - j) * (1 - UP) ** (i + j)
            fine += here
            if i < old_left and not carried(i + 1, j, new_left, need):
                ends += here * (old_left - i) / RATES["mtbf_h"]
            if j < new_left and not carried(i, j + 1, new_left, need):
                ends += here * (new_left - j) / RATES["mtbf_h"]
        expected += hours * ends / fine
    found = mixed_maintenance_chance(HostMix([old], new, by_down(needed)), maintenance_h_per_host=10, **RATES)
    assert found == pytest.approx(-math.expm1(-expected), rel=1e-9)


def test_a_small_host_in_maintenance_is_no_harm_until_a_large_one_fails() -> None:
    # two old hosts of 8 GPUs, four new ones of 2, 16 GPUs demanded: without an old host all four new ones are needed
    needed = by_down((0, 4))
    assert mixed_exposed_hours_h(HostMix([2], 4, needed), maintenance_h_per_host=16) == 6 * 16
    down = 1 - UP
    by_hand = 8760 * (down**2 + 2 * UP * down * (1 - UP**4))
    found = mixed_hours_short_h(HostMix([2], 4, needed), availability=UP)
    assert found == pytest.approx(by_hand)


def test_what_is_practically_never_carried_is_certain() -> None:
    rates = {"mtbf_h": 24.0, "repair_h": 10_000.0, "maintenance_h_per_host": 10.0}
    assert mixed_maintenance_chance(HostMix([178], 200, by_down((150,))), **rates) == 1


def test_hosts_of_several_kinds_against_every_state() -> None:
    """4 hosts of 1 GPU, 2 of 6 and a new one of 4, for 12 GPUs: only without a host of 6 does it matter what fails."""
    gpus, demand = [1, 1, 1, 1, 6, 6, 4], 12
    needed = {
        (small, large): max(0, -(-(demand - (4 - small) - 6 * (2 - large)) // 4))
        for small in range(5)
        for large in range(3)
    }
    mix, often = HostMix([4, 2], 1, needed), {"maintenance_h_per_host": 10.0}
    exposed = short = expected = 0.0
    for host in range(len(gpus)):
        left = [*gpus[:host], *gpus[host + 1 :]]
        exposed += 10 * any(sum(left) - lost < demand for lost in left)
        fine = ends = 0.0
        for state in itertools.product((0, 1), repeat=len(left)):
            here = UP ** sum(state) * (1 - UP) ** (len(left) - sum(state))
            there = sum(gpu for gpu, up in zip(left, state, strict=True) if up)
            if there < demand:
                short += 10 * here
                continue
            fine += here
            ends += here * sum(there - g < demand for g, up in zip(left, state, strict=True) if up)
        expected += 10 * ends / fine / RATES["mtbf_h"]
    assert mixed_exposed_hours_h(mix, **often) == pytest.approx(exposed)
    assert mixed_maintenance_short_h(mix, availability=UP, **often) == pytest.approx(short, rel=1e-9)
    found = mixed_maintenance_chance(mix, **often, **RATES)
    assert found == pytest.approx(-math.expm1(-expected), rel=1e-9)


def test_stun_by_hand() -> None:
    assert stun_time_s(0, fixed_s=1.5, copy_rate_gb_s=0.8) == 1.5
    assert stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8) == 41.5


def test_worst_stun_by_hand() -> None:
    rates = {"fixed_s": 1, "copy_rate_gb_s": 0.4, "memory_rate_gb_s": 4}
    assert worst_stun_time_s(32, vm_memory_gb=32, **rates) == 1 + 80 + 8
    assert worst_stun_time_s(0, vm_memory_gb=16, **rates) == 5
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == 21
    assert worst_stun_time_s(0, vm_memory_gb=0, **rates) == 1
    assert worst_stun_time_s(8, vm_memory_gb=0, **rates) == stun_time_s(8, fixed_s=1, copy_rate_gb_s=0.4)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(
            (name, -1)
            for name in ("vgpu_gb", "vm_memory_gb", "fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
        ),
        ("copy_rate_gb_s", 0),
        ("memory_rate_gb_s", 0),
        ("vgpu_gb", math.nan),
        ("memory_rate_gb_s", math.nan),
        ("vm_memory_gb", math.inf),
        ("copy_rate_gb_s", math.inf),
        ("memory_rate_gb_s", math.inf),
    ],
)
def test_worst_stun_refuses(field: str, value: float) -> None:
    good = {
        "vgpu_gb": 1,
        "vm_memory_gb": 1,
        "fixed_s": 1,
        "copy_rate_gb_s": 1,
        "memory_rate_gb_s": 1,
        field: value,
    }
    with pytest.raises(ValueError, match=f"^{field} is {value}; it must be "):
        worst_stun_time_s(good.pop("vgpu_gb"), **good)


def test_the_worst_stun_is_the_least_squares_fit_of_the_worst_cases(catalog: Catalog) -> None:
    rows = [row for row in catalog.rows("stun_times") if row["vm_memory_gb"]]
    assert len(rows) == 24 and {row["vsphere"] for row in rows} == {"7.0"}
    sizes = np.array([(1, row["frame_buffer_gb"], row["vm_memory_gb"]) for row in rows])
    stuns = np.array([row["stun_s"] for row in rows])
    fitted, squares, *_ = np.linalg.lstsq(sizes, stuns, rcond=None)
    errors = np.sqrt(np.diag(np.linalg.inv(sizes.T @ sizes)) * squares[0] / 21)
    wide = student.ppf(0.975, 21) * errors

    item = catalog.assumptions["vmotion-worst-stun-10g"]
    names = ("fixed_s", "copy_rate_gb_s", "memory_rate_gb_s")
    fixed, copied, memory = (item.fact(name) for name in names)
    assert {item.fact(name).basis for name in names} == {"fitted"}
    assert (fixed.value, fixed.low, fixed.high) == pytest.approx(
        (fitted[0], fitted[0] - wide[0], fitted[0] + wide[0]), abs=5e-4
    )
    for fact, slope, by in ((copied, fitted[1], wide[1]), (memory, fitted[2], wide[2])):
        expected = 1 / slope, 1 / (slope + by), 1 / (slope - by)
        assert (fact.value, fact.low, fact.high) == pytest.approx(expected, rel=1e-3)

    chosen = {name: float(item.fact(name).value) for name in names}
    measured = catalog.assumptions["vmotion-stun-10g"]
    line = {name: float(measured.fact(name).value) for name in names[:2]}
    off = []
    for row in rows:
        vgpu, stun = row["frame_buffer_gb"], row["stun_s"]
        worst = worst_stun_time_s(vgpu, vm_memory_gb=row["vm_memory_gb"], **chosen)
        off.append(abs(worst - stun))
        assert worst > stun_time_s(vgpu, **line)
    assert max(off) < 2
    assert max(off) == pytest.approx(0.50, abs=0.02) and np.mean(off) == pytest.approx(0.27, abs=0.01)


@pytest.mark.parametrize(
    ("name", "version", "gpu"),
    [
        ("vmotion-stun-10g", "7.0", "v100-pcie-32gb"),
        ("vmotion-stun-10g-6.7u3-volta", "6.7u3", "v100-pcie-32gb"),
        ("vmotion-stun-10g-6.7u3", "6.7u3", "p40-24gb"),
    ],
)
def test_stuns_are_within_two_seconds_of_those_measured(
    catalog: Catalog, name: str, version: str, gpu: str
) -> None:
    item = catalog.assumptions[name]
    line = {field: float(item.fact(field).value) for field in ("fixed_s", "copy_rate_gb_s")}
    rows = [row for row in catalog.rows("stun_times") if (row["vsphere"], row["gpu"]) == (version, gpu)]
    assert len(rows) == 6
    for row in rows:
        assert abs(stun_time_s(row["frame_buffer_gb"], **line) - row["stun_s"]) < 2, row
