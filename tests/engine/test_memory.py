"""Memory of caches and weights: taken when written, given back whole."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

from engine.cache import KVCache, PagePool
from engine.errors import DraftscopeError
from engine.memory import address_of, open_memory, zeros

STATUS = Path("/proc/self/status")
LARGE = 1 << 27  # bytes: more than what else comes and goes in a test


def resident() -> int:
    """Bytes of this process in main memory; 0 where the system does not say."""
    if not STATUS.exists():
        return 0
    (line,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


def test_zeros_are_ordinary_zeros_of_every_type() -> None:
    with torch.inference_mode():
        made = [zeros((3, 5), dtype, "cpu") for dtype in (torch.float64, torch.bfloat16)]
        made.append(zeros((0, 5), torch.float32, "cpu"))
    for tensor in made:
        assert not tensor.is_inference()
        assert not tensor.any()
        tensor += 1
        assert bool((tensor == 1).all())


def test_a_store_takes_memory_only_where_it_is_written() -> None:
    before = resident()
    pool = PagePool(4, 2, 64, pages=LARGE // (4 * 2 * 64 * 4 * 2 * 16))
    assert resident() - before < LARGE / 8
    cache = KVCache(pool)
    cache.reserve(16)
    cache.write(0, torch.ones(2, 16, 64), torch.ones(2, 16, 64))
    assert resident() - before < LARGE / 8


def test_a_store_that_grew_leaves_nothing_of_the_old_one() -> None:
    pool = PagePool(4, 2, 64, pages=LARGE // (4 * 2 * 64 * 4 * 2 * 16))
    for store in (*pool.keys, *pool.values):
        store.fill_(2.0)
    old = [store.data_ptr() for store in pool.keys]
    kept = pool.keys[3][1, 5].clone()
    gc.collect()
    before = resident()
    cache = KVCache(pool)
    cache.reserve(16 * pool.pages + 1)
    assert pool.generation == 2
    assert {store.data_ptr() for store in pool.keys}.isdisjoint(old)
    assert torch.equal(pool.keys[3][1, 5], kept)
    assert resident() - before < LARGE / 8


def test_healing_writes_only_where_numbers_are_broken() -> None:
    pool = PagePool(4, 2, 64, pages=LARGE // (4 * 2 * 64 * 4 * 2 * 16))
    pool.values[2][1, 3, 0] = float("nan")
    before = resident()
    pool.heal()
    assert not pool.values[2].any()
    assert resident() - before < 3 * LARGE / 4


@pytest.mark.parametrize("size", [1 << 60, 1 << 70])
def test_too_much_is_a_sentence_and_the_store_stays(size: int) -> None:
    with pytest.raises(MemoryError):
        open_memory(size)
    pool = PagePool(1, 1, 8)
    stores, generation = list(pool.keys), pool.generation
    with pytest.raises(DraftscopeError, match="not enough memory for a cache of"):
        KVCache(pool).reserve(size)
    assert pool.generation == generation
    assert all(one is other for one, other in zip(pool.keys, stores, strict=True))


def test_memory_begins_where_it_says() -> None:
    memory = open_memory(4096)
    memory[0:4] = b"abcd"
    import ctypes

    assert ctypes.string_at(address_of(memory), 4) == b"abcd"
