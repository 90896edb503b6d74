"""Sums of gradients and other collectives: one ring through GPUs, and as they run today on NVLink, several links of a host, trees and switches."""

import math
from dataclasses import dataclass, replace

from gpuplan.models.network.links import Link, delivered_gbit_s
from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

ALGORITHMS = ("ring", "hierarchical")

COLLECTIVES = ("allreduce", "reduce-scatter", "all-gather")

FUSION_MB = 67.108864
"""Data that Horovod collects before it sends: 64 MiB."""

STEP_LATENCY_US = {"tcp": 12.3, "roce-v1": 9.16, "roce": 9.16, "pvrdma": 9.16, "infiniband": 9.16}
"""Latency of one step of a ring by transport; fitted."""


@dataclass(frozen=True, slots=True)
class GpuHosts:
    """Hosts whose GPUs work together, and their links."""

    hosts: int
    """Hosts that take part. [host]"""
    link: Link
    """One link of a host. [-]"""
    gpus_per_host: int = 1
    """GPUs in each that take part. [-]"""
    links: int = 1
    """Links of a host, each with a ring of its own; more than GPUs bring nothing. [-]"""
    intra_host_gb_s: float = 4.54
    """Rate of a ring inside one host; the default is for GPUs on PCIe 3.0, and no link makes the ring faster. NVLink:
    120 for V100, 240 for A100. [GB/s]"""

    def __post_init__(self) -> None:
        at_least_one(hosts=self.hosts, gpus_per_host=self.gpus_per_host, links=self.links)
        above_zero(intra_host_gb_s=self.intra_host_gb_s)

    @property
    def gpus(self) -> int:
        """GPUs of all hosts."""
        return self.hosts * self.gpus_per_host

    @property
    def all_links(self) -> Link:
        """The links of a host that its GPUs use, as one."""
        used = min(self.links, self.gpus_per_host)
        return self.link if used == 1 else replace(self.link, link_gbit_s=used * self.link.link_gbit_s)


@dataclass(frozen=True, slots=True)
class Allreduce:
    """Method by which the GPUs of several hosts sum a gradient."""

    algorithm: str = "ring"
    """``ring``: one ring through all GPUs; ``hierarchical``: a sum inside every host, then a ring of the hosts. [-]"""
    messages: int | None = None
    """Messages into which the gradient is divided; None for messages of 64 MiB, 1 for a single allreduce. [-]"""
    step_latency_us: float | None = None
    """Latency of one step between hosts; None for the fitted one of the transport. [us]"""
    reduce_gb_s: float | None = None
    """Rate at which processors sum, if the sum is not made on the GPUs. [GB/s]"""

    def __post_init__(self) -> None:
        if self.algorithm not in ALGORITHMS:
            raise ValueError(f"algorithm is {self.algorithm!r}; it must be one of {', '.join(ALGORITHMS)}")
        at_least_one(messages=1 if self.messages is None else self.messages)
        not_negative(step_latency_us=0.0 if self.step_latency_us is None else self.step_latency_us)
        above_zero(reduce_gb_s=1.0 if self.reduce_gb_s is None else self.reduce_gb_s)

    def latency_us(self, gradient_mb: float, transport: str) -> float:
        """Latency of one step with all messages of a gradient."""
        step = STEP_LATENCY_US[transport] if self.step_latency_us is None else self.step_latency_us
        return step * (max(1, math.ceil(gradient_mb / FUSION_MB)) if self.messages is None else self.messages)


