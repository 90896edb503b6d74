"""Checks of power-on: orders that leave VMs without a GPU, and hosts that are sized for orders."""

from __future__ import annotations

from collections.abc import Iterator

from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.plan import Plan, make_plan
from gpuplan.plan.power_on import STEPS, PowerOn, distinct, steps_words
from gpuplan.plan.power_on_orders import sizing_orders
from gpuplan.wording import amount, capital, priced, short_number, stated_percent

LIKELY = 0.5
"""From this chance on a host more is tried: below it never was enough."""


def orders(plan: Plan) -> Iterator[Message]:
    """Orders of power-on in which not every VM starts, with what changes that."""
    for made in distinct(plan.power_on):
        if not made.now.all_start:
            yield message(
                plan, "power-on-orders", path=_path(made), pool=made.pool.name, ways=_ways(made), **made.words
            )


def _ways(made: PowerOn) -> str:
    """What was tried and makes every VM start, or the most of them."""
    found = []
    if made.best is not made.now:
        all_of = "" if made.best.all_start else f" (all start then in {made.best.share_words} orders)"
        found.append(steps_words(made.best.key) + all_of)
    if made.now.chance[0] >= LIKELY and made.tried("host").all_start:
        found.append(STEPS["host"])
    if not made.best.all_start or made.hosts_by_size <= made.pool.hosts_for_demand:
        found.append(STEPS["sizes"].format(hosts=amount(made.hosts_by_size, "host")))
    return capital(", or ".join(found))


def _path(made: PowerOn) -> str:
    """The input of the first of them; that of the hosts where it is an order and no setting."""
    first = made.best.key.partition(", ")[0]
    return {
        "group": "platform.gpu_policy",
        "spread": "platform.gpu_policy",
        "consolidation": "platform.drs_consolidation",
        "drs-spread": "platform.drs_consolidation",
        "mixed": "platform.vgpu_sizes",
    }.get(first, "availability.sized_for")


def sized_for_orders(plan: Plan) -> Iterator[Message]:
    """What it takes that orders of power-on start every VM, beside the best arrangement; clusters in which they do not."""
    asked = plan.scenario.availability
    if asked.sized_for == "best" or plan.costs is None:
        return
    best = make_plan(plan.scenario.with_value("availability.sized_for", "best"), plan.catalog)
    more = plan.totals.hosts - best.totals.hosts
    share = stated_percent(asked.orders_share)
    if more and best.costs:
        paid = priced(short_number(plan.costs.net_present - best.costs.net_present), plan.costs.currency)
        yield message(plan, "sized-for-orders", share=share, more=amount(more, "host"), paid=paid)
    clusters = [each for kind, division in plan.divisions.items() for each in division.named(kind)]
    for cluster, laid in clusters:
        if laid.reached:
            continue
        if sizing_orders(laid.asked, laid.fewest):
            hosts = amount(laid.used, "host")
            yield message(plan, "orders-not-reached", pool=cluster.name, share=share, hosts=hosts)
        else:
            yield message(plan, "orders-not-tried", pool=cluster.name)
