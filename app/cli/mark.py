"""`draftscope mark`: moments of a saved session and what is said of them. No engine, no window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.export.moments import parse_moment
from app.export.source import open_source
from app.export.words import place_words
from app.viewmodels.terminal_marks import harmless
from engine.errors import DraftscopeError
from engine.trace.appending import append_events
from engine.trace.markers import LONGEST_NOTE, LONGEST_TITLE, Marker, SessionNote, fresh_id

if TYPE_CHECKING:
    import argparse

    from app.export.source import Source
    from engine.trace.events import Event


def mark(options: argparse.Namespace) -> int:
    """Append what was asked for, then list the markers that hold."""
    source = open_source(options.trace, run=options.run - 1)
    added = asked_for(options, source)
    if added:
        append_events(options.trace, added)
        source = open_source(options.trace, run=options.run - 1)
    if options.json:
        said = {"session": source.note, "markers": source.markers}
        print(msgspec.json.encode(said).decode())
    else:
        _tell(source)
    return 0


def asked_for(options: argparse.Namespace, source: Source) -> list[Event]:
    """Return the events that the words on the command line make.

    Raises
    ------
    DraftscopeError
        If there is no such moment or marker, or a text is too long.
    """
    _check_texts(options)
    run = source.started.run
    held = {marker.id: marker for marker in source.markers}
    added: list[Event] = []
    if options.name is not None or options.about is not None:
        note = source.note
        title = note.title if options.name is None else options.name
        about = note.note if options.about is None else options.about
        added.append(SessionNote(run=run, title=title, note=about))
    if options.remove is not None:
        if options.remove not in held:
            raise DraftscopeError(f"There is no marker {options.remove}: {_ids(source)}.")
        added.append(msgspec.structs.replace(held[options.remove], removed=True))
    if options.at is not None or options.id is not None:
        added.append(_changed(options, source, held.get(options.id)))
    elif any(part is not None for part in (options.title, options.note, options.pause)):
        raise DraftscopeError("Say where: --at for a new marker, --id for one that is there.")
    return added


def _check_texts(options: argparse.Namespace) -> None:
    """Refuse what is too long, and what would give and take at once."""
    titles, notes = (options.title, options.name), (options.note, options.about)
    for texts, longest in ((titles, LONGEST_TITLE), (notes, LONGEST_NOTE)):
        for text in filter(None, texts):
            if len(text) > longest:
                raise DraftscopeError(f"A text has {len(text)} characters: {longest} at most.")
    if any("\n" in text or "\r" in text for text in filter(None, titles)):
        raise DraftscopeError("A title is one line: put what follows into --note or --about.")
    if options.remove is not None and options.remove == options.id:
        raise DraftscopeError(f"--id and --remove both name {options.id}: say one of them.")


def _changed(options: argparse.Namespace, source: Source, held: Marker | None) -> Marker:
    if options.at is None and held is None:
        raise DraftscopeError(f"There is no marker {options.id}: {_ids(source)}, or say --at.")
    moment = parse_moment(options.at, source.document) if options.at is not None else None
    base = held or Marker(
        run=source.started.run, id=options.id or fresh_id(source.markers), round=-1
    )
    changes: dict[str, object] = {
        name: getattr(options, name)
        for name in ("title", "note", "pause")
        if getattr(options, name) is not None
    }
    if moment is not None:
        slot = None if moment.pinned is None else moment.pinned.slot
        changes |= {"round": moment.round, "phase": moment.phase, "slot": slot}
    return msgspec.structs.replace(base, **changes)


def _ids(source: Source) -> str:
    ids = ", ".join(marker.id for marker in source.markers)
    return f"there are {ids}" if ids else "this session has none"


def _tell(source: Source) -> None:
    if source.note.title or source.note.note:
        print(harmless(": ".join(filter(None, (source.note.title, source.note.note)))))
    for marker in source.markers:
        where = place_words(marker) or "start"
        more = "" if marker.pause else " (no pause)"
        words = ": ".join(filter(None, (marker.title, marker.note)))
        print(harmless(f"{marker.id}  {where}{more}  {words}".rstrip()))
    if not source.markers:
        print("No markers.")
