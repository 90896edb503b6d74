"""Scaling over hosts: curves, and the most hosts that are worth it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan.training.scaling import (
    HOSTS,
    MAX_HOSTS,
    Job,
    curves,
    kept_range,
    knee,
    scenario_job,
    step_time_s,
)
from gpuplan.scenario import Network, Scenario, Training


def kept(scenario: Scenario, catalog: Catalog, job: Job, hosts: int) -> tuple[float, float, float]:
    return kept_range(scenario, catalog, job, hosts, step_time_s(scenario, catalog, job, hosts))


def design(network: Network, training: Training) -> Scenario:
    plain = Scenario()
    hardware = replace(plain.hardware, gpu="v100-pcie-32gb", gpus_per_host=4)
    return replace(plain, network=network, training=training, hardware=hardware)


def test_the_curves(catalog: Catalog) -> None:
    scenario = design(Network(link_gbit_s=25, transport="pvrdma"), Training(workload="bert-base-squad-32"))
    found = curves(scenario, catalog)
    assert [c.chosen for c in found] == [True] + [False] * (len(found) - 1)
    assert (found[0].link_gbit_s, found[0].transport) == (25, "pvrdma")
    assert (25, "roce") not in [(c.link_gbit_s, c.transport) for c in found]  # the same as the chosen one
    best = max(found, key=lambda c: c.link_gbit_s)
    for curve in found:
        assert tuple(s.hosts for s in curve.steps) == HOSTS
        assert [s.gpus for s in curve.steps] == [4 * n for n in HOSTS]
        for step, fast in zip(curve.steps, best.steps, strict=True):
            assert 0 < step.low <= step.efficiency <= step.high <= 1
            assert step.efficiency <= fast.efficiency + 1e-12
            alone = curve.steps[0].per_s / curve.steps[0].gpus / curve.steps[0].efficiency
            assert step.per_s == pytest.approx(step.gpus * step.efficiency * alone)
    at_four = next(s for s in found[0].steps if s.hosts == scenario.training.hosts)
    job = scenario_job(scenario, catalog, catalog.row("network_workloads", "bert-base-squad-32"))
    low, typical, high = kept(scenario, catalog, job, scenario.training.hosts)
    assert (at_four.low, at_four.efficiency, at_four.high) == (low, typical, high)


def test_the_knee_is_the_last_number_of_hosts_that_is_worth_it(catalog: Catalog) -> None:
    worth = float(catalog.assumptions["network-planning"].fact("worth_share").value)
    inside = 0
    for preset in catalog.rows("network_workloads"):
        if preset["phase"] != "training":
            continue
        for link in (10, 100):
            scenario = design(Network(link_gbit_s=link), Training(workload=preset.id, gpus_per_host=1))
            job = scenario_job(scenario, catalog, preset)
            found = knee(scenario, catalog, job)
            kept = [job.compute_s / step_time_s(scenario, catalog, job, n) for n in range(1, MAX_HOSTS + 1)]
            assert all(k >= worth for k in kept[:found])
            assert found == MAX_HOSTS or kept[found] < worth
            inside += 1 < found < MAX_HOSTS
    assert inside


def test_the_knee_is_0_where_one_host_already_loses_too_much(catalog: Catalog) -> None:
    """16 fast GPUs on PCIe 3.0 sum VGG-16 more slowly than they compute it."""
    training = Training(workload="vgg-16-train-64", hosts=1, gpus_per_host=16, gpu_samples_per_s=2_000.0)
    scenario = design(Network(link_gbit_s=400, transport="roce"), training)
    job = scenario_job(scenario, catalog, catalog.row("network_workloads", training.workload))
    assert knee(scenario, catalog, job) == 0
    worth = float(catalog.assumptions["network-planning"].fact("worth_share").value)
    assert kept(scenario, catalog, job, 1)[1] < worth
