"""The centre of the window: the strip of text with the legend of its fates below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from app.views.legend import LegendView

if TYPE_CHECKING:
    from app.theme import Theme
    from app.views.strip import StripView


class TextView(QWidget):
    """Assembles strip and legend."""

    def __init__(self, strip: StripView) -> None:
        super().__init__()
        self.strip = strip
        self.legend = LegendView()
        strip.setFrameShape(QFrame.Shape.NoFrame)
        line = QFrame()
        line.setObjectName("hairline")
        line.setFixedHeight(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip, 1)
        layout.addWidget(line)
        layout.addWidget(self.legend)
        self.setFocusProxy(strip)

    def set_theme(self, theme: Theme) -> None:
        """Dress both."""
        self.strip.set_theme(theme)
        self.legend.set_theme(theme)
