"""A row of readings as a widget: hover or arrow keys tell how each is defined.

Knows readings and a theme. Knows no document and no figure.
"""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from app.painting.reading_rows import paint_readings, reading_boxes, stack_height
from app.painting.readings import row_height

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtGui import QFocusEvent, QKeyEvent, QPaintEvent

    from app.theme import Theme
    from app.viewmodels.readings import Reading

_MARGIN = 6
_STACKED_WIDTH = 196  # the longest name that there is, whole


class ReadingRow(QWidget):
    """Figures beside each other.

    Parameters
    ----------
    name
        Accessible name.
    compact
        A small row: name and number alone, the rest on hover.
    lead
        Whether the first number is larger than the others.
    """

    def __init__(
        self,
        name: str,
        *,
        compact: bool = False,
        lead: bool = True,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._readings: tuple[Reading, ...] = ()
        self._theme: Theme | None = None
        self._compact = compact
        self._lead = lead
        self._stacked = False
        self._current = 0
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def readings(self) -> tuple[Reading, ...]:
        """What is shown."""
        return self._readings

    def set_readings(self, readings: Sequence[Reading]) -> None:
        """Show these; nothing is painted again if they are the same."""
        if tuple(readings) == self._readings:
            return
        self._readings = tuple(readings)
        self._current = min(self._current, max(0, len(self._readings) - 1))
        self.setAccessibleDescription("; ".join(one.spoken for one in self._readings))
        self.update()

    @property
    def stacked(self) -> bool:
        """Whether the readings stand below each other."""
        return self._stacked

    def set_stacked(self, stacked: bool) -> None:
        """Put the readings below each other, as wide as the widest, or beside each other."""
        if stacked == self._stacked:
            return
        self._stacked = stacked
        across = QSizePolicy.Policy.Fixed if stacked else QSizePolicy.Policy.Expanding
        self.setSizePolicy(across, QSizePolicy.Policy.Fixed)
        self.updateGeometry()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Wide enough for a dock, as high as its lines."""
        height, width = row_height(self.font(), compact=self._compact, lead=self._lead), 380
        if self._stacked:
            count = len(self._readings)
            height = stack_height(count, self.font(), compact=self._compact, lead=self._lead)
            width = _STACKED_WIDTH
        return QSize(width, round(height + 2 * _MARGIN + 0.5))

    def minimumSizeHint(self) -> QSize:
        """Narrow rows elide their texts."""
        hint = self.sizeHint()
        return QSize(hint.width() if self._stacked else 160, hint.height())

    def box(self, index: int) -> QRectF:
        """Return where a reading stands."""
        return self._boxes()[index]

    def _boxes(self) -> list[QRectF]:
        """Return where each reading stands."""
        return reading_boxes(
            self._inner(),
            self._readings,
            self.font(),
            compact=self._compact,
            lead=self._lead,
            stacked=self._stacked,
        )

    def _inner(self) -> QRectF:
        return QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint each reading and a hairline between two."""
        if self._theme is None:
            return
        with QPainter(self) as painter:
            paint_readings(
                painter,
                self._inner(),
                self._readings,
                self._theme,
                self.font(),
                compact=self._compact,
                lead=self._lead,
                stacked=self._stacked,
            )
            if self.hasFocus() and self._readings:
                painter.setPen(QPen(QColor(self._theme.focus), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                ring = self.box(self._current).adjusted(-4, -4, 4, 4)
                painter.drawRoundedRect(ring, 4, 4)

    def event(self, event: QEvent) -> bool:
        """Answer a request for a tool tip with the reading under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            for i, box in enumerate(self._boxes()):
                if box.contains(event.pos()):
                    self._explain(i, event.globalPos())
                    return True
            QToolTip.hideText()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows choose a reading and explain it; Enter explains it again."""
        steps = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Return: 0}
        if self._stacked:
            steps |= {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        step = steps.get(Qt.Key(event.key()))
        if step is None or not self._readings:
            super().keyPressEvent(event)
            return
        self._current = min(max(self._current + step, 0), len(self._readings) - 1)
        self.update()
        at = self.mapToGlobal(self.box(self._current).bottomLeft().toPoint())
        self._explain(self._current, at)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Show which reading the keys are at."""
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Take the focus ring away."""
        super().focusOutEvent(event)
        self.update()

    def _explain(self, index: int, at: QPoint) -> None:
        reading = self._readings[index]
        value = f"{reading.text} {reading.unit}".strip()
        # Escaped, because a drafter's name can hold anything, and Qt would take it for markup.
        parts = [html.escape(part) for part in (reading.detail, reading.definition) if part]
        head = f"<b>{html.escape(reading.name)}</b> {html.escape(value)} ({reading.how})"
        QToolTip.showText(at, "<br>".join([head, *parts]), self, QRect())
