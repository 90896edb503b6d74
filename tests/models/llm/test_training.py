"""Time of a micro-batch and of a step by hand, and what no training can do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from network_jobs import flat

from gpuplan.models.llm import training
from gpuplan.models.llm.training import (
    _exposed_s,
    model_flops_share,
    speed_range,
    tokens_time_h,
)

micro_batch_s, llm_step_s = flat(training.micro_batch_s), flat(training.llm_step_s)

WORK: dict[str, Any] = {
    "sequence_tokens": 2048,
    "active_parameters": 7.0,
    "layers": 32,
    "hidden_size": 4096,
    "attention_size": 4096,
    "vocabulary": 32000,
    "tensor_tflops": 989.0,
    "matmul_tflops": 989.0,
    "memory_bandwidth_gb_s": 3350.0,
}
ONLY_PRODUCTS: dict[str, Any] = {
    "layer_bytes": 0.0,
    "logit_bytes": 0.0,
    "layer_us": 0.0,
    "attention_per_byte": 1e12,
    "matmul_share": 1.0,
    "head_share": 1.0,
}


def test_products_alone_are_six_operations_for_each_parameter_but_those_of_the_input_table() -> None:
    seconds = micro_batch_s(1000, **WORK | ONLY_PRODUCTS)
    assert seconds == pytest.approx(6 * (7e9 - 32000 * 4096) * 1000 / 989e12)


def test_frozen_weights_save_a_third_and_recomputing_costs_a_third() -> None:
    full = micro_batch_s(1000, **WORK | ONLY_PRODUCTS)
    assert micro_batch_s(1000, **WORK | ONLY_PRODUCTS, method="lora") == pytest.approx(2 / 3 * full)
    again = micro_batch_s(1000, **WORK | ONLY_PRODUCTS, recompute=True, recompute_share=1.0)
    assert again == pytest.approx(4 / 3 * full, rel=0.02), "the logits are not computed again"


def test_attention_grows_with_the_sequence_and_nothing_else_does() -> None:
    short, double, four = (micro_batch_s(8192, **WORK | {"sequence_tokens": n}) for n in (1024, 2048, 3072))
    assert double - short == pytest.approx(four - double)
    assert double > short


@given(st.floats(1, 1e6), st.sampled_from(("full", "lora", "qlora")), st.booleans())
def test_never_above_the_tensor_rate(tokens: float, method: str, again: bool) -> None:
    seconds = micro_batch_s(tokens, **WORK, method=method, recompute=again)
    passes = 3 if method == "full" else 2
    assert seconds > 2 * passes * (7e9 - 2 * 32000 * 4096) * tokens / 989e12


def test_more_bandwidth_or_a_higher_rate_is_never_slower() -> None:
    base = micro_batch_s(8192, **WORK)
    assert micro_batch_s(8192, **WORK | {"memory_bandwidth_gb_s": 6700.0}) < base
    assert micro_batch_s(8192, **WORK | {"matmul_tflops": 1979.0}) < base


def test_layers_started_one_by_one_have_a_least_time() -> None:
    """1,024 and 256 tokens take alike; four bits have to be unpacked for every pass."""
    eager = {**WORK, "method": "lora", "eager": True, "start_us": 2560.0, "unpack_bytes": 29.1}
    assert micro_batch_s(16, **eager) == micro_batch_s(32, **eager) == pytest.approx(2560e-6 * 32 * 2)
    large = {**eager, "active_parameters": 70.0, "layers": 80, "hidden_size": 8192}
    unpacked = micro_batch_s(256, **large | {"method": "qlora"}) - micro_batch_s(
        256, **large | {"start_us": 0}
    )
    assert unpacked == pytest.approx(29.1 * (70e9 - 2 * 32000 * 8192) * 2 / 3350e9)


def test_an_exchange_hides_behind_computing_up_to_a_share() -> None:
    assert _exposed_s(1.0, compute_s=10.0, exposed_share=0.7, overlap_share=0.5) == 0.7
    assert _exposed_s(100.0, compute_s=10.0, exposed_share=0.7, overlap_share=0.5) == 95.0
    assert _exposed_s(0.0, compute_s=10.0, exposed_share=0.7, overlap_share=0.5) == 0.0


def test_a_pipeline_idles_for_its_stages_and_less_with_more_micro_batches() -> None:
    few = llm_step_s(1.0, micro_batches=4, stages=4, interleaved=0.0) / 4
    many = llm_step_s(1.0, micro_batches=32, stages=4, interleaved=0.0) / 32
    assert few == 1 + 3 / 4
    assert many == 1 + 3 / 32
    assert llm_step_s(1.0, micro_batches=4, stages=4, interleaved=1.0) / 4 == 1 + 3 / 8
    assert llm_step_s(1.0, micro_batches=4) == 4.0


def test_mfu_of_published_runs() -> None:
    """42.57 % of 64 H100 with MPT-70b, 71.1 / 4 x 3 = 53.33 % of A100, as their table prints it."""
    shape = {"active_parameters": 64.8624, "layers": 80, "attention_size": 8192, "sequence_tokens": 2048}
    assert model_flops_share(1039, **shape, matmul_tflops=989.4) == pytest.approx(0.4257, rel=1e-3)
    assert model_flops_share(410, **shape, matmul_tflops=312) == pytest.approx(0.5333, rel=2e-3)


def test_hours_and_ranges_by_hand() -> None:
    assert tokens_time_h(3.6e6, gpus=10, tokens_per_gpu=100.0) == 1.0
    low, high = speed_range(
        100,
        efficiency=1.0,
        slower_share=0.25,
        faster_share=0.1,
        network_slower_share=0.5,
        network_faster_share=0.5,
    )
    assert (low, high) == (80.0, pytest.approx(110.0))


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"method": "adapter"}, "method"),
        ({"active_parameters": 0.0}, "active_parameters"),
        ({"layers": 0}, "layers"),
        ({"memory_bandwidth_gb_s": float("nan")}, "memory_bandwidth_gb_s"),
        ({"matmul_tflops": -1.0}, "matmul_tflops"),
    ],
)
def test_bad_input_names_the_parameter(changed: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        micro_batch_s(1000, **WORK | changed)
