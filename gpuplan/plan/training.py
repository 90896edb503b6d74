"""Training of one model on several hosts: efficiency, throughput, hours, and where more hosts stop being worth it.

The models are in ``gpuplan.models.network.training``; their parameters are fitted (``gpuplan.analysis.calibration``) and stand in
``data/assumptions.csv``. Every efficiency is a range.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact, derived, weakest
from gpuplan.models.network.collectives import collective_time_s
from gpuplan.models.network.training import (
    allreduce_time_s,
    efficiency_range,
    host_traffic_gbit_s,
    overlapped_step_s,
    parameter_server_step_s,
    scaling_efficiency,
    tcp_rate_for_speedup_gbit_s,
    training_step_s,
    training_throughput,
    training_time_h,
)
from gpuplan.plan.gpu_speed import (
    ITEM,
    LINKS,
    RDMA,
    Speed,
    gpu_speed,
    inside_host_gb_s,
    many_tcp_rate,
    network_bases,
    nvlink_gb_s,
    row_fact,
    tcp_rate,
    verdict_of,
)
from gpuplan.plan.trail import Line, Trail
from gpuplan.scenario import Scenario
from gpuplan.units import exact
from gpuplan.wording import number

MAX_HOSTS = 64
HOSTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of hosts that the scaling curves show."""

JOB = "job"
"""Id of the training job of the scenario; those of the groups have the group's id."""

SHARES = ("exposed_share", "overlap_share", "straggler_share")
SHARED = ("hosts", "gpus_per_host", "transport", "usable_share", "mtu_bytes")
"""What a collective on NVLink and any other way to sum take alike."""
COLLECTIVE = ("launch_us", "intra_step_us", "step_latency_us", "fill_share")
WIDTH = ("slower_share", "faster_share", "base_share")

GRADIENT_BYTES = {"fp32": 4, "bf16": 2}
SWITCH_GPUS = 8
"""GPUs of a host for which the sum in its NVSwitch was measured."""

CLAIMED_GBIT_S = 100
"""Link of the vendor's test with PVRDMA."""


@dataclass(frozen=True, slots=True)
class Step:
    """One number of hosts on a scaling curve."""

    hosts: int
    gpus: int
    efficiency: float
    low: float
    high: float
    per_s: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Throughput over hosts with one link and transport."""

    link_gbit_s: float
    transport: str
    aggregation: str
    chosen: bool
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class TrainingUse:
    """Training of one model on several hosts."""

    id: str
    path: str
    """Where its lines stand: ``network.job`` or ``network.training.`` and the group's id."""
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
    """What a host moves on average while it trains."""
    hours: float | None
    samples: int | None
    epochs: float | None
    knee_hosts: int
    """Most hosts at which a GPU keeps ``worth_share`` of its own speed; 0 if it does not on one host."""
    verdict: str
    basis: str
    changes: tuple[str, ...]
    sources: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What would make the vendor's "twice the efficiency with PVRDMA on four nodes with T4" true for one network."""

    workload: str
    workload_name: str
    efficiency_tcp: float
    efficiency_rdma: float
    speedup_low: float
    """RDMA over TCP by the model with the fastest TCP that is likely."""
    speedup: float
    """The same with TCP at the planned rate."""
    speedup_high: float
    """The same with the slowest TCP that is likely."""
    tcp_gbit_s: float
    """TCP rate at which it would be 2."""


@dataclass(frozen=True, slots=True)
class Job:
    """A training job in plain numbers."""

    gradient_mb: float
    largest_mb: float
    late_share: float
    """Share of the gradient that is ready last."""
    native_s: float
    """Time of a step on one GPU alone, in the VM's own host."""
    compute_s: float
    """The same as it takes here: longer where the GPU is reached over the network."""
    batch: int
    gpus_per_host: int
    inside_gb_s: float
    nvlink_gb_s: float | None = None
    """What NCCL plans a ring inside a host with, where NVLink joins its GPUs."""
    switch_gb_s: float | None = None
    """Bus bandwidth of its GPUs in one host whose NVSwitch sums."""


