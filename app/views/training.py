"""The dialog of trainings: what is to be made at the left, how it does at the right.

Widgets and input only: it says what was asked for; training is somebody else's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.throughput import nice_top
from app.viewmodels.training import POSITIONS, SHARED
from app.views.fields import describe
from app.views.plots import Line, Plot
from app.views.training_form import TrainingForm

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.training import Curves, TrainingModel

_ROLES = ("accepted", "target", "drafter", "residual")  # of the positions, each its own hue
_WAIT = "the first measurement on held-out text comes after some steps"


class TrainingDialog(QDialog):
    """Asks for a drafter and follows its training; closed, the training goes on."""

    start_requested = Signal()
    pause_requested = Signal()
    go_requested = Signal()
    stop_requested = Signal()
    cancel_requested = Signal()
    use_requested = Signal()
    resume_requested = Signal()
    discard_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Train a drafter")
        self.resize(880, 600)
        self.form = TrainingForm()
        self._make_parts()
        self._make_buttons()
        self._lay_out()

    def _make_parts(self) -> None:
        self.offer = QFrame()
        self.offer.setObjectName("banner")
        self.offer.setProperty("kind", "notice")
        self.unfinished = _words("")
        self.resume = QPushButton("Go on with it")
        self.discard = QPushButton("Discard it")
        row = QHBoxLayout(self.offer)
        row.setContentsMargins(12, 8, 8, 8)
        row.addWidget(self.unfinished, 1)
        row.addWidget(self.resume)
        row.addWidget(self.discard)
        self.words = _words("")
        self.words.setAccessibleName("How far the training is")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("How far the training is")
        self.loss = Plot(
            "loss, nats, by step",
            [Line("training", "muted"), Line("held out", "accent")],
            unit="step",
        )
        self.shares = Plot(
            "held out, %",
            [
                *(Line(f"position {n + 1}", _ROLES[n]) for n in range(POSITIONS)),
                Line("overlap at 1", "muted", dashed=True),
            ],
            unit="step",
        )
        self.shares.setToolTip(
            "Measured on text that training never saw. By position in the draft: the share of "
            "places where the drafter picks the target's likeliest token, having done so before it "
            "in the draft. Overlap: the mean of sum(min(p_target, q_draft)) at temperature 1."
        )
        self.best = _words("hint")
        self.shared = _words("hint")
        self.shared.setText(SHARED)

    def _make_buttons(self) -> None:
        self.start = QPushButton("Train")
        self.start.setProperty("primary", True)
        self.pause = QPushButton("Pause")
        self.go = QPushButton("Go on")
        self.stop = QPushButton("Stop and keep the best")
        self.cancel = QPushButton("Cancel the training")
        self.use = QPushButton("Use it")
        self.use.setProperty("primary", True)
        self.close_ = QPushButton("Close")
        describe(self.pause, "Pause", "Hold after the step under way.")
        describe(self.stop, "Stop", "End soon; the best drafter so far is saved.")
        describe(self.cancel, "Cancel the training", "End at once; nothing is left of it.")
        describe(self.use, "Use it", "Draft with it from now on.")
        describe(self.close_, "Close", "Close this; a training goes on without it.")
        for button, wish in (
            (self.start, self.start_requested),
            (self.pause, self.pause_requested),
            (self.go, self.go_requested),
            (self.stop, self.stop_requested),
            (self.cancel, self.cancel_requested),
            (self.use, self.use_requested),
            (self.resume, self.resume_requested),
            (self.discard, self.discard_requested),
        ):
            button.setAutoDefault(button is self.start)
            button.clicked.connect(wish)
        self.close_.setAutoDefault(False)
        self.close_.clicked.connect(self.reject)

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(8)
        for part, stretch in ((self.words, 0), (self.progress, 0), (self.loss, 2),
                              (self.shares, 3), (self.best, 0)):  # fmt: skip
            right.addWidget(part, stretch)
        columns = QHBoxLayout()
        columns.setSpacing(18)
        columns.addWidget(self.form, 2)
        columns.addLayout(right, 3)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        for button in (self.cancel, self.stop):
            buttons.addWidget(button)
        buttons.addStretch(1)
        for button in (self.pause, self.go, self.start, self.use, self.close_):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(self.offer)
        layout.addLayout(columns, 1)
        layout.addWidget(self.shared)
        layout.addLayout(buttons)

    def offer_unfinished(self, name: str) -> None:
        """Offer to go on with an unfinished training; "": there is none."""
        self.unfinished.setText(f"The training of {name} was left unfinished." if name else "")
        self.offer.setVisible(bool(name))

    def apply(self, model: TrainingModel, problem: str) -> None:
        """Show a training, with the buttons for what can be done with it at this moment."""
        under_way, phase = model.under_way, model.phase
        self.form.setEnabled(not under_way)
        self.form.say("" if under_way else problem)
        shown = {
            self.pause: phase == "going",
            self.go: phase == "paused",
            self.stop: under_way,
            self.cancel: under_way,
            self.start: not under_way,
            self.use: phase == "saved",
            self.close_: True,
        }
        focused = next((button for button in shown if button.hasFocus()), None)
        for button, visible in shown.items():
            button.setVisible(visible)
        if focused is not None and not shown[focused]:
            next(
                one for one in (self.pause, self.go, self.use, self.close_) if shown[one]
            ).setFocus()
        self.start.setEnabled(not problem)
        self.stop.setEnabled(phase != "stopping")
        self.offer.setVisible(bool(self.unfinished.text()) and not under_way)
        self.follow(model)

    def follow(self, model: TrainingModel) -> None:
        """Show how far a training is."""
        self.words.setText(model.words)
        best = model.accepted if model.phase != "saved" else ""
        self.best.setText(best)
        self.progress.setVisible(model.under_way)
        self.progress.setRange(0, 0 if model.fraction is None else 1000)
        if model.fraction is not None:
            self.progress.setValue(round(1000 * model.fraction))
        self._plot(model.curves())

    def _plot(self, curves: Curves) -> None:
        losses = (curves.loss, curves.held_out_loss)
        top = max(one[np.isfinite(one)].max(initial=0.0) for one in losses)
        self.loss.set_readout(curves.read_loss)
        self.loss.set_values(losses, top=nice_top(top), note="no step yet", at=curves.steps)
        values = (*curves.greedy, curves.overlap)
        self.shares.set_readout(curves.read_accepted)
        self.shares.set_values(values, top=100.0, note=_WAIT, at=curves.evaluated)

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        for plot in (self.loss, self.shares):
            plot.set_theme(theme)


def _words(name: str) -> QLabel:
    label = QLabel()
    label.setObjectName(name)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label
