"""From a trace and what is wanted to a file that is there whole or not at all. Knows no format."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.options import Options, silent
from app.export.source import open_source, require_rounds
from engine.errors import DraftscopeError
from engine.whole import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from app.export.formats import Format
    from app.export.options import Progress
    from app.export.source import Source

ADVICE = "choose another place for the export, or free space there"


def export(
    trace: Path, out: Path, made: Format, options: Options, progress: Progress = silent
) -> Source:
    """Write a trace in another format and return what was read of it.

    Parameters
    ----------
    made
        What it is to become.

    Raises
    ------
    DraftscopeError
        If the trace cannot be read, cannot become such a file, or the file cannot be written;
        what was at `out` is then as it was.
    """
    if out.exists() and trace.exists() and out.samefile(trace):
        raise DraftscopeError(
            f"{out.name} is the session itself, which stays as it is: choose another name."
        )
    if out.is_dir():
        raise DraftscopeError(f"{out} is a folder: add a file's name.")
    source = open_source(trace, run=options.run, withheld=options.withheld, progress=progress)
    if made.of_rounds:
        require_rounds(source, made.of_rounds, every="run" not in made.takes)
    with whole_file(out, ADVICE) as part:
        made.write(source, part, options, progress)
    progress(1, 1, "Written")
    return source
