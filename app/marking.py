"""Markers and the session's name, set in the window and appended to the session on show.

Knows which words go where and what is shown of them. Writes nothing itself: the files' thread does,
one wish after the other, so that what must stay as it is becomes a copy once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from PySide6.QtCore import QObject, Signal

from app.messages import AddToSession, SourceCopied
from app.viewmodels.markers import headline, marker_at, marker_shown, neighbour, new_marker
from app.viewmodels.refs import TokenRef
from engine.trace.markers import SessionNote

if TYPE_CHECKING:
    from pathlib import Path

    from app.desk import Desk
    from app.messages import Job, JobEnded, Reply
    from app.views.caption import CaptionStrip
    from app.views.main_window import MainWindow
    from app.views.markers import MarkersDialog
    from app.views.session_note import SessionNoteDialog
    from app.views.strip import StripView
    from engine.trace.events import Event
    from engine.trace.markers import Marker

_REMOVED = "marker:removed"


class Marking(QObject):
    """Sets, changes and removes markers, and goes from one to the next."""

    changed = Signal()  # the markers that hold

    def __init__(
        self, window: MainWindow, desk: Desk, strip: StripView, caption: CaptionStrip
    ) -> None:
        super().__init__()
        self._window, self._desk, self._strip, self._caption = window, desk, strip, caption
        self._dialog: MarkersDialog | None = None
        self._naming: SessionNoteDialog | None = None
        self._removed: list[Marker] = []  # of the run on show, the last one first to come back
        self._waiting: list[Event] = []  # not yet on their way to the file
        self._job = 0  # that writes
        self._source: Path | None = None  # that it writes to
        self._file: Path | None = None  # of the session on show, when it was looked at last
        self._run: str | None = None
        self._seen: tuple[object, ...] = ()
        self._pinned: TokenRef | None = None  # by a marker
        desk.picture_changed.connect(self.follow)
        desk.cleared.connect(self._forget)
        desk.replied.connect(self._take)
        desk.ended.connect(self._end)
        desk.state_changed.connect(self._send)  # a journal has begun, perhaps
        window.banners.chosen.connect(self._choose)

    # Wishes

    def mark(self) -> None:
        """Mark the moment on show and let its words be typed; a replay holds meanwhile."""
        desk = self._desk
        if not desk.state.running:
            desk.pause()
        cursor = desk.presentation.cursor
        there = marker_at(desk.document.markers, cursor)
        if there is None:
            there = new_marker(desk.document, cursor, self._strip.pinned)
            self._add(there)
        if not desk.state.running:
            self.go_to(there)  # to the end of the phase on show
        self._show_dialog(there.id)
        self.dialog().begin_words()

    def show_list(self) -> None:
        """Show all markers, the one on show chosen."""
        there = marker_at(self._desk.document.markers, self._desk.presentation.cursor)
        self._show_dialog(there.id if there is not None else "")

    def step(self, step: Literal[-1, 1]) -> None:
        """Go to the next marker, or back to the last one."""
        desk = self._desk
        cursor = desk.presentation.cursor
        drafted = self._drafted(cursor.round)
        found = neighbour(desk.document.markers, cursor, drafted, step)
        if found is not None:
            self.go_to(found)

    def go_to(self, marker: Marker) -> None:
        """Show a marked moment, with its token before the court."""
        self._strip.follow()
        self._desk.seek(marker.round, marker.phase)

    def remove(self, marker: Marker) -> None:
        """Take a marker away; a banner offers to bring it back."""
        self._removed.append(marker)
        self._add(msgspec.structs.replace(marker, removed=True))
        self._window.banners.show_banner(
            _REMOVED, "notice", f"“{headline(marker)}” is removed.", (("undo", "Undo"),)
        )

    def bring_back(self) -> None:
        """Set the marker again that was removed last."""
        if self._removed:
            marker = self._removed.pop()
            self._add(marker)
            self._show_markers(marker.id)
        if not self._removed:
            self._window.banners.remove(_REMOVED)

    def name_session(self) -> None:
        """Let the session's title and note be typed."""
        from app.views.session_note import SessionNoteDialog

        if self._naming is None:
            self._naming = SessionNoteDialog(self._window)
            self._naming.kept.connect(self._name)
        note = self._desk.document.session_note
        self._naming.open_with(note.title, note.note)

    def dialog(self) -> MarkersDialog:
        """Return the dialog, made at the first wish."""
        from app.views.markers import MarkersDialog

        if self._dialog is None:
            self._dialog = dialog = MarkersDialog(self._window)
            dialog.add_requested.connect(self.mark)
            dialog.kept.connect(self._add)
            dialog.removed.connect(self.remove)
            dialog.undo_requested.connect(self.bring_back)
            dialog.go_requested.connect(self.go_to)
        return self._dialog

    # What is shown

    def follow(self) -> None:
        """Say what is said of the moment on show; put its token before the court."""
        document, presentation = self._desk.document, self._desk.presentation
        if document.run != self._run:
            self._forget()
            self._run = document.run
        self._file = self._desk.source
        cursor, markers = presentation.cursor, document.markers
        shown = marker_shown(markers, cursor, self._drafted(cursor.round))
        here = marker_at(markers, cursor)
        paused = here is shown is not None and not presentation.playing
        seen = (shown, paused and not presentation.at_end, here, presentation.playing)
        if seen != self._seen:
            self._seen = seen
            self._caption.say(shown, paused=paused and not presentation.at_end)
            self._pin(here if not presentation.playing else None)

    def _pin(self, marker: Marker | None) -> None:
        """Pin a marker's token while the picture holds there; let go only what a marker pinned."""
        ref = None
        if marker is not None and marker.slot is not None:
            ref = TokenRef(marker.round, marker.slot)
        if self._pinned is not None and self._pinned == self._strip.pinned != ref:
            self._strip.unpin()
        self._pinned = ref
        known = ref is not None and self._desk.document.token(ref) is not None
        if ref is not None and known and ref != self._strip.pinned:
            self._strip.pin(ref)

    def _drafted(self, index: int) -> int:
        rounds = len(self._desk.document.rounds)
        return len(self._desk.document.tokens.fates(index)) if 0 <= index < rounds else 0

    def _show_dialog(self, chosen: str) -> None:
        dialog = self.dialog()
        dialog.keep()
        self._show_markers(chosen)
        if dialog.isVisible():  # behind another window, perhaps
            dialog.activateWindow()
        dialog.show()

    def _show_markers(self, chosen: str | None = None) -> None:
        if self._dialog is not None:
            open_one = self._dialog.chosen
            if chosen is None:
                chosen = open_one.id if open_one is not None else ""
            markers = self._desk.document.markers
            self._dialog.show_markers(markers, chosen, can_undo=bool(self._removed))

    def _forget(self) -> None:
        """Another session is on show, or none."""
        self._run = None
        self._removed.clear()
        typed = self._dialog.typed() if self._dialog is not None else None
        left = (*self._waiting, *((typed,) if typed is not None else ()))
        if left and self._file is not None:  # they go where they belong, all the same
            self._desk.send(AddToSession(source=self._file, events=left))
        self._waiting.clear()
        self._file = None
        self._seen, self._pinned = (), None
        self._caption.say(None)
        self._window.banners.remove(_REMOVED)
        for dialog in (self._dialog, self._naming):
            if dialog is not None:
                dialog.blockSignals(True)  # its words belong to what is gone
                dialog.close()
                dialog.blockSignals(False)

    # The file

    def _name(self, title: str, note: str) -> None:
        self._add(SessionNote(run=self._desk.document.run or "", title=title, note=note))

    def _add(self, event: Event) -> None:
        """Let an event be part of what is on show at once, and of its file soon."""
        self._desk.document.extend([event])
        self._waiting.append(event)
        self._send()
        self._show_markers()
        self.follow()
        self.changed.emit()

    def _send(self) -> None:
        source = self._desk.source
        if self._waiting and not self._job and source is not None:
            job = AddToSession(source=source, events=tuple(self._waiting))
            self._job, self._source = job.number, source
            self._waiting.clear()
            self._desk.send(job)

    def _take(self, reply: Reply) -> None:
        if isinstance(reply, SourceCopied) and reply.job == self._job:
            if self._desk.source == self._source:
                self._desk.source = self._file = reply.path
            self._source = reply.path

    def _end(self, job: Job | None, ended: JobEnded) -> None:
        if ended.job != self._job or not isinstance(job, AddToSession):
            return
        self._job = 0
        if ended.error and self._desk.document.run == job.events[0].run:
            self._waiting[:0] = job.events  # with the next marker they are tried again
        else:
            self._send()

    def _choose(self, key: str, name: str) -> None:
        if key == _REMOVED and name == "undo":
            self.bring_back()
