"""How fast a replica answers: a step of decoding, the reading of a prompt, and what users of a busy replica see.

A step is a roofline: weights that are really read and the cache over the memory bandwidth, arithmetic over the tensor rate,
sums between GPUs over their links, and a fixed time for each layer. Prompts are read between the steps of the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from gpuplan.models.llm.memory import cache_bytes
from gpuplan.models.llm.shape import BITS, Board, Range, Setup, Shape
from gpuplan.units import above_zero


@dataclass(frozen=True, slots=True)
class Speeds:
    """Fitted parameters of serving; item ``llm-serving`` of the assumptions."""

    step_us: float = 300.0
    """Time of a step beside its layers: the scheduler."""
    layer_us: float = 40.0
    """Time of a layer beside its arithmetic: launches, norms, the ends of kernels."""
    expert_us: float = 35.0
    """The same of the routing of a layer with experts."""
    sequence_us: float = 15.0
    """Time of a step for each of its requests: sampling, bookkeeping."""
    sum_us: float = 4.0
    """Latency of a sum between GPUs, for each doubling of their number."""
    weights_share: float = 0.9
    """Share of the memory bandwidth that reading weights reaches."""
    expert_share: float = 0.9
    """The same for experts."""
    cache_share: float = 0.9
    """The same for the cache."""
    compute_share: float = 0.8
    """Share of the tensor rate that a step reaches."""
    prompt_share: float = 0.5
    """The same of reading a prompt."""
    link_share: float = 0.2
    """Share of the links' rate that sums of a step reach."""
    overlap_share: float = 0.8
    """How much of reading a prompt those that decode wait for."""
    wait_ms: float = 40.0
    """Time of a request beside its prompt: queue, tokenising, the way out."""
    wait_steps: float = 2.0
    """Steps that a new request waits for."""
    queue_share: float = 0.01
    """How the prompts of the others hold up a new one."""
    vllm: float = 1.0
    """Time against TensorRT-LLM."""
    sglang: float = 1.0
    token_low: float = 0.75
    """Low end of what was not seen, over what was predicted; so the others."""
    token_high: float = 1.3
    first_low: float = 0.4
    first_high: float = 2.2
    rate_low: float = 0.7
    rate_high: float = 1.3
    unseen: float = 1.5
    """By how much wider, as a power, where no run of this board or model was measured."""

    def engine(self, name: str) -> float:
        """Time of an engine against TensorRT-LLM; one that is not known counts as vLLM."""
        return 1.0 if "tensorrt" in name else self.sglang if "sglang" in name else self.vllm


USUAL = Speeds()


def decode_step_ms(
    shape: Shape,
    board: Board,
    *,
    setup: Setup,
    requests: float,
    context_tokens: float,
    speeds: Speeds = USUAL,
) -> float:
    """Time of a step that gives every request of a replica one token more.

    Parameters
    ----------
    shape : Shape
        The model. [-]
    board : Board
        One GPU. [-]
    setup : Setup
        How the replica is cut. [-]
    requests : float
        Requests that are decoded together. [-]
    context_tokens : float
        Tokens that each has so far, on average. [-]
    speeds : Speeds
        Fitted parameters. [-]

    Returns
    -------
    decode_step_ms : float
        Time. [ms]

    Notes
    -----
    fixed + sqrt((weights + cache)^2 + arithmetic^2) + sums between GPUs. Of the routed experts those are read that at least one
    token of the step uses: 1 - (1 - used / all)^requests of them. Stages of a pipeline work on a share of the requests each
    and follow one another. Not for speculative decoding.

    Examples
    --------
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> h100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
    >>> few, many = (decode_step_ms(llama, h100, setup=Setup("fp8", tensor=4), requests=n, context_tokens=1500) for n in (4, 64))
    >>> 8 < few < many < 30
    True

    References
    ----------
    .. [1] aiconfigurator-silicon-sample
    """
    above_zero(requests=requests, context_tokens=context_tokens)
    each = max(requests / setup.pipeline, 1.0) / setup.data
    memory = _weights_s(shape, board, setup, each * setup.data, speeds)
    shared = 1 if shape.latent_size else min(setup.tensor, max(1, shape.kv_heads))
    read = each * cache_bytes(shape, tokens=context_tokens, precision=setup.cache) / shared
    memory += read / 1e9 / board.bandwidth_gb_s / speeds.cache_share
    width = setup.tensor * setup.data
    work = 2 * _active(shape) * each * setup.data / width / board.rate_tflops(setup.weights) / 1e3
    wide = 2 * shape.latent_size + shape.rope_size if shape.latent_size else 2 * shape.head_size
    scores = 2 * shape.heads * wide * shape.cached_layers * context_tokens * each / setup.tensor
    work += scores / 1e12 / board.fp16_tflops
    fixed = speeds.step_us + shape.layers * speeds.layer_us + speeds.sequence_us * requests
    fixed += 0 if shape.dense else shape.layers * speeds.expert_us
    fixed *= 1e-6
    fixed += _sums_s(shape, board, setup, each, speeds)
    step = fixed + math.hypot(memory, work / speeds.compute_share)
    return step * speeds.engine(setup.engine) * 1e3


