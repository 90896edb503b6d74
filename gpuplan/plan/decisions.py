"""Design decisions: numbered, each with its justification and implication, as the reference designs write them.

Their words are in ``data/words/decisions.csv``; this module selects those that apply, and fills in the numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, Several, own_rows
from gpuplan.locales import filled, written
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.availability import Posture
from gpuplan.plan.bill_of_materials import Counts, in_advance
from gpuplan.plan.clusters import SPLIT_NAMES
from gpuplan.plan.cost import Costs
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.hosts import Pool, WholePool, whole_pools
from gpuplan.plan.layouts import Layout
from gpuplan.plan.over_time.power_on import PowerOn, compared, distinct, settings_now
from gpuplan.plan.over_time.rules import alike
from gpuplan.plan.over_time.tried import more_words, steps_words
from gpuplan.plan.placed import placed_of
from gpuplan.plan.requests import joins
from gpuplan.plan.trail import Line
from gpuplan.scenario import Scenario, host_kinds
from gpuplan.wording import (
    LICENCE_NAMES,
    TRANSPORT_NAMES,
    amount,
    capital,
    counted,
    hours,
    number,
    percent,
    some_of,
    target_words,
    verb,
    whole,
)

WORDS: Mapping[str, Mapping[str, str]] = {row["case"]: row for row in own_rows("words/decisions")}
"""Case of a decision -> its title, decision, justification, implication and sources."""


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
    scenario, catalog, pools, fabric = counts.scenario, counts.catalog, counts.pools, counts.fabric
    of_kind = whole_pools(pools).values()
    decided = [
        *_enough(scenario, pools, groups, lines),
        _gpus_per_host(scenario, catalog, groups),
        *(_hosts_for_demand(pool, len(of_kind) > 1, lines) for pool in of_kind),
        *(
            _clusters(pool, len(of_kind) > 1, scenario, lines, fabric)
            for pool in of_kind
            if len(pool.clusters) > 1
        ),
        _spare_hosts(scenario, pools, postures),
        _capacity(scenario, pools, groups, lines),
        *_allocation(pools, groups),
        *_power_on(starts),
        _network(scenario, groups),
        _fabric(scenario, fabric),
        _workload_domain(pools, groups),
        *([_cost(scenario, catalog, pools, lines, money.hosts[-1])] if money is not None else ()),
    ]
    return Several(_decision(at, decision, lines) for at, decision in enumerate(decided, 1))


def _decision(at: int, found: Found, lines: Mapping[str, Line]) -> Decision:
    """Word a decision, with its own sources before its lines' sources."""
    row = WORDS[found.case]
    title, decision, why, so = (
        filled(row[name], **found.words) for name in ("title", "decision", "justification", "implication")
    )
    behind = [source for key in found.lines if key in lines for source in lines[key].sources]
    cited = dict.fromkeys([*row["sources"].split(), *found.sources, *behind])
    sources = tuple(source for source in cited if source != "scenario")
    return Decision(at, found.case, title, decision, why, so, found.lines, sources)


def _enough(
    scenario: Scenario, pools: Sequence[Pool], groups: Sequence[GroupPlan], lines: Mapping[str, Line]
) -> Iterator[Found]:
    """Decide the GPU count, where it is not simply the sum of the groups' peaks."""
    demand = scenario.demand
    if groups and demand.rule == "stated":
        yield _stated_total(groups, lines)
    if demand.rule in ("sum", "stated"):
        return
    at_target = [key for kind in whole_pools(pools) if (key := f"pools.{kind}.gpus_for_target") in lines]
    methods = {lines[key].function.rpartition(".")[2] for key in at_target}
    told_apart = all(name.startswith(("closed", "kaufman")) for name in methods)
    per_group = demand.for_whom == "each" and told_apart
    closed = all(name.startswith("closed") for name in methods)
    keys = ("demand.groups_gpus", "demand.sum_of_peaks_gpus")
    gpus, peaks = (amount(whole(lines[key].value), "GPU") for key in keys)
    if demand.rule == "hours":
        carry = verb(whole(lines[keys[0]].value), "carry")
        yield found("enough in the busiest hours", *keys, gpus=gpus, peaks=peaks, carry=carry)
        return
    promise = target_words(demand.rule, demand.chance, demand.wait_min, per_group)
    case = "enough for a target, known people" if closed else "enough for a target"
    yield found(case, *keys, *at_target, gpus=gpus, peaks=peaks, promise=promise)


