"""Tables for the delivery team: software, VM classes, names, networks, racks, settings, acceptance tests, actions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from gpuplan.facts import own_rows
from gpuplan.models.access import holds
from gpuplan.models.availability.survey import Loss
from gpuplan.plan import Plan, worst_failures
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import sources_of
from gpuplan.plan.over_time.power_on import PowerOn, as_set_up
from gpuplan.plan.sharing import most_on_gpu, profiles_of
from gpuplan.plan.weighing import listed as listed_words
from gpuplan.plan.weighing import stun_limit_s
from gpuplan.report.bitfusion import all_servers, clients, server_memory_gib
from gpuplan.report.physical import (
    Rack,
    alike,
    host_name,
    names,
    networks,
    on_kubernetes,
    racks,
)
from gpuplan.report.table import Cell, Table, Worded, columns, tabulate
from gpuplan.report.tables.over_time import rehearsals, upgrade_sentence
from gpuplan.wording import NAMES, amount, capital, number, said, some_of, told

TO_FILL = "fill"
"""Tone of a cell that the delivery team fills in."""
LICENCE_PARTS = ("Platform licences", "GPU software")
"""Parts of the cost that are licences."""
MOST_SENTENCES = 2
"""Sentences about upgrades that a test repeats; of more clusters it names the chapter that has them."""
MOST_BUILT = 32
"""Most hosts of the record as built."""
OWNERS, PARTS, POLICIES = NAMES["owner"], NAMES["software"], NAMES["platform.gpu_policy in the document"]


def to_fill(what: str = "") -> Cell:
    """Return a placeholder that is filled in while the cluster is built."""
    return Cell("", words=f"\u2039{what or said('build.fill')}\u203a", tone=TO_FILL)


# Software


def software(plan: Plan) -> Table:
    """Tabulate versions, drivers and settings for the vSphere version; values without a source are to fill in."""
    version = plan.scenario.platform.vsphere
    rows = {
        str(row["part"]): row
        for row in plan.catalog.rows("software")
        if row["vsphere"] in (None, "", version)
    }

    def value(part: str) -> Cell:
        return Cell(rows[part]["value"]) if part in rows else to_fill(said("build.by matrix"))

    return tabulate(
        "software",
        list(PARTS),
        part=Worded(PARTS.get, lambda part: part),
        value=value,
        basis=lambda part: rows[part].basis if part in rows else None,
        sources=lambda part: rows[part].sources if part in rows else (),
        notes=(said("table.software.note"),),
        title=said("table.software", version=plan.catalog.vsphere[version].name),
    )


def storage(plan: Plan) -> Table:
    """Tabulate the shared storage of the workload domain: known values, and those that its owner fills in."""
    bought = plan.scenario.cost.storage_tb
    kind = NAMES["storage in the document"][plan.scenario.hardware.storage or "external"]
    rows = (
        (said("storage.kind"), kind),
        (said("storage.capacity"), Cell(f"{number(bought)} TB") if bought else to_fill()),
        (said("storage.policy"), to_fill()),
        (said("storage.datastore"), to_fill()),
    )
    return Table("storage", columns("storage"), rows, title=said("storage.title"))


def order_lines(plan: Plan) -> Table:
    """Tabulate a GPU host as ordered, line by line, with the entries that the reseller fills in."""
    line = plan.host_line
    return tabulate(
        "order_lines",
        line.parts if line else (),
        number=lambda _: to_fill(),
        lead=lambda _: to_fill(),
        notes=(said("order.note", hosts=line.hosts),) if line else (),
        title=said("order.title"),
    )


# VM classes


def class_name(group: GroupPlan) -> str:
    """Return the name of a group's VM class in Kubernetes."""
    return f"gpu-{group.id}"[:63].rstrip("-")


class VmClass(NamedTuple):
    """Resources of one VM of a kind, and the number of such VMs."""

    name: str
    group: str
    vcpus: str | int | None
    """None is filled in, a text is a least."""
    memory: str | int | None
    gpus: str
    vms: int


def vm_classes(plan: Plan) -> Table:
    """Tabulate processors, memory and GPUs of one VM of each workload and of each service."""
    return tabulate(
        "vm_classes",
        list(_vm_classes(plan)),
        vcpus=lambda each: each.vcpus or to_fill(),
        memory=lambda each: each.memory or to_fill(),
    )


