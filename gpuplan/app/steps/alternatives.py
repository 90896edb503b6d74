"""Alternatives of the plan, priced alike: spare hosts, silos, renting, without growth; planned again when they are opened."""

from __future__ import annotations

from typing import Any

from gpuplan.analysis.posture_costs import PostureCost, posture_costs
from gpuplan.analysis.rent_or_buy import RentOrBuy, no_rental, rent_terms
from gpuplan.app.cards import Contents, details, tried
from gpuplan.app.state import Workbook
from gpuplan.report import number
from gpuplan.report.table import screen
from gpuplan.report.tables import alternatives as tables

SHOWN_OFFERS = 8


def _has_costs(workbook: Workbook) -> bool:
    return workbook.plan.costs is not None


@details(
    "cost-alternatives", "Alternatives of this plan", "spare hosts, silos, renting, priced alike", _has_costs
)
def alternatives_data(workbook: Workbook) -> Contents:
    """The plan and its alternatives in one table, and what follows from them."""
    table, problem = tried(workbook, "cost: alternatives", lambda: tables.alternatives(workbook.plan))
    words, _ = tried(
        workbook, "cost: words of the alternatives", lambda: tables.alternative_words(workbook.plan)
    )
    if table is None:
        return problem or "There is nothing to compare."
    return {"text": words or [], "tables": [screen(table)]}


# Rent by year


@details("cost-rent", "Rent year by year", "what is paid each year, and other offers", _has_costs)
def rent_data(workbook: Workbook) -> Contents:
    """What buying and each way to rent cost in each year, and other offers."""
    found, problem = tried(workbook, "cost: rent", lambda: rent_terms(workbook.plan))
    if not found:
        return problem or no_rental(workbook.plan)
    return {"tables": [screen(tables.rent_by_year(found), title="Paid each year"), *_offers(workbook, found)]}


def _offers(workbook: Workbook, found: tuple[RentOrBuy, ...]) -> list[dict[str, Any]]:
    """Other offers of this GPU."""
    others = tables.offers(workbook.plan, found)
    if not others.rows:
        return []
    left = len(others.rows) - SHOWN_OFFERS
    more = f"And {number(left)} more, dearer ones." if left > 0 else ""
    return [screen(others.top(SHOWN_OFFERS), title="Other offers", more=more)]


def postures_of(workbook: Workbook) -> tuple[PostureCost, ...]:
    """The postures with their cost, once for each plan; nothing if one of them cannot be worked out."""
    found, _ = tried(workbook, "cost: postures", lambda: posture_costs(workbook.plan))
    return found or ()
