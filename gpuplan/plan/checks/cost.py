"""Checks of the cost: items left out, old or assumed prices, growth, racks and use."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.locales import written, written_day
from gpuplan.models.power import hosts_per_rack
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.inputs import Input
from gpuplan.plan.plan import Plan
from gpuplan.plan.prices import MEMORY, catalog_factor
from gpuplan.plan.racks import worst_loss
from gpuplan.wording import NAMES, counted, said, watts


def cost_basis(plan: Plan) -> Iterator[Message]:
    """Report items that the cost leaves out, and prices that are old or assumed."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.unknown:
        names = "; ".join(item.name for item in costs.unknown)
        yield message(plan, "cost-excludes", names=names, key=costs.unknown[0].key)
    if costs.not_counted:
        path = "network.link_gbit_s" if use.racks else "cost.rack_kw"
        yield message(plan, "cost-not-counted", path=path, items=". ".join(costs.not_counted))
    doubts = {
        "prices-lapse": lambda price: price.lapsed,
        "prices-old": lambda price: price.old,
        "prices-assumed": lambda price: price.fact.basis == "assumed",
    }
    for code, doubted in doubts.items():
        if prices := list(filter(doubted, costs.prices)):
            words = {"names": "; ".join(price.name for price in prices), "as_of": written_day(costs.decided)}
            words |= {"all": counted(len(costs.prices), "price"), "key": prices[0].key}
            sources = _cited(source for price in prices for source in price.fact.sources)
            yield message(plan, code, prices=len(prices), sources=sources, **words)


def host_price(plan: Plan) -> Iterator[Message]:
    """That memory is added to a stated price of hosts of a kind, which may be that of the whole host."""
    stated, prices = dict(plan.scenario.prices), plan.costs.prices if plan.costs else ()
    for price in prices:
        if price.more_gib and price.stated and MEMORY not in stated:
            yield message(plan, "host-beyond-price", server=price.name, more=price.more_gib, key=MEMORY)
    if (counts := plan.counts) is None:
        return
    for key, kind in counts.sharing_price().items():
        if (shared := key.partition("@")[0]) in stated:
            server = next(price.name for price in prices if price.key == shared)
            least = kind.memory_gib - counts.more_gib.get(kind.suffix, 0)
            yield message(plan, "price-of-two-kinds", server=server, gib=least, hosts=kind.name, key=key)


def private_ai(plan: Plan) -> Iterator[Message]:
    """The add-on for private AI on a platform that does not have it."""
    settings, catalog = plan.scenario.cost, plan.catalog
    if not settings.private_ai or plan.counts is None or plan.counts.ai_add_on:
        return
    least = catalog.products["private-ai-foundation"].fact("min_vsphere")
    words = {"licence": NAMES["cost.platform_licence"][settings.platform_licence]}
    words["least"] = catalog.vsphere[str(least.value)].name
    words["version"] = catalog.vsphere[plan.scenario.platform.vsphere].name
    yield message(plan, "private-ai-left-out", sources=least.sources, **words)


def _cited(sources: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(source for source in sources if source != SCENARIO_SOURCE))


def cost(plan: Plan) -> Iterator[Message]:
    """Report gaps in the cost, from growth beyond the design to a rack without room."""
    costs, use = plan.costs, plan.power
    if costs is None or use is None:
        return
    if costs.growth_left_out is not None:
        yield message(plan, "growth-beyond-horizon", year=costs.growth_left_out)
    claimed = plan.catalog.assumptions["silo-gpu-utilisation"].fact("utilisation_pct")
    if plan.totals.gpus_demanded and costs.utilisation < float(claimed.high or 0) / 100:
        low, high = (written(end, "g") for end in (claimed.low, claimed.high))
        yield message(plan, "utilisation-low", used=costs.utilisation, low=low, high=high)


def _rack_words(plan: Plan) -> tuple[dict[str, Any], dict[str, Input]]:
    """The largest host and the limit of a rack in words, and the inputs behind the hosts in a rack."""
    inputs = {each.name: each for each in plan.lines["power.hosts_per_rack"].inputs}
    limit = inputs["rack_kw"]
    words: dict[str, Any] = {"host": watts(inputs["host_w"].value), "rack_kw": limit.value}
    return words | {"sources": _cited(limit.sources)}, inputs


def rack_limits(plan: Plan) -> Iterator[Message]:
    """Report a host that no rack carries, and racks of one host by an assumed limit."""
    use = plan.power
    if use is None or not plan.pools:
        return
    words, inputs = _rack_words(plan)
    per_rack, limit = use.kinds[plan.scenario.hardware.of].per_rack, inputs["rack_kw"]
    if not per_rack:
        yield message(plan, "host-over-rack-limit", **words)
        return
    heights = {name: float(inputs[name].value) for name in ("host_u", "rack_units_u", "reserved_u")}
    by_height = hosts_per_rack(**heights, host_w=0, rack_kw=0)
    assumed = plan.scenario.cost.rack_kw is None
    priced = catalog_factor(plan.catalog, "rack_kw").value
    if assumed and per_rack == 1 < by_height and (use.racks > 1 or limit.value > priced):
        need = math.ceil(2 * inputs["host_w"].value / 100) / 10
        words |= {"racks": use.racks, "many": by_height, "need": need, "priced": priced}
        yield message(plan, "rack-power-assumed", **words)


def rack_loss(plan: Plan) -> Iterator[Message]:
    """Report what the loss of a rack takes beyond the failover capacity."""
    use, assumed = plan.power, plan.scenario.cost.rack_kw is None
    if use is not None and (lost := worst_loss(plan)):
        of = lost.rack.hosts[0].of
        home = next(part for part in plan.by_kind if part.scenario.hardware.of == of)
        words, note = _rack_words(home)[0], said("check.planning value") if assumed else ""
        words |= {"lost": lost, "assumed": note}
        words["leaves"] = said("check.both leaves") if lost.rack.both_leaves else ""
        yield message(plan, "rack-loss", **words, per_rack=use.kinds[of].per_rack)


def peak(plan: Plan) -> Iterator[Message]:
    """Report a peak of a host that is not its maker's own: that of other servers with the same SXM boards, or a sum."""
    hardware, line = plan.scenario.hardware, plan.lines.get("power.host_peak")
    gpu = plan.catalog.gpus[hardware.gpu]
    sxm = str(gpu.value("form_factor")).startswith("SXM")
    if line is None or not sxm or plan.scenario.cost.host_base_w is not None:
        return
    own = plan.catalog.servers[hardware.server].name if hardware.server else said("check.a server")
    words: dict[str, Any] = {"server": own, "peak": watts(line.value), "sources": _cited(line.sources)}
    words |= {"gpus": hardware.gpus_per_host, "gpu": gpu.name}
    if "boards" in line.given:
        yield message(plan, "host-peak-summed", **words)
    elif line.inputs[0].key.startswith("gpus/"):
        yield message(plan, "host-peak-of-class", **words)
