"""Availability: spare hosts, and what is left when hosts are down."""


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


def installed_gpus(hosts: int, *, gpus_per_host: int) -> int:
    """GPUs in all hosts together.

    Parameters
    ----------
    hosts : int
        Equal hosts. [host]
    gpus_per_host : int
        GPUs in each host. [GPU]

    Returns
    -------
    installed_gpus : int
        GPUs to buy. [GPU]

    Notes
    -----
    hosts * gpus_per_host.

    Examples
    --------
    >>> installed_gpus(8, gpus_per_host=4)
    32

    References
    ----------
    .. [1] vmware-sharing-gpus-2020
    """
    return hosts * gpus_per_host


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


def sum_over_pools(*parts: int) -> int:
    """Sum over the pools of equal hosts.

    Parameters
    ----------
    *parts : int
        Count of each pool. [-]

    Returns
    -------
    sum_over_pools : int
        Sum of the counts. [-]

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
