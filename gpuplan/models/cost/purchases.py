"""Purchases: when to buy the hosts of a growing demand, what each way costs, and what a wrong guess costs.

A period is a year unless all numbers are of another one. Hosts are paid for at the start of the period for which they are
bought, run from then to the end, and stay. A policy plans with a forecast and sees the demand of a period at its start: what
it orders by forecast comes in time, what it orders on sight comes one lead time late. [gpuplan-method]_
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import mul

from gpuplan.units import above_zero, at_least_one, each, not_negative, whole_from_zero, zero_to_one


@dataclass(frozen=True, slots=True)
class Stock:
    """Hosts of each period, by the policy that buys them."""

    owned: tuple[int, ...]
    """Paid for, also while they are still to come."""
    late: tuple[int, ...]
    """Of those bought in a period, hosts that come one lead time after its start."""
    rented: tuple[int, ...]

    @classmethod
    def with_rent(cls, need_hosts: Sequence[int], owned: Sequence[int]) -> "Stock":
        """Rent what the owned hosts leave, by the period and without waiting."""
        rented = (max(0, need - own) for need, own in zip(need_hosts, owned, strict=True))
        return cls(tuple(owned), (0,) * len(owned), tuple(rented))


def stock_by_forecast(
    need_hosts: Sequence[int],
    *,
    forecast_hosts: Sequence[int],
    lead_years: float = 0.0,
    there: int = 0,
    first: int = 0,
    threshold: float = 1.0,
    block: int = 1,
) -> Stock:
    """Hosts of each period if they are ordered by a forecast, and on sight where demand exceeds it.

    Parameters:
        need_hosts (sequence of int): Hosts that each period turns out to need. [host]
        forecast_hosts (sequence of int): Hosts that each was expected to need when the first were ordered, as many. [host]
        lead_years: Periods from an order to its delivery; the first one is placed so long before the first period. [-]
        there: Hosts that are there before. [-]
        first: Hosts that are to be there in the first period at least: those of the last one to buy all at once. [-]
        threshold: Load, as a share of the hosts, above which more are ordered on sight, not in the last period. Above 0, up to 1. [-]
        block: Hosts of one order. [-]

    An order for period k is placed when the demand of period k - ceil(lead) has been seen, and buys the forecast of k plus
    what that demand was above or below its own forecast. What is seen at the start of k to be missing comes a lead time later.
    With a threshold of 1 and blocks of 1, what each period needs is bought for it.

    >>> stock_by_forecast([2, 3, 5], forecast_hosts=[2, 3, 4], lead_years=0.5)
    Stock(owned=(2, 3, 5), late=(0, 0, 1), rented=(0, 0, 0))
    >>> stock_by_forecast([2, 3, 4], forecast_hosts=[2, 3, 4], threshold=0.8, block=2).owned
    (4, 4, 4)
    """
    _as_many(need_hosts=need_hosts, forecast_hosts=forecast_hosts)
    each(whole_from_zero, need_hosts=need_hosts, forecast_hosts=forecast_hosts)
    not_negative(lead_years=lead_years)
    whole_from_zero(there=there, first=first)
    above_zero(threshold=threshold)
    zero_to_one(threshold=threshold)
    at_least_one(block=block)
    stock, owned, late = there, [], []
    for period, need in enumerate(need_hosts):
        seen = period - math.ceil(lead_years)
        changed = need_hosts[seen] - forecast_hosts[seen] if seen >= 0 else 0
        planned = max(forecast_hosts[period] + changed, 0 if period else first)
        stock = in_time = _in_blocks(stock, planned, block)
        share = threshold if period + 1 < len(need_hosts) else 1.0
        stock = _in_blocks(stock, math.ceil(need / share - 1e-9), block)
        owned.append(stock)
        late.append(stock - in_time)
    return Stock(tuple(owned), tuple(late), (0,) * len(owned))


def _in_blocks(stock: int, wanted: int, block: int) -> int:
    return stock + block * max(0, math.ceil((wanted - stock) / block))


def short_host_years(stock: Stock, *, need_hosts: Sequence[int], lead_years: float) -> tuple[float, ...]:
    """Host-years in each period in which hosts are needed that are not there.

    Parameters:
        stock: Hosts of each period. [-]
        need_hosts (sequence of int): Hosts that each period needs. [host]
        lead_years: Periods after which hosts ordered on sight are there. [-]

    The time within the period of each host that is still to come, longest first, without as many as the need leaves spare. [-]

    >>> short_host_years(Stock((2, 3, 5), (0, 0, 1), (0, 0, 0)), need_hosts=[2, 3, 5], lead_years=0.5)
    (0.0, 0.0, 0.5)
    """
    _as_many(need_hosts=need_hosts, owned=stock.owned)
    each(whole_from_zero, need_hosts=need_hosts, owned=stock.owned, late=stock.late, rented=stock.rented)
    not_negative(lead_years=lead_years)
    short = []
    for period, need in enumerate(need_hosts):
        there = stock.owned[period] + stock.rented[period]
        away = [
            min(1.0, lead_years - (period - at))
            for at, late in enumerate(stock.late[: period + 1])
            for _ in range(late)
            if lead_years > period - at
        ]
        away = sorted([*away, *[1.0] * (need - there)], reverse=True)
        short.append(math.fsum(away[max(0, there - need) :]))
    return tuple(short)


def stock_cost(
    stock: Stock, *, bought_cost: Sequence[float], rent_cost: Sequence[float], there: int = 0
) -> float:
    """Cost of the hosts that are bought and rented in all periods, in today's money.

    Parameters:
        stock: Hosts of each period. [-]
        bought_cost (sequence of float): Cost of one host bought for each period and run to the end, in today's money. [currency]
        rent_cost (sequence of float): Cost of one rented for each period, in today's money; infinite where none is. [currency]
        there: Hosts that are there before, and cost the same in every case. [-]

    Sum over the periods of bought * bought_cost + rented * rent_cost.

    >>> stock_cost(Stock((2, 3), (0, 0), (0, 1)), bought_cost=[1000, 900], rent_cost=[400, 350])
    3250.0
    """
    each(whole_from_zero, owned=stock.owned, late=stock.late, rented=stock.rented)
    _prices(stock.owned, bought_cost, rent_cost, there)
    bought = (now - before for before, now in pairwise((there, *stock.owned)))
    rented = (many * rent for many, rent in zip(stock.rented, rent_cost, strict=True) if many)
    return math.fsum([*map(mul, bought, bought_cost), *rented])


def least_cost_stock(
    need_hosts: Sequence[int], *, bought_cost: Sequence[float], rent_cost: Sequence[float], there: int = 0
) -> Stock:
    """Stock of least cost for a demand that is known: hosts to buy for each period, and to rent until then.

    Parameters:
        need_hosts (sequence of int): Hosts that each period needs. [host]
        bought_cost (sequence of float): Cost of one host bought for each period and run to the end, in today's money. [currency]
        rent_cost (sequence of float): Cost of one rented for each period, in today's money; infinite where none is. [currency]
        there: Hosts that are there before. [-]

    Exact: the n-th host is needed in the periods that need n or more, whichever hosts stand below it, so each is bought for
    the period that costs least with the rent before, or never. The higher host never does better with an earlier period.

    >>> least_cost_stock([2, 3, 5, 4], bought_cost=[100, 80, 60, 40], rent_cost=[30, 30, 30, 30])
    Stock(owned=(2, 3, 4, 4), late=(0, 0, 0, 0), rented=(0, 0, 1, 0))
    """
    each(whole_from_zero, need_hosts=need_hosts)
    _prices(need_hosts, bought_cost, rent_cost, there)
    owned = [there] * len(need_hosts)
    for host in range(there + 1, max(need_hosts, default=0) + 1):
        rents = [rent if need >= host else 0.0 for need, rent in zip(need_hosts, rent_cost, strict=True)]
        by_start = [math.fsum([*rents[:at], *bought_cost[at : at + 1]]) for at in range(len(rents) + 1)]
        start = by_start.index(min(by_start))  # past the last period: never
        owned = [hosts + (at >= start) for at, hosts in enumerate(owned)]
    return Stock.with_rent(need_hosts, owned)


def _prices(
    hosts: Sequence[int], bought_cost: Sequence[float], rent_cost: Sequence[float], there: int
) -> None:
    _as_many(hosts=hosts, bought_cost=bought_cost, rent_cost=rent_cost)
    each(not_negative, bought_cost=bought_cost)
    whole_from_zero(there=there)
    if not all(rent >= 0 for rent in rent_cost):
        raise ValueError(f"rent_cost is {list(rent_cost)}; each must be at least 0, or infinite")


def _as_many(**sequences: Sequence[float]) -> None:
    """Refuse sequences of different numbers of periods, by their names."""
    lengths = {name: len(values) for name, values in sequences.items()}
    if len({*lengths.values()}) > 1:
        raise ValueError(f"{' and '.join(lengths)} have {[*lengths.values()]} periods; all need as many")
