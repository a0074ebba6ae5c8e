"""What fonts make of the strip: heights of a row, widths of texts. Knows no row and no chip."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetricsF

LINE_HEIGHT = 1.7  # of the font's size, so that marks and boxes have air
SMALL = 0.68  # size of bytes and of white space made visible
FULL_SIZE = ("text", "beyond")
_CACHED_WIDTHS = 1 << 17


class StripMeasures:
    """Lengths in logical pixels that follow from the strip's two fonts.

    Attributes
    ----------
    measured
        How many characters were measured: tests count this work.
    """

    def __init__(self, font: QFont, small_font: QFont) -> None:
        self.font, self.small_font = font, small_font
        self._metrics, self._small_metrics = QFontMetricsF(font), QFontMetricsF(small_font)
        self._widths: dict[str, float] = {}
        self._small_widths: dict[str, float] = {}
        self.measured = 0
        self.em = self._metrics.ascent() + self._metrics.descent()
        self.row_height = float(round(self._metrics.height() * LINE_HEIGHT / 1.2))
        self.baseline = (self.row_height + self._metrics.capHeight()) / 2
        self.middle = self.baseline - self._metrics.xHeight() * 0.55
        self.space = self._metrics.horizontalAdvance(" ")
        self.gap = max(1.0, self.em * 0.05)
        self.pad = self.em * 0.14

    def advance(self, text: str, kind: str) -> float:
        """Return the width of a fragment's text."""
        small = kind not in FULL_SIZE
        widths = self._small_widths if small else self._widths
        width = widths.get(text)
        if width is None:
            if len(widths) >= _CACHED_WIDTHS:
                widths.clear()
            metrics = self._small_metrics if small else self._metrics
            self.measured += len(text)
            width = widths[text] = metrics.horizontalAdvance(text)
        return width
