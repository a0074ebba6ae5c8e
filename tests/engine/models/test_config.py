"""Configs of folders and GGUF files: what is read, united and refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from engine.errors import DraftscopeError
from engine.models.config import config_from_folder, config_from_gguf
from tests.engine.models.model_files import CONFIG, GGUF_METADATA

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


def test_head_dim_is_read_and_not_computed(tmp_path: Path) -> None:
    config = config_from_folder(folder_with(tmp_path, CONFIG))
    assert (config.width, config.heads, config.head_dim) == (32, 4, 16)


def test_head_dim_is_width_over_heads_where_it_is_not_given(tmp_path: Path) -> None:
    assert config_from_folder(folder_with(tmp_path, without("head_dim"))).head_dim == 8


def test_every_head_has_its_own_keys_where_their_number_is_not_given(tmp_path: Path) -> None:
    assert config_from_folder(folder_with(tmp_path, without("num_key_value_heads"))).kv_heads == 4


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
        ({"rope_scaling": {"rope_type": "llama3", "factor": 8.0}}, "llama3"),
        ({"rope_scaling": {"type": "linear", "factor": 2.0}}, "linear"),
        ({"rope_scaling": {"factor": 2.0}}, "factor"),
        ({"rope_scaling": "yarn"}, "yarn"),
        ({"rope_parameters": {"rope_type": "yarn", "rope_theta": 1e4}}, "yarn"),
        ({"attention_bias": True}, "attention_bias"),
        ({"mlp_bias": True}, "mlp_bias"),
        ({"hidden_act": "gelu"}, "gelu"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    tmp_path: Path, change: dict[str, Any], named: str
) -> None:
    folder = folder_with(tmp_path, {**CONFIG, **change})
    with pytest.raises(DraftscopeError, match=named) as caught:
        config_from_folder(folder)
    assert "llama" in str(caught.value)  # what is supported


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
        {"vocab_size": True},
    ],
)
def test_impossible_sizes_are_refused(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(DraftscopeError):
        config_from_folder(folder_with(tmp_path, {**CONFIG, **change}))


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
        ({"llama.rope.scaling.type": "yarn"}, "yarn"),
        ({"llama.rope.dimension_count": 8}, "rope.dimension_count"),
        ({"llama.attention.value_length": 8}, "value_length"),
        ({"llama.attention.head_count": [4, 4]}, "head_count"),
    ],
)
def test_gguf_models_that_are_not_supported_are_refused_by_name(
    change: dict[str, Any], named: str
) -> None:
    with pytest.raises(DraftscopeError, match=named):
        config_from_gguf({**GGUF, **change}, embedding_rows=40)
