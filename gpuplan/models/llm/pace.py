"""Speed of a replica, as points of two laws, and the shape of its requests. [gpuplan-method]_

Parameters:
    requests: Most requests at once: what the promises or the engine allow. [-]
    chunk_tokens: Tokens of prompts that are read with one step; 0: a whole prompt. [-]
    mean: Mean length, as it is cut. [-]
    spread: Standard deviation over the mean, before it is cut. [-]
    longest: Longest length. [-]
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gpuplan.models.llm.memory import held, request_gib
from gpuplan.models.llm.serving import decode_step_ms, prompt_ms, prompt_work_ms
from gpuplan.models.llm.speeds import Replica
from gpuplan.units import above_zero, at_least_one, not_negative, zero_to_one

Floats = NDArray[np.float64]

FULL = 1e5
"""Requests of a step so full that no reading of weights hides a prompt: its work then depends on the tensor rate alone."""
GRID = 48
"""Points of a law between which it is taken as straight."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Speed of one replica, as points of its two laws, and its capacity; ``pace_of`` makes it.

    A step takes ``step_s`` + ``context_s`` times the mean context of its requests. Prompts are read ``chunk_tokens`` at a time
    (0: one whole prompt), each together with a step, which it lengthens by ``overlap_share`` of its own time.
    """

    batches: tuple[float, ...]
    step_s: tuple[float, ...]
    context_s: tuple[float, ...]
    prompts: tuple[float, ...]
    prompt_s: tuple[float, ...]
    requests: int
    """Most concurrent requests, by the promises or by the engine."""
    cache_tokens: float = math.inf
    """Tokens that the KV cache holds; each request reserves its prompt and its answer."""
    chunk_tokens: float = 8192
    overlap_share: float = 1.0
    wait_s: float = 0.0
    """Time of a request beside all this: tokenising, the way there and back."""

    def step(self, requests: Floats, context_tokens: float) -> Floats:
        """Time of a step of so many requests."""
        return np.asarray(
            np.interp(requests, self.batches, self.step_s)
            + context_tokens * np.interp(requests, self.batches, self.context_s)
        )

    def read(self, tokens: Floats) -> Floats:
        """Time to read prompts of so many tokens when nothing else is done."""
        seconds = np.interp(tokens, self.prompts, self.prompt_s)
        rise = (self.prompt_s[-1] - self.prompt_s[-2]) / (self.prompts[-1] - self.prompts[-2])
        return np.asarray(seconds + np.maximum(0, tokens - self.prompts[-1]) * rise)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Properties of requests. Lengths are lognormal, cut at the longest; a spread is the standard deviation over the mean before
    they are cut, 0: equal.
    """

    tokens_in: float
    tokens_out: float
    spread_in: float = 0.0
    spread_out: float = 0.0
    peakedness: float = 1.0
    """Variance over mean of the requests that arrive in a short time; 1: independent of each other (Poisson)."""
    longest_in: float = math.inf
    """Longest prompt, by the context of the model or as stated."""
    longest_out: float = math.inf

    @property
    def answer_spread(self) -> float:
        """Standard deviation of answers over their mean, as they are cut."""
        return _cut_lognormal(self.tokens_out, self.spread_out, longest=self.longest_out)[1]

    @property
    def context_tokens(self) -> float:
        """Mean context of a token of an answer: long answers have more of them."""
        return self.tokens_in + self.tokens_out * (1 + self.answer_spread**2) / 2

    @property
    def reserved_tokens(self) -> float:
        """Cache that a request which is worked on reserves, on average: long answers stay longer."""
        return self.tokens_in + self.tokens_out * (1 + self.answer_spread**2)


def pace_of(
    step_ms: Callable[[float, float], float],
    prompt_ms: Callable[[float], float],
    *,
    requests: int,
    context_tokens: float,
    longest_tokens: float,
    cache_tokens: float = math.inf,
    chunk_tokens: float = 8192,
    overlap_share: float = 1.0,
    wait_ms: float = 0.0,
) -> Pace:
    """Two laws of a replica as points, so that traffic on it is worked out quickly.

    Parameters:
        step_ms: Time of a step by requests at once and their mean context. [ms]
        prompt_ms: Time to read a prompt by its tokens. [ms]
        context_tokens: Mean context; between half of it and one and a half times it the law of steps is taken as straight. [-]
        longest_tokens: Longest prompt for which the law of prompts is asked; beyond it, it goes on as straight. [-]
        cache_tokens: Tokens that the KV cache of the replica holds. [-]
        overlap_share: How much of reading a prompt those that decode wait for. [-]
        wait_ms: Time of a request beside steps and prompts. [ms]

    48 points each, evenly by ratio; about 150 calls of the laws, after which traffic needs none.

    >>> found = pace_of(lambda n, context: 10 + 0.1 * n, lambda tokens: 0.05 * tokens, requests=8, context_tokens=1000, longest_tokens=8000)
    >>> found.step(4.0, 1000.0).round(4).item(), found.read(2000.0).round(4).item()
    (0.0104, 0.1)
    """
    at_least_one(requests=requests)
    above_zero(context_tokens=context_tokens, longest_tokens=longest_tokens)
    not_negative(chunk_tokens=chunk_tokens, wait_ms=wait_ms)
    if not cache_tokens >= 0:
        raise ValueError(f"cache_tokens is {cache_tokens}; it must be at least 0")
    zero_to_one(overlap_share=overlap_share)
    batches = sorted(
        {float(n) for n in np.unique(np.geomspace(1, requests, GRID).round())} | {float(requests)}
    )
    near, far = context_tokens / 2, context_tokens * 1.5
    ends = [(step_ms(n, near) / 1e3, step_ms(n, far) / 1e3) for n in batches]
    slopes = [max(0.0, high - low) / (far - near) for low, high in ends]
    most = max(longest_tokens, 2.0)
    prompts = [0.0, *np.geomspace(1, most, GRID).tolist()]
    return Pace(
        batches=tuple(batches),
        step_s=tuple(max(low - slope * near, 1e-9) for (low, _), slope in zip(ends, slopes, strict=True)),
        context_s=tuple(slopes),
        prompts=tuple(prompts),
        prompt_s=(0.0, *(prompt_ms(tokens) / 1e3 for tokens in prompts[1:])),
        requests=requests,
        cache_tokens=cache_tokens,
        chunk_tokens=chunk_tokens,
        overlap_share=overlap_share,
        wait_s=wait_ms / 1e3,
    )


