"""Tables of placement over time: power-on as set and otherwise, host evacuation, restarts per failure, and a week."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.models.placement import Request
from gpuplan.models.power_on import Play, Refusal, Rules, Step
from gpuplan.models.power_on.rehearsal import DOWN, MOVES, RESTARTS, STAYS
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.power_on import PowerOn, distinct
from gpuplan.plan.over_time.rehearsal import Failed, Lived, Rehearsed, Turn
from gpuplan.plan.over_time.rules import alike
from gpuplan.plan.over_time.tried import Tried, label
from gpuplan.report.kinds import between, one_place
from gpuplan.report.table import Cell, Column, Table, columns, listed, tabulate
from gpuplan.report.tables.plan import by_cluster, group_names
from gpuplan.wording import (
    amount,
    capital,
    joined,
    moment,
    number,
    percent,
    run_words,
    said,
    some_of,
    stated_percent,
)

Hosts = Mapping[str, int | None]
"""Setting -> the fewest hosts on which enough orders start every VM; None if no number does."""
FOR_DEMAND, NOT_KNOWN = said("power on.for demand"), said("power on.not known")
SHARED, NOT_TRIED = said("power on.shared"), said("power on.not tried")
NOT_REHEARSED, TOO_LARGE = said("rehearsal.not rehearsed"), said("rehearsal.too large")


def _range(ends: tuple[float, float], words: Callable[[float], str], value: Any) -> Cell:
    """Return a range by one of its ends."""
    return Cell(value, words=between(ends, words), low=ends[0], high=ends[1])


def _between(ends: tuple[float, float], words: Callable[[float], str]) -> Cell:
    """Return a range with both ends."""
    return Cell(ends, words=between(ends, words))


# ---- power-on


class Row(NamedTuple):
    """A setting of a cluster."""

    made: PowerOn
    tried: Tried
    hosts: Hosts


def power_on(plan: Plan) -> Table:
    """Tabulate power-on as set and with other settings, in the few orders that a plan tries."""
    return settings([(trial, {}) for trial in distinct(plan.power_on)]).without("hosts")


def settings(found: Sequence[tuple[PowerOn, Hosts]]) -> Table:
    """Tabulate settings of some clusters, in the orders tried, with the hosts each takes; empty if all orders agree."""
    share = next((trial.scenario.availability.orders_share for trial, _ in found), 1.0)
    rows = [
        Row(trial, trial.tried(key), hosts)
        for trial, hosts in found
        if trial.known and not alike(trial.pool.requests)
        for key in dict.fromkeys(("now", *trial.settings, trial.best.key))
    ]
    return tabulate(
        "power_on",
        rows,
        setting=lambda row: Cell(row.tried.key, words=label(row.tried.key)),
        chance=lambda row: _share(row.tried.chance),
        chance_high=lambda row: row.tried.chance[1],
        interval_low=_interval,
        interval_high=lambda row: _interval(row).high,
        missing=lambda row: _missing(row.tried),
        hosts=_hosts,
        cluster_id=lambda row: row.made.pool.id,
        heads={"hosts": said("table.power_on.hosts", share=stated_percent(share))},
        notes=_notes(rows),
    )


def _notes(rows: Sequence[Row]) -> tuple[str, ...]:
    """Note what host groups would take, which hosts are meant, and what is unknown."""
    now = [row for row in rows if row.tried.key == "now"]
    meant = [FOR_DEMAND] if any(row.hosts for row in now) else []
    return (*(by_size(row.made, len(now) > 1) for row in now), *meant, *[NOT_KNOWN] * bool(rows))


def answer(made: PowerOn) -> str:
    """Say the result for a cluster, and how vSphere is set."""
    platform, shown = made.scenario.platform, []
    if {"group", "spread"} & made.settings.keys():
        shown.append(said("power on.policy", policy=platform.gpu_policy))
    if made.pool.kind == "vgpu":
        consolidated = platform.drs_consolidation
        shown.append(said("power on.consolidation" if consolidated else "power on.no consolidation"))
    reserved = made.pool.hosts - len(made.rooms)
    shown += [said("power on.reserved", hosts=reserved)] if reserved else []
    if not shown:
        return made.sentence
    return said("power on.settings", sentence=made.sentence, settings=", ".join(shown))


def by_size(made: PowerOn, named: bool = False) -> str:
    """Say what host groups by size would take."""
    key = "power on.by size in a pool" if named else "power on.by size"
    return said(key, pool=made.pool.name, hosts=made.hosts_by_size)


def _share(ends: tuple[float, float]) -> Cell:
    return _range(ends, percent, ends[0])


def _interval(row: Row) -> Cell:
    """Return an order's interval; empty for an order with a name, which is no sample."""
    one = Cell(None, words=said("power on.one order"))
    return _share(row.tried.interval) if row.tried.orders > 1 else one


