"""The tables of the network: GPUs over it, the vendor's rules and claim, training and its scaling, and what to configure."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.locales import written
from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.network import Carried
from gpuplan.plan.rdma_claims import Claim
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.scaling import MAX_HOSTS, Curve
from gpuplan.plan.training import TrainingUse
from gpuplan.report.table import NOTHING, Cell, Column, Table, key, listed, two_places
from gpuplan.wording import TRANSPORT_NAMES, VERDICTS, amount, number, share_range

MET = {True: "met", False: "not met", None: "not measured"}
"""Whether a rule of the vendor is met, in words."""
SHOWN_HOSTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of hosts in the table of the scaling; the data have more."""


def network_name(link_gbit_s: float, transport: str) -> str:
    """A network in words: ``100 Gbit/s PVRDMA``."""
    return f"{written(link_gbit_s, 'g')} Gbit/s {TRANSPORT_NAMES[transport]}"


def curve_network(curve: Curve) -> str:
    """The network of a curve in words, with its links where a host has several."""
    several = f"{curve.links} \u00d7 " if curve.links > 1 else ""
    return several + network_name(curve.link_gbit_s, curve.transport)


def _share(low: float, typical: float, high: float, line: str = "") -> Cell:
    return Cell(typical, words=share_range(low, typical, high), low=low, high=high, line=line)


def remote_gpus(plan: Plan) -> Table:
    """What each group that reaches its GPUs over the network keeps of their speed."""
    groups = {group.id for group in plan.groups}
    return listed(
        "remote_gpus",
        "GPUs over the network",
        (
            Column("group", "Group", of="name"),
            Column("work", "Work", of="workload_name"),
            Column("users", "Users on a link", "number"),
            Column("gbit_s_each", "Gbit/s a user", "number", "Gbit/s", of="needs_gbit_s", words=two_places),
            Column("kept_low", "Low", "portion", detail=True),
            Column("kept", "Share of native speed", "range", of=lambda use: _kept(use, _slowdown(use))),
            Column("kept_high", "High", "portion", detail=True),
            Column("slowdown", "Slowdown", "number", of=_slowed),
            Column("verdict", "Verdict", words=VERDICTS.get),
            Column("basis", "Basis", "basis"),
            Column("sources", "Sources", "sources", detail=True),
            key("group_id", lambda use: use.id if use.id in groups else ""),
        ),
        plan.network.remote,
    )


def _slowdown(use: RemoteUse) -> str:
    return f"network.remote.{use.id}.slowdown"


def _slowed(use: RemoteUse) -> Cell:
    return Cell(1 / use.kept, words=f"\u00d7\u202f{written(1 / use.kept, '.2f')}", line=_slowdown(use))


def _kept(use: RemoteUse, line: str = "") -> Cell:
    return _share(use.kept_low, use.kept, use.kept_high, line)


def _efficiency(use: TrainingUse, line: str = "") -> Cell:
    return _share(use.efficiency_low, use.efficiency, use.efficiency_high, line)


