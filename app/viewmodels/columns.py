"""What each round adds, as numpy columns that grow by doubling. No figure is computed here.

Knows how a round becomes one row. Knows no document, no Qt and no picture; the panels' viewmodels
take slices of these columns and never walk the rounds again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from app.viewmodels.draft_ends import exhausted
from engine.trace.events import DraftEnd

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.document import Document
    from engine.trace.events import Round

    Array = npt.NDArray[np.float64]

PHASES = ("draft", "verify", "accept", "commit", "observe")
"""The phases of a round in the order in which they happen; the names of `RoundTimes`' fields."""

# Columns that add up over the rounds: kept as running sums, so that any window is a difference.
# A `DraftEnd` counts the rounds whose draft it ended.
_SUMMED = (
    "accepted",
    "tested",
    "emitted",
    "round_ns",
    "span_ns",
    "target_positions_back",
    "target_pages_back",
    "drafter_positions_back",
    "drafter_pages_back",
    *PHASES,
    "drafted",
    "exhausted",
    "paced",
    "disturbed",
    "new_grams",
    *DraftEnd,
)
# Columns that hold a state: kept as they are, NaN where a round has none (no drafter's cache).
_GAUGES = ("target_pages", "drafter_pages", "position")


class Growing:
    """A table of numpy columns; appending is amortised constant, slices are views.

    Parameters
    ----------
    columns
        How many columns. Each is contiguous, as plots want it.
    dtype
        Of all of them.
    """

    def __init__(self, columns: int = 1, dtype: npt.DTypeLike = np.float64) -> None:
        self._columns = [np.empty(256, dtype) for _ in range(columns)]
        self._length = 0
        self.moves = 0  # how often a column was copied to a larger one

    def __len__(self) -> int:
        return self._length

    def append(self, rows: npt.NDArray[Any]) -> None:
        """Append rows of shape [n, columns]; of one column, [n] will do.

        Columns that are nearly full move one at a time, so that no append moves them all.
        """
        needed = self._length + len(rows)
        ahead = (i for i, column in enumerate(self._columns) if 4 * len(column) < 5 * needed)
        early = next(ahead, None)
        values = rows.reshape(len(rows), len(self._columns))
        for i, column in enumerate(self._columns):
            if i == early or needed > len(column):
                larger = np.empty(2 * needed, column.dtype)
                larger[: self._length] = column[: self._length]
                self._columns[i] = larger
                self.moves += 1
            self._columns[i][self._length : needed] = values[:, i]
        self._length = needed

    def column(self, index: int = 0) -> npt.NDArray[Any]:
        """Return a read-only view of a column, shape [len]."""
        view = self._columns[index][: self._length]
        view.flags.writeable = False
        return view


class RoundColumns:
    """The rounds of one run as columns.

    `sums(name)[n]` is the sum over the first n rounds, so it has one entry more than there are
    rounds; `gauge(name)[i]` is the state in round i.
    """

    def __init__(self) -> None:
        self._sums = Growing(len(_SUMMED))
        self._sums.append(np.zeros((1, len(_SUMMED))))
        self._gauges = Growing(len(_GAUGES))

    def __len__(self) -> int:
        return len(self._gauges)

    def extend(self, rows: Array) -> None:
        """Append rows of `row_of`, shape [n, columns], in order."""
        if not len(rows):
            return
        last = np.array([column[-1] for column in map(self._sums.column, range(len(_SUMMED)))])
        # Sums of nanoseconds stay whole: below 2^53 they last a hundred days.
        self._sums.append(np.cumsum(rows[:, : len(_SUMMED)], axis=0) + last)
        self._gauges.append(rows[:, len(_SUMMED) :])

    def sums(self, name: str) -> Array:
        """Return running sums of a column, shape [rounds + 1], starting with 0."""
        return self._sums.column(_SUMMED.index(name))

    def gauge(self, name: str) -> Array:
        """Return a column of states, shape [rounds]."""
        return self._gauges.column(_GAUGES.index(name))


def row_of(one: Round, new_grams: int) -> tuple[float, ...]:
    """Return a round's row: what is summed, then the states.

    Parameters
    ----------
    new_grams
        3-grams of the text that this round is the first to hold.
    """
    accepted, times = one.accepted, one.times
    target, drafter = one.target_cache, one.drafter_cache
    return (
        accepted,
        accepted + one.rejected,
        accepted + (one.closing is not None),
        times.round,
        times.round + times.observe,
        target.peak - target.after,
        target.pages_given_back,
        drafter.peak - drafter.after if drafter is not None else 0,
        drafter.pages_given_back if drafter is not None else 0,
        times.draft,
        times.verify,
        times.accept,
        times.commit,
        times.observe,
        len(one.drafted),
        exhausted(one),
        one.paced,
        one.disturbed,
        new_grams,
        *(one.draft_end is end for end in DraftEnd),
        target.pages_after,
        drafter.pages_after if drafter is not None else float("nan"),
        one.position,
    )


ROW = len(_SUMMED) + len(_GAUGES)
"""Entries of a row."""


def window_ratio(over: Array, under: Array, window: int | None = None) -> Array:
    """Return over / under of running sums, after each round; NaN where `under` adds nothing.

    Parameters
    ----------
    over, under
        Running sums that start with 0, shape [n + 1].
    window
        Only the last so many rounds count; None counts all so far.

    Returns
    -------
    Array
        Shape [n].
    """
    start = np.zeros(len(over) - 1, dtype=np.intp)
    if window is not None:
        start = np.maximum(np.arange(1, len(over)) - window, 0)
    top, bottom = over[1:] - over[start], under[1:] - under[start]
    out = np.full(len(top), np.nan)
    np.divide(top, bottom, out=out, where=bottom > 0)
    return out


def columns_of(document: Document) -> RoundColumns:
    """Return the document's columns; all panels share them."""
    return document.columns
