"""The fabric: its switches and ports in figures and as a drawing, settings, and the capacity left when a part fails."""

from __future__ import annotations

from gpuplan.app.cards import Contents, figure, panel, rate, said, source_titles, strong
from gpuplan.app.state import Workbook
from gpuplan.plan.fabric import Cabling, Switches
from gpuplan.plan.training.speed import RDMA
from gpuplan.report import amount, number
from gpuplan.report.tables.network import part_failures, settings
from gpuplan.widgets import contract

SHOWN_SWITCHES = 8
"""Most leaves, and spines, that are drawn; the words give their number."""


@panel("Fabric")
def fabric_data(workbook: Workbook) -> Contents:
    """Return ports, switches and cables in figures."""
    cabling = workbook.plan.cabling
    if cabling is None:
        return "No GPU hosts yet, so there is nothing to connect."
    ports = _ports(cabling, workbook.plan.scenario.network.transport)
    if cabling.switches is None:
        return {"figures": ports, "after": [said(strong("No switches: "), f"{cabling.reason}.")]}
    return {"figures": [*ports, *_switches(cabling, cabling.switches)]}


def _ports(found: Cabling, transport: str) -> list[contract.Figure]:
    """Return the ports of a host."""
    shared, rdma, several = found.ports.shared, found.ports.rdma, found.distributed_switches > 1
    apart = "RDMA uses the shared ports" if transport in RDMA else "no RDMA"
    if several:
        apart = "PVRDMA, one distributed switch each"
    elif rdma:
        apart = "InfiniBand"
    extra = []
    if compute := found.compute_ports:
        note = f"{amount(found.compute_hosts, 'compute host')}, {rate(compute.demand_gbit_s)} Gbit/s each"
        both = number(compute.shared) + (f" + {number(compute.rdma)}" if compute.rdma else "")
        extra.append(figure("Ports per compute host", both, note))
    demand = f"for {rate(found.ports.demand_gbit_s)} Gbit/s"
    adapters = f"{number(found.adapters)} dual-port adapters per host"
    key = "distributed_switches" if several else ""
    return [
        _figure("Shared ports per GPU host", shared, demand, "ports.shared"),
        *extra,
        _figure("RDMA ports", rdma, apart, "ports.rdma" if rdma else ""),
        _figure("Distributed switches", found.distributed_switches, adapters, key),
    ]


def _switches(found: Cabling, switches: Switches) -> list[contract.Figure]:
    """Return the switches and the cables between them."""
    shape = switches.shape
    up = f"{number(shape.uplink_cables)} to spines"
    between = up if shape.spines else f"{number(shape.peer_cables)} between the leaves"
    spines = switches.spine_name or f"not needed for {switches.pairs}"
    ratio, most = _ratio(shape.oversubscription), f"at most {number(found.max_oversubscription)}:1"
    return [
        _figure("Leaves", shape.leaves, switches.leaf_name, "fabric.leaves"),
        _figure("Spines", shape.spines, spines, "fabric.spines"),
        figure("Oversubscription", ratio, most, "network.fabric.oversubscription"),
        _figure("Cables to hosts", shape.host_cables, f"and {between}", "fabric.host_cables"),
    ]


def _figure(label: str, count: int, note: str, key: str) -> contract.Figure:
    return figure(label, number(count), note, f"network.{key}" if key else "")


def _ratio(value: float) -> str:
    return f"{rate(value)}:1"


@panel(draws="fabric")
def drawing_data(workbook: Workbook) -> Contents:
    """Return the switches and hosts to draw, with the words for each."""
    cabling = workbook.plan.cabling
    if cabling is None or cabling.switches is None:
        return None
    switches, shape, rdma = cabling.switches, cabling.switches.shape, cabling.ports.rdma
    infiniband = workbook.plan.scenario.network.transport == "infiniband"
    speed = f"\u00d7 {number(switches.up_gbit_s)} Gbit/s"
    most = amount(shape.hosts_per_pair, "host")
    apart = f"{amount(rdma, 'InfiniBand port')} of a host on a fabric of its own"
    return {
        "about": _about(cabling, switches),
        "spines": {
            **_row(shape.spines, switches.spine_name),
            "links": shape.links_per_spine,
            "text": f"{number(shape.links_per_spine)} {speed}",
        },
        "leaves": _row(shape.leaves, switches.leaf_name),
        "peer": {"links": shape.peer_cables, "text": f"{number(shape.peer_cables)} {speed}"},
        "hosts": {
            "text": _hosts_words(cabling),
            "pair": " and ".join(_hosts_words(cabling)) if shape.leaves == 2 else f"up to {most}",
            "ports": [
                *_ports_words(cabling, switches),
                f"at most {number(shape.host_links_per_leaf)} to each leaf",
            ],
            "links": shape.host_links_per_leaf,
            "rdma": 0 if infiniband else rdma,
            "apart": apart if infiniband and rdma else "",
        },
    }


def _row(count: int, name: str) -> contract.Switches:
    return {"count": count, "drawn": min(count, SHOWN_SWITCHES), "name": name}


def _hosts_words(found: Cabling) -> list[str]:
    compute = [amount(found.compute_hosts, "compute host")] if found.compute_hosts else []
    return [amount(found.gpu_hosts, "GPU host"), *compute]


def _ports_words(found: Cabling, switches: Switches) -> list[str]:
    rdma = f" + {number(found.ports.rdma)} RDMA" if found.distributed_switches > 1 else ""
    return [
        f"{number(found.ports.shared)} shared{rdma} ports",
        f"of {number(switches.port_gbit_s)} Gbit/s each",
    ]


def _about(found: Cabling, switches: Switches) -> str:
    shape = switches.shape
    leaves = f"{number(shape.leaves)} leaf switches {switches.leaf_name}{switches.where}"
    up = f"{number(switches.up_gbit_s)} Gbit/s"
    if shape.spines:
        joined = (
            f"in pairs under {number(shape.spines)} spine switches {switches.spine_name}, with "
            f"{amount(shape.links_per_spine, 'link')} of {up} from each leaf to each spine"
        )
    else:
        joined = f"joined by {amount(switches.peer_links, 'link')} of {up}, without spines"
    return (
        f"{leaves}, {joined}. {' and '.join(_hosts_words(found))}, up to {number(shape.hosts_per_pair)} on a pair of leaves, with "
        f"{' '.join(_ports_words(found, switches))}, at most {number(shape.host_links_per_leaf)} of them to each leaf. "
        f"Oversubscription {_ratio(shape.oversubscription)}."
    )


@panel("Settings")
def settings_data(workbook: Workbook) -> Contents:
    """Return the settings to configure, and their places."""
    cabling = workbook.plan.cabling
    if cabling is None:
        return None
    return settings(cabling).dressed(
        "what", lambda n, _: {"note": source_titles(workbook, cabling.settings[n].sources)}
    )


@panel("When a part fails")
def failures_data(workbook: Workbook) -> Contents:
    """Return the capacity left when a part of the network fails."""
    return part_failures(workbook.plan.cabling) if workbook.plan.cabling else None
