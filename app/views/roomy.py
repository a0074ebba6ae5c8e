"""A panel that scrolls where its dock is lower than it asks for, so that no dock forces the window.

Knows sizes only, nothing of what the panel shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

LEAST_HEIGHT = 56  # a panel can be made this low; below what it asks for, it scrolls


class RoomyPanel(QScrollArea):
    """Gives a panel the height that it asks for, by scrolling if need be.

    Parameters
    ----------
    panel
        What is shown; as wide and at least as high as there is room.
    """

    def __init__(self, panel: QWidget) -> None:
        super().__init__()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the panel takes the keys
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        self._panel = panel
        self.setWidget(panel)
        panel.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)

    def sizeHint(self) -> QSize:
        """Ask for what the panel asks for."""
        return self._panel.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """Be content with little height; never with less width than the panel and a scroll bar."""
        least = self._panel.minimumSizeHint().expandedTo(self._panel.minimumSize())
        bar = self.verticalScrollBar().sizeHint().width()
        return QSize(least.width() + bar, min(least.height(), LEAST_HEIGHT))
