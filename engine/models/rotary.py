"""Rotary positions, in halves. Knows angles only.

Su et al. 2021, "RoFormer", in the arrangement of the Hugging Face checkpoints: coordinate i turns
with coordinate i + head_dim / 2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor


class Rotary:
    """Turns queries and keys by their positions."""

    def __init__(
        self, head_dim: int, base: float, dtype: torch.dtype, device: torch.device | str
    ) -> None:
        self._head_dim = head_dim
        self._base = base
        self._dtype = dtype
        self._device = device
        self._cos, self._sin = self._tables(1024)

    def rows(self, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Return cosines and signed sines of `count` positions; each [count, 1, head_dim]."""
        while first + count > self._cos.shape[0]:
            self._cos, self._sin = self._tables(2 * self._cos.shape[0])
        return self._cos[first : first + count], self._sin[first : first + count]

    def _tables(self, positions: int) -> tuple[Tensor, Tensor]:
        exponents = torch.arange(0, self._head_dim, 2, dtype=torch.float32) / self._head_dim
        frequencies = 1.0 / (self._base**exponents)
        if self._dtype == torch.float64:
            frequencies = 1.0 / (self._base ** exponents.double())
        angles = torch.arange(positions, dtype=frequencies.dtype)[:, None] * frequencies[None, :]
        cos, sin = angles.cos(), angles.sin()
        cos, signed = torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)
        return (
            cos[:, None, :].to(self._device, self._dtype),
            signed[:, None, :].to(self._device, self._dtype),
        )


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate x [n, heads, head_dim] by the rows of `Rotary.rows`."""
    return torch.addcmul(x * cos, x.roll(x.shape[-1] // 2, dims=-1), sin)
