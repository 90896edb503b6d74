"""Training a language model: time of a micro-batch and of a step, tokens per second and their range.
[llm-foundry-benchmarks]_ [nemo-performance-24-07]_ [korthikanti-recomputation]_

Parameters:
    sequence_tokens: Tokens of one sequence, over which attention looks. [-]
    stages: Stages over which the layers are split. [-]
    gpus: GPUs of the job. [GPU]
    tokens_per_gpu: Tokens per second of each GPU. [-]
"""

import math

from gpuplan.models.llm.training_setup import FITTED, Fitted, TrainingBoard, Transformer
from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

METHODS = ("full", "lora", "qlora")
PASSES = {"full": 3.0, "lora": 2.0, "qlora": 2.0}
"""Passes through the weights of a training step: forward, gradients of the activations, gradients of weights that are not frozen."""

ATTENTION_PASSES = 3.5
"""Attention of forward and backward pass relative to the forward pass: the backward pass has five products for two."""


def micro_batch_s(
    tokens: float,
    *,
    model: Transformer,
    board: TrainingBoard,
    sequence_tokens: int,
    parts: int = 1,
    stages: int = 1,
    method: str = "full",
    recompute: bool = False,
    eager: bool = False,
    fitted: Fitted = FITTED,
) -> float:
    """Time that a GPU computes on one micro-batch: forward and backward pass.

    Parameters:
        tokens: Tokens of the micro-batch. [-]
        parts: GPUs that compute the micro-batch together. [-]
        method: ``full``, ``lora`` or ``qlora``. [-]
        recompute: Whether activations are computed again in the backward pass. [-]
        eager: Whether layers are started one operation after the other, as PEFT does with PyTorch. [-]

    Without any exchange with other GPUs. With p passes (3; 2 where weights are frozen) and r = recompute_share or 0:
    products 2 x (parameters - embeddings) x tokens x (p + r) / (share x rate); logits the same without r, in BF16;
    attention, causal, 2 x layers x attention_size x sequence x tokens x (3.5, or 4.5 with recomputing) / (memory
    bandwidth x attention_per_byte); other work layer_bytes x layers x width x tokens x (p + r) / 3 and logit_bytes x
    vocabulary x tokens over the memory bandwidth; all divided by the parts; and layer_us x layers / stages x (p + r).
    Weights of four bits are unpacked in each pass. Eager layers take start_us x layers / stages x (p + r) at least, and
    adapters move adapter_bytes more. Fitted on dense models of 0.1 to 340 x 10^9 parameters on A100 and H100 SXM; for
    mixtures of experts and boards without NVLink nothing was published that could check it.

    >>> llama = Transformer(7, layers=32, hidden_size=4096, attention_size=4096, vocabulary=32000)
    >>> h100 = TrainingBoard(tensor_tflops=989, matmul_tflops=989, memory_bandwidth_gb_s=3350)
    >>> seconds = micro_batch_s(8192, model=llama, board=h100, sequence_tokens=4096)
    >>> round(8192 / seconds, -2)
    11400.0
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; it must be one of {', '.join(METHODS)}")
    above_zero(tokens=tokens, active_parameters=model.active_parameters)
    at_least_one(layers=model.layers, hidden_size=model.hidden_size, parts=parts, stages=stages)
    at_least_one(sequence_tokens=sequence_tokens)
    above_zero(attention_per_byte=fitted.attention_per_byte)
    passes = PASSES[method]
    work = passes + (fitted.recompute_share if recompute else 0.0)
    body = max(0.0, model.active_parameters * 1e9 - model.tables)
    products = 2 * body * tokens * work / (board.matmul_share * board.matmul_tflops * 1e12)
    logits = 2 * model.table * tokens * passes / (board.head_share * board.tensor_tflops * 1e12)
    scores = 2 * model.layers * model.attention_size * sequence_tokens * tokens
    scores *= ATTENTION_PASSES + bool(recompute)
    moved = fitted.layer_bytes * model.layers * model.hidden_size * tokens * work / 3
    moved += fitted.logit_bytes * model.vocabulary * tokens + scores / fitted.attention_per_byte
    if eager and method != "full":
        moved += fitted.adapter_bytes * model.layers * model.hidden_size * tokens * work / 3
    if method == "qlora":
        moved += fitted.unpack_bytes * body * work
    shared = products + logits + moved / (board.memory_bandwidth_gb_s * 1e9)
    starts = 1e-6 * model.layers / stages * work
    return max(shared / parts + fitted.layer_us * starts, fitted.start_us * starts if eager else 0.0)


def _exposed_s(exchange_s: float, *, compute_s: float, exposed_share: float, overlap_share: float) -> float:
    """Time of an exchange that computing does not hide.

    max(exposed_share x exchange, exchange - overlap_share x computing). [llm-foundry-benchmarks]_
    [hkbu-ddl-benchmarks]_
    """
    not_negative(exchange_s=exchange_s, compute_s=compute_s)
    zero_to_one(exposed_share=exposed_share, overlap_share=overlap_share)
    return max(exposed_share * exchange_s, exchange_s - overlap_share * compute_s)


def llm_step_s(
    compute_s: float,
    *,
    micro_batches: int,
    exchange_s: float = 0.0,
    tensor_s: float = 0.0,
    step_exchange_s: float = 0.0,
    optimizer_s: float = 0.0,
    stages: int = 1,
    gpus: int = 1,
    fitted: Fitted = FITTED,
) -> float:
    """Time of one training step of a language model.

    Parameters:
        compute_s: Time that a GPU computes on one micro-batch. [s]
        micro_batches: Micro-batches of a step on each GPU. [-]
        exchange_s: Weights, gradients or activations exchanged in each micro-batch. [s]
        tensor_s: Sums inside layers in each micro-batch, as far as nothing hides them. [s]
        step_exchange_s: Gradients exchanged once a step. [s]
        optimizer_s: Time to change the weights. [s]

    (m x (compute + tensor + exposed(exchange)) x (1 + (stages - 1) / ((1 + interleaved) m)) + exposed(step_exchange) + optimizer) x
    (1 + straggler_share x log2(GPUs / 8)).

    >>> round(llm_step_s(1.0, micro_batches=8, stages=4, fitted=Fitted(interleaved=0)), 2)
    11.0
    """
    above_zero(compute_s=compute_s)
    at_least_one(micro_batches=micro_batches, stages=stages, gpus=gpus)
    not_negative(
        tensor_s=tensor_s,
        optimizer_s=optimizer_s,
        step_exchange_s=step_exchange_s,
        interleaved=fitted.interleaved,
        straggler_share=fitted.straggler_share,
    )
    shares = {"exposed_share": fitted.exposed_share, "overlap_share": fitted.overlap_share}
    batch_s = compute_s + tensor_s + _exposed_s(exchange_s, compute_s=compute_s, **shares)
    idle = 1 + (stages - 1) / ((1 + fitted.interleaved) * micro_batches)
    step = micro_batches * batch_s * idle + optimizer_s
    step += _exposed_s(step_exchange_s, compute_s=micro_batches * compute_s, **shares)
    return step * (1 + fitted.straggler_share * max(0.0, math.log2(gpus / 8)))


def model_flops_share(
    tokens_per_gpu: float,
    *,
    active_parameters: float,
    layers: int,
    attention_size: int,
    sequence_tokens: int,
    matmul_tflops: float,
) -> float:
    """Share of a GPU's dense rate that the model's own operations use (MFU).

    Parameters:
        active_parameters: Parameters that one token uses, in 10^9. [-]
        layers: Layers of the model. [-]
        attention_size: Heads times their width. [-]
        matmul_tflops: Dense rate of the GPU in the precision of the products. [TFLOP/s]

    tokens x (6 x parameters + 12 x layers x attention_size x sequence) / rate: attention counted in full, recomputing not at all, as the published tables do.
    [llm-foundry-benchmarks]_

    >>> share = model_flops_share(
    ...     1039, active_parameters=64.8624, layers=80, attention_size=8192, sequence_tokens=2048, matmul_tflops=989.4
    ... )
    >>> round(share, 3)
    0.426
    """
    above_zero(
        tokens_per_gpu=tokens_per_gpu, active_parameters=active_parameters, matmul_tflops=matmul_tflops
    )
    at_least_one(layers=layers, attention_size=attention_size, sequence_tokens=sequence_tokens)
    operations = 6 * active_parameters * 1e9 + 12 * layers * attention_size * sequence_tokens
    return tokens_per_gpu * operations / (matmul_tflops * 1e12)


def tokens_time_h(tokens: float, *, gpus: int, tokens_per_gpu: float) -> float:
    """Hours to train on a number of tokens.

    Parameters:
        tokens: Tokens, those of every epoch counted. [-]

    Checkpoints, evaluation and failures come on top. tokens / (GPUs x tokens per second) / 3600.
    [llm-foundry-benchmarks]_

    >>> tokens_time_h(72e6, gpus=8, tokens_per_gpu=2500)
    1.0
    """
    above_zero(tokens=tokens, tokens_per_gpu=tokens_per_gpu)
    at_least_one(gpus=gpus)
    return tokens / (gpus * tokens_per_gpu) / 3600


def speed_range(
    tokens_per_gpu: float,
    *,
    efficiency: float,
    slower_share: float,
    faster_share: float,
    network_slower_share: float,
    network_faster_share: float,
) -> tuple[float, float]:
    """Range in which the tokens per second are to be expected, from how far unseen measurements were off.

    Parameters:
        efficiency: Share of the step in which GPUs compute. [-]
        slower_share: How much longer than predicted a step may take that only computes, as a share of it. [-]
        faster_share: How much longer than measured such a step may be predicted. [-]
        network_slower_share: The same for a step that only waits. [-]
        network_faster_share: The same. [-]

    low = speed / (1 + slower + network_slower x (1 - efficiency)), high = speed x (1 + faster + network_faster x (1 - efficiency)).
    [gpuplan-method]_

    >>> low, high = speed_range(
    ...     1000, efficiency=0.5, slower_share=0.15, faster_share=0.1, network_slower_share=0.2, network_faster_share=0.2
    ... )
    >>> round(low), round(high)
    (800, 1200)
    """
    above_zero(tokens_per_gpu=tokens_per_gpu, efficiency=efficiency)
    zero_to_one(efficiency=efficiency)
    not_negative(
        slower_share=slower_share,
        faster_share=faster_share,
        network_slower_share=network_slower_share,
        network_faster_share=network_faster_share,
    )
    waits = 1 - efficiency
    low = tokens_per_gpu / (1 + slower_share + network_slower_share * waits)
    return low, tokens_per_gpu * (1 + faster_share + network_faster_share * waits)
