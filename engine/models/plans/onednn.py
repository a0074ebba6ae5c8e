"""The packed plan where FBGEMM's kernels are missing: float32 weights, laid out by oneDNN.

Nothing is rounded and nothing is compiled; a pass on a few tokens costs little more than one on
one. Knows oneDNN's operations as torch has them; for which processor is `choice`'s.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.plans.padded import PaddedPlan
from engine.models.plans.product import Product

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.plans.protocol import Linear

ROWS = 8  # that the layout is chosen for: nearly flat from 1 to 16 rows, and right for any number


@dataclass
class OneDnnPlan(PaddedPlan):
    """oneDNN with float32 weights in the layout that it likes best."""

    name: str = "packed"
    description: str = "float32 weights, packed by oneDNN"

    @staticmethod
    def available() -> bool:
        """Whether this build has the operations, and they give a product here."""
        return _multiplies()

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Lay the weight out anew; the bias stays as it is."""
        added = None if bias is None else bias.float().contiguous()
        packed = _packed(weight)
        product = torch.ops.mkldnn._linear_pointwise
        return Product(lambda x: product(x, packed, added, "none", [], ""))

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table in float32."""
        return weight.float()


def _packed(weight: Tensor) -> Tensor:
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight.float().contiguous(), ROWS)
    return packed


@cache
def _multiplies() -> bool:
    """Try a product: a build may name the operations and lack the kernels."""
    weight, x = torch.eye(16) + 0.5, torch.ones(3, 16)
    try:
        found = torch.ops.mkldnn._linear_pointwise(x, _packed(weight), None, "none", [], "")
    except (RuntimeError, AttributeError):
        return False
    return torch.allclose(found, functional.linear(x, weight))
