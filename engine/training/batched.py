"""A target run on many sequences at once, for its text and its states. Knows no drafter.

Decoding runs one sequence in passes that round alike; here rows belong to many sequences, padded on
the right, and rounding does not matter. Layers, norms and positions are the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.plans.batched import BatchedPlan
from engine.models.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.formats.weights import Checkpoint

STEP = 64  # positions: attention reads a cache up to the next multiple of it


class BatchCache:
    """Keys and values of B sequences, each with room for so many positions."""

    def __init__(self, model: BatchedTransformer, sequences: int, positions: int) -> None:
        config = model.transformer.config
        shape = (config.layers, sequences, config.kv_heads, positions, config.head_dim)
        self.keys = torch.zeros(shape, dtype=model.plan.factors, device=model.plan.device)
        self.values = torch.zeros_like(self.keys)

    @property
    def positions(self) -> int:
        """Room of each sequence."""
        return self.keys.shape[3]


@dataclass(frozen=True)
class States:
    """What a batch's tokens left behind."""

    hidden: Tensor  # [B, T, D], after the last layer and before the final norm
    taps: tuple[Tensor, ...] = ()  # each [B, T, D], after the layers that were asked for


class BatchedTransformer:
    """A model of the Llama family with a batch axis."""

    def __init__(self, transformer: Transformer) -> None:
        """Wrap a model that was built under a BatchedPlan."""
        plan = transformer.plan
        assert isinstance(plan, BatchedPlan), "only that plan keeps its layers for batches"
        assert plan.rotary is not None
        self.transformer = transformer
        self.plan = plan
        self._rotary = plan.rotary

    @classmethod
    def of(
        cls,
        checkpoint: Checkpoint,
        vocabulary: int,
        device: torch.device,
        progress: Callable[[int, int], None] | None = None,
    ) -> BatchedTransformer:
        """Build from an opened checkpoint."""
        plan = BatchedPlan.on(device)
        return cls(
            Transformer(
                checkpoint.config,
                checkpoint.tensor,
                plan,
                vocabulary=vocabulary,
                progress=progress,
            )
        )

    @torch.inference_mode()
    def read(
        self,
        tokens: Tensor,
        cache: BatchCache | None = None,
        slots: Sequence[int] = (),
        taps: Sequence[int] = (),
    ) -> States:
        """Run whole sequences from their first token.

        Parameters
        ----------
        tokens
            [B, T], padded on the right: what stands after a sequence's end changes no row before.
        cache
            Receives keys and values of sequence i in slot `slots[i]`, if given.
        taps
            Numbers of layers, from 1; the states after them are returned too.
        """
        sequences, length = tokens.shape
        x = self.transformer.embed(tokens.flatten())
        cos, sin = self._rotary.rows(0, length)
        turns = cos.repeat(sequences, 1, 1), sin.repeat(sequences, 1, 1)
        index = torch.tensor(list(slots), device=self.plan.device) if cache is not None else None
        tapped = {}
        for number, block in enumerate(self.plan.blocks, start=1):
            queries, keys, values = block.project(x, turns)
            keys, values = (_batch(side, sequences, self.plan.factors) for side in (keys, values))
            if cache is not None:
                cache.keys[number - 1, index, :, :length] = keys
                cache.values[number - 1, index, :, :length] = values
            mixed = _attend_causally(queries, keys, values, block)
            x = block.finish(x, mixed)
            if number in taps:
                tapped[number] = x.view(sequences, length, -1)
        hidden = x.view(sequences, length, -1)
        return States(hidden, tuple(tapped[number] for number in taps))

    @torch.inference_mode()
    def step(self, tokens: Tensor, positions: Tensor, cache: BatchCache) -> Tensor:
        """Run one more token of each sequence of a cache; [B, D] from [B] ids and [B] places."""
        sequences = tokens.shape[0]
        reach = min(cache.positions, -(-(int(positions.max()) + 1) // STEP) * STEP)
        x = self.transformer.embed(tokens)
        cos, sin = self._rotary.tables(reach)
        turns = cos[positions], sin[positions]
        place = torch.arange(reach, device=self.plan.device)
        everyone = torch.arange(sequences, device=self.plan.device)
        masks: dict[int | None, Tensor] = {}
        for number, block in enumerate(self.plan.blocks):
            queries, keys, values = block.project(x, turns)
            kept_keys, kept_values = cache.keys[number], cache.values[number]
            kept_keys[everyone, :, positions] = keys.transpose(0, 1).to(kept_keys.dtype)
            kept_values[everyone, :, positions] = values.transpose(0, 1).to(kept_values.dtype)
            if block.window not in masks:
                hidden = place[None, :] > positions[:, None]
                if block.window is not None:
                    hidden |= place[None, :] <= positions[:, None] - block.window
                mask = torch.zeros(sequences, 1, 1, reach, dtype=self.plan.factors)
                mask = mask.to(self.plan.device)
                masks[block.window] = mask.masked_fill_(hidden[:, None, None], float("-inf"))
            grouped = queries.view(sequences, block.kv_heads, -1, block.head_dim)
            mixed = functional.scaled_dot_product_attention(
                grouped.to(kept_keys.dtype),
                kept_keys[:, :, :reach],
                kept_values[:, :, :reach],
                attn_mask=masks[block.window],
            )
            x = block.finish(x, mixed.reshape(sequences, -1).to(x.dtype))
        return x


def _batch(rows: Tensor, sequences: int, dtype: torch.dtype) -> Tensor:
    """[B, kv_heads, T, head_dim] from [kv_heads, B T, head_dim]."""
    heads, _, head_dim = rows.shape
    return rows.view(heads, sequences, -1, head_dim).transpose(0, 1).to(dtype)


def _attend_causally(queries: Tensor, keys: Tensor, values: Tensor, block: Block) -> Tensor:
    """Let each position see itself and what came before; [B T, heads head_dim]."""
    sequences, kv_heads, length, head_dim = keys.shape
    rows = queries.view(sequences, length, block.heads, head_dim).transpose(1, 2)
    group = block.heads // kv_heads
    keys, values = (side.repeat_interleave(group, dim=1) for side in (keys, values))
    mask = None
    if block.window is not None and block.window < length:
        place = torch.arange(length, device=rows.device)
        gap = place[:, None] - place[None, :]
        mask = (gap >= 0) & (gap < block.window)
    mixed = functional.scaled_dot_product_attention(
        rows.to(keys.dtype), keys, values, attn_mask=mask, is_causal=mask is None
    )
    return mixed.transpose(1, 2).reshape(sequences * length, -1).to(queries.dtype)
