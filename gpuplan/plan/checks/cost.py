"""Checks of the cost and of what it rests on: items left out, old or assumed prices, licences, growth, racks, planning values."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from gpuplan.facts import SCENARIO_SOURCE
from gpuplan.locales import written, written_day
from gpuplan.models.power import hosts_per_rack
from gpuplan.plan.bill_of_materials import BY_CORE
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.inputs import Input
from gpuplan.plan.owned_licences import bundled_years
from gpuplan.plan.plan import Plan
from gpuplan.plan.prices import MEMORY, catalog_factor
from gpuplan.plan.racks import worst_loss
from gpuplan.plan.sharing import version_order
from gpuplan.plan.training.speed import RDMA
from gpuplan.scenario import FIELD_BY_PATH, field_of
from gpuplan.wording import NAMES, counted, joined, said, some_of, spanned, stated_percent, watts

PRIVATE_AI_PARAMETERS, PRIVATE_AI_GBIT_S = 40, 100
"""Models above this size in billions, tuned on several hosts, want this link with RDMA (rule ``private-ai-network``)."""


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


def private_ai_limits(plan: Plan) -> Iterator[Message]:
    """What Private AI asks of sites and network, where the design does not have it."""
    if plan.counts is None or not plan.counts.ai_add_on:
        return
    if plan.counts.fabric.sites[1:]:
        yield message(plan, "private-ai-zones", sites=joined(plan.counts.fabric.sites))
    network, models = plan.scenario.network, plan.catalog.rows("llm_models")
    large = {row.id for row in models if (row["total_parameters"] or 0) > PRIVATE_AI_PARAMETERS}
    jobs = [use.name for use in plan.network.training if use.workload in large and use.hosts > 1]
    if jobs and (network.link_gbit_s < PRIVATE_AI_GBIT_S or network.transport not in RDMA):
        transport = NAMES["transport"][network.transport]
        link = network.link_gbit_s
        yield message(plan, "private-ai-tuning", jobs=joined(jobs), link=link, transport=transport)


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


def assumed(plan: Plan) -> Iterator[Message]:
    """Report results that rest on planning values."""
    behind = (fact for line in plan.asked_lines.values() for fact in line.given.values())
    keys = {fact.key for fact in behind if fact.basis == "assumed"}
    assumed = sorted(key for key in keys if _is_input(plan, key))
    if assumed and plan.pools:
        yield message(plan, "inputs-assumed", inputs=len(assumed), path=_path_of(plan, assumed[0]))


def beside_ranges(plan: Plan) -> Iterator[Message]:
    """Report ranges of the scenario that do not contain the planned value."""
    for path, (low, high) in plan.scenario.ranges:
        now = plan.planned(path)
        if now is not None and not low <= now <= high:
            worded = stated_percent if field_of(path).kind == "share" else _plain
            ends, label = spanned(worded(low), worded(high)), plan.scenario.label(path)
            yield message(plan, "range-beside-value", label=label, now=worded(now), ends=ends, key=path)


def _plain(value: float) -> str:
    return written(value, ".10g")


def _is_input(plan: Plan, key: str) -> bool:
    """True for an input or a planning value that replaces an empty one, not for a figure in between."""
    return key not in plan.lines and (
        "/" not in key or key.startswith("prices.") or key.partition("/")[0] in plan.catalog.titles
    )


def _path_of(plan: Plan, key: str) -> str:
    """Return the input that a planning value replaces, or the key itself if it is an input."""
    if key == "assumptions/duration-of-work/work_h":
        return f"groups.{next(g.id for g in plan.sized.groups if g.work_h is None)}.work_h"
    if key.startswith("assumptions/bursts/"):
        return "demand.peakedness"
    path = key.replace("assumptions/host-reliability/", "availability.").replace("factors/", "cost.")
    path = path.replace("assumptions/gpu-host/", "hardware.")
    return path if path in FIELD_BY_PATH or path.startswith(("groups.", "prices.")) else ""


def scenario_notes(plan: Plan) -> Iterator[Message]:
    """Report the notes of the scenario itself."""
    for note in plan.scenario.notes:
        yield Message("source-note", "note", note.text, "", "", (note.source,), note.locator)


def not_sold(plan: Plan) -> Iterator[Message]:
    """Licences by the processor that the design would have to buy."""
    counts, catalog = plan.counts, plan.catalog
    if counts is None or plan.scenario.cost.platform_licence != "socket":
        return
    hosts = plan.totals.hosts - counts.licensed(0)
    order, version = version_order(catalog), catalog.vsphere[plan.scenario.platform.vsphere]
    later = order[version.id] > order[str(catalog.products["vsphere"].value("perpetual_last_vsphere"))]
    if hosts or later:
        licences = counts.of(counts.at_start())["platform"]
        words: dict[str, Any] = {}
        words["bought"] = said("check.licences to buy", licences=licences, hosts=hosts) if hosts else ""
        words["version"] = said("check.not on version", version=version.name) if later else ""
        yield message(plan, "licence-not-sold", level="stop" if later else "", **words)


def owned(plan: Plan) -> Iterator[Message]:
    """Licences of existing hosts that are assumed to be missing, as no day is stated and none is confirmed."""
    counts, settings = plan.counts, plan.scenario.cost
    if counts is None or plan.scenario.is_confirmed("hardware.existing"):
        return
    kinds: dict[str, None] = {}
    what: dict[str, None] = {}
    for kind, pool, _ in counts.owned:
        bundled = bundled_years(plan.scenario, plan.catalog, kind)
        dated = kind.software_until or (bundled and kind.boards_since)
        shared = settings.gpu_licence != "owned" and pool in counts.needs_licence
        if settings.platform_licence != "owned" and not kind.platform_until:
            kinds[kind.name] = what[said("check.no platform date")] = None
        if shared and not dated:
            kinds[kind.name] = what[said("check.no board date" if bundled else "check.no software date")] = (
                None
            )
    if kinds:
        yield message(plan, "owned-licences-unknown", what=joined(list(what)), kinds=some_of(list(kinds)))


def order_size(plan: Plan) -> Iterator[Message]:
    """Platform cores that a minimum order or a pack would raise, on both of which sources disagree."""
    counts, choice = plan.counts, plan.scenario.cost.platform_licence
    if counts is None or choice not in BY_CORE:
        return
    start = counts.at_start()
    cores = counts.core_licences({kind: kind.hosts(start) - kind.licensed(0) for kind in counts.kinds})
    least, pack = int(counts.least_order.value), int(plan.catalog.products["vcf"].fact("core_pack").value)
    order = max(cores, least)
    packs = math.ceil(order / pack) * pack
    if cores and packs > cores:
        yield message(plan, "licence-order", cores=cores, order=order, packs=packs, least=least, pack=pack)
