"""Trial: one design planned for some amount of what is solved for, and what keeps it from being bought."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import NamedTuple

import numpy as np

from gpuplan.analysis.option import chosen_for, late, unmet, unpriced
from gpuplan.analysis.solve.designs import TERM, Design, Space
from gpuplan.analysis.solve.quantities import TOTAL, Quantity
from gpuplan.analysis.variants import outcome, outcome_of, standing
from gpuplan.catalog import Catalog
from gpuplan.plan import Plan, make_plan
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.plan.cost import Costs
from gpuplan.plan.limits import Within
from gpuplan.plan.power import LEAVES, SPINES
from gpuplan.scenario import RISKS, Limits, Problem, Scenario
from gpuplan.wording import PART, joined, said

LIMITS = Limits.__slots__
SHARED = (PART["Network"], PART["Spares"], PART["Workload domain"])
"""Parts of the cost that hosts of several kinds have together."""
BOUNDED = ("budget", "budget_start", "power_kw", "cooling_kw", "rack_units", "racks")
"""Limits of which a part is known before a design is planned."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is solved: a scenario with its limits, what is to be much or little, and the designs that are tried."""

    scenario: Scenario
    quantity: Quantity
    space: Space


@dataclass(frozen=True, slots=True)
class Found:
    """A design that serves this much within every limit."""

    design: Design
    label: str
    steps: int
    value: float
    """Of what is solved for, in its unit."""
    hosts: int
    gpus: int
    net_present: float
    first: float
    """Paid at the start."""
    peak_w: float
    racks: int
    within: tuple[Within, ...]

    @property
    def conditions(self) -> tuple[str, ...]:
        """What is not known of its limits, and is to be confirmed."""
        return tuple(f"{each.name}: {each.why}" for each in self.within if each.met is None)


class Miss(NamedTuple):
    """Why a design does not serve this much within the limits."""

    limits: tuple[str, ...] = ()
    """Limits that it exceeds, by their keys."""
    reason: str = ""
    """Why it cannot be built at all, where that is so."""
    within: tuple[Within, ...] = ()


def planned(question: Question, catalog: Catalog, design: Design, steps: int, *, check: bool = False) -> Plan:
    """Return the plan of a design for an amount. Raises a ScenarioError where it cannot be planned."""
    wanted = question.quantity.at(question.scenario, steps)
    return make_plan(design.apply(wanted, catalog), catalog, check=check)


def tried(
    question: Question, catalog: Catalog, design: Design, steps: int, *, whole: bool = False
) -> Found | Miss:
    """Plan a design for an amount, with the link and the term that cost least within the limits.

    With ``whole`` its checks are read too, which take longer than all else, and a rule by risk is tried on its hosts.
    """
    check = whole and question.scenario.demand.rule in RISKS
    made = outcome_of(lambda: planned(question, catalog, design, steps, check=check))
    if made.plan is None:
        return Miss(reason=_reason(made.problems))
    chosen = chosen_for(question.scenario, design.hosts)
    if (missed := _surely_missed(question, made.plan, chosen)) is not None:
        return missed
    nearest: Miss | None = None
    for variant, plan in _variants(question, made.plan, design):
        missed = _missed(plan, chosen)
        if missed is None and whole and not standing(plan).valid:
            return Miss(reason=standing(plan).words)
        if missed is None:
            return _found(question, catalog, variant, plan, steps)
        if nearest is None or nearest.reason:
            nearest = missed
    return nearest or Miss()


def _reason(problems: Sequence[Problem]) -> str:
    return "; ".join(dict.fromkeys(problem.message for problem in problems))


def _surely_missed(question: Question, plan: Plan, chosen: Mapping[str, str]) -> Miss | None:
    """Return why a plan does not do with any link and term; None where it may."""
    if why := next(chain(late(plan), unmet(plan, chosen, network=False)), ""):
        return Miss(reason=why)
    if missing := unpriced(plan.costs):
        return Miss(reason=said("solve.no price", names=joined(missing)))
    flat = _flat(plan)
    over = surely_over(with_terms(flat, question.space)) if flat else ()
    return Miss(over, within=flat.within) if flat and over else None


