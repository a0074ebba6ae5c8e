"""Light or dark: what the system says, unless the user said otherwise.

Knows the system's scheme and the user's choice. Knows no panel: it says which theme holds now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

from app.theme import DARK, LIGHT, THEMES, Theme
from app.views.styling import apply_theme

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


class Appearance(QObject):
    """Dresses the application and says when that changes."""

    theme_changed = Signal(object)  # Theme

    def __init__(self, app: QApplication, choice: str) -> None:
        super().__init__()
        self._app = app
        self._choice = choice
        self._theme: Theme | None = None
        app.styleHints().colorSchemeChanged.connect(self._dress)
        self._dress()

    @property
    def theme(self) -> Theme:
        """The theme that holds now."""
        return self._theme or LIGHT

    @property
    def choice(self) -> str:
        """What the user chose: "system", "light" or "dark"."""
        return self._choice

    def choose(self, choice: str) -> None:
        """Follow the system, or stay light or dark."""
        self._choice = choice
        self._dress()

    def close(self) -> None:
        """Say nothing more: who listens is being taken down."""
        self._app.styleHints().colorSchemeChanged.disconnect(self._dress)
        self.blockSignals(True)

    def _dress(self) -> None:
        theme = self._wanted()
        if theme is not self._theme:
            self._theme = theme
            apply_theme(self._app, theme)
            self.theme_changed.emit(theme)

    def _wanted(self) -> Theme:
        if self._choice in THEMES:
            return THEMES[self._choice]
        return DARK if self._app.styleHints().colorScheme() is Qt.ColorScheme.Dark else LIGHT
