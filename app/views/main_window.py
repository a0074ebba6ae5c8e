"""The window: it only assembles the text, the docks around it, menus, toolbar and status line.

Knows which wish came from where. Knows nothing of engines, files and figures.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QUrl, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QLabel,
    QMainWindow,
    QMenu,
    QToolBar,
    QVBoxLayout,
    QWidget,
)

from app.assets import asset_path
from app.geometry import FIRST_SIZE
from app.viewmodels.speeds import SPEEDS, nearest_speed, speed_label
from app.views.action_set import ActionSet
from app.views.banner import BannerArea
from app.views.docks import Docks
from app.views.status_line import StatusLine

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.desk import DeskState

OPENED_SUFFIXES = (".jsonl", ".jsonl.zst", ".json", ".log", ".txt", ".prom")
_WORDY = 1000  # from this width on the toolbar has words beside its icons


class MainWindow(QMainWindow):
    """The main window.

    Parameters
    ----------
    text
        The centre.
    panels
        What stands in the docks, by name.
    """

    speed_requested = Signal(object)  # float, or None for as it comes
    recent_requested = Signal(object)  # Path
    file_dropped = Signal(object)  # Path
    restored = Signal()  # no longer minimised
    closing = Signal()

    def __init__(self, text: QWidget, panels: Mapping[str, QWidget]) -> None:
        super().__init__()
        self.setWindowTitle("Draftscope")
        self.setWindowIcon(QIcon(str(asset_path("icons/draftscope.svg"))))
        self.setAcceptDrops(True)
        self.setMinimumSize(QSize(700, 400))
        self.resize(*FIRST_SIZE)
        self._panels = {"text": text, **panels}
        self.banners = BannerArea(heir=text)
        self.actions_ = ActionSet(self)
        self.recent = QMenu()
        self.actions_.fill_menus(self.menuBar(), {"recent": self.recent})
        self.speed = _speed_box()
        self.speed.activated.connect(self._ask_speed)
        self._toolbar = QToolBar("Toolbar")
        self._toolbar.setObjectName("toolbar")
        self._toolbar.setMovable(False)
        self._toolbar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self.actions_.fill_toolbar(self._toolbar, {"speed": self.speed, "speed_label": _caption()})
        self.addToolBar(self._toolbar)
        self.status = StatusLine()
        self.setStatusBar(self.status)
        self.setCentralWidget(self._centre(text))
        self.docks = Docks(self, panels)
        self.docks.arrange()
        for name, dock in self.docks.items():
            dock.visibilityChanged.connect(lambda _=False, name=name: self._mark_panel(name))

    def _centre(self, text: QWidget) -> QWidget:
        frame = QFrame()
        frame.setObjectName("centre")
        inside = QVBoxLayout(frame)
        inside.setContentsMargins(1, 1, 1, 1)
        inside.addWidget(text)
        centre = QWidget()
        layout = QVBoxLayout(centre)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        layout.addWidget(self.banners)
        layout.addWidget(frame, 1)
        return centre

    def apply(self, state: DeskState) -> None:
        """Show a state: what is enabled, what goes on."""
        self.actions_.apply(state)
        self.actions_["run.pause"].setVisible(state.moving)
        self.actions_["run.continue"].setVisible(not state.moving)
        self.status.apply(state)

    def set_theme(self, theme: Theme) -> None:
        """Repaint icons and banners."""
        self.actions_.set_theme(theme)
        self.banners.set_theme(theme)

    def set_speed(self, speed: float | None) -> None:
        """Show a presentation speed."""
        self.speed.setCurrentIndex(SPEEDS.index(nearest_speed(speed)))

    def set_recent(self, names: Sequence[str]) -> None:
        """Offer sessions that were opened or saved before."""
        self.recent.clear()
        for name in names:
            action = self.recent.addAction(Path(name).name.replace("&", "&&"))
            action.setStatusTip(name)
            action.setToolTip(name)
            action.triggered.connect(
                lambda _=False, name=name: self.recent_requested.emit(Path(name))
            )
        self.recent.setEnabled(bool(names))

    def toggle_panel(self, name: str) -> None:
        """Show a hidden panel, hide a shown one."""
        dock = self.docks[name]
        dock.setVisible(dock.isHidden())

    def go_to(self, name: str) -> None:
        """Show a panel and move the focus into it."""
        if name != "text":
            self.docks[name].show()
            self.docks[name].raise_()
        panel = self._panels[name]
        takes_keys = panel.focusPolicy() != Qt.FocusPolicy.NoFocus or panel.focusProxy()
        inner = panel if takes_keys else _first_focus(panel)
        inner.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the words off the toolbar where they would push its end out of sight."""
        super().resizeEvent(event)
        styles = Qt.ToolButtonStyle
        wide = self.width() >= _WORDY
        self._toolbar.setToolButtonStyle(
            styles.ToolButtonTextBesideIcon if wide else styles.ToolButtonIconOnly
        )

    def changeEvent(self, event: QEvent) -> None:
        """Tell when the window is to be seen again."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange and not self.isMinimized():
            self.restored.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide at once, then let everything end."""
        self.hide()
        self.closing.emit()
        event.accept()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take session files."""
        if any(_session(url) for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Ask for the first session file that was dropped."""
        for url in event.mimeData().urls():
            if _session(url):
                event.acceptProposedAction()
                self.file_dropped.emit(Path(url.toLocalFile()))
                return

    def _ask_speed(self, index: int) -> None:
        self.speed_requested.emit(SPEEDS[index])

    def _mark_panel(self, name: str) -> None:
        self.actions_[f"panel.{name}"].setChecked(not self.docks[name].isHidden())


def _session(url: QUrl) -> bool:
    return url.isLocalFile() and url.toLocalFile().lower().endswith(OPENED_SUFFIXES)


def _first_focus(panel: QWidget) -> QWidget:
    for child in panel.findChildren(QWidget):
        policy = child.focusPolicy() & Qt.FocusPolicy.TabFocus
        if policy and child.isEnabled() and not child.isHidden():
            return child
    return panel


def _speed_box() -> QComboBox:
    box = QComboBox()
    box.setAccessibleName("Presentation speed")
    box.setToolTip(
        "How fast verdicts fall. Other than as it comes, the engine waits for the picture, between "
        "rounds; its times are measured either way."
    )
    for speed in SPEEDS:
        box.addItem(speed_label(speed))
    return box


def _caption() -> QLabel:
    label = QLabel("Speed")
    label.setObjectName("field")
    return label
