"""Conditions for the vendor's claim that PVRDMA doubles the efficiency of training on four hosts."""

from dataclasses import dataclass
from typing import Any

from gpuplan.catalog import Catalog
from gpuplan.models.network import GpuHosts, Link, Overlap
from gpuplan.models.network.training import tcp_rate_for_speedup_gbit_s, training_step_s
from gpuplan.plan.training.scaling import GRADIENT_BYTES
from gpuplan.plan.training.speed import gpu_speed, tcp_rate
from gpuplan.scenario import Scenario

CLAIMED_GBIT_S = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """Condition for the vendor's "twice the efficiency with PVRDMA on four nodes with T4" on one network."""

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


def claims(scenario: Scenario, catalog: Catalog) -> tuple[Claim, ...]:
    """Return the TCP rate that makes PVRDMA twice as efficient on four hosts with a T4 each and 100 Gbit/s."""
    tcp = tcp_rate(scenario, catalog, CLAIMED_GBIT_S)
    rates = [float(rate) for rate in (tcp.value, tcp.high or tcp.value, tcp.low or tcp.value)]
    results = []
    for preset in catalog.rows("network_workloads"):
        if preset["phase"] != "training" or not preset["neural_network"]:
            continue
        network = catalog.row("neural_networks", preset["neural_network"])
        compute_s = preset["batch"] / float(gpu_speed(catalog, preset, "t4-16gb").per_s.value)
        over = GpuHosts(4, Link(CLAIMED_GBIT_S, "pvrdma"))
        gradient_mb = network["parameters"] * GRADIENT_BYTES["fp32"] / 1e6
        values: dict[str, Any] = {"gradient_mb": gradient_mb, "overlap": Overlap(network["late_share"])}
        rdma = training_step_s(compute_s, **values, over=over)
        links = (Link(CLAIMED_GBIT_S, "tcp", rate) for rate in rates)
        usual, fast, slow = (training_step_s(compute_s, **values, over=GpuHosts(4, link)) for link in links)
        efficiency, speedups = (compute_s / usual, compute_s / rdma), (fast / rdma, usual / rdma, slow / rdma)
        rate = tcp_rate_for_speedup_gbit_s(compute_s, speedup=2.0, over=over, **values)
        results.append(Claim(preset.id, preset["name"], *efficiency, *speedups, rate))
    return tuple(results)
