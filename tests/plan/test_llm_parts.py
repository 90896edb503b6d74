"""Language models and boards out of the catalog: those that are known, and what is said of the others."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest
from assistants import assistant

from gpuplan.catalog import Catalog
from gpuplan.models.llm.memory import Overheads, cache_bytes, weights_per_gpu_gib
from gpuplan.models.llm.shape import Setup
from gpuplan.models.llm.speeds import Speeds
from gpuplan.plan import make_plan
from gpuplan.plan.llm_parts import board_of, key_of, model_named, overheads_of, shape_of_row, speeds_of

KEPT = {
    "llama-3.1-70b": (327680, 0, 0),
    "qwen2.5-7b": (57344, 0, 0),
    "deepseek-v3": (70272, 0, 0),
    "deepseek-v3.2": (70272 + 15616, 0, 0),
    "minimax-m2.5": (253952, 0, 0),
    "minimax-m3": (122880 + 14592, 0, 0),
    "glm-5": (89856 + 19968, 0, 0),
    "phi-4": (204800, 0, 0),
    "qwen3.5-397b-a17b": (30720, 0, 192061440),
    "qwen3.6-27b": (65536, 0, 153944064),
    "nemotron-3-super-120b-a12b": (8192, 0, 170229760),
    "nemotron-3-nano-30b-a3b": (6144, 0, 49082368),
    "kimi-k3": (27648, 0, 449372160),
    "gemma-4-31b": (81920, 838860800, 0),
    "gemma-4-26b-a4b": (20480, 209715200, 0),
    "gemma-3-4b": (20480, 121634816, 0),
    "mimo-v2-flash-309b-a15b": (23040, 25559040, 0),
    "step-3.7-flash-198b-a11b": (49152, 69206016, 0),
    "deepseek-v4-pro": (9848, 7995392, 0),
    "llama-4-scout": (12 * 4096, 36 * 4096 * 8192, 0),
}
"""Model -> bytes at 16 bits that the sources of the shapes give: of each token, of a full window, of the state."""


@pytest.mark.parametrize("model", KEPT)
def test_a_request_keeps_what_the_source_of_the_shapes_says(catalog: Catalog, model: str) -> None:
    token, window, state = KEPT[model]
    shape = shape_of_row(catalog.row("llm_models", model))
    for tokens in (shape.window_tokens, 100_000, 200_000):
        assert cache_bytes(shape, tokens=tokens) == pytest.approx(token * tokens + window + state, rel=1e-5)
    if window:
        half = shape.window_tokens / 2
        assert cache_bytes(shape, tokens=half) == pytest.approx(token * half + window / 2, rel=1e-5)


def test_dense_models_have_the_parameters_of_their_shape(catalog: Catalog) -> None:
    for row in catalog.rows("llm_models"):
        if (
            row["kind"] != "generate"
            or row["experts"]
            or row["recurrent_layers"]
            or row["cache_width"]  # heads of two kinds
            or "two matrices" in row.note
        ):
            continue
        shape = shape_of_row(row)
        heads = row["heads"] + 2 * row["kv_heads"] + row["heads"]
        layer = shape.hidden_size * row["head_size"] * heads + 3 * shape.hidden_size * row["mlp_size"]
        counted = shape.layers * layer / 1e9 + shape.embedding_parameters
        assert counted == pytest.approx(row["total_parameters"], rel=0.005), row.id


def test_every_model_that_generates_has_a_shape(catalog: Catalog) -> None:
    for row in catalog.rows("llm_models"):
        if row["kind"] == "generate":
            assert shape_of_row(row).layers
    with pytest.raises(ValueError, match="nv-embedqa-e5-v5: it needs layers"):
        shape_of_row(catalog.row("llm_models", "nv-embedqa-e5-v5"))


def test_boards_have_links_and_the_memory_that_the_driver_shows(catalog: Catalog) -> None:
    h100, l40s = (board_of(catalog, catalog.gpus[id]) for id in ("h100-sxm5-80gb", "l40s-48gb"))
    assert (h100.memory_gib, h100.link_gb_s, h100.fp8_tflops) == (79.19, 450, 1978)
    assert (l40s.memory_gib, l40s.link_gb_s, l40s.rate_tflops("nvfp4")) == (44.99, 32, 362)
    a100 = board_of(catalog, catalog.gpus["a100-sxm4-80gb"])
    assert a100.rate_tflops("fp8") == a100.fp16_tflops == 312
    assert board_of(catalog, catalog.row("llm_boards", "gb200-nvl72-186gb")).fp4_tflops == 10000
    slow, fitted = (board_of(catalog, catalog.gpus[id]) for id in ("l40s-48gb", "rtx-pro-6000-se-96gb"))
    assert [slow.sum_gb_s(gpus, 0.9) for gpus in (2, 4, 8, 16)] == [20.1, 5.2, 1.4, 1.4]  # as NCCL measured
    assert fitted.sum_gb_s(4, 0.9) == pytest.approx(0.9 * 64)  # runs on several of them were fitted with
    bridged = board_of(catalog, catalog.gpus["a100-pcie-80gb"])
    assert [bridged.sum_gb_s(gpus, 1) for gpus in (2, 4)] == [300, 32]  # a bridge joins two
    assert board_of(catalog, catalog.gpus["a100-sxm4-80gb"]).sum_gb_s(8, 1) == 300
    with pytest.raises(ValueError, match="Tesla P40: its tensor rate is not known"):
        board_of(catalog, catalog.gpus["p40-24gb"])


def test_the_parameters_of_the_catalog_are_those_of_the_models(catalog: Catalog) -> None:
    assert asdict(speeds_of(catalog)) == pytest.approx(asdict(Speeds()), rel=1e-3)
    assert asdict(overheads_of(catalog)) == pytest.approx(asdict(Overheads()), rel=1e-3)


def test_published_runs_of_another_name_are_runs_of_the_model(catalog: Catalog) -> None:
    for name, id in (("Mistral-7B", "mistral-7b-v0.3"), ("DeepSeek-V3.1", "deepseek-v3")):
        row = model_named(catalog, name)
        assert row is not None and row.id == id
        assert any(run["model"] == name for run in catalog.rows("llm_runs"))
    assert model_named(catalog, "no such model 9B") is None
    board = next(run["gpu"] for run in catalog.rows("llm_runs") if run["model"] == "Mistral-7B")
    plan = make_plan(assistant({"gpu": board}, model="mistral-7b-v0.3", replica_gpus=1), catalog)
    assert plan.llm.serving["assistant"].unseen == ""


def test_endings_and_makers_are_no_part_of_a_name() -> None:
    assert key_of("mistralai/Mistral-7B-Instruct") == key_of("Mistral 7B")


def test_a_published_checkpoint_of_mixed_precision_is_counted_as_it_is(catalog: Catalog) -> None:
    """Llama 3.1 405B in FP8: vLLM printed 57.75 GiB of weights a GPU on 8 in July 2024, with 1.0 GiB more of keys and values."""
    shape = shape_of_row(catalog.row("llm_models", "llama-3.1-405b"))
    setup = Setup("fp8", "bf16", tensor=8)
    assert weights_per_gpu_gib(shape, setup=setup) == pytest.approx(57.75 - 1.0, rel=0.005)
    assert weights_per_gpu_gib(shape, setup=replace(setup, kept="none")) == pytest.approx(47.7, rel=0.005)
