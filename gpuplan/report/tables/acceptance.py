"""Tables of the hand-over: settings of the clusters, the upgrade order, and the acceptance tests with their results."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any, NamedTuple

from gpuplan.facts import own_rows
from gpuplan.models.access import holds
from gpuplan.models.availability.survey import Loss
from gpuplan.plan import Plan, worst_failures
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import sources_of
from gpuplan.plan.over_time.power_on import PowerOn
from gpuplan.plan.racks import host_name
from gpuplan.plan.sharing import all_profiles_of, most_on_gpu
from gpuplan.plan.verdict import WAYS
from gpuplan.plan.weighing import listed, stun_limit_s
from gpuplan.report.physical import clients, on_kubernetes
from gpuplan.report.table import Table, tabulate
from gpuplan.report.tables.over_time import rehearsals, upgrade_sentence
from gpuplan.wording import said, told

MOST_SENTENCES = 2
"""Sentences about upgrades that a test repeats; of more clusters it names the chapter that has them."""
Facts = Mapping[str, Any]
"""Name of a fact of a design -> its value for texts; a row of words holds where the facts that it names are not empty."""
RESTARTS = ("highest", "high", "medium", "low", "lowest")
"""Restart priorities of vSphere HA, from what restarts first."""


class Ruled(NamedTuple):
    """A row of words that holds for the design, filled in."""

    area: str
    what: str
    value: str
    why: str
    sources: tuple[str, ...]


def _holding(plan: Plan, table: str, columns: tuple[str, str, str], facts: Facts) -> Iterator[Ruled]:
    for row in own_rows(f"words/{table}"):
        if holds(listed(row["when"]), facts=_flags(facts)):
            what, value, why = (told(row.get(name, ""), facts) for name in columns)
            yield Ruled(row["area"], what, value, why, tuple(sources_of(plan.catalog, row["sources"])))


def _flags(facts: Facts) -> frozenset[str]:
    return frozenset(name for name, value in facts.items() if value)


def cluster_settings(plan: Plan) -> Table:
    """Tabulate the settings of clusters, hosts and VMs, with the reason for each."""
    settings = _holding(plan, "cluster_settings", ("setting", "value", "why"), _facts(plan))
    return tabulate("cluster_settings", settings)


def upgrade_order(plan: Plan) -> Table:
    """Tabulate the upgrade order of the platform's parts."""
    facts = {name: value for name, value in _facts(plan).items() if name in ("always", "vgpu", "kubernetes")}
    facts |= {"vcf": plan.scenario.cost.platform_licence == "vcf", "no-vgpu": not facts["vgpu"]}
    flags = _flags(facts | {"vsan": plan.vsan})
    rows = [row for row in own_rows("words/upgrade_order") if holds(listed(row["when"]), facts=flags)]
    numbered = ({**row, "number": str(at)} for at, row in enumerate(rows, 1))
    cited = partial(sources_of, plan.catalog)
    return tabulate("upgrade_order", numbered, sources=lambda row: tuple(cited(row["sources"])))


def acceptance(plan: Plan) -> Table:
    """Tabulate the acceptance tests before hand-over, each with the result that the plan expects."""
    tests = _holding(plan, "acceptance", ("test", "expected", "key"), _facts(plan))
    numbered = ({**each._asdict(), "number": f"T{at}"} for at, each in enumerate(tests, 1))
    return tabulate("acceptance", numbered, result=lambda _: "")


def _facts(plan: Plan) -> Facts:
    parts = (_hardware, _gpus, _placement, _failures, _moves, _work)
    found = {name: fact for part in parts for name, fact in part(plan).items()}
    return {"plan": plan, "always": bool(plan.pools)} | found


def _hardware(plan: Plan) -> Facts:
    transport, hosts = plan.scenario.network.transport, [pool.hosts for pool in plan.pools]
    lost = min(plan.scenario.availability.host_failures, max(1, min(hosts, default=2) - 1))
    return {
        "tolerated": lost,
        "reserve": reserved_share(lost, min(hosts, default=1)),
        "reserved": plan.scenario.availability.reserved_hosts,
        "ordered": "; ".join(
            said("build.hosts of kind", part=part, board=plan.catalog.gpus[part.scenario.hardware.gpu])
            for part in plan.parts
            if part.pools
        ),
        "peaks": "; ".join(
            said("build.peak of kind" if name else "build.peak", watts=host.peak_w, hosts=name)
            for name, host in (plan.power.kinds.items() if plan.power else ())
        ),
        "link": plan.cabling,
        "rdma": transport in ("roce", "roce-v1", "pvrdma"),
        "pvrdma": transport == "pvrdma",
        "training": next(iter(plan.network.asked), None),
    }


def reserved_share(lost: int, hosts: int) -> float:
    """Return the share that admission control reserves for host failures: whole per cent, at least the hosts' share."""
    return math.ceil(100 * lost / hosts) / 100 if hosts else 0.0


