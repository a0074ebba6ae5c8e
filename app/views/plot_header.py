"""The line above a plot: what is plotted, and a sample of each curve with its word.

Knows words, roles and a theme. Knows no curve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.readings import scaled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme

_SAMPLE = 14.0  # length of a curve's sample
_GAP = 12.0


def theme_colour(theme: Theme, role: str) -> str:
    """Return the colour of a role: a fate's name or a field of the theme."""
    if role in theme.fates:
        return theme.fates[role].colour
    colour: str = getattr(theme, role)
    return colour


@dataclass(frozen=True)
class Key:
    """One entry of the legend; without a role it is a word alone."""

    label: str
    role: str = ""
    dashed: bool = False


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
        height = QFontMetricsF(scaled(self.font(), 0.85)).height()
        return QSize(100, round(height + 6))

    def minimumSizeHint(self) -> QSize:
        """Words are left out where they do not fit."""
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint title, samples and words."""
        if self._theme is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            bold = scaled(self.font(), 0.85, QFont.Weight.Medium)
            small = scaled(self.font(), 0.85)
            metrics = QFontMetricsF(small)
            baseline = (self.height() + metrics.ascent() - metrics.descent()) / 2
            right = self._paint_keys(painter, small, metrics, baseline, self._theme)
            painter.setFont(bold)
            painter.setPen(QColor(self._theme.text))
            room = right - _GAP - 2
            title = QFontMetricsF(bold).elidedText(self._title, Qt.TextElideMode.ElideRight, room)
            if len(title) > 2:
                painter.drawText(QPointF(2, baseline), title)
            if self._focused:
                painter.setPen(QPen(QColor(self._theme.focus), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 4, 4)

    def _paint_keys(
        self, painter: QPainter, font: QFont, metrics: QFontMetricsF, baseline: float, theme: Theme
    ) -> float:
        """Paint the legend from the right and return its left edge."""
        painter.setFont(font)
        x = self.width() - 6.0
        for key in reversed(self._keys):
            sample = _SAMPLE + 5 if key.role else 0.0
            if x - metrics.horizontalAdvance(key.label) - sample < 0:
                break  # a key that does not fit is left out whole
            x -= metrics.horizontalAdvance(key.label)
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(x, baseline), key.label)
            x -= sample
            if key.role:
                style = Qt.PenStyle.DashLine if key.dashed else Qt.PenStyle.SolidLine
                painter.setPen(QPen(QColor(theme_colour(theme, key.role)), 1.6, style))
                y = baseline - metrics.xHeight() / 2
                painter.drawLine(QPointF(x, y), QPointF(x + _SAMPLE, y))
            x -= _GAP
        return x + _GAP
