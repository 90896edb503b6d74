"""Tables of the hand-over: settings of the clusters, the upgrade order, and the acceptance tests with their results."""

import math
from collections import UserDict
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

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
from gpuplan.report.physical import clients, design_facts, first_and_last, on_kubernetes
from gpuplan.report.site import site_fields, site_value
from gpuplan.report.table import Cell, Table, tabulate
from gpuplan.report.tables.over_time import rehearsals, upgrade_sentence
from gpuplan.wording import NAMES, basis_word, said, told

MOST_SENTENCES = 2
"""Sentences about upgrades that a test repeats; of more clusters it names the chapter that has them."""
Facts = Mapping[str, Any]
"""Name of a fact of a design -> its value for texts; a row of words holds where the facts that it names are not empty."""
RESTARTS = tuple(NAMES["restart priority"].values())
"""Restart priorities of vSphere HA, from what restarts first."""


ROWS: dict[str, list[dict[str, str]]] = {}
"""Table of the low-level design -> its rows of texts, with what a design has where each holds."""
for _row in own_rows("words/design_rows"):
    ROWS.setdefault(_row["table"], []).append(_row)
CELLS = "abcdefg"
"""Columns of the texts; `columns.csv` names them."""


def design_rows(name: str, plan: Plan, **more: Any) -> Table:
    """Tabulate the rows of a table that hold for the design, numbered, with their sources."""
    facts = _facts(plan)
    flags = frozenset(key for key, value in facts.items() if value)
    holding = [row for row in ROWS[name] if facts and holds(listed(row["when"]), facts=flags)]
    rows = [
        row | {key: told(row[key], facts) for key in CELLS} | {"number": str(at)}
        for at, row in enumerate(holding, 1)
    ]
    return tabulate(name, rows, sources=partial(_evidence, plan), **more)


def _evidence(plan: Plan, row: Mapping[str, str]) -> Cell:
    """Return the sources of a row; without any, whether it is assumed or follows from the plan."""
    sources = tuple(sources_of(plan.catalog, row["sources"]))
    known = said("build.this plan") if row["basis"] == "derived" else basis_word(row["basis"])
    return Cell(sources, None if sources else known)


def acceptance(plan: Plan) -> Table:
    """Tabulate the acceptance tests before hand-over, each with the result that the plan expects."""
    return design_rows("acceptance", plan, number=lambda row: f"T{row['number']}", result=lambda _: "")


def _facts(plan: Plan) -> Facts:
    if not plan.pools:
        return {}
    parts = (_site, _hardware, _gpus, _placement, _failures, _moves, _work)
    found = {name: fact for part in parts for name, fact in part(plan).items()}
    return {"plan": plan, "always": True} | dict.fromkeys(design_facts(plan), True) | found


class _Site(UserDict[str, str]):
    """Names and addresses of a design by their keys, as typed, as proposed, or as the checklist marks them."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def __missing__(self, key: str) -> str:
        return site_value(self.plan, key)


def _site(plan: Plan) -> Facts:
    """Ports by their names in ESX, appliances with their sizes, and who has rights on what."""
    site, pods = _Site(plan), on_kubernetes(plan)
    shared, rdma = (plan.cabling.ports.shared, plan.cabling.ports.rdma) if plan.cabling else (0, 0)
    named: dict[str, dict[str, None]] = {}
    for each in site_fields(plan):
        kind, _, rest = each.key.partition(".")
        named.setdefault(f"{kind} {rest.rpartition('.')[2]}", {})[site[each.key]] = None
    sizes = {
        each.id: said("build.appliance", appliance=each)
        for each in (plan.management.appliances if plan.management else ())
    }
    return {
        "site": site,
        "own vms": "vms" in design_facts(plan),
        "external": not plan.vsan,
        "racks": plan.power and plan.power.racks,
        "bitfusion": clients(plan),
        "named": {of: list(values) for of, values in named.items()},
        "tenants": named.get("tenant group"),
        "tenants apart": named.get("tenant group") and plan.scenario.availability.tenants_apart != "none",
        "pods": [group.name for group in pods],
        "rdma ports": rdma,
        "vmnics": _numbered("vmnic{}", 0, shared),
        "rdma_vmnics": _numbered("vmnic{}", shared, rdma),
        "rdma_switches": _numbered("rdma-{}", 1, rdma),
        "rdma_groups": _numbered("rdma-{}-ports", 1, rdma),
        "sizes": sizes,
        "supervisor": pods or "supervisor-control-plane" in sizes,
        "supervisor size": "supervisor-control-plane" in sizes,
        "spare_gpus": plan.totals.gpus - plan.totals.gpus_after_failure,
    }


def _numbered(name: str, first: int, many: int) -> str:
    return first_and_last([name.format(first + at) for at in range(many)]) if many else ""


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
