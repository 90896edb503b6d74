"""Speed of a replica: a step of decoding, the reading of a prompt, and the experience of users of a busy replica.

A step is a roofline: weights that are really read and the cache over the memory bandwidth, arithmetic over the tensor rate,
sums between GPUs over their links, and a fixed time for each layer. Prompts are read between the steps of the others.
[aiconfigurator-silicon-sample]_

Parameters:
    requests: Requests in the replica, decoded together. [-]
    tokens_in: Tokens of a prompt. [-]
    tokens_out: Tokens of an answer. [-]
"""

import math

from gpuplan.models.llm.memory import _cached_per_gpu_bytes
from gpuplan.models.llm.shape import BITS, Range
from gpuplan.models.llm.speeds import TILE, Replica
from gpuplan.units import above_zero, not_negative


def decode_step_ms(replica: Replica, *, requests: float, context_tokens: float) -> float:
    """Time of a step that gives every request of a replica one more token.

    Parameters:
        context_tokens: Tokens that each has so far, on average. [-]

    fixed + sqrt(weights^2 + products^2), of experts apart, + sqrt(cache^2 + scores^2) + traffic between kernels + sums between
    GPUs: what is read over the memory bandwidth, what is computed over the tensor rate. Of the routed experts those are read that
    at least one token of the step uses: 1 - (1 - used / all)^requests of them. Stages of a pipeline work on a share of the
    requests each and follow one another. With speculative decoding, of ``speculation``, the time of a step and its drafts over
    the tokens that it gives; context beside what the cache holds from earlier requests.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> few, many = (decode_step_ms(LLAMA_70B, requests=n, context_tokens=1500) for n in (4, 64))
    >>> 8 < few < many < 30
    True
    """
    above_zero(requests=requests, context_tokens=context_tokens)
    draft = replica.setup.draft
    step = _step_s(replica, requests, context_tokens, 1 + draft.tokens)
    if draft.tokens:
        step += draft.tokens * draft.time_share * _step_s(replica, requests, context_tokens, 1)
    return step / draft.accepted * 1e3


def _step_s(replica: Replica, requests: float, context_tokens: float, verified: int) -> float:
    """Return the time of a step that works on this number of tokens of each request."""
    shape, board, setup, speeds = replica.shape, replica.board, replica.setup, replica.speeds
    batch = max(requests / setup.pipeline, 1.0) / setup.data
    written = batch * verified
    read = batch * _cached_per_gpu_bytes(shape, setup=setup, tokens=context_tokens)
    cache = read / 1e9 / board.bandwidth_gb_s / speeds.cache_share
    wide = 2 * shape.latent_size + shape.rope_size if shape.latent_size else 2 * shape.head_size
    context = context_tokens + setup.cached_tokens
    scores = 2 * shape.heads * wide * shape.cached_layers * context * written / setup.tensor
    attention = math.hypot(cache, scores / 1e12 / replica.attention_tflops)
    matrices = _matrices_s(replica, written * setup.data)
    fixed = replica.fixed_s + speeds.sequence_us * requests / setup.data * 1e-6
    moved = _traffic_s(replica, written) + _sums_s(replica, written)
    return (fixed + matrices + attention + moved) * replica.slower


def _matrices_s(replica: Replica, written: float, read: float = 0.0) -> float:
    """Return the time of the products of a step that writes some tokens and reads some of a prompt, and of their weights."""
    weights, products = _weights_s(replica, written + read), _products_s(replica, written, head=True)
    prompt = _products_s(replica, read, head=False)
    return sum(
        math.hypot(*part) for part in zip(weights, map(sum, zip(products, prompt, strict=True)), strict=True)
    )


def _weights_s(replica: Replica, tokens: float) -> tuple[float, float]:
    """Return the time to read the weights that this number of tokens uses, on one GPU: of experts, and of the rest."""
    shape, board, setup = replica.shape, replica.board, replica.setup
    bits = BITS[setup.weights]
    tables = shape.embedding_parameters
    head = tables if shape.tied_embeddings else tables / 2
    rest = (shape.total_parameters - shape.routed_parameters - tables) * replica.mean_bits
    used = 1 - (1 - shape.experts_per_token / shape.experts) ** tokens if shape.experts else 0.0
    routed = shape.routed_parameters * bits * used / setup.data
    gigabytes_s = 8 * setup.tensor * board.bandwidth_gb_s * replica.speeds.bandwidth_share
    return routed / gigabytes_s, (rest + head * max(16, bits)) / gigabytes_s


