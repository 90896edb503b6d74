"""Traffic on a planned language model: users' wait for the first token, by formula, by simulation, or from a trace."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from gpuplan.analysis.demand import week_demand
from gpuplan.catalog import Catalog
from gpuplan.models.llm.pace import Pace, Traffic
from gpuplan.models.llm.traffic import Answers, replica_curve
from gpuplan.plan import Plan
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import engine_of
from gpuplan.plan.llm.promises import MISSED
from gpuplan.plan.llm.sizing import arrivals_of, known_answers, known_replicas, pace_of
from gpuplan.plan.working_week import weeks
from gpuplan.scenario import Scenario
from gpuplan.simulation.batching import Simulated, play, simulate, summary

BISECTIONS = 10
"""Halvings of the interval for the most requests: to a thousandth of it."""


@dataclass(frozen=True)
class GroupTraffic:
    """Requests to the replicas of one group."""

    id: str
    name: str
    replicas: int
    pace: Pace
    traffic: Traffic
    per_second: float
    """Requests in the busiest hour."""
    day_per_second: tuple[float, ...]
    """Requests a second in each hour of its busiest day, UTC."""
    first_token_s: float
    share: float
    """Share of the requests for which the promise is to be kept."""
    low: float
    """Low end of a wait over the computed value, as measured first tokens spread around the predicted ones."""
    high: float
    nearest_s: float | None
    """The first token that the plan promises in place of a missed one."""

    @property
    def planned(self) -> Answers:
        """Return the users' experience with the planned replicas, by formula."""
        return self.with_replicas(self.replicas)

    @property
    def p95_range_s(self) -> tuple[float, float] | None:
        """Return the range of the wait that 95 % of the users do not exceed; None where the queue keeps growing."""
        answers = self.planned
        return None if answers.load_share >= 1 else (answers.p95_s * self.low, answers.p95_s * self.high)

    def with_replicas(self, count: int) -> Answers:
        """Return the users' experience with this number of replicas, by formula."""
        return known_answers(self.pace, self.traffic, **self._asked, replicas=count)

    @property
    def needed(self) -> "Needed":
        """Return the replicas that keep the promise for the share, or why none do."""
        try:
            return Needed(known_replicas(self.pace, self.traffic, **self._asked, share=self.share), "")
        except ValueError as error:
            return Needed(None, str(error))

    @property
    def curve(self) -> tuple[tuple[int, Answers], ...]:
        """Return the users' experience for a growing number of replicas."""
        return replica_curve(self.pace, self.traffic, **self._asked)

    def most_per_second(self, tokens_per_s: float) -> float:
        """Return the most requests a second for which the replicas keep the promise and this speed."""

        def kept(rate: float) -> bool:
            answers = replace(self, per_second=rate).planned
            return answers.kept_share >= self.share and answers.token_s * tokens_per_s <= 1

        low, high = 0.0, self.per_second or 1.0
        while kept(high):
            low, high = high, 2 * high
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            low, high = (middle, high) if kept(middle) else (low, middle)
        return low

    @property
    def _asked(self) -> dict[str, Any]:
        return {"requests_per_second": self.per_second, "first_token_s": self.first_token_s}


class Needed(NamedTuple):
    """Replicas for a promise, or why it cannot be kept."""

    replicas: int | None
    why: str


