"""Where the strip's fragments stand: blocks of rows, of which those in sight are laid out.

Knows how many rows each block has, or about how many before it was laid out, and fits the two.
Knows no colour and no painter; how a row is filled is `strip_rows`'. Rows are of one height, so a
row is found by division, and a text of any length costs what is seen of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from PySide6.QtCore import QRectF

from app.painting.strip_blocks import Block, block_ends
from app.painting.strip_changes import Changed
from app.painting.strip_measures import FULL_SIZE, SMALL, StripMeasures
from app.painting.strip_rows import Placed, StripRows

if TYPE_CHECKING:
    from PySide6.QtGui import QFont

    from app.viewmodels.chips import Chip

__all__ = ["FULL_SIZE", "SMALL", "Placed", "StripLayout"]

WHOLE_CHIPS = 2048  # texts of no more are laid out whole
KEPT_BLOCKS = 32  # laid out at once, or what is in sight; of others the number of rows is kept
_ROWS_A_CHIP = 0.1  # before anything was laid out


class StripLayout:
    """Rows of placed fragments for the first chips of a list.

    Attributes
    ----------
    rows
        Each a list of `Placed`, from left to right; chips stand in logical order whatever the
        direction of their own text. Where nothing was laid out yet their number is a guess, which
        may move the rows below: `settle` lays out what is to be seen.
    laid_out
        How many chips were placed since the layout was made: tests count this work.
    """

    def __init__(self, font: QFont, small_font: QFont, width: float) -> None:
        self.laid_out = 0
        self.width = width
        self._chips: Sequence[Chip] = ()
        self._blocks: list[Block] = []
        self._first_rows: list[int] = [0]  # of blocks, as far as known; always the first one's
        self._laid: OrderedDict[int, StripRows] = OrderedDict()  # by block, the latest used last
        self._kept = KEPT_BLOCKS  # more where more are in sight
        self._known = (0, 0)  # rows and chips of blocks that were laid out
        self._rows_a_chip: float | None = None  # of these; None before there were any
        self.rows = _Rows(self)
        self.set_font(font, small_font)

    def set_font(self, font: QFont, small_font: QFont) -> None:
        """Use these fonts; every chip has to be laid out again."""
        self._measures = StripMeasures(font, small_font)
        self.font, self.small_font = font, small_font
        self.em, self.space = self._measures.em, self._measures.space
        self.row_height = self._measures.row_height
        self.baseline, self.middle = self._measures.baseline, self._measures.middle
        self._guess_again(1.0)

    def set_width(self, width: float) -> None:
        """Wrap at this width; every chip has to be laid out again if it differs."""
        if width != self.width:
            share, self.width = self.width / width, width
            self._guess_again(share)

    def _guess_again(self, share: float) -> None:
        """Void what is laid out; there will be about `share` times the rows."""
        self._laid.clear()
        self._first_rows = [0]
        self._known = (0, 0)
        if self._rows_a_chip is not None:
            self._rows_a_chip *= share
        for block in self._blocks:
            block.guess(block.rows * share)

    @property
    def measured(self) -> int:
        """How many characters were measured with these fonts: tests count this, too."""
        return self._measures.measured

    @property
    def count(self) -> int:
        """How many chips there are."""
        return self._blocks[-1].end if self._blocks else 0

    @property
    def height(self) -> float:
        """Height of all rows."""
        return len(self.rows) * self.row_height if self.count else 0.0

    def update(self, chips: Sequence[Chip], first: int) -> Changed:
        """Take `chips`, which changed from index `first` on; return what differs by that.

        Of them the last block is laid out, which grows with the text.
        """
        first = min(first, self.count)
        self._chips = chips
        at = max(0, bisect_right(self._blocks, first, key=lambda block: block.begin) - 1)
        row = self.first_row(at)
        begin = self._blocks[at].begin if self._blocks else 0
        soft = self._blocks[at].soft if self._blocks else False
        held = self._laid.get(at)
        for number in range(at, len(self._blocks)):
            self._laid.pop(number, None)
        del self._blocks[at:], self._first_rows[at + 1 :]
        for end, goes_on in block_ends(chips, begin, first):
            self._blocks.append(Block(begin, end, soft, self._rows_a_chip or _ROWS_A_CHIP))
            begin, soft = end, goes_on
        changed = Changed(row, 0.0)
        if held is not None and at < len(self._blocks):
            part = self._fill(at, held, first)
            changed = Changed(row + part.row, part.left)
        self._lay_out_short()
        if self._blocks:
            if self._rows_a_chip is None:
                self.lay_out(0)  # the last one may be too small to tell by
            self.lay_out(len(self._blocks) - 1)
        return changed

    def _lay_out_short(self) -> None:
        """Guess nothing in a text that can be laid out whole in a moment."""
        if self.count <= WHOLE_CHIPS:
            for number, block in enumerate(self._blocks):
                if not block.exact:
                    self.lay_out(number)

    def lay_out(self, number: int) -> StripRows:
        """Return a block laid out."""
        held = self._laid.get(number)
        if held is None:
            block = self._blocks[number]
            held = StripRows(self._measures, self.width, block.begin, block.soft)
            self._fill(number, held, block.begin)
        else:
            self._laid.move_to_end(number)
        return held

    def _fill(self, number: int, held: StripRows, first: int) -> Changed:
        """Lay out a block from a chip on, and count its rows."""
        block = self._blocks[number]
        placed = held.placed
        changed = held.update(self._chips, first, block.end)
        self.laid_out += held.placed - placed
        if not block.exact:
            self._learn(len(held.rows), block.end - block.begin)
        open_row = not held.rows[-1]
        block.count(len(held.rows) - open_row, open_row)
        del self._first_rows[number + 1 :]
        self._laid[number] = held
        self._laid.move_to_end(number)
        while len(self._laid) > self._kept:
            self._laid.popitem(last=False)
        return changed

    def _learn(self, rows: int, chips: int) -> None:
        """Guess better from a block that was found to have so many rows for so many chips."""
        first = self._rows_a_chip is None
        rows, chips = rows + self._known[0], chips + self._known[1]
        self._known = (rows, chips)
        self._rows_a_chip = rows / chips
        if first:
            del self._first_rows[1:]
            for block in self._blocks:
                block.guess((block.end - block.begin) * self._rows_a_chip)

    def first_row(self, number: int) -> int:
        """Return the row on which a block begins, or about which; past the last, all rows."""
        known = self._first_rows
        while len(known) <= number:
            known.append(known[-1] + self._blocks[len(known) - 1].rows)
        return known[number]

    def _block_of_row(self, row: int) -> int:
        self.first_row(len(self._blocks))
        return min(max(0, bisect_right(self._first_rows, row) - 1), len(self._blocks) - 1)

    def _block_of(self, chip: int) -> int:
        return max(0, bisect_right(self._blocks, chip, key=lambda block: block.begin) - 1)

    def row_count(self) -> int:
        """Return how many rows there are, or about how many."""
        if not self._blocks:
            return 0
        return self.first_row(len(self._blocks)) + self._blocks[-1].open_row

    def row(self, row: int) -> list[Placed]:
        """Return what stands on a row, laid out."""
        number = self._block_of_row(row)
        inside = row - self.first_row(number)
        rows = self.lay_out(number).rows
        return rows[min(inside, len(rows) - 1)]

    def settle(self, top: float, height: float) -> float:
        """Lay out what is to be seen.

        What is laid out already stays where it stands in sight; rows above it may turn out to be
        more or fewer than was guessed.

        Parameters
        ----------
        top
            From the first row's top to the top of what is seen.
        height
            Of what is seen.

        Returns
        -------
        float
            `top`, moved by as much as the rows in sight were.
        """
        self._lay_out_short()
        while self._blocks:
            # A row more on both sides: what stands out of a row is painted with its neighbour.
            first = self._block_of_row(int(top // self.row_height) - 1)
            last = self._block_of_row(int((top + height) // self.row_height) + 1)
            seen = range(first, last + 1)
            self._kept = max(KEPT_BLOCKS, len(seen) + 2)  # none in sight makes room for another
            missing = [number for number in seen if number not in self._laid]
            if not missing:
                break
            held = next((number for number in seen if number in self._laid), None)
            if held is None:  # jumped here: keep the share of the block that is above
                begin, rows = self.first_row(first), self._blocks[first].rows
                share = (top / self.row_height - begin) / rows
                self.lay_out(first)
                top = (begin + share * self._blocks[first].rows) * self.row_height
                continue
            number = max((n for n in missing if n < held), default=missing[0])
            rows = self._blocks[number].rows
            self.lay_out(number)
            if number < held:
                top += (self._blocks[number].rows - rows) * self.row_height
        return top

    def row_of(self, chip: int) -> int:
        """Return the row on which a chip begins."""
        number = self._block_of(chip)
        inside = self.lay_out(number).row_of(chip)
        return self.first_row(number) + inside

    def parts_of(self, chip: int) -> list[tuple[int, Placed]]:
        """Return a chip's placed parts with their rows, in order."""
        number = self._block_of(chip)
        parts = self.lay_out(number).parts_of(chip)
        begin = self.first_row(number)
        return [(begin + row, one) for row, one in parts]

    @property
    def inset(self) -> float:
        """Distance from a row's top and bottom to what fills and marks enclose."""
        return self.row_height * 0.12

    def box(self, row: int, placed: Placed) -> QRectF:
        """Return the rectangle that fills and marks enclose, below the layout's origin."""
        top = row * self.row_height + self.inset
        height = self.row_height - 2 * self.inset
        return QRectF(placed.left, top, placed.right - placed.left, height)

    def chip_at(self, x: float, y: float, *, nearest: bool = False) -> int | None:
        """Return the chip under a point; with `nearest`, the closest one on that height."""
        if not self.count:
            return None
        number = int(y // self.row_height)
        if nearest:
            number = min(max(number, 0), len(self.rows) - 1)
            while number and not self.rows[number]:
                number -= 1
        if not 0 <= number < len(self.rows) or not self.rows[number]:
            return None
        row = self.rows[number]
        at = bisect_right(row, x, key=lambda one: one.start) - 1
        if nearest:
            return row[max(0, at)].chip
        return row[at].chip if at >= 0 and x <= row[at].end else None


class _Rows(Sequence[list[Placed]]):
    """A layout's rows by number, each laid out when it is asked for."""

    def __init__(self, layout: StripLayout) -> None:
        self._layout = layout

    def __len__(self) -> int:
        return self._layout.row_count()

    @overload
    def __getitem__(self, index: int) -> list[Placed]: ...

    @overload
    def __getitem__(self, index: slice) -> list[list[Placed]]: ...

    def __getitem__(self, index: int | slice) -> list[Placed] | list[list[Placed]]:
        wanted = range(len(self))[index]
        if isinstance(wanted, range):
            return [self._layout.row(row) for row in wanted]
        return self._layout.row(wanted)
