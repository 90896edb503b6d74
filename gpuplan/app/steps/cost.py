"""Cost: its inputs, payments by year and purpose, every price in place, power and space, and the bill of materials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from gpuplan.analysis.customer import OFFER
from gpuplan.analysis.rent_or_buy import rentals
from gpuplan.app.cards import (
    Contents,
    Picture,
    act,
    bare,
    figure,
    lettered,
    panel,
    said,
    sheet,
    strong,
    visit,
)
from gpuplan.app.forms import field_data, form, stated_hint
from gpuplan.app.header import excluded, paid_for
from gpuplan.app.state import Workbook
from gpuplan.locales import written_day
from gpuplan.plan import make_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.cost_ranges import End
from gpuplan.plan.prices import Price, PriceList, Unknown, catalog_factor
from gpuplan.report import number, percent
from gpuplan.report.charts import cost as charts
from gpuplan.report.colours import PARTS
from gpuplan.report.table import Cell, Column, Table, screen
from gpuplan.report.tables import cost as tables
from gpuplan.report.tables import models
from gpuplan.report.tables.cost import INTERNAL, PER
from gpuplan.scenario import STATED, field_of
from gpuplan.widgets import contract
from gpuplan.wording import BASIS_WORDS, counted, rounded_money, short_number, short_watts, stated_percent

ORDER = (
    *("servers/", "host-", "gpus/", "nics/", "adapter-", "switches/", "cable-"),
    *("management-", "compute-", "storage-"),
)
"""Beginnings of the keys of prices, in the order of the list; operating items come after them."""


SHOWN_EXCLUDED = 3
"""Items without a price that are named beside the chart."""


def _sources(workbook: Workbook, sources: tuple[str, ...], note: str = "") -> dict[str, Any]:
    """Return the first source by its title, the number of others, and all of them on hovering."""
    by_id = workbook.catalog.sources
    titles = [by_id[s].title for s in sources if s in by_id]
    more = f"; and {number(len(titles) - 1)} more" if len(titles) > 1 else ""
    if not titles and STATED.source in sources:
        titles = ["stated in this design"]
    hover = "; ".join([*titles, note] if note else titles)
    return {"text": "".join([*titles[:1], more]), "tone": "small", "title": hover}


# Inputs


first_form = form("first", "")


@partial(form, "money", "Money")
def money_form(workbook: Workbook) -> dict[str, Any]:
    """Return what counts without an exchange rate and a stated utilisation; the add-on is one to VCF."""
    cost, use = workbook.scenario.cost, workbook.plan.lines.get("cost.utilisation")
    used = "" if use is None or cost.utilisation is not None else percent(use.value)
    return {
        "empties": {
            "cost.usd_rate": "1" if cost.currency == "USD" else f"how many {cost.currency}?",
            "cost.utilisation": f"{used} (from the groups)" if used else "from the groups",
        },
        "without": () if cost.platform_licence == "vcf" else ("cost.private_ai",),
        "stale": workbook.stale,
    }


@partial(form, "factors", "Other factors and purchases", fold=True, hint=stated_hint)
def factors_form(workbook: Workbook) -> dict[str, Any]:
    """Return the processors of the server, and the day of the prices."""
    scenario, catalog = workbook.plan.scenario, workbook.catalog
    server = catalog.servers.get(scenario.hardware.server or "")
    sockets = server.facts.get("cpu_sockets") if server else None
    return {
        "empties": {
            "cost.sockets": sockets or catalog_factor(catalog, "sockets"),
            "cost.cores_per_socket": workbook.plan.cores,
            "cost.as_of": f"{written_day(PriceList(scenario, catalog).as_of)}, newest price",
        }
    }


def _stated(fields: Sequence[Mapping[str, Any]]) -> str:
    """Name the inputs that are stated; nothing for a customer, who is asked for none."""
    stated = [field["label"].lower() for field in fields if field["value"]]
    return " and ".join(stated) or "notes and margin" * bool(fields)


@partial(form, "internal", INTERNAL, fold=True, hint=_stated)
def internal_form(workbook: Workbook) -> dict[str, Any]:
    """Return the amount of the margin; the customer sees nothing of it, nor the inputs."""
    if workbook.customer:
        return {"title": "", "shown": False, "without": ("internal.margin", "internal.notes")}
    margin = workbook.once("cost: margin", lambda: tables.margin(workbook.plan))
    return {
        "shown": True,
        "text": "Not shown in the customer view, nor in files and links for the customer.",
        "tables": [screen(margin)] if margin else [],
        "stale": workbook.stale,
    }


# What it costs


@panel()
def years_head(workbook: Workbook) -> Contents:
    """Return the heading of the chart; without hosts, the next action."""
    costs = workbook.plan.costs
    if costs is None:
        first = "No GPU hosts yet, so no cost. "
        return {"text": [said(first, visit("Add a workload", "groups"), ".")]}
    return {"title": "Paid each year", "hint": f"{costs.currency}, by part"}


@panel()
def parts_in_short(workbook: Workbook) -> Contents:
    """Return the parts with their letters in the chart, and a line of items without a price."""
    costs = workbook.plan.costs
    if costs is None:
        return None
    parts = [
        {"chip": list(PARTS[part.name]), "name": part.name, "text": short_number(part.total)}
        for part in costs.parts
        if part.total
    ]
    most = 2 * SHOWN_EXCLUDED - 1  # the excluded items and the signs between
    left = len(costs.excludes) - SHOWN_EXCLUDED
    more = f" and {number(left)} more" if left > 0 else ""
    excludes = said(strong("Cost excludes: "), *excluded(costs)[:most], more, ".")
    return {"parts": parts, "after": [excludes] * bool(costs.excludes)}


@panel("Per unit")
def unit_data(workbook: Workbook) -> Contents:
    """Return the cost of a GPU-hour, a million tokens and a user a month."""
    table = tables.per_unit(workbook.plan)
    return table if table.rows else None


@panel("What it costs")
def cost_data(workbook: Workbook) -> Contents:
    """Return the cost in figures, and the items it leaves out."""
    costs = workbook.plan.costs
    if costs is None:
        return None
    hosts = f"{tables.hosts_over_years(costs)}; " if costs.hosts[-1] > costs.hosts[0] else ""
    rate = stated_percent(costs.discount_rate).replace(" %", "\u00a0%")
    over = f"over {counted(costs.years, 'year')}"
    at_start = percent(workbook.plan.lines["cost.utilisation"].value)
    words = tables.ranges_words(workbook.plan)
    totals = tables.totals(workbook.plan)
    shown = (
        ("Net present cost", "net_present", "net_present", f"; {hosts}{over}, at {rate} a year"),
        ("TCO", "total", "total", f"; {over}"),
        ("At the start", "at_start", "years.0", ""),
        ("GPU-hour installed", "gpu_hour_installed", "gpu_hour_installed", ""),
        ("GPU-hour used", "gpu_hour_used", "gpu_hour_used", f"; used {tables.use_words(workbook.plan)}"),
    )
    return {
        "figures": [
            *(
                figure(label, *_rounded(costs.currency, *totals[name], note), f"cost.{key}")
                for label, name, key, note in shown
            ),
            figure("Initial utilisation", at_start, "of all GPU-hours", "cost.utilisation"),
        ],
        "after": [*([said(words)] if words else []), *_left_out(costs)],
    }


def _rounded(currency: str, value: float | None, ends: End | None, note: str) -> tuple[str, str]:
    """Return a total as a headline, and below it its range and a note."""
    if value is None:
        return "\u2013", currency
    text, low, high = rounded_money(value, ends)
    return text, currency + f", {low} to {high}" * bool(low) + note


def _left_out(costs: Costs) -> list[list[contract.Piece]]:
    """Return the items that the cost excludes, each with a way to its price."""
    notes = []
    if costs.excludes:
        more = ". Where the price is not known, enter what the customer is quoted." if costs.unknown else "."
        notes.append(said(strong("Cost excludes: "), *excluded(costs), more))
    if costs.outside:
        outside = "; ".join(costs.outside)
        why = "They exist already or are sized separately: see the bill of materials."
        notes.append(said(strong("Not part of it: "), f"{outside}. {why}"))
    if costs.growth_left_out:
        beyond = "the groups outgrow one design: its hosts are counted as in the year before."
        notes.append(said(f"From year {costs.growth_left_out} on {beyond}"))
    return notes


@partial(Picture, draw=charts.years_chart)
def years_rows(workbook: Workbook) -> dict[str, Any]:
    """Return the data of the chart of the years."""
    costs = workbook.plan.costs
    return {} if costs is None else charts.years_rows(costs)


@panel("By part", "with its letter in the chart", needs="costs")
def parts_data(workbook: Workbook) -> Contents:
    """Return the cost of each part, with its letter in the chart."""
    return tables.cost_by_part(workbook.plan).dressed(
        "part", lambda _, cell: {"chip": list(PARTS[cell.value])} if cell.value in PARTS else {}
    )


@panel("Year by year")
def years_table(workbook: Workbook) -> Contents:
    """Return the chart as a table."""
    plan = workbook.plan
    if plan.costs is None:
        return None
    return {"hint": plan.costs.currency, "tables": [screen(tables.cost_by_year(plan))]}


@panel("By group", "by GPU demand")
def groups_data(workbook: Workbook) -> Contents:
    """Return the cost by group."""
    costs = workbook.plan.costs
    return (
        lettered(workbook, tables.cost_by_group(workbook.plan), "group") if costs and costs.groups else None
    )


@panel("Cost of tokens", "by load, rented, and at a price per token", needs="token_costs")
def tokens_data(workbook: Workbook) -> Contents:
    """Return the cost of a million tokens; nothing without a group that a language model serves."""
    plan = workbook.plan
    prices = [plan.scenario.get(f"prices.{key}") for key in TOKENS]
    compare = visit("Enter a price per token", "prices.tokens-in")
    text = [said(compare, " to compare with a service.")] if None in prices else []
    return {"text": text, "tables": [screen(models.token_costs(plan), title="")]}


# Prices


@panel("Prices", draws="sheet", slow=True)
def prices_data(workbook: Workbook) -> Contents:
    """Return every price that counts and every missing one, to be overwritten in place."""
    costs, margin = workbook.plan.costs, workbook.scenario.internal.margin
    if costs is None:
        return None
    ranks = {start: at for at, start in enumerate((*ORDER, ""))}
    items = sorted(
        paid_for(costs), key=lambda item: (min(ranks[s] for s in ranks if item.key.startswith(s)), item.key)
    )
    catalog = _catalog_prices(workbook)
    rows = {f"prices.{item.key}": _planned_row(workbook, item, catalog.get(item.key)) for item in items}
    rows |= {f"prices.{key}": _other_row(workbook, key) for key in _others(workbook, costs)}
    columns = (
        Column("name", "What"),
        Column("price", costs.currency),
        Column("per", "Per"),
        Column("ends", "Low to high", "price"),
        Column("basis", "Basis", "basis"),
        Column("as_of", "As of", "day"),
        Column("source", "Source"),
    )
    text = []
    if margin and workbook.customer:
        text = ["Prices of this offer stay as they are in the customer view."]
    elif margin:
        text = ["These are our purchase prices. The customer's price is below each name."]
    who = "you are" if margin and not workbook.customer else "the customer is"
    return {
        "hint": _counts(costs),
        "text": text,
        **sheet(Table("prices", columns, tuple(rows.values()), title=""), list(rows)),
        "more": f"Prices before discounts. An empty field uses the catalog price, shown in grey; enter what {who} quoted. "
        f"Catalog prices are converted from US dollars; your entries are in {costs.currency} and stay as "
        "entered.",
    }


def prices_badge(workbook: Workbook) -> str:
    """Return the number of assumed prices, and of unknown ones."""
    costs = workbook.plan.costs
    if costs is None:
        return ""
    assumed = sum(price.fact.basis == "assumed" for price in costs.prices)
    counts = ((assumed, "assumed"), (len(costs.unknown), "not known"))
    return ", ".join(f"{number(count)} {words}" for count, words in counts if count)


def _others(workbook: Workbook, costs: Costs) -> list[str]:
    """Return keys of prices outside this design that can be stated: its GPU's rent, and those stated for others."""
    stated = [key for key, _ in workbook.seen.prices if not workbook.locked(f"prices.{key}")]
    stated += [path.removeprefix("prices.") for path in workbook.drafts if path.startswith("prices.")]
    rent = f"rent/{workbook.plan.scenario.hardware.gpu}"
    tokens = {"tokens-in", "tokens-out"} if workbook.plan.token_costs else set()
    return sorted({rent, *tokens, *stated} - {item.key for item in paid_for(costs)})


