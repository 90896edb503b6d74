"""Delivering: the files of a design made in a process of its own, so that no session carries their libraries.

They come back through the output of that process, not through a folder: nothing is left when a page closes meanwhile.
"""

from __future__ import annotations

import base64
from collections.abc import Callable

from gpuplan.app.running import Runner
from gpuplan.plan import Plan
from gpuplan.report import KINDS, file_stem, zipped


class Delivering:
    """One kind of file, or all of them, made for the browser to keep; ``on_change`` is called when there is something to show."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.runner = Runner(self._changed)
        self.kind = ""
        """What is being made or was made last; empty for everything."""
        self._on_change = on_change
        self._stem = ""
        self._ready: tuple[str, bytes] | None = None

    def start(self, plan: Plan, kind: str = "", folder: str = "") -> None:
        """Make one kind of file of a design, or all; ``folder`` has catalog rows of the user."""
        self.cancel()
        self.kind, self._stem = kind if kind in KINDS else "", file_stem(plan.scenario.name)
        only = ["--only", self.kind] if self.kind else []
        catalog = ["--catalog", folder] if folder else []
        arguments = ["report", "-", "--to", "-", "--progress", *only, *catalog]
        self.runner.start(arguments, plan.scenario.to_yaml().encode())

    def cancel(self) -> None:
        """Make nothing of it."""
        self.runner.cancel()
        self._ready = None

    def take(self) -> tuple[str, bytes] | None:
        """Name and content of what is ready, once."""
        ready, self._ready = self._ready, None
        return ready

    def _changed(self) -> None:
        if self.runner.state == "done" and self.runner.found:
            made = self.runner.found.pop()["files"]
            files = {name: base64.b64decode(content) for name, content in made.items()}
            if len(files) == 1:
                self._ready = next(iter(files.items()))
            else:
                suffix = f"-{self.kind}" if self.kind else ""
                self._ready = f"{self._stem}{suffix}.zip", zipped(files)
        self._on_change()
