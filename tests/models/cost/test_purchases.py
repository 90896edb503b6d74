"""Purchases: by hand, against every schedule of small cases, and what more lead time and a threshold do."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from gpuplan.models.cost import later_price
from gpuplan.models.cost.purchases import (
    Stock,
    least_cost_stock,
    short_host_years,
    stock_by_forecast,
    stock_cost,
)


def bought_host_cost(
    period: int,
    *,
    periods: int,
    price: float,
    yearly_change: float = 0.0,
    running_cost: float = 0.0,
    rate: float = 0.0,
) -> float:
    """A host bought for a period and run from then to the end, in today's money."""
    paid = later_price(price, yearly_change=yearly_change, year=period) / (1 + rate) ** period
    return paid + sum(running_cost / (1 + rate) ** (at + 1) for at in range(period, periods))


def every_schedule(need: tuple[int, ...], there: int, rent: bool) -> Iterator[Stock]:
    """Each way to own hosts, never fewer than before, and to rent what they leave."""
    most = max(*need, there)
    for owned in itertools.combinations_with_replacement(range(there, most + 1), len(need)):
        stock = Stock.with_rent(need, owned)
        if rent or not any(stock.rented):
            yield stock


@pytest.mark.parametrize("seed", range(300))
def test_the_least_cost_is_that_of_all_schedules(seed: int) -> None:
    draw = random.Random(seed)
    periods = draw.randint(1, 5)
    need = tuple(draw.randint(0, 5) for _ in range(periods))
    there, rent, rate = draw.randint(0, 2), draw.random() < 0.7, draw.choice((0.0, 0.08))
    about: dict[str, Any] = {"price": draw.randint(1, 9) * 100, "yearly_change": draw.choice((-0.3, 0, 0.2))}
    about |= {"running_cost": draw.randint(0, 3) * 50, "rate": rate, "periods": periods}
    bought = [bought_host_cost(at, **about) for at in range(periods)]
    hire = draw.randint(1, 9) * 60 if rent else math.inf
    rents = [hire / (1 + rate) ** (at + 1) for at in range(periods)]
    costs: dict[str, Any] = {"bought_cost": bought, "rent_cost": rents, "there": there}
    found = least_cost_stock(need, **costs)
    least = min(stock_cost(stock, **costs) for stock in every_schedule(need, there, rent))
    assert stock_cost(found, **costs) == pytest.approx(least, rel=1e-12)
    assert found.owned[0] >= there and list(found.owned) == sorted(found.owned)
    assert all(a + b >= n for a, b, n in zip(found.owned, found.rented, need, strict=True))
    assert sum(short_host_years(found, need_hosts=need, lead_years=0.5)) == 0


def test_hosts_ordered_on_sight_are_late_and_those_of_the_forecast_are_not() -> None:
    stock = stock_by_forecast([3, 5, 8, 8], forecast_hosts=[2, 3, 4, 5], lead_years=0.5, there=1)
    # year 1: one more than forecast; year 2: forecast 3 + 1, needs 5; year 3: 4 + 2, needs 8; year 4: 5 + 4 above what it needs
    assert stock == Stock((3, 5, 8, 9), (1, 1, 2, 0), (0, 0, 0, 0))
    assert short_host_years(stock, need_hosts=[3, 5, 8, 8], lead_years=0.5) == (0.5, 0.5, 1.0, 0.0)


def test_a_lead_time_over_a_year_leaves_hosts_away_in_the_next() -> None:
    stock = Stock((4, 4, 4), (2, 0, 0), (0, 0, 0))
    assert short_host_years(stock, need_hosts=[3, 4, 4], lead_years=1.25) == (1.0, 0.5, 0.0)
    assert short_host_years(Stock((2,), (0,), (1,)), need_hosts=[5], lead_years=0) == (2.0,)


@pytest.mark.parametrize("seed", range(60))
def test_more_lead_time_is_never_cheaper_nor_less_short(seed: int) -> None:
    draw = random.Random(seed)
    forecast = list(itertools.accumulate((draw.randint(0, 3) for _ in range(5)), initial=2))
    apart = list(itertools.accumulate((draw.randint(0, 2) for _ in range(5)), initial=0))
    sign = draw.choice((-1, 1))
    need = [max(0, hosts + sign * more) for hosts, more in zip(forecast, apart, strict=True)]
    bought = [bought_host_cost(at, periods=6, price=1000, running_cost=80, rate=0.07) for at in range(6)]
    how: dict[str, Any] = draw.choice(
        ({"threshold": 1.0, "block": 1}, {"threshold": 0.8, "block": draw.randint(1, 3)})
    )
    before = (0.0, 0.0)
    for lead in (0, 0.3, 0.8, 1, 1.6, 2.5):
        stock = stock_by_forecast(need, forecast_hosts=forecast, lead_years=lead, **how)
        cost = stock_cost(stock, bought_cost=bought, rent_cost=[math.inf] * 6)
        short = sum(short_host_years(stock, need_hosts=need, lead_years=lead))
        if how == {"threshold": 1.0, "block": 1}:  # a block may come for the next year, too
            assert cost >= before[0] - 1e-9 and short >= before[1] - 1e-9
        before = (cost, short)
        in_time = stock_by_forecast(need, forecast_hosts=need, lead_years=lead, **how)
        if how["threshold"] == 1:
            assert not any(in_time.late)
        if how["threshold"] == 1 or lead <= 1:  # else hosts for the load of a year are still away in the next
            assert sum(short_host_years(in_time, need_hosts=need, lead_years=lead)) == 0


@pytest.mark.parametrize("seed", range(60))
def test_hosts_are_conserved(seed: int) -> None:
    draw = random.Random(seed)
    need, forecast = ([draw.randint(0, 9) for _ in range(5)] for _ in range(2))
    there, block, share = draw.randint(0, 4), draw.randint(1, 4), draw.choice((0.7, 1.0))
    first = draw.choice((0, max(forecast)))
    about: dict[str, Any] = {"there": there, "first": first, "threshold": share, "block": block}
    stock = stock_by_forecast(need, forecast_hosts=forecast, lead_years=draw.random() * 2, **about)
    bought = [now - before for before, now in itertools.pairwise((there, *stock.owned))]
    assert all(many >= late >= 0 and many % block == 0 for many, late in zip(bought, stock.late, strict=True))
    assert stock.owned[0] >= max(there, forecast[0], first)
    assert all(have >= want / share - 1e-9 for have, want in zip(stock.owned[:-1], need[:-1], strict=True))
    assert stock.owned[-1] >= need[-1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: stock_by_forecast([1, 2], forecast_hosts=[1]), "need_hosts and forecast_hosts have"),
        (lambda: stock_by_forecast([1], forecast_hosts=[1], threshold=1.2), "threshold is 1.2"),
        (lambda: least_cost_stock([1], bought_cost=[1], rent_cost=[math.nan]), "rent_cost is"),
        (lambda: stock_cost(Stock((1,), (0,), (0,)), bought_cost=[math.nan], rent_cost=[1]), "bought_cost is nan"),
    ],
)  # fmt: skip
def test_what_is_no_schedule_is_refused_by_name(call: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
