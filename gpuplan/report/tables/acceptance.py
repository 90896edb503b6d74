"""Tables of the hand-over: settings of the clusters, the upgrade order, and the acceptance tests with their results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from gpuplan.facts import own_rows
from gpuplan.models.access import holds
from gpuplan.models.availability.survey import Loss
from gpuplan.plan import Plan, worst_failures
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import sources_of
from gpuplan.plan.over_time.power_on import PowerOn, as_set_up
from gpuplan.plan.sharing import most_on_gpu, profiles_of
from gpuplan.plan.weighing import listed, stun_limit_s
from gpuplan.report.bitfusion import clients
from gpuplan.report.physical import host_name, on_kubernetes
from gpuplan.report.table import Table, tabulate
from gpuplan.report.tables.build import to_fill
from gpuplan.report.tables.over_time import rehearsals, upgrade_sentence
from gpuplan.wording import said, told

MOST_SENTENCES = 2
"""Sentences about upgrades that a test repeats; of more clusters it names the chapter that has them."""


class Ruled(NamedTuple):
    """A row of words that holds for the design, filled in."""

    area: str
    what: str
    value: str
    why: str
    sources: tuple[str, ...]


def _holding(plan: Plan, table: str, columns: tuple[str, str, str], facts: _Facts) -> Iterator[Ruled]:
    """The rows of a table of words that hold for a design."""
    for row in own_rows(f"words/{table}"):
        if holds(listed(row["when"]), facts=facts.flags):
            what, value, why = (told(row.get(name, ""), facts.words) for name in columns)
            yield Ruled(row["area"], what, value, why, tuple(sources_of(plan.catalog, row["sources"])))


def cluster_settings(plan: Plan) -> Table:
    """Tabulate the settings of clusters, hosts and VMs, with the reason for each."""
    settings = _holding(plan, "cluster_settings", ("setting", "value", "why"), _facts(plan))
    return tabulate("cluster_settings", settings)


def upgrade_order(plan: Plan) -> Table:
    """Tabulate the upgrade order of the platform's parts."""
    flags = set(_facts(plan).flags) & {"always", "vgpu", "kubernetes"}
    flags |= {"vcf"} if plan.scenario.cost.platform_licence == "vcf" else set()
    flags |= {"vsan"} if plan.scenario.hardware.storage == "vsan" else set()
    flags |= set() if "vgpu" in flags else {"no-vgpu"}
    rows = [
        row for row in own_rows("words/upgrade_order") if holds(listed(row["when"]), facts=frozenset(flags))
    ]
    numbered = ({**row, "number": str(at)} for at, row in enumerate(rows, 1))
    cited = partial(sources_of, plan.catalog)
    return tabulate("upgrade_order", numbered, sources=lambda row: tuple(cited(row["sources"])))


def acceptance(plan: Plan) -> Table:
    """Tabulate the acceptance tests before hand-over, each with the result that the plan expects."""
    tests = _holding(plan, "acceptance", ("test", "expected", "key"), _facts(plan))
    numbered = ({**each._asdict(), "number": f"T{at}"} for at, each in enumerate(tests, 1))
    return tabulate("acceptance", numbered, result=lambda _: to_fill(said("build.result")))


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts of a design, and the values that fill in the texts about it."""

    flags: frozenset[str]
    words: Mapping[str, object]


def _facts(plan: Plan) -> _Facts:
    words: dict[str, object] = {}
    flags = {"always"} if plan.pools else set()
    for part in (_hardware, _gpus, _placement, _failures, _moves, _work):
        more, so = part(plan)
        words |= more
        flags |= {name for name, holding in so.items() if holding}
    return _Facts(frozenset(flags), words)


Facts = tuple[dict[str, object], dict[str, bool]]


def _hardware(plan: Plan) -> Facts:
    transport, hosts = plan.scenario.network.transport, [pool.hosts for pool in plan.pools]
    lost = min(plan.scenario.availability.host_failures, max(1, min(hosts, default=2) - 1))
    job = next(iter(plan.network.asked), None)
    words: dict[str, object] = {
        "plan": plan,
        "tolerated": lost,
        "reserve": reserved_share(lost, min(hosts, default=1)),
        "board": plan.catalog.gpus[plan.scenario.hardware.gpu].name,
        "job": job,
    }
    so = {
        "reserved": plan.scenario.availability.reserved_hosts > 0,
        "link": plan.cabling is not None,
        "rdma": transport in ("roce", "roce-v1", "pvrdma"),
        "pvrdma": transport == "pvrdma",
        "training": job is not None,
    }
    return words, so


def reserved_share(lost: int, hosts: int) -> float:
    """Return the share that admission control reserves for host failures: whole per cent, at least the hosts' share."""
    return math.ceil(100 * lost / hosts) / 100 if hosts else 0.0


