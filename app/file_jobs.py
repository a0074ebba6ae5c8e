"""What the threads of files and of the network do: fetch, open, save, sum up and add. Never torch.

Knows files and what is read of them. Knows no Qt.
"""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

from app.importing.opening import open_or_import
from app.messages import (
    AddToSession,
    FetchModel,
    OpenSession,
    PortionRead,
    Progressed,
    RunsMet,
    SaveSession,
    SessionSummarised,
    SourceCopied,
    SummariseSessions,
)
from app.viewmodels.portion import Gatherer
from app.viewmodels.runs import run_titles
from engine.errors import DraftscopeError
from engine.trace.events import RunStarted
from engine.trace.journal import save_copy

if TYPE_CHECKING:
    from app.messages import Job
    from app.worker import Post

FIRST_PORTION, PORTION = 32, 512  # events of a session handed over at once
# A thread that reads would hold the interpreter for milliseconds each time the window asks for it:
# after so many events it lets go by itself.
BREATH, BREATH_S = 64, 0.0005


class FileJobs:
    """Jobs on files and on the network; they import no torch."""

    def __init__(self) -> None:
        self._settled = False

    def __call__(self, job: Job, post: Post) -> str:
        """Perform a job and return a notice or ""."""
        match job:
            case FetchModel():
                _fetch(job, post)
            case OpenSession():
                if not self._settled:
                    # As `_share_with_the_window`: the window itself stays, and reading makes
                    # enough objects for the collector to walk over all of it.
                    gc.freeze()
                    self._settled = True
                return _open(job, post)
            case SaveSession():
                save_copy(job.source, job.path)
            case AddToSession():
                return _add(job, post)
            case SummariseSessions():
                _sum_up(job, post)
            case _:
                raise TypeError(f"not a job on files: {job!r}")
        return ""


def _fetch(job: FetchModel, post: Post) -> None:
    from engine.models.fetch import FetchCancelled, fetch

    def report(done: int, total: int, what: str) -> None:
        post(Progressed(job.number, done, total, what))

    try:
        fetch(job.name, report, job.cancel.is_set)
    except FetchCancelled:
        job.cancel.set()


def _open(job: OpenSession, post: Post) -> str:
    """Read a run in portions: the first one is small, so that there is a picture at once."""
    reader, said = open_or_import(job.path)
    gatherer = Gatherer()
    runs: dict[str, RunStarted] = {}
    chosen, size = "", FIRST_PORTION
    try:
        for number, (start, length, event) in enumerate(reader.located(), 1):
            if job.cancel.is_set():
                return ""
            if number % BREATH == 0:
                time.sleep(BREATH_S)
            if isinstance(event, RunStarted) and event.run not in runs:
                chosen = event.run if len(runs) == job.run else chosen
                runs[event.run] = event
            if event.run != chosen:
                continue
            gatherer.add(event, (start, length))
            if gatherer.held == size:
                post(PortionRead(job.number, reader.path, gatherer.portion()))
                size = PORTION
    finally:
        if gatherer.held and not job.cancel.is_set():
            post(PortionRead(job.number, reader.path, gatherer.portion()))
    post(RunsMet(job.number, run_titles([*runs.values()]), job.run))
    return " ".join(filter(None, (said, reader.notice)))


def _sum_up(job: SummariseSessions, post: Post) -> None:
    """Tell each session; one that cannot be read is left out, for it says so when it is opened."""
    from app.export.source import open_source
    from app.viewmodels.gallery import summary_of

    for path in job.paths:
        if job.cancel.is_set():
            return
        try:
            summary = summary_of(open_source(path))
        except DraftscopeError:
            continue
        post(SessionSummarised(job.number, path, summary))
        time.sleep(BREATH_S)


def _add(job: AddToSession, post: Post) -> str:
    from app.adding import add_or_copy

    copy = add_or_copy(job.source, job.events)
    if copy is None:
        return ""
    post(SourceCopied(job.number, copy))
    return (
        f"{job.source.name} stays as it is; what is marked goes into a copy of it, which Save "
        "session keeps."
    )
