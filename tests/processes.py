"""The processes of this machine, as tests look at them (Linux)."""

from __future__ import annotations

import contextlib
from pathlib import Path

THREADS = 15
"""Place of the number of threads in the status of a process, behind that of its parent."""


def _parents() -> dict[int, int]:
    """Each process that runs, and its parent."""
    found = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent, *more = status.read_text().rpartition(")")[2].split()
            if (
                state != "Z" or int(more[THREADS]) > 1
            ):  # one that is killed runs until its last thread has ended
                found[int(status.parent.name)] = int(parent)
    return found


def children_of(parent: int) -> list[int]:
    """Process ids of the children of a process that run."""
    return [pid for pid, whose in _parents().items() if whose == parent]


def descendants(parent: int) -> list[int]:
    """Children of a process, their children, and so on."""
    parents, found = _parents(), [parent]
    for each in found:
        found += [pid for pid, whose in parents.items() if whose == each]
    return found[1:]


def command_of(pid: int) -> list[str]:
    """Command of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


def variables_of(pid: int) -> list[str]:
    """Variables that a process was started with; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
    return []
