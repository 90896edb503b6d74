"""Training of one model on several hosts: efficiency, throughput, hours, and where more hosts stop being worth it.

``gpuplan.plan.training.scaling`` computes the time of a step; this module turns it into an answer with its lines.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact, weakest
from gpuplan.models.network.training import (
    host_traffic_gbit_s,
    overlapped_step_s,
    scaling_efficiency,
    training_throughput,
    training_time_h,
)
from gpuplan.plan.inputs import derived
from gpuplan.plan.trail import Given, Line, Trail
from gpuplan.plan.training.scaling import (
    MAX_HOSTS,
    Job,
    alone,
    kept_range,
    knee,
    step_model,
    step_time_s,
    summed_by,
)
from gpuplan.plan.training.speed import (
    ITEM,
    LINKS,
    inside_host_gb_s,
    network_bases,
    nvlink_gb_s,
    tcp_rate,
    verdict_of,
)
from gpuplan.scenario import Hardware, Scenario
from gpuplan.units import exact
from gpuplan.wording import number, said, whole_percent

JOB = "job"
"""Id of the training job of the scenario; jobs of groups have the group's id."""


@dataclass(frozen=True, slots=True)
class TrainingUse:
    """Training of one model on several hosts."""

    id: str
    path: str
    """Prefix of its lines: ``network.job`` or ``network.training.`` and the group's id."""
    name: str
    workload: str
    workload_name: str
    unit: str
    hosts: int
    gpus_per_host: int
    batch: int
    one_gpu_per_s: float
    speed: str
    compute_s: float
    step_s: float
    efficiency_low: float
    efficiency: float
    efficiency_high: float
    per_s: float
    """Samples per second of all GPUs together."""
    needs_gbit_s: float
    """Mean traffic of a host during training."""
    hours: float | None
    samples: int | None
    epochs: float | None
    knee_hosts: int
    """Most hosts at which a GPU keeps ``worth_share`` of its own speed; 0 if one host is already too many."""
    verdict: str
    basis: str
    changes: tuple[str, ...]
    sources: tuple[str, ...]
    mfu: float | None = None
    """Share of the tensor rate that a language model's own operations use; None for other work."""
    per_gpu: tuple[float, float, float] | None = None
    """Tokens per second of each GPU: low, typical, high."""
    hours_low: float | None = None
    hours_high: float | None = None
    memory_gib: float | None = None
    spread: str = ""


class TrainingWork(NamedTuple):
    """A job on its hosts, and its name in the plan."""

    preset: Row
    job: Job
    key: str
    name: str
    hosts: Fact
    own: bool = False
    """True if it is the training job of the scenario, which states its samples and epochs."""

    @property
    def path(self) -> str:
        """Prefix of its lines."""
        return "network.job" if self.own else f"network.training.{self.key}"


