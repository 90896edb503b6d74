"""The sheets that show the plan as it is: summary, groups, hosts, demand, availability, network, power, inputs, trail, sources."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.catalog import Catalog
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.llm import INPUTS
from gpuplan.report.document.compared import COMPARED
from gpuplan.report.document.writing import as_of
from gpuplan.report.table import Cell, Column, Table, listed
from gpuplan.report.tables import availability, cost, demand, network, platform, power_on
from gpuplan.report.tables import plan as topics
from gpuplan.report.tables.alternatives import alternatives
from gpuplan.report.tables.sensitivity import compared
from gpuplan.report.xlsx.book import HEAD, Block, Book, Live, SheetColumn, address, column_of
from gpuplan.report.xlsx.money import BILL, YEARS, Money
from gpuplan.scenario import FIELDS, GROUP_FIELDS
from gpuplan.wording import TRANSPORT_NAMES, number

MAX_HOST_ROWS = 500
"""Beyond so many hosts a row stands for all hosts of a kind."""
FIGURES = ("label", "value", "unit", "formula", "basis")
"""Columns of a topic's own numbers; the others stand on Trail."""
ABOUT = (SheetColumn("", 42), SheetColumn("Value", 44), SheetColumn("Unit", 10), SheetColumn("Note", 70))
"""Columns of the summary."""


def summary_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """The answer, its cost, and how to read the workbook."""
    scenario, totals = plan.scenario, plan.totals
    gpu = plan.catalog.gpus[scenario.hardware.gpu].name
    about = [
        ("Design", scenario.name, "", ""),
        ("Customer", scenario.customer, "", ""),
        ("GPU", gpu, "", ""),
        ("As of", written_day(as_of(plan)), "", "day of the prices"),
        ("Catalog", plan.catalog.digest, "", "fingerprint of the figures that the design rests on"),
    ]
    spare = (
        f"{totals.hosts_for_demand} for the demand, {totals.hosts_for_failures} for failure and maintenance"
    )
    answer: list[tuple[Any, ...]] = [
        ("GPU demand", totals.gpus_demanded, "GPU", ""),
        ("Hosts", totals.hosts, "host", spare),
        ("GPUs", totals.gpus, "GPU", ""),
        ("GPUs after a failure", totals.gpus_after_failure, "GPU", ""),
        ("VMs not placed", totals.unplaced_vms, "VM", plan.placed.sentence),
        ("VMs not placed after the worst host failure", totals.unplaced_vms_after_failure, "VM", ""),
    ]
    if plan.power:
        answer += [
            ("Power, typical", plan.power.typical_w / 1000, "kW", "without cooling"),
            ("Power, peak", plan.power.peak_w / 1000, "kW", "without cooling"),
        ]
    guide = [
        ("Tinted cells", "may be changed: prices, factors, discounts, quantities", "", f"on Prices, Factors, {BILL} and {YEARS}"),
        ("Money", "follows at once, by formulas", "", f"{BILL}, {YEARS} and this sheet"),
        ("Hosts, placement, risk and power", "stay as planned", "", "make the design anew in gpuplan to change them"),
        ("Every number", "is explained on Trail", "", "with formula, inputs, basis and sources"),
    ]  # fmt: skip
    topics: dict[str, Sequence[tuple[Any, ...]]] = {"Design": about, "Answer": answer}
    if money is not None:
        topics[f"Cost over {money.costs.years} years"] = _summary_cost(money, money.costs)
    topics["How to read this workbook"] = guide
    book.topics("Summary", "", [Block(title, ABOUT, rows) for title, rows in topics.items()], scenario.name)


