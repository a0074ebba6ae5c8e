"""Folders of several weight files: index and files agree, or one sentence names what does not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from safetensors.numpy import save_file

from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats import weights
from engine.models.formats.weights import open_checkpoint
from tests.engine.models.formats.model_files import CONFIG, tensors, write_folder, write_sharded

if TYPE_CHECKING:
    from pathlib import Path

INDEX = "model.safetensors.index.json"
NORM = "model.norm.weight"


def reindex(folder: Path, **changes: str | None) -> None:
    """Change what the index says of some tensors; None takes one out."""
    listed = json.loads((folder / INDEX).read_text())["weight_map"]
    listed = {name: shard for name, shard in (listed | changes).items() if shard is not None}
    (folder / INDEX).write_text(json.dumps({"weight_map": listed}))


def refusal(path: Path) -> str:
    with pytest.raises(DraftscopeError) as caught:
        open_checkpoint(path)
    said = str(caught.value)
    assert "\n" not in said
    return said


@pytest.mark.case("C33")
def test_no_config_says_exactly_that(tmp_path: Path) -> None:
    write_sharded(tmp_path, tensors())
    (tmp_path / "config.json").unlink()
    assert "has no config.json" in refusal(tmp_path)


@pytest.mark.case("C33", "C05")
def test_unlisted_tensor_absent_shard_and_shard_without_it_are_three_messages(
    tmp_path: Path,
) -> None:
    shards = write_sharded(tmp_path, tensors())
    whole = shards[0].read_bytes()
    reindex(tmp_path, **{NORM: None})
    unlisted = refusal(tmp_path)
    assert NORM in unlisted
    assert "does not list" in unlisted
    reindex(tmp_path, **{NORM: shards[1].name})
    lacking = refusal(tmp_path)
    assert f"{shards[1].name} does not hold the tensor {NORM}" in lacking
    reindex(tmp_path, **{NORM: shards[0].name})
    shards[0].unlink()
    absent = refusal(tmp_path)
    assert f"{shards[0].name} is missing" in absent
    shards[0].write_bytes(whole)
    assert open_checkpoint(tmp_path).shapes(NORM) == (32,)


def test_a_tensor_in_two_shards_is_never_chosen_between(tmp_path: Path) -> None:
    stored = tensors()
    shards = write_sharded(tmp_path, stored)
    held = list(stored)[len(stored) // 2 :]
    save_file({name: stored[name] for name in [NORM, *held]}, shards[1])
    said = refusal(tmp_path)
    assert f"{shards[1].name} holds the tensor {NORM}, which {INDEX} lists in" in said


@pytest.mark.case("C07")
def test_an_index_of_thirty_with_fifteen_there_is_refused_or_left_for_the_whole_file(
    tmp_path: Path,
) -> None:
    stored = tensors(seed=1)
    folder = write_folder(tmp_path, tensors(seed=2))
    (folder / "model.safetensors").rename(folder / "kept")
    names = list(stored)
    listed = {}
    for at in range(30):
        shard = f"model-{at + 1:05}-of-00030.safetensors"
        held = names[at::30] or [f"extra.{at}"]
        listed |= dict.fromkeys(held, shard)
        if at < 15:
            save_file(
                {name: stored.get(name, np.ones(1, np.float32)) for name in held}, folder / shard
            )
    (folder / INDEX).write_text(json.dumps({"weight_map": listed}))
    assert "model-00016-of-00030.safetensors is missing" in refusal(folder)
    (folder / "kept").rename(folder / "model.safetensors")
    checkpoint = open_checkpoint(folder)
    assert "model.safetensors is whole and is used" in checkpoint.notes[0]
    for name, values in tensors(seed=2).items():
        np.testing.assert_array_equal(checkpoint.tensor(name).numpy(), values)


@pytest.mark.case("C01")
def test_a_truncated_shard_leaves_no_partial_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shard = write_sharded(tmp_path, tensors())[0]
    shard.write_bytes(shard.read_bytes()[:-1024])
    read: list[str] = []
    monkeypatch.setattr(
        weights.Checkpoint, "tensor", lambda self, name, dtype=None: read.append(name)
    )
    with pytest.raises(DraftscopeError, match=f"{shard.name} is truncated"):
        load_model(tmp_path, device="cpu", plan="eager")
    assert read == []


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("a" * 5000, "is missing"),
        ("a\0b", "is missing"),
        ("\ud800", "is missing"),
        ("new\nline", "is missing"),
        ("sub\\outside", "outside its folder"),
    ],
)
def test_shard_names_that_no_system_has_are_sentences(tmp_path: Path, name: str, said: str) -> None:
    write_sharded(tmp_path, tensors())
    reindex(tmp_path, **{NORM: name})
    assert said in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("<html></html>", "web page"),
        ("version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        ("[]", "no JSON object"),
        ("{}", "no weight_map"),
        ('{"weight_map": {"a": 1}}', "no weight_map"),
        ('{"weight_map": []}', "no weight_map"),
        ('{"weight_map": {}}', "lacks the tensor model.embed_tokens.weight"),
        ("\0\0\0\0", "zeros only"),
        ("", "not valid JSON"),
    ],
)
def test_an_index_that_is_none_is_a_sentence(tmp_path: Path, content: str, said: str) -> None:
    write_sharded(tmp_path, tensors())
    (tmp_path / INDEX).write_text(content)
    assert said in refusal(tmp_path)


@pytest.mark.case("C09")
def test_a_folder_in_place_of_a_shard_or_of_the_index_is_a_sentence(tmp_path: Path) -> None:
    shard = write_sharded(tmp_path, tensors())[0]
    shard.unlink()
    shard.mkdir()
    assert f"{shard.name} is a folder" in refusal(tmp_path)
    (tmp_path / INDEX).unlink()
    (tmp_path / INDEX).mkdir()
    assert f"{INDEX} is a folder" in refusal(tmp_path)


@pytest.mark.case("C04")
def test_a_shard_that_was_not_downloaded_says_so(tmp_path: Path) -> None:
    shard = write_sharded(tmp_path, tensors())[1]
    shard.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    said = refusal(tmp_path)
    assert f"{shard.name} is a Git LFS pointer" in said
    assert "weights were not downloaded" in said


def test_files_that_are_no_part_of_the_model_are_noted_and_hidden_ones_are_not(
    tmp_path: Path,
) -> None:
    folder = write_folder(tmp_path / "one", tensors())
    (folder / "._model.safetensors").write_bytes(b"\0\5\26\7")
    assert open_checkpoint(folder).notes == []
    save_file({"a": np.ones(1, np.float32)}, folder / "adapter_model.safetensors")
    noted = ["adapter_model.safetensors is ignored: the model is model.safetensors."]
    assert open_checkpoint(folder).notes == noted
    write_sharded(tmp_path / "two", tensors())
    save_file(tensors(), tmp_path / "two" / "model.safetensors")
    assert "model.safetensors is ignored" in open_checkpoint(tmp_path / "two").notes[0]


def test_a_lone_weight_file_beside_a_folder_of_its_ending_is_used(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    (tmp_path / "cache.safetensors").mkdir()
    assert "is a folder" in refusal(tmp_path)
    save_file(tensors(), tmp_path / "weights.safetensors")
    assert open_checkpoint(tmp_path).shapes(NORM) == (32,)


def test_a_file_cut_short_after_it_was_checked_is_a_sentence(tmp_path: Path) -> None:
    """Weights that were mapped into memory would end the whole program here."""
    folder = write_folder(tmp_path, tensors())
    checkpoint = open_checkpoint(folder)
    whole = checkpoint.tensor("model.embed_tokens.weight")
    before = whole.clone()
    with (folder / "model.safetensors").open("r+b") as file:
        file.truncate(100)
    assert bool((whole == before).all())
    with pytest.raises(DraftscopeError, match="has changed while it was read"):
        checkpoint.tensor(NORM)
