"""The fabric: its switches and ports in figures and as a drawing, what to configure, and what is left when a part fails."""

from __future__ import annotations

from typing import Any

from gpuplan.app.cards import figure, rate, source_titles
from gpuplan.app.state import Workbook
from gpuplan.plan.fabric import Cabling, Ports, Switches
from gpuplan.plan.gpu_speed import RDMA
from gpuplan.report import amount, number
from gpuplan.report.table import screen
from gpuplan.report.tables.network import part_failures, settings

SHOWN_SWITCHES = 8
"""Leaves, and spines, that are drawn; the words say how many there are."""


def fabric_data(workbook: Workbook) -> dict[str, Any]:
    """Ports, switches and cables in figures."""
    found = workbook.plan.cabling
    title = {"shown": True, "title": "Fabric", "stale": workbook.stale}
    if found is None:
        return title | {"text": [[{"text": "No GPU hosts yet, so there is nothing to connect."}]]}
    apart = (
        "PVRDMA, one switch each"
        if found.distributed_switches > 1
        else "InfiniBand"
        if found.ports.rdma
        else "RDMA runs on the shared ones"
        if workbook.plan.scenario.network.transport in RDMA
        else "no RDMA"
    )
    adapters = f"adapters with two ports in a host: {number(found.adapters)}"
    figures = [
        figure(
            "Shared ports of a GPU host",
            number(found.ports.shared),
            f"for {rate(found.ports.demand_gbit_s)} Gbit/s",
            "network.ports.shared",
        ),
        figure(
            "RDMA ports",
            number(found.ports.rdma),
            apart,
            "network.ports.rdma" if found.ports.rdma else "",
        ),
        figure(
            "Distributed switches",
            number(found.distributed_switches),
            adapters,
            "network.distributed_switches" if found.distributed_switches > 1 else "",
        ),
    ]
    if compute := found.compute_ports:
        own = f"{amount(found.compute_hosts, 'compute host')}, {rate(compute.demand_gbit_s)} Gbit/s each"
        figures.insert(1, figure("Ports of a compute host", _both(compute), own))
    switches = found.switches
    if switches is None:
        return title | {
            "figures": figures,
            "after": [[{"text": "No switches: ", "strong": True}, {"text": f"{found.reason}."}]],
        }
    shape = switches.shape
    between = (
        ("to spines", shape.uplink_cables) if shape.spines else ("between the leaves", shape.peer_cables)
    )
    figures += [
        figure("Leaves", number(shape.leaves), switches.leaf_name, "network.fabric.leaves"),
        figure(
            "Spines",
            number(shape.spines),
            switches.spine_name or "one pair of leaves needs none",
            "network.fabric.spines",
        ),
        figure(
            "Oversubscription",
            _ratio(shape.oversubscription),
            f"at most {number(found.max_oversubscription)}:1",
            "network.fabric.oversubscription",
        ),
        figure(
            "Cables to hosts",
            number(shape.host_cables),
            f"and {number(between[1])} {between[0]}",
            "network.fabric.host_cables",
        ),
    ]
    return title | {"figures": figures}


def _both(ports: Ports) -> str:
    return f"{number(ports.shared)} + {number(ports.rdma)}" if ports.rdma else number(ports.shared)


def _ratio(value: float) -> str:
    return f"{rate(value)}:1"


def drawing_data(workbook: Workbook) -> dict[str, Any]:
    """The switches and hosts to draw, with the words for each."""
    found = workbook.plan.cabling
    if found is None or found.switches is None:
        return {"shown": False}
    switches, shape = found.switches, found.switches.shape
    infiniband = workbook.plan.scenario.network.transport == "infiniband"
    spine_link = f"{number(shape.links_per_spine)} \u00d7 {number(switches.up_gbit_s)} Gbit/s"
    peer_link = f"{number(shape.peer_cables)} \u00d7 {number(switches.up_gbit_s)} Gbit/s"
    return {
        "shown": True,
        "about": _about(found, switches),
        "spines": {
            "count": shape.spines,
            "drawn": min(shape.spines, SHOWN_SWITCHES),
            "name": switches.spine_name,
            "links": shape.links_per_spine,
            "text": spine_link,
            "words": f"{amount(shape.links_per_spine, 'link')} from each leaf to each spine",
        },
        "leaves": {
            "count": shape.leaves,
            "drawn": min(shape.leaves, SHOWN_SWITCHES),
            "name": switches.leaf_name,
        },
        "peer": {"links": shape.peer_cables, "text": peer_link},
        "hosts": {
            "text": _hosts_words(found),
            "pair": _pair_text(found, shape.hosts_per_pair, shape.leaves),
            "ports": [
                *_ports_words(found, switches),
                f"at most {number(shape.host_links_per_leaf)} to each leaf",
            ],
            "links": shape.host_links_per_leaf,
            "rdma": 0 if infiniband else found.ports.rdma,
            "apart": f"{amount(found.ports.rdma, 'InfiniBand port')} of a host on a fabric of its own"
            if infiniband and found.ports.rdma
            else "",
        },
        "stale": workbook.stale,
    }


def _hosts_words(found: Cabling) -> list[str]:
    compute = [amount(found.compute_hosts, "compute host")] if found.compute_hosts else []
    return [amount(found.gpu_hosts, "GPU host"), *compute]


def _pair_text(found: Cabling, each: int, leaves: int) -> str:
    return " and ".join(_hosts_words(found)) if leaves == 2 else f"up to {amount(each, 'host')}"


def _ports_words(found: Cabling, switches: Switches) -> list[str]:
    rdma = f" + {number(found.ports.rdma)} RDMA" if found.distributed_switches > 1 else ""
    return [
        f"{number(found.ports.shared)} shared{rdma} ports",
        f"of {number(switches.port_gbit_s)} Gbit/s each",
    ]


def _about(found: Cabling, switches: Switches) -> str:
    """The whole drawing in words."""
    shape = switches.shape
    leaves = f"{number(shape.leaves)} leaf switches {switches.leaf_name}"
    up = f"{number(switches.up_gbit_s)} Gbit/s"
    if shape.spines:
        joined = (
            f"in pairs under {number(shape.spines)} spine switches {switches.spine_name}, with "
            f"{amount(shape.links_per_spine, 'link')} of {up} from each leaf to each spine"
        )
    else:
        joined = f"joined by {amount(shape.peer_cables, 'link')} of {up}, without spines"
    return (
        f"{leaves}, {joined}. {' and '.join(_hosts_words(found))}, up to {number(shape.hosts_per_pair)} on a pair of leaves, with "
        f"{' '.join(_ports_words(found, switches))}, at most {number(shape.host_links_per_leaf)} of them to each leaf. "
        f"Oversubscription {_ratio(shape.oversubscription)}."
    )


def settings_data(workbook: Workbook) -> dict[str, Any]:
    """What must be configured, and where."""
    found = workbook.plan.cabling
    if found is None:
        return {"shown": False}
    table = settings(found).dressed(
        "what", lambda n, _: {"note": source_titles(workbook, found.settings[n].sources)}
    )
    return {
        "shown": True,
        "title": "Settings",
        "tables": [screen(table)],
        "stale": workbook.stale,
    }


def failures_data(workbook: Workbook) -> dict[str, Any]:
    """What is left when a part of the network fails."""
    found = workbook.plan.cabling
    if found is None:
        return {"shown": False}
    return {
        "shown": True,
        "title": "When a part fails",
        "tables": [screen(part_failures(found))],
        "stale": workbook.stale,
    }
