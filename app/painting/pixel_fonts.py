"""The typefaces at sizes in pixels, for pictures that no screen decides.

Without hinting, so that a picture painted at twice the size is the same picture.
"""

from __future__ import annotations

from PySide6.QtGui import QFont, QPaintEngine, QPainter

from app.fonts import code_font, ui_font

_VECTOR = (QPaintEngine.Type.Pdf, QPaintEngine.Type.SVG)


def keeps_text(painter: QPainter) -> bool:
    """Return whether a painter writes a file in which text stays text."""
    engine = painter.paintEngine()
    return engine is not None and engine.type() in _VECTOR


def ui_pixels(
    pixels: float, weight: QFont.Weight = QFont.Weight.Normal, *, plain: bool = False
) -> QFont:
    """Return the window's font so many pixels high.

    Parameters
    ----------
    plain
        With no glyph but those that characters name: other digits, of one width, could be neither
        searched nor copied in a PDF, and a browser would not know them in an SVG.
    """
    return _sized(ui_font(1.0, weight), pixels, plain)


def code_pixels(
    pixels: float, weight: QFont.Weight = QFont.Weight.Normal, *, plain: bool = False
) -> QFont:
    """Return the font of tokens so many pixels high; `plain` as for `ui_pixels`."""
    return _sized(code_font(1.0, weight), pixels, plain)


def is_plain(font: QFont) -> bool:
    """Return whether a font was made `plain`."""
    tag = QFont.Tag("tnum")
    return font.isFeatureSet(tag) and font.featureValue(tag) == 0


def _sized(font: QFont, pixels: float, plain: bool) -> QFont:
    font.setPixelSize(max(1, round(pixels)))
    font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    if plain:
        for name in ("tnum", "calt"):
            font.setFeature(QFont.Tag(name), 0)
    return font
