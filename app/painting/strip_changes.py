"""Where two layouts of the strip begin to differ, so that only what changed is painted again.

Knows rows of placed fragments. Knows no font, no painter and no scroll bar.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.painting.strip_layout import Placed


class Changed(NamedTuple):
    """Everything before this place stands as it stood.

    Attributes
    ----------
    row
        The first row that differs; one past the last if none does.
    left
        Where on that row, in logical pixels.
    """

    row: int
    left: float


def first_change(
    before: Sequence[Sequence[Placed]], now: Sequence[Sequence[Placed]], chip: int, row: int
) -> Changed:
    """Return where rows begin to differ.

    Parameters
    ----------
    before, now
        Rows as they stood and as they stand, from `row` on.
    chip
        The first chip whose looks may have changed, though it stands where it stood.
    row
        Number of the first of these rows.
    """
    for number in range(max(len(before), len(now))):
        old = before[number] if number < len(before) else ()
        new = now[number] if number < len(now) else ()
        pairs = zip(old, new, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        kept = min(same, bisect_left(new, chip, key=lambda one: one.chip))
        if kept < max(len(old), len(new)):
            rest = [*old[kept : kept + 1], *new[kept : kept + 1]]
            return Changed(row + number, min(one.start for one in rest))
    return Changed(row + len(now), 0.0)
