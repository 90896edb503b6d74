"""Tables of cost: by year, part and group, the bill of materials, prices, margin."""

from collections.abc import Iterable
from functools import partial
from itertools import pairwise
from typing import Any

from gpuplan.analysis.customer import earned_in_all, earnings
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.bill_of_materials import BY_CORE, Material, in_advance
from gpuplan.plan.cash_flow import CostPart
from gpuplan.plan.cost import Costs
from gpuplan.plan.cost_ranges import End
from gpuplan.plan.prices import Price
from gpuplan.report.table import NOTHING, Cell, Column, Table, Worded, columns, filled, listed, tabulate
from gpuplan.report.tables.plan import group_names
from gpuplan.wording import NAMES, amount, headline_money, money, number, rounded_money, said, stated_percent

PER = NAMES["per"]
STATUS = NAMES["material not paid"]
"""Text in place of a cost for items that are not paid."""
PAID = NAMES["material paid"]
NONE = Cell(None, words="")
INTERNAL = said("table.internal")
"""Title of content missing from the customer's version."""
PER_UNIT = NAMES["price per unit"]


def toned(values: Iterable[Any], tone: str) -> tuple[Cell, ...]:
    """Return a row with emphasis."""
    return tuple(Cell(value, tone=tone) for value in values)


def cost_by_year(plan: Plan) -> Table:
    """Tabulate the payments for each part in each year, and the hosts and GPU-hours of the year."""
    costs, years, currency = plan.costs, range(1, plan.scenario.cost.years + 1), plan.scenario.cost.currency
    part, start, *others = columns("cost_by_year", currency, at_start=partial(_in_a_year, 0))
    names = {year: said("table.cost_by_year.name", year=year) for year in years}
    each_year = (
        Column(f"year_{year}", name, "money", currency, of=partial(_in_a_year, year))
        for year, name in names.items()
    )
    shown = (part, start, *each_year, *others)
    if costs is None:
        return Table("cost_by_year", shown, ())
    cash = [Cell(value, line=f"cost.years.{at}", tone="total") for at, value in enumerate(costs.cash)]
    in_all = Cell(costs.total, line="cost.total", tone="total")

    def counts(name: str, values: Iterable[float | None]) -> tuple[Any, ...]:
        cells = (Cell(value, words=None if value is None else number(round(value))) for value in values)
        return (name, *cells, NONE, None)

    return listed(
        "cost_by_year",
        shown,
        costs.parts,
        totals=(
            (Cell(said("table.all parts"), tone="total"), *cash, in_all, None),
            counts(said("table.cost_by_year.gpu hosts"), (None, *costs.hosts)),
            counts(said("table.cost_by_year.gpus"), (None, *costs.gpus)),
            counts(said("table.cost_by_year.hours used"), (None, *costs.used_gpu_hours)),
        ),
        notes=(said("table.running costs are paid"), *_paid_in_advance(plan)),
    )


def _paid_in_advance(plan: Plan) -> Iterable[str]:
    cost = plan.scenario.cost
    if cost.platform_licence in BY_CORE or cost.gpu_licence == "subscription":
        sentence = said("table.subscriptions are paid", when=in_advance(cost.licence_term_years))
        whole = said("table.the first term", years=cost.years) if cost.licence_term_years > 1 else ""
        yield f"{sentence} {whole}".rstrip()


def _in_a_year(year: int, part: CostPart) -> Cell:
    paid = part.yearly[year]
    return Cell(paid, words=None if paid else NOTHING)


def hosts_by_year(costs: Costs) -> Table:
    """Tabulate hosts and GPUs of each year, and how many hosts are bought at its start."""
    bought = (costs.hosts[0], *(now - before for before, now in pairwise(costs.hosts)))
    rows = zip(range(1, costs.years + 1), costs.hosts, costs.gpus, bought, strict=True)
    return filled("hosts_by_year", rows, notes=(said("table.years count from the"),))


def cash_flow(plan: Plan) -> Table:
    """Tabulate the payments for each part in each year, one row each; year 0 is the start."""
    parts = plan.costs.parts if plan.costs else ()
    rows = ((part.name, year, paid) for part in parts for year, paid in enumerate(part.yearly))
    return filled("cash_flow", rows, plan.scenario.cost.currency)


