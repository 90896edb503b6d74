"""Tables of the network: remote GPUs, the vendor's rules and claim, training and its scaling, and settings."""

from collections.abc import Sequence
from typing import Any

from gpuplan.analysis.rdma_claims import Claim
from gpuplan.locales import written
from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling, Ports
from gpuplan.plan.link_verdicts import LinkVerdict, link_verdicts
from gpuplan.plan.network import Carried
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.scaling import MAX_HOSTS, Curve
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.table import NOTHING, Cell, Column, Table, Worded, columns, filled, listed, tabulate
from gpuplan.wording import TRANSPORT_NAMES, amount, capital, number, rough_range, said, share_range

MET = {
    True: said("table.rules.is met"),
    False: said("table.rules.not met"),
    None: said("table.rules.not measured"),
}
SHOWN_HOSTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of hosts in the table of the scaling; the data have more."""


def network_name(link_gbit_s: float, transport: str) -> str:
    """A network in words: ``100 Gbit/s PVRDMA``."""
    return f"{written(link_gbit_s, 'g')} Gbit/s {TRANSPORT_NAMES[transport]}"


def curve_network(curve: Curve) -> str:
    """Return the network of a curve in words, with its links where a host has several."""
    several = f"{curve.links} \u00d7 " if curve.links > 1 else ""
    return several + network_name(curve.link_gbit_s, curve.transport)


def _share(low: float, typical: float, high: float, line: str = "") -> Cell:
    return Cell(typical, share_range(low, typical, high), low, high, line)


def remote_gpus(plan: Plan) -> Table:
    """Tabulate the speed that each group with remote GPUs keeps."""
    groups = {group.id for group in plan.groups}
    own: dict[str, Any] = {"kept": _kept, "group_id": lambda use: use.id if use.id in groups else ""}
    own["slowdown"] = lambda use: Cell(1 / use.kept, words=f"\u00d7\u202f{written(1 / use.kept, '.2f')}")
    return tabulate("remote_gpus", plan.network.remote, **own)


def _kept(use: RemoteUse, line: str = "") -> Cell:
    return _share(use.kept_low, use.kept, use.kept_high, line)


def _efficiency(use: TrainingUse, line: str = "") -> Cell:
    return _share(use.efficiency_low, use.efficiency, use.efficiency_high, line)


def training(plan: Plan) -> Table:
    """Tabulate the training results on several hosts, for the groups that train so and for the requested job."""
    own: dict[str, Any] = {"efficiency": _efficiency}
    own["per_s"] = lambda use: Cell(use.per_s, words=f"{number(round(use.per_s))} {use.unit}")
    own["knee_hosts"] = Worded(lambda hosts: f"{hosts}+" if hosts == MAX_HOSTS else str(hosts))
    return tabulate("training", plan.network.asked, **own, notes=(said("table.hours need epochs training"),))


def speed_kept(plan: Plan) -> Table:
    """Tabulate whether the link suffices for each dependent use, and the share of speed that it leaves."""
    own: dict[str, Any] = {"work": _work, "kept": _speed}
    own["sources"] = lambda each: each.use.sources if each.use else ()
    return tabulate("speed_kept", link_verdicts(plan), **own)


def _work(each: LinkVerdict) -> str:
    if each.use is None:
        return said("table.speed_kept.vmotion")
    if isinstance(each.use, RemoteUse):
        return said("table.remote gpus", use=each.use)
    return said("table.training on", hosts=amount(each.use.hosts, each.place), use=each.use)


def _speed(each: LinkVerdict) -> Cell:
    if each.use is None:
        return Cell(None, words=each.words)
    if isinstance(each.use, RemoteUse):
        return _kept(each.use, f"network.remote.{each.use.id}.slowdown")
    return _efficiency(each.use, f"{each.use.path}.efficiency")


def rules(plan: Plan) -> Table:
    """The vendor's rules for GPUs over the network."""
    own = columns("vendor_rules", met=Worded(MET.get), path=Worded(plan.scenario.label))
    return listed("rules", own, plan.network.rules, title=said("table.rules.vendor"))


def carried_work(found: Sequence[Carried], hosts: int) -> Table:
    """Tabulate the link's capacity for each kind of work, regardless of the groups."""

    def trained(each: Carried) -> Cell:
        return _efficiency(each.training) if each.training else Cell(None, words=NOTHING)

    own: dict[str, Any] = {"kept": lambda each: _kept(each.remote), "efficiency": trained}
    own["efficiency_verdict"] = lambda each: each.training.verdict if each.training else None
    heads = {"efficiency": said("table.carried.efficiency", hosts=hosts)}
    return tabulate("carried", found, **own, heads=heads, notes=(said("table.share of the speed"),))


