"""Design decisions: numbered, each with its justification and implication, as the reference designs write them.

Their words are in ``data/words/decisions.csv``; this module selects those that apply, and fills in the numbers.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.facts import Brief, Several, own_rows
from gpuplan.locales import written
from gpuplan.models.power_on.cluster import LARGEST
from gpuplan.plan.access import GroupPlan, served_by
from gpuplan.plan.availability import Posture
from gpuplan.plan.bill_of_materials import Counts, KindCounts, in_advance, included_years
from gpuplan.plan.clusters import SPLIT_NAMES
from gpuplan.plan.cost import Costs
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.hosts import Pool, WholePool, whole_pools
from gpuplan.plan.layouts import Layout
from gpuplan.plan.over_time.power_on import PowerOn, compared, distinct, settings_now
from gpuplan.plan.over_time.rules import alike
from gpuplan.plan.over_time.tried import STEPS, more_words
from gpuplan.plan.sizing_rule import target_words
from gpuplan.plan.switches import Switches
from gpuplan.plan.trail import Line
from gpuplan.plan.verdict import Verdict, placed_of, tolerance
from gpuplan.scenario import Scenario
from gpuplan.wording import (
    LICENCE_NAMES,
    NAMES,
    TRANSPORT_NAMES,
    amount,
    capital,
    counted,
    either,
    hours,
    joined,
    percent,
    run_words,
    said,
    spanned,
    told,
    whole,
)

WORDS: Mapping[str, Mapping[str, str]] = {row["case"]: row for row in own_rows("words/decisions")}
"""Case of a decision -> its title, decision, justification, implication and sources."""
SPLIT_REASONS = NAMES["reason of a split"]
"""Reason for several clusters, which precedes the most hosts that one may have."""


@dataclass(frozen=True, slots=True, repr=False)
class Decision(Brief):
    """A numbered design decision with its justification and implication."""

    number: int
    case: str
    """Case of the decision: a row of ``data/words/decisions.csv``."""
    title: str
    decision: str
    justification: str
    implication: str
    lines: tuple[str, ...]
    sources: tuple[str, ...]


class Found(NamedTuple):
    """A decision before it is numbered: its case, the keys of its lines, and values for the gaps in its words."""

    case: str
    lines: tuple[str, ...]
    words: Mapping[str, object]
    sources: tuple[str, ...] = ()
    """Sources in addition to the sources of the table and of the lines."""


def found(case: str, *lines: str, **words: object) -> Found:
    """Return a decision with its case, the keys of its lines, and values for the gaps in its words."""
    return Found(case, lines, words)


def decide(
    counts: Counts | None,
    groups: Sequence[GroupPlan],
    postures: Sequence[Posture],
    lines: Mapping[str, Line],
    money: Costs | None,
    starts: Mapping[str, PowerOn],
) -> tuple[Decision, ...]:
    """The decisions of a plan in the order of a design document: hosts, failures, access, network, platform, cost."""
    if counts is None:
        return ()
    scenario, pools, fabric = counts.scenario, counts.pools, counts.fabric
    of_kind = whole_pools(pools).values()
    decided = [
        *_enough(counts, groups, lines),
        *(_gpus_per_host(counts, kind, _of(kind, groups)) for kind in counts.kinds),
        *(_hosts_for_demand(pool, len(of_kind) > 1, lines) for pool in of_kind),
        *(_clusters(pool, len(of_kind) > 1, counts, lines) for pool in of_kind if len(pool.clusters) > 1),
        _spare_hosts(scenario, pools, postures),
        _capacity(counts, groups, lines),
        *(found for kind in counts.kinds for found in _allocation(counts, kind, _of(kind, groups))),
        *_power_on(starts),
        _network(scenario, groups),
        _fabric(scenario, fabric),
        _workload_domain(groups),
        *([_cost(counts, lines, money.hosts[-1])] if money is not None else ()),
    ]
    return Several(_decision(at, decision, lines) for at, decision in enumerate(decided, 1))


def _decision(at: int, found: Found, lines: Mapping[str, Line]) -> Decision:
    """Word a decision, with its own sources before its lines' sources."""
    row = WORDS[found.case]
    title, decision, why, so = (
        told(row[name], found.words) for name in ("title", "decision", "justification", "implication")
    )
    behind = [source for key in found.lines if key in lines for source in lines[key].sources]
    cited = dict.fromkeys([*row["sources"].split(), *found.sources, *behind])
    sources = tuple(source for source in cited if source != "scenario")
    return Decision(at, found.case, title, decision, why, so, found.lines, sources)


