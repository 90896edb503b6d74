"""Hosts of two kinds: against one kind, against every state, and against a simulation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from gpuplan.models.availability import (
    exposed_hours_h,
    host_availability,
    hours_short_h,
    maintenance_chance,
    maintenance_short_h,
)
from gpuplan.models.availability.mixed_hosts_downtime import (
    exposed_of_two_h,
    hours_short_of_two_h,
    maintenance_chance_of_two,
    maintenance_short_of_two_h,
)

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


def carried(old_down: int, new_down: int, new: int, needed: tuple[int, ...]) -> bool:
    return old_down < len(needed) and new - new_down >= needed[old_down]


def share_short(old: int, new: int, needed: tuple[int, ...]) -> float:
    """Every state of every host, added up."""
    short = 0.0
    for state in itertools.product((0, 1), repeat=old + new):
        down = sum(state)
        if not carried(sum(state[:old]), sum(state[old:]), new, needed):
            short += UP ** (old + new - down) * (1 - UP) ** down
    return short


@pytest.mark.parametrize(("old", "new", "needed"), CASES)
def test_hours_against_every_state(old: int, new: int, needed: tuple[int, ...]) -> None:
    found = hours_short_of_two_h(old, new_hosts=new, new_needed=needed, availability=UP)
    assert found == pytest.approx(8760 * share_short(old, new, needed), rel=1e-9)


@pytest.mark.parametrize("hosts", [7, 8, 9, 12])
def test_one_kind_is_what_the_other_functions_say(hosts: int) -> None:
    alone = {"new_hosts": hosts, "new_needed": (7,)}
    hours = 16 * hosts
    assert hours_short_of_two_h(0, availability=UP, **alone) == pytest.approx(
        hours_short_h(hosts, hosts_needed=7, availability=UP)
    )
    assert exposed_of_two_h(0, maintenance_h_per_host=16, **alone) == pytest.approx(
        exposed_hours_h(hosts, hosts_needed=7, maintenance_h=hours)
    )
    assert maintenance_short_of_two_h(
        0, availability=UP, maintenance_h_per_host=16, **alone
    ) == pytest.approx(maintenance_short_h(hosts, hosts_needed=7, availability=UP, maintenance_h=hours))
    assert maintenance_chance_of_two(0, maintenance_h_per_host=16, **RATES, **alone) == pytest.approx(
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
    found = maintenance_chance_of_two(
        old, new_hosts=new, new_needed=needed, maintenance_h_per_host=10, **RATES
    )
    assert found == pytest.approx(-math.expm1(-expected), rel=1e-9)


def test_a_small_host_in_maintenance_is_no_harm_until_a_large_one_fails() -> None:
    # two old hosts of 8 GPUs, four new ones of 2, 16 GPUs demanded: without an old host all four new ones are needed
    needed = (0, 4)
    assert exposed_of_two_h(2, new_hosts=4, new_needed=needed, maintenance_h_per_host=16) == 6 * 16
    down = 1 - UP
    by_hand = 8760 * (down**2 + 2 * UP * down * (1 - UP**4))
    found = hours_short_of_two_h(2, new_hosts=4, new_needed=needed, availability=UP)
    assert found == pytest.approx(by_hand)


def test_the_hours_against_a_simulation() -> None:
    old, new, needed, years = 3, 6, (3, 5), 4000
    rng = np.random.default_rng(7)
    short = np.zeros(years)
    hours = np.arange(0.5, 8760, 20)
    for year in range(years):
        down = np.zeros((old + new, hours.size), dtype=bool)
        for host in range(old + new):
            at, is_up = 0.0, rng.random() < UP
            while at < 8760:
                length = rng.exponential(RATES["mtbf_h"] if is_up else RATES["repair_h"])
                if not is_up:
                    down[host] |= (hours >= at) & (hours < at + length)
                at, is_up = at + length, not is_up
        old_down, new_down = down[:old].sum(0), down[old:].sum(0)
        need = np.array([*needed, new + 1, new + 1])[old_down]
        short[year] = 8760 * np.mean(new - new_down < need)
    found = hours_short_of_two_h(old, new_hosts=new, new_needed=needed, availability=UP)
    assert abs(short.mean() - found) < 2.6 * short.std() / math.sqrt(years)


def test_the_more_new_hosts_the_fewer_hours() -> None:
    hours = [
        hours_short_of_two_h(3, new_hosts=n, new_needed=(3, 5, 7), availability=UP) for n in range(2, 12)
    ]
    assert hours == sorted(hours, reverse=True)
    assert hours[0] == pytest.approx(8760)


def test_what_is_practically_never_carried_is_certain() -> None:
    rates = {"mtbf_h": 24.0, "repair_h": 10_000.0, "maintenance_h_per_host": 10.0}
    assert maintenance_chance_of_two(178, new_hosts=200, new_needed=(150,), **rates) == 1
