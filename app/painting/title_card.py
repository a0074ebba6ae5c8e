"""A title card: what a video or a page begins with. Knows words, a theme and a painter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter

from app.painting.notices import lines_of, paint_lines
from app.painting.pixel_fonts import is_plain, keeps_text, ui_pixels
from app.painting.scene_scale import scene_scale

if TYPE_CHECKING:
    from app.theme import Theme
    from app.viewmodels.run_words import RunWords

_MARGIN = 0.08  # of the shorter side
_WIDEST = 900.0  # of a line of words, logical pixels
_TITLE, _NOTE, _NAME, _FACT = 46, 22, 20, 15  # logical pixels
_BAR = (64.0, 6.0)  # above the title


@dataclass(frozen=True)
class TitleCard:
    """What is said; any part may be ""."""

    title: str
    note: str = ""


@dataclass(frozen=True)
class _Block:
    """Lines of one kind, with the room above them."""

    lines: list[str]
    font: QFont
    colour: str
    above: float
    label: str = ""

    @property
    def height(self) -> float:
        return self.above + len(self.lines) * QFontMetricsF(self.font).lineSpacing()


def paint_title_card(
    painter: QPainter,
    size: tuple[int, int],
    card: TitleCard,
    words: RunWords,
    theme: Theme,
    scale: float = 1.0,
) -> None:
    """Paint a card over a whole size, from the painter's origin.

    Parameters
    ----------
    size
        Width and height in pixels.
    words
        Of the run; what of them is "" is left out with its label.
    scale
        Size of everything, beside what suits the size.
    """
    scale *= scene_scale(size)
    painter.save()
    painter.fillRect(QRectF(0, 0, *size), QColor(theme.window))
    painter.scale(scale, scale)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    width, height = size[0] / scale, size[1] / scale
    margin = _MARGIN * min(width, height)
    room = QRectF(margin, margin, width - 2 * margin, height - 2 * margin)
    plain = keeps_text(painter)
    label = ui_pixels(_FACT, plain=plain)
    blocks = _blocks(card, words, theme, min(room.width(), _WIDEST), room.height(), label)
    needed = sum(block.height for block in blocks) + _BAR[1]
    y = room.top() + max(0.0, (room.height() - needed) / 2.2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(theme.accent))
    painter.drawRoundedRect(QRectF(room.left(), y, *_BAR), _BAR[1] / 2, _BAR[1] / 2)
    y += _BAR[1]
    for block in blocks:
        y += block.above
        at = QPointF(room.left(), y)
        if block.label:
            metrics = QFontMetricsF(block.font)
            painter.setFont(label)
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(at.x(), at.y() + metrics.ascent()), block.label)
            at.setX(at.x() + _label_width(label))
        y += paint_lines(painter, at, block.lines, block.colour, block.font)
    painter.restore()


def _blocks(
    card: TitleCard, words: RunWords, theme: Theme, width: float, height: float, label: QFont
) -> list[_Block]:
    """Return what has room, from the top; facts go first, then the prompt and the note."""
    bold, plain = QFont.Weight.DemiBold, is_plain(label)
    titles, names = (ui_pixels(size, bold, plain=plain) for size in (_TITLE, _NAME))
    notes, facts = ui_pixels(_NOTE, plain=plain), label
    beside = width - _label_width(label)
    made = [
        (card.title, titles, theme.text, 18.0, "", 3),
        (card.note, notes, theme.text, 14.0, "", 5),
        (words.target, names, theme.target, 30.0, "target", 1),
        (words.drafter, names, theme.drafter, 5.0, "drafter", 1),
        (words.settings, facts, theme.text, 5.0, "settings", 2),
        (words.prompt, facts, theme.text, 5.0, "prompt", 3),
        ("\N{NO-BREAK SPACE}· ".join(words.facts), facts, theme.muted, 26.0, "", 2),
    ]
    blocks = [
        _Block(lines_of(text, font, beside if word else width, most), font, colour, above, word)
        for text, font, colour, above, word, most in made
        if text
    ]
    while len(blocks) > 1 and sum(block.height for block in blocks) + _BAR[1] > height:
        blocks.pop()
    return blocks


def _label_width(label: QFont) -> float:
    metrics = QFontMetricsF(label)
    return max(metrics.horizontalAdvance(word) for word in ("settings", "drafter")) + 16.0