def _missing(tried: Tried) -> Cell:
    return _range(tried.missing, one_place, tried.missing[1])


def _hosts(row: Row) -> Cell:
    hosts = row.hosts.get(row.tried.key)
    over = hosts is None and row.tried.key in row.hosts
    return Cell(hosts, words=said("power on.over", hosts=row.made.most_hosts) if over else None)


def readings(found: Sequence[PowerOn]) -> Table:
    """Tabulate the possible behaviour of vSphere where sources differ or are silent, and its effect on the VMs."""
    return tabulate(
        "power_on_readings",
        [
            (trial, reading, became)
            for trial in found
            if trial.known
            for reading, became in zip(trial.readings, trial.now.found, strict=True)
        ],
        pool=lambda row: row[0].pool.name,
        reading=lambda row: row[1].words,
        rules=lambda row: row[1].name,
        started=lambda row: row[2].started / row[2].orders,
        missing=lambda row: sum(row[2].missing_by_kind),
        sources=lambda row: row[1].sources,
    )


def named_orders(found: Sequence[PowerOn]) -> Table:
    """Tabulate the results of orders with a name."""
    return tabulate(
        "power_on_orders",
        [
            (trial, name)
            for trial in found
            if trial.known and not alike(trial.pool.requests)
            for name in trial.named
        ],
        pool=lambda row: row[0].pool.name,
        order=lambda row: Cell(row[1], words=label(row[1])),
        missing=lambda row: _missing(row[0].tried(row[1])),
    )


def by_reading_and_name(plan: Plan) -> tuple[Table, Table]:
    """Tabulate power-on of a plan under each reading, and in the orders with a name."""
    trials = distinct(plan.power_on)
    return readings(trials), named_orders(trials)


class Arrival(NamedTuple):
    """A VM that was powered on."""

    at: int
    step: Step
    why: str
    """Reason why it does not start."""


def steps(plan: Plan, play: Play) -> Table:
    """Tabulate one order, VM by VM: the host of each, or why it does not start; all are on afterwards."""
    names, requests = group_names(plan), play.cluster.requests
    rows = []
    for at, step in enumerate(play.steps, 1):
        why = ""
        if step.spot is None:
            play.go(at)
            why = refusal_words(requests[step.kind], play.refusal(), play.cluster.rules)
        rows.append(Arrival(at, step, why))
    play.go(len(play.steps))
    return tabulate(
        "power_on_steps",
        rows,
        group=lambda row: names[requests[row.step.kind].group],
        profile=lambda row: asks_for(play, row.step.kind),
        host=lambda row: row.step.spot.host + 1 if row.step.spot else None,
        gpus=_gpus,
        starts=lambda row: _starts(play, row.step),
    )


def asks_for(play: Play, kind: int) -> str:
    """Return what a VM requests of a host: its profile and the number of them, or whole GPUs."""
    request = play.cluster.requests[kind]
    if request.family:
        return f"{request.shares} x {request.profile}" if request.shares > 1 else request.profile
    return amount(request.gpus, "GPU") if request.gpus else said("power on.no gpu")


