"""The customer's version of a scenario, from which all is made that the customer sees; the seller's earnings."""

from dataclasses import dataclass, replace

from gpuplan.catalog import Catalog
from gpuplan.models import cost
from gpuplan.plan.cash_flow import HARDWARE
from gpuplan.plan.plan import Plan, make_plan
from gpuplan.plan.prices import ANY_HOST, PriceList
from gpuplan.scenario import Internal, Origin, Scenario, views
from gpuplan.wording import PART, said

OFFER = said("offer.price")
"""Source of a price in the customer's version."""
EARNED = said("offer.earned")
SOLD_PARTS = (*HARDWARE, PART["Platform licences"], PART["GPU software"], PART["Hardware support"])
"""Parts of the cost that the seller sells; the rest is paid to others."""


def customer_scenario(scenario: Scenario, catalog: Catalog, *, whole_catalog: bool = False) -> Scenario:
    """Return the parts of a scenario that the customer may have: no internal notes, no margin, prices as sold.

    A price that carries the margin is stated as the customer pays it, without a range; hosts and costs stay the same.
    ``whole_catalog`` states those of other models, too: for comparing designs, never for a file.
    """
    if scenario.internal == Internal():
        return scenario
    prices = PriceList(scenario, catalog)
    bare = replace(scenario, internal=Internal())
    if not prices.margin:
        return _without(bare, ("internal",))
    sold = _sold(scenario, catalog, prices, whole_catalog)
    offer = Origin("quoted", "scenario", note=OFFER, as_of=prices.as_of)
    kept = _without(bare, ("internal", "prices", *(f"ranges.prices.{key}" for key in sold)))
    stated = [f"prices.{key}" for key, _ in bare.prices if key not in sold]
    return replace(
        kept,
        prices=tuple((dict(bare.prices) | sold).items()),
        ranges=tuple((path, ends) for path, ends in bare.ranges if path.removeprefix("prices.") not in sold),
        origins=(
            *(*kept.origins, *((path, bare.origin(path)) for path in stated)),
            *((f"prices.{key}", offer) for key in sold),
        ),
    )


def _sold(scenario: Scenario, catalog: Catalog, prices: PriceList, whole_catalog: bool) -> dict[str, float]:
    """Return the prices that carry the margin, as the customer pays them: of the models in the design, or of all."""
    kinds = [view.hardware for view in views(scenario)]
    used = {key for each in kinds for key in (f"gpus/{each.gpu}", f"servers/{each.server}")}
    used |= {*dict(scenario.prices)}
    sold = {
        key: price.value
        for key, price in prices.sold().items()
        if whole_catalog or key in used or not key.startswith(("gpus/", "servers/"))
    }
    if kinds[1:] or not kinds[0].server:  # the price of any host is then that of a GPU host
        sold |= _sold_hosts(scenario, catalog)
    return sold


def _sold_hosts(scenario: Scenario, catalog: Catalog) -> dict[str, float]:
    """Return the prices of hosts as ordered, by the keys that state them: for each kind of GPU hosts where they differ."""
    plan, sold = make_plan(scenario, catalog, check=False), dict[str, float]()
    managing = plan.management.memory_gib if plan.management else 0
    others = ((("management-host", ANY_HOST), managing, ""), (("compute-host", ANY_HOST), 0, ""))
    kinds = plan.counts.kinds if plan.counts else ()
    for (key, *instead), gib, suffix in (*others, *((k.price_keys, k.memory_gib, k.suffix) for k in kinds)):
        price = PriceList(scenario, catalog, {key: gib}).price(key, key, "each", *instead)
        if price is not None and sold.setdefault(key, price.value) != price.value:
            sold[key + suffix] = price.value
    return sold


def _without(scenario: Scenario, paths: tuple[str, ...]) -> Scenario:
    """Return the scenario without the records about these inputs and all below them."""
    below = tuple(f"{path}." for path in paths)
    kept = (entry for entry in scenario.origins if not f"{entry[0]}.".startswith(below))
    return replace(scenario, origins=tuple(kept))


@dataclass(frozen=True, slots=True)
class Earning:
    """Purchase and sale of one part of the design, over all years."""

    part: str
    paid: float
    """Cost to the seller, after discounts."""
    price: float
    currency: str

    @property
    def earned(self) -> float:
        """Amount that the seller keeps."""
        return self.price - self.paid


def earnings(plan: Plan) -> tuple[Earning, ...]:
    """Return the seller's cost and earnings by part, in the money of the years of payment; empty without a margin.

    Discounts are taken off what the seller pays; the margin is the seller's share of the customer's price.
    """
    if plan.costs is None or not plan.scenario.internal.margin:
        return ()
    internal = replace(plan.scenario.internal, margin=None)
    bought = plan.with_scenario(replace(plan.scenario, internal=internal)).costs
    if bought is None:
        return ()
    paid = {part.name: part.total for part in bought.parts}
    parts = [part for part in plan.costs.parts if part.name in SOLD_PARTS]
    currency = plan.costs.currency
    return tuple(Earning(part.name, paid[part.name], part.total, currency) for part in parts)


def earned_in_all(found: tuple[Earning, ...]) -> Earning:
    """Return the sum over all parts of a design; at least one."""
    paid = cost.total_cost(*(earning.paid for earning in found))
    price = cost.total_cost(*(earning.price for earning in found))
    return Earning(EARNED, paid, price, found[0].currency)
