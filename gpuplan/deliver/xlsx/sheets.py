"""The sheets about the design: groups, hosts, demand, availability, network, power, inputs, trail, sources, decisions, names."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.analysis.compare import Comparison
from gpuplan.catalog import Catalog
from gpuplan.deliver.executive import OWNERS, Executive
from gpuplan.deliver.xlsx.book import HEAD, Block, Book, at_column, column_of, ordered, worded
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, address
from gpuplan.deliver.xlsx.choices import Shown
from gpuplan.deliver.xlsx.money import Money
from gpuplan.plan import Plan
from gpuplan.plan.llm import INPUTS
from gpuplan.report.charts.design import capacity_rows
from gpuplan.report.site import site_fields
from gpuplan.report.table import Cell, Table, Worded, columns, tabulate
from gpuplan.report.tables import availability, cost, demand, network, platform, power_on
from gpuplan.report.tables import plan as topics
from gpuplan.report.tables.explore import compared, same_boards, same_works
from gpuplan.report.tables.known import assumption_log
from gpuplan.report.tables.plan import catalog_name
from gpuplan.report.tables.purchases import purchase_steps, purchases
from gpuplan.report.tables.site import names_and_addresses
from gpuplan.scenario import FIELDS, GROUP_FIELDS, field_of, table_path
from gpuplan.wording import NAMES, TRANSPORT_NAMES, number, said, stated_percent

MAX_HOST_ROWS = 500
"""Most host rows; beyond them a row covers all hosts of a kind."""
HOST_NAME = re.compile(r"host\.[^.]+\.name")
"""Key of the name of a host."""
FIGURES = ("label", "value", "unit", "formula", "basis")
"""Columns of a topic's figures; the others are on Trail."""
OF_BOARDS = ("name", "hosts", "gpus", "net_present", "low", "high", "peak_w", "racks", "valid", "remarks")
OF_SOURCES = ("number", "title", "producer", "published", "url")
PLAIN: Mapping[str, tuple[str, Callable[[Plan], Sequence[Table]]]] = {
    "power-on": (
        "sheet.power-on.note",
        lambda plan: (power_on.power_on(plan), *power_on.by_reading_and_name(plan)),
    ),
    "platform": (
        "sheet.platform.note",
        lambda plan: (platform.host_line(plan), platform.management(plan), platform.management_hosts(plan)),
    ),
    "purchases": ("sheet.purchases.note", lambda plan: (purchases(plan), purchase_steps(plan))),
    "trail": ("sheet.trail.note", lambda plan: (topics.lines(plan),)),
    "sources": (
        "sheet.sources.note",
        lambda plan: (ordered(topics.sources(plan, topics.cited_sources(plan)), *OF_SOURCES),),
    ),
    "messages": ("sheet.messages.note", lambda plan: (topics.messages(plan), availability.idle(plan))),
}
"""Sheets that show tables unchanged: the key of their note, and the tables."""


def groups_sheet(book: Book, plan: Plan, money: Money | None) -> None:
    """The groups, and their share of the cost."""
    block = book.block(topics.groups(plan))
    if money is not None and plan.groups:
        block = _with_cost(book, plan, money, block)
    book.topic(TABS["groups"], said("sheet.groups.note"), block)


def _with_cost(book: Book, plan: Plan, money: Money, block: Block) -> Block:
    """Tabulate the groups with their share of the cost beside them, and the cost of no group."""
    names, table = topics.group_names(plan), cost.cost_by_group(plan).without("group")
    ids = [part.id for part in money.costs.groups]
    rows = {group.id: list(row) for group, row in zip(plan.groups, block.rows, strict=True)}
    for id in ids:
        rows.setdefault(id, [names[id], *[None] * (len(block.columns) - 1)])
    share, at = len(block.columns) + column_of(table, "share"), list(rows)
    total = address(money.results["total"], 2, TABS["years"])
    shares = ((f"{address(HEAD + 1 + at.index(part.id), share)}", part) for part in money.costs.groups)
    paid = book.block(table, {"total": [Live(f"{cell}*{total}", part.total) for cell, part in shares]})
    costs = dict(zip(ids, paid.rows, strict=True))
    for id, row in rows.items():
        row += costs.get(id, [None] * len(paid.columns))
    return block._replace(columns=[*block.columns, *paid.columns], rows=list(rows.values()))


