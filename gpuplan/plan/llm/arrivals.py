"""Arrivals of requests at the replicas of a language model: their lengths, and their number per second."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from gpuplan.models.llm.pace import Pace, Traffic, replica_pace
from gpuplan.models.llm.speeds import Replica
from gpuplan.models.llm.traffic import answers, replicas_for
from gpuplan.plan.llm.asks import Asks

TRAFFIC = ("tokens_in", "tokens_out", "spread_in", "spread_out", "peakedness")
"""Inputs of a group that describe its requests."""


known_answers = lru_cache(maxsize=512)(answers)
known_replicas = lru_cache(maxsize=256)(replicas_for)
"""The same as without their names' first word, remembered: plans that differ elsewhere have the same requests."""


class Arrivals(NamedTuple):
    """Requests of a group, and the share of them for which its promise applies."""

    traffic: Traffic
    first_token_s: float
    """Promised."""
    share: float
    """Of the requests for which the promise is to be kept."""
    chunk_tokens: float
    """Of a prompt, read between two steps of the others."""

    def reusing(self, cached_tokens: float, spread_in: float) -> "Arrivals":
        """Return the same where the cache holds this part of a prompt on average, and the rest has this spread."""
        traffic = replace(
            self.traffic,
            tokens_in=self.traffic.tokens_in - cached_tokens,
            spread_in=spread_in,
            longest_in=max(self.traffic.longest_in, self.traffic.tokens_in) - cached_tokens,
        )
        return self._replace(traffic=traffic)

    def kept(self, pace: Pace, per_second: float, count: int) -> bool:
        """True if this many replicas keep the promise for the share."""
        promised = {"requests_per_second": per_second, "first_token_s": self.first_token_s}
        outcome = known_answers(pace, self.traffic, **promised, replicas=count)
        return outcome.kept_share >= self.share

    def needed(self, pace: Pace, per_second: float, least: int = 1) -> int:
        """Replicas that keep the promise; a ValueError in words where no number does."""
        promised = {"requests_per_second": per_second, "first_token_s": self.first_token_s}
        return known_replicas(pace, self.traffic, **promised, share=self.share, least=least)


def arrivals_of(asks: Asks) -> Arrivals:
    """Return the arrivals of a group's requests, as stated or planned; none is longer than model and longest context allow."""
    usual: dict[str, float] = {name: float(asks.value(name)) for name in TRAFFIC}
    context = asks.catalog.row("llm_models", str(asks.group.model))["context_tokens"]
    most = float(asks.group.longest_context or context)
    return Arrivals(
        Traffic(
            **usual,
            longest_in=max(usual["tokens_in"], most - usual["tokens_out"]),
            longest_out=max(usual["tokens_out"], most - usual["tokens_in"]),
        ),
        float(asks.value("first_token_s")),
        float(asks.value("kept_share")),
        float(asks.value("chunk_tokens")),
    )


@lru_cache(maxsize=64)  # 14 ms each
def pace_of(replica: Replica, requests: int, traffic: Traffic, chunk_tokens: float) -> Pace:
    """Return the pace of a replica whose memory holds this many requests."""
    most = min(requests, replica.setup.sequences)
    return replica_pace(replica, traffic=traffic, requests=most, chunk_tokens=chunk_tokens)
