"""One layer of the Llama family, and layers run one after another with torch's own operations.

Knows linear layers, norms, a cache and positions; no embedding, no scoring and no plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch.nn import functional

from engine.models.attention import attend, causal_masks
from engine.models.rotary import turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.attention import Mask
    from engine.models.plans.protocol import Linear
    from engine.models.rotary import Rotary


@dataclass(frozen=True)
class Block:
    """One layer: attention and SwiGLU, each after its norm. Shared by targets and heads."""

    index: int  # layer of the cache
    heads: int
    kv_heads: int
    head_dim: int
    epsilon: float
    attention_norm: Tensor  # [D]
    mlp_norm: Tensor  # [D]
    qkv: Linear  # [(heads + 2 kv_heads) * head_dim, D]
    output: Linear  # [D, heads * head_dim]
    gate_up: Linear  # [2 * mlp_width, D], gate first
    down: Linear  # [D, mlp_width]
    head_norms: Tensor | None = None  # [heads + kv_heads, head_dim], of queries and keys
    window: int | None = None  # positions that a row sees, itself one of them

    def __call__(
        self,
        x: Tensor,
        cache: KVCache,
        turns: tuple[Tensor, Tensor],
        masks: list[Mask],
        ahead: int = 0,
    ) -> Tensor:
        """Return the residual stream after this layer; [n, D] from [n, D].

        The rows stand `ahead` positions after what is cached, and on.
        """
        queries, keys, values = self.project(x, turns)
        cache.write(self.index, keys, values, ahead)
        return self.finish(x, attend(queries, cache, self.index, masks))

    def project(self, x: Tensor, turns: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Return what attention needs of the rows, turned by their positions.

        Returns
        -------
        tuple of Tensor
            Queries [n, heads, head_dim]; keys and values, each [kv_heads, n, head_dim].
        """
        qkv = self.qkv.normed(x, self.attention_norm, self.epsilon)
        turned = self.heads + self.kv_heads
        rows = qkv.view(x.shape[0], turned + self.kv_heads, self.head_dim)
        both = rows[:, :turned]
        if self.head_norms is not None:
            both = functional.rms_norm(both, (self.head_dim,), None, self.epsilon) * self.head_norms
        both = turn(both, *turns)
        keys, values = both[:, self.heads :], rows[:, turned:]
        return both[:, : self.heads], keys.transpose(0, 1), values.transpose(0, 1)

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        """Add what attention gave, [n, heads * head_dim], and the MLP; [n, D] from [n, D]."""
        x = x + self.output(mixed)
        inner = self.gate_up.normed(x, self.mlp_norm, self.epsilon)
        gate, up = inner.chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Zhang and Sennrich 2019: x over its root mean square, times a weight; rows of [n, D]."""
    return functional.rms_norm(x, weight.shape, weight, epsilon)


class BlockStack:
    """Layers run one after another, each as a few of torch's operations."""

    def __init__(self, blocks: Sequence[Block], rotary: Rotary) -> None:
        self.blocks = list(blocks)
        self.rotary = rotary
        self._windows = {block.window for block in blocks}

    def run(self, x: Tensor, cache: KVCache, layers: slice, ahead: int = 0) -> Tensor:
        """Run some of the layers; [n, D] from [n, D]."""
        rows, first = x.shape[0], cache.length + ahead
        cache.reserve(ahead + rows)
        turns = self.rotary.rows(first, rows)
        group = self.blocks[0].heads // self.blocks[0].kv_heads
        masks = {window: causal_masks(first, rows, group, x, window) for window in self._windows}
        for block in self.blocks[layers]:
            x = block(x, cache, turns, masks[block.window], ahead)
        return x
