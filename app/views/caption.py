"""What is said of the moment on show: a marker's title and note, in a strip above the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from engine.trace.markers import Marker

PAUSED = "Paused at this marker: Play goes on."


class CaptionStrip(QFrame):
    """Hidden while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("caption")
        self.title = _line("heading")
        self.note = _line("")
        self.hint = _line("hint")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 14, 8)
        layout.setSpacing(2)
        for line in (self.title, self.note, self.hint):
            layout.addWidget(line)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.setAccessibleName("Caption")
        self.hide()

    def say(self, marker: Marker | None, *, paused: bool = False) -> None:
        """Show a marker's words, and whether playing holds there; None: nothing."""
        if marker is not None:
            self.title.setText(marker.title)
            self.note.setText(marker.note)
            self.hint.setText(PAUSED if paused else "")
            for line in (self.title, self.note, self.hint):
                line.setVisible(bool(line.text()))
            self.setAccessibleDescription(f"{marker.title}. {marker.note}")
        self.setVisible(marker is not None)


def _line(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
    return label
