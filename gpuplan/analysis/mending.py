"""Mending: the cheapest single change with which a design keeps a limit or a target that it misses, or the nearest to it.

Each change of one decision is planned: those that an architect compares (`candidates`), the failures tolerated, the sizing rule,
the hosts for orders of power-on and the term of subscriptions; of a target also weights of fewer bits, other GPUs per replica or
job, and the target that the design keeps.
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
from gpuplan.locales import written
from gpuplan.models.llm.shape import BITS
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.limits import limit_words
from gpuplan.plan.llm.promises import MISSED
from gpuplan.scenario import GROUP_RULES, Scenario, field_of, table_path
from gpuplan.wording import MODE_NAMES, NAMES, headline_money, said

OVER = "over-limit"
"""Code of the message on a limit that is exceeded."""
MISSES = (OVER, "promise-missed", "target-not-reached", "tuning-ends-late")
"""Codes of the messages on limits and targets that a design misses."""
RULE = "demand.rule"
INPUTS = {
    "availability.host_failures": (0, 1, 2),
    "availability.sized_for": field_of("availability.sized_for").choices,
    RULE: GROUP_RULES,
    "cost.licence_term_years": field_of("cost.licence_term_years").choices,
}
"""Inputs that are changed on their own, with their values."""
VALUE_NAMES = NAMES | {RULE: NAMES["rule"], "groups.*.weights": {id: id.upper() for id in BITS}}


class Measured(NamedTuple):
    """A design measured by a limit or a target."""

    met: bool | None
    """None where it is not known."""
    over: float
    """How far it is missed; comparable for one limit or target only."""
    value: str


@dataclass(frozen=True, slots=True)
class Mending:
    """A change of one decision, and how far the design is then within the limit or the target."""

    change: str
    scenario: Scenario
    measured: Measured
    difference: float
    """Net present cost beyond that of the plan."""
    gives_up: str
    sentence: str

    @property
    def met(self) -> bool:
        """True if the limit or the target is kept, as far as that is known."""
        return self.measured.met is not False


class _Trial(NamedTuple):
    change: str
    path: str
    """Input that is changed; empty where a design is exchanged."""
    plan: Plan
    difference: float
    measured: Mapping[str, Measured]


def measured(plan: Plan) -> Mapping[str, Measured]:
    """Limit, or path of a target -> how far the plan is within it."""
    found = {}
    for each in plan.within:
        over = inf if each.over is None else each.over
        found[each.key] = Measured(each.met, over, limit_words(plan.catalog, each, each.value))
    for served in plan.llm.serving.values():
        for target in served.targets:
            ratio = max(target.asked / target.planned, target.planned / target.asked)
            words = said(f"llm.promise {target.name}", value=target.planned)
            found[f"groups.{served.id}.{target.name}"] = Measured(target.standing != MISSED, ratio, words)
    for job in plan.llm.tuning.values():
        hours = job.hours.value
        found[f"groups.{job.id}.replica_gpus"] = Measured(
            not job.ends_late, hours, said("mending.hours", hours=hours)
        )
    kept = filter(None, (division.kept for division in plan.divisions.values()))
    if worst := max(kept, key=lambda one: (not one.held, one.value), default=None):
        found["demand.chance"] = Measured(worst.held, worst.value, said("mending.chance", chance=worst.value))
    return found


def mendings(plan: Plan) -> Mapping[str, Mending | None]:
    """Limit, or path of a target, that the plan misses -> the change that mends it, or the nearest; None where none comes nearer."""

    def found() -> dict[str, Mending | None]:
        missed = {key: each for key, each in measured(plan).items() if each.met is False}
        trials = list(_trials(plan, missed)) if missed else []
        return {key: _best(plan, key, each, trials) for key, each in missed.items()}

    return plan.once("mendings", found)


def with_mendings(messages: Sequence[Message], found: Mapping[str, Mending | None] | None) -> list[Message]:
    """Return the messages, each on a limit or a target that is missed with the change that mends it, or that it is looked for."""

    def change(message: Message) -> str:
        if found is None:
            return said("screen.limit.looking")
        mending = found.get(message.path.removeprefix("limits."))
        return mending.sentence if mending else said("mending.none")

    return [replace(m, change=change(m)) if m.code in MISSES else m for m in messages]


def mended(plan: Plan) -> Plan:
    """The same plan, its messages with what mends them."""
    same = plan.but()
    same.once("messages", lambda: Several(with_mendings(check_plan(plan), mendings(plan))))
    return same


def _best(plan: Plan, key: str, now: Measured, trials: Sequence[_Trial]) -> Mending | None:
    """The cheapest trial that keeps a limit or a target, else the one that misses it least, and by less than the plan does.

    Agreeing on another target comes last. Of a target the cheapest trial of each other input is named, too.
    """

    def order(trial: _Trial) -> tuple[bool, float, bool, bool, float]:
        then = trial.measured[key]
        missed = then.met is False
        return missed, then.over if missed else 0, then.met is None, trial.path == key, trial.difference

    able = [trial for trial in sorted(trials, key=order) if key in trial.measured and _stands(plan, trial)]
    if not able or (able[0].measured[key].met is False and able[0].measured[key].over >= now.over):
        return None
    best, *others = able
    mending = _mending(plan, key, best)
    if "." not in key:  # a limit
        return mending
    others = [trial for trial in others if trial.measured[key].met and trial.path != best.path]
    cheapest = {trial.path: trial for trial in reversed(others)}
    ways = [said("mending.way", change=way.change, cost=_cost(plan, way)) for way in cheapest.values()]
    more = said("mending.others", ways="; ".join(ways)) if ways else ""
    return replace(mending, sentence=f"{mending.sentence}{more}")


def _stands(plan: Plan, trial: _Trial) -> bool:
    valid = standing(trial.plan).valid or not standing(plan).valid
    return valid and not any(unmet(trial.plan, {}))


def _cost(plan: Plan, trial: _Trial) -> str:
    size = headline_money(abs(trial.difference), plan.scenario.cost.currency)
    key = "dearer" if trial.difference > 0 else "cheaper" if trial.difference < 0 else "same cost"
    return said(f"mending.{key}", money=size)


def _mending(plan: Plan, key: str, trial: _Trial) -> Mending:
    then = trial.measured[key]
    gives_up = against(plan, trial.plan) if trial.difference <= 0 and "." not in key else ""
    words = {"change": trial.change, "value": then.value, "cost": _cost(plan, trial)}
    words["gives_up"] = f" {gives_up}".rstrip()
    sentence = said("mending.nearest" if then.met is False else "mending.keeps", **words)
    return Mending(trial.change, trial.plan.scenario, then, trial.difference, gives_up, sentence)


def _trials(plan: Plan, missed: Mapping[str, Measured]) -> Iterator[_Trial]:
    """Yield each change that can be planned, and that leaves nothing else missed that the plan keeps."""
    of_workloads = all(key.startswith("groups.") for key in missed)
    inputs = {**({} if of_workloads else INPUTS), **_of_targets(plan, missed)}
    for change, path, scenario in (*_designs(plan, of_workloads), *_settings(plan, inputs)):
        other = outcome(scenario, plan.catalog, check=plan.check).plan
        if other and not unpriced(other.costs) and (difference := dearer(other, plan)) is not None:
            then = measured(other)
            if {key for key, each in then.items() if each.met is False} <= missed.keys():
                yield _Trial(change, path, other, difference, then)


def _of_targets(plan: Plan, missed: Mapping[str, Measured]) -> Mapping[str, Sequence[Any]]:
    """Inputs of the workloads whose targets are missed, with the values that may keep them, and each target as it is planned."""
    inputs: dict[str, Sequence[Any]] = {}
    for served in plan.llm.serving.values():
        for target in served.targets:
            if (path := f"groups.{served.id}.{target.name}") in missed:
                fewer = [precision for precision in BITS if BITS[precision] < BITS[served.weights]]
                inputs |= {f"groups.{served.id}.weights": fewer, f"groups.{served.id}.replica_gpus": [None]}
                inputs[path] = [target.planned]
    for job in plan.llm.tuning.values():
        if (path := f"groups.{job.id}.replica_gpus") in missed:
            inputs[path] = [size.gpus for size in job.sizes]
    if "demand.chance" in missed:
        inputs["demand.chance"] = [missed["demand.chance"].over]
    return inputs


def _designs(plan: Plan, of_workloads: bool) -> Iterator[tuple[str, str, Scenario]]:
    """Yield designs with another board or number of GPUs per host; also with another server, access mode or link, which change no workload."""
    scenario, catalog = plan.scenario, plan.catalog
    current, space = asked(scenario), default_space(scenario, catalog)
    servers = dict.fromkeys((current.server, *space.servers))
    boards = [[replace(current, gpu=gpu, server=server) for server in servers] for gpu in space.gpus[1:]]
    lists: dict[str, Iterable[Any]] = {"gpus_per_host": space.gpus_per_host}
    if not of_workloads:
        lists |= {"server": servers, "sharing": space.sharing, "link_gbit_s": space.links}
    others = [[replace(current, **{name: value})] for name, values in lists.items() for value in values]
    for ways in (*boards, *others):
        if found := next((one for one in ways if one != current and not unfit(scenario, catalog, one)), None):
            yield _change(plan, found), "", found.apply(scenario, catalog)


def _change(plan: Plan, found: Candidate) -> str:
    current = asked(plan.scenario)
    if found.sharing != current.sharing:
        return said("candidate.all sharing", mode=MODE_NAMES[found.sharing])
    if found.link_gbit_s != current.link_gbit_s:
        return said("mending.link", link=found.link_gbit_s)
    scenarios = plan.scenario, found.apply(plan.scenario, plan.catalog)
    return short_names([design_name(each, plan.catalog) for each in scenarios])[1]


def _settings(plan: Plan, inputs: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, str, Scenario]]:
    for path, values in inputs.items():
        now, names = plan.scenario.get(path), VALUE_NAMES.get(table_path(path), {})
        for value in values:
            if value != now:
                then, was = (names.get(str(each), _worded(each)) for each in (value, now))
                change = said("mending.input", name=field_of(path).label, then=then, now=was)
                yield change, path, plan.scenario.with_value(path, value)


def _worded(value: object) -> str:
    if value is None:
        return said("mending.planned")
    return written(value, ".3g") if isinstance(value, float) else str(value)
