"""Time of a training step and what a GPU keeps of its speed, over hosts and links.

The models are in ``gpuplan.models.network.training`` and its neighbours; their parameters are fitted (``tests/validation``) and stand in
``data/assumptions.csv``. Every efficiency is a range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.models.network.collectives import collective_time_s
from gpuplan.models.network.parameter_servers import parameter_server_step_s
from gpuplan.models.network.training import (
    efficiency_range,
    overlapped_step_s,
    scaling_efficiency,
    training_step_s,
)
from gpuplan.plan.gpu_speed import (
    ITEM,
    RDMA,
    Speed,
    gpu_speed,
    inside_host_gb_s,
    many_tcp_rate,
    nvlink_gb_s,
    tcp_rate,
)
from gpuplan.plan.trail import Line
from gpuplan.scenario import Scenario

MAX_HOSTS = 64

HOSTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Numbers of hosts that the scaling curves show."""

SHARES = ("exposed_share", "overlap_share", "straggler_share")

COLLECTIVE = ("launch_us", "intra_step_us", "step_latency_us", "fill_share")

WIDTH = ("slower_share", "faster_share", "base_share")

GRADIENT_BYTES = {"fp32": 4, "bf16": 2}

SWITCH_GPUS = 8
"""GPUs of a host for which the sum in its NVSwitch was measured."""


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
    links: int = 1


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


def _latency(fitted: Fact, scenario: Scenario, path: str) -> Fact:
    """Latency of a step between hosts: as fitted, but never shorter than half the round trip that was measured."""
    longer = (scenario.network.latency_us or 0.0) / 2
    if longer <= float(fitted.value):
        return fitted
    return replace(
        scenario.fact("network.latency_us"),
        key=f"{path}/step_latency_us",
        value=longer,
        note="half the stated round trip, which is longer than what was fitted",
    )


def summed_by(scenario: Scenario, hosts: int) -> str:
    """How gradients are summed; in one host, and over another transport than InfiniBand, no switch sums, and a ring does."""
    how, over = scenario.training.aggregation, scenario.network.transport
    return "ring" if how == "in-network" and (over != "infiniband" or hosts == 1) else how


def step_time_s(scenario: Scenario, catalog: Catalog, job: Job, hosts: int) -> float:
    """Time of a step on so many hosts with the network of a scenario."""
    how = summed_by(scenario, hosts)
    fitted, ring = catalog.assumptions[ITEM[how]], catalog.assumptions[ITEM["ring"]]
    hidden: dict[str, Any] = {name: float(fitted.fact(name).value) for name in SHARES}
    hidden["late_share"] = job.late_share
    moved: dict[str, Any] = {
        "hosts": hosts,
        "gpus_per_host": job.gpus_per_host,
        "transport": scenario.network.transport,
        "usable_share": float(ring.fact("usable_share").value),
        "mtu_bytes": scenario.network.mtu_bytes,
    }
    if how != "parameter-server" and (job.nvlink_gb_s is not None or how == "in-network"):
        summed = _pipelined_s(scenario, catalog, job, moved, in_network=how == "in-network")
        return overlapped_step_s(job.compute_s, sum_s=summed, gpus=hosts * job.gpus_per_host, **hidden)
    moved |= {
        "gradient_mb": job.gradient_mb,
        "link_gbit_s": all_links(scenario).value,
        "intra_host_gb_s": job.inside_gb_s,
    }
    if how == "parameter-server":
        return parameter_server_step_s(
            job.compute_s,
            **moved,
            **hidden,
            tcp_gbit_s=float(many_tcp_rate(scenario, catalog).value),
            largest_variable_mb=job.largest_mb,
            server_gbit_s=float(fitted.fact("server_gbit_s").value),
        )
    return training_step_s(
        job.compute_s,
        **moved,
        **hidden,
        tcp_gbit_s=float(job_tcp_rate(scenario, catalog).value),
        algorithm=how,
        step_latency_us=float(ring_latency(scenario, catalog).value),
    )


def _pipelined_s(
    scenario: Scenario, catalog: Catalog, job: Job, moved: Mapping[str, Any], *, in_network: bool
) -> float:
    """Time to sum the gradient as collectives run today."""
    held: dict[str, Any] = {name: fact.value for name, fact in collective_facts(scenario, catalog).items()}
    return collective_time_s(
        job.gradient_mb,
        **moved,
        **held,
        intra_host_gb_s=job.nvlink_gb_s or job.inside_gb_s,
        in_network=in_network,
        switch_gb_s=job.switch_gb_s,
        tcp_gbit_s=float(job_tcp_rate(scenario, catalog).value),
    )


def ring_latency(scenario: Scenario, catalog: Catalog, path: str = "network.job") -> Fact:
    """Latency of a step of a ring between hosts, by transport."""
    name = "tcp_step_us" if scenario.network.transport == "tcp" else "rdma_step_us"
    return _latency(catalog.assumptions[ITEM["ring"]].fact(name), scenario, path)


def all_links(scenario: Scenario, path: str = "network.job") -> Fact:
    """All links together that a job uses in one host."""
    link, links = scenario.fact("network.link_gbit_s"), scenario.training.links or 1
    if links == 1:
        return link
    return replace(
        link, key=f"{path}/link_gbit_s", value=links * scenario.network.link_gbit_s, note=f"{links} links"
    )


def collective_facts(
    scenario: Scenario, catalog: Catalog, path: str = "network.job"
) -> dict[str, Fact | Line]:
    """What a collective between hosts with NVLink takes from the network and from its fit."""
    held, links = catalog.assumptions["collectives"], scenario.fact("training.links")
    found: dict[str, Fact | Line] = {name: held.fact(name) for name in COLLECTIVE}
    found["step_latency_us"] = _latency(held.fact("step_latency_us"), scenario, path)
    found["links"] = links if links.value is not None else replace(links, value=1, note="all ports")
    found["link_gbit_s"] = scenario.fact("network.link_gbit_s")
    return found


def job_tcp_rate(scenario: Scenario, catalog: Catalog) -> Fact:
    """What a host moves over TCP on all links of a job."""
    return tcp_rate(scenario, catalog, float(all_links(scenario).value))


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
