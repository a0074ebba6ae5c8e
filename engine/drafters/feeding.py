"""What networks of a drafter have in common under a plan: blocks, vectors, rows of a head.

Knows a target's plan and a drafter's tensors by name; no cache and no rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.drafters.layout import VOCABULARY
from engine.models.blocks import Block

if TYPE_CHECKING:
    from collections.abc import Mapping

    from torch import Tensor

    from engine.models.plans.protocol import Linear
    from engine.models.transformer import Transformer


@dataclass(frozen=True)
class BlockSizes:
    """What blocks of one network share."""

    heads: int
    kv_heads: int
    head_dim: int


class Prepared:
    """A drafter's tensors, made ready for the plan of its target."""

    def __init__(self, tensors: Mapping[str, Tensor], target: Transformer) -> None:
        self._tensors = tensors
        self._target = target
        self._plan = target.plan
        self.ids: list[int] = tensors[VOCABULARY].tolist()

    @property
    def vocabulary(self) -> Tensor:
        """[R] on the device, rising: the target's ids that are scored."""
        return self._tensors[VOCABULARY].to(self._plan.device)

    def vector(self, name: str) -> Tensor:
        """Return a norm's weight."""
        return self._tensors[name].to(device=self._plan.device, dtype=self._plan.dtype)

    def matrix(self, name: str) -> Tensor:
        """Return a weight as it is multiplied with others."""
        return self._tensors[name].to(torch.promote_types(self._plan.dtype, torch.float32))

    def linear(self, name: str) -> Linear:
        """Return a weight made ready for products."""
        return self._plan.draft_linear(self.matrix(name))

    def head_rows(self) -> Tensor:
        """[R, D]: the rows of the target's own head that score the ids."""
        return self._target.head_rows(self.ids)

    def blocks(self, count: int, sizes: BlockSizes) -> tuple[Block, ...]:
        """Return the first so many layers."""
        return tuple(self._block(index, sizes) for index in range(count))

    def _block(self, index: int, sizes: BlockSizes) -> Block:
        name = f"blocks.{index}"
        return Block(
            index=index,
            heads=sizes.heads,
            kv_heads=sizes.kv_heads,
            head_dim=sizes.head_dim,
            epsilon=self._target.config.rms_epsilon,
            attention_norm=self.vector(f"{name}.attention_norm.weight"),
            mlp_norm=self.vector(f"{name}.mlp_norm.weight"),
            qkv=self.linear(f"{name}.attention.qkv.weight"),
            output=self.linear(f"{name}.attention.output.weight"),
            gate_up=self.linear(f"{name}.mlp.gate_up.weight"),
            down=self.linear(f"{name}.mlp.down.weight"),
        )
