"""The command palette: type a part of an action's name, Return does it. Knows only the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QPainter, QPalette
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
)

from app.actions import ACTIONS, matching

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.viewmodels.desk import DeskState

_KEYS = Qt.ItemDataRole.UserRole + 1
_SIZE = (580, 420)

_STEPS = {
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_PageUp: -8,
    Qt.Key.Key_PageDown: 8,
}


class _KeysAtTheRight(QStyledItemDelegate):
    """Writes an action's keys at the right of its row."""

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        super().paint(painter, option, index)
        palette: QPalette = option.palette
        painter.setPen(palette.color(QPalette.ColorRole.PlaceholderText))
        box = option.rect.adjusted(0, 0, -10, 0)
        keys = str(index.data(_KEYS) or "")
        painter.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, keys)


class CommandPalette(QFrame):
    """Finds actions by their names and helps; a popup over the window."""

    requested = Signal(str)  # an action's id

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("palette")
        self.setAccessibleName("Command palette")
        self.resize(*_SIZE)
        self._state: DeskState | None = None
        self.field = QLineEdit()
        self.field.setPlaceholderText("What do you want to do?")
        self.field.setAccessibleName("Find an action")
        self.field.setClearButtonEnabled(True)
        self.list = QListWidget()
        self.list.setAccessibleName("Actions")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_KeysAtTheRight(self.list))
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
        window = self.parentWidget()
        if window is not None:
            left = max(0, (window.width() - self.width()) // 2)
            self.move(window.mapToGlobal(QPoint(left, min(72, window.height() // 8))))
        self.show()
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
            item = QListWidgetItem(action.title)
            item.setData(Qt.ItemDataRole.UserRole, action.id)
            item.setData(_KEYS, keys)
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
        self.close()
        self.requested.emit(name)
