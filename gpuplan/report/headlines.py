"""The message of each step in one sentence: the answer first, true for any design; for screen, slides and notebooks."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gpuplan.analysis.variants import standing
from gpuplan.locales import written
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.sizing_rule import Target
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.figures import Figures, lapsed_words, open_points
from gpuplan.scenario import RISKS
from gpuplan.wording import NAMES, TRANSPORT_NAMES, amount, counted, joined, said

EMPTY = said("headline.empty")
LINK_IS, VMOTION_IS = NAMES["link in a headline"], NAMES["vMotion in a headline"]
"""Verdict -> text about the link and its dependents, and about vMotion where the link does not decide."""
NO_NETWORK = said("headline.no network")


class Headline(NamedTuple):
    """Headline of a step."""

    sentence: str
    about: str = ""


def workloads(plan: Plan) -> Headline:
    """Say which workloads need how many GPUs."""
    if plan.groups:
        return Headline(Figures(plan).said("headline.workloads"))
    sentence = Figures(plan).said("headline.no workloads") if plan.pools else EMPTY
    return Headline(sentence, said("headline.about no workloads"))


def demand(plan: Plan) -> Headline:
    """Say how many GPUs are planned, and for which service level."""
    inputs, figures = plan.scenario.demand, Figures(plan)
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, said("headline.about demand"))
    if plan.scenario.deciding_total_gpus is not None:
        others = plan.groups and figures.needed != figures.demand
        return Headline(figures.said("headline.stated, others needed" if others else "headline.stated"))
    if inputs.rule in RISKS:
        return Headline(figures.said("headline.target", target=Target.of(plan.scenario).words))
    if len(plan.groups) == 1:
        return Headline(figures.said("headline.peak of one"))
    return Headline(figures.said("headline.busiest hour" if inputs.rule == "hours" else "headline.peak"))


def hosts(plan: Plan) -> Headline:
    """Say how many hosts carry the load, and the failures that they tolerate."""
    if not plan.pools:
        return Headline(EMPTY, said("headline.about hosts"))
    part = bool(plan.placed.missing)
    first = Figures(plan).said("headline.hosts for a part" if part else "headline.hosts")
    second = plan.verdict.fit_sentence.rstrip(".") if part else plan.verdict.note
    return Headline(said("headline.hosts and", hosts=first, verdict=second))


def network(plan: Plan) -> Headline:
    """Say whether the link suffices for everything that depends on it."""
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, said("headline.about network"))
    inputs, verdicts = plan.scenario.network, link_verdicts(plan)
    link = f"{written(inputs.link_gbit_s, 'g')} Gbit/s {TRANSPORT_NAMES[inputs.transport]}"
    depending = ((words, _depending(verdicts, verdict)) for verdict, words in LINK_IS.items())
    sentences = [f"{words} {joined(things)}" for words, things in depending if things]
    if sentences and not any(item.use for item in verdicts):
        sentences.append(said("headline.no remote"))
    first, *others = sentences or [""]
    text = "; ".join([first, *(item.removeprefix("is ") for item in others)])
    stun = "".join(f"; {VMOTION_IS[item.verdict]}" for item in verdicts if item.verdict in VMOTION_IS)
    return Headline(f"{f'{link} {text}' if sentences else NO_NETWORK}{stun}.")


def _depending(found: Sequence[LinkVerdict], verdict: str) -> list[str]:
    these = [item for item in found if item.verdict == verdict]
    depending = [item.name for item in these if item.kind == "vmotion"]
    if remote := [item.name for item in these if item.kind == "remote"]:
        few = joined(remote) if len(remote) < 3 else said("headline.few", count=len(remote))
        whole = len(remote) == sum(item.kind == "remote" for item in found)
        some = said("headline.remote") if whole else said("headline.remote of", groups=few)
        depending.append(some)
    trained = [(item.use, item.place) for item in these if isinstance(item.use, TrainingUse)]
    if len(trained) == 1:
        return [*depending, said("headline.training", hosts=counted(trained[0][0].hosts, trained[0][1]))]
    return [*depending, said("headline.trainings", count=len(trained))] if trained else depending


def cost(plan: Plan) -> Headline:
    """Say what the design costs, and which part is the largest."""
    costs, figures = plan.costs, Figures(plan)
    if costs is None:
        return Headline(EMPTY, said("headline.about cost"))
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    share = ""
    if largest and costs.total:
        share = said("headline.largest part", part=largest.name, share=largest.total / costs.total)
    missing = figures.said("headline.not included") if costs.excludes else ""
    missing += lapsed_words(plan)
    wrong = standing(plan).words
    first = figures.said("headline.cost", missing=missing)
    first += f" {said('standing.sentence', wrong=wrong)}" if wrong else ""
    return Headline(first, figures.said("headline.cost over", rate=costs.discount_rate, largest=share))


def design(plan: Plan, messages: Sequence[Message] | None = None) -> Headline:
    """Count the decisions behind the design, and the values to confirm; ``messages`` are the plan's."""
    count = len(plan.decisions)
    if not count:
        return Headline(EMPTY, said("headline.about design"))
    open_ones = to_confirm(plan, check_plan(plan) if messages is None else messages)
    return Headline(said("headline.decisions", count=count, points=open_ones))


def to_confirm(plan: Plan, messages: Sequence[Message]) -> str:
    """Count the points to fix and to confirm, and the assumptions, as the strip does."""
    stops, warns, values = open_points(plan, messages)
    fixed = said("headline.points to fix", points=stops) if stops else ""
    points = said("headline.points", points=warns) if warns else ""
    planning = amount(values, "assumption") if values else ""
    confirmed = joined([*filter(None, (points, planning))])
    left = said("headline.to confirm", points=confirmed) if confirmed else ""
    return ", ".join(filter(None, (fixed, left))) or said("headline.nothing to confirm")


def compare(plan: Plan) -> Headline:
    """Say what to do while there is no other design for comparison."""
    return Headline(said("headline.compare") if plan.pools else EMPTY)


HEADLINES: Mapping[str, Callable[[Plan], Headline]] = {
    "usecases": workloads,
    "demand": demand,
    "hosts": hosts,
    "network": network,
    "cost": cost,
    "compare": compare,
    "design": design,
    "deliver": lambda _: Headline(said("headline.deliver")),
}
