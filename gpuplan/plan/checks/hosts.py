"""Checks of the hosts: what a placement costs beside a division, what is stranded, what the server and a cluster hold."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan.checks.message import Message
from gpuplan.plan.clusters import divided, division_words
from gpuplan.plan.plan import Plan
from gpuplan.plan.validation import server_gpu_limit
from gpuplan.wording import amount, number, some_of


def count_and_placement(plan: Plan) -> Iterator[Message]:
    """Hosts that placement takes beyond a division, and a gap to the bound."""
    for pool in plan.pools:
        counted = plan.lines[f"pools.{pool.id}.count_hosts"].value
        if counted < pool.hosts_for_demand and not pool.existing_hosts:
            yield Message(
                "count-and-placement-part",
                "warn",
                f"{pool.name}: division says {amount(counted, 'host')}, placement needs {pool.hosts_for_demand}. A demand of "
                f"{amount(pool.gpus_demanded, 'GPU')} occupies {amount(pool.gpus_occupied, 'GPU')}, and all GPUs of one VM are "
                "in one host.",
                "Nothing is wrong: the design is sized by placement. Other GPUs per host may waste less.",
                "hardware.gpus_per_host",
                ("martello-toth-1990",),
            )
        if pool.method == "heuristic":
            found, least = pool.hosts_without_spare, pool.bound
            yield Message(
                "placement-not-proven",
                "warn",
                f"{pool.name}: {amount(found, 'host')} without spare ones were found, the least that any placement could have is "
                f"{least}; the gap of {found - least} is not closed.",
                "The design works as placed; whether one with fewer hosts exists is not known.",
                "hardware.gpus_per_host",
                ("martello-toth-1990",),
            )
        by_gpus = plan.lines.get(f"pools.{pool.id}.hosts_by_gpus")
        if by_gpus and by_gpus.value < pool.hosts_for_demand:
            yield Message(
                "cpu-or-memory-binds",
                "warn",
                f"{pool.name}: for the GPUs alone {amount(by_gpus.value, 'host')} would do; with CPU and memory it takes "
                f"{pool.hosts_for_demand}.",
                "Hosts with more CPU or memory, or other GPUs per host, may waste fewer GPUs.",
                "hardware.memory_gib_per_host",
                ("gpuplan-method",),
            )


def stranded(plan: Plan) -> Iterator[Message]:
    """GPUs on used hosts that no VM of the design fits."""
    for pool in plan.pools:
        lost = [i for i in pool.idle if not i.fits]
        gpus = sum(i.gpus for i in lost)
        if gpus >= 1:
            whole = sum(i.room * i.count for i in lost if i.kind == "whole")
            yield Message(
                "gpus-stranded",
                "note",
                f"{pool.name}: {amount(gpus, 'GPU')} of capacity idle on used hosts where no VM of this design fits"
                + (f", {whole} of it as whole GPUs" if whole else "")
                + ".",
                "Other GPUs per host, or other profiles, may use them; small jobs that may be stopped can.",
                "hardware.gpus_per_host",
                ("gpuplan-method",),
            )


def counted_in_part(plan: Plan) -> Iterator[Message]:
    """CPU and memory that are stated on one side only."""
    hardware = plan.scenario.hardware
    for mine, host, what in (
        ("vcpus_each", "vcpus_per_host", "vCPUs"),
        ("memory_gib_each", "memory_gib_per_host", "Memory"),
    ):
        stated = [g for g in plan.scenario.groups if getattr(g, mine)]
        if bool(stated) != bool(getattr(hardware, host)):
            yield Message(
                "resource-not-counted",
                "note",
                f"{what} of {'the VMs' if stated else 'a host'} is stated, of {'a host' if stated else 'the VMs'} not, so it is "
                "not counted.",
                "State both, or neither.",
                f"hardware.{host}",
            )
        elif stated and len(stated) < len(plan.scenario.groups):
            missing = [g.name for g in plan.scenario.groups if not getattr(g, mine)]
            yield Message(
                "resource-counted-in-part",
                "warn",
                f"{what} is counted, but not for {', '.join(missing[:3])}"
                + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
                + ": planned as none.",
                "State it for every group.",
                f"groups.{next(g.id for g in plan.scenario.groups if not getattr(g, mine))}.{mine}",
            )


def server(plan: Plan) -> Iterator[Message]:
    """Whether the server is known to hold the GPUs."""
    hardware = plan.scenario.hardware
    if not plan.pools:
        return
    if hardware.server is None:
        yield Message(
            "server-not-chosen",
            "note",
            "No server is chosen, so the number of GPUs per host is not checked.",
            "Choose a server.",
            "hardware.server",
        )
        return
    limit, why = server_gpu_limit(plan.scenario, plan.catalog)
    if limit is None:
        server = plan.catalog.servers[hardware.server]
        yield Message(
            "server-limit-unknown",
            "warn",
            f"{why[0].upper()}{why[1:]}: {hardware.gpus_per_host} per host is not confirmed.",
            "Ask the server vendor.",
            "hardware.server",
            tuple(dict.fromkeys(s for fact in server.facts.values() for s in fact.sources)),
        )


def cluster_size(plan: Plan) -> Iterator[Message]:
    """Pools larger or smaller than a cluster may be."""
    cluster = plan.catalog.assumptions["vi-cluster"]
    least, most = cluster.fact("min_hosts"), cluster.fact("max_hosts")
    for pool in plan.pools:
        if found := divided(plan.scenario, plan.catalog, pool):
            hours = " The hours at risk are worked out as for one cluster." if found.spare else ""
            yield Message(
                "cluster-too-large",
                "warn",
                f"{pool.name}: {number(pool.hosts)} hosts are planned as one cluster, which has at most {found.most}. Hosts of one "
                f"cluster do not restart VMs of another. {division_words(found)}{hours}",
                f"Buy {amount(found.more, 'host')} more, or divide the groups over several designs, one for each cluster."
                if found.more
                else "Divide the groups over several designs, one for each cluster.",
                "groups",
                most.sources,
                most.locator,
            )
        elif pool.hosts < int(least.value):
            yield Message(
                "cluster-too-small",
                "note",
                f"{pool.name}: {amount(pool.hosts, 'host')}, fewer than the {least.value} with which a cluster of a VI workload domain "
                "starts.",
                "Plan a host more, or run the GPU hosts in a cluster with others.",
                "availability.host_failures",
                least.sources,
                least.locator,
            )


def assignment(plan: Plan) -> Iterator[Message]:
    """What must be set up so that VMs really land as they are placed here."""
    catalog = plan.catalog
    for pool in plan.pools:
        kinds = {load.family.name if load.family else "whole" for host in pool.placement for load in host}
        if pool.gpu_mode == "vgpu" and len(kinds - {"bitfusion"}) > 1:
            yield Message(
                "gpu-consolidation",
                "warn",
                f"{pool.name}: the placement, and every restart in it, keeps VMs of one profile together on a GPU. "
                "vSphere spreads VMs over GPUs by default, and one small profile on each GPU locks larger ones out.",
                "Set the GPU assignment policy of the hosts to consolidation, and keep the spare host empty.",
                "hardware.gpu",
                (
                    *catalog.row("rules", "gpu-assignment-policy").sources,
                    *catalog.row("rules", "spread-locks-out").sources,
                ),
            )
    gpu = catalog.gpus[plan.scenario.hardware.gpu]
    sliced = [g.name for g in plan.groups if g.mode == "mig" and g.vms_placed]
    if sliced and gpu.value("architecture") == "Ampere":
        yield Message(
            "mig-needs-reboot",
            "warn",
            f"{gpu.name} is switched to MIG by a restart of its host, so {some_of(sliced)} restart on a spare host "
            "only if GPUs there are in MIG mode already.",
            "Keep GPUs of the spare host in MIG mode, or choose a GPU that is switched without a restart.",
            "hardware.gpu",
            catalog.row("rules", "mig-enable-reboot").sources,
        )
