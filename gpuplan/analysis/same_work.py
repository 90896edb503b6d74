"""Same work: for each board the cheapest design for the same users, promises and tolerance, and what one GPU does there."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from gpuplan.analysis.candidates import asked, default_space, too_small, usual_boards
from gpuplan.analysis.engines import Engine
from gpuplan.analysis.option import Option, assess
from gpuplan.analysis.solve.bounds import Bound, ToBound, bare, bounds, measured_alone
from gpuplan.analysis.solve.designs import Design, space_of
from gpuplan.analysis.solve.quantities import quantity_of
from gpuplan.analysis.solve.trial import Question
from gpuplan.analysis.variants import Progress
from gpuplan.catalog import Catalog, load_catalog
from gpuplan.models.llm.serving import token_rate
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.boards import interactive, memory_of, speed_of, work_of
from gpuplan.plan.hardware import fit_of, takers
from gpuplan.plan.llm import RETRIEVAL, SERVING, TUNING, uses_model
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import engine_of
from gpuplan.plan.llm.serving import Serving
from gpuplan.plan.llm.sizing import asked_of, reusing
from gpuplan.plan.llm.tuning import Tuning
from gpuplan.scenario import Group, Limits, Scenario, views
from gpuplan.wording import NAMES, money, said

OF_MODELS = {SERVING: "tokens", TUNING: "trained", RETRIEVAL: "queries"}
"""Workload kind -> what is counted of its model."""
MOST_BOARDS = 10
"""Boards that are compared unless some are asked for."""
MOST_REASONS = 3
"""Differences from the cheapest board that are told."""
ALIKE = 0.98
"""Part of another speed from which a speed is not told from it."""
LEAST_GPUS = 0.5
"""Difference in the GPUs of a workload from which it is worth a sentence."""


@dataclass(frozen=True, slots=True)
class GpuWork:
    """What one GPU of a board does of one workload."""

    group: str
    name: str
    of: str
    """What is counted: ``tokens`` or ``trained`` (a second), ``queries`` (a second), ``vms``, or ``times`` the requested board's work."""
    value: float | None
    """None where the board cannot serve the workload."""
    gpus: float | None
    """GPUs of the workload at its peak in this design; None without a design."""
    each: float | None
    """GPUs of one of its VMs."""
    basis: str
    sources: tuple[str, ...]
    how: str
    share: float | None = None
    """Part of the most that a GPU of the boards compared does."""


@dataclass(frozen=True, slots=True)
class BoardCard:
    """The cheapest design with a board for the same users, promises and tolerance, or why there is none."""

    gpu: str
    name: str
    option: Option
    """The design; where there is none, without numbers, and with the reasons."""
    works: tuple[GpuWork, ...]
    differences: tuple[str, ...] = ()
    """Why it takes more, or costs more, than the cheapest board: the most important first."""

    @property
    def can(self) -> bool:
        """True if the design serves the same users within the same promises and tolerance."""
        return not self.option.reasons


def same_work(
    scenario: Scenario,
    catalog: Catalog | None = None,
    boards: Sequence[str] = (),
    progress: Progress | None = None,
    workers: int = 1,
) -> tuple[BoardCard, ...]:
    """Return a card for each board: the cheapest first, those without a price next, those that cannot last.

    Without ``boards``: the requested one, and those that the limits allow, or else its usual replacements. Each is planned
    with the numbers of GPUs per host, access modes and links that are solved over, in the server of an allowed maker that costs
    least; licences keep their term, and a board that is no longer sold cannot. ``workers`` processes plan them, 0: one per core.
    """
    catalog = load_catalog() if catalog is None else catalog
    gpus = tuple(dict.fromkeys(boards)) or boards_to_compare(scenario, catalog)
    cards: list[BoardCard] = []
    with Engine(catalog, workers=workers) as engine:
        for part in engine.each(partial(_card, scenario), gpus):
            cards += part
            if progress:
                progress(len(cards), len(gpus))
    cards.sort(key=lambda card: (_rank(card.option), gpus.index(card.gpu)))
    best = next((card for card in cards if card.can and not card.option.unpriced), None)
    cards = [replace(card, works=_in_parts(card, cards)) for card in cards]
    return tuple(replace(card, differences=_differences(card, best, scenario, catalog)) for card in cards)


