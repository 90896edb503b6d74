"""Speed of a replica: a step of decoding, the reading of a prompt, and the experience of users of a busy replica.

A step is a roofline: weights that are really read and the cache over the memory bandwidth, arithmetic over the tensor rate,
sums between GPUs over their links, and a fixed time for each layer. Prompts are read between the steps of the others.
[aiconfigurator-silicon-sample]_
"""

from __future__ import annotations

import math

from gpuplan.models.llm.memory import cached_per_gpu_bytes
from gpuplan.models.llm.shape import BITS, Range
from gpuplan.models.llm.speeds import Replica
from gpuplan.units import above_zero, not_negative


def decode_step_ms(replica: Replica, *, requests: float, context_tokens: float) -> float:
    """Time of a step that gives every request of a replica one more token.

    Parameters:
        requests: Requests in the replica, decoded together. [-]
        context_tokens: Tokens that each has so far, on average. [-]

    fixed + sqrt(weights^2 + products^2) + sqrt(cache^2 + scores^2) + traffic between kernels + sums between GPUs: what is read
    over the memory bandwidth, what is computed over the tensor rate. Of the routed experts those are read that at least one token
    of the step uses: 1 - (1 - used / all)^requests of them. Stages of a pipeline work on a share of the requests each and follow
    one another. Not for speculative decoding.

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> few, many = (decode_step_ms(replica, requests=n, context_tokens=1500) for n in (4, 64))
    >>> 8 < few < many < 30
    True
    """
    shape, board, setup, speeds = replica.shape, replica.board, replica.setup, replica.speeds
    above_zero(requests=requests, context_tokens=context_tokens)
    batch = max(requests / setup.pipeline, 1.0) / setup.data
    together = batch * setup.data
    read = batch * cached_per_gpu_bytes(shape, setup=setup, tokens=context_tokens)
    cache = read / 1e9 / board.bandwidth_gb_s / speeds.bandwidth_share
    wide = 2 * shape.latent_size + shape.rope_size if shape.latent_size else 2 * shape.head_size
    scores = 2 * shape.heads * wide * shape.cached_layers * context_tokens * batch / setup.tensor
    attention = math.hypot(cache, scores / 1e12 / board.fp16_tflops / speeds.compute_share)
    matrices = math.hypot(_weights_s(replica, together), _matrices_s(replica, together))
    layer_us = speeds.layer_us + (0 if shape.dense else speeds.expert_us)
    fixed = (speeds.step_us + shape.layers * layer_us + speeds.sequence_us * requests / setup.data) * 1e-6
    moved = _traffic_s(replica, batch) + _sums_s(replica, batch)
    return (fixed + matrices + attention + moved) * speeds.engine(setup.engine) * 1e3


def _weights_s(replica: Replica, tokens: float) -> float:
    """Return the time to read the weights that this number of tokens uses, on one GPU."""
    shape, board, setup = replica.shape, replica.board, replica.setup
    bits = BITS[setup.weights]
    rest_bits = 16 if bits < 8 and shape.experts else bits
    tables = shape.embedding_parameters
    head = tables if shape.tied_embeddings else tables / 2
    rest = (shape.total_parameters - shape.routed_parameters - tables) * rest_bits + head * max(16, bits)
    gigabytes = rest / 8 / setup.tensor
    if shape.experts:
        used = 1 - (1 - shape.experts_per_token / shape.experts) ** tokens
        gigabytes += shape.routed_parameters * bits / 8 * used / (setup.tensor * setup.data)
    return gigabytes / board.bandwidth_gb_s / replica.speeds.bandwidth_share


def _matrices_s(replica: Replica, tokens: float) -> float:
    """Return the time of the matrix products of these tokens; the table of input tokens is only a look-up."""
    shape, board, setup, speeds = replica.shape, replica.board, replica.setup, replica.speeds
    active = shape.active_parameters - (0 if shape.tied_embeddings else shape.embedding_parameters / 2)
    faster = math.pow(board.rate_tflops(setup.weights) / board.fp16_tflops, speeds.rate_power)
    rate_gflops = board.fp16_tflops * faster * speeds.compute_share * 1e3
    return 2 * active * tokens / (setup.tensor * setup.data) / rate_gflops


def _traffic_s(replica: Replica, tokens: float) -> float:
    """Return the time of the memory traffic between kernels; the GPUs of a group share the part of the experts."""
    shape, speeds = replica.shape, replica.speeds
    widths = speeds.traffic + speeds.expert_traffic * shape.experts_per_token / replica.setup.tensor
    return shape.layers * tokens * shape.hidden_size * 2 * widths / 1e9 / replica.board.bandwidth_gb_s


def _sums_s(replica: Replica, tokens: float) -> float:
    """Time of the sums between the GPUs of a group: two in each layer, or one exchange with the GPUs of each token's experts."""
    shape, setup, speeds = replica.shape, replica.setup, replica.speeds
    group = max(setup.tensor, setup.data)
    if group == 1:
        return 0.0
    sent = min(setup.data, max(1, shape.experts_per_token))
    count, tokens = (2, tokens) if setup.data == 1 else (1, tokens * sent)
    moved = 2 * (group - 1) / group * tokens * shape.hidden_size * 2 / 1e9
    return (
        count
        * shape.layers
        * (moved / replica.board.sum_gb_s(group, speeds.link_share) + speeds.sum_us * 1e-6 * math.log2(group))
    )