def _counts(costs: Costs) -> str:
    """Count the prices by basis and age: ``3 assumed, 4 quoted, 5 older than a year, 3 unknown``."""
    bases = Counter(price.fact.basis for price in costs.prices)
    parts = [f"{number(count)} {BASIS_WORDS[basis]}" for basis, count in sorted(bases.items())]
    old = sum(price.old for price in costs.prices)
    parts += [f"{number(old)} older than a year"] * bool(old)
    parts += [f"{number(len(costs.unknown))} unknown"] * bool(costs.unknown)
    return ", ".join(parts)


def _catalog_prices(workbook: Workbook) -> dict[str, Price]:
    """Return the catalog's prices of the items that this design pays for, ignoring stated ones."""
    plan = workbook.plan
    if not plan.scenario.prices:
        return {price.key: price for price in plan.costs.prices} if plan.costs else {}
    unstated = replace(plan.scenario, prices=())
    bare = workbook.once("cost: prices of the catalog", lambda: make_plan(unstated, plan.catalog).costs)
    return {price.key: price for price in bare.prices} if bare else {}


Row = tuple[Any, ...]


def _planned_row(workbook: Workbook, item: Price | Unknown, catalog: Price | None) -> Row:
    """Return the row of a price that this design pays, or would pay if it were known."""
    field = _price_field(workbook, item.key, bare(float(catalog.given.value)) if catalog else "unknown")
    back = f"back to the catalog\u2019s {bare(float(catalog.given.value))}" if catalog else "remove"
    acts = _take_back(workbook, item.key, item.name, back)
    if isinstance(item, Unknown):
        cells: Row = ("", Cell(None, words="not known", tone="bad gp-whole"), "", Cell("", more=acts))
        return _row(item.name, field, item.per, cells)
    fact = item.given
    if field["locked"]:
        field |= {"value": f"{item.value:.10g}", "empty": ""}
        acts = {}
    ends = ""
    if fact.low is not None and fact.high is not None:
        ends = f"{bare(fact.low)} to {bare(fact.high)}"
    offered = {"text": OFFER, "tone": "small"}
    source = offered if fact.note == OFFER else _sources(workbook, fact.sources, fact.note)
    cells = (
        Cell(fact.low, words=ends, tone="whole" if ends else ""),
        fact.basis,
        Cell(item.as_of, tone="whole", more={"tag": "old", "tag_tone": "warn"} if item.old else {}),
        Cell("", more=source | acts),
    )
    paid = {"note": f"the customer pays {bare(item.value)}"} if item.purchase else {}
    return _row(Cell(item.name, more=paid), field, item.per, cells, float(fact.value))


