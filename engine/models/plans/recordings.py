"""Recorded passes: which there are, which have gone stale, when another is made.

A recording replays on the addresses that it was made on. So each belongs to one shape of pass, one
store and one place in it; it goes before the store grows and when the store dies, as its body would
keep the memory, and the longest unused goes when there are too many. Knows nothing of what a pass
does, and of a recorder only that it may fail.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from engine.errors import short

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    from engine.cache import PagePool

MOST = 64  # kept at once: a width or two for each of the last blocks of a few texts
USES_BEFORE = 2  # as they are, before a shape is recorded: shapes that hardly come back are not


class Recording(Protocol):
    """A body that can be run again without its host's work."""

    @property
    def output(self) -> Tensor:
        """Where each replay leaves its result."""
        ...

    def replay(self) -> None:
        """Run again, on what now lies at the addresses that were recorded."""
        ...


class Recorder(Protocol):
    """Makes recordings; raises a RuntimeError where it can't."""

    def record(self, body: Callable[[], Tensor]) -> Recording:
        """Run a body as often as it takes; the last result need not be computed yet."""
        ...


@dataclass(frozen=True)
class Shape:
    """What a recording is bound to, beside a store."""

    stack: int
    layers: range
    rows: int
    blocks: int  # of context
    start: int  # of the sequence in the store


@dataclass
class _Entry:
    pool: weakref.ref[PagePool]  # whose death takes the entry out
    uses: int = 0
    recording: Recording | None = None
    body: Callable[[], Tensor] | None = None  # keeps alive what was recorded


@dataclass
class Recordings:
    """The recordings of one plan, for all its stacks."""

    recorder: Recorder | None  # None: nothing is recorded any more
    most: int = MOST
    note: str | None = None  # why nothing is recorded any more, in a sentence
    made: int = 0
    replays: int = 0
    _entries: OrderedDict[tuple[Shape, int], _Entry] = field(default_factory=OrderedDict)
    _watched: weakref.WeakSet[PagePool] = field(default_factory=weakref.WeakSet)
    _names: itertools.count[int] = field(default_factory=itertools.count)

    def __len__(self) -> int:
        """Count the shapes that are known, recorded or not."""
        return len(self._entries)

    def new_stack(self) -> int:
        """Return a name that no other stack of the plan has or will have."""
        return next(self._names)

    def due(self, shape: Shape, pool: PagePool) -> bool:
        """Count a use of a shape; return whether it is to be replayed."""
        key = (shape, id(pool))
        entry = self._entries.get(key)
        if entry is None or entry.pool() is not pool:
            entry = self._entries[key] = self._new_entry(key, pool)
            while len(self._entries) > self.most:
                self._entries.popitem(last=False)
        self._entries.move_to_end(key)
        entry.uses += 1
        return self.recorder is not None and entry.uses > USES_BEFORE

    def replay(
        self, shape: Shape, pool: PagePool, make: Callable[[], Callable[[], Tensor]]
    ) -> Tensor | None:
        """Return what a shape that is due gives, recorded first if it was not.

        Parameters
        ----------
        make
            Makes the body; called only to record it.

        Returns
        -------
        Tensor or None
            A copy, since the next replay writes over the result. None if nothing can be recorded.
        """
        entry = self._entries[shape, id(pool)]
        if entry.recording is None:
            entry.body = make()
            entry.recording = self.record(entry.body)
            if entry.recording is None:
                return None
            self.made += 1
        entry.recording.replay()
        self.replays += 1
        return entry.recording.output.clone()

    def record(self, body: Callable[[], Tensor]) -> Recording | None:
        """Record a body; None if that cannot be done, which is said and not tried again."""
        if self.recorder is None:
            return None
        try:
            return self.recorder.record(body)
        except RuntimeError as error:
            self.give_up(short(str(error).partition("\n")[0]))
            return None

    def give_up(self, reason: str) -> None:
        """Record and replay nothing any more; say so once."""
        self.recorder = None
        self._entries.clear()
        self.note = f"Passes run without recorded graphs, which is slower: {reason}"
        warnings.warn(self.note, RuntimeWarning, stacklevel=2)

    def _new_entry(self, key: tuple[Shape, int], pool: PagePool) -> _Entry:
        """Return an entry that goes with the pool's store: before it grows, or when it dies."""
        me = weakref.ref(self)  # a pool may outlive the plan

        def died(store: weakref.ref[PagePool]) -> None:
            own = me()
            entry = None if own is None else own._entries.get(key)
            if own is not None and entry is not None and entry.pool is store:
                del own._entries[key]

        def grows(store: PagePool) -> None:
            own = me()
            if own is not None:
                own._drop(store)

        if pool not in self._watched:
            self._watched.add(pool)
            pool.before_growth.append(grows)
        return _Entry(weakref.ref(pool, died))

    def _drop(self, pool: PagePool) -> None:
        """Drop what was recorded on a store."""
        for key, entry in list(self._entries.items()):
            if entry.pool() is pool:
                self._entries.pop(key, None)
