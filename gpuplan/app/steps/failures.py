"""Effects of failures and maintenance: the verdict under the picture, and the tables of every loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from typing import Any

from gpuplan.app.cards import Contents, Picture, chip, panel
from gpuplan.app.state import Workbook
from gpuplan.models.availability.failover import Outcome
from gpuplan.models.availability.survey import Loss
from gpuplan.plan.access import GroupPlan, Trait
from gpuplan.plan.hosts import Pool
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.report import amount, group_names, number
from gpuplan.report.bitfusion import clients
from gpuplan.report.charts import availability
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import availability as tables
from gpuplan.widgets import contract
from gpuplan.wording import capital, counted, in_words, run_words, verb

SHOWN_KINDS = 12
SHOWN_PAIRS = 8
SHOWN_RUNS = 4
TOUCHED = (
    Column("group", "Group"),
    Column("running", "Keeps running", "number"),
    Column("evacuated", "Moved for maintenance", "number"),
    Column("restarted", "Restarts", "number"),
    Column("moved", "Moved to make room", "number"),
    Column("missing", "Not placed", "number"),
)


def runs(numbers: Iterable[int]) -> str:
    """Return numbers with neighbours joined, such as 1–3, 7; a long list is cut and says by how much."""
    return run_words(sorted(set(numbers)), most=SHOWN_RUNS)


def named_hosts(numbers: Sequence[int]) -> str:
    """Return hosts by their numbers."""
    return f"{'host' if len(numbers) == 1 else 'hosts'} {runs(numbers)}"


def move_words(workbook: Workbook, group: GroupPlan | None) -> tuple[str, str]:
    """Return (words, tone) for how a VM of a group leaves a host while it runs, for maintenance or to make room."""
    if group is None:
        return "", ""
    if group.stun_not_known:
        return "moves live, stun not known", "warn"
    if group.stun_s is None:
        vmotion = _trait(group, "vMotion")
        if vmotion is not None and vmotion.verdict == "unknown":
            return "test whether it can move live", "warn"
        return "shut down and restarted elsewhere", "warn"
    limit = stun_limit_s(workbook.plan.scenario, workbook.catalog)
    over = group.stun_s > limit
    compared = f"over the limit of {number(limit)} s" if over else f"limit {number(limit)} s"
    return f"stun {stun_text(group.stun_s)}, {compared}", "bad" if over else ""


def stun_text(stun_s: float) -> str:
    """Return a stun time in words."""
    return amount(round(stun_s, 1 if stun_s < 10 else None), "s")


def verdict(workbook: Workbook, pool: Pool) -> contract.Verdict:
    """Return one sentence about a pool in its present state, and the effect on each group concerned."""
    outcome = workbook.outcome(pool.id)
    if outcome is None:
        return _all_running(workbook, pool)
    failed, maintenance = workbook.failed.get(pool.id, ()), workbook.maintenance.get(pool.id, ())
    lead = ", ".join(
        f"{named_hosts(hosts)} {what}"
        for hosts, what in ((maintenance, "in maintenance"), (failed, "failed"))
        if hosts
    )
    touched = screen(_touched(workbook, pool, outcome))
    missing = workbook.plan.placed.missing
    others = len(pool.requests) > len(touched["rows"]) or len(workbook.plan.pools) > 1
    return {
        "tone": "bad" if outcome.unplaced else "warn" if missing else "good",
        "lead": f"{capital(lead)}:",
        "text": _outcome_words(pool, outcome, missing, clients(workbook.plan)),
        "heads": touched["heads"],
        "rows": touched["rows"],
        "rest": "All other VMs keep running." if touched["rows"] and others else "",
    }


def _all_running(workbook: Workbook, pool: Pool) -> contract.Verdict:
    worst = max((loss.unplaced for loss in pool.failures), default=0)
    vms, spare = amount(worst, "VM"), pool.hosts_for_failures
    if worst == 0:
        survived = max(1, pool.survived)
        tone, lead = "good", f"Any {in_words(survived)} host{'s' * (survived > 1)} can fail."
        text = f"The others have room for {'its' if survived < 2 else 'their'} VMs."
        if not spare:
            lead, text = (
                "There is no failover capacity.",
                "Still, any one host can fail: free GPUs on the others take its VMs.",
            )
        if workbook.plan.placed.missing:
            tone, text = "warn", f"{text} {workbook.plan.placed.sentence}"
    elif not workbook.plan.placed.known:
        tone, lead = "warn", "It is not known whether the design survives every host failure."
        text = f"For {vms}, a placement after the worst host failure was neither found nor ruled out."
    else:
        tone, lead = (
            "warn",
            "The design does not survive every host failure." if spare else "There is no failover capacity.",
        )
        text = f"The worst host failure leaves {vms} without a GPU."
    return {"tone": tone, "lead": lead, "text": f"{text} {_proof(pool)}", "heads": [], "rows": [], "rest": ""}


def _proof(pool: Pool) -> str:
    if pool.method == "heuristic":
        return f"At least {number(pool.bound)} hosts are needed for the demand; whether fewer would do is not proven."
    if pool.existing_hosts:
        return "Fewer new hosts are not enough for these VMs."
    if pool.hosts_at_best < 2:
        return ""
    return f"Fewer than {amount(pool.hosts_at_best, 'host')} cannot hold these VMs."


def _outcome_words(pool: Pool, outcome: Outcome, missing: int, remote: Collection[str]) -> str:
    """Describe the effect on VMs; ``missing`` ones never have a place, ``remote`` groups use GPUs over the network."""
    apart = sum(group in remote for group, *_ in outcome.restarted)
    restarted, moved, evacuated = len(outcome.restarted) - apart, len(outcome.moved), len(outcome.evacuated)
    said = []
    if evacuated:
        leave = "leaves" if evacuated == 1 else "leave"
        said.append(f"{amount(evacuated, 'VM')} {leave} the host in maintenance")
    if restarted:
        said.append(f"{amount(restarted, 'VM')} {'restarts' if restarted == 1 else 'restart'}")
    if apart:
        said.append(f"{amount(apart, 'client')} of Bitfusion {verb(apart, 'get')} GPUs of another host")
    makes_room = [f"{amount(moved, 'VM')} must move to make room"] if moved else []
    if outcome.unplaced:
        vms = amount(len(outcome.unplaced), "VM")
        left = (
            f"{vms} without a GPU"
            if outcome.impossible
            else f"no placement found for {vms}, but none ruled out"
        )
        said = [left, *said, *makes_room]
        spare = amount(pool.hosts_for_failures, "host")
        return f"{'; '.join(said)}. The design has {spare} more than the demand needs."
    said = [*(said or ["No VM ran there"]), *(makes_room or ["no other VM moves"])]
    again = "every VM is placed"
    if missing:
        again = f"the VMs on these hosts are placed; {counted(missing, 'planned VM')} {verb(missing, 'have')} no GPU in any case"
    return f"{again}. {'; '.join(said)}."


def _touched(workbook: Workbook, pool: Pool, outcome: Outcome) -> Table:
    """Return a row for each group affected."""
    evacuated, restarted, moved, missing = (
        Counter(entry[0] for entry in entries)
        for entries in (outcome.evacuated, outcome.restarted, outcome.moved, outcome.unplaced)
    )
    events = (*outcome.evacuated, *outcome.restarted, *outcome.moved, *outcome.unplaced)
    disturbed = Counter(group for group, _ in {(entry[0], entry[1]) for entry in events})
    names, groups = group_names(workbook.plan), {group.id: group for group in workbook.plan.groups}
    rows = []
    for request in pool.requests:
        id, group = request.group, groups.get(request.group)
        if not disturbed[id]:
            continue
        restarts = {"title": _trait_text(group, "HA restart")} if restarted[id] else {}
        vms = [vm for other, vm in outcome.unplaced if other == id]
        lost = {"note": f"VM {runs(vms)}", "note_tone": "bad"} if vms else {}
        rows.append(
            (
                Cell(names[id], more=chip(workbook, id)),
                request.vms - disturbed[id],
                _moves(workbook, group, evacuated[id]),
                Cell(restarted[id], more=restarts),
                _moves(workbook, group, moved[id]),
                Cell(missing[id], tone="bad" if vms else "", more=lost),
            )
        )
    table = Table("touched", TOUCHED, tuple(rows), title="")
    return table if outcome.evacuated else table.without("evacuated")


def _moves(workbook: Workbook, group: GroupPlan | None, vms: int) -> Cell:
    if not vms:
        return Cell(vms)
    how, tone = move_words(workbook, group)
    return Cell(vms, more={"note": how, "note_tone": tone, "title": _trait_text(group, "vMotion")})


def _trait(group: GroupPlan, feature: str) -> Trait | None:
    return next((trait for trait in group.traits if trait.feature == feature), None)


def _trait_text(group: GroupPlan | None, feature: str) -> str:
    """Return the note of a group's access mode on a feature, such as how HA restarts a VM."""
    trait = _trait(group, feature) if group else None
    return trait.text if trait else ""