class TrainingWork(NamedTuple):
    """A job on the hosts that it runs on, and what the plan calls it."""

    preset: Row
    job: Job
    speed: Speed
    key: str
    name: str
    hosts: Fact
    own: bool = False
    """Whether it is the training job of the scenario, which states its samples and epochs."""

    @property
    def path(self) -> str:
        """Where its lines stand."""
        return "network.job" if self.own else f"network.training.{self.key}"


def job_of(
    scenario: Scenario,
    catalog: Catalog,
    preset: Row,
    *,
    gpus_per_host: int,
    batch: int | None = None,
    per_s: float | None = None,
) -> tuple[Job, Speed]:
    """The plain numbers of training a preset on the GPU of a scenario."""
    network = catalog.row("neural_networks", preset["neural_network"])
    speed = gpu_speed(catalog, preset, scenario.hardware.gpu)
    if per_s is not None:
        speed = Speed(scenario.fact("training.gpu_samples_per_s"), "as the customer measured it")
    elif batch not in (None, preset["batch"]):
        speed = speed.but("with another batch", "assumed")
    size = batch or preset["batch"]
    gpu = scenario.hardware.gpu
    nvlink = nvlink_gb_s(catalog, gpu)
    switch = catalog.gpus[gpu].value("switch_allreduce_gb_s") if gpus_per_host == SWITCH_GPUS else None
    return (
        Job(
            gradient_mb=network["parameters"] * GRADIENT_BYTES[scenario.training.gradients] / 1e6,
            largest_mb=network["largest_tensor_parameters"]
            * GRADIENT_BYTES[scenario.training.gradients]
            / 1e6,
            late_share=network["late_share"],
            native_s=size / float(speed.per_s.value),
            compute_s=size / float(speed.per_s.value),
            batch=size,
            gpus_per_host=gpus_per_host,
            inside_gb_s=float(inside_host_gb_s(catalog, gpu, gpus_per_host).value),
            nvlink_gb_s=None if nvlink is None else float(nvlink.value),
            switch_gb_s=None if switch is None else float(switch),
        ),
        speed,
    )


def _latency(fitted: Fact, scenario: Scenario, path: str) -> Fact:
    """Latency of a step between hosts: as fitted, but never shorter than half the round trip that somebody measured."""
    longer = (scenario.network.latency_us or 0.0) / 2
    if longer <= float(fitted.value):
        return fitted
    return replace(
        scenario.fact("network.latency_us"),
        key=f"{path}/step_latency_us",
        value=longer,
        note="half the stated round trip, which is longer than what was fitted",
    )


def step_time_s(scenario: Scenario, catalog: Catalog, job: Job, hosts: int) -> float:
    """Time of a step on so many hosts with the network of a scenario."""
    given, how = scenario.network, scenario.training.aggregation
    held, ring = (
        {name: float(item.fact(name).value) for name in names}
        for item, names in (
            (catalog.assumptions[ITEM[how]], SHARES),
            (catalog.assumptions[ITEM["ring"]], ("usable_share",)),
        )
    )
    common: dict[str, Any] = {
        "gradient_mb": job.gradient_mb,
        "hosts": hosts,
        "gpus_per_host": job.gpus_per_host,
        "link_gbit_s": _all_links(scenario).value,
        "transport": given.transport,
        "intra_host_gb_s": job.inside_gb_s,
        "usable_share": ring["usable_share"],
        "mtu_bytes": given.mtu_bytes,
        "late_share": job.late_share,
        **held,
    }
    if how == "parameter-server":
        servers = catalog.assumptions[ITEM[how]]
        return parameter_server_step_s(
            job.compute_s,
            **common,
            tcp_gbit_s=float(many_tcp_rate(scenario, catalog).value),
            largest_variable_mb=job.largest_mb,
            server_gbit_s=float(servers.fact("server_gbit_s").value),
        )
    tcp = float(_tcp_rate(scenario, catalog).value)
    if job.nvlink_gb_s is not None:
        named = {name: fact.value for name, fact in _collective_facts(scenario, catalog).items()}
        moved = {name: common[name] for name in SHARED} | named
        return overlapped_step_s(
            job.compute_s,
            sum_s=collective_time_s(
                job.gradient_mb,
                **moved,
                intra_host_gb_s=job.nvlink_gb_s,
                switch_gb_s=job.switch_gb_s,
                tcp_gbit_s=tcp,
            ),
            gpus=hosts * job.gpus_per_host,
            late_share=job.late_share,
            **held,
        )
    return training_step_s(
        job.compute_s,
        **common,
        tcp_gbit_s=tcp,
        algorithm=how,
        step_latency_us=float(_ring_latency(scenario, catalog).value),
    )


