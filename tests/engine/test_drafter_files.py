"""Files of drafters that are loaded later: as damaged ones are refused as those of a target."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest
import torch
from safetensors.torch import save_file

from engine.drafters.head_weights import load_head
from engine.errors import DraftscopeError
from engine.loading import make_drafter
from tests.engine.models.formats.model_files import tensors, write_gguf
from tests.engine.models.head_files import head_tensors, write_head
from tests.tiny_model import write_tiny_folder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "head.safetensors"


def refusal(path: Path, target: LoadedModel) -> str:
    with pytest.raises(DraftscopeError) as caught:
        load_head(path, target.transformer)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_whole_head_is_read(path: Path, exact_target: LoadedModel) -> None:
    weights = load_head(write_head(path, exact_target.transformer.config), exact_target.transformer)
    stored = head_tensors(exact_target.transformer.config)
    assert torch.equal(weights.vocabulary, stored["vocabulary"].long())
    assert torch.equal(weights.output_norm.float(), stored["output_norm.weight"])
    assert weights.parameters == sum(
        tensor.numel() for name, tensor in stored.items() if name != "vocabulary"
    )


def test_a_heads_ids_are_scored_in_order_however_they_are_listed(
    path: Path, exact_target: LoadedModel
) -> None:
    target = exact_target.transformer
    stored = head_tensors(target.config)
    given = stored["vocabulary"].flip(0)
    save_file({**stored, "vocabulary": given.contiguous()}, path)
    weights = load_head(path, target)
    # draws run through columns and the lowest id wins a tie, in a head as everywhere
    assert weights.vocabulary.tolist() == sorted(given.tolist())
    x = torch.randn(1, target.config.width, dtype=torch.float64)
    assert torch.allclose(weights.head(x), x @ target.embed(sorted(given.tolist())).T)


@pytest.mark.case("C28")
def test_a_truncated_head_is_refused(path: Path, tiny_target: LoadedModel) -> None:
    content = write_head(path, tiny_target.transformer.config).read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert f"truncated: it has {len(content) // 2} bytes" in refusal(path, tiny_target)


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


@pytest.mark.parametrize(
    ("name", "tensor", "said"),
    [
        ("vocabulary", torch.zeros(0, dtype=torch.int32), "does not fit"),
        ("vocabulary", torch.tensor(3), "does not fit"),
        ("vocabulary", torch.tensor([[3]]), "does not fit"),
        ("vocabulary", torch.tensor([3.5, 4.5]), "lacks 'vocabulary'"),
        ("vocabulary", torch.tensor([3, 4, 3]), "twice"),
        ("vocabulary", torch.tensor([-1, 4]), "from -1 to 4, beyond"),
        ("vocabulary", torch.tensor([2**40]), "beyond"),
        ("mlp.down.weight", torch.ones(()), "does not fit"),
        ("mlp.down.weight", torch.ones(32, 0), "does not fit"),
        ("fuse.weight", torch.ones(32, 64, dtype=torch.int32), "lacks 'fuse.weight'"),
        ("fuse.weight", torch.zeros(32, 64), "holds zeros only"),
        ("fuse.weight", torch.full((32, 64), torch.nan), "not finite"),
        ("output_norm.weight", torch.zeros(32), "holds zeros only"),
        ("more.weight", torch.ones(3), "holds 'more.weight', which no head has"),
        ("fuse.weight", torch.ones(32, 64, dtype=torch.uint8), "stored as U8"),
    ],
)
def test_a_tensor_that_no_head_has_is_refused_by_name(
    path: Path, tiny_target: LoadedModel, name: str, tensor: Any, said: str
) -> None:
    save_file({**head_tensors(tiny_target.transformer.config), name: tensor}, path)
    assert said in refusal(path, tiny_target)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (bytes(500), "zeros only"),
        (b"", "not a safetensors file"),
    ],
)
def test_what_is_no_head_file_says_what_it_is(
    path: Path, tiny_target: LoadedModel, content: bytes, said: str
) -> None:
    path.write_bytes(content)
    assert said in refusal(path, tiny_target)
    path.unlink()
    assert "cannot be read" in refusal(path, tiny_target)
