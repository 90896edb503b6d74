"""Memory of a replica on each GPU: weights, activations, runtime, and the cache of keys and values.
[llm-d-planner-memory]_

Parameters:
    precision: Precision of the weights. [-]
    kept: Parts of the checkpoint at 16 bits, one of ``KEPT``; empty: as published, or by the usual rule. [-]
    tokens: Tokens of the request, in and out. [-]
    memory_gib: Memory of a GPU, as its driver shows it. [GiB]
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.models.llm.shape import BITS, Setup, Shape
from gpuplan.units import above_zero, at_least_one, not_negative

GIB = 2**30


@dataclass(frozen=True, slots=True)
class Overheads:
    """Memory of an engine beside weights and cache; item ``llm-memory`` of the assumptions."""

    usable_share: float = 0.9
    """Share of the memory that the engine takes at all."""
    activation_gib: float = 0.17
    """Activations of a step, whatever the model."""
    token_bytes: float = 14400.0
    """Bytes that sampling takes for each token of the vocabulary."""
    runtime_gib: float = 0.25
    """Memory outside the tensor library, on one GPU."""
    group_runtime_gib: float = 2.1
    """The same where GPUs work together."""


OVERHEADS = Overheads()


class Held(NamedTuple):
    """Memory of one GPU of a replica [GiB]."""

    weights_gib: float
    activation_gib: float
    runtime_gib: float
    cache_gib: float
    """Memory left for the cache; below zero the model does not fit."""
    unused_gib: float
    """Memory that the engine leaves to others."""


def weights_gib(shape: Shape, *, precision: str, kept: str = "") -> float:
    """Weights of the whole model.

    Parameters times bytes, part by part. The tables of tokens stay at 16 bits below it. Where the checkpoint is not known, all
    that is not a routed expert does too in a mixture of experts at 4 bits. Scales are counted with the precision.

    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> round(weights_gib(llama, precision="bf16"), 2), round(weights_gib(llama, precision="fp8"), 2)
    (14.96, 8.46)
    """
    return sum(_weight_bytes(shape, precision, kept)) / GIB


def _weight_bytes(shape: Shape, precision: str, kept: str) -> tuple[float, float, float]:
    """Bytes of routed experts, of the other layers, and of the tables of tokens."""
    bits = BITS[precision]
    rest = shape.total_parameters - shape.routed_parameters - shape.embedding_parameters
    rest_gb = rest * _rest_bits(shape, precision=precision, kept=kept) / 8
    tables_gb = shape.embedding_parameters * max(16, bits) / 8
    return shape.routed_parameters * bits / 8 * 1e9, rest_gb * 1e9, tables_gb * 1e9


def usual_kept(shape: Shape, *, precision: str) -> str:
    """Parts at 16 bits, one of ``KEPT``, of a checkpoint of which nothing is published.

    Parameters:
        shape: The model. [-]
        precision: Precision of the weights, a key of ``BITS``. [-]

    With experts and fewer than 8 bits all but the routed experts, otherwise none. [gpuplan-method]_

    >>> usual_kept(Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8),
    ...            precision="int4")
    'none'
    """
    return "rest" if BITS[precision] < 8 and shape.experts else "none"


def _rest_bits(shape: Shape, *, precision: str, kept: str = "") -> float:
    """Mean bits of a parameter beside the routed experts and the tables of tokens.

    Dense MLPs and shared experts are in the precision of the weights unless all is kept; attention is all the rest. [-]
    """
    bits = BITS[precision]
    kept = kept or dict(shape.checkpoints).get(precision) or usual_kept(shape, precision=precision)
    if bits >= 16 or kept in ("none", "rest"):
        return 16 if kept == "rest" and bits < 16 else bits
    rest = shape.total_parameters - shape.routed_parameters - shape.embedding_parameters
    ends = min(2, shape.layers) if kept == "attention and ends" else 0
    return 16 - (16 - bits) * min(1.0, shape.mlp_parameters / max(rest, 1e-9)) * (1 - ends / shape.layers)


def weights_per_gpu_gib(shape: Shape, *, setup: Setup) -> float:
    """Weights on the fullest GPU of a replica.

    Tensor parallel shares all; pipeline parallel shares the layers, and the first stage holds a table of tokens besides; data
    parallel attention holds everything but the routed experts in each group. With its adapters and what drafts tokens.

    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> round(weights_per_gpu_gib(llama, setup=Setup(tensor=4)), 2), round(weights_per_gpu_gib(llama, setup=Setup(pipeline=4)), 2)
    (3.74, 4.23)
    """
    routed, rest, tables = _weight_bytes(shape, setup.weights, setup.kept)
    stage = math.ceil(shape.layers / setup.pipeline) / shape.layers
    at_ends = 1.0 if setup.pipeline == 1 or shape.tied_embeddings else 0.5
    per_gpu = routed * stage / (setup.tensor * setup.data)
    weights = per_gpu + (rest * stage + tables * at_ends) / setup.tensor
    return weights / GIB + beside_gib(shape, setup=setup)


def beside_gib(shape: Shape, *, setup: Setup) -> float:
    """Weights beside the model's own on each GPU: slots of adapters, and what drafts tokens.

    An adapter takes rank x (widths in + out) x 2 bytes for each matrix of attention and of the feed-forward layers, experts
    included; GPUs share its output side and hold all of its input side. What drafts is counted as a layer of the model and a
    table of tokens, as EAGLE has them: assumed; a separate draft model takes more. In GiB. [vllm-lora]_ [specdecode-bench]_

    >>> from gpuplan.models.llm.shape import Adapters
    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> round(1024 * beside_gib(llama, setup=Setup(adapters=Adapters(1, rank=16))))
    80
    """
    adapters, slots, draft = setup.adapters, 0.0, 0.0
    if adapters.count:
        slots = adapters.count * adapters.rank * 2 * _adapter_width(shape, setup.tensor) / GIB
    if setup.draft.tokens:
        table = shape.vocabulary * shape.hidden_size * 2 / GIB
        draft = shape.layer_parameters * 1e9 * BITS[setup.weights] / 8 / GIB + table
    return slots + draft / setup.tensor


def _adapter_width(shape: Shape, tensor: int) -> float:
    """Return the widths in and out of all matrices that an adapter changes, as one GPU of so many holds them."""
    above_zero(hidden_size=shape.hidden_size)
    hidden, keys = shape.hidden_size, 2 * shape.kv_heads * shape.head_size
    queries = shape.heads * shape.head_size
    attention = 2 * hidden * queries + hidden * keys
    each = shape.layer_parameters * 1e9 - attention
    copies = shape.experts or 1
    inner = max(0.0, each) / copies / 3 / hidden
    into = 2 * hidden + hidden + queries + copies * (2 * hidden + inner)
    out = queries + keys + hidden + copies * (2 * inner + hidden)
    return shape.layers * (into + out / tensor)


def cache_bytes(shape: Shape, *, tokens: float, precision: str = "bf16") -> float:
    """Cache of one request over all layers: keys and values, index and state.

    Parameters:
        precision: Precision of the cache. [-]

    In bytes. [-] A token takes 2 x heads of keys and values x width of a head in each layer; with a latent, its width
    and that of the key beside it. Layers with a window keep at most that; recurrent layers keep a state of fixed size, in its
    own precision.

    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> cache_bytes(llama, tokens=1)
    131072.0
    """
    return sum(_cached(shape, tokens, precision))


def _cached(shape: Shape, tokens: float, precision: str) -> tuple[float, float, float]:
    """Bytes of one request in keys and values, in the index of sparse attention, and in the state of recurrent layers."""
    not_negative(tokens=tokens)
    whole, window = shape.widths
    size = BITS[precision] / 8
    values = whole * tokens + window * min(tokens, shape.window_tokens)
    return values * size, shape.index_width * tokens * size, shape.state_mb * 1e6


def request_gib(shape: Shape, *, setup: Setup, tokens: float) -> float:
    """Cache of one request on each GPU that holds it.

    Beside what the cache holds from earlier requests. Tensor parallel shares the heads of keys and values while there are any
    left to share, and the state; a latent and an index are held whole by every GPU. Pipeline parallel shares the layers. With
    data parallel attention a request is held by one group.

    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> round(request_gib(llama, setup=Setup(tensor=4), tokens=8192), 3)
    0.625
    """
    return _cached_per_gpu_bytes(shape, setup=setup, tokens=tokens) / setup.pipeline / GIB


def _cached_per_gpu_bytes(shape: Shape, *, setup: Setup, tokens: float) -> float:
    """Cache of one request on each GPU of a group that shares its layers, over all layers.

    In bytes, with the tokens that the cache holds from earlier requests. [-] Stages of a pipeline hold a share of the layers
    each. What drafts tokens has the cache of a layer, and keeps a state of a sequence for each of them.
    """
    values, index, state = _cached(shape, tokens + setup.cached_tokens, setup.cache)
    shared = 1 if shape.latent_size else min(setup.tensor, max(1, shape.kv_heads))
    drafts = setup.draft.tokens
    more = 1 + 1 / max(1, shape.cached_layers) if drafts else 1.0
    return values / shared * more + index + state / setup.tensor * (1 + drafts)


def held(shape: Shape, *, setup: Setup, memory_gib: float, overheads: Overheads = OVERHEADS) -> Held:
    """Memory use of a GPU of a replica, and the memory left for the cache.

    The engine takes a share of the memory. Weights, the activations of its largest step and its runtime go off; the rest is
    cache. Where sampling gathers the whole vocabulary, every GPU of a tensor-parallel group holds that of all.

    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> round(held(llama, setup=Setup(), memory_gib=79.19, overheads=Overheads(usable_share=0.95)).cache_gib, 2)
    58.13
    """
    above_zero(memory_gib=memory_gib)
    weights = weights_per_gpu_gib(shape, setup=setup)
    activation = overheads.activation_gib + overheads.token_bytes * shape.vocabulary / GIB
    runtime = overheads.group_runtime_gib if setup.gpus > 1 else overheads.runtime_gib
    usable = memory_gib * overheads.usable_share
    return Held(weights, activation, runtime, usable - weights - activation - runtime, memory_gib - usable)


def requests_at_once(
    shape: Shape,
    *,
    setup: Setup,
    memory_gib: float,
    tokens: float,
    spread: float = 0.0,
    overheads: Overheads = OVERHEADS,
) -> int:
    """Concurrent requests whose cache fits in a replica.

    Parameters:
        tokens: Tokens of a request, in and out, on average. [-]
        spread: Standard deviation of these tokens over their mean. [-]

    The room for the cache over the cache of one request. With a spread, so many that in 95 of 100 cases they fit:
    n + 1.645 spread sqrt(n) times the mean is the room.

    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> requests_at_once(llama, setup=Setup(), memory_gib=79.19, tokens=8192), requests_at_once(
    ...     llama, setup=Setup(), memory_gib=79.19, tokens=8192, spread=0.5)
    (54, 48)
    """
    above_zero(tokens=tokens)
    not_negative(spread=spread)
    room = held(shape, setup=setup, memory_gib=memory_gib, overheads=overheads).cache_gib
    size = request_gib(shape, setup=setup, tokens=tokens)
    if room <= 0:
        return 0
    most = room / size if size else math.inf
    off = 1.645 * spread
    most = ((math.sqrt(off * off + 4 * most) - off) / 2) ** 2
    return math.floor(min(most, 1e6) + 1e-9) * setup.data


def splits(shape: Shape, *, gpus_per_host: int) -> tuple[int, ...]:
    """Numbers of GPUs that a replica can be cut over.

    Parameters:
        gpus_per_host: GPUs of a host that are joined. [-]

    Powers of two that divide the attention heads: what engines offer for tensor parallelism.
    [tensorrt-llm-performance]_

    >>> qwen = Shape(7.61, 7.61, layers=28, hidden_size=3584, heads=28, vocabulary=151643, context_tokens=131072, kv_heads=4)
    >>> splits(qwen, gpus_per_host=8)
    (1, 2, 4)
    """
    at_least_one(gpus_per_host=gpus_per_host)
    return tuple(n for n in (1, 2, 4, 8, 16) if n <= gpus_per_host and shape.heads % n == 0)
