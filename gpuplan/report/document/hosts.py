"""Chapter 5: hosts, who is placed on them, and what silos would take."""

from __future__ import annotations

from gpuplan.analysis.silos import silos
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.document.access import MOST_GROUPS
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.report.document.writing import Citations, and_more, drawn, tabled
from gpuplan.report.tables import idle_text
from gpuplan.report.tables.demand import silos as silos_table
from gpuplan.report.tables.inventory import hosts_there, inventory
from gpuplan.report.tables.plan import clusters_alike, hosts, pools
from gpuplan.report.tables.platform import host_line, management, management_hosts
from gpuplan.report.tables.power_on import power_on
from gpuplan.report.tables.power_on import said as answer
from gpuplan.wording import NAMES, amount, some_of

MOST_HOSTS = 24
"""Hosts of a pool that are listed one by one; more are counted by what stands on them."""
MOST_CLUSTERS = 12
"""Clusters that are filled otherwise, each with a section of its own."""
PROVEN = NAMES["proof"]
PART_WIDTHS = (0.14, 0.22, 0.42, 0.11, 0.11)
"""Share of the width of each column of the parts of a host."""


def hosts_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Chapter 5: hosts, what stands on them, and what silos would take."""
    from gpuplan.report import diagrams

    title = "Hosts and placement"
    if not plan.pools:
        return Chapter(title, (Paragraph("No host is needed."),))
    lead = "A cluster is a set of hosts that stand in for each other."
    drawing = drawn(
        diagrams.hosts_svg(plan),
        "The hosts, their GPUs and VMs",
        f"Drawing of {amount(plan.totals.hosts, 'host')} with {amount(plan.totals.gpus, 'GPU')}, each GPU marked with the letter of "
        "the group on it.",
    )
    clusters = clusters_alike(plan)
    names = [pool.name for pool in clusters] if len(plan.pools) > 1 else ["What stands where"]
    shown = list(zip(names, clusters, strict=True))[:MOST_CLUSTERS]
    return chapter(
        title,
        Paragraph(lead),
        tabled(pools(plan, *(plan.pools if len(plan.pools) <= MOST_HOSTS else clusters))),
        section("Hosts already there", [*tabled(hosts_there(plan)), *tabled(inventory(plan))])
        if plan.inventory
        else None,
        drawing,
        (section(name, _placement(plan, pool)) for name, pool in shown),
        and_more(len(clusters) - len(shown)),
        section("Power-on", _power_on(plan, cite)),
        section("A host to order", tabled(host_line(plan), cite, widths=PART_WIDTHS)),
        section("Management domain", _management(plan, cite)),
        section("One pool instead of silos", _silos(plan)) if 1 < len(plan.groups) <= MOST_GROUPS else None,
    )


def _placement(plan: Plan, pool: Pool) -> list[Block]:
    table = hosts(plan, [pool], MOST_HOSTS)
    proof = PROVEN.get(pool.method, "")
    text = f"The demand takes {amount(pool.hosts_at_best, 'host')} ({proof})."
    if not proof:
        text = f"A placement on {amount(pool.hosts_without_spare, 'host')} was found; the least that any could have is {pool.bound}."
        if pool.hosts_without_spare == pool.bound:
            text += " So no other placement does with fewer."
    if more := pool.hosts_for_demand - pool.hosts_at_best:
        text += f" It is given {amount(more, 'host')} more, so that nearly every order of power-on starts all VMs."
    blocks: list[Block] = [Paragraph(text)]
    many = f"{pool.name}: {table.title[0].lower()}{table.title[1:]}" if len(plan.pools) > 1 else ""
    blocks += tabled(table, caption=many, widths=(0.1, 0.76, 0.14), most=MOST_HOSTS)
    idle = tuple(idle_text(plan, each) for each in pool.idle)
    if idle:
        blocks += [
            Paragraph("GPUs that are idle on hosts in use:"),
            Bullets(idle[:MOST_HOSTS]),
            *and_more(len(idle) - MOST_HOSTS),
        ]
    return blocks


def _power_on(plan: Plan, cite: Citations) -> list[Block]:
    """What becomes of the VMs as vSphere starts one after another, as it is set and otherwise."""
    said: dict[str, list[str]] = {}
    for made in plan.power_on.values():
        said.setdefault(answer(made), []).append(made.pool.name)
    sources = [source for made in plan.power_on.values() for each in made.readings for source in each.sources]
    several = len(plan.power_on) > 1
    lines = {f"pools.{id}.power_on_chance" for id in plan.power_on}
    decided = [each for each in plan.decisions if lines & {*each.lines}]
    return [
        *(Paragraph(f"{some_of(names)}: " * several + text + cite(sources)) for text, names in said.items()),
        *tabled(power_on(plan) if several else power_on(plan).without("pool")),
        *(Paragraph(f"Design decision {each.number}: {each.decision}") for each in decided),
    ]


def _management(plan: Plan, cite: Citations) -> list[Block]:
    """The appliances, and the hosts that carry them."""
    hosts = tabled(management_hosts(plan), cite, widths=PART_WIDTHS)
    return [*tabled(management(plan), cite), *hosts]


def _silos(plan: Plan) -> list[Block]:
    found = silos(plan)
    if found.saved_gpus > 0:
        text = f"The pool needs {amount(found.saved_gpus, 'GPU')} fewer than a silo for each group would."
    else:
        text = "The pool needs as many GPUs as a silo for each group would, or more."
    return [
        Paragraph(
            f"{text} Each silo has its own failover capacity; a stated total and existing hosts are left aside."
        ),
        *tabled(silos_table(plan, found)),
    ]
