"""Native tables that fit: letters grow smaller, then cells shorter, then rows are counted.

Knows cells and points. Knows no figure.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pptx.util import Pt

from app.export.slide_deck import Box, describe, rgb
from app.export.slide_runs import write_paragraphs
from app.export.slide_text import BODY, LINE, Paragraph, fit, height, scaled, widest_word, words
from app.export.slide_xml import element, qn, solid

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.export.slide_deck import Page
    from app.theme import Theme

_PAD_X, _PAD_Y = 8.0, 4.0
_STEPS = 30  # in which letters grow smaller
_LONG = 40  # letters of a cell whose words may be broken
_NO_STYLE = "{2D5ABB26-0587-4C30-8999-92F81FD0307C}"


@dataclass(frozen=True)
class Table:
    """What a table says.

    Attributes
    ----------
    head
        Names of the columns; empty: none.
    rows
        Cells, as paragraphs.
    shares
        Width of each column, as a part of all.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[Paragraph, ...], ...]
    shares: tuple[float, ...]


def add_table(page: Page, box: Box, table: Table, name: str, alt: str) -> float:
    """Add a table into a box, no higher than it; return its height."""
    theme = page.theme
    head = tuple(
        words(one, BODY, theme.muted, bold=True, align=below.align)
        for one, below in zip(table.head, table.rows[0] if table.rows else (), strict=False)
    )
    scale = page.deck.scale
    given = [tuple(scaled(cell, scale) for cell in row) for row in table.rows]
    rows = ([tuple(scaled(one, scale) for one in head)] if head else []) + given
    widths = [box.width * share / sum(table.shares) for share in table.shares]
    rows, heights = _fitted(rows, widths, box.height, has_head=bool(head), theme=theme)
    shape = page.slide.shapes.add_table(
        len(rows), len(widths), Pt(box.left), Pt(box.top), Pt(box.width), Pt(sum(heights))
    )
    shape.name = name
    describe(shape, alt)
    made = shape.table
    _undecorated(made, bool(head))
    for at, width in enumerate(widths):
        made.columns[at].width = Pt(width)
    for line, (row, high) in enumerate(zip(rows, heights, strict=True)):
        made.rows[line].height = Pt(high)
        for at, paragraph in enumerate(row):
            cell = made.cell(line, at)
            cell.margin_left = cell.margin_right = Pt(_PAD_X)
            cell.margin_top = cell.margin_bottom = Pt(_PAD_Y)
            cell._tc.get_or_add_tcPr().set("anchor", "ctr")
            write_paragraphs(cell.text_frame, [paragraph], theme)
            _border(cell, theme.outline if head and line == 0 else theme.border)
            if head and line == 0:
                cell.fill.solid()
                cell.fill.fore_color.rgb = rgb(theme.raised)
            else:
                cell.fill.background()
    return sum(heights)


def _fitted(
    rows: list[tuple[Paragraph, ...]],
    widths: Sequence[float],
    most: float,
    *,
    has_head: bool,
    theme: Theme,
) -> tuple[list[tuple[Paragraph, ...]], list[float]]:
    """Return rows that are together at most so high, and their heights."""

    def measured(shown: list[tuple[Paragraph, ...]]) -> list[float]:
        return [
            max(height([cell], width - 2 * _PAD_X) for cell, width in zip(row, widths, strict=True))
            + 2 * _PAD_Y
            + 0.5
            for row in shown
        ]

    def whole(shown: list[tuple[Paragraph, ...]]) -> bool:
        return all(
            widest_word(cell) <= width - 2 * _PAD_X or len(cell.text) > _LONG
            for row in shown
            for cell, width in zip(row, widths, strict=True)
        )

    for step in range(_STEPS):
        tried = [tuple(scaled(cell, 0.97**step, floor=True) for cell in row) for row in rows]
        if sum(measured(tried)) <= most and (step == _STEPS - 1 or whole(tried)):
            return tried, measured(tried)
    for limit in (6, 5, 4, 3, 2, 1):
        tried = [
            tuple(_clipped(c, w, limit) for c, w in zip(row, widths, strict=True)) for row in rows
        ]
        if sum(measured(tried)) <= most:
            return tried, measured(tried)
    left = 0
    while sum(measured(tried)) > most and len(tried) > 1 + has_head:
        left += 1
        tried = tried[: -1 if left == 1 else -2]
        more = words(f"… and {left + 1} more", BODY, theme.muted)
        tried.append((more, *(words("", BODY) for _ in widths[1:])))
    return tried, measured(tried)


def _clipped(cell: Paragraph, width: float, most_lines: int) -> Paragraph:
    size = max((run.size for run in scaled(cell, 0.0, floor=True).runs), default=BODY)
    room = most_lines * size * LINE * 1.21 + cell.after
    return fit([replace(cell)], width - 2 * _PAD_X, room)[0]


def _undecorated(table: Any, has_head: bool) -> None:
    table.first_row, table.horz_banding = has_head, False
    table._tbl.tblPr.find(qn("a:tableStyleId")).text = _NO_STYLE


def _border(cell: Any, colour: str) -> None:
    properties = cell._tc.get_or_add_tcPr()
    line = element("a:lnB", w="9525")
    solid(line, colour)
    properties.insert(0, line)