def _stated_total(groups: Sequence[GroupPlan], lines: Mapping[str, Line]) -> Found:
    """Decide by the customer's total, whatever the groups need, and name the demand that it leaves without a GPU."""
    without = {g.name: sum(missing.vms for missing in g.unplaced) for g in groups if g.unplaced}
    so = "Every group has its GPUs within it."
    if without:
        names = ", ".join(f"{name}: {amount(vms, 'VM')}" for name, vms in without.items())
        so = f"Without a GPU: {names}."
    keys = ("demand.gpus", "demand.groups_gpus")
    gpus, needed = (amount(lines[key].value, "GPU") for key in keys)
    return found("enough by the stated total", *keys, gpus=gpus, needed=needed, so=so)


def _gpus_per_host(scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]) -> Found:
    hardware = scenario.hardware
    per_host = hardware.gpus_per_host
    existing = [kind for kind in host_kinds(hardware.existing) if joins(scenario, kind)]
    largest = max(groups, key=lambda g: g.gpus_each, default=None)
    if largest and largest.gpus_each == per_host > 1:
        why = f"A VM of {largest.name} needs {written(largest.gpus_each, 'g')} GPUs at once, which perform best in a single host."
    elif largest and largest.gpus_each > 1:
        why = (
            f"The largest VM ({largest.name}) needs {written(largest.gpus_each, 'g')} GPUs in one host; "
            f"a host with {per_host} leaves room for other VMs."
        )
    else:
        why = f"No VM needs more than one GPU, so {per_host} per host follows from server and price."
    differ = any(kind.gpus not in (None, per_host) for kind in existing)
    server = f"a {catalog.servers[hardware.server].name}" if hardware.server else "a server (to be chosen)"
    return found(
        "GPUs per host, hosts differ" if differ else "GPUs per host",
        "demand.gpus",
        new="new " * bool(existing),
        server=server,
        per_host=per_host,
        gpu=catalog.gpus[hardware.gpu].name,
        why=why,
    )


def _hosts_for_demand(pool: WholePool, several: bool, lines: Mapping[str, Line]) -> Found:
    laid, at = pool.layout, f"pools.{pool.kind}"
    needed, existing = laid.needed, len(laid.existing)
    case = f"hosts, {needed.method}"
    new, least = len(needed.hosts) - existing, needed.bound
    if existing:
        least -= existing
        case = "hosts beside others" if new == least else "hosts beside others, heuristic"
    elif laid.mixed and needed.method == "volume":
        case = "hosts, mixed"
    if laid.more:
        case = "hosts, for orders" if laid.reached else "hosts, short of orders"
    gpus = amount(laid.room.gpus, "GPU")
    added = f"{new} new with {gpus} each {verb(new, 'are')} added"
    present = f"{amount(existing, 'host')} already {verb(existing, 'exist')}"
    demanded = whole(lines[f"{at}.gpus_demanded"].value)
    return found(
        case,
        f"{at}.hosts_for_demand",
        f"{at}.gpus_demanded",
        where=f" in the {pool.name}" if several else "",
        demand=amount(demanded, "GPU"),
        need=verb(demanded, "need"),
        are=verb(demanded, "are"),
        take=verb(demanded, "take"),
        hosts=amount(laid.used, "host"),
        best=amount(laid.fewest, "host"),
        each=gpus,
        fewer=_one_fewer(laid),
        there=present,
        added=added if new else "none is added",
        new=new,
        least=least,
    )


def _one_fewer(laid: Layout) -> str:
    """Say why one host fewer is not enough, by its GPUs; empty where no host would be left."""
    fewer = laid.needed.bound - 1
    if not fewer:
        return ""
    return (
        f"{amount(fewer, 'host')} would provide {amount(fewer * laid.room.gpus, 'GPU')}; the VMs occupy "
        f"{number(laid.needed.gpus_occupied)}. "
    )


SPLIT_REASONS = {
    "few-large": "A cluster has",
    "by-group": "Each group has its own clusters, with",
    "by-site": "Each site has its own clusters, for the groups with most of their users there, with",
}
"""Reason for several clusters, which precedes the most hosts that one may have."""


