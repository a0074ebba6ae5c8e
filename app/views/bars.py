"""A bar chart as a widget. Knows a chart, a colour's role and a theme; knows no figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.bars import paint_chart
from app.views.plot_header import Key, PlotHeader, theme_colour

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.charts import Chart


class BarChart(QWidget):
    """Bars under a title; screen readers get every bar in words."""

    def __init__(self, title: str, role: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = title
        self._role = role
        self._theme: Theme | None = None
        self.chart: Chart | None = None
        self.header = PlotHeader(self)
        self.header.set_words(title, ())
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_chart(self, chart: Chart) -> None:
        """Show this chart; nothing is painted again if it is the same."""
        if chart == self.chart:
            return
        self.chart = chart
        words = [f"{bar.label}: {bar.value} ({bar.counts})" for bar in chart.bars]
        keys = []
        if chart.reference is not None and chart.bars:
            keys.append(Key(chart.reference_label, "text", dashed=True))
        self.header.set_words(self._title, keys)
        self.setAccessibleDescription(chart.note if not words else "; ".join([chart.axis, *words]))
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.header.set_theme(theme)
        self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the header on top."""
        super().resizeEvent(event)
        self.header.setGeometry(0, 0, self.width(), self.header.sizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Small docks leave the counts out."""
        return QSize(110, 70)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the bars below the header."""
        if self._theme is None or self.chart is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            top = self.header.sizeHint().height()
            box = QRectF(2, top, self.width() - 4, self.height() - top - 2)
            colour = theme_colour(self._theme, self._role)
            paint_chart(painter, box, self.chart, colour, self._theme, self.font())
