"""Configurations of models as Hugging Face names their fields, written from the shapes of the catalog."""

from __future__ import annotations

from typing import Any

from gpuplan.catalog import Row

FIELDS = {
    "hidden_size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "kv_heads": "num_key_value_heads",
    "head_size": "head_dim",
    "mlp_size": "intermediate_size",
    "vocabulary": "vocab_size",
    "context_tokens": "max_position_embeddings",
    "experts": "num_experts",
    "experts_per_token": "num_experts_per_tok",
    "expert_size": "moe_intermediate_size",
    "shared_experts": "n_shared_experts",
    "dense_layers": "first_k_dense_replace",
    "latent_size": "kv_lora_rank",
    "rope_size": "qk_rope_head_dim",
    "window_tokens": "sliding_window",
    "tied_embeddings": "tie_word_embeddings",
}
DEEPSEEK = {"q_lora_rank": 1536, "qk_nope_head_dim": 128, "v_head_dim": 128}
GLM_5 = {
    "q_lora_rank": 2048,
    "qk_nope_head_dim": 192,
    "v_head_dim": 256,
    "index_n_heads": 32,
    "index_head_dim": 128,
}
MAMBA = {"ssm_state_size": 128, "conv_kernel": 4, "mamba_head_dim": 64}
DELTA = {
    "model_type": "qwen3_5_text",
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
    "full_attention_interval": 4,
}
"""The gated delta layers of Qwen3-Next and later."""
GEMMA_3 = {"model_type": "gemma3_text"}
NANO: dict[str, Any] = {
    **MAMBA,
    "model_type": "nemotron_h",
    "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    "mamba_num_heads": 64,
    "n_groups": 8,
    "moe_shared_expert_intermediate_size": 3712,
}
MORE: dict[str, dict[str, Any]] = {
    "deepseek-v3": DEEPSEEK,
    "deepseek-r1": DEEPSEEK,
    "deepseek-v3.2": {**DEEPSEEK, "index_n_heads": 64, "index_head_dim": 128},
    **dict.fromkeys(("kimi-k2", "kimi-k2.5", "kimi-k2-thinking", "kimi-k2.6", "kimi-k2.7-code"), DEEPSEEK),
    "glm-5": GLM_5,
    "glm-5.1": GLM_5,
    "glm-4.7-flash-30b-a3b": {"q_lora_rank": 768, "qk_nope_head_dim": 192, "v_head_dim": 256},
    "kimi-k3": {
        **DEEPSEEK,
        "model_type": "kimi_linear",
        "linear_attn_config": {
            "full_attn_layers": [n for n in range(1, 94) if n % 4 == 0 or n == 93],
            "num_heads": 96,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
        },
    },
    "gpt-oss-20b": {"model_type": "gpt_oss"},
    "gpt-oss-120b": {"model_type": "gpt_oss"},
    "gemma-2-9b": {"model_type": "gemma2"},
    "gemma-2-27b": {"model_type": "gemma2"},
    **dict.fromkeys(("gemma-3-1b", "gemma-3-4b", "gemma-3-12b", "gemma-3-27b"), GEMMA_3),
    "gemma-4-31b": {
        "model_type": "gemma4_text",
        "global_head_dim": 512,
        "num_global_key_value_heads": 4,
        "attention_k_eq_v": True,
        "layer_types": ["full_attention" if n % 6 == 5 else "sliding_attention" for n in range(60)],
    },
    "gemma-4-26b-a4b": {
        "model_type": "gemma4_text",
        "global_head_dim": 512,
        "num_global_key_value_heads": 2,
        "attention_k_eq_v": True,
        "enable_moe_block": True,
        "layer_types": ["full_attention" if n % 6 == 5 else "sliding_attention" for n in range(30)],
    },
    "llama-4-scout": {
        "model_type": "llama4_text",
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "interleave_moe_layer_step": 1,
        "attention_chunk_size": 8192,
        "sliding_window": None,
    },
    "llama-4-maverick": {
        "model_type": "llama4_text",
        "intermediate_size": 8192,
        "intermediate_size_mlp": 16384,
        "interleave_moe_layer_step": 2,
        "attention_chunk_size": 8192,
        "sliding_window": None,
    },
    "falcon-180b": {"model_type": "falcon"},
    "gpt-j-6b": {"model_type": "gptj"},
    "qwen3-next-80b-a3b": {**DELTA, "model_type": "qwen3_next", "linear_num_value_heads": 32},
    "qwen3.5-9b": {**DELTA, "linear_num_value_heads": 32},
    "qwen3.5-27b": {**DELTA, "linear_num_value_heads": 48},
    "qwen3.6-27b": {**DELTA, "linear_num_value_heads": 48},
    "qwen3.5-35b-a3b": {**DELTA, "linear_num_value_heads": 32},
    "qwen3.6-35b-a3b": {**DELTA, "linear_num_value_heads": 32},
    "qwen3.5-122b-a10b": {**DELTA, "linear_num_value_heads": 64},
    "qwen3.5-397b-a17b": {**DELTA, "linear_num_value_heads": 64},
    **dict.fromkeys(("nemotron-3-nano-30b-a3b", "nemotron-3.5-lightning-30b-a3b"), NANO),
    "nemotron-3-super-120b-a12b": {
        **MAMBA,
        "model_type": "nemotron_h",
        "hybrid_override_pattern": "ME" * 36 + "M*E" * 4 + "*" * 4,
        "mamba_num_heads": 128,
        "n_groups": 8,
        "moe_latent_size": 1024,
        "moe_shared_expert_intermediate_size": 5376,
    },
    "step-3.7-flash-198b-a11b": {
        "layer_types": ["sliding_attention" if n % 4 else "full_attention" for n in range(45)],
    },
    "mimo-v2-flash-309b-a15b": {
        "v_head_dim": 128,
        "swa_num_key_value_heads": 8,
        "hybrid_layer_pattern": [0, *([1] * 5 + [0]) * 7, 1, 1, 1, 1, 0][:48],
        "moe_layer_freq": [0] + [1] * 47,
    },
}
"""Model -> fields of its configuration beside the columns of the catalog, as its maker publishes them."""


def config_of(row: Row) -> dict[str, Any]:
    """The configuration of a model of the catalog."""
    known = {name: row[column] for column, name in FIELDS.items() if row[column] is not None}
    return {"model_type": "llama", "torch_dtype": "bfloat16", **known, **MORE.get(row.id, {})}
