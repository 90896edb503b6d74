"""Time of a training step and remaining speed of a GPU, over hosts and links.

The models are in ``gpuplan.models.network.training`` and its neighbours; fitted parameters (``tests/validation``) in
``data/assumptions.csv``. Every efficiency is a range.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from gpuplan.catalog import Catalog, Row
from gpuplan.facts import Fact
from gpuplan.models.network.collectives import allreduce_time_s, collective_time_s
from gpuplan.models.network.parameter_servers import parameter_server_step_s
from gpuplan.models.network.training import (
    efficiency_range,
    overlapped_step_s,
    scaling_efficiency,
    training_step_s,
)
from gpuplan.plan.inputs import derived
from gpuplan.plan.trail import Given, Line, call
from gpuplan.plan.training.speed import (
    ITEM,
    RDMA,
    Speed,
    gpu_speed,
    inside_host_gb_s,
    many_tcp_rate,
    nvlink_gb_s,
    tcp_rate,
)
from gpuplan.scenario import Scenario
from gpuplan.wording import amount, said

PATH = "network.job"
"""Prefix of the keys of the lines of the scenario's training job."""

MAX_HOSTS = 64

HOSTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
"""Host counts on the scaling curves."""

SHARES = ("exposed_share", "overlap_share", "straggler_share")

COLLECTIVE = ("launch_us", "intra_step_us", "step_latency_us", "fill_share")

WIDTH = ("slower_share", "faster_share", "base_share")

GRADIENT_BYTES = {"fp32": 4, "bf16": 2}

SWITCH_GPUS = 8
"""GPUs of a host for which the sum in its NVSwitch was measured."""
NETWORKS = ((10, "tcp"), (25, "tcp"), (25, "roce"), (100, "tcp"), (100, "roce"), (400, "roce"))
"""Links and transports that the scaling chart adds to the design."""


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
    """A training job: its network, the speed of one GPU, and the numbers that the models of a step take."""

    network: str
    """Id of a row of ``neural_networks``."""
    speed: Speed
    """Of one GPU alone."""
    gradient_mb: float
    native_s: float
    """Time of a step on one GPU alone, in the VM's own host."""
    compute_s: float
    """The same in this design: longer where the GPU is reached over the network."""
    batch: int
    gpus_per_host: int


def job_of(
    scenario: Scenario, catalog: Catalog, preset: Row, gpus_per_host: int, *, own: bool = False
) -> Job:
    """Build the job that trains a preset on the GPU of a scenario, as the scenario's own job or for a group."""
    training, value_bytes = scenario.training, GRADIENT_BYTES[scenario.training.gradients]
    network, size = catalog.row("neural_networks", preset["neural_network"]), preset["batch"]
    speed = gpu_speed(catalog, preset, scenario.hardware.gpu)
    if own and training.gpu_samples_per_s is not None:
        speed = Speed(scenario.fact("training.gpu_samples_per_s"), said("training.measured"))
    elif own and training.batch not in (None, size):
        speed = speed.but("with another batch", "assumed")
    size = (training.batch if own else None) or size
    alone_s = size / float(speed.per_s.value)
    return Job(
        network.id, speed, network["parameters"] * value_bytes / 1e6, alone_s, alone_s, size, gpus_per_host
    )


def scenario_job(scenario: Scenario, catalog: Catalog, preset: Row) -> Job:
    """The training job of a scenario."""
    gpus_per_host = scenario.training.gpus_per_host or scenario.hardware.gpus_per_host
    return job_of(scenario, catalog, preset, gpus_per_host, own=True)


def _latency(fitted: Fact, scenario: Scenario, path: str) -> Fact:
    """Latency of a step between hosts: as fitted, but never shorter than half the round trip that was measured."""
    longer = (scenario.network.latency_us or 0.0) / 2
    if longer <= float(fitted.value):
        return fitted
    measured, note = scenario.fact("network.latency_us"), said("training.half round trip")
    return replace(measured, key=f"{path}/step_latency_us", value=longer, note=note)


def summed_by(scenario: Scenario, hosts: int) -> str:
    """Return the aggregation of gradients; in one host, and without InfiniBand, no switch sums, and a ring does."""
    how, over = scenario.training.aggregation, scenario.network.transport
    return "ring" if how == "in-network" and (over != "infiniband" or hosts == 1) else how


class StepModel(NamedTuple):
    """The model of a step and of its gradient sum, with inputs; the sum is an input of the step or shown beside it."""

    function: Callable[..., float]
    inputs: Given
    summing: Callable[..., float] | None = None
    summed: Given = MappingProxyType({})
    case: str = ""
    """Case that selects the words of its lines."""

    def time_s(self, hosts: int) -> float:
        """Time of a step on this many hosts."""
        values = {name: fact.value for name, fact in self.inputs.items()}
        if self.summing is not None and self.function is overlapped_step_s:
            moved = {name: fact.value for name, fact in self.summed.items()} | {"hosts": hosts}
            values["sum_s"], values["gpus"] = call(self.summing, moved), hosts * moved["gpus_per_host"]
        else:
            values["hosts"] = hosts
        return float(call(self.function, values))


