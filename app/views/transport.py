"""Play, pause and steps: the buttons above the timeline.

Knows wishes. Knows no document and moves no cursor: whoever listens does. The presentation speed
has one box, on the window's toolbar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QToolButton, QWidget

from app.painting.transport import Shape, paint_shape

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent

    from app.theme import Theme


class TransportButton(QToolButton):
    """A button with a painted shape, sharp at every scale."""

    def __init__(self, shape: Shape, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shape: Shape = shape
        self._theme: Theme | None = None
        self.setProperty("quiet", True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.set_words(words)

    def set_words(self, words: str) -> None:
        """Tell what pressing it does."""
        self.setAccessibleName(words)
        self.setToolTip(words)

    def set_shape(self, shape: Shape) -> None:
        """Paint another shape from now on."""
        if shape != self._shape:
            self._shape = shape
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme from now on."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Return a square as high as a line of text with air."""
        side = self.fontMetrics().height() + 12
        return QSize(side + 2, side)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the button, then its shape."""
        super().paintEvent(event)
        if self._theme is None:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            side = self.fontMetrics().height()
            box = QRectF((self.width() - side) / 2, (self.height() - side) / 2, side, side)
            colour = self._theme.text if self.isEnabled() else self._theme.outline
            paint_shape(painter, box, self._shape, colour)


class Transport(QWidget):
    """The row of buttons."""

    play_requested = Signal()
    pause_requested = Signal()
    step_round_requested = Signal()
    step_phase_requested = Signal()
    start_requested = Signal()
    end_requested = Signal()
    marker_step_requested = Signal(int)  # 1: to the next one, -1: to the last

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._playing = False
        self.start = TransportButton("start", "Go to the start", self)
        self.step_phase = TransportButton("step_phase", "Step a phase", self)
        self.play = TransportButton("play", "Play", self)
        self.step_round = TransportButton("step_round", "Step a round", self)
        self.end = TransportButton("end", "Go to the end", self)
        self.last_marker = TransportButton("last_marker", "Previous marker", self)
        self.next_marker = TransportButton("next_marker", "Next marker", self)
        self.status = QLabel(self)
        self.status.setTextFormat(Qt.TextFormat.PlainText)
        self.status.setObjectName("quiet")
        self.status.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.status.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(3)
        for button in self._buttons():
            layout.addWidget(button)
        layout.addWidget(self.status, 1)
        self.start.clicked.connect(self.start_requested)
        self.end.clicked.connect(self.end_requested)
        self.step_phase.clicked.connect(self.step_phase_requested)
        self.step_round.clicked.connect(self.step_round_requested)
        self.play.clicked.connect(self.toggle)
        self.last_marker.clicked.connect(lambda: self.marker_step_requested.emit(-1))
        self.next_marker.clicked.connect(lambda: self.marker_step_requested.emit(1))
        self.show_markers(there=False)

    def _buttons(self) -> tuple[TransportButton, ...]:
        moves = (self.start, self.play, self.step_phase, self.step_round, self.end)
        return (*moves, self.last_marker, self.next_marker)

    def show_markers(self, *, there: bool) -> None:
        """Offer to go from marker to marker where there are any."""
        self.last_marker.setVisible(there)
        self.next_marker.setVisible(there)

    def toggle(self) -> None:
        """Ask to pause if playing, else to play."""
        (self.pause_requested if self._playing else self.play_requested).emit()

    def show_state(self, *, playing: bool, at_start: bool, at_end: bool) -> None:
        """Show what the presentation is doing; asks for nothing."""
        if playing != self._playing:
            self._playing = playing
            self.play.set_shape("pause" if playing else "play")
            self.play.set_words("Pause" if playing else "Play")
        self.start.setEnabled(not at_start)
        self.end.setEnabled(not at_end)

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for button in self._buttons():
            button.set_theme(theme)
