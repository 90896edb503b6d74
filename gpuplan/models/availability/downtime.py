"""Availability: spare hosts, what is left when hosts are down, hours short of hosts, and how a host is emptied."""

import math
from collections.abc import Sequence

HOURS_PER_YEAR = 8760
"""A year of 365 days. [h]"""


def spare_hosts(host_failures: int, *, maintenance_failure_accepted: bool) -> int:
    """Hosts added so that everything still fits while hosts are failed or in maintenance.

    Parameters
    ----------
    host_failures : int
        Host failures to tolerate at once. [host]
    maintenance_failure_accepted : bool
        Whether a failure while one host is in maintenance may leave somebody without a GPU. [-]

    Returns
    -------
    spare_hosts : int
        Hosts beyond those that the demand needs. [host]

    Notes
    -----
    host_failures, plus one host for maintenance if a failure during maintenance is not accepted.
    Exact for equal hosts when everything may be placed again on the hosts that are left.

    Examples
    --------
    >>> spare_hosts(1, maintenance_failure_accepted=True)
    1
    >>> spare_hosts(1, maintenance_failure_accepted=False)
    2

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return host_failures + (0 if maintenance_failure_accepted else 1)


def cluster_count(hosts_for_demand: int, *, spare_hosts: int, most_hosts: int) -> int:
    """Clusters that the hosts for the demand are divided into when each cluster has spare hosts of its own.

    Parameters
    ----------
    hosts_for_demand : int
        Hosts on which everything fits, in all clusters together. [host]
    spare_hosts : int
        Spare hosts of each cluster, fewer than it has hosts. [host]
    most_hosts : int
        Hosts that one cluster has at most. [host]

    Returns
    -------
    cluster_count : int
        Clusters, at least one. [-]

    Notes
    -----
    ceil(hosts_for_demand / (most_hosts - spare_hosts)). Exact for equal hosts: the VMs of a host stay together when a
    placement is cut between two hosts, and fewer clusters have too few hosts. Hosts of one cluster do not restart VMs of
    another.

    Examples
    --------
    >>> cluster_count(63, spare_hosts=1, most_hosts=64), cluster_count(64, spare_hosts=1, most_hosts=64)
    (1, 2)

    References
    ----------
    .. [1] vmware-vcf-4.4-design
    .. [2] gpuplan-method
    """
    if spare_hosts >= most_hosts:
        raise ValueError(
            f"spare_hosts is {spare_hosts}: must be fewer than the {most_hosts} hosts of a cluster"
        )
    return max(1, math.ceil(hosts_for_demand / (most_hosts - spare_hosts)))


def total_hosts(hosts_for_demand: int, *, hosts_for_failures: int) -> int:
    """Hosts of the design: the fewest equal hosts on which everything fits, and still fits after the losses it must survive.

    Parameters
    ----------
    hosts_for_demand : int
        Fewest hosts on which everything fits. [host]
    hosts_for_failures : int
        Hosts added for failures and maintenance. [host]

    Returns
    -------
    total_hosts : int
        Hosts to buy. [host]

    Notes
    -----
    hosts_for_demand + hosts_for_failures. With equal hosts any loss of hosts_for_failures hosts
    leaves hosts_for_demand, on which everything fits by placement; one host fewer would not do.

    Examples
    --------
    >>> total_hosts(7, hosts_for_failures=1)
    8

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return hosts_for_demand + hosts_for_failures


def installed_gpus(
    hosts: int, *, gpus_per_host: int, existing_hosts: int = 0, existing_gpus_per_host: int = 0
) -> int:
    """GPUs in all hosts together.

    Parameters
    ----------
    hosts : int
        Hosts in all. [host]
    gpus_per_host : int
        GPUs in each new host. [GPU]
    existing_hosts : int
        Hosts among them that are already there. [host]
    existing_gpus_per_host : int
        GPUs in each of those. [GPU]

    Returns
    -------
    installed_gpus : int
        GPUs of the design. [GPU]

    Notes
    -----
    (hosts - existing_hosts) * gpus_per_host + existing_hosts * existing_gpus_per_host.

    Examples
    --------
    >>> installed_gpus(8, gpus_per_host=4)
    32
    >>> installed_gpus(8, gpus_per_host=4, existing_hosts=3, existing_gpus_per_host=2)
    26

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return (hosts - existing_hosts) * gpus_per_host + existing_hosts * existing_gpus_per_host


def gpus_after_failure(gpus: int, *, gpus_per_host: int, hosts_lost: int, hosts: int) -> int:
    """GPUs left when the tolerated number of hosts, and at least one, is lost.

    Parameters
    ----------
    gpus : int
        GPUs in all hosts together. [GPU]
    gpus_per_host : int
        GPUs in each host. [GPU]
    hosts_lost : int
        Hosts lost at the same time. [host]
    hosts : int
        Hosts there are. [host]

    Returns
    -------
    gpus_after_failure : int
        GPUs in the hosts that are left. [GPU]

    Notes
    -----
    gpus - min(hosts_lost, hosts) * gpus_per_host.

    Examples
    --------
    >>> gpus_after_failure(32, gpus_per_host=4, hosts_lost=1, hosts=8)
    28

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return gpus - min(hosts_lost, hosts) * gpus_per_host


