"""What one rendering of a template may use: steps, time, and the size of what it makes. No Jinja.

Sizes are characters and items together; nothing is computed here, only counted.
"""

from __future__ import annotations

import time
from collections.abc import ItemsView, KeysView, Set, ValuesView
from typing import Any

MOST_STEPS = 1_000_000  # loop turns and calls
MOST_SECONDS = 5.0  # a guard: within the steps, each step is small
MOST_TEXT = 1_000_000  # in one value, and of the output beyond its input
MADE_IN_ALL = 32  # times as much, of all values and texts that are made

_CONTAINERS = (list, tuple, KeysView, ValuesView, ItemsView, Set)


class BoundExceeded(Exception):
    """The template asked for more than it may have."""


def inside(value: Any) -> tuple[int, list[Any]]:
    """Return a value's own size without what it contains, and that."""
    if isinstance(value, str | bytes | range):
        return len(value), []
    if isinstance(value, dict):
        return len(value), [*value, *value.values()]
    if isinstance(value, _CONTAINERS):
        return len(value), list(value)
    if isinstance(value, int):
        return value.bit_length() // 8, []
    if type(value).__name__ == "Namespace":  # what a template puts into one is hidden
        kept = object.__getattribute__(value, "__dict__").get("_Namespace__attrs", {})
        return len(kept), list(kept.values())
    return 0, []


class Budget:
    """What one rendering may still use."""

    def __init__(self, text: int = MOST_TEXT) -> None:
        self.text = text
        self._left = MADE_IN_ALL * text
        self._steps = MOST_STEPS
        self._deadline = time.monotonic() + MOST_SECONDS

    def step(self) -> None:
        """Count one turn of a loop, or one call."""
        self._steps -= 1
        if self._steps < 0 or time.monotonic() > self._deadline:
            raise BoundExceeded("it does not come to an end")

    def afford(self, length: int) -> None:
        """Refuse a length that is more than may be."""
        if length > self.text:
            raise BoundExceeded("it makes too much text")

    def measure(self, *values: Any) -> int:
        """Return how large values are all together; refuse more than may be."""
        total = 0
        waiting = [*values]
        while waiting:
            value = waiting.pop()
            own, within = inside(value)
            total += 1 + own
            self.afford(total)
            waiting.extend(within)
        return total

    def make(self, value: Any) -> None:
        """Count a value that was made: many values of a size that each may have are too much."""
        self._left -= self.measure(value)
        if self._left < 0:
            raise BoundExceeded("it makes too much text")
