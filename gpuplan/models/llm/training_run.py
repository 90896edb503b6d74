"""A training run of a language model: how it is spread over GPUs and hosts, and where the time of its step goes."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from gpuplan.models.llm.training import llm_step_s, micro_batch_s
from gpuplan.models.network.collectives import collective_time_s
from gpuplan.models.network.links import JUMBO_BYTES, delivered_gbit_s
from gpuplan.units import above_zero, at_least_one

SHARDINGS = ("full", "gradients", "hybrid", "tensor-pipeline")
"""Weights, gradients and states of the optimizer spread over all GPUs (FSDP, ZeRO-3); all but the weights (ZeRO-2); all over the GPUs of
each host, which has a copy; or parts of the layers (tensor parallel in a host, pipeline over hosts), copies of which share the batch."""

A100_TFLOPS, H100_TFLOPS = 312.0, 989.0
"""Dense BF16 rates of the boards whose steps were published."""

WEIGHT_BYTES = {"full": 2.0, "lora": 2.0, "qlora": 0.516}
"""Bytes of a weight as it is gathered. QLoRA: four bits, and eight more for each block of 64."""


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A step of training one language model, in plain numbers."""

    parameters: float
    """In 10^9."""
    active_parameters: float
    """In 10^9, that one token uses: all of a dense model."""
    layers: int
    hidden_size: int
    attention_size: int
    """Heads times their width."""
    vocabulary: int
    tied_embeddings: bool
    sequence_tokens: int
    micro_batch: int
    """Sequences of one copy of the model in one pass."""
    batch: int
    """Sequences of a step, of all copies together."""
    method: str
    recompute: bool
    """Whether activations are computed again in the backward pass."""
    tensor_tflops: float
    """Dense rate of a GPU in BF16."""
    matmul_tflops: float
    """Dense rate in the precision of the matrix products."""
    fp8: bool
    memory_bandwidth_gb_s: float
    hosts: int
    gpus_per_host: int
    sharding: str
    tensor: int
    """GPUs over which each layer is split."""
    pipeline: int
    """Stages over which the layers are split."""
    context: int
    """GPUs over which each sequence is split."""
    gradient_bytes: float
    """Of one gradient as it is summed."""
    intra_host_gb_s: float
    link_gbit_s: float
    links: int
    transport: str
    tcp_gbit_s: float | None = None
    usable_share: float = 0.95
    mtu_bytes: int = JUMBO_BYTES
    eager: bool = False
    """Whether layers are started one operation after the other, as PEFT does with PyTorch; else they are fused."""

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.hosts * self.gpus_per_host

    @property
    def parts(self) -> int:
        """GPUs that compute one micro-batch together."""
        return self.tensor * self.pipeline * self.context

    @property
    def micro_batches(self) -> int:
        """Micro-batches of each copy in a step."""
        return max(1, math.ceil(self.batch * self.parts / self.gpus / self.micro_batch))


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fitted parameters, as ``data/assumptions.csv`` has them under ``llm-training``."""

    matmul_share: float = 0.818
    rate_decline: float = 0.106
    fp8_share: float = 0.71
    attention_per_byte: float = 51.3
    layer_bytes: float = 349.0
    logit_bytes: float = 48.0
    layer_us: float = 43.3
    recompute_share: float = 0.794
    exposed_share: float = 0.63
    tensor_exposed_share: float = 0.244
    interleaved: float = 0.504
    optimizer_bytes: float = 93.3
    straggler_share: float = 0.00345
    adapter_bytes: float = 1400.0
    unpack_bytes: float = 30.2
    start_us: float = 2650.0
    overlap_share: float = 0.553


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Where the time of a step goes."""

    compute_s: float
    """A GPU computes one micro-batch."""
    tensor_s: float
    """Sums between the GPUs that share layers, for one micro-batch, as far as nothing hides them."""
    exchange_s: float
    """Weights and gradients of one micro-batch, or activations between stages."""
    step_exchange_s: float
    """Gradients once a step."""
    optimizer_s: float
    micro_batches: int
    alone_s: float
    """The step without any exchange or wait."""
    step_s: float