def _ring_latency(scenario: Scenario, catalog: Catalog, path: str = "network.job") -> Fact:
    name = "tcp_step_us" if scenario.network.transport == "tcp" else "rdma_step_us"
    return _latency(catalog.assumptions[ITEM["ring"]].fact(name), scenario, path)


def _all_links(scenario: Scenario, path: str = "network.job") -> Fact:
    """All links together that a job uses in one host."""
    link, links = scenario.fact("network.link_gbit_s"), scenario.training.links or 1
    if links == 1:
        return link
    return replace(
        link, key=f"{path}/link_gbit_s", value=links * scenario.network.link_gbit_s, note=f"{links} links"
    )


def _collective_facts(
    scenario: Scenario, catalog: Catalog, path: str = "network.job"
) -> dict[str, Fact | Line]:
    """What a collective between hosts with NVLink takes from the network and from its fit."""
    held, links = catalog.assumptions["collectives"], scenario.fact("training.links")
    found: dict[str, Fact | Line] = {name: held.fact(name) for name in COLLECTIVE}
    found["step_latency_us"] = _latency(held.fact("step_latency_us"), scenario, path)
    found["links"] = links if links.value is not None else replace(links, value=1, note="all ports together")
    found["link_gbit_s"] = scenario.fact("network.link_gbit_s")
    return found


def _tcp_rate(scenario: Scenario, catalog: Catalog) -> Fact:
    """What a host moves over TCP on all links of a job."""
    return tcp_rate(scenario, catalog, float(_all_links(scenario).value))


def kept_range(scenario: Scenario, catalog: Catalog, job: Job, hosts: int) -> tuple[float, float, float]:
    """Efficiency on so many hosts: low, typical, high; as far off as published rows that were not fitted on."""
    held = catalog.assumptions[ITEM[scenario.training.aggregation]]
    step = step_time_s(scenario, catalog, job, hosts)
    typical = scaling_efficiency(job.native_s, step_s=step)
    if hosts * job.gpus_per_host == 1:
        return typical, typical, typical
    low, high = efficiency_range(typical, **{name: float(held.fact(name).value) for name in WIDTH})
    return low, typical, high


def curve(
    scenario: Scenario, catalog: Catalog, job: Job, *, chosen: bool = True, hosts: Sequence[int] = HOSTS
) -> Curve:
    """Throughput and efficiency over hosts with the network of a scenario."""
    steps = []
    for count in hosts:
        low, typical, high = kept_range(scenario, catalog, job, count)
        gpus = count * job.gpus_per_host
        steps.append(Step(count, gpus, typical, low, high, gpus * typical * job.batch / job.native_s))
    network = scenario.network
    return Curve(network.link_gbit_s, network.transport, scenario.training.aggregation, chosen, tuple(steps))


def curves(scenario: Scenario, catalog: Catalog) -> tuple[Curve, ...]:
    """The scaling of the scenario's training job: its own link and transport first, then the alternatives."""
    preset = catalog.row("network_workloads", scenario.training.workload)
    job, _ = scenario_job(scenario, catalog, preset)
    found = [curve(scenario, catalog, job)]
    own = (scenario.network.link_gbit_s, scenario.network.transport in RDMA)
    for link, transport in (
        (10, "tcp"),
        (25, "tcp"),
        (25, "roce"),
        (100, "tcp"),
        (100, "roce"),
        (400, "roce"),
    ):
        if (link, transport in RDMA) != own:
            other = replace(scenario.network, link_gbit_s=link, transport=transport)
            found.append(curve(replace(scenario, network=other), catalog, job, chosen=False))
    return tuple(found)


def scenario_job(scenario: Scenario, catalog: Catalog, preset: Row) -> tuple[Job, Speed]:
    """The training job of a scenario in plain numbers."""
    given = scenario.training
    return job_of(
        scenario,
        catalog,
        preset,
        gpus_per_host=given.gpus_per_host or scenario.hardware.gpus_per_host,
        batch=given.batch,
        per_s=given.gpu_samples_per_s,
    )


