"""Hosts of two kinds: the hours a year in which those that are up do not carry the demand.

Where hosts already there have other GPUs than new ones, it matters which fail. What is needed is known for each
number of old hosts that are down: so many new hosts must be up (``new_needed``); with more old hosts down than
are listed the demand is never carried. Hosts fail and are repaired independently, all at the same rate.
"""

import math
from collections.abc import Iterator, Sequence

from gpuplan.models.availability.downtime import (
    HOURS_PER_YEAR,
    chance_exactly,
    chance_fewer,
    host_availability,
)


def hours_short_of_two_h(
    old_hosts: int, *, new_hosts: int, new_needed: Sequence[int], availability: float
) -> float:
    """Expected hours per year in which failures leave too few hosts of two kinds for the demand.

    Parameters
    ----------
    old_hosts : int
        Hosts already there. [host]
    new_hosts : int
        New hosts. [host]
    new_needed : sequence of int
        New hosts that must be up when 0, 1, 2, ... old ones are down. [host]
    availability : float
        Share of time a host is up. [-]

    Returns
    -------
    hours_short_of_two_h : float
        Expected hours per year. [h]

    Notes
    -----
    8760 * sum over i of P(i old hosts down) * P(fewer than new_needed[i] new hosts up), both binomial; i beyond the
    list counts as short.

    Examples
    --------
    >>> round(hours_short_of_two_h(0, new_hosts=8, new_needed=[7], availability=0.99), 1)
    23.6

    References
    ----------
    .. [1] vmware-sap-formula-2013
    """
    listed = min(old_hosts + 1, len(new_needed))
    short = math.fsum(
        chance_exactly(old_hosts, old_hosts - down, availability=availability)
        * chance_fewer(new_hosts, new_needed[down], availability=availability)
        for down in range(listed)
    )
    return HOURS_PER_YEAR * min(
        1.0, short + chance_fewer(old_hosts, old_hosts + 1 - listed, availability=availability)
    )


def exposed_of_two_h(
    old_hosts: int, *, new_hosts: int, new_needed: Sequence[int], maintenance_h_per_host: float
) -> float:
    """Hours per year in which a host of two kinds is in maintenance and some one failure more is too much.

    Parameters
    ----------
    old_hosts : int
        Hosts already there. [host]
    new_hosts : int
        New hosts. [host]
    new_needed : sequence of int
        New hosts that must be up when 0, 1, 2, ... old ones are down. [host]
    maintenance_h_per_host : float
        Hours per year that each host is in maintenance. [h]

    Returns
    -------
    exposed_of_two_h : float
        Hours per year. [h]

    Notes
    -----
    For each kind: its maintenance hours, if without one of its hosts the loss of any one host more, of either kind,
    leaves too few. One host in maintenance at a time, at most 8760 hours in all.

    Examples
    --------
    >>> exposed_of_two_h(0, new_hosts=8, new_needed=[7], maintenance_h_per_host=16)
    128.0

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    exposed = 0.0
    for hours, old, new, needed in _maintained(old_hosts, new_hosts, new_needed, maintenance_h_per_host):
        more = [(1, 0)] * (old > 0) + [(0, 1)] * (new > 0)
        if not all(_carried(*loss, new, needed) for loss in [(0, 0), *more]):
            exposed += hours
    return exposed


def maintenance_short_of_two_h(
    old_hosts: int,
    *,
    new_hosts: int,
    new_needed: Sequence[int],
    availability: float,
    maintenance_h_per_host: float,
) -> float:
    """Expected hours per year of maintenance in which failures leave too few hosts of two kinds.

    Parameters
    ----------
    old_hosts : int
        Hosts already there. [host]
    new_hosts : int
        New hosts. [host]
    new_needed : sequence of int
        New hosts that must be up when 0, 1, 2, ... old ones are down. [host]
    availability : float
        Share of time a host is up. [-]
    maintenance_h_per_host : float
        Hours per year that each host is in maintenance. [h]

    Returns
    -------
    maintenance_short_of_two_h : float
        Expected hours per year. [h]

    Notes
    -----
    For each kind: its maintenance hours times the share of time in which the other hosts do not carry the demand.

    Examples
    --------
    >>> round(maintenance_short_of_two_h(0, new_hosts=8, new_needed=[7], availability=0.997,
    ...                                  maintenance_h_per_host=16), 2)
    2.66

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return math.fsum(
        hours
        * hours_short_of_two_h(old, new_hosts=new, new_needed=needed, availability=availability)
        / HOURS_PER_YEAR
        for hours, old, new, needed in _maintained(old_hosts, new_hosts, new_needed, maintenance_h_per_host)
    )