def traffic_of(plan: Plan, group_id: str) -> GroupTraffic:
    """Return the requests to a group of a plan that language models serve.

    Concurrently waiting users become requests a second by Little's law: each stays until its answer is complete. The
    engine takes as many concurrent requests as its memory holds.
    """
    home = next(part for part in plan.parts if group_id in part.llm.serving)
    scenario, catalog, serving = home.scenario, plan.catalog, home.llm.serving[group_id]
    asks = Asks(scenario, catalog, next(group for group in scenario.groups if group.id == group_id))
    engine = engine_of(asks).having(cached_tokens=serving.cached_tokens)
    arrivals = arrivals_of(asks)
    if reuse := serving.reuse:
        spread = reuse.spread(serving.size.sessions, arrivals.traffic.spread_in)
        arrivals = arrivals.reusing(serving.cached_tokens, spread)
    rate, (first, _) = serving.load.requests_per_second, serving.targets
    return GroupTraffic(
        id=serving.id,
        name=serving.name,
        replicas=serving.replicas,
        pace=pace_of(engine.on(serving.gpus), serving.limits.memory, arrivals.traffic, arrivals.chunk_tokens),
        traffic=arrivals.traffic,
        per_second=rate,
        day_per_second=tuple(rate * part for part in _day(scenario, catalog, group_id)),
        first_token_s=arrivals.first_token_s,
        share=arrivals.share,
        low=serving.found.first_token_ms.low / serving.found.first_token_ms.value,
        high=serving.found.first_token_ms.high / serving.found.first_token_ms.value,
        nearest_s=first.planned if first.standing == MISSED else None,
    )


def _day(scenario: Scenario, catalog: Catalog, group_id: str) -> tuple[float, ...]:
    """Return the share of the busiest hour's users in each hour of the busiest day, UTC."""
    loads = max((week[group_id].loads for week in weeks(scenario, catalog).values()), key=np.max)
    most = float(loads.max())
    if most <= 0:
        return (1.0,) * 24
    first = int(np.argmax(loads)) // 96 * 96
    return tuple((loads[first : first + 96].reshape(24, 4).mean(axis=1) / most).tolist())


@dataclass(frozen=True)
class ServingWeek:
    """Requests of the users of one model and what its replicas carry, in each quarter of an hour of a week, UTC, Monday first."""

    group: str
    per_second: np.ndarray
    carried_per_second: np.ndarray
    """Most requests a second for which the replicas that run then keep the promises, as planned."""
    tokens_out: float
    stay_s: float
    """Time of a request at the pace of the peak: requests a second times this are concurrent ones."""


def serving_weeks(plan: Plan) -> tuple[ServingWeek, ...]:
    """Return the week in which most GPUs are needed, for each group that language models serve."""
    found, season = [], week_demand(plan)[0].season
    asking, running = weeks(plan.scenario, plan.catalog)[season], weeks(plan.sized, plan.catalog)[season]
    for serving in (
        serving for part in plan.parts for serving in part.llm.serving.values() if serving.replicas
    ):
        loads, replicas = asking[serving.id].loads, np.rint(running[serving.id].loads)
        first_s, tokens_per_s = (target.planned for target in serving.targets)
        of = replace(traffic_of(plan, serving.id), first_token_s=first_s)
        most = {
            n: replace(of, replicas=int(n)).most_per_second(tokens_per_s) if n else 0.0
            for n in {*replicas.tolist()}
        }
        rates = of.per_second * (loads / loads.max() if loads.max() > 0 else np.ones_like(loads))
        carried, stay_s = np.array([most[n] for n in replicas.tolist()]), serving.requests / of.per_second
        found.append(ServingWeek(serving.id, rates, carried, float(serving.asks["tokens_out"]), stay_s))
    return tuple(found)


def played(of: GroupTraffic, *, replicas: int = 0, day: bool = False, count: int = 50_000) -> Simulated:
    """Simulate the same in the busiest hour or over the whole day, with the planned replicas by default."""
    rates = of.day_per_second if day and len(set(of.day_per_second)) > 1 else [of.per_second]
    several, first = replicas or of.replicas, of.first_token_s
    return simulate(
        of.pace, of.traffic, rates_per_second=rates, replicas=several, first_token_s=first, count=count
    )


def replayed(
    of: GroupTraffic, time_s: np.ndarray, tokens_in: np.ndarray, tokens_out: np.ndarray
) -> Simulated:
    """Simulate the requests of a trace as they came, on the planned replicas; ``by_part_p95_s`` is by hour, UTC."""
    replicas = max(1, of.replicas)
    run = play(of.pace, time_s - time_s[0], tokens_in=tokens_in, tokens_out=tokens_out, replicas=replicas)
    hours = (time_s // 3600 % 24).astype(float)
    return summary([run], [hours], rates=24, replicas=max(1, of.replicas), first_token_s=of.first_token_s)
