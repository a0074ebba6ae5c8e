"""The fields of a training: what is made, from which text, for how long. Widgets and input only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.prompt import target_label
from app.viewmodels.training_plan import (
    HEAD_DIM,
    MOST_LAYERS,
    MOST_MINUTES,
    MOST_TOKENS,
    MOST_WIDTH,
    TrainingPlan,
)
from app.views.fields import describe, field_label, segment, spin_box
from app.views.plain_tips import plain_tip
from engine.drafters.names import HEAD, SMALL

if TYPE_CHECKING:
    from collections.abc import Iterable

_LIST_ROWS = 3


class TrainingForm(QWidget):
    """Edits a `TrainingPlan`."""

    edited = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._plan = TrainingPlan(target="")
        self._make_fields()
        self._lay_out()
        self._kinds.buttonClicked.connect(self._edit)
        for spin in (self.layers, self.width_, self.own, self.minutes):
            spin.valueChanged.connect(self._edit)
        self.name.textEdited.connect(self._edit)
        self.add.clicked.connect(self.ask_for_files)
        self.remove.clicked.connect(self._remove)
        self.files.itemSelectionChanged.connect(self._show_what_decides)
        self.set_plan(self._plan)

    def _make_fields(self) -> None:
        self.target = QLabel()
        self.target.setTextFormat(Qt.TextFormat.PlainText)
        self.target.setAccessibleName("Target")
        self.head = segment("Head", "One layer on the target's hidden states: cheapest to run.")
        self.small = segment("Small model", "A small model of the target's vocabulary.")
        self._kinds = QButtonGroup(self)
        for button in (self.head, self.small):
            self._kinds.addButton(button)
        self.layers = spin_box("Layers", "Of the small model: more accept more, and cost more.", 0)
        self.layers.setRange(1, MOST_LAYERS)
        self.width_ = spin_box("Width", f"Of the small model, a multiple of {HEAD_DIM}.", 0)
        self.width_.setRange(HEAD_DIM, MOST_WIDTH)
        self.width_.setSingleStep(HEAD_DIM)
        self.own = spin_box(
            "The target's own text",
            "How many tokens the target writes to be trained on; 0: none. More is better.",
            MOST_TOKENS,
        )
        self.own.setSingleStep(50_000)
        self.own.setGroupSeparatorShown(True)
        self.own.setSuffix(" tokens")
        self.minutes = spin_box("Time", "Training itself takes no longer than this.", 0)
        self.minutes.setRange(1, MOST_MINUTES)
        self.minutes.setSuffix(" min")
        self.name = QLineEdit()
        describe(self.name, "Name", "What the drafter is called in the list.")
        self.files = QListWidget()
        describe(self.files, "Your files", "Plain text of the kind that is to be drafted.")
        self.files.setFixedHeight(_LIST_ROWS * (self.files.fontMetrics().height() + 12) + 4)
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.add = QPushButton("Add files…")
        self.remove = QPushButton("Remove")
        describe(self.remove, "Remove", "Take the selected file from the list.")
        self.problem = QLabel()
        self.problem.setObjectName("hint")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)

    def _lay_out(self) -> None:
        kinds = QHBoxLayout()
        kinds.setSpacing(0)
        for button in (self.head, self.small):
            kinds.addWidget(button)
        kinds.addStretch(1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.add)
        buttons.addWidget(self.remove)
        buttons.addStretch(1)
        rows = QFormLayout()
        rows.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        rows.setHorizontalSpacing(10)
        rows.setVerticalSpacing(8)
        rows.addRow(field_label("For the target", self.target), self.target)
        rows.addRow(field_label("&Kind", self.head), kinds)
        rows.addRow(field_label("&Layers", self.layers), self.layers)
        rows.addRow(field_label("&Width", self.width_), self.width_)
        rows.addRow(field_label("Its &own text", self.own), self.own)
        rows.addRow(field_label("Your &files", self.files), self.files)
        rows.addRow("", buttons)
        rows.addRow(field_label("&Time", self.minutes), self.minutes)
        rows.addRow(field_label("&Name", self.name), self.name)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        layout.addLayout(rows)
        layout.addWidget(self.problem)
        layout.addStretch(1)

    @property
    def plan(self) -> TrainingPlan:
        """What the fields ask for."""
        return self._plan

    def set_plan(self, plan: TrainingPlan) -> None:
        """Fill the fields; says nothing."""
        self._plan = plan
        fields = (self.layers, self.width_, self.own, self.minutes, self.name)
        blockers = [QSignalBlocker(field) for field in fields]
        self.target.setText(target_label(plan.target))
        (self.small if plan.kind == SMALL else self.head).setChecked(True)
        self.layers.setValue(plan.layers)
        self.width_.setValue(plan.width)
        self.own.setValue(plan.own_tokens)
        self.minutes.setValue(plan.minutes)
        self.name.setText(plan.name)
        self.files.clear()
        self._list(plan.files)
        for blocker in blockers:
            blocker.unblock()
        self._show_what_decides()

    def say(self, problem: str) -> None:
        """Show why this cannot be trained, or nothing."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))

    def ask_for_files(self) -> None:
        """Ask for text files, and add them to the list."""
        paths, _ = QFileDialog.getOpenFileNames(self, "Text to train on")
        self.add_files(paths)

    def add_files(self, paths: Iterable[str]) -> None:
        """Add files to the list; those that are on it stay once."""
        there = set(self._plan.files)
        self._list(path for path in dict.fromkeys(paths) if path not in there)
        self._edit()

    def _list(self, paths: Iterable[str]) -> None:
        for path in paths:
            item = QListWidgetItem(Path(path).name)
            item.setData(Qt.ItemDataRole.UserRole, path)
            item.setToolTip(plain_tip(path))
            self.files.addItem(item)

    def _remove(self) -> None:
        for item in self.files.selectedItems():
            self.files.takeItem(self.files.row(item))
        self._edit()

    def _edit(self, *_: object) -> None:
        files = (self.files.item(row) for row in range(self.files.count()))
        self._plan = TrainingPlan(
            target=self._plan.target,
            name=self.name.text().strip(),
            kind=SMALL if self.small.isChecked() else HEAD,
            layers=self.layers.value(),
            width=self.width_.value(),
            own_tokens=self.own.value(),
            files=tuple(str(item.data(Qt.ItemDataRole.UserRole)) for item in files),
            minutes=self.minutes.value(),
        )
        self._show_what_decides()
        self.edited.emit()

    def _show_what_decides(self) -> None:
        for field in (self.layers, self.width_):
            field.setEnabled(self._plan.kind == SMALL)
        self.remove.setEnabled(bool(self.files.selectedItems()))
