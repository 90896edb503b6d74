"""Operation of the clusters: settings and vSphere's behaviour, failures, maintenance, upgrades, immovable VMs."""

from __future__ import annotations

from collections.abc import Sequence

from gpuplan.deliver.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.physical import MOST_HOSTS
from gpuplan.deliver.document.writing import Citations, grid_of, of_clusters, tabled
from gpuplan.plan import Plan
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.report.tables import over_time
from gpuplan.report.tables.availability import failures, losses, postures
from gpuplan.report.tables.build import cluster_settings, upgrade_order
from gpuplan.report.tables.over_time import answer, power_on
from gpuplan.report.tables.plan import clusters_alike
from gpuplan.report.tables.platform import behaviour
from gpuplan.wording import MODE_NAMES, hours, said, some_of


def services_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter about cluster settings, and their effects at power-on."""
    title = said("services.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("services.nothing")),))
    return chapter(
        title,
        section(
            said("services.settings"),
            tabled(cluster_settings(plan), cite, widths=(0.14, 0.24, 0.22, 0.3, 0.1)),
        ),
        section(said("services.power-on"), _power_on(plan, cite)),
        section(said("services.behaviour"), tabled(behaviour(plan), cite, widths=(0.14, 0.6, 0.14, 0.12))),
    )


def _power_on(plan: Plan, cite: Citations) -> list[Block]:
    """Say what happens to the VMs as vSphere starts them in turn, as set and otherwise."""
    texts: dict[str, list[str]] = {}
    for trial in plan.power_on.values():
        texts.setdefault(answer(trial), []).append(trial.pool.name)
    sources = [
        source for trial in plan.power_on.values() for reading in trial.readings for source in reading.sources
    ]
    several = len(plan.power_on) > 1
    return [
        *(Paragraph(f"{some_of(names)}: " * several + text + cite(sources)) for text, names in texts.items()),
        *tabled(power_on(plan) if several else power_on(plan).without("pool")),
    ]


def availability_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write chapter 6: the effects of failures and maintenance."""
    if not plan.pools:
        return Chapter(said("availability.title"), (Paragraph(said("availability.without hosts there is")),))
    clusters = clusters_alike(plan)
    lead = said("availability.the check failed each", sentence=plan.placed.sentence)
    chosen = next((p for p in plan.postures if p.chosen), None)
    if plan.placed.state == "all" and chosen is not None and chosen.short_h > 0:
        lead += said("availability.if more hosts fail", short_h=hours(chosen.short_h))
    return chapter(
        said("availability.title"),
        Paragraph(lead, "lead"),
        section(
            said("availability.when a host fails"),
            tabled(of_clusters(plan, failures(plan, *clusters)), most=MOST_HOSTS),
            tabled(of_clusters(plan, losses(plan, *clusters))),
        ),
        section(said("availability.capacity shortfall and exposure"), _hours(plan, cite)),
    )


def _hours(plan: Plan, cite: Citations) -> list[Block]:
    sources = plan.lines["availability.host_up"].sources if "availability.host_up" in plan.lines else ()
    return [
        *tabled(postures(plan)),
        Paragraph(said("availability.the hours follow from", sources=cite(sources)), "note"),
    ]


RULES = ("denneman-drs-placement", "denneman-gpu-modes")
"""Sources that describe the placement rules."""


def operations_chapter(plan: Plan, cite: Citations) -> Chapter:
    """Write the chapter for the operators of the cluster."""
    title = said("operations.title")
    if not plan.pools:
        return Chapter(title, (Paragraph(said("operations.nothing")),))
    clusters = clusters_alike(plan)
    return chapter(
        title,
        section(
            said("operations.upgrades"), tabled(upgrade_order(plan), cite, widths=(0.08, 0.3, 0.5, 0.12))
        ),
        section(said("operations.hosts"), _hosts(plan, clusters, cite)),
        section(said("operations.maintenance"), _maintenance(plan)),
    )


def _hosts(plan: Plan, clusters: Sequence[Pool], cite: Citations) -> list[Block]:
    """Say whether each cluster can be upgraded host by host, where VMs move, and what restarts after a failure."""
    rehearsals = over_time.rehearsals(plan, *clusters)
    texts = over_time.verdicts(plan, rehearsals)
    left_out = [
        pool.name for pool in clusters if pool.id in plan.rehearsed and plan.rehearsed[pool.id].too_large
    ]
    texts += [f"{some_of(left_out)}: {over_time.TOO_LARGE}"] if left_out else []
    start = list(dict.fromkeys(over_time.start_sentence(rehearsal) for rehearsal in rehearsals))
    return [
        *(Paragraph(text) for text in texts),
        *tabled(of_clusters(plan, over_time.upgrades(plan, *clusters)), most=MOST_HOSTS),
        *(Paragraph(f"{text}{cite(RULES)}", "note") for text in start),
    ]


def _stun(group: GroupPlan) -> str:
    """Say how long a VM is stunned while it moves."""
    if group.stun_s is None:
        return said("operations.stun not known" if group.stun_not_known else "operations.no vmotion")
    return f"{round(group.stun_s)} s"


def _maintenance(plan: Plan) -> list[Block]:
    accepted = plan.scenario.availability.maintenance_failure_accepted
    rows: dict[tuple[str, str, str], list[str]] = {}
    for group in plan.groups:
        for trait in group.traits:
            if trait.feature == "Maintenance":
                rows.setdefault((MODE_NAMES[group.mode], trait.text, _stun(group)), []).append(group.name)
    heads = tuple(said(f"operations.maintenance.{key}") for key in ("workloads", "access", "text", "stun"))
    cells = [(some_of(names), mode, text, stun) for (mode, text, stun), names in rows.items()]
    return [
        Paragraph(said("operations.accepted" if accepted else "operations.not accepted")),
        *grid_of(
            said("operations.maintenance table"), heads, cells, right=(3,), widths=(0.28, 0.13, 0.44, 0.15)
        ),
    ]
