"""How much of a long run goes into a page. Decodes no more of a file than it needs."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Protocol

from engine.trace.events import Baseline, Round

if TYPE_CHECKING:
    from collections.abc import Iterator

    from engine.trace.events import Event


class Events(Protocol):
    """A sequence of events: a list, or a file's reader, which decodes what is asked for."""

    def __len__(self) -> int: ...
    def __getitem__(self, index: int, /) -> Event: ...
    def __iter__(self) -> Iterator[Event]: ...


def first_rounds(events: Events, limit: int) -> tuple[list[Event], int]:
    """Return the events of the first `limit` rounds, and how many rounds there are.

    Of a longer run only its plain run is kept of what comes later: how it ended is not shown.
    `events` is asked for no more than is needed, so it may decode lazily.
    """
    total = 0
    later: list[Event] = []
    for i in range(len(events) - 1, -1, -1):
        event = events[i]
        if isinstance(event, Round):
            total = event.index + 1
            break
        if isinstance(event, Baseline):
            later.append(event)
    if total <= limit:
        return list(events), total
    before = takewhile(lambda e: not (isinstance(e, Round) and e.index >= limit), events)
    return [*before, *later], total
