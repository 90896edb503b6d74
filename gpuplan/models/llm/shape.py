"""A language model in numbers, the board that it runs on, and how a replica is cut over GPUs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from gpuplan.units import above_zero, not_negative, zero_to_one

BITS: Mapping[str, float] = {
    "fp32": 32,
    "bf16": 16,
    "fp16": 16,
    "fp8": 8,
    "int8": 8,
    "int4": 4.5,
    "nvfp4": 4.5,
    "mxfp4": 4.25,
}
"""Precision -> bits of a parameter, with its share of the scales: 8 bits for 16 of NVFP4 and 32 of MXFP4, 16 for 32 of INT4."""

KEPT = ("none", "attention", "attention and ends", "rest")
"""Parts of a checkpoint at 16 bits: nothing, attention, that and the first and last layer, all but the routed experts."""

WEIGHTS = ("bf16", "fp8", "int8", "int4", "nvfp4", "mxfp4")
NEEDED = ("total_parameters", "active_parameters", "layers", "hidden_size", "heads", "vocabulary")
PARTS = {"active_parameters": "total_parameters", "full_layers": "layers", "experts_per_token": "experts"}
"""Size of a shape -> the size that it is a part of."""
MOST = 4096
"""Most requests in a step that engines are run with."""
DENSE = 0.98
"""Share of its parameters that a token of a model without experts uses at least; the rest is a matter of rounding."""


class Range(NamedTuple):
    """A figure and how far off it may be."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of a language model; parameters in 10^9, widths in numbers."""

    total_parameters: float
    active_parameters: float
    """Parameters that one token uses."""
    layers: int
    hidden_size: int
    heads: int
    vocabulary: int
    context_tokens: int
    """Longest context."""
    kv_heads: int = 0
    head_size: int = 128
    full_layers: int | None = None
    """Layers that keep the whole context; None: all."""
    window_tokens: int = 0
    """Window of the other layers; 0: nothing that grows (recurrent layers keep a state)."""
    latent_size: int = 0
    """Width of the latent that replaces keys and values of all heads; 0 without."""
    rope_size: int = 0
    cache_width: int = 0
    """Values of a token in the cache of all layers with the whole context; 0: by heads, or the latent."""
    window_width: int = 0
    """The same of the layers with a window."""
    index_width: int = 0
    """Values of a token in the index by which sparse attention chooses."""
    state_mb: float = 0.0
    """State of a sequence of any length in all recurrent layers."""
    experts: int = 0
    experts_per_token: int = 0
    tied_embeddings: bool = False
    mlp_parameters: float = 0.0
    """Parameters of dense MLPs and shared experts, in 10^9; 0 where their widths are not known."""
    checkpoints: tuple[tuple[str, str], ...] = ()
    """(precision, parts at 16 bits, one of ``KEPT``) of checkpoints that its makers or others published."""

    def __post_init__(self) -> None:
        sizes = {
            field.name: getattr(self, field.name) for field in fields(self) if field.name != "checkpoints"
        }
        not_negative(**{name: float(size or 0) for name, size in sizes.items()})
        above_zero(layers=self.layers)
        for part, whole in PARTS.items():
            if (sizes[part] or 0) > sizes[whole]:
                raise ValueError(f"{part} are at most {whole}; got {sizes[part]} of {sizes[whole]}")

    @property
    def embedding_parameters(self) -> float:
        """Parameters of the tables of tokens at both ends, in 10^9."""
        return self.vocabulary * self.hidden_size * (1 if self.tied_embeddings else 2) / 1e9

    @property
    def routed_parameters(self) -> float:
        """Parameters of all routed experts, in 10^9: a token leaves out those of all but its own."""
        if not (left_out := self.experts - self.experts_per_token):
            return 0.0
        return (self.total_parameters - self.active_parameters) * self.experts / left_out

    @property
    def layer_parameters(self) -> float:
        """Parameters of a layer, in 10^9."""
        return (self.total_parameters - self.embedding_parameters) / self.layers

    @property
    def cached_layers(self) -> int:
        """Layers whose cache grows with the context."""
        return self.layers if self.full_layers is None else self.full_layers

    @property
    def widths(self) -> tuple[int, int]:
        """Values of a token in the cache of the layers with the whole context, and of those with a window."""
        each = self.latent_size + self.rope_size if self.latent_size else 2 * self.kv_heads * self.head_size
        whole, rest = each * self.cached_layers, each * (self.layers - self.cached_layers)
        return self.cache_width or whole, self.window_width or (rest if self.window_tokens else 0)

    @property
    def dense(self) -> bool:
        """True if every token uses every parameter."""
        return not self.experts


