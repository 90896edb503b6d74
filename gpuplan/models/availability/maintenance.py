"""Maintenance: hours a year with one host in maintenance, and what a failure then does; ``mixed_...`` as in ``outages``."""

import math
from collections.abc import Iterator, Sequence

from gpuplan.models.availability.outages import (
    HOURS_PER_YEAR,
    chance_exactly,
    chance_fewer,
    chance_of_shortage,
    host_availability,
    mixed_hours_short_h,
)


def maintenance_hours_h(hosts: int, *, maintenance_h_per_host: float) -> float:
    """Hours per year in which one host is down for maintenance, one after another.

    Parameters
    ----------
    hosts : int
        Hosts that are maintained. [host]
    maintenance_h_per_host : float
        Hours per year that each of them is down for it. [h]

    Returns
    -------
    maintenance_hours_h : float
        Hours per year, at most 8760. [h]

    Notes
    -----
    min(8760, hosts * maintenance_h_per_host). At 8760 some host is always in maintenance, and one at a time
    may no longer be enough.

    Examples
    --------
    >>> maintenance_hours_h(8, maintenance_h_per_host=16)
    128

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return min(HOURS_PER_YEAR, hosts * maintenance_h_per_host)


def exposed_hours_h(hosts: int, *, hosts_needed: int, maintenance_h: float) -> float:
    """Hours per year in which a host is in maintenance and one failure more leaves VMs without a GPU.

    Parameters
    ----------
    hosts : int
        Equal hosts, the one in maintenance included. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    maintenance_h : float
        Hours per year in which one host is in maintenance. [h]

    Returns
    -------
    exposed_hours_h : float
        Hours per year. [h]

    Notes
    -----
    maintenance_h if hosts - 1 <= hosts_needed, else 0: with a second spare host a single failure in maintenance
    is covered. Failures that are already there when maintenance begins are not counted; nobody would begin then.

    Examples
    --------
    >>> exposed_hours_h(8, hosts_needed=7, maintenance_h=128)
    128
    >>> exposed_hours_h(9, hosts_needed=7, maintenance_h=144)
    0

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return maintenance_h if hosts and hosts - 1 <= hosts_needed else 0


def mixed_exposed_hours_h(
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
    mixed_exposed_hours_h : float
        Hours per year. [h]

    Notes
    -----
    For each kind: its maintenance hours, if without one of its hosts the loss of any one host more, of either kind,
    leaves too few. One host in maintenance at a time, at most 8760 hours in all.

    Examples
    --------
    >>> mixed_exposed_hours_h(0, new_hosts=8, new_needed=[7], maintenance_h_per_host=16)
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


def maintenance_short_h(hosts: int, *, hosts_needed: int, availability: float, maintenance_h: float) -> float:
    """Hours per year in which a failure beside the host in maintenance leaves fewer hosts than needed.

    Parameters
    ----------
    hosts : int
        Equal hosts there are, the one in maintenance among them. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    availability : float
        Share of the time that a host is up when it is not in maintenance. [-]
    maintenance_h : float
        Hours per year in which one host is in maintenance. [h]

    Returns
    -------
    maintenance_short_h : float
        Expected hours per year. [h]

    Notes
    -----
    maintenance_h * P(hosts up < hosts_needed), hosts up binomial(hosts - 1, availability). All of
    maintenance_h when the other hosts are fewer than needed. Maintenance starts whether or not
    another host is down; who waits until all are up does better.

    Examples
    --------
    >>> round(maintenance_short_h(9, hosts_needed=8, availability=0.99, maintenance_h=144), 1)
    11.1
    >>> maintenance_short_h(8, hosts_needed=8, availability=0.99, maintenance_h=128)
    128.0

    References
    ----------
    .. [1] kuo-zuo-2003
    .. [2] vmware-sharing-gpus-2020
    """
    return maintenance_h * chance_fewer(hosts - 1, hosts_needed, availability=availability)


def mixed_maintenance_short_h(
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
    mixed_maintenance_short_h : float
        Expected hours per year. [h]

    Notes
    -----
    For each kind: its maintenance hours times the share of time in which the other hosts do not carry the demand.

    Examples
    --------
    >>> round(mixed_maintenance_short_h(0, new_hosts=8, new_needed=[7], availability=0.997,
    ...                                  maintenance_h_per_host=16), 2)
    2.66

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return math.fsum(
        hours
        * mixed_hours_short_h(old, new_hosts=new, new_needed=needed, availability=availability)
        / HOURS_PER_YEAR
        for hours, old, new, needed in _maintained(old_hosts, new_hosts, new_needed, maintenance_h_per_host)
    )


def maintenance_chance(
    hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float, maintenance_h: float
) -> float:
    """Chance that in a year of maintenance a failure leaves VMs without a GPU at least once.

    Parameters
    ----------
    hosts : int
        Equal hosts, the one in maintenance included. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    mtbf_h : float
        Mean time between failures of a host. [h]
    repair_h : float
        Mean time to repair a host. [h]
    maintenance_h : float
        Hours per year in which one host is in maintenance. [h]

    Returns
    -------
    maintenance_chance : float
        Chance per year, 0 to 1; 1 if maintenance alone leaves too few hosts. [-]

    Notes
    -----
    chance_of_shortage of the other hosts - 1 hosts over maintenance_h; 1 if hosts - 1 < hosts_needed and there is
    maintenance at all. Exact for one spare host; with more an upper bound, see there.

    Examples
    --------
    >>> round(maintenance_chance(8, hosts_needed=7, mtbf_h=16000, repair_h=48, maintenance_h=128), 3)
    0.054

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    if not maintenance_h:
        return 0.0
    if hosts - 1 < hosts_needed:
        return 1.0 if hosts_needed else 0.0
    return chance_of_shortage(
        hosts - 1, hosts_needed=hosts_needed, mtbf_h=mtbf_h, repair_h=repair_h, hours_h=maintenance_h
    )


def mixed_maintenance_chance(
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
    mixed_maintenance_chance : float
        Chance per year, 0 to 1; 1 if maintenance alone leaves too few hosts. [-]

    Notes
    -----
    1 - exp(-sum of hours * rate over the kinds), rate being how often the hosts left go from carrying the demand to not
    carrying it: over the states that carry it, P(state) * (hosts up whose failure ends that) / mtbf_h, given that it is
    carried at the start. As ``maintenance_chance`` for one kind.

    Examples
    --------
    >>> round(mixed_maintenance_chance(0, new_hosts=8, new_needed=[7], mtbf_h=16000, repair_h=48,
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
