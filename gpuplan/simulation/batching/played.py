"""Requests as they came, played on replicas behind a balancer."""

import heapq
import math
from dataclasses import dataclass, replace

import numpy as np

from gpuplan.models.llm.pace import Floats, Pace
from gpuplan.simulation.batching.replica import _Replica, _Work
from gpuplan.units import above_zero, at_least_one


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Result for each request, in the order of arrival [s]."""

    arrival_s: Floats
    let_in_s: Floats
    first_s: Floats
    done_s: Floats
    found: Floats
    """Number of requests in all replicas at each arrival."""
    answers: Floats
    tokens_read: float
    tokens_made: float
    busy_s: float
    """Time in which replicas worked until the last request came, added up."""

    def after(self, requests: int) -> "Played":
        """The same without the first requests."""
        columns = ("arrival_s", "let_in_s", "first_s", "done_s", "found", "answers")
        return replace(self, **{name: getattr(self, name)[requests:] for name in columns})


def play(
    pace: Pace, arrival_s: Floats, *, tokens_in: Floats, tokens_out: Floats, replicas: int = 1
) -> Played:
    """Requests as they came, played on some replicas.

    Parameters:
        arrival_s (array of float): When each request comes, in order. [s]
        tokens_in (array of float): Tokens of its prompt. [-]
        tokens_out (array of float): Tokens of its answer, at least 1. [-]
        replicas: Replicas behind the balancer. [-]

    Exact for the rules that the module states; steps and prompts are fitted to published runs, waits are not, and engines add some
    of their own. Engines also let more requests in than they may be able to finish and take some back;
    here each reserves its whole length, so the cache is never short. The first token comes with the end of the prompt.
    [orca-2022]_ [sarathi-serve-2024]_

    >>> from gpuplan.models.llm.pace import pace_of
    >>> replica = pace_of(lambda n, context: 10, lambda tokens: 0.1 * tokens, requests=64, context_tokens=100, longest_tokens=1000)
    >>> one = play(replica, np.array([0.0]), tokens_in=np.array([1000.0]), tokens_out=np.array([11.0]))
    >>> one.first_s.round(3).item(), one.done_s.round(3).item()
    (0.1, 0.2)
    """
    at_least_one(replicas=replicas)
    if len(arrival_s) == 0 or not len(arrival_s) == len(tokens_in) == len(tokens_out):
        raise ValueError("each request needs an arrival, tokens in and tokens out, and there is at least one")
    above_zero(tokens_in=float(np.min(tokens_in)), tokens_out=float(np.min(tokens_out)))
    if np.any(np.diff(arrival_s) < 0):
        raise ValueError("arrival_s must be in order")
    work = _Work(pace, tokens_in, np.maximum(1, np.round(tokens_out)))
    run = [_Replica(pace, work) for _ in range(replicas)]
    loads = [0] * replicas
    ends: list[tuple[float, int, int]] = []
    ahead = np.zeros(len(arrival_s))
    out = 0

    def take(until: float) -> int:
        done = 0
        while ends and ends[0][0] <= until:
            end, n, version = heapq.heappop(ends)
            replica = run[n]
            if version != replica.version:
                continue
            finished = replica.finish()
            loads[n] -= finished
            done += finished
            if replica.begin(end):
                heapq.heappush(ends, (replica.end, n, replica.version))
        return done

    for i, now in enumerate(arrival_s.tolist()):
        out -= take(now)
        ahead[i] = out
        n = loads.index(min(loads))
        if run[n].arrive(i, now):
            heapq.heappush(ends, (run[n].end, n, run[n].version))
        loads[n] += 1
        out += 1
    busy = sum(replica.busy_until(float(arrival_s[-1])) for replica in run)
    take(math.inf)
    return Played(
        arrival_s=arrival_s,
        let_in_s=np.array(work.let_in),
        first_s=np.array(work.first) + pace.wait_s,
        done_s=np.array(work.done) + pace.wait_s,
        found=ahead,
        answers=np.array(work.tokens_out, dtype=float),
        tokens_read=sum(replica.tokens_read for replica in run),
        tokens_made=float(sum(replica.tokens_made for replica in run)),
        busy_s=busy,
    )
