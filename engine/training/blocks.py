"""Layers that learn: the Llama family's block, with what unrolled drafting asks of attention.

Knows weights and positions; no target, no vocabulary and no loss. The names and shapes of its
weights are those of a drafter's file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from engine.models.rotary import turn

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.rotary import Rotary


@dataclass(frozen=True)
class BlockShape:
    """Sizes of a block."""

    width: int
    heads: int
    kv_heads: int
    head_dim: int
    inner: int  # of the MLP
    epsilon: float


@dataclass(frozen=True)
class Memory:
    """What a block's attention has seen in the steps of a draft so far."""

    keys: tuple[Tensor, ...] = ()  # each [B, heads, T, head_dim]: step 1's, step 2's and so on
    values: tuple[Tensor, ...] = ()

    def with_step(self, keys: Tensor, values: Tensor) -> Memory:
        """Return it with one more step."""
        return Memory((*self.keys, keys), (*self.values, values))


class Matrix(nn.Module):
    """A linear layer without a bias; factors in the type that the machine multiplies fastest."""

    def __init__(self, out: int, width: int, factors: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out, width) / math.sqrt(width))
        self._factors = factors

    def forward(self, x: Tensor) -> Tensor:
        """[..., out] float32 from [..., width]."""
        return functional.linear(x.to(self._factors), self.weight.to(self._factors)).float()


class Norm(nn.Module):
    """Zhang and Sennrich 2019, with weights."""

    def __init__(self, width: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        """Return rows over their root mean squares, times the weights."""
        return functional.rms_norm(x, self.weight.shape, self.weight, self.epsilon)


class Attention(nn.Module):
    """Its matrices."""

    def __init__(self, shape: BlockShape, factors: torch.dtype) -> None:
        super().__init__()
        rows = shape.heads * shape.head_dim
        kept = shape.kv_heads * shape.head_dim
        self.qkv = Matrix(rows + 2 * kept, shape.width, factors)
        self.output = Matrix(shape.width, rows, factors)


class Mlp(nn.Module):
    """Its matrices."""

    def __init__(self, shape: BlockShape, factors: torch.dtype) -> None:
        super().__init__()
        self.gate_up = Matrix(2 * shape.inner, shape.width, factors)
        self.down = Matrix(shape.width, shape.inner, factors)


class TrainedBlock(nn.Module):
    """Attention and SwiGLU, each after its norm."""

    def __init__(self, shape: BlockShape, factors: torch.dtype) -> None:
        super().__init__()
        self.shape = shape
        self._factors = factors
        self.attention_norm = Norm(shape.width, shape.epsilon)
        self.mlp_norm = Norm(shape.width, shape.epsilon)
        self.attention = Attention(shape, factors)
        self.mlp = Mlp(shape, factors)

    def forward(
        self, x: Tensor, rotary: Rotary, seen: Memory, mask: Tensor | None
    ) -> tuple[Tensor, Memory]:
        """Run one step of a draft from every place at once.

        Parameters
        ----------
        x
            [B, T, D]: row i is what a draft that began at slot i has come to.
        seen
            Earlier steps; in step s row i stands at slot i + s - 1.
        mask
            [T, s T] from `draft_mask`; None in the first step, which is plain causal.
        """
        shape = self.shape
        batch, length, _ = x.shape
        step = len(seen.keys)
        qkv = self.attention.qkv(self.attention_norm(x))
        rows = qkv.view(batch * length, -1, shape.head_dim)
        turned = shape.heads + shape.kv_heads
        both, values = rows[:, :turned], rows[:, turned:]
        cos, sin = rotary.rows(step, length)
        both = turn(both, cos.repeat(batch, 1, 1), sin.repeat(batch, 1, 1)).to(self._factors)
        parts = both.view(batch, length, -1, shape.head_dim).transpose(1, 2)
        queries, keys = parts[:, : shape.heads], parts[:, shape.heads :]
        values = values.view(batch, length, -1, shape.head_dim).transpose(1, 2)
        group = shape.heads // shape.kv_heads
        seen = seen.with_step(
            keys.repeat_interleave(group, dim=1),
            values.to(self._factors).repeat_interleave(group, dim=1),
        )
        mixed = functional.scaled_dot_product_attention(
            queries,
            torch.cat(seen.keys, dim=2),
            torch.cat(seen.values, dim=2),
            attn_mask=mask,
            is_causal=mask is None,
        )
        x = x + self.attention.output(mixed.transpose(1, 2).reshape(batch, length, -1))
        gate, up = self.mlp.gate_up(self.mlp_norm(x)).chunk(2, dim=-1)
        return x + self.mlp.down(functional.silu(gate) * up), seen


def draft_mask(length: int, steps: int, factors: torch.dtype, device: torch.device) -> Tensor:
    """Return what a draft's step s sees: slots up to its start, and its own earlier steps.

    Returns
    -------
    Tensor
        [T, s T], 0 or -inf: causal over the first step's slots, which were made from the target's
        states; of each later step only the draft's own slot.
    """
    first = torch.ones(length, length, dtype=torch.bool, device=device).tril()
    own = torch.eye(length, dtype=torch.bool, device=device)
    seen = torch.cat((first, *[own] * (steps - 1)), dim=1)
    return torch.zeros(seen.shape, dtype=factors, device=device).masked_fill_(~seen, float("-inf"))
