"""Host line: cores, memory and disks of a host to order, from the needs of its VMs."""

import math
from collections.abc import Sequence

from gpuplan.units import above_zero, each, not_negative


def ordered_cores(
    vcpus: float, *, sockets: int, sizes: Sequence[int], vcpus_per_core: float = 1.0, kept_share: float = 0.0
) -> int:
    """Cores per processor, of the sizes sold, so that a host can run its VMs.

    Parameters:
        vcpus: vCPUs of the VMs on the fullest host. [-]
        sockets: Processors of the host. [-]
        sizes (sequence of int): Cores of the processors that are sold. [-]
        vcpus_per_core: vCPUs for each core: 1 without overcommitment. [-]
        kept_share: Share of the cores that hypervisor and storage keep, 0 to below 1. [-]

    What is needed where no processor that is sold has so many. vcpus / vcpus_per_core / (1 - kept_share) / sockets, up
    to the next size. A hyper-thread is no core. [vmware-tci-2.2-hosts]_ [vmware-vcpu-ratio-2025]_

    >>> ordered_cores(64, sockets=2, sizes=(16, 32, 48, 64), kept_share=0.08)
    48
    >>> ordered_cores(64, sockets=2, sizes=(16, 32, 48, 64), vcpus_per_core=2, kept_share=0.08)
    32
    """
    not_negative(vcpus=vcpus)
    above_zero(sockets=sockets, vcpus_per_core=vcpus_per_core)
    each(above_zero, sizes=sizes)
    _part(kept_share)
    needed = math.ceil(round(vcpus / vcpus_per_core / (1 - kept_share) / sockets, 9))
    return min((size for size in sizes if size >= needed), default=needed)


def ordered_memory_gib(
    vms_gib: float,
    *,
    sizes_gib: Sequence[int],
    gpus_gib: float = 0.0,
    per_gpu_memory: float = 0.0,
    kept_share: float = 0.0,
    kept_gib: float = 0.0,
) -> int:
    """Memory of a host, of the sizes sold: enough for its VMs, and at least in proportion to its GPUs.

    Parameters:
        vms_gib: Memory of the VMs on the fullest host, all of it reserved. [GiB]
        sizes_gib (sequence of int): Sizes that are sold. [GiB]
        gpus_gib: Memory of all GPUs of the host. [GiB]
        per_gpu_memory: Memory of the host for each GiB of its GPUs. [-]
        kept_share: Share that the hypervisor keeps, 0 to below 1. [-]
        kept_gib: What storage keeps beside it. [GiB]

    Above the largest size, whole multiples of that. max((vms_gib + kept_gib) / (1 - kept_share), gpus_gib *
    per_gpu_memory), up to the next size. A VM with a vGPU or a passthrough GPU reserves all of its memory, so none is
    overcommitted. [dell-genai-customization-2023]_ [vmware-vsphere-directpath-8.0]_

    >>> ordered_memory_gib(0, sizes_gib=(256, 512, 1024), gpus_gib=640, per_gpu_memory=1.6)
    1024
    >>> ordered_memory_gib(960, sizes_gib=(512, 1024, 1536), gpus_gib=192, per_gpu_memory=1.6, kept_share=0.08)
    1536
    """
    not_negative(vms_gib=vms_gib, gpus_gib=gpus_gib, per_gpu_memory=per_gpu_memory, kept_gib=kept_gib)
    each(above_zero, sizes_gib=sizes_gib or [0])
    _part(kept_share)
    needed = round(max((vms_gib + kept_gib) / (1 - kept_share), gpus_gib * per_gpu_memory), 9)
    largest = max(sizes_gib)
    above = largest * math.ceil(needed / largest)
    return min((size for size in sizes_gib if size >= needed), default=above)


def ordered_disks(raw_gb: float, *, disk_gb: float, least: int = 1) -> int:
    """Data disks of a host.

    Parameters:
        raw_gb: Raw capacity that the host must have. [GB]
        disk_gb: Capacity of one disk. [GB]
        least: Fewest disks of a host. [-]

    max(least, ceil(raw_gb / disk_gb)). Express Storage Architecture has no disk for caching.
    [broadcom-vcf-9.1-workbook]_

    >>> ordered_disks(5855, disk_gb=3200, least=4), ordered_disks(20_000, disk_gb=3200, least=4)
    (4, 7)
    """
    not_negative(raw_gb=raw_gb, least=least)
    above_zero(disk_gb=disk_gb)
    return max(least, math.ceil(raw_gb / disk_gb))


def _part(kept_share: float) -> None:
    """Refuse a share that leaves nothing."""
    if not 0 <= kept_share < 1:
        raise ValueError(f"kept_share is {kept_share}; it must be from 0 to below 1")
