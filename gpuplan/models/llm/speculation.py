"""Speculative decoding: tokens that a step gives, and what is gained at a load. [specdecode-bench]_"""

from dataclasses import replace

from gpuplan.models.llm.serving import decode_step_ms
from gpuplan.models.llm.shape import Draft
from gpuplan.models.llm.speeds import Replica
from gpuplan.units import not_negative, zero_to_one


def tokens_per_step(draft_tokens: int, *, accept_share: float) -> float:
    """Tokens that a step gives on average with drafts: the acceptance length.

    Parameters:
        draft_tokens: Tokens that are drafted for each step. [-]
        accept_share: Share of drafted tokens that are accepted, each if the one before is. [-]

    In tokens. [-] 1 + a + a^2 + ... + a^drafts: the accepted ones and one that the step itself gives. With a = 0.62 it is within
    3 % of the means of one study for chat at 1, 3, 5 and 7 drafts. [specdecode-bench]_

    >>> [round(tokens_per_step(n, accept_share=0.62), 2) for n in (0, 1, 3, 7)]
    [1.0, 1.62, 2.24, 2.57]
    """
    not_negative(draft_tokens=draft_tokens)
    zero_to_one(accept_share=accept_share)
    return sum(accept_share**n for n in range(draft_tokens + 1))


def speculation_gain(replica: Replica, *, requests: float, context_tokens: float) -> float:
    """Time per token without drafts over that with them, at a load.

    Parameters:
        requests: Requests in the replica, decoded together. [-]
        context_tokens: Tokens that each has so far, on average. [-]

    Above 1 drafts help. [-] A step with drafts verifies all of them, reads weights and cache once, and gives several tokens: a
    gain while reading decides, and a loss where the products do. [specdecode-bench]_

    >>> from gpuplan.models.llm import Board, Setup, Shape
    >>> llama = Shape(8.03, 8.03, layers=32, hidden_size=4096, heads=32, vocabulary=128256, context_tokens=131072, kv_heads=8)
    >>> replica = Replica(llama, Board(79.19, 3350, 989, 1978), Setup(draft=Draft(3, 2.25, 0.12)))
    >>> few, many = (speculation_gain(replica, requests=n, context_tokens=1000) for n in (1, 128))
    >>> 1.5 < few < 2 and 1 < many < few
    True
    """
    plain = replace(replica, setup=replace(replica.setup, draft=Draft()))
    at = {"requests": requests, "context_tokens": context_tokens}
    return decode_step_ms(plain, **at) / decode_step_ms(replica, **at)
