"""Explore: many designs for one demand, each planned as the app would, ranked, with the reason for every one that is out.

A candidate changes the hardware, the way GPUs are shared, the link and the failures to tolerate of a scenario, and nothing
else. The results do not depend on the order of the candidates nor on how many processes plan them.
"""

from __future__ import annotations

import importlib
import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, load_catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.bill_of_materials import server_price
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import ANY_HOST, LARGE_HOST, Price, catalog_factor
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.scenario import FIELD_BY_PATH, Scenario, ScenarioError, field_of
from gpuplan.wording import LICENCE_NAMES, MODE_NAMES, amount, capital, money, number, percent

Progress = Callable[[int, int], None]
"""Called with how many candidates are done, and how many there are."""

SHARING = ("as asked", "vgpu", "passthrough", "mig", "bitfusion")
"""How GPUs reach those groups whose access mode is left to the rules; by the rules, or all of them in one mode."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A design to try: what it changes in a scenario."""

    gpu: str
    server: str
    """Empty for a server of any make."""
    gpus_per_host: int
    sharing: str
    link_gbit_s: int
    host_failures: int

    def apply(self, scenario: Scenario) -> Scenario:
        """The scenario with this design. Hosts already there hold the GPU of the scenario and join no other."""
        changes: dict[str, Any] = {
            "hardware.gpu": self.gpu,
            "hardware.server": self.server or None,
            "hardware.gpus_per_host": self.gpus_per_host,
            "network.link_gbit_s": self.link_gbit_s,
            "availability.host_failures": self.host_failures,
        }
        if self.gpu != scenario.hardware.gpu and scenario.hardware.existing_hosts:
            changes |= {"hardware.existing_hosts": 0, "hardware.existing_gpus_per_host": None}
        if self.sharing != SHARING[0]:
            changes |= {f"groups.{g.id}.access": self.sharing for g in scenario.groups if g.access == "auto"}
        if self.sharing == "bitfusion":
            changes["platform.bitfusion"] = True
        for path, value in changes.items():
            if scenario.get(path) != value:
                scenario = scenario.with_value(path, value)
        return scenario

    def label(self, catalog: Catalog) -> str:
        """The design in a few words."""
        server = catalog.servers[self.server].name if self.server else "any server"
        sharing = "" if self.sharing == SHARING[0] else f", all {MODE_NAMES[self.sharing]}"
        return (
            f"{self.gpus_per_host} x {catalog.gpus[self.gpu].name} in {server}{sharing}, {self.link_gbit_s} Gbit/s, "
            f"N+{self.host_failures}"
        )


def asked(scenario: Scenario) -> Candidate:
    """The design as the scenario has it."""
    given = scenario.hardware
    return Candidate(
        given.gpu,
        given.server or "",
        given.gpus_per_host,
        SHARING[0],
        scenario.network.link_gbit_s,
        scenario.availability.host_failures,
    )


@dataclass(frozen=True, slots=True)
class Space:
    """What is combined into candidates."""

    gpus: tuple[str, ...]
    servers: tuple[str, ...]
    gpus_per_host: tuple[int, ...]
    sharing: tuple[str, ...]
    links: tuple[int, ...]
    host_failures: tuple[int, ...]


def candidates(space: Space) -> tuple[Candidate, ...]:
    """Every combination of a space, each once."""
    parts = (
        space.gpus,
        space.servers,
        space.gpus_per_host,
        space.sharing,
        space.links,
        space.host_failures,
    )
    return tuple(dict.fromkeys(Candidate(*each) for each in itertools.product(*parts)))


PER_HOST = (2, 4, 8, 16)
LINKS_GBIT_S = (10, 25, 100)
FAILURES = (1, 2)
MOST_GPUS = 8
MOST_COMBINED = 1_500


