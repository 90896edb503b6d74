"""The tables of the network: GPUs over it, the vendor's rules and claim, training and its scaling, and what to configure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.network import Carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import MAX_HOSTS, Claim, Curve, TrainingUse
from gpuplan.report.table import Cell, Column, Table
from gpuplan.wording import TRANSPORT_NAMES, VERDICTS, amount, number, share_range

MET = {True: "met", False: "not met", None: "not measured"}
"""Whether a rule of the vendor is met, in words."""
SHOWN_HOSTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of hosts in the table of the scaling; the data have more."""


def network_name(link_gbit_s: float, transport: str) -> str:
    """A network in words: ``100 Gbit/s PVRDMA``."""
    return f"{link_gbit_s:g} Gbit/s {TRANSPORT_NAMES[transport]}"


def _share(low: float, typical: float, high: float, line: str = "") -> Cell:
    return Cell(typical, words=share_range(low, typical, high), low=low, high=high, line=line)


def _verdict(verdict: str) -> Cell:
    return Cell(verdict, words=VERDICTS[verdict])


def remote_gpus(plan: Plan) -> Table:
    """What each group that reaches its GPUs over the network keeps of their speed."""
    return Table(
        "remote_gpus",
        "GPUs over the network",
        (
            Column("group", "Group"),
            Column("work", "Work"),
            Column("users", "Users on a link", "number"),
            Column("gbit_s_each", "Gbit/s a user", "number", "Gbit/s"),
            Column("kept_low", "Low", "portion", detail=True),
            Column("kept", "Share of native speed", "range"),
            Column("kept_high", "High", "portion", detail=True),
            Column("slowdown", "Slowdown", "number"),
            Column("verdict", "Verdict"),
            Column("basis", "Basis", "basis"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple(_remote(use) for use in plan.network.remote),
    )


def _remote(use: RemoteUse) -> tuple[Any, ...]:
    slowdown = f"network.remote.{use.id}.slowdown"
    return (
        use.name,
        use.workload_name,
        use.users,
        Cell(use.needs_gbit_s, words=f"{use.needs_gbit_s:.2f}"),
        use.kept_low,
        _share(use.kept_low, use.kept, use.kept_high, slowdown),
        use.kept_high,
        Cell(1 / use.kept, words=f"\u00d7\u202f{1 / use.kept:.2f}", line=slowdown),
        _verdict(use.verdict),
        Cell(use.basis, basis=use.basis),
        use.sources,
    )


def training(plan: Plan) -> Table:
    """What training on several hosts achieves, for the groups that train so and for the job that is asked about."""
    return Table(
        "training",
        "Training on several hosts",
        (
            Column("job", "Job"),
            Column("work", "Work"),
            Column("hosts", "Hosts", "number"),
            Column("gpus_per_host", "GPUs per host", "number"),
            Column("low", "Low", "portion", detail=True),
            Column("efficiency", "Efficiency", "range"),
            Column("high", "High", "portion", detail=True),
            Column("per_s", "A second", "number"),
            Column("hours", "Hours", "number", "h"),
            Column("knee_hosts", "Hosts worth it", "number"),
            Column("verdict", "Verdict"),
            Column("basis", "Basis", "basis"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple(_job(use) for use in plan.network.training),
        notes=("Hours need epochs (training.epochs). Hosts worth it: the most at which one more still is.",),
    )


def _job(use: TrainingUse) -> tuple[Any, ...]:
    return (
        use.name,
        use.workload_name,
        use.hosts,
        use.gpus_per_host,
        use.efficiency_low,
        _share(use.efficiency_low, use.efficiency, use.efficiency_high, f"{use.path}.efficiency"),
        use.efficiency_high,
        Cell(use.per_s, words=f"{number(round(use.per_s))} {use.unit}", line=f"{use.path}.per_s"),
        Cell(use.hours, words=None if use.hours is None else f"{use.hours:.1f}"),
        Cell(
            use.knee_hosts,
            words=f"{use.knee_hosts}" + "+" * (use.knee_hosts == MAX_HOSTS),
            line=f"{use.path}.knee_hosts",
        ),
        _verdict(use.verdict),
        Cell(use.basis, basis=use.basis),
        use.sources,
    )


def speed_kept(plan: Plan) -> Table:
    """What the network leaves of the speed of each use of it: remote GPUs, and training on several hosts."""
    use = plan.network
    return Table(
        "speed_kept",
        "What the network leaves of the speed",
        (
            Column("who", "Who"),
            Column("work", "Work"),
            Column("kept", "Speed kept (range)", "range"),
            Column("verdict", "Verdict"),
        ),
        (
            *(
                (
                    r.name,
                    f"Remote GPUs: {r.workload_name}",
                    _share(r.kept_low, r.kept, r.kept_high),
                    _verdict(r.verdict),
                )
                for r in use.remote
            ),
            *(
                (
                    t.name,
                    f"Training on {amount(t.hosts, 'host')}: {t.workload_name}",
                    _share(t.efficiency_low, t.efficiency, t.efficiency_high),
                    _verdict(t.verdict),
                )
                for t in use.training
            ),
        ),
    )


def rules(plan: Plan) -> Table:
    """The vendor's rules for GPUs over the network."""
    return Table(
        "rules",
        "The vendor's rules",
        (
            Column("met", "Verdict"),
            Column("path", "Input"),
            Column("rule", "Rule"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple(
            (Cell(rule.met, words=MET[rule.met]), rule.path, rule.text, rule.sources)
            for rule in plan.network.rules
        ),
    )


def carried_work(found: Sequence[Carried], hosts: int) -> Table:
    """What the link carries of each kind of work, whatever the groups are."""
    return Table(
        "carried",
        "What this link carries",
        (
            Column("work", "Work"),
            Column("kept", "Remote GPU, one user"),
            Column("kept_verdict", ""),
            Column("efficiency", f"Training on {hosts} hosts"),
            Column("efficiency_verdict", ""),
        ),
        tuple(_carried(each) for each in found),
        notes=("Shares of the speed that a GPU has in the VM's own host, or alone: typical (low to high).",),
    )


def _carried(each: Carried) -> tuple[Any, ...]:
    remote, job = each.remote, each.training
    return (
        remote.name,
        _share(remote.kept_low, remote.kept, remote.kept_high),
        _verdict(remote.verdict),
        _share(job.efficiency_low, job.efficiency, job.efficiency_high)
        if job
        else Cell(None, words="\u2013"),
        _verdict(job.verdict) if job else None,
    )


def scaling(found: Sequence[Curve], shown: Sequence[int] = SHOWN_HOSTS) -> Table:
    """Efficiency of the training job over hosts, on the chosen network and on others."""
    own = {step.hosts: step for step in found[0].steps}
    others = [{step.hosts: step for step in curve.steps} for curve in found[1:]]
    names = [network_name(c.link_gbit_s, c.transport).replace(" Gbit/s", "") for c in found]
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
        ),
        notes=("Efficiency over hosts with links of so many Gbit/s; the chosen network with its range.",),
    )


def vendor_claims(found: Sequence[Claim]) -> Table:
    """What would make the vendor's doubling with PVRDMA true, work by work."""
    return Table(
        "claims",
        "The vendor's claim: twice the efficiency with PVRDMA on four hosts with a T4 each",
        (
            Column("work", "Work"),
            Column("tcp", "Efficiency with TCP", "portion"),
            Column("pvrdma", "with PVRDMA", "portion"),
            Column("speedup", "Speed-up", "number"),
            Column("tcp_gbit_s", "TCP rate that makes it 2\u00d7, Gbit/s", "number", "Gbit/s"),
        ),
        tuple(
            (
                claim.workload_name,
                claim.efficiency_tcp,
                claim.efficiency_rdma,
                Cell(
                    claim.speedup,
                    words=f"\u00d7\u202f{claim.speedup:.2f} ({claim.speedup_low:.2f}\u2013{claim.speedup_high:.2f})",
                    low=claim.speedup_low,
                    high=claim.speedup_high,
                    tone="strong" if round(claim.speedup, 2) >= 2 else "",
                ),
                Cell(claim.tcp_gbit_s, words=f"{claim.tcp_gbit_s:.2f}"),
            )
            for claim in found
        ),
    )


def settings(fabric: Cabling) -> Table:
    """What must be configured, and where."""
    return Table(
        "settings",
        "To configure",
        (
            Column("where", "Where"),
            Column("what", "What"),
            Column("sources", "Sources", "sources", detail=True),
        ),
        tuple((each.where, each.what, each.sources) for each in fabric.settings),
    )


def part_failures(fabric: Cabling) -> Table:
    """What is left when a part of the network fails."""
    return Table(
        "network_failures",
        "When a part fails",
        (Column("part", "Part"), Column("left", "What is left"), Column("affected", "Who is affected")),
        tuple((each.part, each.left, each.affected) for each in fabric.failures),
    )


def cabling(fabric: Cabling) -> Table:
    """Ports, switches and cables."""
    ports = f"{number(fabric.ports.shared)} teamed" + (
        f", {number(fabric.ports.rdma)} for RDMA alone" if fabric.ports.rdma else ""
    )
    rows = [
        ("Hosts", amount(fabric.gpu_hosts, "GPU host")),
        ("Ports of a GPU host", ports),
        ("Adapters of a GPU host", f"{number(fabric.adapters)}, with two ports each"),
        ("Distributed switches", number(fabric.distributed_switches)),
    ]
    if fabric.compute_hosts:
        rows[0] = ("Hosts", f"{rows[0][1]}, {amount(fabric.compute_hosts, 'compute host')}")
    switches = fabric.switches
    if switches is None:
        rows.append(("Switches", f"none: {fabric.reason.replace('_', ' ')}"))
    else:
        shape = switches.shape
        spines = (
            f"{number(shape.spines)} x {switches.spine_name}"
            if shape.spines
            else "none: one pair of leaves holds every host"
        )
        between = shape.uplink_cables or shape.peer_cables
        rows += [
            ("Leaf switches", f"{number(shape.leaves)} x {switches.leaf_name}"),
            ("Spine switches", spines),
            (
                "Oversubscription",
                f"{shape.oversubscription:.2f}:1, at most {fabric.max_oversubscription:g}:1 is planned",
            ),
            (
                "Cables",
                f"{number(shape.host_cables)} to hosts at {number(switches.port_gbit_s)} Gbit/s, {number(between)} between switches at "
                f"{number(switches.up_gbit_s)} Gbit/s",
            ),
        ]
    return Table("cabling", "Ports and switches", (Column("part", ""), Column("count", "")), tuple(rows))
