"""What a simulation and a replay refuse."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gpuplan.simulation.arrivals import Floats, Stream

POLICIES = ("pack", "spread")
MOST_GPUS = 1_000_000
MOST_STREAMS = 1 << 16


def _check(field: str, value: object, allowed: bool, what: str) -> None:
    if not allowed:
        raise ValueError(f"{field}: {value!r} is not allowed; {what} is")


def _check_all(field: str, values: Floats, allowed: NDArray[np.bool_], what: str) -> None:
    if not allowed.all():
        first = int(np.argmin(allowed))
        _check(f"{field}[{first}]", float(values[first]), False, what)


def _check_cluster(hosts: Sequence[int], policy: str, longest_wait_h: float) -> None:
    _check("hosts", list(hosts)[:3], len(hosts) > 0 and min(hosts) >= 0 < max(hosts), "a host with a GPU")
    _check("hosts", sum(hosts), sum(hosts) <= MOST_GPUS, f"at most {MOST_GPUS} GPUs in all")
    _check("policy", policy, policy in POLICIES, " or ".join(POLICIES))
    _check("longest_wait_h", longest_wait_h, longest_wait_h >= 0, "0 or more hours")


def _check_streams(streams: Sequence[Stream]) -> None:
    _check("streams", len(streams), 0 < len(streams) < MOST_STREAMS, f"1 to {MOST_STREAMS - 1} streams")
    for s in streams:
        at = f"stream {s.name!r}: "
        share = 0 < s.gpus < 1
        whole, many = s.gpus >= 1 and s.gpus % 1 == 0, share and s.per_gpu > 0
        _check(at + "gpus", s.gpus, share or whole, "a fraction or a whole number")
        _check(at + "vms", s.vms, s.vms >= 1, "1 or more")
        _check(at + "per_gpu", s.per_gpu, s.per_gpu == 0 or many, "0, or for a fraction 1 or more")
        _check(at + "people", s.people, s.people >= 0, "0 or more")
        _check(at + "duration_h", s.duration_h, 0 < s.duration_h < math.inf, "above 0 hours")
        _check(at + "cv", s.cv, 0 <= s.cv < math.inf, "0 or more")
        _check(at + "rates_per_h", (), len(s.rates_per_h) > 0, "one rate or more")
        most, what = (1.0, "a chance from 0 to 1") if s.people else (1e9, "0 to 1e9 requests per hour")
        for rate in s.rates_per_h:
            _check(at + "rates_per_h", rate, 0 <= rate <= most, what)


def _check_jobs(arrival: Floats, duration: Floats, size: Floats) -> None:
    if not (arrival.ndim == 1 and arrival.shape == duration.shape == size.shape):
        raise ValueError(
            f"arrival_h, duration_h and gpus: {arrival.shape}, {duration.shape} and {size.shape} values; "
            "one row each of the same length is needed"
        )
    _check_all("arrival_h", arrival, np.isfinite(arrival), "a finite number")
    _check_all("duration_h", duration, np.isfinite(duration) & (duration >= 0), "0 or more hours")
    _check_all("gpus", size, np.isfinite(size) & (size > 0), "above 0")
    whole = (size < 1) | (size == np.floor(size))
    _check_all("gpus", size, whole, "a whole number, or a fraction of one GPU")


def _check_room(size: Floats, hosts: Sequence[int], split: bool) -> None:
    """Refuse jobs that can never start; with ``split`` they may be on several of the largest hosts."""
    largest = max(hosts)
    never = size > (largest * list(hosts).count(largest) if split else largest)
    if never.any():
        raise ValueError(
            f"gpus: {int(never.sum())} of {len(size)} jobs ask for up to {size[never].max():g} GPUs; they can never "
            f"start on {len(hosts)} hosts of at most {largest} GPUs{'' if split else ' without split'}"
        )
