"""A test waits for a state, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LIMIT_S = 120
"""How long a state may take to come on a machine with other work: one that never comes is an error, a late one is not."""
LONG_S = 600
"""The same of work in the background, which gives way to all else that the machine does."""


def soon(true: Callable[[], T], why: str = "it never came to that", limit_s: float = LIMIT_S) -> T:
    """Wait until something is true; what it is then."""
    end = time.monotonic() + limit_s
    while not (found := true()):
        assert time.monotonic() < end, why
        time.sleep(0.02)
    return found
