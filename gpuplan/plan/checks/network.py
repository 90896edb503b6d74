"""Checks of the network: remote GPUs, training on several hosts, switches and ports."""

from collections.abc import Iterator

from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.locales import written
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.network import kept_by_preset
from gpuplan.plan.plan import Plan
from gpuplan.plan.remote_gpus import NO_FASTER_LINK, RemoteUse
from gpuplan.plan.switches import Switches
from gpuplan.plan.training.use import TrainingUse
from gpuplan.wording import capital, percent, said

MANY_PORTS = 8
"""More network ports in one host than this are asked about: four adapters of two ports, our planning value."""

LEVEL = {"fair": "note", "bad": "warn"}
"""Verdict on work that the network slows -> the level of its message."""


def remote_gpus(plan: Plan) -> Iterator[Message]:
    """Report the speed that the network leaves to remote GPUs, group by group, and the vendor's rules."""
    for use in plan.network.remote:
        if use.verdict != "good":
            path = f"groups.{use.id}.workload" if use.changes[0].startswith(NO_FASTER_LINK) else ""
            yield _slowed(plan, "network-slows-remote", use, path=path)
    for rule in plan.network.rules:
        if not rule.met:
            code = "latency-not-measured" if rule.met is None else rule.code
            yield message(plan, code, rule=rule.text, path=rule.path, sources=rule.sources)


def carried_work(plan: Plan) -> Iterator[Message]:
    """Report, for designs with remote GPUs, the speed of usual work for one user, and work beyond the link."""
    if not plan.network.remote:
        return
    rows = kept_by_preset(plan.scenario, plan.catalog)
    kept = {
        wanted: ", ".join(f"{name} ({percent(share)})" for name, share, verdict in rows if verdict == wanted)
        for wanted in ("good", "bad")
    }
    network = plan.scenario.network
    link = said("check.link", network=network)
    text = said("check.carries" if kept["good"] else "check.carries nothing", link=link, **kept)
    if kept["bad"]:
        text = said("check.too slow", text=text, **kept)
    yield message(plan, "network-carries", text=text)


def training_network(plan: Plan) -> Iterator[Message]:
    """Training that the network slows, and a job larger than the design."""
    *groups, job = plan.network.training
    named = plan.network.job_named
    hosts, per_host = plan.by_kind[0].totals.hosts, plan.scenario.hardware.gpus_per_host
    if named and job.verdict == "bad":
        yield _slowed(plan, "job-not-carried", job, said("check.smaller job"))
    if named and job.hosts != plan.scenario.training.hosts:
        yield message(plan, "job-needs-hosts", job=job, stated=plan.scenario.training.hosts)
    if named and plan.pools and (job.hosts > hosts or job.gpus_per_host > per_host):
        yield message(plan, "job-larger-than-design", job=job, hosts=hosts, per_host=per_host)
    for use in groups:
        if use.verdict != "good":
            yield _slowed(plan, "network-slows-training", use)


def _slowed(
    plan: Plan, code: str, use: RemoteUse | TrainingUse, otherwise: str = "", *, path: str = ""
) -> Message:
    sources = tuple(source for source in use.sources if source != SCENARIO_SOURCE)
    changes = capital("; ".join(use.changes) or otherwise)
    return message(plan, code, level=LEVEL[use.verdict], path=path, use=use, changes=changes, sources=sources)


def fabric(plan: Plan) -> Iterator[Message]:
    """Switches and ports of the fabric."""
    fabric, network = plan.cabling, plan.scenario.network
    if fabric is None:
        return
    if fabric.switches is None:
        yield message(plan, "no-switch", reason=fabric.reason)
    else:
        yield from _switches(plan, fabric.switches)
    for kind, ports in (("GPU", fabric.ports), ("compute", fabric.compute_ports)):
        if ports and ports.total > MANY_PORTS:
            yield message(plan, "many-ports", kind=kind, ports=ports.total, link=network.link_gbit_s)


def _switches(plan: Plan, switches: Switches) -> Iterator[Message]:
    """Fabrics that do not route, that have no spine, and leaves without a port left."""
    network = plan.scenario.network
    leaves = max(fabric.shape.leaves for fabric in switches.fabrics)
    if network.transport == "roce-v1" and leaves > 2:
        yield message(plan, "roce-v1-does-not-route", leaves=leaves)
    elif network.spine and not switches.spine:
        yield message(plan, "spine-not-needed", each=said("fabric.in each") if switches.where else "")
    for kind in switches.kinds:
        if not kind.fabric.shape.spines and not kind.fabric.free_leaf_ports:
            leaf = f"{switches.leaf_name}, {kind.name}".removesuffix(", ")
            yield message(plan, "no-port-leads-out", leaf=leaf)


def transport(plan: Plan) -> Iterator[Message]:
    """Transport and frames of the fabric."""
    network = plan.scenario.network
    if plan.cabling is None:
        return
    remote = any(g.mode == "bitfusion" for g in plan.groups)
    if remote and network.transport == "infiniband":
        yield message(plan, "bitfusion-infiniband")
    jumbo = network.transport in ("roce", "roce-v1", "pvrdma") or (remote and network.transport == "tcp")
    if network.mtu_bytes < 9000 and jumbo:
        yield message(plan, "small-frames", mtu=written(network.mtu_bytes, ","))
