"""From a text as another program writes it to the events of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.importing.programs import import_events
from engine.trace.events import RunFinished, RunStarted
from engine.trace.imported import Imported

if TYPE_CHECKING:
    from pathlib import Path

    from engine.trace.events import Event


def imported(folder: Path, text: str | bytes, key: str | None = None) -> list[Event]:
    path = folder / "statistics.txt"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return import_events(path, key)


def told_by(events: list[Event]) -> Imported:
    (told,) = (event for event in events if isinstance(event, Imported))
    return told


def start_of(events: list[Event]) -> RunStarted:
    first = events[0]
    assert isinstance(first, RunStarted)
    return first


def end_of(events: list[Event]) -> RunFinished | None:
    return next((event for event in events if isinstance(event, RunFinished)), None)
