"""Licences: how many are counted, and what subscriptions and terms of them cost in each year, as ``cost`` counts years."""

from numbers import Integral

from gpuplan.units import not_negative

MINIMUM_CORES = 16
"""Cores per socket that are licensed at least, in VMware's per-core subscriptions. [-]"""


def licensed_cores(
    hosts: int, *, sockets: int, cores_per_socket: int, minimum_cores: int = MINIMUM_CORES
) -> int:
    """Cores to license where each socket counts at least a minimum.

    Parameters
    ----------
    hosts : int
        Hosts with the software. [host]
    sockets : int
        Processors in each host. [-]
    cores_per_socket : int
        Physical cores of each processor. [-]
    minimum_cores : int
        Cores that a processor counts at least. [-]

    Returns
    -------
    licensed_cores : int
        Cores to pay for. [-]

    Notes
    -----
    hosts * sockets * max(minimum_cores, cores_per_socket). The minimum holds for each processor, not for the host.
    Packs of cores that a vendor may sell are not in it.

    Examples
    --------
    >>> licensed_cores(8, sockets=2, cores_per_socket=24)
    384
    >>> licensed_cores(8, sockets=2, cores_per_socket=12)
    256

    References
    ----------
    .. [1] veeam-community-licensing-2024
    """
    _whole(hosts=hosts, sockets=sockets, cores_per_socket=cores_per_socket, minimum_cores=minimum_cores)
    return hosts * sockets * max(minimum_cores, cores_per_socket)


def licensed_sockets(hosts: int, *, sockets: int, cores_per_socket: int, cores_per_licence: int = 32) -> int:
    """Licences by the socket where one covers so many cores of it.

    Parameters
    ----------
    hosts : int
        Hosts. [host]
    sockets : int
        Sockets of a host. [-]
    cores_per_socket : int
        Cores of a socket. [-]
    cores_per_licence : int
        Cores of one socket that a licence covers. [-]

    Returns
    -------
    licensed_sockets : int
        Licences. [-]

    Raises
    ------
    ValueError
        If one is not a whole number, or too small.

    Notes
    -----
    hosts * sockets * ceil(cores / cores per licence). VMware counts so since April 2020.

    Examples
    --------
    >>> licensed_sockets(8, sockets=2, cores_per_socket=28)
    16
    >>> licensed_sockets(8, sockets=2, cores_per_socket=48)
    32

    References
    ----------
    .. [1] vmware-cpu-pricing-2020
    """
    _whole(hosts=hosts)
    _whole(1, sockets=sockets, cores_per_socket=cores_per_socket, cores_per_licence=cores_per_licence)
    return hosts * sockets * -(-cores_per_socket // cores_per_licence)


def subscription_cost(
    licences: float, *, yearly_price: float, year: int, bought_year: int = 0, years_included: int = 0
) -> float:
    """Cost of a yearly subscription, or of yearly support, in one year.

    Parameters
    ----------
    licences : float
        Licences: GPUs, cores or sockets. [-]
    yearly_price : float
        Price of one for a year. [currency]
    year : int
        Year asked for, from 1. [-]
    bought_year : int
        Year in which what is licensed was bought; 0 is the start. [-]
    years_included : int
        First years of operation that the purchase already covers. [-]

    Returns
    -------
    subscription_cost : float
        Cost in that year. [currency]

    Notes
    -----
    licences * yearly_price if year >= max(bought_year, 1) + years_included, else 0. The first year of operation is
    year 1 for what is bought at the start and year b for what is bought in year b; included years count from it.

    Examples
    --------
    >>> [subscription_cost(4, yearly_price=100, year=year, years_included=2) for year in (1, 2, 3, 4)]
    [0, 0, 400, 400]
    >>> [subscription_cost(4, yearly_price=100, year=year, bought_year=3) for year in (1, 2, 3, 4)]
    [0, 0, 400, 400]

    References
    ----------
    .. [1] nvidia-licensing-wiki
    .. [2] gpuplan-method
    """
    not_negative(licences=licences, yearly_price=yearly_price)
    _whole(bought_year=bought_year, years_included=years_included)
    _whole(1, year=year)
    paid = year >= max(bought_year, 1) + years_included
    return licences * yearly_price if paid else 0


def term_licence_purchases(
    licences: float,
    *,
    price: float,
    term_years: int,
    horizon_years: int,
    bought_year: int = 0,
    years_included: int = 0,
) -> tuple[float, ...]:
    """Yearly cash for licences that are paid in advance for a term, and again when it runs out.

    Parameters
    ----------
    licences : float
        Licences: GPUs, cores or sockets. [-]
    price : float
        Price of one for the whole term. [currency]
    term_years : int
        Years that one purchase covers, at least 1. [-]
    horizon_years : int
        Last year that is planned for. [-]
    bought_year : int
        Year in which what is licensed was bought; 0 is the start. [-]
    years_included : int
        First years of operation that the purchase already covers. [-]

    Returns
    -------
    term_licence_purchases : tuple of float
        Cost at the start and in each year: index 0 to horizon_years. [currency]

    Notes
    -----
    licences * price at bought_year + years_included, and every term_years after it, as long as the first year that
    the purchase covers, max(bought_year, 1) + years_included + ..., is not beyond horizon_years. The last term is
    paid in full even if it reaches beyond the horizon. So a term that follows years 1 to 5 is paid at the end
    of year 5, and one for something bought in year b in the year it begins, as the first was.

    Examples
    --------
    >>> term_licence_purchases(4, price=100, term_years=3, horizon_years=7)
    (400, 0, 0, 400, 0, 0, 400, 0)
    >>> term_licence_purchases(4, price=100, term_years=3, horizon_years=3)
    (400, 0, 0, 0)
    >>> term_licence_purchases(4, price=100, term_years=5, horizon_years=7, years_included=5)
    (0, 0, 0, 0, 0, 400, 0, 0)

    References
    ----------
    .. [1] nvidia-licensing-wiki
    .. [2] gpuplan-method
    """
    not_negative(licences=licences, price=price)
    _whole(horizon_years=horizon_years, bought_year=bought_year, years_included=years_included)
    _whole(1, term_years=term_years)
    last = horizon_years - max(bought_year, 1) + bought_year
    paid = range(bought_year + years_included, last + 1, term_years)
    return tuple(licences * price if year in paid else 0 for year in range(horizon_years + 1))


def _whole(least: int = 0, /, **given: int) -> None:
    """Refuse what is not a whole number from the least on, by its name."""
    for name, value in given.items():
        if not isinstance(value, Integral) or value < least:
            raise ValueError(f"{name} is {value}; it must be a whole number, at least {least}")
