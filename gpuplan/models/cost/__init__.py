"""Cost: purchases, yearly cash and its present value, cost per GPU-hour, rent or buy, and the range of a total.

Money is in one currency, whichever the prices use. Yearly cash is a sequence: index 0 is the start, index k the end of
year k, which is the start of year k + 1; paying is positive. What year k runs on is paid at its end, index k; advance
payments and purchases for it at its start, index k - 1. What is bought at index b runs in years b + 1, b + 2, ...
[gpuplan-method]_
"""

import math
from collections.abc import Sequence
from itertools import accumulate

from gpuplan.models.availability import HOURS_PER_YEAR
from gpuplan.units import above_zero, finite, not_negative, zero_to_one

__all__ = ["allocated_cost", "avoided_hour_price", "breakeven_utilisation", "combined_range"]
__all__ += ["crossover_year", "gpu_hour_cost", "installed_gpu_hours", "later_price", "net_present_cost"]
__all__ += ["planned_utilisation", "purchase_cost", "rent_cost", "selling_price", "total_cost"]
__all__ += ["used_gpu_hours"]


def purchase_cost(quantity: float, *, unit_price: float, discount: float = 0.0) -> float:
    """Cost of buying a quantity of one item, less a discount.

    Parameters:
        quantity: How many, or how much. [-]
        unit_price: Price of one. [currency]
        discount: Share of the price that is taken off, 0 to 1. [-]

    quantity * unit_price * (1 - discount).

    >>> purchase_cost(8, unit_price=12000)
    96000.0
    >>> purchase_cost(8, unit_price=12000, discount=0.25)
    72000.0
    """
    not_negative(quantity=quantity, unit_price=unit_price)
    zero_to_one(discount=discount)
    return quantity * unit_price * (1.0 - discount)


def later_price(price: float, *, yearly_change: float, year: int) -> float:
    """Price of an item bought in a later year.

    Parameters:
        price: Price at the start. [currency]
        yearly_change: Share by which the price changes from one year to the next, above -1; negative if it falls. [-]
        year: Years from the start to the purchase. [-]

    price * (1 + yearly_change) ** year. The change is nominal if the discount rate is.

    >>> later_price(10000, yearly_change=-0.5, year=2)
    2500.0
    """
    not_negative(price=price, year=year)
    above_zero(yearly_change=1.0 + yearly_change)
    return price * (1.0 + yearly_change) ** year


def selling_price(purchase_price: float, *, margin: float) -> float:
    """Selling price that includes a given margin.

    Parameters:
        purchase_price: What the seller pays for one. [currency]
        margin: Share of the selling price that the seller keeps, below 1. [-]

    purchase_price / (1 - margin), rounded to two decimals, so that the price of an offer is one that can be written down.
    What would round to nothing is not rounded, and without a margin nothing is.

    >>> selling_price(8500, margin=0.2)
    10625.0
    >>> selling_price(100, margin=0.18)
    121.95
    """
    not_negative(purchase_price=purchase_price, margin=margin)
    if margin >= 1:
        raise ValueError(f"margin is {margin!r}; it must be below 1")
    if margin == 0:
        return purchase_price
    price = purchase_price / (1.0 - margin)
    return round(price, 2) or price


def planned_utilisation(busy_gpus: float, *, gpus: float, stated: float | None = None) -> float:
    """Share of all GPU-hours that are used: as stated, or GPUs allocated on average over GPUs installed.

    Parameters:
        busy_gpus: GPUs allocated on average. [GPU]
        gpus: GPUs installed. [GPU]
        stated: What the customer expects instead, 0 to 1. [-]

    min(1, busy / installed). Spare hosts count as installed. A GPU that is held may still idle: holding, not computing, is
    what keeps others away from it.

    >>> planned_utilisation(14, gpus=16)
    0.875
    >>> planned_utilisation(14, gpus=16, stated=0.3)
    0.3
    """
    not_negative(busy_gpus=busy_gpus)
    above_zero(gpus=gpus)
    if stated is not None:
        zero_to_one(stated=stated)
        return stated
    return min(1.0, busy_gpus / gpus)


def total_cost(*parts_cost: float) -> float:
    """Total of all parts.

    Parameters:
        *parts_cost: Cost of each part; negative for what comes in. [currency]

    The sum, rounded once, so that the order of the parts does not matter; 0 without parts. Over several years it
    is the cost without discounting.

    >>> total_cost(1200, 300.5, -100)
    1400.5
    """
    finite("parts_cost", parts_cost)
    return math.fsum(parts_cost)


