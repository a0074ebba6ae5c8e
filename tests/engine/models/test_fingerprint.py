"""What tells targets apart: each part by itself, and the same from every kind of file."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import load_file, save_file

from engine.loading import load_model
from engine.models.fingerprint import Fingerprint, configuration_hash, fingerprint_of
from engine.models.formats.weights import open_checkpoint
from engine.models.text.tokenizer import open_tokenizer
from tests.engine.models.formats.model_files import (
    CONFIG,
    SPECIALS,
    byte_entries,
    byte_level_backend,
    write_folder,
    write_gguf,
)
from tests.tiny_model import tiny_config, tiny_weights, write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

NORMS = ("model.layers.1.input_layernorm.weight", "model.norm.weight")


def fingerprint(path: Path) -> Fingerprint:
    checkpoint = open_checkpoint(path)
    try:
        return fingerprint_of(checkpoint, open_tokenizer(path))
    finally:
        checkpoint.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_folder(tmp_path / "model")


def test_a_loaded_model_has_the_fingerprint_of_its_file(folder: Path) -> None:
    loaded = load_model(folder, device="cpu", plan="eager")
    assert loaded.fingerprint == fingerprint(folder)
    assert loaded.fingerprint is loaded.fingerprint  # hashed once
    packed = load_model(folder, device="cpu", plan="packed")
    assert packed.fingerprint == loaded.fingerprint  # whatever the plan rounds


@pytest.mark.parametrize("kind", [Kind.F32, Kind.F16, Kind.Q8_0], ids=lambda kind: kind.name)
def test_a_gguf_file_and_a_folder_of_one_model_agree(tmp_path: Path, kind: Kind) -> None:
    # whatever the file has rounded: norms are kept whole
    entries = byte_entries([b"he"])
    config = replace(tiny_config(), vocabulary=len(entries))
    stored = {name: tensor.numpy() for name, tensor in tiny_weights(config).items()}
    for number, name in enumerate(name for name in stored if name.endswith("norm.weight")):
        stored[name] = stored[name] + np.float32(0.1) * number
    described = {
        "llama.vocab_size": len(entries),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": entries,
        "tokenizer.ggml.token_type": [3] * len(SPECIALS) + [1] * (len(entries) - len(SPECIALS)),
        "tokenizer.ggml.merges": ["h e"],
    }
    one = write_gguf(tmp_path / "model.gguf", stored, described, kind=kind)
    values = CONFIG | {"vocab_size": len(entries)}
    other = write_folder(tmp_path / "folder", stored, values)
    byte_level_backend([b"he"]).save(str(other / "tokenizer.json"))
    assert fingerprint(one) == fingerprint(other)


@pytest.mark.parametrize("name", NORMS)
def test_one_changed_norm_weight_changes_the_weights_alone(folder: Path, name: str) -> None:
    before = fingerprint(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors[name][3] += 1e-6
    save_file(tensors, folder / "model.safetensors")
    after = fingerprint(folder)
    assert after.differences(before) == before.differences(after) == ("weights",)


def test_matrices_that_a_format_may_round_change_nothing(folder: Path) -> None:
    before = fingerprint(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.0.mlp.down_proj.weight"] *= 1.01
    save_file(tensors, folder / "model.safetensors")
    assert fingerprint(folder) == before


def test_one_changed_entry_of_the_vocabulary_changes_the_tokenizer_alone(folder: Path) -> None:
    before = fingerprint(folder)
    path = folder / "tokenizer.json"
    tokenizer = json.loads(path.read_text(encoding="utf-8"))
    tokenizer["added_tokens"][1]["content"] = "<|im_begin|>"
    path.write_text(json.dumps(tokenizer), encoding="utf-8")
    assert fingerprint(folder).differences(before) == ("tokenizer",)


def test_entries_are_told_apart_by_where_they_end(folder: Path) -> None:
    path = folder / "tokenizer.json"
    found = set()
    for first, second in (("<|a|>", "<|b|>"), ("<|a|><", "|b|>")):
        tokenizer = json.loads(path.read_text(encoding="utf-8"))
        tokenizer["added_tokens"][0]["content"] = first
        tokenizer["added_tokens"][1]["content"] = second
        path.write_text(json.dumps(tokenizer), encoding="utf-8")
        found.add(fingerprint(folder).tokenizer)
    assert len(found) == 2


@pytest.mark.parametrize(
    "change",
    [
        *({"layers": 3}, {"width": 64}, {"heads": 8}, {"kv_heads": 4}, {"head_dim": 8}),
        *({"mlp_width": 65}, {"vocabulary": 273}, {"tied": False}, {"rope_base": 10001.0}),
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_shapes_the_computation_changes_the_configuration(change: dict[str, int]) -> None:
    config = tiny_config()
    assert configuration_hash(replace(config, **change)) != configuration_hash(config)


def test_what_shapes_nothing_changes_nothing() -> None:
    config = tiny_config()
    # a GGUF file has its own names, and holds numbers as float32
    same = replace(config, architecture="x", context_length=9, rms_epsilon=9.999999747378752e-06)
    assert configuration_hash(same) == configuration_hash(config)
    tenth = replace(config, rope_base=0.1 + 10**6)
    assert configuration_hash(tenth) == configuration_hash(replace(config, rope_base=1000000.125))
    assert configuration_hash(tenth) != configuration_hash(config)


def test_another_configuration_of_a_file_changes_that_part(folder: Path) -> None:
    before = fingerprint(folder)
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"rope_theta": 20000.0}))
    assert fingerprint(folder).differences(before) == ("configuration",)
