"""The workers' lanes and the jobs under way on them, with one inbox for all answers.

Knows which job goes where. Knows neither a document nor what an answer means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QObject, Signal

from app.file_jobs import FileJobs
from app.inbox import Inbox
from app.jobs import EngineJobs
from app.messages import FetchModel, Job, LoadModels, OpenSession, Reply, Run
from app.worker import Lane

if TYPE_CHECKING:
    from app.worker import Perform

Kind = TypeVar("Kind", bound=Job)

_ACTIVITIES: dict[str, type[Job]] = {
    "running": Run,
    "loading": LoadModels,
    "opening": OpenSession,
    "fetching": FetchModel,
}


class Lanes(QObject):
    """One lane for the engine, one for files, one for what comes over the network.

    So a file opens while the engine runs, and a run begins while a model is fetched.

    Parameters
    ----------
    engine
        Performs loads and runs in the engine's place; None: the engine does.
    """

    inbox_filled = Signal()

    def __init__(self, engine: Perform | None = None) -> None:
        super().__init__()
        self.inbox: Inbox[Reply] = Inbox()
        self._engine = Lane("engine", engine or EngineJobs(), self.inbox)
        self._files = Lane("files", FileJobs(), self.inbox)
        self._network = Lane("network", FileJobs(), self.inbox)
        self._all = (self._engine, self._files, self._network)
        for lane in self._all:
            lane.inbox_filled.connect(self.inbox_filled)
        self._jobs: dict[int, Job] = {}

    def submit(self, job: Job) -> None:
        """Send a job down its lane."""
        self._jobs[job.number] = job
        self._lane(job).submit(job)

    def end(self, number: int) -> Job | None:
        """Forget a job whose end was read, and return it."""
        job = self._jobs.pop(number, None)
        if job is not None:
            self._lane(job).note_end(number)
        return job

    def under_way(self, kind: type[Kind]) -> list[Kind]:
        """Return the jobs of a kind that have not ended, the oldest first."""
        return [job for job in self._jobs.values() if isinstance(job, kind)]

    def activity(self) -> dict[str, bool]:
        """Return what is under way, by the names that the desk's state has for it."""
        return {name: bool(self.under_way(kind)) for name, kind in _ACTIVITIES.items()}

    def is_fetch(self, number: int) -> bool:
        """Whether a job under way is a fetch."""
        return isinstance(self._jobs.get(number), FetchModel)

    def stop_engine(self) -> None:
        """Ask loads and runs to end."""
        self._engine.cancel()

    def stop_opening(self) -> None:
        """Ask what is being opened to end; a save goes on."""
        for job in self.under_way(OpenSession):
            job.stop()

    def stop_fetches(self) -> None:
        """Ask fetches to end."""
        self._network.cancel()

    def close(self) -> bool:
        """End every thread; return whether all ended in time."""
        for lane in self._all:
            lane.cancel()  # all are asked first, then waited for
        late = [lane for lane in self._all if not lane.close()]
        return not late

    def _lane(self, job: Job) -> Lane:
        if isinstance(job, Run | LoadModels):
            return self._engine
        return self._network if isinstance(job, FetchModel) else self._files
