"""Attention in blocks: right, and rows that depend on nothing but what they see."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional

from engine.cache import BLOCK, KVCache, PagePool
from engine.models.attention import attend, causal_masks

HEADS, KV_HEADS, HEAD_DIM = 6, 2, 16


@pytest.fixture
def cache() -> KVCache:
    """Three blocks and a bit of random keys and values."""
    generator = torch.Generator().manual_seed(3)
    length = 3 * BLOCK + 40
    cache = KVCache(PagePool(1, KV_HEADS, HEAD_DIM))
    cache.reserve(length)
    shape = (KV_HEADS, length, HEAD_DIM)
    cache.write(0, torch.randn(shape, generator=generator), torch.randn(shape, generator=generator))
    cache.append(length)
    return cache


def queries(count: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(4)
    return torch.randn(count, HEADS, HEAD_DIM, generator=generator)


def run(cache: KVCache, rows: torch.Tensor, first: int, window: int | None = None) -> torch.Tensor:
    masks = causal_masks(first, rows.shape[0], HEADS // KV_HEADS, rows, window)
    return attend(rows, cache, 0, masks)


@pytest.mark.parametrize("window", [None, 1, 8, 100, BLOCK, BLOCK + 1, 4 * BLOCK])
@pytest.mark.parametrize("first", [0, 5, BLOCK - 3, BLOCK, 2 * BLOCK + 7])
def test_attention_is_the_textbook_softmax(cache: KVCache, first: int, window: int | None) -> None:
    rows = queries(8)
    keys, values = cache.view(0, 0, first + 8)
    back = first + torch.arange(8)[:, None] - torch.arange(first + 8)[None, :]
    seen = (back >= 0) & (back < (window or BLOCK**2))
    expected = functional.scaled_dot_product_attention(
        rows.transpose(0, 1)[None], keys[None], values[None], attn_mask=seen, enable_gqa=True
    )
    expected = expected[0].transpose(0, 1).reshape(8, HEADS * HEAD_DIM)
    assert float((run(cache, rows, first, window) - expected).abs().max()) < 1e-5


@pytest.mark.parametrize("window", [None, 5, BLOCK - 4, BLOCK + 3])
def test_rows_do_not_depend_on_the_width_or_on_what_lies_behind_them(
    cache: KVCache, window: int | None
) -> None:
    # The kernels round a product of few rows differently; 8 rows stand for the padded widths.
    rows = queries(24)
    for first in range(2 * BLOCK - 12, 2 * BLOCK + 12):
        wide = run(cache, rows, first, window)
        assert torch.equal(run(cache, rows[:8], first, window), wide[:8])
        later = run(cache, rows[6:20], first + 6, window)
        assert torch.equal(later, wide[6:20])


@pytest.mark.parametrize("first", [BLOCK - 4, BLOCK, 2 * BLOCK - 4])
def test_blocks_before_every_window_are_left_out_and_change_no_bit(
    cache: KVCache, first: int
) -> None:
    # row 0 of a wide pass still sees the block before; a pass of its last rows does not
    rows, window = queries(24), 8
    begins = [
        [mask.begin for mask in causal_masks(at, count, 1, rows, window)]
        for at, count in ((first, 24), (first + 12, 12))
    ]
    block = (first + 12) // BLOCK * BLOCK
    assert begins == [[block - BLOCK, block], [block]]
    wide = run(cache, rows, first, window)
    assert wide.isfinite().all()  # also where a row sees nothing of a block
    assert torch.equal(run(cache, rows[12:], first + 12, window), wide[12:])


def test_masked_rows_of_garbage_change_nothing(cache: KVCache) -> None:
    rows = queries(8)
    before = run(cache, rows, BLOCK + 3)
    length = cache.length
    cache.truncate(BLOCK + 11)
    garbage = torch.full((KV_HEADS, length - cache.length, HEAD_DIM), 1e20)
    cache.reserve(garbage.shape[1])
    cache.write(0, garbage, garbage)
    assert torch.equal(run(cache, rows, BLOCK + 3), before)


@pytest.mark.parametrize("window", [None, 1, BLOCK, BLOCK + 1, 2 * BLOCK + 3])
@pytest.mark.parametrize("first", [0, BLOCK - 1, BLOCK, 3 * BLOCK - 2, 3 * BLOCK - 1])
def test_a_mask_hides_what_a_row_may_not_see_and_is_made_once_where_nothing_is_hidden(
    first: int, window: int | None
) -> None:
    masks = causal_masks(first, 5, 2, queries(5), window)
    for mask in masks:
        back = first + torch.arange(5)[:, None] - mask.begin - torch.arange(BLOCK)[None, :]
        hidden = (back < 0) | (back >= (window or BLOCK**2))
        assert torch.equal(mask.added.isinf(), hidden.repeat_interleave(2, dim=0))
        assert not mask.added[~mask.added.isinf()].any()
    whole = [mask.added for mask in masks if not mask.added.any()]
    assert all(added is whole[0] for added in whole)  # a long context costs no masks
    assert window is not None or len(masks) - len(whole) <= 2
