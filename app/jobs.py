"""What the engine's thread does: load, run and journal. Knows no Qt.

`EngineJobs` is the only part of the app that reaches torch, which it imports with the first job.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from app.messages import (
    DrafterReplaced,
    EventsArrived,
    JournalStarted,
    LoadModels,
    ModelsLoaded,
    Progressed,
    Run,
    WishFailed,
)
from app.viewmodels.prompt import early_spec
from engine.drafters.names import ANYWHERE, BUNDLED, EARLY, behind
from engine.drafters.registry import list_drafters
from engine.errors import DraftscopeError
from engine.models.native import build
from engine.trace.events import FinishReason, RunFinished, RunStarted
from engine.trace.journal import start_journal
from engine.trace.reader import TraceReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.messages import Job
    from app.worker import Post
    from engine.loading import LoadedModel
    from engine.request import RunRequest
    from engine.session import Session
    from engine.trace.journal import Journal

log = logging.getLogger("draftscope")

SWITCH_INTERVAL_S = 0.0002  # how long a thread may keep the interpreter while another waits


class EngineJobs:
    """The loaded target and the session that keeps its caches, from one job to the next.

    Parameters
    ----------
    device, plan
        As in `engine.load_model`; None: the best there is.
    """

    def __init__(self, *, device: str | None = None, plan: str | None = None) -> None:
        self._device, self._plan = device, plan
        self._target_name = ""
        self._session: Session | None = None
        self._drafters: set[str] = set()  # those that the session has
        self._cores_shared = False
        self._compiled_paid = False  # whether it did when the target was loaded

    @property
    def session(self) -> Session | None:
        """What the last job left loaded."""
        return self._session

    def __call__(self, job: Job, post: Post) -> str:
        """Perform a job of the engine's and return a notice or ""."""
        from engine.loading import LoadingCancelled

        if not self._cores_shared:
            _share_with_the_window()
            self._cores_shared = True
        try:
            match job:
                case LoadModels():
                    self._prepare(job, job.target, job.drafter, post)
                case Run():
                    asked = job.request.settings
                    session, drafter = self._prepare(job, job.target, asked.drafter, post)
                    settings = msgspec.structs.replace(asked, drafter=drafter)
                    self._run(job, session, replace(job.request, settings=settings), post)
                case _:
                    raise TypeError(f"not a job of the engine's: {job!r}")
        except LoadingCancelled:
            job.cancel.set()
        return ""

    def _prepare(self, job: Job, target: str, drafter: str, post: Post) -> tuple[Session, str]:
        """Load what is missing, and return the drafter that there is.

        Held models are kept; another target replaces all, and so does a plan that has become
        faster since.
        """
        import engine

        if self._session is None or target != self._target_name or self._overtaken(self._session):
            self._session = None  # let go first: two targets may not fit
            self._compiled_paid = _compiled_pays()
            loaded = engine.load_model(
                target,
                device=self._device,
                plan=self._plan,
                progress=progress_of(job, post),
                cancelled=job.cancel.is_set,
            )
            self._session = engine.Session(loaded)
            self._drafters.clear()
            self._target_name = target
        return self._session, self._find_drafter(job, self._session, drafter, post)

    def _overtaken(self, session: Session) -> bool:
        """Whether the compiled plan was built since the target was loaded, and would serve it."""
        held = session.target.info
        on_packed = held.device == "cpu" and held.plan != "compiled"
        chosen = self._plan is not None
        return on_packed and not chosen and not self._compiled_paid and _compiled_pays()

    def _find_drafter(self, job: Job, session: Session, spec: str, post: Post) -> str:
        """Load a drafter and return it; where it was chosen for another target, another."""
        try:
            self._load_drafter(job, session, spec, post)
        except DraftscopeError as fault:
            instead = _instead(spec, session.target)
            if not instead:
                raise
            log.info("%s was not used: %s", spec, fault)
            self._load_drafter(job, session, instead, post)
            post(DrafterReplaced(job.number, spec, instead))
            return instead
        return spec

    def _load_drafter(self, job: Job, session: Session, spec: str, post: Post) -> None:
        import engine

        if spec not in self._drafters:
            drafter = engine.make_drafter(
                spec,
                session.target,
                progress=progress_of(job, post),
                cancelled=job.cancel.is_set,
            )
            session.add_drafter(spec, drafter)
            self._drafters.add(spec)
        held = session.drafter(spec)
        info = held.info if held is not None else None
        identity = (self._target_name, *msgspec.structs.astuple(session.target.fingerprint))
        post(ModelsLoaded(job.number, session.target.info, spec, info, identity))

    def _run(self, job: Run, session: Session, request: RunRequest, post: Post) -> None:
        journal: Journal | None = None
        ended = False
        try:
            for event in session.run(request, job.control, progress=progress_of(job, post)):
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


def _compiled_pays() -> bool:
    record = build.tried()
    return record is not None and record.worth_it


def _instead(spec: str, target: LoadedModel) -> str:
    """Name the drafter to use where a target cannot use this one; "" if it is to be told."""
    first, spec = spec.removesuffix(behind(spec)), behind(spec)
    if spec.startswith(EARLY):
        exits = f"{first}{early_spec(target.info.layers)}"
        return exits if target.info.layers > 1 else ANYWHERE
    entries = list_drafters() if spec in BUNDLED else []
    sound = (entry for entry in entries if entry.spec == spec and not entry.problem)
    other = any(not entry.fits(target.fingerprint) for entry in sound)
    return ANYWHERE if other else ""


def _share_with_the_window() -> None:
    """Let torch use all cores but one (the trace says how many), and the interpreter by turns.

    Every product ends in a barrier of torch's pool. With a thread on each core, each frame that is
    painted holds one of them up and all of them wait: on two cores 8 tokens/s beside a busy
    process, where one thread gives 65 (in quiet 81 and 63). A pass asks
    for the interpreter after each of its hundreds of products; while a frame is painted it would
    wait Python's 5 ms for it each time.
    """
    import torch

    sys.setswitchinterval(SWITCH_INTERVAL_S)
    # What torch made on import stays as long as the process: each full walk of the garbage
    # collector over it would hold up both threads for a picture or two.
    gc.freeze()
    torch.set_num_threads(max(1, available_cores() - 1))


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def progress_of(job: Job, post: Post) -> Callable[[int, int, str], None]:
    """Return what posts how far a job is."""

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
