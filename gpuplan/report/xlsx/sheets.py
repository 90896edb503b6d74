"""The sheets that show the plan as it is: summary, groups, hosts, demand, availability, network, power, inputs, trail, sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from gpuplan.plan import Plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.hosts import Pool
from gpuplan.plan.prices import newest_price
from gpuplan.report.explain import formula_text
from gpuplan.report.tables import group_names, idle_text
from gpuplan.report.xlsx.book import (
    HEAD,
    LINE_COLUMNS,
    Block,
    Book,
    Column,
    Live,
    address,
    given_value,
    headed,
    line_rows,
    shown_unit,
    source_titles,
    yes_or_no,
)
from gpuplan.report.xlsx.money import BILL, YEARS, Money
from gpuplan.scenario import FIELDS, GROUP_FIELDS, field_of
from gpuplan.wording import MODE_NAMES, TRANSPORT_NAMES, VERDICTS, amount, basis_word, number, week_hours

MAX_HOST_ROWS = 500
"""Beyond so many hosts a row stands for all hosts of a kind."""


def summary_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    scenario, totals, costs = plan.scenario, plan.totals, plan.costs
    as_of = costs.as_of if costs else scenario.cost.as_of or newest_price(plan.catalog)
    gpu = plan.catalog.gpus[scenario.hardware.gpu].name
    about: list[tuple[Any, ...]] = [
        ("Design", scenario.name, "", ""),
        ("Customer", scenario.customer, "", ""),
        ("GPU", gpu, "", ""),
        ("As of", as_of, "", "day of the prices"),
        ("Catalog", plan.catalog.digest, "", "fingerprint of the figures that the design rests on"),
    ]
    answer: list[tuple[Any, ...]] = [
        ("GPUs demanded", totals.gpus_demanded, "GPU", ""),
        ("Hosts", totals.hosts, "host", f"{totals.hosts_for_demand} for the demand, {totals.hosts_for_failures} for failure and maintenance"),
        ("GPUs", totals.gpus, "GPU", ""),
        ("GPUs after failure", totals.gpus_after_failure, "GPU", ""),
        ("VMs not placed", totals.unplaced_vms, "VM", ""),
        ("VMs not placed after the worst host failure", totals.unplaced_vms_after_failure, "VM", ""),
    ]  # fmt: skip
    if plan.power:
        answer += [
            ("Power, typical", plan.power.typical_w / 1000, "kW", "without cooling"),
            ("Power, peak", plan.power.peak_w / 1000, "kW", "without cooling"),
        ]
    blocks = [
        Block("Design", _about_columns(), about),
        Block("Answer", _about_columns(), answer),
    ]
    if money is not None and costs is not None:
        blocks.append(Block(f"Cost over {costs.years} years", _about_columns(), _summary_cost(money, costs)))
    guide = [
        ("Tinted cells", "may be changed: prices, factors, discounts, quantities", "", f"on Prices, Factors, {BILL} and {YEARS}"),
        ("Money", "follows at once, by formulas", "", f"{BILL}, {YEARS} and this sheet"),
        ("Hosts, placement, risk and power", "stay as planned", "", "make the design anew in gpuplan to change them"),
        ("Every number", "is explained on Trail", "", "with formula, inputs, basis and sources"),
    ]  # fmt: skip
    blocks.append(Block("How to read this workbook", _about_columns(), guide))
    book.blocks("Summary", "", blocks, title=scenario.name)


def _about_columns() -> list[Column]:
    return [Column("", 42), Column("Value", 44), Column("Unit", 10), Column("Note", 70)]


def _summary_cost(money: Money, costs: Costs) -> list[tuple[Any, ...]]:
    currency = costs.currency
    rows: list[tuple[Any, ...]] = [
        ("Net present cost", Live(money.result_at("net_present"), costs.net_present, "money"), currency, ""),
        ("Paid in all", Live(money.result_at("total"), costs.total, "money"), currency, ""),
        ("Paid at the start", Live(address(money.cash_row, 2, YEARS), costs.cash[0], "money"), currency, ""),
    ]
    for name, value in (("installed", costs.gpu_hour_installed), ("used", costs.gpu_hour_used)):
        where = money.result_at(f"gpu_hour_{name}")
        rows.append(
            (f"A GPU-hour {name}", Live(where, "none" if value is None else value, "price"), currency, "")
        )
    rows.append(("Discount rate a year", Live("discount_rate", costs.discount_rate, "percent"), "", ""))
    known = f"{address(HEAD + 1, 4, 'Prices')}:{address(HEAD + len(money.prices), 4)}"
    missing = sum(price.fact is None for price in money.prices)
    unknown = Live(f'COUNTIF({known},"not known")', missing, "int")
    rows.append(("Prices not known", unknown, "", "counted as nothing until they are filled in on Prices"))
    if costs.excludes:
        rows.append(
            (
                "Cost excludes",
                "; ".join(costs.excludes),
                "",
                "as planned; what is filled in on Prices or Factors counts at once",
            )
        )
    if costs.outside:
        rows.append(("Not part of it", "; ".join(costs.outside), "", "there already, or sized elsewhere"))
    return rows


def groups_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    currency = plan.costs.currency if plan.costs else plan.scenario.cost.currency
    columns = [
        Column("Group", 30),
        Column("Access mode", 18),
        Column("People", 9, "int"),
        Column("Active at the peak", 10, "int"),
        Column("VMs", 9, "int"),
        Column("VMs placed", 9, "int"),
        Column("GPUs each (GPU)", 10, "num"),
        Column("GPUs demanded (GPU)", 11, "num"),
        Column("vGPU profile", 16),
        Column("Cluster", 20),
        Column("Share of the GPUs", 11, "percent"),
        Column(f"Share of the cost ({currency})", 14, "money"),
        Column("Why this access mode", 70),
        Column("Sources", 40),
    ]
    pools = {pool.id: pool.name for pool in plan.pools}
    people = {group.id: group.people for group in plan.scenario.groups}
    shares = {g.id: g for g in plan.costs.groups} if plan.costs else {}
    names = group_names(plan)
    plans = {group.id: group for group in plan.groups}
    rows: list[tuple[Any, ...]] = []
    for id in dict.fromkeys((*plans, *shares)):
        share = shares.get(id)
        paid: tuple[Any, ...] = (None, None)
        if share is not None and money is not None:
            at = HEAD + 1 + len(rows)
            paid = (share.share, Live(f"{address(at, 10)}*{money.result_at('total')}", share.total))
        group = plans.get(id)
        if group is None:
            rows.append((names[id], *(None,) * 9, *paid, "", ""))
            continue
        unplaced = [u.reason for u in group.unplaced]
        rows.append(
            (
                group.name,
                MODE_NAMES[group.mode],
                people[id],
                group.active,
                group.vms,
                group.vms_placed,
                group.gpus_each,
                group.demand_gpus,
                group.profile,
                pools.get(group.pool, ""),
                *paid,
                " ".join([*(r.text for r in group.reasons), *unplaced]),
                source_titles(plan, (s for r in group.reasons for s in r.sources)),
            )
        )
    book.table(
        "Groups", "Who asks for GPUs, how they reach them, and their share of the cost.", columns, rows
    )


def hosts_sheet(book: Book, plan: Plan) -> None:
    names = group_names(plan)
    hosts = [
        (pool, at, _contents(pool, at, names)) for pool in plan.pools for at in range(len(pool.placement))
    ]
    kinds: Counter[tuple[Any, ...]] = Counter()
    first: dict[tuple[Any, ...], int] = {}
    few = len(hosts) <= MAX_HOST_ROWS
    for pool, at, content in hosts:
        kind = (pool.name, content, at if few else None)
        kinds[kind] += 1
        first.setdefault(kind, at)
    rows = [
        (pool, first[kind] + 1, count, *content)
        for kind, count in kinds.items()
        for pool, content, _ in [kind]
    ]
    columns = [
        Column("Cluster", 22),
        Column("Host" if few else "First such host", 8, "int"),
        Column("Hosts alike", 8, "int"),
        Column("There already", 9),
        Column("GPUs (GPU)", 8, "int"),
        Column("GPUs taken (GPU)", 8, "int"),
        Column("VMs", 8, "int"),
        Column("On it", 90),
    ]
    note = (
        "One row for each host."
        if few
        else f"{number(len(hosts))} hosts; one row for all that are filled alike."
    )
    book.table("Hosts", note, columns, rows)


def _contents(pool: Pool, at: int, names: Mapping[str, str]) -> tuple[str, int, int, int, str]:
    """(there already, GPUs, GPUs taken, VMs, what is on it) of a host, equal loads counted."""
    counts: Counter[str] = Counter()
    vms = set()
    for load in pool.placement[at]:
        vms |= {(slot.group, slot.vm) for slot in load.slots}
        groups = Counter(slot.group for slot in load.slots)
        who = " + ".join(f"{n} x {names[g]}" for g, n in groups.items())
        if load.family:
            counts[f"GPU with {who} ({load.family.name})"] += 1
        else:
            counts[f"{names[load.slots[0].group]} with {amount(load.gpus, 'GPU')}"] += 1
    gpus, taken = pool.rooms[at].gpus, sum(load.gpus for load in pool.placement[at])
    words = [f"{n} x {what}" if n > 1 else what for what, n in counts.items()]
    if gpus > taken:
        words.append(f"{amount(gpus - taken, 'GPU')} free")
    return "yes" if at < pool.existing_hosts else "no", gpus, taken, len(vms), "; ".join(words)


def demand_sheet(book: Book, plan: Plan) -> None:
    ends = (".active", ".vms", ".demand_gpus", ".held_gpus")
    groups = [
        (line.label, line.value, shown_unit(line.unit), formula_text(line), basis_word(line.basis))
        for key, line in plan.lines.items()
        if key.startswith("groups.") and key.endswith(ends)
    ]
    names = group_names(plan)
    pools = {pool.id: pool.name for pool in plan.pools}
    busy = [
        (
            pools.get(pool.pool, pool.pool),
            want.gpus,
            hosts,
            week_hours(want.mix.quarters),
            at == pool.chosen,
            ", ".join(f"{names[g]}: {n}" for g, n in want.requests.items() if n),
        )
        for pool in plan.hours
        for at, (want, hosts) in enumerate(zip(pool.needed, pool.hosts, strict=True))
    ]
    busy_columns = [
        Column("Cluster", 60),
        Column("GPUs enough (GPU)", 18, "num"),
        Column("Hosts", 10, "int"),
        Column("When (UTC)", 90),
        Column("Sized for it", 18),
        Column("Requests by group", 60),
    ]
    book.blocks(
        "Demand",
        "From people to GPUs.",
        [
            Block("In all", LINE_COLUMNS, line_rows(plan, "demand.", "totals.")),
            Block("Busiest hours", busy_columns, busy),
            Block("By group", LINE_COLUMNS, groups),
        ],
    )


def availability_sheet(book: Book, plan: Plan) -> None:
    postures = [
        (
            f"N+{p.host_failures}",
            p.chosen,
            p.hosts,
            p.gpus,
            p.short_h,
            p.exposed_h,
            p.maintenance_short_h,
            p.chance,
        )
        for p in plan.postures
    ]
    columns = [
        Column("Posture", 34),
        Column("Chosen", 12),
        Column("Hosts", 12, "int"),
        Column("GPUs (GPU)", 12, "int"),
        Column("Short by failures (h a year)", 14, "num"),
        Column("Maintenance in which one failure is too much (h a year)", 18, "num"),
        Column("Short in maintenance (h a year)", 14, "num"),
        Column("Chance of that in a year", 14, "percent"),
    ]
    failures = [
        (pool.name, loss.hosts[0] + 1, loss.alike, loss.restarted, loss.moved, loss.unplaced, loss.unplaced_gpus, loss.proven)
        for pool in plan.pools
        for loss in pool.failures
    ]  # fmt: skip
    failed = [
        Column("Cluster", 34),
        Column("Host lost", 12, "int"),
        Column("Hosts filled alike", 12, "int"),
        Column("VMs restarted", 12, "int"),
        Column("VMs moved", 14, "int"),
        Column("VMs without a place", 18, "int"),
        Column("GPUs of these (GPU)", 14, "num"),
        Column("Proven the worst", 14),
    ]
    levels = [
        (pool.name, level.lost, level.gpus_left, *(yes_or_no(x) for x in (level.fits, level.without_moving)))
        for pool in plan.pools
        for level in pool.losses
    ]
    level_columns = [
        Column("Cluster", 34),
        Column("Hosts down at once", 12, "int"),
        Column("GPUs left (GPU)", 12, "int"),
        Column("All have a place", 12),
        Column("By restarts alone", 14),
    ]
    book.blocks(
        "Availability",
        "What failures and maintenance do to the design.",
        [
            Block("Spare hosts and risk", columns, postures),
            Block("Loss of one host, by what is on it", failed, failures),
            Block("Loss of several hosts", level_columns, levels),
        ],
    )


def network_sheet(book: Book, plan: Plan) -> None:
    given, fabric = plan.scenario.network, plan.cabling
    facts: list[tuple[Any, ...]] = [
        ("Link", given.link_gbit_s, "Gbit/s", "", ""),
        ("Transport", TRANSPORT_NAMES[given.transport], "", "", ""),
        ("Frame", given.mtu_bytes, "byte", "", ""),
    ]
    if fabric is not None:
        facts += [
            ("Adapters with two ports in each GPU host", fabric.adapters, "", "", ""),
            ("Distributed switches", fabric.distributed_switches, "", "", ""),
        ]
        held = fabric.switches
        if held is None:
            facts.append(("Switches", "none", "", fabric.reason, ""))
        else:
            facts += [
                ("Leaf switch", held.leaf_name, "", f"{held.shape.leaves} of them", ""),
                ("Spine switch", held.spine_name or "none", "", f"{held.shape.spines} of them", ""),
                ("Cables from hosts to leaves", held.shape.host_cables, "", "", ""),
                ("Cables between switches", held.shape.uplink_cables + held.shape.peer_cables, "", "", ""),
            ]
    remote = [
        (r.name, r.kept, r.kept_low, f"{r.workload_name}; {r.users} users of a link, {number(r.needs_gbit_s)} Gbit/s each; {VERDICTS[r.verdict]}", basis_word(r.basis), r.kept_high)
        for r in plan.network.remote
    ]  # fmt: skip
    training = [
        (t.name, t.efficiency, t.efficiency_low, f"{t.workload_name}; {t.hosts} hosts with {amount(t.gpus_per_host, 'GPU')} each; {VERDICTS[t.verdict]}", basis_word(t.basis), t.efficiency_high)
        for t in plan.network.training
    ]  # fmt: skip

    def ranged(what: str, value: str) -> list[Column]:
        return [
            Column(what, 60),
            Column(value, 18, "percent"),
            Column("Low", 10, "percent"),
            Column("Work", 90),
            Column("Basis", 18),
            Column("High", 10, "percent"),
        ]

    pairs = [Column("", 60), Column("", 18), Column("", 10), Column("", 90)]
    settings = [(s.where, "", "", s.what) for s in fabric.settings] if fabric else []
    failures = [(f.part, f.left, "", f.affected) for f in fabric.failures] if fabric else []
    rules = [(v.code, yes_or_no(v.met), "", v.text) for v in plan.network.rules]
    named = {0: "Setting of", 3: "What"}
    book.blocks(
        "Network",
        "Links, fabric, and what the network does to the work.",
        [
            Block("Links and fabric", LINE_COLUMNS, facts),
            Block("GPUs over the network", ranged("Group", "Speed kept"), remote),
            Block("Training on several hosts", ranged("Job", "Efficiency"), training),
            Block("Settings", [c._replace(head=named.get(i, "")) for i, c in enumerate(pairs)], settings),
            Block("When a part fails", headed(pairs, "Part", "Left", "", "Who notices"), failures),
            Block("Rules of the vendor", headed(pairs, "Rule", "Met", "", "Why"), rules),
            Block("Figures", LINE_COLUMNS, line_rows(plan, "network.")),
        ],
    )


def power_sheet(book: Book, plan: Plan) -> None:
    use = plan.power
    parts = [
        (
            part.name,
            part.peak_w or "not known",
            "W",
            f"{number(part.count)} of them, typically "
            + (f"{number(round(part.typical_w))} W" if part.typical_w else "not known"),
            "",
        )
        for part in (use.parts if use else ())
    ]
    columns = headed(LINE_COLUMNS, "Machines", "At peak", "Unit", "How many, and typical power", "")
    note = "On the day of the installation."
    if use and use.excludes:
        note += f" Not known: {'; '.join(use.excludes)}."
    blocks = [Block("By kind", columns, parts), Block("In all", LINE_COLUMNS, line_rows(plan, "power."))]
    book.blocks("Power", note, blocks)


def inputs_sheet(book: Book, plan: Plan) -> None:
    scenario = plan.scenario
    paths = [field.path for field in FIELDS if not field.path.startswith("internal.")]
    paths += [f"groups.{group.id}.{field.path}" for group in scenario.groups for field in GROUP_FIELDS]
    paths += [f"{name}.{key}" for name in ("prices", "ranges") for key, _ in getattr(scenario, name)]
    rows: list[tuple[Any, ...]] = []
    for path in paths:
        label, value = _input_label(plan, path), scenario.get(path)
        if value is None or value == "":
            rows.append(
                (
                    label,
                    None,
                    "",
                    "",
                    "",
                    "",
                    "",
                    "empty: a planning value of the catalog, or nothing asked",
                    path,
                )
            )
            continue
        if isinstance(value, tuple):
            value = " to ".join(number(end) for end in value)
        origin, unit = scenario.origin(path), scenario.fact(path).unit
        known = (
            basis_word(origin.basis),
            source_titles(plan, [origin.source]),
            origin.locator,
            origin.as_of,
            origin.note,
        )
        if path.startswith("prices."):
            unit = scenario.cost.currency
        rows.append((label, value, shown_unit(unit), *known, path))
    columns = [
        Column("Input", 48),
        Column("Value", 26),
        Column("Unit", 9),
        Column("Basis", 18),
        Column("Source", 34),
        Column("Where", 20),
        Column("As of", 11),
        Column("Note", 50),
        Column("In the scenario file", 38),
    ]
    note = "A record of what the design was made from. Change inputs in gpuplan: hosts and placement follow from them there."
    book.table("Inputs", note, columns, rows)


def _input_label(plan: Plan, path: str) -> str:
    """How an input is called on the screen, with the group or the price that it belongs to."""
    head, _, rest = path.partition(".")
    label = field_of(path).label
    if head == "groups":
        return f"{plan.scenario.get(path.rpartition('.')[0] + '.name')}: {label}"
    if head == "ranges":
        return f"Range: {_input_label(plan, rest)}"
    return f"{label}: {rest}" if head == "prices" else label


def trail_sheet(book: Book, plan: Plan) -> None:
    columns = [
        Column("Key", 40),
        Column("What", 46),
        Column("Value", 16),
        Column("Unit", 9),
        Column("Formula", 70),
        Column("Inputs", 70),
        Column("Basis", 18),
        Column("Sources", 44),
        Column("What it means", 60),
        Column("Model", 30),
    ]
    rows = [
        (
            line.key,
            line.label,
            line.value,
            shown_unit(line.unit),
            formula_text(line),
            given_value(line),
            basis_word(line.basis),
            "; ".join(line.sources),
            line.sentence,
            line.function,
        )
        for line in plan.lines.values()
    ]
    note = "Every number of the design, in the order in which they were computed; titles of the sources stand on Sources."
    book.table("Trail", note, columns, rows)


def sources_sheet(book: Book, plan: Plan) -> None:
    cited = [s for line in plan.lines.values() for s in line.sources]
    cited += [s for decision in plan.decisions for s in decision.sources]
    cited += [s for group in plan.groups for reason in group.reasons for s in reason.sources]
    cited += [s for message in check_plan(plan) for s in message.sources]
    cited += [origin.source for _, origin in plan.scenario.origins]
    if plan.costs:
        cited += [s for material in plan.costs.materials for s in material.sources]
        cited += [s for price in plan.costs.prices for s in price.fact.sources]
    remarks: dict[str, str] = {}
    for note in plan.scenario.notes:
        text = f"{note.text} ({note.locator})" if note.locator else note.text
        remarks[note.source] = f"{remarks[note.source]} {text}" if note.source in remarks else text
    known = plan.catalog.sources
    rows = [
        (s.id, s.title, s.producer, s.published, s.accessed, s.kind, s.url, s.note, remarks.get(s.id, ""))
        for id in dict.fromkeys([*cited, *remarks])
        if (s := known.get(id)) is not None
    ]
    columns = [
        Column("Id", 32),
        Column("Title", 60),
        Column("Producer", 24),
        Column("Published", 11),
        Column("Read", 11),
        Column("Kind", 13),
        Column("Address", 50),
        Column("Note", 60),
        Column("Remark", 60),
    ]
    book.table("Sources", "Every source that the design rests on.", columns, rows)


def messages_sheet(book: Book, plan: Plan) -> None:
    columns = [
        Column("Level", 10),
        Column("What to know", 90),
        Column("What to change", 60),
        Column("Code", 28),
        Column("Input", 30),
        Column("Sources", 44),
    ]
    rows = [
        (m.level, m.text, m.change, m.code, m.path, source_titles(plan, m.sources)) for m in check_plan(plan)
    ]
    idle = [
        ("idle", f"{pool.name}: {idle_text(plan, idle)}", "", "", "", "")
        for pool in plan.pools
        for idle in pool.idle
    ]
    book.table(
        "Messages", "What to know about this design, and what GPUs it leaves idle.", columns, [*rows, *idle]
    )


def decisions_sheet(book: Book, plan: Plan) -> None:
    columns = [
        Column("Number", 9, "int"),
        Column("Title", 30),
        Column("Decision", 60),
        Column("Justification", 60),
        Column("Implication", 60),
        Column("Sources", 44),
    ]
    rows = [
        (d.number, d.title, d.decision, d.justification, d.implication, source_titles(plan, d.sources))
        for d in plan.decisions
    ]
    book.table("Decisions", "Design decisions.", columns, rows)
