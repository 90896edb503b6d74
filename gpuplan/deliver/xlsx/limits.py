"""The sheets of limits: what the design takes by each, against a limit that can be changed, and the best design within them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gpuplan.deliver.xlsx.book import HEAD, Block, Book, at_column, column_of, worded
from gpuplan.deliver.xlsx.cells import TABS, Editable, Live, address
from gpuplan.deliver.xlsx.choices import Charts, Shown
from gpuplan.deliver.xlsx.page import Page
from gpuplan.plan import Plan
from gpuplan.plan.limits import Within, limit_words
from gpuplan.report.limits import within_words
from gpuplan.report.solve_report import answer
from gpuplan.report.tables import solve as tables
from gpuplan.scenario import field_of
from gpuplan.wording import NAMES, capital, is_currency, said

CELLS = {
    "budget": "net_present_cost",
    "budget_start": "paid_at_start",
    "power_kw": "peak_power_kw",
    "cooling_kw": "peak_power_kw",
}
"""Limit -> the cell that holds what the design takes of it, by its name in formulas."""
FIXED = ("delivery_weeks",)
"""Limits that are kept by both ends of a range, which one cell does not hold."""
KEPT = NAMES["limit kept"]


def limits_sheet(book: Book, plan: Plan) -> None:
    """Write each limit, which may be changed, with what the design takes, its share and what is over."""
    if not plan.pools or not plan.within:
        return
    met = {each.key: each.met for each in _unlimited(plan).within}
    rows = [_row(plan, at, each, met[each.key]) for at, each in enumerate(plan.within, HEAD + 2)]
    block = worded("sheet_limits", rows)._replace(title=said("limits.table"))
    page = book.topics(TABS["limits"], f"{within_words(plan)} {said('sheet.limits.note')}", [block])
    assert page is not None
    share, last = at_column("sheet_limits", "share"), HEAD + 1 + len(rows)
    ends = {"min_type": "num", "min_value": 0, "max_type": "num", "max_value": 2}
    bars = {"type": "data_bar", "bar_color": f"#{book.brand.line}", **ends}
    page.sheet.conditional_format(HEAD + 2, share, last, share, bars)


def solution_sheet(book: Book, found: Mapping[str, Any]) -> None:
    """Write what each budget buys, what binds, the best of each board, and the boards without a design."""
    parts = [tables.frontier(found["frontier"])] if found["frontier"] else []
    parts += [tables.binding(found), tables.relaxed(found), tables.gave(found)]
    parts += [tables.designs(found, found["designs"]), tables.missed(found)]
    blocks = [book.block(table) for table in parts if table.rows]
    page = book.topics(TABS["solved"], " ".join([*answer(found), said("sheet.solved.note")]), blocks)
    if page is not None and found["frontier"] and found["frontier"]["points"]:
        _chart(book, page, blocks, found["frontier"])


def _chart(book: Book, page: Page, blocks: Sequence[Block], found: Mapping[str, Any]) -> None:
    """Draw what each budget buys, as the first table says, below all tables."""
    table, currency = tables.frontier(found), found["currency"]
    amounts, costs = (column_of(table.keyless(), key) for key in ("value", "net_present"))
    shown = Shown(TABS["solved"], HEAD + 2, HEAD + 1 + len(table.rows))
    most = max(design["net_present"] for design in found["points"])
    title = said("sheet.limits.chart", name=capital(found["quantity"]["name"]), currency=currency)
    chart = Charts(book.file, book.brand).curve(shown, amounts, costs, most, title)
    below = HEAD + sum(len(block.rows) + len(block.notes) + 3 for block in blocks)
    page.sheet.insert_chart(below, 0, chart, {"object_position": 1, "x_offset": 3})


def _unlimited(plan: Plan) -> Plan:
    """The same design with amounts as large as they may be stated: what is then not kept for certain is not known."""
    limits = plan.scenario.limits
    amounts: dict[str, Any] = {
        each.key: field_of(f"limits.{each.key}").high for each in plan.within if _is_amount(each)
    }
    return plan.with_scenario(replace(plan.scenario, limits=replace(limits, **amounts)))


def _is_amount(each: Within) -> bool:
    return each.key not in FIXED and not isinstance(each.limit, str) and isinstance(each.value, int | float)


def _row(plan: Plan, at: int, each: Within, beyond: bool | None) -> dict[str, Any]:
    """The row of a limit; one that is no amount is shown as it is."""
    row: dict[str, Any] = {"name": each.name, "unit": each.unit, "why": each.why}
    if not _is_amount(each):
        words = {name: limit_words(plan.catalog, each, getattr(each, name)) for name in ("value", "limit")}
        return {**row, **words, "unit": "", "met": KEPT[str(each.met)]}
    value, limit, over = (address(at, at_column("sheet_limits", key)) for key in ("value", "limit", "over"))
    kind, cell = "money" if is_currency(each.unit) else "num", CELLS.get(each.key, "")
    if cell == "peak_power_kw" and plan.power and each.value != plan.power.peak_w / 1000:
        cell = ""  # of a later year
    empty = f'{limit}=""'
    return row | {
        "value": Live(cell, each.value, kind) if cell else each.value,
        "limit": Editable(float(each.limit), kind, high=field_of(f"limits.{each.key}").high),
        "share": Live(f'IF(N({limit})=0,"",{value}/{limit})', "" if each.share is None else each.share),
        "over": Live(f'IF({empty},"",MAX(0,ROUND({value}-{limit},4)))', each.over or 0, kind),
        "met": Live(
            f'IF({empty},"",IF({over}>0,"{KEPT["False"]}","{KEPT[str(beyond)]}"))', KEPT[str(each.met)]
        ),
    }
