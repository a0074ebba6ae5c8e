"""A moment as an export will show it, painted into a widget by the painter of the export itself.

Knows a document, a plan and a place among the moments. Knows no file and no process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize
from PySide6.QtGui import QColor, QImage, QPainter, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.painting.captions import Caption
from app.painting.moment import Moment
from app.painting.panel_figure import paint_panel_figure
from app.painting.scene import Scene
from app.painting.title_card import TitleCard, paint_title_card
from app.theme import LIGHT, THEMES
from app.viewmodels.markers import marker_at
from app.viewmodels.run_words import caption_words, run_words

if TYPE_CHECKING:
    from PySide6.QtGui import QPaintEvent, QResizeEvent

    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.export_plan import ExportPlan
    from app.viewmodels.presentation import Phase
    from app.viewmodels.refs import TokenRef

FIRST_SIZE = (1920, 1080)  # where the format has its own


@dataclass(frozen=True)
class Shown:
    """A moment to be painted.

    Attributes
    ----------
    card
        The title card stands in its place.
    title
        Of the session, in place of which a plan may have another.
    """

    document: Document
    plan: ExportPlan
    round: int = -1
    phase: Phase = "done"
    pinned: TokenRef | None = None
    card: bool = False
    title: str = ""
    note: str = ""


def paint_shown(painter: QPainter, shown: Shown, size: tuple[int, int]) -> None:
    """Paint a moment over a size, from the painter's origin."""
    plan, document = shown.plan, shown.document
    theme, scale = THEMES[plan.theme], plan.font_scale
    takes = plan.made.takes
    title = plan.title or shown.title
    if shown.card:
        card = TitleCard(title or run_words(document).prompt, shown.note)
        paint_title_card(painter, size, card, run_words(document), theme, scale)
        return
    moment = Moment.at(
        document,
        shown.round,
        shown.phase,
        pinned=shown.pinned,
        show_drafts=plan.drafts or "drafts" not in takes,
    )
    captions = plan.captions and "captions" in takes
    marker = marker_at(document.markers, moment.presentation.cursor)
    said = Caption(marker.title, marker.note) if captions and marker is not None else Caption()
    if plan.look == "picture" and plan.panel != "all":
        visible = moment.presentation.visible_rounds()
        words = caption_words(document, plan.panel, visible, moment.round) if captions else ""
        words = ". ".join(filter(None, (said.title, said.note, words)))
        paint_panel_figure(
            painter, size, moment, theme, plan.panel, scale, title=plan.title, caption=words
        )
        return
    scene = Scene(
        theme, size, scale, title=title, keep_caption_room=plan.look == "film" and captions
    )
    scene.paint(painter, moment, said)


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
        size = _size_of(self._shown)
        width, height = self.width() - 2.0, self.height() - 2.0
        scale = min(width / size[0], height / size[1])
        wide, high = size[0] * scale, size[1] * scale
        at = QPointF(1 + (width - wide) / 2, 1 + (height - high) / 2)
        return QRectF(at.x(), at.y(), wide, high)


def _size_of(shown: Shown | None) -> tuple[int, int]:
    return (shown.plan.pixels if shown is not None else None) or FIRST_SIZE


def _image_of(shown: Shown, pixels: QSize) -> QImage:
    size = _size_of(shown)
    image = QImage(pixels, QImage.Format.Format_RGB32)
    image.fill(QColor(THEMES[shown.plan.theme].window))
    with QPainter(image) as painter:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.scale(pixels.width() / size[0], pixels.height() / size[1])
        paint_shown(painter, shown, size)
    return image
