"""What goes on behind the window: one document, its presentation clock, the lanes, and the tick.

Knows no widget: it is asked, and says what changed. Reaches torch only through the engine's lane.
Each tick drains the inbox, extends the document and lets presentation time pass.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.lanes import Lanes
from app.merging import merged
from app.messages import (
    DrafterReplaced,
    EventsArrived,
    FetchModel,
    JobEnded,
    JournalStarted,
    LoadModels,
    ModelsLoaded,
    OpenSession,
    PortionRead,
    Progressed,
    Run,
    RunsMet,
    SaveSession,
    SessionSummarised,
    SourceCopied,
    WishFailed,
)
from app.pacing import Pacing
from app.ticking import Ticker
from app.viewmodels.desk import DeskState, Waiting, showing
from app.viewmodels.document import Document
from app.viewmodels.presentation import Presentation
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from pathlib import Path

    from app.messages import Job, Reply
    from app.worker import Perform
    from engine.request import RunRequest
    from engine.trace.events import Settings


class Desk(QObject):
    """Owns the document, the presentation and the lanes; the one who changes them.

    Parameters
    ----------
    speed
        Of the presentation; None: as rounds come.
    engine
        As in `Lanes`.

    Attributes
    ----------
    document, presentation
        What the panels show.
    state
        What may be done now.
    source
        The journal or session file that the document came from, or None.
    disturbed
        Whether something else computes on the machine: rounds from now on say so.
    pauses_at_markers
        Whether a replay pauses at markers that ask for it; a run under way never does, for its
        engine would wait.
    """

    picture_changed = Signal()  # at most once a tick
    cleared = Signal()  # nothing is on show: what a panel keeps of the document is void, at once
    state_changed = Signal()
    failed = Signal(str)  # one sentence
    noted = Signal(str)  # one sentence, nothing failed
    fetched = Signal(str)  # a model's name
    drafter_replaced = Signal(str)  # the one that drafts instead of the one asked for
    opened = Signal(object)  # Path, once the whole file is read
    saved = Signal(object)  # Path
    replied = Signal(object)  # Reply that changes nothing of what is on show
    ended = Signal(object, object)  # Job or None, JobEnded

    def __init__(self, *, speed: float | None = None, engine: Perform | None = None) -> None:
        super().__init__()
        self.document = Document()
        self.presentation = Presentation(self.document, speed=speed)
        self.state = DeskState()
        self.source: Path | None = None
        self.disturbed = False
        self.pauses_at_markers = True
        self._lanes = Lanes(engine)
        self._lanes.inbox_filled.connect(self._wake)
        self._shown_job = 0  # whose events the document takes
        self._opening = 0  # a job that takes the picture over with its first events
        self._at_once = False
        self._pacing = Pacing(self.presentation)
        self._seen = (-1, -1)  # versions of document and presentation when last refreshed
        self._closed = False
        self._ticker = Ticker(self._tick, self)

    @property
    def ticking(self) -> bool:
        """Whether the timer goes: something moves, or an answer waits."""
        return self._ticker.going

    # Wishes: the engine

    def load(self, target: str, drafter: str) -> None:
        """Load the models without running."""
        self._pacing.aim(target)
        self.send(LoadModels(target=target, drafter=drafter))

    def run(self, target: str, request: RunRequest, *, first: str = "") -> None:
        """Begin a run and show it in place of what is on show.

        Parameters
        ----------
        first
            "round" or "phase": show that much of it and hold there; empty: let it go on.
        """
        if self.state.running:
            return
        self._pacing.aim(target)
        self._lanes.stop_opening()
        self._show_nothing()
        control = self._pacing.begin(first, lambda: self.disturbed)
        job = Run(target=target, request=request, control=control)
        self._shown_job = job.number
        self.send(job)

    def stop(self) -> None:
        """End the run, or the loading, within one round."""
        self._lanes.stop_engine()
        self._update(stopping=self.state.busy)

    def change_settings(self, settings: Settings) -> None:
        """Let a run go on with other settings from its next round.

        A drafter that is not loaded yet is loaded first, between two rounds.
        """
        self._pacing.change_settings(settings, self._lanes.under_way(Run))

    # Wishes: files and models

    def open(self, path: Path, run: int = 0, *, at_once: bool = False) -> None:
        """Show a run of a session file, if it proves to be one: what was on show stays until then.

        A run under way is stopped then, and its journal kept. `at_once`: a marker at the prompt
        does not hold it.
        """
        self._at_once = at_once
        self._lanes.stop_opening()
        self.send(job := OpenSession(path=path, run=run))
        self._opening = job.number

    def save(self, path: Path) -> None:
        """Copy what is on show to a file, as far as it has got."""
        if self.source is not None:
            self.send(SaveSession(source=self.source, path=path))

    def fetch(self, name: str) -> None:
        """Bring a known model."""
        self.send(FetchModel(name=name))

    def cancel_fetch(self) -> None:
        """Give up the fetch."""
        self._lanes.stop_fetches()

    def clear(self) -> None:
        """Show nothing; the journal of the last run stays where it is."""
        if not self.state.running:
            self._lanes.stop_opening()
            self._show_nothing()

    # Wishes: the presentation clock

    def play(self) -> None:
        """Let presentation time pass; at the end of a finished run, from the start again."""
        if self.presentation.at_end and not self.state.running:
            self.presentation.seek(-1)
        self._pacing.go_on()
        self.presentation.playing = True
        self._pace()

    def pause(self) -> None:
        """Hold the picture, and the engine at most one round ahead of it."""
        self.presentation.playing = False
        self._pace()

    def step_round(self) -> None:
        """Show one round more and hold."""
        self.presentation.playing = False
        self.presentation.step_round()
        self._pace()

    def step_phase(self) -> None:
        """Show one phase more and hold."""
        self.presentation.playing = False
        self.presentation.step_phase()
        self._pace()

    def seek(self, round_index: int, phase: str = "done") -> None:
        """Show everything up to the end of a phase of a round, and hold."""
        self.presentation.playing = False
        self.presentation.seek(round_index, phase)  # type: ignore[arg-type]  # a phase's word, from the timeline
        self._pace()

    def set_speed(self, speed: float | None) -> None:
        """Set how fast verdicts fall; None shows rounds as they come."""
        self.presentation.speed = speed
        self._ticker.stop()  # the next tick comes at this speed's pace
        self._pace()

    def close(self) -> bool:
        """End everything, say nothing more, and return whether every thread ended in time."""
        if self._closed:
            return True
        self._closed = True
        self.blockSignals(True)
        self._ticker.stop()
        return self._lanes.close()

    # What happens

    def send(self, job: Job) -> None:
        """Let a worker perform a job; its answers come through the signals."""
        if self._closed:
            return
        self._lanes.submit(job)
        self._update()
        self._wake()

    def _pace(self) -> None:
        self._pacing.follow()
        self._update()
        self._wake()

    def _show_nothing(self) -> None:
        self._opening, self._shown_job, self.source = 0, 0, None
        self._pacing.forget()
        self.document.clear()
        self.presentation.reset()
        self.cleared.emit()
        self._wake()

    def _show_opened(self, read: PortionRead) -> None:
        self._lanes.stop_engine()
        self.presentation.playing, self.presentation.begins_at_once = True, self._at_once
        self._show_nothing()
        self._shown_job, self.source = read.job, read.path

    @Slot()
    def _wake(self) -> None:
        if not self._closed:
            self._ticker.wake(live=self.presentation.live)

    def _tick(self, seconds: float) -> None:
        for reply in merged(self._lanes.inbox.drain()):
            self._take(reply)
        try:
            self._go_on(seconds)
        except DraftscopeError as fault:  # the next tick would fail as this one did
            self.pause()
            self.failed.emit(str(fault))
        self._pacing.tell()
        versions = (self.document.version, self.presentation.version)
        if versions != self._seen:
            self._seen = versions
            self._update()
            self.picture_changed.emit()
        if self.presentation.still and not len(self._lanes.inbox):
            self._ticker.stop()

    def _go_on(self, seconds: float) -> None:
        """Let presentation time pass, and show as much of a held run as was asked for."""
        live = self._pacing.control is not None
        self.presentation.pauses_at_markers = self.pauses_at_markers and not live
        self.presentation.advance(seconds)
        if self.document.rounds:
            self._pacing.show_first()

    def _take(self, reply: Reply) -> None:
        match reply:
            case EventsArrived() | PortionRead():
                self._extend(reply)
            case Progressed():
                waiting = Waiting(reply.what, reply.done, reply.total)
                place = "fetch_wait" if self._lanes.is_fetch(reply.job) else "engine_wait"
                self._update(**{place: waiting})
            case ModelsLoaded():
                self._pacing.note_loaded(reply, self.state.target)
                self._update(target=reply.target, identity=reply.identity, engine_wait=None)
            case DrafterReplaced():
                self.drafter_replaced.emit(reply.used)
            case JournalStarted() if reply.job == self._shown_job:
                self.source = reply.path
                self.document.read_from(reply.path)
            case RunsMet() | SourceCopied() | SessionSummarised():
                self.replied.emit(reply)
            case WishFailed():
                self.failed.emit(reply.error)
            case JobEnded():
                job = self._lanes.end(reply.job)
                self._say_end(job, reply)
                self._update()
                self.ended.emit(job, reply)

    def _extend(self, reply: EventsArrived | PortionRead) -> None:
        if isinstance(reply, PortionRead) and reply.job == self._opening:
            self._show_opened(reply)
        if reply.job != self._shown_job:
            return
        if self.state.engine_wait is not None:  # a prompt was being read: its end has come
            self._update(engine_wait=None)
        try:
            reply.add_to(self.document)
        except DraftscopeError as fault:
            self._shown_job = 0
            self.failed.emit(str(fault))

    def _say_end(self, job: Job | None, reply: JobEnded) -> None:
        self._pacing.end(job)
        if reply.error:
            self.failed.emit(reply.error)
        if reply.notice:
            self.noted.emit(reply.notice)
        if reply.error or reply.cancelled:
            return
        match job:
            case FetchModel():
                self.fetched.emit(job.name)
            case OpenSession():
                self.opened.emit(job.path)
            case SaveSession():
                self.saved.emit(job.path)

    def _update(self, **changes: object) -> None:
        held = replace(self.state, **self._lanes.activity(), **changes)  # type: ignore[arg-type]  # names of fields, by keyword
        state = showing(held, self.document, self.presentation, kept=self.source is not None)
        if state != self.state:
            self.state = state
            self.state_changed.emit()