def _summary_cost(money: Money, costs: Costs) -> list[tuple[Any, ...]]:
    currency, at_start = costs.currency, address(money.cash_row, 2, YEARS)

    def gpu_hour(kind: str, value: float | None) -> tuple[Any, ...]:
        live = Live(money.result_at(f"gpu_hour_{kind}"), "none" if value is None else value, "price")
        return f"A GPU-hour {kind}", live, currency, ""

    unknown = list(money.prices.values()).count(None)
    missing = Live(f'COUNTIF({money.prices_known()},"not known")', unknown, "int")
    rows: list[tuple[Any, ...]] = [
        ("Net present cost", Live(money.result_at("net_present"), costs.net_present, "money"), currency, ""),
        ("Total paid", Live(money.result_at("total"), costs.total, "money"), currency, ""),
        ("Paid at the start", Live(at_start, costs.cash[0], "money"), currency, ""),
        gpu_hour("installed", costs.gpu_hour_installed),
        gpu_hour("used", costs.gpu_hour_used),
        ("Discount rate a year", Live("discount_rate", costs.discount_rate, "percent"), "", ""),
        ("Prices not known", missing, "", "counted as nothing until they are filled in on Prices"),
    ]
    if costs.excludes:
        note = "as planned; what is filled in on Prices or Factors counts at once"
        rows.append(("Cost excludes", "; ".join(costs.excludes), "", note))
    if costs.outside:
        rows.append(("Not part of it", "; ".join(costs.outside), "", "there already, or sized elsewhere"))
    return rows


def groups_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """The groups, and their share of the cost."""
    block = book.block(topics.groups(plan))
    if money is not None and plan.groups:
        block = _with_cost(book, plan, money, block)
    book.topic("Groups", "User groups, how they reach their GPUs, and their share of the cost.", block)


def _with_cost(book: Book, plan: Plan, money: Money, block: Block) -> Block:
    """The groups with their share of the cost beside them, and what belongs to none."""
    names, table = topics.group_names(plan), cost.cost_by_group(plan).without("name")
    ids = [each.id for each in money.costs.groups]
    rows = {group.id: list(row) for group, row in zip(plan.groups, block.rows, strict=True)}
    for id in ids:
        rows.setdefault(id, [names[id], *[None] * (len(block.columns) - 1)])
    share, at = len(block.columns) + column_of(table, "share"), list(rows)
    totals = [
        Live(f"{address(HEAD + 1 + at.index(each.id), share)}*{money.result_at('total')}", each.total)
        for each in money.costs.groups
    ]
    paid = book.block(table, {"total": totals})
    costs = dict(zip(ids, paid.rows, strict=True))
    for id, row in rows.items():
        row += costs.get(id, [None] * len(paid.columns))
    return block._replace(columns=[*block.columns, *paid.columns], rows=list(rows.values()))


def hosts_sheet(book: Book, plan: Plan) -> None:
    """What stands on each host."""
    count = sum(len(pool.placement) for pool in plan.pools)
    note = "One row for each host."
    if count > MAX_HOST_ROWS:
        note = f"{number(count)} hosts; one row for all that are filled alike."
    book.topic("Hosts", note, book.block(topics.hosts(plan, plan.pools, MAX_HOST_ROWS)))


def _figures(plan: Plan, title: str, *starts: str) -> Table:
    """A topic's own numbers, each with its formula."""
    return replace(topics.lines(plan, *starts).only(*FIGURES), title=title)


def demand_sheet(book: Book, plan: Plan) -> None:
    """The demand in all, through the week and by group."""
    ends = ("active", "vms", "demand_gpus", "held_gpus")
    keys = [f"groups.{group.id}.{end}" for group in plan.groups for end in ends]
    tables = [_figures(plan, "In all", "demand.", "totals."), demand.week(plan)]
    if keys:
        tables.append(_figures(plan, "By group", *keys))
    book.topics("Demand", "From users to GPUs.", map(book.block, tables))


def network_sheet(book: Book, plan: Plan) -> None:
    """The fabric, and what the network does to the work."""
    given, fabric = plan.scenario.network, plan.cabling
    tables = [network.remote_gpus(plan), network.training(plan), network.rules(plan)]
    if fabric is not None:
        tables = [network.cabling(fabric), *tables, network.settings(fabric), network.part_failures(fabric)]
    tables.append(_figures(plan, "Figures", "network."))
    link = f"{number(given.link_gbit_s)} Gbit/s {TRANSPORT_NAMES[given.transport]}"
    note = f"Links of {link} with an MTU of {number(given.mtu_bytes)} bytes, the fabric, and what the network does to the work."
    book.topics("Network", note, map(book.block, tables))


def power_sheet(book: Book, plan: Plan) -> None:
    """Power and space."""
    use, note = plan.power, "On the day of the installation."
    if use and use.excludes:
        note += f" Not known: {'; '.join(use.excludes)}."
    tables = [*([cost.power(use)] if use else []), _figures(plan, "In all", "power.")]
    book.topics("Power", note, map(book.block, tables))