def _missed(plan: Plan, chosen: Mapping[str, str]) -> Miss | None:
    """Return why a plan with one link and term does not do; None where it does."""
    if why := next(unmet(plan, chosen), ""):
        return Miss(reason=why)
    over = tuple(each.key for each in plan.within if each.met is False)
    return Miss(over, within=plan.within) if over else None


def _found(question: Question, catalog: Catalog, design: Design, plan: Plan, steps: int) -> Found:
    costs, power = plan.costs, plan.power
    assert costs and power  # a plan without hosts has reasons
    about = (costs.net_present, costs.cash[0], power.peak_w, power.racks, plan.within)
    value = question.quantity.value(steps) if question.quantity.most else 0.0
    found = Found(design, design.label(catalog), steps, value, plan.totals.hosts, plan.totals.gpus, *about)
    return found if question.quantity.most else replace(found, value=objective(question, found))


def objective(question: Question, found: Found) -> float:
    """Return the figure of a design that is to be small: one of its own, or that of a limit."""
    figure = question.quantity.figure
    return _measured(found.within, figure) if figure in LIMITS else float(getattr(found, figure))


def _measured(within: Sequence[Within], key: str) -> float:
    value = next((each.value for each in within if each.key == key), None)
    return float(value) if isinstance(value, int | float) else math.inf


class Measured(NamedTuple):
    """A design by each limit, with each link and term; or why it cannot be built."""

    within: tuple[tuple[Within, ...], ...]
    reason: str


def measured(catalog: Catalog, task: tuple[Question, Design, int]) -> Measured:
    """Return how far a design is within each limit, whatever it exceeds."""
    question, design, steps = task
    steps = least_built(question, catalog, design, steps)
    chosen = chosen_for(question.scenario, design.hosts)
    made = outcome_of(lambda: planned(question, catalog, design, steps))
    if made.plan is None:
        return Measured((), _reason(made.problems))
    if why := next(chain(late(made.plan), unmet(made.plan, chosen, network=False)), ""):
        return Measured((), why)
    plans = [
        plan for _, plan in _variants(question, made.plan, design, every=True) if not [*unmet(plan, chosen)]
    ]
    return Measured(tuple(dict.fromkeys(plan.within for plan in plans)), "")


def _flat(plan: Plan) -> Plan | None:
    """Return a plan without its growth, which costs and takes no more and is made sooner; None where nothing grows."""
    scenario = plan.scenario
    if not any(group.growth for group in scenario.groups):
        return None
    return plan.relinked(scenario.with_groups([replace(group, growth=None) for group in scenario.groups]))


def least_of(plan: Plan, paid: tuple[float, float]) -> dict[str, float]:
    """Return of each limit the least that the hosts of a plan take, as if what all hosts share took nothing.

    ``paid`` is the least that they cost over the period and at the start, with any term.
    """
    costs, power = plan.costs, plan.power
    assert costs and power
    shared = [part.yearly for part in costs.parts if part.name in SHARED]
    bought = sum(part.yearly[0] for part in costs.parts if part.name in HARDWARE)
    first = sum(yearly[0] for yearly in shared)
    support, share = yearly_of(costs, PART["Hardware support"]), first / bought if bought else 0.0
    hosts = [part for part in power.parts if part.name not in (LEAVES, SPINES)]
    kw = sum(part.peak_w for part in hosts) / 1000
    return {
        "budget": paid[0] - sum(map(sum, shared)) - share * sum(support),
        "budget_start": paid[1] - first - share * support[0],
        "power_kw": kw,
        "cooling_kw": kw,
        "rack_units": sum(part.rack_units_u or 0 for part in hosts),
        "racks": math.ceil(plan.totals.hosts / power.hosts_per_rack) if power.hosts_per_rack else 0,
    }


