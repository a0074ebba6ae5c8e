"""A trained drafter that a training goes on from: read, checked, and named in the new one's file.

Knows requests, drafters' files and targets; fits nothing.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from engine.drafters import metadata as described
from engine.drafters.file import read_drafter
from engine.drafters.names import HEAD
from engine.drafters.registry import find_drafter
from engine.errors import DraftscopeError
from engine.training.small_model import usual_shape

if TYPE_CHECKING:
    from engine.drafters.file import DrafterFile
    from engine.models.config import ModelConfig
    from engine.training.opened import OpenedTarget
    from engine.training.request import TrainingRequest


def shape_of(
    request: TrainingRequest, taps: tuple[int, ...], config: ModelConfig
) -> described.Shape:
    """Return the sizes of what is asked for."""
    if request.kind == HEAD:
        return described.HeadShape(request.blocks, config.mlp_width, taps)
    return usual_shape(request.layers, request.width)


def begun(request: TrainingRequest, target: OpenedTarget) -> DrafterFile | None:
    """Read the drafter to go on from; refuse one that is damaged or of another target."""
    if request.begin is None:
        return None
    file = read_drafter(find_drafter(request.begin))
    if request.out.exists() and request.out.samefile(file.header.path):
        raise DraftscopeError(
            f"{file.name} is what the training goes on from; give the new drafter another name."
        )
    file.header.check_target(target.fingerprint, target.name)
    return file


def check_alike(
    request: TrainingRequest,
    taps: tuple[int, ...],
    config: ModelConfig,
    begin: DrafterFile | None,
) -> None:
    """Refuse to go on from a drafter of other sizes than are asked for."""
    if begin is not None and begin.metadata.shape != shape_of(request, taps, config):
        raise DraftscopeError(
            f"{begin.name} is a drafter of another kind or size than is asked for; ask for "
            f"{_sizes(begin.metadata.shape)}, or leave --from out to begin anew."
        )


def _sizes(shape: described.Shape) -> str:
    """Say how a drafter of these sizes is asked for."""
    if isinstance(shape, described.HeadShape):
        taps = f" --taps {' '.join(map(str, shape.taps))}".rstrip()
        return f"head --blocks {shape.blocks}{taps}"
    return f"small --layers {shape.layers} --width {shape.width}"


def begun_words(file: DrafterFile | None) -> str:
    """Name the drafter that was gone on from, for the new one's file."""
    if file is None:
        return ""
    return f"{file.metadata.name}, weights {weights_digest(file)[:12]}"


def weights_digest(file: DrafterFile) -> str:
    """Return the SHA-256 of a drafter's weights; what its file says beside them may change."""
    found = hashlib.sha256()
    for name, tensor in sorted(file.tensors.items()):
        found.update(name.encode() + tensor.contiguous().numpy().tobytes())
    return found.hexdigest()
