"""The packed plan: the CPU's way without compiling. Knows FBGEMM's kernels and widths.

Weights are rounded to float16 and packed once, sums are float32, and passes are padded to widths
whose rows round alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.models.plans.float16 import check_float16
from engine.models.plans.padded import PaddedPlan
from engine.models.plans.product import Product

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.plans.protocol import Linear


@dataclass
class PackedPlan(PaddedPlan):
    """FBGEMM with float16 weights and float32 sums, on x86."""

    name: str = "packed"
    description: str = "float16 weights, float32 sums"
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
