"""Message: something to know about a plan, and how serious it is."""

from __future__ import annotations

from dataclasses import dataclass

LEVELS = ("stop", "warn", "note")


@dataclass(frozen=True, slots=True)
class Message:
    """Something to know about a plan. ``level`` is stop, warn or note; ``change`` says what to change, ``path`` where."""

    code: str
    level: str
    text: str
    change: str = ""
    path: str = ""
    sources: tuple[str, ...] = ()
    locator: str = ""
