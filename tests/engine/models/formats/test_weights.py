"""Weights that no training leaves are refused by name when they are read, in both formats."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from gguf.constants import GGMLQuantizationType as Kind
from safetensors.torch import save_file

from engine.errors import DraftscopeError
from engine.loading import load_model
from engine.models.formats.weights import check_numbers, open_checkpoint
from tests.engine.models.formats.model_files import (
    CONFIG,
    tensors,
    write_folder,
    write_gguf,
    write_sharded,
)
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

UP = "model.layers.1.mlp.up_proj.weight"
NORM = "model.norm.weight"


def changed(name: str, value: Any, at: int = 0) -> dict[str, np.ndarray]:
    stored = tensors()
    stored[name].reshape(-1)[at:] = value
    return stored


@pytest.mark.parametrize("name", [UP, NORM, "model.embed_tokens.weight"])
def test_zeros_alone_are_refused_by_tensor_and_file(tmp_path: Path, name: str) -> None:
    """A download that never finished can have the right size, and zeros in place of the rest."""
    stored = changed(name, 0.0)
    file = write_gguf(tmp_path / "a.gguf", stored)
    for path, where in (
        (write_folder(tmp_path / "f", stored), "model.safetensors"),
        (file, "a.gguf"),
    ):
        checkpoint = open_checkpoint(path)
        with pytest.raises(DraftscopeError) as caught:
            checkpoint.tensor(name)
        assert str(caught.value).startswith(f"{where}: the tensor {name} holds zeros only")


def test_a_single_number_besides_zeros_is_a_weight(tmp_path: Path) -> None:
    stored = changed(UP, 0.0, at=1)
    read = open_checkpoint(write_folder(tmp_path, stored)).tensor(UP)
    np.testing.assert_array_equal(read.numpy(), stored[UP])


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", [Kind.F32, Kind.F16, Kind.BF16])
def test_numbers_that_are_not_finite_are_refused(tmp_path: Path, value: float, kind: Kind) -> None:
    stored = changed(UP, value, at=77)
    checkpoint = open_checkpoint(write_gguf(tmp_path / "a.gguf", stored, kind=kind))
    for dtype in (torch.float32, None):
        with pytest.raises(DraftscopeError, match=f"{UP} holds numbers that are not finite"):
            checkpoint.tensor(UP, dtype)


def test_numbers_too_large_for_the_wanted_type_are_refused(tmp_path: Path) -> None:
    stored = {name: torch.from_numpy(values).double() for name, values in tensors().items()}
    stored[UP][0, 0] = 1e300
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    save_file(stored, tmp_path / "model.safetensors")
    checkpoint = open_checkpoint(tmp_path)
    with pytest.raises(DraftscopeError, match="not finite"):
        checkpoint.tensor(UP)
    assert float(checkpoint.tensor(UP, None)[0, 0]) == 1e300


def test_the_shard_that_holds_the_tensor_is_named(tmp_path: Path) -> None:
    first, second = write_sharded(tmp_path, changed(UP, 0.0))
    with pytest.raises(DraftscopeError, match=second.name):
        open_checkpoint(tmp_path).tensor(UP)
    assert open_checkpoint(tmp_path).tensor(NORM).shape == (32,)
    assert first.name != second.name


def test_biases_may_be_zero() -> None:
    check_numbers(torch.zeros(4), "model.layers.0.self_attn.q_proj.bias", "a")
    with pytest.raises(DraftscopeError):
        check_numbers(torch.zeros(4), "model.layers.0.self_attn.q_proj.weight", "a")


def test_a_file_whose_end_is_zeros_is_no_model(tmp_path: Path) -> None:
    folder = write_tiny_folder(tmp_path)
    file = folder / "model.safetensors"
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))
    with pytest.raises(DraftscopeError, match="holds zeros only"):
        load_model(folder, device="cpu", plan="eager")
    file.write_bytes(bytes(len(content)))
    with pytest.raises(DraftscopeError, match="begins with zeros only"):
        load_model(folder, device="cpu", plan="eager")


@pytest.mark.case("C09")
def test_what_is_neither_a_file_nor_a_folder_is_one_line(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "link.gguf").symlink_to(tmp_path / "gone")
    (tmp_path / "x.safetensors").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("no model")
    cases = {
        "pipe.gguf": "no ordinary file",
        "link.gguf": "No such file",
        "x.safetensors": "is empty",
        "full": "no config.json",
        "gone": "no file or folder gone",
        "a" * 5000: "no file or folder",
    }
    for name, said in cases.items():
        with pytest.raises(DraftscopeError, match=said) as caught:
            open_checkpoint(tmp_path / name)
        assert "\n" not in str(caught.value)
