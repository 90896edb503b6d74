"""The design as text: the answer, the groups, the hosts, the decisions and the messages."""

from __future__ import annotations

from gpuplan.locales import spoken
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.summary import key_figures
from gpuplan.report.table import indented
from gpuplan.report.tables import idle_text
from gpuplan.report.tables.availability import postures
from gpuplan.report.tables.inventory import hosts_there, inventory
from gpuplan.report.tables.models import retrieval, serving, tuning
from gpuplan.report.tables.network import fabric_words, network_name, speed_kept
from gpuplan.report.tables.plan import clusters_alike, equipment, groups, hosts
from gpuplan.report.tables.platform import host_line, management, management_hosts
from gpuplan.report.text import chapter, heading, page, pairs, wrapped
from gpuplan.wording import MODE_NAMES

MOST_HOSTS = 24
"""Hosts of a cluster that are listed one by one."""


@spoken
def plan_text(plan: Plan) -> str:
    """The design as text: the answer, the groups, the hosts, the decisions and the messages."""
    return page(
        plan.scenario.name + (f" for {plan.scenario.customer}" if plan.scenario.customer else ""),
        pairs((name, f"{value}  ({note})") for name, value, note in key_figures(plan)),
        chapter(groups(plan)),
        chapter(serving(plan)),
        chapter(tuning(plan)),
        chapter(retrieval(plan)),
        _access(plan),
        _inventory(plan),
        *(_pool(plan, pool) for pool in clusters_alike(plan)),
        _power_on(plan),
        chapter(host_line(plan).without("sources"), below=("rule",)),
        chapter(management(plan).without("sources")),
        chapter(management_hosts(plan).without("sources"), below=("rule",)),
        chapter(postures(plan)),
        _network(plan),
        _decisions(plan),
        _messages(plan),
    )


def _access(plan: Plan) -> str:
    """Why each group reaches its GPUs as it does."""
    said = []
    for group in plan.groups:
        why = " ".join(reason.text for reason in group.reasons)
        said.append(wrapped(f"{group.name}: {MODE_NAMES[group.mode]}. {why}"))
        said += [wrapped(f"but: {reason.text}", "    ") for reason in group.against]
        said += [wrapped(f"not {MODE_NAMES[r.mode]}: {r.reason.text}", "    ") for r in group.ruled_out]
    return heading("Why this access mode") + "\n".join(said) if said else ""


def _inventory(plan: Plan) -> str:
    """What fits on the hosts already there, where there are any."""
    return "\n\n".join((chapter(hosts_there(plan)), chapter(inventory(plan)))) if plan.inventory else ""


def _pool(plan: Plan, pool: Pool) -> str:
    """What stands on each host of a cluster, those that are filled alike together if there are many, and what is idle there."""
    idle = (idle_text(plan, each) for each in pool.idle)
    return chapter(hosts(plan, [pool], MOST_HOSTS), *idle, title=f"{pool.name}: {equipment(plan, pool)}")


def _power_on(plan: Plan) -> str:
    """In how many power-on orders not every VM starts; ``gpuplan power-on`` has the rest."""
    said = dict.fromkeys(made.sentence for made in plan.power_on.values())
    return heading("Power-on") + "\n".join(map(wrapped, said)) if said else ""


def _decisions(plan: Plan) -> str:
    said = []
    for each in plan.decisions:
        said.append(wrapped(f"({each.number}) {each.decision}"))
        said.append(wrapped(f"Justification: {each.justification}", "    "))
        said.append(wrapped(f"Implication: {each.implication}", "    "))
    return heading("Design decisions") + "\n".join(said) if said else ""


def _messages(plan: Plan) -> str:
    said = []
    for message in check_plan(plan):
        said.append(
            wrapped(f"{message.level.upper():4}  {message.text} {message.change}".rstrip(), "", " " * 6)
        )
        if message.sources:
            where = f" {message.locator}" if message.locator else ""
            said.append(indented(f"[{', '.join(message.sources)}{where}]", 6))
    return heading("Messages") + "\n".join(said) if said else ""


def _network(plan: Plan) -> str:
    """The link, the fabric and what they do to the work; ``gpuplan network`` has the rest."""
    rows = [("Link", network_name(plan.scenario.network.link_gbit_s, plan.scenario.network.transport))]
    if plan.cabling is not None:
        rows.append(("Fabric", fabric_words(plan.cabling)))
    return "\n\n".join(filter(None, [heading("Network") + pairs(rows), chapter(speed_kept(plan))]))
