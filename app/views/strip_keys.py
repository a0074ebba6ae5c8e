"""Which token the keys move to. Knows a layout's rows; knows no widget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from app.painting.strip_layout import StripLayout

_KEYS = frozenset(
    (
        Qt.Key.Key_Left,
        Qt.Key.Key_Right,
        Qt.Key.Key_Up,
        Qt.Key.Key_Down,
        Qt.Key.Key_Home,
        Qt.Key.Key_End,
        Qt.Key.Key_PageUp,
        Qt.Key.Key_PageDown,
    )
)


def moved(layout: StripLayout, chip: int | None, key: int, page_rows: int) -> int | None:
    """Return the chip that a key leads to, or None if the key moves nothing.

    Parameters
    ----------
    chip
        Where the keys are, or None before the first move: then any of them leads to the last chip.
    page_rows
        Rows that PageUp and PageDown pass over.
    """
    if key not in _KEYS or not layout.count:
        return None
    last = layout.count - 1
    if key == Qt.Key.Key_Home:
        return 0
    if chip is None or key == Qt.Key.Key_End:
        return last
    if key == Qt.Key.Key_Left:
        return max(0, chip - 1)
    if key == Qt.Key.Key_Right:
        return min(last, chip + 1)
    page = max(1, page_rows)
    rows = {
        Qt.Key.Key_Up: -1,
        Qt.Key.Key_Down: 1,
        Qt.Key.Key_PageUp: -page,
        Qt.Key.Key_PageDown: page,
    }
    return _on_row(layout, chip, rows[Qt.Key(key)])


def _on_row(layout: StripLayout, chip: int, rows: int) -> int:
    """Return the chip so many rows further, at the same height of the line."""
    parts = layout.parts_of(chip)
    row, placed = parts[0] if rows < 0 else parts[-1]
    wanted = row + rows
    step = 1 if rows > 0 else -1
    while 0 <= wanted < len(layout.rows) and not layout.rows[wanted]:
        wanted += step
    if wanted < 0:
        return 0 if rows < -1 else chip
    if wanted >= len(layout.rows):
        return layout.count - 1 if rows > 1 else chip
    x = (placed.left + placed.right) / 2
    found = layout.chip_at(x, (wanted + 0.5) * layout.row_height, nearest=True)
    return chip if found is None else found