def _enough(made: Counts, groups: Sequence[GroupPlan], lines: Mapping[str, Line]) -> Iterator[Found]:
    """Decide the GPU count, where it is not simply the sum of the groups' peaks."""
    demand = made.scenario.demand
    if groups and demand.rule == "stated":
        yield _stated_total(groups, lines)
    if demand.rule in ("sum", "stated"):
        return
    at_target = [key for kind in whole_pools(made.pools) if (key := f"pools.{kind}.gpus_for_target") in lines]
    methods = {lines[key].function.rpartition(".")[2] for key in at_target}
    told_apart = all(name.startswith(("closed", "kaufman")) for name in methods)
    per_group = demand.for_whom == "each" and told_apart
    closed = all(name.startswith("closed") for name in methods)
    keys = ("demand.groups_gpus", "demand.sum_of_peaks_gpus")
    gpus, peaks = (whole(lines[key].value) for key in keys)
    if demand.rule == "hours":
        case = "enough in the busiest hours" if gpus < peaks else "enough at coinciding peaks"
        yield found(case, *keys, gpus=gpus, peaks=peaks)
        return
    promise = target_words(demand.rule, demand.chance, demand.wait_min, per_group)
    case = "enough for a target, known people" if closed else "enough for a target"
    yield found(case, *keys, *at_target, gpus=gpus, peaks=peaks, promise=promise)


def _stated_total(groups: Sequence[GroupPlan], lines: Mapping[str, Line]) -> Found:
    """Decide by the customer's total, whatever the groups need, and name the demand that it leaves without a GPU."""
    without = {g.name: sum(missing.vms for missing in g.unplaced) for g in groups if g.unplaced}
    names = ", ".join(f"{name}: {amount(vms, 'VM')}" for name, vms in without.items())
    so = said("decided.without a GPU", names=names) if without else said("decided.all within")
    keys = ("demand.gpus", "demand.groups_gpus")
    gpus, needed = (lines[key].value for key in keys)
    return found("enough by the stated total", *keys, gpus=gpus, needed=needed, so=so)


def _of(kind: KindCounts, groups: Sequence[GroupPlan]) -> list[GroupPlan]:
    """The groups on hosts of a kind."""
    on_hosts = {group.id for group in kind.scenario.groups}
    return [group for group in groups if group.id in on_hosts]


def _kind_words(made: Counts, kind: KindCounts) -> str:
    """Name the pools of a kind of hosts, where there are several kinds."""
    names = [pool.name for pool in whole_pools(kind.pools).values()]
    return f": {joined(names)}" if made.kinds[1:] else ""


def _gpus_per_host(made: Counts, kind: KindCounts, groups: Sequence[GroupPlan]) -> Found:
    catalog, hardware, per_host = made.catalog, kind.scenario.hardware, kind.gpus_per_host
    existing = [room for pool in kind.pools for room in pool.rooms[: pool.existing_hosts]]
    largest = max(groups, key=lambda g: g.gpus_each, default=None)
    why = said("decided.no large VM", per_host=per_host)
    if largest and largest.gpus_each > 1:
        key = "decided.whole host" if largest.gpus_each == per_host else "decided.large VM"
        why = said(key, group=largest.name, gpus=written(largest.gpus_each, "g"), per_host=per_host)
    differ = any(room.gpus != per_host for room in existing)
    named = hardware.server and said("decided.server", name=catalog.servers[hardware.server].name)
    where = _kind_words(made, kind)
    case, host = "GPUs per host", said("decided.new host" if existing else "decided.host")
    if where:
        case, host = (
            "GPUs per host, several kinds",
            said("decided.host of kind", pools=where.removeprefix(": ")),
        )
    return found(
        "GPUs per host, hosts differ" if differ else case,
        "demand.gpus",
        where=where,
        host=host,
        server=named or said("decided.any server"),
        per_host=per_host,
        gpu=catalog.gpus[hardware.gpu].name,
        why=why,
    )


