"""The emitted text and its token ids, put together from events. Knows no tokenizer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.trace.events import Event, Round, RunFinished

if TYPE_CHECKING:
    from collections.abc import Iterable


def text_of(events: Iterable[Event]) -> str:
    """Return the emitted text: what each token released to the stream, then the tail.

    Parameters
    ----------
    events
        Of one run, in order; all of them or its beginning.
    """
    parts: list[str] = []
    for event in events:
        match event:
            case Round():
                parts.extend(event.texts)
            case RunFinished():
                parts.append(event.tail)
    return "".join(parts)


def emitted_ids_of(events: Iterable[Event]) -> list[int]:
    """Return the ids of the emitted tokens in order."""
    return [token for event in events if isinstance(event, Round) for token in event.emitted_ids]
