"""The sheets that show the plan as it is: summary, groups, hosts, demand, availability, network, power, inputs, trail, sources."""

from __future__ import annotations

from typing import Any

from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.prices import newest_price
from gpuplan.report.table import Cell, Column, Table
from gpuplan.report.tables.cost import cost_by_group
from gpuplan.report.tables.cost import power as power_table
from gpuplan.report.tables.demand import week
from gpuplan.report.tables.network import (
    cabling,
    part_failures,
    remote_gpus,
    rules,
    settings,
    training,
)
from gpuplan.report.tables.plan import (
    cited_sources,
    decisions,
    failures,
    group_names,
    groups,
    hosts,
    idle,
    lines,
    losses,
    messages,
    postures,
    sources,
)
from gpuplan.report.xlsx.book import HEAD, Block, Book, Live, SheetColumn, address
from gpuplan.report.xlsx.money import BILL, YEARS, Money
from gpuplan.scenario import FIELDS, GROUP_FIELDS, field_of
from gpuplan.wording import TRANSPORT_NAMES, number

MAX_HOST_ROWS = 500
"""Beyond so many hosts a row stands for all hosts of a kind."""
FIGURES = ("label", "value", "unit", "formula", "basis")
"""Columns of a topic's own numbers; the others stand on Trail."""


def summary_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """The answer, its cost, and how to read the workbook."""
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
    book.topics("Summary", "", blocks, title=scenario.name)


def _about_columns() -> list[SheetColumn]:
    return [
        SheetColumn("", 42),
        SheetColumn("Value", 44),
        SheetColumn("Unit", 10),
        SheetColumn("Note", 70),
    ]


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
    known = money.prices_known()
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
    """The groups, and their share of the cost."""
    block = book.block(groups(plan))
    if money is not None:
        block = _with_cost(book, plan, money, block)
    book.topic("Groups", "Who asks for GPUs, how they reach them, and their share of the cost.", block)


def _with_cost(book: Book, plan: Plan, money: Money, block: Block) -> Block:
    """The groups with their share of the cost beside them, and what belongs to none."""
    names, costs = group_names(plan), {each.id: each for each in money.costs.groups}
    rows = {group.id: list(row) for group, row in zip(plan.groups, block.rows, strict=True)}
    for id in costs:
        rows.setdefault(id, [names[id], *[None] * (len(block.columns) - 1)])
    share = len(block.columns)
    for at, (id, row) in enumerate(rows.items(), start=HEAD + 1):
        each = costs.get(id)
        total = Live(f"{address(at, share)}*{money.result_at('total')}", each.total) if each else None
        row += (each.share if each else None, total)
    paid = book.block(cost_by_group(plan).only("share", "total"))
    columns = sorted(paid.columns, key=lambda column: column.kind != "percent")
    return block._replace(columns=[*block.columns, *columns], rows=list(rows.values()))


def hosts_sheet(book: Book, plan: Plan) -> None:
    """What stands on each host."""
    count = sum(len(pool.placement) for pool in plan.pools)
    few = count <= MAX_HOST_ROWS
    note = (
        "One row for each host." if few else f"{number(count)} hosts; one row for all that are filled alike."
    )
    book.topic("Hosts", note, book.block(hosts(plan, plan.pools, MAX_HOST_ROWS)))


def _figures(book: Book, plan: Plan, title: str, *starts: str) -> Block:
    """A topic's own numbers, each with its formula."""
    return book.block(lines(plan, *starts).only(*FIGURES))._replace(title=title)


def demand_sheet(book: Book, plan: Plan) -> None:
    """The demand in all, through the week and by group."""
    ends = ("active", "vms", "demand_gpus", "held_gpus")
    keys = [f"groups.{group.id}.{end}" for group in plan.groups for end in ends]
    blocks = [_figures(book, plan, "In all", "demand.", "totals."), book.block(week(plan))]
    if keys:
        blocks.append(_figures(book, plan, "By group", *keys))
    book.topics("Demand", "From people to GPUs.", blocks)


