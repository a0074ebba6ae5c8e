"""The acceptance panel: figures, by draft position, over time, accepted lengths.

Knows the acceptance viewmodel and widgets. Computes no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QVBoxLayout, QWidget

from app.viewmodels.acceptance import WINDOW, AcceptanceModel
from app.views.bars import BarChart
from app.views.notice import Notice
from app.views.plots import Line, Plot
from app.views.readings import ReadingRow

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation

_ALL_SIDE_BY_SIDE = 640  # narrower panels show one chart at a time, chosen by tabs


class AcceptanceView(QWidget):
    """How much of the draft was kept, over the rounds shown so far."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: AcceptanceModel | None = None
        self._presentation: Presentation | None = None
        self.setAccessibleName("Acceptance")
        self.readings = ReadingRow("Acceptance figures", parent=self)
        self.notice = Notice(self)
        self.short = Notice(self, quiet=True)
        self.tabs = QTabBar(self)
        self.tabs.setAccessibleName("Chart shown")
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        for title in ("By position", "Over time", "Lengths"):
            self.tabs.addTab(title)
        self.tabs.currentChanged.connect(self._arrange)
        self.positions = BarChart("acceptance by draft position, %", "accepted", self)
        self.over_time = Plot(
            "acceptance, %",
            [Line("all so far", "accepted"), Line(f"last {WINDOW} rounds", "muted", dashed=True)],
            self,
        )
        self.lengths = BarChart("accepted lengths", "accepted", self)
        charts = QHBoxLayout()
        charts.setSpacing(14)
        for chart, stretch in ((self.positions, 3), (self.over_time, 4), (self.lengths, 3)):
            charts.addWidget(chart, stretch)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 6)
        layout.setSpacing(2)
        layout.addWidget(self.readings)
        layout.addWidget(self.notice)
        layout.addWidget(self.short)
        layout.addWidget(self.tabs)
        layout.addLayout(charts, 1)
        self._arrange()

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document as far as this presentation has come."""
        self._model = AcceptanceModel(document, presentation.visible_rounds())
        self._presentation = presentation
        self.over_time.set_readout(self._model.readout)
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed since the last call."""
        if self._model is None or self._presentation is None:
            return
        self._model.update(self._presentation.visible_rounds())
        self.readings.set_readings(self._model.readings)
        self.notice.say(self._model.notice)
        self.short.say(self._model.short)
        self._fill_charts()

    def _fill_charts(self) -> None:
        """Show what has changed in the charts that are to be seen."""
        if self._model is None:
            return
        if not self.positions.isHidden():
            self.positions.set_chart(self._model.positions)
        if not self.lengths.isHidden():
            self.lengths.set_chart(self._model.lengths)
        if not self.over_time.isHidden():
            curves = (100 * self._model.cumulative, 100 * self._model.rolling)
            self.over_time.set_values(curves, top=100.0, note=self._model.note)

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for part in (self.readings, self.notice, self.short):
            part.set_theme(theme)
        for chart in (self.positions, self.over_time, self.lengths):
            chart.set_theme(theme)

    def sizeHint(self) -> QSize:
        """Return a dock's usual size."""
        return QSize(440, 270)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show one chart or all three, as fits."""
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self) -> None:
        wide = self.width() >= _ALL_SIDE_BY_SIDE
        self.tabs.setVisible(not wide)
        for i, chart in enumerate((self.positions, self.over_time, self.lengths)):
            chart.setVisible(wide or i == self.tabs.currentIndex())
        self._fill_charts()
