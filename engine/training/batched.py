"""A target run on many sequences at once, for its text and its states. Knows no drafter.

Decoding runs one sequence in passes that round alike; here rows belong to many sequences, padded on
the right, and rounding does not matter. Layers, norms and positions are the model's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.attention_many import attention_of
from engine.models.blocks import BlockStack
from engine.models.plans.batched import BatchedPlan
from engine.models.transformer import Transformer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.blocks import Block
    from engine.models.config import ModelConfig
    from engine.models.formats.weights import Checkpoint


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

    def arrange(self, order: Sequence[int]) -> None:
        """Put sequence `order[i]` in place i."""
        index = torch.tensor(order, device=self.keys.device)
        for layer in range(self.keys.shape[0]):  # one after another: no second cache is held
            self.keys[layer] = self.keys[layer][index]
            self.values[layer] = self.values[layer][index]


@dataclass(frozen=True)
class States:
    """What a batch's tokens left behind."""

    hidden: Tensor  # [B, T, D], after the last layer and before the final norm
    taps: tuple[Tensor, ...] = ()  # each [B, T, D], after the layers that were asked for


@dataclass(frozen=True)
class LayerWeights:
    """One layer's numbers, for a drafter to start from; float32."""

    attention_norm: Tensor  # [D]
    mlp_norm: Tensor  # [D]
    qkv: Tensor  # [(heads + 2 kv_heads) * head_dim, D]
    output: Tensor  # [D, heads * head_dim]
    gate_up: Tensor  # [2 * mlp_width, D]
    down: Tensor  # [D, mlp_width]


class BatchedTransformer:
    """A model of the Llama family with a batch axis."""

    def __init__(self, transformer: Transformer, tensor: Callable[[str], Tensor]) -> None:
        """Wrap a model that was built under a BatchedPlan; `tensor` reads its weights by name."""
        plan = transformer.plan
        stack = transformer.stack
        assert isinstance(plan, BatchedPlan), "only that plan multiplies for batches"
        assert isinstance(stack, BlockStack), "only that stack shows its layers"
        self.transformer = transformer
        self.plan = plan
        self.blocks = stack.blocks
        self._rotary = stack.rotary
        self._attention = attention_of(plan.device, plan.factors)
        self._read_tensor = tensor

    @property
    def config(self) -> ModelConfig:
        """The target's sizes."""
        return self.transformer.config

    def _tensor(self, name: str) -> Tensor:
        return self._read_tensor(name).to(self.plan.device, torch.float32)

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
            ),
            checkpoint.tensor,
        )

    @property
    def output_norm(self) -> Tensor:
        """Weights of the last norm; [D]."""
        return self._tensor("model.norm.weight")

    def scored(self, ids: Sequence[int]) -> Tensor:
        """Return the head's rows for some ids; [R, D] float32."""
        name = "model.embed_tokens.weight" if self.config.tied else "lm_head.weight"
        return self._tensor(name)[list(ids)]

    def layer_weights(self, index: int) -> LayerWeights:
        """Return the matrices of a layer, counted from 0, in float32."""
        block = self.blocks[index]

        def matrix(names: tuple[str, ...]) -> Tensor:
            parts = [self._tensor(f"model.layers.{index}.{name}.weight") for name in names]
            return torch.cat(parts)

        apart = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
        return LayerWeights(
            block.attention_norm,
            block.mlp_norm,
            matrix(("self_attn.qkv_proj",) if self.config.fused else apart),
            matrix(("self_attn.o_proj",)),
            matrix(
                ("mlp.gate_up_proj",) if self.config.fused else ("mlp.gate_proj", "mlp.up_proj")
            ),
            matrix(("mlp.down_proj",)),
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
        for number, block in enumerate(self.blocks, start=1):
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
        x = self.transformer.embed(tokens)
        cos, sin = self._rotary.tables(int(positions.max()) + 1)
        turns = cos[positions], sin[positions]
        everyone = torch.arange(len(tokens), device=self.plan.device)
        seeing = self._attention(positions, cache.positions)
        for number, block in enumerate(self.blocks):
            queries, keys, values = block.project(x, turns)
            kept_keys, kept_values = cache.keys[number], cache.values[number]
            kept_keys[everyone, :, positions] = keys.transpose(0, 1).to(kept_keys.dtype)
            kept_values[everyone, :, positions] = values.transpose(0, 1).to(kept_values.dtype)
            mixed = seeing.attend(queries, kept_keys, kept_values, block.window)
            x = block.finish(x, mixed)
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
