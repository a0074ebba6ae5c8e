"""Configurations as they are published, with all their odd keys: what each is read as or refused.

The sizes are the models' own; only config.json is written, no weights. Logits of each kind are
compared with transformers in `test_family`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import DraftscopeError
from engine.models.family import SUPPORTED
from engine.models.formats.config_folder import config_from_folder
from engine.models.formats.config_gguf import config_from_gguf

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.config import ModelConfig

_ALL: dict[str, Any] = {
    **{"attention_dropout": 0.0, "hidden_act": "silu", "initializer_range": 0.02},
    **{"rms_norm_eps": 1e-05, "torch_dtype": "bfloat16", "transformers_version": "4.45.0"},
    **{"use_cache": True, "bos_token_id": 1, "eos_token_id": 2, "tie_word_embeddings": False},
}


def _sizes(vocabulary: int, width: int, inner: int, layers: int, heads: int, kv: int) -> Any:
    return {
        **{"vocab_size": vocabulary, "hidden_size": width, "intermediate_size": inner},
        **{"num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": kv},
    }


LLAMA = {
    **_ALL,
    **{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "pretraining_tp": 1},
    **{"attention_bias": False, "mlp_bias": False, "rope_scaling": None, "rope_theta": 10000.0},
    **{"max_position_embeddings": 4096, **_sizes(32000, 4096, 11008, 32, 32, 32)},
}
LLAMA_3_2 = {
    **LLAMA,
    **{"head_dim": 64, "rope_theta": 500000.0, "tie_word_embeddings": True, "bos_token_id": 128000},
    **{"eos_token_id": [128001, 128008, 128009], "max_position_embeddings": 131072},
    **_sizes(128256, 2048, 8192, 16, 32, 8),
    "rope_scaling": {
        **{"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0},
        **{"original_max_position_embeddings": 8192, "rope_type": "llama3"},
    },
}
SMOLLM2 = {
    **LLAMA,
    **{"is_llama_config": True, "rope_interleaved": False, "rope_theta": 100000, "pad_token_id": 2},
    **{"max_position_embeddings": 8192, "tie_word_embeddings": True},
    **_sizes(49152, 576, 1536, 30, 9, 3),
    "transformers.js_config": {"kv_cache_dtype": {"q4f16": "float16", "fp16": "float16"}},
}
MISTRAL = {
    **_ALL,
    **{"architectures": ["MistralForCausalLM"], "model_type": "mistral", "rope_theta": 10000.0},
    **{"max_position_embeddings": 32768, "sliding_window": 4096},
    **_sizes(32000, 4096, 14336, 32, 32, 8),
}
QWEN2 = {
    **_ALL,
    **{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "rope_theta": 1000000.0},
    **{"max_position_embeddings": 32768, "max_window_layers": 21, "sliding_window": 32768},
    **{"use_sliding_window": False, "use_mrope": False, "tie_word_embeddings": True},
    **_sizes(151936, 896, 4864, 24, 14, 2),
}
QWEN3 = {
    **_ALL,
    **{"architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "rope_theta": 1000000},
    **{"attention_bias": False, "head_dim": 128, "max_position_embeddings": 40960},
    **{"max_window_layers": 28, "sliding_window": None, "use_sliding_window": False},
    **{"rope_scaling": None, "tie_word_embeddings": True, **_sizes(151936, 1024, 3072, 28, 16, 8)},
}
PHI3 = {
    **_ALL,
    **{"architectures": ["Phi3ForCausalLM"], "model_type": "phi3", "rope_theta": 10000.0},
    **{"auto_map": {"AutoConfig": "configuration_phi3.Phi3Config"}, "attention_bias": False},
    **{"embd_pdrop": 0.0, "resid_pdrop": 0.0, "rope_scaling": None, "sliding_window": 2047},
    **{"max_position_embeddings": 4096, "original_max_position_embeddings": 4096},
    **_sizes(32064, 3072, 8192, 32, 32, 32),
}
YARN = {"factor": 4.0, "original_max_position_embeddings": 32768, "type": "yarn"}
LONG = {"long_factor": [1.0], "short_factor": [1.0], "type": "longrope"}


def _read(folder: Path, config: dict[str, Any]) -> ModelConfig:
    (folder / "config.json").write_text(json.dumps(config))
    return config_from_folder(folder)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (LLAMA, {"head_dim": 128, "tied": False, "windowed": (), "context_length": 4096}),
        (LLAMA_3_2, {"head_dim": 64, "tied": True, "end_tokens": (128001, 128008, 128009)}),
        ({**LLAMA_3_2, "unsloth_fixed": True, "unsloth_version": "2024.12"}, {"head_dim": 64}),
        (SMOLLM2, {"tied": True, "rope_base": 100000.0, "head_dim": 64, "scaling": None}),
        (MISTRAL, {"window": 4096, "windowed": tuple(range(32))}),
        ({**MISTRAL, "sliding_window": None, "rope_theta": 1e6}, {"window": None, "windowed": ()}),
        (
            {**MISTRAL, "sliding_window": None, "head_dim": 128, "hidden_size": 5120},
            {"width": 5120},
        ),
        (QWEN2, {"qkv_bias": True, "window": None, "tied": True, "output_bias": False}),
        ({**QWEN2, "rope_scaling": YARN}, {"context_length": 131072}),
        (QWEN3, {"head_norms": True, "head_dim": 128, "qkv_bias": False, "window": None}),
        (PHI3, {"fused": True, "window": 2047, "rotary_width": 96}),
        (
            {**PHI3, "partial_rotary_factor": 0.75, "interpolate_factor": 1, "full_attn_mod": 1},
            {"rotary_width": 72},
        ),
    ],
)
def test_published_configurations_are_read(
    tmp_path: Path, given: dict[str, Any], read: dict[str, Any]
) -> None:
    config = _read(tmp_path, given)
    assert {name: getattr(config, name) for name in read} == read


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({**LLAMA, "model_type": "smollm3", "no_rope_layers": [1, 0]}, "model type smollm3"),
        ({**PHI3, "rope_scaling": LONG}, "longrope"),
        ({"model_type": "llama4", "text_config": {"model_type": "llama4_text"}}, "llama4_text"),
        *(({**LLAMA, "model_type": kind}, f"model type {kind}") for kind in ("gpt2", "mixtral")),
        # Long values stand before the name of the method: it is the name that is said.
        (
            {
                **LLAMA,
                "quantization_config": {"_load_in_4bit": True, "quant_method": "bitsandbytes"},
            },
            "quantization_config asks for bitsandbytes",
        ),
        (
            {**MISTRAL, "quantization_config": {"why": "x" * 200, "quant_method": "awq"}},
            "quantization_config asks for awq",
        ),
        ({**LLAMA, "quantization": {"group_size": 64, "bits": 4}}, "quantization is .*'bits': 4"),
        ({**LLAMA, "compression_config": {"format": "int"}}, "compression_config"),
        (
            {**QWEN2, "dual_chunk_attention_config": {"chunk_size": 8}},
            "dual_chunk_attention_config",
        ),
        # False says here that something else is computed, and not that something is absent.
        ({**QWEN2, "is_causal": False}, "is_causal is False"),
        ({**LLAMA, "use_rope": False}, "use_rope is False"),
        ({**LLAMA, "attention_temperature_tuning": True}, "attention_temperature_tuning"),
    ],
)
def test_published_configurations_that_say_more_are_refused_by_name(
    tmp_path: Path, given: dict[str, Any], named: str
) -> None:
    with pytest.raises(DraftscopeError, match=named) as caught:
        _read(tmp_path, given)
    assert SUPPORTED in str(caught.value)


GGUF: dict[str, Any] = {
    **{"general.architecture": "llama", "general.type": "model", "general.quantized_by": "x"},
    **{"general.tags": ["a"], "general.base_model.count": 1, "general.file_type": 15},
    **{"quantize.imatrix.chunks_count": 125, "split.count": 0, "llama.vocab_size": 128256},
    **{"llama.block_count": 16, "llama.context_length": 131072, "llama.embedding_length": 2048},
    **{"llama.feed_forward_length": 8192, "llama.attention.head_count": 32},
    **{"llama.attention.head_count_kv": 8, "llama.rope.freq_base": 500000.0},
    **{"llama.attention.layer_norm_rms_epsilon": 1e-5, "llama.rope.dimension_count": 64},
    **{"llama.attention.key_length": 64, "llama.attention.value_length": 64},
}


@pytest.mark.parametrize(
    "change",
    [
        {"llama.tensor_data_layout": "Meta AI original pth", "llama.rope.scale_linear": 1.0},
        {"llama.expert_count": 0, "llama.expert_used_count": 0, "llama.attention.causal": True},
        {"llama.rope.scaling.type": "none", "llama.rope.scaling.finetuned": False},
        {"llama.attention.layer_norm_epsilon": 1e-5},  # beside the one of the norm that there is
    ],
)
def test_what_converters_also_write_changes_nothing(change: dict[str, Any]) -> None:
    plain = config_from_gguf(GGUF, embedding_rows=128256)
    assert config_from_gguf({**GGUF, **change}, embedding_rows=128256) == plain
    assert (plain.head_dim, plain.context_length, plain.scaling) == (64, 131072, None)


@pytest.mark.parametrize("kind", ["adapter", "mmproj", "imatrix"])
def test_a_gguf_file_that_is_only_a_part_of_a_model_says_so(kind: str) -> None:
    stored = {"general.architecture": "llama", "general.type": kind}  # no sizes to complain of
    with pytest.raises(DraftscopeError, match=f"of type {kind}, which is only a part"):
        config_from_gguf(stored, embedding_rows=0)
