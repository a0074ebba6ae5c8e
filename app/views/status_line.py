"""The status line: what is on show, what is loaded, and what is being waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QProgressBar, QStatusBar, QToolButton

if TYPE_CHECKING:
    from app.viewmodels.desk import DeskState, Waiting


class StatusLine(QStatusBar):
    """Says in words what goes on."""

    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.activity = _label("What goes on")
        self.models = _label("Models in memory")
        self.bar = QProgressBar()
        self.bar.setMaximumWidth(140)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("Progress")
        self.cancel = QToolButton()
        self.cancel.setText("Cancel")
        self.cancel.setProperty("quiet", True)
        self.cancel.setAccessibleName("Cancel the loading")
        self.cancel.clicked.connect(self.cancel_requested)
        self.addWidget(self.activity)
        self.addWidget(self.bar)
        self.addWidget(self.cancel)
        self.addPermanentWidget(self.models)

    def apply(self, state: DeskState) -> None:
        """Show a state."""
        waiting = state.engine_wait if state.busy else None
        self.activity.setText(_activity(state, waiting))
        self.activity.setToolTip(state.settings)
        self.activity.setAccessibleDescription(state.settings)
        self.bar.setVisible(waiting is not None)
        self.cancel.setVisible(waiting is not None)
        self.cancel.setEnabled(not state.stopping)
        fraction = waiting.fraction if waiting is not None else None
        self.bar.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.bar.setValue(round(1000 * fraction))
        self.models.setText(state.loaded or "no model in memory")


def _label(name: str) -> QLabel:
    label = QLabel()
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setAccessibleName(name)
    return label


def _activity(state: DeskState, waiting: Waiting | None) -> str:
    if state.stopping:
        return "Stopping…"
    if waiting is not None:
        return f"{waiting.what}…"
    if state.running:
        return _running(state)
    if state.loading:
        return "Loading…"
    if state.opening:
        return "Reading the session…"
    if state.exporting:
        return "Exporting…"
    if state.shown:
        return state.shown
    return "Ready"


def _running(state: DeskState) -> str:
    if not state.has_events:
        return "Starting the engine…"
    if not state.has_rounds:
        return "Reading the prompt…"
    if state.finished:
        return "Measuring the plain target…"
    if not state.playing:
        return "Paused: the engine waits for the picture"
    return "Running"
