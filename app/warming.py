"""Building the compiled plan while the window goes on: one job on a lane of its own.

Knows how the build is asked for, cancelled and answered. Knows no widget, and never reaches torch:
compiler and trial are programs of their own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot

from app.inbox import Inbox
from app.messages import JobEnded, Progressed, Reply, WarmUp
from app.viewmodels.desk import Waiting
from app.viewmodels.warm_up import WarmUpState, built_words, found
from app.worker import Lane

if TYPE_CHECKING:
    from app.messages import Job
    from app.worker import Post


class Warming(QObject):
    """At most one build at a time, and what is known of the compiled plan.

    Attributes
    ----------
    state
        What may be done now, and how far it is.
    """

    changed = Signal()  # the state is another
    failed = Signal(str)  # one sentence
    finished = Signal(str)  # one sentence: how the built plan did

    def __init__(self) -> None:
        super().__init__()
        self.state = found()
        self._inbox: Inbox[Reply] = Inbox()
        self._lane = Lane("warm-up", perform, self._inbox)
        self._lane.inbox_filled.connect(self._drain)
        self._closed = False

    def look(self) -> None:
        """Look again: another program may have built it, or a compiler may have come."""
        if not self.state.building:
            self._set(replace(found(), failure=self.state.failure))

    def start(self) -> None:
        """Build the plan, if that is possible."""
        self.look()
        if self.state.possible and not self._closed:
            self._lane.submit(WarmUp())
            self._set(replace(self.state, building=True))

    def cancel(self) -> None:
        """Give the build up; nothing is left of it."""
        self._lane.cancel()

    def close(self) -> bool:
        """End the build, say nothing more, and return whether the thread ended in time."""
        self._closed = True
        self.blockSignals(True)
        return self._lane.close()

    @Slot()
    def _drain(self) -> None:
        for reply in self._inbox.drain():
            match reply:
                case Progressed():
                    waiting = Waiting(reply.what, reply.done, reply.total)
                    self._set(replace(self.state, waiting=waiting))
                case JobEnded():
                    self._end(reply)

    def _end(self, reply: JobEnded) -> None:
        self._lane.note_end(reply.job)
        self._set(replace(found(), failure=reply.error))
        if reply.error:
            self.failed.emit(reply.error)
        if reply.notice:
            self.finished.emit(reply.notice)

    def _set(self, state: WarmUpState) -> None:
        if state != self.state:
            self.state = state
            self.changed.emit()


def perform(job: Job, post: Post) -> str:
    """Build, try and keep the compiled plan; return how it did, "" if that was given up."""
    from engine.models.native.process import BuildCancelled
    from engine.models.native.warm_up import warm_up

    def report(done: int, total: int, what: str) -> None:
        post(Progressed(job.number, done, total, what))

    try:
        return built_words(warm_up(report, job.cancel.is_set))
    except BuildCancelled:
        job.cancel.set()
        return ""
