"""What the window asks of its workers, and what they answer: frozen, each with its job's number.

Knows no Qt and no torch. A job's number grows by one with each request, so that an answer to a job
that no longer matters is told by its number and dropped.
"""

from __future__ import annotations

import itertools
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.inbox import Inbox

if TYPE_CHECKING:
    from pathlib import Path

    from app.viewmodels.document import Document
    from app.viewmodels.gallery import SessionSummary
    from app.viewmodels.portion import Portion
    from engine.control import Control
    from engine.request import RunRequest
    from engine.trace.events import Event, ModelInfo, Settings

_numbers = itertools.count(1)


def next_job() -> int:
    """Return a number that no job of this process has had."""
    return next(_numbers)


@dataclass(frozen=True, kw_only=True)
class Job:
    """A request. `cancel` may be set from any thread; the worker looks at it often."""

    number: int = field(default_factory=next_job)
    cancel: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        """Ask the job to end soon; it answers `JobEnded` all the same."""
        self.cancel.set()


@dataclass(frozen=True, kw_only=True)
class LoadModels(Job):
    """Load a target and, unless it is "none", a drafter for it."""

    target: str
    drafter: str


@dataclass(frozen=True, kw_only=True)
class Run(Job):
    """Load what is missing, then run and journal.

    `wishes` are changed settings that name a drafter which must be loaded first; others go through
    `control` and take effect with the next round.
    """

    target: str
    request: RunRequest
    control: Control
    wishes: Inbox[Settings] = field(default_factory=Inbox)

    def stop(self) -> None:
        """Ask the run to end within one round, whether it is loading or decoding."""
        super().stop()
        self.control.stop()


@dataclass(frozen=True, kw_only=True)
class FetchModel(Job):
    """Bring a known model into the user's data folder."""

    name: str


@dataclass(frozen=True, kw_only=True)
class WarmUp(Job):
    """Build the compiled plan for this processor."""


@dataclass(frozen=True, kw_only=True)
class OpenSession(Job):
    """Read a run of a session file, by its number from 0."""

    path: Path
    run: int = 0


@dataclass(frozen=True, kw_only=True)
class SaveSession(Job):
    """Copy a journal or a session to where the user wants it, whole or not at all."""

    source: Path
    path: Path


@dataclass(frozen=True, kw_only=True)
class AddToSession(Job):
    """Append events to a session, or to a copy of one that must stay as it is."""

    source: Path
    events: tuple[Event, ...]


@dataclass(frozen=True, kw_only=True)
class SummariseSessions(Job):
    """Tell sessions without showing them."""

    paths: tuple[Path, ...]


@dataclass(frozen=True)
class Reply:
    """An answer to job `job`."""

    job: int


@dataclass(frozen=True)
class Progressed(Reply):
    """How far a load, a fetch or a build is; `total` 0 means that nobody knows."""

    done: int
    total: int
    what: str


@dataclass(frozen=True)
class ModelsLoaded(Reply):
    """The models are there. `drafter` is as in Settings, its info None for "none".

    `identity` is the target as it was asked for, then the hashes that drafters are made for.
    """

    target: ModelInfo
    drafter: str
    drafter_info: ModelInfo | None
    identity: tuple[str, ...] = ()


@dataclass(frozen=True)
class DrafterReplaced(Reply):
    """The drafter that was asked for cannot draft for this target; `used` does instead."""

    asked: str
    used: str


@dataclass(frozen=True)
class JournalStarted(Reply):
    """Where the run is being written down."""

    path: Path


@dataclass(frozen=True)
class WishFailed(Reply):
    """A drafter could not be had; the run goes on as it was."""

    error: str


@dataclass(frozen=True)
class EventsArrived(Reply):
    """Events of a run, in order."""

    events: tuple[Event, ...]

    def add_to(self, document: Document) -> None:
        """Let the document take them in."""
        document.extend(self.events)


@dataclass(frozen=True)
class PortionRead(Reply):
    """The next events of an opened session, condensed; `path` has what they leave out."""

    path: Path
    portion: Portion

    def add_to(self, document: Document) -> None:
        """Let the document take them in."""
        document.take(self.portion, self.path)


@dataclass(frozen=True)
class RunsMet(Reply):
    """The runs of an opened session, in words, and which of them was opened."""

    titles: tuple[str, ...]
    run: int


@dataclass(frozen=True)
class SourceCopied(Reply):
    """What was added went into a copy, which is the session from now on."""

    path: Path


@dataclass(frozen=True)
class SessionSummarised(Reply):
    """A session in a few words."""

    path: Path
    summary: SessionSummary


@dataclass(frozen=True)
class JobEnded(Reply):
    """The last answer to a job. `error` is one sentence for the user, empty if all went well."""

    error: str = ""
    cancelled: bool = False
    notice: str = ""  # worth knowing, though nothing failed
