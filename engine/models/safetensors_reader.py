"""Tensors of a Hugging Face folder: which files hold them, all checked before one is read.

Knows no device and no transformer. Never opens a pickle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError, safe_open

from engine.errors import DraftscopeError
from engine.models.config_folder import config_from_folder
from engine.models.files import PICKLES, read_json
from engine.models.layout import (
    EMBEDDING,
    HEAD,
    Shape,
    check_layout,
    expected_shapes,
    settle_head,
    text_part,
)
from engine.models.safetensors_header import StoredTensor, read_safetensors_header

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from engine.models.config import ModelConfig

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"


@dataclass(frozen=True)
class Place:
    """A tensor and the file that holds it."""

    path: Path
    stored: StoredTensor


@dataclass(frozen=True)
class FolderSource:
    """A checked folder; tensors are read when asked for."""

    path: Path
    config: ModelConfig
    places: dict[str, Place]
    notes: list[str] = field(default_factory=list)
    _open: dict[Path, safe_open] = field(default_factory=dict, repr=False)

    def shape(self, name: str) -> Shape:
        """Return a tensor's shape."""
        return self.places[name].stored.shape

    def read(self, name: str) -> torch.Tensor:
        """Read a tensor in the file's own type (float64, float32, float16, bfloat16)."""
        path = self.places[name].path
        try:
            if path not in self._open:
                self._open[path] = safe_open(path, framework="pt")
            tensor: torch.Tensor = self._open[path].get_tensor(name)  # type: ignore[no-untyped-call]  # not annotated there
        except (SafetensorError, OSError) as error:
            raise DraftscopeError(
                f"{path.name} cannot be read ({error}). Download it again."
            ) from error
        return tensor

    def close(self) -> None:
        """Let go of the files."""
        self._open.clear()


def open_folder(folder: Path) -> FolderSource:
    """Check a folder against its config.json; no tensor is allocated.

    Raises
    ------
    DraftscopeError
        A sentence for what is missing, wrong or not supported.
    """
    if not any(folder.iterdir()):
        raise DraftscopeError(f"The folder {folder.name} is empty. Open a folder with a model.")
    config = config_from_folder(folder)
    found, notes = _places(folder, config)
    places, left_out = text_part(found)
    shapes = {name: place.stored.shape for name, place in places.items()}

    def head_equals_embedding() -> bool:
        return _same_bytes(places[HEAD], places[EMBEDDING]) if EMBEDDING in places else False

    config, decided = settle_head(config, shapes, head_equals_embedding)
    check_layout(config, shapes, f"The folder {folder.name}")
    notes = [*config.notes, *notes, *left_out, *decided, *_type_notes(places)]
    return FolderSource(folder, config, places, notes)


def _places(folder: Path, config: ModelConfig) -> tuple[dict[str, Place], list[str]]:
    """Find every tensor's file: the index if there is one, else the one safetensors file."""
    index, single = folder / INDEX, folder / SINGLE
    if index.is_file():
        absent = _absent_shards(folder, index)
        if not absent:
            ignored = f"{SINGLE} is ignored: {INDEX} names other files."
            shards = _weight_map(index).values()
            return _from_index(folder, index), (
                [ignored] if single.exists() and SINGLE not in shards else []
            )
        if not single.is_file():
            raise DraftscopeError(
                f"{absent[0]} is missing: {INDEX} names it, but it is not in the folder "
                f"{folder.name}. Download it."
            )
        places = _from_file(single)
        if not places.keys() >= expected_shapes(config).keys() - {HEAD}:
            raise DraftscopeError(
                f"{absent[0]} is missing: {INDEX} names it, and {SINGLE} beside it does not hold "
                "the whole model either. Download the missing file."
            )
        return places, [f"{INDEX} names files that are missing; {SINGLE} is whole and is used."]
    return _from_file(_only_file(folder)), []


def _only_file(folder: Path) -> Path:
    found = sorted(folder.glob("*.safetensors"))
    if (folder / SINGLE) in found:
        return folder / SINGLE
    if len(found) == 1:
        return found[0]
    if found:
        raise DraftscopeError(
            f"The folder {folder.name} has {len(found)} safetensors files but no {INDEX} that says "
            "what they hold. Download the index."
        )
    pickles = sorted(entry.name for entry in folder.iterdir() if entry.suffix in PICKLES)
    if pickles:
        raise DraftscopeError(
            f"The folder {folder.name} has its weights as a pickle ({pickles[0]}), which can run "
            "code and is never opened. Get the model as safetensors or GGUF."
        )
    raise DraftscopeError(
        f"The folder {folder.name} has no weights: {SINGLE} is missing. Download it."
    )


def _weight_map(index: Path) -> dict[str, str]:
    listed = read_json(index).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise DraftscopeError(f"{index.name} has no weight_map. Download it again.")
    for name in listed.values():
        if name != name.replace("\\", "/").rpartition("/")[2] or name in ("", ".", ".."):
            raise DraftscopeError(
                f"{index.name} names a file outside its folder ({name}). Download it again."
            )
    return listed


def _absent_shards(folder: Path, index: Path) -> list[str]:
    return [
        name for name in sorted(set(_weight_map(index).values())) if not (folder / name).exists()
    ]


def _from_index(folder: Path, index: Path) -> dict[str, Place]:
    listed = _weight_map(index)
    shards = {name: _from_file(folder / name) for name in sorted(set(listed.values()))}
    for tensor, shard in listed.items():
        if tensor not in shards[shard]:
            raise DraftscopeError(
                f"{shard} does not hold the tensor {tensor}, although {INDEX} says so. "
                "Download the model again."
            )
    for shard, held in shards.items():
        unlisted = sorted(held.keys() - listed.keys())
        if unlisted:
            raise DraftscopeError(
                f"{shard} holds the tensor {unlisted[0]}, which {INDEX} does not list. "
                "Index and files are of different models: download the model again."
            )
    return {tensor: shards[shard][tensor] for tensor, shard in listed.items()}


def _from_file(path: Path) -> dict[str, Place]:
    return {name: Place(path, stored) for name, stored in read_safetensors_header(path).items()}


def _same_bytes(one: Place, other: Place) -> bool:
    if (one.stored.kind, one.stored.shape) != (other.stored.kind, other.stored.shape):
        return False
    first, second = (
        np.memmap(place.path, np.uint8, "r", place.stored.start, (size,))
        for place in (one, other)
        if (size := place.stored.end - place.stored.start) > 0
    )
    return bool(np.array_equal(first, second))


def _type_notes(places: dict[str, Place]) -> list[str]:
    kinds = {place.stored.kind for place in places.values()}
    if "F16" in kinds:
        return ["Weights are stored as float16 and widened to float32 when read."]
    if "F64" in kinds:
        return ["Weights are stored as float64 and narrowed to float32 when read."]
    return []