def _products_s(replica: Replica, tokens: float, *, head: bool) -> tuple[float, float]:
    """Return the time of the matrix products of these tokens on one GPU: of experts, and of the rest.

    The table of input tokens is only a look-up; that of output tokens is for tokens that are written (``head``), whose
    products of an expert are padded, as few use it.
    """
    shape, setup = replica.shape, replica.setup
    each = 2 / (setup.tensor * setup.data) / 1e3
    routed = expert = 0.0
    if shape.experts:
        expert = shape.routed_parameters / shape.experts
        used = 1 - (1 - shape.experts_per_token / shape.experts) ** tokens
        in_all = tokens * shape.experts_per_token + (used * shape.experts * TILE if head else 0)
        routed = each * expert * in_all / replica.expert_tflops
    tables = shape.embedding_parameters
    rest = shape.active_parameters - expert * shape.experts_per_token - tables
    rest += (tables if shape.tied_embeddings else tables / 2) if head else 0.0
    return routed, each * rest * tokens / replica.rest_tflops


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


def prompt_work_ms(
    replica: Replica, *, tokens_in: float, requests: float = 0.0, prompts: float = 1.0
) -> float:
    """Time by which reading a prompt lengthens a step of the others: the work that it adds.

    Parameters:
        requests: Requests whose step it is read with. [-]
        prompts: Prompts that one step reads. [-]

    Products of all tokens; attention, which grows with the square of their number and with what the cache holds before them;
    traffic between kernels and sums between GPUs. A step reads the weights anyway, and products of a short prompt are done
    while it does. [-]

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> prompt_work_ms(LLAMA_70B, tokens_in=2048, requests=8) < prompt_ms(LLAMA_70B, tokens_in=2048)
    True
    """
    shape, setup = replica.shape, replica.setup
    above_zero(tokens_in=tokens_in, prompts=prompts)
    not_negative(requests=requests)
    wide = 192 + 128 if shape.latent_size else 2 * shape.head_size
    half = tokens_in / 2
    before = half + setup.cached_tokens
    seen = shape.cached_layers * before
    seen += (shape.layers - shape.cached_layers) * min(before, shape.window_tokens)
    scores = 2 * shape.heads * wide * seen * tokens_in / (setup.tensor * setup.data) / 1e12
    attention = scores / replica.attention_tflops
    written = requests / setup.pipeline * (1 + setup.draft.tokens)
    alone = _matrices_s(replica, written) if requests else 0.0
    tokens = tokens_in / setup.data
    moved = _traffic_s(replica, tokens) + _sums_s(replica, tokens)
    added = (_matrices_s(replica, written, tokens_in * prompts) - alone) / prompts + attention + moved
    return added * replica.slower * 1e3


def prompt_ms(replica: Replica, *, tokens_in: float) -> float:
    """Time that a replica takes to read a prompt when it does nothing else.

    Its work, with reading the weights, and the fixed time of a step.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> short, long = (prompt_ms(LLAMA_70B, tokens_in=n) for n in (1024, 8192))
    >>> 6 < long / short < 12
    True
    """
    fixed = replica.fixed_s * replica.slower * 1e3
    return prompt_work_ms(replica, tokens_in=tokens_in) + fixed