def _other_row(workbook: Workbook, key: str) -> Row:
    """Return the row of a price that this design does not pay."""
    head, _, rest = key.partition("/")
    name, per, empty, why = key, "", "unknown", "stated, but not used by this design"
    if head == "rent" and rest in workbook.catalog.gpus:
        name, per, why = (
            f"Rent of {workbook.catalog.gpus[rest].name}",
            "gpu-hour",
            "only for rent or buy; not part of the cost",
        )
        empty = "from the catalog" if rentals(workbook.plan) else "unknown"
    if key in TOKENS:
        name, per, why = (
            f"Price of a million tokens {TOKENS[key]}",
            "",
            "for comparison with a hosted service; not part of the cost",
        )
    source = Cell(why, tone="small", more=_take_back(workbook, key, name, "remove"))
    return _row(name, _price_field(workbook, key, empty), per, ("", "", "", source))


TOKENS = {"tokens-in": "in", "tokens-out": "out"}
"""Price of a service -> the tokens it is for."""


def _row(name: Any, field: contract.Field, per: str, known: Row, price: float | None = None) -> Row:
    """Return the row of a price: its field, unit, range, basis and date, and the way back to the catalog."""
    return (
        name,
        Cell("", more={"input": field, "sort": price}),
        Cell(PER.get(per, per), tone="small gp-whole"),
        *known,
    )


