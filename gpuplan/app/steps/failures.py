"""Effects of failures and maintenance: the verdict under the picture, and the tables of every loss."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from gpuplan.app.cards import Contents, Picture, chip, panel
from gpuplan.app.state import Workbook
from gpuplan.models.availability.failover import Outcome
from gpuplan.plan.access import GroupPlan, Trait
from gpuplan.plan.hosts import Pool
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.report import amount, group_names
from gpuplan.report.charts import design
from gpuplan.report.physical import clients
from gpuplan.report.table import Cell, Table, columns, screen
from gpuplan.report.tables import availability as tables
from gpuplan.widgets import contract
from gpuplan.wording import capital, run_words, said

SHOWN_KINDS = 12
SHOWN_PAIRS = 8
SHOWN_RUNS = 4
SHOWN_CLUSTERS = 3
"""Clusters shown below each other; if there are more, only the chosen one is shown."""
capacity_drawn = Picture(
    lambda workbook: design.capacity_rows(workbook.plan), design.capacity_chart, wide=False
)


def runs(numbers: Iterable[int]) -> str:
    """Return numbers with neighbours joined, such as 1–3, 7; a long list is cut and says by how much."""
    return run_words(sorted(set(numbers)), most=SHOWN_RUNS)


def named_hosts(numbers: Sequence[int]) -> str:
    """Return hosts by their numbers."""
    return said("screen.failures.hosts" if len(numbers) != 1 else "screen.failures.host", hosts=runs(numbers))


def move_words(workbook: Workbook, group: GroupPlan | None) -> tuple[str, str]:
    """Return (words, tone) for how a VM of a group leaves a host while it runs, for maintenance or to make room."""
    if group is None:
        return "", ""
    if group.stun_not_known:
        return said("screen.failures.stun not known"), "warn"
    if group.stun_s is None:
        vmotion = _trait(group, "vMotion")
        if vmotion is not None and vmotion.verdict == "unknown":
            return said("screen.failures.test"), "warn"
        return said("screen.failures.shut down"), "warn"
    limit = stun_limit_s(workbook.plan.scenario, workbook.catalog)
    over = group.stun_s > limit
    key = "screen.failures.stun over" if over else "screen.failures.stun"
    return said(key, stun=stun_text(group.stun_s), limit=limit), "bad" if over else ""


def stun_text(stun_s: float) -> str:
    """Return a stun time in words."""
    return amount(round(stun_s, 1 if stun_s < 10 else None), "s")


def verdict(workbook: Workbook, pool: Pool) -> contract.Verdict:
    """Return one sentence about a pool in its present state, and the effect on each group concerned."""
    outcome = workbook.outcome(pool.id)
    if outcome is None:
        now = workbook.checked.verdict_on(pool)
        text = " ".join(filter(None, (now.loss_sentence, now.restart_sentence, _proof(pool))))
        return {"tone": now.tone, "lead": now.fit_sentence, "text": text, "heads": [], "rows": [], "rest": ""}
    failed, maintenance = workbook.failed.get(pool.id, ()), workbook.maintenance.get(pool.id, ())
    down = (("screen.failures.in maintenance", maintenance), ("screen.failures.failed", failed))
    lead = ", ".join(said(key, hosts=named_hosts(hosts)) for key, hosts in down if hosts)
    touched = screen(_touched(workbook, pool, outcome))
    missing = workbook.plan.placed.missing
    unsure = workbook.checked.verdict_on(pool).survives in ("no", "static")
    others = len(pool.requests) > len(touched["rows"]) or len(workbook.plan.pools) > 1
    return {
        "tone": "bad" if outcome.unplaced or missing else "warn" if unsure else "good",
        "lead": f"{capital(lead)}:",
        "text": _outcome_words(pool, outcome, missing, clients(workbook.plan)),
        "heads": touched["heads"],
        "rows": touched["rows"],
        "rest": said("screen.failures.others run") if touched["rows"] and others else "",
    }


def _proof(pool: Pool) -> str:
    if pool.method == "heuristic":
        return said("screen.failures.not proven", hosts=pool.bound)
    if pool.existing_hosts:
        return said("screen.failures.proven new")
    return "" if pool.hosts_at_best < 2 else said("screen.failures.proven", hosts=pool.hosts_at_best)


def _outcome_words(pool: Pool, outcome: Outcome, missing: int, remote: Collection[str]) -> str:
    """Describe the effect on VMs; ``missing`` ones never have a place, ``remote`` groups use GPUs over the network."""
    apart = sum(group in remote for group, *_ in outcome.restarted)
    events = (
        ("screen.failures.leave", len(outcome.evacuated)),
        ("screen.failures.restart", len(outcome.restarted) - apart),
        ("screen.failures.clients", apart),
    )
    effects = [said(key, count=count) for key, count in events if count]
    moved, unplaced = len(outcome.moved), len(outcome.unplaced)
    room = [said("screen.failures.make room", vms=moved)] if moved else []
    if unplaced:
        key = "screen.failures.without a GPU" if outcome.impossible else "screen.failures.none found"
        effects = [said(key, vms=unplaced), *effects, *room]
        return said("screen.failures.spare", effects="; ".join(effects), hosts=pool.hosts_for_failures)
    effects = effects or [said("screen.failures.no VM ran")]
    effects += room or [said("screen.failures.none moves")]
    key = "screen.failures.these placed" if missing else "screen.failures.every placed"
    return said(key, effects="; ".join(effects), missing=missing)


def _touched(workbook: Workbook, pool: Pool, outcome: Outcome) -> Table:
    lists = (outcome.evacuated, outcome.restarted, outcome.moved, outcome.unplaced)
    evacuated, restarted, moved, missing = (Counter(entry[0] for entry in entries) for entries in lists)
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
        lost = {"note": said("screen.failures.vm", vms=runs(vms)), "note_tone": "bad"} if vms else {}
        name, leave = Cell(names[id], more=chip(workbook, id)), _moves(workbook, group, evacuated[id])
        again, make_room = Cell(restarted[id], more=restarts), _moves(workbook, group, moved[id])
        stopped = Cell(missing[id], tone="bad" if vms else "", more=lost)
        rows.append((name, request.vms - disturbed[id], leave, again, make_room, stopped))
    table = Table("touched", columns("touched"), tuple(rows), title="")
    return table if outcome.evacuated else table.without("evacuated")


def _moves(workbook: Workbook, group: GroupPlan | None, vms: int) -> Cell:
    if not vms:
        return Cell(vms)
    how, tone = move_words(workbook, group)
    return Cell(vms, more={"note": how, "note_tone": tone, "title": _trait_text(group, "vMotion")})


def _trait(group: GroupPlan | None, feature: str) -> Trait | None:
    traits = group.traits if group else ()
    return next((trait for trait in traits if trait.feature == feature), None)


def _trait_text(group: GroupPlan | None, feature: str) -> str:
    """Return the note of a group's access mode on a feature, such as how HA restarts a VM."""
    trait = _trait(group, feature)
    return trait.text if trait else ""