def _gpus(row: Arrival) -> Cell:
    gpus = tuple(gpu + 1 for gpu in row.step.spot.gpus) if row.step.spot else ()
    return Cell(gpus, words=", ".join(map(str, gpus)))


def _starts(play: Play, step: Step) -> Cell:
    """Return where its shares begin, if placement matters."""
    family = play.cluster.gpus.fits.family_of[step.kind]
    placed = family >= 0 and play.cluster.gpus.ways[family].pieces
    starts = step.spot.starts if step.spot and placed else ()
    return Cell(starts, words=", ".join(map(str, starts)))


def refusal_words(request: Request, refusal: Refusal, rules: Rules) -> str:
    """Say why a VM does not start, and what occupies the GPUs."""
    return f"{_lacking(request, refusal, rules)} {_standing(request, refusal)}".strip()


def _lacking(request: Request, refusal: Refusal, rules: Rules) -> str:
    """Say what a VM finds on no host."""
    if refusal.short_of:
        return said("power on.short of", what=said("headline.and").join(refusal.short_of))
    if request.family:
        key = "power on.no place" if request.shares == 1 else "power on.no places"
        return said(key, shares=request.shares, profile=request.profile or "it")
    free, needed = refusal.free_on_a_host, request.gpus
    if free < needed:
        several = "power on.needs gpus" if free else "power on.needs gpus and none is free"
        return said("power on.needs a gpu" if needed == 1 else several, gpus=needed, free=free)
    return said("power on.no partition" if rules.partitions else "power on.no nvlink domain", gpus=needed)


def _standing(request: Request, refusal: Refusal) -> str:
    """Say what occupies the GPUs."""
    parts = list[str]()
    for profiles, gpus in refusal.locked:
        key = "power on.more locked" if parts else "power on.locked"
        parts.append(said(key, gpus=gpus, profiles=said("headline.and").join(profiles)))
    counts = {
        "power on.full": refusal.full,
        "power on.open": refusal.open - refusal.neutral if request.family else 0,
        "power on.whole": refusal.whole,
        "power on.neutral": refusal.neutral,
    }
    parts += [said(key, gpus=gpus) for key, gpus in counts.items() if gpus > 0]
    return said("power on.of gpus", gpus=refusal.gpus, parts=joined(parts)) if parts else ""


# ---- rehearsal


def rehearsals(plan: Plan, *pools: Pool) -> list[Rehearsed]:
    """Return the rehearsals of all clusters or of some; none for Bitfusion, nor for clusters that are too large."""
    results = (plan.rehearsed.get(pool.id) for pool in pools or plan.pools)
    return [result for result in results if result is not None and not result.too_large]


def _by_cluster(
    name: str,
    plan: Plan,
    pools: Sequence[Pool],
    own: Sequence[Column],
    of: Callable[[Rehearsed], Iterable[Any]],
) -> Table:
    """Build a table of rehearsals, in all clusters or in some."""
    clusters = [rehearsal.pool for rehearsal in rehearsals(plan, *pools)]
    return by_cluster(name, own, clusters, lambda pool: of(plan.rehearsed[pool.id]))


