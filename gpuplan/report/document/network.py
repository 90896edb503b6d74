"""Chapter 7: what the network carries, and the fabric."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import TrainingUse
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, Section
from gpuplan.report.document.writing import MOST_ROWS, Citations, drawn, grid_of, tabled
from gpuplan.report.tables.network import part_failures, remote_gpus, rules, settings, training
from gpuplan.wording import TRANSPORT_NAMES, amount, number

# 7


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    from gpuplan.report import diagrams

    given, use, fabric = plan.scenario.network, plan.network, plan.cabling
    blocks: list[Block] = [
        Paragraph(
            f"Each GPU host has links of {number(given.link_gbit_s)} Gbit/s with {TRANSPORT_NAMES[given.transport]}, MTU "
            f"{number(given.mtu_bytes)} bytes."
        )
    ]
    sections = [Section("Work over the network", tuple(_work(plan, cite)))]
    if use.rules:
        table = tabled(rules(plan), cite)
        sections.append(Section("The vendor's rules for remote GPUs", tuple(table)))
    if fabric is not None:
        parts: list[Block] = [*_fabric(plan)]
        parts += drawn(
            diagrams.fabric_svg(plan),
            "Hosts, leaf and spine switches",
            f"Drawing of {amount(fabric.gpu_hosts, 'GPU host')} and the switches that they connect to.",
        )
        sections.append(Section("Ports and switches", tuple(parts)))
        sections.append(Section("Settings", tuple(tabled(settings(fabric), cite))))
        sections.append(Section("When a part fails", tuple(tabled(part_failures(fabric)))))
    return Chapter("Network", tuple(blocks), tuple(s for s in sections if s.blocks))


def _work(plan: Plan, cite: Citations) -> list[Block]:
    use = plan.network
    blocks: list[Block] = []
    if use.remote:
        blocks += tabled(remote_gpus(plan), cite)
    else:
        blocks.append(Paragraph("No group reaches its GPUs over the network."))
    blocks += tabled(training(plan), cite)
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.training)
    changes = [
        f"{each.name}: {'; '.join(each.changes)}."
        for each in works
        if each.changes and each.verdict != "good"
    ]
    if changes:
        blocks += [Paragraph("What would change it:"), Bullets(tuple(changes[:MOST_ROWS]))]
    return blocks


def _fabric(plan: Plan) -> list[Block]:
    fabric = plan.cabling
    assert fabric is not None
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
    return grid_of("Ports and switches", ("", ""), rows, widths=(0.3, 0.7))
