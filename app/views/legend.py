"""The legend as a widget: the glossary's fates with their colours and marks, explained on hover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRect, QRectF, QSize
from PySide6.QtGui import QHelpEvent, QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.fonts import ui_font
from app.painting.legend import legend_boxes, legend_height, paint_legend
from app.theme import LIGHT
from app.viewmodels.meanings import MEANINGS
from app.views.hover_note import HoverNote

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme

_MARGIN = 6


class LegendView(QWidget):
    """All fates in a row, wrapped where the row is too short."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._font = ui_font(0.92)
        self._note = HoverNote(self)
        self._note.set_theme(self._theme)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName("Legend")
        self.setAccessibleDescription(
            " ".join(f"{fate}: {meaning}" for fate, meaning in MEANINGS.items())
        )

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme."""
        self._theme = theme
        self._note.set_theme(theme)
        self.update()

    def hasHeightForWidth(self) -> bool:
        """Rows wrap, so the height follows from the width."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the wrapped rows."""
        inner = max(1.0, width - 2.0 * _MARGIN)
        return round(legend_height(inner, self._theme, self._font) + 0.5) + 2 * _MARGIN

    def sizeHint(self) -> QSize:
        """One or two rows."""
        return QSize(480, self.heightForWidth(480))

    def minimumSizeHint(self) -> QSize:
        """Narrow legends wrap."""
        return QSize(160, self.heightForWidth(max(160, self.width())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint every fate."""
        with QPainter(self) as painter:
            paint_legend(painter, QRectF(self._inner()), self._theme, self._font)

    def event(self, event: QEvent) -> bool:
        """Explain the fate under the pointer."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            inner = self._inner()
            for fate, box in legend_boxes(inner.width(), self._theme, self._font).items():
                place = box.toAlignedRect().translated(inner.topLeft())
                if place.contains(event.pos()):
                    corner = self.mapToGlobal(place.topLeft())
                    text = f"{fate}: {MEANINGS[fate]}"
                    self._note.show_beside(QRect(corner, place.size()), text)
                    return True
            self._note.hide()
            return True
        if event.type() == QEvent.Type.Leave:
            self._note.hide()
        return super().event(event)

    def _inner(self) -> QRect:
        return self.rect().adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
