"""What the window may do now, and what it waits for. Plain values; knows no Qt and no worker."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.viewmodels.imported import models_told, settings_told
from app.viewmodels.settings_words import settings_words
from app.viewmodels.warm_up import NOT_BUILT, WarmUpState
from engine.trace.events import FinishReason

if TYPE_CHECKING:
    from app.viewmodels.document import Document
    from app.viewmodels.presentation import Presentation
    from engine.trace.events import ModelInfo

_REASONS = {
    FinishReason.END_TOKEN: "the target ended its text",
    FinishReason.STOP_STRING: "a stop string was reached",
    FinishReason.LIMIT: "the limit was reached",
    FinishReason.CONTEXT: "the model's context is full",
    FinishReason.CANCELLED: "it was stopped",
    FinishReason.ERROR: "it failed",
}


@dataclass(frozen=True)
class Waiting:
    """A load, a fetch or a build under way."""

    what: str
    done: int = 0
    total: int = 0  # 0: nobody knows

    @property
    def fraction(self) -> float | None:
        """How far it is, from 0 to 1, or None if nobody knows."""
        return min(1.0, self.done / self.total) if self.total > 0 else None


@dataclass(frozen=True)
class DeskState:
    """Everything that decides which actions are enabled and what the status line says."""

    loading: bool = False  # models are being loaded
    running: bool = False  # a run is under way, loading included
    stopping: bool = False  # its end was asked for
    opening: bool = False  # a session file is being read
    fetching: bool = False  # a model is being fetched
    exporting: bool = False
    playing: bool = True  # the presentation clock goes
    at_end: bool = True  # all that arrived is shown
    has_events: bool = False
    has_rounds: bool = False
    has_markers: bool = False
    imported: bool = False  # the session on show is another program's counts
    finished: bool = False  # the document's run has ended
    can_save: bool = False
    has_prompt: bool = False
    target: ModelInfo | None = None  # the one in memory
    identity: tuple[str, ...] = ()  # its name as asked for, then hashes that drafters are made for
    shown: str = ""  # the session on show, in words
    settings: str = ""  # those of its last round, in words
    engine_wait: Waiting | None = None
    fetch_wait: Waiting | None = None
    warm_up: WarmUpState = NOT_BUILT  # whether the compiled plan is here

    @property
    def can_warm_up(self) -> bool:
        """Whether building the compiled plan is possible, and of use to the target in memory."""
        return self.warm_up.possible and (self.target is None or self.target.device == "cpu")

    @property
    def loaded(self) -> str:
        """The target in memory, in words."""
        return "" if self.target is None else model_in_words(self.target)

    @property
    def busy(self) -> bool:
        """Whether the engine has a job."""
        return self.loading or self.running

    @property
    def moving(self) -> bool:
        """Whether the picture moves by itself, or will with the next round."""
        return self.playing and (self.running or not self.at_end)


def showing(
    held: DeskState, document: Document, presentation: Presentation, *, kept: bool
) -> DeskState:
    """Return a state with what is on show in it, and nothing waited for that does not go on.

    While rounds are shown as they come, what changes with each of them stands still: no action
    and no word depends on it then, and whoever follows the state has nothing to do.

    Parameters
    ----------
    kept
        Whether a file holds what is on show.
    """
    streaming = held.running and presentation.live and not held.stopping
    return replace(
        held,
        stopping=held.stopping and held.busy,
        playing=presentation.playing,
        at_end=not streaming and presentation.at_end,
        has_events=bool(document.events),
        has_rounds=bool(document.rounds),
        has_markers=bool(document.markers),
        imported=document.imported is not None,
        finished=document.finished is not None,
        can_save=kept and bool(document.events),
        shown="" if streaming else in_words(document),
        settings=settings_in_words(document),
        engine_wait=held.engine_wait if held.busy else None,
        fetch_wait=held.fetch_wait if held.fetching else None,
    )


def in_words(document: Document) -> str:
    """Say what is on show: which session, how many rounds, how it ended."""
    if document.started is None:
        return ""
    target = document.started.target.name
    drafter = document.started.drafter
    pair = f"{target} with {drafter.name}" if drafter is not None else target
    if document.imported is not None:
        pair = models_told(document.started, document.imported)
    rounds = len(document.rounds)
    words = [pair, f"{rounds} {'round' if rounds == 1 else 'rounds'}"]
    if document.imported is not None:
        words[1] = f"imported from {document.imported.program}"
    if document.finished is not None:
        words.append(_REASONS[document.finished.reason])
    return " · ".join(words)


def settings_in_words(document: Document) -> str:
    """Say with which settings the session on show goes on, or went on last."""
    if document.imported is not None and document.started is not None:
        return settings_told(document.started, document.imported)
    settings = document.settings_at(max(0, len(document.rounds) - 1))
    return "" if settings is None else settings_words(settings)


def model_in_words(info: ModelInfo) -> str:
    """Say which model is in memory and how it computes."""
    parts = (info.name, f"{info.plan} plan" if info.plan else "", info.dtype, info.device)
    return " · ".join(part for part in parts if part)
