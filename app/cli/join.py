"""`draftscope join`: several sessions in one trace, to be shown side by side. No engine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from app.cli.interrupt import ending
from app.export.exporting import ADVICE
from app.viewmodels.terminal_marks import harmless
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import SCHEMA_VERSION, RunStarted
from engine.trace.packed import SUFFIX, packed
from engine.trace.reader import TraceReader
from engine.whole import whole_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from pathlib import Path


def join(options: argparse.Namespace) -> int:
    """Write all runs of the sessions into one file, in the order in which they are named."""
    *traces, out = options.files
    if len(traces) < 2:
        raise DraftscopeError("Name two sessions or more, and then the file to write.")
    for trace in traces:
        if out.exists() and trace.exists() and out.samefile(trace):
            raise DraftscopeError(f"{out.name} is one of the sessions: choose another name.")
    runs: dict[str, str] = {}
    lines = _lines(traces, runs)
    with ending(), whole_file(out, ADVICE) as part, part.open("wb") as file:
        for piece in packed(lines) if out.name.endswith(SUFFIX) else lines:
            file.write(piece)
    print(f"{out} holds {len(runs)} runs.")
    return 0


def _lines(traces: list[Path], runs: dict[str, str]) -> Iterator[bytes]:
    """Yield every event's line as this version writes it, and note where each run comes from.

    What could not be read of a session is said on standard error.
    """
    for trace in traces:
        reader = TraceReader(trace)
        for event in reader:
            if isinstance(event, RunStarted):
                if event.run in runs:
                    raise DraftscopeError(
                        f"Run {event.run} of {trace.name} is in {runs[event.run]} as well: "
                        "name each session once."
                    )
                runs[event.run] = trace.name
                event = msgspec.structs.replace(event, schema=SCHEMA_VERSION)
            yield codec.encode(event)
        if reader.notice is not None:
            print(f"draftscope: {harmless(reader.notice)}", file=sys.stderr)
