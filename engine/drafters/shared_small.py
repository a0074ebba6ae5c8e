"""A small model that has no tables of its own: it reads and scores through its target's.

A token's embedding is the target's, projected to the small width; scores are those of the target's
head rows, projected back. Both projections were trained with the layers between them. Knows the
target's tables and plan; no drafting and no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cache import PagePool
from engine.drafters.feeding import BlockSizes, Prepared
from engine.drafters.layout import check_sizes
from engine.drafters.metadata import SmallShape
from engine.errors import DraftscopeError
from engine.models.network import Entrance, Exit, make_network, scores
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from torch import Tensor

    from engine.cache import KVCache
    from engine.drafters.file import DrafterFile
    from engine.models.network import Ids
    from engine.models.transformer import Transformer


class SharedSmallModel:
    """A few narrow layers between a target's embedding and its head."""

    def __init__(self, file: DrafterFile, target: Transformer) -> None:
        """Make a read file ready under the target's plan; a DraftscopeError if it does not fit."""
        shape = file.metadata.shape
        if not isinstance(shape, SmallShape):
            raise DraftscopeError(
                f"{file.name} holds a {file.metadata.kind} drafter and no small model."
            )
        found = {name: tuple(tensor.shape) for name, tensor in file.tensors.items()}
        check_sizes(found, file.metadata, target.config, file.name)
        file.check_vocabulary(target.vocabulary)
        plan, ready = target.plan, Prepared(file.tensors, target)
        self.shape = shape
        self.vocabulary = ready.vocabulary  # [R], rising
        self._target = target
        sizes = BlockSizes(shape.heads, shape.kv_heads, shape.head_dim)
        rotary = Rotary(shape.head_dim, shape.rope_base, plan.dtype, plan.device)
        stack = plan.stack(ready.blocks(shape.layers, sizes), rotary)
        norm = ready.vector("input_norm.weight")[None]
        # E (o x) is (E o) x: one product of [R, W] in place of two, the wider one of [R, D]
        output = ready.matrix("output.weight").to(plan.device)
        head = plan.draft_linear(ready.head_rows().to(output.dtype) @ output)
        self._exit = Exit(ready.vector("output_norm.weight"), head)
        entrance = Entrance(target.table, norm, ready.linear("input.weight"))
        self.whole = make_network(plan, entrance, stack, self._exit, target.config.rms_epsilon)

    def new_pool(self) -> PagePool:
        """Return an empty store for caches of this model."""
        shape, plan = self.shape, self._target.plan
        return PagePool(
            shape.layers, shape.kv_heads, shape.head_dim, dtype=plan.dtype, device=plan.device
        )

    def forward(self, ids: Ids, cache: KVCache) -> Tensor:
        """Run n tokens that follow what is cached; [n, W]."""
        return self.whole.read(ids, cache)

    def logits(self, hidden: Tensor) -> Tensor:
        """Score the ids of `vocabulary`; [m, R] in float32 or wider from [m, W]."""
        return scores(self._target.plan, hidden, self._exit, self._target.config.rms_epsilon)
