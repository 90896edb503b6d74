"""Tables of alternatives to a plan: priced alike, rent year by year, and other offers; and the conclusions."""

from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import Any

from gpuplan.analysis.alternatives import Alternative, with_cheapest_rent
from gpuplan.analysis.alternatives import alternatives as compared
from gpuplan.analysis.rent_or_buy import RentOrBuy, RentRow, no_rental, posture_costs, rent_terms
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.report.explain import source_words
from gpuplan.report.table import NOTHING, Cell, Column, Table, columns, tabulate
from gpuplan.wording import NAMES, money, number, rounded_money, said

TERM_NAMES = NAMES["rental term"]


def in_short(plan: Plan, found: Sequence[Alternative]) -> Table:
    """Tabulate the costs of alternatives, rounded as the plan's own; of several ways to rent, only the cheapest."""

    def name(each: Alternative) -> Cell:
        words = ": ".join(filter(None, (each.short_name, each.standing.words)))
        return Cell(words, tone="strong" if each.chosen else "")

    shown, currency = with_cheapest_rent(found), plan.scenario.cost.currency
    return tabulate("alternatives_in_short", shown, currency, name=name, net_present=_rounded)


def _rounded(each: Alternative) -> Cell:
    ends = None if each.low is None or each.high is None else (each.low, each.high)
    words, line = rounded_money(each.net_present, ends)[0], "cost.net_present" if each.chosen else ""
    return Cell(each.net_present, words=words, line=line, tone="strong" if each.chosen else "")


def alternatives(plan: Plan, known: Sequence[Alternative] | None = None) -> Table:
    """The plan and its alternatives, priced alike over the same years, growth included: what each costs, and what it gives up."""
    options, costs = compared(plan) if known is None else known, plan.costs
    currency, years = plan.scenario.cost.currency, plan.scenario.cost.years
    notes = []
    if costs is not None:
        notes.append(said("table.every line covers the", costs=costs))
    demand, hardware = plan.scenario.demand, plan.scenario.hardware
    if any(option.key == "silos" for option in options) and (demand.rule == "stated" or hardware.existing):
        notes.append(said("table.silos are compared with"))
    notes += _left_out(options)
    own: dict[str, Any] = {"range": _range, "difference": _difference}
    own["name"] = lambda each: Cell(each.name, tone="strong" if each.chosen else "")
    own |= {"hosts": lambda each: _counted(each.hosts), "gpus": lambda each: _counted(each.gpus)}
    own |= {f"{what}_at_end": partial(_at_end, what) for what in ("hosts", "gpus")}
    own["excludes"] = lambda each: "; ".join(each.excludes)
    heads = {"net_present": said("table.alternatives.net_present", years=years, currency=currency)}
    return tabulate("alternatives", options, currency, **own, heads=heads, notes=notes)


def _at_end(what: str, each: Alternative) -> int | None:
    counts: Sequence[int] = getattr(each, what)
    return counts[-1] if counts else None


def _left_out(found: Sequence[Alternative]) -> list[str]:
    """Say what the cost of an alternative that is bought excludes, where the plan excludes other things."""
    names: dict[str, list[str]] = {}
    for option in found[1:]:
        if not option.hosts and not option.excludes:
            continue
        more, less = (
            "; ".join(item for item in one.excludes if item not in other.excludes)
            for one, other in ((option, found[0]), (found[0], option))
        )
        if more or less:
            one = "table.excludes more" if more else "table.excludes less"
            sentence = said("table.excludes more and less" if more and less else one, more=more, less=less)
            names.setdefault(sentence, []).append(option.name)
    return [said("table.the cost", names=", ".join(who), differs=sentence) for sentence, who in names.items()]


def _counted(counts: Sequence[int]) -> Cell:
    return Cell(counts[0] if counts else None, words=count_over_years(counts) if counts else NOTHING)


