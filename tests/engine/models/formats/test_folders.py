"""Folders as they lie on disks: download caches, stray files, and folders of something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats.weights import open_checkpoint
from engine.models.registry import list_models, remember, resolve
from tests.engine.models.formats.model_files import tensors, write_folder
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path


def refusal(path: Path) -> str:
    with pytest.raises(DraftscopeError) as caught:
        open_checkpoint(path)
    return str(caught.value)


def write_cache(root: Path) -> Path:
    """Write a model as a download cache keeps it: files by their sums, and links to them."""
    whole, blobs = write_tiny_folder(root / "whole"), root / "models--a--b" / "blobs"
    snapshot = root / "models--a--b" / "snapshots" / "0123abcd"
    blobs.mkdir(parents=True)
    snapshot.mkdir(parents=True)
    for number, file in enumerate(sorted(whole.iterdir())):
        file.rename(blobs / f"sum{number}")
        (snapshot / file.name).symlink_to(f"../../blobs/sum{number}")
    return snapshot


def test_a_snapshot_of_links_is_a_model_and_its_cache_says_where_it_is(tmp_path: Path) -> None:
    snapshot = write_cache(tmp_path)
    (snapshot / "README.md").symlink_to("../../blobs/cleaned")  # nothing that is asked for
    target = load_model(snapshot, device="cpu", plan="eager")
    assert target.tokenizer.encode("a")
    assert "within its folder snapshots" in refusal(tmp_path / "models--a--b")


def test_files_of_other_tools_beside_a_model_change_nothing(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path / "ein Ördner 模型 (1)")
    for name in (".gitattributes", "README.md", "pytorch_model.bin", "._model.safetensors"):
        (folder / name).write_bytes(b"\0other")
    for name in ("original/consolidated.00.pth", "onnx/model.onnx", "x.gguf/part"):
        (folder / name).parent.mkdir()
        (folder / name).write_bytes(b"other")
    for file in folder.iterdir():
        file.chmod(0o555 if file.is_dir() else 0o444)
    assert open_checkpoint(folder).notes == []


def test_an_adapter_beside_a_model_is_said_to_be_ignored(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, tensors())
    (folder / "adapter_model.safetensors").write_bytes(b"other")
    (note,) = open_checkpoint(folder).notes
    assert note.startswith("adapter_model.safetensors is ignored")


@pytest.mark.parametrize("configured", [False, True])
def test_a_folder_of_gguf_files_says_to_open_one_of_them(tmp_path: Path, configured: bool) -> None:
    folder = write_folder(tmp_path / "f", tensors())
    (folder / "model.safetensors").rename(folder / "Model-Q8_0.GGUF")
    if not configured:
        (folder / "config.json").unlink()
    said = refusal(folder)
    assert said.endswith("Open the GGUF file in it itself: Model-Q8_0.GGUF.")
    assert ("has no weights" if configured else "has no config.json") in said


def test_a_snapshot_is_called_as_its_model_and_not_by_its_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRAFTSCOPE_DATA", str(tmp_path / "data"))
    snapshot = write_cache(tmp_path)
    assert open_checkpoint(snapshot).name == "b"
    remember(snapshot)
    (listed,) = [entry for entry in list_models() if entry.kind == "folder"]
    assert (listed.name, listed.title) == ("b", "b")
    assert resolve("b") == snapshot
