"""One quiet line that says what a viewer must know about the figures beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QWidget

from app.painting.readings import scaled

if TYPE_CHECKING:
    from app.theme import Theme


class Notice(QLabel):
    """Hidden while there is nothing to say."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        self.hide()

    def say(self, text: str) -> None:
        """Show a sentence, or nothing for ""."""
        if text != self.text():
            self.setText(text)
            self.setVisible(bool(text))

    def set_theme(self, theme: Theme) -> None:
        """Take the warning's colours."""
        self.setFont(scaled(QApplication.font(), 0.85))
        self.setStyleSheet(
            f"color: {theme.warning}; background: {theme.warning_soft}; border-radius: 4px;"
            "padding: 3px 7px;"
        )
