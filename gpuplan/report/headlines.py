"""The message of each step in one sentence: the answer first, true for any design. Screen, slides and notebooks say it from here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from gpuplan.locales import written
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import Message
from gpuplan.plan.known import unconfirmed
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.over_time.power_on import orders_fail
from gpuplan.plan.training.use import TrainingUse
from gpuplan.wording import (
    TRANSPORT_NAMES,
    amount,
    counted,
    headline_money,
    said,
    target_words,
    whole,
)

EMPTY = said("headline.empty")


class Headline(NamedTuple):
    """What a step says first."""

    sentence: str
    about: str = ""
    """How it is to be read, in a few words."""


def workloads(plan: Plan) -> Headline:
    """Who needs how many GPUs."""
    if not plan.groups and plan.pools:
        stated = said("headline.no workloads", gpus=whole(plan.totals.gpus_demanded))
        return Headline(stated, said("headline.about no workloads"))
    if not plan.groups:
        return Headline(EMPTY, said("headline.about no workloads"))
    needed = amount(whole(plan.lines["demand.groups_gpus"].value), "GPU")
    count = len(plan.groups)
    return Headline(
        said("headline.workloads" if count > 1 else "headline.workload", count=count, needed=needed),
        said("headline.about workloads"),
    )


def demand(plan: Plan) -> Headline:
    """How many GPUs are planned, and for which promise."""
    asked, totals = plan.scenario.demand, plan.totals
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, said("headline.about demand"))
    gpus = amount(whole(totals.gpus_demanded), "GPU")
    if plan.scenario.deciding_total_gpus is not None:
        needed = amount(whole(plan.lines["demand.groups_gpus"].value), "GPU") if plan.groups else ""
        if needed and needed != gpus:
            return Headline(said("headline.stated, others needed", gpus=gpus, needed=needed))
        return Headline(said("headline.stated", gpus=gpus))
    if asked.rule in ("wait", "wait-time", "denied"):
        each = asked.for_whom == "each"
        return Headline(
            said(
                "headline.target",
                gpus=gpus,
                target=target_words(asked.rule, asked.chance, asked.wait_min, each),
            )
        )
    if len(plan.groups) == 1:
        return Headline(said("headline.peak of one", gpus=gpus))
    return Headline(said("headline.busiest hour" if asked.rule == "hours" else "headline.peak", gpus=gpus))


def hosts(plan: Plan) -> Headline:
    """How many hosts carry the load, and what may fail."""
    totals, placed = plan.totals, plan.placed
    if not plan.pools:
        return Headline(EMPTY, said("headline.about hosts"))
    carry = totals.hosts_for_demand
    part = " for a part" * (placed.state == "missing")
    first = said(f"headline.{'host' if carry == 1 else 'hosts'}{part}", hosts=carry)
    if placed.state == "all":
        covered = placed.failures.replace("any host", "any one host", 1)
        key = "headline.covered at best" if orders_fail(plan.power_on) else "headline.covered"
        second = said(key, failures=covered, count=max(1, placed.survived))
    else:
        second = f". {placed.sentence.rstrip('.')}"
    return Headline(f"{first}{second}.")


def network(plan: Plan) -> Headline:
    """Whether the link is enough for what depends on it."""
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, said("headline.about network"))
    given, found = plan.scenario.network, link_verdicts(plan)
    link = f"{written(given.link_gbit_s, 'g')} Gbit/s {TRANSPORT_NAMES[given.transport]}"
    sentences = [
        f"{words} {_listed(things)}"
        for verdict, words in LINK_IS.items()
        if (things := _depending(found, verdict))
    ]
    if sentences and not any(each.use for each in found):
        sentences.append(said("headline.no remote"))
    first, *others = sentences or [""]
    told = "; ".join([first, *(each.removeprefix("is ") for each in others)])
    stun = "".join(f"; {VMOTION_IS[each.verdict]}" for each in found if each.verdict in VMOTION_IS)
    return Headline(f"{f'{link} {told}' if sentences else NO_NETWORK}{stun}.")


LINK_IS = {verdict: said(f"headline.link {verdict}") for verdict in ("good", "fair", "bad")}
"""Verdict -> what is said of the link and what has it."""
VMOTION_IS = {verdict: said(f"headline.vmotion {verdict}") for verdict in ("over", "unknown")}
"""Verdict -> what is said of vMotion where the link is not what decides."""
NO_NETWORK = said("headline.no network")


def _depending(found: Sequence[LinkVerdict], verdict: str) -> list[str]:
    """What depends on the link and has a verdict: vMotion, remote GPUs, training."""
    these = [each for each in found if each.verdict == verdict]
    depending = [each.name for each in these if each.kind == "vmotion"]
    if remote := [each.name for each in these if each.kind == "remote"]:
        whole = len(remote) == sum(each.kind == "remote" for each in found)
        depending.append(
            said("headline.remote") if whole else said("headline.remote of", groups=_few(remote))
        )
    trained = [(each.use, each.place) for each in these if isinstance(each.use, TrainingUse)]
    if len(trained) == 1:
        return [*depending, said("headline.training", hosts=counted(trained[0][0].hosts, trained[0][1]))]
    return [*depending, said("headline.trainings", count=len(trained))] if trained else depending


def _few(names: Sequence[str]) -> str:
    """One or two names; of more how many there are."""
    return said("headline.and").join(names) if len(names) < 3 else said("headline.few", count=len(names))


def _listed(things: Sequence[str]) -> str:
    return said("headline.and").join(filter(None, (", ".join(things[:-1]), things[-1])))


def cost(plan: Plan) -> Headline:
    """What the design costs, and which part is the largest."""
    costs, ends = plan.costs, plan.cost_ranges
    if costs is None:
        return Headline(EMPTY, said("headline.about cost"))
    money = headline_money(costs.net_present, costs.currency, ends.net_present if ends else None)
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    share = ""
    if largest and costs.total:
        share = said("headline.largest part", part=largest.name, share=largest.total / costs.total)
    left_out = ""
    if missing := len(costs.excludes):
        key = "headline.one not included" if missing == 1 else "headline.not included"
        left_out = said(key, items=missing)
    return Headline(
        said("headline.cost", money=money, years=costs.years, left_out=left_out),
        said("headline.cost over", years=costs.years, rate=costs.discount_rate, largest=share),
    )


def design(plan: Plan, messages: Sequence[Message] | None = None) -> Headline:
    """How many decisions the design rests on, and what is to be confirmed; ``messages`` are those of the plan."""
    count = len(plan.decisions)
    if not count:
        return Headline(EMPTY, said("headline.about design"))
    open_points = to_confirm(plan, check_plan(plan) if messages is None else messages)
    key = "headline.decision" if count == 1 else "headline.decisions"
    return Headline(said(key, count=count, points=open_points))


def to_confirm(plan: Plan, messages: Sequence[Message]) -> str:
    """How many points are to fix and to confirm, and how many planning values, as the strip counts them."""
    stops, warns = (sum(m.level == level for m in messages) for level in ("stop", "warn"))
    values = len(unconfirmed(plan))
    fixed = said(f"headline.{_point(stops)} to fix", points=stops) if stops else ""
    points = said(f"headline.{_point(warns)}", points=warns) if warns else ""
    planning = amount(values, "planning value") if values else ""
    confirmed = said("headline.and").join(filter(None, (points, planning)))
    left = said("headline.to confirm", points=confirmed) if confirmed else ""
    return ", ".join(filter(None, (fixed, left))) or said("headline.nothing to confirm")


def _point(count: int) -> str:
    return "point" if count == 1 else "points"


def compare(plan: Plan) -> Headline:
    """What to do while there is no other design to compare with."""
    about = said("headline.about compare")
    if not plan.pools:
        return Headline(EMPTY, about)
    return Headline(said("headline.compare"), about)


HEADLINES: Mapping[str, Callable[[Plan], Headline]] = {
    "usecases": workloads,
    "demand": demand,
    "hosts": hosts,
    "network": network,
    "cost": cost,
    "compare": compare,
    "design": design,
    "deliver": lambda _plan: Headline(
        said("headline.deliver"),
        said("headline.about deliver"),
    ),
}
"""Step -> its message."""
