"""Tensors of a Hugging Face folder: which files hold them, all checked before one is read.

Knows no device and no transformer. Never opens a pickle, and maps no file into memory: one that
is cut short or written over while it is read ends in a sentence.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import torch

from engine.errors import DraftscopeError, short
from engine.models.formats.config_folder import config_from_folder
from engine.models.formats.files import PICKLES, elsewhere, read_json, read_span, unreadable
from engine.models.formats.safetensors_header import StoredTensor, read_safetensors_header
from engine.models.layout import (
    EMBEDDING,
    HEAD,
    Shape,
    check_layout,
    expected_shapes,
    settle_head,
    text_part,
)

if TYPE_CHECKING:
    from pathlib import Path

    from engine.models.config import ModelConfig

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
_COMPARED = 1 << 24  # bytes at a time

_DTYPES = {
    **{"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16},
    **{"I64": torch.int64, "I32": torch.int32},
}


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

    def shape(self, name: str) -> Shape:
        """Return a tensor's shape."""
        return self.places[name].stored.shape

    def read(self, name: str) -> torch.Tensor:
        """Read a tensor in the file's own type (float64, float32, float16, bfloat16)."""
        place = self.places[name]
        return read_stored(place.path, place.stored)

    def file_of(self, name: str) -> str:
        """Return the name of the file that holds a tensor."""
        return self.places[name].path.name

    def close(self) -> None:
        """Nothing is held open."""


def read_stored(path: Path, stored: StoredTensor) -> torch.Tensor:
    """Read one tensor of a checked header, in the file's own type and in memory of its own."""
    if 0 in stored.shape:  # no bytes, which no view of another type is made of
        return torch.empty(stored.shape, dtype=_DTYPES[stored.kind])
    raw = read_span(path, stored.start, stored.end - stored.start)
    return torch.from_numpy(raw).view(_DTYPES[stored.kind]).reshape(stored.shape)