def gpus_without_largest(hosts_gpus: Sequence[int], *, hosts_lost: int) -> int:
    """GPUs left when the hosts with most GPUs are lost.

    Parameters
    ----------
    hosts_gpus : sequence of int
        GPUs of each host. [GPU]
    hosts_lost : int
        Hosts lost at the same time. [host]

    Returns
    -------
    gpus_without_largest : int
        GPUs in the hosts that are left. [GPU]

    Notes
    -----
    Sum over all hosts but the hosts_lost largest.

    Examples
    --------
    >>> gpus_without_largest([8, 8, 2, 2], hosts_lost=1)
    12

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return sum(sorted(hosts_gpus, reverse=True)[hosts_lost:])


def sum_over_pools(*parts: float) -> float:
    """Sum over the pools of equal hosts.

    Parameters
    ----------
    *parts : float
        Count, or hours, of each pool. [-]

    Returns
    -------
    sum_over_pools : float
        Sum of the parts; hours of several pools at once count once for each. [-]

    Notes
    -----
    Pools do not back each other up: each has spare hosts of its own.

    Examples
    --------
    >>> sum_over_pools(5, 5)
    10

    References
    ----------
    .. [1] vmware-bitfusion-faq
    """
    return sum(parts)


def host_availability(mtbf_h: float, *, repair_h: float) -> float:
    """Share of the time that a host is up, as its failures and repairs take turns.

    Parameters
    ----------
    mtbf_h : float
        Mean time a host runs from one repair to the next failure. [h]
    repair_h : float
        Mean time from a failure until the host works again. [h]

    Returns
    -------
    host_availability : float
        Share from 0 to 1. [-]

    Notes
    -----
    mtbf_h / (mtbf_h + repair_h): the long-run share, whatever the distributions of the two times.
    Planned maintenance is not in it.

    Examples
    --------
    >>> host_availability(9900, repair_h=100)
    0.99

    References
    ----------
    .. [1] kuo-zuo-2003
    """
    return mtbf_h / (mtbf_h + repair_h)


def hours_short_h(hosts: int, *, hosts_needed: int, availability: float) -> float:
    """Hours per year in which failures leave fewer hosts than the demand needs.

    Parameters
    ----------
    hosts : int
        Equal hosts there are. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    availability : float
        Share of the time that a host is up. [-]

    Returns
    -------
    hours_short_h : float
        Expected hours per year. [h]

    Notes
    -----
    8760 * P(hosts up < hosts_needed), hosts up binomial(hosts, availability). Exact when hosts fail and are
    repaired independently of each other; a common cause (power, cooling, a bad update) and a queue for
    repairs make it worse. Planned maintenance is not in it.

    Examples
    --------
    >>> round(hours_short_h(8, hosts_needed=8, availability=0.99), 1)
    676.8
    >>> round(hours_short_h(9, hosts_needed=8, availability=0.99), 1)
    30.1

    References
    ----------
    .. [1] kuo-zuo-2003
    .. [2] vmware-sap-availability-2013
    """
    return HOURS_PER_YEAR * chance_fewer(hosts, hosts_needed, availability=availability)


def shortages_per_year(hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float) -> float:
    """How often a year a failure leaves one host fewer than the demand needs.

    Parameters
    ----------
    hosts : int
        Equal hosts there are. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    mtbf_h : float
        Mean time a host runs from one repair to the next failure. [h]
    repair_h : float
        Mean time from a failure until the host works again. [h]

    Returns
    -------
    shortages_per_year : float
        Expected number of times in a year of 8760 hours. [-]

    Notes
    -----
    P(hosts up = hosts_needed) * hosts_needed / mtbf_h * 8760, hosts up binomial with
    availability mtbf_h / (mtbf_h + repair_h). Exact in the long run for independent hosts. Hours short over
    shortages is how long one lasts on average: repair_h / (hosts - hosts_needed + 1) and a little more.
    With fewer hosts than needed it is 0: the shortage never begins because it never ends.

    Examples
    --------
    >>> round(shortages_per_year(8, hosts_needed=8, mtbf_h=9900, repair_h=100), 3)
    6.532
    >>> round(shortages_per_year(9, hosts_needed=8, mtbf_h=9900, repair_h=100), 3)
    0.588

    References
    ----------
    .. [1] kuo-zuo-2003
    """
    if not 0 < hosts_needed <= hosts:
        return 0.0
    exactly = chance_exactly(hosts, hosts_needed, availability=host_availability(mtbf_h, repair_h=repair_h))
    return exactly * hosts_needed / mtbf_h * HOURS_PER_YEAR


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


def chance_of_shortage(
    hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float, hours_h: float
) -> float:
    """Chance that at least once in so many hours a failure leaves fewer hosts than needed.

    Parameters
    ----------
    hosts : int
        Equal hosts that should be up; during maintenance one fewer than there are. [host]
    hosts_needed : int
        Hosts that carry the demand. [host]
    mtbf_h : float
        Mean time a host runs from one repair to the next failure. [h]
    repair_h : float
        Mean time from a failure until the host works again. [h]
    hours_h : float
        Hours that are looked at, in one piece or several. [h]

    Returns
    -------
    chance_of_shortage : float
        Chance from 0 to 1. [-]

    Notes
    -----
    1 - exp(-rate * hours_h), where rate = P(hosts up = hosts_needed) * hosts_needed / mtbf_h /
    P(hosts up >= hosts_needed), hosts up binomial, is how fast a shortage begins while there is none. The
    hours begin without one, at any time or times. Exact for hosts = hosts_needed, where it is
    1 - exp(-hosts * hours_h / mtbf_h). With spare hosts, for exponential times, never too low, and too high by
    at most about hosts * repair_h / (mtbf_h * spare hosts) of itself, because shortages come in groups and
    each counts. 1 with fewer hosts than needed.

    Examples
    --------
    >>> round(chance_of_shortage(8, hosts_needed=8, mtbf_h=9900, repair_h=100, hours_h=144), 4)
    0.1098
    >>> round(chance_of_shortage(9, hosts_needed=8, mtbf_h=9900, repair_h=100, hours_h=144), 4)
    0.0097

    References
    ----------
    .. [1] kuo-zuo-2003
    .. [2] gpuplan-method
    """
    if hosts_needed <= 0:
        return 0.0
    if hosts < hosts_needed:
        return 1.0
    rate = hosts_needed / mtbf_h / _at_least_over_exactly(hosts, hosts_needed, mtbf_h, repair_h)
    return -math.expm1(-rate * hours_h)


def exposed_hours_h(hosts: int, *, hosts_needed: int, maintenance_h: float) -> float:
    """Hours per year in which a host is in maintenance and one failure more leaves somebody without a GPU.

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


