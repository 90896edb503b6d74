"""Contents of a trace: jobs with GPUs, samples of their activity, or requests to a language model, and omissions.

Jobs give the GPUs allocated, samples the activity of the chips, requests the prompts: three figures, in three records.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gpuplan.scenario import Problem

ALL = "all"
"""The group of all jobs or samples where no column names one."""


class TraceError(ValueError):
    """A file that cannot be used. ``problems`` names each line, its content and what is expected."""

    def __init__(self, *problems: Problem) -> None:
        self.problems = problems
        super().__init__(
            "\n".join(
                ": ".join(part for part in (p.path, p.value, p.message) if part) if p.path else p.message
                for p in problems
            )
        )


def refusal(message: str, *, where: str = "", value: str = "") -> TraceError:
    """Return the refusal of a file for one reason."""
    return TraceError(Problem(where, value, message))


class Skipped(NamedTuple):
    """Rows left out for one reason."""

    reason: str
    rows: int
    first_line: int
    example: str


@dataclass(frozen=True, slots=True)
class Reading:
    """Account of what could be read from a file."""

    format: str
    rows: int
    """Rows of data, header not counted; for an answer of Prometheus, samples."""
    used: int
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...]
    columns: Mapping[str, str]
    """Value -> name of the column that contains it."""
    time_zone: str
    """Time zone of the times that state none."""


@dataclass(frozen=True, slots=True, eq=False)
class Jobs:
    """Jobs with GPUs: one element of each array for each job, times in seconds since 1970, UTC."""

    submit_s: np.ndarray
    start_s: np.ndarray
    """The same as ``submit_s`` where starts are not known."""
    has_start: bool
    """True if submit and start are both known, so that waits can be computed."""
    duration_s: np.ndarray
    gpus: np.ndarray
    group: np.ndarray
    """Index into ``groups``."""
    groups: tuple[str, ...]
    user: np.ndarray
    """A number for each user, 0 for all if users are not known."""
    users: int
    """Distinct users, 0 if they are not known."""
    reading: Reading
    period_s: tuple[float, float] | None = None
    """Begin and end of the days to which the trace was cut, where it was."""

    def where(self, chosen: np.ndarray) -> Jobs:
        """Return some of the jobs, by a mask or by their numbers; groups keep their numbers."""
        users = len(np.unique(self.user[chosen])) if self.users else 0
        return replace(
            self,
            submit_s=self.submit_s[chosen],
            start_s=self.start_s[chosen],
            duration_s=self.duration_s[chosen],
            gpus=self.gpus[chosen],
            group=self.group[chosen],
            user=self.user[chosen],
            users=users,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Samples of how busy the chip was: one element of each array for each sample."""

    time_s: np.ndarray
    gpu: np.ndarray
    """Index into ``gpus``."""
    group: np.ndarray
    """Index into ``groups``."""
    percent: np.ndarray
    weight: np.ndarray
    """Share of the GPU sampled: 1, or for a MIG instance its compute slices over those of the GPU."""
    groups: tuple[str, ...]
    gpus: tuple[str, ...]
    metric: str
    reading: Reading
    quantity: str = "activity"
    """Quantity sampled; never the share of GPUs allocated, which is another figure."""


@dataclass(frozen=True, slots=True, eq=False)
class Requests:
    """Requests to a language model: one element of each array for each request, in the order in which they came."""

    time_s: np.ndarray
    tokens_in: np.ndarray
    tokens_out: np.ndarray
    group: np.ndarray
    """Index into ``groups``: the model or application."""
    groups: tuple[str, ...]
    reading: Reading

    def where(self, chosen: np.ndarray) -> Requests:
        """Return some of the requests, by a mask; groups keep their numbers."""
        return replace(
            self,
            time_s=self.time_s[chosen],
            tokens_in=self.tokens_in[chosen],
            tokens_out=self.tokens_out[chosen],
            group=self.group[chosen],
        )
