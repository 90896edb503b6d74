"""The network: what it carries, the networks to hand out, and how adapters and switches are set."""

from __future__ import annotations

from gpuplan.deliver.document.blocks import Block, Bullets, Chapter, Paragraph, chapter, section
from gpuplan.deliver.document.writing import MOST_ROWS, Citations, tabled
from gpuplan.plan import Plan
from gpuplan.plan.remote_gpus import RemoteUse
from gpuplan.plan.training.use import TrainingUse
from gpuplan.report.headlines import HEADLINES
from gpuplan.report.tables.build import network_plan
from gpuplan.report.tables.network import remote_gpus, rules, settings, speed_kept
from gpuplan.wording import TRANSPORT_NAMES, number, said


def network_chapter(plan: Plan, cite: Citations) -> Chapter:
    """What the network carries, and how it is set up."""
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