def _other_pairs(pairs: Sequence[Loss]) -> str:
    if not all(pair.proven for pair in pairs):
        return "There are too many different pairs: only those that lose most were tried."
    return "No other pair is worse." if len(pairs) >= SHOWN_PAIRS else ""


SHOWN_CLUSTERS = 3
"""Clusters shown below each other; if there are more, only the chosen one is shown."""


def shown_clusters(workbook: Workbook) -> tuple[Pool, ...]:
    """Return the clusters on the screen."""
    pools = workbook.plan.pools
    if len(pools) <= SHOWN_CLUSTERS:
        return pools
    chosen = workbook.chosen("cluster", (pool.id for pool in pools))
    return tuple(pool for pool in pools if pool.id == chosen)


@panel("What a failure does", needs="pools")
def failures_data(workbook: Workbook) -> Contents:
    """Return every loss of one host and the worst of two."""
    tables = [table for pool in shown_clusters(workbook) for table in _loss_tables(workbook, pool)]
    return {"hint": _hint(workbook.plan.pools), "tables": tables}


def _hint(pools: tuple[Pool, ...]) -> str:
    survived = min((pool.survived for pool in pools), default=0)
    if survived:
        where = " in each cluster" * (len(pools) > 1)
        return f"any {in_words(survived)} host{'s' * (survived > 1)}{where} may fail"
    singles = [next((level for level in pool.losses if level.lost == 1), None) for pool in pools]
    known = any(single is None or single.fits is False for single in singles)
    words = "not every host failure is covered"
    return words if known else "not known whether every host failure is covered"


