"""Memory of training and tuning a language model, and the fewest GPUs that hold it.

Parameters:
    adapters: Parameters of the adapters, in 10^9; not used for full training. [-]
    state_bytes: Bytes of gradient and states of a trained parameter: gradient 2, FP32 weight and both moments 12; 2 more
        with FP32 gradients. [-]
    runtime_gib: What the driver, the libraries and the allocator hold. [GiB]
    memory_gib: Memory of a GPU. [GiB]
    usable_share: Share of the memory that can be filled. [-]
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gpuplan.models.llm.memory import GIB
from gpuplan.models.llm.training_run import WEIGHT_BYTES
from gpuplan.models.llm.training_setup import TrainingRun
from gpuplan.units import above_zero, at_least_one, each, not_negative

LAYER_HELD_BYTES, CHECKPOINT_BYTES, LOGIT_HELD_BYTES = 34, 2, 12
"""Bytes held for each token and unit of width of a layer whose activations are kept, of one that is recomputed from its input, and for each
token and token of the vocabulary: logits in BF16, and in FP32 with their gradient."""


@dataclass(frozen=True, slots=True)
class TuningMemory:
    """Memory of one GPU in training."""

    weights_gib: float
    states_gib: float
    """Gradients, FP32 weights and both moments of Adam; with LoRA only for the adapters."""
    activations_gib: float
    runtime_gib: float

    @property
    def total_gib(self) -> float:
        """All together."""
        return self.weights_gib + self.states_gib + self.activations_gib + self.runtime_gib


def adapter_parameters(
    rank: int, *, layers: int, hidden_size: int, attention_size: int, kv_size: int, mlp_size: int
) -> float:
    """Parameters of LoRA adapters on all products of a dense model.

    Parameters:
        rank: Rank of the adapters. [-]
        layers: Layers of the model. [-]
        hidden_size: Width of the model. [-]
        attention_size: Heads times their width. [-]
        kv_size: Heads of keys, or of values, times their width. [-]
        mlp_size: Width of the MLP. [-]

    In 10^9. [-] rank x layers x the sum of in and out over queries, keys, values, output and the three products of the
    MLP. Adapters on attention only have fewer. [qwen-finetuning-profile]_

    >>> round(
    ...     adapter_parameters(64, layers=32, hidden_size=4096, attention_size=4096, kv_size=4096, mlp_size=11008), 3
    ... )
    0.16
    """
    at_least_one(
        rank=rank,
        layers=layers,
        hidden_size=hidden_size,
        attention_size=attention_size,
        kv_size=kv_size,
        mlp_size=mlp_size,
    )
    ends = 2 * (hidden_size + attention_size) + 2 * (hidden_size + kv_size) + 3 * (hidden_size + mlp_size)
    return rank * layers * ends / 1e9


def tuning_memory(
    run: TrainingRun, *, adapters: float = 0.0, state_bytes: float = 14.0, runtime_gib: float = 2.2
) -> TuningMemory:
    """Memory that one GPU needs to train or tune a language model.

    Weights in BF16, of QLoRA products in four bits; spread over n GPUs with two layers gathered at once, n being all, or those of a host with a copy in each; whole where
    only gradients are spread; divided by the parts in tensor and pipeline parallel. States of trained parameters over n (14 bytes with the weight's 2 are the
    usual 16). Activations: 34 bytes for each token and unit of width in every layer, with recomputing 2 and the 34 of one layer, divided by
    the GPUs that share a layer; 12 bytes for each logit. Held against published LoRA and QLoRA runs of 1.8 to 72 x 10^9 parameters on A100.
    [zero-2020]_ [korthikanti-recomputation]_ [qwen-finetuning-profile]_

    >>> from gpuplan.models.llm import TrainingBoard, Transformer
    >>> from gpuplan.models.network import GpuHosts, Link
    >>> qwen = Transformer(7.72, layers=32, hidden_size=4096, attention_size=4096, vocabulary=151936)
    >>> run = TrainingRun(
    ...     qwen, 7.72, TrainingBoard(312, 312, 2039), GpuHosts(1, Link(100)), sequence_tokens=2048, micro_batch=1, batch=8,
    ...     method="lora", recompute=True,
    ... )
    >>> round(tuning_memory(run, adapters=0.143).total_gib, 1)
    23.0
    """
    not_negative(adapters=adapters, runtime_gib=runtime_gib)
    above_zero(state_bytes=state_bytes)
    over = run.over.gpus_per_host if run.sharding == "hybrid" else run.gpus
    weights = _weights_bytes(run)
    if run.sharding == "tensor-pipeline":
        gpu_weights = weights / run.parts
    elif run.sharding == "gradients" or over == 1:
        gpu_weights = weights
    else:
        gpu_weights = weights / over + 2 * weights / run.model.layers
    trained = (run.parameters if run.method == "full" else adapters) * 1e9
    if run.sharding == "tensor-pipeline":
        states = trained * (2 / run.parts + (state_bytes - 2) / over)
    else:
        states = trained * state_bytes / over
    if run.method != "full":
        gpu_weights += 2 * trained / run.parts
    return TuningMemory(gpu_weights / GIB, states / GIB, _activation_bytes(run) / GIB, runtime_gib)


def _weights_bytes(run: TrainingRun) -> float:
    """All weights; embeddings stay in BF16 where the others have four bits."""
    kept = min(run.parameters * 1e9, run.model.tables)
    return WEIGHT_BYTES[run.method] * (run.parameters * 1e9 - kept) + 2 * kept


def _activation_bytes(run: TrainingRun) -> float:
    tokens, model = run.micro_batch * run.sequence_tokens / run.context, run.model
    layers = LAYER_HELD_BYTES * model.layers
    if run.recompute:
        layers = CHECKPOINT_BYTES * model.layers + LAYER_HELD_BYTES
    return tokens * (layers * model.hidden_size + LOGIT_HELD_BYTES * model.vocabulary) / run.tensor


def fewest_gpus(
    run: TrainingRun,
    *,
    memory_gib: float,
    adapters: float = 0.0,
    counts: Sequence[int] = (1, 2, 4, 8),
    max_hosts: int = 64,
    usable_share: float = 0.95,
) -> tuple[int, int]:
    """Fewest GPUs that hold a training run whose weights are sharded.

    Parameters:
        run: What is trained; its own hosts and GPUs are not used. [-]
        counts: GPUs of one host that a job may take, ascending. [-]
        max_hosts: Most hosts of a job, each with the most of its GPUs. [host]

    Hosts, and GPUs of each. One host first, then more hosts with all their GPUs; the first that holds the memory of
    tuning_memory. [zero-2020]_ [gpuplan-method]_ Refused if no number of GPUs holds it; says what each would need.

    >>> from gpuplan.models.llm import TrainingBoard, Transformer
    >>> from gpuplan.models.network import GpuHosts, Link
    >>> llama = Transformer(70.6, layers=80, hidden_size=8192, attention_size=8192, vocabulary=128256)
    >>> run = TrainingRun(
    ...     llama, 70.6, TrainingBoard(989, 989, 3350), GpuHosts(1, Link(400)), sequence_tokens=4096, micro_batch=1, batch=32,
    ...     recompute=True,
    ... )
    >>> fewest_gpus(run, memory_gib=80)
    (3, 8)
    """
    above_zero(memory_gib=memory_gib, usable_share=usable_share)
    at_least_one(max_hosts=max_hosts)
    each(at_least_one, counts=counts)
    most = counts[-1]
    least = math.inf
    for hosts, gpus in [(1, count) for count in counts] + [(more, most) for more in range(2, max_hosts + 1)]:
        needed = tuning_memory(run.on(hosts, gpus), adapters=adapters).total_gib
        if needed <= usable_share * memory_gib:
            return hosts, gpus
        least = min(least, needed)
    raise ValueError(
        f"{max_hosts} hosts of {most} GPUs hold {least:.0f} GiB on each GPU; it has {usable_share * memory_gib:.0f} GiB. "
        "A smaller micro-batch, shorter sequences, recomputing, LoRA or QLoRA, or a board with more memory would help"
    )


def layer_splits(
    run: TrainingRun,
    *,
    memory_gib: float,
    adapters: float = 0.0,
    usable_share: float = 0.95,
    state_bytes: float = 14.0,
    runtime_gib: float = 2.2,
) -> tuple[TrainingRun, ...]:
    """The splits of a model in tensor and pipeline parallel that fit on the GPUs of a job.

    Parameters:
        run: What is trained, and on how many GPUs; its own parts are not used. [-]

    The fewest parts first. Tensor parallel over divisors of the GPUs in a host, stages with all GPUs of a host sharing
    each layer; as many sequences in a step as there are copies at least. [korthikanti-recomputation]_ [gpuplan-method]_
    Refused if no split fits; says what each GPU would hold.

    >>> from gpuplan.models.llm import TrainingBoard, Transformer
    >>> from gpuplan.models.network import GpuHosts, Link
    >>> llama = Transformer(70.6, layers=80, hidden_size=8192, attention_size=8192, vocabulary=128256)
    >>> run = TrainingRun(
    ...     llama, 70.6, TrainingBoard(989, 989, 3350), GpuHosts(8, Link(400), gpus_per_host=8), sequence_tokens=4096,
    ...     micro_batch=1, batch=128,
    ... )
    >>> [(found.tensor, found.pipeline) for found in layer_splits(run, memory_gib=80)]
    [(8, 1), (8, 2), (8, 4), (8, 8)]
    """
    above_zero(memory_gib=memory_gib, usable_share=usable_share)
    gpus, hosts, model = run.over.gpus_per_host, run.over.hosts, run.model
    tensors = [n for n in range(1, gpus + 1) if gpus % n == 0 and model.hidden_size % n == 0]
    stages = [n for n in range(2, min(hosts, model.layers) + 1) if hosts % n == 0]
    splits, least = [], math.inf
    for tensor, pipeline in [(n, 1) for n in tensors] + [(tensors[-1], n) for n in stages]:
        split = replace(run, sharding="tensor-pipeline", tensor=tensor, pipeline=pipeline, context=1)
        memory = tuning_memory(split, adapters=adapters, state_bytes=state_bytes, runtime_gib=runtime_gib)
        least = min(least, memory.total_gib)
        if memory.total_gib <= usable_share * memory_gib:
            splits.append(split)
    if not splits:
        raise ValueError(
            f"{run.gpus} GPUs hold {least:.0f} GiB each however the layers are split; a GPU has "
            f"{usable_share * memory_gib:.0f} GiB. More hosts, a smaller micro-batch or recomputing would help"
        )
    return tuple(splits)
