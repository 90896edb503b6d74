"""The physical design with software and network: racks, ports, switches, a GPU host, versions, licences, traffic."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.hosts import PART_WIDTHS
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, drawn, of_clusters, tabled
from gpuplan.plan import Plan
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.physical import on_kubernetes
from gpuplan.report.tables.build import (
    licences,
    naming,
    network_plan,
    rack_plan,
    software,
    storage,
    vm_classes,
)
from gpuplan.report.tables.network import cabling, part_failures, remote_gpus, rules, settings, speed_kept
from gpuplan.report.tables.plan import shared_gpus
from gpuplan.report.tables.platform import host_line, management, management_hosts
from gpuplan.wording import TRANSPORT_NAMES, amount, number, said


def physical_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Racks, hosts, switches and their names."""
    from gpuplan.report import diagrams
    from gpuplan.report.architecture import racks_svg

    title, fabric = said("physical.title"), plan.cabling
    if not plan.pools or fabric is None:
        return Chapter(title, (Paragraph(said("physical.nothing")),))
    drawing = said("physical.drawing of and the", hosts=amount(fabric.gpu_hosts, "GPU host"))
    return chapter(
        title,
        section(said("physical.host section"), tabled(host_line(plan), cite, widths=PART_WIDTHS)),
        section(
            said("physical.racks"),
            drawn(
                racks_svg(plan),
                said("physical.racks figure"),
                said("physical.about", racks=plan.power.racks if plan.power else 0),
            ),
            tabled(
                rack_plan(plan) if any(pool.site for pool in plan.pools) else rack_plan(plan).without("site")
            ),
        ),
        section(
            said("physical.switches"),
            tabled(cabling(fabric), widths=(0.3, 0.7)),
            drawn(diagrams.fabric_svg(plan), said("physical.fabric figure"), drawing),
            tabled(part_failures(fabric)),
        ),
        section(said("physical.names"), tabled(naming(plan))),
        section(said("storage.title"), tabled(storage(plan), widths=(0.3, 0.7))),
        section(
            said("physical.management section"),
            tabled(management(plan), cite),
            tabled(management_hosts(plan), cite, widths=PART_WIDTHS),
        ),
    )


def software_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of software versions and of the resources of each VM."""
    title = said("software.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("software.nothing")),))
    return chapter(
        title,
        section(said("software.versions"), tabled(software(plan), cite, widths=(0.26, 0.5, 0.14, 0.1))),
        section(
            said("software.classes"),
            tabled(vm_classes(plan), widths=(0.2, 0.25, 0.11, 0.15, 0.2, 0.09)),
            tabled(of_clusters(plan, shared_gpus(plan))),
        ),
        section(said("software.licences"), tabled(licences(plan), cite)),
        section(said("software.kubernetes"), _kubernetes(plan)),
    )


def _kubernetes(plan: Plan) -> list[Block]:
    names = [group.name for group in on_kubernetes(plan)]
    return [Paragraph(said("software.on kubernetes", names=names))] if names else []


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of the network's traffic and its configuration."""
    given, use, fabric = plan.scenario.network, plan.network, plan.cabling
    transport = TRANSPORT_NAMES[given.transport]
    link = said("network.link", link=given.link_gbit_s, transport=transport, mtu=number(given.mtu_bytes))
    return chapter(
        said("network.title"),
        Paragraph(HEADLINES["network"](plan).sentence, "lead"),
        Paragraph(link),
        section(said("network.networks"), tabled(network_plan(plan))) if plan.pools else None,
        section(said("network.settings"), tabled(settings(fabric), cite)) if fabric else None,
        section(said("network.work"), _work(plan, cite)),
        section(said("network.rules"), tabled(rules(plan), cite)) if use.rules else None,
    )


def _work(plan: Plan, cite: Citations) -> list[Block]:
    use = plan.network
    blocks: list[Block] = [*tabled(speed_kept(plan).keyless(), cite)]
    blocks += tabled(remote_gpus(plan), cite) if use.remote else [Paragraph(said("network.no remote"))]
    works: tuple[RemoteUse | TrainingUse, ...] = (*use.remote, *use.asked)
    changes = [
        f"{each.name}: {'; '.join(each.changes)}."
        for each in works
        if each.changes and each.verdict != "good"
    ]
    return (
        [*blocks, Paragraph(said("network.changes")), Bullets(tuple(changes[:MOST_ROWS]))]
        if changes
        else blocks
    )
