"""A small note beside the pointer or the focused item, in plain text whatever it holds.

Qt's own tool tips take text that looks like markup for markup; a token can look like that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QWidget

if TYPE_CHECKING:
    from app.theme import Theme

_WIDEST = 460
_AWAY = 6


class HoverNote(QLabel):
    """A label in a window of its own that never takes the focus or the pointer."""

    def __init__(self, parent: QWidget | None = None) -> None:
        flags = Qt.WindowType.ToolTip | Qt.WindowType.WindowTransparentForInput
        super().__init__(parent, flags)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setMargin(8)
        self.setObjectName("hover_note")

    def set_theme(self, theme: Theme) -> None:
        """Use this theme's colours."""
        self.setStyleSheet(
            f"#hover_note {{ background: {theme.raised}; color: {theme.text};"
            f" border: 1px solid {theme.outline}; }}"
        )

    def show_beside(self, item: QRect, text: str) -> None:
        """Show a text below an item, given in global coordinates, or above it where it fits."""
        if not text:
            self.hide()
            return
        self.ensurePolished()
        self.setText(text)
        self.setWordWrap(False)
        screen = QGuiApplication.screenAt(item.center()) or QGuiApplication.primaryScreen()
        room = screen.availableGeometry()
        size = self.sizeHint()
        widest = min(_WIDEST, room.width() - 2 * _AWAY)
        if size.width() > widest:
            self.setWordWrap(True)
            size = QSize(widest, self.heightForWidth(widest))
        self.resize(size)
        self.move(self._place(item, room))
        self.show()

    def _place(self, item: QRect, room: QRect) -> QPoint:
        at = item.bottomLeft() + QPoint(0, _AWAY)
        if at.y() + self.height() > room.bottom():
            at.setY(item.top() - _AWAY - self.height())
        at.setX(max(room.left(), min(at.x(), room.right() - self.width())))
        return at
