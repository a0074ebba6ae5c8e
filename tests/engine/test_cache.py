"""The cache as a state machine, against a plain list of rows."""

from __future__ import annotations

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine.cache import BLOCK, PAGE_SIZE, KVCache, PagePool

LAYERS, KV_HEADS, HEAD_DIM = 2, 2, 4


def rows(first: int, count: int) -> torch.Tensor:
    """Rows that are all different; [KV_HEADS, count, HEAD_DIM]."""
    numbers = torch.arange(first, first + count, dtype=torch.float32)[None, :, None]
    return numbers + torch.arange(KV_HEADS)[:, None, None] / 8 + torch.zeros(1, 1, HEAD_DIM)


class CacheMachine(RuleBasedStateMachine):
    """Two sequences share one small pool and must never see each other's rows."""

    @initialize()
    def start(self) -> None:
        self.pool = PagePool(LAYERS, KV_HEADS, HEAD_DIM, pages=4)
        self.caches = [KVCache(self.pool), KVCache(self.pool)]
        self.models: list[list[float]] = [[], []]
        self.next = 0

    @rule(which=st.integers(0, 1), count=st.integers(1, 70), padding=st.integers(0, 20))
    def append(self, which: int, count: int, padding: int) -> None:
        cache = self.caches[which]
        cache.reserve(count + padding)
        new = rows(self.next, count + padding)
        for layer in range(LAYERS):
            cache.write(layer, new + 0.5 * layer, -new)
        cache.append(count)
        self.models[which] += [float(self.next + i) for i in range(count)]
        self.next += count + padding

    @rule(which=st.integers(0, 1), share=st.floats(0, 1))
    def truncate(self, which: int, share: float) -> None:
        length = int(share * len(self.models[which]))
        self.caches[which].truncate(length)
        del self.models[which][length:]
        assert self.caches[which].pages == -(-length // PAGE_SIZE)

    @rule(which=st.integers(0, 1))
    def close(self, which: int) -> None:
        self.caches[which].close()
        self.caches[which] = KVCache(self.pool)
        self.models[which] = []

    @invariant()
    def rows_are_what_was_appended(self) -> None:
        for cache, model in zip(self.caches, self.models, strict=True):
            assert cache.length == len(model)
            expected = torch.tensor(model)
            for layer in range(LAYERS):
                keys, values = cache.view(layer, 0, len(model))
                assert torch.equal(keys[0, :, 0], expected + 0.5 * layer)
                assert torch.equal(values[0, :, 0], -expected)

    @invariant()
    def rows_past_the_end_are_finite_and_readable(self) -> None:
        for cache in self.caches:
            begin = cache.length // BLOCK * BLOCK
            keys, _ = cache.view(0, begin, begin + BLOCK)
            if cache.pages:
                assert keys.shape[1] == BLOCK
                assert bool(torch.isfinite(keys).all())

    @invariant()
    def every_page_is_held_once(self) -> None:
        held = sum(cache.pages for cache in self.caches)
        assert held == self.pool.pages_held <= self.pool.pages


TestCacheStateMachine = CacheMachine.TestCase
TestCacheStateMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)


def test_a_truncation_gives_whole_pages_back() -> None:
    cache = KVCache(PagePool(1, 1, 4))
    cache.append(PAGE_SIZE + 1)
    assert cache.pages == 2
    cache.truncate(PAGE_SIZE)
    assert cache.pages == 1
    cache.truncate(0)
    assert cache.pages == 0


def test_a_blocked_sequence_moves_once_to_a_larger_run() -> None:
    pool = PagePool(1, 1, 4, pages=16)
    first, second = KVCache(pool), KVCache(pool)
    first.append(PAGE_SIZE)
    second.append(PAGE_SIZE)
    moves = 0
    start = first.view(0, 0, 1)[0].data_ptr()
    for _ in range(4 * PAGE_SIZE):
        first.append(1)
        now = first.view(0, 0, 1)[0].data_ptr()
        moves += now != start
        start = now
    assert moves <= 1


def test_a_text_grows_in_a_store_of_its_own_without_moving_or_waste(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    grown: list[int] = []
    moved: list[int] = []
    grow, move = PagePool._grow, PagePool._move
    pool = PagePool(1, KV_HEADS, HEAD_DIM, pages=4)
    monkeypatch.setattr(PagePool, "_grow", lambda self, n: (grown.append(n), grow(self, n))[1])
    monkeypatch.setattr(
        PagePool, "_move", lambda self, a, b: (moved.append(len(a)), move(self, a, b))[1]
    )
    cache = KVCache(pool)
    for page in range(40):
        cache.reserve(PAGE_SIZE)
        new = rows(page * PAGE_SIZE, PAGE_SIZE)
        cache.write(0, new, new)
        cache.append(PAGE_SIZE)
    assert torch.equal(cache.view(0, 0, cache.length)[0], rows(0, 40 * PAGE_SIZE))
    assert len(grown) == 4  # 8, 16, 32, 64: each growth copies, so there are few
    assert not any(moved)
    assert pool.pages <= 2 * cache.pages


def test_a_move_takes_every_row_of_full_pages_along() -> None:
    pool = PagePool(1, KV_HEADS, HEAD_DIM, pages=8)
    first, second = KVCache(pool), KVCache(pool)
    for count in (2 * PAGE_SIZE, 3 * PAGE_SIZE):
        first.reserve(count)
        first.write(0, rows(first.length, count), rows(first.length, count))
        first.append(count)
        second.reserve(5)
        second.write(0, rows(-5, 5), rows(-5, 5))
        second.append(5)
    assert torch.equal(first.view(0, 0, first.length)[0], rows(0, 5 * PAGE_SIZE))


def test_a_store_that_grew_in_inference_mode_is_written_outside_of_it() -> None:
    cache = KVCache(PagePool(1, KV_HEADS, HEAD_DIM, pages=1))
    with torch.inference_mode():
        cache.append(4 * PAGE_SIZE)
    cache.reserve(2)
    cache.write(0, rows(0, 2), rows(0, 2))
    cache.append(2)
    assert torch.equal(cache.view(0, 4 * PAGE_SIZE, cache.length)[0], rows(0, 2))


@pytest.mark.parametrize("length", [-1, 6])
def test_a_truncation_beyond_the_length_is_refused(length: int) -> None:
    cache = KVCache(PagePool(1, 1, 4))
    cache.append(5)
    with pytest.raises(ValueError, match="cannot truncate"):
        cache.truncate(length)


def test_a_store_says_that_it_grows_before_it_does() -> None:
    pool, told = PagePool(1, 1, 4, pages=1), []
    pool.before_growth.append(lambda of: told.append((of is pool, of.pages, of.generation)))
    cache = KVCache(pool)
    cache.append(PAGE_SIZE)
    grown = [(True, 1, 1)] * (pool.pages > 1)
    cache.append(50 * PAGE_SIZE)
    assert told[: len(grown)] == grown
    assert len(told) == pool.generation - 1
    assert all(pages < pool.pages for _, pages, _ in told)
