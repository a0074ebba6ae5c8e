"""Configs of folders and GGUF files: what is read, united and refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from transformers import AutoConfig

from engine.errors import DraftscopeError
from engine.models.family import DEFAULTS, SIZES, SUPPORTED
from engine.models.formats.config_folder import config_from_folder
from engine.models.formats.config_gguf import config_from_gguf
from tests.engine.models.formats.model_files import CONFIG, GGUF_METADATA

if TYPE_CHECKING:
    from pathlib import Path

GGUF: dict[str, Any] = {"general.architecture": "llama", **GGUF_METADATA}


def folder_with(tmp_path: Path, config: dict[str, Any], **others: Any) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(config))
    for name, content in others.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in CONFIG.items() if name != key}


@pytest.mark.case("C18")
def test_head_dim_is_read_and_not_computed(tmp_path: Path) -> None:
    config = config_from_folder(folder_with(tmp_path, CONFIG))
    assert (config.width, config.heads, config.head_dim) == (32, 4, 16)


def test_head_dim_is_width_over_heads_where_it_is_not_given(tmp_path: Path) -> None:
    assert config_from_folder(folder_with(tmp_path, without("head_dim"))).head_dim == 8


def test_every_head_has_its_own_keys_where_their_number_is_not_given(tmp_path: Path) -> None:
    assert config_from_folder(folder_with(tmp_path, without("num_key_value_heads"))).kv_heads == 4


@pytest.mark.case("C12")
def test_nested_text_config_wins_over_the_outside(tmp_path: Path) -> None:
    nested = {"tie_word_embeddings": True, "model_type": "llama"}
    outside = {**CONFIG, "model_type": "wrapper", "tie_word_embeddings": False}
    assert config_from_folder(folder_with(tmp_path, {**outside, "text_config": nested})).tied


def test_newer_rope_parameters_are_read(tmp_path: Path) -> None:
    rope = {"rope_theta": 50000.0, "rope_type": "default"}
    config = {**without("rope_theta"), "rope_parameters": rope}
    assert config_from_folder(folder_with(tmp_path, config)).rope_base == 50000.0


@pytest.mark.parametrize("scaling", [None, {"rope_type": "default"}, {"type": "default"}])
def test_absent_or_default_rotary_scaling_is_accepted(tmp_path: Path, scaling: Any) -> None:
    config = config_from_folder(folder_with(tmp_path, {**CONFIG, "rope_scaling": scaling}))
    assert config.rope_base == 10000.0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"model_type": "mamba"}, "model type mamba"),
        ({"model_type": None}, "no model type"),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "low_freq_factor"),
        ({"rope_scaling": {"type": "linear"}}, "linear without factor"),
        ({"rope_scaling": {"factor": 2.0}}, "factor"),
        ({"rope_scaling": "yarn"}, "yarn"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 2.0, "alpha": 3}}, "yarn with alpha"),
        ({"rope_scaling": {"rope_type": "longrope", "factor": 2.0}}, "longrope"),
        ({"rope_scaling": {"type": "su", "factor": 2.0}}, "su"),
        ({"rope_scaling": {"type": "mrope", "mrope_section": [8]}}, "mrope"),
        ({"rope_scaling": {"type": "default", "mrope_section": [8]}}, "mrope_section"),
        ({"rope_scaling": {"rope_type": "linear", "type": "yarn", "factor": 2.0}}, "at once"),
        ({"rope_scaling": {"rope_type": ["yarn"]}}, "yarn"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "yarn without factor"),
        ({"rope_parameters": {"full_attention": {"rope_theta": 1e4}}}, "full_attention"),
        (
            {"rope_parameters": {"rope_theta": 1e5}, "rope_scaling": {"rope_type": "default"}},
            "differ",
        ),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
        ({"sliding_window": 64}, "sliding_window is 64"),
        ({"layer_types": ["full_attention", "chunked_attention"]}, "chunked_attention"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding attention"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"attn_logit_softcapping": 50.0}, "attn_logit_softcapping is 50.0"),
        ({"final_logit_softcapping": 30.0}, "final_logit_softcapping"),
        ({"logits_scaling": 8.0}, "logits_scaling"),
        ({"embedding_multiplier": 12.0}, "embedding_multiplier"),
        ({"residual_multiplier": 0.22}, "residual_multiplier"),
        ({"attention_multiplier": 0.015625}, "attention_multiplier"),
        ({"query_pre_attn_scalar": 256}, "query_pre_attn_scalar"),
        ({"attn_output_gate": True}, "attn_output_gate"),
        ({"num_local_experts": 8}, "num_local_experts is 8"),
        ({"n_routed_experts": 64}, "n_routed_experts"),
        ({"moe_intermediate_size": 64}, "moe_intermediate_size"),
        ({"no_rope_layers": [1, 0]}, "no_rope_layers"),
        ({"attention_chunk_size": 8192}, "attention_chunk_size"),
        ({"use_qk_norm": True}, "use_qk_norm"),
        ({"rope_interleaved": True}, "rope_interleaved"),
        ({"alibi": True}, "alibi"),
        ({"clip_qkv": 8.0}, "clip_qkv"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder"),
        ({"quantization_config": {"quant_method": "gptq"}}, "quantization_config.*gptq"),
        ({"residual_scale_of_tomorrow": 0.5}, "residual_scale_of_tomorrow"),
        ({"model_type": "mistral", "attention_bias": True}, "attention_bias"),
        ({"model_type": "qwen2", "mlp_bias": True}, "mlp_bias"),
        ({"model_type": "mistral", "use_sliding_window": False}, "sliding_window is 4096"),
        ({"model_type": "phi3", "rope_scaling": {"type": "yarn", "factor": 2.0}}, "yarn"),
        ({"model_type": "phi3", "rope_scaling": {"type": "longrope"}}, "longrope"),
    ],
)
@pytest.mark.case("C14")
def test_what_is_not_supported_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    folder = folder_with(tmp_path, {**CONFIG, **change})
    with pytest.raises(DraftscopeError, match=named) as caught:
        config_from_folder(folder)
    assert SUPPORTED in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"pretraining_tp": 1, "attention_dropout": 0.1, "is_llama_config": True},
        {"rope_interleaved": False, "num_local_experts": 0, "logits_scaling": 1.0},
        {"final_logit_softcapping": None, "quantization_config": None, "no_rope_layers": []},
        {"use_sliding_window": False, "sliding_window": None, "hidden_activation": "swish"},
        {"layer_types": ["full_attention", "full_attention"], "partial_rotary_factor": 1.0},
        {"transformers.js_config": {"dtype": "q4"}, "_name_or_path": "scale", "use_cache": True},
    ],
)
def test_keys_that_change_nothing_change_nothing(tmp_path: Path, change: dict[str, Any]) -> None:
    plain = config_from_folder(folder_with(tmp_path, CONFIG))
    assert config_from_folder(folder_with(tmp_path, {**CONFIG, **change})) == plain


@pytest.mark.parametrize(
    "key", ["vocab_size", "hidden_size", "num_hidden_layers", "intermediate_size"]
)
def test_a_missing_size_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(DraftscopeError, match=key):
        config_from_folder(folder_with(tmp_path, without(key)))


@pytest.mark.parametrize(
    "change",
    [
        {"num_hidden_layers": 0},
        {"num_hidden_layers": 10**9},
        {"hidden_size": -32},
        {"vocab_size": "many"},
        {"num_attention_heads": 0},
        {"num_key_value_heads": 3},
        {"head_dim": 15},
        {"rms_norm_eps": 0},
        {"rms_norm_eps": float("nan")},
        {"rope_theta": 1.0},
        {"model_type": "mistral", "sliding_window": 0},
        {"model_type": "phi3", "partial_rotary_factor": 0.01},
        {"model_type": "phi3", "partial_rotary_factor": 1.5},
        {"attention_bias": "yes"},
        {"model_type": "mistral", "num_hidden_layers": 10**9},
        {"max_position_embeddings": 10**400},
        {"rope_theta": 10**400},
        {"rope_scaling": {"rope_type": "yarn", "factor": 2.0, "beta_fast": 1e308}},
        {"vocab_size": True},
    ],
)
def test_impossible_sizes_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(DraftscopeError):
        config_from_folder(folder_with(tmp_path, {**CONFIG, **change}))


@pytest.mark.parametrize("kind", list(DEFAULTS))
def test_what_a_configuration_leaves_out_is_what_transformers_takes(
    tmp_path: Path, kind: str
) -> None:
    theirs = AutoConfig.for_model(kind)
    for key, value in {**DEFAULTS[kind], **SIZES[kind]}.items():
        assert getattr(theirs, key) == value or key == "sliding_window", key
    if "sliding_window" in DEFAULTS[kind]:  # Qwen's is set aside where it is switched off
        windowed = AutoConfig.for_model(kind, use_sliding_window=True)
        assert windowed.sliding_window == DEFAULTS[kind]["sliding_window"]
    ours = config_from_folder(folder_with(tmp_path, {"text_config": {"model_type": kind}}))
    heads = theirs.num_attention_heads
    assert (ours.vocabulary, ours.layers, ours.width, ours.heads, ours.mlp_width) == (
        *(theirs.vocab_size, theirs.num_hidden_layers, theirs.hidden_size, heads),
        theirs.intermediate_size,
    )
    assert ours.kv_heads == theirs.num_key_value_heads
    assert ours.head_dim == (getattr(theirs, "head_dim", None) or theirs.hidden_size // heads)
    assert ours.rms_epsilon == theirs.rms_norm_eps
    assert ours.rope_base == theirs.rope_parameters["rope_theta"]
    assert ours.context_length == theirs.max_position_embeddings
    assert ours.tied == theirs.tie_word_embeddings
    assert ours.window == theirs.sliding_window if kind != "llama" else ours.window is None


def test_a_key_beside_a_text_config_is_of_another_part(tmp_path: Path) -> None:
    nested = {"model_type": "wrapper", "scale_factor": 4, "text_config": CONFIG}
    assert config_from_folder(folder_with(tmp_path, nested)).width == 32
    nested = {"model_type": "wrapper", "text_config": {**CONFIG, "scale_factor": 4}}
    with pytest.raises(DraftscopeError, match="scale_factor is 4"):
        config_from_folder(folder_with(tmp_path, nested))


@pytest.mark.parametrize(
    ("change", "windowed"),
    [
        ({"model_type": "mistral"}, (0, 1)),  # of 4096 positions, as transformers has it
        ({"model_type": "mistral", "sliding_window": None}, ()),
        ({"model_type": "phi3"}, ()),
        ({"model_type": "phi3", "sliding_window": 8}, (0, 1)),
        ({"model_type": "qwen2"}, ()),
        ({"model_type": "qwen2", "sliding_window": 8}, ()),
        ({"model_type": "qwen2", "sliding_window": 8, "use_sliding_window": True}, ()),
        (
            {"model_type": "qwen3", "use_sliding_window": True, "max_window_layers": 1},
            (1,),
        ),
        (
            {
                **{"model_type": "qwen3", "use_sliding_window": True, "max_window_layers": 0},
                "layer_types": ["sliding_attention", "full_attention"],
            },
            (0,),
        ),
    ],
)
def test_the_layers_of_a_sliding_window(
    tmp_path: Path, change: dict[str, Any], windowed: tuple[int, ...]
) -> None:
    config = config_from_folder(folder_with(tmp_path, {**CONFIG, **change}))
    assert config.windowed == windowed
    assert [config.window_of(layer) is not None for layer in (0, 1)] == [
        layer in windowed for layer in (0, 1)
    ]


def test_end_tokens_are_united_from_all_files(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        {**CONFIG, "eos_token_id": 2},
        generation_config={"eos_token_id": [1, 106]},
        tokenizer_config={
            "eos_token": {"content": "<end>"},
            "added_tokens_decoder": {
                "9": {"content": "<end>"},
                "8": {"content": "<other>"},
                "no id": {"content": "<end>"},
            },
        },
    )
    assert config_from_folder(folder).end_tokens == (1, 2, 9, 106)


def test_the_tokenizers_end_token_is_looked_up_in_its_vocabulary(tmp_path: Path) -> None:
    folder = folder_with(
        tmp_path,
        without("eos_token_id"),
        tokenizer_config={"eos_token": "</s>"},
        tokenizer={"added_tokens": [], "model": {"vocab": {"</s>": 7}}},
    )
    assert config_from_folder(folder).end_tokens == (7,)


def test_a_folder_without_config_says_exactly_that(tmp_path: Path) -> None:
    with pytest.raises(DraftscopeError, match=r"no config\.json"):
        config_from_folder(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "not valid JSON"),
        ("[]", "no JSON object"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0", "Git LFS pointer"),
    ],
)
def test_a_config_that_is_none_says_what_it_is(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(DraftscopeError, match=said):
        config_from_folder(tmp_path)


def test_gguf_metadata_give_the_same_config_as_the_folder(tmp_path: Path) -> None:
    untied = config_from_folder(folder_with(tmp_path, {**CONFIG, "tie_word_embeddings": False}))
    assert config_from_gguf(GGUF, embedding_rows=40) == untied


def test_gguf_epsilon_is_the_decimal_that_was_meant() -> None:
    stored = {**GGUF, "llama.attention.layer_norm_rms_epsilon": 9.999999747378752e-06}
    assert config_from_gguf(stored, embedding_rows=40).rms_epsilon == 1e-5


def test_gguf_vocabulary_is_the_embeddings_where_it_is_not_stated() -> None:
    stored = {key: value for key, value in GGUF.items() if key != "llama.vocab_size"}
    assert config_from_gguf(stored, embedding_rows=48).vocabulary == 48


def test_gguf_end_tokens_unite_text_turn_and_message() -> None:
    ends = {"tokenizer.ggml.eot_token_id": 9, "tokenizer.ggml.eom_token_id": 4}
    assert config_from_gguf({**GGUF, **ends}, embedding_rows=40).end_tokens == (2, 4, 9)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"general.architecture": "gemma2"}, "gemma2"),
        ({"llama.expert_count": 8}, "8 experts"),
        ({"llama.rope.scaling.type": "yarn"}, "yarn without rope.scaling.factor"),
        ({"llama.rope.scaling.type": "longrope"}, "longrope"),
        ({"llama.rope.scaling.attn_factor": 1.19}, "attn_factor is 1.19"),
        ({"llama.rope.scaling.alpha": 1000.0}, "rope.scaling.alpha"),
        ({"llama.rope.dimension_sections": [8, 4, 4, 0]}, "dimension_sections"),
        ({"llama.attention.scale": 0.5}, "attention.scale is 0.5"),
        ({"llama.attention.causal": False}, "attention.causal is False"),
        ({"llama.attention.sliding_window_pattern": 2}, "sliding_window_pattern"),
        ({"llama.attention.temperature_scale": 0.1}, "temperature_scale"),
        ({"llama.logit_scale": 0.25}, "logit_scale"),
        ({"llama.something.new": 3}, "something.new is 3"),
        ({"llama.rope.dimension_count": 8}, "rope.dimension_count"),
        ({"llama.attention.value_length": 8}, "value_length"),
        ({"llama.attention.head_count": [4, 4]}, "head_count"),
    ],
)
def test_gguf_models_that_are_not_supported_are_refused_by_name(
    change: dict[str, Any], named: str
) -> None:
    with pytest.raises(DraftscopeError, match=named) as caught:
        config_from_gguf({**GGUF, **change}, embedding_rows=40)
    assert SUPPORTED in str(caught.value) or named == "head_count"
