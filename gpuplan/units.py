"""Units: the suffix of a name and the unit it stands for, conversion constants, and what a quantity may be.

Every quantity in gpuplan carries its unit in its name. A test reads this table and the
docstrings and fails where the two disagree. A name without a suffix is a count or a ratio.
"""

import math
from fractions import Fraction
from functools import lru_cache

SUFFIX = {
    "gib": "GiB",
    "mb": "MB",
    "gb": "GB",
    "gb_s": "GB/s",
    "gbit_s": "Gbit/s",
    "tflops": "TFLOP/s",
    "w": "W",
    "kw": "kW",
    "kwh": "kWh",
    "s": "s",
    "us": "us",
    "h": "h",
    "mm": "mm",
    "u": "U",
    "gpus": "GPU",
    "hosts": "host",
    "vms": "VM",
    "pct": "%",
    "cost": "currency",
    "price": "currency",
    "usd": "USD",
    "kg": "kg",
    "kg_kwh": "kg/kWh",
    "btu_h": "BTU/h",
}
"""Suffix of a name -> its unit, as written in docstrings, data and on the screen."""

MIB_PER_GIB = 1024
"""Frame buffers are listed in MiB (vendors print MB), GPU memory in GiB."""


@lru_cache(maxsize=4096)
def exact(value: float) -> Fraction:
    """The fraction that a decimal input stands for, so that 0.1 is a tenth and 0.333333 a third.

    Parameters
    ----------
    value : float
        A count, a share, or a fraction of a GPU. [-]

    Returns
    -------
    exact : Fraction
        A fraction with a denominator up to 100 that is less than half a millionth away, or one up to 10000
        that is the same to twelve digits; else the decimal as it stands. [-]

    Examples
    --------
    >>> exact(0.1) * 30
    Fraction(3, 1)
    >>> exact(1 / 3)
    Fraction(1, 3)
    """
    given = Fraction(str(value))
    near = given.limit_denominator(10_000)
    away = abs(near - given)
    typed = near != 0 and near.denominator <= 100 and away * 2_000_000 < 1
    return near if typed or away * 10**12 < abs(given) else given


def above_zero(**given: float) -> None:
    """Refuse a quantity that is not above 0 and finite, by its name.

    Parameters
    ----------
    **given : float
        Name and value of each quantity. [-]

    Raises
    ------
    ValueError
        Naming the first that is not.

    Examples
    --------
    >>> above_zero(link_gbit_s=10)
    """
    for name, value in given.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be above 0, and finite")


def not_negative(**given: float) -> None:
    """Refuse a quantity that is below 0 or not finite, by its name.

    Parameters
    ----------
    **given : float
        Name and value of each quantity. [-]

    Raises
    ------
    ValueError
        Naming the first that is.

    Examples
    --------
    >>> not_negative(sent_mb=0)
    """
    for name, value in given.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; it must be at least 0, and finite")