def _clusters(
    pool: WholePool,
    several: bool,
    scenario: Scenario,
    lines: Mapping[str, Line],
    fabric: Cabling | None,
) -> Found:
    """Describe how a pool is divided into clusters, and the size of the alternatives."""
    at, split, spare = f"pools.{pool.kind}", scenario.availability.split, pool.clusters[0].hosts_for_failures
    counts = Counter(request.group for cluster in pool.clusters for request in cluster.requests)
    names = [g for g, n in counts.items() if n > 1]
    named = {group.id: group.name for group in scenario.groups}
    sizes = sorted({cluster.hosts for cluster in pool.clusters})
    size = f"{sizes[0]} to {sizes[-1]}" if sizes[1:] else str(sizes[0])
    over = some_of([named.get(g, "GPUs of no group") for g in names])
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
        where=f" of the {pool.name}" if several else "",
        hosts=amount(pool.hosts, "host"),
        clusters=counted(len(pool.clusters), "cluster"),
        size=size,
        each=f", each with {counted(spare, 'spare host')}" if spare else "",
        why=SPLIT_REASONS[split],
        most=inputs["most_hosts"].value,
        whose="as stated"
        if scenario.availability.hosts_per_cluster
        else "the limit of VMware Cloud Foundation and vSAN",
        chosen=ways.pop(split),
        others=" or ".join(ways.values()),
        switches=_shared_switches(fabric) if fabric is not None else "",
        over=f" VMs of {over} are in several clusters." if names else "",
    )


def _shared_switches(fabric: Cabling) -> str:
    """Describe how clusters share switches."""
    if fabric.switches is None:
        return ""
    if len(fabric.site_hosts) > 1:
        return (
            " Each site has its own leaf and spine switches; the links between sites are still to be sized."
        )
    if fabric.switches.fabrics == 1:
        return " All clusters share the leaf and spine switches: a cluster is a vSphere boundary, not a network boundary."
    fabrics = counted(fabric.switches.fabrics, "fabric")
    return f" Two tiers of switches cannot connect all hosts, so {fabrics} hold whole clusters each; the links between them are still to be sized."


def _spare_hosts(scenario: Scenario, pools: Sequence[Pool], postures: Sequence[Posture]) -> Found:
    failures = scenario.availability.host_failures
    accepted = scenario.availability.maintenance_failure_accepted
    spare = failures + (0 if accepted else 1)
    case = "spare hosts, failure in maintenance " + ("accepted" if accepted else "not accepted")
    if spare == 0:
        case = "no spare host"
    elif any(pool.mixed for pool in pools):
        spare = sum(pool.hosts_for_failures for pool in pools)
        case = "spare hosts, placed again"
    return found(
        case,
        *(f"pools.{pool.clusters[0].id}.hosts_for_failures" for pool in whole_pools(pools).values()),
        *(f"postures.n{failures}.{name}" for name in ("short_h", "exposed_h", "chance")),
        additional=amount(spare, "additional host"),
        more=amount(spare, "host"),
        each=" in each cluster" if len(pools) > 1 else "",
        failures=failures,
        lost=f"{amount(failures, 'host')}{' in each cluster' * (len(pools) > 1)} {verb(failures, 'are')} lost",
        also="" if accepted else ", also while one is in maintenance",
        accepted=" A failure during maintenance is accepted." if accepted else "",
        cluster="Each cluster" if len(pools) > 1 else "The cluster",
        its="its" if len(pools) > 1 else "the",
        bet=_bet(postures),
    )


def _bet(postures: Sequence[Posture]) -> str:
    """Hours of exposure during maintenance, and the chance of a failure in them."""
    chosen = next(p for p in postures if p.chosen)
    if not chosen.exposed_h:
        return f"that takes a second failure, with a probability of {percent(chosen.chance)} a year"
    return f"{hours(chosen.exposed_h)} a year are exposed to this, with a probability of {percent(chosen.chance)} a year"


def _lost(hosts: int, alike: bool) -> str:
    """A number of hosts, the largest where they differ, with the verb."""
    if alike:
        return f"{amount(hosts, 'host')} {verb(hosts, 'are')}"
    return "the largest host is" if hosts == 1 else f"the {hosts} largest hosts are"


