"""The recorded sessions that come with Draftscope: which there are, and when they are offered.

Knows their folder and when nothing else is on show. Reads no session itself: the files' thread
tells each, once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.assets import asset_path
from app.messages import SessionSummarised, SummariseSessions
from app.viewmodels.strip import EMPTY_NOTICE
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.desk import Desk
    from app.messages import Reply
    from app.views.text import TextView


def recorded_sessions() -> list[Path]:
    """Return the recorded sessions, in order; none if the installation lacks them."""
    try:
        return sorted(asset_path("demos").glob("*.jsonl*"))
    except DraftscopeError:
        return []


class Gallery(QObject):
    """Shows the cards while there is no text, or when they are asked for."""

    chosen = Signal(object)  # Path

    def __init__(self, text: TextView, desk: Desk) -> None:
        super().__init__()
        self._text, self._desk = text, desk
        self._asked = self._told = self._begun = False
        text.gallery.chosen.connect(self._choose)
        text.gallery.left.connect(self.leave)
        desk.state_changed.connect(self.follow)
        desk.cleared.connect(self.leave)
        desk.replied.connect(self._take)

    def begin(self) -> None:
        """Show cards from now on: the window is there, and what it opens is on its way."""
        self._begun = True
        self.follow()

    def ask(self) -> None:
        """Show the cards in place of what is on show, which goes on behind them."""
        self._asked = True
        self.follow()
        self._text.gallery.take_focus()

    def leave(self) -> None:
        """Show the text again, if there is one."""
        self._asked = False
        self.follow()

    def follow(self) -> None:
        """Show the cards or the text, as the desk's state asks."""
        state = self._desk.state
        nothing = not (state.has_events or state.busy or state.opening)
        shown = self._begun and bool(recorded_sessions()) and (nothing or self._asked)
        if shown and not self._told:
            self._told = True
            self._desk.send(SummariseSessions(paths=tuple(recorded_sessions())))
        self._text.gallery.say(EMPTY_NOTICE if nothing else "", back=not nothing)
        self._text.show_gallery(shown=shown)

    def _choose(self, path: Path) -> None:
        self._asked = False
        self.chosen.emit(path)

    def _take(self, reply: Reply) -> None:
        if isinstance(reply, SessionSummarised):
            self._text.gallery.add(reply.path, reply.summary)
