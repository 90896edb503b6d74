"""A model from its config.json: parameters and cache as published, and what is missing or impossible by its name."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from typing import Any

import pytest
from model_configs import MORE, config_of
from random_cases import cases

from gpuplan.catalog import Catalog
from gpuplan.models.llm.shape import shape_of
from gpuplan.plan.llm.config import NAMES, ConfigError, read_config

ROUNDED = (
    *("qwen3.5-35b-a3b", "qwen3.6-35b-a3b", "qwen3-next-80b-a3b", "qwen3.5-122b-a10b", "gemma-4-26b-a4b"),
    *("nemotron-3-nano-30b-a3b", "nemotron-3.5-lightning-30b-a3b", "nemotron-3-super-120b-a12b"),
    *("mimo-v2-flash-309b-a15b", "step-3.7-flash-198b-a11b", "qwen3.5-397b-a17b"),
)
"""Models of which the catalog has the rounded parameters of their names."""
UNLIKE = ("deepseek-v4-flash", "deepseek-v4-pro", "kimi-k3", "nemotron-3-ultra-550b-a55b", "glm-5.2")
"""Models whose shape has more than the columns of the catalog, and that are not written here."""
LLAMA = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
}
MIXTRAL = {
    **LLAMA,
    "model_type": "mixtral",
    "vocab_size": 32000,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}


def read(**fields: Any) -> dict[str, Any]:
    """The columns of a Llama with other fields; None leaves one out."""
    given = {name: value for name, value in {**LLAMA, **fields}.items() if value is not None}
    return dict(read_config(given)[0])


def test_parameters_and_cache_are_those_published(catalog: Catalog) -> None:
    """All models of the catalog whose shape is known, written as their configurations are."""
    compared = 0
    for row in catalog.rows("llm_models"):
        if row["kind"] != "generate" or not row["layers"] or row.id in UNLIKE:
            continue
        cells = read_config(config_of(row))[0]
        far = {"total": 0.06, "active": 0.4} if row.id in ROUNDED else {"total": 0.02, "active": 0.02}
        for part, most in far.items():
            published = row[f"{part}_parameters"]
            assert cells[f"{part}_parameters"] == pytest.approx(published, rel=most), (row.id, part)
        mine, theirs = (shape_of(each) for each in (cells, row.cells))
        assert mine.widths == theirs.widths and mine.cached_layers == theirs.cached_layers, row.id
        assert mine.state_mb == pytest.approx(theirs.state_mb, abs=0.001), row.id
        assert (mine.experts, mine.window_tokens) == (theirs.experts, theirs.window_tokens), row.id
        compared += row.id not in ROUNDED
    assert compared > 50


@pytest.mark.parametrize(
    ("config", "total", "active"),
    [
        ({**LLAMA}, 8.03, 8.03),
        ({**MIXTRAL}, 46.70, 12.88),
        # by the names that these have for their fields
        (
            {
                "model_type": "gpt2",
                "n_embd": 1600,
                "n_layer": 48,
                "n_head": 25,
                "vocab_size": 50257,
                "n_positions": 1024,
            },
            1.56,
            1.56,
        ),
        (
            {
                "model_type": "qwen2_moe",
                "hidden_size": 2048,
                "num_hidden_layers": 24,
                "num_attention_heads": 16,
                "num_key_value_heads": 16,
                "intermediate_size": 5632,
                "vocab_size": 151936,
                "num_experts": 60,
                "num_experts_per_tok": 4,
                "moe_intermediate_size": 1408,
                "decoder_sparse_step": 1,
                "shared_expert_intermediate_size": 5632,
                "max_position_embeddings": 8192,
            },
            14.3,
            2.7,
        ),
        (
            {
                "model_type": "deepseek_v2",
                "hidden_size": 2048,
                "num_hidden_layers": 27,
                "num_attention_heads": 16,
                "intermediate_size": 10944,
                "moe_intermediate_size": 1408,
                "n_routed_experts": 64,
                "n_shared_experts": 2,
                "num_experts_per_tok": 6,
                "first_k_dense_replace": 1,
                "q_lora_rank": None,
                "kv_lora_rank": 512,
                "qk_rope_head_dim": 64,
                "qk_nope_head_dim": 128,
                "v_head_dim": 128,
                "vocab_size": 102400,
                "max_position_embeddings": 163840,
            },
            15.7,
            2.66,
        ),
        (
            {
                "model_type": "jamba",
                "hidden_size": 4096,
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "num_key_value_heads": 8,
                "intermediate_size": 14336,
                "vocab_size": 65536,
                "num_experts": 16,
                "num_experts_per_tok": 2,
                "attn_layer_period": 8,
                "attn_layer_offset": 4,
                "expert_layer_period": 2,
                "expert_layer_offset": 1,
                "mamba_d_state": 16,
                "mamba_d_conv": 4,
                "mamba_expand": 2,
                "max_position_embeddings": 262144,
            },
            51.6,
            12.1,
        ),
        (
            {
                "model_type": "phi3",
                "hidden_size": 3072,
                "num_hidden_layers": 32,
                "num_attention_heads": 32,
                "num_key_value_heads": 32,
                "intermediate_size": 8192,
                "vocab_size": 32064,
                "sliding_window": 2047,
                "max_position_embeddings": 4096,
            },
            3.82,
            3.82,
        ),
    ],
)
def test_families_by_their_own_names(config: dict[str, Any], total: float, active: float) -> None:
    cells = read_config(config)[0]
    assert cells["total_parameters"] == pytest.approx(total, rel=0.02)
    assert cells["active_parameters"] == pytest.approx(active, rel=0.05)


def test_fields_that_a_kind_leaves_out_are_those_of_its_class() -> None:
    """The configuration of Gemma 3 27B as it is published has neither vocabulary nor context."""
    text = {
        "model_type": "gemma3_text",
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 62,
    }
    text |= {"num_attention_heads": 32, "num_key_value_heads": 16, "head_dim": 128, "sliding_window": 1024}
    cells, _ = read_config({"model_type": "gemma3", "text_config": text, "vision_config": {}})
    assert cells["total_parameters"] == pytest.approx(27.0, rel=0.01)
    assert (cells["full_layers"], cells["context_tokens"]) == (10, 131072)


def test_the_text_part_of_a_model_that_sees_is_read() -> None:
    apart = {
        "model_type": "gemma3",
        "text_config": {**LLAMA, "model_type": "gemma3_text"},
        "vision_config": {"hidden_size": 1},
    }
    cells, unread = read_config(apart)
    assert cells["tied_embeddings"] and unread == ("vision_config",)
    assert read_config({"thinker_config": {"text_config": LLAMA}})[0]["hidden_size"] == 4096


@pytest.mark.parametrize(
    ("fields", "full", "window", "recurrent"),
    [
        ({}, None, None, False),
        ({"sliding_window": 4096}, 0, 4096, False),
        ({"sliding_window": 4096, "use_sliding_window": False}, None, None, False),
        ({"sliding_window": 4096, "use_sliding_window": True, "max_window_layers": 28}, 28, 4096, False),
        ({"sliding_window": 1024, "sliding_window_pattern": 4}, 8, 1024, False),
        ({"model_type": "gemma2", "sliding_window": 4096}, 16, 4096, False),
        (
            {"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"] * 16},
            16,
            128,
            False,
        ),
        ({"attention_chunk_size": 8192, "no_rope_layers": [1, 1, 1, 0] * 8}, 8, 8192, False),
        ({"layers_block_type": ["mamba"] * 28 + ["attention"] * 4, "mamba_d_state": 64}, 4, None, True),
        ({"attn_layer_indices": [9, 19], "mamba_d_state": 64, "mamba_n_heads": 128}, 2, None, True),
    ],
)
def test_layers_keep_what_they_keep(
    fields: dict[str, Any], full: int | None, window: int | None, recurrent: bool
) -> None:
    cells = read(**fields)
    assert cells.get("full_layers") == full
    assert cells.get("window_tokens") == window
    assert cells["recurrent_layers"] is recurrent
    assert ("state_mb" in cells) is recurrent


@pytest.mark.parametrize(
    ("quantised", "precision", "kept"),
    [
        (None, "bf16", None),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, "fp8", "none"),
        (
            {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "lm_head"]},
            "mxfp4",
            "attention",
        ),
        ({"quant_method": "awq", "bits": 4}, "int4", "none"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 8, "type": "int"}}},
                "kv_cache_scheme": {"num_bits": 8, "type": "float"},
            },
            "int8",
            "none",
        ),
        ({"quant_method": "gptq", "bits": 8}, "int8", "none"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "int4", "none"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["lm_head"]}, "nvfp4", "none"),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float"}}},
            },
            "fp8",
            "none",
        ),
        (
            {
                "quant_method": "fbgemm_fp8",
                "modules_to_not_convert": [
                    *(f"model.layers.{n}.self_attn.q_proj" for n in range(32)),
                    *(f"model.layers.{n}.mlp.down_proj" for n in (0, 31)),
                ],
            },
            "fp8",
            "attention and ends",
        ),
    ],
)
def test_a_checkpoint_has_its_precision_and_the_parts_that_it_keeps(
    quantised: dict[str, Any] | None, precision: str, kept: str | None
) -> None:
    cells = read(quantization_config=quantised)
    assert (cells["native_precision"], cells.get("kept")) == (precision, kept)


def test_a_mixture_keeps_attention_or_all_but_its_experts() -> None:
    shared = {**MIXTRAL, "n_shared_experts": 1}
    for modules, kept in (
        (["re:.*self_attn.*"], "attention"),
        (["re:.*self_attn.*", "re:.*shared_experts.*"], "rest"),
    ):
        quantised = {"quant_method": "compressed-tensors", "bits": 4, "ignore": modules}
        assert read_config({**shared, "quantization_config": quantised})[0]["kept"] == kept


def test_what_may_matter_and_is_not_read_is_named() -> None:
    _, unread = read_config(
        {**LLAMA, "num_nextn_predict_layers": 1, "altup_num_inputs": 4, "laurel_rank": 64, "rope_theta": 1e6}
    )
    assert unread == ("laurel_rank", "num_nextn_predict_layers")


@pytest.mark.parametrize(
    "name", ("hidden_size", "layers", "heads", "vocabulary", "context_tokens", "mlp_size")
)
def test_fields_that_are_missing_are_named(name: str) -> None:
    left = {field: value for field, value in LLAMA.items() if field not in NAMES[name]}
    with pytest.raises(ConfigError) as error:
        read_config(left)
    assert len(error.value.missing) == 1 and error.value.missing[0] in NAMES[name]


def test_a_file_of_something_else_is_answered_with_all_that_is_missing() -> None:
    with pytest.raises(ConfigError) as error:
        read_config({"architectures": ["UNet"], "in_channels": 4})
    assert len(error.value.missing) == 6


def hostile() -> Iterator[tuple[str, Any]]:
    """Values that no field of a shape can have."""
    for value in (-1, math.nan, math.inf, 1.5, "4096", True, [4096], {"a": 1}, 10**30):
        for name in (
            "hidden_size",
            "num_hidden_layers",
            "num_attention_heads",
            "vocab_size",
            "intermediate_size",
        ):
            yield name, value


@pytest.mark.parametrize(("name", "value"), list(hostile()))
def test_a_value_that_cannot_be_is_refused_by_its_name(name: str, value: Any) -> None:
    with pytest.raises(ConfigError) as error:
        read_config({**MIXTRAL, name: value})
    assert error.value.field == name


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"num_hidden_layers": 100_000_000}, "num_hidden_layers"),
        ({"layer_types": ["full_attention"] * 3}, "layer_types"),
        ({"layer_types": ["wormhole"] * 32}, "layer_types"),
        ({"layer_types": 32}, "layer_types"),
        ({"hybrid_override_pattern": "MX" * 16}, "hybrid_override_pattern"),
        ({"compress_ratios": [4] * 32}, "compress_ratios"),
    ],
)
def test_layers_that_are_not_known_are_refused_by_their_field(fields: dict[str, Any], field: str) -> None:
    with pytest.raises(ConfigError) as error:
        read_config({**LLAMA, **fields})
    assert error.value.field == field


def test_recurrent_layers_without_their_state_are_no_model() -> None:
    with pytest.raises(ConfigError) as error:
        read(layer_types=["mamba"] * 32)
    assert error.value.missing == ("ssm_state_size",)
    with pytest.raises(ConfigError) as error:
        read(mamba_d_state=128)
    assert error.value.missing == ("layer_types",)


def test_any_change_of_a_configuration_is_read_or_refused_by_name(catalog: Catalog) -> None:
    """Fields left out, doubled and exchanged: never another error, never a number that is none."""
    whole = [config_of(row) for row in catalog.rows("llm_models") if row.id in {*MORE, "llama-3.1-8b"}]
    odd = (None, -3, 0, 1, 7, 2**31, math.nan, "x", [], {}, [1, 2], {"a": "b"}, True)
    for rng in cases(20, 4000, few=400):
        config = copy.deepcopy(rng.choice(whole))
        for name in rng.sample(sorted(config), k=min(len(config), rng.randint(1, 3))):
            config[name] = rng.choice(odd)
        try:
            cells = read_config(config)[0]
        except ConfigError as error:
            assert error.missing or error.field
            continue
        assert 0 < cells["active_parameters"] <= cells["total_parameters"] < math.inf
