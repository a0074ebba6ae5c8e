"""`draftscope import`: from what another program counted to a session. No engine, no window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from app.cli.interrupt import ending
from app.importing.programs import import_events, write_trace
from app.viewmodels.imported import counts_words, missing_words
from engine.errors import DraftscopeError
from engine.file_names import name_in_words
from engine.trace.imported import Imported

if TYPE_CHECKING:
    import argparse


def import_(options: argparse.Namespace) -> int:
    """Write the session and say what it holds and what it lacks.

    Raises
    ------
    DraftscopeError
        If the file cannot be imported, or the session not be written.
    """
    if options.out.exists() and options.file.exists() and options.out.samefile(options.file):
        raise DraftscopeError(
            f"{options.out.name} is the file itself, which stays as it is: choose another name."
        )
    events = import_events(options.file, options.program)
    with ending():
        write_trace(events, options.out)
    imported = next(event for event in events if isinstance(event, Imported))
    if options.json:
        told = msgspec.structs.replace(imported, steps=())
        print(
            msgspec.json.encode({"written": name_in_words(options.out), "imported": told}).decode()
        )
        return 0
    print(f"{options.out} is written: imported from {imported.program}, {imported.form}.")
    print(counts_words(imported))
    print(missing_words(imported))
    for note in imported.notes:
        print(note)
    return 0
