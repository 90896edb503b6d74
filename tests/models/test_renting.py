"""Renting: break-even and crossover by hand, and where the costs meet."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuplan.models.cost import (
    gpu_hour_cost,
    installed_gpu_hours,
    used_gpu_hours,
)
from gpuplan.models.renting import breakeven_utilisation, crossover_year, rent_cost


def test_breakeven_by_hand() -> None:
    assert breakeven_utilisation(0.8, rent_hour_price=2) == pytest.approx(0.4)
    assert breakeven_utilisation(3, rent_hour_price=2) == 1.5
    assert breakeven_utilisation(0, rent_hour_price=2) == 0


@given(st.floats(1, 1e8), st.integers(1, 1000), st.floats(0.01, 100))
def test_at_the_breakeven_owning_costs_what_renting_does(own: float, gpus: int, price: float) -> None:
    hours = installed_gpu_hours(gpus)
    share = breakeven_utilisation(gpu_hour_cost(own, gpu_hours=hours), rent_hour_price=price)
    assert rent_cost(hours * share, hour_price=price) == pytest.approx(own)
    assert share > 1 or rent_cost(used_gpu_hours(gpus, utilisation=share / 2), hour_price=price) < own


@pytest.mark.parametrize(
    ("own", "rent", "year"),
    [
        ([900, 100, 100, 100], [0, 400, 400, 400], 3),  # 900, 600, 300, 0 dearer
        ([900, 100, 100], [0, 700, 700], 1.5),  # 900, 300, -300
        ([100, 0], [0, 400], 0.25),
        ([900, 100, 100], [0, 400, 400], None),
        ([0, 100], [0, 50], 0),
        ([100, 900], [200, 0], 0),
        ([100, 0, 500, 0], [0, 200, 200, 200], 0.5),  # a purchase makes it the dearer one again in year 2
        ([400, 0, 300, 0], [0, 300, 300, 300], 2 + 1 / 3),  # 400, 100, 100, -200
        ([1000.5, 0, 0], [0, 1000, 1], 1.5),  # half a unit dearer after year 1 still is dearer
        ([], [], None),
    ],
)
def test_crossover_by_hand(own: list[float], rent: list[float], year: float | None) -> None:
    found = crossover_year(own, rent_cash=rent)
    assert found == (None if year is None else pytest.approx(year))


@given(st.integers(1, 7), st.data())
def test_crossover_is_where_the_running_sums_meet_first(years: int, data: st.DataObject) -> None:
    sums = st.lists(st.integers(0, 1000), min_size=years + 1, max_size=years + 1)
    own, rent = data.draw(sums), data.draw(sums)

    def dearer(at: float) -> float:
        """Own less rent up to a moment, each year's paid evenly over the year."""
        spent = [c - r for c, r in zip(own, rent, strict=True)]
        return spent[0] + sum(paid * min(1, max(0, at - k)) for k, paid in enumerate(spent[1:]))

    found = crossover_year(own, rent_cash=rent)
    until = years if found is None else found
    assert found is None or (0 <= found <= years and dearer(found) <= 1e-9)
    assert all(dearer(until * k / 50) > -1e-9 for k in range(50) if until)
    if found is None:
        assert all(dearer(k) > 0 for k in range(years + 1))