def knee(scenario: Scenario, catalog: Catalog, job: Job) -> int:
    """Most hosts, up to ``MAX_HOSTS``, at which a GPU keeps the share of its speed that is worth it."""
    worth = float(catalog.assumptions["network-planning"].fact("worth_share").value)
    low, high = 0, MAX_HOSTS + 1
    while high - low > 1:  # efficiency never rises with more hosts
        middle = (low + high) // 2
        if job.native_s / step_time_s(scenario, catalog, job, middle) >= worth:
            low = middle
        else:
            high = middle
    return low


def training_use(
    scenario: Scenario, catalog: Catalog, training: TrainingWork, trail: Trail | None = None
) -> TrainingUse:
    """One training job on the network of a scenario: efficiency, throughput, hours, knee, and what would change it."""
    preset, job, speed, key, name, hosts, _ = training
    count = int(hosts.value)
    if not training.own and scenario.training.links is not None:
        scenario = replace(scenario, training=replace(scenario.training, links=None))
    bare = Scenario(network=scenario.network, training=scenario.training)
    (low, typical, high), step, worth, changes = _trained(bare, catalog, job, count)
    gpus = count * job.gpus_per_host
    given = scenario.training
    samples = (given.samples or preset["samples"]) if training.own else None
    hours = None
    if samples and given.epochs:
        hours = training_time_h(samples, epochs=given.epochs, gpus=gpus, batch_per_gpu=job.batch, step_s=step)
    held = catalog.assumptions[ITEM[given.aggregation]]
    bases = [speed.per_s.basis, "fitted", hosts.basis, *network_bases(scenario)]
    if scenario.network.transport == "tcp":
        bases.append(tcp_rate(scenario, catalog).basis)
    if job.gpus_per_host > 1:
        bases.append(inside_host_gb_s(catalog, scenario.hardware.gpu, job.gpus_per_host).basis)
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
            job.gradient_mb,
            step_s=step,
            hosts=count,
            gpus_per_host=job.gpus_per_host,
            algorithm="hierarchical" if over_tree(job, count, given.aggregation) else given.aggregation,
        ),
        hours=hours,
        samples=samples,
        epochs=given.epochs if training.own else None,
        knee_hosts=worth,
        verdict=verdict_of(catalog, typical),
        basis=weakest(bases),
        changes=changes,
        sources=tuple(dict.fromkeys((*speed.per_s.sources, *held.fact("exposed_share").sources))),
    )


@lru_cache(
    maxsize=256
)  # candidates that differ elsewhere share it: without it `explore` takes a seventh longer
def _trained(
    scenario: Scenario, catalog: Catalog, job: Job, hosts: int
) -> tuple[tuple[float, float, float], float, int, tuple[str, ...]]:
    """Efficiency with its range, time of a step, hosts worth it, and what would change it: by network and training alone."""
    share = kept_range(scenario, catalog, job, hosts)
    step = step_time_s(scenario, catalog, job, hosts)
    changes = _training_changes(scenario, catalog, job, hosts, share[1])
    return share, step, knee(scenario, catalog, job), changes


def over_tree(job: Job, hosts: int, aggregation: str) -> bool:
    """Whether a tree may sum, by which two hosts send each byte of the gradient once."""
    return job.nvlink_gb_s is not None and hosts == 2 and aggregation == "ring"


