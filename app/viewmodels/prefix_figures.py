"""Figures over the first events of a run, while the end of what is shown moves to and fro.

Knows that statistics take events one at a time and can be copied. Knows no round and no clock.
"""

from __future__ import annotations

from bisect import bisect_right
from copy import deepcopy
from itertools import islice
from typing import TYPE_CHECKING

from engine.trace.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import Event
    from engine.trace.statistics import Figures

KEPT_EVERY = 2048  # events between two copies that are kept for the next way back


class PrefixFigures:
    """Statistics of a growing prefix.

    Going forward costs the new events alone. Going back starts from the last copy before the
    wanted end; copies are made on the way back only, so a run that is merely followed pays nothing.
    """

    def __init__(self) -> None:
        self._statistics = Statistics()
        self._end = 0
        self._kept: list[tuple[int, Statistics]] = [(0, Statistics())]
        self._always: list[Event] = []

    def always(self, event: Event) -> None:
        """Count this event, which has just arrived, over every prefix and not only from its place.

        For what does not belong to a place in the run: the plain run of the same prompt.
        """
        self._always.append(event)
        for statistics in (self._statistics, *(copy for _, copy in self._kept)):
            statistics.add(event)

    def at(self, events: Sequence[Event], end: int) -> Figures:
        """Return the figures over `events[:end]`."""
        back = end < self._end
        if back:
            found = bisect_right(self._kept, end, key=lambda kept: kept[0]) - 1
            self._end = self._kept[found][0]
            self._statistics = deepcopy(self._kept[found][1])
        for event in islice(events, self._end, end):
            if all(event is not counted for counted in self._always):
                self._statistics.add(event)
            self._end += 1
            if back and self._end % KEPT_EVERY == 0 and self._end > self._kept[-1][0]:
                self._kept.append((self._end, deepcopy(self._statistics)))
        return self._statistics.figures()
