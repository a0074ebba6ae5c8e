"""A card that tells a recorded session and opens it. Knows a summary and a theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.painting.notices import lines_of, paint_lines
from app.painting.readings import scaled
from app.theme import LIGHT
from app.views.plain_tips import plain_tip

if TYPE_CHECKING:
    from PySide6.QtCore import QEvent
    from PySide6.QtGui import QEnterEvent, QFocusEvent, QKeyEvent, QPaintEvent

    from app.theme import Theme
    from app.viewmodels.gallery import SessionSummary

LEAST_WIDTH = 250
_PAD, _GAP = 14.0, 6.0
_TITLE_LINES, _NOTE_LINES = 2, 3


class SessionCard(QAbstractButton):
    """Pressed by a click, Return or Space; arrows go to its neighbours."""

    step_requested = Signal(int, int)  # columns and rows to go

    def __init__(self, summary: SessionSummary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.summary = summary
        self._theme: Theme = LIGHT
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName(summary.title)
        self.setAccessibleDescription(summary.spoken)
        self.setToolTip(plain_tip(summary.spoken))  # whole, where a narrow card cuts it
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """As high as a long title, its note and two lines of facts."""
        title, small = QFontMetricsF(self._title_font()), QFontMetricsF(self._small_font())
        lines = _TITLE_LINES * title.lineSpacing() + (_NOTE_LINES + 2) * small.lineSpacing()
        return QSize(LEAST_WIDTH, round(lines + 2 * _PAD + 2 * _GAP))

    def minimumSizeHint(self) -> QSize:
        """Narrower than wanted, never lower."""
        return QSize(180, self.sizeHint().height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Open with Return; go to a neighbour with an arrow."""
        key = Qt.Key(event.key())
        steps = {
            Qt.Key.Key_Left: (-1, 0),
            Qt.Key.Key_Right: (1, 0),
            Qt.Key.Key_Up: (0, -1),
            Qt.Key.Key_Down: (0, 1),
        }
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.click()
        elif key in steps:
            self.step_requested.emit(*steps[key])
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Show that a click would open it."""
        super().enterEvent(event)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        """Show it no more."""
        super().leaveEvent(event)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show the focus ring."""
        super().focusInEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint ground, ring and words."""
        theme = self._theme
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            width = 2.0 if self.hasFocus() else 1.0
            box = QRectF(self.rect()).adjusted(width / 2, width / 2, -width / 2, -width / 2)
            ring = theme.focus if self.hasFocus() else theme.border
            painter.setPen(QPen(QColor(ring), width))
            ground = theme.pressed if self.isDown() else theme.raised
            painter.setBrush(QColor(theme.hover if self.underMouse() else ground))
            painter.drawRoundedRect(box, 8, 8)
            self._paint_words(painter, QRectF(self.rect()).adjusted(_PAD, _PAD, -_PAD, -_PAD))

    def _paint_words(self, painter: QPainter, box: QRectF) -> None:
        theme, summary = self._theme, self.summary
        bold, small = self._title_font(), self._small_font()
        at = QPointF(box.topLeft())
        title = lines_of(summary.title, bold, box.width(), _TITLE_LINES)
        at.setY(at.y() + paint_lines(painter, at, title, theme.text, bold) + _GAP)
        note = lines_of(summary.note, small, box.width(), _NOTE_LINES) if summary.note else []
        paint_lines(painter, at, note, theme.text, small)
        spacing = QFontMetricsF(small).lineSpacing()
        facts = " · ".join((*summary.figures, summary.size))
        below = QPointF(box.left(), box.bottom() - 2 * spacing)
        for text, colour in ((summary.pair, theme.muted), (facts, theme.muted)):
            line = lines_of(text, small, box.width(), 1)
            below.setY(below.y() + paint_lines(painter, below, line, colour, small))

    def _title_font(self) -> QFont:
        return scaled(self.font(), 1.1, QFont.Weight.DemiBold)

    def _small_font(self) -> QFont:
        return scaled(self.font(), 0.92)