def _range(each: Alternative) -> Cell:
    if each.low is None or each.high is None:
        return Cell(None, words=NOTHING)
    _, low, high = rounded_money(each.net_present, (each.low, each.high))
    words = said("table.range", low=low, high=high) if low else NOTHING
    return Cell((each.low, each.high), words=words, tone="whole")


def _difference(each: Alternative) -> Cell:
    if each.chosen:
        return Cell(0.0, words=NOTHING)
    sign = "+" if each.difference > 0 else ""
    return Cell(each.difference, words=f"{sign}{money(each.difference, '').strip()}")


def count_over_years(counts: Sequence[int]) -> str:
    """A count at the start, and what it grows to: ``10 → 19``."""
    grown = said("table.growing to", hosts=number(counts[-1])) if counts[-1] > counts[0] else ""
    return f"{number(counts[0])}{grown}"


def alternative_words(plan: Plan) -> list[str]:
    """Say what an hour of risk costs, and at which utilisation renting breaks even with buying."""
    costs = plan.costs
    if costs is None:
        return []
    sentences = [
        said("table.n costs for each", rental=rental, price=money(rental.hour_price, costs.currency))
        for rental in posture_costs(plan)
        if rental.hour_price is not None
    ]
    terms = rent_terms(plan)
    if not terms:
        return [*sentences, no_rental(plan)]
    return [*sentences, *map(_rent_words, terms), _offers(plan, terms)]


def _rent_words(found: RentOrBuy) -> str:
    """Say at which utilisation renting costs as much as buying, and when buying has paid off."""
    price = money(found.gpu_hour_price, found.currency)
    at = "table.breaks even with buying"
    if found.breakeven_utilisation is None:
        at = "table.costs the same"
    elif found.breakeven_utilisation > 1:
        at = "table.is cheaper at any"
    pays_off = found.crossover_year is not None
    when = said("table.buying pays off in" if pays_off else "table.buying does not pay off", found=found)
    return f"{said('table.renting at per gpu', found=found, price=price)} {said(at, found=found)}; {when}."


def _offers(plan: Plan, found: Sequence[RentOrBuy]) -> str:
    offers = [rental.row for rental in found if rental.row]
    cited = ("; ".join(source_words(plan.catalog.sources[id]) for id in offer.sources) for offer in offers)
    named = [f"{o.name}, {written_day(o.as_of)} ({c})" for o, c in zip(offers, cited, strict=True)]
    return said("table.offers are", offers="; ".join(named)) if named else said("table.the rent is stated")


def rent_by_year(found: Sequence[RentOrBuy], *, added_up: bool = False) -> Table:
    """Tabulate the payments in each year to buy and by each way to rent, or their running totals."""
    years = range(1, len(found[0].own_cash))
    ways = [(said("table.rent_by_year.buy"), found[0].own_cash)]
    ways += [(said("table.rent_by_year.rent", term=TERM_NAMES[way.term]), way.rent_cash) for way in found]
    to_date = said("table.rent_by_year.to date")
    first = columns("rent_by_year", heads={"way": to_date if added_up else ""})
    each = (Column(f"year_{year}", said("table.rent_by_year.name", year=year), "money") for year in years)
    rows = tuple((name, *(accumulate(cash) if added_up else cash)) for name, cash in ways)
    title = to_date if added_up else said("table.rent_by_year")
    return Table("rent_by_year", (*first, *each), rows, title=title)


def offers(plan: Plan, found: Sequence[RentOrBuy]) -> Table:
    """Other offers of this GPU than those compared, the cheapest first."""
    compared = {rental.row.id for rental in found if rental.row is not None}
    sources = plan.catalog.sources

    def titles(row: RentRow) -> Cell:
        words = "; ".join(sources[s].title for s in row.sources if s in sources)
        return Cell(row.sources, words=words, tone="small")

    return tabulate(
        "offers", [row for row in found[0].rows if row.id not in compared], found[0].currency, sources=titles
    )