def training(plan: Plan) -> Table:
    """What training on several hosts achieves, for the groups that train so and for the job that is asked about."""
    return listed(
        "training",
        "Training on several hosts",
        (
            Column("job", "Job", of="name"),
            Column("work", "Work", of="workload_name"),
            Column("hosts", "Hosts", "number"),
            Column("gpus_per_host", "GPUs per host", "number"),
            Column("low", "Low", "portion", detail=True, of="efficiency_low"),
            Column(
                "efficiency", "Efficiency", "range", of=lambda use: _efficiency(use, f"{use.path}.efficiency")
            ),
            Column("high", "High", "portion", detail=True, of="efficiency_high"),
            Column("per_s", "A second", "number", of=_per_s),
            Column("hours", "Hours", "number", "h", words=lambda h: None if h is None else written(h, ".1f")),
            Column("knee_hosts", "Useful hosts", "number", of=_knee),
            Column("verdict", "Verdict", words=VERDICTS.get),
            Column("basis", "Basis", "basis"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        plan.network.asked,
        notes=(
            "Hours need epochs (training.epochs). Useful hosts: the most at which adding one still pays.",
        ),
    )


def _per_s(use: TrainingUse) -> Cell:
    return Cell(use.per_s, words=f"{number(round(use.per_s))} {use.unit}", line=f"{use.path}.per_s")


def _knee(use: TrainingUse) -> Cell:
    words = f"{use.knee_hosts}" + "+" * (use.knee_hosts == MAX_HOSTS)
    return Cell(use.knee_hosts, words=words, line=f"{use.path}.knee_hosts")


def speed_kept(plan: Plan) -> Table:
    """Whether the link is enough for each thing that depends on it, and what it leaves of the speed."""
    return listed(
        "speed_kept",
        "What the network leaves of the speed",
        (
            Column("who", "Workload", of="name"),
            Column("work", "Work", of=_work),
            Column("kept", "Result (range)", "range", of=_speed),
            Column("verdict", "Verdict", words=VERDICTS.get),
            key("group_id", "group"),
        ),
        link_verdicts(plan),
    )


def _work(each: LinkVerdict) -> str:
    if each.use is None:
        return "VMs with vGPUs"
    if isinstance(each.use, RemoteUse):
        return f"Remote GPUs: {each.use.workload_name}"
    return f"Training on {amount(each.use.hosts, each.place)}: {each.use.workload_name}"


def _speed(each: LinkVerdict) -> Cell:
    if each.use is None:
        return Cell(None, words=each.words)
    if isinstance(each.use, RemoteUse):
        return _kept(each.use, _slowdown(each.use))
    return _efficiency(each.use, f"{each.use.path}.efficiency")


def rules(plan: Plan) -> Table:
    """The vendor's rules for GPUs over the network."""
    return listed(
        "rules",
        "The vendor's rules",
        (
            Column("met", "Verdict", words=MET.get),
            Column("path", "Input"),
            Column("rule", "Rule", of="text"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        plan.network.rules,
    )


def carried_work(found: Sequence[Carried], hosts: int) -> Table:
    """What the link carries of each kind of work, whatever the groups are."""

    def trained(each: Carried) -> Cell:
        return _efficiency(each.training) if each.training else Cell(None, words=NOTHING)

    return listed(
        "carried",
        "What this link carries",
        (
            Column("work", "Work", of=lambda each: each.remote.name),
            Column("kept", "Remote GPU, one user", of=lambda each: _kept(each.remote)),
            Column("kept_verdict", "", of=lambda each: each.remote.verdict, words=VERDICTS.get),
            Column("efficiency", f"Training on {hosts} hosts", of=trained),
            Column("efficiency_verdict", "", of=_job_verdict, words=VERDICTS.get),
        ),
        found,
        notes=(
            "Share of the speed of a GPU in the VM's own host, or of a single GPU: typical (low to high).",
        ),
    )


def scaling(found: Sequence[Curve], shown: Sequence[int] = SHOWN_HOSTS) -> Table:
    """Efficiency of the training job over hosts, on the chosen network and on others."""
    own = {step.hosts: step for step in found[0].steps}
    others = [{step.hosts: step for step in curve.steps} for curve in found[1:]]
    names = [curve_network(c).replace(" Gbit/s", "") for c in found]
    return Table(
        "scaling",
        "Scaling of the training job",
        (
            Column("hosts", "Hosts", "number"),
            Column("per_s", "A second", "whole"),
            Column("efficiency", f"{names[0]} (chosen)"),
            *(Column(name, name, "portion") for name in names[1:]),
        ),
        tuple(
            (
                hosts,
                own[hosts].per_s,
                _share(own[hosts].low, own[hosts].efficiency, own[hosts].high),
                *(steps[hosts].efficiency for steps in others),
            )
            for hosts in shown
            if hosts in own
        ),
        notes=("Efficiency over hosts with links of so many Gbit/s; the chosen network with its range.",),
    )


def _job_verdict(each: Carried) -> str | None:
    return each.training.verdict if each.training else None


def vendor_claims(found: Sequence[Claim]) -> Table:
    """What would make the vendor's doubling with PVRDMA true, work by work."""
    return listed(
        "claims",
        "The vendor's claim: twice the efficiency with PVRDMA on four hosts with a T4 each",
        (
            Column("work", "Work", of="workload_name"),
            Column("tcp", "Efficiency with TCP", "portion", of="efficiency_tcp"),
            Column("pvrdma", "with PVRDMA", "portion", of="efficiency_rdma"),
            Column("speedup", "Speed-up", "number", of=_speedup),
            Column(
                "tcp_gbit_s",
                "TCP rate that makes it 2\u00d7, Gbit/s",
                "number",
                "Gbit/s",
                words=two_places,
            ),
        ),
        found,
    )


def _speedup(claim: Claim) -> Cell:
    low, high = claim.speedup_low, claim.speedup_high
    words = f"\u00d7\u202f{written(claim.speedup, '.2f')} ({written(low, '.2f')}\u2013{written(high, '.2f')})"
    return Cell(claim.speedup, words, low, high, tone="strong" if round(claim.speedup, 2) >= 2 else "")


def settings(fabric: Cabling) -> Table:
    """What must be configured, and where."""
    return listed(
        "settings",
        "To configure",
        (
            Column("where", "Where"),
            Column("what", "What"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        fabric.settings,
    )


def part_failures(fabric: Cabling) -> Table:
    """What is left when a part of the network fails."""
    return listed(
        "network_failures",
        "When a part fails",
        (Column("part", "Part"), Column("left", "What is left"), Column("affected", "Who is affected")),
        fabric.failures,
    )


def fabric_words(fabric: Cabling) -> str:
    """Ports and switches in a line."""
    ports = f"{amount(fabric.ports.total, 'port')} per host"
    if fabric.switches is None:
        return f"{ports}; no switches: {fabric.reason.replace('_', ' ')}"
    shape, spine = fabric.switches.shape, fabric.switches.spine_name
    spines = f" under {shape.spines} x {spine}" if shape.spines else ""
    leaves = f"{shape.leaves} x {fabric.switches.leaf_name}{spines}{fabric.switches.where}"
    return f"{ports}, {leaves}, oversubscription {written(shape.oversubscription, '.2f')}:1"


def cabling(fabric: Cabling) -> Table:
    """Ports, switches and cables."""
    hosts = amount(fabric.gpu_hosts, "GPU host")
    if fabric.compute_hosts:
        hosts += f", {amount(fabric.compute_hosts, 'compute host')}"
    rows = [
        ("Hosts", hosts),
        ("Ports of a GPU host", _ports(fabric.ports)),
        *([("Ports of a compute host", _ports(fabric.compute_ports))] if fabric.compute_ports else []),
        ("Adapters of a GPU host", f"{number(fabric.adapters)}, with two ports each"),
        ("Distributed switches", number(fabric.distributed_switches)),
        *_switches(fabric),
    ]
    return Table("cabling", "Ports and switches", (Column("part", ""), Column("count", "")), tuple(rows))


def _ports(ports: Ports) -> str:
    return f"{number(ports.shared)} teamed" + (f", {number(ports.rdma)} for RDMA only" if ports.rdma else "")


def _switches(fabric: Cabling) -> list[tuple[str, str]]:
    switches = fabric.switches
    if switches is None:
        return [("Switches", f"none: {fabric.reason.replace('_', ' ')}")]
    shape = switches.shape
    spines = f"{number(shape.spines)} x {switches.spine_name}"
    oversubscription = f"{written(shape.oversubscription, '.2f')}:1, at most {written(fabric.max_oversubscription, 'g')}:1 is planned"
    cables = (
        f"{number(shape.host_cables)} to hosts at {number(switches.port_gbit_s)} Gbit/s, "
        f"{number(shape.uplink_cables or shape.peer_cables)} between switches at {number(switches.up_gbit_s)} Gbit/s"
    )
    return [
        ("Leaf switches", f"{number(shape.leaves)} x {switches.leaf_name}{switches.where}"),
        ("Spine switches", spines if shape.spines else f"none: {switches.pairs} holds every host"),
        ("Oversubscription", oversubscription),
        ("Cables", cables),
    ]
