"""Qt's actions, menus and toolbar, made from the table. Says what was asked for; does nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QSizePolicy, QToolBar, QToolButton, QWidget

from app.actions import ACTIONS
from app.menus import MENUS, SEPARATOR, TOOLBAR
from app.painting.icons import icon

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.menus import Entry
    from app.theme import Theme
    from app.viewmodels.desk import DeskState

_PRIMARY = "run.start"


class ActionSet(QObject):
    """One QAction for each row of the table."""

    requested = Signal(str)  # an action's id

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        for row in ACTIONS.values():
            action = QAction(row.title, window)
            action.setObjectName(row.id)
            action.setStatusTip(row.help)
            action.setToolTip(f"{row.title} ({row.shortcut})" if row.shortcut else row.title)
            action.setCheckable(row.checkable)
            action.setMenuRole(_menu_role(row.id))
            if row.shortcut:
                action.setShortcut(QKeySequence(row.shortcut))
            if row.short:
                action.setIconText(row.short)
            action.triggered.connect(lambda _checked=False, name=row.id: self.requested.emit(name))
            window.addAction(action)
            self._actions[row.id] = action

    def __getitem__(self, name: str) -> QAction:
        return self._actions[name]

    def apply(self, state: DeskState) -> None:
        """Enable what makes sense now."""
        for name, action in self._actions.items():
            action.setEnabled(ACTIONS[name].enabled(state))

    def set_theme(self, theme: Theme) -> None:
        """Paint the icons in the theme's colours."""
        for name, action in self._actions.items():
            shape = ACTIONS[name].icon
            if shape:
                colour = theme.on_accent if name == _PRIMARY else theme.text
                action.setIcon(icon(shape, colour, theme.outline))

    def fill_menus(self, bar: QMenuBar, extra: Mapping[str, QMenu]) -> None:
        """Build the menus; `extra` menus stand where the table names them."""
        for title, entries in MENUS:
            self._fill(bar.addMenu(title), entries, extra)

    def _fill(self, menu: QMenu, entries: tuple[Entry, ...], extra: Mapping[str, QMenu]) -> None:
        for entry in entries:
            if isinstance(entry, tuple):
                title, inner = entry
                if len(inner) == 1 and inner[0] in extra:
                    given = extra[inner[0]]
                    given.setTitle(title)
                    menu.addMenu(given)
                else:
                    self._fill(menu.addMenu(title), inner, extra)
            elif entry == SEPARATOR:
                menu.addSeparator()
            else:
                menu.addAction(self._actions[entry])

    def fill_toolbar(self, bar: QToolBar, widgets: Mapping[str, QWidget]) -> None:
        """Build the toolbar; `widgets` stand where the table names them."""
        bar.setIconSize(QSize(16, 16))
        bar.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        for name in TOOLBAR:
            if name == "stretch":
                space = QWidget()
                space.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
                bar.addWidget(space)
            elif name == SEPARATOR:
                bar.addSeparator()
            elif name in widgets:
                bar.addWidget(widgets[name])
            else:
                bar.addAction(self._actions[name])
                self._dress(bar.widgetForAction(self._actions[name]), name)

    def _dress(self, button: QWidget, name: str) -> None:
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        button.setAccessibleName(ACTIONS[name].title)
        button.setAccessibleDescription(ACTIONS[name].help)
        if isinstance(button, QToolButton):
            button.setProperty("primary" if name == _PRIMARY else "quiet", True)


def _menu_role(name: str) -> QAction.MenuRole:
    roles = {
        "app.quit": QAction.MenuRole.QuitRole,
        "help.about": QAction.MenuRole.AboutRole,
    }
    return roles.get(name, QAction.MenuRole.NoRole)
