"""Hugging Face folders: values come through; every fault has its own sentence before any read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import save_file
from safetensors.torch import save_file as save_torch_file

from engine.errors import DraftscopeError
from engine.models.formats.weights import open_checkpoint
from tests.engine.models.formats.model_files import CONFIG, tensors, write_folder, write_sharded

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "lm_head.weight"
EMBEDDING = "model.embed_tokens.weight"
UNTIED = {**CONFIG, "tie_word_embeddings": False}


def test_values_and_shapes_are_the_files(tmp_path: Path) -> None:
    stored = tensors()
    checkpoint = open_checkpoint(write_folder(tmp_path / "tiny", stored))
    assert set(checkpoint.names) == set(stored)
    for name, values in stored.items():
        assert checkpoint.shapes(name) == values.shape
        np.testing.assert_array_equal(checkpoint.tensor(name).numpy(), values)
    assert checkpoint.parameters == sum(values.size for values in stored.values())
    assert (checkpoint.name, checkpoint.notes) == ("tiny", [])


def test_shards_are_read_through_their_index(tmp_path: Path) -> None:
    stored = tensors()
    write_sharded(tmp_path, stored)
    checkpoint = open_checkpoint(tmp_path)
    for name, values in stored.items():
        np.testing.assert_array_equal(checkpoint.tensor(name).numpy(), values)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_other_types_become_float32_unless_the_files_own_is_asked_for(
    tmp_path: Path, dtype: torch.dtype
) -> None:
    stored = {name: torch.from_numpy(values).to(dtype) for name, values in tensors().items()}
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    save_torch_file(stored, tmp_path / "model.safetensors")
    checkpoint = open_checkpoint(tmp_path)
    assert checkpoint.tensor(EMBEDDING).dtype is torch.float32
    assert torch.equal(checkpoint.tensor(EMBEDDING, None), stored[EMBEDDING])
    noted = " ".join(checkpoint.notes)
    assert ("float16" in noted) == (dtype is torch.float16)
    assert ("float64" in noted) == (dtype is torch.float64)


def test_untied_head_is_read(tmp_path: Path) -> None:
    stored = tensors(head=True)
    checkpoint = open_checkpoint(write_folder(tmp_path, stored, UNTIED))
    assert not checkpoint.config.tied
    np.testing.assert_array_equal(checkpoint.tensor(HEAD).numpy(), stored[HEAD])


def test_a_head_that_is_missing_is_tied_with_a_note_and_never_random(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(write_folder(tmp_path, tensors(), UNTIED))
    assert checkpoint.config.tied
    assert HEAD not in checkpoint.names
    assert "tied to embed_tokens" in checkpoint.notes[0]


def test_a_redundant_head_changes_nothing(tmp_path: Path) -> None:
    stored = tensors()
    stored[HEAD] = stored[EMBEDDING]
    checkpoint = open_checkpoint(write_folder(tmp_path, stored))
    assert checkpoint.config.tied
    assert HEAD not in checkpoint.names


def test_a_tied_config_with_another_head_uses_that_head_and_says_so(tmp_path: Path) -> None:
    checkpoint = open_checkpoint(write_folder(tmp_path, tensors(head=True)))
    assert not checkpoint.config.tied
    assert "different lm_head.weight" in checkpoint.notes[0]


def test_computed_tables_of_old_checkpoints_are_ignored(tmp_path: Path) -> None:
    stored = tensors()
    stored["model.layers.0.self_attn.rotary_emb.inv_freq"] = np.ones(8, np.float32)
    assert open_checkpoint(write_folder(tmp_path, stored)).parameters == sum(
        values.size for values in tensors().values()
    )


@pytest.mark.case("C01")
def test_truncated_shard_is_named_with_both_sizes(tmp_path: Path) -> None:
    shard = write_sharded(tmp_path, tensors())[0]
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1024])
    with pytest.raises(DraftscopeError) as caught:
        open_checkpoint(tmp_path)
    for said in (shard.name, "truncated", str(len(whole)), str(len(whole) - 1024)):
        assert said in str(caught.value)


@pytest.mark.case("C05")
def test_missing_shard_is_named(tmp_path: Path) -> None:
    shard = write_sharded(tmp_path, tensors())[1]
    shard.unlink()
    with pytest.raises(DraftscopeError, match=f"{shard.name} is missing"):
        open_checkpoint(tmp_path)


@pytest.mark.case("C07")
def test_a_stale_index_beside_a_whole_file_is_noted_and_never_mixed(tmp_path: Path) -> None:
    write_sharded(tmp_path, tensors(seed=1))[1].unlink()
    stored = tensors(seed=2)
    save_file(stored, tmp_path / "model.safetensors")
    checkpoint = open_checkpoint(tmp_path)
    assert "names files that are missing" in checkpoint.notes[0]
    for name, values in stored.items():
        np.testing.assert_array_equal(checkpoint.tensor(name).numpy(), values)


@pytest.mark.case("C07")
def test_a_stale_index_beside_a_partial_file_is_refused(tmp_path: Path) -> None:
    write_sharded(tmp_path, tensors())[1].unlink()
    save_file({EMBEDDING: tensors()[EMBEDDING]}, tmp_path / "model.safetensors")
    with pytest.raises(DraftscopeError, match="does not hold the whole model"):
        open_checkpoint(tmp_path)


def test_tensor_not_in_index_and_shard_without_it_are_two_messages(tmp_path: Path) -> None:
    shards = write_sharded(tmp_path, tensors())
    index = tmp_path / "model.safetensors.index.json"
    listed = json.loads(index.read_text())
    moved = {**listed["weight_map"], "model.norm.weight": shards[1].name}
    index.write_text(json.dumps({"weight_map": moved}))
    with pytest.raises(DraftscopeError, match=r"does not hold the tensor model\.norm\.weight"):
        open_checkpoint(tmp_path)
    del moved["model.norm.weight"]
    index.write_text(json.dumps({"weight_map": moved}))
    with pytest.raises(DraftscopeError, match=r"model\.norm\.weight, which .* does not list"):
        open_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["../outside.safetensors", "/abs.safetensors", "..", ""])
def test_an_index_cannot_name_files_outside_its_folder(tmp_path: Path, name: str) -> None:
    write_sharded(tmp_path, tensors())
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"model.norm.weight": name}}))
    with pytest.raises(DraftscopeError, match="outside its folder"):
        open_checkpoint(tmp_path)


def test_missing_misshapen_and_surplus_tensors_are_three_messages(tmp_path: Path) -> None:
    missing = tensors()
    del missing["model.layers.1.mlp.up_proj.weight"]
    misshapen = {**tensors(), "model.norm.weight": np.ones(31, np.float32)}
    surplus = {**tensors(), "model.layers.0.self_attn.q_proj.bias": np.ones(64, np.float32)}
    for index, (stored, said) in enumerate(
        (
            (missing, r"lacks the tensor model\.layers\.1\.mlp\.up_proj\.weight"),
            (misshapen, r"model\.norm\.weight has shape 31, .* asks for 32"),
            (surplus, r"holds the tensor model\.layers\.0\.self_attn\.q_proj\.bias"),
        )
    ):
        with pytest.raises(DraftscopeError, match=said):
            open_checkpoint(write_folder(tmp_path / str(index), stored))


@pytest.mark.case("C09")
def test_folder_in_place_of_a_file_and_empty_folder_say_so(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "with", tensors())
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors").mkdir()
    with pytest.raises(DraftscopeError, match="is a folder"):
        open_checkpoint(folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DraftscopeError, match="is empty"):
        open_checkpoint(tmp_path / "empty")


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_a_pickle_is_never_opened(tmp_path: Path, name: str) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / name).write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    for path in (tmp_path, tmp_path / name):
        with pytest.raises(DraftscopeError, match="pickle"):
            open_checkpoint(path)


def test_no_weights_and_several_files_without_index_say_so(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    with pytest.raises(DraftscopeError, match="no weights"):
        open_checkpoint(tmp_path)
    for name in ("a.safetensors", "b.safetensors"):
        save_file(tensors(), tmp_path / name)
    with pytest.raises(DraftscopeError, match="2 safetensors files but no"):
        open_checkpoint(tmp_path)


def test_one_file_of_a_folder_points_to_the_folder(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, tensors())
    with pytest.raises(DraftscopeError, match="Open the folder"):
        open_checkpoint(folder / "model.safetensors")
    with pytest.raises(DraftscopeError, match="no file or folder"):
        open_checkpoint(tmp_path / "absent")


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_anywhere_in_the_header_is_a_sentence_or_harmless(
    tmp_path: Path, data: st.DataObject
) -> None:
    file = tmp_path / "model.safetensors"
    if not file.exists():
        write_folder(tmp_path, tensors())
        (tmp_path / "whole").write_bytes(file.read_bytes())
    content = bytearray((tmp_path / "whole").read_bytes())
    header = 8 + int.from_bytes(content[:8], "little")
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, header - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content[: data.draw(st.integers(0, len(content)))])
    try:
        checkpoint = open_checkpoint(tmp_path)
        for name in checkpoint.names:
            assert tuple(checkpoint.tensor(name).shape) == checkpoint.shapes(name)
    except DraftscopeError:
        return
