"""The tables of what a plan could be instead: its alternatives priced alike, rent year by year, and other offers; and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from gpuplan.analysis.alternatives import Alternative
from gpuplan.analysis.alternatives import alternatives as compared
from gpuplan.analysis.posture_costs import posture_costs
from gpuplan.analysis.rent_or_buy import RentOrBuy, RentRow, no_rental, rent_terms
from gpuplan.locales import written, written_day
from gpuplan.plan import Plan
from gpuplan.report.table import NOTHING, Cell, Column, Table, listed
from gpuplan.wording import NAMES, counted, money, number, percent, rounded_money, stated_percent

TERM_NAMES = NAMES["rental term"]


IN_SHORT = NAMES["alternative in short"]


def in_short(plan: Plan, found: Sequence[Alternative]) -> Table:
    """What else the plan could cost, rounded as its own cost is: of several ways to rent, the cheapest."""
    rented = [each for each in found if each.key.startswith("rent-")]
    cheapest = min(rented, key=lambda each: each.net_present, default=None)
    shown = [each for each in found if each not in rented or each is cheapest]
    return listed(
        "alternatives_in_short",
        "What else it could cost",
        (
            Column("name", "Alternative", of=_short_name),
            Column("net_present", plan.scenario.cost.currency, "money", of=_rounded),
        ),
        shown,
    )


def _short_name(each: Alternative) -> Cell:
    return Cell(IN_SHORT.get(each.key, each.name), tone="strong" if each.chosen else "")


def _rounded(each: Alternative) -> Cell:
    ends = None if each.low is None or each.high is None else (each.low, each.high)
    words, line = rounded_money(each.net_present, ends)[0], "cost.net_present" if each.chosen else ""
    return Cell(each.net_present, words=words, line=line, tone="strong" if each.chosen else "")


def alternatives(plan: Plan, known: Sequence[Alternative] | None = None) -> Table:
    """The plan and its alternatives, priced alike over the same years, growth included: what each costs, and what it gives up."""
    found, costs = compared(plan) if known is None else known, plan.costs
    currency = plan.scenario.cost.currency
    notes = []
    if costs is not None:
        notes.append(
            f"Every line has the same demand, prices and {counted(costs.years, 'year')}, later payments discounted at "
            f"{stated_percent(costs.discount_rate)} a year, and the hosts bought for the growth unless it says otherwise. "
            "Prices that turn out high are high in every line that is bought."
        )
    demand, hardware = plan.scenario.demand, plan.scenario.hardware
    if any(each.key == "silos" for each in found) and (demand.rule == "stated" or hardware.existing):
        notes.append("Silos cost more or less than shared hosts for the demand of the groups, all hosts new.")
    notes += _left_out(found)
    return listed(
        "alternatives",
        "Alternatives",
        (
            Column("key", "Key", detail=True),
            Column(
                "name", "Alternative", of=lambda each: Cell(each.name, tone="strong" if each.chosen else "")
            ),
            Column("hosts", "Hosts", "number", of=lambda each: _counted(each.hosts)),
            Column("gpus", "GPUs", "number", of=lambda each: _counted(each.gpus)),
            Column("net_present", f"Net present cost, {currency}", "money", currency),
            Column("range", "Low to high", of=_range),
            Column("low", "Low", "money", currency, detail=True),
            Column("high", "High", "money", currency, detail=True),
            Column("difference", f"Difference, {currency}", "money", currency, of=_difference),
            Column(
                "hosts_at_end",
                "Hosts in the last year",
                "number",
                detail=True,
                of=lambda each: _last(each.hosts),
            ),
            Column(
                "gpus_at_end",
                "GPUs in the last year",
                "number",
                detail=True,
                of=lambda each: _last(each.gpus),
            ),
            Column("excludes", "Leaves out", detail=True, of=lambda each: "; ".join(each.excludes)),
            Column("gives_up", "What it gives up", of=lambda each: Cell(each.gives_up, tone="small")),
        ),
        found,
        notes=tuple(notes),
    )


def _left_out(found: Sequence[Alternative]) -> list[str]:
    """What the cost of an alternative that is bought leaves out, where the plan leaves out other things."""
    return [
        f"{each.name}: leaves out {_named(each)}; this design {_named(found[0])}."
        for each in found[1:]
        if (each.hosts or each.excludes) and set(each.excludes) != set(found[0].excludes)
    ]


def _named(each: Alternative) -> str:
    return "; ".join(each.excludes) or "nothing"


def _counted(counts: Sequence[int]) -> Cell:
    return Cell(counts[0] if counts else None, words=count_over_years(counts) if counts else NOTHING)


def _range(each: Alternative) -> Cell:
    """Between which costs it lies, rounded as its headline is."""
    if each.low is None or each.high is None:
        return Cell(None, words=NOTHING)
    _, low, high = rounded_money(each.net_present, (each.low, each.high))
    return Cell((each.low, each.high), words=f"{low} to {high}" if low else NOTHING, tone="whole")


def _last(counts: Sequence[int]) -> int | None:
    return counts[-1] if counts else None


def _difference(each: Alternative) -> Cell:
    """What it costs more than the plan, with its sign."""
    if each.chosen:
        return Cell(0.0, words=NOTHING)
    return Cell(
        each.difference, words=f"{'+' if each.difference > 0 else ''}{money(each.difference, '').strip()}"
    )


def count_over_years(counts: Sequence[int]) -> str:
    """A count at the start, and what it grows to: ``10, growing to 19``."""
    grown = f", growing to {number(counts[-1])}" if counts[-1] > counts[0] else ""
    return f"{number(counts[0])}{grown}"


def alternative_words(plan: Plan) -> list[str]:
    """What follows from the alternatives beyond their costs: what an hour of risk costs, and at which use renting is as dear."""
    costs = plan.costs
    if costs is None:
        return []
    currency, said = costs.currency, []
    for posture in posture_costs(plan):
        if posture.hour_price is not None:
            said.append(
                f"N+{posture.host_failures} costs {money(posture.hour_price, currency)} for each hour with too few hosts that it removes, by failures or in maintenance."
            )
    found = rent_terms(plan)
    if not found:
        return [*said, no_rental(plan)]
    for each in found:
        said.append(_rent_words(each))
    return [*said, _offers(found)]


def _rent_words(found: RentOrBuy) -> str:
    """At which use renting costs as much as buying, and when buying has paid off."""
    term = f"Rent {TERM_NAMES[found.term]} at {money(found.gpu_hour_price, found.currency)} a GPU-hour"
    if found.breakeven_utilisation is None:
        at = "is paid whatever the use"
    elif found.breakeven_utilisation > 1:
        at = f"is cheaper at any use (planned {percent(found.utilisation)})"
    else:
        at = f"costs as much as buying at a use of {percent(found.breakeven_utilisation)} (planned {percent(found.utilisation)})"
    when = "buying has not paid off in these years"
    if found.crossover_year is not None:
        when = f"buying has paid off in year {written(found.crossover_year, '.1f')}"
    return f"{term} {at}; {when}."


def _offers(found: Sequence[RentOrBuy]) -> str:
    """The offers that are compared, with their sources."""
    named = [
        f"{each.row.name}, {written_day(each.row.as_of)} [{', '.join(each.row.sources)}]"
        for each in found
        if each.row
    ]
    return f"Offers: {'; '.join(named)}." if named else "The rent is stated in this design."


def rent_by_year(found: Sequence[RentOrBuy], *, added_up: bool = False) -> Table:
    """What is paid in each year to buy and by each way to rent, or until then."""
    years = range(1, len(found[0].own_cash))
    ways = [("Buy", found[0].own_cash)]
    ways += [(f"Rent {TERM_NAMES[each.term]}", each.rent_cash) for each in found]
    return Table(
        "rent_by_year",
        "Paid until then" if added_up else "Paid each year",
        (
            Column("way", "Paid until then" if added_up else ""),
            Column("at_start", "Start", "money"),
            *(Column(f"year_{year}", f"Year {year}", "money") for year in years),
        ),
        tuple((name, *(accumulate(cash) if added_up else cash)) for name, cash in ways),
    )


def offers(plan: Plan, found: Sequence[RentOrBuy]) -> Table:
    """Other offers of this GPU than those compared, the cheapest first."""
    compared = {each.row.id for each in found if each.row is not None}
    known = plan.catalog.sources

    def titles(row: RentRow) -> Cell:
        return Cell(
            row.sources, words="; ".join(known[s].title for s in row.sources if s in known), tone="small"
        )

    return listed(
        "offers",
        "Other offers",
        (
            Column("offer", "Offer", of="name"),
            Column("term", "Term", words=TERM_NAMES.get),
            Column("gpu_hour_price", "A GPU-hour", "money", found[0].currency),
            Column("as_of", "As of", "day"),
            Column("sources", "Source", "sources", of=titles),
        ),
        [row for row in found[0].rows if row.id not in compared],
    )
