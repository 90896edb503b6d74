"""Retrieval by hand: throughput, passages, the index and its VMs."""

from __future__ import annotations

from typing import Any

import pytest

from gpuplan.models.llm.retrieval import (
    busy_gpus,
    database_vms,
    embedding_time_h,
    encoder_throughput,
    index_gib,
)


def test_an_encoder_by_hand() -> None:
    """bge-m3 on an H100 at all of its rate: 2 x 312 million products and 24 layers that look at 512 tokens."""
    found = encoder_throughput(
        0.568,
        passage_tokens=512,
        layers=24,
        attention_size=1024,
        vocabulary_parameters=0.256,
        tensor_tflops=989,
        compute_share=1.0,
    )
    assert found == pytest.approx(989e12 / (2 * 0.312e9 + 4 * 24 * 1024 * 512))
    half = encoder_throughput(0.568, passage_tokens=512, tensor_tflops=989, gpu_share=0.5)
    assert half == pytest.approx(encoder_throughput(0.568, passage_tokens=512, tensor_tflops=989) / 2)


def test_an_index_by_the_formula_of_its_source() -> None:
    """One million vectors of 768 numbers in FP32 with 16 neighbours: 1.2 x (3,072 + 256) bytes each."""
    assert index_gib(1e6, dimensions=768) == pytest.approx(1e6 * (768 * 4 + 256) * 1.2 / 2**30)
    assert index_gib(1e6, dimensions=768, dimension_bytes=1.0) < index_gib(1e6, dimensions=768) / 3


def test_a_copy_is_in_vms_of_its_own() -> None:
    assert database_vms(50, vm_memory_gib=64, copies=1) == 1
    assert database_vms(52, vm_memory_gib=64, copies=1) == 2
    assert database_vms(52, vm_memory_gib=64, copies=3) == 6


def test_gpus_and_hours() -> None:
    assert busy_gpus(0, request_tokens=100, throughput=1000) == 0
    assert busy_gpus(6, request_tokens=100, throughput=1000, busy_share=0.6) == pytest.approx(1.0)
    assert embedding_time_h(7200e3, gpus=2, throughput=1000) == 1.0


@pytest.mark.parametrize(
    ("function", "given", "name"),
    [
        (index_gib, {"vectors": 0, "dimensions": 8}, "vectors"),
        (database_vms, {"index_gib": 8, "vm_memory_gib": 8, "copies": 0}, "copies"),
        (busy_gpus, {"requests": -1, "request_tokens": 1, "throughput": 1}, "requests"),
        (
            encoder_throughput,
            {"parameters": 1, "passage_tokens": 1, "tensor_tflops": 1, "compute_share": 2},
            "share",
        ),
        (
            encoder_throughput,
            {"parameters": 1, "passage_tokens": 1, "tensor_tflops": 1, "vocabulary_parameters": 1},
            "vocabulary_parameters",
        ),
    ],
)
def test_bad_input_names_the_parameter(function: Any, given: dict[str, Any], name: str) -> None:
    with pytest.raises(ValueError, match=name):
        function(**given)
