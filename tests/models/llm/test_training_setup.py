"""Records of a training run: what follows from how it is spread, and what they refuse."""

from __future__ import annotations

import pytest
from llm_runs import run

from gpuplan.models.llm import TrainingBoard, Transformer


def test_copies_share_the_sequences_of_a_step() -> None:
    whole = run("7B", batch=64, micro_batch=2)
    assert (whole.gpus, whole.parts, whole.micro_batches) == (16, 1, 2)
    split = run("7B", batch=64, micro_batch=2, tensor=8, sharding="tensor-pipeline")
    assert (split.parts, split.micro_batches) == (8, 16), "two copies of eight GPUs"
    assert run("7B", batch=1, micro_batch=2).micro_batches == 1


def test_the_same_run_on_other_hosts() -> None:
    there = run("7B").on(4, 2)
    assert (there.over.hosts, there.over.gpus_per_host, there.gpus) == (4, 2, 8)
    assert there.over.link == run("7B").over.link


def test_tied_embeddings_are_one_table() -> None:
    tables = [Transformer(7, 32, 4096, 4096, 32000, tied_embeddings=tied).tables for tied in (True, False)]
    assert tables == [32000 * 4096, 2 * 32000 * 4096]


@pytest.mark.parametrize("field", ["tensor_tflops", "matmul_tflops", "memory_bandwidth_gb_s", "head_share"])
def test_a_board_refuses(field: str) -> None:
    rates = {"tensor_tflops": 989, "matmul_tflops": 989, "memory_bandwidth_gb_s": 3350}
    with pytest.raises(ValueError, match=f"{field} is 0"):
        TrainingBoard(**rates | {field: 0})
