"""Host counts: spare hosts, clusters, and the GPUs that are installed and that a failure leaves.
[vmware-sharing-gpus-2020]_
"""

import math
from collections.abc import Sequence

from gpuplan.units import at_least_one, each, not_negative, whole_from_zero


def spare_hosts(host_failures: int, *, maintenance_failure_accepted: bool) -> int:
    """Hosts added so that all VMs still fit while hosts have failed or are in maintenance.

    Parameters:
        host_failures: Host failures to tolerate at once. [host]
        maintenance_failure_accepted: Whether a failure while one host is in maintenance may leave users without a GPU. [-]

    host_failures, plus one host for maintenance if a failure during maintenance is not accepted.
    Exact for equal hosts when everything may be placed again on the hosts that are left.

    >>> spare_hosts(1, maintenance_failure_accepted=True)
    1
    >>> spare_hosts(1, maintenance_failure_accepted=False)
    2
    """
    whole_from_zero(host_failures=host_failures)
    return host_failures + (0 if maintenance_failure_accepted else 1)


def cluster_count(hosts_for_demand: int, *, spare_hosts: int, most_hosts: int) -> int:
    """Clusters into which the hosts for the demand are divided when each cluster has its own failover capacity.

    Parameters:
        hosts_for_demand: Hosts on which everything fits, in all clusters together. [host]
        spare_hosts: Spare hosts of each cluster, fewer than it has hosts. [host]
        most_hosts: Hosts that one cluster has at most. [host]

    ceil(hosts_for_demand / (most_hosts - spare_hosts)). Exact for equal hosts: the VMs of a host stay together when a
    placement is cut between two hosts, and fewer clusters have too few hosts. Hosts of one cluster do not restart VMs of
    another. [vmware-vcf-4.4-design]_ [gpuplan-method]_

    >>> cluster_count(63, spare_hosts=1, most_hosts=64), cluster_count(64, spare_hosts=1, most_hosts=64)
    (1, 2)
    """
    whole_from_zero(hosts_for_demand=hosts_for_demand, spare_hosts=spare_hosts, most_hosts=most_hosts)
    if spare_hosts >= most_hosts:
        raise ValueError(
            f"spare_hosts is {spare_hosts}: must be fewer than the {most_hosts} hosts of a cluster"
        )
    return max(1, math.ceil(hosts_for_demand / (most_hosts - spare_hosts)))


def cluster_hosts(hosts: int, *, clusters: int) -> tuple[int, ...]:
    """Hosts of each cluster when hosts are divided as evenly as possible.

    Parameters:
        hosts: Hosts in all clusters together. [host]
        clusters: Clusters, at least one. [-]

    Larger clusters first. floor(hosts / clusters), and one more in the first hosts mod clusters of them.
    [gpuplan-method]_

    >>> cluster_hosts(68, clusters=2), cluster_hosts(11, clusters=3)
    ((34, 34), (4, 4, 3))
    """
    whole_from_zero(hosts=hosts)
    at_least_one(clusters=clusters)
    base, more = divmod(hosts, clusters)
    return tuple(base + (at < more) for at in range(clusters))


def total_hosts(hosts_for_demand: int, *, hosts_for_failures: int) -> int:
    """Hosts of the design: the fewest identical hosts on which all VMs fit, and still fit after the host failures the design must tolerate.

    Parameters:
        hosts_for_demand: Fewest hosts on which everything fits. [host]
        hosts_for_failures: Hosts added for failures and maintenance. [host]

    hosts_for_demand + hosts_for_failures. With equal hosts any loss of hosts_for_failures hosts
    leaves hosts_for_demand, on which everything fits by placement; one host fewer would not do.

    >>> total_hosts(7, hosts_for_failures=1)
    8
    """
    whole_from_zero(hosts_for_demand=hosts_for_demand, hosts_for_failures=hosts_for_failures)
    return hosts_for_demand + hosts_for_failures


def installed_gpus(hosts: int, *, gpus_per_host: int, existing_hosts: int = 0, existing_gpus: int = 0) -> int:
    """GPUs in all hosts.

    Parameters:
        hosts: Hosts in all. [host]
        gpus_per_host: GPUs in each new host. [GPU]
        existing_hosts: Hosts among them that are already there. [host]
        existing_gpus: GPUs in all of those. [GPU]

    (hosts - existing_hosts) * gpus_per_host + existing_gpus.

    >>> installed_gpus(8, gpus_per_host=4)
    32
    >>> installed_gpus(8, gpus_per_host=4, existing_hosts=3, existing_gpus=6)
    26
    """
    whole_from_zero(hosts=hosts, gpus_per_host=gpus_per_host)
    whole_from_zero(existing_hosts=existing_hosts, existing_gpus=existing_gpus)
    new_hosts = hosts - existing_hosts
    whole_from_zero(new_hosts=new_hosts)
    return new_hosts * gpus_per_host + existing_gpus


def gpus_after_failure(gpus: int, *, gpus_per_host: int, hosts_lost: int, hosts: int) -> int:
    """GPUs left after the tolerated number of host failures, at least one.

    Parameters:
        gpus: GPUs in all hosts. [GPU]
        gpus_per_host: GPUs in each host. [GPU]
        hosts_lost: Hosts lost at the same time. [host]
        hosts: Hosts there are. [host]

    gpus - min(hosts_lost, hosts) * gpus_per_host, at least 0.

    >>> gpus_after_failure(32, gpus_per_host=4, hosts_lost=1, hosts=8)
    28
    """
    whole_from_zero(gpus=gpus, gpus_per_host=gpus_per_host, hosts_lost=hosts_lost, hosts=hosts)
    return max(0, gpus - min(hosts_lost, hosts) * gpus_per_host)


def gpus_without_largest(hosts_gpus: Sequence[int], *, hosts_lost: int) -> int:
    """GPUs left when the hosts with the most GPUs fail.

    Parameters:
        hosts_gpus (sequence of int): GPUs of each host. [GPU]
        hosts_lost: Hosts lost at the same time. [host]

    Sum over all hosts but the hosts_lost largest.

    >>> gpus_without_largest([8, 8, 2, 2], hosts_lost=1)
    12
    """
    whole_from_zero(hosts_lost=hosts_lost)
    each(whole_from_zero, hosts_gpus=hosts_gpus)
    return sum(sorted(hosts_gpus, reverse=True)[hosts_lost:])


def sum_over_pools(*parts: float) -> float:
    """Sum over the pools of equal hosts.

    Parameters:
        *parts: Count, or hours, of each pool. [-]

    Hours of several pools at once count once for each. [-] Pools do not back each other up: each has spare hosts of its
    own. [vmware-bitfusion-faq]_

    >>> sum_over_pools(5, 5)
    10
    """
    each(not_negative, parts=parts)
    return sum(parts)
