"""The field of the drafter: a list, and with early exit how many layers draft. Widgets only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QListView, QVBoxLayout, QWidget

from app.viewmodels.drafters import drafter_choices
from app.viewmodels.prompt import drafter_label, early_layers, early_spec
from app.views.drafter_rows import DETAIL, DrafterRows
from app.views.elided import ElidedLabel
from app.views.fields import combo_box, select, spin_box
from app.views.plain_tips import plain_tip
from engine.drafters.names import EARLY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Theme
    from app.viewmodels.drafters import DrafterChoice

_CHOOSE = "\0choose"
_SPEC = int(Qt.ItemDataRole.UserRole)
_MOST_LAYERS = 999  # the engine knows how many the target has
_WIDEST_LIST = 560


class DrafterField(QWidget):
    """Holds what `Settings.drafter` names."""

    edited = Signal()
    choose_requested = Signal()  # in the dialog

    def __init__(self) -> None:
        super().__init__()
        self.list = combo_box("Drafter", "What proposes tokens.")
        self._rows = QStandardItemModel(self)
        self.list.setModel(self._rows)
        self.list.setView(QListView())
        self._painter = DrafterRows(self.list)
        self.list.setItemDelegate(self._painter)
        self.detail = ElidedLabel()  # of the one chosen
        self.layers = spin_box(
            "Layers of early exit",
            "The target's first layers that draft; about five sixths of them is a good start.",
            _MOST_LAYERS,
        )
        self.layers.setMinimum(1)
        self.layers.setPrefix("first ")
        self.layers.hide()
        self._target_layers = 0  # 0: not known
        self._spec = ""
        self._choices: dict[str, DrafterChoice] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        for part in (self.list, self.detail, self.layers):
            column.addWidget(part)
        self.setFocusProxy(self.list)
        self.list.activated.connect(self._choose)
        self.layers.valueChanged.connect(self._take)
        self.set_choices(drafter_choices((), ()))

    @property
    def spec(self) -> str:
        """The drafter chosen."""
        return self._spec

    def set_spec(self, spec: str) -> None:
        """Show this drafter; says nothing."""
        self._spec = spec
        early = early_layers(spec)
        with QSignalBlocker(self.list), QSignalBlocker(self.layers):
            if early:
                self.layers.setValue(early)
            select(self.list, EARLY if early else spec, drafter_label(spec))
        self._show_chosen()

    def set_choices(self, choices: Sequence[DrafterChoice]) -> None:
        """Offer these drafters; those that cannot draft for the target are pale, and say why."""
        self._choices = {choice.spec: choice for choice in choices}
        with QSignalBlocker(self.list):
            self._rows.clear()
            for choice in choices:
                self._rows.appendRow(_item(choice))
            last = QStandardItem("Choose or open…")
            last.setData(_CHOOSE, _SPEC)
            self._rows.appendRow(last)
            view = self.list.view()
            view.setMinimumWidth(min(_WIDEST_LIST, view.sizeHintForColumn(0) + 24))
        self.set_spec(self._spec)

    def set_target_layers(self, layers: int, *, running: bool) -> None:
        """Take the number of layers that the target in memory has; a run can exit after fewer."""
        self._target_layers = layers
        with QSignalBlocker(self.layers):
            self.layers.setMaximum(layers - 1 if running and layers > 1 else _MOST_LAYERS)

    def set_theme(self, theme: Theme) -> None:
        """Take all colours from this theme."""
        self._painter.set_theme(theme)
        self.detail.set_theme(theme)

    def _choose(self) -> None:
        data = self.list.currentData()
        if data == _CHOOSE:
            self.set_spec(self._spec)
            self.choose_requested.emit()
            return
        if data == EARLY and not early_layers(self._spec):
            with QSignalBlocker(self.layers):
                self.layers.setValue(early_layers(early_spec(self._target_layers)))
        self._take()

    def _take(self) -> None:
        data = self.list.currentData()
        spec = f"{EARLY}{self.layers.value()}" if data == EARLY else str(data)
        if spec != self._spec:
            self._spec = spec
            self._show_chosen()
            self.edited.emit()

    def _show_chosen(self) -> None:
        early = early_layers(self._spec)
        self.layers.setVisible(early > 0)
        self.layers.setSuffix(" layer" if early == 1 else " layers")
        choice = self._choices.get(EARLY if early else self._spec)
        tip = choice.tip if choice is not None else drafter_label(self._spec)
        self.detail.set_text("" if choice is None else choice.detail)
        for part in (self.list, self.detail):
            part.setToolTip(plain_tip(tip))


def _item(choice: DrafterChoice) -> QStandardItem:
    item = QStandardItem(choice.title)
    item.setData(choice.spec, _SPEC)
    item.setData(choice.detail, DETAIL)
    item.setToolTip(plain_tip(choice.tip))
    item.setEnabled(choice.usable)
    return item
