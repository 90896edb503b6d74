"""The design as text: the answer, the groups, the hosts, the decisions and the messages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from gpuplan.models.placement import Load
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.hosts import Pool
from gpuplan.report.table import indented, text
from gpuplan.report.tables import TABLES, group_names, idle_text
from gpuplan.report.tables.plan import groups, postures
from gpuplan.report.text import chapter, heading, page, pairs, wrapped
from gpuplan.wording import (
    MODE_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    counted,
    money,
    number,
    percent,
    share_range,
    watts,
)

MOST_HOSTS = 24
"""Hosts of a pool that are listed; of more the first and the last."""


def plan_text(plan: Plan) -> str:
    """The design as text: the answer, the groups, the hosts, the decisions and the messages."""
    return page(
        plan.scenario.name + (f" for {plan.scenario.customer}" if plan.scenario.customer else ""),
        _answer(plan),
        chapter(groups(plan)),
        _access(plan),
        *(_pool(plan, pool) for pool in plan.pools),
        chapter(postures(plan)),
        _network(plan),
        _decisions(plan),
        _messages(plan),
    )


def table_text(plan: Plan, name: str) -> str:
    """One of the plan's tables as aligned text, numbers on the right."""
    return text(TABLES[name](plan))


def _answer(plan: Plan) -> str:
    totals = plan.totals
    return pairs(
        [
            ("GPUs demanded", number(totals.gpus_demanded)),
            (
                "Hosts",
                f"{number(totals.hosts)}  ({number(totals.hosts_for_demand)} for the demand + "
                f"{number(totals.hosts_for_failures)} for failure and maintenance)",
            ),
            ("GPUs", f"{number(totals.gpus)}  ({number(totals.gpus_after_failure)} after failure)"),
            (
                "VMs not placed",
                f"{number(totals.unplaced_vms)}  ({number(totals.unplaced_vms_after_failure)} after the worst "
                "failure of one host)",
            ),
            *_waiting(plan),
            *_power_and_cost(plan),
        ]
    )


def _access(plan: Plan) -> str:
    """Why each group reaches its GPUs as it does."""
    said = []
    for group in plan.groups:
        why = " ".join(reason.text for reason in group.reasons)
        said.append(wrapped(f"{group.name}: {MODE_NAMES[group.mode]}. {why}"))
        said += [wrapped(f"not {MODE_NAMES[r.mode]}: {r.reason.text}", "    ") for r in group.ruled_out]
    return heading("Why this access mode") + "\n".join(said) if said else ""


def _pool(plan: Plan, pool: Pool) -> str:
    """What is on each host of a cluster, and what is idle there."""
    gpu = plan.catalog.gpus[pool.gpu].name
    server = plan.catalog.servers[pool.server].name if pool.server else "server to be chosen"
    hosts = [
        (f"Host {n}", _host(plan, host, room.gpus))
        for n, (host, room) in enumerate(zip(pool.placement, pool.rooms, strict=True), 1)
    ]
    left, ends = len(hosts) - MOST_HOSTS, MOST_HOSTS // 2
    if left > 0:
        hosts = [*hosts[:ends], ("...", f"{left} more hosts"), *hosts[-ends:]]
    idle = [wrapped(idle_text(plan, each)) for each in pool.idle]
    title = f"{pool.name}: {pool.hosts} x {server} with {pool.gpus_per_host} {gpu}"
    return heading(title) + "\n".join([pairs(hosts), *idle])


def _decisions(plan: Plan) -> str:
    said = [
        "\n".join(
            [
                wrapped(f"({d.number}) {d.decision}"),
                wrapped(f"Justification: {d.justification}", "    "),
                wrapped(f"Implication: {d.implication}", "    "),
            ]
        )
        for d in plan.decisions
    ]
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


def _waiting(plan: Plan) -> list[tuple[str, str]]:
    """The chance of waiting in the busiest hours, if anybody asks for GPUs."""
    now, after = (plan.lines.get(f"totals.{key}") for key in ("waiting", "waiting_after_failure"))
    if now is None or after is None:
        return []
    return [
        (
            "Chance to wait",
            f"{percent(now.value / 100)}  ({percent(after.value / 100)} after failure; in the busiest hours)",
        )
    ]


def _power_and_cost(plan: Plan) -> list[tuple[str, str]]:
    """What the design draws and what it costs; ``gpuplan cost`` has the rest."""
    rows = []
    if plan.power is not None:
        racks = f", {counted(plan.power.racks, 'rack')}" if plan.power.racks else ""
        rows.append(("Power", f"{watts(plan.power.typical_w)}  ({watts(plan.power.peak_w)} at peak{racks})"))
    if plan.costs is not None:
        left_out = len(plan.costs.excludes)
        without = f"; {counted(left_out, 'item')} left out" if left_out else ""
        over = counted(plan.costs.years, "year")
        rows.append(
            (
                "Cost",
                f"{money(plan.costs.net_present, plan.costs.currency)}  (net present, {over}; "
                f"{money(plan.costs.cash[0], plan.costs.currency)} up front{without})",
            )
        )
    return rows


def _network(plan: Plan) -> str:
    """What the network does to the work, and its switches, in a line each; ``gpuplan network`` has the rest."""
    given = plan.scenario.network
    rows = [("Link", f"{given.link_gbit_s:g} Gbit/s, {TRANSPORT_NAMES[given.transport]}")]
    rows += [
        (
            r.name,
            f"{share_range(r.kept_low, r.kept, r.kept_high)} of native speed over the network, {VERDICTS[r.verdict]}: "
            f"{r.workload_name}, {amount(r.users, 'user')} on a link",
        )
        for r in plan.network.remote
    ]
    rows += [
        (
            t.name,
            f"{share_range(t.efficiency_low, t.efficiency, t.efficiency_high)} efficiency on {amount(t.hosts, 'host')}, "
            f"{VERDICTS[t.verdict]}: {t.workload_name}",
        )
        for t in plan.network.training
    ]
    fabric = plan.cabling
    if fabric is not None:
        ports = amount(fabric.ports.total, "port")
        if fabric.switches is None:
            rows.append(("Fabric", f"{ports} per host; no switches: {fabric.reason}"))
        else:
            shape, name = fabric.switches.shape, fabric.switches.spine_name
            spines = f" under {shape.spines} x {name}" if shape.spines else ""
            rows.append(
                (
                    "Fabric",
                    f"{ports} per host, {shape.leaves} x {fabric.switches.leaf_name}{spines}, oversubscription "
                    f"{shape.oversubscription:.2f}:1",
                )
            )
    return heading("Network") + pairs(rows)


def _host(plan: Plan, host: Sequence[Load], gpus_per_host: int) -> str:
    """What is on a host: equal loads counted, what is free last."""
    names = group_names(plan)
    counts: Counter[str] = Counter()
    for load in host:
        groups = Counter(slot.group for slot in load.slots)
        who = " + ".join(f"{n} x {names[g]}" for g, n in groups.items())
        if load.family:
            counts[f"GPU with {who} ({load.family.name})"] += 1
        elif load.gpus > 1:
            counts[f"{names[load.slots[0].group]} with {load.gpus} GPUs"] += 1
        else:
            counts[f"{names[load.slots[0].group]} with a GPU"] += 1
    words = [f"{n} x {what}" if n > 1 else what for what, n in counts.items()]
    free = gpus_per_host - sum(load.gpus for load in host)
    return "; ".join([*words, *([f"{amount(free, 'GPU')} free"] if free else [])])
