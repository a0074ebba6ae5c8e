"""The packed plan: the CPU's way without compiling. Knows FBGEMM's kernels and widths.

Weights are rounded to float16 and packed once, sums are float32, and passes are padded to widths
whose rows round alike.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch

from engine.models.blocks import BlockStack
from engine.models.plans.float16 import check_float16
from engine.models.plans.product import Product
from engine.models.plans.widths import WIDEST_PROBED, alike, padded
from engine.scans import TorchScans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.plans.protocol import Linear, Stack
    from engine.models.rotary import Rotary
    from engine.scans import Scans


@dataclass
class PackedPlan:
    """FBGEMM with float16 weights and float32 sums, on x86."""

    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    dtype: torch.dtype = torch.float32
    name: str = "packed"
    description: str = "float16 weights, float32 sums"
    rounds_alike: bool = True  # at the widths that passes are padded to
    scans: Scans = field(default_factory=TorchScans)
    # until calibrated: the widths measured alike on every processor so far
    widths: tuple[int, ...] = (3, 4, 5, 6, 8, 9, 12, 13, 16, 17, 24, 33)

    @staticmethod
    def available() -> bool:
        """Whether this build and processor have the kernels."""
        return "x86" in torch.backends.quantized.supported_engines

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Round the weight to float16 and pack it; the bias stays float32, as the sums are."""
        check_float16(float(weight.abs().max()))
        torch.backends.quantized.engine = "x86"
        added = None if bias is None else bias.float().contiguous()
        packed = torch.ops.quantized.linear_prepack_fp16(weight.float().contiguous(), added)
        product = torch.ops.quantized.linear_dynamic_fp16
        return Product(lambda x: product(x, packed))

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table in float16, as the head that may be tied to it."""
        return weight.to(torch.float16)

    def stack(self, blocks: Sequence[Block], rotary: Rotary) -> Stack:
        """Run layer after layer."""
        return BlockStack(blocks, rotary)

    def width(self, rows: int) -> int:
        """Return the next width whose rows round as those of every other such width."""
        return padded(rows, self.widths)

    def calibrate(self, run: Callable[[int], Tensor]) -> None:
        """Keep the widths at which shared rows come out bit for bit as in the widest pass."""
        self.widths = alike(run, range(1, WIDEST_PROBED + 1))