def _hosts_for_demand(pool: WholePool, several: bool, lines: Mapping[str, Line]) -> Found:
    laid, at = pool.layout, f"pools.{pool.kind}"
    needed, existing = laid.needed, len(laid.existing)
    new, least = len(needed.hosts) - existing, needed.bound - existing
    kept = laid.kept if laid.kept and laid.kept.more else None
    gpus, fewer = laid.room.gpus, needed.bound - 1
    words = {"hosts": fewer, "gpus": fewer * gpus, "occupied": needed.gpus_occupied}
    return found(
        _demand_case(laid, new == least),
        f"{at}.hosts_for_demand",
        f"{at}.gpus_demanded",
        where=said("decided.in the pool", name=pool.name) if several else "",
        demand=whole(lines[f"{at}.gpus_demanded"].value),
        hosts=laid.used,
        best=laid.fewest,
        first=percent(kept.at_first) if kept else "",
        chance=percent(kept.value) if kept else "",
        gpus=gpus,
        fewer=said("decided.one host fewer", **words) if fewer else "",
        existing=existing,
        added=said("decided.hosts added", new=new, gpus=gpus) if new else said("decided.no host added"),
        new=new,
        least=least,
    )


def _demand_case(laid: Layout, fewest: bool) -> str:
    """Return the case of the decision on the hosts for the demand."""
    if laid.kept and laid.kept.more:
        return "hosts, for a target" if laid.kept.held else "hosts, short of a target"
    if laid.more:
        return "hosts, for orders" if laid.reached else "hosts, short of orders"
    if laid.existing:
        return "hosts beside others" if fewest else "hosts beside others, heuristic"
    volume = laid.mixed and laid.needed.method == "volume"
    return "hosts, mixed" if volume else f"hosts, {laid.needed.method}"


def _clusters(pool: WholePool, several: bool, made: Counts, lines: Mapping[str, Line]) -> Found:
    """Describe how a pool is divided into clusters, and the size of the alternatives."""
    scenario, at, spare = made.scenario, f"pools.{pool.kind}", pool.clusters[0].hosts_for_failures
    split, stated = scenario.availability.split, scenario.availability.hosts_per_cluster
    over = _over_clusters(pool, scenario)
    sizes = sorted({cluster.hosts for cluster in pool.clusters})
    boards = {cluster.gpu for cluster in pool.clusters} - {scenario.hardware.gpu}
    tenants = len({cluster.tenant for cluster in pool.clusters}) > 1
    inputs = {fact.name: fact for fact in lines[f"{at}.clusters"].inputs}
    ways = {
        way: f"{name} ({amount(fact.value, 'host')} {fact.note})"
        for way, name in SPLIT_NAMES.items()
        for fact in [inputs[way.replace("-", "_")]]
    }
    return found(
        "clusters",
        f"{at}.clusters",
        f"{at}.hosts",
        where=said("decided.of the pool", name=pool.name) if several else "",
        hosts=pool.hosts,
        clusters=counted(len(pool.clusters), "cluster"),
        size=spanned(str(sizes[0]), str(sizes[-1])) if sizes[1:] else str(sizes[0]),
        each=said("decided.spare hosts each", spare=counted(spare, "spare host")) if spare else "",
        why=said("decided.boards apart") * bool(boards)
        + SPLIT_REASONS["tenants" if tenants and split == "few-large" else split],
        most=inputs["most_hosts"].value,
        whose=said("decided.most as stated" if stated else "decided.most of VCF"),
        chosen=ways.pop(split),
        others=either([*ways.values()]),
        switches=_shared_switches(made.fabric),
        over=said("decided.over clusters", groups=over) if over else "",
    )


