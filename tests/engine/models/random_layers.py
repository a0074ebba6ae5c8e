"""Layers with random weights, of every kind that a model can have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.cache import KVCache, PagePool
from engine.models.blocks import Block
from engine.models.plans.eager import EagerPlan
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from engine.models.plans.protocol import Plan

WIDTH = 24


@dataclass(frozen=True)
class Kind:
    """What sets layers of one kind apart."""

    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 8
    rotary_dim: int = 8
    biased: bool = False
    head_norms: bool = False
    windows: tuple[int | None, ...] = (None, None, None)  # one a layer

    def layers(
        self, dtype: torch.dtype = torch.float64, device: str = "cpu", plan: Plan | None = None
    ) -> list[Block]:
        generator = torch.Generator().manual_seed(5)
        plan = plan or EagerPlan(torch.device(device), dtype)

        def noise(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        def linear(out: int, in_: int):  # type: ignore[no-untyped-def]  # a Linear
            bias = 0.1 * noise(out) if self.biased else None
            weight = noise(out, in_) * in_**-0.5
            return plan.linear(weight.half().double(), bias)  # which float16 holds exactly

        turned = self.heads + self.kv_heads
        norms = noise(turned, self.head_dim)
        return [
            Block(
                index=index,
                heads=self.heads,
                kv_heads=self.kv_heads,
                head_dim=self.head_dim,
                epsilon=1e-5,
                attention_norm=(1 + 0.1 * noise(WIDTH)).to(device, dtype),
                mlp_norm=(1 + 0.1 * noise(WIDTH)).to(device, dtype),
                qkv=linear((turned + self.kv_heads) * self.head_dim, WIDTH),
                output=linear(WIDTH, self.heads * self.head_dim),
                gate_up=linear(2 * 40, WIDTH),
                down=linear(WIDTH, 40),
                head_norms=norms.to(device, dtype) if self.head_norms else None,
                window=window,
            )
            for index, window in enumerate(self.windows)
        ]

    def rotary(self, dtype: torch.dtype = torch.float64, device: str = "cpu") -> Rotary:
        return Rotary(self.rotary_dim, 10000.0, dtype, device)

    def filled(
        self, length: int, dtype: torch.dtype = torch.float64, device: str = "cpu"
    ) -> KVCache:
        """Return a cache of so many positions, in a pool where another sequence comes first."""
        generator = torch.Generator().manual_seed(6)
        sizes = len(self.windows), self.kv_heads, self.head_dim
        pool = PagePool(*sizes, dtype=dtype, device=device)
        KVCache(pool).reserve(40)
        cache = KVCache(pool)
        cache.reserve(length)
        for layer in range(len(self.windows)):
            shape = (2, self.kv_heads, length, self.head_dim)
            both = torch.randn(*shape, generator=generator, dtype=torch.float64)
            keys, values = both.to(device, dtype)
            cache.write(layer, keys, values)
        cache.append(length)
        return cache


KINDS = {
    "plain": Kind(kv_heads=4),
    "grouped": Kind(heads=6),
    "one key head": Kind(kv_heads=1),
    "biased": Kind(biased=True),
    "head norms": Kind(head_norms=True),
    "partly turned": Kind(rotary_dim=4),
    "windows": Kind(windows=(7, None, 300)),
    "all": Kind(heads=6, rotary_dim=6, biased=True, head_norms=True, windows=(None, 5, 257)),
}


def rows(count: int, dtype: torch.dtype = torch.float64, device: str = "cpu") -> torch.Tensor:
    """Return the residual stream of a pass; [count, D]."""
    generator = torch.Generator().manual_seed(count)
    return torch.randn(count, WIDTH, generator=generator, dtype=torch.float64).to(device, dtype)
