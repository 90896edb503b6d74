"""Outages: hours and chances a year in which failures leave fewer hosts than the demand needs.

Hosts fail and are repaired independently, all at the same rate. Of identical hosts only the number counts. Where
existing hosts differ from new ones (``mixed_...``, of a ``HostMix``), it matters which fail.

Parameters:
    mtbf_h: Mean time a host runs from one repair to the next failure. [h]
    repair_h: Mean time from a failure until the host works again. [h]
    hosts: Equal hosts, which fail and are repaired independently. [host]
    hosts_needed: Hosts that carry the demand. [host]
    availability: Share of the time that a host is up. [-]
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gpuplan.units import above_zero, each, not_negative, whole_from_zero, zero_to_one

HOURS_PER_YEAR = 8760
"""A year of 365 days. [h]"""


@dataclass(frozen=True, slots=True)
class HostMix:
    """Hosts of several kinds: existing ones, and identical new ones."""

    old_hosts: Sequence[int]
    """Existing hosts of each kind. [host]"""
    new_hosts: int
    """New hosts. [host]"""
    new_needed: Mapping[tuple[int, ...], int]
    """Old hosts of each kind that are down -> new hosts that must be up then, for all sets up to a given size; with
    more down than that the demand is never carried. [host]"""

    def __post_init__(self) -> None:
        whole_from_zero(new_hosts=self.new_hosts)
        each(whole_from_zero, old_hosts=self.old_hosts, new_needed=self.new_needed)


def host_availability(mtbf_h: float, *, repair_h: float) -> float:
    """Share of time a host is up, from its time between failures and repair time.

    mtbf_h / (mtbf_h + repair_h): the long-run share, whatever the distributions of the two times.
    Planned maintenance is not in it. [kuo-zuo-2003]_

    >>> host_availability(9900, repair_h=100)
    0.99
    """
    above_zero(mtbf_h=mtbf_h)
    not_negative(repair_h=repair_h)
    return mtbf_h / (mtbf_h + repair_h)


def hours_short_h(hosts: int, *, hosts_needed: int, availability: float) -> float:
    """Hours per year in which failures leave fewer hosts than the demand needs.

    8760 * P(hosts up < hosts_needed), hosts up binomial(hosts, availability). Exact when hosts fail and are
    repaired independently of each other; a common cause (power, cooling, a bad update) and a queue for
    repairs make it worse. Planned maintenance is not in it. [kuo-zuo-2003]_ [vmware-sap-availability-2013]_

    >>> round(hours_short_h(8, hosts_needed=8, availability=0.99), 1)
    676.8
    >>> round(hours_short_h(9, hosts_needed=8, availability=0.99), 1)
    30.1
    """
    whole_from_zero(hosts=hosts, hosts_needed=hosts_needed)
    return HOURS_PER_YEAR * _chance_fewer(hosts, hosts_needed, availability=availability)


def mixed_hours_short_h(mix: HostMix, *, availability: float) -> float:
    """Expected hours per year in which failures leave too few hosts of several kinds for the demand.

    8760 * sum over the sets of P(so many old hosts of each kind down) * P(fewer than new_needed new hosts up), each
    binomial; larger sets than are listed count as short. [vmware-sap-formula-2013]_

    >>> round(mixed_hours_short_h(HostMix([], 8, {(): 7}), availability=0.99), 1)
    23.6
    """
    zero_to_one(availability=availability)
    listed, every = max(map(sum, mix.new_needed), default=-1), sum(mix.old_hosts)
    short = math.fsum(
        _chance_down(mix.old_hosts, down, availability=availability)
        * _chance_fewer(mix.new_hosts, needed, availability=availability)
        for down, needed in mix.new_needed.items()
    )
    return HOURS_PER_YEAR * min(1.0, short + _chance_fewer(every, every - listed, availability=availability))


def chance_of_shortage(
    hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float, hours_h: float
) -> float:
    """Chance that at least once in so many hours a failure leaves fewer hosts than needed.

    Parameters:
        hosts: Equal hosts that should be up; during maintenance one fewer than there are. [host]
        hours_h: Hours that are looked at, in one piece or several. [h]

    1 - exp(-rate * hours_h), where rate = P(hosts up = hosts_needed) * hosts_needed / mtbf_h /
    P(hosts up >= hosts_needed), hosts up binomial, is how fast a shortage begins while there is none. The
    hours begin without one, at any time or times. Exact for hosts = hosts_needed, where it is
    1 - exp(-hosts * hours_h / mtbf_h). With spare hosts, for exponential times, never too low, and too high by
    at most about hosts * repair_h / (mtbf_h * spare hosts) of itself, because shortages come in groups and
    each counts. 1 with fewer hosts than needed. [kuo-zuo-2003]_ [gpuplan-method]_

    >>> round(chance_of_shortage(8, hosts_needed=8, mtbf_h=9900, repair_h=100, hours_h=144), 4)
    0.1098
    >>> round(chance_of_shortage(9, hosts_needed=8, mtbf_h=9900, repair_h=100, hours_h=144), 4)
    0.0097
    """
    whole_from_zero(hosts=hosts, hosts_needed=hosts_needed)
    above_zero(mtbf_h=mtbf_h)
    not_negative(repair_h=repair_h, hours_h=hours_h)
    if hosts_needed == 0:
        return 0.0
    if hosts < hosts_needed:
        return 1.0
    rate = hosts_needed / mtbf_h / _at_least_over_exactly(hosts, hosts_needed, mtbf_h, repair_h)
    return -math.expm1(-rate * hours_h)


def chance_over_pools(*chances: float) -> float:
    """Probability that it happens in at least one pool, if pools fail independently.

    Parameters:
        *chances: Chance of each pool, 0 to 1. [-]

    1 - product of (1 - chance). [vmware-bitfusion-faq]_

    >>> chance_over_pools(0.5, 0.5)
    0.75
    """
    each(zero_to_one, chances=chances)
    return 1 - math.prod(1 - chance for chance in chances)


def hours_over_pools_h(*hours_h: float) -> float:
    """Hours a year in which at least one of several pools is short of hosts, if pools fail independently.

    Parameters:
        *hours_h: Hours a year of each pool. [h]

    8760 * (1 - product of (1 - hours / 8760)): hours in which several pools are short count once. [kuo-zuo-2003]_

    >>> hours_over_pools_h(4380.0, 4380.0)
    6570.0
    """
    each(not_negative, hours_h=hours_h)
    return HOURS_PER_YEAR * chance_over_pools(*(min(1.0, hours / HOURS_PER_YEAR) for hours in hours_h))


def _chance_exactly(hosts: int, up: int, *, availability: float) -> float:
    """Probability that exactly this many hosts are up.

    Binomial, in logarithms so that no factor over- or underflows.
    """
    whole_from_zero(hosts=hosts, up=up)
    zero_to_one(availability=availability)
    if up > hosts:
        return 0.0
    if availability in (0, 1):
        return float(up == hosts * availability)
    log_ways = math.lgamma(hosts + 1) - math.lgamma(up + 1) - math.lgamma(hosts - up + 1)
    return math.exp(log_ways + up * math.log(availability) + (hosts - up) * math.log1p(-availability))


def _chance_down(hosts: Sequence[int], down: Sequence[int], *, availability: float) -> float:
    """Chance that exactly so many hosts of each kind are down.

    Product of binomials.
    """
    each(whole_from_zero, hosts=hosts, down=down)
    zero_to_one(availability=availability)
    return math.prod(
        _chance_exactly(every, every - lost, availability=availability)
        for every, lost in zip(hosts, down, strict=True)
    )


def _chance_fewer(hosts: int, needed: int, *, availability: float) -> float:
    """Probability that fewer hosts are up than needed.

    Binomial; the tail that is summed is the small one, so nothing cancels.
    """
    whole_from_zero(hosts=hosts, needed=needed)
    zero_to_one(availability=availability)
    if needed == 0:
        return 0.0
    if needed > hosts:
        return 1.0
    if needed <= hosts * availability:
        return _tail(hosts, needed - 1, availability, -1)
    return 1 - _tail(hosts, needed, availability, 1)


def _tail(hosts: int, up: int, availability: float, step: int) -> float:
    """Sum of P(hosts up = k) for k = up, up + step, ...; the terms must fall from the first on."""
    term = total = _chance_exactly(hosts, up, availability=availability)
    while term > total * 1e-18:
        odds = availability / (1 - availability)
        term *= (hosts - up) / (up + 1) * odds if step > 0 else up / (hosts - up + 1) / odds
        total += term
        up += step
    return total


def _at_least_over_exactly(hosts: int, needed: int, mtbf_h: float, repair_h: float) -> float:
    """P(hosts up >= needed) / P(hosts up = needed), binomial; infinite where a float cannot hold it."""
    odds = mtbf_h / repair_h if repair_h else math.inf
    term = total = 1.0
    for up in range(needed, hosts):
        term *= (hosts - up) / (up + 1) * odds
        total += term
        if not total * 1e-18 < term < math.inf:
            break
    return total
