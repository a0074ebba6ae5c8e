"""The caches panel: both caches' pages in the round shown last, and over the rounds.

Knows the caches viewmodel and widgets. Computes no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from app.painting.pages import pages_height, paint_caches
from app.viewmodels.caches import CachesModel
from app.views.plots import Line, Plot
from app.views.readings import ReadingRow

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme
    from app.viewmodels.caches import CachePicture
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation


class PagesView(QWidget):
    """Both caches as rows of pages."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pictures: tuple[CachePicture, ...] = ()
        self._theme: Theme | None = None
        self.painted = 0  # pages of the last paint
        self.setAccessibleName("Pages of both caches")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_pictures(self, pictures: tuple[CachePicture, ...]) -> None:
        """Show these caches."""
        if pictures == self._pictures:
            return
        self._pictures = pictures
        self.setToolTip(
            "Full: held before the round. Lighter: added by it. Hatched: given back by the "
            "rollback; a dashed page returned to the pool."
        )
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Two rows of text height."""
        return QSize(200, round(pages_height(2, self.font())))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a row for each cache."""
        self.painted = 0
        if self._theme is None:
            return
        with QPainter(self) as painter:
            box = QRectF(self.rect())
            self.painted = paint_caches(painter, box, self._pictures, self._theme, self.font())


class CachesView(QWidget):
    """Lengths, pages and what rollbacks gave back, over the rounds shown so far."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: CachesModel | None = None
        self._presentation: Presentation | None = None
        self.setAccessibleName("Caches")
        self.readings = ReadingRow("Cache figures", lead=False, parent=self)
        self.pages = PagesView(self)
        self.plot = Plot(
            "pages held",
            [
                Line("target", "target", steps=True),
                Line("drafter", "drafter", dashed=True, steps=True),
            ],
            self,
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 6)
        layout.setSpacing(2)
        layout.addWidget(self.readings)
        layout.addWidget(self.pages)
        layout.addWidget(self.plot, 1)

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document as far as this presentation has come."""
        self._model = CachesModel(document, presentation.visible_rounds())
        self._presentation = presentation
        self.plot.set_readout(self._model.readout)
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed since the last call."""
        if self._model is None or self._presentation is None:
            return
        self._model.update(self._presentation.visible_rounds())
        self.readings.set_readings(self._model.readings)
        self.pages.set_pictures(self._model.pictures)
        self.plot.set_values(self._model.pages, top=self._model.top, note="no round yet")

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for part in (self.readings, self.pages, self.plot):
            part.set_theme(theme)

    def sizeHint(self) -> QSize:
        """Return a dock's usual size."""
        return QSize(420, 260)
