"""Runs of language models in the terms of the models: names, and what is not stated."""

from __future__ import annotations

from dataclasses import replace

import pytest
from approved import is_approved

from gpuplan.analysis.llm_predictions import predict
from gpuplan.analysis.llm_runs import NotPredicted, Run, gpu_of, model_of, work_of
from gpuplan.catalog import Catalog
from gpuplan.models.llm.shape import Setup
from gpuplan.plan.llm_parts import ALIKE, key_of, model_named

CLOSED = Run(
    *("own", "Llama-3.1-70B", "h100-sxm5-80gb"),
    precision_weights="fp8",
    tp=4,
    isl=1024,
    osl=1024,
    concurrency=16,
    tpot_ms=13.2,
    mode="concurrency",
    framework="vllm",
)


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("Llama-3.1-70B", "llama-3.1-70b"),
        ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
        ("Qwen3-235B-A22B", "qwen3-235b-a22b"),
        ("Qwen/Qwen3-235B-A22B-FP8", "qwen3-235b-a22b"),
        ("gpt-oss-120b", "gpt-oss-120b"),
        ("DeepSeek-V3.1", "deepseek-v3"),
        ("DeepSeek R1", "deepseek-r1"),
        ("Mistral-Nemo-12B", "mistral-nemo-12b"),
        ("Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"),
        ("Mixtral-8x7B-v0.1", "mixtral-8x7b"),
    ],
)
def test_models_are_known_as_sources_write_them(catalog: Catalog, name: str, id: str) -> None:
    row, _ = model_of(catalog, Run("x", name, "h100-sxm5-80gb"))
    assert row is not None and row.id == id


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("h100-sxm5-80gb", "h100-sxm5-80gb"),
        ("NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"),
        ("H100 PCIe", "h100-pcie-80gb"),
        ("H200 NVL", "h200-nvl-141gb"),
        ("A100-SXM4-40GB", "a100-sxm4-40gb"),
        ("NVIDIA L40S", "l40s-48gb"),
        ("RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-se-96gb"),
        ("GB200", "gb200-nvl72-186gb"),
        ("L4", "l4-24gb"),
    ],
)
def test_boards_are_known_as_drivers_and_sources_write_them(catalog: Catalog, name: str, id: str) -> None:
    assert gpu_of(catalog, name).id == id


@pytest.mark.parametrize("name", ("Foo-40B-A5B", "Foo-70B", "nvidia/Unheard-Of-8B-FP8", "llama-9-12b"))
def test_a_model_without_a_shape_is_never_taken_as_dense(catalog: Catalog, name: str) -> None:
    run = replace(CLOSED, model=name, params_b=70.0)
    with pytest.raises(NotPredicted) as error:
        model_of(catalog, run)
    assert is_approved(str(error.value), name)
    assert all(prediction.predicted is None for prediction in predict(catalog, [run]))


def test_models_of_the_same_shape_are_known_by_their_own_names(catalog: Catalog) -> None:
    for name in ALIKE:
        row, shape = model_of(catalog, replace(CLOSED, model=name))
        assert row.id == ALIKE[name] and shape.layers


def test_empty_cells_are_taken_as_engines_do(catalog: Catalog) -> None:
    bare = replace(
        CLOSED, framework="", framework_version="x", tp=None, gpus=4, mode="", precision_weights=""
    )
    work = work_of(catalog, bare)
    assert [setup for setup, _, _ in work.setups] == [Setup("bf16", tensor=4, tuned=False)], (
        "all its GPUs together"
    )
    (found,) = predict(catalog, [bare])
    assert found.predicted and found.predicted > 5
    assert key_of("meta-llama/Meta-Llama-3.1-8B-Instruct") == key_of("Llama 3.1 8B")


def test_a_run_that_names_its_checkpoint_has_the_parts_of_that(catalog: Catalog) -> None:
    for row in catalog.rows("llm_checkpoints"):
        name = str(row["repository"])
        if model_named(catalog, name) is None:
            continue
        run = replace(
            CLOSED, model=name, precision_weights=row["precision"], gpu="b200-sxm6-180gb", tp=16, gpus=16
        )
        assert {setup.kept for setup, *_ in work_of(catalog, run).setups} == {row["kept"]}, name
        other = replace(run, model=str(row["model"]))
        assert {setup.kept for setup, *_ in work_of(catalog, other).setups} == {""}
