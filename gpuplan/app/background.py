"""Work in the background: a long command of gpuplan in a process of its own, which prints JSON for each step."""

import asyncio
import contextlib
import json
import logging
import os
import re
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gpuplan.app import idle_work
from gpuplan.plan import Plan
from gpuplan.scenario import BETWEEN, Scenario
from gpuplan.wording import said

T = TypeVar("T")
log = logging.getLogger("gpuplan.app")
PATH = re.compile(r"(?<![\w/])(/[\w.~+-]+){2,}|\b[A-Za-z]:\\")
BAD_INPUT = 2
"""Exit code of a command that refuses what it was given, in words for a user."""

UNASKED_S = 1.0
"""Idle time before a command is run that no user asked for [s]: it takes seconds."""
PACED_S = 2.0
"""Time after a command's first line from which its pace is known."""
AROUND = 2
"""Fewer and additional hosts that are simulated beside those of the plan."""


class Runner:
    """One command at a time; ``on_change`` is called in the caller's event loop when there is something to show."""

    def __init__(self, on_change: Callable[[], None], folder: str = "") -> None:
        self.state = "idle"
        """idle, running, done, failed or cancelled."""
        self.done = 0.0
        self.step = ""
        self.started = False
        """True once the work has begun; until then it is only being prepared."""
        self.left_s = 0.0
        """Remaining time at the pace so far [s]; 0 while unknown."""
        self.found: list[dict[str, Any]] = []
        self.error = ""
        self._catalog = ["--catalog", folder] if folder else []
        """Options for a folder with catalog rows of the user's own."""
        self._on_change = on_change
        self._process: subprocess.Popen[bytes] | None = None
        self._began = (0.0, 0.0)
        """Time of the first line, and the share done by then."""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        return self.state == "running" or self._due is not None

    def once_quiet(self, start: Callable[[], None]) -> None:
        """Call ``start`` once nothing changes: of calls that follow quickly, the last. Only where an event loop runs."""
        self._end()
        self.state = "idle"
        if (loop := idle_work.running_loop()) is not None:
            self._due = loop.call_later(UNASKED_S, start)

    def start(self, arguments: Sequence[str], given: bytes = b"") -> None:
        """Run ``gpuplan`` with these arguments and this input; one that still runs is ended first."""
        self.clear()
        self.state = "running"
        self._loop = idle_work.running_loop()
        command, pipe = [sys.executable, "-m", "gpuplan.cli", *arguments], subprocess.PIPE
        process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        if hasattr(os, "setpriority"):
            with contextlib.suppress(OSError):  # it has ended already
                os.setpriority(os.PRIO_PROCESS, process.pid, idle_work.NICE)
        self._process = process
        threading.Thread(target=self._follow, args=(process, given), daemon=True).start()
        self._on_change()

    def start_on(self, scenarios: Scenario | Sequence[Scenario], *arguments: str, last: str = "") -> None:
        """Run ``gpuplan`` on a design, or on one and those beside it; ``last`` follows them in the input."""
        designs = [scenarios] if isinstance(scenarios, Scenario) else scenarios
        texts = BETWEEN.join([*(design.to_yaml() for design in designs), *filter(None, [last])])
        self.start([*arguments, *self._catalog], texts.encode())

    def cancel(self) -> None:
        """End the command, if one runs; results found so far are kept."""
        self._end()
        if self.state == "running":
            self.state = "cancelled"
            self._on_change()

    def _end(self) -> None:
        if self._due is not None:
            self._due.cancel()
        process, self._process, self._due = self._process, None, None
        if process is not None and process.poll() is None:
            process.kill()

    def clear(self) -> None:
        self.cancel()
        self.state, self.done, self.step, self.found, self.error = "idle", 0.0, "", [], ""
        self.started, self.left_s = False, 0.0

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
            if not line.endswith(b"\n"):
                break  # it was killed in the middle of it
            try:
                found = json.loads(line)
            except ValueError:
                found = None
            if isinstance(found, dict):
                self._tell(process, found)
            else:
                complaints.append(line)  # what a library printed
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
            if line["exit"]:
                self.error = _of_command(line["exit"], line["error"])
            self.state = "failed" if line["exit"] else "done"
        else:
            self.done = float(line.get("done", self.done))
            self._pace(time.monotonic())
            self.step = str(line.get("step", self.step))
            if set(line) - {"done", "requests", "step"}:
                self.found.append(line)
        self._on_change()

    def _pace(self, now: float) -> None:
        """Estimate the remaining time from the share done since the first line."""
        if not self.started:
            self.started, self._began = True, (now, self.done)
        took, more = now - self._began[0], self.done - self._began[1]
        self.left_s = took * (1 - self.done) / more if more > 0 and took >= PACED_S else 0.0


def _of_command(code: int, text: str) -> str:
    """Return a refusal in its own words, else a reference to the log: the text may name files of this machine."""
    if code == BAD_INPUT and not text.startswith("usage:") and not PATH.search(text):
        return text or said("screen.ended")
    reference = new_reference()
    log.error("[%s] A command ended with %d: %s", reference, code, text)
    return said("screen.did not work", reference=reference)


def new_reference() -> str:
    """Return a reference that the page shows and the log has."""
    return secrets.token_hex(4).upper()


class Simulating:
    """Simulations of one design with a few numbers of hosts."""

    def __init__(self, on_change: Callable[[], None], folder: str = "") -> None:
        self.runner = Runner(on_change, folder)
        self.scenario: Scenario | None = None
        self.when = ""

    def start(self, scenario: Scenario, when: str) -> None:
        """Simulate a design in its ``busiest`` hours or through its ``week``."""
        self.scenario, self.when = scenario, when
        around = ["--around", str(AROUND), "--when", when]
        self.runner.start_on(scenario, "demand", "-", "--simulate", "--progress", *around)

    def forget(self) -> None:
        self.runner.clear()
        self.scenario, self.when = None, ""

    @property
    def simulations(self) -> list[dict[str, Any]]:
        return [line["simulation"] for line in self.runner.found]


class Exploring:
    """A command that plans one design many times, ``explore``, ``solve``, ``boards`` or ``sensitivity``; ``key`` names its result."""

    def __init__(self, command: str, key: str, on_change: Callable[[], None], folder: str = "") -> None:
        self.runner = Runner(on_change, folder)
        self.plan: Plan | None = None
        self.command, self._key = command, key
        self._later = idle_work.Later(on_change)
        self.once = self._later.once

    def start(self, plan: Plan, *options: str) -> None:
        self.plan = plan
        self._later.forget()
        self.runner.start_on(plan.scenario, self.command, "-", "--progress", *options)

    def forget(self) -> None:
        self.runner.clear()
        self.plan = None
        self._later.forget()

    @property
    def found(self) -> dict[str, Any] | None:
        """The result; of a command that tells what it has so far, the last."""
        lines = reversed(self.runner.found)
        return next((line[self._key] for line in lines if self._key in line), None)

    @property
    def busy(self) -> bool:
        return self.runner.busy or self._later.busy

    def later(self, key: str, work: Callable[[Plan], T]) -> T | None:
        """Do the same for work that takes so long that the page must not wait."""
        return self._later.found(key, work, self.plan) if self.plan else None
