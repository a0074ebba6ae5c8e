"""The centre of the window: runs and caption, the strip of text, and the legend of its fates.

A text that came without tokens stands in their place, plain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QPlainTextEdit,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app.views.caption import CaptionStrip
from app.views.gallery import GalleryView
from app.views.legend import LegendView
from app.views.runs import RunsBar

if TYPE_CHECKING:
    from app.theme import Theme
    from app.views.strip import StripView


class TextView(QWidget):
    """Assembles what stands above and below the strip with it."""

    def __init__(self, strip: StripView) -> None:
        super().__init__()
        self.strip = strip
        self.legend = LegendView()
        self.caption = CaptionStrip()
        self.runs = RunsBar()
        self.gallery = GalleryView()
        strip.setFrameShape(QFrame.Shape.NoFrame)
        self.plain = QPlainTextEdit()
        self.plain.setReadOnly(True)
        self.plain.setFrameShape(QFrame.Shape.NoFrame)
        self.plain.setAccessibleName("Text, without its tokens")
        self.plain.hide()
        strip.plain_text_told.connect(self._show_plain)
        self._page = QWidget()
        page = QVBoxLayout(self._page)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.caption)  # not above cards: it is said of the text
        page.addWidget(strip, 1)
        page.addWidget(self.plain, 3)
        self._stack = QStackedWidget()
        self._stack.addWidget(self._page)
        self._stack.addWidget(self.gallery)
        self._line = line = QFrame()
        line.setObjectName("hairline")
        line.setFixedHeight(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.runs)
        layout.addWidget(self._stack, 1)
        layout.addWidget(line)
        layout.addWidget(self.legend)
        self.setFocusProxy(strip)

    def _show_plain(self, text: str) -> None:
        """Show a text that has no tokens; none for ""."""
        self.plain.setPlainText(text)
        self.plain.setVisible(bool(text))

    def show_gallery(self, *, shown: bool) -> None:
        """Show recorded sessions in place of the text, or the text."""
        page = self.gallery if shown else self._page
        if self._stack.currentWidget() is page:
            return
        inner = self.gallery if shown else self.strip
        focused = QApplication.focusWidget()
        held = focused is not None and self._stack.isAncestorOf(focused)
        self._stack.setCurrentWidget(page)
        self.legend.setVisible(not shown)
        self._line.setVisible(not shown)
        self.setFocusProxy(inner)
        if held:
            inner.setFocus()

    def set_theme(self, theme: Theme) -> None:
        """Dress all parts."""
        self.strip.set_theme(theme)
        self.legend.set_theme(theme)
        self.gallery.set_theme(theme)
