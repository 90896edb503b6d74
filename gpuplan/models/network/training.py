"""Training on several hosts: time of a step whose gradients are summed over the GPUs, and derived figures.
[horovod-2018]_

Parameters:
    compute_s: Time of the step on one GPU alone: batch per GPU / samples per second of one GPU; all its micro-batches where
        gradients are accumulated. [s]
    gradient_mb: Bytes that are sent: parameters x 4, usually with automatic mixed precision too; x 2 only if gradients are
        stored or compressed as FP16. [MB]
    gpus: GPUs that train together. [GPU]
    step_s: Time of a step when they train together. [s]
    batch_per_gpu: Samples of one step on one GPU. [-]
"""

import math
from dataclasses import dataclass, replace

from gpuplan.models.network.collectives import ALGORITHMS, RING, Allreduce, GpuHosts, allreduce_time_s
from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one


@dataclass(frozen=True, slots=True)
class Overlap:
    """Part of a gradient exchange that computing hides; item ``training-allreduce`` of the assumptions."""

    late_share: float = 0.0
    """Share of the gradient that is ready in the last third of the backward pass, when little is left to hide it behind; by
    the layers of the network: 0.003 for VGG-16, 0.03 for ResNet-50, 0.5 for BERT-base. [-]"""
    exposed_share: float = 0.125
    """Share of the rest of the exchange that is not hidden either; 1 without overlap. [-]"""
    overlap_share: float = 0.553
    """Share of the compute time behind which the exchange can hide; 0 without overlap. [-]"""
    straggler_share: float = 0.00746
    """Growth of the compute time with each doubling of the GPUs: a step waits for the slowest. [-]"""

    def __post_init__(self) -> None:
        not_negative(overlap_share=self.overlap_share, straggler_share=self.straggler_share)
        zero_to_one(exposed_share=self.exposed_share, late_share=self.late_share)


OVERLAP = Overlap()
"""The overlap as fitted, without a late gradient."""


def training_step_s(
    compute_s: float, *, gradient_mb: float, over: GpuHosts, by: Allreduce = RING, overlap: Overlap = OVERLAP
) -> float:
    """Time of one synchronous training step with allreduce.

    T_c (1 + d log2 GPUs) + max((late + (1 - late) exposed) x T_ar, T_ar - overlap x T_c), T_ar by allreduce_time_s. Convolutions
    compute long where they have few parameters, at the input, so almost all of their gradient is on its way early; a
    transformer has as many in every layer, and its embedding, ready last. Fitted on published rows of CNNs and BERT-base in
    FP32, 1 to 128 hosts of up to 4 GPUs on PCIe, 10 to 100 Gbit/s; held against BERT-large and against hosts of 8 GPUs on
    NVLink that nothing was fitted on. Beyond them it extrapolates, and frameworks that overlap badly do worse. On one host only the sum inside it
    and the slowest GPU are left, and with one GPU the step takes compute_s. [horovod-2018]_ [hkbu-ddl-benchmarks]_
    [batchai-horovod-benchmark]_ [mg-wfbp]_ [oneflow-dlperf]_ [oneflow-dlperf-2020-10]_

    >>> from gpuplan.models.network import Link
    >>> training_step_s(0.25, gradient_mb=100, over=GpuHosts(1, Link(10)))
    0.25
    >>> hosts = GpuHosts(4, Link(25, transport="roce"), gpus_per_host=4)
    >>> round(training_step_s(0.5, gradient_mb=553, over=hosts), 2)
    0.59
    """
    above_zero(compute_s=compute_s)
    reduced = allreduce_time_s(gradient_mb, over=over, by=by)
    return overlapped_step_s(compute_s, sum_s=reduced, gpus=over.gpus, overlap=overlap)


def overlapped_step_s(compute_s: float, *, sum_s: float, gpus: int, overlap: Overlap = OVERLAP) -> float:
    """Time of one step whose gradient exchange overlaps with computing.

    Parameters:
        sum_s: Time to sum the gradient. [s]

    T_c (1 + d log2 GPUs) + max((late + (1 - late) exposed) x T_sum, T_sum - overlap x T_c). [hkbu-ddl-benchmarks]_

    >>> overlapped_step_s(0.5, sum_s=0.25, gpus=1, overlap=Overlap(exposed_share=0.5))
    0.625
    """
    above_zero(compute_s=compute_s)
    not_negative(sum_s=sum_s)
    at_least_one(gpus=gpus)
    never = overlap.late_share + (1 - overlap.late_share) * overlap.exposed_share
    waited = max(never * sum_s, sum_s - overlap.overlap_share * compute_s)
    return compute_s * (1 + overlap.straggler_share * math.log2(gpus)) + waited