def matmul_shares(run: TrainingRun, fitted: Fitted) -> tuple[float, float]:
    """Shares of the tensor rates that matrix products reach on a board, in the precision of the run and in BF16.

    Returns
    -------
    matmul_shares : (float, float)
        Share in the precision of the run, and in BF16. [-]

    Notes
    -----
    matmul_share x (312 / rate) ^ rate_decline on boards above the 312 TFLOP/s of an A100: the more a board multiplies, the less of it power and memory sustain.
    In FP8 the share of an H100, with the same decline above its 989.

    Examples
    --------
    >>> run = TrainingRun(
    ...     parameters=7, active_parameters=7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000,
    ...     tied_embeddings=False, sequence_tokens=4096, micro_batch=2, batch=128, method="full", recompute=False,
    ...     tensor_tflops=312, matmul_tflops=312, fp8=False, memory_bandwidth_gb_s=2039, hosts=1, gpus_per_host=8,
    ...     sharding="full", tensor=1, pipeline=1, context=1, gradient_bytes=2, intra_host_gb_s=240,
    ...     link_gbit_s=400, links=8, transport="infiniband",
    ... )
    >>> matmul_shares(run, Fitted(matmul_share=0.9))
    (0.9, 0.9)

    References
    ----------
    .. [1] llm-foundry-benchmarks
    """
    above_zero(tensor_tflops=run.tensor_tflops)
    half = fitted.matmul_share * min(1.0, A100_TFLOPS / run.tensor_tflops) ** fitted.rate_decline
    if not run.fp8:
        return half, half
    return fitted.fp8_share * min(1.0, H100_TFLOPS / run.tensor_tflops) ** fitted.rate_decline, half


def step_times(run: TrainingRun, fitted: Fitted | None = None) -> StepTimes:
    """Where the time of a training step goes, from the model, the boards and the network.

    Notes
    -----
    Sharded weights are gathered layer by layer for the forward and for the backward pass of each micro-batch, and gradients are summed as they are
    spread (all-gather twice, or once where only gradients are sharded; reduce-scatter once); frozen weights have no gradients. With copies in each host the same stays inside the host, and the
    gradients are summed between hosts once a step. Tensor parallel sums four times in a layer (six with recomputing) inside the
    host; a pipeline sends activations to the next stage and gradients back; copies sum gradients once a step.

    Examples
    --------
    >>> run = TrainingRun(
    ...     parameters=7, active_parameters=7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000,
    ...     tied_embeddings=False, sequence_tokens=4096, micro_batch=2, batch=128, method="full", recompute=False,
    ...     tensor_tflops=989, matmul_tflops=989, fp8=False, memory_bandwidth_gb_s=3350, hosts=2, gpus_per_host=8,
    ...     sharding="full", tensor=1, pipeline=1, context=1, gradient_bytes=2, intra_host_gb_s=370.8,
    ...     link_gbit_s=400, links=8, transport="infiniband",
    ... )
    >>> times = step_times(run)
    >>> 0.8 < times.alone_s / times.step_s < 1
    True

    References
    ----------
    .. [1] llm-foundry-benchmarks
    .. [2] nemo-performance-24-07
    """
    _check_run(run)
    fitted = fitted or Fitted()
    share, half_share = matmul_shares(run, fitted)
    compute = micro_batch_s(
        run.micro_batch * run.sequence_tokens,
        sequence_tokens=run.sequence_tokens,
        active_parameters=run.active_parameters,
        layers=run.layers,
        hidden_size=run.hidden_size,
        attention_size=run.attention_size,
        vocabulary=run.vocabulary,
        tied_embeddings=run.tied_embeddings,
        parts=run.parts,
        stages=run.pipeline,
        method=run.method,
        recompute=run.recompute,
        eager=run.eager,
        tensor_tflops=run.tensor_tflops,
        matmul_tflops=run.matmul_tflops,
        memory_bandwidth_gb_s=run.memory_bandwidth_gb_s,
        matmul_share=share,
        head_share=half_share,
        **{name: getattr(fitted, name) for name in _COMPUTING},
    )
    trained = run.parameters * 1e9 if run.method == "full" else 0.0
    optimizer = fitted.optimizer_bytes * trained / run.gpus / (run.memory_bandwidth_gb_s * 1e9)
    exchange, once, sums = _exchanges(run)
    tensor = fitted.tensor_exposed_share * sums
    count = run.micro_batches
    step = llm_step_s(
        compute,
        micro_batches=count,
        exchange_s=exchange,
        tensor_s=tensor,
        step_exchange_s=once,
        optimizer_s=optimizer,
        stages=run.pipeline,
        gpus=run.gpus,
        exposed_share=fitted.exposed_share,
        overlap_share=fitted.overlap_share,
        interleaved=fitted.interleaved,
        straggler_share=fitted.straggler_share,
    )
    alone = count * compute + optimizer
    return StepTimes(compute, tensor, exchange, once, optimizer, count, alone, step)