def cost_by_part(plan: Plan) -> Table:
    """Tabulate the cost of each part over all years, with its range."""
    costs, ranges, currency = plan.costs, plan.cost_ranges, plan.scenario.cost.currency
    in_all = costs.total if costs else 0.0

    def share(part: CostPart) -> float | None:
        return part.total / in_all if in_all > 0 and part.total >= 0 else None

    def end(at: int, part: CostPart) -> float | None:
        return ranges.parts[part.name][at] if ranges else None

    empty = Cell(None, words="", tone="total")
    total = (Cell(said("table.all parts"), tone="total"), Cell(in_all, line="cost.total", tone="total"))
    ends = toned(ranges.total if ranges else (None, None), "total")
    ranged: dict[str, Any] = {"low": partial(end, 0), "high": partial(end, 1), "share": share}
    totals = ((*total, *ends, empty, empty),) if costs else ()
    return tabulate("cost_by_part", costs.parts if costs else (), currency, **ranged, totals=totals)


def totals(plan: Plan) -> dict[str, tuple[float | None, End | None]]:
    """Tabulate the totals of the cost with their ranges."""
    costs, ranges = plan.costs, plan.cost_ranges
    if costs is None or ranges is None:
        return {}
    named = ("net_present", "total", "hardware", "gpu_hour_installed", "gpu_hour_used")
    figures = {name: (getattr(costs, name), getattr(ranges, name)) for name in named}
    return figures | {"at_start": (costs.cash[0], ranges.cash[0])}


def headlines(plan: Plan) -> dict[str, str]:
    """Tabulate the headline totals: rounded, with their ranges."""
    return {
        name: number(None) if value is None else headline_money(value, plan.scenario.cost.currency, ends)
        for name, (value, ends) in totals(plan).items()
    }


def use_words(plan: Plan) -> str:
    """Say how much of the time the GPUs are used, and on what this rests where no workload is described."""
    share = plan.costs.utilisation if plan.costs else 0.0
    always = not plan.groups and plan.scenario.cost.utilisation is None
    return said("table.of the time when stated" if always else "table.of the time", share=share)


def per_unit(plan: Plan) -> Table:
    """Tabulate the cost of a GPU-hour and, for groups with a language model, of a million tokens and a user a month."""
    costs, ranges = plan.costs, plan.cost_ranges
    rows: list[tuple[str, Cell]] = []
    if costs is not None and ranges is not None:
        rows += [
            (label, Cell(value, words=rounded_money(value, getattr(ranges, name))[0], line=f"cost.{name}"))
            for name, label in NAMES["price of a GPU-hour"].items()
            if (value := getattr(costs, name)) is not None
        ]
    for price in plan.token_costs.values():
        who = f", {price.name}" if len(plan.token_costs) > 1 else ""
        rows += [
            (label + who, Cell(value, line=f"groups.{price.id}.{name}"))
            for name, label in PER_UNIT.items()
            if (value := getattr(price, name)) is not None
        ]
    return filled("per_unit", rows, plan.scenario.cost.currency)


def ranges_words(plan: Plan) -> str:
    """Say where the ranges of the cost come from; empty without ranges."""
    ranges = plan.cost_ranges
    if ranges is None or not ranges.causes:
        return ""
    widest = [NAMES["cause"].get(cause, cause) for cause in list(ranges.causes)[:3]]
    return said("table.low and high the", widest=", ".join(widest))


def cost_by_group(plan: Plan) -> Table:
    """Tabulate the cost of each group over all years, by its GPU demand."""
    names, currency = group_names(plan), plan.scenario.cost.currency
    parts = plan.costs.groups if plan.costs and plan.groups else ()
    notes = [said("table.cost_by_group.kinds")] * (len(plan.parts) > 1)
    return tabulate("cost_by_group", parts, currency, group=lambda each: names[each.id], notes=notes)


