"""A test waits for a state, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
FOR_EVER_S = 1e12
"""More time than a test ever lets pass for a server whose clock it owns."""
LIMIT_S = 300
"""How long a state may take to come, however busy the machine: only a defect reaches it."""
LONG_S = 900
"""The same of work in the background, which gives way to all else that the machine does."""


def soon(
    true: Callable[[], T], why: str = "it never came to that", limit_s: float = LIMIT_S, pause_s: float = 0.02
) -> T:
    """Wait until something is true; what it is then."""
    end = time.monotonic() + limit_s
    while not (found := true()):
        assert time.monotonic() < end, why
        time.sleep(pause_s)
    return found
