"""A checkpoint: a model's config and its tensors by Hugging Face names, whatever the file.

Everything is checked when it is opened; a tensor is allocated when it is asked for. Knows no
device, no transformer and no tokenizer.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import torch

from engine.errors import DraftscopeError, short
from engine.models.formats.files import PICKLES, file_size, folder_name, valid_text
from engine.models.formats.gguf_reader import open_gguf
from engine.models.formats.safetensors_reader import open_folder
from engine.models.layout import count_parameters, expected_shapes

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.models.config import ModelConfig
    from engine.models.layout import Shape


class TensorSource(Protocol):
    """What a reader of one format offers."""

    def shape(self, name: str) -> Shape:
        """Return a tensor's shape, rows first."""

    def read(self, name: str) -> torch.Tensor:
        """Read a tensor in the file's own type, float32 if that is a quantised one."""

    def close(self) -> None:
        """Let go of the files."""


@dataclass(frozen=True)
class Checkpoint:
    """An opened and checked model file or folder.

    Attributes
    ----------
    name
        File or folder name without its ending.
    source
        File or folder name as it is.
    notes
        What a user should know, in sentences.
    """

    config: ModelConfig
    name: str
    source: str
    notes: list[str]
    _tensors: TensorSource = field(repr=False)
    _file_of: Callable[[str], str] = field(repr=False)  # by a tensor's name

    @property
    def names(self) -> list[str]:
        """Names of the model's tensors in the order of a pass; no head where it is tied."""
        return list(expected_shapes(self.config))

    @property
    def parameters(self) -> int:
        """Number of weights; a tied head counts once."""
        return count_parameters(self.config)

    def shapes(self, name: str) -> Shape:
        """Return a tensor's shape, rows first."""
        return self._tensors.shape(name)

    def tensor(self, name: str, dtype: torch.dtype | None = torch.float32) -> torch.Tensor:
        """Read one tensor into memory of its own.

        Parameters
        ----------
        dtype
            Wanted type; None for the file's own (float32 where the file is quantised).

        Raises
        ------
        DraftscopeError
            If the file has changed, or the tensor is not what a trained model has: see
            `check_numbers`.
        """
        tensor = self._tensors.read(name)
        tensor = tensor.contiguous() if dtype is None else tensor.to(dtype).contiguous()
        check_numbers(tensor, name, self._file_of(name))
        return tensor

    def close(self) -> None:
        """Let go of the files; tensors already read stay valid."""
        self._tensors.close()


def open_checkpoint(path: str | Path) -> Checkpoint:
    """Open a Hugging Face folder (config.json, safetensors) or a .gguf file, and check it.

    Raises
    ------
    DraftscopeError
        A sentence for what is missing, wrong or not supported.
    """
    path = Path(path)
    if os.path.isdir(path):  # unlike `path.is_dir()` no error for a name that cannot be
        folder = open_folder(path)
        name = folder_name(path)
        return Checkpoint(folder.config, name, name, folder.notes, folder, folder.file_of)
    if not os.path.lexists(path):
        raise DraftscopeError(f"There is no file or folder {short(path.name)}. Check the path.")
    file_size(path)  # a pipe, a device or a broken link has its own sentence
    ending = path.suffix.lower()
    if ending in PICKLES:
        raise DraftscopeError(
            f"{path.name} is a pickle, which can run code and is never opened. "
            "Get the model as safetensors or GGUF."
        )
    if ending in (".safetensors", ".json"):
        raise DraftscopeError(
            f"{path.name} is one file of a model folder. Open the folder that holds it."
        )
    source = open_gguf(path)
    name, stem = valid_text(path.name), valid_text(path.stem)
    return Checkpoint(source.config, stem, name, source.notes, source, lambda _: name)


def check_numbers(tensor: torch.Tensor, name: str, file: str) -> None:
    """Refuse weights that no training leaves: numbers that are not finite, or zeros alone.

    A download that never finished can have the right size and end in zeros, and a model of zeros
    would answer without an error. Biases may well be zero.

    Raises
    ------
    DraftscopeError
        Naming the tensor and its file.
    """
    least, most = (float(bound) for bound in torch.aminmax(tensor))
    if not (math.isfinite(least) and math.isfinite(most)):
        raise DraftscopeError(
            f"{file}: the tensor {name} holds numbers that are not finite, which no model can "
            "compute with. Download it again."
        )
    if least == most == 0 and not name.endswith(".bias"):
        raise DraftscopeError(
            f"{file}: the tensor {name} holds zeros only, as a download that never finished "
            "leaves them. Download it again."
        )
