"""One trace as exports see it: its runs as documents, its markers, and what is to be said of it.

Knows files and runs; knows no format. A trace that is still being written is taken as far as it is
when it is opened. Rounds are read back from the file when they are looked at, so a long trace costs
a few hundred bytes a round.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.export.options import silent
from app.export.withholding import without
from app.viewmodels.document import Document
from app.viewmodels.imported import imported_notice, missing_words
from app.viewmodels.portion import Gatherer
from engine.errors import DraftscopeError
from engine.trace.events import RunStarted
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Iterator
    from collections.abc import Set as AbstractSet

    from app.export.options import Progress
    from engine.trace.events import Event
    from engine.trace.imported import Imported
    from engine.trace.markers import Marker, SessionNote

_PORTION = 512  # events taken in at once


class Source:
    """A trace that is read whole.

    Attributes
    ----------
    path
        The file.
    runs
        A document for each run in it, in order; at least one.
    chosen
        Which of them is to be shown where only one is.
    notices
        Sentences that every export shows: what of the file could not be read.
    withheld
        What is left out on purpose.
    """

    def __init__(
        self,
        path: Path,
        runs: tuple[Document, ...],
        *,
        chosen: int = 0,
        notices: tuple[str, ...] = (),
        withheld: AbstractSet[str] = frozenset(),
    ) -> None:
        self.path = path
        self.runs = runs
        self.chosen = chosen
        self.notices = notices
        self.withheld = frozenset(withheld)

    @property
    def document(self) -> Document:
        """The run that is to be shown."""
        return self.runs[self.chosen]

    @property
    def started(self) -> RunStarted:
        """Its first event."""
        started = self.document.started
        assert started is not None  # `open_source` takes no run without
        return started

    @property
    def imported(self) -> Imported | None:
        """What another program counted, where the run is not our own and has no rounds."""
        return self.document.imported

    @property
    def markers(self) -> tuple[Marker, ...]:
        """Its markers that hold, in order."""
        return self.document.markers

    @property
    def note(self) -> SessionNote:
        """What it is called and what is said of it."""
        return self.document.session_note

    def events(self) -> Iterator[Event]:
        """Yield all events of the file, of all runs, read again one by one."""
        return (without(event, self.withheld) for event in TraceReader(self.path))


def open_source(
    path: Path,
    *,
    run: int = 0,
    withheld: AbstractSet[str] = frozenset(),
    progress: Progress = silent,
) -> Source:
    """Read a trace for an export.

    Parameters
    ----------
    run
        Which of its runs is to be shown, from 0.
    withheld
        As in `without`.

    Raises
    ------
    DraftscopeError
        If it cannot be read, or has no such run.
    """
    reader = TraceReader(path)
    gatherers: dict[str, Gatherer] = {}
    documents: dict[str, Document] = {}
    whole = reader.plain.stat().st_size
    for start, size, event in reader.located():
        if event.run not in gatherers:
            if not isinstance(event, RunStarted):
                continue  # of a run whose beginning is not here
            gatherers[event.run], documents[event.run] = Gatherer(), Document()
        gatherer = gatherers[event.run]
        gatherer.add(without(event, withheld), (start, size))
        if gatherer.held >= _PORTION:
            documents[event.run].take(gatherer.portion(), path)
            progress(start, whole, "Reading the session")
    for name, gatherer in gatherers.items():
        if gatherer.held:
            documents[name].take(gatherer.portion(), path)
    if not 0 <= run < len(documents):
        runs = "1 run" if len(documents) == 1 else f"{len(documents)} runs"
        raise DraftscopeError(f"{path.name} has {runs}, so there is no run {run + 1}: choose one.")
    shown = tuple(documents.values())
    notices = [reader.notice] if reader.notice else []
    told = shown[run].imported
    if told is not None:
        notices += [imported_notice(told), f"{missing_words(told).capitalize()}."]
    return Source(Path(path), shown, chosen=run, notices=tuple(notices), withheld=withheld)


def require_rounds(source: Source, what: str, *, every: bool = False) -> None:
    """Refuse to make of an imported run what only rounds can become.

    Parameters
    ----------
    what
        What it was to be: "a film", "a table of rounds".
    every
        Whether it holds every run, so that one with rounds is enough.

    Raises
    ------
    DraftscopeError
        If the run is another program's counts.
    """
    imported = source.imported
    if every and any(run.imported is None for run in source.runs):
        return
    if imported is not None:
        raise DraftscopeError(
            f"{source.path.name} was imported from {imported.program} and holds counts, not "
            f"rounds, so it cannot become {what}: take png, svg, pdf, html, md or jsonl."
        )
