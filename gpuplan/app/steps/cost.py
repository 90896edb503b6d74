"""Cost: its inputs, what is paid when and for what, every price in place, power and space, and the bill of materials."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from gpuplan.analysis.rent_or_buy import rentals
from gpuplan.app.cards import Cell, bare, cell, details, figure, heads, lettered
from gpuplan.app.header import excluded, field_data
from gpuplan.app.page import Card, Picture, box, parted_card, title, wide_card
from gpuplan.app.state import Workbook
from gpuplan.app.steps import alternatives
from gpuplan.facts import Fact
from gpuplan.plan import make_plan
from gpuplan.plan.cost import Costs
from gpuplan.plan.customer import OFFER
from gpuplan.plan.prices import Price, PriceList, Unknown, catalog_factor
from gpuplan.report import number, percent
from gpuplan.report.charts import cost as charts
from gpuplan.report.colours import PARTS
from gpuplan.report.table import screen
from gpuplan.report.tables import cost as tables
from gpuplan.report.tables.cost import INTERNAL, PER
from gpuplan.scenario import STATED, field_of
from gpuplan.wording import (
    BASIS_WORDS,
    LICENCE_NAMES,
    counted,
    money,
    short_watts,
    stated_percent,
)

ORDER = (
    "servers/",
    "host-",
    "gpus/",
    "nics/",
    "adapter-",
    "switches/",
    "cable-",
    "management-",
    "compute-",
    "storage-",
)
"""Beginnings of the keys of prices, in the order in which they are listed; what runs the design comes after them."""
SHARES = ("discount_rate", "support_share", "residual_share")
FACTORS = ("cores_per_socket", "pue", "grid_kg_kwh", "host_base_w", "rack_kw")


def _sources(workbook: Workbook, sources: tuple[str, ...], note: str = "") -> Cell:
    """The first source by its title, how many more there are, and all of them on hovering."""
    known = workbook.catalog.sources
    titles = [known[s].title for s in sources if s in known]
    more = f"; and {number(len(titles) - 1)} more" if len(titles) > 1 else ""
    if not titles and STATED.source in sources:
        titles = ["stated in this design"]
    hover = "; ".join([*titles, note] if note else titles)
    return cell("".join([*titles[:1], more]), tone="small") | {"title": hover}


# Inputs


def money_form(workbook: Workbook) -> dict[str, Any]:
    """What the money is counted with, as it is asked in every project."""
    scenario = workbook.scenario
    use = workbook.plan.lines.get("cost.utilisation")
    dollars = scenario.cost.currency == "USD"
    return {
        "title": "Money",
        "fields": [
            field_data(workbook, "cost.years"),
            field_data(workbook, "cost.currency"),
            field_data(
                workbook, "cost.usd_rate", empty="1" if dollars else f"how many {scenario.cost.currency}?"
            ),
            _factor(workbook, "discount_rate"),
            field_data(workbook, "cost.hardware_discount"),
            field_data(workbook, "cost.licence_discount"),
            *(field_data(workbook, path, list(names.items())) for path, names in LICENCE_NAMES.items()),
            field_data(
                workbook,
                "cost.utilisation",
                empty="by the groups"
                if use is None or scenario.cost.utilisation is not None
                else f"{percent(use.value)} (by the groups)",
            ),
        ],
        "stale": workbook.stale,
    }


def factors_form(workbook: Workbook) -> dict[str, Any]:
    """What is asked more rarely: factors with a planning value, and what else may be bought."""
    scenario, catalog = workbook.plan.scenario, workbook.catalog
    server = catalog.servers.get(scenario.hardware.server or "")
    sockets = server.facts.get("cpu_sockets") if server else None
    prices = PriceList(scenario, catalog)
    fields = [
        field_data(workbook, "cost.sockets", empty=_planned(sockets or catalog_factor(catalog, "sockets"))),
        *(_factor(workbook, name) for name in ("cores_per_socket", "support_share", "residual_share")),
        *(_factor(workbook, name) for name in ("pue", "grid_kg_kwh", "host_base_w", "rack_kw")),
        *(
            field_data(workbook, f"cost.{name}")
            for name in ("spare_gpus", "storage_tb", "management_hosts", "compute_hosts_bought")
        ),
        field_data(workbook, "cost.as_of", empty=f"{prices.as_of}, newest price"),
    ]
    stated = sum(bool(field["value"]) and field["value"] != "0" for field in fields)
    return {
        "title": "Factors, and what else is bought",
        "fold": True,
        "hint": f"{stated} of {len(fields)} stated" if stated else "planning values of the catalog",
        "fields": fields,
    }


def internal_form(workbook: Workbook) -> dict[str, Any]:
    """What the customer does not see: notes, the margin, and what is earned with it."""
    if workbook.customer:
        return {"title": "", "fold": True, "hint": "", "shown": False, "fields": []}
    fields = [field_data(workbook, "internal.margin", empty="none"), field_data(workbook, "internal.notes")]
    margin = workbook.once("cost: margin", lambda: tables.margin(workbook.plan))
    return {
        "title": INTERNAL,
        "fold": True,
        "hint": " and ".join(field["label"].lower() for field in fields if field["value"])
        or "notes and margin",
        "shown": True,
        "fields": fields,
        "text": "The customer view, and files and links for the customer, leave this out.",
        "tables": [screen(margin)] if margin else [],
        "stale": workbook.stale,
    }


def _planned(fact: Fact) -> str:
    value = stated_percent(float(fact.value)) if fact.key.rpartition("/")[2] in SHARES else number(fact.value)
    return f"{value} ({BASIS_WORDS[fact.basis]})"


def _factor(workbook: Workbook, name: str) -> dict[str, Any]:
    """An input that the catalog's planning value stands for while it is empty."""
    return field_data(workbook, f"cost.{name}", empty=_planned(catalog_factor(workbook.catalog, name)))