def _capacity(
    scenario: Scenario, pools: Sequence[Pool], groups: Sequence[GroupPlan], lines: Mapping[str, Line]
) -> Found:
    lost = max(1, scenario.availability.host_failures)
    hosts, gpus, left = (lines[f"totals.{name}"].value for name in ("hosts", "gpus", "gpus_after_failure"))
    demanded, occupied = whole(lines["demand.gpus"].value), sum(pool.gpus_occupied for pool in pools)
    beyond = max(0, gpus - max(demanded, occupied))
    alike = {room.gpus for pool in pools for room in pool.rooms} == {pools[0].gpus_per_host}
    size = f" with {amount(pools[0].gpus_per_host, 'GPU')} each" if alike else ""
    clusters = f" in {len(pools)} clusters" if len(pools) > 1 else ""
    so = "No GPUs remain beyond the demand."
    if beyond:
        idle = f"{verb(beyond, 'are')} idle or available to preemptible work"
        beyond_what = "the demand" if scenario.deciding_total_gpus is None else "the stated total"
        if occupied > demanded:
            beyond_what = "what the VMs occupy"
        so = f"While nothing has failed, {amount(beyond, 'GPU')} beyond {beyond_what} {idle}."
    give = f"{amount(hosts, 'host')}{clusters}{size} {verb(hosts, 'give')} {amount(gpus, 'GPU')}"
    keys = ("totals.hosts", "totals.gpus", "demand.gpus", "totals.gpus_after_failure")
    return found(
        "capacity",
        *keys,
        give=give,
        left=number(left),
        lost=_lost(lost, alike),
        why=placed_of(groups, pools).sentence,
        so=so,
    )


def _allocation(pools: Sequence[Pool], groups: Sequence[GroupPlan]) -> Iterator[Found]:
    """Decide how the GPUs of each pool are allocated to VMs."""
    taken = {pool.kind for pool in pools}
    remote = [g.name for g in groups if g.mode == "bitfusion" and g.vms_placed]
    whole = [g.name for g in groups if g.pool == "passthrough" and g.vms_placed]
    if remote and "vgpu" in taken and "bitfusion" not in taken:
        taken.add("bitfusion on vgpu")
    if "vgpu" in taken:
        yield _by_vgpu(groups)
    for pool, names in {"bitfusion on vgpu": remote, "bitfusion": remote, "passthrough": whole}.items():
        if pool in taken:
            yield found(f"allocation, {pool}", groups=_names(names))


def _by_vgpu(groups: Sequence[GroupPlan]) -> Found:
    """The vGPU cluster, justified by vMotion only as far as that is kept."""
    local = [g for g in groups if g.mode in ("vgpu", "mig") and g.vms_placed]
    over = [g.name for g in local if "stun over limit" in g.facts]
    case = "allocation, vgpu"
    if not local:
        case += ", servers only"
    elif over:
        case += ", some over the limit" if len(over) < len(local) else ", over the limit"
    return found(case, over=_names(over))


def _power_on(starts: Mapping[str, PowerOn]) -> Iterator[Found]:
    """Decide how VMs are placed at power-on: the simplest of the settings under which most orders start every VM."""
    for start in distinct(starts):
        if alike(start.pool.requests):
            continue
        best, keys = start.best, (f"pools.{start.pool.id}.power_on_chance",)
        words = {"where": f" in the {start.pool.name}" if len(starts) > 1 else ""}
        if start.now.all_start:
            yield found("power-on, any", *keys, **words, orders=start.orders, now=settings_now(start))
            continue
        sizes = start.hosts_by_size
        yield found(
            "power-on, best" if best.all_start else "power-on, not all",
            *keys,
            **words,
            best=capital(steps_words(best.key)) if best.key != "now" else settings_now(start),
            compared=compared(start),
            sizes=amount(sizes, "host"),
            more=more_words(sizes - start.pool.hosts_at_best),
        )


def _names(names: Sequence[str]) -> str:
    return "".join(names) if len(names) < 2 else ", ".join(names[:-1]) + " and " + names[-1]


def _network(scenario: Scenario, groups: Sequence[GroupPlan]) -> Found:
    link, transport = scenario.network.link_gbit_s, scenario.network.transport
    remote = any(g.mode == "bitfusion" for g in groups)
    purpose = "for Bitfusion access to the GPUs" if remote else "for data and vMotion"
    case = "network, pvrdma" if transport == "pvrdma" else "network, RDMA"
    if transport == "tcp":
        case = "network, Ethernet for remote GPUs" if remote else "network, Ethernet"
    return found(case, link=link, transport=TRANSPORT_NAMES[transport], purpose=purpose)