def _gpus(plan: Plan) -> Facts:
    platform = plan.set_up.platform
    modes = {pool.gpu_mode for pool in plan.pools}
    sliced = {group.id for group in plan.groups if group.backing == "mig"}
    loads = (load for pool in plan.pools for host in pool.placement for load in host if load.slots)
    return {
        "vgpu": "vgpu" in modes,
        "passthrough": "passthrough" in modes,
        "platform": platform,
        "mixed": platform.vgpu_sizes == "mixed",
        "consolidation": platform.drs_consolidation,
        "mig": sum(load.gpus for load in loads if load.slots[0].group in sliced),
        "fixed": [group.name for group in plan.groups if group.scheduler],
        "profiles": _profiles(plan),
        "licences": sum(pool.gpus for pool in plan.pools if pool.gpu_mode == "vgpu"),
    }


def _profiles(plan: Plan) -> str:
    """Say how many VMs of each profile in use start on an empty GPU."""
    version, kinds = plan.scenario.platform.vsphere, product(plan.new_boards, ("timesliced", "mig"))
    profiles = [each for of in kinds for each in all_profiles_of(plan.catalog, *of, version)]
    counts = {profile.name: most_on_gpu(plan.scenario, profile) for profile in profiles}
    used = dict.fromkeys(group.profile for group in plan.groups if group.profile and group.vms_placed)
    there = (name for name in used if name in counts)
    return "; ".join(said("build.profile", profile=name, count=counts[name]) for name in there)


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
    trials = [trial for trial in plan.power_on.values() if trial.known]
    vms, missing = sum(group.vms_placed for group in plan.groups), plan.totals.unplaced_vms
    late = sum(trial.with_largest_first.most_missing for trial in trials)
    return {
        "priorities": "; ".join(ranked) if len(ranks) > 1 else "",
        "vms": vms,
        "start": _start(vms, missing, late),
        "power-on": trials,
        "orders": _orders(trials),
        "replicas": [serving.name for serving in plan.llm.serving.values() if serving.replicas > 1],
    }


def _start(vms: int, missing: int, late: int) -> str:
    """Say how many of ``vms`` with a place start if ``late`` of them find it taken; ``missing`` have none by design."""
    if late:
        return said("build.start late", vms=vms - late)
    return said("build.start but", vms=vms, missing=missing) if missing else said("build.start", vms=vms)


def _orders(tried: Sequence[PowerOn]) -> str:
    results = [trial.now for trial in tried]
    if all(result.all_start for result in results):
        return said("build.orders")
    return said("build.orders but", vms=sum(result.most_missing for result in results))


def _failures(plan: Plan) -> Facts:
    losses = ((loss, pool) for pool in plan.pools for loss in pool.failures)
    worst = max(losses, key=lambda found: (found[0].unplaced, found[0].restarted), default=None)
    loss, pool = worst or (None, None)
    rehearsed = rehearsals(plan)
    upgrades = dict.fromkeys(upgrade_sentence(rehearsal) for rehearsal in rehearsed)
    return {
        "worst_host": host_name(pool, loss.hosts[0]) if loss and pool else "",
        "failure": _failure(plan, pool, loss) if loss and pool else "",
        "pair": said("build.pair")
        if min((pool.survived for pool in plan.pools), default=0) >= 2
        else _pair(plan),
        "maintenance": rehearsed,
        "upgrade": " ".join(upgrades)
        if len(upgrades) <= MOST_SENTENCES
        else said("build.upgrades", chapter=said("operations.hosts")),
    }


def _failure(plan: Plan, pool: Pool, loss: Loss) -> str:
    """Say what powering off a host shows: its own VMs restart, clients of its Bitfusion server get other GPUs."""
    if loss.unplaced:
        return said("build.failure but", missing=loss.unplaced)
    restart = plan.restart(pool)
    if restart.unsure:
        return said("build.failure unsure", vms=loss.restarted, way=WAYS[restart.way])
    if restart.state in ("static", "untried"):
        return restart.sentence
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
    moved = [g for g in plan.groups if g.vms_placed and g.stun_s is not None and g.stun_s <= limit]
    static = [group.name for group in plan.groups if group.mode == "passthrough" and group.vms_placed]
    longest = max(moved, key=lambda group: group.stun_s or 0, default=None)
    return {"vmotion": longest, "stun_limit": limit, "static": static}


def _work(plan: Plan) -> Facts:
    serving = max(plan.llm.serving.values(), key=lambda each: each.replicas * each.gpus, default=None)
    stated = plan.scenario.get(f"groups.{serving.id}.kept_share") if serving else 0
    usual = plan.catalog.assumptions["llm-use"].fact("kept_share").value
    on_time = float(stated or usual) if serving else 0
    return {"serving": serving, "on_time": on_time, "kubernetes": on_kubernetes(plan)}
