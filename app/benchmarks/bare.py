"""A run on the window's own lane without a window, and the same run as the command line makes it.

Knows the lane, the engine's jobs and clocks. Paints nothing.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.benchmarks.stage import wait
from app.inbox import Inbox
from app.jobs import SWITCH_INTERVAL_S, EngineJobs, available_cores
from app.messages import EventsArrived, JobEnded, Run
from app.worker import Lane
from engine.control import Control
from engine.errors import DraftscopeError
from engine.trace.events import PrefillFinished, Round, RunStarted

if TYPE_CHECKING:
    from app.messages import Job, Reply
    from app.worker import Post
    from engine.request import RunRequest
    from engine.trace.events import Settings

USUAL_SWITCH_INTERVAL_S = 0.005  # Python's own


@dataclass
class Timing:
    """What one run took, as it was seen on the engine's thread.

    Attributes
    ----------
    round_ns
        Summed over the rounds: draft, verify, accept and commit.
    wall_ns
        From the end of the prefill to the end of the last round.
    ids
        Emitted.
    """

    round_ns: int = 0
    wall_ns: int = 0
    ids: tuple[int, ...] = ()
    began_ns: int = 0

    def add(self, event: object) -> None:
        """Take in an event as it is posted."""
        if isinstance(event, PrefillFinished):
            self.began_ns = time.perf_counter_ns()
        elif isinstance(event, Round):
            self.wall_ns = time.perf_counter_ns() - self.began_ns
            self.round_ns += event.times.round
            self.ids += event.emitted_ids


class TimedJobs:
    """The engine's jobs, which note what the last run took. One target for all ways of running.

    Parameters
    ----------
    device, plan
        As in `EngineJobs`.

    Attributes
    ----------
    used
        The settings of the last run: the lane takes another drafter where the one that was asked
        for was made for another target. None: nothing ran.
    """

    def __init__(self, *, device: str | None = None, plan: str | None = None) -> None:
        self.jobs = EngineJobs(device=device, plan=plan)
        self.last = Timing()
        self.used: Settings | None = None

    def __call__(self, job: Job, post: Post) -> str:
        """Perform a job as the engine's lane does."""
        self.last = timing = Timing()

        def noting(reply: Reply) -> None:
            if isinstance(reply, EventsArrived):
                for event in reply.events:
                    timing.add(event)
                    if isinstance(event, RunStarted):
                        self.used = event.settings
            post(reply)

        return self.jobs(job, noting)


class BareLane:
    """The lane of the window with nobody behind it: what is posted lies in the inbox."""

    def __init__(self, jobs: TimedJobs) -> None:
        self._jobs = jobs
        self._inbox: Inbox[Reply] = Inbox()
        self._lane = Lane("bare", jobs, self._inbox)

    def run(self, target: str, request: RunRequest) -> Timing:
        """Run to the end.

        Raises
        ------
        DraftscopeError
            As the run.
        """
        self._lane.submit(Run(target=target, request=request, control=Control()))
        ended: list[JobEnded] = []

        def looked() -> bool:
            ended.extend(one for one in self._inbox.drain() if isinstance(one, JobEnded))
            return bool(ended)

        wait(looked, "the run without a window", every_ms=100)
        if ended[0].error:
            raise DraftscopeError(ended[0].error)
        return self._jobs.last

    def close(self) -> None:
        """End the thread."""
        self._lane.close()


def command_line_run(jobs: TimedJobs, request: RunRequest) -> Timing:
    """Run as `draftscope run` does: on the main thread, with a torch thread for each core.

    With the settings that the lane used.
    """
    import torch

    session, used = jobs.jobs.session, jobs.used
    assert session is not None  # another way ran before this one
    assert used is not None
    request = replace(request, settings=used)
    threads, timing = torch.get_num_threads(), Timing()
    torch.set_num_threads(available_cores())
    sys.setswitchinterval(USUAL_SWITCH_INTERVAL_S)
    try:
        for event in session.run(request, Control()):
            timing.add(event)
    finally:
        torch.set_num_threads(threads)
        sys.setswitchinterval(SWITCH_INTERVAL_S)
    return timing
