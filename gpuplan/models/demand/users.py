"""Demand: people and the share of them active at the peak -> VMs and GPUs. [vmware-sharing-gpus-2020]_"""

import math
import operator
from collections.abc import Sequence
from fractions import Fraction

from gpuplan.units import above_zero, each, exact, not_negative, whole_from_zero, zero_to_one


def active_people(people: int, *, active_share: float) -> int:
    """Users of a group who need a GPU at the same time in the busiest hour.

    Parameters:
        people: People (or jobs, or applications) in the group. [-]
        active_share: Share of them active at the peak, 0 to 1. [-]

    ceil(people * active_share), computed on the decimal value given, so that 30 people at 0.1
    are 3 and not 4. Valid for a closed group whose peak is known; it says nothing about chance.

    >>> active_people(30, active_share=0.1)
    3
    >>> active_people(10, active_share=0.35)
    4
    """
    whole_from_zero(people=people)
    zero_to_one(active_share=active_share)
    return math.ceil(people * exact(active_share))


def planned_people(people: int, *, preemptible: bool) -> int:
    """People for whose work hosts are planned.

    Parameters:
        people: People or jobs of a group. [-]
        preemptible: True if its jobs may be stopped at any time. [-]

    None where jobs may be stopped: they run on what others leave.

    >>> planned_people(40, preemptible=False), planned_people(40, preemptible=True)
    (40, 0)
    """
    whole_from_zero(people=people)
    return 0 if preemptible else people


def group_vms(active: int, *, vms_each: int, reserved_vms: int = 0) -> int:
    """VMs with a GPU that a group runs at its peak.

    Parameters:
        active: People active at the peak. [-]
        vms_each: VMs or worker nodes that one of them runs at once. [-]
        reserved_vms: VMs that always have a place, however few people are active. [VM]

    active * vms_each, or the reserved VMs if there are more. More than one VM each is distributed work.

    >>> group_vms(2, vms_each=8), group_vms(2, vms_each=8, reserved_vms=20)
    (16, 20)
    """
    whole_from_zero(active=active, vms_each=vms_each, reserved_vms=reserved_vms)
    return max(active * vms_each, reserved_vms)


def group_demand_gpus(vms: int, *, gpus_each: float) -> float:
    """GPUs that a group needs at its peak, fractions included.

    Parameters:
        vms: VMs with a GPU at the peak. [VM]
        gpus_each: GPUs per VM: a fraction of one GPU, or a whole number. [GPU]

    vms * gpus_each. This is arithmetic on fractions; how many GPUs the fractions really occupy
    is decided by sharing and placement.

    >>> group_demand_gpus(16, gpus_each=0.125)
    2.0
    """
    not_negative(vms=vms, gpus_each=gpus_each)
    return float(vms * exact(gpus_each))


def total_demand_gpus(*parts: float) -> float:
    """Sum of the GPUs that all groups need at the peak.

    Parameters:
        *parts: GPUs of each group at the peak. [GPU]

    A plain sum of peaks: it assumes that all groups have their busiest hour at the same time.

    >>> total_demand_gpus(12.0, 8.0, 2.0, 2.0, 4.0)
    28.0
    """
    each(not_negative, parts=parts)
    return float(sum((exact(part) for part in parts), Fraction(0)))


def admitted_vms(vms: int, *, gpus_each: float, gpus_left: float) -> int:
    """VMs of a group that fit into the remainder of the customer's stated total.

    Parameters:
        vms: VMs the group asks for. [VM]
        gpus_each: GPUs per VM. [GPU]
        gpus_left: GPUs of the stated total not taken by the groups before it. [GPU]

    min(vms, floor(gpus_left / gpus_each)), groups in the order of the table.

    >>> admitted_vms(10, gpus_each=0.5, gpus_left=4.0)
    8
    """
    whole_from_zero(vms=vms)
    above_zero(gpus_each=gpus_each)
    not_negative(gpus_left=gpus_left)
    return min(vms, math.floor(exact(gpus_left) / exact(gpus_each)))


