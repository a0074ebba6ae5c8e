"""A moment as an export will show it, painted into a widget by the painter of the export itself.

Knows a document, a plan and a place among the moments. Knows no file and no process.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.export.figure import figure_of
from app.export.source import Source
from app.export.withholding import without
from app.painting.captions import Caption
from app.painting.moment import Moment
from app.painting.scene import Scene
from app.painting.title_card import TitleCard, paint_title_card
from app.theme import LIGHT, THEMES
from app.viewmodels.markers import marker_at
from app.viewmodels.run_words import run_words

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.export_plan import ExportPlan


@dataclass(frozen=True)
class Shown:
    """A moment to be painted.

    Attributes
    ----------
    round
        At the end of which it is looked at; of a picture the plan says that.
    card
        The title card stands in its place.
    title
        Of the session, in place of which a plan may have another.
    """

    document: Document
    plan: ExportPlan
    round: int = -1
    card: bool = False
    title: str = ""
    note: str = ""


def paint_shown(painter: QPainter, shown: Shown, size: tuple[int, int]) -> None:
    """Paint a moment over a size, from the painter's origin."""
    plan, options = shown.plan, shown.plan.options
    document = shown.document.altered(lambda event: without(event, options.withheld))
    if plan.look == "picture":
        source = Source(Path(), (document,), withheld=options.withheld)
        figure_of(source, options, size).paint(painter)
        return
    theme, scale = THEMES[options.painted_theme], options.font_scale
    title = plan.title or shown.title
    if shown.card:
        words = run_words(document)
        paint_title_card(painter, size, TitleCard(title, shown.note), words, theme, scale)
        return
    moment = Moment.at(document, shown.round, show_drafts=options.drafts)
    marker = marker_at(document.markers, moment.presentation.cursor)
    told = options.captions and marker is not None
    room = options.captions and plan.look == "film" and bool(document.markers)
    scene = Scene(theme, size, scale, title=title, keep_caption_room=room)
    scene.paint(painter, moment, Caption(marker.title, marker.note) if told and marker else None)


class ExportPicture(QWidget):
    """Shows one moment, as large as fits, sharp on its screen."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: Shown | None = None
        self._image: QImage | None = None
        self._theme: Theme = LIGHT
        self.setAccessibleName("Preview")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def shown(self) -> Shown | None:
        """What is painted."""
        return self._shown

    def show_moment(self, shown: Shown | None) -> None:
        """Paint this, at the next turn of the window."""
        self._shown, self._image = shown, None
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Frame the picture in this theme's colours; its own are the plan's."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """As wide as a dialog lets it."""
        return QSize(640, 360)

    def minimumSizeHint(self) -> QSize:
        """So large that something can be seen."""
        return QSize(240, 160)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Paint for the new size."""
        super().resizeEvent(event)
        self._image = None

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the picture, or bring it on screen again."""
        if self._shown is None:
            return
        box = self.box()
        ratio = self.devicePixelRatioF()
        pixels = QSize(max(1, round(box.width() * ratio)), max(1, round(box.height() * ratio)))
        if self._image is None or self._image.size() != pixels:
            self._image = _image_of(self._shown, pixels)
        with QPainter(self) as painter:
            painter.drawImage(box, self._image)
            painter.setPen(QPen(QColor(self._theme.border), 1))
            painter.drawRect(box.adjusted(-0.5, -0.5, 0.5, 0.5))

    def box(self) -> QRectF:
        """Return where the picture stands in the widget."""
        size = self._shown.plan.frame if self._shown is not None else (16, 9)
        width, height = self.width() - 2.0, self.height() - 2.0
        scale = min(width / size[0], height / size[1])
        wide, high = size[0] * scale, size[1] * scale
        at = QPointF(1 + (width - wide) / 2, 1 + (height - high) / 2)
        return QRectF(at.x(), at.y(), wide, high)


def _image_of(shown: Shown, pixels: QSize) -> QImage:
    size = shown.plan.frame
    image = QImage(pixels, QImage.Format.Format_RGB32)
    image.fill(QColor(THEMES[shown.plan.options.painted_theme].window))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(pixels.width() / size[0], pixels.height() / size[1])
        paint_shown(painter, shown, size)
    return image