def _gpus(plan: Plan) -> Facts:
    set_up = as_set_up(plan.scenario, plan.power_on)
    platform, version = set_up.platform, plan.catalog.vsphere[set_up.platform.vsphere]
    gpu = plan.scenario.hardware.gpu
    modes = {pool.gpu_mode for pool in plan.pools}
    mig = [
        load.gpus for pool in plan.pools for host in pool.placement for load in host if _is_mig(plan, load)
    ]
    fixed = [group.name for group in plan.groups if group.scheduler]
    counts = {
        profile.name: most_on_gpu(set_up, profile)
        for backing in ("timesliced", "mig")
        for profile in profiles_of(plan.catalog, gpu, backing, version)
    }
    used = dict.fromkeys(group.profile for group in plan.groups if group.profile and group.vms_placed)
    profiles = [said("build.profile", profile=name, count=counts[name]) for name in used if name in counts]
    licensed = sum(pool.gpus for pool in plan.pools if pool.gpu_mode == "vgpu")
    words: dict[str, object] = {
        "platform": platform,
        "mig_gpus": sum(mig),
        "fixed": fixed,
        "profiles": "; ".join(profiles),
        "licensed": licensed,
    }
    so = {
        "vgpu": "vgpu" in modes,
        "passthrough": "passthrough" in modes,
        "mixed": platform.vgpu_sizes == "mixed",
        "mig": bool(mig),
        "fixed": bool(fixed),
        "consolidation": platform.drs_consolidation,
        "profiles": bool(profiles),
        "licences": licensed > 0,
    }
    return words, so


def _is_mig(plan: Plan, load: Any) -> bool:
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    return bool(load.slots) and load.slots[0].group in sliced


RESTARTS = ("highest", "high", "medium", "low", "lowest")
"""Restart priorities of vSphere HA, from what restarts first."""


def restart_ranks(plan: Plan) -> dict[int, str]:
    """Map the priority of each group to its restart priority in vSphere HA."""
    ranks = sorted({group.priority for group in plan.scenario.groups})
    return {rank: RESTARTS[min(at, len(RESTARTS) - 1)] for at, rank in enumerate(ranks)}


def _placement(plan: Plan) -> Facts:
    ranks = restart_ranks(plan)
    ranked = [
        said("build.priority", rank=name, names=[g.name for g in plan.scenario.groups if g.priority == rank])
        for rank, name in ranks.items()
    ]
    replicas = [serving.name for serving in plan.llm.serving.values() if serving.replicas > 1]
    trials = [trial for trial in plan.power_on.values() if trial.known]
    vms, missing = sum(group.vms_placed for group in plan.groups), plan.totals.unplaced_vms
    late = sum(trial.with_largest_first.most_missing for trial in trials)
    words: dict[str, object] = {
        "priorities": "; ".join(ranked),
        "start": _start(vms, missing, late),
        "orders": _orders(trials),
        "replicas": replicas,
    }
    so = {
        "priorities": len(ranks) > 1,
        "vms": vms > 0,
        "power-on": bool(trials),
        "replicas": bool(replicas),
    }
    return words, so