def boards_to_compare(scenario: Scenario, catalog: Catalog) -> tuple[str, ...]:
    """Return the requested board, and those that the limits allow, or else those usual beside it."""
    allowed = {name.casefold() for name in scenario.limits.names("boards")}
    own, listed = scenario.hardware.gpu, [gpu for gpu in catalog.gpus if gpu.casefold() in allowed]
    homeless = [gpu for gpu in catalog.gpus if not takers(gpu, catalog)]
    usual = (*default_space(scenario, catalog).gpus, *usual_boards(scenario, catalog, homeless))
    return tuple(dict.fromkeys((own, *listed))) if listed else tuple(dict.fromkeys(usual))[:MOST_BOARDS]


def _rank(option: Option) -> tuple[Any, ...]:
    """Order of designs: those that do before others, priced before unpriced, then by net present cost; of others first those nearest to it, without remote GPUs."""
    if option.reasons:
        nearest = (option.unplaced_vms or 0, len(option.reasons), option.kept is not None)
        return (True, option.hosts is None, *nearest)
    cost = float("inf") if option.net_present is None else option.net_present
    return (False, bool(option.unpriced), cost, option.hosts or 0)


# ---- the design of a board


def _card(scenario: Scenario, catalog: Catalog, gpu: str) -> BoardCard:
    option = _cheapest(scenario, catalog, gpu)
    plan = None
    if not option.reasons:
        plan = make_plan(option.candidate.apply(scenario, catalog), catalog, check=False)
    else:
        option = Option(option.candidate, option.label, reasons=option.reasons)
    view = views(scenario)[0]
    groups = (group for group in view.groups if not group.hosts)
    works = tuple(work_of_gpu(view, catalog, group, gpu, plan) for group in groups)
    return BoardCard(gpu, catalog.gpus[gpu].name, option, works)


def _cheapest(scenario: Scenario, catalog: Catalog, gpu: str) -> Option:
    """Return the cheapest design with a board that does the work, else the one that comes nearest.

    The designs are those that are solved over, with licences for the term as it is; amounts that are limited keep none out.
    """
    free = replace(scenario, limits=Limits(vendors=scenario.limits.vendors))
    space = replace(space_of(free, catalog, (gpu,)), terms=(scenario.cost.licence_term_years,))
    if not space.hosts:
        nearest, why = replace(asked(scenario), gpu=gpu, server=""), dict(space.left_out)[gpu]
        small = too_small(gpu, views(scenario)[0], catalog)
        return Option(nearest, catalog.gpus[gpu].name, reasons=(small or why,))
    best: Option | None = None
    for bound in _promising(Question(scenario, quantity_of(scenario, "cost"), space), catalog):
        if best and not best.reasons and bound.least >= (best.net_present or 0):
            break
        ways = [replace(bound.design.hosts, link_gbit_s=link) for link in space.links]
        tried = [assess(scenario, catalog, way, same_work=True) for way in ways]
        best = min([*filter(None, [best]), *tried], key=_rank)
    assert best
    return best


def _promising(question: Question, catalog: Catalog) -> list[Bound]:
    """Return designs for each number of GPUs per host and access mode, in the server that costs least, the cheapest first."""
    term, own = question.scenario.cost.licence_term_years, asked(question.scenario).server
    designs = tuple(Design(hosts, term) for hosts in question.space.hosts)

    def order(bound: Bound) -> tuple[float, bool, int]:
        hosts = bound.design.hosts
        fit = fit_of(catalog, hosts.server, hosts.gpu)
        return bound.least, hosts.server != own, fit.gpus if fit else 0

    alone = {bare(design.hosts): None for design in designs}
    units = dict(measured_alone(catalog, (question, hosts)) for hosts in alone)
    unique: dict[tuple[int, str], Bound] = {}
    for bound in sorted(bounds(catalog, ToBound(question, designs, units)), key=order):
        unique.setdefault((bound.design.hosts.gpus_per_host, bound.design.hosts.sharing), bound)
    return list(unique.values())