# What it costs


def cost_data(workbook: Workbook) -> dict[str, Any]:
    """The cost in figures, and what it leaves out."""
    costs, title = workbook.plan.costs, {"shown": True, "title": "What it costs", "stale": workbook.stale}
    if costs is None:
        text = [
            {"text": "No GPU hosts yet, so there is nothing to pay for. "},
            {"text": "Add a group", "visit": "groups"},
        ]
        return title | {"text": [[*text, {"text": "."}]]}
    over = f"{costs.currency}, over {counted(costs.years, 'year')}"
    figures = [
        figure(
            "Net present",
            bare(costs.net_present),
            f"{over}, at {stated_percent(costs.discount_rate)} a year".replace(" %", "\u00a0%"),
            "cost.net_present",
        ),
        figure("TCO", bare(costs.total), over, "cost.total"),
        figure("At the start", bare(costs.cash[0]), costs.currency, "cost.years.0"),
        figure(
            "A GPU-hour installed", _hour(costs.gpu_hour_installed), costs.currency, "cost.gpu_hour_installed"
        ),
        figure(
            "A GPU-hour used",
            _hour(costs.gpu_hour_used),
            f"{costs.currency}, used {percent(costs.utilisation)} of the time",
            "cost.gpu_hour_used",
        ),
        figure(
            "Used at the start",
            percent(workbook.plan.lines["cost.utilisation"].value),
            "of their hours",
            "cost.utilisation",
        ),
    ]
    return title | {"figures": figures, "after": _left_out(costs)}


def _hour(value: float | None) -> str:
    return "\u2013" if value is None else bare(value)


def _left_out(costs: Costs) -> list[list[dict[str, str]]]:
    """What the cost does not hold, each with a way to its price."""
    said = []
    if costs.excludes:
        pieces = [{"text": "Cost excludes: ", "strong": "yes"}, *excluded(costs)]
        more = ". Where nobody knows the price, enter what the customer is quoted." if costs.unknown else "."
        said.append([*pieces, {"text": more}])
    if costs.outside:
        said.append(
            [
                {"text": "Not part of it: ", "strong": "yes"},
                {
                    "text": f"{'; '.join(costs.outside)}. There already, or sized separately: see the bill of materials."
                },
            ]
        )
    if costs.growth_left_out:
        said.append(
            [
                {
                    "text": f"From year {costs.growth_left_out} on the groups have grown beyond what one design can hold: its hosts are "
                    "counted as in the year before."
                }
            ]
        )
    return said


def years_rows(workbook: Workbook) -> dict[str, Any]:
    """What the chart of the years draws."""
    costs = workbook.plan.costs
    return {} if costs is None else charts.years_rows(costs)


def parts_data(workbook: Workbook) -> dict[str, Any]:
    """What each part costs, with its letter in the chart."""
    costs = workbook.plan.costs
    if costs is None:
        return {"shown": False}
    table = tables.cost_by_part(workbook.plan).dressed(
        "part", lambda _, cell: {"chip": list(PARTS[cell.value])} if cell.value in PARTS else {}
    )
    return {
        "shown": True,
        "title": "By part",
        "hint": "with its letter in the chart",
        "tables": [screen(table)],
        "stale": workbook.stale,
    }


def years_table(workbook: Workbook) -> dict[str, Any]:
    """The chart as a table, while the details are open."""
    costs = workbook.plan.costs
    data = details(
        workbook,
        "cost-years",
        "Year by year",
        "what is paid for each part, hosts and GPU-hours",
        costs is not None,
    )
    if costs is None or not data["open"]:
        return data
    table = tables.cost_by_year(workbook.plan)
    return data | {"tables": [screen(table, title=f"In {costs.currency}")]}