def yearly_of(costs: Costs, name: str) -> tuple[float, ...]:
    """Return what is paid for a part in each year; nothing where a design has none of it."""
    return next((part.yearly for part in costs.parts if part.name == name), (0.0,) * len(costs.cash))


def over_limits(least: Mapping[str, float], limits: Limits) -> tuple[str, ...]:
    """Return the limits that are surely exceeded, by their keys."""
    stated = {key: getattr(limits, key) for key in least}
    return tuple(k for k, value in least.items() if stated[k] is not None and value > stated[k] + 1e-9)


def with_terms(plan: Plan, space: Space) -> dict[int, Plan]:
    """Return a plan by each term of its licences, its own first."""
    own = plan.scenario.cost.licence_term_years
    return {own: plan} | {term: with_term(plan, term) for term in space.terms if term != own}


def least_planned(terms: Mapping[int, Plan]) -> dict[str, float]:
    """Return of each limit the least that a plan, given by each term, takes with every link."""
    plan, *_ = terms.values()
    costs = [other.costs for other in terms.values() if other.costs]
    if not costs or plan.power is None:
        return {}
    return least_of(plan, (min(c.net_present for c in costs), min(c.cash[0] for c in costs)))


def surely_over(terms: Mapping[int, Plan]) -> tuple[str, ...]:
    """Return the limits that a plan, given by each term, exceeds with every link."""
    limits = next(iter(terms.values())).scenario.limits
    if all(getattr(limits, key) is None for key in BOUNDED):
        return ()
    return over_limits(least_planned(terms), limits)


def with_term(plan: Plan, term: int) -> Plan:
    """Return a plan with another term of its licences."""
    if term == plan.scenario.cost.licence_term_years:
        return plan
    return plan.relinked(plan.scenario.with_value(TERM, term))


def _variants(
    question: Question, base: Plan, design: Design, *, every: bool = False
) -> Iterator[tuple[Design, Plan]]:
    """Yield plans with each term and link, those first that are likely within the limits and cost least.

    Where every link is surely over a limit, only the design's own is tried, unless ``every`` one is wanted.
    """
    space = question.space
    base.growth  # noqa: B018 - shared by all variants
    links, terms = {design.hosts.link_gbit_s: base}, with_terms(base, space)
    for link in space.links if every or not surely_over(terms) else ():
        linked = base.scenario.with_value("network.link_gbit_s", link)
        if link not in links and (made := outcome_of(partial(base.relinked, linked))).plan:
            links[link] = made.plan
    rank = partial(_rank, question, base, links, terms)
    for link, term in sorted(product(links, terms), key=rank):
        plan = terms[term] if links[link] is base else with_term(links[link], term)
        yield design._replace(hosts=replace(design.hosts, link_gbit_s=link), term=term), plan


def _rank(
    question: Question,
    base: Plan,
    links: Mapping[int, Plan],
    terms: Mapping[int, Plan],
    pair: tuple[int, int],
) -> tuple[float, ...]:
    """Order of a link with a term: they change different payments, so the cost of both follows from that of each."""
    three = (links[pair[0]].costs, terms[pair[1]].costs, base.costs)
    one, two, both = (np.array((c.net_present, c.cash[0]) if c else (0.0, 0.0)) for c in three)
    net, first = (float(paid) for paid in one + two - both)
    limits, figure = question.scenario.limits, question.quantity.figure
    stated = ((net, limits.budget), (first, limits.budget_start))
    over = sum(max(0.0, paid - float(limit)) for paid, limit in stated if limit is not None)
    money = {"net_present": net, "first": first, "budget": net, "budget_start": first}
    small = money[figure] if figure in money else _figure(links[pair[0]], figure)
    return (over > 1, over, small, net, links[pair[0]] is not base, *pair)