def hosts_sheet(book: Book, plan: Plan) -> None:
    """Write the load of each host, by the name that is typed for it."""
    count = sum(len(pool.placement) for pool in plan.pools)
    note = said("sheet.hosts.alike", count=count) if count > MAX_HOST_ROWS else said("sheet.hosts.note")
    named = [_name(plan, at) for at, each in enumerate(site_fields(plan)) if HOST_NAME.fullmatch(each.key)]
    live = {"host": named} if count <= MAX_HOST_ROWS else {}
    book.topic(TABS["hosts"], note, book.block(topics.hosts(plan, plan.pools, MAX_HOST_ROWS), live))


def _name(plan: Plan, at: int) -> Live:
    """The name of a thing: as typed on the sheet of names and addresses, else as proposed there."""
    each = site_fields(plan)[at]
    typed, proposed = (
        address(HEAD + 1 + at, at_column("site", key), TABS["site"]) for key in ("value", "proposed")
    )
    return Live(f'IF({typed}="",{proposed},{typed})', each.value or each.proposed, "text")


def site_sheet(book: Book, plan: Plan) -> None:
    """Write every name and address with a cell to type it in."""
    fields = site_fields(plan)
    cells = [Editable(each.value, "typed", allowed=field_of(each.path).allowed()) for each in fields]
    block = book.block(names_and_addresses(plan), {"value": cells})
    page = book.topic(TABS["site"], said("sheet.site.note"), block)
    if page is not None:
        page.sheet.ignore_errors({"number_stored_as_text": f"A1:I{HEAD + 1 + len(fields)}"})


def _figures(plan: Plan, title: str, *starts: str) -> Table:
    return replace(topics.lines(plan, *starts).only(*FIGURES), title=title)


def demand_sheet(book: Book, plan: Plan) -> None:
    """Write the total demand, through the week and by group."""
    ends = ("active", "vms", "demand_gpus", "held_gpus")
    keys = [f"groups.{group.id}.{end}" for group in plan.groups for end in ends]
    tables = [_figures(plan, said("sheet.in all"), "demand.", "totals."), demand.week(plan)]
    if keys:
        tables.append(_figures(plan, said("sheet.by group"), *keys))
    book.topics(TABS["demand"], said("sheet.demand.note"), map(book.block, tables))


def availability_sheet(book: Book, plan: Plan) -> Shown | None:
    """Write the effects of failures and maintenance; return the rows of the sheet's chart."""
    left = tabulate("capacity", capacity_rows(plan), title=said("sheet.availability.title"))
    tables = (left, availability.postures(plan), availability.losses(plan), availability.failures(plan))
    page = book.topics(TABS["availability"], said("sheet.availability.note"), map(book.block, tables))
    if page is None or not left.rows:
        return None
    return Shown(TABS["availability"], HEAD + 2, HEAD + 1 + len(left.rows))


def network_sheet(book: Book, plan: Plan) -> None:
    """Write the fabric, and the effect of the network on the workloads."""
    inputs, fabric = plan.scenario.network, plan.cabling
    tables = [network.rules(plan)]
    if fabric is not None:
        tables.insert(0, network.cabling(fabric))
        tables += [network.settings(fabric), network.part_failures(fabric)]
    transport = TRANSPORT_NAMES[inputs.transport]
    note = said("sheet.network.note", speed=inputs.link_gbit_s, transport=transport, mtu=inputs.mtu_bytes)
    book.topics(TABS["network"], note, map(book.block, tables))
    speeds = (network.remote_gpus(plan), network.training(plan))
    book.topics(TABS["speed"], said("sheet.speed.note"), map(book.block, speeds))


def power_sheet(book: Book, plan: Plan) -> None:
    """Power and space."""
    use, note = plan.power, said("sheet.power.note")
    if use and use.excludes:
        note += " " + said("sheet.power.not known", names="; ".join(use.excludes))
    tables = [*([platform.power(use)] if use else []), _figures(plan, said("sheet.in all"), "power.")]
    book.topics(TABS["power"], note, map(book.block, tables))


