"""A drafter's file, known by its header: everything but its numbers. Loads no torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.drafters.layout import ID_BYTES, VOCABULARY, check_whole
from engine.drafters.metadata import decode
from engine.errors import DraftscopeError
from engine.models.formats.files import file_size
from engine.models.formats.safetensors_header import TYPE_BYTES, read_header

if TYPE_CHECKING:
    from pathlib import Path

    from engine.drafters.metadata import DrafterMetadata
    from engine.models.fingerprint import Fingerprint
    from engine.models.formats.safetensors_header import StoredTensor


@dataclass(frozen=True)
class DrafterHeader:
    """A file whose tensors are all there, of the shapes that it says."""

    path: Path
    size: int  # bytes
    metadata: DrafterMetadata
    tensors: dict[str, StoredTensor]

    @property
    def parameters(self) -> int:
        """How many numbers were trained."""
        shapes = (one.shape for name, one in self.tensors.items() if name != VOCABULARY)
        return sum(math.prod(shape) for shape in shapes)

    def check_target(self, fingerprint: Fingerprint, target: str) -> None:
        """Refuse a target that it was not made for.

        Raises
        ------
        DraftscopeError
            One sentence: which parts differ, and what to do.
        """
        made_for = self.metadata
        parts = made_for.fingerprint.differences(fingerprint)
        if not parts:
            return
        differ = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
        verb = "differs" if len(parts) == 1 and parts[0] != "weights" else "differ"
        raise DraftscopeError(
            f"{self.path.name} cannot draft for {target}: it was trained for {made_for.target}, "
            f"whose {differ} {verb}. Train one for this "
            f"target: draftscope train {made_for.kind} --target {target} --out FILE."
        )


def read_drafter_header(path: Path) -> DrafterHeader:
    """Read and check what a drafter's file says of itself and of its tensors; none is read.

    Raises
    ------
    DraftscopeError
        One sentence for what is truncated, damaged, no drafter, or of another version.
    """
    header = read_header(path, {**TYPE_BYTES, **ID_BYTES})
    metadata = decode(header.metadata, path.name)
    check_whole(header.tensors, metadata, path.name)
    return DrafterHeader(path, file_size(path), metadata, header.tensors)
