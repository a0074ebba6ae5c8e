"""One quiet line that says what a viewer must know about the figures beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QSizePolicy, QWidget

from app.painting.readings import scaled

if TYPE_CHECKING:
    from app.theme import Theme


class Notice(QLabel):
    """Hidden while there is nothing to say.

    Parameters
    ----------
    quiet
        What is said warns of nothing: muted text on no ground.
    """

    def __init__(self, parent: QWidget | None = None, *, quiet: bool = False) -> None:
        super().__init__(parent)
        self._quiet = quiet
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
        """Take the warning's colours, or muted ones."""
        # In the sheet: Qt drops a font that was set when it dresses a label in the sheet later.
        size = f"font-size: {scaled(QApplication.font(), 0.85).pointSizeF():g}pt;"
        if self._quiet:
            self.setStyleSheet(f"{size} color: {theme.muted}; padding: 1px 0;")
            return
        self.setStyleSheet(
            f"{size} color: {theme.warning}; background: {theme.warning_soft};"
            "border-radius: 4px; padding: 3px 7px;"
        )
