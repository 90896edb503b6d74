"""Running: a long command of gpuplan in a process of its own, so that the page never waits for it.

The command prints one line of JSON for each step done. Cancelling ends the process; its memory goes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

NICE = 10
"""Long commands give way to every open page, whosever it is."""


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The event loop of this thread, which a kernel has; None in a plain script."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class Runner:
    """One command at a time; ``on_change`` is called in the caller's event loop when there is something to show."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        self.state = "idle"
        """idle, running, done, failed or cancelled."""
        self.done = 0.0
        """Share of the work done, 0 to 1."""
        self.step = ""
        """What is being done, in words."""
        self.found: list[dict[str, Any]] = []
        """Lines that hold more than progress."""
        self.error = ""
        self._on_change = on_change
        self._process: subprocess.Popen[bytes] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def start(self, arguments: Sequence[str], given: bytes = b"") -> None:
        """Run ``gpuplan`` with these arguments and this input; one that still runs is ended first."""
        self.clear()
        self.state = "running"
        self._loop = running_loop()
        process = subprocess.Popen(
            [sys.executable, "-m", "gpuplan.cli", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        if hasattr(os, "setpriority"):
            with contextlib.suppress(OSError):  # it has ended already
                os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        self._process = process
        threading.Thread(target=self._follow, args=(process, given), daemon=True).start()
        self._on_change()

    def cancel(self) -> None:
        """End the command, if one runs; what it found so far is kept."""
        process, self._process = self._process, None
        if process is not None and process.poll() is None:
            process.kill()
        if self.state == "running":
            self.state = "cancelled"
            self._on_change()

    def clear(self) -> None:
        """Forget what was found."""
        self.cancel()
        self.state, self.done, self.step, self.found, self.error = "idle", 0.0, "", [], ""

    def _follow(self, process: subprocess.Popen[bytes], given: bytes) -> None:
        """In a thread: pass the input, read the lines, tell the loop."""
        assert process.stdin and process.stdout and process.stderr
        complaints: list[bytes] = []
        errors = threading.Thread(target=lambda: complaints.append(process.stderr.read()), daemon=True)  # type: ignore[union-attr]
        errors.start()
        try:
            process.stdin.write(given)
            process.stdin.close()
        except OSError:
            pass  # it ended before it read everything; its exit code says why
        for line in process.stdout:
            if line.endswith(b"\n"):  # else it was killed in the middle of it
                self._tell(process, json.loads(line))
        code = process.wait()
        errors.join()
        process.stdout.close()
        process.stderr.close()
        self._tell(process, {"exit": code, "error": b"".join(complaints).decode(errors="replace").strip()})

    def _tell(self, process: subprocess.Popen[bytes], line: dict[str, Any]) -> None:
        if self._loop is None:
            self._take(process, line)
        else:
            try:
                self._loop.call_soon_threadsafe(self._take, process, line)
            except RuntimeError:
                process.kill()  # the loop is closed: nobody waits any more

    def _take(self, process: subprocess.Popen[bytes], line: dict[str, Any]) -> None:
        if process is not self._process:
            return  # of a command that was cancelled since
        if "exit" in line:
            self._process = None
            self.state = "failed" if line["exit"] else "done"
            if line["exit"]:
                self.error = line["error"] or "It ended without saying why."
        else:
            self.done = float(line.get("done", self.done))
            self.step = str(line.get("step", self.step))
            if set(line) - {"done", "requests", "step"}:
                self.found.append(line)
        self._on_change()
