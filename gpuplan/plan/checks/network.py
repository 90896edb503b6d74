"""Checks of the network: remote GPUs, training on several hosts, switches and ports."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan.checks.message import Message
from gpuplan.plan.network import carried
from gpuplan.plan.plan import Plan
from gpuplan.wording import TRANSPORT_NAMES, capital, percent

MANY_PORTS = 8
"""More network ports in one host than this are asked about: four adapters of two ports, our planning value."""


def remote_gpus(plan: Plan) -> Iterator[Message]:
    """What the network leaves of the speed of remote GPUs, group by group, and the vendor's rules."""
    for use in plan.network.remote:
        if use.verdict == "good":
            continue
        yield Message(
            "network-slows-remote",
            "warn" if use.verdict == "bad" else "note",
            f"{use.name}: {use.workload_name} over the network keeps {percent(use.kept)} of its speed "
            f"({percent(use.kept_low)} to {percent(use.kept_high)}).",
            f"{capital('; '.join(use.changes))}.",
            f"groups.{use.id}.workload" if use.changes[0].startswith("no faster") else "network.link_gbit_s",
            use.sources,
        )
    for rule in plan.network.rules:
        if rule.met is False:
            trial = rule.code == "bitfusion-production"
            yield Message(
                rule.code,
                "note" if trial else "warn",
                f"{rule.text}.",
                "Take a faster link."
                if rule.path.endswith("link_gbit_s")
                else "Shorten the way between the hosts.",
                rule.path,
                rule.sources,
            )
        elif rule.met is None:
            yield Message(
                "latency-not-measured",
                "note",
                f"{rule.text}.",
                "Measure the round trip between a compute host and a GPU host, and enter it.",
                rule.path,
                rule.sources,
            )


def carried_work(plan: Plan) -> Iterator[Message]:
    """For designs with remote GPUs: what one user keeps of usual work, and what the link does not carry."""
    if not plan.network.remote:
        return
    found = carried(plan.scenario, plan.catalog)
    good = [f"{c.remote.name} ({percent(c.remote.kept)})" for c in found if c.remote.verdict == "good"]
    bad = [f"{c.remote.name} ({percent(c.remote.kept)})" for c in found if c.remote.verdict == "bad"]
    apart = [
        f"{c.training.name} ({percent(c.training.efficiency)})"
        for c in found
        if c.training is not None and c.training.verdict == "bad"
    ]
    link = (
        f"{plan.scenario.network.link_gbit_s} Gbit/s with {TRANSPORT_NAMES[plan.scenario.network.transport]}"
    )
    text = (
        f"For one user of a remote GPU, {link} typically carries {', '.join(good)}."
        if good
        else f"{link} carries no remote work well."
    )
    if bad:
        text += f" It does not carry {', '.join(bad)}."
    if apart:
        hosts = next(c.training.hosts for c in found if c.training is not None)
        text += f" Training on {hosts} hosts is not carried for {', '.join(apart)}."
    yield Message(
        "network-carries",
        "note",
        text,
        "Compare with the work the customer has in mind; larger batches lose less.",
        "network.link_gbit_s",
        ("bitfusion-pytorch-measurements", "gpuless-thesis"),
    )


def training_network(plan: Plan) -> Iterator[Message]:
    """Training that the network slows, and a job larger than the design."""
    own, hardware = plan.network.training[-1], plan.scenario.hardware
    if own.verdict == "bad":
        yield Message(
            "job-not-carried",
            "warn",
            f"The training job: {own.workload_name} on {own.hosts} hosts reaches {percent(own.efficiency)} of what its GPUs do "
            f"alone ({percent(own.efficiency_low)} to {percent(own.efficiency_high)}).",
            f"{capital('; '.join(own.changes) or 'take larger batches, or fewer GPUs')}.",
            "training.workload",
            tuple(s for s in own.sources if s != "scenario"),
        )
    if plan.pools and (own.hosts > plan.totals.hosts or own.gpus_per_host > hardware.gpus_per_host):
        yield Message(
            "job-larger-than-design",
            "warn",
            f"The training job takes {own.hosts} hosts with {own.gpus_per_host} GPUs each; the design has {plan.totals.hosts} with "
            f"{hardware.gpus_per_host}.",
            "Make the job smaller, or read its figures as those of another design.",
            "training.hosts",
        )
    for use in plan.network.training[:-1]:
        if use.verdict == "good":
            continue
        yield Message(
            "network-slows-training",
            "warn" if use.verdict == "bad" else "note",
            f"{use.name}: {use.workload_name} in {use.hosts} VMs, each in a host of its own, reaches {percent(use.efficiency)} of what its GPUs do alone "
            f"({percent(use.efficiency_low)} to {percent(use.efficiency_high)}).",
            f"{capital('; '.join(use.changes))}. VMs that stand in one host lose less.",
            "network.link_gbit_s",
            use.sources,
        )


def fabric(plan: Plan) -> Iterator[Message]:
    """Switches, ports and frames of the fabric."""
    fabric, network = plan.cabling, plan.scenario.network
    if fabric is None:
        return
    if fabric.switches is None:
        yield Message(
            "no-switch",
            "note",
            f"No switches are counted: {fabric.reason}.",
            "Choose another link, or name the switches.",
            "network.link_gbit_s",
        )
    elif network.transport == "roce-v1" and fabric.switches.shape.leaves > 2:
        yield Message(
            "roce-v1-does-not-route",
            "warn",
            f"RoCE v1 stays in one broadcast domain, and this fabric has {fabric.switches.shape.leaves} leaves.",
            "Take RoCE v2, or stretch one VLAN through all leaves and spines.",
            "network.transport",
            _rule(plan, "roce-versions"),
        )
    elif network.spine and not fabric.switches.shape.spines:
        yield Message(
            "spine-not-needed",
            "note",
            "One pair of leaves holds every host, so the spine that is named is not used.",
            "Leave the spine empty, or count the compute hosts that are on the same switches.",
            "network.spine",
        )
    kinds = (("GPU", fabric.ports), ("compute", fabric.compute_ports))
    for kind, ports in ((kind, ports.total) for kind, ports in kinds if ports and ports.total > MANY_PORTS):
        yield Message(
            "many-ports",
            "warn",
            f"A {kind} host would need {ports} network ports of {network.link_gbit_s} Gbit/s.",
            "Take a faster link, or check what is stated of other traffic.",
            "network.link_gbit_s",
        )
    remote = any(g.mode == "bitfusion" for g in plan.groups)
    if remote and network.transport == "infiniband":
        yield Message(
            "bitfusion-infiniband",
            "warn",
            "The user guide names TCP/IP and RoCE between Bitfusion client and server; only the reference architecture names "
            "InfiniBand.",
            "Ask the vendor, or take RoCE or PVRDMA.",
            "network.transport",
            _rule(plan, "bitfusion-transport"),
        )
    jumbo = network.transport in ("roce", "roce-v1", "pvrdma") or (remote and network.transport == "tcp")
    if network.mtu_bytes < 9000 and jumbo:
        yield Message(
            "small-frames",
            "note",
            f"An MTU of {network.mtu_bytes:,} costs about 5 % of the link, and processor time that is not counted here.",
            "Set 9,000 on every adapter, distributed switch and physical switch.",
            "network.mtu_bytes",
            _rule(plan, "rdma-jumbo"),
        )


def _rule(plan: Plan, rule_id: str) -> tuple[str, ...]:
    """Sources of a rule of the catalog."""
    sources: tuple[str, ...] = plan.catalog.row("rules", rule_id)["source"]
    return sources
