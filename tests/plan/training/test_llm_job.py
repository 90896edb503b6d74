"""The training job of a scenario as a language model: its figures, its scaling, and what is said where it does not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan import make_plan
from gpuplan.plan.checks import check_plan
from gpuplan.plan.training.llm_job import job_curves, job_of, scenario_work, spread_words
from gpuplan.scenario import Scenario, ScenarioError, load_scenario


def with_job(link: int = 400, transport: str = "roce", gpu: str = "h100-sxm5-80gb", **job: Any) -> Scenario:
    base = load_scenario("starter")
    stated = {"model": "qwen2.5-7b", "links": 8, "hosts": 4} | job
    return replace(
        base,
        hardware=replace(base.hardware, gpu=gpu, gpus_per_host=8, server=None),
        network=replace(base.network, link_gbit_s=link, transport=transport),
        training=replace(base.training, **stated),
    )


def test_a_job_on_four_hosts(catalog: Catalog) -> None:
    plan = make_plan(with_job(samples=1_000_000_000), catalog)
    job = plan.network.training[-1]
    assert job.per_gpu is not None and job.mfu is not None and job.hours is not None
    low, each, high = job.per_gpu
    assert low < each < high
    assert job.per_s == pytest.approx(32 * each)
    assert job.hours == pytest.approx(1e9 / job.per_s / 3600, rel=1e-3)
    assert 0.4 < job.mfu < 0.6, "published: 0.40 to 0.46 with 2,048 tokens on MPT-7b"
    assert 0.8 < job.efficiency < 1
    assert job.step_s * job.efficiency == pytest.approx(job.compute_s)
    assert job.unit == "tokens" and "Qwen2.5 7B" in job.workload_name


def test_lines_lead_from_the_answer_to_model_board_and_fit(catalog: Catalog) -> None:
    lines = make_plan(with_job(samples=1_000_000_000), catalog).lines
    for name in ("compute_s", "exchange_s", "step_s", "efficiency", "per_s", "mfu", "memory_gib", "hours"):
        assert f"network.job.{name}" in lines
    step, compute = lines["network.job.step_s"], lines["network.job.compute_s"]
    assert {"network.job.compute_s", "network.job.exchange_s"} <= {given.key for given in step.inputs}
    assert "llm-foundry-benchmarks" in compute.sources
    assert "{" not in step.formula.format(**{given.name: 1 for given in step.inputs}, value=1, gpus_u="")


def test_more_hosts_train_faster_and_each_gpu_less_so(catalog: Catalog) -> None:
    own = job_curves(with_job(), catalog)[0]
    per_s = [step.per_s for step in own.steps]
    assert per_s == sorted(per_s)
    kept = [step.efficiency for step in own.steps]
    assert kept == sorted(kept, reverse=True)
    assert all(step.low <= step.efficiency <= step.high for step in own.steps)


def test_faster_networks_are_never_slower(catalog: Catalog) -> None:
    curves = {
        (c.link_gbit_s, c.transport, c.links): c for c in job_curves(with_job(10, "tcp", links=1), catalog)
    }
    for slow, fast in (
        ((10, "tcp", 1), (25, "tcp", 1)),
        ((25, "tcp", 1), (25, "roce", 1)),
        ((100, "roce", 1), (400, "roce", 8)),
    ):
        for one, other in zip(curves[slow].steps, curves[fast].steps, strict=True):
            assert one.per_s <= other.per_s * (1 + 1e-9)


def test_a_job_that_does_not_fit_is_shown_on_the_fewest_hosts_that_hold_it(catalog: Catalog) -> None:
    scenario = with_job(model="llama-3.1-70b").with_value("training.hosts", 1)
    assert job_of(scenario, catalog, 1) is None
    plan = make_plan(scenario, catalog)
    job = plan.network.training[-1]
    assert job.hosts == 3 and job_of(scenario, catalog, 2) is None
    assert job.memory_gib is not None and job.memory_gib <= 0.95 * 80
    assert "job-needs-hosts" in {each.code for each in check_plan(plan)}
    assert {step.hosts for step in job_curves(scenario, catalog)[0].steps} == {
        3,
        4,
        6,
        8,
        12,
        16,
        24,
        32,
        48,
        64,
    }


def test_what_would_help_is_tried(catalog: Catalog) -> None:
    slow = make_plan(with_job(25, "tcp", links=1, hosts=2), catalog).network.training[-1]
    assert slow.verdict == "bad" and slow.efficiency < 0.2
    assert any("links" in change for change in slow.changes)
    assert any("pipeline" in change for change in slow.changes)
    assert not make_plan(with_job(hosts=1), catalog).network.training[-1].changes


def test_a_model_that_no_host_can_train_is_refused(catalog: Catalog) -> None:
    with pytest.raises(ScenarioError, match=r"training\.model.*would help"):
        make_plan(with_job(model="llama-3.1-405b", gpu="t4-16gb", sharding="hybrid"), catalog)
    with pytest.raises(ScenarioError, match=r"training\.model.*BF16 instead of FP8"):
        make_plan(with_job(gpu="a100-sxm4-80gb", precision="fp8"), catalog)
    with pytest.raises(ScenarioError, match=r"training\.model.*qwen"):
        make_plan(with_job(model="qwen2.5"), catalog)


def test_what_is_stated_counts(catalog: Catalog) -> None:
    work = scenario_work(
        with_job(method="lora", micro_batch=2, batch=8, sequence_tokens=2048, sharding="hybrid")
    )
    assert (work.method, work.micro_batch, work.batch_per_gpu) == ("lora", 2, 8)
    use = job_of(with_job(micro_batch=2, batch=8, sequence_tokens=2048), catalog, 2)
    assert use is not None
    assert (use.run.micro_batch, use.run.batch, use.run.sequence_tokens) == (2, 128, 2048)
    assert spread_words(use.run).startswith("FSDP")


def test_a_file_without_a_model_means_the_same_as_before(catalog: Catalog) -> None:
    job = make_plan(load_scenario("starter"), catalog).network.training[-1]
    assert job.workload == "resnet-50-train-256" and job.per_gpu is None and job.mfu is None
