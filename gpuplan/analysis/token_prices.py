"""Token costs: of the design by its load, of rented GPUs, and at a price per token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuplan.analysis.rent_or_buy import rentals
from gpuplan.models import renting
from gpuplan.models.llm.token_cost import million_tokens_cost, user_month_cost
from gpuplan.plan import Plan
from gpuplan.plan.llm.token_costs import TokenCost

LOADS = (1.0, 0.5, 0.25)
"""Shares of the planned load, in addition to the load from its users over the year."""


class TokenPrice(NamedTuple):
    """Cost of a group's tokens in one way."""

    group: str
    name: str
    way: str
    """``design``, ``rent`` or ``price``."""
    load: float
    million_in: float
    million_out: float
    user_month: float | None
    year: float
    note: str
    own: bool = True
    """True if the load is the one from its users over the year."""


def token_prices(plan: Plan) -> tuple[TokenPrice, ...]:
    """Return the token cost of each group: of the design by load, rented by the hour, and at the stated price."""
    return tuple(price for each in plan.token_costs.values() for price in _prices(plan, each))


def _prices(plan: Plan, each: TokenCost) -> Iterator[TokenPrice]:
    for load in (each.load_share, *(load for load in LOADS if abs(load - each.load_share) > 0.005)):
        found = _by_year(each, "design", load, each.year_cost, "")
        yield found._replace(own=load == each.load_share)
    stated = plan.scenario.get(f"prices.rent/{plan.scenario.hardware.gpu}")
    offers = [row for row in rentals(plan) if row.term == "on-demand"]
    if stated is not None or offers:
        price, source = (
            (float(stated), "as stated") if stated is not None else (offers[0].gpu_hour_price, offers[0].name)
        )
        paid = renting.rent_cost(each.gpu_hours, hour_price=price)
        yield _by_year(each, "rent", each.load_share, paid, source)
    known = [plan.scenario.get(f"prices.tokens-{way}") for way in ("in", "out")]
    if all(price is not None for price in known):
        into, out = (float(price) for price in known)
        year = (each.tokens_in * into + each.tokens_out * out) / 1e6
        yield TokenPrice(
            each.id,
            each.name,
            "price",
            each.load_share,
            into,
            out,
            _month(each, year),
            year,
            "as stated",
        )


def _by_year(each: TokenCost, way: str, load: float, year: float, note: str) -> TokenPrice:
    """Return the token cost for a yearly cost of the GPUs at a given load."""
    more = load / each.load_share
    into = million_tokens_cost(year, share=each.prompt_share, tokens=each.tokens_in * more)
    out = million_tokens_cost(year, share=1 - each.prompt_share, tokens=each.tokens_out * more)
    return TokenPrice(each.id, each.name, way, load, into, out, _month(each, year), year, note)


def _month(each: TokenCost, year: float) -> float | None:
    """Return the monthly cost of a user; None where their number is not stated."""
    return None if each.users is None else user_month_cost(year, years=1, users=each.users)