def maintenance_chance(
    hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float, maintenance_h: float
) -> float:
    """Chance that in a year of maintenance a failure leaves somebody without a GPU at least once.

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


def chance_over_pools(*chances: float) -> float:
    """Chance that it happens in at least one pool, the pools failing independently.

    Parameters
    ----------
    *chances : float
        Chance of each pool, 0 to 1. [-]

    Returns
    -------
    chance_over_pools : float
        Chance of at least one, 0 to 1. [-]

    Notes
    -----
    1 - product of (1 - chance).

    Examples
    --------
    >>> chance_over_pools(0.5, 0.5)
    0.75

    References
    ----------
    .. [1] vmware-bitfusion-faq
    """
    return 1 - math.prod(1 - chance for chance in chances)


def stun_time_s(frame_buffer_gb: float, *, fixed_s: float, copy_rate_gb_s: float) -> float:
    """Time a VM with vGPUs stands still in vMotion, while the frame buffer it uses is copied.

    Parameters
    ----------
    frame_buffer_gb : float
        Frame buffer in use, in all vGPUs of the VM together. [GB]
    fixed_s : float
        Part that does not depend on the frame buffer. [s]
    copy_rate_gb_s : float
        Frame buffer copied per second of standing still. [GB/s]

    Returns
    -------
    stun_time_s : float
        Time the VM stands still. [s]

    Notes
    -----
    fixed_s + frame_buffer_gb / copy_rate_gb_s, a line through measurements of 1 to 32 GB (vSphere 7.0,
    V100, 10 Gbit/s). Beyond 32 GB it extrapolates; it does not hold for other links, GPUs or releases: on V100 and 10 Gbit/s
    1.67 s and 0.84 GB/s with vSphere 7.0, 1.17 s and 0.635 GB/s with 6.7 U3.

    Examples
    --------
    >>> stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8)
    41.5

    References
    ----------
    .. [1] vmware-vsphere-7.0-vgpu-vmotion
    """
    return fixed_s + frame_buffer_gb / copy_rate_gb_s


def worst_stun_time_s(
    vgpu_gb: float, *, vm_memory_gb: float, fixed_s: float, copy_rate_gb_s: float, memory_rate_gb_s: float
) -> float:
    """Time a VM with vGPUs stands still in vMotion at worst, by the vendor's estimate.

    Parameters
    ----------
    vgpu_gb : float
        Frame buffer of all vGPUs of the VM together, used or not. [GB]
    vm_memory_gb : float
        Memory of the VM. [GB]
    fixed_s : float
        Part that depends on neither. [s]
    copy_rate_gb_s : float
        Frame buffer copied per second of standing still. [GB/s]
    memory_rate_gb_s : float
        Memory of the VM for each second that it adds to standing still. [GB/s]

    Returns
    -------
    worst_stun_time_s : float
        Time the VM stands still. [s]

    Raises
    ------
    ValueError
        If a size or the fixed part is below 0, or a rate not above 0.

    Notes
    -----
    fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s, a plane through the vendor's table of worst
    cases (vSphere 7.0, 10 Gbit/s): vGPUs of 1 to 32 GB, VMs of 4 to 32 GB. Beyond them it extrapolates; it does not
    hold for other links.

    Examples
    --------
    >>> worst_stun_time_s(32, vm_memory_gb=32, fixed_s=1, copy_rate_gb_s=0.4, memory_rate_gb_s=4)
    89.0

    References
    ----------
    .. [1] vmware-vsphere-7.0-vgpu-vmotion
    """
    for name, value in (("vgpu_gb", vgpu_gb), ("vm_memory_gb", vm_memory_gb), ("fixed_s", fixed_s)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name} is {value}; it must be a finite number of at least 0")
    for name, value in (("copy_rate_gb_s", copy_rate_gb_s), ("memory_rate_gb_s", memory_rate_gb_s)):
        if not 0 < value < math.inf:
            raise ValueError(f"{name} is {value}; it must be a finite number above 0")
    return fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s


def evacuation_time_s(*stuns_s: float) -> float:
    """Least time to empty a host by vMotion, its VMs with vGPUs leaving one at a time.

    Parameters
    ----------
    *stuns_s : float
        Time that each VM on the host stands still. [s]

    Returns
    -------
    evacuation_time_s : float
        Sum of the times. [s]

    Notes
    -----
    Sum over the VMs. A lower bound: copying the memory of the VMs before the stun, and what lies between two
    migrations, come on top.

    Examples
    --------
    >>> evacuation_time_s(41.5, 21.5, 21.5)
    84.5

    References
    ----------
    .. [1] vmware-vsphere-7.0-vgpu-vmotion
    """
    return sum(stuns_s)


def chance_exactly(hosts: int, up: int, *, availability: float) -> float:
    """Chance that exactly so many hosts are up.

    Parameters
    ----------
    hosts : int
        Hosts that fail and are repaired independently. [host]
    up : int
        Hosts up. [host]
    availability : float
        Share of time a host is up. [-]

    Returns
    -------
    chance_exactly : float
        P(hosts up = up). [-]

    Notes
    -----
    Binomial, in logarithms so that no factor over- or underflows.

    Examples
    --------
    >>> round(chance_exactly(3, 2, availability=0.9), 3)
    0.243

    References
    ----------
    .. [1] vmware-sap-formula-2013
    """
    if not 0 <= up <= hosts:
        return 0.0
    if availability in (0, 1):
        return float(up == hosts * availability)
    log_ways = math.lgamma(hosts + 1) - math.lgamma(up + 1) - math.lgamma(hosts - up + 1)
    return math.exp(log_ways + up * math.log(availability) + (hosts - up) * math.log1p(-availability))


def _tail(hosts: int, up: int, availability: float, step: int) -> float:
    """Sum of P(hosts up = k) for k = up, up + step, ...; the terms must fall from the first on."""
    term = total = chance_exactly(hosts, up, availability=availability)
    while term > total * 1e-18:
        odds = availability / (1 - availability)
        term *= (hosts - up) / (up + 1) * odds if step > 0 else up / (hosts - up + 1) / odds
        total += term
        up += step
    return total


def chance_fewer(hosts: int, needed: int, *, availability: float) -> float:
    """Chance that fewer hosts are up than needed.

    Parameters
    ----------
    hosts : int
        Hosts that fail and are repaired independently. [host]
    needed : int
        Hosts that must be up. [host]
    availability : float
        Share of time a host is up. [-]

    Returns
    -------
    chance_fewer : float
        P(hosts up < needed). [-]

    Notes
    -----
    Binomial; the tail that is summed is the small one, so nothing cancels.

    Examples
    --------
    >>> round(chance_fewer(3, 2, availability=0.9), 3)
    0.028

    References
    ----------
    .. [1] vmware-sap-formula-2013
    """
    if needed <= 0:
        return 0.0
    if needed > hosts:
        return 1.0
    if needed <= hosts * availability:
        return _tail(hosts, needed - 1, availability, -1)
    return 1 - _tail(hosts, needed, availability, 1)


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