def _price_field(workbook: Workbook, key: str, empty: str) -> contract.Field:
    path = f"prices.{key}"
    return field_data(workbook, path, empty=empty) | {"label": field_of(path).label}


def _take_back(workbook: Workbook, key: str, name: str, words: str) -> dict[str, Any]:
    path = f"prices.{key}"
    if workbook.seen.get(path) is None:
        return {}
    return {"acts": [act("set", words, name, path=path, value="", live=False)]}


# Power and space


@panel("Power and space", "on the day of installation")
def power_data(workbook: Workbook) -> Contents:
    """Return power, heat, energy and space in figures."""
    use = workbook.plan.power
    if use is None:
        return None
    emissions = f"{number(float(f'{use.emissions_kg / 1000:.3g}'))} t"
    unknown = [part.name for part in use.parts if part.rack_units_u is None]
    after = []
    if not use.racks:
        after.append(
            "A single host exceeds the rack limit: raise the rack power limit, or use fewer GPUs per host."
        )
    if use.excludes:
        after.append(f"Left out because not known: {'; '.join(use.excludes)}.")
    return {
        "figures": [
            figure(label, value, note, f"power.{key}")
            for label, value, note, key in (
                (
                    "Typical",
                    short_watts(use.typical_w),
                    f"{short_watts(use.facility_w)} with cooling",
                    "typical",
                ),
                ("Peak", short_watts(use.peak_w), f"{short_watts(use.host_peak_w)} a host", "peak"),
                ("Heat", number(round(use.heat_btu_h)), "BTU/h at peak", "heat"),
                ("Energy", number(round(use.energy_kwh)), "kWh a year", "energy"),
                ("CO\u2082", emissions, "a year", "emissions"),
                (
                    "Rack units",
                    "not known" if unknown else number(use.rack_units_u),
                    f"switches {number(use.rack_units_u)} U" if unknown else "U",
                    "rack_units",
                ),
                (
                    "Racks",
                    number(use.racks) if use.racks else "none",
                    f"up to {counted(use.hosts_per_rack, 'host')} each",
                    "racks",
                ),
            )
        ],
        "after": [said(text) for text in after],
    }


# Bill of materials


@panel("Bill of materials", "on the day of installation", needs="costs")
def bill_data(workbook: Workbook) -> Contents:
    """Return all items of the design: quantity, rule, price, cost and source."""
    return tables.bill_of_materials(workbook.plan).dressed(
        "sources", lambda _, cell: _sources(workbook, cell.value)
    )
