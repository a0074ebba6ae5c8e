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
_TAGS = {"drafted": "drafted", "drawn": "drawn", "both": "drafted, drawn"}


class _Column(NamedTuple):
    """One law: its name, colour and field of a bar, and what it is."""

    name: str
    colour: str
    field: str
    meaning: str


class BarTable:
    """The bars of one case as a table: token, bars, numbers."""

    def __init__(self, case: Case, theme: Theme, font: QFont, code: QFont) -> None:
        self._theme = theme
        self._small = scaled(font, 0.88)
        self._code = code
        self._metrics = QFontMetricsF(self._small)
        self._code_metrics = QFontMetricsF(code)
        self._columns = _columns(case, theme)
        self._thick = max(4.0, round(self._metrics.height() * (0.42 if self._pairs else 0.34)))
        self._line = max(
            self._code_metrics.height() * 1.15, len(self._columns) * (self._thick + 1) + 7
        )
        self._head = self._metrics.height() * 1.5
        self._top = _scale(case, [column.field for column in self._columns])

    @property
    def _pairs(self) -> bool:
        return len(self._columns) <= 2

    def rows_in(self, height: float) -> int:
        """Return how many rows fit."""
        return int((height - self._head) // self._line)

    def stretch(self, rows: int, height: float) -> None:
        """Give rows the height that is there, up to half as much again."""
        self._line = min(self._line * _STRETCH, max(self._line, (height - self._head) / rows))

    def height_of(self, rows: int) -> float:
        """Return the height of so many rows and the head."""
        return self._head + rows * self._line

    def paint(
        self, painter: QPainter, box: QRectF, bars: Sequence[Bar]
    ) -> list[tuple[QRectF, str]]:
        """Paint the table; return each row's box with its numbers in words."""
        number = self._metrics.horizontalAdvance("0.00000")
        wanted = max(self._code_metrics.horizontalAdvance(bar.label) for bar in bars)
        wanted = max(wanted, self._metrics.horizontalAdvance("other tokens"))
        tag = self._metrics.horizontalAdvance("  drafted") if any(b.role for b in bars[:-1]) else 0
        label = min(wanted, box.width() * 0.3)
        numbers = (number + 8) * len(self._columns)
        left = box.left() + label + tag + 10
        area = QRectF(
            left, box.top() + self._head, box.right() - numbers - left, len(bars) * self._line
        )
        regions = self._paint_head(painter, box, area, number)
        self._paint_grid(painter, area)
        for at, bar in enumerate(bars):
            row = QRectF(box.left(), area.top() + at * self._line, box.width(), self._line)
            self._paint_row(painter, row, area, label, bar, number)
            regions.append((row, self._words(bar)))
        return regions

    def _paint_head(
        self, painter: QPainter, box: QRectF, area: QRectF, number: float
    ) -> list[tuple[QRectF, str]]:
        """Name the columns in their colours, and the axis."""
        painter.setFont(self._small)
        baseline = box.top() + self._metrics.ascent()
        regions = []
        for at, column in enumerate(self._columns):
            right = box.right() - (len(self._columns) - 1 - at) * (number + 8)
            width = self._metrics.horizontalAdvance(column.name)
            painter.setPen(QColor(column.colour))
            painter.drawText(QPointF(right - width, baseline), column.name)
            place = QRectF(right - width, box.top(), width, self._head)
            regions.append((place, f"{column.name} (measured)\n{column.meaning}"))
        painter.setPen(QColor(self._theme.muted))
        painter.drawText(QPointF(area.left(), baseline), "0")
        end = f"{self._top:g}"
        painter.drawText(
            QPointF(area.right() - self._metrics.horizontalAdvance(end), baseline), end
        )
        return regions

    def _paint_grid(self, painter: QPainter, area: QRectF) -> None:
        painter.setPen(QPen(QColor(self._theme.grid), 1))
        for share in (0.25, 0.5, 0.75, 1.0):
            x = round(area.left() + share * area.width()) + 0.5
            painter.drawLine(QLineF(x, area.top() - 3, x, area.bottom()))
        painter.setPen(QPen(QColor(self._theme.outline), 1))
        x = round(area.left()) - 0.5
        painter.drawLine(QLineF(x, area.top() - 3, x, area.bottom()))

    def _paint_row(
        self, painter: QPainter, row: QRectF, area: QRectF, label: float, bar: Bar, number: float
    ) -> None:
        if bar.role in _TAGS:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self._theme.raised))
            painter.drawRoundedRect(row.adjusted(-4, 1, 4, -1), 4, 4)
        middle = row.center().y()
        rest = bar.role == "rest"
        metrics = self._metrics if rest else self._code_metrics
        painter.setFont(self._small if rest else self._code)
        painter.setPen(QColor(self._theme.muted if rest else self._theme.text))
        text = metrics.elidedText(bar.label, Qt.TextElideMode.ElideRight, label)
        painter.drawText(QPointF(row.left(), middle + metrics.capHeight() / 2), text)
        painter.setFont(self._small)
        baseline = middle + self._metrics.capHeight() / 2
        if bar.role in _TAGS:
            tag = _TAGS[bar.role] if bar.role != "both" else "drawn"
            painter.setPen(QColor(self._theme.muted))
            painter.drawText(
                QPointF(area.left() - 9 - self._metrics.horizontalAdvance(tag), baseline), tag
            )
        stack = len(self._columns) * (self._thick + 1) - 1
        for at, column in enumerate(self._columns):
            value: float | None = getattr(bar, column.field)
            top = middle - stack / 2 + at * (self._thick + 1)
            self._paint_bar(painter, area, top, value, column.colour, faint=rest)
            right = row.right() - (len(self._columns) - 1 - at) * (number + 8)
            shown = "·" if value is None else probability(value)
            painter.setPen(QColor(self._theme.muted if rest or not value else self._theme.text))
            painter.drawText(
                QPointF(right - self._metrics.horizontalAdvance(shown), baseline), shown
            )

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
            "The target's softmax at temperature 1, nothing cut."
            if raw
            else "The target's law after temperature, top-k and top-p: what is drawn from.",
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
