"""A worker on a thread of its own: it takes requests one by one and answers into an inbox.

Knows how jobs start, end, fail and are cancelled. Holds no widget, and knows nothing of how an
answer is shown; what a job does is in `app.jobs` and `app.file_jobs`.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QThread, Signal, Slot

from app.messages import JobEnded
from engine.errors import DraftscopeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.inbox import Inbox
    from app.messages import Job, Reply

    Post = Callable[[Reply], None]
    Perform = Callable[[Job, Post], str]

log = logging.getLogger("draftscope")


class Worker(QObject):
    """Performs jobs where it lives, one after the other.

    Parameters
    ----------
    perform
        Called with the job and a way to answer; returns a notice or "". Raises `DraftscopeError`
        for what a user can do something about.
    inbox
        Where answers go.
    """

    inbox_filled = Signal()  # the inbox was empty and is not any more

    def __init__(self, perform: Perform, inbox: Inbox[Reply]) -> None:
        super().__init__()
        self._perform = perform
        self._inbox = inbox

    @Slot(object)
    def take(self, job: Job) -> None:
        """Perform a job and post its end, whatever happens."""
        if job.cancel.is_set():
            self._post(JobEnded(job.number, cancelled=True))
            return
        error = notice = ""
        try:
            notice = self._perform(job, self._post)
        except DraftscopeError as fault:
            error = str(fault)
        except MemoryError:
            error = "There is not enough memory for this; close something or take a smaller model."
        except Exception as fault:
            # nothing may cross into Qt: an exception there ends the program
            log.exception("job %d failed", job.number)
            error = f"Something unexpected went wrong: {_one_line(fault)}"
        if job.cancel.is_set():
            error = ""
        self._post(JobEnded(job.number, error, job.cancel.is_set(), notice))

    def _post(self, reply: Reply) -> None:
        if self._inbox.put(reply):
            self.inbox_filled.emit()


class Lane(QObject):
    """A worker, its thread, and the jobs that were sent and have not ended.

    The thread starts with the first job. `close` ends it, whatever it is doing.
    """

    inbox_filled = Signal()
    _sent = Signal(object)

    def __init__(self, name: str, perform: Perform, inbox: Inbox[Reply]) -> None:
        super().__init__()
        self._thread = QThread()
        self._thread.setObjectName(name)
        self._worker = Worker(perform, inbox)
        self._worker.moveToThread(self._thread)
        self._worker.inbox_filled.connect(self.inbox_filled)
        self._sent.connect(self._worker.take)
        self._jobs: dict[int, Job] = {}

    def submit(self, job: Job) -> int:
        """Send a job and return its number."""
        if not self._thread.isRunning():
            self._thread.start()
        self._jobs[job.number] = job
        self._sent.emit(job)
        return job.number

    def note_end(self, number: int) -> None:
        """Forget a job: its last answer was read."""
        self._jobs.pop(number, None)

    def cancel(self) -> None:
        """Ask every job under way to end soon."""
        for job in self._jobs.values():
            job.stop()

    def close(self, patience_ms: int = 10_000) -> bool:
        """Cancel everything and end the thread; return whether it ended in time."""
        self.cancel()
        if not self._thread.isRunning():
            return True
        self._thread.quit()
        return self._thread.wait(patience_ms)


def _one_line(fault: BaseException) -> str:
    text = " ".join(str(fault).split()) or type(fault).__name__
    return text if len(text) <= 200 else text[:199] + "…"
