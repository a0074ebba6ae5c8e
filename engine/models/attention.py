"""Causal attention over a cache, in blocks of positions added in order.

Knows queries, a cache and nothing of models. Every product has the same shape whatever the length
of the context, and blocks are summed one after another, so a row's result depends neither on how
many rows the pass has nor on how far past the row the cache reaches: masked positions add exact
zeros. That is what lets plain and speculative decoding round alike (DECISIONS.md). Blocks that lie
before every row's sliding window are left out: all they would add is zeros.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from engine.cache import BLOCK

if TYPE_CHECKING:
    from torch import Tensor

    from engine.cache import KVCache


@dataclass(frozen=True)
class Mask:
    """What a pass may see of one block."""

    begin: int  # position of the block's first key
    added: Tensor  # [rows * group, BLOCK], 0 or -inf


def causal_masks(
    first: int, rows: int, group: int, like: Tensor, window: int | None = None
) -> list[Mask]:
    """Return one mask for each block that a row sees, in the order of positions.

    Row i stands at position `first + i` and sees itself and what came before, within a sliding
    `window` only the positions less than so many before it. So every row sees something, and a
    block that is wholly hidden from it adds exp(-inf) = 0. Each row is repeated for the `group`
    query heads that share a key head. Blocks that every row sees whole share one mask of zeros.
    """
    dtype = torch.promote_types(like.dtype, torch.float32)
    nothing = torch.zeros(rows * group, BLOCK, dtype=dtype, device=like.device)
    last = first + torch.arange(rows, device=like.device)
    seen_from = 0 if window is None else max(0, first - window + 1)
    masks = []
    for begin in range(seen_from // BLOCK * BLOCK, first + rows, BLOCK):
        if begin + BLOCK <= first + 1 and (window is None or begin > first + rows - 1 - window):
            masks.append(Mask(begin, nothing))
            continue
        position = begin + torch.arange(BLOCK, device=like.device)
        hidden = position[None, :] > last[:, None]
        if window is not None:
            hidden |= position[None, :] <= last[:, None] - window
        mask = torch.zeros(rows, BLOCK, dtype=dtype, device=like.device)
        mask.masked_fill_(hidden, float("-inf"))
        masks.append(Mask(begin, mask.repeat_interleave(group, dim=0)))
    return masks


def attend(queries: Tensor, cache: KVCache, layer: int, masks: list[Mask]) -> Tensor:
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
        From `causal_masks`, one for each block that is read.

    Returns
    -------
    Tensor
        [n, heads * head_dim] in the queries' type; sums are float32 or wider.
    """
    n, heads, head_dim = queries.shape
    blocks = [cache.view(layer, mask.begin, mask.begin + BLOCK) for mask in masks]
    kv_heads = blocks[0][0].shape[0]
    group = heads // kv_heads
    rows = queries.view(n, kv_heads, group, head_dim).transpose(0, 1)
    rows = rows.reshape(kv_heads, n * group, head_dim)
    scale = head_dim**-0.5
    scores = [
        _scores(rows, keys, mask.added, scale)
        for (keys, _), mask in zip(blocks, masks, strict=True)
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