def step_model(scenario: Scenario, catalog: Catalog, job: Job, hosts: Fact, path: str = PATH) -> StepModel:
    """Return the model of a step for the job and the network of a scenario."""
    how = summed_by(scenario, int(hosts.value))
    fit, network = catalog.assumptions[ITEM[how]], catalog.row("neural_networks", job.network)
    late = replace(network.fact("late_share"), note=said("training.late"))
    shares = {"compute_s": _compute(job, path), "late_share": late} | fit.given(*SHARES)
    moved = _moved(scenario, catalog, job, hosts, path)
    if how == "parameter-server":
        size_mb = network["largest_tensor_parameters"] * GRADIENT_BYTES[scenario.training.gradients] / 1e6
        largest = derived(f"{path}/largest_variable_mb", size_mb, "largest variable")
        more = {"largest_variable_mb": largest, "server_gbit_s": fit.fact("server_gbit_s")}
        return StepModel(parameter_server_step_s, {**shares, **moved, **more}, case="servers")
    gpu = catalog.gpus[scenario.hardware.gpu]
    if (nvlink := nvlink_gb_s(catalog, gpu.id)) is not None or how == "in-network":
        over = moved | collective_facts(scenario, catalog, path)
        over["intra_host_gb_s"] = nvlink or over["intra_host_gb_s"]
        over["message_mb"] = over.pop("gradient_mb")
        if how == "in-network":
            over["in_network"] = replace(scenario.fact("training.aggregation"), value=True)
        if job.gpus_per_host == SWITCH_GPUS and gpu.value("switch_allreduce_gb_s") is not None:
            over["switch_gb_s"] = gpu.fact("switch_allreduce_gb_s")
        case = how if how == "in-network" else "nvlink"
        return StepModel(overlapped_step_s, shares, collective_time_s, over, case)
    moved["algorithm"] = replace(scenario.fact("training.aggregation"), value=how)
    moved["step_latency_us"] = ring_latency(scenario, catalog, path)
    return StepModel(training_step_s, {**shares, **moved}, allreduce_time_s, moved)


def step_times(scenario: Scenario, catalog: Catalog, job: Job) -> Callable[[int], float]:
    """Time of a step over numbers of hosts, with the network of a scenario."""
    models: dict[str, StepModel] = {}

    def time_s(hosts: int) -> float:
        how = summed_by(scenario, hosts)
        if how not in models:
            models[how] = step_model(scenario, catalog, job, derived("hosts", hosts))
        return models[how].time_s(hosts)

    return time_s


def step_time_s(scenario: Scenario, catalog: Catalog, job: Job, hosts: int) -> float:
    """The same for one number of hosts."""
    return step_times(scenario, catalog, job)(hosts)


def alone(job: Job, path: str) -> Fact:
    """Time of a step on one GPU alone, in the VM's own host."""
    rate = round(job.batch / job.native_s, 3)
    note = said("training.batch", batch=job.batch, rate=rate, how=job.speed.how)
    return replace(job.speed.per_s, key=f"{path}/native_s", value=job.native_s, unit="s", note=note)


def _compute(job: Job, path: str) -> Fact:
    here = alone(job, path)
    note = here.note
    if job.compute_s != job.native_s:
        note = said("training.over the network", note=note, time=round(job.compute_s, 4))
    return replace(here, key=f"{path}/compute_s", value=job.compute_s, note=note)


def _moved(scenario: Scenario, catalog: Catalog, job: Job, hosts: Fact, path: str) -> dict[str, Fact | Line]:
    """Return the data that a job moves, and the rates of its links."""
    network = catalog.row("neural_networks", job.network)
    words = {"parameters": network["parameters"], "network": network["name"]}
    weights = said("training.gradient", bytes=GRADIENT_BYTES[scenario.training.gradients], **words)
    gradient = replace(
        network.fact("parameters"), key=f"{path}/gradient_mb", value=job.gradient_mb, unit="MB", note=weights
    )
    moved: dict[str, Fact | Line] = {
        "gradient_mb": gradient,
        "hosts": hosts,
        "gpus_per_host": derived(f"{path}/gpus_per_host", job.gpus_per_host, "GPUs of a job in each host"),
        "link_gbit_s": all_links(scenario, path),
        **scenario.given("network", "transport", "mtu_bytes"),
        "intra_host_gb_s": inside_host_gb_s(catalog, scenario.hardware.gpu, job.gpus_per_host),
        "usable_share": catalog.assumptions[ITEM["ring"]].fact("usable_share"),
    }
    if scenario.network.transport == "tcp":
        servers = scenario.training.aggregation == "parameter-server"
        over_links = float(all_links(scenario).value)
        rate = many_tcp_rate(scenario, catalog) if servers else tcp_rate(scenario, catalog, over_links)
        moved["tcp_gbit_s"] = rate
    return moved


