"""Work between changes: long tasks, in a process of their own where sessions are forked, and collecting garbage.

In a thread, long work made a change of 40 ms take 150 to 340; Python would collect in the middle of a change.
"""

import asyncio
import contextlib
import gc
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from gpuplan.analysis.engines import end_with_parent
from gpuplan.catalog import load_catalog
from gpuplan.locales import locale_of, speaking
from gpuplan.plan import Plan, make_plan
from gpuplan.scenario import Scenario

T = TypeVar("T")

NICE = 10
"""Priority of long work: it gives way to every open page."""
QUIET_S = 0.3
"""Idle time before long work begins [s]: of keys that follow quickly, only the last counts."""
COLLECT_S = 0.15
"""Idle time before garbage is collected: a user rarely acts again so soon."""
ENOUGH = 20_000
"""New objects from which on garbage is collected: those of a handful of changes."""
AT_LAST = 400_000
"""Objects from which on Python collects by itself, idle or not."""

_process: ProcessPoolExecutor | None = None
_collecting: asyncio.TimerHandle | None = None


def prepare() -> None:
    """Fork the process for long work, and leave garbage to ``collect_later``. For a session that has no thread yet."""
    global _process
    # in a container without shared memory a thread has to do
    with contextlib.suppress(OSError, NotImplementedError):
        _process = ProcessPoolExecutor(1, multiprocessing.get_context("fork"), _give_way)
        _process.submit(int)  # it is forked with the first work
    gc.set_threshold(AT_LAST)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, which a kernel has; None in a plain script."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _give_way() -> None:
    """In the process for long work: give way to every open page, and end when the session does."""
    os.nice(NICE)
    end_with_parent()


def _planned(work: Callable[[Plan], T], scenario: Scenario, folders: Sequence[Path]) -> T:
    with speaking(locale_of(scenario)):
        return work(make_plan(scenario, load_catalog(*folders)))


class Later:
    """Results of work on the current plan. Long work is done one task at a time, each begun once nothing changes."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self._worked: dict[str, Any] = {}
        self._changed = changed
        self._turn = asyncio.Lock()
        self._pending: dict[asyncio.Task[None] | None, dict[str, Any]] = {}
        """Work that is not done yet, and the place of its result."""

    def forget(self) -> None:
        self._worked = {}

    @property
    def busy(self) -> bool:
        """True while work for the current plan is not done yet."""
        return any(worked is self._worked for worked in self._pending.values())

    def once(self, key: str, work: Callable[[], T]) -> T:
        if key not in self._worked:
            self._worked[key] = work()
        result: T = self._worked[key]
        return result

    def found(self, key: str, work: Callable[[Plan], T], plan: Plan) -> T | None:
        """Return the result for a plan of ``work``, a function of a module with its arguments; None until done."""
        worked = self._worked
        if key not in worked:
            loop = running_loop()
            if loop is None:
                worked[key] = work(plan)
            else:
                worked[key] = None
                self._pending[loop.create_task(self._work(worked, key, work, plan))] = worked
        result: T | None = worked[key]
        return result

    async def _work(self, worked: dict[str, Any], key: str, work: Callable[[Plan], T], plan: Plan) -> None:
        try:
            await asyncio.sleep(QUIET_S)
            async with self._turn:
                if worked is self._worked:
                    worked[key] = await _done(work, plan)
        finally:
            self._pending.pop(asyncio.current_task())
        if worked is self._worked:
            self._changed()


async def _done(work: Callable[[Plan], T], plan: Plan) -> T:
    """Return the result of ``work``, from the process for it, or from a thread where there is none."""
    global _process
    if _process is not None:
        try:
            future = _process.submit(_planned, work, plan.scenario, plan.catalog.folders[1:])
            return await asyncio.wrap_future(future)
        except BrokenExecutor:  # it has ended, now or before: it may have taken too much memory
            _process = None
    return await asyncio.to_thread(work, plan)


def collect_later() -> None:
    """Collect garbage once the session is idle, if there is enough; where Python does it early there never is."""
    global _collecting
    if _collecting is not None:
        _collecting.cancel()
    loop = running_loop()
    if loop is not None and gc.get_count()[0] > ENOUGH:
        _collecting = loop.call_later(COLLECT_S, gc.collect)
