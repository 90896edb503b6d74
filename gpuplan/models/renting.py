"""Renting: cost of GPUs by the hour, and when owning them is cheaper."""

from collections.abc import Sequence
from itertools import accumulate

from gpuplan.units import above_zero, finite, not_negative


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
