"""The customer's version of a scenario, and what the seller earns with a design.

Nothing here changes a plan. The files and the view for the customer are made from a plan of the customer's version, so
that nothing internal can be left in them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.models import cost
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.plan.plan import Plan, make_plan
from gpuplan.plan.prices import PriceList
from gpuplan.scenario import Internal, Origin, Scenario

OFFER = "price of this offer"
"""Where a price of the customer's version is known from."""
EARNED = "All that is sold"
SOLD_PARTS = (*HARDWARE, "Platform licences", "GPU software", "Hardware support")
"""Parts of the cost that the seller sells; the rest is paid to others."""


def customer_scenario(scenario: Scenario, catalog: Catalog, *, whole_catalog: bool = False) -> Scenario:
    """What of a scenario the customer may have: no internal notes, no margin, prices as they are sold.

    Each price that carries the margin is stated as the customer pays it; its range is left out, because an offer has
    none. Everything else stays, so that both versions give the same hosts and the same costs.
    ``whole_catalog`` states the prices of models that this design does not have too: for looking at other designs beside it,
    not for a file that the customer keeps.
    """
    if scenario.internal == Internal():
        return scenario
    prices = PriceList(scenario, catalog)
    bare = replace(scenario, internal=Internal())
    if not prices.margin:
        return _without(bare, ("internal",))
    own = {f"gpus/{scenario.hardware.gpu}", f"servers/{scenario.hardware.server}", *dict(scenario.prices)}
    sold = {
        key: price.value
        for key, price in prices.sold().items()
        if whole_catalog or key in own or not key.startswith(("gpus/", "servers/"))
    }
    stated = {key: bare.origin(f"prices.{key}") for key, _ in bare.prices if key not in sold}
    offer = Origin("quoted", "scenario", note=OFFER, as_of=prices.as_of)
    gone = ("internal", "prices", *(f"ranges.prices.{key}" for key in sold))
    kept = _without(bare, gone)
    return replace(
        kept,
        prices=tuple((dict(bare.prices) | sold).items()),
        ranges=tuple((path, ends) for path, ends in bare.ranges if path.removeprefix("prices.") not in sold),
        origins=(
            *kept.origins,
            *((f"prices.{key}", origin) for key, origin in stated.items()),
            *((f"prices.{key}", offer) for key in sold),
        ),
    )


def _without(scenario: Scenario, paths: tuple[str, ...]) -> Scenario:
    """The scenario without what is recorded about these inputs and all below them."""
    return replace(
        scenario,
        origins=tuple(
            (path, origin)
            for path, origin in scenario.origins
            if not any(path == each or path.startswith(f"{each}.") for each in paths)
        ),
    )


@dataclass(frozen=True, slots=True)
class Earning:
    """What is bought and sold for a part of the design, over all years."""

    part: str
    paid: float
    """What the seller pays, discounts taken."""
    price: float
    """What the customer pays."""
    currency: str

    @property
    def earned(self) -> float:
        """What the seller keeps."""
        return self.price - self.paid


def earnings(plan: Plan) -> tuple[Earning, ...]:
    """What the seller pays and earns by part, in the money of the years in which it is paid; empty without a margin.

    The discounts of the scenario are taken off what the seller pays, and the margin stands on what is left: what the
    customer pays is the same in either order, and the margin is the share of it that the seller keeps, but for prices
    rounded to the cent. The plan is made again without the margin.
    """
    if plan.costs is None or not plan.scenario.internal.margin:
        return ()
    internal = replace(plan.scenario.internal, margin=None)
    bought = make_plan(replace(plan.scenario, internal=internal), plan.catalog).costs
    if bought is None:
        return ()
    paid = {part.name: part.total for part in bought.parts}
    return tuple(
        Earning(part.name, paid[part.name], part.total, plan.costs.currency)
        for part in plan.costs.parts
        if part.name in SOLD_PARTS
    )


def earned_in_all(found: tuple[Earning, ...]) -> Earning:
    """All parts of a design together; at least one."""
    return Earning(
        EARNED,
        cost.total_cost(*(each.paid for each in found)),
        cost.total_cost(*(each.price for each in found)),
        found[0].currency,
    )