_COMPUTING = (
    *("attention_per_byte", "layer_bytes", "logit_bytes", "layer_us", "recompute_share"),
    *("adapter_bytes", "unpack_bytes", "start_us"),
)


def _check_run(run: TrainingRun) -> None:
    if run.sharding not in SHARDINGS:
        raise ValueError(f"sharding is {run.sharding!r}; it must be one of {', '.join(SHARDINGS)}")
    at_least_one(
        hosts=run.hosts,
        gpus_per_host=run.gpus_per_host,
        tensor=run.tensor,
        pipeline=run.pipeline,
        context=run.context,
        micro_batch=run.micro_batch,
        batch=run.batch,
        links=run.links,
    )
    if run.sharding != "tensor-pipeline" and run.tensor * run.pipeline > 1:
        raise ValueError(
            f"tensor is {run.tensor} and pipeline {run.pipeline}; both must be 1 if weights are sharded"
        )
    if run.gpus % run.parts:
        raise ValueError(
            f"{run.gpus} GPUs are no multiple of the {run.parts} that share one copy of the model"
        )
    if run.pipeline > run.layers:
        raise ValueError(f"pipeline is {run.pipeline}; it must be at most the {run.layers} layers")


def _network(run: TrainingRun, share: float = 1.0) -> dict[str, Any]:
    """The network for an exchange that has a share of the links of a host, as others run beside it."""
    return {
        "link_gbit_s": run.link_gbit_s * min(run.links, run.gpus_per_host) * share,
        "transport": run.transport,
        "intra_host_gb_s": run.intra_host_gb_s,
        "tcp_gbit_s": None if run.tcp_gbit_s is None else run.tcp_gbit_s * share,
        "usable_share": run.usable_share,
        "mtu_bytes": run.mtu_bytes,
    }