def _vm_classes(plan: Plan) -> Iterator[VmClass]:
    sized = {group.id: group for group in plan.sized.groups}
    for group in plan.groups:
        if group.vms:
            spec = sized[group.id]
            yield VmClass(
                class_name(group),
                group.name,
                spec.vcpus_each,
                spec.memory_gib_each,
                devices(group),
                group.vms,
            )
    for servers in all_servers(plan):
        counts = Counter(len(vm.gpus) for vm in servers.vms)
        for gpus, vms in counts.most_common():
            yield VmClass(
                said("build.server class", gpus=gpus),
                said("build.servers"),
                said("build.least", value=servers.least_vcpus),
                said("build.least", value=server_memory_gib(plan, gpus)),
                said("build.profile", count=gpus, profile=servers.profile)
                if servers.profile
                else said("build.passthrough", gpus=amount(gpus, "GPU")),
                vms,
            )
    for group_id, retrieval in plan.llm.retrieval.items():
        if retrieval.database_vms:
            name = next(group.name for group in plan.groups if group.id == group_id)
            yield VmClass(
                said("build.database class", id=group_id)[:63].rstrip("-"),
                said("build.database", name=name),
                retrieval.database_vcpus,
                retrieval.database_gib,
                said("build.no gpu"),
                retrieval.database_vms,
            )


def devices(group: GroupPlan) -> str:
    """Describe the GPUs of one VM: profiles, whole devices or GPUs over the network."""
    if group.profile:
        return f"{number(group.vgpus)} x {group.profile}"
    key = "build.passthrough" if group.mode == "passthrough" else "build.remote"
    return said(key, gpus=amount(group.gpus_each, "GPU"))


def licences(plan: Plan) -> Table:
    """Tabulate the licences of the bill of materials: number, product, and how they are counted."""
    rows = [row for row in plan.costs.materials if row.part in LICENCE_PARTS] if plan.costs else []
    return tabulate("licences", rows, unit=Worded(lambda unit: "" if unit == "1" else unit))


# Names, networks, racks


def naming(plan: Plan) -> Table:
    """Tabulate the names of all parts of the design."""
    return tabulate(
        "naming",
        list(names(plan)),
        names=lambda each: each.first if each.first == each.last else f"{each.first} \u2013 {each.last}",
        standard=lambda _: to_fill(),
        notes=(said("table.naming.note"),),
    )


def network_plan(plan: Plan) -> Table:
    """Tabulate the networks of the GPU hosts, with the values that the customer's network team fills in."""
    return tabulate(
        "network_plan",
        networks(plan),
        vlan=lambda _: to_fill("VLAN"),
        subnet=lambda each: to_fill(f"{said('build.network')}/{each.prefix}"),
        gateway=lambda _: to_fill("IP"),
        notes=(said("table.network_plan.note"),),
    )


def rack_plan(plan: Plan) -> Table:
    """Tabulate the hosts and switches of each rack; identical racks share a row."""
    each_w = plan.power.host_peak_w if plan.power else 0.0

    def kw(these: Sequence[Rack]) -> float:
        return round(len(these[0].hosts) * each_w / 1000, 1)

    return tabulate(
        "racks",
        alike(racks(plan)),
        rack=lambda these: _run(these[0].number, these[-1].number),
        site=lambda these: these[0].site,
        leaves=lambda these: ", ".join(these[0].leaves) if len(these) == 1 else "",
        hosts=_hosts,
        kw=kw,
        feeds=lambda _: to_fill(said("build.feeds")),
    )


def _run(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}\u2013{last}"


def _hosts(these: Sequence[Rack]) -> str:
    first, last = these[0].hosts[0].name, these[-1].hosts[-1].name
    named = first if first == last else f"{first} \u2013 {last}"
    return named if len(these) == 1 else said("build.hosts each", names=named, hosts=len(these[0].hosts))


def as_built(plan: Plan, most: int = MOST_BUILT) -> Table:
    """Tabulate address and serial number of each host, to fill in during the build; of many hosts only the first."""
    hosts = [host_name(pool, number) for pool in plan.pools for number in range(1, pool.hosts + 1)]
    notes = (said("table.as_built.more", hosts=len(hosts) - most),) if len(hosts) > most else ()
    empty: dict[str, Any] = dict.fromkeys(("name", "management", "bmc", "serial"), lambda _: to_fill())
    return tabulate("as_built", hosts[:most], host=str, **empty, notes=notes)


# Cluster settings


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
        if holds(listed_words(row["when"]), facts=facts.flags):
            what, value, why = (told(row.get(name, ""), facts.words) for name in columns)
            yield Ruled(row["area"], what, value, why, tuple(sources_of(plan.catalog, row["sources"])))


