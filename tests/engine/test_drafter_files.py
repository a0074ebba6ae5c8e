"""Files of small models that are loaded later: as damaged ones are refused as those of a target."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import pytest

from engine.errors import DraftscopeError
from engine.loading import make_drafter
from tests.engine.models.formats.model_files import tensors, write_gguf
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


@pytest.mark.case("C28")
@pytest.mark.parametrize("damage", ["half", "offset"])
def test_a_damaged_small_model_is_refused_when_it_is_loaded_later(
    tmp_path: Path, tiny_target: LoadedModel, damage: str
) -> None:
    path = write_gguf(tmp_path / "small.gguf", tensors())
    content = bytearray(path.read_bytes())
    if damage == "half":
        del content[len(content) // 2 :]
    else:
        entry = struct.pack("<Q", 19) + b"blk.1.ffn_up.weight"
        at = content.index(entry) + len(entry) + 4 + 2 * 8 + 4
        content[at : at + 8] = struct.pack("<Q", 2**64 - 8)
    path.write_bytes(content)
    with pytest.raises(DraftscopeError, match=r"small\.gguf is (truncated|damaged)"):
        make_drafter(f"model:{path}", tiny_target)


@pytest.mark.case("C01")
def test_a_truncated_folder_of_a_small_model_is_refused(
    tmp_path: Path, tiny_target: LoadedModel
) -> None:
    file = write_tiny_folder(tmp_path / "small") / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1024])
    with pytest.raises(DraftscopeError, match=r"model\.safetensors is truncated"):
        make_drafter(f"model:{file.parent}", tiny_target)
