"""Design decisions: numbered, each with its justification and implication, as the reference designs write them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gpuplan.catalog import Catalog
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.availability import Posture
from gpuplan.plan.cost import Costs
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.hosts import Pool
from gpuplan.plan.trail import Line
from gpuplan.scenario import Scenario
from gpuplan.wording import (
    LICENCE_NAMES,
    TRANSPORT_NAMES,
    amount,
    counted,
    hours,
    number,
    percent,
    target_words,
)

SEED = "vmware-sharing-gpus-2020"


@dataclass(frozen=True, slots=True)
class Decision:
    """A numbered design decision with its justification and implication."""

    number: int
    title: str
    decision: str
    justification: str
    implication: str
    lines: tuple[str, ...]
    sources: tuple[str, ...]


class Found(NamedTuple):
    """A decision before it has its number and the sources of its lines."""

    title: str
    decision: str
    justification: str
    implication: str
    lines: tuple[str, ...] = ()
    sources: tuple[str, ...] = (SEED,)


def decide(
    scenario: Scenario,
    catalog: Catalog,
    groups: Sequence[GroupPlan],
    pools: Sequence[Pool],
    postures: Sequence[Posture],
    lines: Mapping[str, Line],
    fabric: Cabling | None,
    money: Costs | None,
) -> tuple[Decision, ...]:
    """The decisions of a plan in the order in which a design is read: hosts, failures, access, network, platform, cost."""
    if not pools:
        return ()
    found = [
        *([_enough(scenario, pools, lines)] if scenario.demand.rule != "sum" else ()),
        _gpus_per_host(scenario, catalog, groups),
        *(_hosts_for_demand(pool, pools) for pool in pools),
        _spare_hosts(scenario, pools, postures),
        _capacity(scenario, pools, lines),
        *_allocation(pools, groups),
        _network(scenario, groups),
        *([_fabric(scenario, fabric)] if fabric is not None else ()),
        _workload_domain(pools),
        *([_cost(scenario, catalog, pools, lines, money.hosts[-1])] if money is not None else ()),
    ]
    return tuple(
        Decision(number, *each._replace(sources=_cited(each, lines))) for number, each in enumerate(found, 1)
    )


def _cited(found: Found, lines: Mapping[str, Line]) -> tuple[str, ...]:
    """Sources of a decision, then those of its lines."""
    behind = (source for key in found.lines if key in lines for source in lines[key].sources)
    return tuple(dict.fromkeys([*found.sources, *(source for source in behind if source != "scenario")]))


def _enough(scenario: Scenario, pools: Sequence[Pool], lines: Mapping[str, Line]) -> Found:
    """How many GPUs are enough, where the groups are not simply added up at their peaks."""
    asked = scenario.demand
    peaks = lines["demand.sum_of_peaks_gpus"].value
    by_groups = lines["demand.groups_gpus"].value
    keys = ["demand.groups_gpus", "demand.sum_of_peaks_gpus"]
    if asked.rule == "hours":
        decision = f"{amount(by_groups, 'GPU')} carry everybody in the busiest hours of the week."
        why = f"The groups work at different hours; their own peaks add up to {amount(peaks, 'GPU')}."
        so = "Who works longer than stated takes GPUs that others count on, and the chance that more are active is not counted."
    else:
        keys += [key for pool in pools if (key := f"pools.{pool.id}.gpus_for_target") in lines]
        methods = {lines[key].function.rpartition(".")[2] for key in keys[2:]}
        told_apart = all(name.startswith(("closed", "kaufman")) for name in methods)
        each = asked.for_whom == "each" and told_apart
        promise = target_words(asked.rule, asked.chance, asked.wait_min, each)
        decision = f"{amount(by_groups, 'GPU')}, so that {promise}."
        why = f"The peaks of all groups add up to {amount(peaks, 'GPU')}; a stated risk says what fewer cost, or what more are for."
        so = "The promise is that of one pool of GPUs, and rests on how requests arrive: " + (
            "people who are active independently of each other, one place each."
            if all(name.startswith("closed") for name in methods)
            else "independent arrivals, or bursts as peaked as assumed; an audit of the jobs that run today gives the "
            "customer's own."
        )
    if asked.stated_gpus is not None:
        so += f" The customer's stated total of {amount(asked.stated_gpus, 'GPU')} wins all the same."
    return Found("GPUs that are enough", decision, why, so, tuple(keys), ("gpuplan-method",))


def _gpus_per_host(scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]) -> Found:
    hardware = scenario.hardware
    gpu = catalog.gpus[hardware.gpu].name
    server = (
        f"a {catalog.servers[hardware.server].name}" if hardware.server else "a server still to be chosen,"
    )
    largest = max(groups, key=lambda g: g.gpus_each, default=None)
    if largest and largest.gpus_each == hardware.gpus_per_host > 1:
        why = f"{largest.name} need {largest.gpus_each:g} GPUs at once, and for best performance all of them in one host."
    elif largest and largest.gpus_each > 1:
        why = (
            f"The largest VM ({largest.name}) needs {largest.gpus_each:g} GPUs in one host; "
            f"a host of {hardware.gpus_per_host} leaves room for others beside it."
        )
    else:
        why = f"No VM needs more than one GPU, so {hardware.gpus_per_host} per host is a choice of server and price."
    return Found(
        "GPUs per host",
        f"Each {'new ' * bool(hardware.existing_hosts)}GPU host is {server} with {hardware.gpus_per_host} {gpu}.",
        why,
        f"No VM can have more than {hardware.gpus_per_host} local GPUs. "
        + (
            "The hosts already there have other GPUs than new ones, so it matters which host is lost."
            if (hardware.existing_gpus_per_host or hardware.gpus_per_host) != hardware.gpus_per_host
            and hardware.existing_hosts
            else "All hosts are equal, so that any of them can stand in for any other."
        ),
        ("demand.gpus",),
    )


def _hosts_for_demand(pool: Pool, pools: Sequence[Pool]) -> Found:
    where = f" in the {pool.name}" if len(pools) > 1 else ""
    hosts = amount(pool.hosts_for_demand, "host")
    demand = f"{amount(pool.gpus_demanded, 'GPU')} of demand"
    proof = {
        "volume": f"A placement on {hosts} exists; fewer have too little of what the VMs need."
        if pool.mixed
        else f"{_one_fewer(pool)}Every VM was placed on {hosts}.",
        "large": f"A placement on {hosts} exists; VMs that are too large to share a host rule out fewer.",
        "programme": f"A placement on {hosts} exists; no way to fill the hosts does with fewer.",
        "heuristic": f"A placement on {hosts} was found; the least that any could have is {pool.bound}. The gap is not "
        "closed.",
    }[pool.method]
    takes = "need a minimum of" if pool.method != "heuristic" else "are placed on"
    decision = f"{demand} {takes} {hosts} with {amount(pool.gpus_per_host, 'GPU')} each."
    if pool.existing_hosts:
        new, least = pool.hosts_without_spare - pool.existing_hosts, pool.bound - pool.existing_hosts
        there = f"{amount(pool.existing_hosts, 'host')} {'is' if pool.existing_hosts == 1 else 'are'} there already"
        added = f"{new} new with {amount(pool.gpus_per_host, 'GPU')} each {'is' if new == 1 else 'are'} added"
        decision = f"{demand} take {hosts}: {there}, {added if new else 'none is added'}."
        proof = f"A placement beside the hosts already there exists with {new} new; " + (
            "fewer new ones cannot do." if new == least else f"the least is {least}. The gap is not closed."
        )
    return Found(
        f"Hosts for the demand{where}",
        decision,
        proof,
        "Below this number somebody has no GPU even when nothing has failed.",
        (f"pools.{pool.id}.hosts_for_demand", f"pools.{pool.id}.gpus_demanded"),
    )


def _one_fewer(pool: Pool) -> str:
    """Why one host fewer cannot do, by its GPUs; nothing where no host would be left."""
    fewer = pool.bound - 1
    if not fewer:
        return ""
    return (
        f"{amount(fewer, 'host')} {'has' if fewer == 1 else 'have'} {amount(fewer * pool.gpus_per_host, 'GPU')}, and "
        f"{number(pool.gpus_occupied)} are occupied. "
    )


def _spare_hosts(scenario: Scenario, pools: Sequence[Pool], postures: Sequence[Posture]) -> Found:
    each = " in each cluster" if len(pools) > 1 else ""
    failures = scenario.availability.host_failures
    accepted = scenario.availability.maintenance_failure_accepted
    spare = failures + (0 if accepted else 1)
    keys = (
        *(f"pools.{p.id}.hosts_for_failures" for p in pools),
        *(f"postures.n{failures}.{name}" for name in ("short_h", "exposed_h", "chance")),
    )
    sources = (SEED, "vmware-vsphere-8.0-admission-control")
    if spare == 0:
        return Found(
            "No spare host",
            "No host is added for failures or maintenance.",
            "The customer accepts that a host failure, and every maintenance, takes GPUs away from users.",
            "HA admission control counts CPU and memory only: nothing else keeps a GPU free for a restart.",
            keys,
            sources,
        )
    if any(pool.mixed for pool in pools):
        more = sum(pool.hosts_for_failures for pool in pools)
        also = "" if accepted else ", also while one is in maintenance"
        return Found(
            "Spare hosts",
            f"{amount(more, 'host')} more than the demand takes, so that everything is placed again when any "
            f"{amount(failures, 'host')}{each} {'is' if failures == 1 else 'are'} lost{also}."
            + (" A failure during maintenance is accepted." if accepted else ""),
            "Where hosts differ, or CPU and memory count, each loss was placed again; what must be spare depends on which "
            "host is lost.",
            f"The capacity is spare, not for more users. In maintenance a failure can leave VMs without a GPU: {_bet(postures)}.",
            keys,
            sources,
        )
    if scenario.availability.maintenance_failure_accepted:
        decision = (
            f"{amount(spare, 'additional host')}{each} for high availability and maintenance. A failure "
            "during maintenance is accepted."
        )
        why = "Maintenance uses the spare host too, and no further host is added only for a failure at that time."
        so = (
            "While a host is in maintenance the cluster runs with one spare host fewer, and a failure then can leave "
            f"VMs without a GPU: {_bet(postures)}."
        )
    else:
        decision = (
            f"{amount(spare, 'additional host')}{each}: {failures} for failures and 1 for maintenance. A "
            "failure during maintenance is not accepted."
        )
        why = "Everything still fits while one host is in maintenance and another fails."
        so = "The cluster has a host more than high availability alone would need."
    return Found("Spare hosts", decision, why, so, keys, sources)


def _bet(postures: Sequence[Posture]) -> str:
    """Hours in which the bet on no failure in maintenance is open, and the chance of losing it."""
    chosen = next(p for p in postures if p.chosen)
    if not chosen.exposed_h:
        return (
            f"a second failure would have to come on top, with a chance of {percent(chosen.chance)} in a year"
        )
    return (
        f"{hours(chosen.exposed_h)} a year are open to that, and the chance that it happens is "
        f"{percent(chosen.chance)} a year"
    )


def _lost(hosts: int, alike: bool) -> str:
    """So many hosts, the largest where they differ, with the verb."""
    if alike:
        return f"{amount(hosts, 'host')} {'is' if hosts == 1 else 'are'}"
    return "the largest host is" if hosts == 1 else f"the {hosts} largest hosts are"


def _capacity(scenario: Scenario, pools: Sequence[Pool], lines: Mapping[str, Line]) -> Found:
    lost = max(1, scenario.availability.host_failures)
    hosts, gpus, left, without = (
        lines[f"totals.{name}"].value
        for name in ("hosts", "gpus", "gpus_after_failure", "unplaced_vms_after_failure")
    )
    beyond = max(0, gpus - lines["demand.gpus"].value)
    clusters = f" in {len(pools)} clusters" if len(pools) > 1 else ""
    alike = {room.gpus for pool in pools for room in pool.rooms} == {pools[0].gpus_per_host}
    size = f" with {amount(pools[0].gpus_per_host, 'GPU')} each" if alike else ""
    return Found(
        "Capacity",
        f"{amount(hosts, 'host')}{clusters}{size} {'gives' if hosts == 1 else 'give'} "
        f"{amount(gpus, 'GPU')}, and {left} when "
        f"{_lost(lost, alike)} lost.",
        "Every VM was placed again after the loss of each host in turn."
        if without == 0
        else f"After the worst loss of one host {amount(without, 'VM')} "
        f"{'has' if without == 1 else 'have'} no GPU.",
        f"Beyond the demand there {'is' if beyond == 1 else 'are'} {amount(beyond, 'GPU')}: idle, or lent to "
        "work that may be stopped, while nothing has failed."
        if beyond
        else "No GPU is there beyond the demand.",
        ("totals.hosts", "totals.gpus", "demand.gpus", "totals.gpus_after_failure"),
    )


ALLOCATION = {
    "vgpu": Found(
        "Allocation of GPUs",
        "All GPUs of the vGPU cluster are allocated by NVIDIA vGPU for compute (vComputeServer; today part of NVIDIA "
        "AI Enterprise).",
        "A VM with a vGPU can be moved by vMotion, which makes maintenance of a host feasible without stopping work.",
        "One licence per physical GPU. A VM is stunned while its frame buffer is copied, and migrations run one at "
        "a time.",
        sources=(SEED, "vmware-vsphere-7.0-vgpu-vmotion", "nvidia-aie-5.0-user-guide"),
    ),
    "bitfusion on vgpu": Found(
        "Bitfusion servers",
        "Bitfusion servers are one more consumer of vGPUs: a part of the GPUs is reserved for them, with the "
        "whole frame buffer, for {groups}.",
        "One tool controls all allocations, and the part can grow or shrink with what users ask for.",
        "The vendor's FAQ asks for GPUs in passthrough for a Bitfusion server: confirm support before building it.",
        sources=(SEED, "vmware-bitfusion-faq"),
    ),
    "bitfusion": Found(
        "Bitfusion servers",
        "Bitfusion servers have their GPUs in passthrough; all GPUs and compute resources of a host are given to the "
        "server on it, for {groups}.",
        "The vendor asks for GPUs passed through by DirectPath I/O, and nothing else competes for the host.",
        "A server VM with passthrough GPUs cannot be moved by vMotion: for maintenance its clients start again on "
        "another server.",
        sources=(SEED, "vmware-bitfusion-faq", "vmware-vsphere-directpath-7.0"),
    ),
    "passthrough": Found(
        "Passthrough",
        "{groups} get whole GPUs by DirectPath I/O on hosts of their own.",
        "A GPU in passthrough cannot serve vGPUs at the same time, and a restart needs a free GPU in the same mode.",
        "No vMotion, no snapshots, no DRS balancing: the VMs are shut down for maintenance.",
        sources=("vmware-vsphere-directpath-7.0", "vmware-why-virtualise-gpus"),
    ),
}
"""Pool -> how its GPUs are given to VMs; of Bitfusion servers also where they are guests of the vGPU cluster."""


def _allocation(pools: Sequence[Pool], groups: Sequence[GroupPlan]) -> Iterator[Found]:
    taken = {pool.id for pool in pools}
    remote = [g.name for g in groups if g.mode == "bitfusion" and g.vms_placed]
    whole = [g.name for g in groups if g.pool == "passthrough" and g.vms_placed]
    if remote and "vgpu" in taken and "bitfusion" not in taken:
        taken.add("bitfusion on vgpu")
    for pool, found in ALLOCATION.items():
        if pool in taken:
            named = _names(whole if pool == "passthrough" else remote)
            yield found._replace(decision=found.decision.replace("{groups}", named))


def _names(names: Sequence[str]) -> str:
    return "".join(names) if len(names) < 2 else ", ".join(names[:-1]) + " and " + names[-1]


def _network(scenario: Scenario, groups: Sequence[GroupPlan]) -> Found:
    link, transport = scenario.network.link_gbit_s, scenario.network.transport
    remote = any(g.mode == "bitfusion" for g in groups)
    purpose = "for Bitfusion access to the GPUs" if remote else "for data and vMotion"
    if transport == "tcp":
        return Found(
            "Network",
            f"Regular {link} Gbit/s Ethernet between compute and GPU clusters {purpose}.",
            "10 Gbit/s is the least named for a VM that uses two or more GPUs; beyond a trial 40 to 100 Gbit/s are "
            "recommended."
            if remote
            else "No group reaches a GPU over the network, so the network carries data and vMotion only.",
            "Every call to a remote GPU pays the latency of TCP; at most 50 us is recommended."
            if remote
            else "Training across hosts would need RDMA.",
            (),
            (SEED, "techtarget-bitfusion", "elasticsky-bitfusion", "vmware-bitfusion-4.0-user-guide")
            if remote
            else (SEED,),
        )
    return Found(
        "Network",
        f"High-speed {link} Gbit/s networking with {TRANSPORT_NAMES[transport]} {purpose}.",
        "RDMA bypasses the operating system, which keeps latency and CPU load low.",
        "A PVRDMA adapter is the only uplink of its distributed switch and is not teamed: plan extra ports and a second "
        "switch. It falls back to TCP where one side has no RDMA adapter."
        if transport == "pvrdma"
        else "All switches on the path carry the RDMA traffic class, with jumbo frames end to end.",
        sources=(SEED, "vmware-vsphere-7.0-pvrdma"),
    )


def _fabric(scenario: Scenario, fabric: Cabling) -> Found:
    ports, link = fabric.ports, scenario.network.link_gbit_s
    extra = f" and {ports.rdma} for {TRANSPORT_NAMES[scenario.network.transport]} alone" if ports.rdma else ""
    each = f"Each GPU host has {ports.shared} teamed ports of {link} Gbit/s{extra}"
    keys = tuple(
        key
        for key in (
            "network.ports.shared",
            "network.ports.rdma",
            "network.fabric.leaves",
            "network.fabric.spines",
            "network.fabric.oversubscription",
        )
        if key != "network.ports.rdma" or ports.rdma
    )
    if fabric.switches is None:
        return Found(
            "Fabric",
            f"{each}; the switches are to be chosen: {fabric.reason}.",
            "Ports follow what runs at the same time, and at least two for availability.",
            "Name a leaf and a spine switch, or choose another link.",
            keys[: 1 + bool(ports.rdma)],
            ("gpuplan-method",),
        )
    shape = fabric.switches.shape
    joined = (
        f", joined by {amount(shape.spines, 'spine switch')} {fabric.switches.spine_name}"
        if shape.spines
        else f", joined by {amount(shape.peer_cables, 'link')} of {fabric.switches.up_gbit_s:g} Gbit/s"
    )
    compute = f" and {amount(fabric.compute_hosts, 'compute host')}" if fabric.compute_hosts else ""
    return Found(
        "Fabric",
        f"{each}. {amount(fabric.gpu_hosts, 'GPU host')}{compute} connect to {amount(shape.leaves, 'leaf switch')} "
        f"{fabric.switches.leaf_name}{joined}.",
        f"Every host is connected to both leaves of a pair, and a leaf has {shape.oversubscription:.1f} times the bandwidth to its "
        f"hosts that it has beyond them; at most {fabric.max_oversubscription:g}:1 is planned.",
        "A failed leaf takes part of the bandwidth of its hosts, none of them is cut off."
        + (
            ""
            if fabric.compute_hosts
            else " Hosts without GPUs are not counted: state those on the same switches."
        ),
        keys,
        ("vmware-vvd-4.0-leaf-spine",),
    )


def _workload_domain(pools: Sequence[Pool]) -> Found:
    return Found(
        "Workload domain",
        f"The GPU {'clusters are' if len(pools) > 1 else 'cluster is'} deployed in a workload domain of VMware Cloud "
        "Foundation of its own; compute clusters are its clients.",
        "A workload domain has its own vCenter and life cycle, so GPU drivers and vSphere versions follow the GPU users.",
        "It brings one vCenter Server, at least one cluster with HA and DRS, one distributed switch, NSX and shared "
        "storage, and rests on a management domain of at least 4 hosts. CPU, memory and storage are sized separately.",
        sources=(SEED, "vmware-vcf-4.4-design"),
    )


PLATFORM_LICENCES = {
    "vcf": "VMware Cloud Foundation is licensed by the core and year",
    "vvf": "VMware vSphere Foundation is licensed by the core and year",
    "socket": "The platform has perpetual licences by the processor, with yearly support",
    "owned": "The platform is licensed already",
}


def _cost(
    scenario: Scenario, catalog: Catalog, pools: Sequence[Pool], lines: Mapping[str, Line], last_hosts: int
) -> Found:
    """Licences, and what the design costs."""
    given = scenario.cost
    hosts = lines["totals.hosts"].value
    first = " at the start" if last_hosts > hosts else ""
    decision = f"{PLATFORM_LICENCES[given.platform_licence]}: {amount(hosts, 'host')}{first}"
    keys = ["cost.net_present", "cost.total"]
    sources: list[str] = []
    for key, unit in (("cost.licensed_cores", "core"), ("cost.licensed_sockets", "licence")):
        if key in lines and given.platform_licence != "owned":
            decision += f", {counted(lines[key].value, unit)}"
            keys.append(key)
    decision += "."
    shared = sum(pool.gpus for pool in pools if pool.gpu_mode == "vgpu")
    if shared:
        licence = catalog.products["nvidia-ai-enterprise"].fact("licence_unit")
        included = catalog.gpus[scenario.hardware.gpu].value("nvaie_years")
        decision += f" {amount(shared, 'GPU')} of hosts that share GPUs need NVIDIA AI Enterprise, " + (
            f"which comes with the board for {included} years."
            if included
            else f"one licence each, {LICENCE_NAMES['cost.gpu_licence'][given.gpu_licence]}."
        )
        sources += licence.sources
    total = lines["cost.net_present"]
    growth = f" and growth to {amount(last_hosts, 'host')}" if last_hosts > hosts else ""
    return Found(
        "Cost and licences",
        decision,
        f"Over {counted(given.years, 'year')} the design{growth} cost{'' if growth else 's'} {amount(total.value, total.unit)} net present, "
        f"{amount(lines['cost.years.0'].value, total.unit)} of it at the start.",
        "Spare hosts are licensed and powered like all others. Prices move: ask for quotes before buying, and see what the cost "
        "excludes.",
        tuple(keys),
        tuple(sources),
    )
