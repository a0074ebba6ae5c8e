"""The command palette: type a part of an action's name, Return does it. Knows only the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout

from app.actions import ACTIONS, matching

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.viewmodels.desk import DeskState

_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -8,
    Qt.Key.Key_PageDown: 8,
}


class CommandPalette(QDialog):
    """Finds actions by their names and helps."""

    requested = Signal(str)  # an action's id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Command palette")
        self.resize(560, 400)
        self._state: DeskState | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Find an action")
        self.field.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Actions")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hint = QLabel()
        self.hint.setObjectName("hint")
        self.hint.setWordWrap(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, 12, 12, 12)
        layout.setSpacing(8)
        layout.addWidget(self.field)
        layout.addWidget(self.list, 1)
        layout.addWidget(self.hint)
        self.field.textChanged.connect(self._search)
        self.field.returnPressed.connect(self._take)
        self.field.installEventFilter(self)
        self.list.itemClicked.connect(lambda _item: self._take())
        self.list.currentItemChanged.connect(self._explain)

    def open_for(self, state: DeskState) -> None:
        """Show the palette, empty, with what makes sense in this state."""
        self._state = state
        self.field.clear()
        self._search("")
        self.show()
        self.raise_()
        self.field.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Move the selection with the arrow keys while the field has the focus."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = _STEPS.get(Qt.Key(event.key()))
            if step is not None:
                last = self.list.count() - 1
                self.list.setCurrentRow(max(0, min(last, self.list.currentRow() + step)))
                return True
        return super().eventFilter(watched, event)

    def _search(self, query: str) -> None:
        self.list.clear()
        for action in matching(query):
            keys = QKeySequence(action.shortcut).toString(QKeySequence.SequenceFormat.NativeText)
            item = QListWidgetItem(f"{action.title}    {keys}" if keys else action.title)
            item.setData(Qt.ItemDataRole.UserRole, action.id)
            if self._state is not None and not action.enabled(self._state):
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self.list.addItem(item)
        self.list.setCurrentRow(0)
        self._explain()

    def _explain(self) -> None:
        item = self.list.currentItem()
        if item is None:
            self.hint.setText("No action is called that.")
            return
        action = ACTIONS[item.data(Qt.ItemDataRole.UserRole)]
        enabled = bool(item.flags() & Qt.ItemFlag.ItemIsEnabled)
        self.hint.setText(action.help if enabled else f"{action.help} Not now.")

    def _take(self) -> None:
        item = self.list.currentItem()
        if item is None or not item.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        name = str(item.data(Qt.ItemDataRole.UserRole))
        self.accept()
        self.requested.emit(name)
