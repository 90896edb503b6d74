"""Effects of a design's network: on GPUs reached over it, on training across hosts, and by the vendor's rules."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from gpuplan.catalog import Catalog
from gpuplan.facts import Brief, weakest
from gpuplan.locales import written
from gpuplan.plan.access import GroupPlan
from gpuplan.plan.hosts import Pool
from gpuplan.plan.inputs import derived
from gpuplan.plan.remote_gpus import (
    RemoteUse,
    RemoteWork,
    native_time_s,
    needs_gbit_s,
    remote_kept,
    remote_use,
)
from gpuplan.plan.trail import Trail
from gpuplan.plan.training.llm_job import llm_job_use
from gpuplan.plan.training.scaling import job_of, scenario_job
from gpuplan.plan.training.speed import usual_workload, verdict_of
from gpuplan.plan.training.use import JOB, TrainingUse, TrainingWork, training_use
from gpuplan.scenario import FIELD_BY_PATH, Group, Scenario
from gpuplan.wording import said


@dataclass(frozen=True, slots=True)
class Verdict:
    """A rule of the vendor, checked against the design."""

    code: str
    met: bool | None
    """None if it is not measured."""
    text: str
    path: str
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class NetworkUse(Brief):
    """Load on the network of a design."""

    remote: tuple[RemoteUse, ...] = ()
    training: tuple[TrainingUse, ...] = ()
    """The groups that train on several VMs, and at the end the training job of the scenario."""
    rules: tuple[Verdict, ...] = ()
    remote_gbit_s: float = 0.0
    """Mean traffic of the users of remote GPUs on the network of the busiest GPU host."""
    job_named: bool = False
    """True if the training job was entered; else it is an example to try out, which documents leave out."""

    @property
    def asked(self) -> tuple[TrainingUse, ...]:
        """Training that the scenario names."""
        return self.training if self.job_named else self.training[:-1]


def vendor_rules(scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan]) -> tuple[Verdict, ...]:
    """The vendor's rules for GPUs over the network, checked against a design that has any."""
    remote = [g for g in groups if g.mode == "bitfusion"]
    if not remote:
        return ()
    network = scenario.network
    limit = float(catalog.assumptions["network-planning"].fact("round_trip_us").value)
    latency, link = network.latency_us, network.link_gbit_s
    in_time = None if latency is None else latency <= limit
    key = "network.rule latency not measured" if latency is None else "network.rule latency"
    stated = "" if latency is None else written(latency, "g")
    timely = said(key, most=written(limit, "g"), stated=stated)
    several = [g.name for g in remote if g.gpus_each >= 2]
    key = "network.rule bandwidth" if several else "network.rule bandwidth of none"
    wide, fast = said(key, names=", ".join(several), speed=link), said("network.rule production", speed=link)
    path, rule = "network.link_gbit_s", catalog.row("rules", "bitfusion-bandwidth").sources
    of_time = catalog.row("rules", "bitfusion-latency").sources
    return (
        Verdict("bitfusion-latency", in_time, timely, "network.latency_us", of_time),
        Verdict("bitfusion-bandwidth", link >= 10 or not several, wide, path, rule),
        Verdict("bitfusion-production", link >= 40, fast, path, rule),
    )


def network_use(
    trail: Trail, scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], pools: Sequence[Pool]
) -> NetworkUse:
    """Return the effect of the network on every group that depends on it, and on the training job of the scenario."""
    by_id = {g.id: g for g in scenario.groups}
    remote = _remote(trail, scenario, catalog, groups, pools)
    training = []
    for plan in groups:
        group = by_id[plan.id]
        preset = catalog.row("network_workloads", usual_workload(catalog, group))
        if not plan.vms or preset["phase"] != "training" or not _trains_together(catalog, group):
            continue
        job = job_of(scenario, catalog, preset, max(1, math.ceil(plan.gpus_each)))
        speed = job.speed
        share = min(1.0, plan.gpus_each)
        if share < 1:
            speed = speed.but(said("advice.share of a GPU", share=share), speed.per_s.basis)
        over = next((r for r in remote if r.id == plan.id), None)
        if over is not None:
            basis = weakest((speed.per_s.basis, over.basis))
            speed = speed.but(said("advice.over the network", kept=over.kept), basis)
        native_s, kept = job.native_s / share, over.kept if over is not None else 1.0
        job = replace(job, speed=speed, native_s=native_s, compute_s=native_s / kept)
        hosts = scenario.fact(f"groups.{plan.id}.vms_each")
        training.append(TrainingWork(preset, job, plan.id, plan.name, hosts))
    together = [training_use(scenario, catalog, work, trail) for work in training]
    return NetworkUse(
        tuple(remote),
        (*together, _own_job(trail, scenario, catalog)),
        vendor_rules(scenario, catalog, groups),
        max((r.on_host_gbit_s for r in remote), default=0.0),
        _job_entered(scenario),
    )


def _job_entered(scenario: Scenario) -> bool:
    """True if any input of the training job is more than assumed, unlike in the examples."""
    paths = (path for path in FIELD_BY_PATH if path.startswith("training."))
    return any(scenario.get(path) is not None and scenario.origin(path).basis != "assumed" for path in paths)


