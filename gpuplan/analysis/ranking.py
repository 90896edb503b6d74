"""Ranking: which candidates do what is asked, the cheapest first, and why each other one is not the winner."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from gpuplan.analysis.candidates import (
    SHARING,
    Candidate,
    asked,
    launched,
    maybe_ended,
    takers,
    too_little,
    unfit,
)
from gpuplan.analysis.same_work import Work, work_of
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.hardware import fit_of
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import ANY_HOST, LARGE_HOST, MODULE_HOSTS, factor
from gpuplan.scenario import FIELD_BY_PATH, Scenario, ScenarioError
from gpuplan.wording import MODE_NAMES, amount, hours, money, number, percent


@dataclass(frozen=True, slots=True)
class Option:
    """A candidate that was planned. Numbers are None where it cannot be planned."""

    candidate: Candidate
    label: str
    hosts: int | None = None
    hosts_at_end: int | None = None
    """With those bought for the growth, which its cost holds."""
    gpus: int | None = None
    gpus_alike: int | None = None
    """GPUs that it would have if one of its GPUs did no more and no less than one of those that the demand is stated in."""
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
    confirm: tuple[str, ...] = ()
    """What to ask the maker before it is signed."""
    maybe_ended: bool = False
    """Whether its board came out so long ago that it may no longer be sold."""


def assess(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> Option:
    """One candidate, planned."""
    label = candidate.label(catalog)
    if why := unfit(scenario, catalog, candidate):
        other = not candidate.server and candidate.gpu != scenario.hardware.gpu
        return Option(candidate, catalog.gpus[candidate.gpu].name if other else label, reasons=(why,))
    try:
        plan = _planned(scenario, catalog, candidate)
    except ScenarioError as error:
        reasons = tuple(f"{_input(scenario, p.path)} {p.value}: {p.message}" for p in error.problems)
        return Option(candidate, label, reasons=reasons)
    waiting = plan.lines.get("totals.waiting")
    return Option(
        candidate=candidate,
        label=label,
        hosts=plan.totals.hosts,
        gpus=plan.totals.gpus,
        gpus_alike=_gpus_alike(plan, scenario, catalog, candidate),
        waiting_pct=float(waiting.value) if waiting else None,
        short_h=next((p.short_h for p in plan.postures if p.chosen), None),
        kept=min((use.kept for use in plan.network.remote), default=None),
        unplaced_vms=plan.totals.unplaced_vms,
        reasons=tuple(_reasons(plan, _chosen_for(scenario, candidate))),
        modes=tuple(group.mode for group in plan.groups),
        confirm=tuple(_to_confirm(plan)),
        maybe_ended=bool(day := _bought_on(plan)) and maybe_ended(candidate.gpu, catalog, day),
        **_money(plan.costs),
        **_power(plan.power),
    )


def _planned(scenario: Scenario, catalog: Catalog, candidate: Candidate) -> Plan:
    """The plan of a candidate; those that differ in their link alone share all that does not depend on it."""
    link = scenario.network.link_gbit_s
    on_own_link = _on_own_link(replace(candidate, link_gbit_s=link).apply(scenario, catalog), catalog)
    return (
        on_own_link
        if candidate.link_gbit_s == link
        else on_own_link.relinked(candidate.apply(scenario, catalog))
    )


@lru_cache(maxsize=2)  # candidates come link after link: without it exploring takes a third longer
def _on_own_link(scenario: Scenario, catalog: Catalog) -> Plan:
    return make_plan(scenario, catalog)


def _gpus_alike(plan: Plan, scenario: Scenario, catalog: Catalog, candidate: Candidate) -> int | None:
    """GPUs of a candidate if a GPU counted as a GPU; None where that cannot be planned."""
    if candidate.gpu == scenario.hardware.gpu:
        return plan.totals.gpus
    return _placed_gpus(_hosts_only(candidate.apply(scenario, catalog, alike=True)), catalog)


def _hosts_only(scenario: Scenario) -> Scenario:
    """A scenario without what changes no host."""
    bare = Scenario()
    return replace(
        scenario, network=bare.network, training=bare.training, cost=bare.cost, prices=(), origins=()
    )


@lru_cache(maxsize=512)  # candidates that differ in the link have the same hosts: a third of the time
def _placed_gpus(scenario: Scenario, catalog: Catalog) -> int | None:
    try:
        plan = make_plan(scenario, catalog)
    except ScenarioError:
        return None
    return sum(plan.hosts_by_pool().values()) * scenario.hardware.gpus_per_host


def _bought_on(plan: Plan) -> str:
    """The day for which prices are taken; empty where those hosts that are already there are enough, also for the growth."""
    there = sum(pool.existing_hosts for pool in plan.pools)
    return plan.costs.as_of if plan.costs and max(plan.costs.hosts) > there else ""


def _to_confirm(plan: Plan) -> Iterator[str]:
    """What is to be asked: whether a server is sold with a board that no list shows in it, whether few hosts or one processor do, whether an old board is still sold."""
    catalog, hardware = plan.catalog, plan.scenario.hardware
    gpu = catalog.gpus[hardware.gpu]
    day = _bought_on(plan)
    if not day:
        return
    fit = fit_of(catalog, hardware.server, gpu.id) if hardware.server else None
    if hardware.server and (fit is None or fit.basis in ("derived", "assumed")):
        yield f"that {catalog.servers[hardware.server].name} is sold with {gpu.name}"
    if hardware.server and catalog.servers[hardware.server].value("cpu_sockets") == 1:
        cores = int(factor(plan.scenario, catalog, "cores_per_socket").value)
        yield f"that one processor of {cores} cores is enough for {amount(hardware.gpus_per_host, 'GPU')}"
    least = int(catalog.assumptions["vi-cluster"].fact("min_hosts").value)
    if few := [pool.hosts for pool in plan.pools if pool.hosts < least]:
        yield f"that a cluster may have {amount(min(few), 'host')}, where it usually starts with {least}"
    if maybe_ended(gpu.id, catalog, day):
        yield f"that {gpu.name}, of {launched(gpu.id, catalog)}, is still sold"


def _money(costs: Costs | None) -> dict[str, Any]:
    """What a design costs, and what that leaves out."""
    if costs is None:
        return {}
    return {
        "hosts_at_end": costs.hosts[-1],
        "total": costs.total,
        "net_present": costs.net_present,
        "first": costs.cash[0],
        "gpu_hour_used": costs.gpu_hour_used,
        "excludes": costs.excludes,
        "assumed_prices": sum(p.fact.basis == "assumed" for p in costs.prices),
        "old_prices": sum(p.old for p in costs.prices),
        "unpriced": _unpriced(costs),
    }


def _power(power: PowerUse | None) -> dict[str, Any]:
    """What a design draws, and how many racks it takes if one may hold a host."""
    if power is None:
        return {}
    return {"peak_w": power.peak_w, "racks": power.racks or None, "powerless": power.unknown_power}


def _input(scenario: Scenario, path: str) -> str:
    """What a problem is about: an input, or the path of something else."""
    return scenario.label(path) if path in FIELD_BY_PATH or path.count(".") == 2 else path


HOSTS = (ANY_HOST, LARGE_HOST, *MODULE_HOSTS.values())


def _unpriced(costs: Costs) -> tuple[str, ...]:
    """GPUs, servers and their adapters whose price nobody knows: every host has them, so that its cost says little."""
    return tuple(
        item.name
        for item in costs.unknown
        if item.key.startswith(("gpus/", "servers/", "adapter-")) or item.key in HOSTS
    )


def _chosen_for(scenario: Scenario, candidate: Candidate) -> dict[str, str]:
    """Groups for which a candidate chooses the mode, not the customer, and the name of that mode."""
    if candidate.sharing == SHARING[0]:
        return {}
    return {group.id: MODE_NAMES[candidate.sharing] for group in scenario.groups if group.access == "auto"}


def _reasons(plan: Plan, chosen: Mapping[str, str] = MappingProxyType({})) -> Iterator[str]:
    """Why a design does not do what is asked; ``chosen`` has the modes that the customer has not decided on."""
    yield from _without_gpu(plan, chosen)
    yield from _slow_over_network(plan)
    yield from _not_to_build(plan)


def _without_gpu(plan: Plan, chosen: Mapping[str, str]) -> Iterator[str]:
    """VMs without a GPU, now or after a failure."""
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


def _slow_over_network(plan: Plan) -> Iterator[str]:
    """Groups whose work the link does not carry."""
    link = f"{plan.scenario.network.link_gbit_s} Gbit/s do not carry"
    for use in plan.network.remote:
        if use.verdict == "bad":
            yield f"{use.name}: {link} the work, of whose native speed {percent(use.kept)} is left"
    for job in plan.network.training[:-1]:
        if job.verdict == "bad":
            yield (
                f"{job.name}: {link} its training across {job.hosts} hosts, which "
                f"reaches {percent(job.efficiency)} of what its GPUs do alone"
            )


def _not_to_build(plan: Plan) -> Iterator[str]:
    """A host that no rack takes, and a GPU that no source says can be shared."""
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
class BoardWork:
    """The work that one GPU of a board does for some groups."""

    gpu: str
    own: str
    """The board that the demand is stated in."""
    groups: tuple[str, ...]
    ratio: float
    """In GPUs of that board."""
    how: str
    basis: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exploration:
    """All candidates, sorted out."""

    ranked: tuple[Option, ...]
    """In and priced: those that tolerate the failures asked for, then those that tolerate more, last those that tolerate fewer; among
    them those whose board is surely still sold, the cheapest by net present cost first."""
    unpriced: tuple[Option, ...]
    """In, but GPUs or servers have no price."""
    rejected: tuple[Option, ...]
    frontier: tuple[Option, ...]
    """Ranked ones that no other beats in cost, hours short and waiting at once."""
    winner: Option | None
    """The cheapest that tolerates the failures asked for, or more if none does."""
    asked: Option
    """The design as it stands."""
    currency: str
    works: tuple[BoardWork, ...]
    """How the ranked boards were compared."""
    notes: tuple[str, ...]

    @property
    def best(self) -> tuple[Option, ...]:
        """The first of the ranking on each hardware (boards, server and number of them a host), each once of those that cost the same."""
        first: dict[tuple[str, str, int], Option] = {}
        for option in self.ranked:
            chosen = option.candidate
            first.setdefault((chosen.gpu, chosen.server, chosen.gpus_per_host), option)
        found: dict[tuple[Any, ...], Option] = {}
        for option in first.values():
            found.setdefault(
                (option.candidate.gpu, option.candidate.gpus_per_host, option.net_present), option
            )
        return tuple(found.values())


def sorted_out(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], beyond: Sequence[str] = ()
) -> Exploration:
    """Ranking, frontier and winner of what was planned; ``beyond`` are boards that would do and were not looked at."""
    own = asked(scenario)
    options = _distinct(options)
    rejected = [o for o in options if o.reasons or o.net_present is None]
    inside = [o for o in options if not o.reasons and o.net_present is not None]

    def rank(option: Option) -> tuple[Any, ...]:
        failures = option.candidate.host_failures
        return (
            2 if failures < own.host_failures else int(failures > own.host_failures),
            option.maybe_ended,
            option.net_present,
            option.candidate != own,
            len(option.confirm),
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
        works=tuple(_works(scenario, catalog, [o for o in ranked if o.candidate.gpu != own.gpu])),
        notes=(
            *_notes_on_boards(scenario, catalog, options, ranked),
            *_notes_on_missing(scenario, catalog, options, beyond),
            *_notes_on_costs(scenario, ranked, winner),
        ),
    )


def _works(scenario: Scenario, catalog: Catalog, others: Sequence[Option]) -> Iterator[BoardWork]:
    """The work of each board that is ranked, groups alike together."""
    own = scenario.hardware.gpu
    for gpu in dict.fromkeys(option.candidate.gpu for option in others):
        alike: dict[Work, list[str]] = {}
        for group in scenario.groups:
            alike.setdefault(work_of(catalog, group, own, gpu), []).append(group.name)
        for work, names in alike.items():
            name, mine = catalog.gpus[gpu].name, catalog.gpus[own].name
            yield BoardWork(name, mine, tuple(names), work.ratio, work.how, work.basis, work.sources)


def _distinct(options: Sequence[Option]) -> list[Option]:
    """The options, each design once: a way to share that the rules choose by themselves is not another design."""
    found: dict[Option, Option] = {}
    for option in sorted(options, key=lambda o: SHARING.index(o.candidate.sharing)):
        alike = replace(option, candidate=replace(option.candidate, sharing=""), label="")
        found.setdefault(alike if option.modes else option, option)
    kept = set(found.values())
    return [option for option in options if option in kept]


def frontier(options: Sequence[Option]) -> tuple[Option, ...]:
    """Those that no other beats in net present cost, hours short of hosts and waiting at once, in the same order."""
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


def _notes_on_costs(scenario: Scenario, ranked: Sequence[Option], winner: Option | None) -> Iterator[str]:
    """What a reader of the costs must know."""
    left_out = dict.fromkeys(name for option in ranked for name in option.excludes)
    if left_out:
        yield (
            f"Some costs leave out for want of a price or a figure: {'; '.join(left_out)}. Designs that contain it look cheaper than they are; each "
            "says what its cost leaves out."
        )
    if winner and winner.excludes and winner.net_present:
        yield _note_on_winner(scenario, ranked, winner, winner.net_present)
    speeds = {o.candidate.link_gbit_s for o in ranked}
    costs = {(o.candidate.link_gbit_s, o.net_present) for o in ranked}
    if len(speeds) > 1 and len({c for _, c in costs}) * len(speeds) == len(costs):
        yield "Links of different speed cost the same here; where designs cost the same, that with the chosen link comes first."


def _notes_on_boards(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], ranked: Sequence[Option]
) -> Iterator[str]:
    """How GPUs are compared, and what is to be asked before one is bought."""
    own = scenario.hardware.gpu
    others = dict.fromkeys(o.candidate.gpu for o in ranked if o.candidate.gpu != own)
    if others:
        yield (
            f"The same work: of each board as many GPUs as do what those of this design ({catalog.gpus[own].name}) do, no VM with less "
            "memory than it has; \u2018counted alike\u2019 is their number if a GPU counted as a GPU."
        )
    ended = dict.fromkeys(catalog.gpus[o.candidate.gpu].name for o in ranked if o.maybe_ended)
    if ended:
        yield f"Designs with boards that may no longer be sold stand last, whatever they cost: {', '.join(ended)}."
    asked_for = [o for o in options if o.candidate.gpu != own]
    if asked_for and scenario.hardware.existing:
        yield "Hosts already there hold the chosen GPU model; designs with another one buy all hosts anew."


def _notes_on_missing(
    scenario: Scenario, catalog: Catalog, options: Sequence[Option], beyond: Sequence[str]
) -> Iterator[str]:
    """Which boards would do and are not ranked, and how to have them ranked."""
    own = scenario.hardware.gpu
    tried = dict.fromkeys(option.candidate.gpu for option in options if option.candidate.gpu != own)
    homeless = [gpu for gpu in tried if not takers(gpu, catalog) and not too_little(gpu, scenario, catalog)]
    if homeless:
        yield (
            f"No chassis of the catalog takes {_names(homeless, catalog)}: choose the board and its server as this design\u2019s own, or add "
            "the two to server_gpus.csv in a folder of your own (--catalog)."
        )
    if beyond:
        yield (
            f"Not looked at, although they would do: {_names(beyond, catalog)}; choose one as this design\u2019s own, or explore it with --gpu."
        )


def _names(gpus: Sequence[str], catalog: Catalog) -> str:
    return ", ".join(catalog.gpus[gpu].name for gpu in gpus)


def _note_on_winner(scenario: Scenario, ranked: Sequence[Option], winner: Option, cost: float) -> str:
    """What the winner's cost leaves out, and whether that could change the order."""
    wanted = scenario.availability.host_failures
    whole = (
        o
        for o in ranked
        if not set(o.excludes) & set(winner.excludes) and o.candidate.host_failures >= wanted
    )
    said = f"The winner's cost leaves out {'; '.join(winner.excludes)}. "
    best = next(whole, None)
    if best is None or not best.net_present:
        return f"{said}So does that of every design that does not tolerate fewer failures."
    apart = money(best.net_present - cost, scenario.cost.currency)
    return (
        f"{said}It stays below the cheapest design whose cost leaves out none of that, {best.label}, while that costs less "
        f"than {apart} together over all years."
    )


