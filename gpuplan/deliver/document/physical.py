"""Hosts with their placement, and the physical design: racks, ports, switches, versions, licences, the network and its traffic."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.analysis.silos import silos
from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, and_more, drawn, of_clusters, tabled
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.physical import on_kubernetes
from gpuplan.report.tables import idle_text
from gpuplan.report.tables.build import (
    licences,
    naming,
    network_plan,
    rack_plan,
    software,
    storage,
    vm_classes,
)
from gpuplan.report.tables.demand import silos as silos_table
from gpuplan.report.tables.network import cabling, part_failures, remote_gpus, rules, settings, speed_kept
from gpuplan.report.tables.plan import clusters_alike, hosts, pools, shared_gpus
from gpuplan.report.tables.platform import host_line, hosts_there, inventory, management, management_hosts
from gpuplan.wording import NAMES, TRANSPORT_NAMES, amount, number, said, some_of

MOST_HOSTS = 24
"""Most hosts of a pool that are listed individually; more are counted by their load."""
MOST_GROUPS = 20
"""Most groups whose silos are compared with the pool."""
MOST_CLUSTERS = 12
"""Most clusters with different load that each have a section."""
PROVEN = NAMES["proof"]
PART_WIDTHS = (0.14, 0.22, 0.42, 0.11, 0.11)
"""Share of the width of each column of the parts of a host."""


def hosts_chapter(plan: Plan) -> Chapter:
    """Write the chapter of clusters and hosts, their load, and what silos would take."""
    from gpuplan.report import diagrams

    title = said("hosts.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("hosts.nothing")),))
    drawing = drawn(
        diagrams.hosts_svg(plan),
        said("hosts.figure"),
        said("hosts.figure alt", hosts=plan.totals.hosts, gpus=plan.totals.gpus),
    )
    clusters = clusters_alike(plan)
    return chapter(
        title,
        tabled(pools(plan, *(plan.pools if len(plan.pools) <= MOST_HOSTS else clusters))),
        section(said("hosts.existing"), [*tabled(hosts_there(plan)), *tabled(inventory(plan))])
        if plan.inventory
        else None,
        drawing,
        section(said("hosts.placement"), _placement(plan, clusters)),
        section(said("hosts.silos"), _silos(plan)) if 1 < len(plan.groups) <= MOST_GROUPS else None,
    )


def _placement(plan: Plan, clusters: Sequence[Pool]) -> list[Block]:
    """Say how many hosts the demand takes, once for all clusters where it holds, and what each host runs."""
    texts: dict[str, list[str]] = {}
    for pool in clusters:
        texts.setdefault(_hosts_needed(pool), []).append(pool.name)
    several = len(plan.pools) > 1
    blocks: list[Block] = [Paragraph(f"{some_of(names)}: " * several + text) for text, names in texts.items()]
    for pool in clusters[:MOST_CLUSTERS]:
        table = hosts(plan, [pool], MOST_HOSTS)
        caption = f"{pool.name}: {table.title[0].lower()}{table.title[1:]}" if several else ""
        blocks += tabled(table, caption=caption, widths=(0.1, 0.76, 0.14), most=MOST_HOSTS)
    blocks += and_more(len(clusters) - MOST_CLUSTERS)
    idle = tuple(idle_text(plan, item) for pool in clusters for item in pool.idle)
    if idle:
        listed = Bullets(idle[:MOST_HOSTS])
        blocks += [Paragraph(said("hosts.idle")), listed, *and_more(len(idle) - MOST_HOSTS)]
    return blocks


def _hosts_needed(pool: Pool) -> str:
    """Say how many hosts the demand takes, and how certain that is."""
    proof = PROVEN.get(pool.method, "")
    text = said("hosts.proven", hosts=pool.hosts_at_best, proof=proof)
    if not proof:
        least = pool.hosts_without_spare == pool.bound
        text = said(
            "hosts.found least" if least else "hosts.found", hosts=pool.hosts_without_spare, bound=pool.bound
        )
    if more := pool.hosts_for_demand - pool.hosts_at_best:
        text += " " + said("hosts.for orders", hosts=more)
    return text


def _silos(plan: Plan) -> list[Block]:
    result = silos(plan)
    if result.saved_gpus > 0:
        text = said("hosts.the pool needs fewer", gpus=amount(result.saved_gpus, "GPU"))
    else:
        text = said("hosts.the pool needs as")
    return [Paragraph(f"{text} {said('hosts.each silo')}"), *tabled(silos_table(plan, result))]


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
    names = [group.name for group in on_kubernetes(plan)]
    pods = Paragraph(said("software.on kubernetes", names=names))
    return chapter(
        title,
        section(said("software.versions"), tabled(software(plan), cite, widths=(0.26, 0.5, 0.14, 0.1))),
        section(
            said("software.classes"),
            tabled(vm_classes(plan), widths=(0.2, 0.25, 0.11, 0.15, 0.2, 0.09)),
            tabled(of_clusters(plan, shared_gpus(plan))),
        ),
        section(said("software.licences"), tabled(licences(plan), cite)),
        section(said("software.kubernetes"), pods if names else None),
    )


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter of the network's traffic and its configuration."""
    inputs, use, fabric = plan.scenario.network, plan.network, plan.cabling
    transport = TRANSPORT_NAMES[inputs.transport]
    link = said("network.link", link=inputs.link_gbit_s, transport=transport, mtu=number(inputs.mtu_bytes))
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
        f"{work.name}: {'; '.join(work.changes)}."
        for work in works
        if work.changes and work.verdict != "good"
    ]
    return (
        [*blocks, Paragraph(said("network.changes")), Bullets(tuple(changes[:MOST_ROWS]))]
        if changes
        else blocks
    )
