"""A small model in training: the target's tokens and scores through a narrower stack of layers.

It shares the target's embedding and head through projections of its own. Knows a target's sizes and
start values; no corpus, no loss.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from engine.drafters.layout import VOCABULARY
from engine.drafters.metadata import SmallShape
from engine.models.rotary import Rotary
from engine.training.blocks import BlockShape, Matrix, Memory, Norm, TrainedBlock
from engine.training.trainable import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import Tensor

    from engine.training.batch import Batch
    from engine.training.batched import BatchedTransformer

ROPE_BASE = 10_000.0
CONTEXT = 8192  # tokens that it reads at most


def usual_shape(layers: int, width: int) -> SmallShape:
    """Return usual sizes: heads of 64, a key head for three of them, an MLP of 8/3 widths."""
    head_dim = 64 if width % 64 == 0 else 8
    heads = width // head_dim
    kv_heads = heads // 3 if heads % 3 == 0 else heads
    inner = -(-width * 8 // 3 // 64) * 64
    return SmallShape(layers, width, heads, kv_heads, head_dim, inner, ROPE_BASE, CONTEXT)


class SmallModel(nn.Module):
    """A few narrow layers between the target's embedding and its head."""

    def __init__(self, target: BatchedTransformer, shape: SmallShape) -> None:
        super().__init__()
        plan, epsilon = target.plan, target.config.rms_epsilon
        self.shape = shape
        self._target = target
        self._rotary = Rotary(shape.head_dim, shape.rope_base, torch.float32, plan.device)
        self.input_norm = Norm(target.config.width, epsilon)
        self.input = Matrix(shape.width, target.config.width, plan.factors)
        self.output_norm = Norm(shape.width, epsilon)
        self.output = Matrix(target.config.width, shape.width, plan.factors)
        sizes = BlockShape(
            shape.width, shape.heads, shape.kv_heads, shape.head_dim, shape.inner, epsilon
        )
        self.blocks = nn.ModuleList(
            [TrainedBlock(sizes, plan.factors) for _ in range(shape.layers)]
        )
        self.to(plan.device)

    @property
    def module(self) -> nn.Module:
        """Itself."""
        return self

    @torch.no_grad()
    def start(self, ids: Tensor) -> None:
        """Set the start values.

        Parameters
        ----------
        ids
            [n], tokens of the corpus: the projections keep the directions in which their
            embeddings differ most (principal components).
        """
        rows = self._target.transformer.embed(ids).float()
        rows = functional.rms_norm(rows, rows.shape[-1:])
        rows = rows - rows.mean(dim=0)
        _, directions = torch.linalg.eigh(rows.t() @ rows)  # [D, D], the least first
        kept = directions.flip(-1).t()[: self.shape.width]
        self.input.weight.copy_(kept * math.sqrt(rows.shape[-1] / self.shape.width))
        self.output.weight.copy_(0.3 * kept.t())
        for block in self.blocks:
            assert isinstance(block, TrainedBlock)
            for part in (block.attention.output, block.mlp.down):
                part.weight.mul_(1 / math.sqrt(2 * len(self.blocks)))

    def take(self, tensors: Mapping[str, Tensor]) -> None:
        """Set the start values to those of a drafter's file of this shape."""
        found = {name: value.float() for name, value in tensors.items() if name != VOCABULARY}
        self.load_state_dict(found)

    def unroll(self, batch: Batch, steps: int) -> Iterator[Step]:
        """Yield one step: fed with the text, every place of a draft is like its first."""
        embedded = self._target.transformer.embed(batch.tokens.flatten())
        x = self.input(self.input_norm(embedded.view(*batch.tokens.shape, -1)))
        for block in self.blocks:
            x, _ = block(x, self._rotary, Memory(), None)
        yield Step(self.output(self.output_norm(x)), 0)

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights by their names in a drafter's file."""
        return {name: value.detach() for name, value in self.state_dict().items()}
