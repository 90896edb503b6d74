"""Training runs of language models for tests: 7, 13 and 70 x 10^9 parameters on hosts of eight H100."""

from __future__ import annotations

from typing import Any

from gpuplan.models.llm.training_setup import TrainingRun
from gpuplan.plan.trail import call

SHAPES: dict[str, tuple[float, int, int, int]] = {
    "7B": (6.74, 32, 4096, 32000),
    "13B": (13.0, 40, 5120, 32000),
    "70B": (69.0, 80, 8192, 32000),
}


def run(model: str = "7B", **changed: Any) -> TrainingRun:
    """A run on two hosts with 400 Gbit/s for each GPU, with what is changed."""
    parameters, layers, width, vocabulary = SHAPES[model]
    given: dict[str, Any] = {
        "parameters": parameters,
        "active_parameters": parameters,
        "layers": layers,
        "hidden_size": width,
        "attention_size": width,
        "vocabulary": vocabulary,
        "tied_embeddings": False,
        "sequence_tokens": 4096,
        "micro_batch": 1,
        "batch": 64,
        "method": "full",
        "recompute": False,
        "tensor_tflops": 989.0,
        "matmul_tflops": 989.0,
        "fp8": False,
        "memory_bandwidth_gb_s": 3350.0,
        "hosts": 2,
        "gpus_per_host": 8,
        "sharding": "full",
        "tensor": 1,
        "pipeline": 1,
        "context": 1,
        "gradient_bytes": 4.0,
        "intra_host_gb_s": 370.8,
        "link_gbit_s": 400.0,
        "links": 8,
        "transport": "infiniband",
    }
    made: TrainingRun = call(TrainingRun, given | changed)
    return made
