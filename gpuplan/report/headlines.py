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
from gpuplan.plan.power_on import orders_fail
from gpuplan.plan.training import TrainingUse
from gpuplan.wording import (
    TRANSPORT_NAMES,
    amount,
    capital,
    counted,
    headline_money,
    in_words,
    percent,
    said,
    target_words,
    verb,
    whole,
)

EMPTY = "No workloads yet. Add one to start."


class Headline(NamedTuple):
    """What a step says first."""

    sentence: str
    about: str = ""
    """How it is to be read, in a few words."""


def workloads(plan: Plan) -> Headline:
    """Who needs how many GPUs."""
    if not plan.groups and plan.pools:
        stated = amount(whole(plan.totals.gpus_demanded), "GPU")
        return Headline(
            f"No workloads: the stated total of {stated} sizes the design.", "Who needs GPUs, and what for."
        )
    if not plan.groups:
        return Headline(EMPTY, "Who needs GPUs, and what for.")
    needed = amount(whole(plan.lines["demand.groups_gpus"].value), "GPU")
    count = len(plan.groups)
    return Headline(
        said("headline.workloads" if count > 1 else "headline.workload", count=count, needed=needed),
        "Who needs GPUs, what for, and how each workload gets them.",
    )


def demand(plan: Plan) -> Headline:
    """How many GPUs are planned, and for which promise."""
    asked, totals = plan.scenario.demand, plan.totals
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, "When GPUs are needed, and how many.")
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
        return Headline(EMPTY, "Which VM runs on which GPU, and what keeps running when hosts fail.")
    carry = totals.hosts_for_demand
    part = "part of " * (placed.state == "missing")
    first = f"{capital(in_words(carry))} host{'s' * (carry != 1)} {verb(carry, 'carry')} {part}the load"
    if placed.state == "all":
        covered = placed.failures.replace("any host", "any one host", 1)
        best = " in the best arrangement" * orders_fail(plan.power_on)
        second = f"; {covered} {verb(max(1, placed.survived), 'are')} covered{best}"
    else:
        second = f". {placed.sentence.rstrip('.')}"
    return Headline(f"{first}{second}.")


def network(plan: Plan) -> Headline:
    """Whether the link is enough for what depends on it."""
    if not plan.groups and not plan.pools:
        return Headline(EMPTY, "Whether the link is enough for each workload.")
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
        return Headline(EMPTY, "What the design costs, when, and for what.")
    money = headline_money(costs.net_present, costs.currency, ends.net_present if ends else None)
    largest = max(costs.parts, key=lambda part: part.total, default=None)
    share = ""
    if largest and costs.total:
        share = f" {largest.name}: {percent(largest.total / costs.total)} of the total."
    missing = len(costs.excludes)
    left_out = f"; {in_words(missing)} item{'s' * (missing != 1)} {verb(missing, 'are')} not included yet"
    return Headline(
        f"The design costs {money} over {counted(costs.years, 'year')}{left_out * bool(missing)}.",
        f"Net present cost, {counted(costs.years, 'year')} at {percent(costs.discount_rate)}.{share}",
    )


def design(plan: Plan, messages: Sequence[Message] | None = None) -> Headline:
    """How many decisions the design rests on, and what is to be confirmed; ``messages`` are those of the plan."""
    count = len(plan.decisions)
    if not count:
        return Headline(EMPTY, "Each decision, its reasons and its implications.")
    open_points = to_confirm(plan, check_plan(plan) if messages is None else messages)
    shaped = f"{capital(in_words(count))} decision{'s' * (count != 1)} {verb(count, 'shape')} the design"
    return Headline(f"{shaped}; {open_points}.")


def to_confirm(plan: Plan, messages: Sequence[Message]) -> str:
    """How many points are to fix and to confirm, and how many planning values, as the strip counts them."""
    stops, warns = (sum(m.level == level for m in messages) for level in ("stop", "warn"))
    values = len(unconfirmed(plan))
    fixed = f"{in_words(stops)} point{'s' * (stops != 1)} to fix" if stops else ""
    points = f"{in_words(warns)} point{'s' * (warns != 1)}" if warns else ""
    planning = counted(values, "planning value") if values else ""
    confirmed = " and ".join(filter(None, (points, planning)))
    return (
        ", ".join(filter(None, (fixed, confirmed and f"{confirmed} to confirm"))) or "nothing left to confirm"
    )


def compare(plan: Plan) -> Headline:
    """What to do while there is no other design to compare with."""
    about = "Up to four designs side by side."
    if not plan.pools:
        return Headline(EMPTY, about)
    return Headline("Keep this design, change one decision, and see what differs.", about)


HEADLINES: Mapping[str, Callable[[Plan], Headline]] = {
    "usecases": workloads,
    "demand": demand,
    "hosts": hosts,
    "network": network,
    "cost": cost,
    "compare": compare,
    "design": design,
    "deliver": lambda _plan: Headline(
        "Files for the customer to keep and to check.",
        "Every file shows the same numbers.",
    ),
}
"""Step -> its message."""
