"""Claims of a speed-up by RDMA, compared with the models."""

import math
from dataclasses import replace

from gpuplan.models.network.collectives import GpuHosts
from gpuplan.models.network.training import OVERLAP, Overlap, training_step_s
from gpuplan.units import above_zero


def tcp_rate_for_speedup_gbit_s(
    compute_s: float, *, speedup: float, gradient_mb: float, over: GpuHosts, overlap: Overlap = OVERLAP
) -> float:
    """TCP rate of a host at which RDMA would make a training step so many times faster.

    Parameters:
        compute_s: Time of the step on one GPU alone. [s]
        speedup: Step over TCP over step over RDMA, above 1. [-]
        gradient_mb: Bytes that are sent. [MB]
        over: At least 2 hosts, and a link with RDMA. [-]

    Over a faster TCP stack the speed-up is smaller. It is 0 if no rate above 0.001 Gbit/s is slow enough, and the rate
    of the link if TCP is as slow at any rate. Bisection on training_step_s with TCP over the same with RDMA; the step
    falls with the rate of TCP. A claim without model and batch can be held against a design that way. [mellanox-hpvml]_

    >>> from gpuplan.models.network import Link
    >>> hosts = GpuHosts(4, Link(100, transport="pvrdma"))
    >>> rate = tcp_rate_for_speedup_gbit_s(0.2, speedup=2, gradient_mb=100, over=hosts)
    >>> 1 < rate < 10
    True
    """
    above_zero(speedup=speedup)
    if speedup <= 1 or over.hosts < 2:
        raise ValueError(
            f"speedup is {speedup} and hosts {over.hosts}; they must be above 1 and at least 2: one host has no network"
        )

    def step(over: GpuHosts) -> float:
        return training_step_s(compute_s, gradient_mb=gradient_mb, over=over, overlap=overlap)

    def over_tcp(rate: float) -> float:
        return step(replace(over, link=replace(over.link, transport="tcp", tcp_gbit_s=rate)))

    wanted = speedup * step(over)
    low, high = 0.001, over.link.link_gbit_s
    if over_tcp(low) < wanted:
        return 0.0
    if over_tcp(high) >= wanted:
        return high
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if over_tcp(middle) >= wanted else (low, middle)
    return low
