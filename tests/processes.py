"""The processes of this machine, as tests look at them (Linux)."""

from __future__ import annotations

import contextlib
from pathlib import Path


def children_of(parent: int) -> list[int]:
    """Process ids of the children of a process that run."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, whose = status.read_text().rpartition(")")[2].split()[:2]
            if int(whose) == parent and state != "Z":
                found.append(int(status.parent.name))
    return found


def descendants(parent: int) -> list[int]:
    """Children of a process, their children, and so on."""
    found = [parent]
    for each in found:
        found += children_of(each)
    return found[1:]


def command_of(pid: int) -> list[str]:
    """Command of a process; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return []


def variables_of(pid: int) -> list[str]:
    """Variables that a process was started with; empty if it has ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/environ").read_text(errors="replace").split("\0")
    return []
