"""The tables of a plan: groups, hosts, placement, failures, decisions, messages, and all numbers with formulas."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any, Literal

from gpuplan.catalog import Catalog
from gpuplan.models.placement import Room
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan, of_kind
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool, pool_names
from gpuplan.plan.limits import Within, limit_words
from gpuplan.plan.sharing import sharing_modes
from gpuplan.plan.trail import Line
from gpuplan.report.explain import TIER_WORDS, formula_text
from gpuplan.report.table import Cell, Column, Table, Worded, columns, filled, tabulate
from gpuplan.scenario import OTHER_VMS, UNASSIGNED, other_vms
from gpuplan.wording import MODE_NAMES, NAMES, amount, capital, joined, number, runs, said

ITEM_TABLES = ("gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions")
"""Tables of the catalog whose entries are items with facts; the others hold rows."""
KEPT: Mapping[bool | None, Literal["good", "bad", "warn"]] = {True: "good", False: "bad", None: "warn"}
"""Whether a limit is kept -> the tone of that."""
CLUSTER_IDS = columns("cluster_ids")
"""Keys of a cluster and of its host pool: a group is in a pool and may be in several clusters."""


def group_names(plan: Plan) -> dict[str, str]:
    """Map each group's id to its name, with an entry for GPUs of no group."""
    names = {g.id: g.name for g in plan.groups}
    for part in plan.parts:
        others = enumerate(other_vms(part.sized.hardware.other_vms), 1)
        names |= {f"{OTHER_VMS}{of_kind(part.scenario)}{at}": other.name for at, other in others}
    key = "table.groups.unassigned" if plan.groups else "table.groups.stated total"
    return names | {UNASSIGNED: said(key)}


def unassigned_words(plan: Plan) -> str:
    """Describe stated GPUs that belong to no group."""
    return said("table.groups.about unassigned" if plan.groups else "table.groups.about stated total")


def equipment(plan: Plan, pool: Pool) -> str:
    """Describe the hosts of a cluster: ``8 x PowerEdge C4140 with 4 Tesla T4``, existing hosts before new ones."""
    if pool.shares:
        own = {one.id: one for one in plan.own_pools}
        return joined([equipment(plan, own[share.pool]) for share in pool.shares])
    server = plan.catalog.servers[pool.server].name if pool.server else said("table.equipment.no server")
    existing, new = pool.existing_hosts, pool.hosts - pool.existing_hosts
    gpu = plan.catalog.gpus[pool.gpu].name
    bought = said("table.equipment.new", hosts=new, server=server, gpus=pool.gpus_per_host, gpu=gpu)
    if not existing:
        return bought
    key = "table.equipment.existing and new" if new else "table.equipment.existing"
    return said(key, hosts=gpus_by_host(plan, pool.rooms[:existing]), new=bought)


def gpus_by_host(plan: Plan, rooms: Sequence[Room]) -> str:
    """Count hosts by their number of GPUs, and boards unlike that of the design: ``3 x 2 GPUs, 4 x 4 GPUs (A100)``."""
    counts = Counter((room.gpus, other_board(plan, room)) for room in rooms)
    return ", ".join(
        f"{number(hosts)} x {amount(gpus, 'GPU')}" + f" ({board})" * bool(board)
        for (gpus, board), hosts in counts.items()
    )


def other_board(plan: Plan, room: Room) -> str:
    """Name the board of a host if it is not that of the design."""
    return plan.catalog.gpus[room.board].name if room.board not in ("", plan.scenario.hardware.gpu) else ""


def host_kinds(pool: Pool) -> list[list[int]]:
    """Return indices, from 0, of the hosts with identical load, the most frequent kind first."""
    kinds: dict[tuple[Room, str], list[int]] = {}
    for index in range(pool.hosts):
        kinds.setdefault(_kind(pool, index), []).append(index)
    return sorted(kinds.values(), key=lambda members: (-len(members), members[0]))


def _kind(pool: Pool, index: int) -> tuple[Room, str]:
    """Return the capacity and the load of a host, regardless of which VMs of a group these are."""
    host = pool.placement[index]
    loads = [(load.gpus, sorted((s.group, s.profile, s.weight) for s in load.slots)) for load in host]
    return pool.rooms[index], repr(loads)