def prompt_ms(replica: Replica, *, tokens_in: float) -> float:
    """Time that a replica takes to read a prompt when it does nothing else.

    Parameters:
        tokens_in: Tokens of a prompt. [-]

    Products of all tokens or reading the weights once, whichever is longer; attention, which grows with the square of their
    number; traffic between kernels and sums between GPUs.

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> short, long = (prompt_ms(replica, tokens_in=n) for n in (1024, 8192))
    >>> 7 < long / short < 12
    True
    """
    shape, setup = replica.shape, replica.setup
    above_zero(tokens_in=tokens_in)
    wide = 192 if shape.latent_size else shape.head_size
    half = tokens_in / 2
    seen = shape.cached_layers * half
    seen += (shape.layers - shape.cached_layers) * min(half, shape.window_tokens)
    scores = 4 * shape.heads * wide * seen * tokens_in / (setup.tensor * setup.data) / 1e12
    attention = scores / replica.board.fp16_tflops / replica.speeds.compute_share
    matrices = max(
        _weights_s(replica, tokens_in),
        _matrices_s(replica, tokens_in),
    )
    tokens = tokens_in / setup.data
    moved = _traffic_s(replica, tokens) + _sums_s(replica, tokens)
    return (matrices + attention + moved) * 1e3


def time_per_token_ms(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Time between two tokens of a request on a replica with a given number of requests.

    Parameters:
        requests: Requests in the replica, decoded together. [-]
        tokens_in: Tokens of a prompt. [-]
        tokens_out: Tokens of an answer. [-]

    A step, and its share of the prompts: each request that ends is followed by another, so of so many requests that many over
    tokens_out start in each step, and the others wait while their prompts are read.

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> found = time_per_token_ms(replica, requests=16, tokens_in=1024, tokens_out=1024)
    >>> found.low < found.value < found.high
    True
    """
    not_negative(tokens_in=tokens_in, tokens_out=tokens_out)
    speeds = replica.speeds
    above_zero(tokens_out=tokens_out)
    context = tokens_in + tokens_out / 2
    step = decode_step_ms(replica, requests=requests, context_tokens=context)
    prompt = prompt_ms(replica, tokens_in=tokens_in)
    value = step + speeds.overlap_share * requests / tokens_out * prompt / replica.setup.pipeline
    return _range(value, speeds.token_low, speeds.token_high, _power(replica))


def _range(value: float, low: float, high: float, power: float) -> Range:
    return Range(value, value * low**power, value * high**power)


def _power(replica: Replica) -> float:
    """Return the power by which a range is wider than for a dense model whose runs were measured."""
    speeds = replica.speeds
    return (1.0 if replica.shape.dense else speeds.expert_spread) * (
        1.0 if replica.measured else speeds.unseen
    )


def first_token_ms(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Time from a request to its first token on a replica with a given number of requests.

    Parameters:
        requests: Requests in the replica, decoded together. [-]
        tokens_in: Tokens of a prompt. [-]
        tokens_out: Tokens of an answer. [-]

    The mean, with low and high. Its own prompt, and what it waits for: a fixed time, some steps of the others, and
    prompts of others before it. In a closed loop: a new request comes when one ends. Engines and their settings differ
    in it by a third and more: use the range.

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> found = first_token_ms(replica, requests=16, tokens_in=8192, tokens_out=1024)
    >>> 200 < found.low < found.value < found.high < 4000
    True
    """
    not_negative(tokens_in=tokens_in, tokens_out=tokens_out)
    speeds = replica.speeds
    context = tokens_in + tokens_out / 2
    step = decode_step_ms(replica, requests=requests, context_tokens=context)
    prompt = prompt_ms(replica, tokens_in=tokens_in)
    waits = speeds.wait_ms + speeds.wait_steps * step
    waits += speeds.queue_share * math.pow(requests, speeds.queue_power) * prompt
    value = prompt + speeds.first(replica.setup.engine) * waits
    return _range(value, speeds.first_low, speeds.first_high, 1.0 if replica.measured else speeds.unseen)


def token_rate(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Output tokens per second of a replica kept busy with a given number of requests.

    Parameters:
        requests: Requests in the replica, decoded together. [-]
        tokens_in: Tokens of a prompt. [-]
        tokens_out: Tokens of an answer. [-]

    Requests over the time per token: while one waits for its first token, the steps of the others count its prompt.
    [tensorrt-llm-performance]_

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(70.55, 70.55, layers=80, hidden_size=8192, heads=64, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978, link_gb_s=450), Setup("fp8", tensor=4))
    >>> one, many = (token_rate(replica, requests=n, tokens_in=1024, tokens_out=1024) for n in (1, 64))
    >>> 10 < many.value / one.value < 64
    True
    """
    token_ms = time_per_token_ms(replica, requests=requests, tokens_in=tokens_in, tokens_out=tokens_out)
    value, speeds = requests * 1e3 / token_ms.value, replica.speeds
    return _range(value, speeds.rate_low, speeds.rate_high, _power(replica))
