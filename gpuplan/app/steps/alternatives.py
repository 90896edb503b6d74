"""What the cost is worth beside its alternatives: silos, renting, more or fewer spare hosts; planned again when it is opened."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.posture_costs import PostureCost, posture_costs
from gpuplan.analysis.rent_or_buy import TERMS, RentOrBuy, no_rental, rent_or_buy, rentals
from gpuplan.analysis.silos import SiloCosts, silo_costs
from gpuplan.app.cards import Cell, bare, cell, details, group_cell, heads, table, tried
from gpuplan.app.state import Workbook
from gpuplan.report import amount, hours, number, percent
from gpuplan.wording import money

TERM_NAMES = {
    "on-demand": "on demand",
    "reserved-1-year": "reserved for a year",
    "hosted-1-year": "hosted for a year",
    "capacity-block": "capacity block",
}
SHOWN_OFFERS = 8


def _excluding(names: tuple[str, ...]) -> list[str]:
    return [f"Not in these costs: {'; '.join(names)}."] if names else []


# Silos against the pool


def silos_data(workbook: Workbook) -> dict[str, Any]:
    """Each group with hosts of its own against all of them on shared ones, in money."""
    data = details(
        workbook,
        "cost-silos",
        "Silos against the pool",
        "each group with hosts of its own",
        workbook.plan.costs is not None,
    )
    if not data["open"] or not data["shown"]:
        return data
    found, problem = tried(workbook, "cost: silos", lambda: silo_costs(workbook.plan))
    if found is None:
        return data | {"text": [problem or "There is nothing to compare."]}
    return data | {
        "text": [_silo_words(found), *_claimed_words(workbook, found), *_excluding(found.excludes)],
        "tables": [_silo_table(workbook, found)],
    }


def _silo_words(found: SiloCosts) -> str:
    saved = money(abs(found.saved), found.currency)
    if found.saved > 0:
        verdict = f"the pool saves {saved}, {percent(found.saved / found.net_present)} of what silos cost"
    else:
        verdict = f"the pool costs {saved} more"
    return (
        f"Alone the groups need {amount(found.gpus, 'GPU')} in {amount(found.hosts, 'host')}, together {number(found.pool_gpus)} "
        f"in {number(found.pool_hosts)}: {verdict}, net present."
    )


def _claimed_words(workbook: Workbook, found: SiloCosts) -> list[str]:
    costs, claimed = workbook.plan.costs, found.claimed_gpu_hour
    if claimed is None or costs is None or costs.gpu_hour_used is None:
        return []
    said = workbook.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    return [
        f"GPUs bound to single machines are said to be used {number(said.value)} % of the time ({number(said.low)} to "
        f"{number(said.high)} %; {said.basis}). Used as little, a GPU-hour of this design would cost "
        f"{money(claimed[1], found.currency)} ({bare(claimed[0])} to {bare(claimed[2])}) instead of "
        f"{bare(costs.gpu_hour_used)}."
    ]


def _silo_table(workbook: Workbook, found: SiloCosts) -> dict[str, Any]:
    rows = [
        [
            group_cell(workbook, silo.group, silo.name),
            *_sizes(silo.hosts, silo.gpus, silo.total, silo.net_present),
        ]
        for silo in found.groups
    ]
    rows.append(
        [
            cell("All silos", tone="total"),
            *_sizes(found.hosts, found.gpus, found.total, found.net_present, "total"),
        ]
    )
    rows.append(
        [
            cell("The pool", tone="strong"),
            *_sizes(found.pool_hosts, found.pool_gpus, found.pool_total, found.pool_net_present, "strong"),
        ]
    )
    return table(
        heads(
            "Group alone",
            "Hosts",
            "GPUs",
            f"Cost, {found.currency}",
            f"Net present, {found.currency}",
            numeric=(1, 2, 3, 4),
        ),
        rows,
        more="A stated total and hosts already there are left aside, so the pool here may differ from the design.",
    )


def _sizes(hosts: int, gpus: int, total: float, net_present: float, tone: str = "") -> list[Cell]:
    texts = (number(hosts), number(gpus), bare(total), bare(net_present))
    return [cell(text, numeric=True, tone=tone) for text in texts]


# Rent or buy


def rent_data(workbook: Workbook) -> dict[str, Any]:
    """Buying against renting the same GPU-hours, by every way to rent that is offered."""
    data = details(
        workbook,
        "cost-rent",
        "Rent or buy",
        "break-even utilisation, and the year of crossover",
        workbook.plan.costs is not None,
    )
    if not data["open"] or not data["shown"]:
        return data
    found, problem = tried(workbook, "cost: rent", lambda: _by_term(workbook))
    if not found:
        return data | {"text": [problem or no_rental(workbook.plan)]}
    rows = [_rent_row(each) for each in found]
    columns = heads(
        "Way to rent",
        "Offer",
        "A GPU-hour",
        "Rent, net present",
        "Buy, net present",
        "Cheaper",
        "Break-even",
        "Crossover",
        numeric=(2, 3, 4),
    )
    compared = table(
        columns,
        rows,
        more=(
            f"{found[0].currency}. On demand, rent is paid for the GPU-hours used; by other terms for all hours of the GPUs "
            "without spare hosts. Break-even is the utilisation at which both cost the same."
        ),
    )
    years = ["Start", *(f"Year {year}" for year in range(1, len(found[0].own_cash)))]
    cash = table(
        heads("", *years, numeric=tuple(range(1, len(years) + 1))),
        [
            [cell("Buy"), *(cell(bare(value), numeric=True) for value in found[0].own_cash)],
            *(
                [
                    cell(f"Rent {TERM_NAMES[each.term]}"),
                    *(cell(bare(value), numeric=True) for value in each.rent_cash),
                ]
                for each in found
            ),
        ],
        title="Paid each year",
    )
    return data | {
        "text": [_rent_words(found[0]), *_buying_excludes(found[0])],
        "tables": [compared, cash, *_offers(workbook, found)],
    }


def _by_term(workbook: Workbook) -> list[RentOrBuy]:
    """Each way to rent that is offered, or the one that the scenario states."""
    plan = workbook.plan
    if plan.scenario.get(f"prices.rent/{plan.scenario.hardware.gpu}") is not None:
        terms = ["on-demand"]
    else:
        offered = {row.term for row in rentals(plan)}
        terms = [term for term in TERMS if term in offered]
    found = [rent_or_buy(plan, term) for term in terms]
    return [each for term, each in zip(terms, found, strict=True) if each is not None and each.term == term]


def _rent_words(found: RentOrBuy) -> str:
    text = (
        f"At a utilisation of {percent(found.utilisation)} it is cheaper to {found.cheaper}: "
        f"{money(found.own_net_present, found.currency)} to buy, {bare(found.rent_net_present)} to rent "
        f"{TERM_NAMES[found.term]} over the same years, net present."
    )
    if found.breakeven_utilisation is None:
        return text
    if found.breakeven_utilisation > 1:
        return f"{text} Renting is cheaper however much the GPUs are used."
    return f"{text} Buying is cheaper from a utilisation of {percent(found.breakeven_utilisation)} on."


def _buying_excludes(found: RentOrBuy) -> list[str]:
    return [f"Buying leaves out: {'; '.join(found.excludes)}."] if found.excludes else []


def _rent_row(found: RentOrBuy) -> list[Cell]:
    even, year = found.breakeven_utilisation, found.crossover_year
    offer = cell("stated") | {"note": "in this design"}
    if found.row is not None:
        offer = cell(found.row.name) | {"note": f"{found.row.as_of}, {found.row.basis}"}
    return [
        cell(TERM_NAMES[found.term]),
        offer,
        cell(bare(found.gpu_hour_price), numeric=True),
        cell(bare(found.rent_net_present), numeric=True, tone="strong" if found.cheaper == "rent" else ""),
        cell(bare(found.own_net_present), numeric=True, tone="strong" if found.cheaper == "buy" else ""),
        cell(found.cheaper),
        cell("whatever the use" if even is None else "never" if even > 1 else percent(even)),
        cell("not in these years" if year is None else f"year {year:.1f}"),
    ]


def _offers(workbook: Workbook, found: list[RentOrBuy]) -> list[dict[str, Any]]:
    """Other offers of this GPU."""
    compared = {each.row.id for each in found if each.row is not None}
    others = [row for row in found[0].rows if row.id not in compared]
    if not others:
        return []
    known = workbook.catalog.sources
    rows = [
        [
            cell(row.name),
            cell(TERM_NAMES[row.term]),
            cell(bare(row.gpu_hour_price), numeric=True),
            cell(row.as_of),
            cell("; ".join(known[s].title for s in row.sources if s in known), tone="small"),
        ]
        for row in others[:SHOWN_OFFERS]
    ]
    left = len(others) - SHOWN_OFFERS
    return [
        table(
            heads("Offer", "Term", "A GPU-hour", "As of", "Source", numeric=(2,)),
            rows,
            title="Other offers",
            more=f"And {number(left)} more, dearer ones." if left > 0 else "",
        )
    ]


# N+0, N+1, N+2


def postures_of(workbook: Workbook) -> tuple[PostureCost, ...]:
    """The postures with their cost, once for each plan; nothing if one of them cannot be worked out."""
    found, _ = tried(workbook, "cost: postures", lambda: posture_costs(workbook.plan))
    return found or ()


def postures_data(workbook: Workbook) -> dict[str, Any]:
    """What each more failure to tolerate costs, and the price of each hour of risk that it removes."""
    data = details(
        workbook,
        "cost-postures",
        "N+1 or N+2",
        "cost of each hour of risk removed",
        workbook.plan.costs is not None,
    )
    if not data["open"] or not data["shown"]:
        return data
    found = postures_of(workbook)
    if not found:
        return data | {"text": ["There is nothing to compare."]}
    currency = workbook.plan.costs.currency if workbook.plan.costs else ""
    columns = heads(
        "",
        "Hosts",
        "GPUs",
        f"Net present, {currency}",
        "Short a year",
        "Open in maintenance",
        f"More cost, {currency}",
        "Hours removed",
        f"An hour removed, {currency}",
        numeric=tuple(range(1, 9)),
    )
    rows = [_posture_row(each, at == 0) for at, each in enumerate(found)]
    more = (
        "More cost and hours removed, over all years, are against the line above. Hours removed are those short of hosts by "
        "failures alone and by failures in maintenance."
    )
    names = tuple(dict.fromkeys(name for each in found for name in each.excludes))
    return data | {
        "text": _excluding(names),
        "tables": [table(columns, rows, more=more)],
    }


def _posture_row(found: PostureCost, first: bool) -> list[Cell]:
    tag: Cell = {"tag": "this design"} if found.chosen else {}
    at = f"postures.n{found.host_failures}" if found.chosen else ""
    compared = ["\u2013"] * 3
    if not first:
        price = "\u2013" if found.hour_price is None else bare(found.hour_price)
        compared = [bare(found.extra_cost), hours(found.hours_removed), price]
    return [
        cell(f"N+{found.host_failures}", tone="whole") | tag,
        cell(number(found.hosts), numeric=True),
        cell(number(found.gpus), numeric=True),
        cell(bare(found.net_present), numeric=True),
        cell(hours(found.short_h), key=f"{at}.short_h" if at else "", numeric=True),
        cell(hours(found.exposed_h), numeric=True),
        *(cell(text, numeric=True) for text in compared),
    ]
