"""When each panel takes in what is new: the text with each picture, the others as eyes can follow.

Knows that views can be refreshed, whether they are seen, and that one which fails is no reason for
the others to stand still. Knows nothing of what they show.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QPoint, QRect

from app.throttle import Throttle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget


class View(Protocol):
    """A widget that follows a document."""

    def refresh(self) -> None:
        """Show what has changed since the last call."""

    def isVisible(self) -> bool:
        """As of any widget."""

    def window(self) -> QWidget:
        """As of any widget."""

    def rect(self) -> QRect:
        """As of any widget."""

    def mapTo(self, parent: QWidget, pos: QPoint) -> QPoint:
        """As of any widget."""


# What changes faster cannot be read, and painting takes the engine's time.
PANEL_MS = 450
STEPPED_MS = 120  # of figures, where a viewer moves the picture
LAG_MS = 35  # between two panels, so that no turn of the thread paints them all


class Refreshing:
    """Refreshes panels, seen ones alone, each at its own rate.

    A fault of one of them goes where uncaught ones go, once until another document is shown: panels
    that fail as one, or with each picture, say so one time.

    Parameters
    ----------
    text
        Refreshed with every picture.
    lively
        Panels with a cursor: with every picture while a viewer steps, scrubs or slows it, twice
        a second while rounds are shown as they come.
    calm
        Panels of figures and curves: twice a second as rounds come, else eight times.
    """

    def __init__(self, text: View, lively: Sequence[View], calm: Sequence[View]) -> None:
        self._text = text
        self._said: set[str] = set()  # faults of the document on show
        self._all = (text, *lively, *calm)
        self._throttles = {
            view: Throttle(partial(self._refresh_seen, view), PANEL_MS, at * LAG_MS)
            for at, view in enumerate((*lively, *calm))
        }
        self._lively = frozenset(lively)

    def follow(self, *, live: bool) -> None:
        """Take in a new picture; `live`: rounds are shown as they come."""
        self._refresh_seen(self._text)
        for view, throttle in self._throttles.items():
            if view in self._lively and not live:
                throttle.act()
                continue
            if view not in self._lively:
                throttle.interval_ms = PANEL_MS if live else STEPPED_MS
            throttle.ask()

    def catch_up(self, view: View, seen: bool) -> None:
        """Refresh a panel that has just come to be seen."""
        if seen:
            self._refresh(view)

    def refresh_all(self) -> None:
        """Let no panel paint what it kept of a document that is gone, seen or not."""
        self._said.clear()
        for view in self._all:
            self._refresh(view)

    def stop(self) -> None:
        """Refresh no more."""
        for throttle in self._throttles.values():
            throttle.stop()

    def _refresh_seen(self, view: View) -> None:
        if is_seen(view):
            self._refresh(view)

    def _refresh(self, view: View) -> None:
        """Refresh a view whatever comes of it."""
        try:
            view.refresh()
        except Exception as fault:
            said = f"{type(fault).__name__}: {fault}"
            if said not in self._said:
                self._said.add(said)
                sys.excepthook(type(fault), fault, fault.__traceback__)


def is_seen(view: View) -> bool:
    """Whether a view is in its window; for Qt, a dock behind another one's tab is visible."""
    window = view.window()
    box = QRect(view.mapTo(window, QPoint(0, 0)), view.rect().size())
    return view.isVisible() and not window.isMinimized() and box.intersects(window.rect())
