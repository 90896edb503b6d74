"""Cost: inputs, payments by year and purpose, alternatives priced alike, power and space, and the bill of materials."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import Alternative, alternatives
from gpuplan.analysis.purchases import Purchases, purchase_ways
from gpuplan.analysis.rent_or_buy import no_rental, rent_terms
from gpuplan.app.cards import (
    Contents,
    Picture,
    asked,
    figure,
    figures,
    lettered,
    panel,
    paragraph,
    plain,
    tried,
)
from gpuplan.app.forms import form, stated_hint
from gpuplan.app.header import excluded
from gpuplan.app.state import Workbook
from gpuplan.app.steps.prices import TOKENS, cites
from gpuplan.locales import written_day
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.cost_ranges import End
from gpuplan.plan.power import PowerUse
from gpuplan.plan.prices import PriceList, catalog_factor
from gpuplan.report.charts import design as charts
from gpuplan.report.drawing import PARTS
from gpuplan.report.table import screen
from gpuplan.report.tables import alternatives as ways
from gpuplan.report.tables import cost as tables
from gpuplan.report.tables import models
from gpuplan.report.tables import purchases as buying
from gpuplan.widgets import contract
from gpuplan.wording import rounded_money, said, short_number, stated_percent

SHOWN_EXCLUDED = 3
SHOWN_OFFERS = 8
KEY = "cost-alternatives"
MANY_HOSTS = 512
"""Hosts above which the alternatives are planned only on request."""


first_form = form("first")
TOTALS = ("net_present", "total", "at_start", "gpu_hour_installed", "gpu_hour_used")
years_rows = Picture(
    lambda workbook: charts.years_rows(workbook.plan.costs) if workbook.plan.costs else {}, charts.years_chart
)


@partial(form, "money")
def money_form(workbook: Workbook) -> dict[str, Any]:
    cost, use = workbook.scenario.cost, workbook.plan.lines.get("cost.utilisation")
    used = said("screen.cost.from groups")
    if use is not None and cost.utilisation is None:
        used = said("screen.cost.from the groups", used=use.value)
    without = () if cost.platform_licence == "vcf" else ("cost.private_ai",)
    return {"empties": {"cost.utilisation": used}, "without": without, "stale": workbook.stale}


@partial(form, "factors", fold=True, hint=stated_hint)
def factors_form(workbook: Workbook) -> dict[str, Any]:
    scenario, catalog = workbook.plan.scenario, workbook.catalog
    server = catalog.servers.get(scenario.hardware.server or "")
    sockets = server.facts.get("cpu_sockets") if server else None
    newest = said("screen.cost.newest price", day=written_day(PriceList(scenario, catalog).as_of))
    cpus = {"cost.sockets": sockets or catalog_factor(catalog, "sockets")}
    return {"empties": {**cpus, "cost.cores_per_socket": workbook.plan.cores, "cost.as_of": newest}}


def _stated(fields: Sequence[Mapping[str, Any]]) -> str:
    """Name the inputs that are stated; nothing for a customer, who is asked for none."""
    stated = [field["label"].lower() for field in fields if field["value"]]
    return " and ".join(stated) or "notes and margin" * bool(fields)


@partial(form, "internal", fold=True, hint=_stated)
def internal_form(workbook: Workbook) -> dict[str, Any]:
    """Return the amount of the margin; the customer sees nothing of it, nor the inputs."""
    if workbook.customer:
        return {"title": "", "shown": False, "without": ("internal.margin", "internal.notes")}
    margin = workbook.once("cost: margin", lambda: tables.margin(workbook.plan))
    text, shown = said("screen.cost.not for the customer"), [screen(margin)] if margin else []
    return {"shown": True, "text": text, "tables": shown, "stale": workbook.stale}


@panel()
def years_head(workbook: Workbook) -> Contents:
    costs = workbook.plan.costs
    if costs is None:
        return {"title": "", "text": [paragraph("screen.cost.no hosts")]}
    return {"hint": said("screen.cost.by part", currency=costs.currency)}


@panel(needs="costs")
def parts_in_short(_workbook: Workbook, costs: Costs) -> Contents:
    listed = [part for part in costs.parts if part.total]
    parts = [{"chip": list(PARTS[p.name]), "name": p.name, "text": short_number(p.total)} for p in listed]
    items = excluded(costs)[: 2 * SHOWN_EXCLUDED - 1]  # and the signs between
    left = len(costs.excludes) - SHOWN_EXCLUDED
    if left > 0:
        return {"parts": parts, "after": [paragraph("screen.cost.excludes and more", items=items, left=left)]}
    excludes = [paragraph("screen.cost.excludes", items=items)] if items else []
    return {"parts": parts, "after": excludes}


@panel()
def unit_data(workbook: Workbook) -> Contents:
    return tables.per_unit(workbook.plan)


@panel(needs="costs")
def cost_data(workbook: Workbook, costs: Costs) -> Contents:
    words, totals = tables.ranges_words(workbook.plan), tables.totals(workbook.plan)
    rate = stated_percent(costs.discount_rate).replace(" %", "\u00a0%")
    hosts = f"{tables.hosts_over_years(costs)}; " if costs.hosts[-1] > costs.hosts[0] else ""
    values = {"currency": costs.currency, "years": costs.years, "rate": rate, "hosts": hosts}
    values["used"] = tables.use_words(workbook.plan)
    used = figure("utilisation", share=workbook.plan.lines["cost.utilisation"].value)
    after = [*([plain(words)] if words else []), *_left_out(costs)]
    return {"figures": [*(_total(name, *totals[name], values) for name in TOTALS), used], "after": after}


def _total(name: str, value: float | None, ends: End | None, values: dict[str, Any]) -> contract.Figure:
    if value is None:
        return {**figure(name, value="\u2013", range="", **values), "note": str(values["currency"])}
    text, low, high = rounded_money(value, ends)
    ends_text = said("screen.cost.range", low=low, high=high) if low else ""
    return figure(name, value=text, range=ends_text, **values)


def _left_out(costs: Costs) -> list[list[contract.Piece]]:
    notes = []
    if costs.excludes:
        unknown = "screen.cost.excludes unknown" if costs.unknown else "screen.cost.excludes"
        notes.append(paragraph(unknown, items=excluded(costs)))
    if costs.outside:
        notes.append(paragraph("screen.cost.outside", items="; ".join(costs.outside)))
    if costs.growth_left_out:
        notes.append(paragraph("screen.cost.growth left out", year=costs.growth_left_out))
    return notes


@panel(needs="costs")
def parts_data(workbook: Workbook, _costs: Costs) -> Contents:
    return tables.cost_by_part(workbook.plan).dressed(
        "part", lambda _, cell: {"chip": list(PARTS[cell.value])} if cell.value in PARTS else {}
    )


@panel(needs="costs")
def years_table(workbook: Workbook, costs: Costs) -> Contents:
    return {"hint": costs.currency, "tables": [screen(tables.cost_by_year(workbook.plan))]}


@panel(needs="costs")
def groups_data(workbook: Workbook, costs: Costs) -> Contents:
    return lettered(workbook, tables.cost_by_group(workbook.plan), "group") if costs.groups else None


@panel(needs="token_costs")
def tokens_data(workbook: Workbook, _costs: Mapping[str, Any]) -> Contents:
    plan = workbook.plan
    prices = [plan.scenario.get(f"prices.{key}") for key in TOKENS]
    text = [paragraph("screen.cost.enter a price")] if None in prices else []
    return {"text": text, "tables": [screen(models.token_costs(plan), title="")]}


@panel(needs="power")
def power_data(_workbook: Workbook, use: PowerUse) -> Contents:
    known = all(part.rack_units_u is not None for part in use.parts)
    of_kinds = "_of_kinds" * (len(use.kinds) > 1)
    racks = f"racks{of_kinds}" if use.racks else "no_racks"
    space = "rack_units" if known else "rack_units_unknown"
    names = ("typical", f"peak{of_kinds}", "heat", "energy", "emissions", space, racks)
    tons = float(f"{use.emissions_kg / 1000:.3g}")
    shown = figures(names, use=use, tons=tons)
    after = [] if use.racks else [paragraph("screen.cost.over the rack limit")]
    if use.excludes:
        after.append(paragraph("screen.cost.not in power", items="; ".join(use.excludes)))
    return {"figures": shown, "after": after}


@panel(needs="costs")
def bill_data(workbook: Workbook, costs: Costs) -> Contents:
    def sources(n: int, _cell: Any) -> dict[str, Any]:
        material = costs.materials[n]
        return cites(workbook, material.sources, material.price.as_of if material.price else "")

    return tables.bill_of_materials(workbook.plan).dressed("unit_price", sources).without("sources")


class Found(NamedTuple):
    """The alternatives of a plan, and remarks on them."""

    alternatives: tuple[Alternative, ...] = ()
    words: tuple[str, ...] = ()
    problem: str = ""


def _planned(plan: Plan) -> Found:
    try:
        words = tuple(text for text in ways.alternative_words(plan) if text != no_rental(plan))
        return Found(alternatives(plan), words)
    except ValueError as error:
        return Found(problem=str(error))


WAITING = {"text": [[{"text": said("screen.planning"), "waiting": True}]]}


def _contents(workbook: Workbook, shown: Callable[[Found], dict[str, Any]]) -> Contents:
    """Return a card of the alternatives; until they are planned, a button if that takes long, else a note."""
    if not asked(workbook, KEY) or (workbook.plan.totals.hosts > MANY_HOSTS and KEY not in workbook.opened):
        return {"button": {"key": KEY, "text": said("screen.alternatives.go")}}
    result = workbook.later("cost: alternatives", _planned)
    if result is None:
        return WAITING
    return shown(result) if result.alternatives else result.problem or said("screen.alternatives.nothing")


@panel(needs="costs")
def in_short_data(workbook: Workbook, costs: Costs) -> Contents:

    def contents(found: Found) -> dict[str, Any]:
        table = screen(ways.in_short(workbook.plan, found.alternatives))
        return {"hint": said("screen.cost.npv", years=costs.years), "tables": [table]}

    return _contents(workbook, contents)


@panel(needs="costs")
def alternatives_data(workbook: Workbook, _costs: Costs) -> Contents:

    def contents(found: Found) -> dict[str, Any]:
        table = screen(ways.alternatives(workbook.plan, found.alternatives))
        return {"tables": [table], "after": [plain(text) for text in found.words]}

    return _contents(workbook, contents)


def _purchases(workbook: Workbook) -> Purchases | None:
    """The ways to buy for growth, once they are compared beside the page."""
    found = workbook.later("cost: purchases", purchase_ways)
    return found and workbook.plan.once("purchases", lambda: found)


@panel(needs="costs")
def purchases_data(workbook: Workbook, _costs: Costs) -> Contents:
    found = _purchases(workbook)
    if found is None:
        return WAITING
    return buying.purchases(workbook.plan) if found.ways else found.why


@partial(Picture, draw=charts.purchases_chart, slow=True)
def purchases_rows(workbook: Workbook) -> dict[str, Any]:
    found = _purchases(workbook) if workbook.plan.costs else None
    return charts.purchases_rows(found) if found else {}


@panel(needs="costs")
def purchase_steps_data(workbook: Workbook, _costs: Costs) -> Contents:
    return buying.purchase_steps(workbook.plan) if _purchases(workbook) else None


@panel(needs="costs", slow=True)
def rent_data(workbook: Workbook, _costs: Costs) -> Contents:
    rentals, problem = tried(workbook, "cost: rent", lambda: rent_terms(workbook.plan))
    if not rentals:
        return problem or no_rental(workbook.plan)
    by_year, others = ways.rent_by_year(rentals), ways.offers(workbook.plan, rentals)
    shown, left = [screen(by_year, by_year.title)], len(others.rows) - SHOWN_OFFERS
    if others.rows:
        more = said("screen.alternatives.more offers", left=left) if left > 0 else ""
        shown.append(screen(others.top(SHOWN_OFFERS), others.title, more))
    return {"tables": shown}
