"""Power and space: hosts by hand, limits of racks by brute force, units, directions, and refused inputs."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.power import (
    emissions_kg,
    energy_kwh,
    facility_power_w,
    heat_btu_h,
    host_power_w,
    hosts_per_rack,
    rack_units_u,
    racks,
    total_power_w,
    typical_power_w,
)

WATTS = st.floats(0, 1e6)
SHARES = st.floats(0, 1)
COUNTS = st.integers(0, 64)


# ---- watts


def test_a_host_by_hand() -> None:
    # 800 W, four boards of 250 W and two adapters of 18 W behind supplies of 96 %
    assert host_power_w(4, base_w=800, board_w=250) == 1800
    assert host_power_w(4, base_w=800, board_w=250, adapters=2, adapter_w=18) == 1836
    assert host_power_w(
        4, base_w=800, board_w=250, adapters=2, adapter_w=18, psu_efficiency=0.96
    ) == pytest.approx(1836 / 0.96)
    assert host_power_w(0, base_w=500, board_w=300) == 500


def test_a_board_of_four_gpus_counts_once() -> None:
    assert host_power_w(2, base_w=600, board_w=250) - host_power_w(1, base_w=600, board_w=250) == 250


@given(COUNTS, WATTS, WATTS, COUNTS, WATTS, st.floats(0.5, 1))
def test_more_of_anything_never_draws_less(
    boards: int, base: float, board: float, adapters: int, adapter: float, efficiency: float
) -> None:
    host = {
        "boards": boards,
        "base_w": base,
        "board_w": board,
        "adapters": adapters,
        "adapter_w": adapter,
        "psu_efficiency": efficiency,
    }
    power = host_power_w(**host)
    assert math.isfinite(power) and power >= base
    for name in set(host) - {"psu_efficiency"}:
        assert host_power_w(**{**host, name: host[name] + 1}) >= power
    assert host_power_w(**{**host, "psu_efficiency": 1}) <= power


def test_typical_power_by_hand() -> None:
    assert typical_power_w(2000, idle_share=0.3, load=0) == pytest.approx(600)
    assert typical_power_w(2000, idle_share=0.3, load=0.5) == pytest.approx(1300)
    assert typical_power_w(2000, idle_share=0.3, load=1) == pytest.approx(2000)
    assert typical_power_w(2000, idle_share=0, load=0.25) == 500
    assert typical_power_w(2000, idle_share=1, load=0) == 2000


@given(WATTS, SHARES, SHARES, SHARES)
def test_typical_power_lies_between_idle_and_peak_and_grows_with_load(
    peak: float, idle: float, load: float, other: float
) -> None:
    low, high = (typical_power_w(peak, idle_share=idle, load=x) for x in sorted((load, other)))
    assert idle * peak * (1 - 1e-12) <= low <= high * (1 + 1e-12) <= peak * (1 + 1e-11)


@given(st.lists(WATTS, max_size=8), st.lists(WATTS, max_size=8))
def test_a_total_is_the_sum_of_its_parts(some: list[float], others: list[float]) -> None:
    assert total_power_w(*some, *others) == pytest.approx(total_power_w(*some) + total_power_w(*others))
    assert total_power_w(*some) == total_power_w(*reversed(some)) >= max(some, default=0)


def test_sums_without_parts_are_zero() -> None:
    assert total_power_w() == 0
    assert rack_units_u() == 0
    assert rack_units_u(16, 2, 0.5) == 18.5


# ---- heat, energy, emissions


def test_a_watt_is_3_412141633_btu_per_hour() -> None:
    assert heat_btu_h(1) == pytest.approx(3.412141633, abs=5e-10)
    assert heat_btu_h(0) == 0
    # NIST SP 811: one BTU (International Table) per hour is 2.930711 E-01 W; a ton of cooling, 12000 BTU/h, 3.516853 kW
    assert heat_btu_h(0.2930711) == pytest.approx(1, abs=1e-6)
    assert heat_btu_h(3516.853) == pytest.approx(12000, abs=1e-2)


def test_facility_power() -> None:
    assert facility_power_w(10000, pue=1.4) == pytest.approx(14000)
    assert facility_power_w(10000, pue=1) == 10000


def test_energy_and_emissions_by_hand() -> None:
    assert energy_kwh(1000) == 8760
    assert energy_kwh(250, hours_h=24) == 6
    assert energy_kwh(250, hours_h=0) == 0
    # 14 kW all year: 122,640 kWh; at 0.4 kg for each about 49 t
    assert energy_kwh(14000) == 122640
    assert emissions_kg(energy_kwh(14000), grid_kg_kwh=0.4) == pytest.approx(49056)
    assert emissions_kg(1000, grid_kg_kwh=0) == 0


@given(WATTS, st.integers(1, 24))
def test_energy_adds_up_over_time(power: float, parts: int) -> None:
    assert sum(energy_kwh(power, hours_h=8760 / parts) for _ in range(parts)) == pytest.approx(
        energy_kwh(power)
    )


# ---- racks


@pytest.mark.parametrize(
    ("host_u", "host_w", "rack_kw", "hosts"),
    [
        (2, 1800, 17.3, 9),  # 16.2 kW; a tenth host would make 18
        (2, 600, 17.3, 19),  # 38 U; power would carry 28
        (8, 10200, 17.3, 1),
        (8, 17300, 17.3, 1),  # exactly at the limit
        (8, 17301, 17.3, 0),  # one host alone draws too much
        (39, 100, 17.3, 0),  # one host alone is too high
        (38, 100, 17.3, 1),
        (2, 0, 17.3, 19),  # without power only the height counts
        (2, 600, 0, 0),
        (1, 435, 4.35, 10),  # 4.35 * 1000 is below 4350 in floats
        (2, 1600 / 0.96, 5, 3),  # 1666.67 W thrice is 5 kW
        (0.1, 0, 17.3, 380),
    ],
)
def test_hosts_per_rack_by_hand(host_u: float, host_w: float, rack_kw: float, hosts: int) -> None:
    found = hosts_per_rack(host_u, host_w=host_w, rack_units_u=42, reserved_u=4, rack_kw=rack_kw)
    assert found == hosts and isinstance(found, int)


@given(st.integers(1, 12), st.integers(1, 12000), st.integers(0, 52), st.integers(0, 8), st.integers(0, 400))
def test_hosts_per_rack_is_the_most_that_fits(
    host_u: int, host_w: int, high: int, reserved: int, tenths: int
) -> None:
    found = hosts_per_rack(
        host_u, host_w=host_w, rack_units_u=high + reserved, reserved_u=reserved, rack_kw=tenths / 10
    )

    def fits(hosts: int) -> bool:
        return hosts * host_u <= high and Fraction(hosts * host_w) <= 100 * tenths

    assert found == sum(fits(hosts) for hosts in range(1, 60))


@given(st.integers(0, 500), st.integers(1, 40))
def test_racks_are_as_few_as_hold_all(hosts: int, each: int) -> None:
    found = racks(hosts, hosts_per_rack=each)
    assert found * each >= hosts
    assert found == 0 if hosts == 0 else (found - 1) * each < hosts


def test_no_host_needs_no_rack_even_if_none_would_fit() -> None:
    assert racks(0, hosts_per_rack=0) == 0


# ---- refused


RACK = {"host_w": 1000, "rack_units_u": 42, "reserved_u": 4, "rack_kw": 17}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: host_power_w(-1, base_w=800, board_w=250),
            "boards is -1; it must be at least 0, and finite",
        ),
        (
            lambda: host_power_w(4, base_w=math.nan, board_w=250),
            "base_w is nan; it must be at least 0, and finite",
        ),
        (
            lambda: host_power_w(4, base_w=800, board_w=math.inf),
            "board_w is inf; it must be at least 0, and finite",
        ),
        (lambda: host_power_w(4, base_w=800, board_w=250, adapters=-2), "adapters is -2"),
        (lambda: host_power_w(4, base_w=800, board_w=250, adapter_w=-2), "adapter_w is -2"),
        (
            lambda: host_power_w(4, base_w=800, board_w=250, psu_efficiency=0),
            "psu_efficiency is 0; it must be above 0",
        ),
        (
            lambda: host_power_w(4, base_w=800, board_w=250, psu_efficiency=96),
            "psu_efficiency is 96; it must be from 0 to 1",
        ),
        (lambda: typical_power_w(-5, idle_share=0.3, load=0.5), "peak_w is -5"),
        (
            lambda: typical_power_w(5, idle_share=1.2, load=0.5),
            "idle_share is 1.2; it must be from 0 to 1",
        ),
        (lambda: typical_power_w(5, idle_share=0.2, load=math.nan), "load is nan; it must be from 0 to 1"),
        (lambda: total_power_w(5, -1), "parts_w is -1"),
        (lambda: rack_units_u(5, math.inf), "parts_u is inf"),
        (lambda: heat_btu_h(-1), "power_w is -1"),
        (lambda: facility_power_w(1000, pue=0.9), "pue is 0.9; it must be at least 1, and finite"),
        (lambda: facility_power_w(1000, pue=math.inf), "pue is inf; it must be at least 1, and finite"),
        (lambda: facility_power_w(-1, pue=1.4), "it_power_w is -1"),
        (lambda: energy_kwh(1000, hours_h=-1), "hours_h is -1"),
        (lambda: emissions_kg(1000, grid_kg_kwh=-0.1), "grid_kg_kwh is -0.1"),
        (lambda: hosts_per_rack(0, **RACK), "host_u is 0; it must be above 0, and finite"),
        (lambda: hosts_per_rack(2, **{**RACK, "rack_kw": -1}), "rack_kw is -1"),
        (
            lambda: hosts_per_rack(2, **{**RACK, "reserved_u": 43}),
            "reserved_u is 43; it must be at most rack_units_u, 42",
        ),
        (
            lambda: racks(3, hosts_per_rack=0),
            "hosts_per_rack is 0: one host is more than a rack may carry",
        ),
        (lambda: racks(-3, hosts_per_rack=4), "hosts is -3"),
    ],
)
def test_bad_input_is_refused(call: Callable[[], float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        call()