@dataclass(frozen=True, slots=True)
class Board:
    """A GPU as a language model sees it."""

    memory_gib: float
    """Memory that the driver shows."""
    bandwidth_gb_s: float
    fp16_tflops: float
    fp8_tflops: float = 0.0
    """0 where the tensor cores do not compute in it."""
    fp4_tflops: float = 0.0
    link_gb_s: float = 25.0
    """One-way rate between two GPUs of a replica: half of the advertised rate of NVLink, or PCI Express."""
    sustained: float = 1.0
    """Watts for its tensor rate, over those of the board with most of its architecture."""
    sums_gb_s: tuple[tuple[int, float], ...] = ()
    """(GPUs, rate) of sums over so many GPUs or more, where it is not the link's: measured, or beyond a bridge."""

    def part(self, share: float) -> "Board":
        """A share of the board: memory, bandwidth and computing alike."""
        zero_to_one(share=share)
        above_zero(share=share)
        cut = ("memory_gib", "bandwidth_gb_s", "fp16_tflops", "fp8_tflops", "fp4_tflops")
        return replace(self, **{name: getattr(self, name) * share for name in cut})

    def sum_gb_s(self, gpus: int, link_share: float) -> float:
        """Rate of sums between so many GPUs; of the link a share where no rate is known."""
        rates = [rate for least, rate in self.sums_gb_s if least <= gpus]
        return rates[-1] if rates else self.link_gb_s * link_share

    def rate_tflops(self, weights: str) -> float:
        """Tensor rate with weights of a precision: 16 bits where the cores do not compute in it (weights are unpacked first)."""
        own = {"fp8": self.fp8_tflops, "nvfp4": self.fp4_tflops, "mxfp4": self.fp4_tflops}
        return own.get(weights) or self.fp16_tflops


@dataclass(frozen=True, slots=True)
class Draft:
    """Speculative decoding: tokens drafted ahead of a step, which verifies all of them at once."""

    tokens: int = 0
    """Drafted for each request and step; 0 without."""
    accepted: float = 1.0
    """Tokens that a step gives on average: those that are accepted, and one of its own."""
    time_share: float = 0.0
    """Time to draft a token over that of a step without drafts."""


@dataclass(frozen=True, slots=True)
class Adapters:
    """Adapters (LoRA) that a replica serves at once; the engine reserves all of them at start, at the highest rank."""

    count: int = 0
    rank: int = 16
    speed_share: float = 1.0
    """Speed with adapters over that without: all requests pay it, however many adapters there are."""


