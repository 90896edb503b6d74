"""The tables of a rehearsal: hosts emptied in turn, restarts after each failure, a week of coming and going."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from gpuplan.models.power_on.rehearsal import MOVES, RESTARTS, STAYS
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.rehearsal import DOWN, Failed, Lived, Rehearsed, Turn, Upgraded
from gpuplan.report.table import Cell, Column, Table, between, listed, one_place, records
from gpuplan.report.tables.plan import by_cluster, group_names
from gpuplan.wording import amount, capital, moment, number, percent, run_words, said, some_of

HAPPENS = {
    MOVES: said("rehearsal.moves"),
    RESTARTS: said("rehearsal.restarts"),
    DOWN: said("rehearsal.down"),
}
"""What becomes of a VM of a host that is emptied."""


NOT_REHEARSED = said("rehearsal.not rehearsed")
TOO_LARGE = said("rehearsal.too large")


def rehearsals(plan: Plan, *pools: Pool) -> list[Rehearsed]:
    """The rehearsals of all clusters or of some; none of Bitfusion, nor of what is too large."""
    found = (plan.rehearsed.get(pool.id) for pool in pools or plan.pools)
    return [each for each in found if each is not None and not each.too_large]


def upgrades(plan: Plan, *pools: Pool) -> Table:
    """Each host emptied for an upgrade in turn, in all clusters or in some."""
    names, there = group_names(plan), {each.pool.id: each for each in rehearsals(plan, *pools)}
    table = by_cluster(
        "upgrades",
        said("table.upgrades"),
        (
            Column("host", said("table.upgrades.host"), "number"),
            Column("moved", said("table.upgrades.moved"), "number", of=lambda turn: turn.vms(MOVES)),
            Column(
                "restarted", said("table.upgrades.restarted"), "number", of=lambda turn: turn.vms(RESTARTS)
            ),
            Column("to_hosts", said("table.upgrades.to_hosts"), of=_targets),
            Column("stun_s", said("table.upgrades.stun_s"), "whole", "s", of=_stun),
            Column("down", said("table.upgrades.down"), "range", of=lambda turn: _down(turn, names)),
        ),
        [each.pool for each in there.values()],
        lambda pool: there[pool.id].upgrade.turns,
    )
    return replace(
        table, notes=(said("rehearsal.migration"),) if any(row["moved"] for row in records(table)) else ()
    )


def _targets(turn: Turn) -> Cell:
    hosts = sorted({each.to_host for each in turn.went if each.to_host})
    return Cell(tuple(hosts), words=run_words(hosts))


def _stun(turn: Turn) -> Cell:
    known = said("table.not known") if turn.stun_s is None else f"{number(round(turn.stun_s))} s"
    return Cell(turn.stun_s, words=known if turn.vms(MOVES) else "")


def _down(turn: Turn, names: dict[str, str]) -> Cell:
    fewest, most = turn.down
    groups = Counter(names[each.group] for each in turn.went if each.how == DOWN)
    if not most:
        return Cell(0, words="none")
    vms = number(most) if fewest == most else span_words(fewest, number(most))
    return Cell(most, words=f"{vms}{': ' * bool(groups)}{some_of(list(groups))}", tone="bad")


def span_words(fewest: int, most: str) -> str:
    """A range of VMs: ``2 to 13 VMs``, ``up to 2 VMs``."""
    return said("rehearsal.span" if fewest else "rehearsal.up to", fewest=fewest, most=most)


def emptied(plan: Plan, turn: Turn) -> Table:
    """Each VM of a host that is emptied, and where it goes."""
    names = group_names(plan)
    return listed(
        "emptied",
        (
            Column("group", of=lambda each: names[each.group]),
            Column("vm", kind="number"),
            Column("how", words=HAPPENS.get),
            Column("from_host", kind="number", of="host"),
            Column("to_host", kind="number"),
        ),
        turn.went,
        title=said("table.emptied", host=turn.host),
    )


def restarts(plan: Plan, *pools: Pool) -> Table:
    """What HA restarts when each host fails, the worst first, in all clusters or in some."""
    there = {each.pool.id: each for each in rehearsals(plan, *pools)}
    found = by_cluster(
        "restarts",
        said("table.restarts"),
        restart_columns(plan),
        [each.pool for each in there.values()],
        lambda pool: there[pool.id].failures,
    )
    return found if any(STAYS in each.ways for each in there.values()) else found.without("static")


def restart(plan: Plan, rehearsed: Rehearsed, failed: Failed) -> Table:
    """What HA restarts when some hosts fail."""
    found = listed("restarts", restart_columns(plan), [failed])
    return found if STAYS in rehearsed.ways else found.without("static")


def restart_columns(plan: Plan) -> tuple[Column, ...]:
    """What is told of a failure and its restarts."""
    names = group_names(plan)
    return (
        Column(
            "hosts",
            said("table.restart_columns.hosts"),
            of=lambda failed: Cell(failed.hosts, words=run_words(sorted(failed.hosts))),
        ),
        Column("vms", said("table.restart_columns.vms"), "number"),
        Column(
            "chance",
            said("table.restart_columns.chance"),
            "number",
            of=lambda failed: _between(failed.chance, percent),
        ),
        Column(
            "missing",
            said("table.restart_columns.missing"),
            "number",
            of=lambda failed: _between(failed.missing, one_place),
        ),
        Column("worst", said("table.restart_columns.worst"), of=lambda failed: _worst(failed, names)),
        Column("static", said("table.restart_columns.static"), "number"),
        Column("best", said("table.restart_columns.best"), "number"),
        Column("drawn", said("table.restart_columns.drawn"), "number", detail=True),
    )


def _between(ends: tuple[float, float], words: Callable[[float], str]) -> Cell:
    return Cell(ends, words=between(ends, words))


def _worst(failed: Failed, names: dict[str, str]) -> Cell:
    vms = [f"{names[group]} ({n})" for group, n in failed.worst]
    return Cell(sum(n for _, n in failed.worst), words=some_of(vms) or said("rehearsal.all restart"))


def weeks(plan: Plan, *pools: Pool) -> Table:
    """What a week of coming and going does, in all clusters or in some."""
    there = {each.pool.id: each for each in rehearsals(plan, *pools) if each.week}
    return by_cluster(
        "weeks",
        said("table.weeks"),
        (
            Column("back", said("table.weeks.back"), "whole"),
            Column(
                "refused",
                said("table.weeks.refused"),
                "number",
                of=lambda week: _between(week.refused, percent),
            ),
            Column(
                "first_start",
                said("table.weeks.first_start"),
                "number",
                of=lambda week: _between(week.first_start, percent),
            ),
            Column("worst_hour", said("table.weeks.worst_hour"), of=_worst_hour),
            Column("missing", said("table.weeks.missing"), "mean", of=lambda week: max(week.missing)),
            Column(
                "stranded_gpus",
                said("table.weeks.stranded_gpus"),
                "mean",
                of=lambda week: week.stranded_gpus[_hour(week)],
            ),
        ),
        [each.pool for each in there.values()],
        lambda pool: filter(None, [there[pool.id].week]),
    )


def _hour(week: Lived) -> int:
    return week.missing.index(max(week.missing))


def _worst_hour(week: Lived) -> Cell:
    hour = _hour(week)
    return Cell(hour, words=moment(4 * hour) if max(week.missing) else "none")


# ---- in a sentence


def upgrade_sentence(rehearsed: Rehearsed) -> str:
    """Whether hosts can be upgraded one by one, and in which order."""
    found = rehearsed.upgrade
    hosts = run_words(found.order)
    shut = len({(each.group, each.vm) for turn in found.turns for each in turn.went if each.how == RESTARTS})
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.any order", static=_static(found.down[1]))
    if found.works:
        every = "every vm that starts" if rehearsed.not_started[1] else "every vm"
        other = said(f"rehearsal.{'every other vm' if found.down[1] else every}")
        text = said("rehearsal.finds a place", vms=capital(other), hosts=hosts)
        if not shut:
            text = said("rehearsal.runs", vms=other, hosts=hosts)
        text = f"{_static(found.down[1])} {text}" if found.down[1] else text
    else:
        least, most = found.down
        vms = amount(most, "VM") if least == most else capital(span_words(least, amount(most, "VM")))
        proof = said("rehearsal.proven" if found.proven else "rehearsal.not proven")
        key = "rehearsal.one down" if most == 1 else "rehearsal.some down"
        text = said(key, vms=vms, hosts=hosts, proof=proof)
    if shut:
        text += said("rehearsal.one shut down" if shut == 1 else "rehearsal.some shut down", vms=shut)
        text += said("rehearsal.dynamic") * (rehearsed.pool.kind == "passthrough")
    return text


def _static(vms: int) -> str:
    """VMs that run on their own host or not at all."""
    return said("rehearsal.static", vms=vms)


def start_sentence(rehearsed: Rehearsed) -> str:
    """From where the rehearsal begins, and what it assumes."""
    most = rehearsed.not_started[1]
    lacking = said("rehearsal.start lacking", vms=most) if most else ""
    kept = said("rehearsal.start kept", hosts=rehearsed.reserved) if rehearsed.reserved else ""
    return said("rehearsal.start", kept=kept, lacking=lacking)


def design_sentence(rehearsed: Rehearsed) -> str:
    """The same from the placement of the design."""
    found: Upgraded = rehearsed.upgrade_as_designed
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.as designed the same")
    if found.works:
        other = said("rehearsal.every other vm" if found.down[1] else "rehearsal.every vm")
        return said("rehearsal.as designed", vms=other, hosts=run_words(found.order))
    hand = said("rehearsal.by hand") * rehearsed.by_hand_as_designed
    return said("rehearsal.as designed down", vms=found.down[1]) + hand


def restart_sentence(rehearsed: Rehearsed) -> str:
    """Whether HA restarts all VMs of a host that fails."""
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
    """What comes and goes in the week."""
    return "" if rehearsed.week is None else said("rehearsal.week")
