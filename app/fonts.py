"""The bundled typefaces and the sizes that the window uses them at.

Knows where the font files lie. Knows no widget and no colour. Scripts other than Latin fall
through to the system's own fonts, which Qt chooses by character.
"""

from __future__ import annotations

from functools import cache

from PySide6.QtGui import QFont, QFontDatabase, QGuiApplication

from app.assets import asset_path

UI_FAMILY = "Inter"
CODE_FAMILY = "JetBrains Mono"

_FILES = (
    "Inter-Regular.otf",
    "Inter-Medium.otf",
    "Inter-SemiBold.otf",
    "JetBrainsMono-Regular.ttf",
    "JetBrainsMono-SemiBold.ttf",
)
_SMALLEST_POINTS = 9.0


@cache
def load_fonts() -> tuple[str, ...]:
    """Register the bundled fonts once a process and return their families.

    Needs a QGuiApplication. A file that cannot be read is left out: Qt then substitutes.
    """
    families: list[str] = []
    for name in _FILES:
        number = QFontDatabase.addApplicationFont(str(asset_path(f"fonts/{name}")))
        if number >= 0:
            families += QFontDatabase.applicationFontFamilies(number)
    return tuple(dict.fromkeys(families))


@cache
def base_points() -> float:
    """Return the size in points that the system uses for its own text, never tiny."""
    return max(QGuiApplication.font().pointSizeF(), _SMALLEST_POINTS)


def ui_font(scale: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the window's font: digits of one width, so that changing figures do not jitter.

    Parameters
    ----------
    scale
        Of the base size.
    weight
        Regular, medium and semi-bold are bundled.
    """
    return _font(UI_FAMILY, scale, weight)


def code_font(scale: float = 1.0, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the font of token text, ids and bytes; without ligatures, so that `!=` stays two."""
    font = _font(CODE_FAMILY, scale, weight)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFeature(QFont.Tag("calt"), 0)
    return font


def _font(family: str, scale: float, weight: QFont.Weight) -> QFont:
    points = base_points()
    load_fonts()
    font = QFont([family])
    font.setPointSizeF(points * scale)
    font.setWeight(weight)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font