def _figure(plan: Plan, figure: str) -> float:
    """Return a figure that depends on the link."""
    if figure in LIMITS:
        return _measured(plan.within, figure)
    return plan.power.peak_w if plan.power and figure == "peak_w" else 0.0


class Climb(NamedTuple):
    """A design to try from one amount up to another."""

    question: Question
    design: Design
    floor: int
    ceiling: int
    until: float = math.inf
    """Time of day at which the rest of the way up is left [s since the epoch]."""


class Climbed(NamedTuple):
    """The most that a design serves within the limits, what keeps it from the next step, and the trials that it took."""

    design: Design
    found: Found | None
    miss: Miss | None
    trials: int
    ceiling: int = 0
    """Amount up to which it may serve more, where the time was up; else 0."""


def climbed(catalog: Catalog, task: Climb) -> Climbed:
    """Return the most that a design serves within the limits, if that is at least the floor.

    A larger amount never needs less, so one that is too much stands for all above it.
    """
    question, design, floor, high, until = task
    floor = least_built(question, catalog, design, floor)
    found = tried(question, catalog, design, floor)
    trials, miss, left = 1, None, 0
    if isinstance(found, Miss):
        return Climbed(design, None, found, trials)

    def fits(steps: int, *, whole: bool = False) -> tuple[bool, float]:
        nonlocal found, miss, trials, left
        if time.time() > until:
            left = high
            return False, 0.0
        other, trials = tried(question, catalog, design, steps, whole=whole), trials + 1
        if isinstance(other, Found):
            found = other
        else:
            miss = other
        return isinstance(other, Found), _share(other.within)

    most = furthest(floor, high, max(_near(floor, _share(found.within)), question.quantity.asked), fits)
    sure = tried(question, catalog, found.design, most, whole=True)
    if isinstance(sure, Found):
        return Climbed(design, sure, miss, trials, left)
    miss = sure
    if most == floor or not fits(floor, whole=True)[0]:
        return Climbed(design, None, miss, trials)
    furthest(floor, most - 1, most - 1, partial(fits, whole=True))  # its checks take more than its hosts
    return Climbed(design, found, miss, trials)


def least_built(question: Question, catalog: Catalog, design: Design, steps: int) -> int:
    """Return the least amount, from some steps on, for which a design can be built: a stated total has to hold all workloads."""
    if question.quantity.path != TOTAL or not question.scenario.groups:
        return steps

    def short(total: int) -> tuple[bool, float]:
        found = tried(question, catalog, design, total)
        return isinstance(found, Miss) and bool(found.reason), 0.0

    summed = question.scenario.with_value(TOTAL, None).with_value("demand.rule", "sum")
    plan = outcome(design.apply(summed, catalog), catalog, check=False).plan
    if plan is None or plan.totals.gpus <= steps or not short(steps)[0]:
        return steps
    return furthest(steps, plan.totals.gpus - 1, 2 * steps, short) + 1


EAGER, LITTLE = 6, 50
"""Trials in which an amount is guessed in proportion, before the rest is halved; part by which it grows at least."""


def furthest(low: int, high: int, near: int, fits: Callable[[int], tuple[bool, float]]) -> int:
    """Return the largest amount that fits, at least ``low``, which does.

    ``fits`` says of an amount whether it does, and which share of the nearest limit it takes; 0 where that is not known.
    """
    trials = 0
    while low < high:
        eager, trials = trials < EAGER, trials + 1
        at = min(max(near, low + max(1, low // LITTLE)), high) if eager else (low + high + 1) // 2
        fit, share = fits(at)
        near = _near(at, share)
        low, high = (at, high) if fit else (low, at - 1)
    return low


def _near(at: int, share: float) -> int:
    """Return the amount that takes all of the limit; without a share twice as much."""
    return int(at / share) if share else 2 * at


def _share(within: Sequence[Within]) -> float:
    return max((each.share for each in within if each.share), default=0.0)