def _loss_tables(workbook: Workbook, pool: Pool) -> list[dict[str, Any]]:
    of = f"{pool.name}: " if len(workbook.plan.pools) > 1 else ""
    levels = tables.losses(workbook.plan, pool).without("pool")
    singles = tables.lost_hosts(pool, pool.failures[:SHOWN_KINDS], traced=True)
    left = len(pool.failures) - SHOWN_KINDS
    more = f"And {number(left)} more kinds, none worse." if left > 0 else ""
    more = " ".join(filter(None, (more, tables.of_clients(workbook.plan))))
    shown = [
        screen(levels, f"{of}any combination of failed hosts"),
        screen(singles, f"{of}every kind of single failure, worst first", more),
    ]
    if pairs := workbook.worst(pool.id, 2) if pool.hosts > 1 else ():
        listed = tables.lost_hosts(pool, pairs[:SHOWN_PAIRS])
        shown.append(screen(listed, f"{of}the worst pairs, most GPUs short first", _other_pairs(pairs)))
    return shown


@panel(needs="pools")
def capacity_head(_workbook: Workbook) -> Contents:
    """Return the heading of the chart of losses."""
    return {"title": availability.TITLE["text"], "hint": availability.TITLE["subtitle"]}


@partial(Picture, draw=availability.capacity_chart, wide=False)
def capacity_drawn(workbook: Workbook) -> list[dict[str, Any]]:
    """Return the data of the chart of losses."""
    return availability.capacity_rows(workbook.plan)
