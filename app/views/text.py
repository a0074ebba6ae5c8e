"""The centre of the window: the strip of text with the legend of its fates below.

A text that came without tokens stands in their place, plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFrame, QPlainTextEdit, QVBoxLayout, QWidget

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
        self.plain = QPlainTextEdit()
        self.plain.setReadOnly(True)
        self.plain.setFrameShape(QFrame.Shape.NoFrame)
        self.plain.setAccessibleName("Text, without its tokens")
        self.plain.hide()
        strip.plain_text_told.connect(self._show_plain)
        line = QFrame()
        line.setObjectName("hairline")
        line.setFixedHeight(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(strip, 1)
        layout.addWidget(self.plain, 3)
        layout.addWidget(line)
        layout.addWidget(self.legend)
        self.setFocusProxy(strip)

    def _show_plain(self, text: str) -> None:
        """Show a text that has no tokens; none for ""."""
        self.plain.setPlainText(text)
        self.plain.setVisible(bool(text))

    def set_theme(self, theme: Theme) -> None:
        """Dress both."""
        self.strip.set_theme(theme)
        self.legend.set_theme(theme)
