"""Hosts, who is placed on them, and what silos would take."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.analysis.silos import silos
from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import and_more, drawn, tabled
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.tables import idle_text
from gpuplan.report.tables.demand import silos as silos_table
from gpuplan.report.tables.plan import clusters_alike, hosts, pools
from gpuplan.report.tables.platform import hosts_there, inventory
from gpuplan.wording import NAMES, amount, said, some_of

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
    told: dict[str, list[str]] = {}
    for pool in clusters:
        told.setdefault(_hosts_needed(pool), []).append(pool.name)
    several = len(plan.pools) > 1
    blocks: list[Block] = [Paragraph(f"{some_of(names)}: " * several + text) for text, names in told.items()]
    for pool in clusters[:MOST_CLUSTERS]:
        table = hosts(plan, [pool], MOST_HOSTS)
        caption = f"{pool.name}: {table.title[0].lower()}{table.title[1:]}" if several else ""
        blocks += tabled(table, caption=caption, widths=(0.1, 0.76, 0.14), most=MOST_HOSTS)
    blocks += and_more(len(clusters) - MOST_CLUSTERS)
    idle = tuple(idle_text(plan, each) for pool in clusters for each in pool.idle)
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
    found = silos(plan)
    if found.saved_gpus > 0:
        text = said("hosts.the pool needs fewer", gpus=amount(found.saved_gpus, "GPU"))
    else:
        text = said("hosts.the pool needs as")
    return [
        Paragraph(f"{text} {said('hosts.each silo')}"),
        *tabled(silos_table(plan, found)),
    ]
