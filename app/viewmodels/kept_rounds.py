"""All rounds of a document, of which few are held as objects: the others are read back when asked.

Knows where a round's line stands. Knows neither columns nor what a round means.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import OrderedDict
from typing import TYPE_CHECKING

import numpy as np

from app.viewmodels.columns import Growing
from app.viewmodels.kept import Kept
from app.viewmodels.portion import line_places
from engine.errors import DraftscopeError
from engine.trace.events import Event, Round
from engine.trace.lines import TraceLines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

READ_BACK = 256  # rounds read from the file that are held
HELD = 1024  # newest rounds of a running session that are held in any case


class KeptRounds(Kept[Round]):
    """The rounds of one run, in order.

    Rounds that were handed over as objects are held until there is a file that has them, then only
    the newest are. Whatever is not held is decoded from the file when it is asked for.

    Attributes
    ----------
    run
        The run id, or None before the run started: a line of another run is none of these.
    read
        Rounds decoded from the file so far: tests count this work.
    """

    def __init__(self) -> None:
        self.run: str | None = None
        self.read = 0
        self._places = Growing(1, np.uint32)  # of each round among the events
        self._file: Path | None = None
        self._lines: TraceLines | None = None  # of the file, once they are needed
        self._starts = Growing(1, np.uint64)
        self._sizes = Growing(1, np.uint32)
        self._held: list[Round] = []  # the last ones
        self._enough = 2 * HELD  # of them, before some are let go
        self._recent: OrderedDict[int, Round] = OrderedDict()

    @property
    def held(self) -> int:
        """How many rounds there are as objects."""
        return len(self._held) + len(self._recent)

    @property
    def places(self) -> Growing:
        """Where each round stands among the run's events."""
        return self._places

    def set_file(self, path: Path) -> None:
        """Read from this file, which has the run's events and no other, what is not held."""
        self._file = path

    def hold(self, rounds: Sequence[Round], places: Sequence[int]) -> None:
        """Append rounds as objects, with their places among the events."""
        self._held += rounds
        self._places.append(np.array(places, np.uint32))
        if self._file is not None and len(self._held) >= self._enough:
            self._enough = len(self._held) + HELD  # if the file lags behind, try later
            try:
                self._let_go(self._open(self._file), len(self._held) - HELD)
            except DraftscopeError:
                self._file = None  # what cannot be read back is held

    def note(self, path: Path, lines: bytes, places: Sequence[int]) -> None:
        """Append rounds that stand in a file, the same one each time.

        Raises
        ------
        DraftscopeError
            If it cannot be opened any more.
        """
        self._open(path)
        starts, sizes = zip(*line_places(lines), strict=True) if lines else ((), ())
        self._starts.append(np.array(starts, np.uint64))
        self._sizes.append(np.array(sizes, np.uint32))
        self._places.append(np.array(places, np.uint32))

    def _open(self, path: Path) -> TraceLines:
        if self._lines is None:
            self._lines = TraceLines(path)
        return self._lines

    def _let_go(self, lines: TraceLines, count: int) -> None:
        """Forget the oldest rounds that are held, once the file has each of them."""
        first = len(self._starts)
        found = [lines.find(first + i) for i in range(count)]
        known = [place for place in found if place is not None]
        if len(known) == count:
            self._starts.append(np.array([start for start, _ in known], np.uint64))
            self._sizes.append(np.array([size for _, size in known], np.uint32))
            del self._held[:count]
            self._enough = 2 * HELD

    def __len__(self) -> int:
        return len(self._places)

    def _one(self, index: int) -> Round:
        in_file = len(self._starts)
        if index >= in_file:
            return self._held[index - in_file]
        found = self._recent.get(index)
        if found is None:
            found = self._read(index)
            self._recent[index] = found
            if len(self._recent) > READ_BACK:
                self._recent.popitem(last=False)
        return found

    def _read(self, index: int) -> Round:
        assert self._lines is not None  # what stands in a file came with it
        self.read += 1
        start, size = int(self._starts.column()[index]), int(self._sizes.column()[index])
        event = self._lines.read(start, size)
        if not isinstance(event, Round) or (event.run, event.index) != (self.run, index):
            raise self._lines.changed()
        return event


class KeptEvents(Kept[Event]):
    """All events of one run in order: the kept rounds, and the few others among them."""

    def __init__(self, rounds: KeptRounds) -> None:
        self._rounds = rounds
        self._others: list[Event] = []
        self._places: list[int] = []

    def add(self, place: int, event: Event) -> None:
        """Append an event that is no round."""
        self._places.append(place)
        self._others.append(event)

    def __len__(self) -> int:
        return len(self._rounds) + len(self._others)

    def _one(self, place: int) -> Event:
        found = bisect_left(self._places, place)
        if found < len(self._places) and self._places[found] == place:
            return self._others[found]
        return self._rounds[place - found]