def groups_data(workbook: Workbook) -> dict[str, Any]:
    """The cost by group."""
    plan, costs = workbook.plan, workbook.plan.costs
    if costs is None or not costs.groups:
        return {"shown": False}
    table = lettered(workbook, tables.cost_by_group(plan))
    return {
        "shown": True,
        "title": "By group",
        "hint": "by the GPUs that each demands",
        "tables": [screen(table)],
        "stale": workbook.stale,
    }


# Prices


def prices_data(workbook: Workbook) -> dict[str, Any]:
    """Every price that counts and every one that is missing, to be overwritten in place."""
    costs = workbook.plan.costs
    if costs is None:
        return {"shown": False, "title": ""}
    found: dict[str, Price | Unknown] = {price.key: price for price in costs.prices}
    found |= {item.key: item for item in costs.unknown}
    listed = sorted(found.values(), key=lambda item: (_rank(item.key), item.key))
    rows = [_price_row(workbook, item) for item in listed]
    rows += [_other_row(workbook, key) for key in _others(workbook, found)]
    said = []
    if workbook.customer and workbook.scenario.internal.margin:
        said = ["Prices of this offer stay as they are in the customer view."]
    elif workbook.scenario.internal.margin:
        said = ["These are the prices that we pay. What the customer pays for one stands below its name."]
    return {
        "shown": True,
        "title": "Prices",
        "hint": _counts(costs),
        "text": said,
        "heads": heads(
            "What", f"{costs.currency}", "Per", "Low to high", "Known", "As of", "Source", numeric=(3,)
        ),
        "rows": rows,
        "more": "Before discounts. An empty field takes the price of the catalog, shown in grey; enter what "
        f"{'you are' if workbook.scenario.internal.margin and not workbook.customer else 'the customer is'} quoted. Prices of the catalog are converted from US dollars; what you enter is taken as "
        f"{costs.currency} and stays as entered.",
        "stale": workbook.stale,
    }


def _rank(key: str) -> int:
    return next((at for at, start in enumerate(ORDER) if key.startswith(start)), len(ORDER))


def _others(workbook: Workbook, found: dict[str, Price | Unknown]) -> list[str]:
    """Keys of prices that this design does not pay but that can be stated: the rent of its GPU, and those stated for others."""
    stated = [key for key, _ in workbook.seen.prices if not workbook.locked(f"prices.{key}")]
    stated += [path.removeprefix("prices.") for path in workbook.drafts if path.startswith("prices.")]
    rent = f"rent/{workbook.plan.scenario.hardware.gpu}"
    return sorted({rent, *stated} - set(found))


def _counts(costs: Costs) -> str:
    """How well the prices are known: ``3 assumed, 4 quoted, 5 older than a year, 3 unknown``."""
    bases = Counter(price.fact.basis for price in costs.prices)
    parts = [f"{number(count)} {BASIS_WORDS[basis]}" for basis, count in sorted(bases.items())]
    old = sum(price.old for price in costs.prices)
    parts += [f"{number(old)} older than a year"] * bool(old)
    parts += [f"{number(len(costs.unknown))} unknown"] * bool(costs.unknown)
    return ", ".join(parts)


def _catalog_prices(workbook: Workbook) -> dict[str, Price]:
    """The prices that the catalog has for what this design pays, whatever is stated."""
    plan = workbook.plan
    if not plan.scenario.prices:
        return {price.key: price for price in plan.costs.prices} if plan.costs else {}
    unstated = replace(plan.scenario, prices=())
    bare = workbook.once("cost: prices of the catalog", lambda: make_plan(unstated, plan.catalog).costs)
    return {price.key: price for price in bare.prices} if bare else {}


def _price_row(workbook: Workbook, item: Price | Unknown) -> dict[str, Any]:
    path = f"prices.{item.key}"
    held = workbook.seen.get(path) is not None
    price = item if isinstance(item, Price) else None
    return _row(workbook, path, item.name, item.per, price, _catalog_prices(workbook).get(item.key), held)


def _other_row(workbook: Workbook, key: str) -> dict[str, Any]:
    """A price that this design does not pay."""
    path = f"prices.{key}"
    head, _, rest = key.partition("/")
    if head == "rent" and rest in workbook.catalog.gpus:
        name = f"Rent of {workbook.catalog.gpus[rest].name}"
        row = _row(workbook, path, name, "gpu-hour", None, None, workbook.seen.get(path) is not None)
        row["cells"][1]["input"]["empty"] = "of the catalog" if rentals(workbook.plan) else "unknown"
        row["cells"][6] |= cell("for rent or buy; not part of the cost", tone="small")
    else:
        row = _row(workbook, path, key, "", None, None, workbook.seen.get(path) is not None)
        row["cells"][6] |= cell("stated, but this design does not need it", tone="small")
    row["cells"][4] = cell("")
    return row