def _start(vms: int, missing: int, late: int) -> str:
    """Say how many of ``vms`` with a place start if ``late`` of them find it taken; ``missing`` have none by design."""
    if late:
        return said("build.start late", vms=vms - late)
    return said("build.start but", vms=vms, missing=missing) if missing else said("build.start", vms=vms)


def _orders(tried: Sequence[PowerOn]) -> str:
    """Say what random orders of power-on have to reach."""
    results = [trial.as_decided for trial in tried]
    if all(result.all_start for result in results):
        return said("build.orders")
    return said("build.orders but", vms=sum(result.most_missing for result in results))


def _failures(plan: Plan) -> Facts:
    worst = max(
        ((loss, pool) for pool in plan.pools for loss in pool.failures),
        key=lambda found: (found[0].unplaced, found[0].restarted),
        default=None,
    )
    words: dict[str, object] = {"worst_host": "", "failure": "", "pair": ""}
    if worst is not None:
        loss, pool = worst
        words["worst_host"] = host_name(pool, loss.hosts[0])
        words["failure"] = _failure(plan, pool, loss)
    survived = plan.placed.survived
    words["pair"] = said("build.pair") if survived >= 2 else _pair(plan)
    rehearsed = rehearsals(plan)
    told_of = dict.fromkeys(upgrade_sentence(rehearsal) for rehearsal in rehearsed)
    few = len(told_of) <= MOST_SENTENCES
    words["upgrade"] = " ".join(told_of) if few else said("build.upgrades", chapter=said("operations.hosts"))
    return words, {"maintenance": bool(rehearsed)}


def _failure(plan: Plan, pool: Pool, loss: Loss) -> str:
    """Say what powering off a host shows: its own VMs restart, clients of its Bitfusion server get other GPUs."""
    if loss.unplaced:
        return said("build.failure but", missing=loss.unplaced)
    remote = clients(plan)
    slots = {(slot.group, slot.vm) for load in pool.placement[loss.hosts[0] - 1] for slot in load.slots}
    apart = sum(group in remote for group, _ in slots)
    local = loss.restarted - apart
    parts = [said("build.failure", vms=local)] * bool(local or not apart)
    return "; ".join([*parts, *[said("build.failure clients", clients=apart)] * bool(apart)])


def _pair(plan: Plan) -> str:
    """Say what shows when two hosts of a cluster are down and the design does not cover both."""
    if len(plan.pools) <= MOST_SENTENCES and all(pool.hosts > 2 for pool in plan.pools):
        losses = [loss for pool in plan.pools for loss in worst_failures(plan, pool.id, 2)[:1]]
        if losses and all(loss.proven for loss in losses):
            return said("build.pair not", missing=max(loss.unplaced for loss in losses))
    return said("build.pair not known")


def _moves(plan: Plan) -> Facts:
    limit = stun_limit_s(plan.scenario, plan.catalog)
    moved = [
        group
        for group in plan.groups
        if group.vms_placed and group.stun_s is not None and group.stun_s <= limit
    ]
    longest = max(moved, key=lambda group: group.stun_s or 0, default=None)
    static = [group.name for group in plan.groups if group.mode == "passthrough" and group.vms_placed]
    words: dict[str, object] = {"longest": longest, "stun_limit": limit, "static": static}
    return words, {"vmotion": longest is not None, "static": bool(static)}


def _work(plan: Plan) -> Facts:
    serving = max(plan.llm.serving.values(), key=lambda each: each.replicas * each.gpus, default=None)
    words: dict[str, object] = {"serving": serving, "on_time": _on_time(plan, serving.id) if serving else 0}
    return words, {"serving": serving is not None, "kubernetes": bool(on_kubernetes(plan))}


def _on_time(plan: Plan, group: str) -> float:
    """Return the required share of a group's requests whose first token is on time."""
    stated = plan.scenario.get(f"groups.{group}.kept_share")
    return float(stated or plan.catalog.assumptions["llm-use"].fact("kept_share").value)