@dataclass(frozen=True, slots=True)
class Setup:
    """Setup of a replica: precision of weights and cache, split over GPUs, engine, and what each request finds there."""

    weights: str = "bf16"
    cache: str = "bf16"
    tensor: int = 1
    """GPUs that share each layer."""
    pipeline: int = 1
    """Groups of GPUs that hold a share of the layers each."""
    data: int = 1
    """Groups of GPUs that hold all of attention for their own requests, and share the experts."""
    engine: str = "vllm"
    kept: str = ""
    """Parts of the checkpoint that stay at 16 bits beside its tables of tokens, one of ``KEPT``; empty: as published, or by the usual rule."""
    early: bool = False
    """True for vLLM before 0.6, whose scheduler and sampling worked on the processor between steps."""
    tuned: bool = True
    """True if precision, kernels and scheduler are tuned for the load, as in records; False: as installed."""
    cached_tokens: float = 0.0
    """Tokens of a request that the cache holds from earlier ones: kept and attended to, but not read again."""
    draft: Draft = Draft()
    adapters: Adapters = Adapters()
    sequences: int = MOST
    """Most requests that the engine takes into a step."""

    def __post_init__(self) -> None:
        for name in ("weights", "cache"):
            if getattr(self, name) not in BITS:
                raise ValueError(f"{name} needs one of {', '.join(BITS)}; got {getattr(self, name)!r}")
        if self.kept and self.kept not in KEPT:
            raise ValueError(f"kept needs one of {', '.join(KEPT)}; got {self.kept!r}")
        if min(self.tensor, self.pipeline, self.data) < 1:
            raise ValueError("tensor, pipeline and data need at least 1")
        draft, adapters = self.draft, self.adapters
        not_negative(tokens=draft.tokens, time_share=draft.time_share, count=adapters.count)
        not_negative(cached_tokens=self.cached_tokens)
        above_zero(sequences=self.sequences, rank=adapters.rank, speed_share=adapters.speed_share)
        zero_to_one(speed_share=adapters.speed_share)
        if not 1 <= draft.accepted <= 1 + draft.tokens:
            raise ValueError(f"accepted is {draft.accepted!r}; it must be from 1 to {1 + draft.tokens}")

    @property
    def gpus(self) -> int:
        """GPUs of a replica."""
        return self.tensor * self.pipeline * self.data


def shape_of(cells: Mapping[str, Any]) -> Shape:
    """The shape that a row of the table of models describes.

    Parameters:
        cells: Column -> value; what is missing or None is left at its default. [-]

    A row without parameters, layers or widths describes a model whose speed and cache cannot be worked out; so does one that uses
    part of its parameters without experts, or has no heads of keys and values, or no state in recurrent layers.
    [aiconfigurator-model-configs]_

    >>> row = {"total_parameters": 8.03, "active_parameters": 8.03, "layers": 32, "hidden_size": 4096, "heads": 32,
    ...        "kv_heads": 8, "head_size": 128, "vocabulary": 128256, "context_tokens": 131072}
    >>> round(shape_of(row).embedding_parameters, 3)
    1.051
    """
    known = {name: value for name, value in cells.items() if value is not None}
    above_zero(**{name: float(known[name]) for name in NEEDED if name in known})
    if missing := [name for name in _needed(known) if name not in known]:
        unknown = ", ".join(name.replace("_", " ") for name in missing)
        raise ValueError(f"it needs {unknown}, which are not known")
    sizes = {field.name: known[field.name] for field in fields(Shape) if field.name in known}
    return Shape(**{"mlp_parameters": _gated_mlps(known), **sizes})


def _needed(cells: Mapping[str, Any]) -> Iterator[str]:
    """Yield the columns without which speed and cache cannot be worked out."""
    yield from NEEDED
    sparse = DENSE * cells.get("total_parameters", 0) > cells.get("active_parameters", 0)
    if sparse or cells.get("experts"):
        yield from ("experts", "experts_per_token")
    if cells.get("recurrent_layers"):
        yield "state_mb"
    if not (cells.get("latent_size") or cells.get("cache_width")):
        yield from ("kv_heads", "head_size")


def _gated_mlps(cells: Mapping[str, Any]) -> float:
    """Parameters of the dense MLPs and the shared experts, of three matrices each, in 10^9."""
    sizes = ("layers", "dense_layers", "shared_experts", "expert_size", "mlp_size", "hidden_size")
    layers, dense, shared, expert, mlp, hidden = (int(cells.get(name, 0)) for name in sizes)
    dense = dense if cells.get("experts") else layers
    return 3 * hidden * (dense * mlp + (layers - dense) * shared * expert) / 1e9
