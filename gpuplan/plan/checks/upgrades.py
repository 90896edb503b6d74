"""Checks of power-on and upgrades: orders that leave VMs without a GPU, and clusters without a rolling upgrade."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from gpuplan.models.power_on.rehearsal import DOWN
from gpuplan.plan.checks.message import Message, message
from gpuplan.plan.over_time.power_on import PowerOn, distinct
from gpuplan.plan.over_time.rehearsal import FEW_LOOKS, Rehearsed, readings
from gpuplan.plan.over_time.rules import is_open, lacks, sizing_orders
from gpuplan.plan.over_time.tried import STEPS, steps_words
from gpuplan.plan.plan import Plan
from gpuplan.plan.requests import spare_hosts
from gpuplan.wording import (
    amount,
    capital,
    either,
    joined,
    priced,
    said,
    short_number,
    some_of,
    stated_percent,
    told,
)

MOST_MORE = 2
"""As many hosts more are tried."""
LIKELY = 0.5
"""From this chance on a host more is tried: below it never was enough."""


class Change(NamedTuple):
    """A possible change, by itself or with others."""

    words: str
    path: str
    value: object


def upgrades(plan: Plan) -> Iterator[Message]:
    """Clusters with failover capacity that cannot be upgraded host by host without shutting VMs down."""
    for pool in plan.pools:
        rehearsed = plan.rehearsed.get(pool.id) if pool.hosts_for_failures else None
        if rehearsed is None or rehearsed.works_unasked():
            continue
        down = Counter(vm.group for turn in rehearsed.upgrade.turns for vm in turn.went if vm.how == DOWN)
        names = {group.id: group.name for group in plan.groups}
        free = list(itertools.islice(_by_settings(plan, rehearsed), 1))
        remedies = free or _by_change(plan, rehearsed, set(down))
        words: dict[str, Any] = {"pool": pool.name, "vms": sum(down.values()), "order": _no_order(rehearsed)}
        words["groups"] = some_of([f"{names.get(id, id)} ({n})" for id, n in down.most_common()])
        words["remedy"] = _remedy([words for _, words in remedies])
        level, path = "note" if free else "", remedies[0][0] if remedies else ""
        yield message(plan, "upgrade-shuts-down", level=level, path=path, **words)


def _no_order(rehearsed: Rehearsed) -> str:
    """Say that no order of hosts helps, or that none was found, and how many VMs do not start at all."""
    words = said("check.no order helps" if rehearsed.upgrade.proven else "check.no order found")
    lacking = rehearsed.not_started[1]
    return words + said("check.not started", vms=lacking) if lacking else words


def _remedy(ways: Sequence[str]) -> str:
    if not ways:
        return said("check.no remedy")
    key = "check.several remedies" if len(ways) > 1 else "check.one remedy"
    return said(key, ways=capital(either(ways)))


def _by_settings(plan: Plan, now: Rehearsed) -> Iterator[tuple[str, str]]:
    """(path, words) of settings that keep every VM running, the fewest first."""
    changes = _changes(plan, now)
    for count in range(1, len(changes) + 1):
        for some in itertools.combinations(changes, count):
            changed = _changed(plan, now, some)
            words = joined([change.words for change in some])
            if changed.works_within(FEW_LOOKS):
                yield some[0].path, words
            elif changed.by_hand:
                yield some[0].path, said("check.by hand", ways=words)


def _changes(plan: Plan, now: Rehearsed) -> list[Change]:
    """Settings of vSphere that may help; the design took what does, unless it is sized for orders of power-on."""
    platform = plan.set_up.platform
    spare = min(now.pool.hosts_for_failures, spare_hosts(plan.scenario))
    changes = []
    if platform.gpu_policy == "spread" and platform.vgpu_sizes != "mixed":
        changes.append(Change(said("check.group VMs"), "platform.gpu_policy", "group"))
    if not platform.drs_consolidation and not lacks(platform.vsphere, plan.catalog, "host-consolidate"):
        changes.append(Change(said("check.let DRS"), "platform.drs_consolidation", True))
    if now.reserved < spare:
        words = said("check.keep empty", hosts=spare)
        changes.append(Change(words, "availability.reserved_hosts", spare))
    decided = plan.scenario.availability.sized_for == "best"
    return [change for change in changes if not (decided and is_open(plan.set_up, change.path))]


def _changed(plan: Plan, now: Rehearsed, changes: Sequence[Change]) -> Rehearsed:
    scenario = plan.set_up
    for change in changes:
        scenario = scenario.with_value(change.path, change.value)
    reserved = scenario.availability.reserved_hosts
    return replace(now, rules=readings(scenario, plan.catalog, now.pool), reserved=reserved)


def _by_change(plan: Plan, now: Rehearsed, down: set[str]) -> list[tuple[str, str]]:
    """(path, words) of the first other shape of VMs, and of the fewest hosts, that keep every VM running."""
    shapes, hosts = _by_shapes(plan, now, down), _by_hosts(plan, now)
    return [*itertools.islice(shapes, 1), *itertools.islice(hosts, 1)]


def _by_shapes(plan: Plan, now: Rehearsed, down: set[str]) -> Iterator[tuple[str, str]]:
    """(path, words) of groups whose VMs, at half the size and twice the number, keep every VM running."""
    names = {group.id: group.name for group in plan.groups}
    for at, request in enumerate(now.asked):
        if request.group not in down & names.keys() or request.gpus < 2 or request.gpus % 2:
            continue
        half = request._replace(
            vms=2 * request.vms,
            gpus=request.gpus // 2,
            vcpus=-(-request.vcpus // 2),
            memory_gib=-(-request.memory_gib // 2),
        )
        if replace(now, asked=(*now.asked[:at], half, *now.asked[at + 1 :])).works_within(FEW_LOOKS):
            words = {"group": names[request.group], "half": half.gpus, "gpus": request.gpus}
            yield f"groups.{request.group}.gpus_each", said("check.half the size", **words)


def _by_hosts(plan: Plan, now: Rehearsed) -> Iterator[tuple[str, str]]:
    """(path, words) of the fewest additional hosts that keep every VM running, by themselves or with a setting."""
    for more in range(1, MOST_MORE + 1):
        larger = replace(now, rooms=(*now.rooms, *[now.pool.new_room] * more))
        for some in ((), *((change,) for change in _changes(plan, now))):
            if _changed(plan, larger, some).works_within(FEW_LOOKS):
                words = [said("check.add hosts", hosts=more), *(change.words for change in some)]
                yield "availability.host_failures", joined(words)


def orders(plan: Plan) -> Iterator[Message]:
    """Report orders of power-on in which not every VM starts, with the settings that change this."""
    for start in distinct(plan.power_on):
        if not start.now.all_start:
            setting = start.setting(start.best.key)
            path, ways = setting.path if setting else "availability.sized_for", _ways(start)
            words = {"pool": start.pool.name, "ways": ways} | start.words
            yield message(plan, "power-on-orders", path=path, **words)


def _ways(made: PowerOn) -> str:
    """Name the tried settings that start every VM, or the most VMs."""
    ways = []
    if made.best is not made.now:
        way, share = steps_words(made.best.key), made.best.share_words
        ways.append(way if made.best.all_start else said("check.all start in", ways=way, share=share))
    if made.now.chance[0] >= LIKELY and made.tried("host").all_start:
        ways.append(STEPS["host"])
    if not made.best.all_start or made.hosts_by_size <= made.pool.hosts_for_demand:
        ways.append(told(STEPS["sizes"], {"hosts": amount(made.hosts_by_size, "host")}))
    return capital(either(ways))


def sized_for_orders(plan: Plan) -> Iterator[Message]:
    """Report the extra cost of sizing for orders of power-on, not the best; clusters where orders still fail."""
    availability = plan.scenario.availability
    if availability.sized_for == "best" or plan.costs is None:
        return
    best = plan.with_scenario(plan.scenario.with_value("availability.sized_for", "best"))
    more = plan.totals.hosts - best.totals.hosts
    share = stated_percent(availability.orders_share)
    if more and best.costs:
        paid = priced(short_number(plan.costs.net_present - best.costs.net_present), plan.costs.currency)
        yield message(plan, "sized-for-orders", share=share, more=more, paid=paid)
    clusters = [pair for kind, division in plan.divisions.items() for pair in division.named(kind)]
    for cluster, laid in clusters:
        if laid.reached:
            continue
        if sizing_orders(laid.asked, laid.fewest, availability.orders_share):
            yield message(plan, "orders-not-reached", pool=cluster.name, share=share, hosts=laid.used)
        else:
            yield message(plan, "orders-not-tried", pool=cluster.name)
