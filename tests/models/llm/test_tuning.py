"""Memory of training and tuning by hand, against published runs, and the fewest GPUs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from llm_runs import run

from gpuplan.models.llm.tuning import GIB, adapter_parameters, fewest_gpus, layer_splits, tuning_memory


def test_full_training_holds_sixteen_bytes_a_parameter_on_one_gpu() -> None:
    alone = tuning_memory(run("7B", hosts=1, gpus_per_host=1))
    assert alone.weights_gib + alone.states_gib == pytest.approx(16 * 6.74e9 / GIB)


def test_sharding_divides_by_all_gpus_by_those_of_a_host_or_not_the_weights() -> None:
    full, hybrid, gradients = (
        tuning_memory(run("7B", sharding=how)) for how in ("full", "hybrid", "gradients")
    )
    assert full.states_gib == pytest.approx(14 * 6.74e9 / 16 / GIB)
    assert hybrid.states_gib == pytest.approx(2 * full.states_gib)
    assert gradients.weights_gib == pytest.approx(2 * 6.74e9 / GIB)
    assert full.total_gib < hybrid.total_gib < gradients.total_gib


def test_adapters_by_hand() -> None:
    """Rank 64 on 7 products of 32 layers: four of 4,096 x 4,096, three of 4,096 x 11,008."""
    found = adapter_parameters(
        64, layers=32, hidden_size=4096, attention_size=4096, kv_size=4096, mlp_size=11008
    )
    assert found == pytest.approx(64 * 32 * (4 * 2 * 4096 + 3 * (4096 + 11008)) / 1e9)


def test_recomputing_holds_less_and_longer_sequences_more() -> None:
    kept = tuning_memory(run("7B"))
    again = tuning_memory(run("7B", recompute=True))
    long = tuning_memory(run("7B", sequence_tokens=8192))
    assert again.activations_gib < kept.activations_gib / 3
    assert long.activations_gib == pytest.approx(2 * kept.activations_gib)
    assert kept.states_gib == again.states_gib == long.states_gib


def test_lora_holds_the_weights_and_qlora_a_quarter() -> None:
    lora = tuning_memory(run("70B", method="lora"), adapters=0.2)
    qlora = tuning_memory(run("70B", method="qlora"), adapters=0.2)
    full = tuning_memory(run("70B"))
    assert qlora.total_gib < lora.total_gib < full.total_gib
    assert lora.states_gib == qlora.states_gib == pytest.approx(14 * 0.2e9 / 16 / GIB)


def test_fewest_gpus() -> None:
    """Full tuning of 7 x 10^9 needs 108 GB of weights and states: two H100; of 70 x 10^9 1,104 GB, and activations: three hosts of eight."""
    small, large = run("7B", recompute=True), run("70B", recompute=True)
    assert fewest_gpus(small, memory_gib=80) == (1, 2)
    assert fewest_gpus(large, memory_gib=80) == (3, 8)
    assert fewest_gpus(replace(large, method="lora"), memory_gib=80, adapters=0.2) == (1, 4)
    assert fewest_gpus(replace(large, method="qlora"), memory_gib=80, adapters=0.2) == (1, 1)
    more = fewest_gpus(large, memory_gib=141)
    assert more[0] * more[1] <= 24
    with pytest.raises(ValueError, match="LoRA or QLoRA"):
        fewest_gpus(large, memory_gib=16, max_hosts=4)


def test_splits_fit_and_those_that_are_left_out_do_not() -> None:
    base = run("70B", hosts=8, sharding="tensor-pipeline")
    found = layer_splits(base, memory_gib=80)
    assert [(each.tensor, each.pipeline) for each in found] == [(8, 1), (8, 2), (8, 4), (8, 8)]
    assert all(tuning_memory(each).total_gib <= 0.95 * 80 for each in found)
    assert tuning_memory(replace(base, tensor=4)).total_gib > 0.95 * 80
    with pytest.raises(ValueError, match="More hosts"):
        layer_splits(run("70B", hosts=1, sharding="tensor-pipeline"), memory_gib=40)
