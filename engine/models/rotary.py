"""Rotary positions, in halves. Knows angles only.

Su et al. 2021, "RoFormer", in the arrangement of the Hugging Face checkpoints: coordinate i turns
with coordinate i + dim / 2, where dim may be less than a head has: the others pass.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.rope_scaling import RopeScaling


class Rotary:
    """Turns queries and keys by their positions."""

    def __init__(
        self,
        dim: int,
        base: float,
        dtype: torch.dtype,
        device: torch.device | str,
        scaling: RopeScaling | None = None,
    ) -> None:
        self.dim = dim
        self._frequencies = frequencies(dim, base, scaling, dtype)
        self._factor = 1.0 if scaling is None else scaling.attention_factor
        self._dtype = dtype
        self._device = device
        self._cos, self._sin = self._tables(1024)

    def rows(self, first: int, count: int) -> tuple[Tensor, Tensor]:
        """Return cosines and signed sines of `count` positions; each [count, 1, dim]."""
        cos, sin = self.tables(first + count)
        return cos[first : first + count], sin[first : first + count]

    def tables(self, positions: int) -> tuple[Tensor, Tensor]:
        """Return cosines and signed sines of all positions, `positions` or more of them.

        They are other tensors, with the same first rows, once more positions were asked for.
        """
        while positions > self._cos.shape[0]:
            self._cos, self._sin = self._tables(2 * self._cos.shape[0])
        return self._cos, self._sin

    def _tables(self, positions: int) -> tuple[Tensor, Tensor]:
        turns = torch.arange(positions, dtype=self._frequencies.dtype)
        angles = turns[:, None] * self._frequencies[None, :]
        cos, sin = angles.cos() * self._factor, angles.sin() * self._factor
        cos, signed = torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1)
        return (
            cos[:, None, :].to(self._device, self._dtype),
            signed[:, None, :].to(self._device, self._dtype),
        )


def frequencies(
    dim: int, base: float, scaling: RopeScaling | None, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return radians a position; [dim / 2], float64 for that type and else float32."""
    exact = torch.float64 if dtype == torch.float64 else torch.float32
    exponents = torch.arange(0, dim, 2, dtype=torch.float32).to(exact) / dim
    plain = 1.0 / (base**exponents)
    if scaling is None or scaling.kind == "dynamic":  # up to the trained length it changes nothing
        return plain
    if scaling.kind == "divisors":
        return plain / torch.tensor(scaling.divisors, dtype=exact)
    if scaling.kind == "linear":
        return plain / scaling.factor
    if scaling.kind == "llama3":
        return _llama3(plain, scaling)
    return _yarn(plain, dim, base, scaling)


def _llama3(plain: Tensor, scaling: RopeScaling) -> Tensor:
    """Keep what turns often within the original length, slow what turns seldom, blend between."""
    turns = scaling.original_length * plain / (2 * math.pi)
    kept = ((turns - scaling.slow) / (scaling.fast - scaling.slow)).clamp(0, 1)
    return (1 - kept) * plain / scaling.factor + kept * plain


def _yarn(plain: Tensor, dim: int, base: float, scaling: RopeScaling) -> Tensor:
    """Peng et al. 2023, section 3.2: the same by a ramp over dimensions."""

    def dimension(turns: float) -> float:
        # at which dimension a position turns so often within the original length
        length = scaling.original_length / (turns * 2 * math.pi)
        return dim * math.log(length) / (2 * math.log(base))

    low, high = dimension(scaling.fast), dimension(scaling.slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    if low == high:
        high += 0.001
    slowed = ((torch.arange(dim // 2, dtype=plain.dtype) - low) / (high - low)).clamp(0, 1)
    return slowed * plain / scaling.factor + (1 - slowed) * plain


def turn(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate x [n, heads, head_dim] by the rows of `Rotary.rows`, which may be narrower."""
    dim = cos.shape[-1]
    if dim < x.shape[-1]:
        return torch.cat((turn(x[..., :dim], cos, sin), x[..., dim:]), dim=-1)
    return torch.addcmul(x * cos, x.roll(dim // 2, dims=-1), sin)