def _fabric(scenario: Scenario, fabric: Cabling) -> Found:
    ports, link = fabric.ports, scenario.network.link_gbit_s
    extra = f" and {ports.rdma} for {TRANSPORT_NAMES[scenario.network.transport]} only" if ports.rdma else ""
    per_host = f"Each GPU host has {ports.shared} teamed ports of {link} Gbit/s{extra}"
    keys = ["network.ports.shared", *["network.ports.rdma"] * bool(ports.rdma)]
    if fabric.switches is None:
        return found("fabric without switches", *keys, each=per_host, reason=fabric.reason)
    keys += [f"network.fabric.{name}" for name in ("leaves", "spines", "oversubscription")]
    shape, chosen = fabric.switches.shape, fabric.switches
    joined = f"{amount(chosen.peer_links, 'link')} of {written(chosen.up_gbit_s, 'g')} Gbit/s"
    joined += " in each fabric" * (chosen.fabrics > 1)
    if shape.spines:
        joined = f"{amount(shape.spines, 'spine switch')} {chosen.spine_name}"
    more, unstated = "", " Hosts without GPUs are not counted: enter those on the same switches."
    if fabric.compute_hosts:
        more, unstated = f" and {amount(fabric.compute_hosts, 'compute host')}", ""
    return found(
        "fabric",
        *keys,
        each=per_host,
        hosts=amount(fabric.gpu_hosts, "GPU host") + more,
        connect=verb(fabric.gpu_hosts + fabric.compute_hosts, "connect"),
        leaves=f"{amount(shape.leaves, 'leaf switch')} {chosen.leaf_name}{chosen.where}",
        joined=joined,
        ratio=shape.oversubscription,
        most=fabric.max_oversubscription,
        unstated=unstated,
    )


def _workload_domain(pools: Sequence[Pool], groups: Sequence[GroupPlan]) -> Found:
    remote = any(group.mode == "bitfusion" for group in groups)
    clients = "; compute clusters are its clients" if remote else ""
    clusters = "clusters are" if len(pools) > 1 else "cluster is"
    return found("workload domain", clusters=clusters, clients=clients)


def _cost(
    scenario: Scenario, catalog: Catalog, pools: Sequence[Pool], lines: Mapping[str, Line], last_hosts: int
) -> Found:
    """State the licences and the cost of the design."""
    cost, hosts = scenario.cost, lines["totals.hosts"].value
    keys, licensed = ["cost.net_present", "cost.total"], ""
    for key, unit in (("cost.licensed_cores", "core"), ("cost.licensed_sockets", "licence")):
        if key in lines and cost.platform_licence != "owned":
            licensed += f", {counted(lines[key].value, unit)}"
            keys.append(key)
    sources: tuple[str, ...] = ()
    software, shared = "", sum(pool.gpus for pool in pools if pool.gpu_mode == "vgpu")
    if shared:
        sources = catalog.products["nvidia-ai-enterprise"].fact("licence_unit").sources
        included = catalog.gpus[scenario.hardware.gpu].value("nvaie_years")
        how = f"one licence each, {LICENCE_NAMES['cost.gpu_licence'][cost.gpu_licence]}."
        if included:
            days = catalog.products["nvidia-ai-enterprise"].value("bundled_after_days")
            after = ", and is bought for the years after that" * (int(included) < cost.years)
            how = f"which is bundled with the board for {included} years from {days} days after shipment{after}."
        software = f" The {amount(shared, 'GPU')} in hosts that share GPUs {verb(shared, 'need')} NVIDIA AI Enterprise, {how}"
    total, grows = lines["cost.net_present"], last_hosts > hosts
    return found(
        f"cost, {cost.platform_licence}",
        *keys,
        hosts=amount(hosts, "host") + " at the start" * grows,
        licensed=licensed,
        advance=in_advance(cost.licence_term_years),
        software=software,
        years=counted(cost.years, "year"),
        costs=f" and growth to {amount(last_hosts, 'host')} cost" if grows else " costs",
        total=amount(total.value, total.unit),
        first=amount(lines["cost.years.0"].value, total.unit),
    )._replace(sources=sources)