def net_present_cost(cash: Sequence[float], *, rate: float) -> float:
    """Cost of all years in today's money.

    Parameters:
        cash (sequence of float): Cost at the start and at the end of each year; negative for what comes in. [currency]
        rate: Discount rate per year, 0 to 1: 0.08 is 8 per cent. [-]

    cash[0] + sum of cash[k] / (1 + rate) ** k for k = 1, 2, ... A spreadsheet has it as C0 + NPV(rate, C1..Cn): its
    NPV discounts the first value already. What is paid during a year counts at its end. Prices and rate are either
    both with inflation or both without. [microsoft-npv-function]_ [adobe-formcalc-npv]_
    [brealey-myers-corporate-finance]_

    >>> round(net_present_cost([1000, 500, 1500, 4000, 10000], rate=0.1), 4)
    12529.6086
    >>> net_present_cost([1000, 100, 100], rate=0)
    1200.0
    """
    finite("cash", cash)
    zero_to_one(rate=rate)
    return math.fsum(amount / (1 + rate) ** year for year, amount in enumerate(cash))


def installed_gpu_hours(gpus: float) -> float:
    """GPU-hours per year if every GPU were in use all the time.

    Parameters:
        gpus: GPUs there are. [GPU]

    gpus * 8760. Failures and maintenance are not taken off. [walker-cpu-hour-2009]_

    >>> installed_gpu_hours(32)
    280320
    """
    not_negative(gpus=gpus)
    return gpus * HOURS_PER_YEAR


def used_gpu_hours(gpus: float, *, utilisation: float) -> float:
    """GPU-hours per year in which a GPU is in use.

    Parameters:
        gpus: GPUs there are. [GPU]
        utilisation: Share of the installed GPU-hours that are used, 0 to 1. [-]

    gpus * 8760 * utilisation. Used means given to a user, however busy the GPU is meanwhile. [walker-cpu-hour-2009]_

    >>> used_gpu_hours(32, utilisation=0.5)
    140160.0
    """
    zero_to_one(utilisation=utilisation)
    return installed_gpu_hours(gpus) * utilisation


def gpu_hour_cost(total_cost: float, *, gpu_hours: float) -> float:
    """Cost of one GPU-hour: cost divided by the GPU-hours of the same period, both discounted or neither.

    Parameters:
        total_cost: Cost over the whole horizon, or its present value. [currency]
        gpu_hours: GPU-hours over the same time, installed or used, discounted if the cost is. [-]

    total_cost / gpu_hours. Per installed GPU-hour it is what an idle GPU costs too; per used GPU-hour the users
    carry the idle hours. [walker-cpu-hour-2009]_

    >>> gpu_hour_cost(560640, gpu_hours=280320)
    2.0
    """
    finite("total_cost", [total_cost])
    above_zero(gpu_hours=gpu_hours)
    return total_cost / gpu_hours


def avoided_hour_price(extra_cost: float, *, hours_removed_h: float) -> float:
    """Cost of avoiding one hour of capacity shortfall.

    Parameters:
        extra_cost: What the safer design costs more. [currency]
        hours_removed_h: Hours at risk that it has fewer, over the same time. [h]

    extra_cost / hours_removed_h. Negative if the safer design costs less: then there is nothing to weigh.

    >>> avoided_hour_price(50000, hours_removed_h=625)
    80.0
    """
    finite("extra_cost", [extra_cost])
    above_zero(hours_removed_h=hours_removed_h)
    return extra_cost / hours_removed_h


def allocated_cost(total_cost: float, *, shares: Sequence[float]) -> tuple[float, ...]:
    """Cost allocated to groups by their shares.

    Parameters:
        total_cost: Cost to divide. [currency]
        shares (sequence of float): What each group counts, for example its used GPU-hours; not below 0, not all 0. [-]

    total_cost * share / sum of shares. Only the ratios of the shares matter.

    >>> allocated_cost(900, shares=[2, 1, 0])
    (600.0, 300.0, 0.0)
    """
    finite("total_cost", [total_cost])
    for share in shares:
        not_negative(shares=share)
    whole = math.fsum(shares)
    if whole <= 0:
        raise ValueError(f"shares is {list(shares)}; one at least must be above 0")
    return tuple(total_cost * (share / whole) for share in shares)


