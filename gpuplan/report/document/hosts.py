"""Chapter 5: hosts, who is placed on them, and what silos would take."""

from __future__ import annotations

from collections import Counter

from gpuplan.analysis.silos import silos
from gpuplan.plan import Plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.document.access import MOST_GROUPS
from gpuplan.report.document.blocks import Block, Bullets, Chapter, Paragraph, Section
from gpuplan.report.document.writing import and_more, drawn, grid_of, tabled
from gpuplan.report.tables import group_names, idle_text
from gpuplan.report.tables.demand import silos as silos_table
from gpuplan.wording import MODE_NAMES, amount, number

MOST_HOSTS = 24
"""Hosts of a pool that are listed one by one; more are counted by what stands on them."""


PROVEN = {
    "volume": "proven: fewer hosts have too little room",
    "large": "proven: the VMs are too large to share fewer hosts",
    "programme": "proven: no way to fill the hosts does with fewer",
}


# 5


def hosts_chapter(plan: Plan) -> Chapter:
    from gpuplan.report import diagrams

    title = "Hosts and placement"
    if not plan.pools:
        return Chapter(title, (Paragraph("No host is needed."),))
    rows = [
        (
            pool.name,
            _server(plan, pool),
            plan.catalog.gpus[pool.gpu].name,
            number(pool.gpus_per_host),
            f"{number(pool.hosts_for_demand)} + {number(pool.hosts_for_failures)}",
            number(pool.hosts),
            number(pool.gpus),
        )
        for pool in plan.pools
    ]
    blocks: list[Block] = [
        Paragraph(
            "A cluster is a set of hosts that stand in for each other. Every VM has its place on one of them."
        ),
        *grid_of(
            "Clusters: hosts for the demand + hosts for failure and maintenance",
            ("Cluster", "Server", "GPU", "GPUs per host", "Demand + spare", "Hosts", "GPUs"),
            rows,
            right=(3, 4, 5, 6),
        ),
        *drawn(
            diagrams.hosts_svg(plan),
            "The hosts, their GPUs and who uses them",
            f"Drawing of {amount(plan.totals.hosts, 'host')} with {amount(plan.totals.gpus, 'GPU')}, each GPU marked with the letter "
            "of the group on it.",
        ),
    ]
    sections = [
        Section(pool.name if len(plan.pools) > 1 else "What stands where", tuple(_placement(plan, pool)))
        for pool in plan.pools
    ]
    if 1 < len(plan.groups) <= MOST_GROUPS:
        sections.append(Section("One pool instead of silos", tuple(_silos(plan))))
    return Chapter(title, tuple(blocks), tuple(sections))


def _server(plan: Plan, pool: Pool) -> str:
    return plan.catalog.servers[pool.server].name if pool.server else "to be chosen"


def _placement(plan: Plan, pool: Pool) -> list[Block]:
    stands = [
        (_on_host(plan, pool, at), room.gpus - sum(load.gpus for load in pool.placement[at]))
        for at, room in enumerate(pool.rooms)
    ]
    if len(stands) <= MOST_HOSTS:
        caption, head = "What stands on each host", "Host"
        rows = [(str(n), what, number(free)) for n, (what, free) in enumerate(stands, 1)]
    else:
        caption, head = "Hosts by what stands on them", "Hosts"
        rows = [(number(n), what, number(free)) for (what, free), n in Counter(stands).most_common()]
    proof = PROVEN.get(pool.method, "")
    text = f"The demand takes {amount(pool.hosts_for_demand, 'host')} ({proof})."
    if not proof:
        text = f"A placement on {amount(pool.hosts_without_spare, 'host')} was found; the least that any could have is {pool.bound}."
        if pool.hosts_without_spare == pool.bound:
            text += " So no other placement does with fewer."
    blocks: list[Block] = [Paragraph(text)]
    blocks += grid_of(
        f"{pool.name}: {caption[0].lower()}{caption[1:]}" if len(plan.pools) > 1 else caption,
        (head, "What stands on it", "GPUs free"),
        rows,
        right=(0, 2),
        widths=(0.1, 0.76, 0.14),
        most=MOST_HOSTS,
    )
    idle = tuple(idle_text(plan, each) for each in pool.idle)
    if idle:
        blocks += [
            Paragraph("GPUs that are idle on hosts in use:"),
            Bullets(idle[:MOST_HOSTS]),
            *and_more(len(idle) - MOST_HOSTS),
        ]
    return blocks


def _on_host(plan: Plan, pool: Pool, at: int) -> str:
    """What is on a host, equal loads counted."""
    names = group_names(plan)
    counts: Counter[str] = Counter()
    for load in pool.placement[at]:
        who = Counter(slot.group for slot in load.slots)
        if load.family:
            sharing = " + ".join(f"{n} x {names[g]}" for g, n in who.items())
            counts[f"GPU shared by {sharing} ({MODE_NAMES.get(load.family.name, load.family.name)})"] += 1
        else:
            counts[
                f"{names[load.slots[0].group]} with {'a GPU' if load.gpus == 1 else f'{load.gpus} GPUs'}"
            ] += 1
    return "; ".join(f"{n} x {what}" if n > 1 else what for what, n in counts.items()) or "Spare"


def _silos(plan: Plan) -> list[Block]:
    found = silos(plan)
    if found.saved_gpus > 0:
        text = f"The pool needs {amount(found.saved_gpus, 'GPU')} fewer than a silo for each group would."
    else:
        text = "The pool needs as many GPUs as a silo for each group would, or more."
    return [
        Paragraph(
            f"{text} Each silo has spare hosts of its own; a stated total and hosts already there are left aside."
        ),
        *tabled(silos_table(plan, found)),
    ]