def inputs_sheet(book: Book, plan: Plan) -> None:
    """Every input with its origin."""
    scenario = plan.scenario
    paths = [field.path for field in FIELDS if not field.path.startswith(("format.", "internal."))]
    of_models = {name for names in INPUTS.values() for name in names}
    paths += [
        f"groups.{group.id}.{field.path}"
        for group in scenario.groups
        for field in GROUP_FIELDS
        if field.path not in of_models or field.path in INPUTS.get(group.use_case, ())
    ]
    paths += [f"{name}.{key}" for name in ("prices", "ranges") for key, _ in getattr(scenario, name)]
    table = listed(
        "inputs",
        "Inputs",
        (
            Column("label", "Input"),
            Column("value", "Value", "number"),
            Column("unit", "Unit"),
            Column("basis", "Basis", "basis"),
            Column("sources", "Source", "sources"),
            Column("locator", "Where"),
            Column("as_of", "As of", "day"),
            Column("note", "Note"),
            Column("path", "In the scenario file"),
        ),
        [_input(plan, path) for path in paths],
    )
    note = "A record of what the design was made from. Change inputs in gpuplan: hosts and placement follow from them there."
    book.topic("Inputs", note, book.block(table))


def _input(plan: Plan, path: str) -> dict[str, Any]:
    """An input and how it is known."""
    scenario, value = plan.scenario, plan.scenario.get(path)
    ranged = path.startswith("ranges.")
    label = "Range: " * ranged + scenario.label(path.removeprefix("ranges."))
    known: dict[str, Any] = {"path": path, "label": label}
    if value is None or value == "":
        empty = "empty: a planning value of the catalog, or nothing asked"
        unsaid = dict.fromkeys(("unit", "basis", "locator", "as_of"), "")
        return known | unsaid | {"value": Cell(None, words=""), "sources": (), "note": empty}
    origin = scenario.origin(path)
    unit = scenario.cost.currency if path.startswith("prices.") else scenario.fact(path).unit
    words = " to ".join(number(end) for end in value) if isinstance(value, tuple) else None
    said = {name: getattr(origin, name) for name in ("basis", "locator", "as_of", "note")}
    return (
        known
        | said
        | {
            "value": Cell(value, words=words),
            "unit": "" if unit == "1" else unit,
            "sources": (origin.source,),
        }
    )


PLAIN: Mapping[str, tuple[str, Callable[[Plan], Sequence[Table]]]] = {
    "Power-on": (
        "What becomes of the VMs as vSphere starts one after another, in any order.",
        lambda plan: (power_on.power_on(plan), *power_on.by_reading_and_name(plan)),
    ),
    "Availability": (
        "What failures and maintenance do to the design.",
        lambda plan: (availability.postures(plan), availability.failures(plan), availability.losses(plan)),
    ),
    "Platform": (
        "A GPU host to order, the appliances of the platform, and a host of the management domain.",
        lambda plan: (platform.host_line(plan), platform.management(plan), platform.management_hosts(plan)),
    ),
    "Trail": (
        "Every number of the design, in the order in which they were computed.",
        lambda plan: [topics.lines(plan)],
    ),
    "Alternatives": (
        "The plan beside its alternatives, priced alike; as planned, not by formulas.",
        lambda plan: [alternatives(plan)],
    ),
    "Sources": (
        "Every source that the design rests on.",
        lambda plan: [topics.sources(plan, topics.cited_sources(plan))],
    ),
    "Messages": (
        "What to know about this design, and what GPUs it leaves idle.",
        lambda plan: (topics.messages(plan), topics.idle(plan)),
    ),
    "Decisions": ("Design decisions.", lambda plan: [topics.decisions(plan)]),
}
"""Sheets that show tables as they are: name -> what is said above them, and the tables."""


def plain_sheet(book: Book, plan: Plan, name: str) -> None:
    """A sheet with tables as they are."""
    note, tables = PLAIN[name]
    blocks = [book.block(table) for table in tables(plan)]
    if len(blocks) == 1:
        book.topic(name, note, blocks[0])
    else:
        book.topics(name, note, blocks)


def compared_sheet(book: Book, found: Comparison, catalog: Catalog) -> None:
    """The plan and the designs that it is compared with, in columns, and what differs."""
    table = compared(found, catalog).without("differs")
    said = " ".join(found.sentences)
    book.topic(COMPARED, said, book.block(replace(table, notes=())))
