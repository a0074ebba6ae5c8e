"""Files of trained drafters: what was written is read, and what is damaged is refused by name."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from engine.drafters.file import read_drafter, write_drafter
from engine.drafters.head_weights import load_head
from engine.drafters.metadata import HeadShape
from engine.drafters.shared_small import SharedSmallModel
from engine.errors import DraftscopeError
from tests.engine.drafters.making import (
    FIRST,
    SCORED,
    SHAPES,
    described,
    drafter_tensors,
    write_head,
)
from tests.tiny_model import tiny_config

if TYPE_CHECKING:
    from pathlib import Path

    from engine.loading import LoadedModel

CONFIG = tiny_config()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "made.safetensors"


def refusal(path: Path, target: LoadedModel | None = None) -> str:
    with pytest.raises(DraftscopeError) as caught:
        read_drafter(path) if target is None else load(path, target)
    said = str(caught.value)
    assert "\n" not in said
    assert "made.safetensors" in said
    return said


def load(path: Path, target: LoadedModel) -> object:
    """Make a file ready for a target, whatever its fingerprint says."""
    file = read_drafter(path)
    if file.metadata.kind == "head":
        return load_head(path, target.transformer)
    return SharedSmallModel(file, target.transformer)


def rewritten(path: Path, metadata: dict[str, str], tensors: dict[str, Any]) -> Path:
    """Write by the package, which takes whatever it is given."""
    save_file(tensors, path, {key: text for key, text in metadata.items() if text})
    return path


@pytest.mark.parametrize("kind", SHAPES)
def test_what_was_written_is_read_whole(path: Path, kind: str) -> None:
    tensors, metadata = drafter_tensors(SHAPES[kind], CONFIG), described(SHAPES[kind])
    write_drafter(path, metadata, tensors)
    file = read_drafter(path)
    assert file.metadata == metadata
    assert file.tensors.keys() == tensors.keys()
    for name, tensor in tensors.items():
        assert torch.equal(file.tensors[name], tensor.to(file.tensors[name].dtype))
    assert file.header.parameters == sum(
        tensor.numel() for name, tensor in tensors.items() if name != "vocabulary"
    )
    assert file.header.size == path.stat().st_size
    assert [one.name for one in path.parent.iterdir()] == [path.name]  # nothing beside it


def test_the_safetensors_package_reads_the_same(path: Path) -> None:
    tensors, metadata = drafter_tensors(SHAPES["small"], CONFIG), described(SHAPES["small"])
    write_drafter(path, metadata, {name: tensor.double() for name, tensor in tensors.items()})
    with safe_open(path, "pt") as file:
        assert file.metadata() == metadata.encode()
    for name, tensor in load_file(path).items():
        assert tensor.dtype == (torch.int32 if name == "vocabulary" else torch.float16)
        assert torch.equal(tensor, tensors[name])
    assert (8 + int.from_bytes(path.read_bytes()[:8], "little")) % 8 == 0


def test_a_file_that_cannot_be_written_leaves_what_was_there(path: Path) -> None:
    path.write_bytes(b"before")
    tensors = drafter_tensors(SHAPES["head"], CONFIG)
    tensors["fuse.weight"] = torch.full_like(tensors["fuse.weight"], torch.nan)
    with pytest.raises(DraftscopeError, match="not finite"):
        write_drafter(path, described(SHAPES["head"]), tensors)
    tensors["fuse.weight"] = torch.full(tensors["fuse.weight"].shape, 1e6)  # beyond float16
    with pytest.raises(DraftscopeError, match="not finite"):
        write_drafter(path, described(SHAPES["head"]), tensors)
    assert path.read_bytes() == b"before"
    whole = drafter_tensors(SHAPES["head"], CONFIG)
    folder = path.parent / "taken.safetensors"
    folder.mkdir()
    with pytest.raises(DraftscopeError, match="cannot be written"):
        write_drafter(folder, described(SHAPES["head"]), whole)
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name, folder.name]


@pytest.mark.case("C28")
@pytest.mark.parametrize("cut", [4, 100, 0.5, -1])
def test_a_truncated_drafter_is_refused(path: Path, cut: float) -> None:
    content = write_head(path, CONFIG).read_bytes()
    kept = content[: cut if isinstance(cut, int) else int(cut * len(content))]
    path.write_bytes(kept)
    said = refusal(path)
    assert f"truncated: it has {len(kept)} bytes" in said or "not a safetensors file" in said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (b"<html>", "web page"),
        (bytes(500), "zeros only"),
        (b"", "not a safetensors file"),
    ],
)
def test_what_is_no_drafters_file_says_what_it_is(path: Path, content: bytes, said: str) -> None:
    path.write_bytes(content)
    assert said in refusal(path)
    path.unlink()
    assert "cannot be read" in refusal(path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"format": ""}, "is no drafter"),
        ({"format": "draftscope-drafter-2"}, "of the format 'draftscope-drafter-2'"),
        ({"kind": "tree"}, "a drafter of the kind 'tree'"),
        ({"kind": "small"}, "its shape cannot be read"),
        ({"shape": ""}, "its shape cannot be read"),
        ({"shape": "[1, 2]"}, "its shape cannot be read"),
        ({"shape": '{"blocks": 0, "inner": 48}'}, "sizes that no drafter has"),
        ({"shape": '{"blocks": 100000, "inner": 48}'}, "sizes that no drafter has"),
        ({"shape": '{"blocks": 1, "inner": 48, "taps": [2, 1]}'}, "its taps are [2, 1]"),
        ({"shape": '{"blocks": 1, "inner": 48, "taps": [0]}'}, "its taps are [0]"),
        ({"shape": '{"blocks": 2, "inner": 48}'}, "lacks the tensor 'blocks.1.attention_norm"),
        ({"shape": '{"blocks": 1, "inner": 40}'}, "'blocks.0.mlp.gate_up.weight' has the shape"),
        ({"shape": '{"blocks": 1, "inner": 48, "taps": [1]}'}, "'hidden_norm.weight' has the"),
        ({"fingerprint": '{"tokenizer": "a"}'}, "its fingerprint cannot be read"),
        ({"corpus": "{"}, "its corpus cannot be read"),
        ({"trained": '{"tokens": "many"}'}, "its trained cannot be read"),
        ({"held_out": ""}, "its held out cannot be read"),
    ],
)
def test_what_a_file_says_of_itself_is_checked_before_any_tensor(
    path: Path, changes: dict[str, str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = described(SHAPES["head"]).encode()
    rewritten(path, metadata | changes, drafter_tensors(SHAPES["head"], CONFIG))
    monkeypatch.setattr("engine.drafters.file.read_stored", None)  # would fail with another error
    assert said in refusal(path)


@pytest.mark.parametrize(
    ("part", "value", "said"),
    [
        ("kind", 3, "is no drafter"),
        ("held_out", "\ud800", "its held_out is no Unicode text"),
        ("target", "tiny \udfff", "its target is no Unicode text"),
    ],
)
def test_metadata_that_is_no_texts_is_refused(
    path: Path, part: str, value: object, said: str
) -> None:
    content = write_head(path, CONFIG).read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"][part] = value
    changed = json.dumps(header).encode()
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + content[8 + length :])
    assert said in refusal(path)


@pytest.mark.parametrize(
    ("name", "tensor", "said"),
    [
        ("vocabulary", torch.zeros(0, dtype=torch.int32), "'vocabulary' has the shape"),
        ("vocabulary", torch.tensor(3), "'vocabulary' has the shape"),
        ("vocabulary", torch.tensor([[3]]), "'vocabulary' has the shape"),
        ("vocabulary", torch.tensor([3.5, 4.5]), "lacks the tensor 'vocabulary'"),
        ("vocabulary", torch.tensor([3, 4, 4]), "do not rise"),
        ("vocabulary", torch.tensor([4, 3]), "do not rise"),
        ("vocabulary", torch.tensor([-1, 4]), "drafts the id -1"),
        ("vocabulary", torch.tensor([2**40]), "drafts the id 1099511627776"),
        ("blocks.0.mlp.down.weight", torch.ones(()), "has the shape"),
        ("blocks.0.mlp.down.weight", torch.ones(32, 0), "has the shape"),
        ("fuse.weight", torch.ones(32, 64, dtype=torch.int32), "lacks the tensor 'fuse.weight'"),
        ("fuse.weight", None, "lacks the tensor 'fuse.weight'"),
        ("fuse.weight", torch.zeros(32, 64), "holds zeros only"),
        ("fuse.weight", torch.full((32, 64), torch.nan), "not finite"),
        ("output_norm.weight", torch.zeros(32), "holds zeros only"),
        ("more.weight", torch.ones(3), "holds the tensor 'more.weight'"),
        ("fuse.weight", torch.ones(32, 64, dtype=torch.uint8), "stored as U8"),
    ],
)
def test_a_tensor_that_no_drafter_has_is_refused_by_name(
    path: Path, name: str, tensor: Any, said: str
) -> None:
    tensors = {**drafter_tensors(SHAPES["head"], CONFIG), name: tensor}
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    rewritten(path, described(SHAPES["head"]).encode(), given)
    assert said in refusal(path)


@pytest.mark.parametrize("name", ["vocabulary", "fuse.weight", "more.weight"])
def test_what_would_be_refused_is_not_written(path: Path, name: str) -> None:
    tensors = {**drafter_tensors(SHAPES["head"], CONFIG), name: torch.tensor([5, 5])}
    with pytest.raises(DraftscopeError, match=re.escape(path.name)):
        write_drafter(path, described(SHAPES["head"]), tensors)
    assert not path.exists()


def test_ids_beyond_the_targets_vocabulary_are_refused(
    path: Path, tiny_target: LoadedModel
) -> None:
    for kind in ("head", "small"):
        ids = torch.tensor([3, 258], dtype=torch.int32)  # the tiny target has ids up to 257
        write_drafter(path, described(SHAPES[kind]), drafter_tensors(SHAPES[kind], CONFIG, ids=ids))
        said = refusal(path, tiny_target)
        assert "ids up to 258, beyond this target's vocabulary of 258" in said


def test_a_drafter_of_other_sizes_than_the_target_is_refused(
    path: Path, tiny_target: LoadedModel
) -> None:
    write_head(path, tiny_config(width=48))
    assert "does not fit this target" in refusal(path, tiny_target)
    write_head(path, CONFIG, HeadShape(1, 48, taps=(2,)))  # of two layers: that is the last state
    assert "after layer 2 of 2" in refusal(path, tiny_target)
    shape = SHAPES["small"]
    write_drafter(path, described(shape), drafter_tensors(shape, tiny_config(width=48)))
    assert "'input_norm.weight' has the shape" in refusal(path, tiny_target)
    with pytest.raises(DraftscopeError, match="holds a small drafter and no head"):
        load_head(path, tiny_target.transformer)
    write_head(path, CONFIG)
    with pytest.raises(DraftscopeError, match="holds a head drafter and no small model"):
        SharedSmallModel(read_drafter(path), tiny_target.transformer)


def test_a_whole_head_is_read(path: Path, exact_target: LoadedModel) -> None:
    target = exact_target.transformer
    weights = load_head(write_head(path, CONFIG), target)
    ids = list(range(FIRST, FIRST + SCORED))
    assert weights.vocabulary.tolist() == ids
    x = torch.randn(1, CONFIG.width, dtype=torch.float64)
    assert torch.allclose(weights.exit.head(x), x @ target.embed(ids).T)
