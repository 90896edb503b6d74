"""Management domain: hosts that carry its appliances when one fails, and the vSAN capacity for them.
[broadcom-vcf-9.1-workbook]_
"""

import math

from gpuplan.units import above_zero, not_negative, whole_from_zero


def domain_hosts(
    vcpus: float,
    *,
    memory_gb: float,
    host_vcpus: float,
    host_memory_gb: float,
    min_hosts: int = 4,
    spare_hosts: int = 1,
) -> int:
    """Hosts needed to run all appliances while some hosts are down.

    Parameters:
        vcpus: vCPUs of all appliances. [-]
        memory_gb: Memory of all appliances. [GB]
        host_vcpus: vCPUs that one host gives to its VMs. [-]
        host_memory_gb: Memory that one host gives to its VMs. [GB]
        min_hosts: Fewest hosts of the domain. [host]
        spare_hosts: Hosts whose failure the others carry. [host]

    max(min_hosts, spare_hosts + ceil(max(vcpus / host_vcpus, memory_gb / host_memory_gb))). Appliances are taken as
    divisible over the hosts; none of the published sizes is larger than half a usual host.

    >>> domain_hosts(122, memory_gb=316, host_vcpus=64, host_memory_gb=1024)
    4
    >>> domain_hosts(122, memory_gb=316, host_vcpus=16, host_memory_gb=1024)
    9
    """
    not_negative(vcpus=vcpus, memory_gb=memory_gb)
    above_zero(host_vcpus=host_vcpus, host_memory_gb=host_memory_gb)
    whole_from_zero(min_hosts=min_hosts, spare_hosts=spare_hosts)
    carrying = math.ceil(max(vcpus / host_vcpus, memory_gb / host_memory_gb))
    return max(min_hosts, spare_hosts + carrying)


def share_of_host(total: float, *, hosts: int, spare_hosts: int = 1) -> int:
    """Share of a total that each host carries while some are down.

    Parameters:
        total: Cores, memory or capacity in all. [-]
        hosts: Hosts, those that may fail included. [host]
        spare_hosts: Hosts whose failure the others carry. [host]

    Rounded up, in the unit of the total. ceil(total / (hosts - spare_hosts)). With 4 hosts and one spare it is a third,
    which leaves the quarter free that the design of VCF 4.4 asks for. [broadcom-vcf-9.1-workbook]_
    [vmware-vcf-4.4-design]_

    >>> share_of_host(122, hosts=4), share_of_host(316, hosts=4), share_of_host(17564, hosts=4)
    (41, 106, 5855)
    """
    not_negative(total=total)
    whole_from_zero(hosts=hosts, spare_hosts=spare_hosts)
    if hosts <= spare_hosts:
        raise ValueError(f"hosts is {hosts}; it must be more than spare_hosts, {spare_hosts}")
    return math.ceil(total / (hosts - spare_hosts))


def vsan_raw_gb(
    disk_gb: float,
    *,
    memory_gb: float = 0.0,
    redundancy: float = 1.5,
    reserve_share: float = 0.3,
    growth_share: float = 0.1,
) -> int:
    """Raw capacity of vSAN for the disks of VMs and for the swap of their memory.

    Parameters:
        disk_gb: Disks of the VMs. [GB]
        memory_gb: Memory of the VMs that may be swapped; none where all of it is reserved. [GB]
        redundancy: Raw capacity for each GB: 1.5 for RAID-5, 2 for a mirror. [-]
        reserve_share: Capacity kept free on top. [-]
        growth_share: Growth on top of that. [-]

    (disk_gb + memory_gb) * redundancy * (1 + reserve_share) * (1 + growth_share), rounded up at each step as the
    published sheet does.

    >>> vsan_raw_gb(7872, memory_gb=316)
    17564
    """
    not_negative(disk_gb=disk_gb, memory_gb=memory_gb, reserve_share=reserve_share, growth_share=growth_share)
    above_zero(redundancy=redundancy)
    raw_gb = disk_gb + memory_gb
    for times in (redundancy, 1 + reserve_share, 1 + growth_share):
        raw_gb = math.ceil(round(raw_gb * times, 6))
    return int(raw_gb)
