"""Random cases: all of them in `make nightly`, in each run a few that another day changes.

A case is a number below the total, drawn from a generator of its own: every run draws from the cases that the last night passed,
so that a day's choice finds nothing that only chance decides. `GPUPLAN_DAY=2026-11-28` repeats the choice of that day.
"""

from __future__ import annotations

import datetime
import os
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
NIGHTLY = os.environ.get("GPUPLAN_NIGHTLY") == "1"
"""Whether every case is tried."""
DAY = datetime.date.fromisoformat(
    os.environ.setdefault("GPUPLAN_DAY", datetime.datetime.now(datetime.UTC).date().isoformat())
)
"""The day that chooses the cases: that of the first process of a run, for all of its workers."""


def of_the_day(cases: Sequence[T], few: int, group: str = "") -> Sequence[T]:
    """About so many of the cases, as far apart as they can be, each once before any comes again; in the night all.

    A ``group`` takes its turns in an order of its own, so that a test which itself chooses by day has another choice each time.
    """
    apart = 1 if NIGHTLY else -(-len(cases) // few)
    round, turn = divmod(DAY.toordinal(), apart)
    if group:
        turn = random.Random(f"{group}.{round}").sample(range(apart), apart)[turn]
    return cases[turn::apart]


def cases(seed: int, total: int, few: int = 100) -> Iterator[random.Random]:
    """A generator of random numbers for each case of this run, which is the same whatever the other cases draw."""
    for number in of_the_day(range(total), few):
        yield random.Random(f"{seed}.{number}")


def shuffled(items: Iterable[T], group: Callable[[T], Any], seed: int) -> list[T]:
    """The items in random order, those of a group one after another: tests of a file share what is costly to make."""
    rng = random.Random(seed)
    groups: dict[Any, list[T]] = {}
    for item in items:
        groups.setdefault(group(item), []).append(item)
    orders = [rng.sample(members, len(members)) for members in groups.values()]
    return [item for order in rng.sample(orders, len(orders)) for item in order]


def often(count: int, least: int) -> bool:
    """Whether a situation comes at least so often in all cases; a day's few need not have it."""
    return not NIGHTLY or count >= least


def examples(total: int, few: int) -> int:
    """How many examples a run tries where they come in a fixed order: the few by day are the first of all."""
    return total if NIGHTLY else few
