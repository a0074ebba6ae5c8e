"""The dialog of a session's own title and note. Widgets and input only."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.views.fields import describe, field_label
from engine.trace.markers import LONGEST_NOTE, LONGEST_TITLE


class SessionNoteDialog(QDialog):
    """Asks what a session is called and what is to be said of it."""

    kept = Signal(str, str)  # title, note

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Name this session")
        self.resize(460, 260)
        self.title = QLineEdit()
        self.title.setMaxLength(LONGEST_TITLE)
        describe(self.title, "Title", "What the session is called: exports begin with it.")
        self.note = QPlainTextEdit()
        self.note.setTabChangesFocus(True)
        describe(self.note, "Note", "What is to be said of all of it.")
        keep, cancel = QPushButton("Keep"), QPushButton("Cancel")
        keep.setProperty("primary", True)
        keep.setDefault(True)
        cancel.setAutoDefault(False)
        keep.clicked.connect(self.accept)
        cancel.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        buttons.addWidget(keep)
        buttons.addWidget(cancel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(6)
        layout.addWidget(field_label("&Title", self.title))
        layout.addWidget(self.title)
        layout.addWidget(field_label("&Note", self.note))
        layout.addWidget(self.note, 1)
        layout.addSpacing(6)
        layout.addLayout(buttons)

    def open_with(self, title: str, note: str) -> None:
        """Show what holds now, to be changed."""
        self._before = (title, note)
        self.title.setText(title)
        self.note.setPlainText(note)
        self.title.setFocus()
        self.title.selectAll()
        self.show()

    def accept(self) -> None:
        """Say what was typed, if it is new, and close."""
        title = " ".join(self.title.text().split())
        note = self.note.toPlainText().strip()[:LONGEST_NOTE]
        if (title, note) != self._before:
            self.kept.emit(title, note)
        super().accept()