def replica_pace(replica: Replica, *, traffic: Traffic, requests: int, chunk_tokens: float = 8192) -> Pace:
    """The laws of a replica of a model on a board.

    Steps and prompts as ``serving`` has them, beside a step the work that a prompt adds to it; the cache holds what weights and
    engine leave, at the length of a mean request. Refused if the model does not fit.

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> found = replica_pace(LLAMA_70B, traffic=Traffic(2000, 400), requests=64)
    >>> 400_000 < found.cache_tokens < 900_000
    True
    """
    setup = replica.setup
    left = held(
        replica.shape, setup=setup, memory_gib=replica.board.memory_gib, overheads=replica.overheads
    ).cache_gib
    if left <= 0:
        raise ValueError(
            f"the model does not fit on {setup.gpus} GPUs in {setup.weights}; take more GPUs per replica"
        )
    usual, first = traffic.reserved_tokens, replica.speeds.own_first
    part = max(1.0, min(traffic.tokens_in, chunk_tokens or math.inf))
    return pace_of(
        lambda n, context: decode_step_ms(replica, requests=n, context_tokens=context),
        lambda tokens: first * prompt_ms(replica, tokens_in=tokens),
        requests=requests,
        context_tokens=traffic.context_tokens,
        longest_tokens=max(32768.0, 8 * traffic.tokens_in),
        cache_tokens=left / request_gib(replica.shape, setup=setup, tokens=usual) * usual,
        chunk_tokens=chunk_tokens,
        overlap_share=min(
            1.0,
            prompt_work_ms(replica, tokens_in=part, requests=FULL)
            / (first * prompt_ms(replica, tokens_in=part)),
        ),
        wait_ms=first * replica.speeds.wait_ms,
    )


@lru_cache(maxsize=1024)  # of the same few lengths, many times in a plan
def _cut_lognormal(mean: float, spread: float, *, longest: float) -> tuple[float, float]:
    """Mean before it is cut, and spread after it, of a lognormal length whose mean after it is given.

    In the unit of the mean. [-] Where a length would be longer, it is the longest; the mean before is found by halving, so
    that the mean after it is the given one. At the longest itself all are alike.
    """
    above_zero(mean=mean, longest=min(longest, 1e300))
    not_negative(spread=spread)
    if longest == math.inf or not spread:
        return mean, spread
    if mean >= longest * (1 - 1e-9):
        return mean, 0.0
    square = math.log1p(spread**2)
    root = math.sqrt(square)

    def moments(before: float) -> tuple[float, float]:
        far = (math.log(longest / before) + square / 2) / root
        beyond = _below(-far)
        first = before * _below(far - root) + longest * beyond
        second = before**2 * math.exp(square) * _below(far - 2 * root) + longest**2 * beyond
        return first, second

    low, high = math.log(mean), math.log(mean) + 1.0
    while moments(math.exp(high))[0] < mean:
        high += 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if moments(math.exp(middle))[0] < mean else (low, middle)
    first, second = moments(math.exp(high))
    return math.exp(high), math.sqrt(max(0.0, second / first**2 - 1))


def _below(z: float) -> float:
    return math.erfc(-z / math.sqrt(2)) / 2


def lengths(mean: float, spread: float, *, shares: Floats, longest: float = math.inf) -> Floats:
    """Quantiles of a lognormal length, cut at the longest.

    Parameters:
        shares (array of float): Shares that are not longer, above 0 and below 1. [-]

    In the unit of the mean. [-] exp(m + s z) with s^2 = log(1 + spread^2) and m = log(mean) - s^2 / 2 of the mean before.

    >>> lengths(1000, 1, shares=np.array([0.5, 0.95])).round(0).tolist()
    [707.0, 2781.0]
    """
    from scipy.special import ndtri

    above_zero(mean=mean)
    not_negative(spread=spread)
    if not ((shares > 0) & (shares < 1)).all():
        raise ValueError("shares must be above 0 and below 1")
    before, _ = _cut_lognormal(mean, spread, longest=longest)
    square = math.log1p(spread**2)
    found = np.exp(math.log(before) - square / 2 + math.sqrt(square) * ndtri(shares))
    return np.asarray(np.minimum(found, longest))
