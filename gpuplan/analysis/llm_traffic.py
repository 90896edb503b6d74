"""Traffic on a planned language model: what users wait for their first token when requests come as they come."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gpuplan.models.llm.batching import Simulated, play, simulate, summary
from gpuplan.models.llm.traffic import (
    Answers,
    Pace,
    Traffic,
    answers,
    replica_curve,
    replica_pace,
    replicas_for,
)
from gpuplan.plan import Plan
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import engine_of
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.working_week import weeks

_pace = lru_cache(maxsize=64)(
    replica_pace
)  # a year, a scenario of growth or another number of users ask for the same

USUAL = "llm-traffic"
"""Planning values of how requests come, as long as no trace says better."""


@dataclass(frozen=True)
class GroupTraffic:
    """Requests to the replicas of one group."""

    id: str
    name: str
    replicas: int
    """As planned."""
    pace: Pace
    """Of one replica."""
    traffic: Traffic
    per_second: float
    """Requests in the busiest hour."""
    day_per_second: tuple[float, ...]
    """In each hour of its busiest day, UTC."""
    first_token_s: float
    """Promised."""
    share: float
    """Of the requests for which the promise is to be kept."""

    @property
    def planned(self) -> Answers:
        """What users see with the planned replicas, by formula."""
        return self.with_replicas(self.replicas)

    def with_replicas(self, count: int) -> Answers:
        """What users see with so many, by formula."""
        return answers(
            self.pace,
            self.traffic,
            requests_per_second=self.per_second,
            replicas=count,
            first_token_s=self.first_token_s,
        )

    @property
    def needed(self) -> Needed:
        """Replicas that keep the promise for the share, or why none do."""
        try:
            count = replicas_for(
                self.pace,
                self.traffic,
                requests_per_second=self.per_second,
                first_token_s=self.first_token_s,
                share=self.share,
            )
        except ValueError as error:
            return Needed(None, str(error))
        return Needed(count, "")

    @property
    def curve(self) -> tuple[tuple[int, Answers], ...]:
        """What users see with ever more replicas."""
        return replica_curve(
            self.pace,
            self.traffic,
            requests_per_second=self.per_second,
            first_token_s=self.first_token_s,
        )


class Needed(NamedTuple):
    """Replicas for a promise, or why it cannot be kept."""

    replicas: int | None
    why: str


def traffic_of(plan: Plan, group_id: str) -> GroupTraffic:
    """How requests come to a group that language models serve, with the planning values for what the scenario does not say.

    Users who wait at once become requests a second by Little's law: each stays until its answer is complete. The engine takes as
    many requests at once as its memory holds.
    """
    made = plan.llm.serving[group_id]
    group = next(each for each in plan.scenario.groups if each.id == group_id)
    asks = Asks(plan.scenario, plan.catalog, group)
    engine = engine_of(asks)
    board, setup = engine.on(made.gpus)
    known = {
        name: float(fact.value)
        for name, fact in plan.catalog.assumptions[USUAL].facts.items()
        if name != "name"
    }
    traffic = Traffic(
        tokens_in=float(made.asks["tokens_in"]),
        tokens_out=float(made.asks["tokens_out"]),
        spread_in=known["spread_in"],
        spread_out=known["spread_out"],
        peakedness=known["peakedness"],
    )
    rate = per_second(made)
    return GroupTraffic(
        id=group_id,
        name=made.name,
        replicas=made.replicas,
        pace=_pace(
            engine.shape,
            board,
            setup=setup,
            traffic=traffic,
            requests=made.limits.memory,
            speeds=engine.speeds,
            overheads=engine.overheads,
            chunk_tokens=known["chunk_tokens"],
        ),
        traffic=traffic,
        per_second=rate,
        day_per_second=tuple(rate * part for part in _day(plan, group_id)),
        first_token_s=float(made.asks["first_token_s"]),
        share=known["kept_share"],
    )


def per_second(made: Serving) -> float:
    """Requests a second in the busiest hour: as stated, or those at once over the time that each stays."""
    if made.asks["requests_per_s"] is not None:
        return float(made.asks["requests_per_s"])
    decode = made.found.time_per_token_ms.value * (float(made.asks["tokens_out"]) - 1)
    return made.requests * 1e3 / (made.found.first_token_ms.value + decode)


def _day(plan: Plan, group_id: str) -> tuple[float, ...]:
    """The share of the busiest hour's users in each hour of the busiest day, UTC."""
    loads = max((week[group_id].loads for week in weeks(plan.scenario, plan.catalog).values()), key=np.max)
    most = float(loads.max())
    if most <= 0:
        return (1.0,) * 24
    first = int(np.argmax(loads)) // 96 * 96
    return tuple((loads[first : first + 96].reshape(24, 4).mean(axis=1) / most).tolist())


def played(of: GroupTraffic, *, replicas: int = 0, day: bool = False, count: int = 50_000) -> Simulated:
    """The same by simulation, in the busiest hour or over the whole day; with the planned replicas unless others are asked for."""
    return simulate(
        of.pace,
        of.traffic,
        rates_per_second=of.day_per_second if day and len(set(of.day_per_second)) > 1 else [of.per_second],
        replicas=replicas or of.replicas,
        first_token_s=of.first_token_s,
        count=count,
    )


def replayed(
    of: GroupTraffic, time_s: np.ndarray, tokens_in: np.ndarray, tokens_out: np.ndarray
) -> Simulated:
    """The requests of a trace as they came, on the planned replicas; ``by_part_p95_s`` is by hour of the day, UTC."""
    run = play(
        of.pace, time_s - time_s[0], tokens_in=tokens_in, tokens_out=tokens_out, replicas=max(1, of.replicas)
    )
    hours = (time_s // 3600 % 24).astype(float)
    return summary([run], [hours], rates=24, replicas=max(1, of.replicas), first_token_s=of.first_token_s)