def why_not(option: Option, winner: Option | None, scenario: Scenario) -> tuple[str, ...]:
    """Why an option is not the winner, in sentences: what is against it, what is for it last; none for the winner itself."""
    if option.reasons:
        return option.reasons
    found = [f"no price of {name} is known" for name in option.unpriced]
    if winner is None or option.candidate == winner.candidate:
        return tuple(found)
    wanted = scenario.availability.host_failures
    if option.candidate.host_failures < wanted:
        found.append(f"tolerates {option.candidate.host_failures} host failures, and {wanted} are asked for")
    found += _cost_apart(option, winner)
    against, pro = _measured_apart(option, winner)
    ask = [f"confirm {text}" for text in option.confirm if text not in winner.confirm]
    return (*found, *against, *ask, *(f"but {text}" for text in pro))


def _cost_apart(option: Option, winner: Option) -> Iterator[str]:
    """What an option costs beside the winner, and what the cost of only one of them counts."""
    if not option.unpriced and option.net_present is not None and winner.net_present:
        dearer = option.net_present / winner.net_present - 1
        if abs(dearer) >= 0.0005:
            yield f"costs {_share(abs(dearer))} {'more' if dearer > 0 else 'less'}"
        else:
            yield "costs the same; then the design as it stands comes first, less to confirm, fewer hosts, the chosen link, the name"
    if less := [name for name in winner.excludes if name not in option.excludes]:
        yield f"counts what the winner leaves out ({'; '.join(less)})"
    if more := [name for name in option.excludes if name not in winner.excludes]:
        yield f"leaves out {'; '.join(more)}"