def bill_of_materials(plan: Plan) -> Table:
    """Tabulate all materials of the design: quantity, rule, price and cost."""
    currency, materials = plan.scenario.cost.currency, plan.costs.materials if plan.costs else ()
    discounted = any(material.discount for material in materials)
    own: dict[str, Any] = {"unit_price": _price_of_one, "known": _price_known, "cost": _paid}
    own |= {"name": lambda m: Cell(m.name, more={"note": m.part}), "currency": lambda _: currency}
    own["quantity"] = lambda m: Cell(m.quantity, words=amount(m.quantity, m.unit) if m.quantity else "")
    own["status"] = Worded(lambda status: PAID.get(status, STATUS.get(status)))
    own["discount"] = Worded(lambda share: stated_percent(share) if share else "")
    notes, hidden = (said("table.unit prices are rounded"),), {"discount": not discounted}
    return tabulate("materials", materials, currency, **own, hidden=hidden, notes=notes)


def _price_known(material: Material) -> Cell:
    words = said("table.not known") if material.unknown else number(True) if material.price else ""
    return Cell(not material.unknown, words=words)


def _price_of_one(material: Material) -> Cell:
    """Return the price of one and its discount, or why there is none."""
    if material.price is None:
        unknown = said("table.not known") if material.unknown else STATUS.get(material.status, "")
        return Cell(None, words=unknown, tone="bad gp-whole" if material.unknown else "small")
    return Cell(material.price.value)


def _paid(material: Material) -> Cell:
    if material.cost is None or material.status in STATUS:
        return Cell(material.cost, words=None if material.cost is None else NOTHING)
    paid = money(material.cost, "").strip()
    yearly = said("table.materials.a year", money=paid) if material.status == "yearly" else None
    return Cell(material.cost, words=yearly, line=f"cost.materials.{material.key}")


def prices(plan: Plan) -> Table:
    """Tabulate all relevant prices with their ranges, and those that are unknown."""
    currency = plan.scenario.cost.currency
    unknown = [
        dict.fromkeys(("as_of", "locator", "note"), "")
        | {"key": item.key, "name": item.name, "per": item.per, "low": None, "high": None, "sources": ()}
        | {"value": Cell(None, words=said("table.price unknown")), "basis": Cell("unknown", words="")}
        | {"stated": False, "old": False}
        for item in (plan.costs.unknown if plan.costs else ())
    ]
    known = map(_known_price, plan.costs.prices if plan.costs else ())
    return tabulate("prices", [*known, *unknown], currency, currency=lambda _: currency)


def price_dict(price: Price) -> dict[str, Any]:
    """Return a price with its certainty and its source."""
    fact, until = price.fact, ("valid_until", "lapsed") if price.valid_until else ()
    ends = {"low": fact.low, "high": fact.high, "currency": fact.unit, "basis": fact.basis}
    origin = {"sources": list(fact.sources), "locator": fact.locator, "note": fact.note}
    first, day, last = (
        {name: getattr(price, name) for name in names}
        for names in (("key", "name", "per", "value"), ("as_of", "stated", "old"), until)
    )
    return first | ends | day | origin | last


def _known_price(price: Price) -> dict[str, Any]:
    return price_dict(price) | {
        "basis": Cell(price.fact.basis, words=said("table.prices.is stated") if price.stated else None),
        "as_of": Cell(price.as_of, words=price_day(price)),
        "sources": price.fact.sources,
    }


def price_day(price: Price) -> str:
    """Say of which day a price is, and until when it holds."""
    day = written_day(price.as_of)
    if price.old:
        day = said("table.prices.day old", day=day)
    if price.valid_until:
        key = "table.prices.day lapsed" if price.lapsed else "table.prices.day until"
        day = said(key, day=day, until=written_day(price.valid_until))
    return day


def hosts_over_years(costs: Costs) -> str:
    """Return the hosts behind a cost: ``10 hosts, growing to 19 in year 5``."""
    grows = costs.hosts[-1] > costs.hosts[0]
    return said("table.hosts growing" if grows else "table.hosts at start", costs=costs, end=costs.hosts[-1])


def growth_words(costs: Costs) -> str:
    """Say from which year on the cost excludes growth; empty where it excludes none."""
    return said("table.from year on the", year=costs.growth_left_out) if costs.growth_left_out else ""


def margin(plan: Plan) -> Table | None:
    """Tabulate what the seller pays and earns by part over all years; None without a margin."""
    parts = earnings(plan)
    if not parts:
        return None
    currency, in_all = parts[0].currency, earned_in_all(parts)
    total = toned((in_all.part, in_all.paid, in_all.price, in_all.earned), "total")
    return tabulate("internal", parts, currency, totals=(total,), title=INTERNAL)
