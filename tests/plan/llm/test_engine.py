"""A language model on a board: sizes of a replica, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from assistants import assistant

from gpuplan import make_plan
from gpuplan.catalog import Catalog
from gpuplan.plan.llm.asks import Asks
from gpuplan.plan.llm.engine import Engine, engine_of, unpacked
from gpuplan.scenario import ScenarioError


def engine(catalog: Catalog, **given: Any) -> Engine:
    scenario = assistant(**given)
    return engine_of(Asks(scenario, catalog, scenario.groups[0]))


def test_a_replica_is_a_part_of_a_gpu_or_a_power_of_two_in_one_host(catalog: Catalog) -> None:
    assert engine(catalog).sizes == (0.125, 0.25, 0.5, 1, 2, 4, 8)
    assert engine(catalog, hardware={"gpus_per_host": 4}).sizes[-1] == 4
    assert engine(catalog, access="passthrough").sizes == (1, 2, 4, 8)
    assert engine(catalog, replica_gpus=4).sizes == (4,)
    # the heads of 28 do not divide by 8
    assert engine(catalog, model="qwen2.5-7b", access="passthrough").sizes == (1, 2, 4)


@pytest.mark.parametrize(
    ("given", "field", "allowed"),
    [
        ({"replica_gpus": 3}, "replica_gpus", "1, 2, 4, 8"),
        ({"replica_gpus": 0.25, "access": "passthrough"}, "replica_gpus", "1, 2, 4, 8: profiles"),
        # 2g.20gb has three tenths of the compute, to the nearest slice, and a quarter of the memory
        ({"replica_gpus": 0.3, "access": "mig"}, "replica_gpus", "1/8, 1/4, 1/2, 1, 2, 4, 8"),
        ({"weights": "nvfp4"}, "weights", "bf16, fp8, int8, int4"),
        ({"weights": "fp8", "hardware": {"gpu": "v100-sxm2-32gb"}}, "weights", "bf16, int8, int4"),
        ({"model": "nv-embed-v2", "use_case": "llm-serving"}, "model", "not known"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(
    catalog: Catalog, given: dict[str, Any], field: str, allowed: str
) -> None:
    with pytest.raises(ScenarioError) as error:
        engine(catalog, **given)
    [problem] = error.value.problems
    assert problem.path == f"groups.assistant.{field}"
    assert allowed in problem.message


def test_fp8_on_ampere_is_unpacked_as_published_runs_do(catalog: Catalog) -> None:
    assert unpacked(engine(catalog, hardware={"gpu": "a100-sxm4-80gb"}), catalog)
    assert not unpacked(engine(catalog), catalog)


def test_half_a_gpu_has_half_of_everything(catalog: Catalog) -> None:
    found = engine(catalog)
    whole, half = found.on(1).board, found.on(0.5).board
    assert half.memory_gib == whole.memory_gib / 2 and half.bandwidth_gb_s == whole.bandwidth_gb_s / 2
    assert found.on(0.5).setup.gpus == 1
    whole, part = (found.on(gpus).ranges.token for gpus in (1, 0.5))
    assert part[0] <= whole[0] and part[1] > whole[1], "no run on a part of a board was published"


def test_weights_have_the_parts_of_the_published_checkpoint(catalog: Catalog) -> None:
    for row in catalog.rows("llm_checkpoints"):
        assert row.id == f"{row['model']}-{row['precision']}"
    big = engine(catalog, model="llama-3.1-405b", weights="fp8")
    assert big.kept.value == "attention and ends" and big.kept.basis == "derived"
    assert big.held(8).weights_gib == pytest.approx(56.7, abs=0.1)
    assert big.on(8).setup.kept == "attention and ends"


def test_parts_of_an_unknown_checkpoint_are_assumed(catalog: Catalog) -> None:
    usual = engine(catalog, model="llama-3.1-8b", weights="fp8")
    assert usual.kept.value == "none" and usual.kept.basis == "assumed"
    experts = engine(catalog, model="mixtral-8x7b", weights="int4")
    assert experts.kept.value == "rest" and experts.kept.basis == "assumed"


def test_modes_of_a_model_follow_the_table_of_the_vendor(catalog: Catalog) -> None:
    """NIM serves models of vision and language on no vGPU, and on MIG those of up to 8 billion parameters."""
    hardware = {"gpu": "h200-nvl-141gb", "gpus_per_host": 4}

    def modes(model: str, **given: Any) -> tuple[str, dict[str, str]]:
        plan = make_plan(assistant(model=model, weights="bf16", hardware=hardware, **given), catalog)
        [group] = plan.groups
        return group.mode, {each.mode: each.reason.code for each in group.ruled_out}

    assert modes("qwen3-vl-8b") == ("passthrough", modes("qwen3-vl-8b")[1])
    assert modes("qwen3-vl-8b")[1]["vgpu"] == "vision-model-no-vgpu"
    assert modes("qwen3-vl-8b", access="vgpu")[0] == "vgpu"
    assert modes("qwen3-8b")[0] == "vgpu"
    assert modes("phi-4", isolation=True)[1]["mig"] in ("large-model-no-mig", "whole-gpu-needs-no-slice")
    assert set(engine(catalog, model="qwen3-vl-8b").sizes) == {1, 2, 4, 8}
    assert {0.125, 0.25, 0.5} & set(engine(catalog, model="qwen3-8b").sizes)


def test_prompts_longer_than_any_published_are_said_and_have_wider_ranges(catalog: Catalog) -> None:
    longest = max(row["isl"] or 0 for row in catalog.rows("llm_runs"))
    usual, beyond = (
        engine(catalog, tokens_in=int(tokens), tokens_out=100) for tokens in (longest, longest + 1000)
    )
    assert not usual.unseen and beyond.unseen
    assert beyond.on(8).ranges.token[1] >= usual.on(8).ranges.token[1]


def test_a_replica_may_be_larger_than_a_bridge_over_whose_end_sums_are_slower(catalog: Catalog) -> None:
    bridged = engine(catalog, hardware={"gpu": "h200-nvl-141gb"})
    assert bridged.sizes[-1] == 8
    assert bridged.board.sum_gb_s(4, 1) > 2 * bridged.board.sum_gb_s(8, 1)
