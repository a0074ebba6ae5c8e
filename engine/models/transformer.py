"""A decoder-only transformer of the Llama family: token ids to hidden states to logits.

Knows a configuration, weights behind a plan, and a cache to read and write. Knows no text, no
sampling and no rule. One sequence at a time: rows are positions, there is no batch axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.cache import KVCache, PagePool
from engine.models.blocks import Block
from engine.models.network import Entrance, Exit, Fusing, scores
from engine.models.rotary import Rotary

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.config import ModelConfig
    from engine.models.network import Ids, Network
    from engine.models.plans.protocol import Linear, Plan

_COLUMNS = 32  # of the head read at once


@dataclass(frozen=True)
class LowerRows:
    """What the first layers have made of the first tokens of a pass, before the pass is run."""

    rows: Tensor  # [m, D], after those layers
    layers: int  # how many


class Transformer:
    """A target or a small model, ready to run under one plan."""

    def __init__(
        self,
        config: ModelConfig,
        tensor: Callable[[str], Tensor],
        plan: Plan,
        *,
        vocabulary: int | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """Build from named weights.

        Parameters
        ----------
        config
            Shapes; the weights were checked against them.
        tensor
            Returns a weight by its Hugging Face name. Called once a name, layer after layer.
        plan
            How products are computed.
        vocabulary
            Ids that stand for tokens. Rows of the table past them are padding: they can be read
            but are not scored, so that no law has mass there.
        progress
            Called with (layers done, layers in all); it may raise to cancel.
        """
        self.config = config
        self.plan = plan
        self.vocabulary = min(vocabulary or config.vocabulary, config.vocabulary)
        table = tensor("model.embed_tokens.weight")
        self.table = plan.table(table)  # [V, D], of embeddings
        head = table if config.tied else tensor("lm_head.weight")
        self.head = plan.linear(head[: self.vocabulary])
        del table, head
        self._norm = self._vector(tensor("model.norm.weight"))
        blocks: list[Block] = []
        for index in range(config.layers):
            if progress is not None:
                progress(index, config.layers)
            blocks.append(self._block(index, tensor))
        rotary = Rotary(
            config.rotary_dim, config.rope_base, plan.dtype, plan.device, config.scaling
        )
        self.stack = plan.stack(blocks, rotary)
        exit_ = Exit(self._norm, self.head)
        self.whole: Network | None = None  # the model from ids to scores, where the plan runs it so
        if isinstance(plan, Fusing):
            entrance = Entrance(self.table)
            self.whole = plan.network(entrance, self.stack, exit_, config.rms_epsilon)
        with torch.inference_mode():
            plan.calibrate(self._first_layer)
        if progress is not None:
            progress(config.layers, config.layers)

    def new_pool(self) -> PagePool:
        """Return an empty store for caches of this model."""
        config = self.config
        return PagePool(
            config.layers,
            config.kv_heads,
            config.head_dim,
            dtype=self.plan.dtype,
            device=self.plan.device,
        )

    def embed(self, ids: Ids) -> Tensor:
        """Return the rows of the embedding table; [n, D]."""
        index = ids if isinstance(ids, torch.Tensor) else torch.tensor(ids, device=self.plan.device)
        return functional.embedding(index, self.table).to(self.plan.dtype)

    def forward(
        self,
        ids: Ids,
        cache: KVCache,
        lower: LowerRows | None = None,
        taps: Sequence[int] = (),
    ) -> Tensor:
        """Run one pass over tokens that follow what is cached.

        Parameters
        ----------
        ids
            n tokens, standing at positions `cache.length` and on; a list, or [n] on the device.
        cache
            Receives their keys and values; its length grows by n.
        lower
            Rows of the first m tokens from `run_lower`, whose keys and values are still in place:
            those layers are run for the other tokens only. Set aside where a tap lies within them.
        taps
            Numbers of layers, from 1 and rising, whose states are asked for as well.

        Returns
        -------
        Tensor
            [n, (1 + taps) D]: after the last layer and before the final norm, then after each of
            the layers that were asked for.
        """
        n = len(ids)
        done = 0  # layers
        if lower is None or (taps and taps[0] < lower.layers):
            x = self.embed(self._padded(ids))
        else:
            x, done = self._upper(ids, cache, lower), lower.layers
        if not taps:
            x = self.stack.run(x, cache, slice(done, None))[:n]
            cache.append(n)
            return x
        parts: list[Tensor] = []
        for tap in taps:
            if tap > done:
                x, done = self.stack.run(x, cache, slice(done, tap)), tap
            parts.append(x[:n])
        x = self.stack.run(x, cache, slice(done, None))
        cache.append(n)
        return torch.cat((x[:n], *parts), dim=-1)

    def _upper(self, ids: Ids, cache: KVCache, lower: LowerRows) -> Tensor:
        """Return what the upper layers read, where the lower ones have read the first tokens."""
        n, done = len(ids), len(lower.rows)
        x = lower.rows
        if done < n:
            rest = self.run_lower(ids[done:], cache, lower.layers, done)
            x = torch.cat((x, rest))
        return functional.pad(x, (0, 0, 0, self.plan.width(n) - n))

    def run_lower(self, ids: Ids, cache: KVCache, layers: int, ahead: int = 0) -> Tensor:
        """Run the first `layers` layers only; count nothing in the cache.

        Parameters
        ----------
        ids
            n tokens, standing at positions `cache.length + ahead` and on.
        cache
            Receives their keys and values in those layers; its length stays.

        Returns
        -------
        Tensor
            [n, D], after those layers.
        """
        x = self.embed(self._padded(ids))
        return self.stack.run(x, cache, slice(layers), ahead)[: len(ids)]

    def head_rows(self, ids: Ids) -> Tensor:
        """Return the rows of the head that score some ids, as the plan has rounded them; [R, D]."""
        if self.config.tied:
            return self.embed(ids)
        # Only the plan knows how it keeps the head, so it is asked: a row of the identity reads a
        # column, and nothing is added to it but zeros.
        index = torch.as_tensor(ids)
        one = torch.eye(self.config.width, dtype=self.plan.dtype, device=self.plan.device)
        columns = [self.head(rows)[:, index] for rows in torch.split(one, _COLUMNS)]
        return torch.cat(columns).T.contiguous()

    def logits(self, hidden: Tensor) -> Tensor:
        """Score the whole vocabulary; [m, V] in float32 or wider from [m, D]."""
        return scores(self.plan, hidden, Exit(self._norm, self.head), self.config.rms_epsilon)

    def _padded(self, ids: Ids) -> Ids:
        missing = self.plan.width(len(ids)) - len(ids)
        if isinstance(ids, torch.Tensor):
            return functional.pad(ids, (0, missing))
        return [*ids, *([0] * missing)]

    def _first_layer(self, width: int) -> Tensor:
        """Return rows of a pass through the first layer and the head, on fixed random numbers."""
        generator = torch.Generator().manual_seed(20)
        noise = torch.randn(64, self.config.width, generator=generator)
        noise = noise.to(device=self.plan.device, dtype=self.plan.dtype)
        cache = KVCache(self.new_pool())
        self.stack.run(noise[40:], cache, slice(1))  # something to attend to
        cache.append(24)
        x = self.stack.run(noise[:width], cache, slice(1))
        scores = self.head.normed(x, self._norm, self.config.rms_epsilon)
        return torch.cat((x, scores), dim=-1)

    def _vector(self, weight: Tensor) -> Tensor:
        return weight.to(device=self.plan.device, dtype=self.plan.dtype)

    def _block(self, index: int, tensor: Callable[[str], Tensor]) -> Block:
        config, plan = self.config, self.plan

        def named(part: str, kind: str = "weight") -> Tensor:
            return tensor(f"model.layers.{index}.{part}.{kind}")

        def joined(parts: tuple[str, ...], biased: bool) -> Linear:
            def all_of(kind: str) -> Tensor:
                found = [named(part, kind) for part in parts]
                return torch.cat(found) if len(found) > 1 else found[0]

            return plan.linear(all_of("weight"), all_of("bias") if biased else None)

        fused = config.fused
        apart = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj")
        gate_up = ("mlp.gate_up_proj",) if fused else ("mlp.gate_proj", "mlp.up_proj")
        return Block(
            index=index,
            heads=config.heads,
            kv_heads=config.kv_heads,
            head_dim=config.head_dim,
            epsilon=config.rms_epsilon,
            attention_norm=self._vector(named("input_layernorm")),
            mlp_norm=self._vector(named("post_attention_layernorm")),
            qkv=joined(("self_attn.qkv_proj",) if fused else apart, config.qkv_bias),
            output=joined(("self_attn.o_proj",), config.output_bias),
            gate_up=joined(gate_up, config.mlp_bias),
            down=joined(("mlp.down_proj",), config.mlp_bias),
            head_norms=self._head_norms(named) if config.head_norms else None,
            window=config.window_of(index),
        )

    def _head_norms(self, named: Callable[[str], Tensor]) -> Tensor:
        """Repeat each norm's weight for its heads, so that one product does for both."""
        config = self.config
        queries = named("self_attn.q_norm").expand(config.heads, -1)
        keys = named("self_attn.k_norm").expand(config.kv_heads, -1)
        return self._vector(torch.cat((queries, keys)))
