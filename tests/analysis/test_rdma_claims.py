"""The vendor's claim that PVRDMA doubles the efficiency: the TCP rate at which it holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.analysis.rdma_claims import claims
from gpuplan.catalog import Catalog
from gpuplan.models.network import GpuHosts, Link, Overlap
from gpuplan.models.network.training import training_step_s
from gpuplan.plan.training.scaling import scenario_job
from gpuplan.plan.training.speed import tcp_rate
from gpuplan.scenario import Scenario, Training


def test_claims_come_true_at_the_rate_they_name(catalog: Catalog) -> None:
    """TCP at that rate makes PVRDMA on four T4 hosts exactly twice as fast."""
    found = claims(Scenario(), catalog)
    assert {c.workload for c in found} == {
        r.id for r in catalog.rows("network_workloads") if r["phase"] == "training"
    }
    for claim in found:
        preset = catalog.row("network_workloads", claim.workload)
        network = catalog.row("neural_networks", preset["neural_network"])
        scenario = Scenario(
            training=Training(workload=claim.workload), hardware=replace(Scenario().hardware, gpu="t4-16gb")
        )
        job = scenario_job(scenario, catalog, preset)
        gradient_mb, overlap = network["parameters"] * 4 / 1e6, Overlap(network["late_share"])
        tcp, rdma = (
            training_step_s(job.compute_s, gradient_mb=gradient_mb, over=GpuHosts(4, link), overlap=overlap)
            for link in (Link(100, "tcp", claim.tcp_gbit_s), Link(100, "pvrdma"))
        )
        assert 0 < claim.tcp_gbit_s < 100
        assert tcp / rdma == pytest.approx(2, rel=1e-6), claim
        assert claim.efficiency_rdma == pytest.approx(job.compute_s / rdma)
        assert claim.speedup == pytest.approx(claim.efficiency_rdma / claim.efficiency_tcp)
        planned = float(tcp_rate(Scenario(), catalog, 100).value)
        assert (claim.speedup > 2) is (claim.tcp_gbit_s > planned)
        # the faster TCP is, the less RDMA is worth
        assert 1 < claim.speedup_low < claim.speedup < claim.speedup_high, claim