# ---- the work of one GPU


def work_of_gpu(view: Scenario, catalog: Catalog, group: Group, gpu: str, plan: Plan | None) -> GpuWork:
    """Return what one GPU of a board does of a workload, in the design or, without one, as far as the board tells."""
    planned = next((each for each in plan.groups if each.id == group.id), None) if plan else None
    if interactive(catalog, group):
        return _of_vms(view, catalog, group, gpu, planned)
    if plan and planned and uses_model(group):
        return _of_model(plan, planned)
    gpus, each = (planned.demand_gpus, planned.gpus_each) if planned else (None, None)
    if uses_model(group):
        of, how = OF_MODELS[group.use_case], said("same.no design")
        return GpuWork(group.id, group.name, of, None, gpus, each, "fitted", (), how)
    work = speed_of(catalog, group, view.hardware.gpu, gpu)
    return GpuWork(group.id, group.name, "times", work.ratio, gpus, each, work.basis, work.sources, work.how)


def _of_vms(view: Scenario, catalog: Catalog, group: Group, gpu: str, planned: GroupPlan | None) -> GpuWork:
    """Return the VMs of users that one GPU holds: as many as have their memory there, and as its profiles allow."""
    own = view.hardware.gpu
    each, work = float(group.gpus_each) * memory_of(catalog, own, gpu), work_of(catalog, group, own, gpu)
    vms: float = int(1 / each + 1e-9) if group.gpus_each < 1 else 1 / each
    gpus, how = None, work.how
    if planned:
        vms = 1 / planned.gpus_each if planned.gpus_each else vms
        rows = (row for row in catalog.profiles_of(gpu) if row["profile"] == planned.profile)
        most = next((int(row["max_per_gpu"]) / planned.vgpus for row in rows), vms)
        if most < vms - 1e-9:
            vms, how = most, said("same.profile", profile=planned.profile, most=most)
        gpus = planned.vms / vms
    sources = work.sources or catalog.gpus[gpu].fact("memory_gib").sources
    return GpuWork(group.id, group.name, "vms", vms, gpus, 1 / vms if vms else None, work.basis, sources, how)


def _of_model(plan: Plan, planned: GroupPlan) -> GpuWork:
    """Return the tokens or queries a second of one GPU on a language model, as the plan's chapter counts them."""
    made, at = plan.llm.of(planned.id), f"groups.{planned.id}"
    value: float | None
    if isinstance(made, Serving):
        of, value, line = "tokens", _tokens_per_s(plan, made), plan.lines[f"{at}.llm_replica_tokens"]
        words = {"requests": made.limits.requests / made.gpus, "gpus": made.gpus}
        how = said("same.served", limit=NAMES["bound of a GPU"][made.limits.by], **words)
    elif isinstance(made, Tuning):
        of, value, line = "trained", made.tokens_per_gpu.value, plan.lines[f"{at}.job_tokens"]
        how = said("same.tuned", hours=made.hours.value, gpus=made.gpus * made.hosts)
    else:
        assert made
        value = made.queries_per_s / made.busy_gpus if made.busy_gpus else None
        of, line, how = "queries", plan.lines[f"{at}.rag_gpus"], said("same.searched")
    gpus, each = planned.demand_gpus, planned.gpus_each
    return GpuWork(planned.id, planned.name, of, value, gpus, each, line.basis, line.sources, how)


