"""The plan that training runs a target under: many sequences at once, in the fastest products.

Sums, norms and the residual stream are float32; the factors of products are bfloat16 where the
machine multiplies them faster. Rows do not round as in decoding, so nothing is ever verified by it.
Knows products and layers; no batch.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.plans.eager import EagerPlan
from engine.models.plans.product import Product

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.plans.protocol import Linear

GAIN = 1.3  # how much faster bfloat16 has to be to be worth its rounding


@dataclass
class BatchedPlan(EagerPlan):
    """Float32 activations, and products of the type that is fastest on the device."""

    name: str = "batched"
    factors: torch.dtype = torch.float32  # what is multiplied

    @classmethod
    def on(cls, device: torch.device) -> BatchedPlan:
        """Return the plan for a device."""
        return cls(device, factors=fastest_factors(device))

    @property
    def description(self) -> str:
        """Say in which type products are computed."""
        return f"{str(self.factors).removeprefix('torch.')} products in batches"

    def linear(self, weight: Tensor, bias: Tensor | None = None) -> Linear:
        """Keep the weight in the type that it is multiplied in."""
        kept = weight.to(device=self.device, dtype=self.factors)
        added = None if bias is None else bias.to(device=self.device, dtype=self.factors)
        return Product(lambda x: functional.linear(x.to(kept.dtype), kept, added).to(x.dtype))

    def table(self, weight: Tensor) -> Tensor:
        """Keep the table in float32."""
        return weight.to(device=self.device, dtype=self.dtype)


@cache
def fastest_factors(device: torch.device) -> torch.dtype:
    """Return the type whose products take least time here: bfloat16, or float32.

    CPUs without bfloat16 instructions emulate it many times slower, so it is tried and not assumed.
    """
    if device.type != "cpu":
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    took = {kind: _product_time(kind) for kind in (torch.float32, torch.bfloat16)}
    faster = took[torch.bfloat16] * GAIN < took[torch.float32]
    return torch.bfloat16 if faster else torch.float32


def _product_time(kind: torch.dtype) -> float:
    """Return the least of a few times of one product; seconds."""
    x, weight = torch.ones(128, 256, dtype=kind), torch.ones(256, 256, dtype=kind)
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        functional.linear(x, weight)
        times.append(time.perf_counter() - begin)
    return min(times)
