"""Jobs that train over a network, with which its models are tested, and what they refuse."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import wraps
from typing import Any, get_type_hints

import pytest
from hypothesis import strategies as st

from gpuplan.models.network.collectives import ALGORITHMS
from gpuplan.models.network.links import TRANSPORTS
from gpuplan.plan.trail import call

SLACK = 1 + 1e-12

NETWORK = {
    "link_gbit_s": st.floats(0.1, 800),
    "transport": st.sampled_from(TRANSPORTS),
    "tcp_gbit_s": st.floats(0.1, 100),
    "mtu_bytes": st.integers(576, 9216),
}

HOSTS = {
    "gradient_mb": st.floats(1, 10_000),
    "hosts": st.integers(1, 512),
    "gpus_per_host": st.integers(1, 16),
}

JOBS = st.fixed_dictionaries({**HOSTS, **NETWORK, "algorithm": st.sampled_from(ALGORITHMS)})

COMPUTE = st.floats(0.001, 100)


@st.composite
def jobs_with_servers(draw: st.DrawFn) -> dict[str, Any]:
    job = draw(st.fixed_dictionaries({**HOSTS, **NETWORK}))
    job["largest_variable_mb"] = job["gradient_mb"] * draw(st.floats(0.001, 1))
    job["workers_per_host"] = draw(st.none() | st.integers(1, job["gpus_per_host"]))
    job["servers"] = draw(st.none() | st.integers(1, 1000))
    job |= {"partitioned": draw(st.booleans()), "late_share": draw(st.floats(0, 1))}
    return job


GOOD: dict[str, Any] = {"gradient_mb": 100, "hosts": 4, "gpus_per_host": 4, "link_gbit_s": 10}

NETWORK_FAULTS = [
    ("hosts", 0),
    ("gpus_per_host", 0),
    ("link_gbit_s", 0),
    ("tcp_gbit_s", -1),
    ("usable_share", 2),
    ("mtu_bytes", 100),
    ("transport", "smoke"),
]

SHARE_FAULTS = [
    ("compute_s", 0),
    ("compute_s", -1),
    ("exposed_share", -0.1),
    ("exposed_share", 1.1),
    ("overlap_share", -0.1),
    ("straggler_share", -0.1),
]

CLEAN: dict[str, Any] = {"transport": "roce", "usable_share": 1, "step_latency_us": 0}


def flat(function: Callable[..., float]) -> Callable[..., float]:
    """A model that takes the fields of its records by their names, as the trail gives them."""

    @wraps(function)
    def called(*first: Any, **inputs: Any) -> float:
        return call(function, dict(zip(inspect.signature(function).parameters, first, strict=False)) | inputs)

    return called


def numbers_of(taker: Callable[..., Any]) -> Iterator[str]:
    """The numbers that a model takes, those of its records among them."""
    for name, kind in get_type_hints(taker).items():
        if isinstance(kind, type) and is_dataclass(kind):
            yield from numbers_of(kind)
        elif kind in (float, int, float | None, int | None) and name != "return":
            yield name


def refuses(function: Callable[..., float], inputs: dict[str, Any], field: str, value: object) -> None:
    """The message names the field, its value and what is allowed."""
    named = rf"\b{field}( is)? {re.escape(repr(value))}.* (must be|may be) "
    with pytest.raises(ValueError, match=named):
        function(inputs.pop(next(iter(inputs))), **inputs)
