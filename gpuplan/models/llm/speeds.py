"""The fitted parameters of serving, and a replica: a language model on the GPUs that serve it."""

import math
from dataclasses import dataclass
from functools import cached_property

from gpuplan.models.llm.memory import OVERHEADS, Overheads, _rest_bits
from gpuplan.models.llm.shape import BITS, Board, Setup, Shape

TILE = 16
"""Tokens by which the products of each used expert are padded: the least rows of its kernels."""
AMPERE_TFLOPS = 312.0
"""Tensor rate of the A100, for whose kind of products installed engines and unpacked weights are made on later boards, too."""


@dataclass(frozen=True, slots=True)
class Speeds:
    """Fitted parameters of serving; item ``llm-serving`` of the assumptions."""

    step_us: float = 101.0
    """Time of a step beside its layers: the scheduler."""
    early_us: float = 13000.0
    """Further time of a step on vLLM before 0.6, whose scheduler and sampling ran on the processor between steps."""
    layer_us: float = 52.6
    """Time of a layer beside its arithmetic: launches, norms, the ends of kernels."""
    expert_us: float = 26.0
    """The same of the routing of a layer with experts."""
    sequence_us: float = 14.2
    """Time of a step for each of its requests: sampling, bookkeeping."""
    sum_us: float = 2.59
    """Latency of a sum between GPUs, for each doubling of their number."""
    bandwidth_share: float = 0.941
    """Share of the memory bandwidth that reading weights reaches."""
    cache_share: float = 0.911
    """The same of reading the cache."""
    compute_share: float = 0.646
    """Share of the tensor rate that products reach."""
    rate_power: float = 0.722
    """Exponent of the benefit of a tensor rate above the rate of 16 bits."""
    unpack_power: float = 0.399
    """Exponent of the benefit of a tensor rate above ``AMPERE_TFLOPS`` for experts whose weights are unpacked first."""
    power_power: float = 0.95
    """Exponent of the loss of tensor rate where a board has fewer watts for it than others of its architecture."""
    link_share: float = 0.95
    """Share of the rate of the links that sums reach."""
    traffic: float = 17.9
    """Memory traffic of a token in each layer beside matrices and cache, in widths of the residual stream."""
    expert_traffic: float = 12.7
    """The same for each expert that the token uses."""
    installed_power: float = 0.411
    """Exponent of the benefit of a tensor rate above ``AMPERE_TFLOPS`` for an engine as it is installed."""
    installed_share: float = 0.437
    """Share of the rate of products of experts that it reaches, with kernels that are not tuned for the board."""
    vllm: float = 1.07
    """Time of a step against TensorRT-LLM."""
    sglang: float = 1.18
    wait_ms: float = 3.23
    """Time of a request beside its prompt: tokenising, the way there and back."""
    wait_steps: float = 0.332
    """Steps of the others that it waits for."""
    loop_share: float = 0.888
    """Share of reading prompts that falls between the tokens of others in a closed loop, which starts with all at once."""
    loop_ms: float = 18.8
    """Time of a request beside its prompt in a closed loop."""
    loop_layer_us: float = 243.0
    """The same for each layer: prompts are read without graphs, one launch after the other."""
    loop_expert_us: float = 376.0
    """The same for each layer with experts, on vLLM."""
    loop_steps: float = 1.69
    """Steps of the others that it waits for there."""
    loop_queue: float = 0.146
    """Prompts of each of the others that it waits for."""
    tensorrt_first: float = 3.29
    """The launches of experts against vLLM."""
    sglang_first: float = 13.4
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


USUAL = Speeds()


@dataclass(frozen=True, slots=True)
class Ranges:
    """Low and high of measured figures over predicted ones, as sources that were left out of the fit had them."""

    token: tuple[float, float] = (0.75, 1.3)
    """Of the time per token."""
    first: tuple[float, float] = (0.55, 2.1)
    """Of the first token."""
    rate: tuple[float, float] = (0.75, 1.3)
    """Of the tokens in a second."""


@dataclass(frozen=True)
class Replica:
    """A language model on the GPUs that serve it; what follows from these alone is worked out once."""

    shape: Shape
    board: Board
    """Board of each of its GPUs."""
    setup: Setup
    speeds: Speeds = USUAL
    overheads: Overheads = OVERHEADS
    ranges: Ranges = Ranges()
    """Of its kind of model and load, and of what is known of its board and model."""

    @cached_property
    def slower(self) -> float:
        """Time of the engine with its adapters over that of the fastest engine without."""
        return self.speeds.engine(self.setup.engine) / self.setup.adapters.speed_share

    @cached_property
    def fixed_s(self) -> float:
        """Time of a step beside all that is read, computed and sent."""
        speeds, shape = self.speeds, self.shape
        layers = shape.layers * (speeds.layer_us + (0 if shape.dense else speeds.expert_us))
        return (speeds.step_us + self.setup.early * speeds.early_us + layers) * 1e-6

    @cached_property
    def mean_bits(self) -> float:
        """Mean bits of all but the routed experts and the tables of tokens."""
        return _rest_bits(self.shape, precision=self.setup.weights, kept=self.setup.kept)

    @cached_property
    def attention_tflops(self) -> float:
        """Tensor rate of attention, always at 16 bits."""
        return self._installed_tflops("bf16")

    @cached_property
    def rest_tflops(self) -> float:
        """Tensor rate of the products other than those of experts, of which parts may stay at 16 bits."""
        bits = BITS[self.setup.weights]
        kept = (self.mean_bits - bits) / (16 - bits) if bits < 16 else 0.0
        return 1 / ((1 - kept) / self._installed_tflops(self.setup.weights) + kept / self.attention_tflops)

    @cached_property
    def expert_tflops(self) -> float:
        """Tensor rate of the products of experts; unpacked from 4 bits they run as on a board of Ampere."""
        speeds, precision = self.speeds, self.setup.weights
        rate = self._tflops(precision) * (1.0 if self.setup.tuned else speeds.installed_share)
        if precision in ("nvfp4", "mxfp4") and not self.board.fp4_tflops:
            rate = _beyond_ampere(rate, speeds.unpack_power)
        return rate * speeds.compute_share

    def _tflops(self, precision: str) -> float:
        """Return the tensor rate that products of this precision can hope for."""
        board, speeds = self.board, self.speeds
        faster = math.pow(board.rate_tflops(precision) / board.fp16_tflops, speeds.rate_power)
        return board.fp16_tflops * faster * math.pow(board.sustained, speeds.power_power)

    def _installed_tflops(self, precision: str) -> float:
        """Return the rate of products other than those of experts, on an engine as it is set up."""
        rate = self._tflops(precision)
        if not self.setup.tuned:
            rate = _beyond_ampere(rate, self.speeds.installed_power)
        return rate * self.speeds.compute_share


def _beyond_ampere(rate: float, power: float) -> float:
    """Return a tensor rate of which what is above that of the A100 counts with a power."""
    return min(rate, AMPERE_TFLOPS) * math.pow(max(1.0, rate / AMPERE_TFLOPS), power)


_LLAMA = Shape(
    70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8
)
LLAMA_70B = Replica(_LLAMA, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
"""Llama 3 70B in FP8 on four H100 SXM, for examples."""