def time_per_token_ms(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Time between two tokens of a request on a replica with a given number of requests.

    A step, and the work of the prompts: each request that ends is followed by another, so of so many requests that many over
    tokens_out start in each step, and the others wait while their prompts are read. All work is counted, so a GPU is busy at most
    all of the time.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> found = time_per_token_ms(LLAMA_70B, requests=16, tokens_in=1024, tokens_out=1024)
    >>> found.low < found.value < found.high
    True
    """
    not_negative(tokens_in=tokens_in, tokens_out=tokens_out)
    return _per_token(replica, requests, tokens_in, tokens_out, 1.0)


def _per_token(
    replica: Replica, requests: float, tokens_in: float, tokens_out: float, between: float
) -> Range:
    """Return the time per token where a share of reading prompts falls between the tokens of others."""
    above_zero(tokens_out=tokens_out)
    step = decode_step_ms(replica, requests=requests, context_tokens=tokens_in + tokens_out / 2)
    prompts = requests / replica.setup.pipeline / tokens_out
    work = prompt_work_ms(replica, tokens_in=tokens_in, requests=requests, prompts=max(1.0, prompts))
    return _range(step + between * prompts * work, replica.ranges.token, replica.speeds.own_width)


def _range(value: float, ends: tuple[float, float], power: float) -> Range:
    """Return a value with its low and high, which a customer's own runs make narrower by a power."""
    return Range(value, value * ends[0] ** power, value * ends[1] ** power)


def first_token_ms(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Time from a request to its first token on a replica that works on a given number of requests as they come.

    The mean, with low and high. Its own prompt, part of a step of the others, and prompts before it: of the time, a share b
    is taken by prompts, and one waits b / (1 - b) / 2 times its work for earlier ones (a queue with equal service times).
    Engines and their settings differ in it by a third and more: use the range.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> found = first_token_ms(LLAMA_70B, requests=16, tokens_in=8192, tokens_out=1024)
    >>> 200 < found.low < found.value < found.high < 4000
    True
    """
    above_zero(tokens_in=tokens_in, tokens_out=tokens_out)
    step = decode_step_ms(replica, requests=requests, context_tokens=tokens_in + tokens_out / 2)
    work = prompt_work_ms(replica, tokens_in=tokens_in, requests=requests)
    others = max(0.0, requests - 1)
    prompts = others / replica.setup.pipeline / tokens_out * work
    value = replica.speeds.wait_ms + prompt_ms(replica, tokens_in=tokens_in) + prompts / step / 2 * work
    steps = (
        replica.speeds.wait_steps * min(1.0, others) * replica.setup.draft.accepted
    )  # whole ones, of several tokens
    return _first_range(replica, value + steps * step)


def _first_range(replica: Replica, value: float) -> Range:
    speeds = replica.speeds
    return _range(value * speeds.own_first, replica.ranges.first, speeds.own_first_width)


def loop_times_ms(
    replica: Replica, *, requests: float, tokens_in: float, tokens_out: float
) -> tuple[Range, Range]:
    """Time per token and to the first one as benchmarks measure them in a closed loop.

    In a closed loop a new request comes when one ends. It starts with all of them at once, so part of the work of prompts lies
    between the tokens of others and part in the wait for the first one; that of a load that comes as it does is
    ``first_token_ms``.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> token, first = loop_times_ms(LLAMA_70B, requests=64, tokens_in=1024, tokens_out=1024)
    >>> token.value < time_per_token_ms(LLAMA_70B, requests=64, tokens_in=1024, tokens_out=1024).value < first.value
    True
    """
    above_zero(requests=requests, tokens_in=tokens_in, tokens_out=tokens_out)
    speeds = replica.speeds
    token = _per_token(replica, requests, tokens_in, tokens_out, speeds.loop_share)
    step = decode_step_ms(replica, requests=requests, context_tokens=tokens_in + tokens_out / 2)
    shape, work = replica.shape, prompt_work_ms(replica, tokens_in=tokens_in, requests=requests)
    experts = 0.0 if shape.dense else speeds.loop_expert_us * speeds.first(replica.setup.engine)
    waits = speeds.loop_ms + shape.layers * (speeds.loop_layer_us + experts) / 1e3
    waits += speeds.loop_steps * step + speeds.loop_queue * max(0.0, requests - 1) * work
    value = prompt_ms(replica, tokens_in=tokens_in) + waits
    return token, _first_range(replica, value)


def token_rate(replica: Replica, *, requests: float, tokens_in: float, tokens_out: float) -> Range:
    """Output tokens per second of a replica kept busy with a given number of requests.

    Requests over the time per token: while one waits for its first token, the steps of the others count its prompt.
    [tensorrt-llm-performance]_

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> one, many = (token_rate(LLAMA_70B, requests=n, tokens_in=1024, tokens_out=1024) for n in (1, 64))
    >>> 10 < many.value / one.value < 64
    True
    """
    token_ms = time_per_token_ms(replica, requests=requests, tokens_in=tokens_in, tokens_out=tokens_out)
    return _range(requests * 1e3 / token_ms.value, replica.ranges.rate, replica.speeds.own_width)
