"""The dialog of exports: formats at the left, what the chosen one takes, and a preview below it.

Widgets and input only: it says what is wished for; writing is somebody else's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.geometry import FRAME
from app.viewmodels.export_plan import ExportPlan, formats_offered
from app.views.export_form import ExportForm
from app.views.export_preview import ExportPreview
from app.views.fields import describe

if TYPE_CHECKING:
    from PySide6.QtGui import QShowEvent

    from app.theme import Theme

_SIZE = QSize(980, 720)
_LIST_WIDTH = 212


class ExportDialog(QDialog):
    """Asks for an export and follows it; closed, the export goes on."""

    edited = Signal(bool)  # whether another format was chosen
    export_requested = Signal()
    cancel_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Export")
        room = self.screen().availableSize() - QSize(*FRAME)
        self.resize(_SIZE.boundedTo(room))  # its buttons in sight on a small screen too
        self.formats = QListWidget()
        describe(self.formats, "Format", "What the session becomes.")
        self.formats.setFixedWidth(_LIST_WIDTH)
        self.formats.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for made in formats_offered():
            item = QListWidgetItem(made.title)
            item.setData(Qt.ItemDataRole.UserRole, made.name)
            item.setToolTip(made.what)
            item.setData(Qt.ItemDataRole.AccessibleDescriptionRole, made.what)
            self.formats.addItem(item)
        self.what = QLabel()
        self.what.setObjectName("heading")
        self.what.setTextFormat(Qt.TextFormat.PlainText)
        self.what.setWordWrap(True)
        self.form = ExportForm()
        self.preview = ExportPreview()
        self.problem = QLabel()
        self.problem.setObjectName("problem")
        self.problem.setTextFormat(Qt.TextFormat.PlainText)
        self.problem.setWordWrap(True)
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setAccessibleName("How far the export is")
        self.words = QLabel()
        self.words.setObjectName("hint")
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.start = QPushButton("Export…")
        self.start.setProperty("primary", True)
        self.start.setDefault(True)
        self.cancel = QPushButton("Cancel the export")
        self.close_ = QPushButton("Close")
        describe(self.start, "Export", "Choose where the file goes, and write it.")
        describe(self.cancel, "Cancel the export", "End it; nothing half-written stays.")
        describe(self.close_, "Close", "Close this; an export under way goes on.")
        for button in (self.cancel, self.close_):
            button.setAutoDefault(False)
        self.start.clicked.connect(self.export_requested)
        self.cancel.clicked.connect(self.cancel_requested)
        self.close_.clicked.connect(self.reject)
        self.form.edited.connect(lambda: self.edited.emit(False))
        self.formats.currentRowChanged.connect(self._choose)
        self._lay_out()
        self.follow(None, "")

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(self.what)
        right.addWidget(self.form)
        right.addWidget(self.problem)
        right.addWidget(self.preview, 1)
        columns = QHBoxLayout()
        columns.setSpacing(18)
        columns.addWidget(self.formats)
        columns.addLayout(right, 1)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addWidget(self.words, 2)
        buttons.addWidget(self.progress, 1)
        for button in (self.cancel, self.start, self.close_):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(columns, 1)
        layout.addLayout(buttons)

    def showEvent(self, event: QShowEvent) -> None:
        """Lay the list out as the style dresses it: it was filled before that."""
        super().showEvent(event)
        self.formats.doItemsLayout()
        self.formats.scrollToItem(self.formats.currentItem())

    @property
    def plan(self) -> ExportPlan:
        """What is asked for."""
        return self.form.plan

    def set_plan(self, plan: ExportPlan) -> None:
        """Show a plan; says nothing."""
        blocker = QSignalBlocker(self.formats)
        names = [made.name for made in formats_offered()]
        self.formats.setCurrentRow(names.index(plan.format))
        blocker.unblock()
        self.form.set_plan(plan)
        self._explain()

    def say(self, problem: str, *, running: bool) -> None:
        """Show why this cannot be exported, or nothing; offer what can be done."""
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        self.start.setEnabled(not problem and not running)
        self.cancel.setVisible(running)

    def follow(self, fraction: float | None, words: str) -> None:
        """Show how far an export is: None, nobody knows; no words, none is under way."""
        self.progress.setVisible(bool(words))
        self.words.setText(words)
        self.words.setStyleSheet("")
        self.progress.setRange(0, 0 if fraction is None else 1000)
        if fraction is not None:
            self.progress.setValue(round(1000 * fraction))

    def tell(self, words: str, *, failed: bool = False) -> None:
        """Say how an export ended, a failure as loudly as a wrong choice."""
        self.progress.hide()
        self.words.setText(words)
        self.words.setStyleSheet(self.problem.styleSheet() if failed else "")

    def set_theme(self, theme: Theme) -> None:
        """Take a theme's colours."""
        self.preview.set_theme(theme)
        self.problem.setStyleSheet(f"color: {theme.error};")

    def _choose(self, row: int) -> None:
        made = formats_offered()[row]
        self.form.set_plan(msgspec.structs.replace(self.form.plan, format=made.name))
        self._explain()
        self.edited.emit(True)

    def _explain(self) -> None:
        self.what.setText(self.form.plan.made.what)