def training_use(
    scenario: Scenario, catalog: Catalog, training: TrainingWork, trail: Trail | None = None
) -> TrainingUse:
    """Return one training job on a scenario's network: efficiency, throughput, hours, knee, and possible changes."""
    preset, job, key, name, hosts, _ = training
    speed = job.speed
    count = int(hosts.value)
    if not training.own and scenario.training.links is not None:
        scenario = replace(scenario, training=replace(scenario.training, links=None))
    bare = scenario.only("network", "training", "format", hardware=Hardware(gpu=scenario.hardware.gpu))
    (low, typical, high), step, worth, changes = _trained(bare, catalog, job, count)
    gpus = count * job.gpus_per_host
    settings = scenario.training
    samples = (settings.samples or preset["samples"]) if training.own else None
    hours = None
    if samples and settings.epochs:
        hours = training_time_h(
            samples, epochs=settings.epochs, gpus=gpus, batch_per_gpu=job.batch, step_s=step
        )
    fit = catalog.assumptions[ITEM[settings.aggregation]].fact("exposed_share")
    bases = [speed.per_s.basis, "fitted", hosts.basis, *network_bases(scenario)]
    if scenario.network.transport == "tcp":
        bases.append(tcp_rate(scenario, catalog).basis)
    if job.gpus_per_host > 1:
        bases.append(inside_host_gb_s(catalog, scenario.hardware.gpu, job.gpus_per_host).basis)
    how = summed_by(scenario, count)
    if how == "in-network":
        bases.append("assumed")
    over = "hierarchical" if over_tree(scenario, catalog, count, how) else how
    if trail is not None:
        line = _step_line(trail, scenario, catalog, training)
        _answer_lines(trail, scenario, catalog, training, line, worth, timed=hours is not None)
    return TrainingUse(
        id=key,
        path=training.path,
        name=name,
        workload=preset.id,
        workload_name=preset["name"],
        unit="tokens" if preset["neural_network"] == "gnmt-v2" else "samples",
        hosts=count,
        gpus_per_host=job.gpus_per_host,
        batch=job.batch,
        one_gpu_per_s=job.batch / job.compute_s,
        speed=speed.how,
        compute_s=job.compute_s,
        step_s=step,
        efficiency_low=low,
        efficiency=typical,
        efficiency_high=high,
        per_s=training_throughput(gpus, batch_per_gpu=job.batch, step_s=step),
        needs_gbit_s=host_traffic_gbit_s(
            job.gradient_mb, step_s=step, hosts=count, gpus_per_host=job.gpus_per_host, algorithm=over
        ),
        hours=hours,
        samples=samples,
        epochs=settings.epochs if training.own else None,
        knee_hosts=worth,
        verdict=verdict_of(catalog, typical),
        basis=weakest(bases),
        changes=changes,
        sources=tuple(dict.fromkeys((*speed.per_s.sources, *fit.sources))),
    )


# Candidates that differ elsewhere share it: without it `explore` takes a seventh longer.
@lru_cache(maxsize=256)
def _trained(
    scenario: Scenario, catalog: Catalog, job: Job, hosts: int
) -> tuple[tuple[float, float, float], float, int, tuple[str, ...]]:
    """Return efficiency with range, step time, worthwhile hosts, and changes: by network and training alone."""
    step = step_time_s(scenario, catalog, job, hosts)
    share = kept_range(scenario, catalog, job, hosts, step)
    changes = _training_changes(scenario, catalog, job, hosts, share[1])
    return share, step, knee(scenario, catalog, job), changes


def over_tree(scenario: Scenario, catalog: Catalog, hosts: int, aggregation: str) -> bool:
    """True if a tree may sum, by which two hosts send each byte of the gradient once."""
    return hosts == 2 and aggregation == "ring" and nvlink_gb_s(catalog, scenario.hardware.gpu) is not None


def _training_changes(
    scenario: Scenario, catalog: Catalog, job: Job, hosts: int, typical: float
) -> tuple[str, ...]:
    """Say what makes inefficient training efficient: the slowest sufficient link, else the best and other changes."""
    good = float(catalog.assumptions["network-planning"].fact("good_share").value)
    if round(typical, 2) >= good or hosts == 1:
        return ()

    def reached(scenario: Scenario, job: Job = job) -> float:
        return scaling_efficiency(job.native_s, step_s=step_time_s(scenario, catalog, job, hosts))

    def says(key: str, way: str, share: float) -> str:
        return said(f"advice.{key}", way=way, share=whole_percent(share))

    network, servers = scenario.network, scenario.training.aggregation == "parameter-server"
    best, best_share = "", typical
    for key, transport in (("advice.link", network.transport), ("advice.link with RDMA", "roce")):
        for link in (link for link in LINKS if link >= network.link_gbit_s):
            now = reached(replace(scenario, network=replace(network, link_gbit_s=link, transport=transport)))
            if now >= good - 0.005:
                return (says("would reach", said(key, link=link), now),)
            if now > best_share + 0.01:
                best, best_share = said(key, link=link), now
    speed = catalog.assumptions[ITEM["parameter-server"]].value("server_gbit_s")
    first = said("advice.slow server", speed=f"{speed:g}") if servers else said("advice.no faster link")
    double = replace(job, native_s=2 * job.native_s, compute_s=2 * job.compute_s, batch=2 * job.batch)
    others = {said("advice.double batch"): reached(scenario, double)}
    if servers:
        ring = replace(scenario, training=replace(scenario.training, aggregation="ring"))
        others[said("advice.allreduce")] = reached(ring)
    better = [says("would reach", way, share) for way, share in others.items() if share > typical + 0.02]
    return says("best reached", best, best_share) if best else first, *better


