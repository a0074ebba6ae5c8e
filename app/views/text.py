"""The centre of the window: runs and caption, the strip of text, and the legend of its fates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication, QFrame, QStackedWidget, QVBoxLayout, QWidget

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
        self._stack = QStackedWidget()
        self._stack.addWidget(strip)
        self._stack.addWidget(self.gallery)
        strip.setFrameShape(QFrame.Shape.NoFrame)
        self._line = line = QFrame()
        line.setObjectName("hairline")
        line.setFixedHeight(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.runs)
        layout.addWidget(self.caption)
        layout.addWidget(self._stack, 1)
        layout.addWidget(line)
        layout.addWidget(self.legend)
        self.setFocusProxy(strip)

    def show_gallery(self, *, shown: bool) -> None:
        """Show recorded sessions in place of the text, or the text."""
        inner = self.gallery if shown else self.strip
        if self._stack.currentWidget() is inner:
            return
        focused = QApplication.focusWidget()
        held = focused is not None and self._stack.isAncestorOf(focused)
        self._stack.setCurrentWidget(inner)
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