def clusters_alike(plan: Plan) -> list[Pool]:
    """Return the clusters; those of a pool with identical load appear once, under a common name."""
    by_load: dict[tuple[Any, ...], list[Pool]] = {}
    for pool in plan.pools:
        kinds = tuple(sorted((_kind(pool, members[0]), len(members)) for members in host_kinds(pool)))
        by_load.setdefault((pool.kind, pool.site, kinds), []).append(pool)
    return [_alike(pools, site) for (_, site, _), pools in by_load.items()]


def _alike(pools: Sequence[Pool], site: str) -> Pool:
    if len(pools) == 1:
        return pools[0]
    kind = pools[0].kind
    numbers = runs(int(pool.id.removeprefix(f"{kind}-")) for pool in pools)
    listed = [said("table.range", low=run[0], high=run[-1]) if run[1:] else str(run[0]) for run in numbers]
    key = "table.pools.alike at" if site else "table.pools.alike"
    return replace(pools[0], name=said(key, pool=pools[0].whole_name, numbers=", ".join(listed), site=site))


def gpu_rows(pool: Pool, host: int) -> list[dict[str, Any]]:
    """Tabulate the GPUs of a host (numbered from 1) with the VMs on each."""
    rows: list[dict[str, Any]] = []
    for load in pool.placement[host - 1]:
        share = load.family.name if load.family else None
        vms = [{"group": slot.group, "vm": slot.vm, "profile": slot.profile or None} for slot in load.slots]
        for _ in range(load.gpus):
            rows.append({"gpu": len(rows) + 1, "share": share, "vms": vms})
    free = range(len(rows) + 1, pool.rooms[host - 1].gpus + 1)
    rows += [{"gpu": number, "share": None, "vms": []} for number in free]
    return rows


def catalog_name(catalog: Catalog, table: str, id: str) -> str:
    """Return the name of a catalog entry."""
    if table in ITEM_TABLES:
        items = catalog.items(table)
        return items[id].name if id in items else id
    named = next((row.cells.get("name") for row in catalog.rows(table) if row.id == id), None)
    return str(named or id.replace("-", " "))


def catalog_choices(catalog: Catalog, table: str) -> list[tuple[str, str]]:
    """Return the ids of a table of the catalog with their names."""
    if table in ITEM_TABLES:
        return [(each.id, each.name) for each in catalog.items(table).values()]
    return [(row.id, str(row["name"])) for row in catalog.rows(table)]


def verdict(plan: Plan) -> Table:
    """Tabulate what holds of the design."""
    return tabulate("verdict", [plan.verdict])


def totals(plan: Plan) -> Table:
    """Tabulate the headline numbers."""
    lines = [line for key, line in plan.lines.items() if key == "demand.gpus" or key.startswith("totals.")]
    return tabulate("totals", lines)


def groups(plan: Plan) -> Table:
    """Tabulate the workload groups: how each reaches its GPUs, and how many it needs."""
    users = {group.id: group.people for group in plan.scenario.groups}
    clusters = pool_names(plan.pools)
    own: dict[str, Any] = {"use_case": Worded(partial(catalog_name, plan.catalog, "use_cases")), "why": _why}
    own |= {"access": lambda g: MODE_NAMES[g.mode], "people": lambda g: users[g.id]}
    own["gpus_held"] = lambda g: plan.lines[f"groups.{g.id}.held_gpus"].value
    own["pool"] = lambda g: clusters.get(g.pool, "")
    own["vms_not_placed"] = lambda g: sum(missing.vms for missing in g.unplaced)
    own["against"] = lambda g: " ".join(r.text for r in g.against)
    own["sources"] = lambda g: tuple(dict.fromkeys(s for r in (*g.reasons, *g.against) for s in r.sources))
    return tabulate("groups", plan.groups, **own)


def _why(group: GroupPlan) -> str:
    unplaced = (f"{capital(missing.reason.removesuffix('.'))}." for missing in group.unplaced)
    return " ".join(dict.fromkeys([*(reason.text for reason in group.reasons), *unplaced]))


