"""`draftscope export`: from a saved session to something to take along. No engine, no window."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import msgspec

from app.cli.interrupt import ending
from app.cli.progress import ProgressLine
from app.export.exporting import export as write
from app.export.formats import format_named, format_of
from app.export.options import Options
from app.viewmodels.terminal_marks import harmless
from engine.errors import DraftscopeError
from engine.file_names import name_in_words

if TYPE_CHECKING:
    import argparse

    from app.export.formats import Format

_NAMES = {
    "begin": "--from",
    "end": "--to",
    "captions": "--no-captions",
    "drafts": "--hide-drafts",
    "title_card": "--no-title-card",
}


def export(options: argparse.Namespace) -> int:
    """Write what was asked for and say where it is."""
    made = format_named(options.format) if options.format else format_of(options.out)
    wanted = asked_for(options, made)
    line = ProgressLine(sys.stderr)
    tell = _told if options.json else line
    with ending() as asked:

        def progress(done: int, total: int, what: str) -> None:
            asked.check()
            tell(done, total, what)

        try:
            source = write(options.trace, options.out, made, wanted, progress)
        finally:
            line.close()
    size = options.out.stat().st_size
    if options.json:
        done = {"written": name_in_words(options.out), "bytes": size, "notices": source.notices}
        print(msgspec.json.encode(done).decode(), flush=True)
    else:
        for notice in source.notices:
            print(f"draftscope: {harmless(notice)}", file=sys.stderr)
        print(f"{options.out} is written ({size / 1000:,.0f} kB): {made.title.lower()}.")
    return 0


def asked_for(options: argparse.Namespace, made: Format) -> Options:
    """Return the options that were typed.

    Raises
    ------
    DraftscopeError
        If one of them means nothing to the format.
    """
    given: dict[str, Any] = {
        name: getattr(options, name)
        for name in Options.__dataclass_fields__
        if getattr(options, name) is not None
    }
    for name in given:
        if name not in made.takes:
            option = _NAMES.get(name, "--" + name.replace("_", "-"))
            raise DraftscopeError(f"{option} means nothing to {made.name}: leave it out.")
    if "run" in given:
        given["run"] -= 1
    if "withheld" in given:
        given["withheld"] = frozenset(given["withheld"])
    return Options(**given)


def _told(done: int, total: int, what: str) -> None:
    print(msgspec.json.encode({"done": done, "total": total, "what": what}).decode(), flush=True)