def _row(
    workbook: Workbook, path: str, name: str, per: str, price: Price | None, catalog: Price | None, held: bool
) -> dict[str, Any]:
    """A price: its field, what it is per, its range, how well and from when it is known, and the way back to the catalog."""
    field = field_data(workbook, path, empty=bare(float(catalog.given.value)) if catalog else "unknown")
    field["label"] = field_of(path).label
    locked = bool(field["locked"]) and price is not None
    if locked and price is not None:
        field |= {"value": f"{price.value:.10g}", "empty": ""}
    known = cell("not known", tone="bad gp-whole")
    as_of, source, ends = cell(""), cell(""), cell("", numeric=True)
    if price is not None:
        fact = price.given
        known = cell("") | {"basis": fact.basis}
        as_of = cell(price.as_of, tone="whole") | ({"tag": "old", "tag_tone": "warn"} if price.old else {})
        source = _sources(workbook, fact.sources, fact.note)
        if fact.note == OFFER:
            source = cell(OFFER, tone="small")
        if fact.low is not None and fact.high is not None:
            ends = cell(f"{bare(fact.low)} \u2013 {bare(fact.high)}", numeric=True, tone="whole")
    if held and not locked:
        back = f"back to the catalog\u2019s {bare(float(catalog.given.value))}" if catalog else "take it back"
        source = source | {
            "acts": [
                {
                    "event": "set",
                    "rest": {"path": path, "value": "", "live": False},
                    "text": back,
                    "name": name,
                }
            ]
        }
    return {
        "id": path,
        "name": name,
        "cells": [
            cell(name)
            | (
                {"note": f"the customer pays {money(price.value, '').strip()}"}
                if price and price.purchase
                else {}
            ),
            cell("") | {"input": field},
            cell(PER.get(per, per), tone="small gp-whole"),
            ends,
            known,
            as_of,
            source,
        ],
    }


# Power and space


def power_data(workbook: Workbook) -> dict[str, Any]:
    """Power, heat, energy and space in figures."""
    use = workbook.plan.power
    if use is None:
        return {"shown": False}
    racks = number(use.racks) if use.racks else "none"
    figures = [
        figure(
            "Typical",
            short_watts(use.typical_w),
            f"{short_watts(use.facility_w)} with cooling",
            "power.typical",
        ),
        figure("Peak", short_watts(use.peak_w), f"{short_watts(use.host_peak_w)} a host", "power.peak"),
        figure("Heat", number(round(use.heat_btu_h)), "BTU/h at peak", "power.heat"),
        figure("Energy", number(round(use.energy_kwh)), "kWh a year", "power.energy"),
        figure(
            "CO\u2082", f"{number(float(f'{use.emissions_kg / 1000:.3g}'))} t", "a year", "power.emissions"
        ),
        figure("Rack units", number(use.rack_units_u), "U", "power.rack_units"),
        figure("Racks", racks, f"{number(use.hosts_per_rack)} hosts in one", "power.racks"),
    ]
    after = []
    if not use.racks:
        after.append(
            "One host alone is more than a rack may carry: raise the power limit of a rack, or take fewer GPUs a host."
        )
    if use.excludes:
        after.append(f"Not known, so left out: {'; '.join(use.excludes)}.")
    return {
        "shown": True,
        "title": "Power and space",
        "hint": "on the day it is installed",
        "figures": figures,
        "after": [[{"text": text}] for text in after],
        "stale": workbook.stale,
    }


# Bill of materials


def bill_data(workbook: Workbook) -> dict[str, Any]:
    """Everything the design is made of: quantity, rule, price, cost and source."""
    costs = workbook.plan.costs
    if costs is None:
        return {"shown": False}
    table = tables.bill_of_materials(workbook.plan).dressed(
        "sources", lambda _, cell: _sources(workbook, cell.value)
    )
    return {
        "shown": True,
        "title": "Bill of materials",
        "hint": "on the day it is installed",
        "tables": [screen(table)],
        "stale": workbook.stale,
    }


PAGE = box(
    "gp-page",
    title("Cost", "What is paid when and for what, and what the prices rest on."),
    box("gp-inputs", Card("form", money_form)),
    parted_card(
        Card("panel", cost_data),
        Picture(years_rows, charts.years_chart),
        box("gp-split gp-even gp-years", Card("panel", parts_data), Card("panel", groups_data)),
        Card("tables", years_table),
    ),
    box("gp-inputs", Card("form", factors_form), Card("form", internal_form)),
    wide_card(Card("sheet", prices_data, slow=True)),
    wide_card(Card("panel", power_data)),
    wide_card(Card("panel", bill_data)),
    wide_card(Card("tables", alternatives.silos_data)),
    wide_card(Card("tables", alternatives.rent_data)),
    wide_card(Card("tables", alternatives.postures_data)),
)
