"""Explore: many designs for one demand, each planned as the app would, ranked, with the reason for every one that is out.

The results depend neither on the order of the candidates nor on how many processes plan them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path

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
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.grid import catalog_of
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.ranking import Exploration, sorted_out
from gpuplan.analysis.variants import Progress
from gpuplan.catalog import Catalog
from gpuplan.plan import Asked
from gpuplan.plan.plan import scenario_of
from gpuplan.scenario import Scenario, views

ORDER = attrgetter("gpu", "server", "gpus_per_host", "sharing", "host_failures", "link_gbit_s")
"""Order independent of the space's own; candidates that share hosts are adjacent."""

CHUNK = 16
Chunk = Sequence[Candidate]


def explore(
    design: Asked,
    catalog: Catalog | None = None,
    space: Space | None = None,
    *,
    workers: int = 0,
    engine: str = "processes",
    scheduler: str = "",
    progress: Progress | None = None,
    folders: Sequence[str | Path] = (),
) -> Exploration:
    """Plan, rank and sort out all candidates of a space for a design's demand, of the default space if None.

    ``workers`` processes plan it, 0: one per core; ``engine`` is ``processes``, or ``dask`` on the cluster at
    ``scheduler``; ``folders`` hold rows of the user's own. A ValueError if dask is missing or has no scheduler.
    """
    scenario, catalog = scenario_of(design), catalog_of(design, catalog)
    wanted, beyond = _wanted(scenario, catalog, space)
    options: dict[Candidate, Option] = {}
    with Engine(catalog, folders, workers=workers, engine=engine, scheduler=scheduler) as engine_of:
        tasks = [(scenario, candidate) for candidate in wanted]
        for part in engine_of.each(_assessed, tasks, CHUNK):
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


def _assessed(catalog: Catalog, task: tuple[Scenario, Candidate]) -> Option:
    scenario, candidate = task
    return assess(scenario, catalog, candidate)