def decisions_sheet(book: Book, plan: Plan, summary: Executive) -> None:
    """Write the customer's decisions, those that the design has made, and who confirmed which assumption."""
    title = said("sheet.decisions.asked")
    needed = tabulate("asked", summary.decisions, owner=Worded(OWNERS.get), title=title)
    tables = [needed, topics.decisions(plan).without("number"), assumption_log(plan)]
    book.topics(TABS["decisions"], said("sheet.decisions.note"), map(book.block, tables))


def names_sheet(book: Book) -> None:
    """Write the names of cells in formulas, each with its current value."""
    rows: list[dict[str, Any]] = []
    for cell in book.named:
        value = "" if cell.value is None else cell.value
        live = Live(f'IF({cell.name}="","",{cell.name})', value, cell.kind)
        editable = said("sheet.yes" if cell.editable else "sheet.no")
        row = {"name": cell.name, "what": cell.what, "value": live, "input": editable}
        rows.append(row | {"where": cell.address.replace("$", "")})
    book.topic(TABS["names"], said("sheet.names.note"), worded("cell_names", rows))


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
    paths += [
        f"{name}.{key}" for name in ("prices", "valid_until", "ranges") for key, _ in getattr(scenario, name)
    ]
    table = tabulate("inputs", [_input(plan, path) for path in paths], title=TABS["inputs"])
    book.topic(TABS["inputs"], said("sheet.inputs.says"), book.block(table, titles=True))


def _input(plan: Plan, path: str) -> dict[str, Any]:
    scenario, value = plan.set_up, plan.set_up.get(path)
    ranged = path.startswith("ranges.")
    label = scenario.label(path.removeprefix("ranges."))
    label = said("sheet.inputs.range", label=label) if ranged else label
    cells: dict[str, Any] = {"path": path, "label": label}
    if value is None or value == "":
        unsaid = dict.fromkeys(("unit", "basis", "locator", "as_of"), "")
        note = said("sheet.inputs.empty")
        return cells | unsaid | {"value": Cell(None, words=""), "sources": (), "note": note}
    origin = scenario.origin(path)
    unit = scenario.cost.currency if path.startswith("prices.") else scenario.fact(path).unit
    cells |= {name: getattr(origin, name) for name in ("basis", "locator", "as_of", "note")}
    cells |= {"value": Cell(value, words=_words(plan, path, value)), "sources": (origin.source,)}
    return cells | {"unit": unit}


def _words(plan: Plan, path: str, value: Any) -> str | None:
    if isinstance(value, tuple):
        low, high = map(number, value)
        return said("table.range", low=low, high=high)
    if not isinstance(value, str):
        return None
    table = "" if path.startswith(("prices.", "ranges.")) else field_of(path).table
    if table:
        return catalog_name(plan.catalog, table, value)
    return NAMES.get(table_path(path), {}).get(value, value)


def plain_sheet(book: Book, plan: Plan, key: str) -> None:
    """Write a sheet with unchanged tables."""
    note, tables = PLAIN[key]
    block, *more = map(book.block, tables(plan))
    if more:
        book.topics(TABS[key], said(note), [block, *more])
    else:
        book.topic(TABS[key], said(note), block)


def boards_sheet(book: Book, found: Mapping[str, Any]) -> None:
    """Write the design on each board for the same work, and what one GPU does for each workload."""
    note, designs = said("sheet.boards.note", demand=found["demand"]), same_boards(found).only(*OF_BOARDS)
    book.topics(TABS["boards"], note, map(book.block, (designs, same_works(found))))


def compared_sheet(book: Book, found: Comparison, catalog: Catalog) -> None:
    """Write the plan and the designs compared with it, in columns, and the differences."""
    table = compared(found, catalog).without("differs")
    book.topic(said("compared.title"), " ".join(found.sentences), book.block(replace(table, notes=())))


def internal_sheet(book: Book, plan: Plan) -> None:
    """Write the content missing from the customer's version: no sheet where nothing is internal."""
    inputs, table = plan.scenario.internal, cost.margin(plan)
    notes = tuple((line,) for line in (inputs.notes or "").split("\n") if line.strip())
    blocks = [book.block(Table("notes", columns("notes"), notes, title=said("sheet.internal.notes")))]
    if table is not None:
        title = said("sheet.internal.margin", share=stated_percent(inputs.margin or 0))
        blocks.append(book.block(table)._replace(title=title))
    book.topics(TABS["internal"], said("sheet.internal.note"), blocks, cost.INTERNAL)