def cluster_settings(plan: Plan) -> Table:
    """Tabulate the settings of clusters, hosts and VMs, with the reason for each."""
    return tabulate(
        "cluster_settings",
        list(_holding(plan, "cluster_settings", ("setting", "value", "why"), _facts(plan))),
    )


def upgrade_order(plan: Plan) -> Table:
    """Tabulate the upgrade order of the platform's parts."""
    flags = set(_facts(plan).flags) & {"always", "vgpu", "kubernetes"}
    flags |= {"vcf"} if plan.scenario.cost.platform_licence == "vcf" else set()
    flags |= {"vsan"} if plan.scenario.hardware.storage == "vsan" else set()
    flags |= set() if "vgpu" in flags else {"no-vgpu"}
    rows = [
        row
        for row in own_rows("words/upgrade_order")
        if holds(listed_words(row["when"]), facts=frozenset(flags))
    ]
    numbered = ({**row, "number": str(at)} for at, row in enumerate(rows, 1))
    return tabulate(
        "upgrade_order", numbered, sources=lambda row: tuple(sources_of(plan.catalog, row["sources"]))
    )


# Acceptance


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
    inputs, network = plan.scenario.availability, plan.scenario.network
    lost = min(inputs.host_failures, max(1, min((pool.hosts for pool in plan.pools), default=2) - 1))
    least = min((pool.hosts for pool in plan.pools), default=1)
    job = plan.network.asked[0] if plan.network.asked else None
    words: dict[str, object] = {
        "tolerated": lost,
        "reserve": reserved_share(lost, least),
        "reserved": inputs.reserved_hosts,
        "hosts": plan.totals.hosts,
        "gpus_each": plan.scenario.hardware.gpus_per_host,
        "board": plan.catalog.gpus[plan.scenario.hardware.gpu].name,
        "host_w": round(plan.power.host_peak_w) if plan.power else 0,
        "link": network.link_gbit_s,
        "mtu": network.mtu_bytes,
        "job": job.name if job else "",
        "job_hosts": amount(job.hosts, "host") if job else "",
        "efficiency": job.efficiency_low if job else 0,
    }
    so = {
        "reserved": inputs.reserved_hosts > 0,
        "link": plan.cabling is not None,
        "rdma": network.transport in ("roce", "roce-v1", "pvrdma"),
        "pvrdma": network.transport == "pvrdma",
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
        "policy": POLICIES.get(platform.gpu_policy, platform.gpu_policy),
        "mig_gpus": sum(mig),
        "fixed": some_of(fixed),
        "profiles": "; ".join(profiles),
        "licences": said("build.licences", gpus=licensed),
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
        said(
            "build.priority",
            rank=capital(name),
            names=some_of([g.name for g in plan.scenario.groups if g.priority == rank]),
        )
        for rank, name in ranks.items()
    ]
    trials = [trial for trial in plan.power_on.values() if trial.known]
    vms, missing = sum(group.vms_placed for group in plan.groups), plan.totals.unplaced_vms
    late = sum(trial.with_largest_first.most_missing for trial in trials)
    words: dict[str, object] = {
        "priorities": "; ".join(ranked),
        "start": _start(vms, missing, late),
        "orders": _orders(trials),
        "replicas": some_of([serving.name for serving in plan.llm.serving.values() if serving.replicas > 1]),
    }
    so = {
        "priorities": len(ranks) > 1,
        "vms": vms > 0,
        "power-on": bool(trials),
        "replicas": any(serving.replicas > 1 for serving in plan.llm.serving.values()),
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
    words: dict[str, object] = {
        "vmotion_group": longest.name if longest else "",
        "stun": round(longest.stun_s or 0) if longest else 0,
        "stun_limit": limit,
        "static_groups": some_of(static),
    }
    return words, {"vmotion": longest is not None, "static": bool(static)}


def _work(plan: Plan) -> Facts:
    serving = max(plan.llm.serving.values(), key=lambda each: each.replicas * each.gpus, default=None)
    words: dict[str, object] = {
        "model": f"{serving.name} ({serving.model})" if serving else "",
        "requests": round(serving.requests) if serving else 0,
        "first_token": float(serving.asks["first_token_s"]) if serving else 0,
        "on_time": _on_time(plan, serving.id) if serving else 0,
        "speed": float(serving.asks["tokens_per_s"]) if serving else 0,
    }
    return words, {"serving": serving is not None, "kubernetes": bool(on_kubernetes(plan))}


def _on_time(plan: Plan, group: str) -> float:
    """Return the required share of a group's requests whose first token is on time."""
    stated = plan.scenario.get(f"groups.{group}.kept_share")
    return float(stated or plan.catalog.assumptions["llm-use"].fact("kept_share").value)