def open_folder(folder: Path) -> FolderSource:
    """Check a folder against its config.json; no tensor is allocated.

    Raises
    ------
    DraftscopeError
        A sentence for what is missing, wrong or not supported.
    """
    try:
        empty = not any(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
    if empty:
        raise DraftscopeError(f"The folder {folder.name} is empty. Open a folder with a model.")
    config = config_from_folder(folder)
    found, notes = _places(folder, config)
    places, left_out = text_part(found)
    shapes = {name: place.stored.shape for name, place in places.items()}

    def head_equals_embedding() -> bool:
        return _same_bytes(places[HEAD], places[EMBEDDING]) if EMBEDDING in places else False

    config, decided = settle_head(config, shapes, head_equals_embedding)
    check_layout(config, shapes, f"The folder {folder.name}")
    return FolderSource(
        folder, config, places, [*config.notes, *notes, *left_out, *decided, *_type_notes(places)]
    )


def _places(folder: Path, config: ModelConfig) -> tuple[dict[str, Place], list[str]]:
    """Find every tensor's file: the index if there is one, else the one safetensors file."""
    index, single = folder / INDEX, folder / SINGLE
    if not os.path.lexists(index):
        only = _only_file(folder)
        return _from_file(only), _ignored(folder, {only.name}, f"the model is {only.name}")
    listed = _weight_map(index)
    shards = set(listed.values())
    absent = sorted(name for name in shards if not os.path.exists(folder / name))
    if not absent:
        return _from_index(folder, listed), _ignored(folder, shards, f"{INDEX} names other files")
    if not single.is_file():
        raise DraftscopeError(
            f"{short(absent[0])} is missing: {INDEX} names it, but it is not in the folder "
            f"{folder.name}. Download it."
        )
    places = _from_file(single)
    if not text_part(places)[0].keys() >= expected_shapes(config).keys() - {HEAD}:
        raise DraftscopeError(
            f"{short(absent[0])} is missing: {INDEX} names it, and {SINGLE} beside it does not "
            "hold the whole model either. Download the missing file."
        )
    return places, [f"{INDEX} names files that are missing; {SINGLE} is whole and is used."]


def _weight_files(folder: Path) -> list[Path]:
    """Return the safetensors files, without the hidden ones that some systems put beside them."""
    return sorted(path for path in folder.glob("*.safetensors") if path.name[0] != ".")


def _ignored(folder: Path, used: set[str], reason: str) -> list[str]:
    others = [path.name for path in _weight_files(folder) if path.name not in used]
    more = f" (and {len(others) - 1} more)" if len(others) > 1 else ""
    return [f"{short(others[0])}{more} is ignored: {reason}."] if others else []


def _only_file(folder: Path) -> Path:
    found = _weight_files(folder)
    files = [path for path in found if not path.is_dir()] or found
    if (folder / SINGLE) in found:
        return folder / SINGLE
    if len(files) == 1:
        return files[0]
    if files:
        raise DraftscopeError(
            f"The folder {folder.name} has {len(files)} safetensors files but no {INDEX} that says "
            "what they hold. Download the index."
        )
    pickles = sorted(entry.name for entry in folder.iterdir() if entry.suffix in PICKLES)
    if pickles:
        raise DraftscopeError(
            f"The folder {folder.name} has its weights as a pickle ({short(pickles[0])}), which "
            "can run code and is never opened. Get the model as safetensors or GGUF."
        )
    raise DraftscopeError(
        f"The folder {folder.name} has no weights: {SINGLE} is missing. "
        f"{elsewhere(folder) or 'Download it.'}"
    )


def _weight_map(index: Path) -> dict[str, str]:
    listed = read_json(index).get("weight_map")
    if not isinstance(listed, dict) or not all(isinstance(name, str) for name in listed.values()):
        raise DraftscopeError(f"{index.name} has no weight_map. Download it again.")
    for name in listed.values():
        if name != name.replace("\\", "/").rpartition("/")[2] or name in ("", ".", ".."):
            raise DraftscopeError(
                f"{index.name} names a file outside its folder ({short(name)}). Download it again."
            )
    return listed


def _from_index(folder: Path, listed: dict[str, str]) -> dict[str, Place]:
    shards = {name: _from_file(folder / name) for name in sorted(set(listed.values()))}
    for tensor, shard in listed.items():
        if tensor not in shards[shard]:
            raise DraftscopeError(
                f"{short(shard)} does not hold the tensor {short(tensor)}, although {INDEX} says "
                "so. Download the model again."
            )
    for shard, held in shards.items():
        for tensor in held:
            if listed.get(tensor) != shard:
                said = f"lists in {short(listed[tensor])}" if tensor in listed else "does not list"
                raise DraftscopeError(
                    f"{short(shard)} holds the tensor {short(tensor)}, which {INDEX} {said}. "
                    "Index and files are of different models: download the model again."
                )
    return {tensor: shards[shard][tensor] for tensor, shard in listed.items()}


def _from_file(path: Path) -> dict[str, Place]:
    return {name: Place(path, stored) for name, stored in read_safetensors_header(path).items()}


def _same_bytes(one: Place, other: Place) -> bool:
    first, second = one.stored, other.stored
    if (first.kind, first.shape) != (second.kind, second.shape):
        return False
    size = first.end - first.start
    return all(
        np.array_equal(
            read_span(one.path, first.start + at, min(_COMPARED, size - at)),
            read_span(other.path, second.start + at, min(_COMPARED, size - at)),
        )
        for at in range(0, size, _COMPARED)
    )


def _type_notes(places: dict[str, Place]) -> list[str]:
    kinds = {place.stored.kind for place in places.values()}
    if "F16" in kinds:
        return ["Weights are stored as float16 and widened to float32 when read."]
    if "F64" in kinds:
        return ["Weights are stored as float64 and narrowed to float32 when read."]
    return []
