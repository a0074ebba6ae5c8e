"""What a drafter in training offers to whoever trains and measures it. Knows no kind of drafter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor, nn

    from engine.drafters.metadata import Shape
    from engine.training.batch import Batch


@dataclass(frozen=True)
class Step:
    """One step of a draft, from every place at once."""

    rows: Tensor  # [B, T, D], what the target's table is scored with
    offset: int  # row i tells the target's law after token i + offset


class Trainable(Protocol):
    """A drafter whose weights are being fitted."""

    @property
    def shape(self) -> Shape:
        """Its sizes, as a drafter's file gives them."""
        ...

    @property
    def module(self) -> nn.Module:
        """Its weights."""
        ...

    def take(self, tensors: Mapping[str, Tensor]) -> None:
        """Set the start values to those of a drafter's file of this shape."""
        ...

    def unroll(self, batch: Batch, steps: int) -> Iterator[Step]:
        """Yield the first steps of drafts from every place; may be fewer where they are all one."""
        ...

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights by their names in a drafter's file."""
        ...
