"""The design as text, and the VMs that a failure of its hosts affects."""

from collections.abc import Iterator, Sized
from typing import Any

from gpuplan.locales import spoken
from gpuplan.models.availability.failover import Outcome
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.figures import Figures
from gpuplan.report.plan_data import as_json
from gpuplan.report.table import Table, filled
from gpuplan.report.tables import group_names, idle_text
from gpuplan.report.tables.availability import postures
from gpuplan.report.tables.models import retrieval, serving, tuning
from gpuplan.report.tables.network import fabric_words, network_name, speed_kept
from gpuplan.report.tables.plan import clusters_alike, equipment, groups, hosts, within
from gpuplan.report.tables.platform import host_line, hosts_there, inventory, management, management_hosts
from gpuplan.report.text import Block, chapter, indented, page, pairs, wrapped
from gpuplan.wording import said

MOST_HOSTS = 24
AFFECTED = ("restarted", "moved", "unplaced")


@spoken
def plan_text(plan: Plan) -> str:
    """The design as text: the answer, the groups, the hosts, the decisions and the messages."""
    return page(
        said("summary.title of a customer" if plan.scenario.customer else "summary.title", of=plan.scenario),
        pairs((name, f"{value}  ({note})") for name, value, note in Figures(plan).tiles("summary")),
        chapter(within(plan), below=("why",)),
        groups(plan),
        serving(plan),
        tuning(plan),
        retrieval(plan),
        chapter(said("table.groups.why"), *_access(plan)),
        (hosts_there(plan), inventory(plan)) if plan.inventory else (),
        (_pool(plan, pool) for pool in clusters_alike(plan)),
        chapter(said("power on.chapter"), *dict.fromkeys(trial.sentence for trial in plan.power_on.values())),
        chapter(host_line(plan).without("sources"), below=("rule",)),
        management(plan).without("sources"),
        chapter(management_hosts(plan).without("sources"), below=("rule",)),
        postures(plan),
        chapter(said("network.title"), pairs(_network(plan))),
        speed_kept(plan),
        chapter(said("table.decisions.all"), *_decisions(plan)),
        chapter(said("table.messages"), *_messages(plan)),
    )


def _access(plan: Plan) -> Iterator[str]:
    for group in plan.groups:
        yield said("summary.access", group=group, why=" ".join(reason.text for reason in group.reasons))
        yield from (said("summary.access but", reason=reason) for reason in group.against)
        yield from (said("summary.access not", other=other) for other in group.ruled_out)


def _pool(plan: Plan, pool: Pool) -> str:
    """The VMs on each host of a cluster, hosts filled alike together if there are many, and its idle GPUs."""
    idle = (idle_text(plan, spare) for spare in pool.idle)
    return chapter(hosts(plan, [pool], MOST_HOSTS), *idle, title=f"{pool.name}: {equipment(plan, pool)}")


def _network(plan: Plan) -> Iterator[tuple[str, str]]:
    """The link and the fabric; ``gpuplan network`` has the rest."""
    network = plan.scenario.network
    yield said("summary.link"), network_name(network.link_gbit_s, network.transport)
    if plan.cabling is not None:
        yield said("network.fabric"), fabric_words(plan.cabling)


def _decisions(plan: Plan) -> Iterator[str]:
    for entry in plan.decisions:
        yield f"({entry.number}) {entry.decision}"
        yield said("summary.justification", entry=entry)
        yield said("summary.implication", entry=entry)


def _messages(plan: Plan) -> Iterator[str]:
    for message in check_plan(plan):
        yield wrapped(f"{message.level.upper():4}  {message.text} {message.change}".rstrip(), " " * 6)
        if message.sources:
            where = f" {message.locator}" if message.locator else ""
            yield Block(indented(f"[{', '.join(message.sources)}{where}]", 6))


def failed_vms(plan: Plan, pool: Pool, outcome: Outcome) -> Table:
    """Each VM that restarts, makes room or has no place, and its hosts, which count from 1."""
    names, lost = group_names(plan), set(outcome.unplaced)
    loads = ((load, number) for number, host in enumerate(pool.placement, 1) for load in host)
    on = {(slot.group, slot.vm): number for load, number in loads for slot in load.slots}
    restarts, moves = said("table.failed_vms.restarts"), said("table.failed_vms.moves")
    vms = [(group, vm, restarts, to) for group, vm, to in outcome.restarted]
    vms += [(group, vm, moves, to) for group, vm, _, to in outcome.moved]
    rows: list[tuple[Any, ...]] = [(*vm[:3], on[vm[:2]], vm[3]) for vm in vms if vm[:2] not in lost]
    rows += [(*vm, said("table.failed_vms.no gpu"), on[vm], None) for vm in outcome.unplaced]
    return filled("failed_vms", ((names[group], *more) for group, *more in rows))


@spoken
def failure_text(plan: Plan, pool: Pool, hosts: tuple[int, ...], outcome: Outcome) -> str:
    """The failure of some hosts of a cluster as text for a terminal."""
    missing = plan.placed.missing
    sentences = (
        said("summary.failure", **{name: len(getattr(outcome, name)) for name in AFFECTED}),
        said("summary.failure missing", vms=missing) if missing else "",
        said("summary.failure others in clusters" if len(plan.pools) > 1 else "summary.failure others"),
    )
    title = lost_title(pool, hosts, ", ".join(map(str, hosts)))
    return page(title, " ".join(filter(None, sentences)), failed_vms(plan, pool, outcome))


def lost_title(pool: Pool, hosts: Sized, names: str) -> str:
    """Title of a report on the loss of some hosts."""
    return said("summary.host lost" if len(hosts) == 1 else "summary.hosts lost", hosts=names, pool=pool.name)


def failure_dict(plan: Plan, pool: Pool, hosts: tuple[int, ...], outcome: Outcome) -> dict[str, Any]:
    """The same as plain JSON values."""
    vms, missing = failed_vms(plan, pool, outcome), plan.placed.missing
    return as_json(pool=pool.id, hosts_lost=hosts, vms=vms, planned_vms_without_gpu=missing)