def ring_latency(scenario: Scenario, catalog: Catalog, path: str = PATH) -> Fact:
    """Latency of a step of a ring between hosts, by transport."""
    name = "tcp_step_us" if scenario.network.transport == "tcp" else "rdma_step_us"
    return _latency(catalog.assumptions[ITEM["ring"]].fact(name), scenario, path)


def all_links(scenario: Scenario, path: str = PATH) -> Fact:
    """All links together that a job uses in one host."""
    link, links = scenario.fact("network.link_gbit_s"), scenario.training.links or 1
    together, note = links * scenario.network.link_gbit_s, amount(links, "link")
    return link if links == 1 else replace(link, key=f"{path}/link_gbit_s", value=together, note=note)


def collective_facts(scenario: Scenario, catalog: Catalog, path: str = PATH) -> dict[str, Fact | Line]:
    """Return the network inputs and fitted parameters of a collective between hosts with NVLink."""
    fit, links = catalog.assumptions["collectives"], scenario.fact("training.links")
    facts: dict[str, Fact | Line] = {**fit.given(*COLLECTIVE)}
    facts["step_latency_us"] = _latency(fit.fact("step_latency_us"), scenario, path)
    facts["links"] = (
        links if links.value is not None else replace(links, value=1, note=said("training.all ports"))
    )
    facts["link_gbit_s"] = scenario.fact("network.link_gbit_s")
    return facts


def kept_range(
    scenario: Scenario, catalog: Catalog, job: Job, hosts: int, step_s: float
) -> tuple[float, float, float]:
    """Efficiency on this many hosts: low, typical, high; the range is the error on published rows not fitted on."""
    typical = scaling_efficiency(job.native_s, step_s=step_s)
    return ranged(catalog, scenario.training.aggregation, typical, sure=hosts * job.gpus_per_host == 1)


def ranged(catalog: Catalog, aggregation: str, typical: float, *, sure: bool) -> tuple[float, float, float]:
    """An efficiency with its range; none where it is ``sure``."""
    if sure:
        return typical, typical, typical
    fit = catalog.assumptions[ITEM[aggregation]]
    low, high = efficiency_range(typical, **{name: float(fit.fact(name).value) for name in WIDTH})
    return low, typical, high


def curve(scenario: Scenario, catalog: Catalog, job: Job, *, chosen: bool = True) -> Curve:
    """Throughput and efficiency over hosts with the network of a scenario."""
    steps, time_s = [], step_times(scenario, catalog, job)
    for count in HOSTS:
        low, typical, high = kept_range(scenario, catalog, job, count, time_s(count))
        gpus = count * job.gpus_per_host
        steps.append(Step(count, gpus, typical, low, high, gpus * typical * job.batch / job.native_s))
    network = scenario.network
    return Curve(network.link_gbit_s, network.transport, scenario.training.aggregation, chosen, tuple(steps))


def curves(scenario: Scenario, catalog: Catalog) -> tuple[Curve, ...]:
    """The scaling of the scenario's training job: its own link and transport first, then the alternatives."""
    job = scenario_job(scenario, catalog, catalog.row("network_workloads", scenario.training.workload))
    others = [(link, transport, scenario.training.links) for link, transport in NETWORKS]
    return beside(scenario, others, lambda other, chosen: curve(other, catalog, job, chosen=chosen))


def beside(
    scenario: Scenario, others: Sequence[tuple[int, str, int | None]], draw: Callable[[Scenario, bool], Curve]
) -> tuple[Curve, ...]:
    """The curve of a scenario, and curves with other links, transports and numbers of links."""
    network, training = scenario.network, scenario.training
    current = (network.link_gbit_s, network.transport in RDMA, training.links or 1)
    drawn = [draw(scenario, True)]
    for link, transport, links in others:
        if (link, transport in RDMA, links or 1) != current:
            other = replace(network, link_gbit_s=link, transport=transport)
            changed = replace(scenario, network=other, training=replace(training, links=links))
            drawn.append(draw(changed, False))
    return tuple(drawn)


def knee(scenario: Scenario, catalog: Catalog, job: Job) -> int:
    """Most hosts, up to ``MAX_HOSTS``, at which a GPU keeps the worthwhile share of its speed."""
    worth = float(catalog.assumptions["network-planning"].fact("worth_share").value)
    low, high, time_s = 0, MAX_HOSTS + 1, step_times(scenario, catalog, job)
    while high - low > 1:  # efficiency never rises with more hosts
        middle = (low + high) // 2
        if job.native_s / time_s(middle) >= worth:
            low = middle
        else:
            high = middle
    return low
