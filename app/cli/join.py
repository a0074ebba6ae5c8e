"""`draftscope join`: several sessions in one trace, to be shown side by side. No engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.export.exporting import ADVICE
from engine.errors import DraftscopeError
from engine.trace import codec
from engine.trace.events import RunStarted
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
    with whole_file(out, ADVICE) as part, part.open("wb") as file:
        for piece in packed(lines) if out.name.endswith(SUFFIX) else lines:
            file.write(piece)
    print(f"{out} holds {len(runs)} runs.")
    return 0


def _lines(traces: list[Path], runs: dict[str, str]) -> Iterator[bytes]:
    """Yield every event's line, and note where each run comes from."""
    for trace in traces:
        for event in TraceReader(trace):
            if isinstance(event, RunStarted):
                if event.run in runs:
                    raise DraftscopeError(
                        f"Run {event.run} of {trace.name} is in {runs[event.run]} as well: "
                        "name each session once."
                    )
                runs[event.run] = trace.name
            yield codec.encode(event)