def _active(shape: Shape) -> float:
    """Parameters in 10^9 that arithmetic is done with for a token: the table of tokens in is only looked up."""
    return shape.active_parameters - (0 if shape.tied_embeddings else shape.embedding_parameters / 2)


def _weights_s(shape: Shape, board: Board, setup: Setup, tokens: float, speeds: Speeds) -> float:
    """Time to read the weights that so many tokens use, on one GPU."""
    bits = BITS[setup.weights]
    rest_bits = 16 if bits < 8 and shape.experts else bits
    tables = shape.embedding_parameters
    head = tables if shape.tied_embeddings else tables / 2
    rest = (shape.total_parameters - shape.routed_parameters - tables) * rest_bits + head * max(16, bits)
    seconds = rest / 8 / setup.tensor / board.bandwidth_gb_s / speeds.weights_share
    if shape.experts:
        used = 1 - (1 - shape.experts_per_token / shape.experts) ** tokens
        routed = shape.routed_parameters * bits / 8 * used / (setup.tensor * setup.data)
        seconds += routed / board.bandwidth_gb_s / speeds.expert_share
    return seconds


def _sums_s(shape: Shape, board: Board, setup: Setup, tokens: float, speeds: Speeds) -> float:
    """Time of the two sums of each layer between the GPUs of a group."""
    group = max(setup.tensor, setup.data)
    if group == 1:
        return 0.0
    moved = 2 * (group - 1) / group * tokens * shape.hidden_size * 2 / 1e9 / board.link_gb_s
    return 2 * shape.layers * (moved / speeds.link_share + speeds.sum_us * 1e-6 * math.log2(group))


def prompt_ms(shape: Shape, board: Board, *, setup: Setup, tokens_in: float, speeds: Speeds = USUAL) -> float:
    """Time that a replica takes to read a prompt when it does nothing else.

    Parameters
    ----------
    shape : Shape
        The model. [-]
    board : Board
        One GPU. [-]
    setup : Setup
        How the replica is cut. [-]
    tokens_in : float
        Tokens of the prompt. [-]
    speeds : Speeds
        Fitted parameters. [-]

    Returns
    -------
    prompt_ms : float
        Time. [ms]

    Notes
    -----
    Arithmetic of all tokens, with attention that grows with the square of their number, or reading the weights once, whichever
    is longer; and the sums between GPUs.

    Examples
    --------
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> h100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
    >>> short, long = (prompt_ms(llama, h100, setup=Setup("fp8", tensor=4), tokens_in=n) for n in (1024, 8192))
    >>> 7 < long / short < 12
    True

    References
    ----------
    .. [1] aiconfigurator-silicon-sample
    """
    above_zero(tokens_in=tokens_in)
    width = setup.tensor * setup.data
    work = 2 * _active(shape) * tokens_in / width / board.rate_tflops(setup.weights) / 1e3
    wide = 192 if shape.latent_size else shape.head_size
    seen = shape.cached_layers * tokens_in / 2 + (shape.layers - shape.cached_layers) * min(
        tokens_in / 2, shape.window_tokens
    )
    work += 4 * shape.heads * wide * seen * tokens_in / width / 1e12 / board.fp16_tflops
    memory = _weights_s(shape, board, setup, tokens_in, speeds)
    sums = _sums_s(shape, board, setup, tokens_in / setup.data, speeds)
    return (max(memory, work / speeds.prompt_share) + sums) * 1e3


