"""The docks around the text: made once, arranged well at first, restored by name.

Knows names, titles and places. Knows nothing of what stands in a dock.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtWidgets import QDockWidget, QFrame, QMainWindow, QVBoxLayout

from app.actions import PANELS
from app.views.roomy import RoomyPanel

if TYPE_CHECKING:
    from collections.abc import Mapping

    from PySide6.QtWidgets import QWidget

ARRANGEMENT_VERSION = 1

_LEFT = Qt.DockWidgetArea.LeftDockWidgetArea
_RIGHT = Qt.DockWidgetArea.RightDockWidgetArea
_BOTTOM = Qt.DockWidgetArea.BottomDockWidgetArea

# Shares of the window at first: the columns of the top row, the row below, and its columns.
_WIDTHS = {"prompt": 0.225, "court": 0.31}
_TOP = frozenset(_WIDTHS)  # these scroll inside themselves
_BELOW = 0.345
_BELOW_WIDTHS = {"timeline": 0.38, "acceptance": 0.31, "throughput": 0.31}
_NARROW = 1200  # a narrower window has two panels below, with the others as their tabs
_NARROW_BELOW_WIDTHS = {"timeline": 0.5, "acceptance": 0.5}


class Docks:
    """The docks of a main window.

    Parameters
    ----------
    window
        Gets the docks.
    panels
        What stands in each, by name; the text is not among them, it is the centre.
    """

    def __init__(self, window: QMainWindow, panels: Mapping[str, QWidget]) -> None:
        self._window = window
        self._docks: dict[str, QDockWidget] = {}
        titles = dict(PANELS)
        for name, panel in panels.items():
            self._docks[name] = _dock(name, titles[name], panel)
        window.setDockOptions(
            QMainWindow.DockOption.AnimatedDocks
            | QMainWindow.DockOption.AllowNestedDocks
            | QMainWindow.DockOption.AllowTabbedDocks
        )
        window.setCorner(Qt.Corner.BottomLeftCorner, _BOTTOM)
        window.setCorner(Qt.Corner.BottomRightCorner, _BOTTOM)

    def __getitem__(self, name: str) -> QDockWidget:
        return self._docks[name]

    def items(self) -> list[tuple[str, QDockWidget]]:
        """Return the docks with their names."""
        return list(self._docks.items())

    def arrange(self) -> None:
        """Put every dock where it stands at first."""
        window, docks = self._window, self._docks
        for dock in docks.values():
            dock.setFloating(False)
            window.removeDockWidget(dock)
        window.addDockWidget(_LEFT, docks["prompt"])
        window.addDockWidget(_RIGHT, docks["court"])
        window.addDockWidget(_BOTTOM, docks["timeline"])
        window.splitDockWidget(docks["timeline"], docks["acceptance"], Qt.Orientation.Horizontal)
        if self._narrow:
            window.tabifyDockWidget(docks["acceptance"], docks["throughput"])
        else:
            window.splitDockWidget(
                docks["acceptance"], docks["throughput"], Qt.Orientation.Horizontal
            )
        window.tabifyDockWidget(docks["timeline"], docks["caches"])
        for dock in docks.values():
            dock.show()
        docks["timeline"].raise_()
        docks["acceptance"].raise_()
        self._share_out()

    @property
    def _narrow(self) -> bool:
        return self._window.width() < _NARROW

    def _share_out(self) -> None:
        size = self._window.size()
        self._resize(_WIDTHS, size.width(), Qt.Orientation.Horizontal)
        self._resize({"timeline": _BELOW}, size.height(), Qt.Orientation.Vertical)
        below = _NARROW_BELOW_WIDTHS if self._narrow else _BELOW_WIDTHS
        self._resize(below, size.width(), Qt.Orientation.Horizontal)

    def _resize(self, shares: Mapping[str, float], whole: int, along: Qt.Orientation) -> None:
        docks = [self._docks[name] for name in shares]
        self._window.resizeDocks(docks, [round(share * whole) for share in shares.values()], along)

    def close(self) -> None:
        """Say nothing more: a dock that is taken down tells of that as if it were being hidden."""
        for dock in self._docks.values():
            dock.blockSignals(True)

    def saved(self) -> str:
        """Return the arrangement as text."""
        return bytes(self._window.saveState(ARRANGEMENT_VERSION).toBase64().data()).decode()

    def restore(self, text: str) -> bool:
        """Take up an arrangement; return False, and change nothing, if it makes no sense."""
        state = QByteArray.fromBase64(text.encode())
        return bool(text) and self._window.restoreState(state, ARRANGEMENT_VERSION)


def _dock(name: str, title: str, panel: QWidget) -> QDockWidget:
    dock = QDockWidget(title)
    dock.setObjectName(name)
    frame = QFrame()
    frame.setObjectName("panel")
    layout = QVBoxLayout(frame)
    layout.setContentsMargins(1, 0, 1, 1)
    layout.addWidget(panel if name in _TOP else RoomyPanel(panel))
    dock.setWidget(frame)
    return dock
