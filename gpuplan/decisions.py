"""Design decisions: numbered, each with its justification and implication, as the reference designs write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gpuplan.catalog import Catalog
from gpuplan.records import Decision, GroupPlan, Line, Pool, Posture, Totals
from gpuplan.scenario import Scenario

SEED = "vmware-sharing-gpus-2020"


def decide(
    scenario: Scenario,
    catalog: Catalog,
    totals: Totals,
    groups: Sequence[GroupPlan],
    pools: Sequence[Pool],
    postures: Sequence[Posture],
    lines: Mapping[str, Line],
) -> tuple[Decision, ...]:
    """The decisions of a plan in the order in which a design is read: hosts, failures, access, network, platform."""
    if not pools:
        return ()
    found: list[tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]]] = []
    found.append(_gpus_per_host(scenario, catalog, groups))
    for pool in pools:
        found.append(_hosts_for_demand(pool, pools))
    found.append(_spare_hosts(scenario, pools, postures))
    found.append(_capacity(scenario, totals, pools))
    found += _allocation(scenario, pools, groups)
    found.append(_network(scenario, groups))
    found.append(_workload_domain(pools))
    return tuple(
        Decision(
            number,
            title,
            decision,
            why,
            so,
            keys,
            tuple(
                dict.fromkeys(
                    [
                        *sources,
                        *(s for key in keys if key in lines for s in lines[key].sources if s != "scenario"),
                    ]
                )
            ),
        )
        for number, (title, decision, why, so, keys, sources) in enumerate(found, 1)
    )


Found = tuple[str, str, str, str, tuple[str, ...], tuple[str, ...]]


def _plural(count: float, one: str, many: str = "") -> str:
    return f"{count:g} {one if count == 1 else many or one + 's'}"


def _gpus_per_host(scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]) -> Found:
    hardware = scenario.hardware
    gpu = catalog.gpus[hardware.gpu].name
    server = catalog.servers[hardware.server].name if hardware.server else "the server still to be chosen"
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
    return (
        "GPUs per host",
        f"Each GPU host is a {server} with {hardware.gpus_per_host} {gpu}.",
        why,
        f"No VM can have more than {hardware.gpus_per_host} local GPUs. All hosts are equal, so that any of them can "
        "stand in for any other.",
        ("demand.gpus",),
        (SEED,),
    )


def _hosts_for_demand(pool: Pool, pools: Sequence[Pool]) -> Found:
    where = f" in the {pool.name}" if len(pools) > 1 else ""
    proof = {
        "volume": f"A placement on {pool.hosts_for_demand} hosts exists; fewer have too little of what the VMs need."
        if pool.varied
        else f"{pool.gpus_occupied} GPUs on hosts of {pool.gpus_per_host} need at least {pool.bound} hosts, and a "
        f"placement on {pool.hosts_for_demand} exists.",
        "large": f"A placement on {pool.hosts_for_demand} hosts exists; VMs that are too large to share a host rule "
        "out fewer.",
        "programme": f"A placement on {pool.hosts_for_demand} hosts exists; no way to fill the hosts does with fewer.",
        "heuristic": f"A placement on {pool.hosts_for_demand} hosts was found; at least {pool.bound} are needed. The "
        "gap is not closed.",
    }[pool.method]
    return (
        f"Hosts for the demand{where}",
        f"{_plural(pool.gpus_demanded, 'GPU')} of demand need a minimum of {_plural(pool.hosts_for_demand, 'host')} "
        f"with {pool.gpus_per_host} GPUs each.",
        proof,
        "Below this number somebody has no GPU even when nothing has failed.",
        (f"pools.{pool.id}.hosts_for_demand", f"pools.{pool.id}.gpus_demanded"),
        (SEED,),
    )


def _spare_hosts(scenario: Scenario, pools: Sequence[Pool], postures: Sequence[Posture]) -> Found:
    each = " in each cluster" if len(pools) > 1 else ""
    spare = pools[0].hosts_for_failures
    failures = scenario.availability.host_failures
    keys = (
        *(f"pools.{p.id}.hosts_for_failures" for p in pools),
        *(f"postures.n{failures}.{name}" for name in ("short_h", "exposed_h", "chance")),
    )
    if spare == 0 and (failures or not scenario.availability.maintenance_failure_accepted):
        return (
            "Spare hosts",
            "No host is added: those that are there cover the failures to tolerate, everybody being placed again.",
            "The hosts already there have more GPUs than the demand needs.",
            "The capacity counts as spare: it is not for more users.",
            keys,
            (SEED, "vmware-vsphere-8.0-admission-control"),
        )
    if spare == 0:
        return (
            "No spare host",
            "No host is added for failures or maintenance.",
            "The customer accepts that a host failure, and every maintenance, takes GPUs away from users.",
            "HA admission control counts CPU and memory only: nothing else keeps a GPU free for a restart.",
            keys,
            (SEED, "vmware-vsphere-8.0-admission-control"),
        )
    if scenario.availability.maintenance_failure_accepted:
        decision = (
            f"{_plural(spare, 'additional host')}{each} for high availability and maintenance. A failure "
            "during maintenance is accepted."
        )
        why = "Maintenance uses the spare host too, and no further host is added only for a failure at that time."
        so = (
            "While a host is in maintenance the cluster runs with one spare host fewer, and a failure then can leave "
            f"VMs without a GPU: {_bet(postures)}."
        )
    else:
        decision = (
            f"{_plural(spare, 'additional host')}{each}: {failures} for failures and 1 for maintenance. A "
            "failure during maintenance is not accepted."
        )
        why = "Everything still fits while one host is in maintenance and another fails."
        so = "The cluster has a host more than high availability alone would need."
    return ("Spare hosts", decision, why, so, keys, (SEED, "vmware-vsphere-8.0-admission-control"))


def _bet(postures: Sequence[Posture]) -> str:
    """Hours in which the bet on no failure in maintenance is open, and the chance of losing it."""
    chosen = next(p for p in postures if p.chosen)
    if not chosen.exposed_h:
        return f"a second failure would have to come on top, with a chance of {100 * chosen.chance:.2g} % in a year"
    return f"open for {chosen.exposed_h:.0f} hours a year, with a chance of {100 * chosen.chance:.2g} % to lose it"


def _capacity(scenario: Scenario, totals: Totals, pools: Sequence[Pool]) -> Found:
    lost = max(1, scenario.availability.host_failures)
    clusters = f" in {len(pools)} clusters" if len(pools) > 1 else ""
    return (
        "Capacity",
        f"{_plural(totals.hosts, 'host')}{clusters} with {pools[0].gpus_per_host} GPUs each give {totals.gpus} GPUs, and "
        f"{totals.gpus_after_failure} when {_plural(lost, 'host')} {'is' if lost == 1 else 'are'} lost.",
        "Every VM was placed again after the loss of each host in turn."
        if totals.unplaced_vms_after_failure == 0
        else f"After the worst loss of one host {_plural(totals.unplaced_vms_after_failure, 'VM')} have no GPU.",
        f"{totals.gpus - totals.gpus_after_failure} GPUs are idle, or lent to work that may be stopped, while nothing "
        "has failed.",
        ("totals.hosts", "totals.gpus", "totals.gpus_after_failure"),
        (SEED,),
    )


def _allocation(scenario: Scenario, pools: Sequence[Pool], groups: Sequence[GroupPlan]) -> list[Found]:
    found: list[Found] = []
    by_id = {p.id: p for p in pools}
    remote = [g.name for g in groups if g.mode == "bitfusion" and g.vms_placed]
    if "vgpu" in by_id:
        found.append(
            (
                "Allocation of GPUs",
                "All GPUs of the vGPU cluster are allocated by NVIDIA vGPU for compute (vComputeServer; today part of NVIDIA "
                "AI Enterprise).",
                "A VM with a vGPU can be moved by vMotion, which makes maintenance of a host feasible without stopping work.",
                "One licence per physical GPU. A VM is stunned while its frame buffer is copied, and migrations run one at "
                "a time.",
                (),
                (SEED, "vmware-vsphere-7.0-vgpu-vmotion", "nvidia-aie-5.0-user-guide"),
            )
        )
        if remote and "bitfusion" not in by_id:
            found.append(
                (
                    "Bitfusion servers",
                    "Bitfusion servers are one more consumer of vGPUs: a part of the GPUs is reserved for them, with the "
                    f"whole frame buffer, for {_names(remote)}.",
                    "One tool controls all allocations, and the part can grow or shrink with what users ask for.",
                    "The vendor's FAQ asks for GPUs in passthrough for a Bitfusion server: confirm support before building it.",
                    (),
                    (SEED, "vmware-bitfusion-faq"),
                )
            )
    if "bitfusion" in by_id:
        found.append(
            (
                "Bitfusion servers",
                "Bitfusion servers have their GPUs in passthrough; all GPUs and compute resources of a host are given to the "
                f"server on it, for {_names(remote)}.",
                "The vendor asks for GPUs passed through by DirectPath I/O, and nothing else competes for the host.",
                "A server VM with passthrough GPUs cannot be moved by vMotion: for maintenance its clients start again on "
                "another server.",
                (),
                (SEED, "vmware-bitfusion-faq", "vmware-vsphere-directpath-7.0"),
            )
        )
    if "passthrough" in by_id:
        names = [g.name for g in groups if g.pool == "passthrough" and g.vms_placed]
        found.append(
            (
                "Passthrough",
                f"{_names(names)} get whole GPUs by DirectPath I/O on hosts of their own.",
                "A GPU in passthrough cannot serve vGPUs at the same time, and a restart needs a free GPU in the same mode.",
                "No vMotion, no snapshots, no DRS balancing: the VMs are shut down for maintenance.",
                (),
                ("vmware-vsphere-directpath-7.0", "vmware-why-virtualise-gpus"),
            )
        )
    return found


def _names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _network(scenario: Scenario, groups: Sequence[GroupPlan]) -> Found:
    link, transport = scenario.network.link_gbit_s, scenario.network.transport
    remote = any(g.mode == "bitfusion" for g in groups)
    purpose = "for Bitfusion access to the GPUs" if remote else "between the GPU hosts"
    if transport == "tcp":
        return (
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
    name = {"pvrdma": "PVRDMA", "roce": "RoCE", "infiniband": "InfiniBand"}[transport]
    return (
        "Network",
        f"High-speed {link} Gbit/s networking with {name} {purpose}.",
        "RDMA bypasses the operating system, which keeps latency and CPU load low.",
        "A PVRDMA adapter is the only uplink of its distributed switch and is not teamed: plan extra ports and a second "
        "switch. It falls back to TCP where one side has no RDMA adapter."
        if transport == "pvrdma"
        else "All switches on the path carry the RDMA traffic class, with jumbo frames end to end.",
        (),
        (SEED, "vmware-vsphere-7.0-pvrdma"),
    )


def _workload_domain(pools: Sequence[Pool]) -> Found:
    return (
        "Workload domain",
        f"The GPU {'clusters are' if len(pools) > 1 else 'cluster is'} deployed in a workload domain of VMware Cloud "
        "Foundation of its own; compute clusters are its clients.",
        "A workload domain has its own vCenter and life cycle, so GPU drivers and vSphere versions follow the GPU users.",
        "It brings one vCenter Server, at least one cluster with HA and DRS, one distributed switch, NSX and shared "
        "storage, and rests on a management domain of at least 4 hosts. CPU, memory and storage are sized separately.",
        (),
        (SEED, "vmware-vcf-4.4-design"),
    )
