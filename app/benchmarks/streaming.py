"""Stands in for the engine: hands over a recorded run at so many tokens per second, on its thread.

Knows events and a rate. Knows no window, no model and no torch.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from app.benchmarks.recorded import long_run, recorded_session
from app.messages import EventsArrived, LoadModels, Run
from engine.trace.events import Round

if TYPE_CHECKING:
    from app.messages import Job
    from app.worker import Post
    from engine.trace.events import Event


class Streaming:
    """Performs a run as the engine's lane does: each event posted by itself.

    Parameters
    ----------
    tokens_per_second
        Emitted tokens; a round's come together.
    seconds
        How long.

    Attributes
    ----------
    late_s
        How much later than planned the last round was posted.
    """

    def __init__(self, tokens_per_second: float, seconds: float) -> None:
        recorded = recorded_session()
        emitted = [event.emitted for event in recorded if isinstance(event, Round)]
        each = sum(emitted) / len(emitted)
        self.rounds = round(tokens_per_second * seconds / each)
        self.late_s = 0.0
        self._rate = tokens_per_second
        self._events: list[Event] = list(long_run(recorded, self.rounds))

    def __call__(self, job: Job, post: Post) -> str:
        """Post every event when it is due; loading takes no time."""
        if isinstance(job, LoadModels):
            return ""
        assert isinstance(job, Run)
        begin, tokens = time.perf_counter(), 0
        for event in self._events:
            if job.cancel.is_set():
                break
            if isinstance(event, Round):
                tokens += event.emitted
                early = begin + tokens / self._rate - time.perf_counter()
                if early > 0:
                    time.sleep(early)
                self.late_s = -early
            post(EventsArrived(job.number, (event,)))
        return ""
