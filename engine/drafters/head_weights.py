"""A head made ready for its target: from a read file to products under the target's plan.

Knows the parts of a head (the README beside the bundled drafters gives its arithmetic); no drafting
and no cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.drafters.feeding import BlockSizes, Prepared
from engine.drafters.file import read_drafter
from engine.drafters.layout import check_sizes
from engine.drafters.metadata import HeadShape
from engine.errors import DraftscopeError
from engine.models.network import Entrance, Exit, make_network
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from pathlib import Path

    from torch import Tensor

    from engine.drafters.file import DrafterFile
    from engine.models.blocks import Block
    from engine.models.network import Network
    from engine.models.transformer import Transformer


@dataclass(frozen=True)
class HeadWeights:
    """The head's parts, ready under the target's plan."""

    vocabulary: Tensor  # [R], the target's ids that the head scores, in order
    taps: tuple[int, ...]  # layers of the target whose states it reads beside the last one
    blocks: tuple[Block, ...]
    first: Network  # reads the target's states, each normed by itself, and the next tokens
    own: Network  # reads what the head itself gave in their place
    exit: Exit  # of both; its head are rows of the target's own
    parameters: int  # trained numbers in the file


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
    stack = plan.stack(blocks, rotary)
    scored = Exit(ready.vector("output_norm.weight"), plan.draft_linear(ready.head_rows()))

    def network(hidden_norm: str, fuse: str) -> Network:
        norms = (ready.vector(hidden_norm), ready.vector("embedding_norm.weight"))
        entrance = Entrance(
            target.table, torch.cat(norms).view(-1, config.width), ready.linear(fuse)
        )
        return make_network(plan, entrance, stack, scored, config.rms_epsilon)

    first = network("hidden_norm.weight", "fuse.weight")
    return HeadWeights(
        vocabulary=ready.vocabulary,
        taps=shape.taps,
        blocks=blocks,
        first=first,
        own=network("own_norm.weight", "own.weight") if shape.taps else first,
        exit=scored,
        parameters=file.header.parameters,
    )