def upgrades(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the evacuation of each host for an upgrade in turn, in all clusters or in some."""
    names = group_names(plan)
    shown = columns(
        "upgrades",
        moved=lambda turn: turn.vms(MOVES),
        restarted=lambda turn: turn.vms(RESTARTS),
        to_hosts=_targets,
        stun_s=_stun,
        down=lambda turn: _down(turn, names),
    )
    table = _by_cluster("upgrades", plan, pools, shown, lambda each: each.upgrade.turns)
    move = any(turn.vms(MOVES) for rehearsal in rehearsals(plan, *pools) for turn in rehearsal.upgrade.turns)
    return replace(table, notes=(said("rehearsal.migration"),) if move else ())


def _targets(turn: Turn) -> Cell:
    hosts = sorted({vm.to_host for vm in turn.went if vm.to_host})
    return Cell(tuple(hosts), words=run_words(hosts))


def _stun(turn: Turn) -> Cell:
    text = said("table.not known") if turn.stun_s is None else f"{number(round(turn.stun_s))} s"
    return Cell(turn.stun_s, words=text if turn.vms(MOVES) else "")


def _down(turn: Turn, names: dict[str, str]) -> Cell:
    fewest, most = turn.down
    groups = Counter(names[vm.group] for vm in turn.went if vm.how == DOWN)
    if not most:
        return Cell(0, words="none")
    vms = number(most) if fewest == most else span_words(fewest, number(most))
    return Cell(most, words=f"{vms}{': ' * bool(groups)}{some_of(list(groups))}", tone="bad")


def span_words(fewest: int, most: str) -> str:
    """A range of VMs: ``2 to 13 VMs``, ``up to 2 VMs``."""
    return said("rehearsal.span" if fewest else "rehearsal.up to", fewest=fewest, most=most)


def emptied(plan: Plan, turn: Turn) -> Table:
    """Tabulate each VM of an evacuated host, and its destination."""
    names = group_names(plan)
    return tabulate(
        "emptied",
        turn.went,
        group=lambda each: names[each.group],
        title=said("table.emptied", host=turn.host),
    )


def restarts(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the restarts by HA after the failure of each host, the worst first, in all clusters or in some."""
    table = _by_cluster("restarts", plan, pools, _restart_columns(plan), lambda each: each.failures)
    return (
        table
        if any(STAYS in rehearsal.ways for rehearsal in rehearsals(plan, *pools))
        else table.without("static")
    )


def restart(plan: Plan, rehearsed: Rehearsed, failed: Failed) -> Table:
    """Tabulate the restarts by HA when some hosts fail."""
    table = listed("restarts", _restart_columns(plan), [failed])
    return table if STAYS in rehearsed.ways else table.without("static")


def _restart_columns(plan: Plan) -> tuple[Column, ...]:
    """Columns of a failure and its restarts."""
    names = group_names(plan)
    return columns(
        "restarts",
        hosts=lambda failed: Cell(failed.hosts, words=run_words(sorted(failed.hosts))),
        chance=lambda failed: _between(failed.chance, percent),
        missing=lambda failed: _between(failed.missing, one_place),
        worst=lambda failed: _worst(failed, names),
    )


def _worst(failed: Failed, names: dict[str, str]) -> Cell:
    vms = [f"{names[group]} ({n})" for group, n in failed.worst]
    return Cell(sum(n for _, n in failed.worst), words=some_of(vms) or said("rehearsal.all restart"))


def weeks(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the effect of a week of arrivals and departures, in all clusters or in some."""
    shown = columns(
        "weeks",
        refused=lambda week: _between(week.refused, percent),
        first_start=lambda week: _between(week.first_start, percent),
        worst_hour=_worst_hour,
        missing=lambda week: max(week.missing),
        stranded_gpus=lambda week: week.stranded_gpus[_hour(week)],
    )
    return _by_cluster("weeks", plan, pools, shown, lambda each: filter(None, [each.week]))


def _hour(week: Lived) -> int:
    return week.missing.index(max(week.missing))


def _worst_hour(week: Lived) -> Cell:
    hour = _hour(week)
    return Cell(hour, words=moment(4 * hour) if max(week.missing) else "none")


# ---- in a sentence


def upgrade_sentence(rehearsed: Rehearsed) -> str:
    """Say whether hosts can be upgraded in turn, and in which order."""
    upgrade = rehearsed.upgrade
    hosts = run_words(upgrade.order)
    shut = len({(vm.group, vm.vm) for turn in upgrade.turns for vm in turn.went if vm.how == RESTARTS})
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.any order", static=_static(upgrade.down[1]))
    if upgrade.works:
        every = "rehearsal.every vm that starts" if rehearsed.not_started[1] else "rehearsal.every vm"
        other = said("rehearsal.every other vm" if upgrade.down[1] else every)
        text = said("rehearsal.finds a place", vms=capital(other), hosts=hosts)
        if not shut:
            text = said("rehearsal.runs", vms=other, hosts=hosts)
        text = f"{_static(upgrade.down[1])} {text}" if upgrade.down[1] else text
    else:
        least, most = upgrade.down
        vms = amount(most, "VM") if least == most else capital(span_words(least, amount(most, "VM")))
        proof = said("rehearsal.proven" if upgrade.proven else "rehearsal.not proven")
        key = "rehearsal.one down" if most == 1 else "rehearsal.some down"
        text = said(key, vms=vms, hosts=hosts, proof=proof)
    if shut:
        text += said("rehearsal.one shut down" if shut == 1 else "rehearsal.some shut down", vms=shut)
        text += said("rehearsal.dynamic") * (rehearsed.pool.kind == "passthrough")
    return text


def verdict(rehearsed: Rehearsed) -> str:
    """Say whether hosts can be upgraded in turn, as powered on and as designed."""
    return f"{upgrade_sentence(rehearsed)} {design_sentence(rehearsed)}"


def verdicts(plan: Plan, found: Sequence[Rehearsed]) -> list[str]:
    """Say the verdict of some clusters, by name where the plan has several."""
    several = len(plan.pools) > 1
    return [f"{rehearsal.pool.name}: " * several + verdict(rehearsal) for rehearsal in found]


def _static(vms: int) -> str:
    """VMs that run on their own host or not at all."""
    return said("rehearsal.static", vms=vms)


def start_sentence(rehearsed: Rehearsed) -> str:
    """Say where the rehearsal begins, and what it assumes."""
    most = rehearsed.not_started[1]
    lacking = said("rehearsal.start lacking", vms=most) if most else ""
    kept = said("rehearsal.start kept", hosts=rehearsed.reserved) if rehearsed.reserved else ""
    return said("rehearsal.start", kept=kept, lacking=lacking)


def design_sentence(rehearsed: Rehearsed) -> str:
    """Say the result when the rehearsal begins with the placement of the design."""
    upgrade = rehearsed.upgrade_as_designed
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.as designed the same")
    if upgrade.works:
        other = said("rehearsal.every other vm" if upgrade.down[1] else "rehearsal.every vm")
        return said("rehearsal.as designed", vms=other, hosts=run_words(upgrade.order))
    hand = said("rehearsal.by hand") * rehearsed.by_hand_as_designed
    return said("rehearsal.as designed down", vms=upgrade.down[1]) + hand


def restart_sentence(rehearsed: Rehearsed) -> str:
    """Say whether HA restarts all VMs of a failed host."""
    worst, static = rehearsed.failures[0], max(failed.static for failed in rehearsed.failures)
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.no restart")
    if worst.chance[0] == 1:
        drawn = max(failed.drawn for failed in rehearsed.failures)
        order = said("rehearsal.restart drawn" if drawn else "rehearsal.restart in any order", orders=drawn)
        but = said("rehearsal.restart static", vms=static) if static else ""
        return said("rehearsal.restart", static=but, order=order)
    sure = sum(failed.chance[0] == 1 for failed in rehearsed.failures)
    hosts = len(rehearsed.failures)
    again = max(failed.best for failed in rehearsed.failures)
    return said(
        "rehearsal.restart some",
        unsure=hosts - sure,
        hosts=hosts,
        static=said("rehearsal.restart beside static", vms=static) if static else "",
        placed=said("rehearsal.some would not fit" if again else "rehearsal.all would fit", vms=again),
    )


def week_sentence(rehearsed: Rehearsed) -> str:
    """Say which VMs arrive and leave during the week."""
    return "" if rehearsed.week is None else said("rehearsal.week")
