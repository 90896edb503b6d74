"""Training with parameter servers: time of a step."""

import math

from gpuplan.models.network.collectives import GpuHosts, nccl_allreduce_time_s
from gpuplan.models.network.links import delivered_gbit_s
from gpuplan.models.network.training import Overlap, overlapped_step_s
from gpuplan.units import above_zero, at_least_one, zero_to_one

TCP_GBIT_S = 30.4
"""Throughput of a host's TCP stack over the many connections of servers; fitted."""
OVERLAP = Overlap(exposed_share=0.0883, overlap_share=0.917, straggler_share=0.00747)
"""Part of the transfer hidden by computing; fitted."""


def parameter_server_step_s(
    compute_s: float,
    *,
    gradient_mb: float,
    largest_variable_mb: float,
    over: GpuHosts,
    workers_per_host: int | None = None,
    servers: int | None = None,
    server_gbit_s: float = 3.01,
    partitioned: bool = False,
    beside_share: float = 0.387,
    overlap: Overlap = OVERLAP,
) -> float:
    """Time of one step of synchronous training with parameter servers.

    Parameters:
        compute_s: Time of the step on one GPU alone. [s]
        gradient_mb: Gradient of the model, as large as its variables. [MB]
        largest_variable_mb: The largest single variable, which one server holds alone. [MB]
        workers_per_host: Workers in each host that talk to the servers; None for one per GPU, 1 where one process drives all
            GPUs of a host (distributed_replicated of tf_cnn_benchmarks). [-]
        servers: Parameter servers, if known; None for as many as workers. [-]
        server_gbit_s: What one server moves in one direction, however fast the link is; the default is that of TensorFlow over
            gRPC. Not used where tensors are partitioned. [Gbit/s]
        partitioned: Whether tensors are cut into small parts that all servers share and that are sent while the GPUs of a host
            still sum the next (BytePS), instead of each variable lying on one server (TensorFlow). [-]
        beside_share: Share of the shorter of transfer and sum inside the host that does not run beside the longer, where
            tensors are partitioned. [-]

    T_c (1 + d log2 GPUs) + sum inside a worker + max((late + (1 - late) exposed) x T_ps, T_ps - overlap x T_c) with
    T_ps the longer of two: what the busiest server moves, workers x (v + (S - v) / servers) / its rate, S being the gradient and
    v the largest variable; and what reaches one host over its link, 2 x its workers x S (hosts - 1) / hosts, one half for its workers and one for as
    many servers beside them. With partitioned tensors T_ps is the longer of the sum inside and of 2 x workers of a host x S over its link, and a share of the
    shorter; two hosts were measured to take as long as eight. On one host there is no network term. Fitted on published rows of CNNs and BERT-base on 1 to 128 hosts, with
    GPUs of 2016 for TensorFlow: much faster GPUs on 10 Gbit/s come out too good. [horovod-2018]_
    [tensorflow-benchmarks-2017]_ [ebug-distributed-tensorflow]_ [hkbu-ddl-benchmarks]_

    >>> from gpuplan.models.network import Link
    >>> hosts = GpuHosts(4, Link(10))
    >>> round(parameter_server_step_s(2.0, gradient_mb=100, largest_variable_mb=10, over=hosts), 1)
    2.1
    """
    hosts, gpus_per_host = over.hosts, over.gpus_per_host
    workers_each = gpus_per_host if workers_per_host is None else workers_per_host
    above_zero(compute_s=compute_s, gradient_mb=gradient_mb, server_gbit_s=server_gbit_s)
    at_least_one(workers_per_host=workers_each)
    if workers_each > gpus_per_host:
        raise ValueError(
            f"workers_per_host is {workers_each}; it must be 1 to {gpus_per_host}, the GPUs per host"
        )
    workers = hosts * workers_each
    held_by = workers if servers is None else servers
    at_least_one(servers=held_by)
    above_zero(largest_variable_mb=largest_variable_mb)
    if largest_variable_mb > gradient_mb:
        raise ValueError(
            f"largest_variable_mb is {largest_variable_mb}; it must be above 0 and at most the gradient, {gradient_mb}"
        )
    zero_to_one(beside_share=beside_share)
    ranks = math.ceil(gpus_per_host / workers_each)
    inside = nccl_allreduce_time_s(gradient_mb, ranks=ranks, bus_gb_s=over.intra_host_gb_s)
    rate = delivered_gbit_s(over.all_links.fitted(tcp_gbit_s=TCP_GBIT_S))
    if hosts == 1:
        moved = 0.0
    elif partitioned:
        moved = 2 * workers_each * gradient_mb / rate * 8 / 1000
    else:
        busiest = workers * (largest_variable_mb + (gradient_mb - largest_variable_mb) / held_by)
        arrives = 2 * workers_each * gradient_mb * (hosts - 1) / hosts
        moved = max(busiest / min(rate, server_gbit_s), arrives / rate) * 8 / 1000
    if partitioned:
        moved, inside = max(inside, moved) + beside_share * min(inside, moved), 0.0
    return inside + overlapped_step_s(compute_s, sum_s=moved, gpus=over.gpus, overlap=overlap)
