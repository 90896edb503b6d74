"""Delivering: the files of a design made in a process of its own, so that no session carries their libraries."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

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
        self._stem, self._folder = "", ""
        self._ready: tuple[str, bytes] | None = None

    def start(self, plan: Plan, kind: str = "", folder: str = "") -> None:
        """Make one kind of file of a design, or all; ``folder`` has catalog rows of the user."""
        self._forget()
        self.kind, self._stem = kind if kind in KINDS else "", file_stem(plan.scenario.name)
        self._folder = tempfile.mkdtemp(prefix="gpuplan-deliver-")
        only = ["--only", self.kind] if self.kind else []
        catalog = ["--catalog", folder] if folder else []
        arguments = ["report", "-", "--to", self._folder, "--progress", *only, *catalog]
        self.runner.start(arguments, plan.scenario.to_yaml().encode())

    def cancel(self) -> None:
        """Make nothing of it."""
        self.runner.cancel()
        self._forget()

    def take(self) -> tuple[str, bytes] | None:
        """Name and content of what is ready, once."""
        ready, self._ready = self._ready, None
        return ready

    def _changed(self) -> None:
        if self.runner.state == "done" and self._folder:
            root = Path(self._folder)
            files = {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}
            if len(files) == 1:
                self._ready = next(iter(files.items()))
            else:
                suffix = f"-{self.kind}" if self.kind else ""
                self._ready = f"{self._stem}{suffix}.zip", zipped(files)
        if self.runner.state in ("done", "failed"):
            self._forget(keep=True)
        self._on_change()

    def _forget(self, keep: bool = False) -> None:
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""
        if not keep:
            self._ready = None
