"""The rows of the drafters' list: a title, and below it its numbers in a quieter line.

Knows two roles of an item's data and a theme. Knows no drafter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.painting.readings import scaled
from app.theme import LIGHT, Theme

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex

DETAIL = int(Qt.ItemDataRole.UserRole) + 1  # a line below the title
_EDGE = (10, 5)  # beside and above a row's text
_SMALL = 0.9


class DrafterRows(QStyledItemDelegate):
    """Paints titles and details; what cannot be chosen has a pale title."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._theme: Theme = LIGHT

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Room for the lines that a row has."""
        font = option.font
        title, detail = QFontMetrics(font), QFontMetrics(scaled(font, _SMALL))
        below = str(index.data(DETAIL) or "")
        wide = max(
            title.horizontalAdvance(str(index.data() or "")), detail.horizontalAdvance(below)
        )
        high = title.height() + (detail.height() if below else 0)
        return QSize(wide + 2 * _EDGE[0], high + 2 * _EDGE[1])

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Paint a row's ground as the style does, and its lines."""
        row = QStyleOptionViewItem(option)
        self.initStyleOption(row, index)
        row.text = ""
        widget = row.widget
        widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, row, painter, widget)
        enabled = bool(index.flags() & Qt.ItemFlag.ItemIsEnabled)
        theme = self._theme
        colour = theme.text if enabled else theme.outline
        font, room = row.font, row.rect.adjusted(_EDGE[0], _EDGE[1], -_EDGE[0], -_EDGE[1])
        title, below = str(index.data() or ""), str(index.data(DETAIL) or "")
        lines = ((title, font, colour), (below, scaled(font, _SMALL), theme.muted))
        painter.save()
        for text, its_font, its_colour in lines:
            metrics = QFontMetrics(its_font)
            painter.setFont(its_font)
            painter.setPen(QColor(its_colour))
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
            painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop, shown)
            room.setTop(room.top() + metrics.height())
        painter.restore()