RING = Allreduce()
"""One ring through all GPUs, as fitted."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """Latencies of a pipelined collective; item ``collectives`` of the assumptions."""

    launch_us: float = 6.83
    """Time to start a collective. [us]"""
    intra_step_us: float = 0.749
    """Latency of a step between GPUs of one host. [us]"""
    step_latency_us: float = 14.6
    """Latency of a step between hosts. [us]"""
    fill_share: float = 0.848
    """Share of the time to fill and empty the pipeline with the best chunks that is not avoided. [-]"""

    def __post_init__(self) -> None:
        not_negative(
            launch_us=self.launch_us, intra_step_us=self.intra_step_us, step_latency_us=self.step_latency_us
        )
        zero_to_one(fill_share=self.fill_share)

    def pipelined_s(self, moved_s: float, waits_us: float) -> float:
        """Time of a collective by that of its bytes on the slowest link and the latency of one way through."""
        waits_s = waits_us * 1e-6
        return moved_s + waits_s + 2 * self.fill_share * math.sqrt(moved_s * waits_s)


def nccl_allreduce_time_s(
    message_mb: float, *, ranks: int, bus_gb_s: float, step_latency_us: float = 0.0
) -> float:
    """Time of an allreduce on a ring, as NCCL counts its bus bandwidth.

    Parameters:
        message_mb: Size of the message that every rank holds. [MB]
        ranks: GPUs in the ring. [-]
        bus_gb_s: Bus bandwidth: rate of the slowest link of the ring in one direction. [GB/s]
        step_latency_us: Latency of one of the 2 (ranks - 1) steps. [us]

    2 (n - 1) / n x message / bandwidth + 2 (n - 1) x latency. NCCL takes a tree instead of a ring for small messages on
    many ranks: then this is an upper bound. [nccl-tests-performance]_ [patarasuk-allreduce-2009]_

    >>> nccl_allreduce_time_s(1000, ranks=4, bus_gb_s=12)
    0.125
    """
    at_least_one(ranks=ranks)
    above_zero(bus_gb_s=bus_gb_s)
    not_negative(message_mb=message_mb, step_latency_us=step_latency_us)
    steps = 2 * (ranks - 1)
    return steps / ranks * message_mb / 1000 / bus_gb_s + steps * step_latency_us * 1e-6


def allreduce_time_s(gradient_mb: float, *, over: GpuHosts, by: Allreduce = RING) -> float:
    """Time to sum the gradient over the GPUs of several hosts.

    Parameters:
        gradient_mb: Bytes that are sent: parameters x 4, usually with automatic mixed precision too; x 2 only if gradients are
            stored or compressed as FP16. [MB]

    Ring over n GPUs: 2 (n - 1) / n x gradient / min(network, inside the host) + messages x 2 (n - 1) x latency. On one host
    there is neither network nor latency. Hierarchical with g GPUs in each of h hosts: 2 (g - 1) / g x gradient / inside
    + 2 (h - 1) / h x gradient / network + messages x 2 (h - 1) x latency: nearer to NCCL's tree on two hosts. Fitted on hosts of 4 GPUs with up to 512 GPUs.
    [patarasuk-allreduce-2009]_ [horovod-2018]_ [hkbu-ddl-benchmarks]_ [mg-wfbp]_

    >>> round(allreduce_time_s(100, over=GpuHosts(4, Link(10)), by=Allreduce(step_latency_us=0)), 4)
    0.1263
    >>> allreduce_time_s(100, over=GpuHosts(1, Link(10)))
    0.0
    """
    not_negative(gradient_mb=gradient_mb)
    inside, between = over.intra_host_gb_s, delivered_gbit_s(over.all_links) / 8
    if by.reduce_gb_s is not None:
        inside, between = min(inside, by.reduce_gb_s), min(between, by.reduce_gb_s)
    latency = by.latency_us(gradient_mb, over.link.transport)
    if over.hosts == 1:
        return nccl_allreduce_time_s(gradient_mb, ranks=over.gpus_per_host, bus_gb_s=inside)
    if by.algorithm == "hierarchical":
        return nccl_allreduce_time_s(
            gradient_mb, ranks=over.gpus_per_host, bus_gb_s=inside
        ) + nccl_allreduce_time_s(gradient_mb, ranks=over.hosts, bus_gb_s=between, step_latency_us=latency)
    slowest = min(inside, between) if over.gpus_per_host > 1 else between
    return nccl_allreduce_time_s(gradient_mb, ranks=over.gpus, bus_gb_s=slowest, step_latency_us=latency)


def collective_time_s(
    message_mb: float,
    *,
    over: GpuHosts,
    collective: str = "allreduce",
    switch_gb_s: float | None = None,
    in_network: bool = False,
    trees: bool = True,
    latencies: Latencies = Latencies(),
) -> float:
    """Time of a pipelined collective over GPUs of one host or of several, by the size of its message.

    Parameters:
        message_mb: Size of the whole message: what every GPU holds before an allreduce or a reduce-scatter, or after an
            all-gather. [MB]
        collective: ``allreduce``, ``reduce-scatter`` or ``all-gather``. [-]
        switch_gb_s: Bus bandwidth of an allreduce of one host whose NVSwitch sums; None if it does not. [GB/s]
        in_network: Whether the switches between the hosts sum; InfiniBand only, with room in them for this job. [-]
        trees: Whether a tree may be taken instead of a ring. [-]

    It is 0 for one GPU. T = V + a + 2 fill sqrt(V a): V is the time of the bytes on the slowest link, a the latency of
    one way through, and the last term what chunks of the best size cost. Ring of n GPUs on h hosts: V = 2 (n - 1) / n x
    message / min(inside, sum of the links), a = launch + 2 (n - h) intra + 2 (h - 1) inter; half of both but the launch
    for reduce-scatter and all-gather. Tree: V = message / min(inside, links on two hosts, links / 2 on more), a =
    launch + 2 (g - 1) intra + 2 log2(h) inter; inside is half the ring's rate, or switch x g / (2 (g - 1)). With sums
    in the network each byte crosses a link once, V = message / min(inside, links), and 2 steps between hosts, whatever
    their number: no published row checks that. On two hosts a tree moves less than a ring, so the bus bandwidth exceeds
    that of the links. Fitted on hosts with NVLink, 64 bytes to 4 GB; on PCIe small messages were measured to wait as
    long, and the rate inside falls with every GPU: give that of as many. [nccl-tests-performance]_
    [patarasuk-allreduce-2009]_ [nccl-issue-812]_

    >>> link = Link(400, transport="infiniband")
    >>> hosts = GpuHosts(2, link, gpus_per_host=8, links=8, intra_host_gb_s=370.8)
    >>> seconds = collective_time_s(4000, over=hosts, switch_gb_s=480)
    >>> round(2 * 15 / 16 * 4 / seconds)
    468
    """
    if collective not in COLLECTIVES:
        raise ValueError(f"collective is {collective!r}; it must be one of {', '.join(COLLECTIVES)}")
    transport, hosts, gpus = over.link.transport, over.hosts, over.gpus_per_host
    if in_network and transport != "infiniband":
        raise ValueError(f"transport is {transport!r}; it must be infiniband for sums in the network")
    above_zero(switch_gb_s=1.0 if switch_gb_s is None else switch_gb_s)
    not_negative(message_mb=message_mb)
    between, ranks = delivered_gbit_s(over.all_links) / 8, over.gpus
    if ranks == 1:
        return 0.0
    slowest = min(over.intra_host_gb_s if gpus > 1 else math.inf, between if hosts > 1 else math.inf)
    ways = 2 if collective == "allreduce" else 1
    moved_s = ways * (ranks - 1) / ranks * message_mb / 1000 / slowest
    steps_us = (ranks - hosts) * latencies.intra_step_us + (hosts - 1) * latencies.step_latency_us
    times = [latencies.pipelined_s(moved_s, latencies.launch_us + ways * steps_us)]
    if collective == "allreduce" and trees:
        inside = _tree_inside_gb_s(gpus, over.intra_host_gb_s, switch_gb_s)
        below = latencies.launch_us + 2 * (gpus - 1) * latencies.intra_step_us
        up = math.inf if hosts == 1 else between if hosts == 2 else between / 2
        waits_us = below + 2 * math.ceil(math.log2(hosts)) * latencies.step_latency_us
        times.append(latencies.pipelined_s(message_mb / 1000 / min(inside, up), waits_us))
        if in_network and hosts > 1:
            waits_us = below + 2 * latencies.step_latency_us
            times.append(latencies.pipelined_s(message_mb / 1000 / min(inside, between), waits_us))
    return min(times)


def _tree_inside_gb_s(gpus: int, ring_gb_s: float, switch_gb_s: float | None) -> float:
    """Return the rate at which a message passes a host on its way up and down a tree."""
    if gpus == 1:
        return math.inf
    if switch_gb_s is None:
        return ring_gb_s / 2
    return max(ring_gb_s / 2, switch_gb_s * gpus / (2 * (gpus - 1)))
