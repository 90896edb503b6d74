"""Traffic on a planned language model, played request by request: simulated, or as a trace has it."""

from __future__ import annotations

import numpy as np

from gpuplan.models.llm.batching import Simulated, play, simulate, summary
from gpuplan.plan import Plan
from gpuplan.plan.llm import traffic
from gpuplan.plan.llm.traffic import GroupTraffic


def traffic_of(plan: Plan, group_id: str) -> GroupTraffic:
    """How requests come to a group of a plan that language models serve."""
    return traffic.traffic_of(plan.scenario, plan.catalog, plan.llm.serving[group_id])


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
