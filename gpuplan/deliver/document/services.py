"""Cluster services: how HA, DRS, vMotion and GPUs are set, power-on, and what vSphere does by itself."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import Citations, tabled
from gpuplan.plan import Plan
from gpuplan.report.tables.build import cluster_settings
from gpuplan.report.tables.over_time import answer, power_on
from gpuplan.report.tables.vsphere_rules import behaviour
from gpuplan.wording import said, some_of


def services_chapter(plan: Plan, cite: Citations) -> Chapter:
    """How the clusters are set, and what follows at power-on."""
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
    """What becomes of the VMs as vSphere starts one after another, as it is set and otherwise."""
    told: dict[str, list[str]] = {}
    for made in plan.power_on.values():
        told.setdefault(answer(made), []).append(made.pool.name)
    sources = [source for made in plan.power_on.values() for each in made.readings for source in each.sources]
    several = len(plan.power_on) > 1
    return [
        *(Paragraph(f"{some_of(names)}: " * several + text + cite(sources)) for text, names in told.items()),
        *tabled(power_on(plan) if several else power_on(plan).without("pool")),
    ]
