"""The line above a plot: what is plotted, and a sample of each curve with its word.

A widget around `painting.plot_keys`. Knows no curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.plot_keys import Key, keys_height, paint_keys, theme_colour

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme

__all__ = ["Key", "PlotHeader", "theme_colour"]


class PlotHeader(QWidget):
    """Title at the left, legend at the right; where both do not fit, the title gives way."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = ""
        self._keys: tuple[Key, ...] = ()
        self._theme: Theme | None = None
        self._focused = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def words(self) -> tuple[str, ...]:
        """The title and the legend's words."""
        return (self._title, *(key.label for key in self._keys))

    def set_words(self, title: str, keys: Sequence[Key]) -> None:
        """Show this title and legend."""
        if (title, tuple(keys)) != (self._title, self._keys):
            self._title, self._keys = title, tuple(keys)
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def set_focused(self, focused: bool) -> None:
        """Show or hide the focus ring of the plot below."""
        if focused != self._focused:
            self._focused = focused
            self.update()

    def sizeHint(self) -> QSize:
        """One line of small text."""
        return QSize(100, round(keys_height(self.font())))

    def minimumSizeHint(self) -> QSize:
        """Words are left out where they do not fit."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint title, samples and words."""
        if self._theme is None:
            return
        with QPainter(self) as painter:
            box = QRectF(self.rect())
            paint_keys(painter, box, self._title, self._keys, self._theme, self.font())
            if self._focused:
                painter.setPen(QPen(QColor(self._theme.focus), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)
