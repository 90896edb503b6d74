"""The design for the executive, with which document, deck, workbook and the preview in the app begin."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import Alternative, planned_alternatives, with_cheapest_rent
from gpuplan.analysis.sensitivity import Bar, tornado
from gpuplan.deliver.priced_items import Quantity, quantities_of
from gpuplan.locales import spoken, written_day
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.checks.message import LEVELS, Message
from gpuplan.plan.prices import ORDER_DAYS, due_day
from gpuplan.plan.prices import document_day as day_of_document
from gpuplan.report.figures import Figures, what_to_do
from gpuplan.report.limits import limits_exceeded
from gpuplan.report.tables.explore import value_words
from gpuplan.wording import NAMES, hours, joined, said, whole

MOST_ALTERNATIVES, MOST_DRIVERS, MOST_DECISIONS, MOST_ITEMS = 4, 3, 5, 6
ORDER = ("posture", "board", "rent", "silos", "other posture", "orders", "best", "no-growth")
"""Kinds of alternatives, the most informative for an executive first; the first ones are shown."""
OWNERS = NAMES["owner"]
OUT_OF_SUPPORT = ("bitfusion-end-of-life", "vsphere-support-ended")
"""Messages about products of the design that get no more fixes."""
STANDING_CODE = "decide-"


class Priced(NamedTuple):
    """An alternative, and the quantities that its cost follows when prices or factors change."""

    alternative: Alternative
    quantities: tuple[Quantity, ...]


class Driver(NamedTuple):
    """An assumption that moves the cost, and the ends of that cost."""

    label: str
    low: str
    high: str
    cost_low: float
    cost_high: float
    """Least and most net present cost over its range."""
    at_low: float
    at_high: float
    """Net present cost with the input at its low and at its high end."""


class Action(NamedTuple):
    """Something to do, by whom and by when."""

    what: str
    why: str
    owner: str
    due: str
    code: str
    level: str = "stop"
    """Level of that message; decisions that every design requires go first."""


@dataclass(frozen=True, slots=True)
class Executive:
    """Facts and decisions for an executive."""

    recommendation: tuple[str, str]
    carries: str
    survives: str
    unsupported: str
    """Products of the design that are out of support; empty without any."""
    money: str
    money_about: str
    choices: tuple[Alternative, ...]
    """Alternatives, each with why it is not recommended instead of its drawbacks."""
    drivers: tuple[Driver, ...]
    decisions: tuple[Action, ...]
    priced: tuple[Priced, ...] = ()
    """The plan and all candidates for the choices."""
    beyond: str = ""
    """Which limits the design exceeds; empty where it exceeds none."""
    solution: Mapping[str, Any] | None = None
    """The best design within the limits, as ``solution_dict`` gives it; None where it was not solved for."""
    boards: Mapping[str, Any] | None = None
    """Boards compared by the same work, as ``boards_dict`` gives them; None where they were not compared."""
    most_decisions: int = MOST_DECISIONS

    @property
    def first_decisions(self) -> tuple[Action, ...]:
        """The decisions shown first where space is short: those of every design, then the weightiest; by day."""
        ranked = sorted(
            self.decisions,
            key=lambda each: (not each.code.startswith(STANDING_CODE), LEVELS.index(each.level)),
        )
        return tuple(sorted(ranked[: self.most_decisions], key=lambda each: each.due))


@spoken
def executive(plan: Plan) -> Executive:
    """Summarise a plan for an executive."""
    figures, stated = Figures(plan), plan.scenario.cost.utilisation
    found = planned_alternatives(plan)
    candidates = tuple(Priced(option.alternative, quantities_of(option, stated)) for option in found)
    texts = {message.code: message.text for message in check_plan(plan) if message.code in OUT_OF_SUPPORT}
    remote = sum(group.demand_gpus for group in plan.groups if group.mode == "bitfusion")
    if remote and OUT_OF_SUPPORT[0] in texts:
        texts[OUT_OF_SUPPORT[0]] += " " + Figures(plan).said("executive.on bitfusion", remote=whole(remote))
    return Executive(
        recommendation=recommendation(plan),
        carries=_carries(plan),
        survives=" ".join([*plan.verdict.sentences[1:], figures.said("executive.left")]),
        unsupported=" ".join(texts.values()),
        money=figures.money,
        money_about=_money_about(plan),
        choices=tuple(choices(plan, [candidate.alternative for candidate in candidates])),
        drivers=tuple(drivers(plan, tornado(plan))),
        decisions=tuple(decisions(plan)),
        priced=candidates,
        beyond=limits_exceeded(plan),
    )


def document_day(plan: Plan) -> str:
    """Return the ISO day of the documents: as stated, else the day of the prices."""
    return day_of_document(plan.scenario, plan.catalog)


def edition(plan: Plan) -> dict[str, str]:
    """Return version, status and day of the documents for a text."""
    paper, day = plan.scenario.document, written_day(document_day(plan))
    version = paper.version or said("document.first version")
    return {"version": version, "status": paper.status or "draft", "day": day}


def recommendation(plan: Plan) -> tuple[str, str]:
    """Say in one sentence each what to build and what it achieves."""
    figures = Figures(plan)
    if not plan.pools:
        return said("executive.nothing"), figures.said("executive.nothing why")
    servers = {pool.server for pool in plan.own_pools}
    known = len(servers) == 1 and "" not in servers
    server = plan.catalog.servers[servers.pop()].name if known else said("executive.server")
    key = "executive.build in clusters" if len(plan.pools) > 1 else "executive.build"
    return figures.said(key, server=server), plan.verdict.fit_sentence


def _carries(plan: Plan) -> str:
    ranked = sorted(plan.groups, key=lambda group: -group.demand_gpus)
    if not ranked:
        return Figures(plan).said("executive.carries a total")
    names = [said("executive.workload", name=group.name, vms=group.vms) for group in ranked]
    return said("executive.carries", names=names)


def _money_about(plan: Plan) -> str:
    figures, costs = Figures(plan), plan.costs
    if costs is None or figures.cost is None:
        return ""
    text = figures.said("executive.money")
    if figures.cost.grows:
        text += " " + figures.said("executive.money with growth")
    if left_out := (*costs.excludes, *costs.outside):
        names, more = "; ".join(left_out[:MOST_ITEMS]), len(left_out) - MOST_ITEMS
        if more > 0:
            names = said("executive.money excludes more", names=names, more=more)
        text += " " + said("executive.money excludes", names=names)
    return text


def choices(plan: Plan, alternatives: Sequence[Alternative]) -> Iterator[Alternative]:
    """Yield the most informative alternatives, each with its short name and why it is not recommended."""
    shown = [choice for choice in with_cheapest_rent(alternatives) if not choice.chosen]
    for choice in sorted(shown, key=lambda each: ORDER.index(_kind(plan, each.key))):
        yield replace(choice, name=choice.short_name, gives_up=_why_not(plan, choice))


def _kind(plan: Plan, key: str) -> str:
    """Return the kind of an alternative: the posture nearest to the chosen one goes first."""
    if key in ("n0", "n1", "n2"):
        chosen = plan.scenario.availability.host_failures
        return "posture" if key == ("n1" if chosen != 1 else "n0") else "other posture"
    return "rent" if key.startswith("rent-") else key


def _why_not(plan: Plan, each: Alternative) -> str:
    if each.key.startswith("n") and each.difference > 0:
        short = [hours(posture.short_h) for posture in plan.postures if posture.chosen]
        return said("executive.why not more", less="".join(short[:1]))
    if each.key == "silos" and each.difference > 0:
        return said("executive.why not silos")
    return each.gives_up


def drivers(plan: Plan, bars: Sequence[Bar]) -> Iterator[Driver]:
    """The assumptions that move the cost, the strongest first."""
    now = plan.costs.net_present if plan.costs else 0.0
    for bar in bars:
        at_low = now if bar.cost_low is None else bar.cost_low
        at_high = now if bar.cost_high is None else bar.cost_high
        ends = sorted((at_low, at_high, now))
        if ends[-1] > ends[0]:
            low, high = (value_words(bar.path, end, bar.unit) for end in (bar.low, bar.high))
            yield Driver(bar.label, low, high, ends[0], ends[-1], at_low, at_high)


def actions(plan: Plan, messages: Sequence[Message] | None = None) -> list[Action]:
    """List the actions with owner and due date, the first due first; messages with the same action share one."""
    groups: dict[tuple[str, str], list[Message]] = {}
    for message in check_plan(plan) if messages is None else messages:
        if what := what_to_do(message):
            groups.setdefault((what, message.owner), []).append(message)
    listed = []
    for (what, owner), group in groups.items():
        day = due(plan, min(item.days for item in group), decided=owner == "customer")
        level = min((item.level for item in group), key=LEVELS.index)
        first, *others = (item.text for item in group)
        why = f"{first} {said('action.more', count=len(others))}" if others else first
        listed.append(Action(what, why, owner, day, group[0].code, level))
    return sorted(listed, key=lambda each: each.due)


def due(plan: Plan, days: int, *, decided: bool = False) -> str:
    """Return the day ``days`` after the document's; for a decision, the stated day if there is one."""
    return due_day(plan.scenario, plan.catalog, days, decided=decided)


def decisions(plan: Plan) -> Iterator[Action]:
    """Yield the customer's decisions: those of every design, then those of this one."""
    if not plan.pools:
        return
    failures, promise = plan.scenario.availability.host_failures, plan.verdict.tolerance
    board = joined([plan.catalog.gpus[gpu].name for gpu in plan.new_boards])
    accepted = ("decision.failures", "decision.failures why")
    if not failures:
        accepted = ("decision.no failures", "decision.no failures why")
    standing = []
    for code, days, what, why in (
        ("order", ORDER_DAYS, "decision.order", "decision.order why"),
        ("failures", 14, *accepted),
        ("board", 14, "decision.board", "decision.board why"),
    ):
        text, day = Figures(plan).said(what, tolerance=promise, board=board), due(plan, days, decided=True)
        standing.append(Action(text, said(why), "customer", day, f"{STANDING_CODE}{code}"))
    customers = [action for action in actions(plan) if action.owner == "customer"]
    yield from sorted((*standing, *customers), key=lambda each: each.due)