def _tokens_per_s(plan: Plan, made: Serving) -> float:
    """Return the tokens a second of one GPU with as many concurrent requests as its promises allow."""
    group = next(group for group in plan.scenario.groups if group.id == made.id)
    asks = Asks(plan.scenario, plan.catalog, group)
    engine = engine_of(asks)
    engine, served = reusing(engine, asked_of(asks, engine), made.size.sessions)
    lengths = {"tokens_in": served.load.tokens_in, "tokens_out": served.load.tokens_out}
    return token_rate(engine.on(made.gpus), requests=made.limits.requests, **lengths).value / made.gpus


def _in_parts(card: BoardCard, cards: Sequence[BoardCard]) -> tuple[GpuWork, ...]:
    """Return the works of a card in parts of the best of all cards."""
    most = [max(work.value or 0.0 for work in same) for same in zip(*(c.works for c in cards), strict=True)]
    pairs = zip(card.works, most, strict=True)
    return tuple(replace(work, share=work.value / best if work.value else None) for work, best in pairs)


# ---- why another board takes more


def _differences(
    card: BoardCard, best: BoardCard | None, scenario: Scenario, catalog: Catalog
) -> tuple[str, ...]:
    """Return what sets a board that can apart from the cheapest, the workload with most GPUs between them first."""
    if best is None or card is best or not card.can:
        return ()
    sentences = (
        *_dearer(card, best, scenario.cost.currency),
        *_of_workloads(card, best),
        *_of_links(card, best, catalog),
        *_of_hosts(card, best),
    )
    return sentences[:MOST_REASONS]


def _dearer(card: BoardCard, best: BoardCard, currency: str) -> Iterator[str]:
    options = card.option, best.option
    gpus = [option.gpus or 0 for option in options]
    costs = [(option.net_present or 0.0) / (option.gpus or 1) for option in options]
    if gpus[0] <= gpus[1] and costs[0] > costs[1]:
        here, there = (money(cost, currency) for cost in costs)
        yield said("same.dearer", here=here, there=there, cheapest=best.name)


def _of_workloads(card: BoardCard, best: BoardCard) -> list[str]:
    told = []
    for work, other in zip(card.works, best.works, strict=True):
        more = abs((work.gpus or 0.0) - (other.gpus or 0.0))
        if more >= LEAST_GPUS and work.value and other.value:
            told.append((more, _apart(work, other, best.name)))
    return [text for _, text in sorted(told, key=lambda each: -each[0])]


def _of_links(card: BoardCard, best: BoardCard, catalog: Catalog) -> Iterator[str]:
    here, there = (float(catalog.gpus[gpu].value("nvlink_gb_s") or 0) for gpu in (card.gpu, best.gpu))
    names = ", ".join(work.name for work in card.works if work.gpus and (work.each or 0) > 1)
    if names and here < there:
        key = "same.less nvlink" if here else "same.no nvlink"
        yield said(key, names=names, cheapest=best.name, here=here, there=there)


def _of_hosts(card: BoardCard, best: BoardCard) -> Iterator[str]:
    here, there = (each.option.candidate.gpus_per_host for each in (card, best))
    if here != there and card.option.hosts != best.option.hosts:
        yield said("same.per host", cheapest=best.name, here=here, there=there)


def _apart(work: GpuWork, other: GpuWork, cheapest: str) -> str:
    """Return the GPUs of a workload on two boards, with the figure of one GPU, or of one VM, that makes them differ."""
    gpus, best, value, most = (each or 0.0 for each in (work.gpus, other.gpus, work.value, other.value))
    words = {"name": work.name, "gpus": round(gpus, 1), "best": round(best, 1), "cheapest": cheapest}
    if work.of == "times" and (gpus > best) != (value < ALIKE * most):
        return said("same.held", here=round(work.each or 0, 3), there=round(other.each or 0, 3), **words)
    how = other.how if work.how == said("equivalence.same board") else work.how
    times, (value, most) = f"{value / most:.2g}", (float(f"{each:.3g}") for each in (value, most))
    return said(f"same.{work.of}", value=value, other=most, times=times, how=how, **words)