def rent_cost(used_gpu_hours: float, *, hour_price: float) -> float:
    """Cost of renting GPUs by the hour for the hours of use.

    Parameters:
        used_gpu_hours: GPU-hours that are used. [-]
        hour_price: Rent of one GPU for one hour. [currency]

    used_gpu_hours * hour_price: no rent for idle hours. Data transfer and storage at the provider are not in it.
    [walker-cpu-hour-2009]_

    >>> rent_cost(1000, hour_price=2.5)
    2500.0
    """
    not_negative(used_gpu_hours=used_gpu_hours, hour_price=hour_price)
    return used_gpu_hours * hour_price


def breakeven_utilisation(installed_gpu_hour_cost: float, *, rent_hour_price: float) -> float:
    """Utilisation above which owning costs less than renting by the hour.

    Parameters:
        installed_gpu_hour_cost: Own cost of one installed GPU-hour. [currency]
        rent_hour_price: Rent of one such GPU for one hour. [currency]

    Above 1 renting costs less at any utilisation. installed_gpu_hour_cost / rent_hour_price: owning costs the same
    however much is used, apart from a part of the energy, and rent is paid for used hours. Both must be levelled at the
    same rate. [walker-cpu-hour-2009]_

    >>> breakeven_utilisation(0.75, rent_hour_price=2.5)
    0.3
    """
    not_negative(installed_gpu_hour_cost=installed_gpu_hour_cost)
    above_zero(rent_hour_price=rent_hour_price)
    return installed_gpu_hour_cost / rent_hour_price


def crossover_year(own_cash: Sequence[float], *, rent_cash: Sequence[float]) -> float | None:
    """When the cumulative cost of owning first drops to that of renting.

    Parameters:
        own_cash (sequence of float): Cost of owning at the start and in each year. [currency]
        rent_cash (sequence of float): Cost of renting at the start and in each year, as many. [currency]

    Years from the start; 0 if owning is no dearer at once, None if it never is within these years. [-] The first zero
    of the difference of the two running sums, on a straight line within each year. A later purchase may make owning the
    dearer one again; only the first time counts. Discount both beforehand for the discounted payback.
    [walker-cpu-hour-2009]_ [brealey-myers-corporate-finance]_

    >>> crossover_year([900, 100, 100], rent_cash=[0, 700, 700])
    1.5
    >>> crossover_year([900, 100, 100], rent_cash=[0, 300, 300])
    """
    if len(own_cash) != len(rent_cash):
        raise ValueError(f"own_cash has {len(own_cash)} years, rent_cash {len(rent_cash)}; both need as many")
    finite("own_cash", own_cash)
    finite("rent_cash", rent_cash)
    before = 0.0
    dearer = accumulate(own - rent for own, rent in zip(own_cash, rent_cash, strict=True))
    for year, now in enumerate(dearer):
        if now <= 0:
            return year - 1 + before / (before - now) if year else 0.0
        before = now
    return None


def combined_range(
    planned: float, *, ends: Sequence[tuple[float, float]], outermost: tuple[float, float] | None = None
) -> tuple[float, float]:
    """Range of a total whose causes of uncertainty do not depend on each other.

    Parameters:
        planned: Total as planned. [currency]
        ends (sequence of tuple of float): Total with each cause at its low and at its high end, everything else as planned.
            [currency]
        outermost (tuple of float or None): Total with all causes at their low and at their high end; None if it is not known.
            [currency]

    Low and high. [currency] low = planned - sqrt(sum of (planned - lower end) ** 2), high = planned + sqrt(sum of
    (higher end - planned) ** 2): the root sum of squares, each side for itself. What shares a cause, such as the price
    of every GPU, belongs to one pair of ends and moves together. Exact for independent normal causes and a total that
    is linear in them; with skewed ranges it is off by a few per cent of the range, and never beyond ``outermost``:
    where causes multiply, the root sum of squares alone can go further than all of them together. [jcgm-gum-2008]_

    >>> combined_range(100, ends=[(97, 103), (96, 108)])
    (95.0, 108.54400374531753)
    >>> combined_range(100, ends=[])
    (100.0, 100.0)
    >>> combined_range(100, ends=[(25, 100), (25, 100)], outermost=(6.25, 100))
    (6.25, 100.0)
    """
    most = (
        (-math.inf, math.inf) if outermost is None else (min(planned, *outermost), max(planned, *outermost))
    )
    if not math.isfinite(math.fsum([planned, *(end for pair in [*ends, outermost or ()] for end in pair)])):
        raise ValueError(
            f"planned is {planned}, ends are {list(ends)} and outermost is {outermost}; all must be finite"
        )
    below = math.hypot(*(max(0.0, planned - min(pair)) for pair in ends))
    above = math.hypot(*(max(0.0, max(pair) - planned) for pair in ends))
    return max(planned - below, most[0]), min(planned + above, most[1])