def _over_clusters(pool: WholePool, scenario: Scenario) -> list[str]:
    """Names of the groups with VMs in several clusters of a pool."""
    counts = Counter(request.group for cluster in pool.clusters for request in cluster.requests)
    named = {group.id: group.name for group in scenario.groups}
    return [named.get(id, said("decided.of no group")) for id, many in counts.items() if many > 1]


def _shared_switches(fabric: Cabling) -> str:
    """Describe how clusters share switches."""
    if fabric.switches is None:
        return ""
    if len(fabric.site_hosts) > 1:
        return said("decided.switches of sites")
    fabrics = len(fabric.switches.fabrics)
    if fabrics == 1:
        return said("decided.switches shared")
    return said("decided.switches of fabrics", fabrics=counted(fabrics, "fabric"))


def _spare_hosts(scenario: Scenario, pools: Sequence[Pool], postures: Sequence[Posture]) -> Found:
    shared = sum(pool.laid.shared for pool in pools)
    clusters = len(pools) - shared + bool(shared)
    failures, several = scenario.availability.host_failures, clusters > 1
    accepted = scenario.availability.maintenance_failure_accepted
    case, spare = _spare_case(pools, failures if accepted else failures + 1, accepted)
    chosen = next(p for p in postures if p.chosen)
    bet = "decided.bet of hours" if chosen.exposed_h else "decided.bet of two failures"
    return found(
        case,
        *(f"pools.{pool.clusters[0].id}.hosts_for_failures" for pool in whole_pools(pools).values()),
        *(f"postures.n{failures}.{name}" for name in ("short_h", "exposed_h", "chance")),
        more=spare,
        each=said("decided.in each cluster") if several else "",
        failures=failures,
        tolerance=tolerance(scenario, clusters),
        cluster=said("decided.each cluster" if several else "decided.the cluster"),
        its=said("decided.its cluster" if several else "decided.this cluster"),
        bet=said(bet, hours=hours(chosen.exposed_h), chance=chosen.chance),
    )


def _spare_case(pools: Sequence[Pool], spare: int, accepted: bool) -> tuple[str, int]:
    """The case, and the spare hosts: those of a cluster of alike hosts, or of all where VMs are placed again."""
    if not spare:
        return "no spare host", 0
    if any(pool.mixed or pool.laid.shared for pool in pools):
        return "spare hosts, placed again", sum(pool.hosts_for_failures for pool in pools)
    if accepted:
        return "spare hosts, failure in maintenance accepted", spare
    return "spare hosts, failure in maintenance not accepted", spare


def _lost(hosts: int, alike: bool) -> str:
    """A number of hosts, the largest where they differ, with the verb."""
    if alike:
        return said("decided.hosts lost", hosts=hosts)
    return said("decided.largest lost" if hosts == 1 else "decided.several largest lost", hosts=hosts)


def _capacity(made: Counts, groups: Sequence[GroupPlan], lines: Mapping[str, Line]) -> Found:
    scenario, pools = made.scenario, made.pools
    keys = ("totals.hosts", "totals.gpus", "demand.gpus", "totals.gpus_after_failure")
    hosts, gpus, demanded, left = (lines[key].value for key in keys)
    demanded, occupied = whole(demanded), sum(pool.gpus_occupied for pool in pools)
    beyond = max(0, gpus - max(demanded, occupied))
    alike = {room.gpus for pool in pools for room in pool.rooms} == {pools[0].gpus_per_host}
    key = "decided.beyond the demand"
    if occupied > demanded:
        key = "decided.beyond the VMs"
    elif scenario.deciding_total_gpus is not None:
        key = "decided.beyond the total"
    return found(
        "capacity",
        *keys,
        hosts=hosts,
        clusters=said("decided.in clusters", clusters=len(pools)) if len(pools) > 1 else "",
        size=said("decided.with GPUs each", gpus=pools[0].gpus_per_host) if alike else "",
        gpus=gpus,
        left=left,
        lost=_lost(max(1, scenario.availability.host_failures), alike),
        why=Verdict(scenario, placed_of(groups, pools), pools, {}, {}).proof,
        so=said(key if beyond else "decided.nothing beyond", gpus=beyond),
    )


