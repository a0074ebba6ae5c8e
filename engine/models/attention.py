"""Causal attention over a cache, in blocks of positions added in order.

Knows queries, a cache and nothing of models. Every product has the same shape whatever the length
of the context, and blocks are summed one after another, so a row's result depends neither on how
many rows the pass has nor on how far past the row the cache reaches: masked positions add exact
zeros at the end. That is what lets plain and speculative decoding round alike (DECISIONS.md).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from engine.cache import BLOCK

if TYPE_CHECKING:
    from torch import Tensor

    from engine.cache import KVCache


def causal_masks(first: int, rows: int, group: int, like: Tensor) -> list[Tensor]:
    """Return one additive mask a block, each [rows * group, BLOCK] of 0 and -inf.

    Row i stands at position `first + i` and sees itself and what came before; each row is repeated
    for the `group` query heads that share a key head.
    """
    last = first + torch.arange(rows, device=like.device)
    masks = []
    for begin in range(0, first + rows, BLOCK):
        position = begin + torch.arange(BLOCK, device=like.device)
        hidden = position[None, :] > last[:, None]
        mask = torch.zeros(
            rows, BLOCK, dtype=torch.promote_types(like.dtype, torch.float32), device=like.device
        ).masked_fill_(hidden, float("-inf"))
        masks.append(mask.repeat_interleave(group, dim=0))
    return masks


def attend(queries: Tensor, cache: KVCache, layer: int, masks: list[Tensor]) -> Tensor:
    """Attend from `n` rows to all cached positions that the masks allow.

    Parameters
    ----------
    queries
        [n, heads, head_dim], already rotated.
    cache
        Keys and values of the rows themselves are already written.
    layer
        Which layer of the cache.
    masks
        From `causal_masks`, one a block.

    Returns
    -------
    Tensor
        [n, heads * head_dim] in the queries' type; sums are float32 or wider.
    """
    n, heads, head_dim = queries.shape
    blocks = [cache.view(layer, i * BLOCK, (i + 1) * BLOCK) for i in range(len(masks))]
    kv_heads = blocks[0][0].shape[0]
    group = heads // kv_heads
    rows = queries.view(n, kv_heads, group, head_dim).transpose(0, 1)
    rows = rows.reshape(kv_heads, n * group, head_dim)
    scale = head_dim**-0.5
    scores = [
        _scores(rows, keys, mask, scale) for (keys, _), mask in zip(blocks, masks, strict=True)
    ]
    peak = scores[0].amax(dim=-1, keepdim=True)
    for block in scores[1:]:
        peak = torch.maximum(peak, block.amax(dim=-1, keepdim=True))
    weights = scores[0].sub_(peak).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    mixed = _mix(weights, blocks[0][1])
    for block, (_, values) in zip(scores[1:], blocks[1:], strict=True):
        weights = block.sub_(peak).exp_()
        total += weights.sum(dim=-1, keepdim=True)
        mixed += _mix(weights, values)
    mixed /= total
    out = mixed.view(kv_heads, n, group, head_dim).transpose(0, 1)
    return out.reshape(n, heads * head_dim).to(queries.dtype)


def _scores(rows: Tensor, keys: Tensor, mask: Tensor, scale: float) -> Tensor:
    """Return scaled, masked scores; [kv_heads, n * group, BLOCK]."""
    if rows.dtype == mask.dtype:
        return torch.baddbmm(mask[None], rows, keys.transpose(1, 2), alpha=scale)
    return torch.bmm(rows, keys.transpose(1, 2)).to(mask.dtype).mul_(scale).add_(mask)


def _mix(weights: Tensor, values: Tensor) -> Tensor:
    """Return weights @ values; [kv_heads, n * group, head_dim] in the weights' type."""
    return torch.bmm(weights.to(values.dtype), values).to(weights.dtype)
