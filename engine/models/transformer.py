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
from engine.models.attention import attend, causal_masks
from engine.models.rotary import Rotary, turn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from engine.models.attention import Mask
    from engine.models.config import ModelConfig
    from engine.models.plans import Linear, Plan


@dataclass(frozen=True)
class LowerRows:
    """What the first layers have made of the first tokens of a pass, before the pass is run."""

    rows: Tensor  # [m, D], after those layers
    layers: int  # how many


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
        n = x.shape[0]
        qkv = self.qkv(rms_norm(x, self.attention_norm, self.epsilon))
        turned = self.heads + self.kv_heads
        rows = qkv.view(n, turned + self.kv_heads, self.head_dim)
        both = rows[:, :turned]
        if self.head_norms is not None:
            both = functional.rms_norm(both, (self.head_dim,), None, self.epsilon) * self.head_norms
        both = turn(both, *turns)
        keys, values = both[:, self.heads :], rows[:, turned:]
        cache.write(self.index, keys.transpose(0, 1), values.transpose(0, 1), ahead)
        x = x + self.output(attend(both[:, : self.heads], cache, self.index, masks))
        inner = self.gate_up(rms_norm(x, self.mlp_norm, self.epsilon))
        gate, up = inner.chunk(2, dim=-1)
        return x + self.down(functional.silu(gate) * up)


def rms_norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Zhang and Sennrich 2019: x over its root mean square, times a weight; rows of [n, D]."""
    return functional.rms_norm(x, weight.shape, weight, epsilon)


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
        self._embedding = plan.table(table)
        head = table if config.tied else tensor("lm_head.weight")
        self.head = plan.linear(head[: self.vocabulary])
        del table, head
        self._norm = self._vector(tensor("model.norm.weight"))
        self._blocks: list[Block] = []
        for index in range(config.layers):
            if progress is not None:
                progress(index, config.layers)
            self._blocks.append(self._block(index, tensor))
        self._windows = {block.window for block in self._blocks}
        self._rotary = Rotary(
            config.rotary_dim, config.rope_base, plan.dtype, plan.device, config.scaling
        )
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

    def embed(self, ids: Sequence[int]) -> Tensor:
        """Return the rows of the embedding table; [n, D]."""
        index = torch.tensor(ids, device=self.plan.device)
        return functional.embedding(index, self._embedding).to(self.plan.dtype)

    def forward(self, ids: Sequence[int], cache: KVCache, lower: LowerRows | None = None) -> Tensor:
        """Run one pass over tokens that follow what is cached.

        Parameters
        ----------
        ids
            n tokens, standing at positions `cache.length` and on.
        cache
            Receives their keys and values; its length grows by n.
        lower
            Rows of the first m tokens from `run_lower`, whose keys and values are still in place:
            those layers are run for the other tokens only.

        Returns
        -------
        Tensor
            [n, D], after the last layer and before the final norm.
        """
        n = len(ids)
        if lower is None:
            x = self.embed(self._padded(ids))
        else:
            done = len(lower.rows)
            x = lower.rows
            if done < n:
                rest = self.run_lower(ids[done:], cache, lower.layers, done)
                x = torch.cat((x, rest))
            x = functional.pad(x, (0, 0, 0, self.plan.width(n) - n))
        x = self._run(x, cache, slice(0 if lower is None else lower.layers, None))
        cache.append(n)
        return x[:n]

    def run_lower(self, ids: Sequence[int], cache: KVCache, layers: int, ahead: int = 0) -> Tensor:
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
        return self._run(x, cache, slice(layers), ahead)[: len(ids)]

    def logits(self, hidden: Tensor) -> Tensor:
        """Score the whole vocabulary; [m, V] in float32 or wider from [m, D]."""
        return self.score(hidden, self.head, self._norm)

    def score(self, hidden: Tensor, head: Linear, norm: Tensor) -> Tensor:
        """Norm, pad to a width that rounds alike, and multiply; [m, out] from [m, D]."""
        m = hidden.shape[0]
        width = self.plan.width(m)
        if width > m:
            hidden = functional.pad(hidden, (0, 0, 0, width - m))
        scores = head(rms_norm(hidden, norm, self.config.rms_epsilon))[:m]
        return scores if scores.dtype == torch.float64 else scores.float()

    def _padded(self, ids: Sequence[int]) -> list[int]:
        return [*ids, *([0] * (self.plan.width(len(ids)) - len(ids)))]

    def _run(self, x: Tensor, cache: KVCache, layers: slice, ahead: int = 0) -> Tensor:
        rows, first = x.shape[0], cache.length + ahead
        cache.reserve(ahead + rows)
        turns = self._rotary.rows(first, rows)
        group = self.config.heads // self.config.kv_heads
        masks = {window: causal_masks(first, rows, group, x, window) for window in self._windows}
        for block in self._blocks[layers]:
            x = block(x, cache, turns, masks[block.window], ahead)
        return x

    def _first_layer(self, width: int) -> Tensor:
        """Return rows of a pass through the first layer and the head, on fixed random numbers."""
        generator = torch.Generator().manual_seed(20)
        noise = torch.randn(64, self.config.width, generator=generator)
        noise = noise.to(device=self.plan.device, dtype=self.plan.dtype)
        cache = KVCache(self.new_pool())
        self._run(noise[40:], cache, slice(1))  # something to attend to
        cache.append(24)
        x = self._run(noise[:width], cache, slice(1))
        scores = self.head(rms_norm(x, self._norm, self.config.rms_epsilon))
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
