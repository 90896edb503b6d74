"""Licences: quantities to order, and yearly costs of subscriptions and purchases, with years as in ``cost``."""

from collections.abc import Sequence

from gpuplan.units import at_least_one, not_negative, whole_from_zero

MINIMUM_CORES = 16
"""Cores per socket that are licensed at least, in VMware's per-core subscriptions. [-]"""


def licensed_cores(
    hosts: int,
    *,
    sockets: int,
    cores_per_socket: int,
    minimum_cores: int = MINIMUM_CORES,
    minimum_order: int = 0,
) -> int:
    """Cores to license, with a minimum per socket and per order.

    Parameters:
        hosts: Hosts with the software. [host]
        sockets: Processors in each host. [-]
        cores_per_socket: Physical cores of each processor. [-]
        minimum_cores: Cores that a processor counts at least. [-]
        minimum_order: Cores that an order holds at least. [-]

    hosts * sockets * max(minimum_cores, cores_per_socket), at least minimum_order unless there is no host. The first
    minimum holds for each processor, not for the host. Packs of cores that a vendor may sell are not in it.
    [veeam-community-licensing-2024]_ [redress-vcf-2026]_

    >>> licensed_cores(8, sockets=2, cores_per_socket=24)
    384
    >>> licensed_cores(8, sockets=2, cores_per_socket=12)
    256
    >>> licensed_cores(1, sockets=2, cores_per_socket=24, minimum_order=72)
    72
    """
    whole_from_zero(
        hosts=hosts, sockets=sockets, cores_per_socket=cores_per_socket, minimum_cores=minimum_cores
    )
    cores = hosts * sockets * max(minimum_cores, cores_per_socket)
    return ordered_licences([cores], minimum_order=minimum_order)[0]


def licensed_sockets(hosts: int, *, sockets: int, cores_per_socket: int, cores_per_licence: int = 32) -> int:
    """Licences per socket, each covering a number of cores.

    Parameters:
        hosts: Hosts. [host]
        sockets: Sockets of a host. [-]
        cores_per_socket: Cores of a socket. [-]
        cores_per_licence: Cores of one socket that a licence covers. [-]

    hosts * sockets * ceil(cores / cores per licence). VMware counts so since April 2020. [vmware-cpu-pricing-2020]_

    >>> licensed_sockets(8, sockets=2, cores_per_socket=28)
    16
    >>> licensed_sockets(8, sockets=2, cores_per_socket=48)
    32
    """
    whole_from_zero(hosts=hosts)
    at_least_one(sockets=sockets, cores_per_socket=cores_per_socket, cores_per_licence=cores_per_licence)
    return hosts * sockets * -(-cores_per_socket // cores_per_licence)


def ordered_licences(needed: Sequence[int], *, minimum_order: int) -> tuple[int, ...]:
    """Licences to order in each year where an order has a minimum.

    Parameters:
        needed (sequence of int): Licences needed in each year. [-]
        minimum_order: Licences that an order holds at least. [-]

    What is needed beyond those ordered before, at least minimum_order; nothing where those suffice. Every addition is an
    order of its own. [redress-vcf-2026]_

    >>> ordered_licences([64, 64, 128], minimum_order=72)
    (72, 0, 72)
    """
    whole_from_zero(minimum_order=minimum_order)
    orders: list[int] = []
    for many in needed:
        whole_from_zero(needed=many)
        missing = many - sum(orders)
        orders.append(max(missing, minimum_order) if missing > 0 else 0)
    return tuple(orders)


def subscription_payments(
    licences: float,
    *,
    yearly_price: float,
    horizon_years: int,
    term_years: int = 1,
    renewal_price: float | None = None,
    bought_year: int = 0,
    years_included: int = 0,
) -> tuple[float, ...]:
    """Yearly payments for a subscription or support paid in advance for a term.

    Parameters:
        licences: Licences: GPUs, cores or sockets; or the price of what is supported. [-]
        yearly_price: Price of one for a year, within a term. [currency]
        horizon_years: Last year that is planned for. [-]
        term_years: Years that are paid at once. [-]
        renewal_price: Price of one for a year where a year is bought alone; None if it is the same. [currency]
        bought_year: Years from the start to the purchase of what is licensed. [-]
        years_included: First years of operation that the purchase already covers. [-]

    At the start and in each year: index 0 to horizon_years. [currency] A term costs licences * yearly_price *
    term_years when it begins: one that begins with year k is paid at index k - 1. The first year of operation is
    bought_year + 1. The first term is bought whole, even if it reaches beyond the horizon; a renewal that would do so,
    also that of included years, is bought by the year at renewal_price. [atonement-vcf-licensing]_ [gpuplan-method]_

    >>> subscription_payments(4, yearly_price=100, horizon_years=5, term_years=3, renewal_price=120)
    (1200, 0.0, 0.0, 480, 480, 0.0)
    >>> subscription_payments(4, yearly_price=100, horizon_years=3, years_included=1)
    (0.0, 400, 400, 0.0)
    >>> subscription_payments(4, yearly_price=100, horizon_years=3, term_years=3, renewal_price=120, years_included=1)
    (0.0, 480, 480, 0.0)
    """
    alone = yearly_price if renewal_price is None else renewal_price
    not_negative(licences=licences, yearly_price=yearly_price, renewal_price=alone)
    whole_from_zero(horizon_years=horizon_years, bought_year=bought_year, years_included=years_included)
    at_least_one(term_years=term_years)
    paid = [0.0] * (horizon_years + 1)
    year = first = bought_year + 1 + years_included
    while year <= horizon_years:
        whole = (year == first and not years_included) or year + term_years - 1 <= horizon_years
        price, years = (yearly_price, term_years) if whole else (alone, 1)
        paid[year - 1] = licences * price * years
        year += years
    return tuple(paid)


def perpetual_payment(
    licences: float, *, price: float, horizon_years: int, bought_year: int = 0, years_included: int = 0
) -> tuple[float, ...]:
    """Yearly payments for licences bought once, after the years included with the purchase.

    Parameters:
        licences: Licences: GPUs or sockets. [-]
        price: Price of one. [currency]
        horizon_years: Last year that is planned for. [-]
        bought_year: Years from the start to the purchase of what is licensed. [-]
        years_included: First years of operation that the purchase already covers. [-]

    At the start and in each year: index 0 to horizon_years. [currency] licences * price at bought_year +
    years_included, the start of the first year to cover, if that year is within the horizon. [nvidia-licensing-wiki]_
    [gpuplan-method]_

    >>> perpetual_payment(4, price=100, horizon_years=3)
    (400, 0.0, 0.0, 0.0)
    >>> perpetual_payment(4, price=100, horizon_years=3, years_included=5)
    (0.0, 0.0, 0.0, 0.0)
    """
    not_negative(licences=licences, price=price)
    whole_from_zero(horizon_years=horizon_years, bought_year=bought_year, years_included=years_included)
    paid = [0.0] * (horizon_years + 1)
    if bought_year + years_included < horizon_years:
        paid[bought_year + years_included] = licences * price
    return tuple(paid)