def scaling(found: Sequence[Curve], shown: Sequence[int] = SHOWN_HOSTS) -> Table:
    """Efficiency of the training job over hosts, on the chosen network and on others."""
    chosen = {step.hosts: step for step in found[0].steps}
    others = [{step.hosts: step for step in curve.steps} for curve in found[1:]]
    names = [curve_network(c).replace(" Gbit/s", "") for c in found]
    heads = {"efficiency": said("table.scaling.efficiency", method=names[0])}
    own = (*columns("scaling", heads=heads), *(Column(name, name, "portion") for name in names[1:]))
    rows = []
    for step in (chosen[hosts] for hosts in shown if hosts in chosen):
        kept = _share(step.low, step.efficiency, step.high)
        rows.append((step.hosts, step.per_s, kept, *(steps[step.hosts].efficiency for steps in others)))
    return Table("scaling", own, tuple(rows), notes=(said("table.efficiency by number of"),))


def vendor_claims(found: Sequence[Claim]) -> Table:
    """Tabulate the conditions under which the vendor's doubling with PVRDMA holds, for each kind of work."""
    return tabulate("claims", found, speedup=_speedup)


def _speedup(claim: Claim) -> Cell:
    low, high = claim.speedup_low, claim.speedup_high
    typical = f"\u00d7\u202f{written(claim.speedup, '.2f')}"
    words = said("table.claims.range", typical=typical, claim=claim)
    return Cell(claim.speedup, words, low, high, tone="strong" if round(claim.speedup, 2) >= 2 else "")


def settings(fabric: Cabling) -> Table:
    """Tabulate the required settings and their places."""
    return tabulate("settings", fabric.settings)


def part_failures(fabric: Cabling) -> Table:
    """Tabulate the capacity that remains when a part of the network fails."""
    return tabulate("network_failures", fabric.failures)


def fabric_words(fabric: Cabling) -> str:
    """Ports and switches in a line."""
    reason = fabric.reason.replace("_", " ")
    if fabric.switches is None:
        return said("table.fabric without switches", fabric=fabric, reason=reason)
    switches, shape = fabric.switches, fabric.switches.busiest.shape
    leaves = f"{switches.total.leaves} x {switches.leaf_name}"
    if switches.spine:
        key = "table.leaves and spines" if switches.where else "table.leaves under spines"
        leaves = said(key, leaves=leaves, switches=switches)
    leaves += switches.where
    return said("table.fabric", fabric=fabric, leaves=leaves, shape=shape, where=switches.highest)


def cabling(fabric: Cabling) -> Table:
    """Ports, switches and cables."""
    hosts = amount(fabric.gpu_hosts, "GPU host")
    if fabric.compute_hosts:
        hosts += f", {amount(fabric.compute_hosts, 'compute host')}"
    rows = [(said("table.cabling.hosts"), hosts)]
    kinds = {f" ({of})" * bool(of): ports for of, ports in {"": fabric.ports, **fabric.kinds}.items()}
    rows += [(said("table.cabling.ports") + of, _ports(ports)) for of, ports in kinds.items()]
    if fabric.compute_ports:
        rows.append((said("table.cabling.compute ports"), _ports(fabric.compute_ports)))
    for of, ports in kinds.items():
        rows.append((said("table.cabling.adapters") + of, said("table.with two ports each", fabric=ports)))
    distributed = (said("table.cabling.distributed"), number(fabric.distributed_switches))
    rows += [distributed, *_switches(fabric)]
    return filled("cabling", rows)


def _ports(ports: Ports) -> str:
    return said("table.cabling.teamed and rdma" if ports.rdma else "table.cabling.teamed", ports=ports)


def _switches(fabric: Cabling) -> list[tuple[str, str]]:
    switches = fabric.switches
    if switches is None:
        none = said("table.cabling.no switches", reason=fabric.reason.replace("_", " "))
        return [(said("table.cabling.switches"), none)]
    total, shape = switches.total, switches.busiest.shape
    spines = f"{number(total.spines)} x {switches.spine_name}"
    if not total.spines:
        spines = said("table.none holds every host", switches=switches)
    over = said("table.1 at most 1", shape=shape, fabric=fabric, where=switches.highest)
    left = sorted({each.free_leaf_ports for each in switches.fabrics})
    free = rough_range(left[0], left[-1]) if left[1:] else number(left[0])
    return [
        (said("table.cabling.leaves"), f"{number(total.leaves)} x {switches.leaf_name}{switches.where}"),
        (said("table.cabling.spines"), spines),
        *((capital(kind.name), switches.words(kind.fabric)) for kind in switches.kinds if switches.where),
        (said("table.cabling.oversubscription"), over),
        (said("table.cabling.cables"), said("table.to hosts at gbit", switches=switches)),
        (said("table.cabling.uplinks"), said("table.cabling.uplinks to size", ports=free)),
    ]
