"""One line of quiet text that never asks for width and is cut with an ellipsis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.readings import scaled

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme


class ElidedLabel(QWidget):
    """A line that keeps its height with and without text."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._text = ""
        self._theme: Theme | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def text(self) -> str:
        """Return the whole text."""
        return self._text

    def set_text(self, text: str) -> None:
        """Show this text."""
        if text != self._text:
            self._text = text
            self.setAccessibleName(text)
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(120, round(QFontMetricsF(scaled(self.font(), 0.9)).height() + 2))

    def minimumSizeHint(self) -> QSize:
        """Any width."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint as much of the text as fits."""
        if self._theme is None or not self._text:
            return
        with QPainter(self) as painter:
            font = scaled(self.font(), 0.9)
            metrics = QFontMetricsF(font)
            painter.setFont(font)
            painter.setPen(QColor(self._theme.muted))
            text = metrics.elidedText(self._text, Qt.TextElideMode.ElideRight, self.width())
            painter.drawText(QPointF(0, metrics.ascent() + 1), text)
