"""How the strip's chips are cut into blocks that can be laid out each by itself.

A block ends where a line of the text ends. Where there is no such end in reach it is cut all the
same, and the row before the cut ends early. Knows no row and no width.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from app.painting.strip_rows import ends_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.viewmodels.chips import Chip

LEAST_CHIPS, MOST_CHIPS = 128, 1024  # of a block


@runtime_checkable
class KnowsLineEnds(Protocol):
    """Chips that know where lines end without being looked at one by one."""

    def line_ends(self, first: int, last: int) -> Sequence[int]:
        """Return, rising, one past each of the chips first to last - 1 that ends a line."""
        ...


class Block:
    """Some chips in a row.

    Attributes
    ----------
    begin, end
        Its first chip, and one past its last.
    soft
        Whether it goes on with a line of the text.
    rows
        How many rows it has, or about how many: an empty one at its end not counted.
    exact
        Whether it was laid out at this width.
    open_row
        Whether its last chip ended a line, so that a row stands open behind it.
    """

    __slots__ = ("begin", "end", "exact", "open_row", "rows", "soft")

    def __init__(self, begin: int, end: int, soft: bool, rows_a_chip: float) -> None:
        self.begin, self.end, self.soft = begin, end, soft
        self.exact = self.open_row = False
        self.rows = 1
        self.guess((end - begin) * rows_a_chip)

    def guess(self, rows: float) -> None:
        """Take a number of rows until it is laid out."""
        self.exact = False
        self.rows = max(1, round(rows))

    def count(self, rows: int, open_row: bool) -> None:
        """Take the number of rows that it was found to have."""
        self.exact, self.rows, self.open_row = True, rows, open_row


def block_ends(chips: Sequence[Chip], begin: int, changed: int) -> Iterator[tuple[int, bool]]:
    """Yield where blocks end from `begin` on, and whether the next one goes on with a line.

    Parameters
    ----------
    changed
        The first chip that is new: lines that end before it have ended no block.
    """
    count = len(chips)
    ends = _line_ends(chips, max(begin + LEAST_CHIPS - 1, changed - 1), count)
    while begin < count:
        at = bisect_left(ends, begin + LEAST_CHIPS)
        end = ends[at] if at < len(ends) else count
        if end <= begin + MOST_CHIPS:
            cut = False
        else:
            end, cut = begin + MOST_CHIPS, True
        yield min(end, count), cut
        begin = end


def _line_ends(chips: Sequence[Chip], first: int, last: int) -> Sequence[int]:
    if first >= last:
        return ()
    if isinstance(chips, KnowsLineEnds):
        return chips.line_ends(first, last)
    return [index + 1 for index in range(first, last) if ends_line(chips[index])]