def default_space(scenario: Scenario, catalog: Catalog) -> Space:
    """What an architect would compare for a scenario.

    Boards that replace the one asked for, those with a price and then the nearest in age first; for them the server asked
    for and the roomiest of each kind; numbers of GPUs that hold the largest VM; the usual links; one and two failures.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]

    Returns
    -------
    default_space : Space
        Some hundred candidates, the design as it stands among them. [-]
    """
    own = asked(scenario)
    gpus = _boards(scenario, catalog)
    servers = _servers(own, gpus, catalog)
    largest = max((group.gpus_each for group in scenario.groups), default=1)
    room = max(_most(gpu, server, catalog) for gpu in gpus for server in servers)
    per_host = {own.gpus_per_host, *(n for n in PER_HOST if largest <= n <= room)}
    sharing = _sharing(scenario, catalog)
    links = {own.link_gbit_s, *LINKS_GBIT_S}
    failures = {own.host_failures, *FAILURES}
    others = len(servers) * len(per_host) * len(sharing) * len(links) * len(failures)
    return Space(
        gpus[: max(2, min(MOST_GPUS, MOST_COMBINED // others))],
        servers,
        tuple(sorted(per_host)),
        sharing,
        tuple(sorted(links)),
        tuple(sorted(failures)),
    )


def too_little(gpu: str, scenario: Scenario, catalog: Catalog) -> str:
    """Why a board does not replace the one that the demand is counted in; empty if it does."""
    mine, other = catalog.gpus[scenario.hardware.gpu], catalog.gpus[gpu]
    least = float(catalog_factor(catalog, "least_gpu_share").value)
    for parameter, what, unit in (
        ("memory_gib", "memory", "GiB"),
        ("fp16_tensor_tflops", "peak speed", "TFLOP/s"),
    ):
        wanted, has = mine.value(parameter), other.value(parameter)
        if wanted is not None and has is not None and float(has) < least * float(wanted):
            return f"{other.name} has {amount(has, unit)} of {what}, {mine.name} {amount(wanted, unit)}"
    return ""


def _boards(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """The board asked for, and those that replace it and that a server of the catalog takes."""
    own = scenario.hardware.gpu
    priced = {key for key, _ in scenario.prices} | {
        row["item"] for row in catalog.rows("prices") if row["use"] == "default"
    }
    year, fans = _year(own, catalog), {"passive", catalog.gpus[own].value("cooling") or "passive"}
    found = [
        gpu
        for gpu in catalog.gpus
        if gpu != own
        and (catalog.gpus[gpu].value("cooling") or "passive") in fans
        and not too_little(gpu, scenario, catalog)
        and any(_most(gpu, server, catalog) for server in catalog.servers)
    ]
    found.sort(key=lambda gpu: (f"gpus/{gpu}" not in priced, abs(_year(gpu, catalog) - year), gpu))
    return (own, *found)


def _year(gpu: str, catalog: Catalog) -> int:
    """Year in which a board came out; a late one where nobody says."""
    return int(str(catalog.gpus[gpu].value("launched") or "2025")[:4])


@lru_cache(maxsize=4096)
def _most(gpu: str, server: str, catalog: Catalog) -> int:
    """Most GPUs of a board that a server is known to hold; 0 if none."""
    bare = Scenario()
    given = replace(bare.hardware, gpu=gpu, server=server or None, gpus_per_host=1)
    if not server:
        return max(PER_HOST) if catalog.gpus[gpu].value("form_factor") == "PCIe" else 0
    return server_gpu_limit(replace(bare, hardware=given), catalog)[0] or 0


def _servers(own: Candidate, gpus: Sequence[str], catalog: Catalog) -> tuple[str, ...]:
    """The server asked for, and for each form of board the one that holds most of them; of the same maker if there is one."""
    maker = catalog.servers[own.server].value("vendor") if own.server else None
    found = [own.server]
    for form in dict.fromkeys(str(catalog.gpus[gpu].value("form_factor")) for gpu in gpus[:MOST_GPUS]):
        boards = [gpu for gpu in gpus[:MOST_GPUS] if catalog.gpus[gpu].value("form_factor") == form]

        def worth(server: str, boards: Sequence[str] = boards) -> tuple[Any, ...]:
            return (
                max(_most(gpu, server, catalog) for gpu in boards),
                catalog.servers[server].value("vendor") == maker,
                server,
            )

        best = max(catalog.servers, key=worth)
        if best not in found:
            found.append(best)
    return tuple(found)


def _sharing(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Ways to share that the platform has, and that not every group rules out."""
    version = catalog.vsphere[scenario.platform.vsphere]
    free = [group for group in scenario.groups if group.access == "auto"]
    possible = {
        "vgpu": not any(group.isolation for group in free),
        "passthrough": all(group.gpus_each >= 1 for group in free),
        "mig": bool(version.value("mig_backed_vgpu")) and all(group.gpus_each <= 1 for group in free),
        "bitfusion": scenario.platform.bitfusion and all(group.remote_allowed for group in free),
    }
    return (SHARING[0], *(mode for mode in SHARING[1:] if free and possible[mode]))


def unfit(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> str:
    """Why a server is not known to hold the GPUs of a candidate, or a host not the largest VM; empty if they do.

    A server holds as many boards as the design as it stands puts into it, if they are of the same form and width.
    """
    mine, gpu = catalog.gpus[scenario.hardware.gpu], catalog.gpus[candidate.gpu]
    largest = max(scenario.groups, key=lambda group: group.gpus_each, default=None)
    if largest is not None and candidate.gpus_per_host < largest.gpus_each:
        return (
            f"A host has {amount(candidate.gpus_per_host, 'GPU')}, and a VM of {largest.name} needs {number(largest.gpus_each)} in "
            "one host"
        )
    if not candidate.server:
        alone = gpu.value("form_factor") != "PCIe"
        return f"{gpu.name} is part of a server: it takes a server that is known to hold it" if alone else ""
    alike = all(mine.value(name) == gpu.value(name) for name in ("form_factor", "slot_width"))
    own = scenario.hardware
    if alike and own.server == candidate.server and candidate.gpus_per_host <= own.gpus_per_host:
        return ""
    trial = replace(
        scenario,
        hardware=replace(
            own, gpu=candidate.gpu, server=candidate.server, gpus_per_host=candidate.gpus_per_host
        ),
    )
    limit, why = server_gpu_limit(trial, catalog)
    return capital(why) if limit is None or candidate.gpus_per_host > limit else ""


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate that was planned. Numbers are None where it cannot be planned."""

    candidate: Candidate
    label: str
    hosts: int | None = None
    gpus: int | None = None
    total: float | None = None
    net_present: float | None = None
    first: float | None = None
    """Paid at the start."""
    gpu_hour_used: float | None = None
    waiting_pct: float | None = None
    """Requests that find too few GPUs free in the busiest hours."""
    short_h: float | None = None
    """Expected hours a year in which failures leave somebody without a GPU."""
    peak_w: float | None = None
    racks: int | None = None
    kept: float | None = None
    """Worst share of native speed that a group with remote GPUs keeps; None if there is none."""
    unplaced_vms: int | None = None
    excludes: tuple[str, ...] = ()
    """What the cost leaves out because nobody knows its price."""
    assumed_prices: int | None = None
    old_prices: int | None = None
    reasons: tuple[str, ...] = ()
    """Why it is out; empty if it is in."""
    unpriced: tuple[str, ...] = ()
    """GPUs, servers and adapters without a price: then its cost cannot be compared with others."""
    powerless: tuple[str, ...] = ()
    """What its power leaves out, as nobody knows how much that draws."""
    modes: tuple[str, ...] = ()
    """How each group gets its GPUs."""


def assess(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> Option:
    """One candidate, planned.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]
    candidate : Candidate
        The design to try. [-]

    Returns
    -------
    assess : Option
        What it costs and does, or why it is out. [-]
    """
    if why := unfit(scenario, catalog, candidate):
        return Option(candidate, candidate.label(catalog), reasons=(why,))
    try:
        plan = make_plan(candidate.apply(scenario), catalog)
    except ScenarioError as error:
        reasons = tuple(
            f"{FIELD_BY_PATH[p.path].label if p.path in FIELD_BY_PATH else _group_label(scenario, p.path)} {p.value}: {p.message}"
            for p in error.problems
        )
        return Option(candidate, candidate.label(catalog), reasons=reasons)
    costs, power = plan.costs, plan.power
    waiting = plan.lines.get("totals.waiting")
    return Option(
        candidate=candidate,
        label=candidate.label(catalog),
        hosts=plan.totals.hosts,
        gpus=plan.totals.gpus,
        total=costs.total if costs else None,
        net_present=costs.net_present if costs else None,
        first=costs.cash[0] if costs else None,
        gpu_hour_used=costs.gpu_hour_used if costs else None,
        waiting_pct=float(waiting.value) if waiting else None,
        short_h=next((p.short_h for p in plan.postures if p.chosen), None),
        peak_w=power.peak_w if power else None,
        racks=power.racks if power and power.racks else None,
        kept=min((use.kept for use in plan.network.remote), default=None),
        unplaced_vms=plan.totals.unplaced_vms,
        excludes=costs.excludes if costs else (),
        assumed_prices=sum(p.fact.basis == "assumed" for p in costs.prices) if costs else None,
        old_prices=sum(p.old for p in costs.prices) if costs else None,
        reasons=tuple(_reasons(plan, _chosen_for(scenario, candidate))),
        unpriced=_unpriced(costs) if costs else (),
        powerless=plan.power.unknown_power if plan.power else (),
        modes=tuple(group.mode for group in plan.groups),
    )


def _group_label(scenario: Scenario, path: str) -> str:
    """What a problem of a group is about."""
    parts = path.split(".", 2)
    names = {group.id: group.name for group in scenario.groups}
    if len(parts) == 3 and parts[1] in names:
        return f"{names[parts[1]]}: {field_of(path).label}"
    return path


def _unpriced(costs: Costs) -> tuple[str, ...]:
    """GPUs, servers and their adapters whose price nobody knows: every host has them, so that its cost says little."""
    return tuple(
        item.name
        for item in costs.unknown
        if item.key.startswith(("gpus/", "servers/", "adapter-")) or item.key in (ANY_HOST, LARGE_HOST)
    )


def _chosen_for(scenario: Scenario, candidate: Candidate) -> dict[str, str]:
    """Groups for which a candidate chooses the mode, not the customer, and the name of that mode."""
    if candidate.sharing == SHARING[0]:
        return {}
    return {group.id: MODE_NAMES[candidate.sharing] for group in scenario.groups if group.access == "auto"}


def _reasons(plan: Plan, chosen: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Why a design does not do what is asked; ``chosen`` has the modes that the customer has not decided on."""
    if not plan.pools and not plan.totals.unplaced_vms:
        yield "Nobody asks for a GPU."
    for group in plan.groups:
        for missing in group.unplaced:
            why = missing.reason
            if missing.code == "no-mode-possible" and group.id in chosen:
                why = f"{chosen[group.id]} cannot serve this group"
            yield f"{group.name}: no place for {amount(missing.vms, 'VM')}: {why}"
    lost = plan.totals.unplaced_vms_after_failure - plan.totals.unplaced_vms
    if lost and plan.scenario.availability.host_failures:
        yield f"After the loss of a host {amount(lost, 'VM')} have no GPU"
    for use in plan.network.remote:
        if use.verdict == "bad":
            yield (
                f"{use.name}: {plan.scenario.network.link_gbit_s} Gbit/s do not carry the work, of whose native speed "
                f"{percent(use.kept)} is left"
            )
    for job in plan.network.training[:-1]:
        if job.verdict == "bad":
            yield (
                f"{job.name}: {plan.scenario.network.link_gbit_s} Gbit/s do not carry its training across {job.hosts} hosts, which "
                f"reaches {percent(job.efficiency)} of what its GPUs do alone"
            )
    if plan.power is not None and not plan.power.racks:
        limit = next(i.value for i in plan.lines["power.hosts_per_rack"].inputs if i.name == "rack_kw")
        yield (
            f"One host draws {number(round(plan.power.host_peak_w / 1000, 1))} kW at its peak, or is higher than a rack; a rack "
            f"may be given {number(limit)} kW"
        )
    gpu = plan.catalog.gpus[plan.scenario.hardware.gpu]
    if gpu.value("vgpu_compute") != "yes" and any(group.mode in ("vgpu", "mig") for group in plan.groups):
        yield f"Whether {gpu.name} can be shared as vGPU on vSphere is not known from a source"


@dataclass(frozen=True, slots=True)
class Exploration:
    """All candidates, sorted out."""

    ranked: tuple[Option, ...]
    """In and priced, the cheapest by net present cost first."""
    unpriced: tuple[Option, ...]
    """In, but GPUs or servers have no price."""
    rejected: tuple[Option, ...]
    frontier: tuple[Option, ...]
    """Ranked ones that no other beats in cost, hours short and waiting at once."""
    winner: Option | None
    """The cheapest that tolerates at least the failures asked for."""
    asked: Option
    """The design as it stands."""
    currency: str
    notes: tuple[str, ...]


CHUNK = 16
"""Candidates that a worker takes at a time."""


def explore(
    scenario: Scenario,
    catalog: Catalog,
    space: Space | None = None,
    *,
    workers: int = 0,
    engine: str = "processes",
    scheduler: str = "",
    progress: Progress | None = None,
    folders: Sequence[str | Path] = (),
) -> Exploration:
    """All candidates of a space planned, ranked and sorted out.

    What no server holds, or no VM fits, stands once among the rejected, whatever its sharing, link and failures.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]
    space : Space or None
        What is combined; None for the default. [-]
    workers : int
        Processes that plan; 0 for as many as there are cores, 1 for this one alone. [-]
    engine : str
        ``processes`` on this machine, or ``dask`` on an existing cluster. [-]
    scheduler : str
        Address of the scheduler of that cluster. [-]
    progress : callable or None
        Told how many of how many candidates are done. [-]
    folders : sequence of str or Path
        Folders with rows of the user's own; those of the catalog if empty. [-]

    Returns
    -------
    explore : Exploration
        Winner, ranking, frontier, and what is out with its reasons. [-]

    Raises
    ------
    ValueError
        If there is no such engine, or dask is not installed, or it is given no scheduler.
    """
    own = asked(scenario)
    wanted = tuple(
        sorted(
            {own, *_planned(candidates(space or default_space(scenario, catalog)), own, scenario, catalog)},
            key=_order,
        )
    )
    paths = tuple(str(f) for f in (folders or catalog.folders[1:]))
    options: dict[Candidate, Option] = {}
    for part in _run(scenario, catalog, wanted, paths, workers, engine, scheduler):
        options |= {option.candidate: option for option in part}
        if progress:
            progress(len(options), len(wanted))
    return _sorted_out(scenario, catalog, [options[candidate] for candidate in wanted])


def _order(candidate: Candidate) -> tuple[Any, ...]:
    """An order that does not depend on that of the space; what shares its hosts stands together."""
    return (
        candidate.gpu,
        candidate.server,
        candidate.gpus_per_host,
        candidate.sharing,
        candidate.host_failures,
        candidate.link_gbit_s,
    )


def _planned(
    given: Iterable[Candidate], own: Candidate, scenario: Scenario, catalog: Catalog
) -> Iterator[Candidate]:
    """The candidates; those whose hardware does not fit once, with everything else as asked."""
    for each in given:
        if unfit(scenario, catalog, each):
            yield replace(own, gpu=each.gpu, server=each.server, gpus_per_host=each.gpus_per_host)
        else:
            yield each


def _run(
    scenario: Scenario,
    catalog: Catalog,
    wanted: Sequence[Candidate],
    folders: tuple[str, ...],
    workers: int,
    engine: str,
    scheduler: str,
) -> Iterator[list[Option]]:
    """The options in parts, in any order."""
    chunks = [wanted[at : at + CHUNK] for at in range(0, len(wanted), CHUNK)]
    if engine == "dask":
        yield from _on_cluster(scenario, catalog, chunks, folders, scheduler)
        return
    if engine != "processes":
        raise ValueError(f"engine is {engine!r}; it must be processes or dask")
    if workers < 0:
        raise ValueError(
            f"workers is {workers}; it must be at least 0, and 0 takes as many as there are cores"
        )
    workers = min(workers or len(os.sched_getaffinity(0)), len(chunks))
    if workers == 1:
        for chunk in chunks:
            yield [assess(scenario, catalog, candidate) for candidate in chunk]
        return
    pool = ProcessPoolExecutor(
        workers, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(folders,)
    )
    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # workers begin deaf to Ctrl-C
        try:
            parts = [pool.submit(_assess_all, scenario, folders, catalog.digest, chunk) for chunk in chunks]
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for part in as_completed(parts):
            yield part.result()
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin(folders: tuple[str, ...]) -> None:
    """In a worker: end with the process that started it, leave Ctrl-C to that, and read the catalog."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _catalog(folders)


def _end_with(parent: Any) -> None:
    """Wait for the process that started this one, and end with it."""
    parent.join()
    os._exit(1)


@lru_cache(maxsize=2)
def _catalog(folders: tuple[str, ...]) -> Catalog:
    return load_catalog(*folders)


def _assess_all(
    scenario: Scenario, folders: tuple[str, ...], digest: str, wanted: Sequence[Candidate]
) -> list[Option]:
    """In a worker: some candidates, with its own copy of the same catalog."""
    catalog = _catalog(folders)
    if catalog.digest != digest:
        raise ValueError(
            f"a worker has another catalog ({catalog.digest}) than this process ({digest}); give both the same data"
        )
    return [assess(scenario, catalog, candidate) for candidate in wanted]


PATIENCE_S = 10
"""How long the scheduler of a cluster may take to answer."""


def _on_cluster(
    scenario: Scenario,
    catalog: Catalog,
    chunks: Sequence[Sequence[Candidate]],
    folders: tuple[str, ...],
    scheduler: str,
) -> Iterator[list[Option]]:
    """The options in parts, planned by the workers of a dask cluster."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise ValueError(
            "the engine dask is not installed; 'pip install gpuplan[dask]' installs it"
        ) from None
    if not scheduler:
        raise ValueError("the engine dask needs the address of its scheduler, such as tcp://10.0.0.5:8786")
    try:
        client = distributed.Client(scheduler, timeout=PATIENCE_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ValueError(f"no dask scheduler answers at {scheduler!r}: {error}") from None
    with client:
        parts = [
            client.submit(_assess_all, scenario, folders, catalog.digest, chunk, pure=False)
            for chunk in chunks
        ]
        for part in parts:
            yield part.result()


def _sorted_out(scenario: Scenario, catalog: Catalog, options: Sequence[Option]) -> Exploration:
    """Ranking, frontier and winner of what was planned."""
    own = asked(scenario)
    options = _distinct(options)
    rejected = [o for o in options if o.reasons or o.net_present is None]
    inside = [o for o in options if not o.reasons and o.net_present is not None]

    def rank(option: Option) -> tuple[Any, ...]:
        return (
            option.net_present,
            option.candidate != own,
            option.hosts,
            option.candidate.link_gbit_s != own.link_gbit_s,
            option.label,
        )

    ranked = sorted((o for o in inside if not o.unpriced), key=rank)
    winner = next((o for o in ranked if o.candidate.host_failures >= own.host_failures), None)
    return Exploration(
        ranked=tuple(ranked),
        unpriced=tuple(sorted((o for o in inside if o.unpriced), key=rank)),
        rejected=tuple(rejected),
        frontier=frontier(ranked),
        winner=winner,
        asked=next(o for o in options if o.candidate == own),
        currency=scenario.cost.currency,
        notes=tuple(_notes(scenario, catalog, options, ranked, winner)),
    )


def _distinct(options: Sequence[Option]) -> list[Option]:
    """The options, each design once: a way to share that the rules choose by themselves is not another design."""
    found: dict[Option, Option] = {}
    for option in sorted(options, key=lambda o: SHARING.index(o.candidate.sharing)):
        alike = replace(option, candidate=replace(option.candidate, sharing=""), label="")
        found.setdefault(alike if option.modes else option, option)
    kept = set(found.values())
    return [option for option in options if option in kept]


def frontier(options: Sequence[Option]) -> tuple[Option, ...]:
    """Those that no other beats in net present cost, hours short of hosts and waiting at once, in the same order.

    Parameters
    ----------
    options : sequence of Option
        Priced options. [-]

    Returns
    -------
    frontier : tuple of Option
        Options for each of which every other is worse in one of the three, or equal in all. [-]
    """
    kept: list[tuple[float, ...]] = []
    for each in sorted({_aims(option) for option in options}):
        if not any(all(a <= b for a, b in zip(other, each, strict=True)) for other in kept):
            kept.append(each)
    best = set(kept)
    return tuple(option for option in options if _aims(option) in best)


def _aims(option: Option) -> tuple[float, ...]:
    """What is to be small; what is not known counts as large."""
    return tuple(
        float("inf") if x is None else x for x in (option.net_present, option.short_h, option.waiting_pct)
    )


def _notes(
    scenario: Scenario,
    catalog: Catalog,
    options: Sequence[Option],
    ranked: Sequence[Option],
    winner: Option | None,
) -> Iterator[str]:
    """What a reader of the ranking must know."""
    own = scenario.hardware.gpu
    if any(o.candidate.gpu != own for o in options):
        yield (
            f"Demand is counted in GPUs of the chosen model, {catalog.gpus[own].name}. A faster or larger one counts as one GPU all "
            f"the same, so what it could do beyond that is not in the ranking; without stated models, boards with less than "
            f"{percent(float(catalog_factor(catalog, 'least_gpu_share').value))} of its memory or peak speed are not looked at, nor boards with a fan, made for workstations."
        )
        precise = [group.name for group in scenario.groups if group.use_case == "hpc"]
        if precise:
            yield f"Speed in double precision is not compared; ask {', '.join(precise)} before another GPU is taken."
    if any((o.candidate.gpu, o.candidate.server) != (own, scenario.hardware.server or "") for o in ranked):
        yield (
            "A server counts as one for a board by form, width and number of slots; whether its maker offers the board in it, with the "
            "power and the cooling that it takes, is not known to the catalog."
        )
    if scenario.hardware.existing_hosts and any(o.candidate.gpu != own for o in options):
        yield "Hosts already there hold the chosen GPU model; designs with another one buy all hosts anew."
    left_out = dict.fromkeys(name for option in ranked for name in option.excludes)
    if left_out:
        yield (
            f"Some costs leave out for want of a price or a figure: {'; '.join(left_out)}. Designs that contain it look cheaper than they are; each "
            "says what its cost leaves out."
        )
    whole = next(
        (
            o
            for o in ranked
            if winner
            and not set(o.excludes) & set(winner.excludes)
            and o.candidate.host_failures >= scenario.availability.host_failures
        ),
        None,
    )
    if winner and winner.excludes and winner.net_present:
        said = f"The winner's cost leaves out {'; '.join(winner.excludes)}. "
        if whole and whole.net_present:
            apart = money(whole.net_present - winner.net_present, scenario.cost.currency)
            yield (
                f"{said}It stays below the cheapest design whose cost leaves out none of that, {whole.label}, while that costs less "
                f"than {apart} together over all years."
            )
        else:
            yield f"{said}So does that of every design that does not tolerate fewer failures."
    speeds = {o.candidate.link_gbit_s for o in ranked}
    costs = {(o.candidate.link_gbit_s, o.net_present) for o in ranked}
    if len(speeds) > 1 and len({c for _, c in costs}) * len(speeds) == len(costs):
        yield "Links of different speed cost the same here; where designs cost the same, that with the chosen link comes first."


def why_not(option: Option, winner: Option | None, scenario: Scenario) -> tuple[str, ...]:
    """Why an option is not the winner, in sentences.

    Parameters
    ----------
    option, winner : Option
        The one that is asked about, and the winner; None if there is none. [-]
    scenario : Scenario
        The customer's question. [-]

    Returns
    -------
    why_not : tuple of str
        What is against it, what is for it last; empty for the winner itself. [-]
    """
    if option.reasons:
        return option.reasons
    found = [f"no price of {name} is known" for name in option.unpriced]
    if winner is None or option.candidate == winner.candidate:
        return tuple(found)
    wanted = scenario.availability.host_failures
    if option.candidate.host_failures < wanted:
        found.append(f"tolerates {option.candidate.host_failures} host failures, and {wanted} are asked for")
    against: list[str] = []
    pro: list[str] = []
    if not option.unpriced and option.net_present is not None and winner.net_present:
        dearer = option.net_present / winner.net_present - 1
        if abs(dearer) >= 0.0005:
            found.append(f"costs {_share(abs(dearer))} {'more' if dearer > 0 else 'less'}")
        else:
            found.append(
                "costs the same; then the design as it stands comes first, fewer hosts, the chosen link, the name"
            )
    less = [name for name in winner.excludes if name not in option.excludes]
    if less:
        found.append(f"counts what the winner leaves out ({'; '.join(less)})")
    more = [name for name in option.excludes if name not in winner.excludes]
    if more:
        found.append(f"leaves out {'; '.join(more)}")
    for mine, best, worse, better, unit, least in (
        (option.hosts, winner.hosts, "takes {} more", "takes {} fewer", "host", 1),
        (
            option.short_h,
            winner.short_h,
            "is short of hosts {} a year more",
            "is short of hosts {} a year less",
            "h",
            0.1,
        ),
        (
            option.waiting_pct,
            winner.waiting_pct,
            "{} more of the requests wait",
            "{} fewer of the requests wait",
            "percentage point",
            0.1,
        ),
        (option.peak_w, winner.peak_w, "draws {} more at its peak", "draws {} less at its peak", "W", 100),
        (option.racks, winner.racks, "takes {} more", "takes {} fewer", "rack", 1),
    ):
        if mine is None or best is None or abs(mine - best) < least:
            continue
        if unit == "W" and option.powerless != winner.powerless:
            continue
        apart = float(f"{abs(mine - best):.2g}")
        said = amount(apart, unit) + "s" * (unit == "rack" and apart > 1)
        (against if mine > best else pro).append((worse if mine > best else better).format(said))
    return (*found, *against, *(f"but {text}" for text in pro))


def _share(value: float) -> str:
    """A share in per cent that may be more than all."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"


@dataclass(frozen=True, slots=True)
class Condition:
    """What would have to be true of one input for another design to cost as little as the winner."""

    path: str
    label: str
    unit: str
    now: Any
    """None where nobody knows it."""
    needed: Any
    """Value at which both cost the same, or a choice or a number of years at which the other costs no more; None if there
    is none."""
    possible: bool
    text: str
    beyond: bool = False
    """Whether a price would have to be outside what is known of it, its low and high."""


class _Pair(NamedTuple):
    """Two designs planned with the same change."""

    other: Costs
    winner: Costs

    @property
    def gap(self) -> float:
        """Net present cost by which the other is dearer."""
        return self.other.net_present - self.winner.net_present


def to_win(scenario: Scenario, catalog: Catalog, winner: Option, other: Option) -> tuple[Condition, ...]:
    """What one input would have to be, everything else as it is, for another design to cost as little as the winner.

    Every answer is checked by planning both again.

    Parameters
    ----------
    scenario : Scenario
        The customer's question. [-]
    catalog : Catalog
        Hardware, software, rules and their sources. [-]
    winner, other : Option
        The cheapest design, and the one that is to become it. [-]

    Returns
    -------
    to_win : tuple of Condition
        Prices, discounts, licences, years and the discount rate; the failures to tolerate where it is cheaper already but
        tolerates too few; empty if one of the two cannot be planned, or they cost the same. [-]
    """
    duel = _Duel(scenario, catalog, winner.candidate, other.candidate)
    now = duel.planned()
    if now is None:
        return ()
    if now.gap <= 0 and not other.unpriced:
        path, fewer = "availability.host_failures", other.candidate.host_failures
        asked_for, label = scenario.availability.host_failures, FIELD_BY_PATH[path].label
        text = f"{label}: {fewer} instead of {asked_for}; it costs less already."
        few = Condition(path, label, "host", asked_for, fewer, True, text)
        return (few,) if fewer < asked_for else ()
    found = [
        _solved(duel, now, path, label, unit) for path, label, unit in _levers(scenario, catalog, duel, now)
    ]
    found += [
        _chosen(duel, now, path) for path in ("cost.years", "cost.gpu_licence", "cost.platform_licence")
    ]
    return tuple(found)


class _Duel:
    """The winner and another design, planned again and again with one input changed."""

    def __init__(self, scenario: Scenario, catalog: Catalog, winner: Candidate, other: Candidate) -> None:
        self.scenario, self.catalog = scenario, catalog
        self.winner, self.other = winner, other

    def planned(self, path: str = "", value: Any = None) -> _Pair | None:
        """Both with an input at some value; None if one of them cannot be planned."""
        scenario = self.scenario.with_value(path, value) if path else self.scenario
        try:
            plans = [make_plan(each.apply(scenario), self.catalog) for each in (self.other, self.winner)]
        except ScenarioError:
            return None
        return _Pair(plans[0].costs, plans[1].costs) if plans[0].costs and plans[1].costs else None


def _levers(scenario: Scenario, catalog: Catalog, duel: _Duel, now: _Pair) -> Iterator[tuple[str, str, str]]:
    """Path, label and unit of each input that is a number."""
    currency = scenario.cost.currency
    seen = set()
    for candidate in (duel.other, duel.winner):
        server = server_price(candidate.apply(scenario), catalog)[0]
        for key, name in (
            (f"gpus/{candidate.gpu}", catalog.gpus[candidate.gpu].name),
            (server, catalog.servers[candidate.server].name if candidate.server else "a server of any make"),
        ):
            if key not in seen:
                seen.add(key)
                yield (
                    f"prices.{key}",
                    f"{'Purchase price' if scenario.internal.margin else 'Price'} of {name}",
                    currency,
                )
    yield "prices.electricity-kwh", "Price of electricity", currency
    for path in ("cost.hardware_discount", "cost.licence_discount", RATE):
        yield path, FIELD_BY_PATH[path].label, "1"


def _now(duel: _Duel, now: _Pair, path: str) -> float | None:
    """What an input is in the plans, whoever states it; None if nobody knows it."""
    if path == RATE:
        return now.other.discount_rate
    if not path.startswith("prices."):
        return float(duel.scenario.get(path))
    price = _price(now, path)
    return float(price.given.value) if price else None


def _price(now: _Pair, path: str) -> Price | None:
    """The price that one of the two pays, if the path is that of a price."""
    return next((p for costs in now for p in costs.prices if f"prices.{p.key}" == path), None)


def _solved(duel: _Duel, now: _Pair, path: str, label: str, unit: str) -> Condition:
    """The value of a number at which both designs cost the same."""
    spec, current = field_of(path), _now(duel, now, path)
    start = spec.low if current is None else current
    step = 0.1 if unit == "1" else max(1.0, start)
    shown = "not known" if current is None else _shown(current, unit)
    scale = max(abs(now.other.net_present), abs(now.winner.net_present))

    def condition(needed: float | None, possible: bool, text: str, beyond: bool = False) -> Condition:
        return Condition(path, label, unit, current, needed, possible, f"{label}: {text}", beyond)

    gaps = [_gap(duel, path, value) for value in (start, start + step)]
    if gaps[0] is None or gaps[1] is None:
        return condition(None, False, "one of the two cannot be planned.")
    change = gaps[1] - gaps[0]
    if abs(change) < 1e-9 * scale:
        return condition(None, False, "changes both alike.")
    needed = start - gaps[0] * step / change
    if path == RATE:  # the only one that the cost does not follow in a straight line
        root = _root(duel, path, spec.low, spec.high, scale)
        needed = root if root is not None else spec.high + 1
    if not spec.low <= needed <= spec.high:
        bound = spec.low if needed < spec.low else spec.high
        return condition(None, False, f"not enough even at {_shown(bound, unit)} (now {shown}).")
    there = _gap(duel, path, needed)
    if there is None or abs(there) > SAME * scale:
        return condition(None, False, "one of the two cannot be planned where they would cost the same.")
    said = f"{'at most' if change > 0 else 'at least'} {_shown(needed, unit)} instead of {shown}"
    price = _price(now, path)
    low, high = (price.given.low, price.given.high) if price else (None, None)
    if low is not None and high is not None and not low <= needed <= high:
        return condition(
            needed, True, f"{said}; what is known of it is {_shown(low, unit)} to {_shown(high, unit)}.", True
        )
    return condition(needed, True, f"{said}.")


RATE = "cost.discount_rate"
SAME = 1e-7
"""Share of its cost by which two designs may differ that cost the same."""


def _gap(duel: _Duel, path: str, value: float) -> float | None:
    """By how much the other is dearer with an input at some value; None if one cannot be planned."""
    pair = duel.planned(path, value)
    return None if pair is None else pair.gap


def _root(duel: _Duel, path: str, low: float, high: float, scale: float) -> float | None:
    """The value between two bounds at which both cost the same, by halving; None if the order is the same at both."""
    first, last = _gap(duel, path, low), _gap(duel, path, high)
    if first is None or last is None or first * last > 0:
        return None
    while True:
        middle = (low + high) / 2
        gap = _gap(duel, path, middle)
        if gap is None or abs(gap) <= SAME * scale or high - low < 1e-12:
            return middle
        low, high = (middle, high) if gap * first > 0 else (low, middle)


def _chosen(duel: _Duel, now: _Pair, path: str) -> Condition:
    """The choice, or the number of years nearest to those looked at, at which the other design costs no more."""
    spec, current = FIELD_BY_PATH[path], duel.scenario.get(path)
    names = LICENCE_NAMES.get(path, {})
    shown = names.get(current, current)
    choices: list[Any] = [c for c in spec.choices if c != current]
    if spec.kind == "int":
        choices = sorted(
            (n for n in range(int(spec.low), int(spec.high) + 1) if n != current),
            key=lambda n: (abs(n - current), n),
        )
    for value in choices:
        pair = duel.planned(path, value)
        if pair is not None and pair.gap <= 0 < now.gap:
            text = f"{spec.label}: {names.get(value, value)} instead of {shown}."
            return Condition(path, spec.label, spec.unit, current, value, True, text)
    return Condition(
        path,
        spec.label,
        spec.unit,
        current,
        None,
        False,
        f"{spec.label}: no other makes it cheaper (now {shown}).",
    )


def _shown(value: float, unit: str) -> str:
    return percent(value) if unit == "1" else money(value, unit)
