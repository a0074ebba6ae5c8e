"""The dialog of markers: their list at the left, the words of one at the right; it blocks nothing.

Widgets and input only: it says what is to be kept, removed or brought back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.markers import headline, where, with_words
from app.views.fields import describe, field_label
from engine.trace.markers import LONGEST_TITLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.markers import Marker

_EMPTY = "No moment is marked yet. Go to one in the text or the timeline and mark it."


class MarkersDialog(QDialog):
    """Edits the markers of the session on show.

    What is typed is kept when another marker is chosen, with Keep, and when the dialog closes.
    """

    add_requested = Signal()
    kept = Signal(object)  # Marker with its new words
    removed = Signal(object)  # Marker
    undo_requested = Signal()
    go_requested = Signal(object)  # Marker

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Markers")
        self.resize(680, 380)
        self._markers: tuple[Marker, ...] = ()
        self._edited: Marker | None = None
        self._make_fields()
        self._make_buttons()
        self._lay_out()
        for keys, deed in (
            (QKeySequence.StandardKey.Undo, self._undo),
            (QKeySequence.StandardKey.Delete, self._remove),
        ):
            shortcut = QShortcut(QKeySequence(keys), self.list)
            shortcut.setContext(Qt.ShortcutContext.WidgetShortcut)
            shortcut.activated.connect(deed)
        self.show_markers((), "", can_undo=False)

    def _make_fields(self) -> None:
        self.list = QListWidget()
        describe(self.list, "Markers", "Moments of this session, in order. Return goes to one.")
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.currentRowChanged.connect(self._choose)
        self.list.itemActivated.connect(self._go)
        self.place = QLabel()
        self.place.setObjectName("hint")
        self.place.setTextFormat(Qt.TextFormat.PlainText)
        self.place.setWordWrap(True)
        self.title = QLineEdit()
        describe(self.title, "Title", "One line: on flags, captions and slides.")
        self.title.setMaxLength(LONGEST_TITLE)
        self.title.returnPressed.connect(self.keep)
        self.note = QPlainTextEdit()
        describe(self.note, "Note", "What is to be said there: captions and slides show it.")
        self.note.setTabChangesFocus(True)
        self.pause = QCheckBox("Replays &pause here")
        describe(self.pause, "Replays pause here", "Playing holds at this moment until Play.")

    def _make_buttons(self) -> None:
        self.add = QPushButton("Mark this moment")
        self.go = QPushButton("Go there")
        self.remove = QPushButton("Remove")
        self.undo = QPushButton("Bring back")
        self.keep_ = QPushButton("Keep")
        self.keep_.setProperty("primary", True)
        self.close_ = QPushButton("Close")
        for button, help_text, deed in (
            (self.add, "Add a marker where the picture stands.", self._add),
            (self.go, "Show the marked moment.", self._go),
            (self.remove, "Take the marker away (Delete); it can be brought back.", self._remove),
            (self.undo, "Bring the marker back that was removed last (Ctrl+Z).", self._undo),
            (self.keep_, "Write the words into the session.", self.keep),
            (self.close_, "Keep the words and close.", self.close),
        ):
            describe(button, button.text(), help_text)
            button.setAutoDefault(False)
            button.clicked.connect(deed)

    def _lay_out(self) -> None:
        left, right = QVBoxLayout(), QVBoxLayout()
        left.setSpacing(8)
        left.addWidget(self.list, 1)
        left.addWidget(self.add)
        right.setSpacing(6)
        right.addWidget(self.place)
        right.addWidget(field_label("&Title", self.title))
        right.addWidget(self.title)
        right.addWidget(field_label("&Note", self.note))
        right.addWidget(self.note, 1)
        right.addWidget(self.pause)
        columns = QHBoxLayout()
        columns.setSpacing(16)
        columns.addLayout(left, 2)
        columns.addLayout(right, 3)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.remove, self.undo, self.go):
            buttons.addWidget(button)
        buttons.addStretch(1)
        for button in (self.keep_, self.close_):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(columns, 1)
        layout.addLayout(buttons)

    def show_markers(self, markers: Sequence[Marker], chosen: str, *, can_undo: bool) -> None:
        """List markers and open the one of an id, unless its words are being typed."""
        ids = [marker.id for marker in markers]
        same = ids == [marker.id for marker in self._markers]
        self._markers = tuple(markers)
        blocker = QSignalBlocker(self.list)
        if not same:
            self.list.clear()
            self.list.addItems([""] * len(ids))
        for row, marker in enumerate(markers):
            self.list.item(row).setText(f"{headline(marker)}\n{where(marker)}")
        self.list.setCurrentRow(ids.index(chosen) if chosen in ids else -1)
        blocker.unblock()
        self.undo.setEnabled(can_undo)
        if self._edited is None or self._edited.id != chosen or chosen not in ids:
            self._open(markers[ids.index(chosen)] if chosen in ids else None)
        elif self._edited is not None:
            self._edited = markers[ids.index(chosen)]

    @property
    def chosen(self) -> Marker | None:
        """The marker whose words stand at the right."""
        return self._edited

    def _open(self, marker: Marker | None) -> None:
        self._edited = marker
        self.place.setText(_EMPTY if marker is None and not self._markers else "")
        if marker is not None:
            self.place.setText(where(marker).capitalize())
        self.place.setVisible(bool(self.place.text()))
        self.title.setText(marker.title if marker is not None else "")
        self.note.setPlainText(marker.note if marker is not None else "")
        self.pause.setChecked(marker is None or marker.pause)
        widgets = (self.title, self.note, self.pause, self.go, self.remove, self.keep_)
        for widget in widgets:
            widget.setEnabled(marker is not None)

    def typed(self) -> Marker | None:
        """Return the marker with what was typed and not kept yet, or None if nothing was."""
        if self._edited is None:
            return None
        pause = self.pause.isChecked()
        changed = with_words(self._edited, self.title.text(), self.note.toPlainText(), pause=pause)
        return changed if changed != self._edited else None

    def keep(self) -> None:
        """Say the marker's words if they were changed."""
        changed = self.typed()
        if changed is not None:
            self._edited = changed
            self.kept.emit(changed)

    def begin_words(self) -> None:
        """Let the title be typed."""
        self.title.setFocus()
        self.title.selectAll()

    def done(self, result: int) -> None:
        """Keep what was typed, then close."""
        self.keep()
        super().done(result)

    def _choose(self, row: int) -> None:
        marker = self._markers[row] if 0 <= row < len(self._markers) else None
        self.keep()  # whoever takes the words lists the markers again
        blocker = QSignalBlocker(self.list)
        self.list.setCurrentRow(row)
        blocker.unblock()
        self._open(marker)
        if marker is not None:
            self.go_requested.emit(marker)

    def _add(self) -> None:
        self.keep()
        self.add_requested.emit()

    def _go(self) -> None:
        if self._edited is not None:
            self.go_requested.emit(self._edited)

    def _remove(self) -> None:
        marker, self._edited = self._edited, None
        if marker is not None:
            self.removed.emit(marker)

    def _undo(self) -> None:
        self.undo_requested.emit()
