"""Engines: where many designs are planned, in this process, in others of this machine, or on a cluster of dask."""

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.wording import said

Task = TypeVar("Task")
Done = TypeVar("Done")
Work = Callable[[Catalog, Task], Done]
"""Does one task with a catalog; a function of a module, as it is sent to other processes by its name."""
_ONE_AT_A_TIME = threading.Lock()
PATIENCE_S = 10
FEW = 2
"""With no more tasks than these, other processes are not started: it takes longer than to do them here."""


class Engine(ExitStack):
    """Does tasks in parts; other processes are started when there is first enough to do, and end with the ``with`` block.

    ``workers`` processes, 0: one per core; ``engine`` is ``processes``, or ``dask`` on the cluster at ``scheduler``;
    ``folders`` hold rows of the user's own. A ValueError if dask is missing or has no scheduler.
    """

    def __init__(
        self,
        catalog: Catalog,
        folders: Sequence[str | Path] = (),
        *,
        workers: int = 0,
        engine: str = "processes",
        scheduler: str = "",
    ) -> None:
        super().__init__()
        if engine not in ("processes", "dask"):
            raise ValueError(said("explore.engine", engine=repr(engine)))
        if workers < 0:
            raise ValueError(said("explore.workers", workers=workers))
        self.catalog, self.workers = catalog, workers or len(os.sched_getaffinity(0))
        self._folders = tuple(str(folder) for folder in (folders or catalog.folders[1:]))
        self._pool: ProcessPoolExecutor | None = None
        self._client = _client(scheduler) if engine == "dask" else None
        if self._client:
            self.enter_context(self._client)

    def each(self, work: Work[Task, Done], tasks: Sequence[Task], chunk: int = 1) -> Iterator[list[Done]]:
        """Yield what the tasks give, in parts of ``chunk``; parts come in any order, their tasks in their own."""
        parts = [tasks[at : at + chunk] for at in range(0, len(tasks), chunk)]
        there = partial(_there, work, self._folders, self.catalog.digest)
        if self._client:
            for sent in [self._client.submit(there, part, pure=False) for part in parts]:
                yield sent.result()
        elif self.workers == 1 or len(parts) < FEW:
            yield from map(partial(_each, work, self.catalog), parts)
        else:
            with _starting():
                pool = self._started()
                waiting = [pool.submit(there, part) for part in parts]
            for done in as_completed(waiting):
                yield done.result()

    def _started(self) -> ProcessPoolExecutor:
        if self._pool is None:
            context, given = multiprocessing.get_context("spawn"), (self._folders,)
            self._pool = ProcessPoolExecutor(self.workers, context, initializer=_begin, initargs=given)
            self.callback(self._pool.shutdown, wait=True, cancel_futures=True)
        return self._pool


@contextmanager
def _starting() -> Iterator[None]:
    """Start workers that ignore Ctrl-C and do not run the caller's script again, which may plan without a guard."""
    with _ONE_AT_A_TIME:
        main, sys.modules["__main__"] = sys.modules["__main__"], ModuleType("__main__")
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            sys.modules["__main__"] = main


def _begin(folders: tuple[str, ...]) -> None:
    """Start a worker: end with the process that started it, and read the catalog."""
    end_with_parent()
    _catalog(folders)


def end_with_parent() -> None:
    """Leave Ctrl-C to the parent process, and end when that does, however it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: Any) -> None:
    parent.join()
    os._exit(1)


@lru_cache(maxsize=2)
def _catalog(folders: tuple[str, ...]) -> Catalog:
    return load_catalog(*folders)


def _there(
    work: Work[Task, Done], folders: tuple[str, ...], digest: str, tasks: Sequence[Task]
) -> list[Done]:
    catalog = _catalog(folders)
    if catalog.digest != digest:
        raise ValueError(said("explore.another catalog", there=catalog.digest, here=digest))
    return _each(work, catalog, tasks)


def _each(work: Work[Task, Done], catalog: Catalog, tasks: Sequence[Task]) -> list[Done]:
    return [work(catalog, task) for task in tasks]


def _client(scheduler: str) -> Any:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise ValueError(said("explore.no dask")) from None
    if not scheduler:
        raise ValueError(said("explore.no scheduler"))
    try:
        return distributed.Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(said("explore.no answer", scheduler=repr(scheduler), error=error)) from None
