"""The strip's area: its layout in a scroll area, painted where it changed, following the end.

Knows a strip's model, layout and painting. Knows no key, no pointer and no other panel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QRegion
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.fonts import base_points, code_font, ui_font
from app.painting.strip import NO_HIGHLIGHTS, Highlights, paint_strip
from app.painting.strip_arrow import paint_arrow, place_arrow
from app.painting.strip_end import notice_room, paint_strip_notice, settled
from app.painting.strip_layout import SMALL, StripLayout
from app.painting.strip_told import arrow_ends, highlights_of
from app.theme import LIGHT
from app.viewmodels.strip import StripModel

if TYPE_CHECKING:
    from PySide6.QtGui import QFont, QPaintEvent, QResizeEvent

    from app.painting.strip_arrow import Ends
    from app.painting.strip_changes import Changed
    from app.theme import Theme
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from app.viewmodels.refs import TokenRef

MARGIN = 18
DEFAULT_POINTS = 14.0
LEAST_POINTS, MOST_POINTS = 8.0, 72.0
_ZOOM = 1.1
OVERHANG = 4  # what belongs to a row stands out of it by less than this


class StripArea(QAbstractScrollArea):
    """The text with every token's fate, scrolled; `StripView` adds keys and pointer.

    Attributes
    ----------
    painted_items
        Items painted by the last paint event: tests count this work.
    hovered, focused, pinned
        Tokens that stand out.
    """

    point_size_changed = Signal(float)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.painted_items = 0
        self.hovered: TokenRef | None = None
        self.focused: TokenRef | None = None
        self.pinned: TokenRef | None = None
        self._theme = LIGHT
        self._document: Document | None = None
        self._model: StripModel | None = None
        self._points = DEFAULT_POINTS
        self._layout = StripLayout(*self._fonts(), 400.0)
        self._notice = ""
        self._following = True
        self._adjusting = False
        self._arrow_end = -1  # the last chip that an arrow on screen ends at
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)

    def set_state(self, document: Document, presentation: Presentation) -> None:
        """Show this document from now on, as far as the presentation has come."""
        self._document = document
        self._model = StripModel(document, presentation)
        self.hovered = self.focused = self.pinned = None
        self._layout.update([], 0)
        self.refresh()

    def set_theme(self, theme: Theme) -> None:
        """Paint with this theme."""
        self._theme = theme
        self.viewport().update()

    @property
    def model(self) -> StripModel | None:
        """What is shown; None before `set_state`."""
        return self._model

    @property
    def placed(self) -> StripLayout:
        """Where it is shown, below the margin."""
        return self._layout

    def refresh(self) -> None:
        """Follow the presentation: lay out and paint what changed, and the end if it was seen."""
        if self._model is None:
            return
        first = self._model.refresh()
        chips = self._model.chips
        if first < len(chips) or len(chips) != self._layout.count:
            changed = self._layout.update(chips, first)
            self._adjust_range()
            self._update_from(changed)
            if first <= self._arrow_end:
                self.viewport().update()
        if self._model.notice != self._notice:
            self._notice = self._model.notice
            self._adjust_range()
            self.viewport().update()

    def follow(self) -> None:
        """Show the end of what is shown, and stay there: it was asked for."""
        self._following = True
        self._adjust_range()

    def set_show_drafts(self, show: bool) -> None:
        """Keep rejected, discarded and cut tokens in place, or hide them once a round is done."""
        if self._model is not None:
            self._model.show_drafts = show
            self.refresh()

    @property
    def point_size(self) -> float:
        """Size of the text in points."""
        return self._points

    def set_point_size(self, points: float) -> None:
        """Show the text at this size, kept within what can be read and what fits."""
        points = min(max(points, LEAST_POINTS), MOST_POINTS)
        if points == self._points:
            return
        self._points = points
        self._layout.set_font(*self._fonts())
        self._lay_out()
        self.point_size_changed.emit(points)

    def zoom_in(self) -> None:
        """Make the text larger."""
        self.set_point_size(self._points * _ZOOM)

    def zoom_out(self) -> None:
        """Make the text smaller."""
        self.set_point_size(self._points / _ZOOM)

    def zoom_reset(self) -> None:
        """Show the text at its first size."""
        self.set_point_size(DEFAULT_POINTS)

    def set_pinned(self, ref: TokenRef | None) -> None:
        """Mark the token that the court shows, or none."""
        if ref != self.pinned:
            self.pinned = ref
            self.viewport().update()

    def sizeHint(self) -> QSize:
        """Ask for a paragraph's worth."""
        return QSize(640, 320)

    def index_of(self, ref: TokenRef | None) -> int | None:
        """Return the chip of a token, if it is shown."""
        return self._model.index_of(ref) if ref is not None and self._model is not None else None

    def chip_rect(self, chip: int) -> QRect:
        """Return where a chip begins, in the viewport's coordinates."""
        row, placed = self._layout.parts_of(chip)[0]
        box = self._layout.box(row, placed)
        return box.translated(MARGIN, MARGIN - self._offset()).toAlignedRect()

    def show_chip(self, chip: int) -> None:
        """Scroll as little as needed for a chip to be seen."""
        rect = self.chip_rect(chip)
        bar = self.verticalScrollBar()
        room = round(self._layout.row_height / 2)
        if rect.top() < room:
            bar.setValue(bar.value() + rect.top() - room)
        elif rect.bottom() > self.viewport().height() - room:
            bar.setValue(bar.value() + rect.bottom() - self.viewport().height() + room)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint what the event touches: each rectangle of it by itself, not what lies between."""
        self.painted_items = 0
        with QPainter(self.viewport()) as painter:
            for rect in event.region():  # type: ignore[attr-defined]  # Qt's stubs forget it
                self._paint(painter, QRectF(rect))

    def _paint(self, painter: QPainter, part: QRectF) -> None:
        painter.setClipRect(part)
        painter.fillRect(part, QColor(self._theme.base))
        if self._model is None:
            return
        self.painted_items += paint_strip(
            painter,
            QRectF(self.viewport().rect()).adjusted(MARGIN, 0, -MARGIN, 0),
            self._layout,
            self._model.chips,
            self._theme,
            scroll=self._offset() - MARGIN,
            highlights=self._highlights(),
            part=part,
        )
        self._paint_notice(painter)
        self._paint_arrow(painter, part)

    def _paint_arrow(self, painter: QPainter, part: QRectF) -> None:
        """Paint the way of the told token's draft from what it was copied from."""
        ends, layout = self._arrow_ends(), self._layout
        rect = QRectF(self.viewport().rect()).adjusted(MARGIN, 0, -MARGIN, 0)
        scroll = self._offset() - MARGIN
        arrow = place_arrow(layout, ends, scroll, rect.height()) if ends is not None else None
        self._arrow_end = -1 if arrow is None or ends is None else ends.drafted[-1]
        if arrow is not None:
            self.painted_items += paint_arrow(
                painter, rect, layout, arrow, self._theme, scroll=scroll, part=part
            )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Wrap the text to the new width."""
        super().resizeEvent(event)
        self._lay_out()

    def _fonts(self) -> tuple[QFont, QFont]:
        scale = self._points / base_points()
        return ui_font(scale), code_font(scale * SMALL)

    def _lay_out(self) -> None:
        self._layout.set_width(max(40.0, self.viewport().width() - 2.0 * MARGIN))
        if self._model is not None and self._layout.count != len(self._model.chips):
            self._layout.update(self._model.chips, 0)
        self._adjust_range()
        self.viewport().update()

    def _adjust_range(self) -> None:
        """Fit the scroll bar to the text and stay at its end if the end was seen."""
        bar, layout = self.verticalScrollBar(), self._layout
        seen = self.viewport().height()
        self._adjusting = True
        bar.setPageStep(seen)
        bar.setSingleStep(round(layout.row_height))
        laid_out = layout.laid_out
        at, most = settled(
            layout,
            float(bar.value()),
            seen,
            below=self._notice_height(),
            margin=MARGIN,
            follow=self._following,
        )
        if layout.laid_out != laid_out:
            self.viewport().update()
        bar.setRange(0, max(0, most))
        bar.setValue(round(at))
        self._adjusting = False

    def _scrolled(self, value: int) -> None:
        if not self._adjusting:
            self._following = value >= self.verticalScrollBar().maximum() - 2
            self._adjust_range()

    def scrollContentsBy(self, across: int, down: int) -> None:
        """Move what is painted, where pixels fall on pixels; only what comes in is painted."""
        sharp = (down * self.devicePixelRatioF()).is_integer()
        sharp = sharp and self._arrow_ends() is None  # an arrow's way changes with every move
        if sharp and abs(down) < self.viewport().height() and self._layout.count:
            self.viewport().scroll(0, down)
        else:
            self.viewport().update()

    def _offset(self) -> float:
        return float(self.verticalScrollBar().value())

    def _update_from(self, changed: Changed) -> None:
        """Ask for a painting of the rest of a row and of all rows below."""
        line = round(self._layout.row_height)
        over = min(OVERHANG, int(self._layout.inset))  # what is in the row above stays out of it
        top = changed.row * line + MARGIN - round(self._offset()) - over
        area = self.viewport().rect()
        rest = QRect(area)
        rest.setLeft(max(0, int(MARGIN + changed.left - self._layout.em)))
        rest.setTop(top)
        rest.setHeight(line)
        below = QRect(0, rest.bottom() + 1, area.width(), max(0, area.bottom() - rest.bottom()))
        self.viewport().update(QRegion(rest & area) | QRegion(below & area))

    def _highlights(self) -> Highlights:
        if self._model is None:
            return NO_HIGHLIGHTS
        return highlights_of(
            self._model,
            hovered=self.hovered,
            focused=self.focused if self.hasFocus() else None,
            pinned=self.pinned,
            told=self._told,
        )

    @property
    def _told(self) -> tuple[TokenRef | None, ...]:
        """Tokens that are told of, the nearest one first."""
        return self.hovered, self.focused, self.pinned

    def _arrow_ends(self) -> Ends | None:
        """Return the chips that an arrow ties, as far as they are shown."""
        return None if self._model is None else arrow_ends(self._model, self._told)

    def _notice_height(self) -> float:
        """Return the room below the text for how the run ended, in as many lines as that takes."""
        width = self.viewport().width() - 2.0 * MARGIN
        return notice_room(self._layout, self._notice, width, self._notice_font())

    def _notice_font(self) -> QFont:
        return ui_font(max(1.0, self._points / base_points() * SMALL))

    def _paint_notice(self, painter: QPainter) -> None:
        """Write below the text how the run ended, or in its place that nothing was run."""
        room = QRectF(self.viewport().rect()).adjusted(MARGIN, MARGIN, -MARGIN, -MARGIN)
        font, at = self._notice_font(), self._offset()
        paint_strip_notice(painter, room, self._layout, self._notice, self._theme, font, at)
