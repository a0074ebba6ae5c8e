"""A head made ready for its target: from a read file to products under the target's plan.

Knows the parts of a head (the README beside the bundled drafters gives its arithmetic); no drafting
and no cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.drafters.feeding import BlockSizes, Prepared
from engine.drafters.file import read_drafter
from engine.drafters.layout import check_sizes
from engine.drafters.metadata import HeadShape
from engine.errors import DraftscopeError
from engine.models.blocks import rms_norm
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.drafters.file import DrafterFile
    from engine.models.blocks import Block
    from engine.models.plans.protocol import Linear, Stack
    from engine.models.transformer import Transformer


@dataclass(frozen=True)
class OwnInput:
    """How a head that reads several states takes its own output in their place."""

    norm: Tensor  # [D]
    fuse: Linear  # [D, 2 D]


@dataclass(frozen=True)
class HeadWeights:
    """The head's parts, ready under the target's plan."""

    vocabulary: Tensor  # [R], the target's ids that the head scores, in order
    taps: tuple[int, ...]  # layers of the target whose states it reads beside the last one
    hidden_norm: Tensor  # [1 + taps, D]
    embedding_norm: Tensor  # [D]
    output_norm: Tensor  # [D]
    fuse: Linear  # [D, (2 + taps) D]
    own: OwnInput | None  # None: its own output is read as the target's last state is
    blocks: tuple[Block, ...]
    stack: Stack
    head: Linear  # [R, D], rows of the target's own head
    parameters: int  # trained numbers in the file

    def joined(self, states: Tensor, embedded: Tensor) -> Tensor:
        """Join the target's states with the embeddings of the next tokens.

        Parameters
        ----------
        states
            [n, (1 + taps) D], each part normed by itself.
        embedded
            [n, D].

        Returns
        -------
        Tensor
            [n, D], what the blocks read.
        """
        parts = states.view(states.shape[0], *self.hidden_norm.shape)
        normed = functional.rms_norm(parts, parts.shape[-1:], None, self.blocks[0].epsilon)
        hidden = (normed * self.hidden_norm).flatten(1)
        return self.fuse(torch.cat((hidden, self._embedding(embedded)), dim=-1))

    def joined_own(self, x: Tensor, embedded: Tensor) -> Tensor:
        """Join the head's own output [n, D] with the embeddings of what it drafted [n, D]."""
        if self.own is None:
            return self.joined(x, embedded)
        hidden = rms_norm(x, self.own.norm, self.blocks[0].epsilon)
        return self.own.fuse(torch.cat((hidden, self._embedding(embedded)), dim=-1))

    def _embedding(self, embedded: Tensor) -> Tensor:
        return rms_norm(embedded, self.embedding_norm, self.blocks[0].epsilon)


def load_head(path: Path, target: Transformer) -> HeadWeights:
    """Read and check a head, and make it ready for this target.

    Raises
    ------
    DraftscopeError
        If the file is damaged, is no head, or has other sizes than the target.
    """
    return prepare_head(read_drafter(path), target)


def prepare_head(file: DrafterFile, target: Transformer) -> HeadWeights:
    """Make a read head ready for this target; a DraftscopeError if it does not fit."""
    shape = file.metadata.shape
    if not isinstance(shape, HeadShape):
        raise DraftscopeError(f"{file.name} holds a {file.metadata.kind} drafter and no head.")
    config, plan = target.config, target.plan
    found = {name: tuple(tensor.shape) for name, tensor in file.tensors.items()}
    check_sizes(found, file.metadata, config, file.name)
    file.check_vocabulary(target.vocabulary)
    ready = Prepared(file.tensors, target)
    blocks = ready.blocks(shape.blocks, BlockSizes(config.heads, config.kv_heads, config.head_dim))
    rotary = Rotary(config.rotary_dim, config.rope_base, plan.dtype, plan.device, config.scaling)
    own = None
    if shape.taps:
        own = OwnInput(ready.vector("own_norm.weight"), ready.linear("own.weight"))
    return HeadWeights(
        vocabulary=ready.vocabulary,
        taps=shape.taps,
        hidden_norm=ready.vector("hidden_norm.weight").view(1 + len(shape.taps), config.width),
        embedding_norm=ready.vector("embedding_norm.weight"),
        output_norm=ready.vector("output_norm.weight"),
        fuse=ready.linear("fuse.weight"),
        own=own,
        blocks=blocks,
        stack=plan.stack(blocks, rotary),
        head=plan.linear(ready.head_rows()),
        parameters=file.header.parameters,
    )