def maintenance_chance_of_two(
    old_hosts: int,
    *,
    new_hosts: int,
    new_needed: Sequence[int],
    mtbf_h: float,
    repair_h: float,
    maintenance_h_per_host: float,
) -> float:
    """Chance that in a year of maintenance a failure leaves too few hosts of two kinds at least once.

    Parameters
    ----------
    old_hosts : int
        Hosts already there. [host]
    new_hosts : int
        New hosts. [host]
    new_needed : sequence of int
        New hosts that must be up when 0, 1, 2, ... old ones are down. [host]
    mtbf_h : float
        Mean time between failures of a host. [h]
    repair_h : float
        Mean time to repair a host. [h]
    maintenance_h_per_host : float
        Hours per year that each host is in maintenance. [h]

    Returns
    -------
    maintenance_chance_of_two : float
        Chance per year, 0 to 1; 1 if maintenance alone leaves too few hosts. [-]

    Notes
    -----
    1 - exp(-sum of hours * rate over the kinds), rate being how often the hosts left go from carrying the demand to not
    carrying it: over the states that carry it, P(state) * (hosts up whose failure ends that) / mtbf_h, given that it is
    carried at the start. As ``maintenance_chance`` for one kind.

    Examples
    --------
    >>> round(maintenance_chance_of_two(0, new_hosts=8, new_needed=[7], mtbf_h=16000, repair_h=48,
    ...                                 maintenance_h_per_host=16), 3)
    0.054

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    up = host_availability(mtbf_h, repair_h=repair_h)
    expected = 0.0
    for hours, old, new, needed in _maintained(old_hosts, new_hosts, new_needed, maintenance_h_per_host):
        if not _carried(0, 0, new, needed):
            return 1.0
        carried = ends = 0.0
        for down in range(min(old + 1, len(needed))):
            if new < needed[down]:
                continue
            here = chance_exactly(old, old - down, availability=up)
            carried += here * (1 - chance_fewer(new, needed[down], availability=up))
            # a new host fails when just enough of them are up
            ends += here * chance_exactly(new, needed[down], availability=up) * needed[down]
            # an old host fails when too few new ones are up for that
            then = max(needed[down], needed[down + 1] if down + 1 < len(needed) else new + 1)
            between = chance_fewer(new, then, availability=up) - chance_fewer(
                new, needed[down], availability=up
            )
            ends += here * between * (old - down)
        if not carried:  # so rarely that a float cannot hold it
            return 1.0
        expected += hours * ends / carried / mtbf_h
    return -math.expm1(-expected)


def _maintained(
    old_hosts: int, new_hosts: int, new_needed: Sequence[int], maintenance_h_per_host: float
) -> Iterator[tuple[float, int, int, Sequence[int]]]:
    """(hours, old hosts left, new hosts left, new hosts needed then) for maintenance of each kind."""
    hours = (old_hosts + new_hosts) * maintenance_h_per_host
    each = maintenance_h_per_host * min(1.0, HOURS_PER_YEAR / hours) if hours else 0.0
    if old_hosts and each:
        yield old_hosts * each, old_hosts - 1, new_hosts, new_needed[1:]
    if new_hosts and each:
        yield new_hosts * each, old_hosts, new_hosts - 1, new_needed


def _carried(old_down: int, new_down: int, new_hosts: int, new_needed: Sequence[int]) -> bool:
    return old_down < len(new_needed) and new_hosts - new_down >= new_needed[old_down]