MEASURED = (
    ("hosts", "takes {} more", "takes {} fewer", "host", 1),
    (
        "short_h",
        "has {} a year more of capacity shortfall",
        "has {} a year less of capacity shortfall",
        "h",
        0.1,
    ),
    ("waiting_pct", "{} more of the requests wait", "{} fewer of the requests wait", "percentage point", 0.1),
    ("peak_w", "draws {} more at its peak", "draws {} less at its peak", "W", 100),
    ("racks", "takes {} more", "takes {} fewer", "rack", 1),
)
"""What two options are compared by: figure, how more and less of it is said, unit, least difference that is worth saying."""


def _measured_apart(option: Option, winner: Option) -> tuple[list[str], list[str]]:
    """In what an option is worse than the winner, and in what it is better."""
    worse: list[str] = []
    better: list[str] = []
    for name, more, less, unit, least in MEASURED:
        mine, best = getattr(option, name), getattr(winner, name)
        if mine is None or best is None or abs(mine - best) < least:
            continue
        if unit == "W" and option.powerless != winner.powerless:
            continue
        apart = float(f"{abs(mine - best):.2g}")
        said = hours(apart) if unit == "h" else amount(apart, unit) + "s" * (unit == "rack" and apart > 1)
        if mine > best:
            worse.append(more.format(said))
        else:
            better.append(less.format(said))
    return worse, better


def _share(value: float) -> str:
    """A share in per cent that may be more than all."""
    return f"{100 * value:.2g} %" if value < 0.1 else f"{100 * value:.0f} %"
