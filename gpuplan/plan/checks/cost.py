"""Checks of the cost: what it leaves out, which prices are old or assumed, growth, racks and use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.plan.checks.message import Message
from gpuplan.plan.cost import Costs
from gpuplan.plan.plan import Plan
from gpuplan.plan.prices import Price
from gpuplan.wording import counted, number, percent, watts


def cost_basis(plan: Plan) -> Iterator[Message]:
    """What the cost leaves out, and prices that are old or assumed."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.unknown:
        yield Message(
            "cost-excludes",
            "note",
            f"The cost excludes {'; '.join(item.name for item in costs.unknown)}: nobody knows the price.",
            "Ask for a quote, and state the price.",
            f"prices.{costs.unknown[0].key}",
        )
    if costs.not_counted:
        yield Message(
            "cost-not-counted",
            "note",
            f"The cost excludes what cannot be counted. {'. '.join(costs.not_counted)}.",
            "Choose another link or other switches, or a rack that may be given more power.",
            "network.link_gbit_s" if use.racks else "cost.rack_kw",
        )
    if old := [price for price in costs.prices if price.old]:
        yield Message(
            "prices-old",
            "note",
            f"{_of_prices(old, costs)} older than a year on {costs.as_of}: {'; '.join(price.name for price in old)}.",
            "Ask for new quotes, the dearest parts first.",
            f"prices.{old[0].key}",
            _price_sources(old),
        )
    if assumed := [price for price in costs.prices if price.fact.basis == "assumed"]:
        yield Message(
            "prices-assumed",
            "note",
            f"{_of_prices(assumed, costs)} assumed: {'; '.join(price.name for price in assumed)}.",
            "Ask for a quote: a stated price counts as quoted.",
            f"prices.{assumed[0].key}",
            _price_sources(assumed),
        )


def _of_prices(found: Sequence[Price], costs: Costs) -> str:
    return f"{len(found)} of {counted(len(costs.prices), 'price')} {'is' if len(found) == 1 else 'are'}"


def _price_sources(found: Sequence[Price]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(s for price in found for s in price.fact.sources if s != SCENARIO_SOURCE))


def cost(plan: Plan) -> Iterator[Message]:
    """What the cost does not cover, from growth beyond the design to a rack without room."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.growth_left_out is not None:
        yield Message(
            "growth-beyond-horizon",
            "warn",
            f"From year {costs.growth_left_out} on the groups grow beyond what one design can hold; the cost counts the hosts of the "
            "year before.",
            "Look at fewer years, or divide the groups over several designs.",
            "cost.years",
        )
    if not use.racks:
        limit = next(i for i in plan.lines["power.hosts_per_rack"].inputs if i.name == "rack_kw")
        yield Message(
            "host-over-rack-limit",
            "warn",
            f"One host draws {watts(use.host_peak_w)} at full load, or is higher than a rack; a rack may be given "
            f"{number(limit.value)} kW. Space is not counted.",
            "Take racks with more power, or fewer GPUs per host.",
            "cost.rack_kw",
            tuple(s for s in limit.sources if s != SCENARIO_SOURCE),
        )
    claimed = plan.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    if plan.totals.gpus_demanded and costs.utilisation < float(claimed.high or 0) / 100:
        yield Message(
            "utilisation-low",
            "note",
            f"The GPUs are used {percent(costs.utilisation)} of the time. GPUs bound to single machines are said to reach {claimed.low:g} to "
            f"{claimed.high:g} %, so sharing gains nothing here.",
            "Ask for the usual share that is active, its hours, and who else could use the GPUs.",
            "cost.utilisation",
            claimed.sources,
        )
