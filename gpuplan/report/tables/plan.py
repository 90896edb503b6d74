"""The tables of a plan: its groups, hosts and placement, what failures do, decisions, messages, and every number with its formula."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.models.availability.failover import Idle, Loss
from gpuplan.models.placement import Room
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.sharing import sharing_modes
from gpuplan.report.explain import formula_text
from gpuplan.report.table import Cell, Column, Table
from gpuplan.scenario import UNASSIGNED
from gpuplan.wording import MODE_NAMES, amount, hours, number


def group_names(plan: Plan) -> dict[str, str]:
    """Name of each group by its id, and what is said of GPUs that belong to none."""
    return {g.id: g.name for g in plan.groups} | {UNASSIGNED: "Not assigned to a group"}


def idle_text(plan: Plan, idle: Idle) -> str:
    """What is idle, where, and who could use it, in one sentence."""
    names = group_names(plan)
    if idle.kind == "whole":
        each = "" if idle.count == 1 else " each"
        what = f"{amount(idle.room, 'GPU')}{each} idle on {amount(idle.count, 'host')}"
        pool = next(pool for pool in plan.pools if idle in pool.idle)
        few = any(request.gpus <= idle.room for request in pool.requests)
        why = (
            "what is left of CPU and memory there is too little"
            if few
            else "no VM in this design asks for so few GPUs at once"
        )
    else:
        places = "MB of memory" if idle.family == "bitfusion" else "place" if idle.room == 1 else "places"
        each = "" if idle.count == 1 else " on each"
        what = (
            f"{number(idle.room)} {places} free{each} of {amount(idle.count, 'GPU')} shared as {idle.family}"
        )
        why = "no VM in this design fits into what is left"
    if idle.fits:
        return f"{what}: room for {', '.join(names[g] for g in idle.fits)}."
    return f"{what}, stranded: {why}."


def host_kinds(pool: Pool) -> list[list[int]]:
    """Indices, from 0, of the hosts that are filled alike, the most frequent kind first."""
    kinds: dict[tuple[Room, str], list[int]] = {}
    for index, (room, host) in enumerate(zip(pool.rooms, pool.placement, strict=True)):
        loads = [(load.gpus, sorted((s.group, s.profile, s.weight) for s in load.slots)) for load in host]
        kinds.setdefault((room, repr(loads)), []).append(index)
    return sorted(kinds.values(), key=lambda members: (-len(members), members[0]))


def gpu_rows(pool: Pool, host: int) -> list[dict[str, Any]]:
    """The GPUs of a host (numbered from 1) with the VMs on each."""
    rows: list[dict[str, Any]] = []
    for load in pool.placement[host - 1]:
        share = load.family.name if load.family else None
        vms = [{"group": slot.group, "vm": slot.vm, "profile": slot.profile or None} for slot in load.slots]
        for _ in range(load.gpus):
            rows.append({"gpu": len(rows) + 1, "share": share, "vms": vms})
    free = range(len(rows) + 1, pool.rooms[host - 1].gpus + 1)
    rows += [{"gpu": number, "share": None, "vms": []} for number in free]
    return rows


def row_name(catalog: Catalog, table: str, id: str) -> str:
    """What a row of the catalog is called."""
    named = next((row.cells.get("name") for row in catalog.rows(table) if row.id == id), None)
    return str(named or id.replace("-", " "))


def posture_name(failures: int, chosen: bool = False) -> str:
    """How many host failures a design stands: ``N+1``."""
    return f"N+{failures}" + " (chosen)" * chosen


def totals(plan: Plan) -> Table:
    """The headline numbers."""
    return Table(
        "totals",
        "Totals",
        (Column("figure", "Figure"), Column("value", "Value", "number"), Column("unit", "Unit")),
        tuple(
            (line.label, Cell(line.value, line=key), line.unit)
            for key, line in plan.lines.items()
            if key == "demand.gpus" or key.startswith("totals.")
        ),
    )


def groups(plan: Plan) -> Table:
    """The workload groups: how each reaches its GPUs, and how many it needs."""
    users = {group.id: group.people for group in plan.scenario.groups}
    clusters = {pool.id: pool.name for pool in plan.pools}
    return Table(
        "groups",
        "Groups",
        (
            Column("group", "Group"),
            Column("use_case", "Use case", detail=True),
            Column("access", "Access"),
            Column("people", "Users", "number", detail=True),
            Column("active", "Active", "number"),
            Column("vms", "VMs", "number"),
            Column("vms_placed", "VMs placed", "number", detail=True),
            Column("gpus_each", "GPUs each", "number"),
            Column("gpus", "GPUs", "number"),
            Column("gpus_held", "Held on average", "mean"),
            Column("profile", "Profile"),
            Column("pool", "Cluster", detail=True),
            Column("vms_not_placed", "VMs not placed", "number", detail=True),
            Column("why", "Why this access", detail=True),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple(
            (
                g.name,
                Cell(g.use_case, words=row_name(plan.catalog, "use_cases", g.use_case)),
                MODE_NAMES[g.mode],
                users[g.id],
                g.active,
                g.vms,
                g.vms_placed,
                g.gpus_each,
                g.demand_gpus,
                plan.lines[f"groups.{g.id}.held_gpus"].value,
                g.profile,
                Cell(g.pool, words=clusters.get(g.pool, "")),
                sum(u.vms for u in g.unplaced),
                " ".join([*(r.text for r in g.reasons), *(u.reason for u in g.unplaced)]),
                tuple(dict.fromkeys(s for r in g.reasons for s in r.sources)),
            )
            for g in plan.groups
        ),
    )


def pools(plan: Plan) -> Table:
    """The clusters and their hosts."""
    catalog = plan.catalog
    return Table(
        "pools",
        "Clusters",
        (
            Column("pool", "Cluster"),
            Column("server", "Server"),
            Column("gpu", "GPU"),
            Column("gpus_per_host", "GPUs per host", "number"),
            Column("hosts_for_demand", "For the demand", "number"),
            Column("hosts_for_failures", "Spare", "number"),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("gpus_after_failure", "GPUs after failure", "number", detail=True),
            Column("proof", "Proof", detail=True),
        ),
        tuple(
            (
                p.name,
                Cell(p.server, words=catalog.servers[p.server].name if p.server else "to be chosen"),
                Cell(p.gpu, words=catalog.gpus[p.gpu].name),
                p.gpus_per_host,
                p.hosts_for_demand,
                p.hosts_for_failures,
                p.hosts,
                p.gpus,
                p.gpus_after_failure,
                p.method,
            )
            for p in plan.pools
        ),
    )


def placement(plan: Plan) -> Table:
    """Each VM on its GPU."""
    names = group_names(plan)
    return Table(
        "placement",
        "Placement",
        (
            Column("pool", "Cluster"),
            Column("host", "Host", "number"),
            Column("gpu", "GPU", "number"),
            Column("share", "Shared as"),
            Column("group", "Group"),
            Column("vm", "VM", "number"),
        ),
        tuple(
            (pool.name, host, row["gpu"], row["share"] or "", names[vm["group"]], vm["vm"])
            for pool in plan.pools
            for host in range(1, pool.hosts + 1)
            for row in gpu_rows(pool, host)
            for vm in row["vms"]
        ),
    )


def hosts(plan: Plan, pools: Sequence[Pool], most: int) -> Table:
    """What stands on each host; of more than ``most`` hosts a row stands for all that are filled alike."""
    each = sum(pool.hosts for pool in pools) <= most
    names = group_names(plan)
    rows: list[tuple[Any, ...]] = []
    for pool in pools:
        kinds: dict[tuple[Any, ...], list[int]] = {}
        for at in range(len(pool.placement)):
            kinds.setdefault((*_filled(pool, at, names), at if each else None), []).append(at)
        held = kinds.items() if each else sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        rows += [(pool.name, alike[0] + 1, len(alike), *content[:-1]) for content, alike in held]
    return Table(
        "hosts",
        "What stands on each host" if each else "Hosts by what stands on them",
        (
            Column("pool", "Cluster", detail=True),
            Column("host", "Host" if each else "First such host", "number", detail=not each),
            Column("hosts", "Hosts", "number", detail=each),
            Column("existing", "There already", "yes", detail=True),
            Column("gpus", "GPUs", "number", detail=True),
            Column("gpus_taken", "GPUs taken", "number", detail=True),
            Column("vms", "VMs", "number", detail=True),
            Column("holds", "What stands on it"),
            Column("gpus_free", "GPUs free", "number"),
        ),
        tuple(rows),
    )


def _filled(pool: Pool, at: int, names: Mapping[str, str]) -> tuple[Any, ...]:
    """(there already, GPUs, GPUs taken, VMs, what stands on it, GPUs free) of a host, equal loads counted."""
    counts: Counter[str] = Counter()
    vms: set[tuple[str, int]] = set()
    for load in pool.placement[at]:
        vms |= {(slot.group, slot.vm) for slot in load.slots}
        if load.family:
            groups = Counter(slot.group for slot in load.slots)
            who = " + ".join(f"{n} x {names[g]}" for g, n in groups.items())
            counts[f"GPU shared by {who} ({MODE_NAMES.get(load.family.name, load.family.name)})"] += 1
        else:
            many = "a GPU" if load.gpus == 1 else f"{load.gpus} GPUs"
            counts[f"{names[load.slots[0].group]} with {many}"] += 1
    gpus, taken = pool.rooms[at].gpus, sum(load.gpus for load in pool.placement[at])
    holds = "; ".join(f"{n} x {what}" if n > 1 else what for what, n in counts.items()) or "Spare"
    return at < pool.existing_hosts, gpus, taken, len(vms), holds, gpus - taken


def failures(plan: Plan) -> Table:
    """What the loss of each host does, those that are filled alike once."""
    return Table(
        "failures",
        "What the loss of a host does",
        (
            Column("pool", "Cluster"),
            Column("host_lost", "Host lost", "number"),
            Column("hosts_alike", "Hosts filled alike", "number"),
            Column("vms_restarted", "VMs that restart", "number"),
            Column("vms_moved", "VMs moved to make room", "number"),
            Column("vms_not_placed", "VMs without a GPU", "number"),
            Column("gpus_not_placed", "GPUs of these", "number", detail=True),
            Column("proven", "Proven the worst", "yes", detail=True),
        ),
        tuple(
            (
                pool.name,
                f.hosts[0] + 1,
                f.alike,
                f.restarted,
                f.moved,
                f.unplaced,
                f.unplaced_gpus,
                f.proven,
            )
            for pool in plan.pools
            for f in pool.failures
        ),
    )


FITS = {True: "yes", False: "no", None: "not known"}
"""Whether everything has a place again."""


def losses(plan: Plan, *pools: Pool) -> Table:
    """What is left whichever hosts are lost, in all clusters or in some."""
    return Table(
        "losses",
        "What is left, whichever hosts are lost",
        (
            Column("pool", "Cluster"),
            Column("hosts_down", "Hosts lost at once", "number"),
            Column("gpus_left", "GPUs left", "number"),
            Column("fits", "Everything fits again", "yes"),
            Column("without_moving", "By restarts alone", "yes"),
        ),
        tuple(
            (
                pool.name,
                level.lost,
                level.gpus_left,
                Cell(level.fits, words=FITS[level.fits], tone="bad" if level.fits is False else ""),
                Cell(level.without_moving, words=FITS[level.without_moving]),
            )
            for pool in (pools or plan.pools)
            for level in pool.losses
        ),
    )


def lost_hosts(pool: Pool, found: Sequence[Loss], traced: bool = False) -> Table:
    """What the loss of some hosts of a cluster does; ``traced`` where the plan has a line of each."""
    return Table(
        "lost_hosts",
        "What the loss of hosts does",
        (
            Column("hosts", "Lost"),
            Column("restarted", "Restart", "number"),
            Column("moved", "Make room", "number"),
            Column("unplaced", "Not placed", "number"),
            Column("unplaced_gpus", "GPUs short", "number"),
        ),
        tuple(
            (
                Cell(tuple(index + 1 for index in loss.hosts), words=_lost(loss)),
                Cell(
                    loss.restarted,
                    line=f"pools.{pool.id}.failure.{loss.hosts[0] + 1}" if traced else "",
                ),
                loss.moved,
                Cell(loss.unplaced, tone="bad" if loss.unplaced else ""),
                round(loss.unplaced_gpus, 2),
            )
            for loss in found
        ),
    )


def _lost(loss: Loss) -> str:
    """Which hosts are lost, and how many others are filled alike."""
    numbers = [number(index + 1) for index in loss.hosts]
    what, kind = ("Host", "host") if len(numbers) == 1 else ("Hosts", "pair")
    alike = f" ({number(loss.alike)} {kind}s alike)" if loss.alike > 1 else ""
    return f"{what} {' and '.join(numbers)}{alike}"


def shared_gpus(plan: Plan) -> Table:
    """GPUs that are divided, and how well their number is proven."""
    return Table(
        "shared_gpus",
        "Shared GPUs",
        (
            Column("pool", "Cluster"),
            Column("share", "Shared as"),
            Column("gpus", "GPUs", "number"),
            Column("at_least", "At least", "number"),
            Column("proof", "Proof"),
        ),
        tuple((p.name, s.family, s.gpus, s.bound, s.method) for p in plan.pools for s in p.shared),
    )


def idle(plan: Plan) -> Table:
    """What is idle on hosts in use, and who could use it."""
    names = group_names(plan)
    return Table(
        "idle",
        "Idle on hosts in use",
        (
            Column("pool", "Cluster"),
            Column("kind", "Kind"),
            Column("share", "Shared as"),
            Column("free_each", "Free on each", "number"),
            Column("count", "Count", "number"),
            Column("gpus_idle", "GPUs idle", "number"),
            Column("usable_by", "Usable by"),
        ),
        tuple(
            (p.name, i.kind, i.family, i.room, i.count, i.gpus, ", ".join(names[g] for g in i.fits))
            for p in plan.pools
            for i in p.idle
        ),
    )


def postures(plan: Plan) -> Table:
    """N+0, N+1, N+2: the hosts, and the hours of a year at risk."""
    return Table(
        "postures",
        "Hosts, and hours a year at risk",
        (
            Column("posture", ""),
            Column("hosts", "Hosts", "number"),
            Column("gpus", "GPUs", "number"),
            Column("hours_short", "Short by failures", "hours", "h"),
            Column("hours_exposed", "Open in maintenance", "hours", "h"),
            Column("hours_short_in_maintenance", "Short in maintenance", "hours", "h", detail=True),
            Column("chance", "Chance of that in a year", "share"),
        ),
        tuple(
            (
                Cell(posture_name(p.host_failures), words=posture_name(p.host_failures, p.chosen)),
                p.hosts,
                p.gpus,
                p.short_h,
                Cell(p.exposed_h, words=hours(p.exposed_h) + " short" * (p.chance == 1 and p.exposed_h > 0)),
                p.maintenance_short_h,
                Cell(p.chance, words="" if p.chance == 1 else None),
            )
            for p in plan.postures
        ),
        notes=(
            "Open in maintenance: hours in which maintenance leaves no host to fail; short where maintenance alone is too much.",
        ),
    )


def access_modes(plan: Plan) -> Table:
    """The ways to share a GPU that the platform has."""
    return Table(
        "sharing_modes",
        "Sharing modes",
        (Column("mode", "Mode"), Column("possible", "Possible"), Column("rule", "Rule")),
        tuple((m.name, m.verdict, m.text) for m in sharing_modes(plan.scenario, plan.catalog)),
    )


def decisions(plan: Plan) -> Table:
    """The design decisions."""
    return Table(
        "decisions",
        "Design decisions",
        (
            Column("number", "No.", "number"),
            Column("title", "About"),
            Column("decision", "Decision"),
            Column("justification", "Justification"),
            Column("implication", "Implication"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple(
            (d.number, d.title, d.decision, d.justification, d.implication, d.sources) for d in plan.decisions
        ),
    )


def messages(plan: Plan) -> Table:
    """What the checks say."""
    return Table(
        "messages",
        "Messages",
        (
            Column("level", "Level"),
            Column("code", "Code"),
            Column("text", "What"),
            Column("change", "To do"),
            Column("path", "Input", detail=True),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple((m.level, m.code, m.text, m.change, m.path, m.sources) for m in check_plan(plan)),
    )


def lines(plan: Plan, *starts: str) -> Table:
    """Every number of the plan with its formula, or those whose keys start so."""
    return Table(
        "lines",
        "Every number",
        (
            Column("key", "Key"),
            Column("label", "Number"),
            Column("value", "Value", "number"),
            Column("unit", "Unit"),
            Column("formula", "Formula"),
            Column("basis", "Weakest input", "basis"),
            Column("sources", "Sources", "sources"),
            Column("inputs", "Inputs", detail=True),
            Column("meaning", "What it means", detail=True),
            Column("model", "Model", detail=True),
        ),
        tuple(
            (
                n.key,
                n.label,
                Cell(n.value, line=n.key),
                Cell(n.unit, words="" if n.unit == "1" else n.unit),
                formula_text(n),
                n.basis,
                n.sources,
                "; ".join(f"{i.label} = {amount(i.value, i.unit)}" for i in n.inputs),
                n.sentence,
                n.function,
            )
            for n in plan.lines.values()
            if not starts or n.key.startswith(starts)
        ),
    )


def sources(plan: Plan, ids: Iterable[str]) -> Table:
    """Sources in the order in which they are cited, and what the scenario remarks on them."""
    remarks: dict[str, list[str]] = {}
    for note in plan.scenario.notes:
        text = f"{note.text} ({note.locator})" if note.locator else note.text
        remarks.setdefault(note.source, []).append(text)
    cited = [s for id in ids if (s := plan.catalog.sources.get(id)) is not None]
    return Table(
        "sources",
        "Sources",
        (
            Column("number", "No.", "number"),
            Column("id", "Id", detail=True),
            Column("title", "Title"),
            Column("producer", "Producer"),
            Column("published", "Published"),
            Column("accessed", "Read", detail=True),
            Column("kind", "Kind", detail=True),
            Column("url", "Address"),
            Column("note", "Note", detail=True),
            Column("remark", "Remark", detail=True),
        ),
        tuple(
            (
                n,
                s.id,
                s.title,
                s.producer,
                s.published,
                s.accessed,
                s.kind,
                s.url,
                s.note,
                " ".join(remarks.get(s.id, ())),
            )
            for n, s in enumerate(cited, 1)
        ),
    )


def cited_sources(plan: Plan) -> dict[str, None]:
    """Every source that the design rests on, in the order in which they are cited."""
    costs = plan.costs
    cited: list[Iterable[str]] = [
        *(line.sources for line in plan.lines.values()),
        *(decision.sources for decision in plan.decisions),
        *(reason.sources for group in plan.groups for reason in group.reasons),
        *(message.sources for message in check_plan(plan)),
        (origin.source for _, origin in plan.scenario.origins),
        *(material.sources for material in (costs.materials if costs else ())),
        *(price.fact.sources for price in (costs.prices if costs else ())),
        (note.source for note in plan.scenario.notes),
    ]
    return dict.fromkeys(chain.from_iterable(cited))
