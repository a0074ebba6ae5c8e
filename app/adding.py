"""Adding to the session on show where it lies, or to a copy where it must stay as it is.

Knows files; not what is added. A copy goes to the journals, unpacked: it can be added to again.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

from app.assets import asset_path
from engine.errors import DraftscopeError
from engine.trace.appending import append_events
from engine.trace.journal import journals_folder, save_copy
from engine.trace.packed import is_packed, plain_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from engine.trace.events import Event


def add_or_copy(source: Path, events: Sequence[Event]) -> Path | None:
    """Append events to a session, or to a new copy of it, and return the copy if there is one.

    Copied are packed sessions, the program's own ones and those that cannot be written.

    Raises
    ------
    DraftscopeError
        If neither can be written.
    """
    if not stays_as_it_is(source):
        try:
            append_events(source, events)
        except DraftscopeError:
            if os.access(source, os.W_OK):
                raise
        else:
            return None
    copy = _place_for(source)
    save_copy(plain_file(source), copy)
    append_events(copy, events)
    return copy


def stays_as_it_is(source: Path) -> bool:
    """Whether nothing may be added to a file: packed, the program's own, or not to be written."""
    own = source.resolve().is_relative_to(asset_path("demos").resolve())
    return own or is_packed(source) or not os.access(source, os.W_OK)


def _place_for(source: Path) -> Path:
    folder = journals_folder()
    stem = source.name.removesuffix(".zst").removesuffix(".jsonl")
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())  # journals are kept by their names' order
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise DraftscopeError(
            f"{source.name} stays as it is, and {folder} cannot be written ({reason}): save the "
            "session elsewhere, open that and mark it."
        ) from fault
    paths = (folder / f"{stamp}-{stem}{more}.jsonl" for more in ("", *map(str, range(2, 1000))))
    return next(path for path in paths if not path.exists())
