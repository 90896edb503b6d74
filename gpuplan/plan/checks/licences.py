"""Checks of licences: of existing hosts without a stated end, and such as are no longer sold."""

import math
from collections.abc import Iterator
from typing import Any

from gpuplan.plan.bill_of_materials import BY_CORE
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.owned_licences import bundled_years
from gpuplan.plan.plan import Plan
from gpuplan.plan.sharing import version_order
from gpuplan.wording import joined, said, some_of


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
