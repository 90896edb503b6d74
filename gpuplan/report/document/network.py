"""Chapter 7: what the network carries, and the fabric."""

from __future__ import annotations

from gpuplan.plan import Plan
from gpuplan.plan.fabric import Cabling
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training import TrainingUse
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, Section, chapter, section
from gpuplan.report.document.writing import MOST_ROWS, Citations, drawn, tabled
from gpuplan.report.tables.network import cabling, part_failures, remote_gpus, rules, settings, training
from gpuplan.wording import TRANSPORT_NAMES, amount, number


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 7: what the network carries, and the fabric."""
    given, use, fabric = plan.scenario.network, plan.network, plan.cabling
    link = (
        f"Each GPU host has links of {number(given.link_gbit_s)} Gbit/s with {TRANSPORT_NAMES[given.transport]}, MTU "
        f"{number(given.mtu_bytes)} bytes."
    )
    return chapter(
        "Network",
        Paragraph(link),
        section("Work over the network", _work(plan, cite)),
        section("The vendor's rules for remote GPUs", tabled(rules(plan), cite)) if use.rules else None,
        _fabric(plan, fabric, cite) if fabric is not None else None,
    )


def _fabric(plan: Plan, fabric: Cabling, cite: Citations) -> list[Section]:
    from gpuplan.report import diagrams

    drawing = drawn(
        diagrams.fabric_svg(plan),
        "Hosts, leaf and spine switches",
        f"Drawing of {amount(fabric.gpu_hosts, 'GPU host')} and the switches that they connect to.",
    )
    return [
        section("Ports and switches", tabled(cabling(fabric), widths=(0.3, 0.7)), drawing),
        section("Settings", tabled(settings(fabric), cite)),
        section("When a part fails", tabled(part_failures(fabric))),
    ]


def _work(plan: Plan, cite: Citations) -> list[Block]:
    use = plan.network
    blocks: list[Block] = []
    if use.remote:
        blocks += tabled(remote_gpus(plan), cite)
    else:
        blocks.append(Paragraph("No GPU is reached over the network."))
    blocks += tabled(training(plan).without("per_s", "hours", "knee_hosts"), cite)
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.asked)
    changes = [
        f"{each.name}: {'; '.join(each.changes)}."
        for each in works
        if each.changes and each.verdict != "good"
    ]
    if changes:
        blocks += [Paragraph("What would change it:"), Bullets(tuple(changes[:MOST_ROWS]))]
    return blocks
