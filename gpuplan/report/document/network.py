"""Chapter 7: what the network carries, and the fabric."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import TrainingUse
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, Section
from gpuplan.report.document.writing import MOST_ROWS, Citations, drawn, tabled
from gpuplan.report.tables.network import cabling, part_failures, remote_gpus, rules, settings, training
from gpuplan.wording import TRANSPORT_NAMES, amount, number


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 7: what the network carries, and the fabric."""
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
        parts: list[Block] = tabled(cabling(fabric), widths=(0.3, 0.7))
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
    blocks += tabled(training(plan).without("per_s", "hours", "knee_hosts"), cite)
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.training)
    changes = [
        f"{each.name}: {'; '.join(each.changes)}."
        for each in works
        if each.changes and each.verdict != "good"
    ]
    if changes:
        blocks += [Paragraph("What would change it:"), Bullets(tuple(changes[:MOST_ROWS]))]
    return blocks
