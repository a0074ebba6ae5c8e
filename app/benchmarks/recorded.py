"""A recorded session as a source of as many rounds as are wanted, for what measures the window.

Knows events and their laws: positions, caches and numbers add up as in a run that really was so
long. Knows no window, no clock and no model.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from app.assets import asset_path
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import (
    CacheSpan,
    FinishReason,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
)
from engine.trace.reader import read_trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from engine.trace.events import Event, ModelInfo


RECORDED = "3-story.jsonl.zst"  # its drafter copies nothing, and its rounds have every fate


def recorded_session() -> list[Event]:
    """Return the events of the session that comes with Draftscope.

    Raises
    ------
    DraftscopeError
        If it is missing.
    """
    path = asset_path("demos") / RECORDED
    if not path.exists():
        raise DraftscopeError("The recorded session is missing; install Draftscope again.")
    return read_trace(path)


def long_run(events: Sequence[Event], rounds: int) -> Iterator[Event]:
    """Yield a lawful run of `rounds` rounds that repeats the whole rounds of a recorded one.

    Parameters
    ----------
    events
        A recorded run whose drafter copies nothing from the context, with its probes; the rounds
        that a stop or the limit cut are left out, as is the plain run after it.
    rounds
        At least 1.
    """
    started = next(event for event in events if isinstance(event, RunStarted))
    body = [event for event in events if isinstance(event, Round | Probe)]
    whole = [event for event in body if isinstance(event, Probe) or event.closing is not None]
    tokens = (rounds + 1) * max(one.emitted for one in whole if isinstance(one, Round))
    room = len(started.prompt_tokens) + tokens
    yield msgspec.structs.replace(
        started,
        max_new_tokens=tokens,
        target=_roomier(started.target, room),
        drafter=None if started.drafter is None else _roomier(started.drafter, room),
    )
    yield next(event for event in events if isinstance(event, PrefillFinished))
    yield from _repeated(whole, len(started.prompt_tokens), rounds)
    yield RunFinished(run=started.run, reason=FinishReason.CANCELLED)


def write_long_run(path: Path, rounds: int) -> int:
    """Write such a run as a trace file, event by event, and return its bytes."""
    with path.open("wb") as file:
        events = map(codec.encode, long_run(recorded_session(), rounds))
        while lines := list(islice(events, 256)):
            file.write(b"".join(lines))
        return file.tell()


def _roomier(info: ModelInfo, tokens: int) -> ModelInfo:
    """Return a model whose context holds so many tokens: a longer run had to have one."""
    return msgspec.structs.replace(info, context_length=max(info.context_length, tokens))


def _repeated(whole: Sequence[Event], prompt: int, rounds: int) -> Iterator[Event]:
    """Yield the rounds and probes over and over, numbered on."""
    index, position = 0, prompt
    held: int | None = None  # positions in the drafter's cache
    while True:
        for event in whole:
            if isinstance(event, Probe):
                yield msgspec.structs.replace(event, after_round=index - 1, context_length=position)
                continue
            if not isinstance(event, Round):
                continue
            if index == rounds:
                return
            further = position - event.position
            own = event.drafter_cache
            if own is not None:
                own = _moved(own, further, held)
                held = own.after
            yield msgspec.structs.replace(
                event,
                index=index,
                position=position,
                target_cache=_moved(event.target_cache, further, None),
                drafter_cache=own,
            )
            index, position = index + 1, position + event.emitted


def _moved(span: CacheSpan, further: int, before: int | None) -> CacheSpan:
    """Return a cache's lengths `further` tokens on; `before`, where it is known, as it was left."""
    lengths = [one + further for one in (span.before, span.peak, span.after)]
    if before is not None:
        lengths[0] = before
    lengths[1] = max(lengths)
    pages = [-(-length // span.page_size) for length in lengths]
    return CacheSpan(
        before=lengths[0],
        peak=lengths[1],
        after=lengths[2],
        pages_before=pages[0],
        pages_peak=pages[1],
        pages_after=pages[2],
        page_size=span.page_size,
    )