def host_traffic_gbit_s(
    gradient_mb: float, *, step_s: float, hosts: int, gpus_per_host: int = 1, algorithm: str = "ring"
) -> float:
    """Average traffic that one host sends during training; it receives as much.

    Parameters:
        hosts: Hosts that train together. [host]
        gpus_per_host: GPUs of the job in each. [-]
        algorithm: ``ring``, ``hierarchical``, ``parameter-server`` or ``in-network``. [-]

    It is 0 on one host. 8 x sent / step; sent = 2 (n - 1) / n x gradient on a ring of n GPUs, 2 (h - 1) / h x gradient
    on a ring of h hosts, and with a server and a worker for each GPU 2 g (h - 1) / h x gradient for the g GPUs of a
    host, one half of it by its servers; where the switches sum, the gradient once. [patarasuk-allreduce-2009]_

    >>> host_traffic_gbit_s(1000, step_s=1, hosts=2)
    8.0
    """
    above_zero(step_s=step_s)
    at_least_one(hosts=hosts, gpus_per_host=gpus_per_host)
    not_negative(gradient_mb=gradient_mb)
    algorithms = (*ALGORITHMS, "parameter-server", "in-network")
    if algorithm not in algorithms:
        raise ValueError(f"algorithm is {algorithm!r}; it must be one of {', '.join(algorithms)}")
    if hosts == 1:
        return 0.0
    if algorithm == "in-network":
        return gradient_mb * 8 / 1000 / step_s
    ranks = hosts * gpus_per_host if algorithm == "ring" else hosts
    times = gpus_per_host if algorithm == "parameter-server" else 1
    return 2 * times * (ranks - 1) / ranks * gradient_mb * 8 / 1000 / step_s


def scaling_efficiency(compute_s: float, *, step_s: float) -> float:
    """Share of their standalone speed that GPUs keep when they train together.

    compute_s / step_s: images per second of all GPUs over those of one, times their number.

    >>> scaling_efficiency(0.25, step_s=0.5)
    0.5
    """
    above_zero(compute_s=compute_s, step_s=step_s)
    if compute_s > step_s:
        raise ValueError(f"compute_s is {compute_s}; it must be at most the time of the step, {step_s}")
    return compute_s / step_s


def efficiency_range(
    efficiency: float, *, slower_share: float, faster_share: float, base_share: float = 0.3
) -> tuple[float, float]:
    """Range in which an efficiency is to be expected, from how far unseen measurements were off.

    Parameters:
        efficiency: As predicted, in (0, 1]. [-]
        slower_share: How much longer a step may take that does nothing but wait, as a share of it. [-]
        faster_share: How much longer than measured such a step may be predicted. [-]
        base_share: What computing alone adds to the share of the step that waits. [-]

    Low and high. [-] With w = base_share + 1 - efficiency: low = efficiency / (1 + slower_share w), high = min(1,
    efficiency (1 + faster_share w)). The more a step waits, the further it may be off. Both shares are quantiles of
    predicted over measured times of rows that the parameters were not fitted on, so about as many unseen rows fall into
    the range as into the quantiles. [gpuplan-method]_

    >>> efficiency_range(0.8, slower_share=0.5, faster_share=0.25)
    (0.64, 0.9)
    """
    above_zero(efficiency=efficiency)
    zero_to_one(efficiency=efficiency)
    not_negative(slower_share=slower_share, faster_share=faster_share, base_share=base_share)
    waits = base_share + 1 - efficiency
    return efficiency / (1 + slower_share * waits), min(1.0, efficiency * (1 + faster_share * waits))


def training_throughput(gpus: int, *, batch_per_gpu: int, step_s: float) -> float:
    """Samples per second of all GPUs together.

    GPUs x batch / time of a step: every GPU takes its batch in each step.

    >>> training_throughput(16, batch_per_gpu=64, step_s=0.32)
    3200.0
    """
    at_least_one(gpus=gpus, batch_per_gpu=batch_per_gpu)
    above_zero(step_s=step_s)
    return gpus * batch_per_gpu / step_s


def training_time_h(samples: float, *, epochs: float, gpus: int, batch_per_gpu: int, step_s: float) -> float:
    """Hours to train a number of epochs.

    Parameters:
        samples: Samples in the training set. [-]
        epochs: Passes over the training set. [-]

    Time of all steps; checkpoints and evaluation come on top. ceil(samples / (GPUs x batch)) steps per epoch. A larger
    global batch may need more epochs: that is not in it.

    >>> training_time_h(1_281_167, epochs=90, gpus=16, batch_per_gpu=64, step_s=0.32)
    10.016
    """
    above_zero(samples=samples, epochs=epochs, step_s=step_s)
    at_least_one(gpus=gpus, batch_per_gpu=batch_per_gpu)
    return math.ceil(samples / (gpus * batch_per_gpu)) * epochs * step_s / 3600


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
