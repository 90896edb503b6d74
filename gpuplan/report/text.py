"""A plan and the catalog as readable text for a terminal."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.models.placement import Load
from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.results import Pool
from gpuplan.report.tables import group_names, idle_text, plan_tables
from gpuplan.wording import (
    MODE_NAMES,
    TRANSPORT_NAMES,
    VERDICTS,
    amount,
    basis_word,
    counted,
    hours,
    money,
    number,
    percent,
    watts,
)

WIDTH = 100


def plan_text(plan: Plan) -> str:
    """The design as text: the answer, the groups, the hosts, the decisions and the messages."""
    totals, parts = plan.totals, []
    title = plan.scenario.name + (f" for {plan.scenario.customer}" if plan.scenario.customer else "")
    parts.append(f"{title}\n{'=' * len(title)}")
    parts.append(
        table(
            ("", ""),
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
            ],
        )
    )
    if plan.groups:
        parts.append(
            heading("Groups")
            + table(
                ("Group", "Access mode", "VMs", "GPUs each", "GPUs", "Profile"),
                [
                    (
                        g.name,
                        MODE_NAMES[g.mode],
                        number(g.vms),
                        number(g.gpus_each),
                        number(g.demand_gpus),
                        g.profile,
                    )
                    for g in plan.groups
                ],
                right=(2, 3, 4),
            )
        )
        parts.append(
            heading("Why this access mode")
            + "\n".join(
                wrapped(f"{g.name}: {MODE_NAMES[g.mode]}. " + " ".join(r.text for r in g.reasons))
                + "".join(
                    "\n" + wrapped(f"not {MODE_NAMES[r.mode]}: {r.reason.text}", "    ") for r in g.ruled_out
                )
                for g in plan.groups
            )
        )
    for pool in plan.pools:
        gpu = plan.catalog.gpus[pool.gpu].name
        server = plan.catalog.servers[pool.server].name if pool.server else "server to be chosen"
        rows = [
            (f"Host {n}", _host(plan, host, room.gpus))
            for n, (host, room) in enumerate(zip(pool.placement, pool.rooms, strict=True), 1)
        ]
        shown = (
            rows if len(rows) <= 24 else [*rows[:12], ("...", f"{len(rows) - 24} more hosts"), *rows[-12:]]
        )
        parts.append(
            heading(f"{pool.name}: {pool.hosts} x {server} with {pool.gpus_per_host} {gpu}")
            + table(("", ""), shown)
            + _idle(plan, pool)
        )
    if plan.postures:
        parts.append(
            heading("Hosts, and hours a year at risk")
            + table(
                (
                    "",
                    "Hosts",
                    "GPUs",
                    "Short by failures",
                    "Maintenance bet open",
                    "Chance to lose it in a year",
                ),
                [
                    (
                        f"N+{p.host_failures}" + (" (chosen)" if p.chosen else ""),
                        number(p.hosts),
                        number(p.gpus),
                        hours(p.short_h),
                        hours(p.exposed_h) + (" short" if p.chance == 1 and p.exposed_h else ""),
                        "" if p.chance == 1 else percent(p.chance),
                    )
                    for p in plan.postures
                ],
                right=(1, 2, 3, 4, 5),
            )
        )
    parts.append(_network(plan))
    if plan.decisions:
        parts.append(
            heading("Design decisions")
            + "\n".join(
                wrapped(f"({d.number}) {d.decision}")
                + "\n"
                + wrapped(f"Justification: {d.justification}", "    ")
                + "\n"
                + wrapped(f"Implication: {d.implication}", "    ")
                for d in plan.decisions
            )
        )
    messages = check_plan(plan)
    if messages:
        parts.append(
            heading("Messages")
            + "\n".join(
                wrapped(f"{m.level.upper():4}  {m.text} {m.change}".rstrip(), "", "      ")
                + (
                    "\n" + indented(f"[{', '.join(m.sources)}{' ' + m.locator if m.locator else ''}]", 6)
                    if m.sources
                    else ""
                )
                for m in messages
            )
        )
    return "\n\n".join(parts) + "\n"


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
    return heading("Network") + table(("", ""), rows)


def share_words(share: float) -> str:
    """A share in whole per cent; what is little is not nothing."""
    return "<1 %" if 0 < share < 0.005 else f"{100 * share:.0f} %"


def share_range(low: float, typical: float, high: float) -> str:
    """A share with its range: ``97 % (33 to 99 %)``."""
    return f"{share_words(typical)} ({share_words(low).removesuffix(' %')} to {share_words(high)})"


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


def _idle(plan: Plan, pool: Pool) -> str:
    """What is idle on hosts that somebody uses, and who could still use it."""
    lines = [idle_text(plan, idle) for idle in pool.idle]
    return "".join("\n" + wrapped(line) for line in lines)


def table_text(plan: Plan, name: str) -> str:
    """One of the plan's tables as aligned text, numbers on the right.

    Parameters
    ----------
    plan : Plan
        The plan. [-]
    name : str
        A name from ``plan_tables``. [-]

    Returns
    -------
    table_text : str
        The table. [-]
    """
    columns, rows = plan_tables(plan)[name]
    numeric = [
        i for i in range(len(columns)) if rows and all(isinstance(row[i], int | float | None) for row in rows)
    ]
    cells = [["" if cell is None else number(cell) for cell in row] for row in rows]
    return table([c.replace("_", " ") for c in columns], cells, right=numeric)


def catalog_text(catalog: Catalog, query: str = "") -> str:
    """The catalog as text: what it holds, one table of it, or what a search finds, each value with its source."""
    fact_tables = ("gpus", "servers", "nics", "switches", "vsphere", "products", "assumptions")
    row_tables = tuple(name for name in catalog.titles if name not in (*fact_tables, "sources"))
    if not query:
        rows = [(name, number(len(getattr(catalog, name)))) for name in fact_tables]
        rows += [(name, number(len(catalog.rows(name)))) for name in row_tables]
        rows.append(("sources", number(len(catalog.sources))))
        parts = [
            heading(f"Catalog {catalog.digest}").lstrip() + table(("Table", "Entries"), rows, right=(1,))
        ]
        parts += [
            heading(name.capitalize())
            + table(
                ("Id", "Name", "Sources"),
                [
                    (
                        item.id,
                        item.name,
                        ", ".join(dict.fromkeys(s for f in item.facts.values() for s in f.sources)),
                    )
                    for item in getattr(catalog, name).values()
                ],
            )
            for name in ("gpus", "servers", "vsphere", "nics", "switches", "products")
        ]
        parts.append(
            "'gpuplan catalog WORD' searches; an id or a table name shows every value with its source."
        )
        return "\n\n".join(parts) + "\n"
    if query in fact_tables:
        return "\n\n".join(_item_text(item) for item in getattr(catalog, query).values()) + "\n"
    if query in row_tables:
        return "\n\n".join(_row_text(row) for row in catalog.rows(query)) + "\n"
    if query == "sources":
        listed = [(s.id, f"{s.title}, {s.producer} {s.published} {s.url}") for s in catalog.sources.values()]
        return table(("Id", "Document"), listed) + "\n"
    hits = catalog.search(query)
    if not hits:
        return ""
    parts, others = [], []
    for name, entry, title, keys in hits:
        if name in fact_tables:
            parts.append(_item_text(getattr(catalog, name)[entry]))
        elif entry == query:
            parts.append(_row_text(catalog.row(name, entry)))
        else:
            others.append((name, entry, title, ", ".join(keys)[:60]))
    if others:
        parts.append(heading("Other tables").lstrip() + table(("Table", "Id", "Name", "Found in"), others))
    return "\n\n".join(parts) + "\n"


def _item_text(item: Any) -> str:
    rows = [
        (
            f.key.rsplit("/", 1)[1].replace("_", " "),
            amount(f.value, f.unit),
            basis_word(f.basis),
            ", ".join(f.sources),
        )
        for f in item.facts.values()
    ]
    return heading(f"{item.name}  [{item.table}/{item.id}]").lstrip() + table(
        ("Parameter", "Value", "Basis", "Source"), rows
    )


def _row_text(row: Row) -> str:
    left_out = ("id", "basis", "source", "locator", "note")
    rows = [
        (column.replace("_", " "), "; ".join(value) if isinstance(value, tuple) else number(value))
        for column, value in row.cells.items()
        if value is not None and column not in left_out
    ]
    rows += [("basis", basis_word(row.basis)), ("source", ", ".join(row.sources))]
    rows += [(name, text) for name, text in (("where", row.locator), ("note", row.note)) if text]
    return heading(row.key) + table(("Column", "Value"), rows)


def heading(text: str) -> str:
    """A heading with a line under it."""
    return f"{text}\n{'-' * len(text)}\n"


def wrapped(text: str, first: str = "", rest: str | None = None) -> str:
    """Text wrapped to the width of the page."""
    return textwrap.fill(
        text, WIDTH, initial_indent=first, subsequent_indent=first + "  " if rest is None else rest
    )


def indented(text: str, spaces: int) -> str:
    """Text wrapped to the width of the page with all lines indented, and no id broken at its hyphens."""
    margin = " " * spaces
    return textwrap.fill(text, WIDTH, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[int] = ()) -> str:
    """Columns aligned with spaces; the last column is wrapped to the width of the page."""
    cells = [[str(c) for c in row] for row in rows]
    if any(columns):
        cells.insert(0, list(columns))
    if not cells:
        return ""
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    lines = []
    for row in cells:
        head = "".join(
            (c.rjust(w) if i in right else c.ljust(w)) + "  "
            for i, (c, w) in enumerate(zip(row[:-1], widths[:-1], strict=True))
        )
        last = row[-1].rjust(widths[-1]) if len(columns) - 1 in right else row[-1]
        room = max(30, WIDTH - len(head))
        folded = textwrap.wrap(last, room, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [(head + folded[0]).rstrip(), *(" " * len(head) + more for more in folded[1:])]
    return "\n".join(lines)
