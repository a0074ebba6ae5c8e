"""Both caches over the rounds: lengths, pages, and what a rollback gave back.

Knows `CacheSpan`s. Knows no Qt. Nothing is estimated: all of it is what the caches reported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from app.viewmodels.columns import columns_of
from app.viewmodels.readings import DASH, How, Reading, count, plural
from app.viewmodels.throughput import nice_top

if TYPE_CHECKING:
    import numpy.typing as npt

    from app.viewmodels.document import Document
    from engine.trace.events import CacheSpan

    Array = npt.NDArray[np.float64]

Side = Literal["target", "drafter"]

_DEFINITION = (
    "Positions held after the round. Before → peak → after: the peak is after the pass or the "
    "draft, and what was not kept is given back. Pages go back to the pool when a rollback leaves "
    "them empty."
)


@dataclass(frozen=True)
class CachePicture:
    """One cache in the round shown last; None where there is no such cache."""

    side: Side
    span: CacheSpan | None
    reason: str = ""


class CachesModel:
    """What the caches panel shows over the rounds shown so far.

    Attributes
    ----------
    readings
        Length and rollbacks of the target's cache, and of the drafter's.
    pictures
        The target's cache and the drafter's in the round shown last.
    pages
        Pages held after each round: the target's, the drafter's; shape [rounds], NaN without one.
    top
        Upper end of the axis of pages.
    """

    def __init__(self, document: Document, visible: int = 0) -> None:
        self._document = document
        self.update(visible)

    def update(self, visible: int) -> None:
        """Show the first `visible` rounds."""
        columns = columns_of(self._document)
        shown = min(visible, len(columns))
        self.pages: tuple[Array, Array] = (
            columns.gauge("target_pages")[:shown],
            columns.gauge("drafter_pages")[:shown],
        )
        last = self._document.rounds[shown - 1] if shown else None
        reason = "no round yet" if last is None else "this drafter keeps no cache of its own"
        self.pictures = (
            CachePicture("target", last.target_cache if last else None, reason),
            CachePicture("drafter", last.drafter_cache if last else None, reason),
        )
        totals = {
            side: (
                int(columns.sums(f"{side}_positions_back")[shown]),
                int(columns.sums(f"{side}_pages_back")[shown]),
            )
            for side in ("target", "drafter")
        }
        self.readings = tuple(_reading(one, totals[one.side]) for one in self.pictures)
        highest = [float(np.nanmax(one)) for one in self.pages if np.isfinite(one).any()]
        self.top = nice_top(max(highest, default=1.0))

    def readout(self, index: int) -> tuple[str, str]:
        """Write the curves' values in a round, for the line under the pointer."""
        target, drafter = (
            f"{one[index]:,.0f}" if np.isfinite(one[index]) else DASH for one in self.pages
        )
        return target, drafter


def _reading(picture: CachePicture, total: tuple[int, int]) -> Reading:
    name, span = f"{picture.side} cache", picture.span
    if span is None:
        return Reading(name, DASH, "", How.MEASURED, picture.reason, _DEFINITION)
    back = f"gave back {count(max(0, span.peak - span.after))}"
    pages = plural(span.pages_given_back, "page")
    whole = f"in all {count(total[0])}, {plural(total[1], 'page')}"
    path = f"{count(span.before)}→{count(span.peak)}→{count(span.after)}"
    return Reading(
        name,
        count(span.after),
        f"positions, {plural(span.pages_after, 'page')}",
        How.MEASURED,
        f"{path}: {back}, {pages}; {whole}",
        f"{_DEFINITION} A page has {span.page_size} positions.",
    )
