"""Tables of the platform: a GPU host as ordered, management, hosts already there, power, what vSphere does, checks at hand-over."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from gpuplan.catalog import Row
from gpuplan.facts import own_rows
from gpuplan.locales import written_day
from gpuplan.models.access import holds
from gpuplan.plan import Plan
from gpuplan.plan.hardware import has_nvswitch
from gpuplan.plan.host_line import HostPart
from gpuplan.plan.hosts import whole_pools
from gpuplan.plan.inventory import Inventory
from gpuplan.plan.management import SIZED_FOR, Appliance, release
from gpuplan.plan.power import PowerPart, PowerUse
from gpuplan.plan.sharing import version_order
from gpuplan.plan.weighing import listed as listed_words
from gpuplan.report.table import Cell, Table, Worded, columns, listed, tabulate
from gpuplan.report.tables.plan import group_names
from gpuplan.scenario import HostKind, host_kinds
from gpuplan.wording import NAMES, amount, capital, counted, number, said, some_of


def _size(part: HostPart) -> Cell:
    words = f"{part.size}: {part.short}" if part.short else None
    return Cell(part.size, words=words, tone="warn" if part.short else "")


PART_COLUMNS = columns("columns", size=_size)


def host_line(plan: Plan) -> Table:
    """A new GPU host, part by part, with the rule behind each."""
    notes = tuple(
        f"{said('table.host line of', hosts=name)} " * bool(name)
        + said("table.to this specification the", hosts=counted(line.hosts, "host"))
        for name, line in plan.host_lines.items()
    )
    return listed("host_line", PART_COLUMNS, parts_of_hosts(plan), notes=notes)


def parts_of_hosts(plan: Plan) -> list[HostPart]:
    """The parts of a new host of each kind, named after the kind where it is a further one."""
    return [
        part._replace(name=f"{part.name} ({name})") if name else part
        for name, line in plan.host_lines.items()
        for part in line.parts
    ]


def management_hosts(plan: Plan) -> Table:
    """A host of the management domain, part by part."""
    parts = plan.management.parts if plan.management else ()
    return listed("management_hosts", PART_COLUMNS, parts)


def management(plan: Plan) -> Table:
    """The appliances of the management domain and those on the GPU cluster, with their sum."""
    domain = plan.management
    known = Worded(lambda n: None if n else said("table.not known"))
    sums: dict[str, Any] = dict.fromkeys(("vcpus", "memory_gb", "disk_gb"), known)
    total: tuple[tuple[Cell | None, ...], ...] = ()
    if domain:
        cells = (Cell(getattr(domain, name), line=f"domain.{name}", tone="total") for name in sums)
        empty = Cell(None, words="")
        total = (
            (Cell(said("table.management.total"), tone="total"), empty, empty, *cells, empty, None, None),
        )
    apart = any(a.on_gpu_hosts for a in domain.appliances) if domain else False
    appliances, hidden = domain.appliances if domain else (), {"where": not apart}
    there = ("table.management.in management domain", "table.management.on gpu cluster")
    sums |= {"appliance": _appliance, "where": lambda appliance: said(there[appliance.on_gpu_hosts])}
    return tabulate("management", appliances, **sums, hidden=hidden, totals=total, notes=_notes(plan))


def _appliance(appliance: Appliance) -> str:
    of_domain = appliance.id.startswith("domain-")
    return said("table.management.in domain", name=appliance.name) if of_domain else appliance.name


def _notes(plan: Plan) -> tuple[str, ...]:
    """Say how many hosts they need, and to which release the sizes belong."""
    domain = plan.management
    if domain is None:
        return ()
    model, raw = capital(NAMES["management.model"][domain.model]), round(domain.raw_gb / 1000, 1)
    sentences = [said("table.management.hosts needed", model=model, domain=domain, raw=raw)]
    if plan.scenario.management.model == "simple" != domain.model:
        sentences.append(said("table.the simple model requires"))
    if domain.short:
        sentences.append(said("table.the stated are too", domain=domain))
    if domain.appliances and release(plan.scenario) != SIZED_FOR:
        sentences.append(said("table.sizes are published for"))
    return tuple(sentences)


def inventory(plan: Plan) -> Table:
    """Tabulate the demand that fits on existing hosts, by group priority, and what must be bought for the rest."""
    names, found = group_names(plan), plan.inventory
    groups = sorted(found.groups, key=lambda use: use.priority) if found else []
    table = tabulate("inventory", groups, group=lambda use: names[use.id], notes=_inventory_notes(plan))
    return table if any(use.elsewhere for use in groups) else table.without("elsewhere")


def _inventory_notes(plan: Plan) -> tuple[str, ...]:
    found = plan.inventory
    if found is None:
        return ()
    notes = (*_joining(plan, found), _bought(found, plan.placed.missing), _other_boards(plan, found))
    return tuple(note for note in notes if note)


def _joining(plan: Plan, found: Inventory) -> Iterator[str]:
    """Say what the demand takes of hosts that join the design, and which pool they join."""
    ours = [kind for kind in found.kinds if kind.joins]
    if not ours:
        return
    used, there = sum(kind.gpus_used for kind in ours), sum(kind.hosts * kind.gpus_per_host for kind in ours)
    sure = "" if found.proven else said("table.inventory.not proven")
    yield said("table.with every host up", used=number(used), gpus=amount(there, "GPU"), sure=sure)
    pools = whole_pools(plan.pools)
    if len(pools) == 1 or len(plan.parts) > 1:  # each kind of hosts has its own
        return
    home = next((pool.name for pool in pools.values() if pool.existing_hosts), "")
    if home and len({group.priority for group in plan.scenario.groups}) == 1:
        yield said("table.all groups have the", home=home)
    else:
        yield said("table.by priority each group")


def _bought(found: Inventory, missing: int) -> str:
    left, buys = sum(use.rest for use in found.groups), counted(found.buy, "host")
    if left:
        some = any(use.there or use.elsewhere for use in found.groups)
        return said("table.inventory.bought" if some else "table.inventory.none fits", buys=buys, vms=left)
    every = said("table.some vms" if missing else "table.every vm")
    return said("table.all vms fit there" if found.buy else "table.all vms fit there 2", buys=buys, all=every)


def _other_boards(plan: Plan, found: Inventory) -> str:
    """Say why VMs of the design run on hosts with other boards."""
    others = [kind for kind in found.kinds if kind.joins and kind.gpu not in plan.new_boards]
    if not others:
        return ""
    gpus = plan.catalog.gpus
    boards = some_of(list(dict.fromkeys(gpus[kind.gpu].name for kind in others)))
    own = some_of([gpus[gpu].name for gpu in plan.new_boards])
    return said("table.inventory.other boards", boards=boards, board=own)


def hosts_there(plan: Plan) -> Table:
    """The kinds of hosts already there, what of the demand takes them, and their licences and ages where stated."""
    uses, hardware = plan.inventory.kinds if plan.inventory else (), plan.scenario.hardware
    kinds: dict[tuple[Any, ...], list[HostKind]] = {}
    for kind in dict.fromkeys(host_kinds(hardware.existing)):
        alike = kind.name, kind.gpu or hardware.gpu, kind.gpus or hardware.gpus_per_host
        kinds.setdefault(alike, []).append(kind)
    stated = [kinds[use.name, use.gpu, use.gpus_per_host].pop(0) for use in uses]
    table = tabulate("hosts_there", uses, gpu=Worded(lambda id: plan.catalog.gpus[id].name))
    for column in reversed(columns("host_days")):
        days = [written_day(getattr(kind, column.key) or "") for kind in stated]
        if any(days):
            table = table.beside(column, days, after="joins")
    return table


def power(use: PowerUse) -> Table:
    """Tabulate all parts that draw power and fill the racks."""
    head = (Cell(said("table.all parts"), tone="total"), Cell(None, words=""))
    typical = Cell(use.typical_w, line="power.typical", tone="total")
    peak = Cell(use.peak_w, line="power.peak", tone="total")
    in_all = (*head, typical, peak, Cell(use.rack_units_u, words=_height(use.rack_units_u)))
    own: dict[str, Any] = {"part": lambda part: capital(part.name), "rack_units_u": Worded(_height)}
    own |= {"typical_w": lambda p: _watts(p, p.typical_w), "peak_w": lambda p: _watts(p, p.peak_w)}
    return tabulate("power", use.parts, **own, totals=(in_all,))


def power_points(use: PowerUse) -> list[tuple[str, str]]:
    """Say what follows from the total power, and what is unknown about it."""
    kinds = {f" ({name})" if name else "": use.of(name) for name in use.kinds}
    racks = said("table.power.beyond a rack")
    if use.racks:
        each = (said("table.power.rack of", use=of) + name for name, of in kinds.items())
        one = said("table.with at most each", use=use)
        racks = said("table.power.racks of kinds", use=use, each=", ".join(each)) if len(kinds) > 1 else one
    points = [
        *(
            (said("table.power.host") + name, said("table.at full load typical", use=of))
            for name, of in kinds.items()
        ),
        (said("table.power.cooling"), said("table.typical kwh a year", use=use)),
        (said("table.power.heat"), said("table.power.heat an hour", use=use)),
        (said("table.power.co2"), said("table.power.tonnes", tonnes=round(use.emissions_kg / 1000, 1))),
        (said("table.power.racks"), racks),
        (said("table.power.left out"), "; ".join(use.excludes)),
    ]
    return [point for point in points if point[1]]


def _watts(part: PowerPart, value: float) -> Cell:
    return Cell(value) if part.peak_w else Cell(None, words=said("table.not known"))


def _height(units: float | None) -> str:
    return said("table.not known") if units is None else f"{number(units)} U"


@dataclass(frozen=True, slots=True)
class PlatformRule:
    """A rule of the catalog that holds for a design."""

    id: str
    topic: str
    text: str
    conflict: str
    """Source that contradicts it, or a gap in all sources."""
    check: str
    """Check at hand-over; empty where there is nothing to see."""
    basis: str
    sources: tuple[str, ...]


def platform_rules(plan: Plan) -> tuple[PlatformRule, ...]:
    """The rules of DRS, HA, vMotion and licences that hold for a design, as ``data/words/platform_rules.csv`` lists them."""
    if not plan.pools:
        return ()
    order, facts = version_order(plan.catalog), frozenset(name for name, so in _facts(plan).items() if so)
    now = order[plan.scenario.platform.vsphere]
    return tuple(
        _rule(plan.catalog.row("rules", row["rule"]), row["check"])
        for row in own_rows("words/platform_rules")
        if holds(listed_words(row["when"]), facts=facts)
        and order.get(row["vsphere_from"], now) <= now <= order.get(row["vsphere_until"], now)
    )


def _facts(plan: Plan) -> dict[str, bool]:
    gpus = [plan.catalog.gpus[gpu] for gpu in plan.new_boards]
    kinds, boards = {pool.gpu_mode for pool in plan.pools}, " ".join(gpu.name for gpu in gpus)
    return {
        "vgpu": "vgpu" in kinds,
        "passthrough": "passthrough" in kinds,
        "mig": any(group.mode == "mig" and group.vms_placed for group in plan.groups),
        "sharing": any(pool.shared for pool in plan.pools),
        "several clusters": len(plan.pools) > 1,
        "vcf": plan.scenario.cost.platform_licence == "vcf",
        "bundled": any(gpu.value("nvaie_years") for gpu in gpus),
        "H100 or H200": any(name in boards for name in ("H100", "H200", "H800")),
        "NVSwitch": any(has_nvswitch(part.scenario, plan.catalog) for part in plan.parts),
        **{str(gpu.value("architecture")): True for gpu in gpus},
    }


def _rule(row: Row, check: str) -> PlatformRule:
    topic, text, conflict = (str(row[name] or "") for name in ("topic", "rule", "conflict"))
    return PlatformRule(row.id, topic, text, conflict, check, row.basis, row.sources)


def behaviour(plan: Plan) -> Table:
    """Tabulate the effects of DRS, HA, vMotion and licences on this design, with contradicting sources."""
    return tabulate(
        "platform_rules",
        platform_rules(plan),
        text=lambda rule: f"{rule.text} ({capital(rule.conflict)}.)" if rule.conflict else rule.text,
    )


def hand_over(plan: Plan) -> Table:
    """Tabulate the checks on the cluster itself before hand-over."""
    return tabulate("hand_over", [rule for rule in platform_rules(plan) if rule.check])
