"""Where a text of ids begins to say the same stretch again and again. Knows ids alone.

A small model's greedy text often ends so: such a stretch flatters every drafter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_PERIOD = 48  # tokens: a stretch that long said a third time is repetition
TIMES = 3
_LEAST = 24  # tokens: a table or a list may well say a short thing three times


def repeated(ids: Sequence[int], longest: int = LONGEST_PERIOD) -> int:
    """Return the period of a text whose end says one stretch three times; 0 for none.

    Stretches of fewer than eight tokens count once they fill 24, since a table or a list may well
    say a short thing three times.
    """
    return _period(ids, len(ids), longest)


def where_repeated(ids: Sequence[int], longest: int = LONGEST_PERIOD) -> int | None:
    """Return how many ids stand before a text says a stretch for the second time; None: it doesn't.

    What comes after a stretch has been said three times is taken as repetition to the text's end.
    """
    for end in range(1, len(ids) + 1):
        period = _period(ids, end, longest)
        if period:
            return end - max(TIMES * period, _LEAST) + period  # the first time is kept
    return None


def _period(ids: Sequence[int], end: int, longest: int) -> int:
    last = ids[end - 1] if end else None
    for period in range(1, longest + 1):
        span = max(TIMES * period, _LEAST)
        if span > end:
            return 0
        if last == ids[end - 1 - period] and (
            ids[end - span + period : end] == ids[end - span : end - period]
        ):
            return period
    return 0
