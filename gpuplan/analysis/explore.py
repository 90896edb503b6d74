"""Explore: many designs for one demand, each planned as the app would, ranked, with the reason for every one that is out.

The results depend neither on the order of the candidates nor on how many processes plan them.
"""

import importlib
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

from gpuplan.analysis.candidates import (
    Candidate,
    Space,
    asked,
    candidates,
    default_space,
    hopeless,
    kind_candidates,
    not_offered,
    roomier,
    unfit,
)
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.ranking import Exploration, sorted_out
from gpuplan.analysis.variants import Progress
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.scenario import Scenario, views
from gpuplan.wording import said

ORDER = attrgetter("gpu", "server", "gpus_per_host", "sharing", "host_failures", "link_gbit_s")
"""Order independent of the space's own; candidates that share hosts are adjacent."""

CHUNK = 16
Chunk = Sequence[Candidate]
Work = Callable[[Chunk], list[Option]]
_ONE_AT_A_TIME = threading.Lock()
PATIENCE_S = 10


def explore(
    scenario: Scenario,
    catalog: Catalog | None = None,
    space: Space | None = None,
    *,
    workers: int = 0,
    engine: str = "processes",
    scheduler: str = "",
    progress: Progress | None = None,
    folders: Sequence[str | Path] = (),
) -> Exploration:
    """Plan, rank and sort out all candidates of a space, of the default one if None.

    ``workers`` processes plan it, 0: one per core; ``engine`` is ``processes``, or ``dask`` on the cluster at
    ``scheduler``; ``folders`` hold rows of the user's own. A ValueError if dask is missing or has no scheduler.
    """
    catalog = load_catalog() if catalog is None else catalog
    wanted, beyond = _wanted(scenario, catalog, space)
    paths = tuple(str(f) for f in (folders or catalog.folders[1:]))
    chunks = [wanted[at : at + CHUNK] for at in range(0, len(wanted), CHUNK)]
    here = partial(_each, scenario, catalog)
    in_worker = partial(_assess_all, scenario, paths, catalog.digest)
    options: dict[Candidate, Option] = {}
    for part in _run(chunks, here, in_worker, paths, workers, engine, scheduler):
        options |= {option.candidate: option for option in part}
        if progress:
            progress(len(options), len(wanted))
    return sorted_out(scenario, catalog, [options[candidate] for candidate in wanted], beyond)


def _wanted(scenario: Scenario, catalog: Catalog, space: Space | None) -> tuple[Chunk, Sequence[str]]:
    """Return the candidates of a space, those that are rejected once among them, and suitable boards beyond it."""
    current, usual = asked(scenario), default_space(scenario, catalog)
    every, never, beyond = candidates(space or usual), tuple[Candidate, ...](), tuple[str, ...]()
    if space in (None, usual):
        every = tuple(design for design in every if not roomier(scenario, catalog, usual, design))
        never = tuple(replace(current, gpu=gpu, server="") for gpu in not_offered(scenario, catalog))
        tried = {*usual.gpus, *(design.gpu for design in never)}
        beyond = tuple(gpu for gpu in catalog.gpus if gpu not in tried)
    wanted = [current, *_planned(every, current, views(scenario)[0], catalog), *never]
    if space in (None, usual):
        wanted += kind_candidates(scenario, catalog)
    return tuple(sorted(dict.fromkeys(wanted), key=ORDER)), beyond


def _planned(given: Chunk, own: Candidate, scenario: Scenario, catalog: Catalog) -> Iterator[Candidate]:
    """Yield candidates; those with unfit hardware only once, all else as requested, no server with a wrong board."""
    fitting = {candidate.gpu for candidate in given if not hopeless(scenario, catalog, candidate)}
    alone = dict.fromkeys(candidate.gpu for candidate in given if candidate.gpu not in fitting)
    for candidate in given:
        if not unfit(scenario, catalog, candidate):
            yield candidate
        elif not hopeless(scenario, catalog, candidate) or alone.pop(candidate.gpu, False) is None:
            unfitting = replace(own, gpu=candidate.gpu, server=candidate.server)
            yield replace(unfitting, gpus_per_host=candidate.gpus_per_host)


def _run(
    chunks: Sequence[Chunk],
    here: Work,
    there: Work,
    folders: tuple[str, ...],
    workers: int,
    engine: str,
    scheduler: str,
) -> Iterator[list[Option]]:
    """Yield the options in parts, in any order, planned by this process or by others."""
    if engine == "dask":
        yield from _on_cluster(there, chunks, scheduler)
        return
    if engine != "processes":
        raise ValueError(said("explore.engine", engine=repr(engine)))
    if workers < 0:
        raise ValueError(said("explore.workers", workers=workers))
    workers = min(workers or len(os.sched_getaffinity(0)), len(chunks))
    if workers == 1:
        yield from map(here, chunks)
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(folders,))
    try:
        with _starting():
            parts = [pool.submit(there, chunk) for chunk in chunks]
        for part in as_completed(parts):
            yield part.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _starting() -> Iterator[None]:
    """Start workers that ignore Ctrl-C and do not run the caller's script again, which may explore without a guard."""
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


def _assess_all(scenario: Scenario, folders: tuple[str, ...], digest: str, wanted: Chunk) -> list[Option]:
    catalog = _catalog(folders)
    if catalog.digest != digest:
        raise ValueError(said("explore.another catalog", there=catalog.digest, here=digest))
    return _each(scenario, catalog, wanted)


def _each(scenario: Scenario, catalog: Catalog, wanted: Chunk) -> list[Option]:
    return [assess(scenario, catalog, candidate) for candidate in wanted]


def _on_cluster(work: Work, chunks: Sequence[Chunk], scheduler: str) -> Iterator[list[Option]]:
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise ValueError(said("explore.no dask")) from None
    if not scheduler:
        raise ValueError(said("explore.no scheduler"))
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(said("explore.no answer", scheduler=repr(scheduler), error=error)) from None
    with client:
        for part in [client.submit(work, chunk, pure=False) for chunk in chunks]:
            yield part.result()
