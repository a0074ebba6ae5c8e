"""Where worker threads leave what they have for the window: a list behind a lock. Knows no Qt.

Nothing is ever dropped here; the window drains everything at once and paints once.
"""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """Items in the order in which they were put, from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._items: list[T] = []

    def put(self, item: T) -> bool:
        """Add an item; return whether the inbox was empty, so that the reader must be woken."""
        with self._lock:
            self._items.append(item)
            return len(self._items) == 1

    def drain(self) -> list[T]:
        """Take everything out."""
        with self._lock:
            items, self._items = self._items, []
        return items

    def __len__(self) -> int:
        with self._lock:
            return len(self._items)
