"""A pass in which nothing but numbers changes, so that a device can record and replay it.

How many rows there are and how many blocks of context they may reach into is fixed. Where the
first row stands is a number on the device: masks compare with it, angles are looked up by it, keys
and values are put where it says. No number is read back, nothing is chosen by one, and no shape
hangs on one. Knows layers and a cache's store; not who records it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn import functional

from engine.cache import BLOCK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from engine.cache import KVCache
    from engine.models.blocks import Block


def context_blocks(first: int, rows: int) -> int:
    """Return how many blocks of positions rows that stand at `first` and on may see."""
    return -(-(first + rows) // BLOCK)


class StaticPass:
    """Layers on so many rows, the last of which stands in the last of so many blocks.

    It is bound to the tensors that it was made from: once the cache's store or run has moved, make
    another one.
    """

    def __init__(
        self,
        layers: Sequence[Block],
        cache: KVCache,
        turns: tuple[Tensor, Tensor],
        rows: int,
        blocks: int,
    ) -> None:
        """Bind layers to a store.

        Parameters
        ----------
        layers
            Run in this order; all alike but for their weights and windows.
        cache
            Its run holds the positions of the rows; see `KVCache.reserve`.
        turns
            Cosines and signed sines of `blocks * BLOCK` positions or more: `Rotary.tables`.
        rows
            n, the width of the pass.
        blocks
            As `context_blocks` gives them.
        """
        self.rows, self.end = rows, blocks * BLOCK
        self._layers = list(layers)
        self._stores = [cache.view(layer.index, 0, self.end) for layer in layers]
        self._turns = turns
        self._group = layers[0].heads // layers[0].kv_heads
        windows = {layer.window for layer in layers}
        self._begins = {window: first_seen(self.end, rows, window) for window in windows}

    def __call__(self, x: Tensor, position: Tensor) -> Tensor:
        """Run the layers; write keys and values of the rows into the store.

        Parameters
        ----------
        x
            [n, D], the residual stream; it is left as it is.
        position
            [1], of int64 on the device: where the first row stands.

        Returns
        -------
        Tensor
            [n, D].
        """
        steps = position + torch.arange(self.rows, device=x.device)  # [n]
        cos, sin = (table.index_select(0, steps) for table in self._turns)
        masks = {
            window: step_mask(steps, begin, self.end, self._group, x.dtype, window)
            for window, begin in self._begins.items()
        }
        for layer, (keys, values) in zip(self._layers, self._stores, strict=True):
            queries, new_keys, new_values = layer.project(x, (cos, sin))
            keys.index_copy_(1, steps, new_keys)
            values.index_copy_(1, steps, new_values)
            begin = self._begins[layer.window]
            mask = masks[layer.window]
            mixed = attend_whole(queries, keys[:, begin:], values[:, begin:], mask)
            x = layer.finish(x, mixed)
        return x


def first_seen(end: int, rows: int, window: int | None) -> int:
    """Return where the first block begins that a row may see; the last is in the block at `end`."""
    if window is None:
        return 0
    earliest = end - BLOCK + 1 - rows  # of the first row
    return max(0, earliest - window + 1) // BLOCK * BLOCK


def step_mask(
    steps: Tensor, begin: int, end: int, group: int, dtype: torch.dtype, window: int | None = None
) -> Tensor:
    """Return what rows at positions `steps` [n] may not see of [begin, end), as -inf among zeros.

    Each row is repeated for the `group` query heads that share a key head: [n * group, end - begin]
    """
    places = torch.arange(begin, end, device=steps.device)
    hidden = places > steps[:, None]
    if window is not None:
        hidden = hidden | (places <= steps[:, None] - window)
    rows, length = hidden.shape
    mask = torch.zeros(rows, length, dtype=dtype, device=steps.device)
    mask = mask.masked_fill(hidden, float("-inf"))
    return mask[:, None].expand(rows, group, length).reshape(rows * group, length)


def attend_whole(queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
    """Attend to a whole context at once, with the device's own kernel.

    Parameters
    ----------
    queries
        [n, heads, head_dim], already rotated.
    keys, values
        [kv_heads, L, head_dim], those of the rows themselves among them.
    mask
        [n * heads / kv_heads, L], added to the scores.

    Returns
    -------
    Tensor
        [n, heads * head_dim].
    """
    n, heads, head_dim = queries.shape
    kv_heads = keys.shape[0]
    rows = queries.view(n, kv_heads, heads // kv_heads, head_dim).transpose(0, 1)
    rows = rows.reshape(1, kv_heads, -1, head_dim)
    mixed = functional.scaled_dot_product_attention(rows, keys[None], values[None], attn_mask=mask)
    mixed = mixed.view(kv_heads, n, heads // kv_heads, head_dim).transpose(0, 1)
    return mixed.reshape(n, heads * head_dim)


def attends_alike(layers: Sequence[Block], widths: Sequence[int], like: Tensor) -> bool:
    """Whether a row's attention is bit for bit the same in passes of these widths.

    Tried on random numbers of the type of `like` and on its device, with the heads of the first
    layer and every window of the layers: for rows on both sides of a block's edge, so that passes
    end in other blocks and, under a window, begin in others. Without a window the context tried is
    short, and up to two blocks that no row may see follow it; longer ones are taken to be alike.
    """
    windows = {layer.window for layer in layers}
    return all(_alike_under(window, layers[0], widths, like) for window in windows)


def _alike_under(window: int | None, block: Block, widths: Sequence[int], like: Tensor) -> bool:
    generator = torch.Generator(like.device).manual_seed(20)
    widest = max(widths)
    # past a window, all passes begin after position 0
    edge = BLOCK if window is None else (3 + (window + widest) // BLOCK) * BLOCK
    first, spare = edge - widest // 2, (0, 1, 2) if window is None else (0,)

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=like.dtype, device=like.device)

    queries = noise(widest, block.heads, block.head_dim)
    length = edge + (1 + max(spare)) * BLOCK
    keys, values = (noise(block.kv_heads, length, block.head_dim) for _ in range(2))
    places = first + torch.arange(widest, device=like.device)
    group = block.heads // block.kv_heads

    def attended(at: int, width: int, more: int) -> Tensor:
        rows, end = slice(at, at + width), (context_blocks(first + at, width) + more) * BLOCK
        begin = first_seen(end, width, window)
        mask = step_mask(places[rows], begin, end, group, like.dtype, window)
        return attend_whole(queries[rows], keys[:, begin:end], values[:, begin:end], mask)

    whole = attended(0, widest, 0)
    return all(
        torch.equal(attended(at, width, more), whole[at : at + width])
        for width in widths
        for at in {0, (widest - width) // 2, widest - width}
        for more in spare
    )