def shown_clusters(workbook: Workbook) -> tuple[Pool, ...]:
    """Return the clusters on the screen."""
    pools = workbook.plan.pools
    if len(pools) <= SHOWN_CLUSTERS:
        return pools
    chosen = workbook.chosen("cluster", (pool.id for pool in pools))
    return tuple(pool for pool in pools if pool.id == chosen)


@panel(needs="pools")
def failures_data(workbook: Workbook, _pools: Sequence[Pool]) -> Contents:
    tables = [table for pool in shown_clusters(workbook) for table in _loss_tables(workbook, pool)]
    return {"hint": workbook.checked.verdict.note, "tables": tables}


def _loss_tables(workbook: Workbook, pool: Pool) -> list[dict[str, Any]]:
    of = f"{pool.name}: " if len(workbook.plan.pools) > 1 else ""
    levels = tables.losses(workbook.plan, pool).without("pool")
    singles = tables.lost_hosts(pool, pool.failures[:SHOWN_KINDS], traced=True)
    left = len(pool.failures) - SHOWN_KINDS
    more = said("screen.failures.more kinds", left=left) if left > 0 else ""
    more = " ".join(filter(None, (more, tables.of_clients(workbook.plan))))
    shown = [screen(levels, said("screen.failures.combinations", of=of))]
    shown.append(screen(singles, said("screen.failures.singles", of=of), more))
    if pairs := workbook.worst(pool.id, 2) if pool.hosts > 1 else ():
        listed, more = tables.lost_hosts(pool, pairs[:SHOWN_PAIRS]), ""
        if not all(pair.proven for pair in pairs):
            more = said("screen.failures.too many pairs")
        elif len(pairs) >= SHOWN_PAIRS:
            more = said("screen.failures.none worse")
        shown.append(screen(listed, said("screen.failures.pairs", of=of), more))
    return shown


@panel(needs="pools")
def capacity_head(_workbook: Workbook, _pools: Sequence[Pool]) -> Contents:
    return {"title": said("chart.capacity.title"), "hint": said("chart.capacity.subtitle")}
