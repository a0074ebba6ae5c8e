"""The dialog of models: target and drafter from a list, a folder or a .gguf file.

Widgets and input only: it says what was chosen; loading is somebody else's work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.viewmodels.drafters import DrafterChoice
from app.viewmodels.prompt import drafter_label, target_label
from app.views.plain_tips import plain_tip
from app.views.plan_line import PlanLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.viewmodels.models import ModelChoice


class ModelsDialog(QDialog):
    """Chooses a target and a drafter."""

    chosen = Signal(str, str)  # target, drafter: use them with the next run
    load_requested = Signal(str, str)  # target, drafter: load them now
    fetch_requested = Signal(str)  # a name of the list

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Models")
        self.resize(760, 440)
        self.targets = _ModelList("Targets", "The model whose distribution the text follows.")
        self.drafters = _ModelList("Drafters", "What proposes tokens.")
        self.targets.folder_requested.connect(lambda: self.open_folder("target"))
        self.targets.file_requested.connect(lambda: self.open_file("target"))
        self.drafters.folder_requested.connect(lambda: self.open_folder("drafter"))
        self.drafters.file_requested.connect(lambda: self.open_file("drafter"))
        self.plan = PlanLine()
        self.buttons = QDialogButtonBox()
        box = QDialogButtonBox.ButtonRole
        self.use = self.buttons.addButton("Use", box.AcceptRole)
        self.use.setProperty("primary", True)
        self.load = self.buttons.addButton("Load now", box.ApplyRole)
        self.fetch = self.buttons.addButton("Fetch", box.ActionRole)
        self.buttons.addButton(QDialogButtonBox.StandardButton.Cancel)
        self.buttons.accepted.connect(self._use)
        self.buttons.rejected.connect(self.reject)
        self.load.clicked.connect(self._load)
        self.fetch.clicked.connect(self._fetch)
        self.targets.list.currentItemChanged.connect(self._refresh)
        self.drafters.list.currentItemChanged.connect(self._refresh)
        columns = QHBoxLayout()
        columns.setSpacing(14)
        columns.addWidget(self.targets)
        columns.addWidget(self.drafters)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addLayout(columns, 1)
        layout.addWidget(self.plan)
        layout.addWidget(self.buttons)

    def offer(
        self,
        choices: Sequence[ModelChoice],
        drafters: Sequence[DrafterChoice],
        target: str,
        drafter: str,
    ) -> None:
        """Fill both lists and select what is in use."""
        rows = [DrafterChoice(one.name, one.title, one.detail, one.name) for one in choices]
        self.targets.fill(rows, target, target_label(target), "opened by you")
        self.drafters.fill(drafters, drafter, drafter_label(drafter), "opened by you")
        self._absent = {choice.name for choice in choices if not choice.present}
        self._refresh()

    def open_folder(self, role: str) -> None:
        """Ask for a folder with config.json and safetensors, and select it."""
        path = QFileDialog.getExistingDirectory(self, f"Open a {role} from its folder")
        if path:
            self.select(role, path)

    def open_file(self, role: str) -> None:
        """Ask for a .gguf file, and select it."""
        path, _ = QFileDialog.getOpenFileName(
            self, f"Open a {role} from a file", "", "GGUF models (*.gguf)"
        )
        if path:
            self.select(role, path)

    def select(self, role: str, path: str) -> None:
        """Put a path among the targets or the drafters, selected; Enter then uses it."""
        if role == "target":
            self.targets.select(path, target_label(path), path)
            self.targets.list.setFocus()
        else:
            spec = f"model:{path}"
            self.drafters.select(spec, drafter_label(spec), path)
            self.drafters.list.setFocus()

    _absent: set[str] = frozenset()  # type: ignore[assignment]  # empty until something is offered

    def _use(self) -> None:
        self.chosen.emit(self.targets.value, self.drafters.value)
        self.accept()

    def _load(self) -> None:
        self.load_requested.emit(self.targets.value, self.drafters.value)
        self.accept()

    def _fetch(self) -> None:
        for name in self._missing():
            self.fetch_requested.emit(name)
        self.accept()

    def _missing(self) -> list[str]:
        wanted = (self.targets.value, self.drafters.value.removeprefix("model:"))
        return [name for name in dict.fromkeys(wanted) if name in self._absent]

    def _refresh(self) -> None:
        missing = self._missing()
        self.fetch.setVisible(bool(missing))
        self.fetch.setText(f"Fetch {' and '.join(missing)}")
        usable = bool(self.targets.value) and bool(self.drafters.value) and not missing
        self.use.setEnabled(usable)
        self.load.setEnabled(usable)


class _ModelList(QWidget):
    """A titled list with two buttons to open something that is not on it."""

    folder_requested = Signal()
    file_requested = Signal()

    def __init__(self, title: str, help_text: str) -> None:
        super().__init__()
        heading = QLabel(title)
        heading.setObjectName("heading")
        hint = QLabel(help_text)
        hint.setObjectName("hint")
        self.list = QListWidget()
        self.list.setAccessibleName(title)
        self.list.setAccessibleDescription(help_text)
        self.list.setUniformItemSizes(False)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        folder = QPushButton("Open folder…")
        file = QPushButton("Open .gguf…")
        folder.setAccessibleName(f"{title}: open a folder")
        file.setAccessibleName(f"{title}: open a GGUF file")
        folder.clicked.connect(self.folder_requested)
        file.clicked.connect(self.file_requested)
        buttons = QHBoxLayout()
        buttons.addWidget(folder)
        buttons.addWidget(file)
        buttons.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        for widget in (heading, hint, self.list):
            layout.addWidget(widget)
        layout.addLayout(buttons)

    @property
    def value(self) -> str:
        item = self.list.currentItem()
        return str(item.data(Qt.ItemDataRole.UserRole)) if item is not None else ""

    def fill(self, rows: Sequence[DrafterChoice], value: str, title: str, detail: str) -> None:
        self.list.clear()
        for row in rows:
            self._add(row)
        self.select(value, title, detail)

    def select(self, value: str, title: str, detail: str) -> None:
        for index in range(self.list.count()):
            if self.list.item(index).data(Qt.ItemDataRole.UserRole) == value:
                self.list.setCurrentRow(index)
                return
        self._add(DrafterChoice(value, title, detail, value))
        self.list.setCurrentRow(self.list.count() - 1)

    def _add(self, row: DrafterChoice) -> None:
        item = QListWidgetItem(f"{row.title}\n{row.detail}")
        item.setData(Qt.ItemDataRole.UserRole, row.spec)
        item.setToolTip(plain_tip(row.tip))
        if not row.usable:
            item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
        self.list.addItem(item)
