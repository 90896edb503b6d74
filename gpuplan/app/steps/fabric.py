"""The fabric: its switches and ports in figures and as a drawing, settings, and the capacity left when a part fails."""

from gpuplan.app.cards import Contents, figures, panel, paragraph, source_titles
from gpuplan.app.state import Workbook
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.switches import Hosts, Kind, Switches
from gpuplan.plan.training.speed import RDMA
from gpuplan.report import amount, number
from gpuplan.report.tables.network import part_failures, settings
from gpuplan.widgets import contract
from gpuplan.wording import NAMES, capital, said

SHOWN_SWITCHES = 8
"""Most leaves, and spines, that are drawn; the words give their number."""


@panel()
def fabric_data(workbook: Workbook) -> Contents:
    cabling = workbook.plan.cabling
    if cabling is None:
        return said("screen.fabric.no hosts")
    found, switches, ports = cabling, cabling.switches, cabling.ports
    several, compute = cabling.distributed_switches > 1, cabling.compute_ports
    shared = "shared" if workbook.plan.scenario.network.transport in RDMA else "none"
    more = ["compute_ports_apart" if compute.rdma else "compute_ports"] if compute else []
    names = ["ports", *more, "rdma" if ports.rdma else "no_rdma", "switches" if several else "one_switch"]
    if switches is not None:
        names += ["leaves", "spines" if switches.spine else "no_spines", "oversubscription"]
        alone = "cables" if switches.spine else "cables_without_spines"
        names.append("cables_of_fabrics" if switches.where else alone)
    apart = NAMES["ports of RDMA"]["several" if several else "apart" if ports.rdma else shared]
    shown = figures(names, found=found, switches=switches, apart=apart)
    if switches is not None:
        return {"figures": shown}
    return {"figures": shown, "after": [paragraph("screen.fabric.no switches", reason=cabling.reason)]}


@panel(needs="cabling", draws="fabric")
def drawing_data(workbook: Workbook, cabling: Cabling) -> Contents:
    if cabling.switches is None:
        return None
    infiniband = workbook.plan.scenario.network.transport == "infiniband"
    found = cabling.switches
    return {"fabrics": [_fabric(cabling, found, kind, infiniband) for kind in found.kinds]}


def _fabric(found: Cabling, switches: Switches, kind: Kind, infiniband: bool) -> contract.OneFabric:
    shape, hosts, rdma = kind.fabric.shape, kind.fabric.hosts, found.ports.rdma
    to_leaf = said("screen.fabric.to each leaf", links=shape.host_links_per_leaf)
    speed = f"\u00d7 {number(switches.up_gbit_s)} Gbit/s"
    return {
        "name": capital(kind.name),
        "about": _about(found, switches, kind),
        "spines": {
            **_row(shape.spines, switches.spine_name),
            "links": shape.links_per_spine,
            "text": f"{number(shape.links_per_spine)} {speed}",
        },
        "leaves": _row(shape.leaves, switches.leaf_name),
        "peer": {"links": shape.peer_cables, "text": f"{number(shape.peer_cables)} {speed}"},
        "hosts": {
            "text": _hosts_words(hosts),
            "pair": " and ".join(_hosts_words(hosts))
            if shape.leaves == 2
            else said("screen.fabric.up to", hosts=shape.hosts_per_pair),
            "ports": [*_ports_words(found, switches), to_leaf],
            "links": shape.host_links_per_leaf,
            "rdma": 0 if infiniband else rdma,
            "apart": said("screen.fabric.apart", ports=rdma) if infiniband and rdma else "",
        },
    }


def _row(count: int, name: str) -> contract.Switches:
    return {"count": count, "drawn": min(count, SHOWN_SWITCHES), "name": name}


def _hosts_words(hosts: Hosts) -> list[str]:
    compute = [amount(hosts.compute_hosts, "compute host")] if hosts.compute_hosts else []
    return [amount(hosts.gpu_hosts, "GPU host"), *compute]


def _ports_words(found: Cabling, switches: Switches) -> list[str]:
    key = "screen.fabric.ports" if found.distributed_switches < 2 else "screen.fabric.ports and RDMA"
    return [said(key, ports=found.ports), said("screen.fabric.speed", switches=switches)]


def _about(found: Cabling, switches: Switches, kind: Kind) -> str:
    shape, ports = kind.fabric.shape, " ".join(_ports_words(found, switches))
    key = "screen.fabric.about spines" if shape.spines else "screen.fabric.about leaves"
    name = f"{capital(kind.name)}: " if kind.name else ""
    hosts = " and ".join(_hosts_words(kind.fabric.hosts))
    return said(key, name=name, switches=switches, shape=shape, hosts=hosts, ports=ports)


@panel(needs="cabling")
def settings_data(workbook: Workbook, cabling: Cabling) -> Contents:
    rows = cabling.settings
    return settings(cabling).dressed("what", lambda n, _: {"note": source_titles(workbook, rows[n].sources)})


@panel(needs="cabling")
def failures_data(_workbook: Workbook, cabling: Cabling) -> Contents:
    return part_failures(cabling)
