"""The events of one run, gathered for the panels: what has arrived, not what is shown so far.

Knows where each token stands and the figures over the first rounds. Does not know how fast it is
shown (`presentation`), nor where events come from: a running session and a file look the same.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from app.viewmodels.prefix_figures import PrefixFigures
from app.viewmodels.refs import CLOSING_SLOT, PROMPT_ROUND, TokenRef
from engine.errors import DraftscopeError
from engine.trace.events import (
    Baseline,
    ClosingToken,
    Comparison,
    DraftedToken,
    Event,
    Fate,
    PrefillFinished,
    Probe,
    Round,
    RunFinished,
    RunStarted,
    Settings,
    SettingsChanged,
    TokenPiece,
)
from engine.trace.statistics import Statistics

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.trace.events import ModelInfo
    from engine.trace.statistics import Figures

AnyToken = TokenPiece | DraftedToken | ClosingToken


class Document:
    """One run's events in order, with what panels look up in them.

    Attributes
    ----------
    events, rounds, probes
        In order of arrival; `rounds[i].index == i`.
    started, prefill, baseline, comparison, finished
        The events of which a run has one, or None while they have not arrived.
    run
        The run id, or None before the run started.
    statistics
        Over all events that have arrived.
    version
        Increases with each change; panels compare it to know whether anything arrived.
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self.version = 0
        self._empty()
        self.extend(events)

    def clear(self) -> None:
        """Forget everything; the next `RunStarted` begins a new run."""
        self.version += 1
        self._empty()

    def _empty(self) -> None:
        self.events: list[Event] = []
        self.rounds: list[Round] = []
        self.probes: list[Probe] = []
        self.started: RunStarted | None = None
        self.prefill: PrefillFinished | None = None
        self.baseline: Baseline | None = None
        self.comparison: Comparison | None = None
        self.finished: RunFinished | None = None
        self.run: str | None = None
        self.statistics = Statistics()
        self._round_events: list[int] = []  # index in `events` of each round
        self._changes: list[SettingsChanged] = []
        self._drafters: list[ModelInfo | None] = []  # from each of these changes on
        self._prefix = PrefixFigures()

    def extend(self, events: Sequence[Event]) -> int:
        """Take in events of this run and return how many were taken.

        The first `RunStarted` decides the run. Events of another run are stale: they were on their
        way when this one began, and are dropped.

        Raises
        ------
        DraftscopeError
            If a round is missing or comes twice: then the session file is damaged.
        """
        taken = 0
        for event in events:
            if self.run is None and isinstance(event, RunStarted):
                self.run = event.run
            if event.run != self.run or (isinstance(event, RunStarted) and self.started):
                continue
            self._place(event)
            self.events.append(event)
            self.statistics.add(event)
            taken += 1
        self.version += taken > 0
        return taken

    def _place(self, event: Event) -> None:
        match event:
            case Round():
                if event.index != len(self.rounds):
                    raise DraftscopeError(
                        f"Round {len(self.rounds) + 1} is missing, round {event.index + 1} stands "
                        "in its place: the session file is damaged, open an earlier copy of it."
                    )
                self._round_events.append(len(self.events))
                self.rounds.append(event)
            case Probe():
                self.probes.append(event)
            case SettingsChanged():
                self._drafters.append(self._drafter_after(event))
                self._changes.append(event)
            case RunStarted():
                self.started = event
            case PrefillFinished():
                self.prefill = event
            case Baseline():
                self.baseline = event
                self._prefix.always(event)
            case Comparison():
                self.comparison = event
            case RunFinished():
                self.finished = event

    def token(self, ref: TokenRef) -> AnyToken | None:
        """Return the token at `ref`, or None if there is none (yet)."""
        if ref.in_prompt:
            tokens: Sequence[AnyToken] = self.started.prompt_tokens if self.started else ()
        elif 0 <= ref.round < len(self.rounds):
            if ref.is_closing:
                return self.rounds[ref.round].closing
            tokens = self.rounds[ref.round].drafted
        else:
            return None
        return tokens[ref.slot] if 0 <= ref.slot < len(tokens) else None

    def ref_at(self, position: int) -> TokenRef | None:
        """Return the token at an index into prompt + emitted tokens, or None past their end."""
        prompt = len(self.started.prompt_tokens) if self.started else 0
        if 0 <= position < prompt:
            return TokenRef(PROMPT_ROUND, position)
        found = bisect_right(self.rounds, position, key=lambda one: one.position) - 1
        if found < 0:
            return None
        one = self.rounds[found]
        offset = position - one.position
        if offset >= one.emitted:
            return None
        return TokenRef(found, offset if offset < one.accepted else CLOSING_SLOT)

    def position_of(self, ref: TokenRef) -> int | None:
        """Return the index in prompt + emitted tokens that a token has or stood for."""
        if self.token(ref) is None:
            return None
        if ref.in_prompt:
            return ref.slot
        one = self.rounds[ref.round]
        return one.position + (one.accepted if ref.is_closing else ref.slot)

    def is_emitted(self, ref: TokenRef) -> bool:
        """Whether the token is part of the text: prompt, accepted and closing tokens are."""
        token = self.token(ref)
        return token is not None and (
            not isinstance(token, DraftedToken) or token.fate is Fate.ACCEPTED
        )

    def settings_at(self, round_index: int) -> Settings | None:
        """Return the settings that hold in a round."""
        found = bisect_right(self._changes, round_index, key=lambda change: change.before_round)
        if found:
            return self._changes[found - 1].settings
        return self.started.settings if self.started else None

    def drafter_at(self, round_index: int) -> ModelInfo | None:
        """Return the drafter that proposes in a round, or None if there is none."""
        found = bisect_right(self._changes, round_index, key=lambda change: change.before_round)
        if found:
            return self._drafters[found - 1]
        return self.started.drafter if self.started else None

    def _drafter_after(self, change: SettingsChanged) -> ModelInfo | None:
        """Return whom a change leaves as the drafter; it names a new one only."""
        held = self.settings_at(change.before_round)
        if held is not None and held.drafter == change.settings.drafter:
            return self.drafter_at(change.before_round)
        return change.drafter

    def figures_at(self, n_rounds: int) -> Figures:
        """Return the figures over the first `n_rounds` rounds and what was measured among them.

        A baseline counts from the start once it is there: in a recorded session the plain target
        is known while the rounds are shown again.
        """
        whole = n_rounds >= len(self.rounds)
        end = len(self.events) if whole else self._round_events[max(0, n_rounds)]
        return self._prefix.at(self.events, end)
