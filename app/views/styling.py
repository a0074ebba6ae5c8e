"""Turn a theme into Qt's own terms: a palette and a style sheet.

Knows roles and widgets' kinds. Knows no panel: what a panel paints is its own business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory

from app.assets import asset_path
from app.fonts import ui_font
from app.views.stylesheet import SHEET

if TYPE_CHECKING:
    from app.theme import Theme

_ICONS = ("chevron-down", "chevron-up", "chevron-right", "close", "float")


def palette(theme: Theme) -> QPalette:
    """Return the palette of a theme, with disabled text told apart."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.base,
        role.AlternateBase: theme.raised,
        role.Text: theme.text,
        role.PlaceholderText: theme.muted,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.error,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Link: theme.accent,
        role.LinkVisited: theme.accent,
        role.Light: theme.raised,
        role.Midlight: theme.hover,
        role.Mid: theme.border,
        role.Dark: theme.outline,
        role.Shadow: theme.outline,
    }
    result = QPalette()
    for which, colour in colours.items():
        result.setColor(which, QColor(colour))
    for which in (role.WindowText, role.Text, role.ButtonText):
        result.setColor(QPalette.ColorGroup.Disabled, which, QColor(theme.outline))
    result.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.border))
    return result


def stylesheet(theme: Theme) -> str:
    """Return the style sheet of a theme."""
    names = {field: value for field, value in vars(theme).items() if isinstance(value, str)}
    names |= {name.replace("-", "_"): _icon(name) for name in _ICONS}
    names["check"] = _icon("check-light" if theme.name == "light" else "check-dark")
    return SHEET.substitute(names)


def apply_theme(app: QApplication, theme: Theme) -> None:
    """Give the whole application this theme, and the bundled font."""
    if app.style().name().lower() != "fusion":
        app.setStyle(QStyleFactory.create("Fusion"))
    app.setFont(ui_font())
    app.setPalette(palette(theme))
    app.setStyleSheet(stylesheet(theme))


def _icon(name: str) -> str:
    return asset_path(f"icons/{name}.svg").as_posix()