def pools(plan: Plan, *pools: Pool) -> Table:
    """Tabulate the clusters, or some of them, and their hosts."""
    servers, gpus = plan.catalog.servers, plan.catalog.gpus
    server = Worded(lambda id: servers[id].name if id else said("table.pools.no server"))

    def gpu(pool: Pool) -> Cell:
        boards = dict.fromkeys(share.room.board for share in pool.shares) or (pool.gpu,)
        return Cell(pool.gpu, words=joined([gpus[board].name for board in boards]))

    return tabulate("pools", pools or plan.pools, server=server, gpu=gpu, gpus_per_host=_gpus_per_host)


def _gpus_per_host(pool: Pool) -> Cell:
    counts = sorted({room.gpus for room in pool.rooms})
    return Cell(pool.gpus_per_host, words=", ".join(map(str, counts)) if counts[1:] else None)


def by_cluster(
    name: str, own: Sequence[Column], pools: Iterable[Pool], of: Callable[[Pool], Iterable[Any]]
) -> Table:
    """Build a table of things by cluster, which the first column names."""
    things = ((pool, thing) for pool in pools for thing in of(pool))
    rows = [(pool.name, *(c.held(thing) for c in own), pool.id, pool.kind) for pool, thing in things]
    return Table(name, (*columns("by_cluster"), *own, *CLUSTER_IDS), tuple(rows))


def placement(plan: Plan) -> Table:
    """Tabulate each VM on its GPU."""
    names = group_names(plan)
    own = columns("placement", share=lambda vm: vm["share"] or "", group=lambda vm: names[vm["group"]])

    def vms(pool: Pool) -> Iterator[dict[str, Any]]:
        for host in range(1, pool.hosts + 1):
            for row in gpu_rows(pool, host):
                yield from ({"host": host, **row, **vm} for vm in row["vms"])

    return by_cluster("placement", own, plan.pools, vms)


def hosts(plan: Plan, pools: Sequence[Pool], most: int) -> Table:
    """Tabulate the load of each host; beyond ``most`` hosts, those with identical load share a row."""
    by_host = sum(pool.hosts for pool in pools) <= most
    names = group_names(plan)
    rows: list[tuple[Any, ...]] = []
    for pool in pools:
        kinds: dict[tuple[Any, ...], list[int]] = {}
        for at in range(len(pool.placement)):
            content = _filled(plan, pool, at, names)
            kinds.setdefault((*content, at if by_host else None), []).append(at)
        loads = kinds.items() if by_host else sorted(kinds.items(), key=lambda kind: -len(kind[1]))
        rows += [(pool.name, alike[0] + 1, len(alike), *content[:-1]) for content, alike in loads]
    title = said("table.hosts.each" if by_host else "table.hosts.alike")
    heads = {} if by_host else {"host": said("table.hosts.first")}
    return filled("hosts", rows, heads=heads, hidden={"host": not by_host, "hosts": by_host}, title=title)


def _filled(plan: Plan, pool: Pool, at: int, names: Mapping[str, str]) -> tuple[Any, ...]:
    """Return (existing, GPUs, GPUs used, VMs, load, GPUs free) of a host, with equal loads counted."""
    counts: Counter[str] = Counter()
    vms: set[tuple[str, int]] = set()
    for load in pool.placement[at]:
        vms |= {(slot.group, slot.vm) for slot in load.slots}
        if load.family:
            groups = Counter(slot.group for slot in load.slots)
            who = " + ".join(f"{n} x {names[g]}" for g, n in groups.items())
            mode = MODE_NAMES.get(load.family.name, load.family.name)
            counts[said("table.hosts.shared", who=who, mode=mode)] += 1
        else:
            having = "table.hosts.with a gpu" if load.gpus == 1 else "table.hosts.with gpus"
            group = load.slots[0].group
            who = said("table.hosts.stated total") if group == UNASSIGNED else names[group]
            counts[said(having if load.gpus else "table.hosts.without", who=who, gpus=load.gpus)] += 1
    gpus, taken = pool.rooms[at].gpus, sum(load.gpus for load in pool.placement[at])
    loads = "; ".join(f"{n} x {what}" if n > 1 else what for what, n in counts.items())
    board = other_board(plan, pool.rooms[at])
    holds = f"{board}: " * bool(board) + (loads or said("table.hosts.spare"))
    return at < pool.existing_hosts, gpus, taken, len(vms), holds, gpus - taken