def _own_job(trail: Trail, scenario: Scenario, catalog: Catalog) -> TrainingUse:
    """The training job of the scenario: a language model where it names one."""
    if scenario.training.model is not None:
        return llm_job_use(scenario, catalog, trail)
    preset = catalog.row("network_workloads", scenario.training.workload)
    name, hosts = FIELD_BY_PATH["training.workload"].label, scenario.fact("training.hosts")
    work = TrainingWork(preset, scenario_job(scenario, catalog, preset), JOB, name, hosts, own=True)
    return training_use(scenario, catalog, work, trail)


def _trains_together(catalog: Catalog, group: Group) -> bool:
    """True if the VMs that one user runs at once are workers of one training job: by workload kind, or as chosen."""
    if group.vms_each < 2:
        return False
    use_case = catalog.row("use_cases", group.use_case)
    return use_case["vms_each"] > 1 or group.workload is not None


def _remote(
    trail: Trail, scenario: Scenario, catalog: Catalog, groups: Sequence[GroupPlan], pools: Sequence[Pool]
) -> list[RemoteUse]:
    """Each group whose GPUs are reached over the network, with the other groups' traffic on its link."""
    by_id = {g.id: g for g in scenario.groups}
    plans = [p for p in groups if p.mode == "bitfusion" and p.vms]
    presets = {p.id: catalog.row("network_workloads", usual_workload(catalog, by_id[p.id])) for p in plans}
    needs = {
        p.id: needs_gbit_s(
            presets[p.id], native_time_s(catalog, presets[p.id], scenario.hardware.gpu, min(1.0, p.gpus_each))
        )
        for p in plans
    }
    works = []
    for plan in plans:
        here = _busiest_host(plan, pools, needs)
        on_host = sum(needs[p] * n for p, n in here.items())
        users = max(1, sum(here.values()))
        counts: dict[str, float] = dict(here)
        if stated := scenario.network.users_per_link:
            flows = {
                p.id: p.vms_placed * max(1, math.ceil(p.gpus_each)) for p in plans if p.pool == plan.pool
            }
            total = max(1, sum(flows.values()))
            users = min(stated, total)
            counts = {p: n * users / total for p, n in flows.items()}
        counts[plan.id] = max(0.0, counts.get(plan.id, 0.0) - 1)
        works.append(
            RemoteWork(
                presets[plan.id],
                key=plan.id,
                name=plan.name,
                chosen=by_id[plan.id].workload is not None,
                users=users,
                gpu_share=min(1.0, plan.gpus_each),
                others=tuple((count, needs[p]) for p, count in counts.items()),
                on_host_gbit_s=max(on_host, needs[plan.id]),
            )
        )
    return [remote_use(scenario, catalog, work, trail) for work in works]


def _busiest_host(plan: GroupPlan, pools: Sequence[Pool], needs: Mapping[str, float]) -> dict[str, int]:
    """The host with GPUs of a group whose remote users move most: group -> GPUs, or shares of one, in use."""
    candidates: list[dict[str, int]] = []
    for host in (host for pool in pools if pool.kind == plan.pool for host in pool.placement):
        flows: dict[str, int] = {}
        for load in host:
            count = load.gpus if len(load.slots) == 1 else 1
            for slot in load.slots:
                if slot.group in needs:
                    flows[slot.group] = flows.get(slot.group, 0) + count
        if plan.id in flows:
            candidates.append(flows)
    return max(candidates, key=lambda flows: sum(needs[g] * n for g, n in flows.items()), default={})


def kept_by_preset(scenario: Scenario, catalog: Catalog) -> tuple[tuple[str, float, str], ...]:
    """Name of each preset, the native speed kept by a single user of a remote GPU on the link, and the verdict."""
    return _kept_by_preset(scenario.only("network", "hardware"), catalog)


@lru_cache(maxsize=16)  # without it the checks of a plan take almost twice as long
def _kept_by_preset(scenario: Scenario, catalog: Catalog) -> tuple[tuple[str, float, str], ...]:
    rows = []
    for preset in catalog.rows("network_workloads"):
        kept = remote_kept(scenario, catalog, RemoteWork(preset, preset.id, preset["name"]))[1]
        rows.append((preset["name"], kept, verdict_of(catalog, kept)))
    return tuple(rows)


@dataclass(frozen=True, slots=True)
class Carried:
    """Performance of one preset on a network: a remote GPU for a single user, and training on several hosts."""

    remote: RemoteUse
    training: TrainingUse | None


def carried(scenario: Scenario, catalog: Catalog) -> tuple[Carried, ...]:
    """Return the performance of each preset on the network of a scenario, whatever its groups are.

    A single user on a link, and training on as many hosts as the training job of the scenario.
    """
    settings = scenario.training
    hosts = derived("network.carried/hosts", max(2, settings.hosts))
    per_host = settings.gpus_per_host or scenario.hardware.gpus_per_host
    results = []
    for preset in catalog.rows("network_workloads"):
        remote = remote_use(scenario, catalog, RemoteWork(preset, preset.id, preset["name"]))
        training = None
        if preset["phase"] == "training":
            job = job_of(scenario, catalog, preset, per_host)
            work = TrainingWork(preset, job, preset.id, preset["name"], hosts)
            training = training_use(scenario, catalog, work)
        results.append(Carried(remote, training))
    return tuple(results)
