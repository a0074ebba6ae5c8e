"""Paint the court: one token's case, from its verdict down to the laws.

Draws what a `Case` says; knows no document, no widget and no clock. Returns where things stand,
with a line of plain text each, so that a view can explain them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.court_bars import BarTable
from app.painting.court_track import paint_track, track_height
from app.painting.marks import paint_fill, paint_mark
from app.painting.readings import paint_reading, row_height, scaled
from app.viewmodels.court import EMPTY_COURT

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.court import Case
    from app.viewmodels.readings import Reading

_LEAST_ROWS = 5
_GAP = 20.0  # between two readings


class Region(NamedTuple):
    """A painted part and what it means, in plain text."""

    box: QRectF
    text: str


class CourtFonts(NamedTuple):
    """The sizes of the court; `code` is for tokens."""

    text: QFont
    strong: QFont
    small: QFont
    code: QFont
    title: QFont


def court_fonts(font: QFont, code: QFont) -> CourtFonts:
    """Derive the court's sizes from a panel's font and the font of tokens."""
    return CourtFonts(
        text=font,
        strong=scaled(font, 1.08, QFont.Weight.DemiBold),
        small=scaled(font, 0.88),
        code=code,
        title=scaled(code, 1.55, QFont.Weight.DemiBold),
    )


def paint_court(
    painter: QPainter,
    rect: QRectF,
    case: Case | None,
    theme: Theme,
    fonts: CourtFonts,
    *,
    empty: str = EMPTY_COURT,
) -> list[Region]:
    """Paint a case into a rectangle; with no case, say `empty`. Return what a view can explain."""
    painter.save()
    painter.setClipRect(rect)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if case is None:
        painter.setFont(fonts.text)
        painter.setPen(QColor(theme.muted))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(rect, flags, empty)
        regions: list[Region] = []
    else:
        regions = _Work(painter, rect, case, theme, fonts).paint()
    painter.restore()
    return regions


def least_height(case: Case, width: float, theme: Theme, fonts: CourtFonts) -> float:
    """Return the height at which nothing of a case is cut off, with a few rows of bars."""
    sizes = _Sizes(case, width, fonts)
    height = sizes.header + sizes.of(case.verdict, fonts.strong) + 0.5 * sizes.unit
    if case.u is not None:
        height += track_height(fonts.small) + 0.7 * sizes.unit
    if case.bars:
        table = BarTable(case, theme, fonts.text, fonts.code, width)
        height += table.height_of(min(_LEAST_ROWS, len(case.bars))) + 0.6 * sizes.unit
    return height + sizes.below


def readings_across(width: float, fonts: CourtFonts) -> int:
    """Return how many of a case's readings stand side by side at a width."""
    return max(1, min(4, int(width // (QFontMetricsF(fonts.text).height() * 7.9))))


class _Sizes:
    """Heights of a case's parts at a width."""

    def __init__(self, case: Case, width: float, fonts: CourtFonts) -> None:
        self._case, self._width, self._fonts = case, width, fonts
        self.unit = QFontMetricsF(fonts.text).height()
        self.reading = row_height(fonts.text, compact=True)

    @property
    def header(self) -> float:
        """Height of the token with its fate and place."""
        return QFontMetricsF(self._fonts.title).height() + 0.84 * self.unit

    @property
    def across(self) -> int:
        """How many readings stand side by side."""
        return readings_across(self._width, self._fonts)

    @property
    def below(self) -> float:
        """Height of readings and notes, below the bars."""
        lines = -(-len(self._case.readings) // self.across)
        notes = sum(
            self.of(note, self._fonts.small) + 0.25 * self.unit for note in self._case.notes
        )
        return lines * (self.reading + 0.3 * self.unit) + notes

    def of(self, text: str, font: QFont) -> float:
        """Return the height of a wrapped sentence."""
        room = QRectF(0, 0, self._width, 10_000)
        return QFontMetricsF(font).boundingRect(room, _WRAPPED, text).height()


class _Work:
    """One painting of one case, from the top down."""

    def __init__(
        self, painter: QPainter, rect: QRectF, case: Case, theme: Theme, fonts: CourtFonts
    ) -> None:
        self._painter, self._rect, self._case = painter, rect, case
        self._theme, self._fonts = theme, fonts
        self._sizes = _Sizes(case, rect.width(), fonts)
        self._unit = self._sizes.unit
        self._y = rect.top()
        self._regions: list[Region] = []

    def paint(self) -> list[Region]:
        """Paint everything that finds room."""
        self._header()
        self._sentence(self._case.verdict, self._fonts.strong, self._theme.text)
        self._y += self._unit * 0.5
        if self._case.u is not None:
            self._track()
        if self._case.bars:
            self._bars(self._rect.bottom() - self._y - self._sizes.below - 0.6 * self._unit)
        self._readings()
        for note in self._case.notes:
            self._sentence(note, self._fonts.small, self._theme.muted)
            self._y += self._unit * 0.25
        return self._regions

    def _header(self) -> None:
        """Paint the token as it looks in the strip, its fate and where it stands."""
        case, theme, painter = self._case, self._theme, self._painter
        style = theme.fates[case.fate]
        metrics = QFontMetricsF(self._fonts.title)
        room = self._rect.width() * 0.55
        label = metrics.elidedText(case.label, Qt.TextElideMode.ElideMiddle, room)
        pad = self._unit * 0.4
        height = self._sizes.header - 0.6 * self._unit
        width = metrics.horizontalAdvance(label) + 2 * pad
        box = QRectF(self._rect.left(), self._y, width, height)
        baseline = box.center().y() + metrics.capHeight() / 2
        paint_fill(painter, box, style, theme.base)
        painter.setFont(self._fonts.title)
        painter.setPen(QColor(style.colour))
        painter.drawText(QPointF(box.left() + pad, baseline), label)
        paint_mark(painter, box, baseline, baseline - metrics.xHeight() * 0.55, style)
        left = box.right() + self._unit * 0.7
        strong, small = QFontMetricsF(self._fonts.strong), QFontMetricsF(self._fonts.small)
        top = box.center().y() - (strong.height() + small.height()) / 2
        painter.setFont(self._fonts.strong)
        painter.drawText(QPointF(left, top + strong.ascent()), style.label)
        place = f"{case.place} · id {case.token_id}"
        if small.horizontalAdvance(place) > self._rect.right() - left:
            place = case.place
        place = small.elidedText(place, Qt.TextElideMode.ElideRight, self._rect.right() - left)
        painter.setFont(self._fonts.small)
        painter.setPen(QColor(theme.muted))
        painter.drawText(QPointF(left, top + strong.height() + small.ascent()), place)
        word = "pinned" if case.pinned else "latest verdict"
        right = self._rect.right() - small.horizontalAdvance(word)
        if right > left + strong.horizontalAdvance(style.label) + self._unit:
            painter.drawText(QPointF(right, top + strong.ascent()), word)
        self._y = box.bottom() + self._unit * 0.6

    def _sentence(self, text: str, font: QFont, colour: str) -> None:
        room = QRectF(self._rect.left(), self._y, self._rect.width(), self._sizes.of(text, font))
        self._painter.setFont(font)
        self._painter.setPen(QColor(colour))
        self._painter.drawText(room, _WRAPPED, text)
        self._y = room.bottom()

    def _track(self) -> None:
        height = track_height(self._fonts.small)
        box = QRectF(self._rect.left(), self._y, self._rect.width(), height)
        caption = paint_track(self._painter, box, self._case, self._theme, self._fonts.small)
        self._regions.append(Region(box, caption))
        self._y = box.bottom() + self._unit * 0.7

    def _bars(self, height: float) -> None:
        fonts = self._fonts
        table = BarTable(self._case, self._theme, fonts.text, fonts.code, self._rect.width())
        rows = max(_LEAST_ROWS, table.rows_in(height))
        bars = self._case.rows(rows)
        table.stretch(len(bars), height)
        box = QRectF(self._rect.left(), self._y, self._rect.width(), table.height_of(len(bars)))
        for part, text in table.paint(self._painter, box, bars):
            self._regions.append(Region(part, text))
        self._y = box.bottom() + self._unit * 0.6

    def _readings(self) -> None:
        across = self._sizes.across
        height = self._sizes.reading
        width = (self._rect.width() + _GAP) / across
        for start in range(0, len(self._case.readings), across):
            line = self._case.readings[start : start + across]
            for number, reading in enumerate(line):
                left = self._rect.left() + number * width
                box = QRectF(left, self._y, width - _GAP, height)
                paint_reading(
                    self._painter, box, reading, self._theme, self._fonts.text, compact=True
                )
                self._regions.append(Region(box, explain(reading)))
            self._y += height + self._unit * 0.3


def explain(reading: Reading) -> str:
    """Describe a reading in plain text."""
    value = f"{reading.text} {reading.unit}".strip()
    return f"{reading.name} {value} ({reading.how}, {reading.detail})\n{reading.definition}"


_WRAPPED = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop | Qt.TextFlag.TextWordWrap
