"""A training run of a language model: its split over GPUs and hosts, and the parts of its step time."""

from dataclasses import dataclass, fields, replace
from functools import lru_cache

from gpuplan.models.llm.training import llm_step_s, micro_batch_s
from gpuplan.models.llm.training_setup import (
    FITTED,
    SHARDINGS,
    Fitted,
    TrainingBoard,
    TrainingRun,
)
from gpuplan.models.network.collectives import GpuHosts, collective_time_s
from gpuplan.models.network.links import delivered_gbit_s
from gpuplan.units import at_least_one

A100_TFLOPS, H100_TFLOPS = 312.0, 989.0
"""Dense BF16 rates of the boards with published step times."""

WEIGHT_BYTES = {"full": 2.0, "lora": 2.0, "qlora": 0.516}
"""Bytes of a weight as it is gathered. QLoRA: four bits, and eight more for each block of 64."""
TUNING_NAMES = ("adapter_bytes", "unpack_bytes", "start_us")
"""Parameters that are fitted on tuning."""
FITTED_NAMES = tuple(
    field.name for field in fields(Fitted) if field.name not in (*TUNING_NAMES, "overlap_share")
)
"""Parameters fitted on pretraining; the overlap is taken from training with allreduce."""


@dataclass(frozen=True, slots=True)
class StepTimes:
    """Parts of the time of a step."""

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


def matmul_shares(board: TrainingBoard, fitted: Fitted) -> tuple[float, float]:
    """Shares of the tensor rates that matrix products reach on a board, in the precision of the run and in BF16.

    matmul_share x (312 / rate) ^ rate_decline on boards above the 312 TFLOP/s of an A100: the more a board multiplies, the less of it power and memory sustain.
    In FP8 the share of an H100, with the same decline above its 989. [llm-foundry-benchmarks]_

    >>> matmul_shares(TrainingBoard(312, 312, 2039), Fitted(matmul_share=0.9))
    (0.9, 0.9)
    """
    half = fitted.matmul_share * min(1.0, A100_TFLOPS / board.tensor_tflops) ** fitted.rate_decline
    if not board.fp8:
        return half, half
    return fitted.fp8_share * min(1.0, H100_TFLOPS / board.tensor_tflops) ** fitted.rate_decline, half


def step_times(run: TrainingRun, fitted: Fitted = FITTED) -> StepTimes:
    """Parts of the time of a training step, from the model, the boards and the network.

    Sharded weights are gathered layer by layer for the forward and for the backward pass of each micro-batch, and gradients are summed as they are
    spread (all-gather twice, or once where only gradients are sharded; reduce-scatter once); frozen weights have no gradients. With copies in each host the same stays inside the host, and the
    gradients are summed between hosts once a step. Tensor parallel sums four times in a layer (six with recomputing) inside the
    host; a pipeline sends activations to the next stage and gradients back; copies sum gradients once a step.
    [llm-foundry-benchmarks]_ [nemo-performance-24-07]_

    >>> from gpuplan.models.llm import Transformer
    >>> from gpuplan.models.network import Link
    >>> llama = Transformer(7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000)
    >>> hosts = GpuHosts(2, Link(400, "infiniband"), gpus_per_host=8, links=8, intra_host_gb_s=370.8)
    >>> run = TrainingRun(llama, 7, TrainingBoard(989, 989, 3350), hosts, sequence_tokens=4096, micro_batch=2, batch=128)
    >>> times = step_times(run)
    >>> 0.8 < times.alone_s / times.step_s < 1
    True
    """
    _check_run(run)
    share, half_share = matmul_shares(run.board, fitted)
    compute = micro_batch_s(
        run.micro_batch * run.sequence_tokens,
        model=run.model,
        board=replace(run.board, matmul_share=share, head_share=half_share),
        sequence_tokens=run.sequence_tokens,
        parts=run.parts,
        stages=run.pipeline,
        method=run.method,
        recompute=run.recompute,
        eager=run.eager,
        fitted=fitted,
    )
    trained = run.parameters * 1e9 if run.method == "full" else 0.0
    optimizer = fitted.optimizer_bytes * trained / run.gpus / (run.board.memory_bandwidth_gb_s * 1e9)
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
        fitted=fitted,
    )
    alone = count * compute + optimizer
    return StepTimes(compute, tensor, exchange, once, optimizer, count, alone, step)


def _check_run(run: TrainingRun) -> None:
    if run.sharding not in SHARDINGS:
        raise ValueError(f"sharding is {run.sharding!r}; it must be one of {', '.join(SHARDINGS)}")
    at_least_one(tensor=run.tensor, pipeline=run.pipeline, context=run.context)
    at_least_one(micro_batch=run.micro_batch, batch=run.batch)
    if run.sharding != "tensor-pipeline" and run.tensor * run.pipeline > 1:
        raise ValueError(
            f"tensor is {run.tensor} and pipeline {run.pipeline}; both must be 1 if weights are sharded"
        )
    if run.gpus % run.parts:
        raise ValueError(
            f"{run.gpus} GPUs are no multiple of the {run.parts} that share one copy of the model"
        )
    if run.pipeline > run.model.layers:
        raise ValueError(f"pipeline is {run.pipeline}; it must be at most the {run.model.layers} layers")


