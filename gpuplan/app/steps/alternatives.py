"""What the cost is worth beside its alternatives: silos, renting, more or fewer spare hosts; planned again when it is opened."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.posture_costs import PostureCost, posture_costs
from gpuplan.analysis.rent_or_buy import RentOrBuy, no_rental
from gpuplan.analysis.silos import SiloCosts, silo_costs
from gpuplan.app.cards import Contents, bare, details, lettered, tried
from gpuplan.app.state import Workbook
from gpuplan.report import amount, number, percent
from gpuplan.report.table import screen
from gpuplan.report.tables import cost as tables
from gpuplan.wording import money

SHOWN_OFFERS = 8


def _excluding(names: tuple[str, ...]) -> list[str]:
    return [f"Not in these costs: {'; '.join(names)}."] if names else []


def _has_costs(workbook: Workbook) -> bool:
    return workbook.plan.costs is not None


# Silos against the pool


@details("cost-silos", "Silos against the pool", "each group with hosts of its own", _has_costs)
def silos_data(workbook: Workbook) -> Contents:
    """Each group with hosts of its own against all of them on shared ones, in money."""
    found, problem = tried(workbook, "cost: silos", lambda: silo_costs(workbook.plan))
    if found is None:
        return problem or "There is nothing to compare."
    return {
        "text": [_silo_words(found), *_claimed_words(workbook, found), *_excluding(found.excludes)],
        "tables": [screen(lettered(workbook, tables.silos(found)))],
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


# Rent or buy


@details("cost-rent", "Rent or buy", "break-even utilisation, and the year of crossover", _has_costs)
def rent_data(workbook: Workbook) -> Contents:
    """Buying against renting the same GPU-hours, by every way to rent that is offered."""
    found, problem = tried(workbook, "cost: rent", lambda: tables.rent_terms(workbook.plan))
    if not found:
        return problem or no_rental(workbook.plan)
    leaves_out = [f"Buying leaves out: {'; '.join(found[0].excludes)}."] if found[0].excludes else []
    return {
        "text": [_rent_words(found[0]), *leaves_out],
        "tables": [
            screen(tables.rent(found)),
            screen(tables.rent_by_year(found), title="Paid each year"),
            *_offers(workbook, found),
        ],
    }


def _rent_words(found: RentOrBuy) -> str:
    text = (
        f"At a utilisation of {percent(found.utilisation)} it is cheaper to {found.cheaper}: "
        f"{money(found.own_net_present, found.currency)} to buy, {bare(found.rent_net_present)} to rent "
        f"{tables.TERM_NAMES[found.term]} over the same years, net present."
    )
    if found.breakeven_utilisation is None:
        return text
    if found.breakeven_utilisation > 1:
        return f"{text} Renting is cheaper however much the GPUs are used."
    return f"{text} Buying is cheaper from a utilisation of {percent(found.breakeven_utilisation)} on."


def _offers(workbook: Workbook, found: list[RentOrBuy]) -> list[dict[str, Any]]:
    """Other offers of this GPU."""
    others = tables.offers(workbook.plan, found)
    if not others.rows:
        return []
    left = len(others.rows) - SHOWN_OFFERS
    more = f"And {number(left)} more, dearer ones." if left > 0 else ""
    return [screen(others.top(SHOWN_OFFERS), title="Other offers", more=more)]


# N+0, N+1, N+2


def postures_of(workbook: Workbook) -> tuple[PostureCost, ...]:
    """The postures with their cost, once for each plan; nothing if one of them cannot be worked out."""
    found, _ = tried(workbook, "cost: postures", lambda: posture_costs(workbook.plan))
    return found or ()


@details("cost-postures", "N+1 or N+2", "cost of each hour of risk removed", _has_costs)
def postures_data(workbook: Workbook) -> Contents:
    """What each more failure to tolerate costs, and the price of each hour of risk that it removes."""
    found = postures_of(workbook)
    if not found:
        return "There is nothing to compare."
    table = tables.posture_costs(found, workbook.plan.scenario.cost.currency).dressed(
        "posture",
        lambda n, cell: (
            {"text": cell.value, "tone": "whole"} | ({"tag": "this design"} if found[n].chosen else {})
        ),
    )
    names = tuple(dict.fromkeys(name for each in found for name in each.excludes))
    return {"text": _excluding(names), "tables": [screen(table)]}
