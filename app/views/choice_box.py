"""A list to choose from that takes other words too. Knows titles and values, not what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QSizePolicy

from app.views.fields import describe

if TYPE_CHECKING:
    from collections.abc import Iterable


class ChoiceBox(QComboBox):
    """An editable list: what is typed stands for itself, what is chosen for its value."""

    edited = Signal()

    def __init__(self, name: str, help_text: str) -> None:
        super().__init__()
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(10)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        describe(self, name, help_text)
        self.activated.connect(self._show_start)
        self.currentTextChanged.connect(self.edited)

    def offer(self, choices: Iterable[tuple[str, str]], value: str) -> None:
        """Offer titles with their values, and choose a value, which need not be among them."""
        blocker = QSignalBlocker(self)
        self.clear()
        for title, own in choices:
            self.addItem(title, own)
        found = self.findData(value)
        if found >= 0:
            self.setCurrentIndex(found)
        else:
            self.setCurrentIndex(-1)
            self.setEditText(value)
        self._show_start()
        blocker.unblock()

    def value(self) -> str:
        """Return the value of what is chosen, or what was typed."""
        text = self.currentText()
        found = self.findText(text)
        return str(self.itemData(found)) if found >= 0 else text.strip()

    def _show_start(self) -> None:
        edit = self.lineEdit()
        if edit is not None:
            edit.setCursorPosition(0)
