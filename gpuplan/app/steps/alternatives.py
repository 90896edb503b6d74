"""Alternatives of the plan, priced alike: spare hosts, silos, renting, without growth; planned in the background."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gpuplan.analysis.alternatives import Alternative, alternatives
from gpuplan.analysis.rent_or_buy import no_rental, rent_terms
from gpuplan.app.cards import Contents, asked, panel, plain, tried
from gpuplan.app.state import Workbook
from gpuplan.plan import Plan
from gpuplan.plan.cost import Costs
from gpuplan.report.table import screen
from gpuplan.report.tables import alternatives as tables
from gpuplan.wording import said

SHOWN_OFFERS = 8
KEY = "cost-alternatives"
MANY_HOSTS = 512
"""Hosts above which the alternatives are planned only on request."""


class Found(NamedTuple):
    """The alternatives of a plan, and remarks on them."""

    alternatives: tuple[Alternative, ...] = ()
    words: tuple[str, ...] = ()
    problem: str = ""


def _planned(plan: Plan) -> Found:
    try:
        words = tuple(text for text in tables.alternative_words(plan) if text != no_rental(plan))
        return Found(alternatives(plan), words)
    except ValueError as error:
        return Found(problem=str(error))


def _contents(workbook: Workbook, shown: Callable[[Found], dict[str, Any]]) -> Contents:
    """Return a card of the alternatives; until they are planned, a button if that takes long, else a note."""
    if not asked(workbook, KEY) or (workbook.plan.totals.hosts > MANY_HOSTS and KEY not in workbook.opened):
        return {"button": {"key": KEY, "text": said("screen.alternatives.go")}}
    result = workbook.later("cost: alternatives", _planned)
    if result is None:
        return {"text": [[{"text": said("screen.planning"), "waiting": True}]]}
    return shown(result) if result.alternatives else result.problem or said("screen.alternatives.nothing")


@panel(needs="costs")
def in_short_data(workbook: Workbook, _costs: Costs) -> Contents:
    """Return the plan and its alternatives, the cost of each rounded."""
    plan = workbook.plan
    return _contents(workbook, lambda found: {"tables": [screen(tables.in_short(plan, found.alternatives))]})


@panel(needs="costs")
def alternatives_data(workbook: Workbook, _costs: Costs) -> Contents:
    """Return one table of the plan and its alternatives, and the conclusions."""
    return _contents(
        workbook,
        lambda found: {
            "tables": [screen(tables.alternatives(workbook.plan, found.alternatives))],
            "after": [plain(text) for text in found.words],
        },
    )


@panel(needs="costs", slow=True)
def rent_data(workbook: Workbook, _costs: Costs) -> Contents:
    """Return the cost of buying and of each way to rent in each year, and other offers."""
    rentals, problem = tried(workbook, "cost: rent", lambda: rent_terms(workbook.plan))
    if not rentals:
        return problem or no_rental(workbook.plan)
    by_year, others = tables.rent_by_year(rentals), tables.offers(workbook.plan, rentals)
    shown, left = [screen(by_year, by_year.title)], len(others.rows) - SHOWN_OFFERS
    if others.rows:
        more = said("screen.alternatives.more offers", left=left) if left > 0 else ""
        shown.append(screen(others.top(SHOWN_OFFERS), others.title, more))
    return {"tables": shown}