def _training_changes(
    scenario: Scenario, catalog: Catalog, job: Job, hosts: int, typical: float
) -> tuple[str, ...]:
    """What would make training efficient that is not: the slowest link that does, else the best one and what else helps."""
    good = float(catalog.assumptions["network-planning"].fact("good_share").value)
    if round(typical, 2) >= good or hosts == 1:
        return ()

    def reached(scenario: Scenario, job: Job = job) -> float:
        return scaling_efficiency(job.native_s, step_s=step_time_s(scenario, catalog, job, hosts))

    given, servers = scenario.network, scenario.training.aggregation == "parameter-server"
    best, best_share = "", typical
    for words, transport in (("", given.transport), (" with RDMA", "roce")):
        for link in (link for link in LINKS if link >= given.link_gbit_s):
            now = reached(replace(scenario, network=replace(given, link_gbit_s=link, transport=transport)))
            if now >= good - 0.005:
                return (f"{link} Gbit/s{words} would reach {100 * now:.0f} %",)
            if now > best_share + 0.01:
                best, best_share = f"{link} Gbit/s{words}", now
    if best:
        found = [f"{best} would reach {100 * best_share:.0f} %, no link more"]
    elif servers:
        server = float(catalog.assumptions[ITEM["parameter-server"]].fact("server_gbit_s").value)
        found = [f"no faster link helps: a parameter server moves {server:g} Gbit/s at most"]
    else:
        found = ["no faster link helps"]
    double = replace(job, native_s=2 * job.native_s, compute_s=2 * job.compute_s, batch=2 * job.batch)
    others = {"twice the batch": reached(scenario, double)}
    if servers:
        ring = replace(scenario, training=replace(scenario.training, aggregation="ring"))
        others["allreduce instead of parameter servers"] = reached(ring)
    found += [
        f"{words} would reach {100 * share:.0f} %"
        for words, share in others.items()
        if share > typical + 0.02
    ]
    return tuple(found)


def _step_line(trail: Trail, scenario: Scenario, catalog: Catalog, training: TrainingWork) -> Line:
    """Lines from the work and the network to the efficiency; gives back the line of the step."""
    preset, job, speed, path, how = *training[:3], training.path, scenario.training.aggregation
    here, tcp = trail.about(path, name=training.name), scenario.network.transport == "tcp"
    held, ring = catalog.assumptions[ITEM[how]], catalog.assumptions[ITEM["ring"]]
    network = catalog.row("neural_networks", preset["neural_network"])
    rate = number(round(job.batch / job.native_s, 3))
    batch = f"batch of {number(job.batch)} over {rate} samples per second of one GPU, {speed.how}"
    alone = replace(speed.per_s, key=f"{path}/native_s", value=job.native_s, unit="s", note=batch)
    over = f"; {number(round(job.compute_s, 4))} s over the network" * (job.compute_s != job.native_s)
    compute = replace(alone, key=f"{path}/compute_s", value=job.compute_s, note=batch + over)
    weights = (
        f"{GRADIENT_BYTES[scenario.training.gradients]} bytes for each of the "
        f"{number(network['parameters'])} parameters of {network['name']}"
    )
    moved: dict[str, Fact | Line] = {
        "gradient_mb": replace(
            row_fact(network, "parameters", "1"),
            key=f"{path}/gradient_mb",
            value=job.gradient_mb,
            unit="MB",
            note=weights,
        ),
        "hosts": training.hosts,
        "gpus_per_host": derived(
            f"{path}/gpus_per_host", job.gpus_per_host, "GPU", "GPUs of the job in each host"
        ),
        "link_gbit_s": _all_links(scenario, path),
        "transport": scenario.fact("network.transport"),
        "mtu_bytes": scenario.fact("network.mtu_bytes"),
        "intra_host_gb_s": inside_host_gb_s(catalog, scenario.hardware.gpu, job.gpus_per_host),
        "usable_share": ring.fact("usable_share"),
    }
    servers = how == "parameter-server"
    if tcp:
        moved["tcp_gbit_s"] = (many_tcp_rate if servers else _tcp_rate)(scenario, catalog)
    late = replace(row_fact(network, "late_share", "1"), note="share of the gradient that is ready last")
    shares = {"compute_s": compute, "late_share": late, **{name: held.fact(name) for name in SHARES}}
    if servers:
        largest = derived(
            f"{path}/largest_variable_mb", job.largest_mb, "MB", "largest variable of the network"
        )
        line = here.compute(
            "step_s",
            parameter_server_step_s,
            {**shares, **moved},
            when="servers",
            largest_variable_mb=largest,
            server_gbit_s=held.fact("server_gbit_s"),
        )
    else:
        nvlink = nvlink_gb_s(catalog, scenario.hardware.gpu)
        if nvlink is not None:
            moved["intra_host_gb_s"] = nvlink
            moved |= _collective_facts(scenario, catalog, path)
            moved["message_mb"] = moved.pop("gradient_mb")
            if job.switch_gb_s is not None:
                moved["switch_gb_s"] = catalog.gpus[scenario.hardware.gpu].fact("switch_allreduce_gb_s")
            summed = here.compute("allreduce_s", collective_time_s, moved, when="nvlink")
        else:
            moved["algorithm"] = scenario.fact("training.aggregation")
            moved["step_latency_us"] = _ring_latency(scenario, catalog, path)
            summed = here.compute("allreduce_s", allreduce_time_s, moved)
        took = {"took": number(round(float(summed.value), 4))}
        if nvlink is not None:
            line = here.compute(
                "step_s", overlapped_step_s, shares, words=took, sum_s=summed, gpus=_gpus(training)
            )
        else:
            line = here.compute("step_s", training_step_s, {**shares, **moved}, words=took)
    seen = {
        "rows": number(held.fact("unseen_rows").value),
        "inside": number(held.fact("unseen_inside").value),
    }
    here.compute("efficiency", scaling_efficiency, {"compute_s": alone, "step_s": line}, words=seen)
    return line


