"""The key and value cache: pages from a pool, consecutive, so that attention reads one view.

Knows shapes and lengths; no model, no attention, no rule. Positions past `length` may hold rows of
rejected or padded tokens: they are always finite, always masked and written over before use. `heal`
makes that true again after a pass that gave no numbers.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import torch

from engine.errors import DraftscopeError
from engine.memory import zeros

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

PAGE_SIZE = 16  # positions a page
BLOCK = 256  # positions that attention reads at once; the store ends in so many spare ones


class PagePool:
    """One store of keys and values that several sequences share.

    `keys[layer]` and `values[layer]` are [kv_heads, positions, head_dim]. A sequence holds one
    run of consecutive pages. When its run cannot grow in place it moves once to a larger one.
    `generation` counts how often the store itself has moved. `before_growth` is for whoever keeps
    views of the store: each is called with the pool before memory for a larger one is taken, so
    that the old store can go.
    """

    def __init__(
        self,
        layers: int,
        kv_heads: int,
        head_dim: int,
        *,
        pages: int = 64,
        dtype: torch.dtype = torch.float32,
        device: torch.device | str = "cpu",
    ) -> None:
        self._shape = (layers, kv_heads, head_dim)
        self._dtype = dtype
        self._device = device
        self._owners: dict[int, range] = {}
        self._names = itertools.count()
        self._pages = 0
        self.generation = 0
        self.before_growth: list[Callable[[PagePool], None]] = []
        self.keys: list[Tensor] = []
        self.values: list[Tensor] = []
        self._grow(pages)

    @property
    def pages(self) -> int:
        """Pages in the store, held or free."""
        return self._pages

    @property
    def pages_held(self) -> int:
        """Pages that sequences hold."""
        return sum(len(run) for run in self._owners.values())

    def open(self) -> int:
        """Register a sequence without pages; return its name."""
        name = next(self._names)
        self._owners[name] = range(0)
        return name

    def close(self, name: int) -> None:
        """Give back everything that the sequence holds."""
        self._owners.pop(name, None)

    def run(self, name: int) -> range:
        """Return the pages that the sequence holds."""
        return self._owners[name]

    def resize(self, name: int, pages: int) -> None:
        """Make the sequence's run `pages` long: in place if it can be, else by moving it once."""
        run = self._owners[name]
        if pages <= len(run):
            self._owners[name] = run[:pages]
            return
        wanted = range(run.start, run.start + pages)
        if len(run) and self._is_free(wanted, but=name):
            if wanted.stop > self._pages:  # the last in the store: it grows, and nothing moves
                self._grow(max(2 * self._pages, wanted.stop))
            self._owners[name] = wanted
            return
        target = self._find(2 * pages)[:pages]  # room to grow before the next move
        self._move(run, target)
        self._owners[name] = target

    def heal(self) -> None:
        """Put zeros where the store holds no finite numbers.

        Even a masked row would spoil a sum: 0 times NaN is NaN. So one text's fault would be the
        fault of every later text whose blocks reach over the same pages.
        """
        for store in (*self.keys, *self.values):
            if not bool(store.isfinite().all()):  # to write is to take memory
                store.nan_to_num_(nan=0.0, posinf=0.0, neginf=0.0)

    def _is_free(self, run: range, *, but: int) -> bool:
        others = (held for owner, held in self._owners.items() if owner != but)
        return all(held.stop <= run.start or run.stop <= held.start for held in others if held)

    def _find(self, pages: int) -> range:
        """Return a run of pages that nobody holds; grow the store if need be."""
        held = sorted((run.start, run.stop) for run in self._owners.values() if run)
        start = 0
        for begin, end in held:
            if begin - start >= pages:
                return range(start, start + pages)
            start = max(start, end)
        if self._pages - start < pages:
            self._grow(max(2 * self._pages, start + pages))
        return range(start, start + pages)

    def _grow(self, pages: int) -> None:
        layers, kv_heads, head_dim = self._shape
        shape = (kv_heads, pages * PAGE_SIZE + BLOCK, head_dim)
        for let_go in self.before_growth:
            let_go(self)
        try:
            # zeros, never garbage: a masked position must not turn a sum into NaN
            stores = [zeros(shape, self._dtype, self._device) for _ in range(2 * layers)]
        except (RuntimeError, MemoryError) as error:
            raise DraftscopeError(
                f"There is not enough memory for a cache of {pages * PAGE_SIZE} positions; "
                "use a shorter prompt, a smaller limit or a smaller model."
            ) from error
        kept = self._pages * PAGE_SIZE
        grown = stores[:layers], stores[layers:]
        if kept:
            for old, new in zip((self.keys, self.values), grown, strict=True):
                for layer in range(layers):
                    new[layer][:, :kept] = old[layer][:, :kept]
                    old[layer] = new[layer]  # the old one goes at once: never two whole stores
        self.keys, self.values = grown
        self._pages = pages
        self.generation += 1

    def _move(self, source: range, target: range) -> None:
        if not source:
            return
        begin, end = source.start * PAGE_SIZE, source.stop * PAGE_SIZE
        to = target.start * PAGE_SIZE
        for store in (*self.keys, *self.values):
            store[:, to : to + end - begin] = store[:, begin:end].clone()


class KVCache:
    """The cached positions of one sequence."""

    def __init__(self, pool: PagePool) -> None:
        self.pool = pool
        self._name = pool.open()
        self._length = 0

    @property
    def length(self) -> int:
        """Positions whose keys and values are valid."""
        return self._length

    @property
    def pages(self) -> int:
        """Pages held."""
        return len(self.pool.run(self._name))

    def reserve(self, count: int) -> None:
        """Hold pages for `count` positions beyond `length`; rows may then be written there."""
        needed = -(-(self._length + count) // PAGE_SIZE)
        if needed > self.pages:
            self.pool.resize(self._name, needed)

    def write(self, layer: int, keys: Tensor, values: Tensor, ahead: int = 0) -> None:
        """Put rows at positions `length + ahead` and on of one layer, without counting them.

        `keys` and `values` are [kv_heads, n, head_dim]; `reserve(ahead + n)` must have been called.
        """
        start = self.start + self._length + ahead
        self.pool.keys[layer][:, start : start + keys.shape[1]] = keys
        self.pool.values[layer][:, start : start + keys.shape[1]] = values

    def view(self, layer: int, begin: int, end: int) -> tuple[Tensor, Tensor]:
        """Return keys and values of positions [begin, end); each [kv_heads, end - begin, head_dim].

        `end` may reach up to a block past what is held: those rows are finite and to be masked.
        """
        start = self.start
        span = slice(start + begin, start + end)
        return self.pool.keys[layer][:, span], self.pool.values[layer][:, span]

    def append(self, count: int) -> None:
        """Count `count` written rows as valid."""
        self.reserve(count)
        self._length += count

    def truncate(self, length: int) -> None:
        """Drop every position from `length` on and give whole pages back."""
        if not 0 <= length <= self._length:
            raise ValueError(f"cannot truncate a cache of {self._length} positions to {length}")
        self._length = length
        self.pool.resize(self._name, -(-length // PAGE_SIZE))

    def heal(self) -> None:
        """Put zeros where the store, of which this cache holds a part, has no finite numbers."""
        self.pool.heal()

    def close(self) -> None:
        """Give every page back; the cache is not to be used again."""
        self.pool.close(self._name)
        self._length = 0

    @property
    def start(self) -> int:
        """Where in the store its own position 0 lies; it may change when positions are reserved."""
        return self.pool.run(self._name).start * PAGE_SIZE
