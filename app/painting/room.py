"""A box from which parts are cut, top down or bottom up: what does not fit is left out.

Knows rectangles alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF

if TYPE_CHECKING:
    from collections.abc import Sequence


class Room:
    """What is left of a box."""

    def __init__(self, box: QRectF) -> None:
        self.box = QRectF(box)

    def top(self, height: float, *, gap: float = 0.0, keep: float = 0.0) -> QRectF | None:
        """Cut a part off the top; None if there is no room for it and `keep` below it."""
        if height <= 0 or height + gap + keep > self.box.height() + 0.01:
            return None
        part = QRectF(self.box.left(), self.box.top(), self.box.width(), height)
        self.box.setTop(part.bottom() + gap)
        return part

    def bottom(self, height: float, *, gap: float = 0.0, keep: float = 0.0) -> QRectF | None:
        """Cut a part off the bottom; None if there is no room for it and `keep` above it."""
        if height <= 0 or height + gap + keep > self.box.height() + 0.01:
            return None
        bottom = self.box.bottom()
        part = QRectF(self.box.left(), bottom - height, self.box.width(), height)
        self.box.setBottom(part.top() - gap)
        return part

    def left(self, width: float, *, gap: float = 0.0) -> QRectF:
        """Cut a part off the left edge."""
        part = QRectF(self.box.left(), self.box.top(), width, self.box.height())
        self.box.setLeft(part.right() + gap)
        return part


def side_by_side(box: QRectF, shares: Sequence[float], gap: float) -> list[QRectF]:
    """Share a box's width."""
    free = box.width() - gap * (len(shares) - 1)
    left, boxes = box.left(), []
    for share in shares:
        width = free * share / sum(shares)
        boxes.append(QRectF(left, box.top(), width, box.height()))
        left += width + gap
    return boxes


def stacked(box: QRectF, shares: Sequence[float], gap: float) -> list[QRectF]:
    """Share a box's height."""
    turned = QRectF(box.top(), box.left(), box.height(), box.width())
    parts = side_by_side(turned, shares, gap)
    return [QRectF(part.top(), part.left(), part.height(), part.width()) for part in parts]
