"""The line of the models' dialog on plans: what is in use, and a button that builds the faster one.

Widgets and words only: it says what was asked for; building is somebody else's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QSizePolicy, QWidget

from app.viewmodels.warm_up import plan_words

if TYPE_CHECKING:
    from app.viewmodels.desk import DeskState


class PlanLine(QWidget):
    """A sentence; beside it a button to build, or progress and a button to cancel."""

    build_requested = Signal()
    cancel_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.label = QLabel()
        self.label.setObjectName("hint")
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.progress = QProgressBar()
        self.progress.setMaximumWidth(140)
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("How far the build is")
        self.build = QPushButton("Build it")
        self.build.setAccessibleName("Build the faster plan")
        self.cancel = QPushButton("Cancel the build")
        self.build.clicked.connect(self.build_requested)
        self.cancel.clicked.connect(self.cancel_requested)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addWidget(self.label, 1)
        for widget in (self.progress, self.build, self.cancel):
            layout.addWidget(widget)

    def apply(self, state: DeskState) -> None:
        """Show a state."""
        words = plan_words(state.warm_up, state.target)
        self.label.setText(words)
        self.setVisible(bool(words))
        building, waiting = state.warm_up.building, state.warm_up.waiting
        self.progress.setVisible(building)
        self.cancel.setVisible(building)  # first: focus goes on from a button that is hidden
        self.build.setVisible(state.can_warm_up)
        fraction = waiting.fraction if waiting is not None else None
        self.progress.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.progress.setValue(round(1000 * fraction))
