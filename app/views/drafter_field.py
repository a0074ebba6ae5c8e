"""The field of the drafter: a list, and with early exit how many layers draft. Widgets only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.viewmodels.prompt import drafter_label, early_layers, early_spec
from app.views.fields import combo_box, select, spin_box
from engine.drafters.names import EARLY

if TYPE_CHECKING:
    from collections.abc import Sequence

_CHOOSE = "\0choose"
_DRAFTERS = ("ngram", "head", EARLY, "none")
_MOST_LAYERS = 999  # the engine knows how many the target has


class DrafterField(QWidget):
    """Holds what `Settings.drafter` names."""

    edited = Signal()
    choose_requested = Signal()  # in the dialog

    def __init__(self) -> None:
        super().__init__()
        self.list = combo_box("Drafter", "What proposes tokens.")
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
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.list)
        column.addWidget(self.layers)
        self.setFocusProxy(self.list)
        self.list.activated.connect(self._choose)
        self.layers.valueChanged.connect(self._take)

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
        self._show_layers()

    def set_models(self, names: Sequence[str]) -> None:
        """Offer what every target has, and these small models."""
        with QSignalBlocker(self.list):
            self.list.clear()
            for spec in (*_DRAFTERS, *(f"model:{name}" for name in names)):
                self.list.addItem("early exit" if spec == EARLY else drafter_label(spec), spec)
            self.list.addItem("Choose or open…", _CHOOSE)
        self.set_spec(self._spec)

    def set_target_layers(self, layers: int, *, running: bool) -> None:
        """Take the number of layers that the target in memory has; a run can exit after fewer."""
        self._target_layers = layers
        with QSignalBlocker(self.layers):
            self.layers.setMaximum(layers - 1 if running and layers > 1 else _MOST_LAYERS)

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
            self._show_layers()
            self.edited.emit()

    def _show_layers(self) -> None:
        early = early_layers(self._spec)
        self.layers.setVisible(early > 0)
        self.layers.setSuffix(" layer" if early == 1 else " layers")
        if early:
            self.list.setToolTip(drafter_label(self._spec))
