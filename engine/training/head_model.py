"""A head in training: from the target's states and the next token to the law of the one after.

In the manner of EAGLE (Li et al. 2024, 2025) and DeepSeek-V3's MTP (2024, section 2.2). It is
unrolled as it drafts: from the second step on its own output stands for the target's state. Knows a
target's sizes and start values; no corpus, no loss.
"""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from engine.drafters.layout import VOCABULARY
from engine.models.rotary import Rotary
from engine.training.blocks import BlockShape, Matrix, Memory, Norm, TrainedBlock, draft_mask
from engine.training.least_squares import LeastSquares
from engine.training.trainable import Step

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from engine.drafters.metadata import HeadShape
    from engine.training.batch import Batch
    from engine.training.batched import BatchedTransformer

_SCALED = {"fuse.weight", "own.weight"}  # a file's are those that are trained, times `scale`


class HeadModel(nn.Module):
    """A head of one block or a few."""

    scale: Tensor  # [], size of the rows that the blocks are given

    def __init__(self, target: BatchedTransformer, shape: HeadShape) -> None:
        """Start from the target's last layers, scaled so that they see what they are used to."""
        super().__init__()
        config, plan = target.transformer.config, target.plan
        width, taps = config.width, len(shape.taps)
        self.shape = shape
        self._target = target
        self._rotary = Rotary(
            config.rotary_dim, config.rope_base, torch.float32, plan.device, config.scaling
        )
        self.hidden_norm = Norm((1 + taps) * width, config.rms_epsilon)
        self.embedding_norm = Norm(width, config.rms_epsilon)
        self.output_norm = Norm(width, config.rms_epsilon)
        self.fuse = Matrix(width, (2 + taps) * width, plan.factors)
        self.own = Matrix(width, 2 * width, plan.factors) if taps else None
        self.own_norm = Norm(width, config.rms_epsilon) if taps else None
        sizes = BlockShape(
            width,
            config.heads,
            config.kv_heads,
            config.head_dim,
            shape.inner,
            config.rms_epsilon,
        )
        self.blocks = nn.ModuleList(
            [TrainedBlock(sizes, plan.factors) for _ in range(shape.blocks)]
        )
        # the fusing layers give rows of this size: their weights move in steps of one size, which
        # would never bring weights of the size of the target's states anywhere
        self.register_buffer("scale", torch.ones(()))
        self.to(plan.device)

    @property
    def module(self) -> nn.Module:
        """Itself."""
        return self

    @torch.no_grad()
    def start(self, rows: Iterable[Tensor]) -> None:
        """Set the start values.

        Blocks are the target's last ones. The fusing layer starts as the least squares' answer to:
        what state of token i + 1 would those blocks be given, by the state of token i and the
        embedding of token i + 1?

        Parameters
        ----------
        rows
            Texts, each [n] ids, of some ten thousand tokens in all.
        """
        config, target = self._target.config, self._target
        last = config.layers - len(self.blocks)
        for index, block in enumerate(self.blocks):
            assert isinstance(block, TrainedBlock)
            self._copy(block, last + index)
        self.output_norm.weight.copy_(target.output_norm)
        fuse, own = LeastSquares(), LeastSquares()
        sizes: list[float] = []
        for row in rows:
            states = target.read(row[None], taps=(*self.shape.taps, last))
            *taps, wanted = (tap[0] for tap in states.taps)
            embedded = self._embedded(row)[1:]
            wanted = functional.rms_norm(wanted[1:], wanted.shape[-1:])
            hidden = self._normed(torch.cat((states.hidden[0], *taps), dim=-1))[:-1]
            fuse.add(torch.cat((hidden, embedded), dim=-1), wanted)
            if self.own is not None:
                first = hidden[:, : config.width]
                own.add(torch.cat((first, embedded), dim=-1), wanted)
            size = states.taps[-1][0, 1:].square().mean(dim=-1).sqrt().median()
            sizes.append(float(size))
        self.scale.fill_(statistics.median(sizes))
        self.fuse.weight.copy_(fuse.answer())
        if self.own is not None:
            self.own.weight.copy_(own.answer())

    @torch.no_grad()
    def take(self, tensors: Mapping[str, Tensor]) -> None:
        """Set the start values to those of a drafter's file of this shape.

        After `start`, which finds the size of the rows that the blocks are given.
        """
        found = {name: value.float() for name, value in tensors.items() if name != VOCABULARY}
        for name in found.keys() & _SCALED:
            found[name] = found[name] / self.scale.cpu()
        self.load_state_dict({**found, "scale": self.scale})

    def _copy(self, block: TrainedBlock, layer: int) -> None:
        """Take the target's own layer, as far as the sizes agree."""
        weights = self._target.layer_weights(layer)
        block.attention_norm.weight.copy_(weights.attention_norm)
        block.mlp_norm.weight.copy_(weights.mlp_norm)
        block.attention.qkv.weight.copy_(weights.qkv)
        block.attention.output.weight.copy_(weights.output)
        inner = min(block.shape.inner, weights.down.shape[1])
        gate, up = weights.gate_up.chunk(2)
        own_gate, own_up = block.mlp.gate_up.weight.chunk(2)
        own_gate[:inner], own_up[:inner] = gate[:inner], up[:inner]
        block.mlp.down.weight[:, :inner] = weights.down[:, :inner]

    def unroll(self, batch: Batch, steps: int) -> Iterator[Step]:
        """Yield the steps of drafts that begin at every slot.

        Slot i joins the target's state of token i with the embedding of token i + 1; in step s it
        stands at slot i + s - 1 and tells the law after token i + s.
        """
        embedded = self._embedded(batch.tokens.flatten()).view(*batch.tokens.shape, -1)
        hidden = self._normed(batch.hidden)
        seen = [Memory() for _ in self.blocks]
        x = batch.hidden[..., :0]
        for step in range(1, steps + 1):
            following = functional.pad(embedded[:, step:], (0, 0, 0, step))
            if step == 1:
                x = self.scale * self.fuse(torch.cat((hidden, following), dim=-1))
                mask = None
            else:
                x = self._fed(x, following)
                mask = draft_mask(x.shape[1], step, x.new_zeros(0).dtype, x.device)
                mask = mask.to(self._target.plan.factors)
            for index, block in enumerate(self.blocks):
                x, seen[index] = block(x, self._rotary, seen[index], mask)
            yield Step(self.output_norm(x), step)

    def _embedded(self, ids: Tensor) -> Tensor:
        """[n, D] of [n] ids."""
        rows: Tensor = self.embedding_norm(self._target.transformer.embed(ids).float())
        return rows

    def _normed(self, hidden: Tensor) -> Tensor:
        """Norm each layer's state by itself; [..., (1 + taps) D]."""
        width = self.output_norm.weight.shape[0]
        apart = hidden.view(*hidden.shape[:-1], -1, width)
        normed = functional.rms_norm(apart, (width,), None, self.hidden_norm.epsilon)
        return normed.flatten(-2) * self.hidden_norm.weight

    def _fed(self, x: Tensor, following: Tensor) -> Tensor:
        """Join the head's own output with the next token's embedding."""
        norm, matrix = self.hidden_norm, self.fuse
        if self.own is not None and self.own_norm is not None:
            norm, matrix = self.own_norm, self.own
        joined: Tensor = self.scale * matrix(torch.cat((norm(x), following), dim=-1))
        return joined

    def tensors(self) -> dict[str, Tensor]:
        """Return the weights by their names in a drafter's file."""
        found = {name: value.detach() for name, value in self.state_dict().items()}
        scale = found.pop("scale")
        for name in found.keys() & _SCALED:
            found[name] = found[name] * scale
        return found