def _allocation(made: Counts, kind: KindCounts, groups: Sequence[GroupPlan]) -> Iterator[Found]:
    """Decide how the GPUs of each pool of a kind of hosts are allocated to VMs."""
    where = _kind_words(made, kind)
    every = said("decided.all groups of hosts" if where else "decided.all groups")
    shared = (pool.name for pool in whole_pools(kind.pools).values() if served_by(pool.kind) == "vgpu")
    cluster = next(shared, "")
    for found in _ways(kind, groups):
        yield found._replace(words={**found.words, "where": where, "every": every, "cluster": cluster})


def _ways(kind: KindCounts, groups: Sequence[GroupPlan]) -> Iterator[Found]:
    taken = {served_by(pool.kind) for pool in kind.pools}
    remote = [g.name for g in groups if g.mode == "bitfusion" and g.vms_placed]
    whole = [g.name for g in groups if served_by(g.pool) == "passthrough" and g.vms_placed]
    if "vgpu" in taken:
        yield _by_vgpu(groups)
        if remote and "bitfusion" not in taken:
            yield found("allocation, bitfusion on vgpu", groups=joined(remote))
    if "bitfusion" in taken:
        yield found("allocation, bitfusion", groups=joined(remote))
    if "passthrough" in taken:
        yield found("allocation, passthrough", groups=joined(whole))


def _by_vgpu(groups: Sequence[GroupPlan]) -> Found:
    """The vGPU cluster, justified by vMotion only as far as that is kept."""
    local = [g for g in groups if g.mode in ("vgpu", "mig") and g.vms_placed]
    over = [g.name for g in local if "stun over limit" in g.facts]
    case = "allocation, vgpu" if local else "allocation, vgpu, servers only"
    if over:
        some = len(over) < len(local)
        case = "allocation, vgpu, some over the limit" if some else "allocation, vgpu, over the limit"
    return found(case, over=joined(over))


def _power_on(starts: Mapping[str, PowerOn]) -> Iterator[Found]:
    """Say how VMs are placed at power-on: by these settings of vSphere, in any order or the largest first."""
    for start in distinct(starts):
        if alike(start.pool.requests):
            continue
        keys = (f"pools.{start.pool.id}.power_on_chance",)
        where = said("decided.in the pool", name=start.pool.name) if len(starts) > 1 else ""
        matter = any(start.is_open(key) and not start.tried(key).all_start for key in start.settings)
        if start.now.all_start and not matter:
            yield found("power-on, any", *keys, where=where, orders=start.orders, now=_settings(start))
            continue
        yield found(
            "power-on, best" if start.as_planned.all_start else "power-on, not all",
            *keys,
            where=where,
            best=_settings(start),
            compared=compared(start),
            hosts=start.hosts_by_size,
            more=more_words(start.hosts_by_size - start.pool.hosts_at_best),
        )


def _settings(start: PowerOn) -> str:
    """Name the settings of vSphere, and the order in which VMs are started if it matters."""
    named = ", ".join(settings_now(start)) or said("power on.keep settings")
    return capital(named if start.as_planned is start.now else f"{named}; {STEPS[LARGEST]}")


def _network(scenario: Scenario, groups: Sequence[GroupPlan]) -> Found:
    link, transport = scenario.network.link_gbit_s, scenario.network.transport
    remote = any(g.mode == "bitfusion" for g in groups)
    purpose = said("decided.for Bitfusion" if remote else "decided.for data")
    case = "network, pvrdma" if transport == "pvrdma" else "network, RDMA"
    if transport == "tcp":
        case = "network, Ethernet for remote GPUs" if remote else "network, Ethernet"
    return found(case, link=link, transport=TRANSPORT_NAMES[transport], purpose=purpose)