def planned_demand_gpus(groups_gpus: float, *, stated_gpus: float | None) -> float:
    """GPUs that the design must provide at the peak: the customer's stated total where there is one, otherwise the sum of the groups.

    Parameters:
        groups_gpus: Sum of the GPUs of all groups at the peak. [GPU]
        stated_gpus: The customer's stated total, if any. [GPU]

    A stated total wins. If the groups add up to less, the rest is kept as whole GPUs of no group in
    particular; if they add up to more, what is beyond the total is reported as not placed.

    >>> planned_demand_gpus(20.0, stated_gpus=28)
    28.0
    >>> planned_demand_gpus(20.0, stated_gpus=None)
    20.0
    """
    not_negative(groups_gpus=groups_gpus, stated_gpus=stated_gpus or 0)
    return float(groups_gpus if stated_gpus is None else stated_gpus)


def planned_requests(
    gpus: float,
    *,
    loads: Sequence[float],
    spreads: Sequence[float],
    sizes_gpus: Sequence[float],
    most: Sequence[int],
) -> tuple[int, ...]:
    """Requests of each group that together need as many GPUs as are planned: a mix that represents a crowded moment.

    Parameters:
        gpus: GPUs to plan for. [GPU]
        loads (sequence of float): Mean requests of each group under way at once. [-]
        spreads (sequence of float): Standard deviation of them. [-]
        sizes_gpus (sequence of float): GPUs of one request of each group. [GPU]
        most (sequence of int): Requests that a group can have at once: its people. [-]

    Their GPUs add up to at least ``gpus``, unless all groups together want fewer, and to less than one request more.
    Each group has load + k * spread requests, rounded up, with the least k for which the GPUs suffice; then requests
    are taken back one by one, those that are furthest above load + k * spread first, as long as the GPUs suffice.
    [gpuplan-method]_

    >>> planned_requests(8, loads=[2.0, 4.0], spreads=[1.0, 2.0], sizes_gpus=[2, 0.5], most=[9, 9])
    (3, 4)
    """
    not_negative(gpus=gpus)
    each(not_negative, loads=loads, spreads=spreads, sizes_gpus=sizes_gpus)
    each(whole_from_zero, most=most)
    shares = [exact(size) for size in sizes_gpus]
    parts = math.lcm(exact(gpus).denominator, *(share.denominator for share in shares))
    sizes = [int(share * parts) for share in shares]
    wanted = int(exact(gpus) * parts)

    def requests(k: float) -> list[int]:
        return [
            min(limit, max(0, math.ceil(load + k * spread - 1e-9)))
            for load, spread, limit in zip(loads, spreads, most, strict=True)
        ]

    def total(counts: Sequence[int]) -> int:
        return sum(map(operator.mul, sizes, counts))

    active = [i for i, spread in enumerate(spreads) if spread > 0]
    low = min((-loads[i] / spreads[i] for i in active), default=0.0)
    high = max(((most[i] - loads[i]) / spreads[i] for i in active), default=0.0)
    for _ in range(60):
        middle = (low + high) / 2
        if total(requests(middle)) >= wanted:
            high = middle
        else:
            low = middle
    counts = requests(high)
    above = [count - load - high * spread for count, load, spread in zip(counts, loads, spreads, strict=True)]
    for i in sorted(range(len(counts)), key=lambda i: (-above[i], i)):
        if counts[i] and total(counts) - sizes[i] >= wanted:
            counts[i] -= 1
    return tuple(counts)


def mean_active(people: Sequence[int], *, shares: Sequence[float]) -> float:
    """Average concurrent requests of a closed group: its users, each active with a given probability.

    Parameters:
        people (sequence of int): People at work, by the chance with which they are active. [-]
        shares (sequence of float): These chances, 0 to 1. [-]

    sum of people * share: the mean of a sum of binomial counts. With so many GPUs, about every second time one user more is
    active than there are GPUs. [gpuplan-method]_

    >>> mean_active([40], shares=[0.25])
    10.0
    """
    each(whole_from_zero, people=people)
    each(zero_to_one, shares=shares)
    return float(sum((n * exact(p) for n, p in zip(people, shares, strict=True)), Fraction(0)))
