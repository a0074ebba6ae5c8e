"""A head, read plainly from its description: no cache, no plan, slot after slot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.models.rotary import Rotary, turn

if TYPE_CHECKING:
    from torch import Tensor

    from engine.models.config import ModelConfig

NAMES = (
    *("attention_norm", "mlp_norm", "attention.qkv", "attention.output"),
    *("mlp.gate_up", "mlp.down"),
)


class Plain:
    """A head's tensors with its target's table, in one float type."""

    def __init__(self, w: dict[str, Tensor], table: Tensor, config: ModelConfig) -> None:
        self.w, self.table, self.config = w, table, config

    def rms(self, x: Tensor, weight: Tensor) -> Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5) * weight

    def slot(self, states: Tensor, token: int, *, own: bool) -> Tensor:
        """What the blocks read in one slot, from [1 + taps, D] states or its own [1, D]."""
        w = self.w
        embedded = self.rms(self.table[token], w["embedding_norm.weight"])
        if own and "own.weight" in w:
            hidden = self.rms(states[0], w["own_norm.weight"])
            return w["own.weight"] @ torch.cat((hidden, embedded))
        parts = zip(states, w["hidden_norm.weight"].split(self.config.width), strict=True)
        hidden = torch.cat([self.rms(state, weight) for state, weight in parts])
        return w["fuse.weight"] @ torch.cat((hidden, embedded))

    def blocks(self, x: Tensor, count: int) -> Tensor:
        """Run all slots through the blocks; [n, D] from [n, D]."""
        config, size, n = self.config, self.config.head_dim, x.shape[0]
        cos, sin = Rotary(size, config.rope_base, x.dtype, "cpu").rows(0, n)
        later = torch.ones(n, n, dtype=torch.bool).triu(1)
        for index in range(count):
            part = {name: self.w[f"blocks.{index}.{name}.weight"] for name in NAMES}
            rows = self.rms(x, part["attention_norm"]) @ part["attention.qkv"].T
            rows = rows.view(n, -1, size)
            group = config.heads // config.kv_heads
            queries = turn(rows[:, : config.heads], cos, sin)
            keys = turn(rows[:, config.heads : config.heads + config.kv_heads], cos, sin)
            values = rows[:, config.heads + config.kv_heads :]
            keys, values = (side.repeat_interleave(group, dim=1) for side in (keys, values))
            scores = torch.einsum("ihd,jhd->hij", queries, keys) * size**-0.5
            law = scores.masked_fill(later, float("-inf")).softmax(-1)
            mixed = torch.einsum("hij,jhd->ihd", law, values).reshape(n, -1)
            x = x + mixed @ part["attention.output"].T
            gate, up = (self.rms(x, part["mlp_norm"]) @ part["mlp.gate_up"].T).chunk(2, -1)
            x = x + (functional.silu(gate) * up) @ part["mlp.down"].T
        return x

    def law(self, x: Tensor) -> Tensor:
        ids = self.w["vocabulary"].long()
        return (self.table[ids] @ self.rms(x, self.w["output_norm.weight"])).softmax(-1)