def sent_gb(run: TrainingRun) -> float:
    """What one host sends over its network in a step of training a language model.

    Returns
    -------
    sent_gb : float
        Sent, in one direction; it receives as much. [GB]

    Notes
    -----
    Sharded: (h - 1) / h x micro-batches x (twice the weights, or once where only gradients are sharded, and the gradients); a copy in each host: 2 (h - 1) / h x
    gradients; parts: what the copies sum, and activations to the next stage.

    Examples
    --------
    >>> run = TrainingRun(
    ...     parameters=7, active_parameters=7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000,
    ...     tied_embeddings=False, sequence_tokens=4096, micro_batch=2, batch=64, method="full", recompute=False,
    ...     tensor_tflops=989, matmul_tflops=989, fp8=False, memory_bandwidth_gb_s=3350, hosts=2, gpus_per_host=8,
    ...     sharding="full", tensor=1, pipeline=1, context=1, gradient_bytes=4, intra_host_gb_s=370.8,
    ...     link_gbit_s=400, links=8, transport="infiniband",
    ... )
    >>> sent_gb(run)
    56.0

    References
    ----------
    .. [1] patarasuk-allreduce-2009
    .. [2] zero-2020
    """
    _check_run(run)
    if run.hosts == 1:
        return 0.0
    gradients = run.parameters * run.gradient_bytes if run.method == "full" else 0.0
    weights = run.parameters * WEIGHT_BYTES[run.method]
    others = (run.hosts - 1) / run.hosts
    if run.sharding == "hybrid":
        return 2 * others * gradients
    if run.sharding != "tensor-pipeline":
        return others * run.micro_batches * ((1 if run.sharding == "gradients" else 2) * weights + gradients)
    groups = max(1, run.gpus_per_host // (run.tensor * run.context))
    stages = 2 * groups * run.micro_batch * run.sequence_tokens * run.hidden_size * 2 / 1e9
    sent = run.micro_batches * stages if run.pipeline > 1 and run.parts > run.gpus_per_host else 0.0
    apart = run.gpus // run.parts // max(1, run.gpus_per_host // run.parts)
    beside = min(run.parts, run.gpus_per_host) / run.parts
    return sent + (apart - 1) / apart * beside * (gradients + weights if gradients else 0.0)


@lru_cache(
    maxsize=512
)  # the fit asks for the same runs with other parameters: without it, it takes four times as long
def _exchanges(run: TrainingRun) -> tuple[float, float, float]:
    """Time of what is exchanged in each micro-batch, once a step, and in the layers of each micro-batch."""
    gradients_mb = run.parameters * 1e3 * run.gradient_bytes if run.method == "full" else 0.0
    if run.sharding == "tensor-pipeline":
        return _stage_exchange_s(run), _copies_sum_s(run, gradients_mb), _tensor_exchange_s(run)
    hosts = 1 if run.sharding == "hybrid" else run.hosts
    where = {"hosts": hosts, "gpus_per_host": run.gpus_per_host, **_network(run)}
    weights_mb = run.parameters * 1e3 * WEIGHT_BYTES[run.method]
    gathered = collective_time_s(weights_mb / run.layers, collective="all-gather", **where)
    each = (1 if run.sharding == "gradients" else 2) * run.layers * gathered
    if gradients_mb:
        spread = collective_time_s(gradients_mb / run.layers, collective="reduce-scatter", **where)
        each += run.layers * spread
    once = 0.0
    if run.sharding == "hybrid" and gradients_mb:
        between = {"hosts": run.hosts, "gpus_per_host": 1, **_network(run)}
        once = collective_time_s(gradients_mb, trees=False, **between)
    return each, once, 0.0


def _copies_sum_s(run: TrainingRun, gradients_mb: float) -> float:
    """Time in which the copies of a model that GPUs share by parts sum their gradients and get the new weights."""
    copies = run.gpus // run.parts
    if copies == 1 or not gradients_mb:
        return 0.0
    inside = max(1, run.gpus_per_host // run.parts)
    where = {
        "hosts": copies // inside,
        "gpus_per_host": inside,
        **_network(run, 1 / min(run.parts, run.gpus_per_host)),
    }
    weights_mb = run.parameters * 1e3 * WEIGHT_BYTES["full"]
    found = collective_time_s(gradients_mb / run.parts, collective="reduce-scatter", **where)
    return found + collective_time_s(weights_mb / run.parts, collective="all-gather", **where)


def _tensor_exchange_s(run: TrainingRun) -> float:
    """Sums of activations in the layers of a stage for one micro-batch, between the GPUs of one host."""
    if run.tensor == 1:
        return 0.0
    message_mb = run.micro_batch * run.sequence_tokens / run.context * run.hidden_size * 2 / 1e6
    sums = (6 if run.recompute else 4) * run.layers / run.pipeline
    where = {"hosts": 1, "gpus_per_host": run.tensor, **_network(run)}
    return sums * collective_time_s(message_mb, **where)


def _stage_exchange_s(run: TrainingRun) -> float:
    """A host sends activations to the next stage and gradients back for one micro-batch; inside a host that is not counted."""
    if run.pipeline == 1 or run.parts <= run.gpus_per_host:
        return 0.0
    groups = max(1, run.gpus_per_host // (run.tensor * run.context))
    moved_gb = 2 * groups * run.micro_batch * run.sequence_tokens * run.hidden_size * 2 / 1e9
    rate = delivered_gbit_s(
        run.link_gbit_s * min(run.links, run.gpus_per_host),
        transport=run.transport,
        tcp_gbit_s=run.tcp_gbit_s,
        usable_share=run.usable_share,
        mtu_bytes=run.mtu_bytes,
    )
    return moved_gb * 8 / rate


TUNING_NAMES = ("adapter_bytes", "unpack_bytes", "start_us")
"""Parameters that are fitted on tuning."""

FITTED_NAMES = tuple(
    field.name for field in fields(Fitted) if field.name not in (*TUNING_NAMES, "overlap_share")
)
"""Parameters that are fitted on pretraining; the overlap is that of training with allreduce."""