def _fabric(scenario: Scenario, fabric: Cabling) -> Found:
    ports, transport = fabric.ports, TRANSPORT_NAMES[scenario.network.transport]
    link = scenario.network.link_gbit_s
    words = {"ports": ports.shared, "link": link, "rdma": ports.rdma, "transport": transport}
    each = said("decided.ports and RDMA" if ports.rdma else "decided.ports", **words)
    keys = ["network.ports.shared", *["network.ports.rdma"] * bool(ports.rdma)]
    if fabric.switches is None:
        return found("fabric without switches", *keys, each=each, reason=fabric.reason)
    keys += [f"network.fabric.{name}" for name in ("leaves", "spines", "oversubscription")]
    chosen, others = fabric.switches, fabric.compute_hosts
    worst = chosen.busiest.shape.oversubscription
    return found(
        "fabric",
        *keys,
        each=each,
        hosts=fabric.gpu_hosts,
        others=said("decided.and compute hosts", hosts=others) if others else "",
        all=fabric.gpu_hosts + others,
        leaves=chosen.total.leaves,
        leaf=f"{chosen.leaf_name}{chosen.where}",
        joined=_joined(chosen),
        ratio=said("decided.at most" if chosen.where else "decided.as built", ratio=worst),
        most=written(fabric.max_oversubscription, "g"),
        unstated="" if others else said("decided.hosts not counted"),
    )


def _joined(switches: Switches) -> str:
    """What joins the leaves; of several fabrics, what joins those of each."""
    each: dict[str, list[int]] = {}
    for number, fabric in enumerate(switches.fabrics, 1):
        key = "decided.joined by spines" if fabric.shape.spines else "decided.joined by links"
        each.setdefault(said(key, shape=fabric.shape, switches=switches), []).append(number)
    if len(each) == 1:
        return next(iter(each)) + (said("fabric.in each") if switches.where else "")
    return joined([said("decided.joined in", joined=text, fabrics=run_words(n)) for text, n in each.items()])


def _workload_domain(groups: Sequence[GroupPlan]) -> Found:
    remote = any(group.mode == "bitfusion" for group in groups)
    return found("workload domain", clients=said("decided.clients") if remote else "")


def _cost(made: Counts, lines: Mapping[str, Line], last_hosts: int) -> Found:
    """State the licences and the cost of the design."""
    catalog, cost = made.catalog, made.scenario.cost
    hosts = lines["totals.hosts"].value
    keys, licensed = ["cost.net_present", "cost.total"], ""
    for key, unit in (("cost.licensed_cores", "core"), ("cost.licensed_sockets", "licence")):
        if key in lines and cost.platform_licence != "owned":
            licensed += f", {counted(lines[key].value, unit)}"
            keys.append(key)
    software = "".join(_software(made, kind) for kind in made.kinds)
    licence = catalog.products["nvidia-ai-enterprise"]
    sources = licence.fact("licence_unit").sources if software else ()
    total, grows = lines["cost.net_present"], last_hosts > hosts
    return found(
        f"cost, {cost.platform_licence}",
        *keys,
        hosts=said("decided.hosts at the start" if grows else "decided.hosts", hosts=hosts),
        licensed=licensed,
        advance=in_advance(cost.licence_term_years),
        software=software,
        years=counted(cost.years, "year"),
        costs=said("decided.growth costs", hosts=last_hosts) if grows else said("decided.costs"),
        total=amount(total.value, total.unit),
        first=amount(lines["cost.years.0"].value, total.unit),
    )._replace(sources=sources)


def _software(made: Counts, kind: KindCounts) -> str:
    """State the GPU software of the hosts of a kind; nothing where no GPU is shared."""
    cost, licence = made.scenario.cost, made.catalog.products["nvidia-ai-enterprise"]
    shared = sum(pool.gpus for pool in kind.pools if pool.gpu_mode == "vgpu")
    if not shared:
        return ""
    years = included_years(kind.scenario, made.catalog)
    key = "decided.software bundled" if years >= cost.years else "decided.software bundled and bought"
    words = {"years": years, "days": licence.value("bundled_after_days"), "gpus": shared}
    words["licence"] = LICENCE_NAMES["cost.gpu_licence"][cost.gpu_licence]
    words["gpu"] = made.catalog.gpus[kind.scenario.hardware.gpu].name
    words["of"] = said("decided.of board", **words) if made.kinds[1:] else ""
    software = said(key if years else "decided.software", **words)
    if unlicensed := kind.unlicensed(0) if years and cost.gpu_licence != "owned" else 0:
        software += said("decided.software existing", gpus=unlicensed)
    return software
