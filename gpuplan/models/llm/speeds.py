"""The fitted parameters of serving, and a replica: a language model on the GPUs that serve it."""

from __future__ import annotations

from dataclasses import dataclass

from gpuplan.models.llm.memory import OVERHEADS, Overheads
from gpuplan.models.llm.shape import Board, Setup, Shape


@dataclass(frozen=True, slots=True)
class Speeds:
    """Fitted parameters of serving; item ``llm-serving`` of the assumptions."""

    step_us: float = 100.0
    """Time of a step beside its layers: the scheduler."""
    layer_us: float = 50.0
    """Time of a layer beside its arithmetic: launches, norms, the ends of kernels."""
    expert_us: float = 25.0
    """The same of the routing of a layer with experts."""
    sequence_us: float = 12.0
    """Time of a step for each of its requests: sampling, bookkeeping."""
    sum_us: float = 2.5
    """Latency of a sum between GPUs, for each doubling of their number."""
    bandwidth_share: float = 0.9
    """Share of the memory bandwidth that reading weights reaches."""
    cache_share: float = 0.85
    """The same of reading the cache."""
    compute_share: float = 0.65
    """Share of the tensor rate that products reach."""
    expert_share: float = 0.6
    """The same of the products of experts, which are smaller."""
    rate_power: float = 0.75
    """Exponent of the benefit of a tensor rate above the rate of 16 bits."""
    unpack_power: float = 0.5
    """Exponent of the benefit of a tensor rate above ``UNPACKED_TFLOPS`` for experts whose weights are unpacked first."""
    power_power: float = 1.0
    """Exponent of the loss of tensor rate where a board has fewer watts for it than others of its architecture."""
    link_share: float = 0.9
    """Share of the rate of the links that sums reach."""
    traffic: float = 30.0
    """Memory traffic of a token in each layer beside matrices and cache, in widths of the residual stream."""
    expert_traffic: float = 12.0
    """The same for each expert that the token uses."""
    installed_share: float = 0.7
    """Share of these tensor rates that an engine reaches as it is installed."""
    vllm: float = 1.05
    """Time of a step against TensorRT-LLM."""
    sglang: float = 1.16
    wait_ms: float = 5.0
    """Time of a request beside its prompt: tokenising, the way there and back."""
    wait_steps: float = 0.3
    """Steps of the others that it waits for."""
    loop_share: float = 0.75
    """Share of reading prompts that falls between the tokens of others in a closed loop, which starts with all at once."""
    loop_ms: float = 10.0
    """Time of a request beside its prompt in a closed loop."""
    loop_layer_us: float = 500.0
    """The same for each layer: prompts are read without graphs, one launch after the other."""
    loop_expert_us: float = 700.0
    """The same for each layer with experts, on vLLM."""
    loop_steps: float = 3.0
    """Steps of the others that it waits for there."""
    loop_queue: float = 0.08
    """Prompts of each of the others that it waits for."""
    tensorrt_first: float = 2.5
    """The launches of experts against vLLM."""
    sglang_first: float = 3.5
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
    own_step: float = 1.0
    """Times that a customer's own runs take as long: all steps and prompts; item ``llm-own/MODEL/GPU``."""
    own_first: float = 1.0
    """The same of a first token, beyond its steps and its prompt."""
    own_width: float = 1.0
    """Power of a range that own runs make narrower: of a time per token and of a rate."""
    own_first_width: float = 1.0
    """The same of a first token."""

    def engine(self, name: str) -> float:
        """Time of a step of an engine against TensorRT-LLM; one that is not known counts as vLLM."""
        made = 1.0 if "tensorrt" in name else self.sglang if "sglang" in name else self.vllm
        return made * self.own_step

    def first(self, name: str) -> float:
        """Launches of experts for a prompt, against vLLM."""
        return self.tensorrt_first if "tensorrt" in name else self.sglang_first if "sglang" in name else 1.0


TILE = 16
"""Tokens by which the products of each used expert are padded: the least rows of its kernels."""
UNPACKED_TFLOPS = 312.0
"""Tensor rate of the A100, for whose kind of products weights are unpacked on later boards, too."""
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
