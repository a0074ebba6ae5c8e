"""The typefaces at sizes in pixels, for pictures that no screen decides. Knows no painter.

Without hinting, so that a picture painted at twice the size is the same picture.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QFont

from app.fonts import code_font, ui_font

if TYPE_CHECKING:
    from PySide6.QtGui import QFont as Font


def ui_pixels(pixels: float, weight: QFont.Weight = QFont.Weight.Normal) -> Font:
    """Return the window's font so many pixels high."""
    return _sized(ui_font(1.0, weight), pixels)


def code_pixels(pixels: float, weight: QFont.Weight = QFont.Weight.Normal) -> Font:
    """Return the font of tokens so many pixels high."""
    return _sized(code_font(1.0, weight), pixels)


def _sized(font: QFont, pixels: float) -> QFont:
    font.setPixelSize(max(1, round(pixels)))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return font
