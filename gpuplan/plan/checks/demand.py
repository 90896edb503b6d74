"""Checks of the demand: who gets no GPU, which hours decide, how likely waiting is."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan.checks.message import Message
from gpuplan.plan.plan import Plan
from gpuplan.plan.sizing_rule import Target, burst_fact, odds_of, peakedness_range
from gpuplan.wording import METHOD_NAMES, amount, number, percent, some_of, week_hours


def nothing_asked(plan: Plan) -> Iterator[Message]:
    """No demand at all."""
    if not plan.pools and not plan.totals.unplaced_vms:
        yield Message(
            "nothing-demanded",
            "note",
            "Nobody asks for a GPU yet.",
            "Add a workload group, or state a total.",
            "groups",
        )


def unplaced(plan: Plan) -> Iterator[Message]:
    """VMs without a GPU, and why."""
    for group in plan.groups:
        for missing in group.unplaced:
            if missing.code == "no-mode-possible":
                why = " ".join(r.reason.text for r in group.ruled_out)
                yield Message(
                    "no-access-mode",
                    "stop",
                    f"{group.name}: {missing.reason} {why}",
                    "Change what the group needs, the GPU or the vSphere version.",
                    f"groups.{group.id}.access",
                    tuple(s for r in group.ruled_out for s in r.reason.sources if s != "scenario"),
                )
            else:
                yield Message(
                    "beyond-stated-total",
                    "stop",
                    f"{group.name}: no place for {amount(missing.vms, 'VM')} ({amount(missing.gpus, 'GPU')}), because "
                    f"{missing.reason}.",
                    "Raise the stated total, clear it to size from the groups, or ask for less.",
                    "demand.stated_gpus",
                )


def stated_total(plan: Plan) -> Iterator[Message]:
    """A stated total beyond what the groups want."""
    stated = plan.scenario.demand.stated_gpus
    groups = plan.lines["demand.groups_gpus"].value
    if stated is not None and plan.groups and groups < stated:
        rest = plan.lines["demand.unassigned_gpus"].value if "demand.unassigned_gpus" in plan.lines else 0
        yield Message(
            "stated-above-groups",
            "note",
            f"The groups add up to {groups:g} GPUs, the stated total is {stated}. {rest:g} whole GPUs are planned for no "
            "group.",
            "Describe who needs them, or lower the stated total.",
            "demand.stated_gpus",
        )


def busiest_hours(plan: Plan) -> Iterator[Message]:
    """Which hours of the week a pool is sized for."""
    names = {pool.id: pool.name for pool in plan.pools}
    for demand in plan.hours:
        if len(demand.needed) > 1 and demand.pool in names:
            chosen = demand.needed[demand.chosen]
            others = max(n for at, n in enumerate(demand.hosts) if at != demand.chosen)
            yield Message(
                "sized-for-busiest-hours",
                "note",
                f"{names[demand.pool]}: sized for who is active {week_hours(chosen.mix.quarters)} UTC, which takes the most hosts; "
                f"the other hours need at most {amount(others, 'host')} without spare ones. The pictures show that mix.",
                "Check the hours with each group: who works longer takes GPUs that others count on.",
                f"groups.{chosen.mix.asks[0].group}.hours",
                ("gpuplan-method",),
            )


def lent_between_modes(plan: Plan) -> Iterator[Message]:
    """MIG and time-sliced vGPUs at different hours on the same GPUs."""
    backing = {group.id: group.backing for group in plan.groups}
    for demand in plan.hours:
        kinds = [
            frozenset(backing[g] for g, n in want.requests.items() if n and backing.get(g))
            for want in demand.needed
        ]
        if len(set(kinds)) > 1 and {"mig", "timesliced"} <= frozenset().union(*kinds):
            groups = [g.name for g in plan.groups if g.backing == "mig" and g.pool == demand.pool]
            yield Message(
                "mig-switched-through-the-day",
                "warn",
                f"{some_of(groups)} use MIG at other hours than others use the same GPUs time-sliced. A GPU is switched between the "
                "two only while nothing runs on it, on some boards with a restart of the host.",
                "Give all groups of these hosts the same kind of vGPU, or add their GPUs up at their peaks.",
                "demand.rule",
                plan.catalog.row("rules", "mig-enable-reboot").sources,
            )


def waiting(plan: Plan) -> Iterator[Message]:
    """How likely waiting is, and what bursts would take."""
    asked, waiting = plan.scenario.demand, plan.lines.get("totals.waiting")
    if asked.rule in ("sum", "hours") and waiting and waiting.value >= WORTH_A_WORD_PCT:
        closed = waiting.function.endswith("closed_wait_chance")
        why = (
            "If each person is active at random with the share that is stated"
            if closed
            else "If work comes in bursts as they are stated or planned for"
        )
        more = " A share that is already the highest ever seen leaves no such risk." if closed else ""
        yield Message(
            "waiting-likely",
            "note",
            f"{why}, {percent(waiting.value / 100)} of the requests{' of the unluckiest group' * closed} find too few GPUs free in the "
            f"busiest hours.{more}",
            "Ask what the share is, the usual one or the highest, and choose how often somebody may wait.",
            "demand.rule",
            tuple(each for each in waiting.sources if each in plan.catalog.sources),
        )
    for demand in plan.hours:
        want = demand.needed[demand.chosen]
        if want.method in ("", "bursty"):
            continue
        odds = odds_of(want.mix, Target.of(plan.scenario))
        if not odds.asks:
            continue
        low, _, high = peakedness_range(plan.scenario, plan.catalog, odds)
        least, most = odds.least("bursty", low), odds.least("bursty", high)
        if least > want.gpus:
            yield Message(
                "bursts-need-more",
                "warn",
                f"The {number(want.gpus)} GPUs rest on {METHOD_NAMES[want.method].lower()}. If work comes in bursts, as in traces of "
                f"real clusters, the same target takes {number(least)} to {number(most)}.",
                "Audit the jobs that run today: it gives the customer's own peakedness.",
                "demand.method",
                burst_fact(plan.catalog).sources,
            )


WORTH_A_WORD_PCT = 10
"""A chance of waiting from which it is pointed out."""
