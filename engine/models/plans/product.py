"""A linear layer made of one function. Knows no kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.models.blocks import rms_norm

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor


@dataclass(frozen=True)
class Product:
    """A `Linear` of a function that multiplies."""

    multiply: Callable[[Tensor], Tensor]  # [n, out] from [n, in]

    def __call__(self, x: Tensor) -> Tensor:
        """Return the product."""
        return self.multiply(x)

    def normed(self, x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
        """Return the product of the RMS norm of each row."""
        return self.multiply(rms_norm(x, weight, epsilon))
