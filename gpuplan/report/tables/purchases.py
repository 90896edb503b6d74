"""Tables of purchases for growth: the ways to buy side by side, the orders of each, and what they rest on."""

from collections.abc import Iterator
from typing import Any

from gpuplan.analysis.purchases import PLANNED, Purchases, Step, Way, purchase_ways
from gpuplan.analysis.sensitivity import Range
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.prices import catalog_factor
from gpuplan.report.table import NOTHING, Cell, Table, filled, tabulate
from gpuplan.report.tables.alternatives import TERM_NAMES, count_over_years
from gpuplan.report.tables.explore import input_words
from gpuplan.wording import NAMES, joined, money, number, one_place, rounded_money, said

WAY_NAMES = NAMES["way to buy"]


def purchases(plan: Plan) -> Table:
    """The ways to buy for growth: cost as planned, best and worst over low and high of demand and prices, and regret."""
    found = purchase_ways(plan)
    chosen, ways = found.chosen, [*found.ways, *filter(None, [found.least])]

    def name(way: Way) -> Cell:
        return Cell(WAY_NAMES[way.key], tone="strong" if way is chosen else "")

    def count(many: float, tone: str = "") -> Cell:
        return Cell(many, words=one_place(many), tone=tone) if many else Cell(many, words=NOTHING)

    own: dict[str, Any] = {"way": name, "planned": lambda way: way.costs[PLANNED]}
    own["owned"] = lambda way: Cell(way.owned[0], words=count_over_years(way.owned))
    own |= {"rented": lambda way: count(max(way.rented)), "short": lambda way: count(way.short, "bad")}
    for column, end in (("best", min), ("worst", max)):
        own[column] = lambda way, end=end: None if way is found.least else end(way.costs.values())
    own["regret"] = lambda way: None if way is found.least else way.regret
    return tabulate("purchases", ways, plan.scenario.cost.currency, **own, notes=tuple(_words(plan, found)))


def purchase_steps(plan: Plan) -> Table:
    """The orders of each way to buy with demand as planned, and the day on which each must be placed."""
    ways = purchase_ways(plan).ways
    rows = [(WAY_NAMES[way.key], *_order(plan, step)) for way in ways for step in way.steps]
    return filled("purchase_steps", rows, plan.scenario.cost.currency)


def growth_tables(plan: Plan) -> dict[str, Table]:
    """Both tables of a design that grows."""
    tables = (purchases(plan), purchase_steps(plan)) if purchase_ways(plan).ways else ()
    return {table.name: table for table in tables}


def _order(plan: Plan, step: Step) -> tuple[Any, ...]:
    board, weeks = plan.catalog.gpus[step.board].name, Cell(step.lead_weeks, words=number(step.lead_weeks))
    return step.order_by, step.day, step.year, step.hosts, step.pool, board, step.price, weeks


def _range_words(span: Range) -> str:
    of = {"path": span.path, "unit": span.unit}
    low, high = (input_words(of, end) for end in (span.low, span.high))
    return said("purchases.range", label=span.label, low=low, high=high)


def _words(plan: Plan, found: Purchases) -> Iterator[str]:
    """The way of the least regret, what it rests on, and what is left out."""
    way, currency = found.chosen, plan.scenario.cost.currency
    if way is None:
        yield found.why
        return
    short = said("purchases.short", hosts=one_place(way.short)) if way.short else ""
    regret = f"{currency} {rounded_money(way.regret)[0]}"
    key = "purchases.least regret" if way.regret else "purchases.no regret"
    yield said(key, way=WAY_NAMES[way.key], regret=regret, short=short)
    yield said("purchases.cases", ranges=joined([_range_words(span) for span in found.ranges]))
    rows = [row for row in plan.catalog.rows("lead_times") if row["gpu"] in (None, *plan.new_boards)]
    sources = dict.fromkeys(plan.catalog.sources[id].title for row in rows for id in row.sources)
    yield said("purchases.lead", sources="; ".join(sources))
    of = {name: catalog_factor(plan.catalog, f"purchase_{name}").value for name in ("threshold", "block")}
    yield said("purchases.threshold", **of)
    for offer in found.offers:
        price = money(offer.gpu_hour_price, currency)
        words = {"offer": offer.name, "term": TERM_NAMES[offer.term], "price": price}
        yield said("purchases.rent", **words, day=written_day(offer.as_of))
    if found.left_out:
        yield said("purchases.left out", year=found.left_out)
    if found.why:
        yield found.why
