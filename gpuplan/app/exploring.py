"""Exploring: many designs planned in the background, or one at each end of its inputs, and for which design that was."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from gpuplan.app import running
from gpuplan.app.running import Runner
from gpuplan.plan import Plan

T = TypeVar("T")


class Exploring:
    """One command of gpuplan that plans a design many times.

    Parameters
    ----------
    command : str
        ``explore`` or ``sensitivity``.
    key : str
        Name of what it finds in its last line.
    on_change : callable
        Called when there is something to show.
    """

    def __init__(self, command: str, key: str, on_change: Callable[[], None]) -> None:
        self.runner = Runner(on_change)
        self.plan: Plan | None = None
        """The design it was asked about."""
        self._command, self._key = command, key
        self._on_change = on_change
        self._worked: dict[str, Any] = {}

    def start(self, plan: Plan, folder: str = "") -> None:
        """Run the command on a design; ``folder`` has catalog rows of the user."""
        self.plan = plan
        self._worked = {}
        catalog = ["--catalog", folder] if folder else []
        arguments = [self._command, "-", "--progress", *catalog]
        self.runner.start(arguments, plan.scenario.to_yaml().encode())

    def forget(self) -> None:
        """End what runs, and give up what was found."""
        self.runner.clear()
        self.plan = None
        self._worked = {}

    @property
    def found(self) -> dict[str, Any] | None:
        """What it found as plain data, if it has ended well."""
        return next((line[self._key] for line in self.runner.found if self._key in line), None)

    def once(self, key: str, work: Callable[[], T]) -> T:
        """What ``work`` gives for the design it was asked about, worked out when it is first asked for."""
        if key not in self._worked:
            self._worked[key] = work()
        found: T = self._worked[key]
        return found

    def later(self, key: str, work: Callable[[], T]) -> T | None:
        """The same for what takes so long that the page must not wait: worked out beside it, and None until it is there."""
        loop = running.running_loop()
        if loop is None:
            return self.once(key, work)
        if key not in self._worked:
            worked = self._worked
            worked[key] = None

            def keep(done: asyncio.Future[T]) -> None:
                if worked is self._worked:
                    worked[key] = done.result()
                    self._on_change()

            loop.run_in_executor(None, work).add_done_callback(keep)
        found: T | None = self._worked[key]
        return found