def _gpus(training: TrainingWork) -> Fact:
    gpus = int(training.hosts.value) * training.job.gpus_per_host
    return derived(f"{training.path}/gpus", gpus, "GPU", "GPUs of the job, those of all its hosts")


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
    """Lines for what the job does in a second, how long its epochs take, and up to how many hosts it is worth it."""
    job, path, here = training.job, training.path, trail.about(training.path, name=training.name)
    together: dict[str, Fact | Line] = {
        "gpus": _gpus(training),
        "batch_per_gpu": derived(
            f"{path}/batch_per_gpu", job.batch, "1", "stated, or that of the work planned with"
        ),
        "step_s": step,
    }
    here.compute("per_s", training_throughput, together)
    if timed:
        samples = scenario.fact("training.samples")
        if samples.value is None:
            samples = row_fact(training.preset, "samples", "1")
        epochs = scenario.fact("training.epochs")
        here.compute("hours", training_time_h, {"samples": samples, "epochs": epochs, **together})
    share = _in_percent(catalog.assumptions["network-planning"].fact("worth_share"))
    most = {"most": MAX_HOSTS}
    here.record("knee_hosts", scaling_efficiency, worth, words=most, worth_share=share, step_s=step)


def _in_percent(share: Fact) -> Fact:
    low, high = (None if end is None else float(100 * exact(end)) for end in (share.low, share.high))
    return replace(share, value=float(100 * exact(float(share.value))), low=low, high=high, unit="%")


def claims(scenario: Scenario, catalog: Catalog) -> tuple[Claim, ...]:
    """What TCP rate would make PVRDMA twice as efficient on four hosts with a T4 each and 100 Gbit/s, by network."""
    tcp = tcp_rate(scenario, catalog, CLAIMED_GBIT_S)
    rates = [float(rate) for rate in (tcp.value, tcp.high or tcp.value, tcp.low or tcp.value)]
    found = []
    for preset in catalog.rows("network_workloads"):
        if preset["phase"] != "training" or not preset["neural_network"]:
            continue
        network = catalog.row("neural_networks", preset["neural_network"])
        compute_s = preset["batch"] / float(gpu_speed(catalog, preset, "t4-16gb").per_s.value)
        values: dict[str, Any] = {
            "gradient_mb": network["parameters"] * GRADIENT_BYTES["fp32"] / 1e6,
            "late_share": network["late_share"],
            "hosts": 4,
            "gpus_per_host": 1,
            "link_gbit_s": CLAIMED_GBIT_S,
        }
        rdma = training_step_s(compute_s, **values, transport="pvrdma")
        usual, fast, slow = (
            training_step_s(compute_s, **values, transport="tcp", tcp_gbit_s=rate) for rate in rates
        )
        found.append(
            Claim(
                preset.id,
                preset["name"],
                compute_s / usual,
                compute_s / rdma,
                fast / rdma,
                usual / rdma,
                slow / rdma,
                tcp_rate_for_speedup_gbit_s(compute_s, speedup=2.0, **values),
            )
        )
    return tuple(found)