def shared_gpus(plan: Plan) -> Table:
    """Tabulate shared GPUs, and how well their number is proven."""
    return by_cluster("shared_gpus", columns("shared_gpus"), plan.pools, lambda pool: pool.shared)


def access_modes(plan: Plan) -> Table:
    """Tabulate the platform's ways to share a GPU."""
    rows = []
    for part in plan.parts:
        of = f" ({part.scenario.hardware.of})" if part.scenario.hardware.of else ""
        rows += [replace(m, name=m.name + of) for m in sharing_modes(part.scenario, plan.catalog)]
    return tabulate("sharing_modes", rows)


def decisions(plan: Plan) -> Table:
    """Tabulate the design decisions."""
    return tabulate("decisions", plan.decisions, title=said("table.decisions.all"))


def within(plan: Plan) -> Table:
    """Tabulate how far the design is within each limit that is set."""

    def amounts(name: str) -> Callable[[Within], Cell]:
        return lambda row: Cell(
            getattr(row, name), limit_words(plan.catalog, row, getattr(row, name) or None)
        )

    def met(row: Within) -> Cell:
        return Cell(row.met, NAMES["limit kept"][str(row.met)], tone=KEPT[row.met])

    own: dict[str, Any] = {name: amounts(name) for name in ("limit", "value", "over")}
    return tabulate("within", plan.within, **own, met=met)


def messages(plan: Plan) -> Table:
    """Tabulate the messages of the checks."""
    return tabulate("messages", check_plan(plan))


def lines(plan: Plan, *starts: str) -> Table:
    """Tabulate every number of the plan with its formula, or those whose keys start with a prefix."""
    own: dict[str, Any] = {"value": _line_value, "formula": formula_text, "text": _line_text}
    own["inputs"] = lambda line: "; ".join(f"{i.label} = {amount(i.value, i.unit)}" for i in line.inputs)
    shown = [line for line in plan.lines.values() if not starts or line.key.startswith(starts)]
    return tabulate("lines", shown, **own)


def _line_value(line: Line) -> Cell:
    text = _line_text(line)
    return Cell(None, words=text, line=line.key) if text else Cell(line.value, line=line.key)


def _line_text(line: Line) -> str:
    return line.value if isinstance(line.value, str) else ""


def sources(plan: Plan, ids: Iterable[str]) -> Table:
    """Tabulate sources in citation order, with the scenario's remarks on them."""
    remarks: dict[str, list[str]] = {}
    for note in plan.scenario.notes:
        text = f"{note.text} ({note.locator})" if note.locator else note.text
        remarks.setdefault(note.source, []).append(text)
    cited = [s for id in ids if (s := plan.catalog.sources.get(id)) is not None]
    numbers = {source.id: at for at, source in enumerate(cited, 1)}
    own: dict[str, Any] = {"number": lambda source: numbers[source.id], "tier": Worded(TIER_WORDS.get)}
    return tabulate("sources", cited, **own, remark=lambda source: " ".join(remarks.get(source.id, ())))


def cited_sources(plan: Plan) -> dict[str, None]:
    """Return every source that the design rests on, in citation order."""
    costs = plan.costs
    cited: list[Iterable[str]] = [
        *(line.sources for line in plan.lines.values()),
        *(decision.sources for decision in plan.decisions),
        *(reason.sources for group in plan.groups for reason in (*group.reasons, *group.against)),
        *(message.sources for message in check_plan(plan)),
        (origin.source for _, origin in plan.scenario.origins),
        *(material.sources for material in (costs.materials if costs else ())),
        *(price.fact.sources for price in (costs.prices if costs else ())),
        (note.source for note in plan.scenario.notes),
    ]
    return dict.fromkeys(chain.from_iterable(cited))
