"""Paint the laws at one position: p_target beside q_draft, row by row, and the residual.

Knows bars and their columns. Knows no verdict, no widget and no document.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from PySide6.QtCore import QLineF, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from app.painting.readings import scaled
from app.viewmodels.numbers import probability

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.theme import Theme
    from app.viewmodels.court import Case
    from app.viewmodels.court_bars import Bar

_SCALES = (0.1, 0.2, 0.5, 1.0)  # ends of the axis
_STRETCH = 1.5
_LEAST_AREA = 90.0  # narrower bars stand below their numbers
_TAGS = {"drafted": "drafted", "drawn": "drawn", "both": "drafted, drawn"}


class _Column(NamedTuple):
    """One law: its name, colour and field of a bar, and what it is."""

    name: str
    colour: str
    field: str
    meaning: str


class _Shape(NamedTuple):
    """Where the parts of a row stand, from the row's left edge and top.

    Wide tables have token, bars and numbers beside each other; narrow ones bars below the rest.
    """

    stacked: bool
    label: float  # widest token text
    tag: float  # right end of the role's word
    area: tuple[float, float]  # left and right end of the bars
    number: float  # width of a column of numbers
    line: float
    text: float  # middle of the text
    bars: float  # middle of the bars


class BarTable:
    """The bars of one case as a table: token, bars, numbers."""

    def __init__(self, case: Case, theme: Theme, font: QFont, code: QFont, width: float) -> None:
        self._theme = theme
        self._small = scaled(font, 0.88)
        self._code = code
        self._metrics = QFontMetricsF(self._small)
        self._code_metrics = QFontMetricsF(code)
        self._columns = _columns(case, theme)
        self._thick = max(
            4.0, round(self._metrics.height() * (0.42 if len(self._columns) < 3 else 0.34))
        )
        self._stack = len(self._columns) * (self._thick + 1) - 1
        self._head = self._metrics.height() * 1.5
        self._top = _scale(case, [column.field for column in self._columns])
        self._shape = self._shape_for(case, width)

    def _shape_for(self, case: Case, width: float) -> _Shape:
        number = self._metrics.horizontalAdvance("0.00000") + 8
        numbers = number * len(self._columns)
        wanted = max(self._code_metrics.horizontalAdvance(bar.label) for bar in case.bars)
        wanted = max(wanted, self._metrics.horizontalAdvance("other tokens"))
        roles = any(bar.role in _TAGS for bar in case.bars)
        tag = self._metrics.horizontalAdvance("  drafted") if roles else 0.0
        label = min(wanted, width * 0.3)
        left, right = label + tag + 10, width - numbers
        text = self._code_metrics.height()
        if right - left >= _LEAST_AREA:
            line = max(text * 1.15, self._stack + 8)
            return _Shape(False, label, left - 9, (left, right), number, line, line / 2, line / 2)
        line = text + self._stack + 9
        middle = text + 3 + self._stack / 2
        room = max(20.0, width - tag)
        return _Shape(
            True, width - numbers - 4, width, (0.0, room), number, line, text / 2 + 2, middle
        )

    def rows_in(self, height: float) -> int:
        """Return how many rows fit."""
        return int((height - self._head) // self._shape.line)

    def stretch(self, rows: int, height: float) -> None:
        """Give rows beside each other the height that is there, up to half as much again."""
        shape = self._shape
        if not shape.stacked:
            line = min(shape.line * _STRETCH, max(shape.line, (height - self._head) / rows))
            self._shape = shape._replace(line=line, text=line / 2, bars=line / 2)

    def height_of(self, rows: int) -> float:
        """Return the height of so many rows and the head."""
        return self._head + rows * self._shape.line

    def paint(
        self, painter: QPainter, box: QRectF, bars: Sequence[Bar]
    ) -> list[tuple[QRectF, str]]:
        """Paint the table; return each row's box with its numbers in words."""
        left, right = self._shape.area
        height = len(bars) * self._shape.line
        area = QRectF(box.left() + left, box.top() + self._head, right - left, height)
        regions = self._paint_head(painter, box, area)
        if not self._shape.stacked:
            self._paint_grid(painter, area)
        for at, bar in enumerate(bars):
            top = area.top() + at * self._shape.line
            row = QRectF(box.left(), top, box.width(), self._shape.line)
            self._paint_row(painter, row, area, bar)
            regions.append((row, self._words(bar)))
        return regions

    def _paint_head(self, painter: QPainter, box: QRectF, area: QRectF) -> list[tuple[QRectF, str]]:
        """Name the columns in their colours, and the axis."""
        painter.setFont(self._small)
        baseline = box.top() + self._metrics.ascent()
        regions = []
        for at, column in enumerate(self._columns):
            right = box.right() - (len(self._columns) - 1 - at) * self._shape.number
            width = self._metrics.horizontalAdvance(column.name)
            painter.setPen(QColor(column.colour))
            painter.drawText(QPointF(right - width, baseline), column.name)
            place = QRectF(right - width, box.top(), width, self._head)
            regions.append((place, f"{column.name} (measured)\n{column.meaning}"))
        painter.setPen(QColor(self._theme.muted))
        end = f"{self._top:g}"
        if self._shape.stacked:
            painter.drawText(QPointF(box.left(), baseline), f"0 to {end}")
        else:
            painter.drawText(QPointF(area.left(), baseline), "0")
            right = area.right() - self._metrics.horizontalAdvance(end)
            painter.drawText(QPointF(right, baseline), end)
        return regions

    def _paint_grid(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(QPen(QColor(self._theme.grid), 1))
        for share in (0.25, 0.5, 0.75, 1.0):
            x = round(area.left() + share * area.width()) + 0.5
            painter.drawLine(QLineF(x, area.top() - 3, x, area.bottom()))
        painter.setPen(QPen(QColor(self._theme.outline), 1))
        x = round(area.left()) - 0.5
        painter.drawLine(QLineF(x, area.top() - 3, x, area.bottom()))

    def _paint_row(self, painter: QPainter, row: QRectF, area: QRectF, bar: Bar) -> None:
        shape, rest = self._shape, bar.role == "rest"
        if bar.role in _TAGS:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.raised))
            painter.drawRoundedRect(row.adjusted(-4, 1, 4, -1), 4, 4)
        metrics = self._metrics if rest else self._code_metrics
        painter.setFont(self._small if rest else self._code)
        painter.setPen(QColor(self._theme.muted if rest else self._theme.text))
        text = metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, shape.label)
        middle = row.top() + shape.text
        painter.drawText(QPointF(row.left(), middle + metrics.capHeight() / 2), text)
        painter.setFont(self._small)
        half = self._metrics.capHeight() / 2
        if bar.role in _TAGS:
            tag = _TAGS[bar.role] if bar.role != "both" else "drawn"
            painter.setPen(QColor(self._theme.muted))
            left = row.left() + shape.tag - self._metrics.horizontalAdvance(tag)
            painter.drawText(QPointF(left, row.top() + shape.bars + half), tag)
        for at, column in enumerate(self._columns):
            value: float | None = getattr(bar, column.field)
            top = row.top() + shape.bars - self._stack / 2 + at * (self._thick + 1)
            self._paint_bar(painter, area, top, value, column.colour, faint=rest)
            right = row.right() - (len(self._columns) - 1 - at) * shape.number
            shown = "·" if value is None else probability(value)
            painter.setPen(QColor(self._theme.muted if rest or not value else self._theme.text))
            left = right - self._metrics.horizontalAdvance(shown)
            painter.drawText(QPointF(left, middle + half), shown)

    def _paint_bar(
        self,
        painter: QPainter,
        area: QRectF,
        top: float,
        value: float | None,
        colour: str,
        *,
        faint: bool,
    ) -> None:
        if not value:
            return
        width = max(1.0, area.width() * min(1.0, value / self._top))
        fill = QColor(colour)
        if faint:
            fill.setAlphaF(0.45)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        radius = min(2.0, width / 2)
        painter.drawRoundedRect(QRectF(area.left(), top, width, self._thick), radius, radius)

    def _words(self, bar: Bar) -> str:
        values = (
            f"{column.name} {probability(getattr(bar, column.field))}"
            for column in self._columns
            if getattr(bar, column.field) is not None
        )
        name = (
            f"{bar.label}   id {bar.token_id}"
            if bar.token_id is not None
            else ("All tokens without a row of their own, together")
        )
        tag = f"\n{_TAGS[bar.role]} here" if bar.role in _TAGS else ""
        return f"{name}\n{' · '.join(values)}{tag}"


def _columns(case: Case, theme: Theme) -> list[_Column]:
    raw = case.law == "raw"
    found = [
        _Column(
            "p_raw" if raw else "p_target",
            theme.target,
            "p_target",
            "The target's softmax at temperature 1, nothing moved and nothing cut."
            if raw
            else f"The target's law {case.target_law}: what is drawn from.",
        )
    ]
    if any(bar.q_draft is not None for bar in case.bars):
        meaning = "The drafter's law, the one its token was drawn from."
        found.append(_Column("q_draft", theme.drafter, "q_draft", meaning))
    if any(bar.residual is not None for bar in case.bars):
        meaning = "max(0, p_target − q_draft), renormalised: what the correction is drawn from."
        found.append(_Column("residual", theme.residual, "residual", meaning))
    return found


def _scale(case: Case, fields: Sequence[str]) -> float:
    """Return the smallest end of the axis that holds every bar."""
    most = max((getattr(bar, name) or 0.0 for bar in case.bars for name in fields), default=1.0)
    return next((end for end in _SCALES if most <= end), 1.0)
