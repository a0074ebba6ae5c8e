"""What the workers do: load, run and journal; fetch, open and save. Knows no Qt.

`EngineJobs` lives on the engine's thread and is the only part of the app that reaches torch, which
it imports with the first job. `FileJobs` never does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.messages import (
    EventsArrived,
    FetchModel,
    JournalStarted,
    LoadModels,
    ModelsLoaded,
    OpenSession,
    Progressed,
    Run,
    SaveSession,
    WishFailed,
)
from engine.errors import DraftscopeError
from engine.trace.events import FinishReason, RunFinished, RunStarted
from engine.trace.journal import save_copy, start_journal
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.messages import Job
    from app.worker import Post
    from engine.session import Session
    from engine.trace.events import Event
    from engine.trace.journal import Journal

OPEN_CHUNK = 512  # events handed over at once, so that a long session shows before it is read


class EngineJobs:
    """The loaded target and the session that keeps its caches, from one job to the next."""

    def __init__(self) -> None:
        self._target_name = ""
        self._session: Session | None = None
        self._drafters: set[str] = set()  # those that the session has

    def __call__(self, job: Job, post: Post) -> str:
        """Perform a job of the engine's and return a notice or ""."""
        from engine.loading import LoadingCancelled

        try:
            match job:
                case LoadModels():
                    self._prepare(job, job.target, job.drafter, post)
                case Run():
                    drafter = job.request.settings.drafter
                    self._run(job, self._prepare(job, job.target, drafter, post), post)
                case _:
                    raise TypeError(f"not a job of the engine's: {job!r}")
        except LoadingCancelled:
            job.cancel.set()
        return ""

    def _prepare(self, job: Job, target: str, drafter: str, post: Post) -> Session:
        """Load what is missing. Held models are kept; another target replaces all."""
        import engine

        if self._session is None or target != self._target_name:
            self._session = None  # let go first: two targets may not fit
            loaded = engine.load_model(
                target, progress=_progress(job, post), cancelled=job.cancel.is_set
            )
            self._session = engine.Session(loaded)
            self._drafters.clear()
            self._target_name = target
        self._load_drafter(job, self._session, drafter, post)
        return self._session

    def _load_drafter(self, job: Job, session: Session, spec: str, post: Post) -> None:
        import engine

        if spec not in self._drafters:
            drafter = engine.make_drafter(
                spec,
                session.target,
                progress=_progress(job, post),
                cancelled=job.cancel.is_set,
            )
            session.add_drafter(spec, drafter)
            self._drafters.add(spec)
        held = session.drafter(spec)
        info = held.info if held is not None else None
        post(ModelsLoaded(job.number, session.target.info, spec, info))

    def _run(self, job: Run, session: Session, post: Post) -> None:
        journal: Journal | None = None
        ended = False
        try:
            for event in session.run(job.request, job.control):
                if isinstance(event, RunStarted):
                    journal = start_journal(event)
                    post(JournalStarted(job.number, journal.path))
                elif journal is not None:
                    journal.write(event)
                ended = ended or isinstance(event, RunFinished)
                post(EventsArrived(job.number, (event,)))
                self._grant(job, session, post)
        except Exception as fault:
            if journal is not None and not ended:
                _write_end(journal, fault, job, post)
            raise
        finally:
            if journal is not None:
                journal.close()

    def _grant(self, job: Run, session: Session, post: Post) -> None:
        """Load the drafter that changed settings ask for; without it the run goes on as it was."""
        for settings in job.wishes.drain():
            try:
                self._load_drafter(job, session, settings.drafter, post)
            except DraftscopeError as fault:
                post(WishFailed(job.number, str(fault)))
            else:
                job.control.change_settings(settings)


class FileJobs:
    """Jobs on files and on the network; they import no torch."""

    def __call__(self, job: Job, post: Post) -> str:
        """Perform a job and return a notice or ""."""
        match job:
            case FetchModel():
                from engine.models.fetch import FetchCancelled, fetch

                try:
                    fetch(job.name, _progress(job, post), job.cancel.is_set)
                except FetchCancelled:
                    job.cancel.set()
            case OpenSession():
                return _open(job, post)
            case SaveSession():
                save_copy(job.source, job.path)
            case _:
                raise TypeError(f"not a job on files: {job!r}")
        return ""


def _progress(job: Job, post: Post) -> Callable[[int, int, str], None]:
    def report(done: int, total: int, what: str) -> None:
        post(Progressed(job.number, done, total, what))

    return report


def _write_end(journal: Journal, fault: Exception, job: Run, post: Post) -> None:
    """End the trace of a run that failed, so that it stays readable and says why."""
    message = " ".join(str(fault).split()) or type(fault).__name__
    run = TraceReader(journal.path)[0].run
    end = RunFinished(run=run, reason=FinishReason.ERROR, message=message)
    journal.write(end)
    post(EventsArrived(job.number, (end,)))


def _fetch(job: FetchModel, post: Post) -> None:
    from engine.models.fetch import FetchCancelled, fetch

    try:
        fetch(job.name, _progress(job, post), job.cancel.is_set)
    except FetchCancelled:
        job.cancel.set()


def _open(job: OpenSession, post: Post) -> str:
    reader = TraceReader(job.path)
    events: list[Event] = []
    for event in reader:
        if job.cancel.is_set():
            return ""
        events.append(event)
        if len(events) == OPEN_CHUNK:
            post(EventsArrived(job.number, tuple(events)))
            events.clear()
    post(EventsArrived(job.number, tuple(events)))
    return reader.notice or ""
