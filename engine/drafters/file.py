"""A drafter's file, read whole and written whole: safetensors, with metadata.

Knows tensors and their checks; no plan, and of a target only its vocabulary.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from safetensors.torch import save

from engine.drafters.header import DrafterHeader, read_drafter_header
from engine.drafters.layout import VOCABULARY, check_whole
from engine.drafters.metadata import damaged
from engine.errors import DraftscopeError
from engine.models.formats.safetensors_header import StoredTensor
from engine.models.formats.safetensors_reader import read_stored
from engine.models.formats.weights import check_numbers
from engine.whole import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from engine.drafters.metadata import DrafterMetadata

_KINDS = {torch.float16: "F16", torch.int32: "I32"}


@dataclass(frozen=True)
class DrafterFile:
    """What a drafter's file holds."""

    header: DrafterHeader
    tensors: dict[str, Tensor]  # weights as stored; "vocabulary" [R] of int64, rising

    @property
    def name(self) -> str:
        """Name of the file, for sentences."""
        return self.header.path.name

    @property
    def metadata(self) -> DrafterMetadata:
        """What it says of itself."""
        return self.header.metadata

    def check_vocabulary(self, vocabulary: int) -> None:
        """Refuse a target of fewer ids than are drafted."""
        last = int(self.tensors[VOCABULARY][-1])
        if last >= vocabulary:
            raise DraftscopeError(
                f"{self.name} drafts ids up to {last}, beyond this target's vocabulary of "
                f"{vocabulary}; choose the one that was trained for this target."
            )


def read_drafter(path: str | Path) -> DrafterFile:
    """Read a drafter; everything about its header is checked before a tensor is read.

    Raises
    ------
    DraftscopeError
        One sentence for what is truncated, damaged, no drafter, or of another version.
    """
    return read_tensors(read_drafter_header(Path(path)))


def read_tensors(header: DrafterHeader) -> DrafterFile:
    """Read the tensors of a checked header, and check their numbers."""
    file = header.path.name
    tensors = {name: read_stored(header.path, one) for name, one in header.tensors.items()}
    tensors[VOCABULARY] = tensors[VOCABULARY].long()
    _check_ids(tensors[VOCABULARY], file)
    for name, tensor in tensors.items():
        if name != VOCABULARY:
            check_numbers(tensor.float(), name, file)
    return DrafterFile(header, tensors)


def write_drafter(
    path: str | Path, metadata: DrafterMetadata, tensors: Mapping[str, Tensor]
) -> None:
    """Write a drafter, in the place of what was there only once it is whole.

    Parameters
    ----------
    tensors
        As `engine.drafters.layout` names and shapes them, of any type: weights are stored as
        float16 and `vocabulary` as int32.

    Raises
    ------
    DraftscopeError
        If a tensor is missing, misshapen, too many or no number in float16, or if the file
        cannot be written.
    """
    path = Path(path)
    if VOCABULARY in tensors and tensors[VOCABULARY].numel():
        _check_ids(tensors[VOCABULARY].flatten().long(), path.name)
    stored = {name: _as_stored(name, tensor) for name, tensor in sorted(tensors.items())}
    entries = {
        name: StoredTensor(tuple(tensor.shape), _KINDS[tensor.dtype], 0, 0)
        for name, tensor in stored.items()
    }
    check_whole(entries, metadata, path.name)
    for name, tensor in stored.items():
        if name != VOCABULARY:
            check_numbers(tensor.float(), name, path.name)
    with contextlib.suppress(OSError):  # what then cannot be written is a sentence
        path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, save(stored, metadata.encode()), "choose another place")


def _as_stored(name: str, tensor: Tensor) -> Tensor:
    kind = torch.int32 if name == VOCABULARY else torch.float16
    return tensor.detach().to("cpu", kind).contiguous()


def _check_ids(ids: Tensor, file: str) -> None:
    """Refuse ids that are negative or do not rise: draws run by ids, and the lowest wins a tie."""
    for token in (int(ids[0]), int(ids[-1])):
        if not 0 <= token < 1 << 31:
            raise damaged(file, f"it drafts the id {token}")
    if not bool((ids[1:] > ids[:-1]).all()):
        raise damaged(file, "the ids of its vocabulary do not rise")
