"""The fitted parameters of serving, and a replica: a language model on the GPUs that serve it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuplan.models.llm.memory import OVERHEADS, Overheads
from gpuplan.models.llm.shape import Board, Setup, Shape


@dataclass(frozen=True, slots=True)
class Speeds:
    """Fitted parameters of serving; item ``llm-serving`` of the assumptions."""

    step_us: float = 84.4
    """Time of a step beside its layers: the scheduler."""
    layer_us: float = 52.1
    """Time of a layer beside its arithmetic: launches, norms, the ends of kernels."""
    expert_us: float = 25.7
    """The same of the routing of a layer with experts."""
    sequence_us: float = 10.7
    """Time of a step for each of its requests: sampling, bookkeeping."""
    sum_us: float = 2.33
    """Latency of a sum between GPUs, for each doubling of their number."""
    bandwidth_share: float = 0.95
    """Share of the memory bandwidth that reading weights and cache reaches."""
    compute_share: float = 0.531
    """Share of the tensor rate that is reached."""
    rate_power: float = 0.753
    """Exponent of the benefit of a tensor rate above the rate of 16 bits."""
    link_share: float = 0.95
    """Share of the rate of the links that sums reach."""
    traffic: float = 61.4
    """Memory traffic of a token in each layer beside matrices and cache, in widths of the residual stream."""
    expert_traffic: float = 23.2
    """The same for each expert that the token uses."""
    overlap_share: float = 0.581
    """Share of reading a prompt that delays the decoding requests."""
    vllm: float = 1.06
    """Time of a step against TensorRT-LLM."""
    sglang: float = 1.21
    wait_ms: float = 49.0
    """Time of a request beside its prompt on vLLM: queue, tokenising, the way out."""
    wait_steps: float = 2.71
    """Steps of the others that it waits for."""
    queue_share: float = 0.0157
    """Prompts of the others that it waits for, over their number to ``queue_power``."""
    queue_power: float = 1.26
    tensorrt_first: float = 1.58
    """These waits against vLLM."""
    sglang_first: float = 3.94
    token_low: float = 0.87
    """Low end of the time per token over its value, from rows left out; so the others."""
    token_high: float = 1.18
    first_low: float = 0.55
    first_high: float = 2.1
    rate_low: float = 0.75
    rate_high: float = 1.23
    expert_spread: float = 1.7
    """Power by which a range widens with a mixture of experts; not for the first token."""
    unseen: float = 1.15
    """Power by which a range widens where no run of this board or model was measured."""

    def engine(self, name: str) -> float:
        """Time of a step of an engine against TensorRT-LLM; one that is not known counts as vLLM."""
        return 1.0 if "tensorrt" in name else self.sglang if "sglang" in name else self.vllm

    def first(self, name: str) -> float:
        """Waits for the first token of an engine against vLLM."""
        return self.tensorrt_first if "tensorrt" in name else self.sglang_first if "sglang" in name else 1.0


USUAL = Speeds()


@dataclass(frozen=True, slots=True)
class Replica:
    """A language model on the GPUs that serve it."""

    shape: Shape
    board: Board
    """Board of each of its GPUs."""
    setup: Setup
    speeds: Speeds = USUAL
    overheads: Overheads = OVERHEADS
    measured: bool = True
    """True if runs of this board and model were measured; if False, ranges are wider."""
