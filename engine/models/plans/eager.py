"""The eager plan: plain matrix products in one float type. The reference; runs anywhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.blocks import BlockStack
from engine.models.plans.drafts_alike import DraftsAlike
from engine.models.plans.product import Product
from engine.scans import TorchScans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.plans.protocol import Linear, Stack
    from engine.models.rotary import Rotary
    from engine.scans import Scans


@dataclass
class EagerPlan(DraftsAlike):
    """Plain matrix products in one float type: float32 or float64 on a CPU, bfloat16 on a GPU."""

    device: torch.device
    dtype: torch.dtype = torch.float32
    name: str = "eager"
    rounds_alike: bool = False
    scans: Scans = field(default_factory=TorchScans)

    @property
    def description(self) -> str:
        """Say in which type products are computed."""
        return str(self.dtype).removeprefix("torch.")

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Keep weight and bias as they are."""
        kept = weight.to(device=self.device, dtype=self.dtype)
        added = None if bias is None else bias.to(device=self.device, dtype=self.dtype)
        return Product(lambda x: functional.linear(x, kept, added))

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table as it is."""
        return weight.to(device=self.device, dtype=self.dtype)

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Run layer after layer."""
        return BlockStack(blocks, rotary)

    def width(self, rows: int) -> int:
        """Leave the pass as wide as it is."""
        return rows

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Nothing to learn: rows of different widths may round differently (invariant 2)."""