def _step_line(trail: Trail, scenario: Scenario, catalog: Catalog, training: TrainingWork) -> Line:
    """Lines from the work and the network to the efficiency; gives back the line of the step."""
    here, path = trail.about(training.path, name=training.name), training.path
    model = step_model(scenario, catalog, training.job, training.hosts, path)
    if model.summing is None:
        line = here.compute("step_s", model.function, model.inputs, when=model.case)
    else:
        summed = here.compute("allreduce_s", model.summing, model.summed, when=model.case)
        took = {"took": number(round(float(summed.value), 4))}
        inputs = dict(model.inputs)
        if model.function is overlapped_step_s:
            inputs |= {"sum_s": summed, "gpus": _gpus(training)}
        line = here.compute("step_s", model.function, inputs, words=took)
    fit = catalog.assumptions[ITEM[summed_by(scenario, int(training.hosts.value))]]
    seen = {name: number(fit.fact(f"unseen_{name}").value) for name in ("rows", "inside")}
    native = alone(training.job, path)
    here.compute("efficiency", scaling_efficiency, {"compute_s": native, "step_s": line}, words=seen)
    return line


def _gpus(training: TrainingWork) -> Fact:
    gpus = int(training.hosts.value) * training.job.gpus_per_host
    return derived(f"{training.path}/gpus", gpus, "GPUs of a job")


def _answer_lines(
    trail: Trail,
    scenario: Scenario,
    catalog: Catalog,
    training: TrainingWork,
    step: Line,
    worth: int,
    *,
    timed: bool,
) -> None:
    """Add lines for the job's throughput per second, the time of its epochs, and the most worthwhile hosts."""
    job, path, here = training.job, training.path, trail.about(training.path, name=training.name)
    together: dict[str, Fact | Line] = {
        "gpus": _gpus(training),
        "batch_per_gpu": derived(f"{path}/batch_per_gpu", job.batch, "batch of a job"),
        "step_s": step,
    }
    here.compute("per_s", training_throughput, together)
    samples = scenario.fact("training.samples")
    if samples.value is None:
        samples = training.preset.fact("samples")
    hours_and_knee(here, scenario, catalog, together, samples if timed else None, worth)


def hours_and_knee(
    here: Trail, scenario: Scenario, catalog: Catalog, together: Given, samples: Fact | None, worth: int
) -> None:
    """Lines for the time of a job's epochs, if its samples are known, and the most worthwhile hosts."""
    if samples is not None:
        epochs = scenario.fact("training.epochs")
        if epochs.value is None:
            epochs = replace(epochs, value=1.0, note="once")
        here.compute("hours", training_time_h, {"samples": samples, "epochs": epochs, **together})
    share, most = percent_of(catalog.assumptions["network-planning"].fact("worth_share")), {"most": MAX_HOSTS}
    step = together["step_s"]
    here.record("knee_hosts", scaling_efficiency, worth, words=most, worth_share=share, step_s=step)


def percent_of(share: Fact) -> Fact:
    """A share as a percentage, with its range."""
    low, high = (None if end is None else float(100 * exact(end)) for end in (share.low, share.high))
    return replace(share, value=float(100 * exact(float(share.value))), low=low, high=high, unit="%")
