"""Training and tuning of a language model on the boards and the network of a scenario."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from gpuplan.catalog import Catalog
from gpuplan.plan.training.llm import LlmTraining, matmul_tflops, tuning, widths
from gpuplan.scenario import Scenario, load_scenario


@pytest.fixture
def scenario() -> Scenario:
    return on("h100-sxm5-80gb")


def on(gpu: str, **network: Any) -> Scenario:
    base = load_scenario("starter")
    hardware = replace(base.hardware, gpu=gpu, gpus_per_host=8)
    given = replace(base.network, **{"link_gbit_s": 400, "transport": "roce"} | network)
    return replace(base, hardware=hardware, network=given, training=replace(base.training, links=8))


LORA = LlmTraining(model="llama-3.1-70b", tokens=50e6, method="lora")


def test_lora_of_70b_takes_four_h100_and_a_night(scenario: Scenario, catalog: Catalog) -> None:
    found = tuning(scenario, catalog, LORA)
    assert (found.hosts, found.gpus_per_host) == (1, 4)
    assert found.memory.total_gib < 0.95 * 80
    assert found.hours is not None
    hours, low, high = found.hours
    assert hours == pytest.approx(50e6 / (4 * found.speed.value) / 3600)
    assert low < hours < high
    assert 2 < hours < 24
    assert found.basis == "fitted"


def test_more_gpus_take_less_time_and_hold_less(scenario: Scenario, catalog: Catalog) -> None:
    work = replace(LORA, micro_batch=1, recompute=True)
    four, eight = (tuning(scenario, catalog, work, hosts=1, gpus_per_host=n) for n in (4, 8))
    assert eight.hours and four.hours and eight.hours < four.hours
    assert eight.memory.total_gib < four.memory.total_gib


def test_full_takes_more_gpus_than_lora_and_qlora_fewer(scenario: Scenario, catalog: Catalog) -> None:
    counts = [
        found.hosts * found.gpus_per_host
        for found in (
            tuning(scenario, catalog, replace(LORA, method=how)) for how in ("qlora", "lora", "full")
        )
    ]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_a_board_without_a_published_step_says_so_and_is_wider(catalog: Catalog) -> None:
    known = tuning(on("h100-sxm5-80gb"), catalog, LORA)
    other = tuning(on("l40s-48gb"), catalog, LORA)
    assert other.basis == "assumed" and "L40S" in other.how
    assert other.speed.high / other.speed.low > known.speed.high / known.speed.low
    assert other.speed.value < known.speed.value
    wide, narrow = (widths(catalog, gpu, "full") for gpu in ("b200-sxm6-180gb", "h100-sxm5-80gb"))
    assert all(wide[end] >= narrow[end] for end in narrow)


def test_activations_are_computed_again_only_where_they_have_to_be(
    scenario: Scenario, catalog: Catalog
) -> None:
    small = LlmTraining(model="llama-3.1-8b", sequence_tokens=2048)
    assert not tuning(scenario, catalog, small, hosts=1, gpus_per_host=8).run.recompute
    long = replace(small, sequence_tokens=16384)
    assert tuning(scenario, catalog, long, hosts=1, gpus_per_host=8).run.recompute


def test_bad_input_says_what_would_work(scenario: Scenario, catalog: Catalog) -> None:
    with pytest.raises(ValueError, match="context is 131072"):
        tuning(scenario, catalog, replace(LORA, sequence_tokens=200_000))
    with pytest.raises(ValueError, match="BF16 instead of FP8"):
        tuning(on("a100-sxm4-80gb"), catalog, replace(LORA, precision="fp8"))
    with pytest.raises(ValueError, match="LoRA or QLoRA"):
        tuning(scenario, catalog, replace(LORA, method="full"), hosts=1, gpus_per_host=4)
    with pytest.raises(ValueError, match="a known one"):
        matmul_tflops(catalog, "p40-24gb", "bf16")


def test_the_fastest_run_that_fits_is_taken(scenario: Scenario, catalog: Catalog) -> None:
    """Over a slow network a pipeline moves least; over a fast one the weights may be spread."""
    job = LlmTraining(model="qwen2.5-7b")
    speeds = {}
    for how in ("full", "hybrid", "tensor-pipeline"):
        slow = on("h100-sxm5-80gb", link_gbit_s=25, transport="tcp")
        slow = replace(slow, training=replace(slow.training, links=1))
        found = tuning(slow, catalog, replace(job, sharding=how), hosts=2, gpus_per_host=8)
        speeds[how] = found.speed.value
        stated = replace(job, sharding=how, micro_batch=1, recompute=True)
        assert found.speed >= tuning(slow, catalog, stated, hosts=2, gpus_per_host=8).speed
        assert found.efficiency < 1
    assert speeds["full"] < speeds["hybrid"] < speeds["tensor-pipeline"]
