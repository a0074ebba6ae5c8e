"""The window's panels as pictures, each into a box of any size, at any scale.

Knows which panels there are. Keeps their models and layouts between frames, so that the next frame
of a video costs what is new. Knows no widget: a moment, a theme and a painter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from app.painting.case_panels import CourtPanel, TimelinePanel
from app.painting.figure_panels import AcceptancePanel, CachesPanel, ThroughputPanel
from app.painting.key_panel import KeyPanel
from app.painting.pixel_fonts import ui_pixels
from app.painting.text_panel import TextPanel

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QFont

    from app.painting.moment import Moment
    from app.theme import Theme

PANELS = ("text", "court", "acceptance", "throughput", "timeline", "caches")
KEYS = "readings"  # those that tell a run: no panel of the window, but of a scene
PIXELS = 14  # height of the panels' font at scale 1
_ROUNDING = 8.0


class _Panel(Protocol):
    def paint(self, painter: QPainter, box: QRectF, theme: Theme) -> None: ...


_MAKERS: dict[str, Callable[[Moment, QFont], _Panel]] = {
    KEYS: KeyPanel,
    "text": TextPanel,
    "court": CourtPanel,
    "acceptance": AcceptancePanel,
    "throughput": ThroughputPanel,
    "timeline": TimelinePanel,
    "caches": CachesPanel,
}


class Panels:
    """The panels of one moment, which may move on between two frames.

    Parameters
    ----------
    moment
        What is shown; its presentation, pinned token and `show_drafts` are read at each painting.
    scale
        Pixels of a logical one: 1 is the window's own size, 2 twice as large.
    plain
        For files in which text stays text (`pixel_fonts.keeps_text`).
    """

    def __init__(
        self, moment: Moment, theme: Theme, scale: float = 1.0, *, plain: bool = False
    ) -> None:
        self.moment, self.theme, self.scale, self.plain = moment, theme, scale, plain
        self.font = ui_pixels(PIXELS, plain=plain)
        self._panels: dict[str, _Panel] = {}

    def paint(self, painter: QPainter, box: QRectF, name: str, *, card: bool = True) -> None:
        """Paint a panel into a box, and nothing outside it.

        Parameters
        ----------
        box
            In the painter's pixels.
        name
            One of `PANELS`, or `KEYS`.
        card
            Whether the panel stands on a ground of its own with an edge, as in the window.

        Raises
        ------
        KeyError
            If there is no such panel.
        """
        painter.save()
        painter.translate(box.topLeft())
        painter.scale(self.scale, self.scale)
        inner = QRectF(0, 0, box.width() / self.scale, box.height() / self.scale)
        if card:
            paint_card(painter, inner, self.theme)
        self._panel(name).paint(painter, inner, self.theme)
        painter.restore()

    def keys_height(self, width: float, most: float) -> float:
        """Return the height that `KEYS` take at a width, never more than `most`; logical pixels."""
        panel = self._panel(KEYS)
        assert isinstance(panel, KeyPanel)
        return panel.height(width, most)

    def _panel(self, name: str) -> _Panel:
        if name not in self._panels:
            self._panels[name] = _MAKERS[name](self.moment, self.font)
        return self._panels[name]


def paint_card(painter: QPainter, box: QRectF, theme: Theme) -> None:
    """Paint a panel's ground and its edge."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(theme.border), 1))
    painter.setBrush(QColor(theme.base))
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), _ROUNDING, _ROUNDING)
    painter.setBrush(Qt.BrushStyle.NoBrush)