def availability_sheet(book: Book, plan: Plan) -> None:
    """Spare hosts and what failures do."""
    topics = (postures(plan), failures(plan), losses(plan))
    book.topics("Availability", "What failures and maintenance do to the design.", [*map(book.block, topics)])


def network_sheet(book: Book, plan: Plan) -> None:
    """The fabric, and what the network does to the work."""
    given, fabric = plan.scenario.network, plan.cabling
    topics = [remote_gpus(plan), training(plan), rules(plan)]
    if fabric is not None:
        topics = [cabling(fabric), *topics, settings(fabric), part_failures(fabric)]
    link = f"{number(given.link_gbit_s)} Gbit/s {TRANSPORT_NAMES[given.transport]}"
    book.topics(
        "Network",
        f"Links of {link} with an MTU of {number(given.mtu_bytes)} bytes, the fabric, and what the network does to the work.",
        [*map(book.block, topics), _figures(book, plan, "Figures", "network.")],
    )


def power_sheet(book: Book, plan: Plan) -> None:
    """Power and space."""
    use = plan.power
    note = "On the day of the installation."
    if use and use.excludes:
        note += f" Not known: {'; '.join(use.excludes)}."
    kinds = [book.block(power_table(use))] if use else []
    book.topics("Power", note, [*kinds, _figures(book, plan, "In all", "power.")])


def inputs_sheet(book: Book, plan: Plan) -> None:
    """Every input with its origin."""
    scenario = plan.scenario
    paths = [field.path for field in FIELDS if not field.path.startswith("internal.")]
    paths += [f"groups.{group.id}.{field.path}" for group in scenario.groups for field in GROUP_FIELDS]
    paths += [f"{name}.{key}" for name in ("prices", "ranges") for key, _ in getattr(scenario, name)]
    table = Table(
        "inputs",
        "Inputs",
        (
            Column("label", "Input"),
            Column("value", "Value", "number"),
            Column("unit", "Unit"),
            Column("basis", "Basis", "basis"),
            Column("sources", "Source", "sources"),
            Column("locator", "Where"),
            Column("as_of", "As of"),
            Column("note", "Note"),
            Column("path", "In the scenario file"),
        ),
        tuple(_input(plan, path) for path in paths),
    )
    note = "A record of what the design was made from. Change inputs in gpuplan: hosts and placement follow from them there."
    book.topic("Inputs", note, book.block(table))


def _input(plan: Plan, path: str) -> tuple[Any, ...]:
    """An input and how it is known."""
    scenario = plan.scenario
    label, value = _input_label(plan, path), scenario.get(path)
    if value is None or value == "":
        empty = "empty: a planning value of the catalog, or nothing asked"
        return (label, Cell(None, words=""), "", "", (), "", "", empty, path)
    origin = scenario.origin(path)
    unit = scenario.cost.currency if path.startswith("prices.") else scenario.fact(path).unit
    words = " to ".join(number(end) for end in value) if isinstance(value, tuple) else None
    return (
        label,
        Cell(value, words=words),
        "" if unit == "1" else unit,
        origin.basis,
        (origin.source,),
        origin.locator,
        origin.as_of,
        origin.note,
        path,
    )


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
    """Every number with its formula."""
    note = "Every number of the design, in the order in which they were computed."
    book.topic("Trail", note, book.block(lines(plan)))


def sources_sheet(book: Book, plan: Plan) -> None:
    """Every source."""
    note = "Every source that the design rests on."
    book.topic("Sources", note, book.block(sources(plan, cited_sources(plan))))


def messages_sheet(book: Book, plan: Plan) -> None:
    """What the checks say, and what is idle."""
    note = "What to know about this design, and what GPUs it leaves idle."
    book.topics("Messages", note, [book.block(messages(plan)), book.block(idle(plan))])


def decisions_sheet(book: Book, plan: Plan) -> None:
    """The design decisions."""
    book.topic("Decisions", "Design decisions.", book.block(decisions(plan)))
