"""Auditing: a file of jobs or samples that the browser sends, read and replayed in the background.

The file stays in a temporary folder of this session, which is removed with it; nothing leaves the machine.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpuplan.app.running import Runner
from gpuplan.scenario import Scenario, from_dict

SCRATCH = "GPUPLAN_SCRATCH"
"""Environment variable with the folder for files of this session, which the server removes however the session ends."""
MOST_BYTES = 500_000_000
CHUNK_BYTES = 4_000_000
"""The browser sends a file in pieces of this size, the next one when the last has arrived."""


class Auditing:
    """One file at a time: its upload, its audit, and the replay of its jobs on a design."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.runner = Runner(on_change)
        self.name = ""
        self.size = 0
        self.got = 0
        self.error = ""
        self.format = "auto"
        self.time_zone = "UTC"
        self.columns = ""
        self.replayed: Scenario | None = None
        """The design on whose hosts the jobs were replayed."""
        self._on_change = on_change
        self._folder: Path | None = None
        self._before: list[dict[str, Any]] = []

    @property
    def path(self) -> Path:
        """Where the file is kept; the name is the user's, as far as a file may be called so."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="gpuplan-audit-", dir=os.environ.get(SCRATCH)))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / (re.sub(r"[^\w.-]+", "_", self.name)[-80:] or "file")

    @property
    def complete(self) -> bool:
        """Whether a whole file is there."""
        return bool(self.name) and self.got == self.size

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What was found; what was found before, until there is something new, or if a replay came to nothing."""
        found, state = self.runner.found, self.runner.state
        ended = state in ("idle", "done") or (state == "failed" and self.replayed is None)
        return found if ended or any("audit" in line for line in found) else self._before

    @property
    def found(self) -> dict[str, Any] | None:
        """The audit as plain data, if there is one."""
        return next((line["audit"] for line in reversed(self.lines) if "audit" in line), None)

    def receive(self, name: str, size: int, at: int, piece: bytes) -> None:
        """Take a piece of a file; the last one starts the audit."""
        if at == 0:
            self.forget()
            self.name, self.size = name[:200], size
            if not 0 < size <= MOST_BYTES:
                self.error = (
                    f"{self.name[:80]} is empty."
                    if size == 0
                    else f"{self.name[:80]} has {size:,} bytes; here a file may have {MOST_BYTES:,}. "
                    "'gpuplan audit FILE' in a shell reads larger ones."
                )
                self.name = ""
                self._on_change()
                return
        if name[:200] != self.name or at != self.got:
            return  # a piece of a file that was given up
        with self.path.open("ab" if at else "wb") as file:
            file.write(piece)
        self.got += len(piece)
        self._on_change()

    def option(self, what: str, value: str) -> None:
        """Set how the file is read: ``format``, ``time_zone`` or ``columns``."""
        if what in ("format", "time_zone", "columns"):
            setattr(self, what, value.strip())
            self._on_change()

    def start(self, base: Scenario, *, replay: bool = False, folder: str = "") -> None:
        """Audit the file; with ``replay`` also run its jobs on the hosts of ``base``."""
        if not self.complete:
            return
        self._before = [
            line | {"audit": line["audit"] | {"comparison": None}} for line in self.lines if "audit" in line
        ]
        self.error, self.replayed = "", base if replay else None
        columns = [text.strip() for text in self.columns.split(",") if text.strip()]
        arguments = ["audit", str(self.path), "--progress", f"--format={self.format or 'auto'}"]
        arguments += [f"--time-zone={self.time_zone or 'UTC'}", "--on" if replay else "--base", "-"]
        arguments += [f"--column={column}" for column in columns]
        if folder:
            arguments += ["--catalog", folder]
        self.runner.start(arguments, base.to_yaml().encode())

    def suggested(self, current: Scenario) -> Scenario | None:
        """The design with the groups and the peakedness of the audit in place of its own, if jobs were audited."""
        line = next((line for line in reversed(self.lines) if line.get("scenario")), None)
        if line is None:
            return None
        made = from_dict(line["scenario"])
        kept = [o for o in current.origins if not o[0].startswith(("groups", "demand"))]
        new = [o for o in made.origins if o[0].startswith(("groups", "demand"))]
        return replace(current, groups=made.groups, demand=made.demand, origins=(*kept, *new))

    def forget(self) -> None:
        """End what runs and remove the file."""
        self.runner.clear()
        if self.name and self._folder is not None:
            self.path.unlink(missing_ok=True)
        self.name, self.size, self.got, self.error, self.replayed = "", 0, 0, "", None
        self._before = []
        self._on_change()
