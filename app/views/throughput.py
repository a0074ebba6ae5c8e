"""The throughput panel: speed-up, both rates, time between tokens, and the rate over time.

Knows the throughput viewmodel and widgets. Computes no figure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QGridLayout, QVBoxLayout, QWidget

from app.viewmodels.throughput import WINDOW, ThroughputModel
from app.views.elided import ElidedLabel
from app.views.notice import Notice
from app.views.plot_header import Key
from app.views.plots import Line, Plot
from app.views.readings import ReadingRow

if TYPE_CHECKING:
    from PySide6.QtGui import QResizeEvent

    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation

_TITLE = "tok/s"
_BESIDE = 400  # from this width on the plot has the small figures at its side
_WHOLE = 252  # lower panels leave the small figures out


class ThroughputView(QWidget):
    """Show this run's speed beside the plain target's, over the rounds shown so far."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: ThroughputModel | None = None
        self._presentation: Presentation | None = None
        self.setAccessibleName("Throughput")
        self.readings = ReadingRow("Throughput figures", parent=self)
        self.small = ReadingRow("Time between tokens and cost", compact=True, parent=self)
        self.source = ElidedLabel(self)
        self.notice = Notice(self)
        self.plot = Plot(
            _TITLE,
            [Line("all so far", "accent"), Line(f"last {WINDOW} rounds", "muted", dashed=True)],
            self,
        )
        self._band = self.plot.add_band("plain_rate")
        self._break_even = self.plot.add_level("text")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 8, 6)
        layout.setSpacing(2)
        self._lower = QGridLayout()
        self._lower.setSpacing(2)
        layout.addWidget(self.readings)
        layout.addWidget(self.notice)
        layout.addLayout(self._lower, 1)
        layout.addWidget(self.source)
        self._arrange()

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document as far as this presentation has come."""
        self._model = ThroughputModel(document, presentation.visible_rounds())
        self._presentation = presentation
        self.plot.set_readout(self._model.readout)
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed since the last call."""
        model = self._model
        if model is None or self._presentation is None:
            return
        model.update(self._presentation.visible_rounds())
        self.readings.set_readings(model.readings)
        self.small.set_readings(model.small)
        self.source.set_text(model.source)
        self.notice.say(model.warning)
        self.plot.set_values((model.cumulative, model.rolling), top=model.top, note=model.note)
        self._show_plain(model)

    def _show_plain(self, model: ThroughputModel) -> None:
        """Draw the plain target's rate as the break-even line, its interval as a band."""
        plain = model.plain
        self._break_even.setVisible(plain is not None)
        low = plain.low_tokens_per_second if plain else None
        self._band.setVisible(low is not None)
        if plain is None:
            self.plot.set_right_scale(None)
            self.plot.set_extra_keys(())
            return
        self._break_even.setValue(plain.tokens_per_second)
        if low is not None:
            high = plain.high_tokens_per_second
            self._band.setRegion((low, high if high is not None else model.top))
        self.plot.set_right_scale(1.0 / plain.tokens_per_second)
        self.plot.set_extra_keys((Key("break-even 1.0×", "text", dashed=True),))

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for part in (self.readings, self.notice, self.small, self.plot, self.source):
            part.set_theme(theme)

    def sizeHint(self) -> QSize:
        """Return a dock's usual size."""
        return QSize(440, 270)

    def minimumSizeHint(self) -> QSize:
        """So low that only the large figures and the plot are left."""
        return QSize(220, 205)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put the small figures beside the plot or above it, as fits."""
        super().resizeEvent(event)
        self.small.setVisible(self.height() >= _WHOLE)
        if self.small.stacked != (self.width() >= _BESIDE):
            self._arrange()

    def _arrange(self) -> None:
        beside = self.width() >= _BESIDE
        lower, header = self._lower, self.plot.header  # the header has the panel's whole width
        for part in (self.small, header, self.plot):
            lower.removeWidget(part)
        self.small.set_stacked(beside)
        if beside:
            lower.addWidget(header, 0, 0, 1, 2)
            lower.addWidget(self.small, 1, 0, Qt.AlignmentFlag.AlignTop)
            lower.addWidget(self.plot, 1, 1)
        else:
            lower.addWidget(self.small, 0, 0, 1, 2)
            lower.addWidget(header, 1, 0, 1, 2)
            lower.addWidget(self.plot, 2, 0, 1, 2)
        lower.setRowStretch(1, int(beside))
        lower.setRowStretch(2, int(not beside))
