"""Number of replicas that carry a load within the promises to users, and the limits of one."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from gpuplan.models.llm.memory import requests_at_once
from gpuplan.models.llm.serving import first_token_ms, time_per_token_ms, token_rate
from gpuplan.models.llm.shape import MOST, Range, Setup
from gpuplan.models.llm.speeds import Replica
from gpuplan.units import above_zero, at_least_one


@dataclass(frozen=True, slots=True)
class Load:
    """Load that users put on a model."""

    tokens_in: float
    tokens_out: float
    requests: float = 0.0
    """Concurrent requests; or else"""
    requests_per_second: float = 0.0
    spread: float = 0.0
    """Standard deviation of the tokens of a request over their mean."""


@dataclass(frozen=True, slots=True)
class Promise:
    """Promises to users; None: no promise."""

    first_token_s: float | None = None
    tokens_per_second: float | None = None
    """Rate of each request after its first token."""
    safe: bool = False
    """True if the slow end of the range must keep it too."""


class Limits(NamedTuple):
    """Most concurrent requests on a replica, by limiting factor."""

    memory: int
    speed: int
    first_token: int
    engine: int = MOST
    """Sequences that the engine takes at once."""

    @property
    def requests(self) -> int:
        """The least of them."""
        return min(self)

    @property
    def by(self) -> str:
        """The limit that binds: ``memory``, ``speed``, ``first_token`` or ``engine``."""
        return self._fields[self.index(min(self))]


class Replicas(NamedTuple):
    """Number of replicas, and the performance of each."""

    replicas: int
    limits: Limits
    requests: float
    """Concurrent requests on each."""
    time_per_token_ms: Range
    first_token_ms: Range
    token_rate: Range
    """Rate of one replica."""


def limits(replica: Replica, *, load: Load, promise: Promise = Promise()) -> Limits:
    """Most concurrent requests on a replica that fit its memory and keep each promise.

    At most 4,096, and what the engine is set to. Both times grow with the requests, so the most is found by halving. The cache
    is counted at the full length of a request. [aiconfigurator-silicon-sample]_

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> found = limits(LLAMA_70B, load=Load(2000, 400), promise=Promise(2.0, 30))
    >>> found.by, found.memory > found.requests
    ('speed', True)
    """
    return _limits(replica, replace(load, requests=0.0, requests_per_second=0.0), promise)


@lru_cache(
    maxsize=512
)  # however many users there are: without it a plan of three services makes an eighth more calls
def _limits(replica: Replica, load: Load, promise: Promise) -> Limits:
    """The limits of a replica, of a load that says only how long requests are."""
    memory = requests_at_once(
        replica.shape,
        setup=replica.setup,
        memory_gib=replica.board.memory_gib,
        tokens=load.tokens_in + load.tokens_out,
        spread=load.spread,
        overheads=replica.overheads,
    )

    def seen(of: Callable[..., Range], requests: int) -> float:
        figure = of(replica, requests=requests, tokens_in=load.tokens_in, tokens_out=load.tokens_out)
        return figure.high if promise.safe else figure.value

    every, speed, first = range(1, MOST + 1), MOST, MOST
    if promise.tokens_per_second:
        allowed = 1e3 / promise.tokens_per_second
        speed = bisect_left(every, True, key=lambda n: seen(time_per_token_ms, n) > allowed)
    if promise.first_token_s:
        promised = promise.first_token_s * 1e3
        first = bisect_left(every, True, key=lambda n: seen(first_token_ms, n) > promised)
    return Limits(min(memory, MOST), speed, first, replica.setup.sequences)


def replicas(replica: Replica, *, load: Load, promise: Promise = Promise(), least: int = 1) -> Replicas:
    """Fewest replicas that carry the load within the promises.

    Parameters:
        least: Replicas at least. [-]

    Requests at once over the most that a replica takes. Requests a second become requests at once by Little's law: each
    stays for its first token and one time per token for each of the others. Users alike; for arrivals as they come, see
    traffic. Refused if the model does not fit, or a promise is broken even by a single request: with the nearest that
    can be kept. [little-1961]_ [aiconfigurator-silicon-sample]_

    >>> from gpuplan.models.llm import LLAMA_70B
    >>> found = replicas(LLAMA_70B, load=Load(2000, 400, requests=400), promise=Promise(3.0, 20))
    >>> found.replicas >= 2, found.limits.requests * found.replicas >= 400
    (True, True)
    """
    at_least_one(least=least)
    lengths = {"tokens_in": load.tokens_in, "tokens_out": load.tokens_out}
    above_zero(**lengths)
    bounds = limits(replica, load=load, promise=promise)

    def at(requests: float) -> tuple[Range, Range]:
        token, first = (f(replica, requests=requests, **lengths) for f in (time_per_token_ms, first_token_ms))
        return token, first

    _refuse(bounds, replica.setup, promise, at)
    top = bounds.requests
    if load.requests_per_second:
        token, first = at(top)
        stay_s = (first.value + token.value * (load.tokens_out - 1)) / 1e3
        count = max(least, math.ceil(load.requests_per_second * stay_s / top - 1e-9))
        share = _at_once(load.requests_per_second / count, top, load.tokens_out, at)
    else:
        above_zero(requests=load.requests)
        count = max(least, math.ceil(load.requests / top - 1e-9))
        share = load.requests / count
    token, first = at(max(1.0, share))
    rate = token_rate(replica, requests=max(1.0, share), **lengths)
    if load.requests_per_second:  # as many tokens as are asked for
        made = load.requests_per_second * load.tokens_out / count / rate.value
        rate = Range(*(made * value for value in rate))
    return Replicas(count, bounds, share, token, first, rate)


def _at_once(
    arrivals: float, top: float, tokens_out: float, at: Callable[[float], tuple[Range, Range]]
) -> float:
    """Return concurrent requests at this arrival rate, by Little's law: where it agrees with their time there."""
    low, high = 0.0, float(top)
    while high - low > 1e-4 * max(high, 0.01):
        middle = (low + high) / 2
        token, first = at(max(1.0, middle))
        stay = arrivals * (first.value + token.value * (tokens_out - 1)) / 1e3
        low, high = (middle, high) if stay > middle else (low, middle)
    return high


def _refuse(
    found: Limits, setup: Setup, promise: Promise, at: Callable[[float], tuple[Range, Range]]
) -> None:
    """Say which promise cannot be kept, and the nearest that can."""
    gpus = f"{setup.gpus} GPU{'s' if setup.gpus > 1 else ''}"
    if not found.memory:
        raise ValueError(
            f"the model and one request do not fit on {gpus} in {setup.weights}; take more GPUs per replica, weights of "
            f"fewer bits or a shorter context"
        )
    token, first = at(1.0)
    if not found.speed:
        most = 1e3 / (token.high if promise.safe else token.value)
        raise ValueError(
            f"{promise.tokens_per_second:g} tokens/s for each user is more than {gpus} give a single one; promise at most "
            f"{most:.3g} tokens/s, or take more GPUs per replica or weights of fewer bits"
        )
    if not found.first_token:
        least = (first.high if promise.safe else first.value) / 1e3
        raise ValueError(
            f"a first token within {promise.first_token_s:g} s is sooner than {gpus} give a single user; promise at least "
            f"{least:.2g} s, or take more GPUs per replica or shorter prompts"
        )
