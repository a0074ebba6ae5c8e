"""The field in which a prompt is typed: plain text only, and Ctrl+Return runs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit

if TYPE_CHECKING:
    from PySide6.QtGui import QDragEnterEvent, QKeyEvent


class PromptEditor(QPlainTextEdit):
    """Plain text; Tab moves on, so that the keyboard never gets caught."""

    run_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setPlaceholderText("Type a prompt, then Ctrl+Return")
        self.setAccessibleName("Prompt")
        self.setAccessibleDescription("What the target goes on from. Ctrl+Return runs it.")
        self.setMinimumHeight(72)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run on Ctrl+Return; everything else is typing."""
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.run_requested.emit()
            event.accept()
            return
        super().keyPressEvent(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take text; leave files to the window, which opens them."""
        if event.mimeData().hasUrls():
            event.ignore()
            return
        super().dragEnterEvent(event)