def _over(run: TrainingRun, hosts: int, gpus_per_host: int, share: float = 1.0) -> GpuHosts:
    """Return these hosts and GPUs of the run, with the share of a host's links that parallel groups leave."""
    link = run.over.all_links
    if share != 1.0:
        tcp = None if link.tcp_gbit_s is None else link.tcp_gbit_s * share
        link = replace(link, link_gbit_s=link.link_gbit_s * share, tcp_gbit_s=tcp)
    return GpuHosts(hosts, link, gpus_per_host, intra_host_gb_s=run.over.intra_host_gb_s)


def sent_gb(run: TrainingRun) -> float:
    """Data that one host sends over its network in a step of training a language model.

    In one direction; it receives as much. Sharded: (h - 1) / h x micro-batches x (twice the weights, or once where only
    gradients are sharded, and the gradients); a copy in each host: 2 (h - 1) / h x gradients; parts: what the copies
    sum, and activations to the next stage. [patarasuk-allreduce-2009]_ [zero-2020]_

    >>> from gpuplan.models.llm import Transformer
    >>> from gpuplan.models.network import Link
    >>> llama = Transformer(7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000)
    >>> hosts = GpuHosts(2, Link(400, "infiniband"), gpus_per_host=8, links=8, intra_host_gb_s=370.8)
    >>> run = TrainingRun(
    ...     llama, 7, TrainingBoard(989, 989, 3350), hosts, sequence_tokens=4096, micro_batch=2, batch=64, gradient_bytes=4
    ... )
    >>> sent_gb(run)
    56.0
    """
    _check_run(run)
    hosts, gpus_per_host = run.over.hosts, run.over.gpus_per_host
    if hosts == 1:
        return 0.0
    gradients = run.parameters * run.gradient_bytes if run.method == "full" else 0.0
    weights = run.parameters * WEIGHT_BYTES[run.method]
    others = (hosts - 1) / hosts
    if run.sharding == "hybrid":
        return 2 * others * gradients
    if run.sharding != "tensor-pipeline":
        return others * run.micro_batches * ((1 if run.sharding == "gradients" else 2) * weights + gradients)
    sent = run.micro_batches * _stages_gb(run) if run.pipeline > 1 and run.parts > gpus_per_host else 0.0
    apart = run.gpus // run.parts // max(1, gpus_per_host // run.parts)
    beside = min(run.parts, gpus_per_host) / run.parts
    return sent + (apart - 1) / apart * beside * (gradients + weights if gradients else 0.0)


def _stages_gb(run: TrainingRun) -> float:
    """Return the traffic of a host to the next stage and back for one micro-batch."""
    groups = max(1, run.over.gpus_per_host // (run.tensor * run.context))
    return 2 * groups * run.micro_batch * run.sequence_tokens * run.model.hidden_size * 2 / 1e9


@lru_cache(
    maxsize=512
)  # the fit asks for the same runs with other parameters: without it, it takes four times as long
def _exchanges(run: TrainingRun) -> tuple[float, float, float]:
    """Return the exchange times in each micro-batch, once a step, and in the layers of each micro-batch."""
    gradients_mb = run.parameters * 1e3 * run.gradient_bytes if run.method == "full" else 0.0
    if run.sharding == "tensor-pipeline":
        return _stage_exchange_s(run), _copies_sum_s(run, gradients_mb), _tensor_exchange_s(run)
    hosts, layers = run.over.hosts, run.model.layers
    over = _over(run, 1 if run.sharding == "hybrid" else hosts, run.over.gpus_per_host)
    weights_mb = run.parameters * 1e3 * WEIGHT_BYTES[run.method]
    gathered = collective_time_s(weights_mb / layers, collective="all-gather", over=over)
    batch_s = (1 if run.sharding == "gradients" else 2) * layers * gathered
    if gradients_mb:
        batch_s += layers * collective_time_s(gradients_mb / layers, collective="reduce-scatter", over=over)
    once = 0.0
    if run.sharding == "hybrid" and gradients_mb:
        once = collective_time_s(gradients_mb, trees=False, over=_over(run, hosts, 1))
    return batch_s, once, 0.0


def _copies_sum_s(run: TrainingRun, gradients_mb: float) -> float:
    """Time in which the copies of a model that GPUs share by parts sum their gradients and get the new weights."""
    copies, gpus_per_host = run.gpus // run.parts, run.over.gpus_per_host
    if copies == 1 or not gradients_mb:
        return 0.0
    inside = max(1, gpus_per_host // run.parts)
    over = _over(run, copies // inside, inside, 1 / min(run.parts, gpus_per_host))
    weights_mb = run.parameters * 1e3 * WEIGHT_BYTES["full"]
    sum_s = collective_time_s(gradients_mb / run.parts, collective="reduce-scatter", over=over)
    return sum_s + collective_time_s(weights_mb / run.parts, collective="all-gather", over=over)


def _tensor_exchange_s(run: TrainingRun) -> float:
    """Sums of activations in the layers of a stage for one micro-batch, between the GPUs of one host."""
    if run.tensor == 1:
        return 0.0
    message_mb = run.micro_batch * run.sequence_tokens / run.context * run.model.hidden_size * 2 / 1e6
    sums = (6 if run.recompute else 4) * run.model.layers / run.pipeline
    return sums * collective_time_s(message_mb, over=_over(run, 1, run.tensor))


def _stage_exchange_s(run: TrainingRun) -> float:
    """A host sends activations to the next stage and gradients back for one micro-batch; inside a host that is not counted."""
    if run.pipeline == 1 or run.parts <= run.over.gpus_per_host:
        return 0.0
    return _stages_gb(run) * 8 / delivered_gbit_s(run.over.all_links)
