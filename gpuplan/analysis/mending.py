"""Mending: the cheapest single change with which a design keeps a limit that it exceeds, or the nearest to it.

Each change of one decision is planned: those that an architect compares (`candidates`), the failures tolerated, the sizing rule,
the hosts for orders of power-on and the term of subscriptions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import against
from gpuplan.analysis.candidates import Candidate, asked, default_space, unfit
from gpuplan.analysis.compare import design_name, short_names
from gpuplan.analysis.option import unmet, unpriced
from gpuplan.analysis.variants import dearer, outcome, standing
from gpuplan.facts import Several
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.limits import Within, limit_words
from gpuplan.scenario import GROUP_RULES, Scenario, field_of
from gpuplan.wording import MODE_NAMES, NAMES, headline_money, said

OVER = "over-limit"
"""Code of the message on a limit that is exceeded."""
RULE = "demand.rule"
INPUTS = {
    "availability.host_failures": (0, 1, 2),
    "availability.sized_for": field_of("availability.sized_for").choices,
    RULE: GROUP_RULES,
    "cost.licence_term_years": field_of("cost.licence_term_years").choices,
}
"""Inputs that are changed on their own, with their values."""
VALUE_NAMES = NAMES | {RULE: NAMES["rule"]}


@dataclass(frozen=True, slots=True)
class Mending:
    """A change of one decision, and how far the design is then within the limit."""

    change: str
    scenario: Scenario
    within: Within
    difference: float
    """Net present cost beyond that of the plan."""
    gives_up: str
    sentence: str

    @property
    def met(self) -> bool:
        """True if the limit is kept, as far as that is known."""
        return self.within.met is not False


class _Trial(NamedTuple):
    change: str
    plan: Plan
    difference: float
    within: Mapping[str, Within]


def mendings(plan: Plan) -> Mapping[str, Mending | None]:
    """Limit that the plan exceeds -> the change that mends it, or the nearest; None where no change comes nearer."""

    def found() -> dict[str, Mending | None]:
        over = [each for each in plan.within if each.met is False]
        trials = list(_trials(plan)) if over else []
        return {each.key: _best(plan, each, trials) for each in over}

    return plan.once("mendings", found)


def with_mendings(messages: Sequence[Message], found: Mapping[str, Mending | None] | None) -> list[Message]:
    """Return the messages, each on a limit that is exceeded with the change that mends it, or that it is looked for."""

    def change(message: Message) -> str:
        if found is None:
            return said("screen.limit.looking")
        mending = found.get(message.path.removeprefix("limits."))
        return mending.sentence if mending else said("mending.none")

    return [replace(m, change=change(m)) if m.code == OVER else m for m in messages]


def mended(plan: Plan) -> Plan:
    """The same plan, its messages with what mends them."""
    same = plan.but()
    same.once("messages", lambda: Several(with_mendings(check_plan(plan), mendings(plan))))
    return same


def _best(plan: Plan, of: Within, trials: Sequence[_Trial]) -> Mending | None:
    """The cheapest trial that keeps the limit, else the one that exceeds it least, and less than the plan does."""

    def order(trial: _Trial) -> tuple[bool, float, bool, float]:
        then = trial.within[of.key]
        missed = then.met is False
        over = (inf if then.over is None else then.over) if missed else 0
        return missed, over, then.met is None, trial.difference

    for trial in sorted(trials, key=order):
        missed, over, *_ = order(trial)
        if missed and over >= (of.over or 0):
            return None
        if (standing(trial.plan).valid or not standing(plan).valid) and not any(unmet(trial.plan, {})):
            return _mending(plan, of, trial)
    return None


def _mending(plan: Plan, of: Within, trial: _Trial) -> Mending:
    then, currency = trial.within[of.key], plan.scenario.cost.currency
    size = headline_money(abs(trial.difference), currency)
    key = "dearer" if trial.difference > 0 else "cheaper" if trial.difference < 0 else "same cost"
    gives_up = against(plan, trial.plan) if trial.difference <= 0 else ""
    words = {"change": trial.change, "value": limit_words(plan.catalog, then, then.value)}
    words |= {"cost": said(f"mending.{key}", money=size), "gives_up": f" {gives_up}".rstrip()}
    sentence = said("mending.nearest" if then.met is False else "mending.keeps", **words)
    return Mending(trial.change, trial.plan.scenario, then, trial.difference, gives_up, sentence)


def _trials(plan: Plan) -> Iterator[_Trial]:
    """Yield each change that can be planned, and that leaves no other limit missed that the plan keeps."""
    missed = {each.key for each in plan.within if each.met is False}
    for change, scenario in (*_designs(plan), *_settings(plan)):
        other = outcome(scenario, plan.catalog, check=plan.check).plan
        if other and not unpriced(other.costs) and (difference := dearer(other, plan)) is not None:
            within = {each.key: each for each in other.within}
            if {key for key, each in within.items() if each.met is False} <= missed:
                yield _Trial(change, other, difference, within)


def _designs(plan: Plan) -> Iterator[tuple[str, Scenario]]:
    """Yield designs with another board, server, number of GPUs per host, access mode or link."""
    scenario, catalog = plan.scenario, plan.catalog
    current, space = asked(scenario), default_space(scenario, catalog)
    servers = dict.fromkeys((current.server, *space.servers))
    boards = [[replace(current, gpu=gpu, server=server) for server in servers] for gpu in space.gpus[1:]]
    lists: dict[str, Iterable[Any]] = {"server": servers, "gpus_per_host": space.gpus_per_host}
    lists |= {"sharing": space.sharing, "link_gbit_s": space.links}
    others = [[replace(current, **{name: value})] for name, values in lists.items() for value in values]
    for ways in (*boards, *others):
        if found := next((one for one in ways if one != current and not unfit(scenario, catalog, one)), None):
            yield _change(plan, found), found.apply(scenario, catalog)


def _change(plan: Plan, found: Candidate) -> str:
    current = asked(plan.scenario)
    if found.sharing != current.sharing:
        return said("candidate.all sharing", mode=MODE_NAMES[found.sharing])
    if found.link_gbit_s != current.link_gbit_s:
        return said("mending.link", link=found.link_gbit_s)
    scenarios = plan.scenario, found.apply(plan.scenario, plan.catalog)
    return short_names([design_name(each, plan.catalog) for each in scenarios])[1]


def _settings(plan: Plan) -> Iterator[tuple[str, Scenario]]:
    for path, values in INPUTS.items():
        now, names = plan.scenario.get(path), VALUE_NAMES.get(path, {})
        for value in values:
            if value != now:
                shown = {"then": names.get(str(value), value), "now": names.get(str(now), now)}
                change = said("mending.input", name=field_of(path).label, **shown)
                yield change, plan.scenario.with_value(path, value)