def time_per_token_ms(
    shape: Shape,
    board: Board,
    *,
    setup: Setup,
    requests: float,
    tokens_in: float,
    tokens_out: float,
    speeds: Speeds = USUAL,
    measured: bool = True,
) -> Range:
    """Time between two tokens of a request on a replica that holds so many.

    Parameters
    ----------
    shape : Shape
        The model. [-]
    board : Board
        One GPU. [-]
    setup : Setup
        How the replica is cut. [-]
    requests : float
        Requests in the replica. [-]
    tokens_in : float
        Tokens of a prompt. [-]
    tokens_out : float
        Tokens of an answer. [-]
    speeds : Speeds
        Fitted parameters. [-]
    measured : bool
        Whether runs of this board and model were measured; if not, the range is wider. [-]

    Returns
    -------
    time_per_token_ms : Range
        Time, with low and high. [ms]

    Notes
    -----
    A step, and its share of the prompts: each request that ends is followed by another, so of so many requests that many over
    tokens_out start in each step, and the others wait while their prompts are read.

    Examples
    --------
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> h100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
    >>> found = time_per_token_ms(llama, h100, setup=Setup("fp8", tensor=4), requests=16, tokens_in=1024, tokens_out=1024)
    >>> found.low < found.value < found.high
    True

    References
    ----------
    .. [1] aiconfigurator-silicon-sample
    """
    above_zero(tokens_out=tokens_out)
    context = tokens_in + tokens_out / 2
    step = decode_step_ms(shape, board, setup=setup, requests=requests, context_tokens=context, speeds=speeds)
    prompt = prompt_ms(shape, board, setup=setup, tokens_in=tokens_in, speeds=speeds)
    value = step + speeds.overlap_share * requests / tokens_out * prompt
    return _range(value, speeds.token_low, speeds.token_high, speeds, measured)


def _range(value: float, low: float, high: float, speeds: Speeds, measured: bool) -> Range:
    power = 1.0 if measured else speeds.unseen
    return Range(value, value * low**power, value * high**power)


def first_token_ms(
    shape: Shape,
    board: Board,
    *,
    setup: Setup,
    requests: float,
    tokens_in: float,
    tokens_out: float,
    speeds: Speeds = USUAL,
    measured: bool = True,
) -> Range:
    """Time from a request to its first token on a replica that holds so many.

    Parameters
    ----------
    shape : Shape
        The model. [-]
    board : Board
        One GPU. [-]
    setup : Setup
        How the replica is cut. [-]
    requests : float
        Requests in the replica. [-]
    tokens_in : float
        Tokens of a prompt. [-]
    tokens_out : float
        Tokens of an answer. [-]
    speeds : Speeds
        Fitted parameters. [-]
    measured : bool
        Whether runs of this board and model were measured; if not, the range is wider. [-]

    Returns
    -------
    first_token_ms : Range
        Mean time, with low and high. [ms]

    Notes
    -----
    A fixed time, some steps of the others, its own prompt, and the prompts of others before it. In a closed loop: a new request
    comes when one ends. Engines differ in it by a third, so only the range is worth a promise.

    Examples
    --------
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> h100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
    >>> found = first_token_ms(llama, h100, setup=Setup("fp8", tensor=4), requests=16, tokens_in=8192, tokens_out=1024)
    >>> 200 < found.low < found.value < found.high < 4000
    True

    References
    ----------
    .. [1] aiconfigurator-silicon-sample
    """
    context = tokens_in + tokens_out / 2
    step = decode_step_ms(shape, board, setup=setup, requests=requests, context_tokens=context, speeds=speeds)
    prompt = prompt_ms(shape, board, setup=setup, tokens_in=tokens_in, speeds=speeds)
    before = 1 + speeds.queue_share * requests**1.5
    value = speeds.wait_ms + speeds.wait_steps * step + prompt * before
    return _range(value, speeds.first_low, speeds.first_high, speeds, measured)


def token_rate(
    shape: Shape,
    board: Board,
    *,
    setup: Setup,
    requests: float,
    tokens_in: float,
    tokens_out: float,
    speeds: Speeds = USUAL,
    measured: bool = True,
) -> Range:
    """Tokens out per second of a replica that is kept full with so many requests.

    Parameters
    ----------
    shape : Shape
        The model. [-]
    board : Board
        One GPU. [-]
    setup : Setup
        How the replica is cut. [-]
    requests : float
        Requests in the replica. [-]
    tokens_in : float
        Tokens of a prompt. [-]
    tokens_out : float
        Tokens of an answer. [-]
    speeds : Speeds
        Fitted parameters. [-]
    measured : bool
        Whether runs of this board and model were measured; if not, the range is wider. [-]

    Returns
    -------
    token_rate : Range
        Tokens out per second, with low and high. [-]

    Notes
    -----
    Requests over the time per token: while one waits for its first token, the steps of the others count its prompt.

    Examples
    --------
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> h100 = Board(79.19, 3350, 989, 1978, link_gb_s=450)
    >>> one, many = (token_rate(llama, h100, setup=Setup("fp8", tensor=4), requests=n, tokens_in=1024, tokens_out=1024) for n in (1, 64))
    >>> 10 < many.value / one.value < 64
    True

    References
    ----------
    .. [1] tensorrt-llm-performance
    """
    each = time_per_token_ms(
        shape,
        board,
        setup=setup,
        requests=requests,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        speeds=speeds,
        measured=measured,
    )
    value = requests * 1e3 / each.value
    return _range(value, speeds.rate_low, speeds.rate_high, speeds, measured)
