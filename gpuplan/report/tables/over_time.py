"""Tables and sentences of rehearsals: host evacuation, restarts per failure, and a week."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.models.power_on.rehearsal import DOWN, MOVES, RESTARTS, STAYS
from gpuplan.plan import Plan
from gpuplan.plan.access import served_by
from gpuplan.plan.hosts import Pool
from gpuplan.plan.over_time.rehearsal import Failed, Lived, Rehearsed, Turn
from gpuplan.report.kinds import between
from gpuplan.report.table import Cell, Column, Table, columns, listed, tabulate
from gpuplan.report.tables.plan import by_cluster, group_names
from gpuplan.wording import amount, moment, number, one_place, percent, run_words, said, some_of

NOT_REHEARSED, TOO_LARGE = said("rehearsal.not rehearsed"), said("rehearsal.too large")


def _between(ends: tuple[float, float], words: Callable[[float], str]) -> Cell:
    return Cell(ends, words=between(ends, words))


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
    clusters = [rehearsal.pool for rehearsal in rehearsals(plan, *pools)]
    return by_cluster(name, own, clusters, lambda pool: of(plan.rehearsed[pool.id]))


def upgrades(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the evacuation of each host for an upgrade in turn, in all clusters or in some."""
    names = group_names(plan)
    counts: dict[str, Any] = {"moved": lambda of: of.vms(MOVES), "restarted": lambda of: of.vms(RESTARTS)}
    shown = columns("upgrades", **counts, to_hosts=_targets, stun_s=_stun, down=lambda of: _down(of, names))
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
        return Cell(0, words=number(None))
    vms = number(most) if fewest == most else span_words(fewest, number(most))
    return Cell(most, words=f"{vms}{': ' * bool(groups)}{some_of(list(groups))}", tone="bad")


def span_words(fewest: int, most: str) -> str:
    """A range of VMs: ``2 to 13 VMs``, ``up to 2 VMs``."""
    return said("rehearsal.span" if fewest else "rehearsal.up to", fewest=fewest, most=most)


def emptied(plan: Plan, turn: Turn) -> Table:
    """Tabulate each VM of an evacuated host, and its destination."""
    names = group_names(plan)
    title = said("table.emptied", host=turn.host)
    return tabulate("emptied", turn.went, group=lambda each: names[each.group], title=title)


def restarts(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the restarts by HA after the failure of each host, the worst first, in all clusters or in some."""
    table = _by_cluster("restarts", plan, pools, _restart_columns(plan), lambda each: each.failures)
    stays = any(STAYS in rehearsal.ways for rehearsal in rehearsals(plan, *pools))
    return table if stays else table.without("static")


def restart(plan: Plan, rehearsed: Rehearsed, failed: Failed) -> Table:
    """Tabulate the restarts by HA when some hosts fail."""
    table = listed("restarts", _restart_columns(plan), [failed])
    return table if STAYS in rehearsed.ways else table.without("static")


def _restart_columns(plan: Plan) -> tuple[Column, ...]:
    names = group_names(plan)
    own: dict[str, Any] = {"worst": lambda failed: _worst(failed, names)}
    own["hosts"] = lambda failed: Cell(failed.hosts, words=run_words(sorted(failed.hosts)))
    own["chance"] = lambda failed: _between(failed.chance, percent)
    own["missing"] = lambda failed: _between(failed.missing, one_place)
    return columns("restarts", **own)


def _worst(failed: Failed, names: dict[str, str]) -> Cell:
    vms = [f"{names[group]} ({n})" for group, n in failed.worst]
    return Cell(sum(n for _, n in failed.worst), words=some_of(vms) or said("rehearsal.all restart"))


def weeks(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the effect of a week of arrivals and departures, in all clusters or in some."""
    own: dict[str, Any] = {"worst_hour": _worst_hour, "missing": lambda week: max(week.missing)}
    own["refused"] = lambda week: _between(week.refused, percent)
    own["first_start"] = lambda week: _between(week.first_start, percent)
    own["stranded_gpus"] = lambda week: week.stranded_gpus[_hour(week)]
    shown = columns("weeks", **own)
    return _by_cluster("weeks", plan, pools, shown, lambda each: filter(None, [each.week]))


def _hour(week: Lived) -> int:
    return week.missing.index(max(week.missing))


def _worst_hour(week: Lived) -> Cell:
    hour = _hour(week)
    return Cell(hour, words=moment(4 * hour) if max(week.missing) else number(None))


def upgrade_sentence(rehearsed: Rehearsed) -> str:
    """Say whether hosts can be upgraded in turn, and in which order."""
    upgrade = rehearsed.upgrade
    if set(rehearsed.ways) == {STAYS}:
        return said("rehearsal.any order", static=_static(upgrade.down[1]))
    shut = len({(vm.group, vm.vm) for turn in upgrade.turns for vm in turn.went if vm.how == RESTARTS})
    sentences = [_static(upgrade.down[1])] if upgrade.works and upgrade.down[1] else []
    sentences.append(_in_turn(rehearsed, shut > 0))
    if shut:
        key = "rehearsal.one shut down" if shut == 1 else "rehearsal.some shut down"
        sentences.append(said(key, vms=shut))
        sentences += [said("rehearsal.dynamic")] * (served_by(rehearsed.pool.kind) == "passthrough")
    return " ".join(sentences)


def _in_turn(rehearsed: Rehearsed, shut: bool) -> str:
    """Say which VMs run while hosts are upgraded in turn; ``shut`` if some are shut down for it."""
    upgrade, hosts = rehearsed.upgrade, run_words(rehearsed.upgrade.order)
    least, most = upgrade.down
    if upgrade.works:
        every = "rehearsal.every vm that starts" if rehearsed.not_started[1] else "rehearsal.every vm"
        vms = said("rehearsal.every other vm" if most else every)
        return said("rehearsal.finds a place" if shut else "rehearsal.runs", vms=vms, hosts=hosts)
    vms = amount(most, "VM") if least == most else span_words(least, amount(most, "VM"))
    proof = said("rehearsal.proven" if upgrade.proven else "rehearsal.not proven")
    down = "rehearsal.one down" if most == 1 else "rehearsal.some down"
    return said(down, vms=vms, hosts=hosts, proof=proof)


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


def week_sentence(rehearsed: Rehearsed) -> str:
    """Say which VMs arrive and leave during the week."""
    return "" if rehearsed.week is None else said("rehearsal.week")
