"""Opening a file that is a session, or that can be made one. Knows no window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.importing.programs import can_import, import_to_journals
from engine.errors import DraftscopeError
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from pathlib import Path


def open_or_import(path: Path) -> tuple[TraceReader, str]:
    """Return the session of a file, and what is to be said if it was imported for that.

    Raises
    ------
    DraftscopeError
        As `TraceReader` where the file looks like no other program's, else as `import_events`.
    """
    try:
        return TraceReader(path), ""
    except DraftscopeError:
        if not can_import(path):
            raise
    session, program = import_to_journals(path)
    said = f"{path.name} is no session of Draftscope but holds statistics of {program}: imported."
    return TraceReader(session), said
