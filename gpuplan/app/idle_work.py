"""Work between changes: long tasks, in a process of their own where sessions are forked, and collecting garbage.

In a thread, long work made a change of 40 ms take 150 to 340; Python would collect in the middle of a change.
"""

import asyncio
import contextlib
import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar, cast

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
KEPT_S = 10.0
"""Idle time after which the process for long work ends, with the 20 to 40 MB that it holds, until there is work again [s]."""
COLLECT_S = 0.15
"""Idle time before garbage is collected: a user rarely acts again so soon."""
ENOUGH = 20_000
"""New objects from which on garbage is collected: those of a handful of changes."""
AT_LAST = 400_000
"""Objects from which on Python collects by itself, idle or not."""

_line: Connection | None = None
"""To the process that forks one for long work; None where a thread has to do."""
_asking = ThreadPoolExecutor(1)
_collecting: asyncio.TimerHandle | None = None


def prepare() -> None:
    """Fork what forks the process for long work, and leave garbage to ``collect_later``. For a session that has no thread yet."""
    global _line
    # in a container without shared memory a thread has to do
    with contextlib.suppress(OSError, NotImplementedError):
        here, there = multiprocessing.Pipe()
        forks = multiprocessing.get_context("fork").Process(target=_fork, args=(there, here), daemon=True)
        forks.start()
        there.close()
        _line = here
    gc.set_threshold(AT_LAST)


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread, which a kernel has; None in a plain script."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def _fork(line: Connection, other: Connection) -> None:
    """Fork a process whenever there is work and none is there, until the session ends or a process was killed."""
    other.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICE)  # it gives way to every open page
    while line.poll(None):
        if (pid := os.fork()) == 0:
            os._exit(_work_on(line))
        if os.waitpid(pid, 0)[1]:
            return


def _work_on(line: Connection) -> int:
    """Do the work that comes until none has come for a while; 0, or 1 if the session has ended."""
    end_with_parent()
    with contextlib.suppress(EOFError, OSError):
        while line.poll(KEPT_S):
            line.send(_tried(*line.recv()))
        return 0
    return 1


def _tried(work: Callable[[Plan], T], scenario: Scenario, folders: Sequence[Path]) -> T | Exception:
    try:
        with speaking(locale_of(scenario)):
            return work(make_plan(scenario, load_catalog(*folders)))
    except Exception as error:  # the session raises it
        return error


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
    global _line
    if _line is not None:
        try:
            asked = (work, plan.scenario, plan.catalog.folders[1:])
            result = await asyncio.get_running_loop().run_in_executor(_asking, _answer, _line, asked)
        except (EOFError, OSError):  # it has ended, now or before: it may have taken too much memory
            _line = None
        else:
            if isinstance(result, Exception):
                raise result
            return cast(T, result)
    return await asyncio.to_thread(work, plan)


def _answer(line: Connection, asked: tuple[Any, ...]) -> Any:
    line.send(asked)
    return line.recv()


def collect_later() -> None:
    """Collect garbage once the session is idle, if there is enough; where Python does it early there never is."""
    global _collecting
    if _collecting is not None:
        _collecting.cancel()
    loop = running_loop()
    if loop is not None and gc.get_count()[0] > ENOUGH:
        _collecting = loop.call_later(COLLECT_S, gc.collect)
