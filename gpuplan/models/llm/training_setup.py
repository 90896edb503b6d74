"""A training run of a language model as records: model, board and hosts, split, and fitted parameters."""

import math
from dataclasses import dataclass, replace

from gpuplan.models.network.collectives import GpuHosts
from gpuplan.units import above_zero

SHARDINGS = ("full", "gradients", "hybrid", "tensor-pipeline")
"""Weights, gradients and states of the optimizer spread over all GPUs (FSDP, ZeRO-3); all but the weights (ZeRO-2); all over the GPUs of
each host, which has a copy; or parts of the layers (tensor parallel in a host, pipeline over hosts), copies of which share the batch."""


@dataclass(frozen=True, slots=True)
class Transformer:
    """A language model as its training computes it."""

    active_parameters: float
    """Parameters that one token uses, in 10^9: all of a dense model. [-]"""
    layers: int
    """Layers of the model. [-]"""
    hidden_size: int
    """Width of the model. [-]"""
    attention_size: int
    """Heads times their width. [-]"""
    vocabulary: int
    """Tokens in the vocabulary. [-]"""
    tied_embeddings: bool = False
    """True if input and output share one table. [-]"""

    @property
    def table(self) -> int:
        """Parameters of one table of tokens."""
        return self.vocabulary * self.hidden_size

    @property
    def tables(self) -> int:
        """Parameters of the tables of tokens at both ends."""
        return self.table * (1 if self.tied_embeddings else 2)


@dataclass(frozen=True, slots=True)
class TrainingBoard:
    """A GPU as training sees it."""

    tensor_tflops: float
    """Dense rate in BF16, of logits. [TFLOP/s]"""
    matmul_tflops: float
    """Dense rate in the precision of the matrix products. [TFLOP/s]"""
    memory_bandwidth_gb_s: float
    """Memory bandwidth. [GB/s]"""
    fp8: bool = False
    """True if matrix products are in FP8. [-]"""
    matmul_share: float = 0.818
    """Share of the products' rate that the products of the layers reach. [-]"""
    head_share: float = 0.818
    """Share of the BF16 rate that the logits reach. [-]"""

    def __post_init__(self) -> None:
        above_zero(
            tensor_tflops=self.tensor_tflops,
            matmul_tflops=self.matmul_tflops,
            memory_bandwidth_gb_s=self.memory_bandwidth_gb_s,
            matmul_share=self.matmul_share,
            head_share=self.head_share,
        )


@dataclass(frozen=True, slots=True)
class Fitted:
    """The fitted parameters of training, as ``data/assumptions.csv`` has them under ``llm-training``."""

    matmul_share: float = 0.818
    """Share of its rate that the products of an A100 reach. [-]"""
    rate_decline: float = 0.106
    """Decline of that share on boards with a higher rate, as a power. [-]"""
    fp8_share: float = 0.71
    """Share of the FP8 rate that the products of an H100 reach. [-]"""
    attention_per_byte: float = 51.3
    """Operations of attention for each byte that the memory could move meanwhile. [-]"""
    layer_bytes: float = 349.0
    """Bytes moved for each token, layer and unit of width, outside the products. [-]"""
    logit_bytes: float = 48.0
    """Bytes moved for each token and token of the vocabulary. [-]"""
    layer_us: float = 43.3
    """Time to start the work of one pass through a layer. [us]"""
    recompute_share: float = 0.794
    """Cost of a repeated forward pass. [-]"""
    exposed_share: float = 0.63
    """Share of an exchange that is never hidden: it takes processors and memory of the GPU itself. [-]"""
    tensor_exposed_share: float = 0.244
    """The same of the sums inside layers. [-]"""
    interleaved: float = 0.504
    """Share of a pipeline's idle time saved by giving each GPU several shorter stages: 0 none, 1 half of it. [-]"""
    optimizer_bytes: float = 93.3
    """Bytes moved to change one parameter. [-]"""
    straggler_share: float = 0.00345
    """Growth of the step with each doubling of the GPUs beyond 8. [-]"""
    adapter_bytes: float = 1400.0
    """Bytes moved for each token, layer and unit of width by adapters of eager layers. [-]"""
    unpack_bytes: float = 30.2
    """Bytes moved to unpack one weight of four bits for a pass. [-]"""
    start_us: float = 2650.0
    """Least time of one pass through an eager layer. [us]"""
    overlap_share: float = 0.553
    """Share of the computing behind which an exchange can hide, as for training with allreduce. [-]"""


FITTED = Fitted()


@dataclass(frozen=True, slots=True)
class TrainingRun:
    """A step of training one language model: model, hardware, and split."""

    model: Transformer
    parameters: float
    """All parameters, those that a token does not use among them, in 10^9. [-]"""
    board: TrainingBoard
    over: GpuHosts
    """Hosts of the job, and their network. [-]"""
    sequence_tokens: int
    """Tokens of one sequence. [-]"""
    micro_batch: int
    """Sequences of one copy of the model in one pass. [-]"""
    batch: int
    """Sequences of a step, of all copies together. [-]"""
    method: str = "full"
    """``full``, ``lora`` or ``qlora``. [-]"""
    recompute: bool = False
    """True if activations are computed again in the backward pass. [-]"""
    sharding: str = "full"
    """Sharding mode, one of ``SHARDINGS``. [-]"""
    tensor: int = 1
    """GPUs over which each layer is split. [-]"""
    pipeline: int = 1
    """Stages over which the layers are split. [-]"""
    context: int = 1
    """GPUs over which each sequence is split. [-]"""
    gradient_bytes: float = 2.0
    """Size of one gradient as it is summed. [-]"""
    eager: bool = False
    """True if layers are started one operation after the other, as PEFT does with PyTorch; else they are fused. [-]"""

    @property
    def gpus(self) -> int:
        """GPUs of the job."""
        return self.over.gpus

    @property
    def parts(self) -> int:
        """GPUs that compute one micro-batch together."""
        return self.tensor * self.pipeline * self.context

    @property
    def micro_batches(self) -> int:
        """Micro-batches of each copy in a step."""
        return max(1, math.ceil(self.batch * self.parts / self.gpus / self.micro_batch))

    def on(self, hosts: int, gpus_per_host: int) -> "TrainingRun":
        """The same run on so many hosts and GPUs of each."""
        return replace(self, over=replace(self.over, hosts=hosts, gpus_per_host=gpus_per_host))
