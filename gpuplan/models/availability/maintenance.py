"""Maintenance: hours a year with one host in maintenance, the effect of failures (``mixed_...`` as in ``outages``), and vMotion.
[vmware-sharing-gpus-2020]_

Parameters:
    maintenance_h_per_host: Hours per year that each host is in maintenance. [h]
    hosts: Equal hosts, the one in maintenance included. [host]
    hosts_needed: Hosts that carry the demand. [host]
    maintenance_h: Hours per year in which one host is in maintenance. [h]
    availability: Share of the time that a host is up when it is not in maintenance. [-]
    mtbf_h: Mean time between failures of a host. [h]
    repair_h: Mean time to repair a host. [h]
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpuplan.models.availability.outages import (
    HOURS_PER_YEAR,
    HostMix,
    _chance_down,
    _chance_exactly,
    _chance_fewer,
    chance_of_shortage,
    host_availability,
    mixed_hours_short_h,
)
from gpuplan.units import above_zero, not_negative, whole_from_zero, zero_to_one


def maintenance_hours_h(hosts: int, *, maintenance_h_per_host: float) -> float:
    """Hours per year in which a host is in maintenance, one host at a time.

    Parameters:
        hosts: Hosts that are maintained. [host]

    min(8760, hosts * maintenance_h_per_host). At 8760 some host is always in maintenance, and one at a time
    may no longer be enough.

    >>> maintenance_hours_h(8, maintenance_h_per_host=16)
    128
    """
    whole_from_zero(hosts=hosts)
    not_negative(maintenance_h_per_host=maintenance_h_per_host)
    return min(HOURS_PER_YEAR, hosts * maintenance_h_per_host)


def exposed_hours_h(hosts: int, *, hosts_needed: int, maintenance_h: float) -> float:
    """Hours per year in which a host is in maintenance and a host failure would leave VMs without a GPU.

    maintenance_h if hosts - 1 <= hosts_needed, else 0: with a second spare host a single failure in maintenance
    is covered. Failures that are already there when maintenance begins are not counted; maintenance would not begin then.

    >>> exposed_hours_h(8, hosts_needed=7, maintenance_h=128)
    128
    >>> exposed_hours_h(9, hosts_needed=7, maintenance_h=144)
    0
    """
    whole_from_zero(hosts=hosts, hosts_needed=hosts_needed)
    not_negative(maintenance_h=maintenance_h)
    return maintenance_h if hosts and hosts - 1 <= hosts_needed else 0


def mixed_exposed_hours_h(mix: HostMix, *, maintenance_h_per_host: float) -> float:
    """The same for hosts of several kinds: hours of maintenance in which one more failure is too many.

    For each kind: its maintenance hours, if without one of its hosts the loss of any one host more, of any kind,
    leaves too few. One host in maintenance at a time, at most 8760 hours in all.

    >>> mixed_exposed_hours_h(HostMix([], 8, {(): 7}), maintenance_h_per_host=16)
    128.0
    """
    not_negative(maintenance_h_per_host=maintenance_h_per_host)
    exposed = 0.0
    for hours, left in _maintained(mix, maintenance_h_per_host):
        none, new = (0,) * len(left.old_hosts), left.new_hosts
        least = [left.new_needed.get(none, new + 1) + (new > 0)]
        least += [then for _, then in _one_more_down(none, left)]
        if new < max(least):
            exposed += hours
    return exposed


def maintenance_short_h(hosts: int, *, hosts_needed: int, availability: float, maintenance_h: float) -> float:
    """Hours per year in which a failure beside the host in maintenance leaves fewer hosts than needed.

    maintenance_h * P(hosts up < hosts_needed), hosts up binomial(hosts - 1, availability). All of
    maintenance_h when the other hosts are fewer than needed. Maintenance starts whether or not
    another host is down; who waits until all are up does better. [kuo-zuo-2003]_ [vmware-sharing-gpus-2020]_

    >>> round(maintenance_short_h(9, hosts_needed=8, availability=0.99, maintenance_h=144), 1)
    11.1
    >>> maintenance_short_h(8, hosts_needed=8, availability=0.99, maintenance_h=128)
    128.0
    """
    whole_from_zero(hosts=hosts, hosts_needed=hosts_needed)
    not_negative(maintenance_h=maintenance_h)
    return maintenance_h * _chance_fewer(max(0, hosts - 1), hosts_needed, availability=availability)


def mixed_maintenance_short_h(mix: HostMix, *, availability: float, maintenance_h_per_host: float) -> float:
    """Expected hours per year of maintenance in which failures leave too few hosts of several kinds.

    For each kind: its maintenance hours times the share of time in which the other hosts do not carry the demand.

    >>> mix = HostMix([], 8, {(): 7})
    >>> round(mixed_maintenance_short_h(mix, availability=0.997, maintenance_h_per_host=16), 2)
    2.66
    """
    zero_to_one(availability=availability)
    not_negative(maintenance_h_per_host=maintenance_h_per_host)
    return math.fsum(
        hours * mixed_hours_short_h(left, availability=availability) / HOURS_PER_YEAR
        for hours, left in _maintained(mix, maintenance_h_per_host)
    )


def maintenance_chance(
    hosts: int, *, hosts_needed: int, mtbf_h: float, repair_h: float, maintenance_h: float
) -> float:
    """Probability that, within a year, a failure during maintenance leaves VMs without a GPU at least once.

    chance_of_shortage of the other hosts - 1 hosts over maintenance_h; 1 if hosts - 1 < hosts_needed and there is
    maintenance at all. Exact for one spare host; with more an upper bound, see there.

    >>> round(maintenance_chance(8, hosts_needed=7, mtbf_h=16000, repair_h=48, maintenance_h=128), 3)
    0.054
    """
    whole_from_zero(hosts=hosts, hosts_needed=hosts_needed)
    above_zero(mtbf_h=mtbf_h)
    not_negative(repair_h=repair_h, maintenance_h=maintenance_h)
    if not maintenance_h:
        return 0.0
    if hosts - 1 < hosts_needed:
        return 1.0 if hosts_needed else 0.0
    return chance_of_shortage(
        hosts - 1, hosts_needed=hosts_needed, mtbf_h=mtbf_h, repair_h=repair_h, hours_h=maintenance_h
    )


def mixed_maintenance_chance(
    mix: HostMix, *, mtbf_h: float, repair_h: float, maintenance_h_per_host: float
) -> float:
    """Probability that, within a year, a failure during maintenance leaves too few hosts of several kinds at least once.

    1 - exp(-sum of hours * rate over the kinds), rate being how often the hosts left go from carrying the demand to not
    carrying it: over the states that carry it, P(state) * (hosts up whose failure ends that) / mtbf_h, given that it is
    carried at the start. As ``maintenance_chance`` for one kind.

    >>> mix = HostMix([], 8, {(): 7})
    >>> round(mixed_maintenance_chance(mix, mtbf_h=16000, repair_h=48, maintenance_h_per_host=16), 3)
    0.054
    """
    not_negative(maintenance_h_per_host=maintenance_h_per_host)
    up = host_availability(mtbf_h, repair_h=repair_h)
    expected = 0.0
    for hours, left in _maintained(mix, maintenance_h_per_host):
        old, new = left.old_hosts, left.new_hosts
        if left.new_needed.get((0,) * len(old), new + 1) > new:
            return 1.0
        carried = ends = 0.0
        for down, least in left.new_needed.items():
            if new < least:
                continue
            here, fewer = _chance_down(old, down, availability=up), _chance_fewer(new, least, availability=up)
            carried += here * (1 - fewer)
            # a new host fails when just enough of them are up
            ends += here * _chance_exactly(new, least, availability=up) * least
            for still_up, then in _one_more_down(down, left):
                # an old host fails when too few new ones are up for that
                ends += here * still_up * (_chance_fewer(new, max(least, then), availability=up) - fewer)
        if not carried:  # so rarely that a float cannot hold it
            return 1.0
        expected += hours * ends / carried / mtbf_h
    return -math.expm1(-expected)


def stun_time_s(frame_buffer_gb: float, *, fixed_s: float, copy_rate_gb_s: float) -> float:
    """Stun of a VM with vGPUs during vMotion, while its used frame buffer is copied.

    Parameters:
        frame_buffer_gb: Frame buffer in use, in all vGPUs of the VM together. [GB]
        fixed_s: Part that does not depend on the frame buffer. [s]
        copy_rate_gb_s: Frame buffer copied per second of standing still. [GB/s]

    fixed_s + frame_buffer_gb / copy_rate_gb_s, a line through measurements of 1 to 32 GB (vSphere 7.0,
    V100, 10 Gbit/s). Beyond 32 GB it extrapolates; it does not hold for other links, GPUs or releases: on 10 Gbit/s
    1.67 s and 0.84 GB/s with vSphere 7.0 and V100, 1.17 s and 0.635 GB/s with 6.7 U3 and V100, 1.53 s and 0.134 GB/s with 6.7 U1
    and P40. From vSphere 9.0 on vMotion works otherwise, and no line is known. [vmware-vsphere-7.0-vgpu-vmotion]_

    >>> stun_time_s(32, fixed_s=1.5, copy_rate_gb_s=0.8)
    41.5
    """
    not_negative(frame_buffer_gb=frame_buffer_gb, fixed_s=fixed_s)
    above_zero(copy_rate_gb_s=copy_rate_gb_s)
    return fixed_s + frame_buffer_gb / copy_rate_gb_s


def worst_stun_time_s(
    vgpu_gb: float, *, vm_memory_gb: float, fixed_s: float, copy_rate_gb_s: float, memory_rate_gb_s: float
) -> float:
    """Worst-case stun of a VM with vGPUs during vMotion, by the vendor's estimate.

    Parameters:
        vgpu_gb: Frame buffer of all vGPUs of the VM together, used or not. [GB]
        vm_memory_gb: Memory of the VM. [GB]
        fixed_s: Part that depends on neither. [s]
        copy_rate_gb_s: Frame buffer copied per second of standing still. [GB/s]
        memory_rate_gb_s: Memory of the VM for each second that it adds to standing still. [GB/s]

    fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s, a plane through the vendor's table of worst
    cases (vSphere 7.0, 10 Gbit/s): vGPUs of 1 to 32 GB, VMs of 4 to 32 GB. Beyond them it extrapolates; it does not
    hold for other links. [vmware-vsphere-7.0-vgpu-vmotion]_

    >>> worst_stun_time_s(32, vm_memory_gb=32, fixed_s=1, copy_rate_gb_s=0.4, memory_rate_gb_s=4)
    89.0
    """
    not_negative(vgpu_gb=vgpu_gb, vm_memory_gb=vm_memory_gb, fixed_s=fixed_s)
    above_zero(copy_rate_gb_s=copy_rate_gb_s, memory_rate_gb_s=memory_rate_gb_s)
    return fixed_s + vgpu_gb / copy_rate_gb_s + vm_memory_gb / memory_rate_gb_s


def _maintained(mix: HostMix, maintenance_h_per_host: float) -> Iterator[tuple[float, HostMix]]:
    """Hours of maintenance of each kind, and the hosts that are left then."""
    old, new = mix.old_hosts, mix.new_hosts
    hours = (sum(old) + new) * maintenance_h_per_host
    host_h = maintenance_h_per_host * min(1.0, HOURS_PER_YEAR / hours) if hours else 0.0
    for kind, count in enumerate(old):
        if count and host_h:
            needed = {_changed(down, kind, -1): n for down, n in mix.new_needed.items() if down[kind]}
            yield count * host_h, HostMix(_changed(old, kind, -1), new, needed)
    if new and host_h:
        yield new * host_h, replace(mix, new_hosts=new - 1)


def _one_more_down(down: Sequence[int], mix: HostMix) -> Iterator[tuple[int, int]]:
    """For each kind of old hosts of which some are up: how many, and the new hosts needed without one more."""
    for kind, (lost, every) in enumerate(zip(down, mix.old_hosts, strict=True)):
        if lost < every:
            yield every - lost, mix.new_needed.get(_changed(down, kind, 1), mix.new_hosts + 1)


def _changed(counts: Sequence[int], kind: int, by: int) -> tuple[int, ...]:
    return tuple(count + by * (at == kind) for at, count in enumerate(counts))
