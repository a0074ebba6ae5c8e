"""The timeline panel: transport, spans along engine time, a scroll bar and a line of words.

Knows the timeline viewmodel and widgets. Moves no cursor: it emits wishes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QScrollBar, QSizePolicy, QVBoxLayout, QWidget

from app.viewmodels.readings import count
from app.viewmodels.timeline import TimelineModel
from app.views.elided import ElidedLabel
from app.views.timeline_canvas import TimelineCanvas
from app.views.transport import Transport

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.desk import DeskState
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation

_UNITS = 1_000_000  # the scroll bar counts millionths of the run, so that no run overflows it


class TimelineView(QWidget):
    """Phases along engine time with the presentation's cursor."""

    seek_requested = Signal(int)  # a round's index, to its end; -1 is the start
    marker_requested = Signal(object)  # Marker
    marker_step_requested = Signal(int)  # as of the transport
    play_requested = Signal()
    pause_requested = Signal()
    step_round_requested = Signal()
    step_phase_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document: Document | None = None
        self._model: TimelineModel | None = None
        self._presentation: Presentation | None = None
        self._described = ""
        self._moving = False
        self.setAccessibleName("Timeline panel")
        self.transport = Transport(self)
        self.canvas = TimelineCanvas(self)
        self.bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self.bar.setAccessibleName("Part of the run on screen")
        self.words = ElidedLabel(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 6, 8, 4)
        layout.setSpacing(3)
        layout.addWidget(self.transport)
        layout.addWidget(self.canvas, 1)
        layout.addWidget(self.bar)
        layout.addWidget(self.words)
        # The bar keeps its room while everything is on screen, so that the rows do not jump.
        policy = self.bar.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.bar.setSizePolicy(policy)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._connect()

    def _connect(self) -> None:
        transport, canvas = self.transport, self.canvas
        transport.play_requested.connect(self.play_requested)
        transport.pause_requested.connect(self.pause_requested)
        transport.step_round_requested.connect(self.step_round_requested)
        transport.step_phase_requested.connect(self.step_phase_requested)
        transport.marker_step_requested.connect(self.marker_step_requested)
        transport.start_requested.connect(self._seek_start)
        transport.end_requested.connect(self._seek_end)
        canvas.seek_requested.connect(self.seek_requested)
        canvas.marker_requested.connect(self.marker_requested)
        canvas.toggle_requested.connect(transport.toggle)
        canvas.window_moved.connect(self._show_window)
        canvas.described.connect(self._describe)
        self.bar.valueChanged.connect(self._scrolled)

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document and where this presentation stands."""
        self._document, self._presentation = document, presentation
        self._model = TimelineModel(document)
        self.canvas.set_model(self._model)
        self.refresh()

    def refresh(self) -> None:
        """Show what has changed since the last call."""
        if self._model is None or self._presentation is None:
            return
        presentation = self._presentation
        self._model.update()
        self.canvas.show_cursor(presentation.cursor)
        self.transport.show_state(
            playing=self._moving,
            at_start=presentation.cursor.round < 0,
            at_end=presentation.at_end,
        )
        self.transport.show_markers(there=bool(self._model.flags))
        self._write_words()

    def apply(self, state: DeskState) -> None:
        """Offer to pause while the picture moves, else to play."""
        if state.moving != self._moving:
            self._moving = state.moving
            self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for part in (self.transport, self.canvas, self.words):
            part.set_theme(theme)

    def sizeHint(self) -> QSize:
        """Return a dock's usual size."""
        return QSize(720, 240)

    def _seek_start(self) -> None:
        self.seek_requested.emit(-1)

    def _seek_end(self) -> None:
        if self._model is not None:
            self.seek_requested.emit(len(self._model) - 1)

    def _describe(self, words: str) -> None:
        if words != self._described:
            self._described = words
            self._write_words()

    def _write_words(self) -> None:
        """Say what the pointer is over, else the cursor's own round."""
        if self._model is None or self._presentation is None:
            return
        rounds = len(self._model)
        cursor = self._presentation.cursor
        shown = max(0, min(cursor.round, rounds - 1) + 1)
        self.transport.status.setText(f"round {count(shown)} of {count(rounds)}")
        words = self._described
        if not words and 0 <= cursor.round < rounds:
            words = self._model.describe(cursor.round)
        self.words.set_text(words)

    def _show_window(self) -> None:
        window = self.canvas.window_of_time
        total = max(window.total_ns, window.width_ns)
        page = round(window.width_ns / total * _UNITS)
        self.bar.blockSignals(True)
        self.bar.setRange(0, _UNITS - page)
        self.bar.setPageStep(page)
        self.bar.setSingleStep(max(1, page // 10))
        self.bar.setValue(round(window.start_ns / total * _UNITS))
        self.bar.blockSignals(False)
        self.bar.setVisible(page < _UNITS)

    def _scrolled(self, value: int) -> None:
        window = self.canvas.window_of_time
        window.move_to(value / _UNITS * max(window.total_ns, window.width_ns))
        self.canvas.update()
