"""Checks of the demand: groups without a GPU, the hours that decide, the chance of waiting."""

from collections.abc import Iterator
from typing import Any

from gpuplan.plan.access import GroupPlan, RuledOut
from gpuplan.plan.checks.message import Message, about, message
from gpuplan.plan.hosts import pool_names
from gpuplan.plan.plan import Plan
from gpuplan.plan.sizing_rule import Target, burst_fact, odds_of, peakedness_range
from gpuplan.scenario import RISKS
from gpuplan.wording import (
    METHOD_NAMES,
    MODE_NAMES,
    counted,
    either,
    number,
    said,
    some_of,
    stated_percent,
    week_hours,
    whole,
)

WORTH_A_WORD_PCT = 10
"""Least chance of waiting that is worth a message."""


def nothing_asked(plan: Plan) -> Iterator[Message]:
    """No demand at all."""
    if not plan.pools and not plan.totals.unplaced_vms and not plan.leftover:
        yield message(plan, "nothing-demanded")


def left_over(plan: Plan) -> Iterator[Message]:
    """Jobs that may be stopped, and what they get of the GPUs that others leave."""
    names = {group.id: group.name for group in plan.groups}
    for one in plan.leftover.groups if plan.leftover else ():
        level = "note" if one.share >= 1 else "warn"
        yield message(plan, "runs-on-what-is-left", level=level, group=names[one.group], left=one)


def unplaced(plan: Plan) -> Iterator[Message]:
    """VMs without a GPU, and why."""
    alike: dict[tuple[str, ...], list[GroupPlan]] = {}
    for group, missing in ((g, missing) for g in plan.groups for missing in g.unplaced):
        if missing.code == "no-mode-possible":
            why = dict.fromkeys(out.reason.text for out in _against(plan, group))
            alike.setdefault((_others(group), missing.reason, " ".join(why)), []).append(group)
    for (others, reason, because), groups in alike.items():
        sources = tuple(s for out in _against(plan, groups[0]) for s in out.reason.sources if s != "scenario")
        code = "decided-mode-impossible" if others else "no-access-mode"
        words = {"reason": reason, "why": because, "others": others}
        yield from about(plan, code, groups, sources=sources, **words)


def beyond_total(plan: Plan) -> Iterator[Message]:
    """VMs that a stated total leaves without a GPU."""
    beyond = [(g, left) for g in plan.groups for left in g.unplaced if left.code == "beyond-stated-total"]
    if beyond:
        yield message(
            plan,
            "beyond-stated-total",
            vms=sum(left.vms for _, left in beyond),
            gpus=sum(left.gpus for _, left in beyond),
            reason=beyond[0][1].reason,
            groups=some_of([f"{group.name} {number(left.vms)}" for group, left in beyond]),
        )


def _others(group: GroupPlan) -> str:
    """Modes that would serve a group which has one that does not."""
    return either([MODE_NAMES[out.mode] for out in group.ruled_out if out.possible])


def _against(plan: Plan, group: GroupPlan) -> list[RuledOut]:
    """Modes that do not serve a group, the one that was decided on first: that one alone where others would do."""
    decided = plan.scenario.get(f"groups.{group.id}.access")
    out = [o for o in group.ruled_out if not o.possible and (o.mode == decided or not _others(group))]
    return sorted(out, key=lambda one: (one.mode != decided, one.mode == "bitfusion"))


def stated_total(plan: Plan) -> Iterator[Message]:
    """Report a stated total that differs from the demand of the groups."""
    stated, needed = plan.scenario.demand.stated_gpus, plan.lines["demand.groups_gpus"].value
    if stated is None or not plan.groups or needed == stated:
        return
    words: dict[str, Any] = {"stated": stated, "needed": whole(needed)}
    if plan.scenario.deciding_total_gpus is None:
        key, level = ("check.more", "warn") if needed > stated else ("check.fewer", "note")
        words["apart"] = said(key, gpus=whole(abs(needed - stated)))
        then = said("check.then without") if needed > stated else ""
        yield message(plan, "stated-total-differs", level=level, then=then, **words)
    elif needed < stated:
        spare = plan.lines.get("demand.unassigned_gpus")
        rest = counted(int(spare.value) if spare else 0, "whole GPU")
        yield message(plan, "stated-above-groups", rest=rest, **words)


def busiest_hours(plan: Plan) -> Iterator[Message]:
    """Report the hours of the week for which a pool is sized."""
    names = pool_names(plan.pools)
    for demand in plan.hours:
        if len(demand.needed) > 1 and demand.pool in names:
            mix = demand.needed[demand.chosen].mix
            others = max(n for at, n in enumerate(demand.hosts) if at != demand.chosen)
            words: dict[str, Any] = {
                "pool": names[demand.pool],
                "hours": week_hours(mix.quarters),
                "hosts": others,
            }
            yield message(plan, "sized-for-busiest-hours", id=mix.asks[0].group, **words)


def lent_between_modes(plan: Plan) -> Iterator[Message]:
    """MIG and time-sliced vGPUs at different hours on the same GPUs."""
    backing = {group.id: group.backing for group in plan.groups}
    for demand in plan.hours:
        kinds = [
            frozenset(backing[g] for g, n in want.requests.items() if n and backing.get(g))
            for want in demand.needed
        ]
        if len(set(kinds)) > 1 and {"mig", "timesliced"} <= frozenset().union(*kinds):
            groups = [g for g in plan.groups if g.backing == "mig" and g.pool == demand.pool]
            yield from about(plan, "mig-switched-through-the-day", groups)


def waiting(plan: Plan) -> Iterator[Message]:
    """Report the chance of waiting where no target is set."""
    waiting = plan.lines.get("totals.waiting")
    if plan.scenario.demand.rule not in RISKS and waiting and waiting.value >= WORTH_A_WORD_PCT:
        closed = waiting.function.endswith("closed_wait_chance")
        key = "check.waiting of users" if closed else "check.waiting in bursts"
        sources = tuple(source for source in waiting.sources if source in plan.catalog.sources)
        yield message(plan, "waiting-likely", text=said(key, chance=waiting.value / 100), sources=sources)


def bursts(plan: Plan) -> Iterator[Message]:
    """Report the effect of bursts on a pool that is sized for other arrivals."""
    for demand in plan.hours:
        want = demand.needed[demand.chosen]
        odds = odds_of(want.mix, Target.of(plan.scenario))
        if want.method in ("", "bursty") or not odds.asks:
            continue
        low, _, high = peakedness_range(plan.scenario, plan.catalog, odds)
        least, most = odds.least("bursty", low), odds.least("bursty", high)
        if least > want.gpus:
            words: dict[str, Any] = {
                "method": METHOD_NAMES[want.method].lower(),
                "least": least,
                "most": most,
            }
            sources = burst_fact(plan.catalog).sources
            yield message(plan, "bursts-need-more", gpus=want.gpus, sources=sources, **words)


def targets(plan: Plan) -> Iterator[Message]:
    """Report the hosts that a rule by risk takes beyond its answer by formula, and where it does not hold."""
    target = stated_percent(plan.scenario.demand.chance)
    for kind, division in plan.divisions.items():
        result, pool = division.kept, plan.whole_pool(kind)
        if result is None or (result.held and not result.more):
            continue
        code = "target-takes-hosts" if result.held else "target-not-reached"
        best = pool.hosts_for_demand - result.more
        yield message(plan, code, pool=pool, target=target, result=result, best=best)
